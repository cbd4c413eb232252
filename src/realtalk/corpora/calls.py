"""Calls, which apps write among messages as notices → who called when, kept beside a chat.

    packed_calls([("Ann", datetime(2024, 5, 1, 9, 30))])    → {"Ann": ["2024-05-01T09:30:00"]}
    joined_calls(known, new, {"Mum": "Ann"})                → both, a call of both exports once

They stand in the chat's `extra` as `calls`; `Chat.calls` reads them. A call is no message: it
takes part in no statistic of messages, turns or sessions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from realtalk.chat import Call, calls_in, pack_extra, unpack_extra

_NOW = timedelta(0)


def packed_calls(calls: Iterable[tuple[str, datetime | None]]) -> dict[str, list[str]]:
    """Calls as `extra` holds them; a call without a readable time is an empty text."""
    packed: dict[str, list[str]] = {}
    for speaker, time in calls:
        packed.setdefault(speaker, []).append("" if time is None else time.isoformat())
    return packed


def joined_calls(known: str, new: str, names: Mapping[str, str], offset: timedelta = _NOW) -> str:
    """The known chat's `extra` with the calls that the new one's tells beyond them.

    `names` are the known names of people, `offset` is what the new clock lacks. Exports differ
    in seconds, so calls of one person in one minute are the same ones.
    """
    there, told = calls_in(known), calls_in(new)
    if not told:
        return known
    seen = Counter(map(_minute, there))
    calls = [(call.speaker, call.time) for call in there]
    for each in told:
        moved = None if each.time is None else each.time + offset
        call = Call(names.get(each.speaker, each.speaker), moved)
        if seen[_minute(call)]:
            seen[_minute(call)] -= 1
        else:
            calls.append((call.speaker, call.time))
    return pack_extra({**unpack_extra(known), "calls": packed_calls(calls)})


def renamed_calls(extra: str, names: Mapping[str, str]) -> str:
    """The same calls by people who have other names now."""
    calls = calls_in(extra)
    if not calls or not names:
        return extra
    renamed = packed_calls((names.get(call.speaker, call.speaker), call.time) for call in calls)
    return pack_extra({**unpack_extra(extra), "calls": renamed})


def _minute(call: Call) -> tuple[str, datetime | None]:
    return call.speaker, None if call.time is None else call.time.replace(second=0, microsecond=0)
