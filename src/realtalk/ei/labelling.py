"""A corpus → labels of every turn, as a run: in a folder or in memory. Killed, it goes on.

    label_corpus(corpus, EmbeddedLabeller(), "turns", Path("labels"))   → LabelRun(frame, settings)
    label_corpus(corpus, EmbeddedLabeller())             → the same, and nothing is written
    store_labels(frame, settings, Path("copy"))          labels that are there already, as a run

labels/run.json  labels/labels.jsonl, .parquet: one row per turn

A row has the key of every run (`sample` is the turn's number in its chat, `group` the chat,
`variant` the protocol), then the columns of `labels.LABELS`. Turns are handed over in the same
blocks whatever is there already, so that labels come out equal to the last bit after a kill. A
labeller that `asks` is asked again for what it failed to answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.chat import Chat, Corpus
from realtalk.ei.label_files import (
    KIND,
    LABEL_FILE,
    SPEAKER_FILE,
    TABLE,
    about_metadata,
    is_earlier,
)
from realtalk.ei.labels import (
    LABELS,
    NO_TEXT,
    NOT_ASKED,
    Labeller,
    TurnInput,
    label_row,
    turn_inputs,
    version_for,
    versions_of,
)
from realtalk.ei.languages import chat_languages, language_notes
from realtalk.ei.protocols import rules_of
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import corpus_record
from realtalk.evals.folder import Key, Row, RunFolder, Table
from realtalk.evals.rows import KEY
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import write_parquet
from realtalk.text.languages import turn_languages

_IN_A_ROW = 4
_AT_ONCE = 122_880  # rows of a group in the Parquet file
STORED = pl.Schema({**dict.fromkeys(KEY, pl.String()), **LABELS})


@dataclass(frozen=True)
class LabelRun:
    """Labels, one row per turn, and what they depend on."""

    frame: pl.DataFrame
    settings: Mapping[str, Any]


def label_settings(
    corpus: Mapping[str, str],
    protocol: str,
    measure: str,
    version: str,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What run.json says of labels; `corpus` is its record, `settings` are the labeller's."""
    solver = {"name": measure, "version": version, "settings": dict(settings or {})}
    return {"corpus": dict(corpus), "protocol": protocol, "solver": solver}


def settings_for(
    labeller: Labeller, inputs: Iterable[TurnInput], corpus: Mapping[str, str], protocol: str
) -> dict[str, Any]:
    """What run.json says of labels of these turns; the version names every encoder of them."""
    version = versions_of(labeller, (given.encoder for given in inputs))
    own = getattr(labeller, "settings", None)
    return label_settings(corpus, protocol, labeller.name, version, own)


def stored_settings(folder: Path) -> Mapping[str, Any] | None:
    """The settings of a run of labels; None of labels of earlier versions and of a file alone."""
    if not (folder / "run.json").is_file():
        return None
    settings = RunFolder.load(folder, KIND).settings
    return settings if {"corpus", "protocol", "solver"} <= settings.keys() else None


def label_corpus(
    corpus: Corpus,
    labeller: Labeller,
    protocol: str = "turns",
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> LabelRun:
    """Labels the turns that the folder does not have yet."""
    inputs = turn_inputs(corpus, rules_of(protocol).joined)
    settings = settings_for(labeller, inputs, corpus_record(corpus), protocol)
    return label_turns(inputs, settings, labeller, out, fresh=fresh, progress=progress)


def label_turns(
    inputs: Sequence[TurnInput],
    settings: Mapping[str, Any],
    labeller: Labeller,
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> LabelRun:
    """The same for turns that were chosen already; `settings` are those of `label_settings`."""
    protocol = settings["protocol"]
    with open_run(out, settings, fresh) as run:
        table = run.table(TABLE, KEY)
        keys = [_key(given.chat, given.turn, protocol) for given in inputs]
        _label(inputs, keys, labeller, table, progress)
        frame = _finish(table, keys, settings)
    return LabelRun(frame, run.settings)


def spread(inputs: Sequence[TurnInput], most: int) -> list[TurnInput]:
    """About `most` turns, four in a row at a time, evenly over all of them.

    Turns in a row are needed to tell how somebody answers.
    """
    runs = max(1, most // _IN_A_ROW)
    step = len(inputs) / runs
    chosen = {int(run * step) + at for run in range(runs) for at in range(_IN_A_ROW)}
    return [inputs[at] for at in sorted(chosen) if at < len(inputs)]


def store_labels(
    frame: pl.DataFrame, settings: Mapping[str, Any], folder: Path, *, fresh: bool = False
) -> None:
    """Labels that are there already, as a run in a folder."""
    with open_run(folder, settings, fresh) as run:
        table = run.table(TABLE, KEY)
        keys = []
        for row in frame.select(LABELS.names()).iter_rows(named=True):
            keys.append(_key(row["chat"], row["turn"], settings["protocol"]))
            if _is_open(table.get(keys[-1]), asks=True):
                table.add(keyed(row, settings["protocol"]))
        _finish(table, keys, settings)


def label_cautions(frame: pl.DataFrame, corpus: Corpus | None = None) -> tuple[str, ...]:
    """What has to be said beside every figure that is made from labels.

    Chats in another language than the labels are for, and, where the corpus is at hand, chats
    that the shipped encoder learned from.
    """
    lines = language_notes(chat_languages(frame))
    if corpus is not None and "embedded" in frame["measure"].unique().to_list():
        lines = [*lines, *learned_lines(corpus)]
    return tuple(lines)


def learned_lines(corpus: Corpus) -> tuple[str, ...]:
    """Which chats the shipped encoders learned from: their labels of others are worse.

    The multilingual one learned from the English one's sets, and from conversations of its own,
    none of which is in English: a chat that is known by either was learned from by its encoder.
    """
    from realtalk.encoders.learned import Learned

    both = (Learned.of("ei"), Learned.of("ei_multilingual"))

    def known(chat: Chat) -> str | None:
        texts = [message.text for message in chat.messages]
        return next((name for each in both if (name := each.chat(texts)) is not None), None)

    named = {chat.id: known(chat) for chat in corpus.chats}
    return tuple(
        f"{chat}: in-sample, the encoder learned from {name}; expect less on other chats"
        for chat, name in named.items()
        if name is not None
    )


def open_run(folder: Path | None, settings: Mapping[str, Any], fresh: bool) -> RunFolder:
    """The run's folder; labels of earlier versions, which have no run.json, are started anew."""
    if folder is not None and is_earlier(folder):
        if not fresh:
            raise RealtalkError(
                "holds labels of an earlier version, which can be read but not gone on with",
                where=str(folder),
                fix="name another folder, or start anew with --fresh",
            )
        for name in (LABEL_FILE, SPEAKER_FILE):
            (folder / name).unlink(missing_ok=True)
    return RunFolder.open(folder, KIND, settings, fresh=fresh)


def _key(chat: str, turn: int, protocol: str) -> Key:
    return (str(turn), chat, protocol)


def _label(
    inputs: Sequence[TurnInput],
    keys: Sequence[Key],
    labeller: Labeller,
    table: Table,
    progress: Progress,
) -> None:
    """Adds the rows that are missing, block by block."""
    languages = turn_languages((given.chat, given.speaker, given.text) for given in inputs)
    asks = bool(getattr(labeller, "asks", False))
    total = len(inputs)
    step = getattr(labeller, "at_once", None) or max(1, total)
    for start in range(0, total, step):
        block = range(start, min(start + step, total))
        waiting = [at for at in block if _is_open(table.get(keys[at]), asks)]
        if not waiting:
            continue
        shown = waiting if asks else block
        labels = labeller.label([inputs[at] for at in shown], _from(start, total, step, progress))
        by_turn = dict(zip(shown, labels, strict=True))
        for at in waiting:
            language = languages[at]
            version = version_for(labeller, inputs[at].encoder)
            row = label_row(inputs[at], by_turn[at], language, labeller.name, version)
            table.add(keyed(row, keys[at][2]))


def _from(start: int, total: int, step: int, progress: Progress) -> Progress:
    """Progress within a block as progress of the whole; a labeller of all turns counts itself."""
    if step >= total:
        return progress
    return lambda done, _, what: progress(start + done, total, what)


def _is_open(row: Row | None, asks: bool) -> bool:
    if row is None:
        return True
    return asks and any(each["reason"] not in (NOT_ASKED, NO_TEXT) for each in row["unscored"])


def keyed(row: Row, protocol: str) -> Row:
    """A label's row as it is stored, with the key of a run before it."""
    key = _key(row["chat"], row["turn"], protocol)
    return {**dict(zip(KEY, key, strict=True)), **row}


def _finish(table: Table, keys: Sequence[Key], settings: Mapping[str, Any]) -> pl.DataFrame:
    """The rows in the order of the turns, also as Parquet, and without their key as a value."""
    table.sync()
    rows = list(map(with_time, table.in_order(keys)))
    starts = range(0, max(1, len(rows)), _AT_ONCE)
    # In pieces of a group each: so the file has the bytes of one that is put together from parts.
    frame = pl.concat([pl.DataFrame(rows[at : at + _AT_ONCE], schema=STORED) for at in starts])
    if table.path is not None:
        write_table(table.path.with_suffix(".parquet"), frame, settings)
    return frame.select(LABELS.names())


def write_table(
    path: Path, frame: pl.DataFrame | pl.LazyFrame, settings: Mapping[str, Any]
) -> None:
    """All rows as Parquet; the same bytes, whatever pieces they come in."""
    write_parquet(path, frame, about=about_metadata(settings), at_once=_AT_ONCE)


def with_time(row: Row) -> Row:
    """JSON has no moments: they come back as text."""
    time = row["time"]
    return row | {"time": None if time is None else datetime.fromisoformat(time)}
