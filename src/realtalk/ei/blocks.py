"""Turns in files of some hundred, so that they can be labelled far from their corpus.

    block_frames(chats, joined=True, size=256)      → frames of 256 turns, over all chats
    write_labels(frame, labeller, Path("block-00000"))
    → block-00000/labels.jsonl, labels.parquet       # rows as `labelling` writes them

A turn stands with all that a way of measuring may see of it: what was said right before, its
language and its encoder, which depend on the whole chat. The history that a judge reads is not
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import orjson
import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.label_files import TABLE
from realtalk.ei.labelling import STORED, keyed, with_time
from realtalk.ei.labels import Labeller, TurnInput, label_row, turn_inputs, version_for
from realtalk.local.writing import write_bytes, write_parquet
from realtalk.text.languages import turn_languages

_TURNS = pl.Schema(
    {
        "chat": pl.String(),
        "session": pl.Int32(),
        "turn": pl.Int32(),
        "speaker": pl.String(),
        "time": pl.Datetime("us"),
        "message_ids": pl.List(pl.String),
        "text": pl.String(),
        "previous": pl.String(),
        "language": pl.String(),
        "encoder": pl.String(),
    }
)


def block_frames(corpora: Iterable[Corpus], joined: bool, size: int) -> Iterator[pl.DataFrame]:
    """The turns of whole chats, `size` at a time; a block may end one chat and begin another."""
    waiting: list[tuple[object, ...]] = []
    for corpus in corpora:
        inputs = turn_inputs(corpus, joined)
        languages = turn_languages((given.chat, given.speaker, given.text) for given in inputs)
        for given, language in zip(inputs, languages, strict=True):
            waiting.append(_row(given, language))
            if len(waiting) == size:
                yield _frame(waiting)
                waiting = []
    if waiting:
        yield _frame(waiting)


def _row(given: TurnInput, language: str) -> tuple[object, ...]:
    return (
        given.chat,
        given.session,
        given.turn,
        given.speaker,
        given.time,
        list(given.ids),
        given.text,
        given.previous,
        language,
        given.encoder,
    )


def _frame(rows: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=_TURNS, orient="row")


def write_labels(turns: pl.DataFrame, labeller: Labeller, protocol: str, place: Path) -> int:
    """Labels a block; its rows as lines and as a table, exactly as those of the whole."""
    inputs = [
        TurnInput(chat, session, turn, speaker, tuple(ids), time, text, previous, encoder=encoder)
        for chat, session, turn, speaker, time, ids, text, previous, _, encoder in turns.iter_rows()
    ]
    labels = labeller.label(inputs)
    rows = [
        keyed(label_row(given, label, language, labeller.name, version), protocol)
        for given, label, language, version in zip(
            inputs,
            labels,
            turns["language"],
            (version_for(labeller, given.encoder) for given in inputs),
            strict=True,
        )
    ]
    lines = [orjson.dumps(row) for row in rows]
    write_bytes(place / f"{TABLE}.jsonl", b"".join(line + b"\n" for line in lines))
    stored = [with_time(orjson.loads(line)) for line in lines]
    write_parquet(place / f"{TABLE}.parquet", pl.DataFrame(stored, schema=STORED))
    return len(rows)
