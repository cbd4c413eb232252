"""A folder that `realtalk ei PATH --out` wrote → its labels, checked, whichever version wrote it.

    read_labels(Path("labels"))     → one row per turn, with the columns of `labels.LABELS`
    labels_about(Path("labels"))    → LabelsAbout("my-chat", "whatsapp", "turns", "0.2.0", 3)
    one_protocol(["a", "b"], None)  → "turns", which both remember
    with_languages(frame, corpus)   → labels of 0.1.0, which have none, with their languages
    unscored_reasons(frame)         → [("emotion", "timeout", 3), …]

The folder or the Parquet file itself may be named. What the labels are about also stands in the
file's own metadata, so that it cannot be parted from them; labels of early versions have none.
Labels of version 0.1.0 are read: its components of empathy were levels that did not add up. How
labels are written is in `labelling`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from realtalk import __version__
from realtalk.ei.labels import COMPONENTS, LABELS, LEVELS, MEASURES, NOT_ASKED, turn_inputs
from realtalk.ei.protocols import rules_of
from realtalk.errors import RealtalkError
from realtalk.text.languages import turn_languages

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus

KIND = "emotional intelligence"  # of the run, in run.json
TABLE = "labels"
LABEL_FILE, SPEAKER_FILE = f"{TABLE}.parquet", "speakers.parquet"
_LAYOUT = 3
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


def about_metadata(settings: Mapping[str, Any]) -> dict[str, str]:
    """What labels are about, by a run's settings, for the metadata of their file."""
    corpus = settings["corpus"]
    about = LabelsAbout(
        corpus["name"], corpus["format"], settings["protocol"], __version__, _LAYOUT
    )
    return {_KEY: orjson.dumps(asdict(about)).decode()}


def is_labels(path: Path) -> bool:
    """Whether a path is a folder of labels, finished or not, or the file of labels itself."""
    names = (LABEL_FILE, f"{TABLE}.jsonl")
    return path.suffix == ".parquet" or any((path / name).is_file() for name in names)


def is_earlier(folder: Path) -> bool:
    """Whether a folder holds labels of a version that did not make a run of them."""
    return (folder / LABEL_FILE).is_file() and not (folder / "run.json").is_file()


def labels_about(path: Path) -> LabelsAbout | None:
    """What labels were made of; None where the file does not say."""
    import polars as pl

    try:
        stored = pl.read_parquet_metadata(_file(path)).get(_KEY)
        about = None if stored is None else LabelsAbout(**orjson.loads(stored))
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError):
        return None
    if about is not None and about.layout < 2 and about.protocol == "paper":
        return replace(about, protocol="turns")  # what 0.1.0 called so
    return about


def _file(path: Path) -> Path:
    return path / LABEL_FILE if path.is_dir() else path


def read_labels(path: Path) -> pl.DataFrame:
    """The labels of a folder, or of the file itself."""
    import polars as pl

    file = _file(path)
    if not file.is_file() and file.with_suffix(".jsonl").is_file():
        raise RealtalkError(
            "the labels are not finished", where=str(path), fix="start it again: it goes on"
        )
    if not file.is_file():
        raise RealtalkError("no labels here", where=str(file), fix=_FIX)
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file), fix=_FIX) from error
    if frame.schema == _first_layout():
        return _from_first(frame)
    # Beside them stands the key of every run; labels of earlier versions have none.
    if any(frame.schema.get(name) != kind for name, kind in LABELS.items()):
        raise RealtalkError("has other columns than labels", where=str(file), fix=_FIX)
    return frame.select(LABELS.names())


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


def one_protocol(targets: Iterable[str], protocol: str | None) -> str:
    """The protocol that is wanted, else the one that labels remember; "turns" for a corpus."""
    if protocol is not None:
        return rules_of(protocol).name
    remembered: dict[str, str] = {}
    for target in targets:
        about = labels_about(Path(target)) if is_labels(Path(target)) else None
        if about is not None:
            remembered[about.protocol] = target
    if len(remembered) > 1:
        (one, first), (other, second), *_ = remembered.items()
        raise RealtalkError(
            f"{first} was made with the protocol '{one}', {second} with '{other}'",
            fix="say which is meant: --protocol NAME",
        )
    return rules_of(next(iter(remembered), "turns")).name


def refuse_other_units(frame: pl.DataFrame, protocol: str, where: str) -> None:
    """Raises where a protocol is of joined turns and the labels of messages, or the reverse."""
    joined = rules_of(protocol).joined
    if not joined and (frame["message_ids"].list.len() > 1).any():
        raise RealtalkError(
            f"these labels are of joined turns, '{protocol}' wants them of messages",
            where=where,
            fix=f"make them with: realtalk ei PATH --protocol {protocol} --out DIR",
        )
    if joined and of_messages(frame):
        raise RealtalkError(
            f"these labels are of single messages, '{protocol}' wants them of joined turns",
            where=where,
            fix="add --protocol released, or label again without it",
        )


def why_unscored(frame: pl.DataFrame) -> list[str | None]:
    """For every turn the first reason why it has no label at all; None where it has one."""
    reasons_found: list[str | None] = []
    for row in frame.select(*MEASURES, "unscored").iter_rows(named=True):
        reasons = [each["reason"] for each in row["unscored"] if each["reason"] != NOT_ASKED]
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
