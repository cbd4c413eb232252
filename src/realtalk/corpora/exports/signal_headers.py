"""Which dated lines of a Signal text start a message, and which somebody pasted into one.

    [2024-05-01 09:30:12] Ann: look what he wrote
    [2021-02-03 08:00:00] Cleo: hi          → text of Ann: she pasted it
    that is all\u2423\u2423
                                            (\u2423 is a space)
    [2024-05-01 09:31:00] Bo: oh            → a message of Bo

signal-export ends every message with two spaces, its reactions, its sticker or the words for a
deleted one, so a header stands behind such an end; lines inside a message have no such end. Where
an editor has taken the spaces off, time tells: messages are in order, so a few lines that go back
in time before it goes on are pasted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

_HEADER = re.compile(r"\[(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)\] (.*)", re.ASCII)
_DELETED = "(This message was deleted)"
_SLACK = timedelta(hours=1)  # messages arrive late
_MOST = 50  # dated lines that somebody pastes at once
_FEW = 3


class Header(NamedTuple):
    """A dated line: where it stands, its time, and what follows the date."""

    place: int
    time: datetime
    rest: str


def header(line: str, place: int) -> Header | None:
    """The header that a line is; None for a line without a date."""
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    try:
        return Header(place, datetime.fromisoformat(f"{match[1]}T{match[2]}"), match[3])
    except ValueError:
        return None


def starts(dated: Sequence[Header], lines: Sequence[str]) -> list[Header]:
    """Those that start a message."""
    behind = [head for head in dated[1:] if _is_end(_before(lines, head.place))]
    # An editor that takes spaces off leaves the other ends in place. Half of the lines is
    # enough: the others may all stand in one message.
    spaced = any(_before(lines, head.place).endswith("  ") for head in behind)
    exact = spaced and 2 * len(behind) >= len(dated) - 1
    return _in_time([*dated[:1], *behind] if exact else list(dated), sure=exact)


def _before(lines: Sequence[str], place: int) -> str:
    """The line before, or the one before that where an empty line parts messages."""
    return lines[place - 2] if not lines[place - 1] and place > 1 else lines[place - 1]


def _is_end(line: str) -> bool:
    return line.endswith(("  ", " -)", " ))", _DELETED))


def _in_time(dated: list[Header], *, sure: bool) -> list[Header]:
    """Without the few lines that go back in time for a while."""
    rises = sum(a.time < b.time for a, b in pairwise(dated))
    falls = sum(a.time > b.time for a, b in pairwise(dated))
    if falls > rises:
        return dated  # the newest comes first
    kept: list[Header] = []
    place = 0
    while place < len(dated):
        back = place
        if kept:
            earliest = kept[-1].time - _SLACK
            while back < len(dated) and dated[back].time < earliest:
                back += 1
        count = back - place
        goes_on = back < len(dated)
        # At the end of a file nothing tells an old message from a pasted line but its form.
        if count and (count <= _MOST if goes_on else count < _FEW and not sure):
            place = back
            continue
        kept.append(dated[place])
        place += 1
    return kept
