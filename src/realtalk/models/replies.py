r"""What a provider sent → a text that every file can hold, or the reason why there is none.

    readable("haha \ud83d\x00")         → "haha \N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}"
    flaw_of(output, prompt.flaw)        → "" where the answer can be used, else "empty answer"
    reason_of(RateLimitError(…))        → Failure("rate limited", status=429)
    bound_bodies(model.api)             # from now on a body of more than 16 MB raises EndlessBody

This is the one door by which a model's words come in: what is behind it can be written as JSON
and Parquet and shown on a page. Reasons are in our own words: a provider's may hold the prompt.
Which model a reply says it is from is not compared with the one requested: providers answer
with dated names, and servers of one's own with any.

A model of Inspect's → one whose good answers are kept by Inspect's cache, and no others.

    guarded = GuardedModel(model, {"top_k": 5})
    await guarded.stored_answer("… Question: …", flaw)     → ModelOutput, or None: nobody is asked
    await guarded.ask("… Question: …", flaw)    → ModelOutput; kept where `flaw` finds nothing

Inspect keeps an answer the moment it comes, an empty one or a web page's, too. So every reply is
looked at on its way in, where the provider hands it over: one that cannot be used leaves as an
error, which Inspect does not keep. Answers have no end of life.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import AsyncIterator, Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from inspect_ai.model import CachePolicy, Model, ModelOutput


Flaw: TypeAlias = "Callable[[ModelOutput], str]"


class _NotKept(Exception):
    """Nobody was asked: there is no answer in the cache."""


class _FlawedAnswer(Exception):
    """An answer that is not to be kept."""

    def __init__(self, output: ModelOutput) -> None:
        super().__init__()
        self.output = output


# What is wrong with an answer to the request that is under way; None where nobody is to be asked.
_flaw: ContextVar[Flaw | None] = ContextVar("flaw", default=None)


class GuardedModel:
    """One model with its cache. Inspect learns from the environment where that lies."""

    def __init__(self, model: Model, arguments: Mapping[str, Any]) -> None:
        from inspect_ai.model import CachePolicy

        # Inspect's key leaves the model's arguments out.
        scopes = {
            "task": "realtalk",
            "arguments": json.dumps(dict(arguments), sort_keys=True, default=str),
        }
        # The second is for what the first holds and nobody can use: an answer that was kept by
        # somebody who did not look at it.
        self._policies = [
            CachePolicy(expiry=None, per_epoch=False, scopes={**scopes, **more})
            for more in ({}, {"instead": "1"})
        ]
        self._model = model
        self._provider = model.api.generate
        model.api.generate = self._guard  # type: ignore[method-assign]

    async def stored_answer(self, text: str, flaw: Flaw) -> ModelOutput | None:
        """The good answer of an earlier time."""
        for policy in self._policies:
            try:
                output = await self._generate(text, None, policy)
            except _NotKept:
                return None
            if not flaw(output):
                return output
        return None

    async def ask(self, text: str, flaw: Flaw) -> ModelOutput:
        """The answer, kept unless something is wrong with it."""
        policies: tuple[CachePolicy | bool, ...] = (*self._policies, False)
        for policy in policies:
            try:
                output = await self._generate(text, flaw, policy)
            except _FlawedAnswer as error:
                return error.output
            if not flaw(output):
                break
        return output

    async def _generate(
        self, text: str, flaw: Flaw | None, policy: CachePolicy | bool
    ) -> ModelOutput:
        mark = _flaw.set(flaw)
        try:
            return await self._model.generate(text, cache=policy)
        finally:
            _flaw.reset(mark)

    async def _guard(self, *given: Any, **named: Any) -> Any:
        """Stands for the provider's own way to answer."""
        flaw = _flaw.get()
        if flaw is None:
            raise _NotKept
        result = await self._provider(*given, **named)
        output = result[0] if isinstance(result, tuple) else result
        if not isinstance(output, Exception) and flaw(output):
            raise _FlawedAnswer(output)
        return result


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
