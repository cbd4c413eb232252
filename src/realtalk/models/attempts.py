"""A request → a model's output, after as many attempts as the failure is worth.

    await generate(partial(model.ask, "…", flaw), 5, 3.0)    → ModelOutput, or it raises
    trouble_of(Failure("provider error (500)", 500), 2, 7, 12.0)
    → "the server answers 500, trying again (3 of 7) in 12 s"

Rate limits, errors of the server and broken connections are tried again `retries` times, each
time after a longer pause or the one that the provider asks for. A hang has taken its whole time
limit, and a web page in place of a reply may stay one: both are worth two more attempts. Whoever
waits is told of every pause, and of an attempt that takes long (`tell`).

    pace = pace_of("http://gpu01:8000/v1")
    await pace.turn(per_minute("300/min"))    # at most every 0.2 seconds, whoever asks here

Every request counts, also one that is a repetition: a provider's own client repeats nothing by
itself, so that every pause is ours and is told. Requests are spaced evenly instead of let through
in bursts: a server that limits by the second is then kept to as well. Who answers and who judges
share the pace of one server, as do the blocks of a run one after the other.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.models.replies import NO_CONNECTION, TIMEOUT, TOO_LONG, Failure, reason_of

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

_AGAIN = 2
_TOO_MANY = 429
_SAID = {
    TIMEOUT: "the server does not answer in time",
    NO_CONNECTION: "the server cannot be reached",
}
_TOLD_AGAIN = 60.0  # seconds until the same trouble is told once more
_SLOW = 30.0  # seconds
_LONGEST = 120.0  # seconds of a pause, also where a provider asks for more


async def generate(
    ask: Callable[[], Awaitable[ModelOutput]],
    retries: int,
    wait: float,
    turn: Callable[[], Awaitable[None]] | None = None,
    tell: Callable[[str], object] = str,
) -> ModelOutput:
    """The model's output; the last attempt's error where none succeeds.

    Before every attempt its `turn` is waited for (`Pace`).
    """
    tried = 0
    while True:
        if turn is not None:
            await turn()
        slow = asyncio.get_running_loop().call_later(
            _SLOW, tell, f"the server has not answered for {_SLOW:.0f} s, still waiting"
        )
        try:
            return await ask()
        except Exception as error:
            failure = reason_of(error)
            # Inspect wraps what is worth another attempt; broken replies it does not all know.
            again = retries if getattr(error, "last_attempt", None) is not None else 0
            if failure.is_broken:
                again = _AGAIN
            elif failure.reason == TIMEOUT:
                again = min(again, _AGAIN)
            elif failure.reason == TOO_LONG:
                again = 0
            if tried >= again:
                raise
            pause = _pause(wait, tried, error)
        finally:
            slow.cancel()
        tell(trouble_of(failure, tried, again, pause))
        tried += 1
        await asyncio.sleep(pause)


def without_repeats(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Many connections fail alike: what was told just now is not told again."""
    last_time: dict[str, float] = {}  # what, without the pause, and when

    def telling(trouble: str) -> None:
        now, what = time.monotonic(), trouble[: trouble.rfind(")")]
        if what not in last_time or now - last_time[what] >= _TOLD_AGAIN:
            last_time[what] = now
            tell(trouble)

    return telling


def trouble_of(failure: Failure, tried: int, again: int, pause: float) -> str:
    """What went wrong, which attempt comes next, and when."""
    if failure.status is not None:
        what = f"the server answers {failure.status}"
        if failure.status == _TOO_MANY:
            what += " (too many requests)"
    else:
        what = _SAID.get(failure.reason, failure.reason)
    soon = f" in {pause:.0f} s" if pause >= 1 else ""
    return f"{what}, trying again ({tried + 1} of {again}){soon}"


def _pause(first: float, tried: int, error: BaseException) -> float:
    """Seconds until the next attempt."""
    last = getattr(error, "last_attempt", None)
    response = getattr(error if last is None else last.exception(), "response", None)
    header = str(getattr(response, "headers", {}).get("retry-after", ""))
    seconds = float(header) if re.fullmatch(r"[0-9]{1,6}", header) else 0.0
    return min(_LONGEST, max(seconds, first * 2.0**tried * random.uniform(1.0, 1.25)))


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
