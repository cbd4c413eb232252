"""How often a server may be asked → waits that keep requests that far apart.

    pace = pace_of("http://gpu01:8000/v1")
    await pace.turn(per_minute("300/min"))    # at most every 0.2 seconds, whoever asks here

Every request counts, also one that is a repetition: a provider's own client repeats nothing by
itself, so that every pause is ours and is told. Requests are spaced evenly instead of let through
in bursts: a server that limits by the second is then kept to as well. Who answers and who judges
share the pace of one server, as do the blocks of a run one after the other.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from typing import Any

from realtalk.errors import RealtalkError

_UNITS = {"s": 60.0, "min": 1.0, "h": 1 / 60}
_WRITTEN = re.compile(r"(\d+(?:\.\d+)?)\s*/\s*(s|min|h)")


def per_minute(rate: str) -> float:
    """`300/min`, `5/s` or `1000/h` as requests per minute."""
    match = _WRITTEN.fullmatch(rate.strip())
    requests = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if requests <= 0:
        raise RealtalkError(f"'{rate}' is no rate", fix="write `rate=300/min`, 5/s or 1000/h")
    return requests


class Pace:
    """The moments at which one server may be asked, handed out one by one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # in a notebook asking has a thread of its own
        self._next = 0.0

    def moment(self, now: float, requests: float) -> float:
        """The next free moment at so many requests per minute; it is taken then."""
        with self._lock:
            moment = max(now, self._next)
            self._next = moment + 60 / requests
        return moment

    async def turn(self, requests: float) -> None:
        """Waits until a request may be sent, at so many per minute."""
        moment = self.moment(time.monotonic(), requests)
        # A sleep may end a little early.
        while (seconds := moment - time.monotonic()) > 0:
            await asyncio.sleep(seconds)


_paces: dict[str, Pace] = {}


def pace_of(server: str) -> Pace:
    """The pace of a server, the same for all who ask it in this process."""
    return _paces.setdefault(server, Pace())


def leave_repeating_to_us(api: Any) -> None:
    """Has a provider's client send every request once.

    Those of OpenAI, Anthropic and their kin repeat what was refused by themselves, and such a
    request would not wait for its turn. Inside a client it cannot: the wait would count against
    the time that an attempt may take.
    """
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0
