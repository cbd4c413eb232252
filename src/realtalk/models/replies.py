r"""What a provider sent → a text that every file can hold, or the reason why there is none.

    readable("haha \ud83d\x00")         → "haha \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    flaw_of(output, prompt.flaw)        → "" where the answer can be used, else "empty answer"
    reason_of(RateLimitError(…))        → Failure("rate limited", status=429)
    bound_bodies(model.api)             # from now on a body of more than 16 MB raises EndlessBody

This is the one door by which a model's words come in: what is behind it can be written as JSON
and Parquet and shown on a page. Reasons are in our own words: a provider's may hold the prompt.
Which model a reply says it is from is not compared with the one requested: providers answer
with dated names, and servers of one's own with any.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput

NO_CONNECTION = "no connection"
NO_REPLY = "the server sent no model's reply (a web page, or broken JSON)"
TIMEOUT = "timeout"
_EMPTY = "empty answer"
TOO_LONG = "the answer is too long to be one"
_LONGEST = 100_000  # characters; formulas that compare texts would take minutes beyond it
_MOST = 2**40  # tokens of one call, by any provider that can count
_LARGEST = 16_000_000  # bytes of a reply: the longest answers of models are a hundredth of it
_LARGEST_PACKED = 1_000_000  # a packed body may be a thousand times as large
_MARK = "\N{REPLACEMENT CHARACTER}"
# Controls other than tab and the ends of lines.
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_STATUS = {
    401: "key not accepted (401)",
    403: "access denied (403)",
    404: "model or address unknown (404)",
    408: TIMEOUT,
    413: "too long for the model",
    429: "rate limited",
}
# What libraries raise when they look for a model's answer in something else.
_UNREAD = (AssertionError, AttributeError, LookupError, TypeError, ValueError, RecursionError)


class Failure(NamedTuple):
    """Why a call failed. `is_broken`: something came, and it was no model's reply."""

    reason: str
    status: int | None = None

    @property
    def is_broken(self) -> bool:
        return self.reason == NO_REPLY


def sendable(text: str) -> str:
    """The text with a mark in place of halves of characters, which no encoding has."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def readable(text: str) -> str:
    """The text with a mark in place of what a file or a terminal could not hold."""
    return _UNFIT.sub(_MARK, sendable(text))


def is_blank(text: str) -> bool:
    """Whether nothing is left of a text but blanks, invisible characters and marks."""
    return all(
        char.isspace() or char == _MARK or unicodedata.category(char) in ("Cc", "Cf")
        for char in text
    )


def flaw_of(output: ModelOutput, flaw: Callable[[str], str]) -> str:
    """What is wrong with an answer, "" where it is good."""
    stopped = output.stop_reason if output.choices else None
    if stopped == "content_filter":
        return "refused"
    if stopped == "model_length":
        return "too long for the model"
    text = readable(output.completion)
    if len(text) > _LONGEST:
        return TOO_LONG
    return _EMPTY if is_blank(text) else flaw(text)


def count(value: Any) -> int:
    """A number of tokens as a provider states it; 0 where it is no number."""
    return value if isinstance(value, int) and 0 <= value < _MOST else 0


def reason_of(error: BaseException) -> Failure:
    """Why a call failed, in our words."""
    last = getattr(error, "last_attempt", None)  # the error of spent retries wraps the real one
    if last is not None and last.exception() is not None:
        error = last.exception()
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return Failure(_STATUS.get(status, f"provider error ({status})"), status)
    kind = type(error).__name__
    # Before connections: a client may say that a connection timed out.
    if "Timeout" in kind:
        return Failure(TIMEOUT)
    if isinstance(error, EndlessBody) or isinstance(error.__cause__, EndlessBody):
        return Failure(TOO_LONG)
    if "Decoding" in type(error.__cause__).__name__:
        return Failure(NO_REPLY)
    if "Connect" in kind:
        return Failure(NO_CONNECTION)
    if isinstance(error, _UNREAD) or kind == "OpenAIResponseError":
        return Failure(NO_REPLY)
    return Failure(f"provider error ({kind})")


class EndlessBody(Exception):
    """A reply is longer than any answer."""


def bound_bodies(api: Any) -> None:
    """Bounds every reply to a provider's client, before it fills the memory.

    The client libraries read a reply whole before anybody sees it. Those built on httpx let the
    stream of a response be replaced; a provider with another client stays as it is.
    """
    client = getattr(getattr(api, "client", None), "_client", None)
    hooks = getattr(client, "event_hooks", None)
    if isinstance(hooks, dict) and isinstance(hooks.get("response"), list):
        hooks["response"].append(_bound)


async def _bound(response: Any) -> None:
    stream = response.stream
    kind = next((base for base in type(stream).__mro__ if base.__name__ == "AsyncByteStream"), None)
    if kind is None:
        return
    packed = response.headers.get("content-encoding", "identity") != "identity"
    most = _LARGEST_PACKED if packed else _LARGEST

    class BoundedStream(kind):  # type: ignore[valid-type, misc]
        """The same bytes, up to a limit."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for chunk in stream:
                size += len(chunk)
                if size > most:
                    raise EndlessBody(f"more than {most:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = BoundedStream()
