"""The files of a stored corpus' messages: one where it is small, a folder of parts beyond that.

    message_files(Path("mara"))       → (mara/messages.parquet,)
    message_files(Path("archive"))    → (archive/messages/part-00000.parquet, part-00001.parquet, …)
    cut(messages, ["a", "b", "c"], 250_000)
    → [PartSpan(0, 240_112, 0, 2), PartSpan(240_112, 90_004, 2, 3)]

Parts are cut between chats, in the order of corpus.json. Only a chat that is larger than a part
is torn: its parts are of one size and hold nothing else. Most corpora fit into one file, which
keeps the name that people have in their queries; nothing but the number of messages decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.errors import RealtalkError

MESSAGES_PER_PART = 250_000  # some 150 MB in memory for messages of a dozen words
_FOLDER, _FILE = "messages", "messages.parquet"
_PLACES = pl.Schema({"chat": pl.String, "place": pl.Int64})


@dataclass(frozen=True, slots=True)
class PartSpan:
    """One part: its rows, and the chats that they belong to, by their places in corpus.json."""

    start: int
    messages: int
    first: int
    end: int  # the place after the last

    def to_json(self) -> dict[str, Any]:
        return {"messages": self.messages, "chats": [self.first, self.end]}


@dataclass(frozen=True, slots=True)
class ChatSpan:
    """Whole chats, by their places in corpus.json, and the parts that hold their messages."""

    parts: tuple[int, ...]
    first: int
    end: int


def message_files(folder: Path) -> tuple[Path, ...]:
    """The files of messages in their order; none where the folder holds no stored corpus."""
    single = folder / _FILE
    if single.is_file():
        return (single,)
    return tuple(sorted((folder / _FOLDER).glob("part-*.parquet")))


def own_names() -> frozenset[str]:
    """What the messages may be called in a stored corpus' folder."""
    return frozenset({_FOLDER, _FILE})


def part_file(folder: Path, number: int | None) -> Path:
    """Where a part is, or the only file where there are no parts."""
    return folder / _FILE if number is None else folder / _FOLDER / f"part-{number:05}.parquet"


def part_spans(folder: Path, entries: Sequence[Any]) -> list[PartSpan]:
    """The parts that corpus.json lists, each of which must be there."""
    spans = []
    start = 0
    for number, entry in enumerate(entries):
        first, end = entry["chats"]
        spans.append(PartSpan(start, int(entry["messages"]), int(first), int(end)))
        start += spans[-1].messages
        place = part_file(folder, number)
        if not place.is_file():
            raise RealtalkError("is missing", where=str(place), fix="read the source again")
    return spans


def in_chat_order(messages: pl.DataFrame, chats: Sequence[str]) -> pl.DataFrame | None:
    """The messages chat by chat, in the order of the chats; None where one is in no chat."""
    places = pl.DataFrame({"chat": chats, "place": range(len(chats))}, schema=_PLACES)
    placed = messages.join(places, on="chat", how="left", maintain_order="left")
    if placed["place"].null_count():
        return None
    if placed["place"].is_sorted():
        return messages
    return placed.sort("place", maintain_order=True).drop("place")


def cut(messages: pl.DataFrame, chats: Sequence[str], most: int) -> list[PartSpan]:
    """Parts of at most so many messages, which are in the order of their chats."""
    sizes = dict(messages.group_by("chat").len().iter_rows())
    spans: list[PartSpan] = []
    start = size = first = 0
    for place, chat in enumerate(chats):
        own = int(sizes.get(chat, 0))
        if size and size + own > most:
            spans.append(PartSpan(start, size, first, place))
            start, size = start + size, 0
        if own > most:
            pieces = -(-own // most)
            for piece in range(pieces):
                share = own * (piece + 1) // pieces - own * piece // pieces
                spans.append(PartSpan(start, share, place, place + 1))
                start += share
            continue
        if own and not size:
            first = place
        size += own
    if size or not spans:
        spans.append(PartSpan(start, size, first, len(chats)))
    return spans


def groups(spans: Sequence[PartSpan], chats: int) -> list[ChatSpan]:
    """Parts that can be worked on alone: those of one torn chat together, the others one by one.

    Together they have every chat once, those without a message too.
    """
    joined: list[list[int]] = []
    for number, span in enumerate(spans):
        before = spans[number - 1] if number else None
        if before is not None and (before.first, before.end) == (span.first, span.end):
            joined[-1].append(number)
        else:
            joined.append([number])
    starts = [0, *(spans[parts[0]].first for parts in joined[1:]), chats]
    return [
        ChatSpan(tuple(parts), start, end)
        for parts, (start, end) in zip(joined, pairwise(starts), strict=True)
    ]
