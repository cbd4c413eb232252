"""A prompt → a model's output, after as many attempts as the failure is worth.

    await generated("… Question: …", model, retries=5, wait=3.0)    → ModelOutput, or it raises

Rate limits, errors of the server and broken connections are tried again `retries` times, each
time after a longer pause or the one that the provider asks for. A hang has taken its whole time
limit, and a web page in place of a reply may stay one: both are worth two more attempts.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from realtalk.models.replies import TIMEOUT, TOO_LONG, reason_of

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

_AGAIN = 2
_LONGEST = 120.0  # seconds of a pause, also where a provider asks for more


async def generated(
    text: str,
    model: Model,
    retries: int,
    wait: float,
    turn: Callable[[], Awaitable[None]] | None = None,
) -> ModelOutput:
    """The model's output; the last attempt's error where none succeeds.

    Before every attempt its `turn` is waited for (pacing.py).
    """
    tried = 0
    while True:
        if turn is not None:
            await turn()
        try:
            return await model.generate(text)
        except Exception as error:
            failure = reason_of(error)
            # Inspect wraps what is worth another attempt; broken replies it does not all know.
            again = retries if getattr(error, "last_attempt", None) is not None else 0
            if failure.broken:
                again = _AGAIN
            elif failure.reason == TIMEOUT:
                again = min(again, _AGAIN)
            elif failure.reason == TOO_LONG:
                again = 0
            if tried >= again:
                raise
            pause = _pause(wait, tried, error)
        tried += 1
        await asyncio.sleep(pause)


def _pause(first: float, tried: int, error: BaseException) -> float:
    """Seconds until the next attempt."""
    last = getattr(error, "last_attempt", None)
    response = getattr(error if last is None else last.exception(), "response", None)
    header = str(getattr(response, "headers", {}).get("retry-after", ""))
    wanted = float(header) if re.fullmatch(r"[0-9]{1,6}", header) else 0.0
    return min(_LONGEST, max(wanted, first * 2.0**tried * random.uniform(1.0, 1.25)))
