"""A folder that `realtalk ei --out` wrote → its labels, checked; and the writing of it.

    write_labels(frame, Path("labels"), corpus, "paper")
    read_labels(Path("labels"))     → a row a turn, with the columns of `labels.LABELS`
    labels_about(Path("labels"))    → LabelsAbout("my-chat", "whatsapp", "paper", "0.1.0")
    unscored_reasons(frame)         → [("emotion", "timeout", 3), …]

The folder or the file itself may be named. What the labels are about stands in the Parquet file's
own metadata, so that it cannot be parted from them; labels of earlier versions have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from realtalk import __version__
from realtalk.corpora.writing import write_parquet
from realtalk.errors import RealtalkError
from realtalk.measures.labels import LABELS

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus

__all__ = [
    "LABEL_FILE",
    "LabelsAbout",
    "labels_about",
    "of_messages",
    "read_labels",
    "refuse_other_labels",
    "unscored_reasons",
    "write_labels",
]

LABEL_FILE = "labels.parquet"
_FIX = "make them with: realtalk ei PATH --out DIR"
_KEY = "realtalk"  # in the file's metadata
_RUN_FILE = "run.json"  # a run has a speakers.parquet of its own


@dataclass(frozen=True, slots=True)
class LabelsAbout:
    """What labels were made of, how, and by which version."""

    corpus: str
    format: str
    protocol: str
    realtalk: str


def write_labels(frame: pl.DataFrame, folder: Path, corpus: Corpus, protocol: str) -> Path:
    """The labels of a corpus as a file of the folder, whole or not at all."""
    about = LabelsAbout(corpus.name, corpus.format, protocol, __version__)
    told = {_KEY: orjson.dumps(asdict(about)).decode()}
    return write_parquet(folder / LABEL_FILE, frame, about=told)


def labels_about(path: Path) -> LabelsAbout | None:
    """None for labels that do not say it."""
    import polars as pl

    try:
        told = pl.read_parquet_metadata(_file(path)).get(_KEY)
        return None if told is None else LabelsAbout(**orjson.loads(told))
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError):
        return None


def _file(path: Path) -> Path:
    return path / LABEL_FILE if path.is_dir() else path


def read_labels(path: Path) -> pl.DataFrame:
    """The labels of a folder, or of the file itself."""
    import polars as pl

    file = _file(path)
    if not file.is_file():
        raise RealtalkError("no labels here", where=str(file), fix=_FIX)
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file), fix=_FIX) from error
    if frame.schema != LABELS:
        raise RealtalkError("has other columns than labels", where=str(file), fix=_FIX)
    return frame


def of_messages(frame: pl.DataFrame) -> bool:
    """Whether a speaker follows themselves within a session: these are no joined turns."""
    import polars as pl

    who = ("chat", "session", "speaker")
    again = [pl.col(name) == pl.col(name).shift(1) for name in who]
    return bool(frame.sort("chat", "turn").select(pl.all_horizontal(again).any()).item())


def refuse_other_labels(
    folder: Path, measure: str, version: str, turns: Sequence[tuple[str, int]]
) -> None:
    """Raises where a folder holds labels made in another way, or of other turns, or a run.

    `turns` are those to be labelled, in order: the chat of each and how many messages it joins.
    """
    import polars as pl

    if not (folder / LABEL_FILE).is_file():
        if (folder / _RUN_FILE).is_file():
            raise RealtalkError(
                "holds a run, whose tables the labels would be mixed with",
                where=str(folder),
                fix="name another folder with --out",
            )
        return
    known = read_labels(folder)
    ways = set(known.select("measure", "version").unique().rows())
    if known.height and ways != {(measure, version)}:
        made = "; ".join(sorted(", ".join(way) for way in ways))
        what = f"holds labels made otherwise ({made} there; {measure}, {version} now)"
    elif known.select("chat", pl.col("message_ids").list.len()).rows() != list(turns):
        what = "holds labels of other turns (another corpus, protocol or pause)"
    else:
        return
    raise RealtalkError(
        what,
        where=str(folder / LABEL_FILE),
        fix="name another folder with --out, or remove the file",
    )


def unscored_reasons(frame: pl.DataFrame) -> list[tuple[str, str, int]]:
    """What could not be measured: measure, reason, and how many turns."""
    import polars as pl

    return (
        frame.explode("unscored")
        .unnest("unscored", separator="_")
        .drop_nulls("unscored_measure")
        .group_by("unscored_measure", "unscored_reason")
        .agg(pl.len().alias("n"))
        .sort("unscored_measure", "unscored_reason")
        .rows()
    )
