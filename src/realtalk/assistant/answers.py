"""Rows of any number → an answer that has an end, and says where it goes on.

    page({"chat": "family"}, "messages", rows, total=412, offset=0, limit=50)
    → {"chat": "family", "messages": [50 rows], "total": 412, "next_offset": 50}

An answer holds as many rows as were asked for, `MOST_ROWS` at most, and fewer where its JSON
would be longer than `MOST_CHARACTERS`: an assistant's own memory is what it fills.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from realtalk.errors import RealtalkError

MOST_CHARACTERS = 30_000  # of the JSON of any answer
MOST_ROWS = 200
_ROOM = 400  # for what stands around the rows
_CUT = "…"


def encoded(value: Mapping[str, Any]) -> str:
    """The answer as compact JSON; half a character, as some exports hold, becomes a mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def page(
    head: Mapping[str, Any],
    name: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    total: int,
    offset: int = 0,
    limit: int = MOST_ROWS,
) -> dict[str, Any]:
    """The answer `head` with rows under `name`; `rows` begin at `offset`."""
    check_page(offset, limit)
    left = MOST_CHARACTERS - _ROOM - len(encoded(head))
    shown: list[Mapping[str, Any]] = []
    for row in islice(rows, limit):
        size = len(encoded(row)) + 1
        if size > left and shown:
            break
        shown.append(row if size <= left else _shortened(row, left))
        left -= size
    end = offset + len(shown)
    following = {"next_offset": end} if shown and end < total else {}
    return {**head, name: shown, "total": total, **following}


def check_page(offset: int, limit: int) -> None:
    """Raises where the bounds of a page are none."""
    if not 1 <= limit <= MOST_ROWS:
        raise RealtalkError(f"'limit' goes from 1 to {MOST_ROWS}")
    if offset < 0:
        raise RealtalkError("'offset' must be 0 or more")


def cut(text: str, most: int) -> str:
    """The text, or its beginning and a mark."""
    return text if len(text) <= most else f"{text[: most - 1]}{_CUT}"


def moment(time: datetime | None) -> str | None:
    """A message's time as it is written in answers."""
    return None if time is None else time.isoformat(" ", "minutes")


def _shortened(row: Mapping[str, Any], room: int) -> dict[str, Any]:
    """One row that fills an answer alone: its longest text is cut."""
    longest = max(row, key=lambda name: len(row[name]) if isinstance(row[name], str) else 0)
    rest = len(encoded({**row, longest: "", "cut": True}))
    # A letter takes up to six signs in JSON.
    text = row[longest] if isinstance(row[longest], str) else ""
    while len(encoded({longest: text})) + rest > room and text:
        text = text[: len(text) * 9 // 10]
    return {**row, longest: text + _CUT, "cut": True}
