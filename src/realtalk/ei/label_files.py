"""A folder that `realtalk ei PATH --out` wrote → its labels, checked; and the writing of it.

    write_labels(frame, Path("labels"), corpus, "turns")
    read_labels(Path("labels"))     → one row per turn, with the columns of `labels.LABELS`
    labels_about(Path("labels"))    → LabelsAbout("my-chat", "whatsapp", "turns", "0.2.0", 2)
    with_languages(frame, corpus)   → labels of 0.1.0, which have none, with their languages
    unscored_reasons(frame)         → [("emotion", "timeout", 3), …]

The folder or the file itself may be named. What the labels are about stands in the Parquet file's
own metadata, so that it cannot be parted from them; labels of earlier versions have none.
Labels of version 0.1.0 are read: its components of empathy were levels that did not add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from realtalk import __version__
from realtalk.ei.labels import COMPONENTS, LABELS, LEVELS, turn_inputs
from realtalk.ei.languages import turn_languages
from realtalk.errors import RealtalkError
from realtalk.local.writing import refuse_strangers, write_parquet

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
    "why_unscored",
    "with_languages",
    "write_labels",
]

LABEL_FILE = "labels.parquet"
_LAYOUT = 2
_FIX = "make them with: realtalk ei PATH --out DIR"
_KEY = "realtalk"  # in the file's metadata


@dataclass(frozen=True, slots=True)
class LabelsAbout:
    """What labels were made of, how, and by which version."""

    corpus: str
    format: str
    protocol: str
    realtalk: str
    layout: int = 1  # of the columns; 0.1.0 did not say it


def write_labels(frame: pl.DataFrame, folder: Path, corpus: Corpus, protocol: str) -> Path:
    """The labels of a corpus as a file of the folder, whole or not at all."""
    about = LabelsAbout(corpus.name, corpus.format, protocol, __version__, _LAYOUT)
    metadata = {_KEY: orjson.dumps(asdict(about)).decode()}
    return write_parquet(folder / LABEL_FILE, frame, about=metadata)


def labels_about(path: Path) -> LabelsAbout | None:
    """What labels were made of; None where the file does not say."""
    import polars as pl

    try:
        stored = pl.read_parquet_metadata(_file(path)).get(_KEY)
        about = None if stored is None else LabelsAbout(**orjson.loads(stored))
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError):
        return None
    if about is not None and about.layout < _LAYOUT and about.protocol == "paper":
        return replace(about, protocol="turns")  # what 0.1.0 called so
    return about


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
    if frame.schema == _first_layout():
        return _from_first(frame)
    if frame.schema != LABELS:
        raise RealtalkError("has other columns than labels", where=str(file), fix=_FIX)
    return frame


def _first_layout() -> pl.Schema:
    import polars as pl

    new = ("language", *LEVELS)
    kinds = {name: kind for name, kind in LABELS.items() if name not in new}
    return pl.Schema(kinds | dict.fromkeys(COMPONENTS, pl.Int8()))


def _from_first(frame: pl.DataFrame) -> pl.DataFrame:
    """Labels of 0.1.0: what stood under a component's name is its level.

    Where the levels add up to empathy, as a judge's do, they are the components too; what else
    the components were is not known.
    """
    import polars as pl

    same = pl.sum_horizontal(COMPONENTS) == pl.col("empathy")
    return frame.with_columns(
        pl.lit(None, pl.String).alias("language"),
        *(pl.col(name).alias(level) for name, level in zip(COMPONENTS, LEVELS, strict=True)),
        *(pl.when(same).then(pl.col(name)).cast(pl.Float32).alias(name) for name in COMPONENTS),
    ).select(LABELS.names())


def with_languages(frame: pl.DataFrame, corpus: Corpus) -> pl.DataFrame:
    """The labels with each turn's language, where they lack it and the corpus has the turn."""
    import polars as pl

    if not frame["language"].null_count():
        return frame
    joined = bool((frame["message_ids"].list.len() > 1).any()) or not of_messages(frame)
    turns = turn_inputs(corpus, joined)
    languages = turn_languages((each.chat, each.speaker, each.text) for each in turns)
    known = {(each.chat, each.ids): name for each, name in zip(turns, languages, strict=True)}
    keys = zip(frame["chat"].to_list(), frame["message_ids"].to_list(), strict=True)
    column = pl.Series([known.get((chat, tuple(ids))) for chat, ids in keys], dtype=pl.String)
    return frame.with_columns(pl.coalesce("language", column.alias("language")))


def of_messages(frame: pl.DataFrame) -> bool:
    """Whether a speaker follows themselves within a session, so that turns were not joined."""
    import polars as pl

    who = ("chat", "session", "speaker")
    again = [pl.col(name) == pl.col(name).shift(1) for name in who]
    return bool(frame.sort("chat", "turn").select(pl.all_horizontal(again).any()).item())


def refuse_other_labels(
    folder: Path, measure: str, version: str, turns: Sequence[tuple[str, int]]
) -> None:
    """Raises where a folder holds labels made in another way, labels of other turns, or no labels.

    `turns` are those to be labelled, in order: the chat of each and how many messages it joins.
    """
    import polars as pl

    refuse_strangers(folder, "labels", LABEL_FILE)
    if not (folder / LABEL_FILE).is_file():
        return
    known = read_labels(folder)
    ways = set(known.select("measure", "version").unique().rows())
    if known.height and ways != {(measure, version)}:
        listed = "; ".join(sorted(", ".join(way) for way in ways))
        what = f"holds labels made otherwise ({listed} there; {measure}, {version} now)"
    elif known.select("chat", pl.col("message_ids").list.len()).rows() != list(turns):
        what = "holds labels of other turns (another corpus, protocol or pause)"
    else:
        return
    raise RealtalkError(
        what,
        where=str(folder / LABEL_FILE),
        fix="name another folder with --out, or remove the file",
    )


def why_unscored(frame: pl.DataFrame) -> list[str | None]:
    """For every turn the first reason why it has no label at all; None where it has one."""
    from realtalk.ei.labels import MEASURES

    reasons_found: list[str | None] = []
    for row in frame.select(*MEASURES, "unscored").iter_rows(named=True):
        reasons = [each["reason"] for each in row["unscored"] if each["reason"] != "not asked"]
        scored = any(row[measure] is not None for measure in MEASURES)
        reasons_found.append(None if scored else (reasons or ["no measure was asked for"])[0])
    return reasons_found


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
