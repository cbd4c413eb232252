"""Several exports of one chat, joined: what stands in two of them is taken once.

    "WhatsApp Chat with Mara.txt"      messages of January and February
    "WhatsApp Chat with Mara (1).txt"  messages of February and March
    → one chat "Mara" of three months

Files belong together where their names are alike and they agree on the time that both cover:
a greeting sent to two people in one minute makes no one chat of two. Two equal messages of one
minute stay two: a message counts as often as the file that has it most often.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from realtalk.corpora.exports.whatsapp.chat import ExportedChat
from realtalk.corpora.reading import Ledger

_COPY = re.compile(r"[ _]*\(\d{1,3}\)$")  # how browsers and phones name a second file
_SAME = ["speaker", "time", "text"]
_NTH = "nth"
_ENOUGH = 0.5  # of the messages in the time that both files cover


def joined(named: Sequence[tuple[str, ExportedChat]]) -> list[tuple[str, ExportedChat]]:
    """The chats with their names, each where its first file stood."""
    groups: dict[str, list[int]] = {}
    for place, (name, _) in enumerate(named):
        groups.setdefault(_COPY.sub("", name) or name, []).append(place)
    kept: dict[int, tuple[str, ExportedChat]] = {}
    for base, places in groups.items():
        apart: list[int] = []
        for place in places:
            name, chat = named[place]
            for held in apart:
                if (whole := _merged(kept[held][1], chat)) is not None:
                    kept[held] = base, whole
                    break
            else:
                apart.append(place)
                kept[place] = name, chat
    return [kept[place] for place in sorted(kept)]


def _merged(one: ExportedChat, other: ExportedChat) -> ExportedChat | None:
    """Both as one chat, or None where they disagree."""
    first, second = _counted(one.messages), _counted(other.messages)
    new = second.join(first, on=[*_SAME, _NTH], how="anti", maintain_order="left")
    repeated = second.height - new.height
    if not repeated or repeated < _ENOUGH * min(_within(first, second), _within(second, first)):
        return None
    messages = pl.concat([first, new]).drop(_NTH).sort("time", maintain_order=True)
    note = f"messages that stand in two files of one chat, taken once: {repeated:,}"
    return replace(
        one,
        messages=messages,
        ledger=Ledger.sum("lines", (one.ledger, other.ledger)),
        notes=(*one.notes, *other.notes, note),
    )


def _within(messages: pl.DataFrame, other: pl.DataFrame) -> int:
    """How many messages lie in the time that the other file covers too."""
    times = other["time"]
    return messages.filter(pl.col("time").is_between(times.min(), times.max())).height


def _counted(messages: pl.DataFrame) -> pl.DataFrame:
    return messages.with_columns(pl.int_range(pl.len()).over(_SAME).alias(_NTH))
