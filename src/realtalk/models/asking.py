"""Prompts → a language model's answers, none lost: any provider that inspect-ai knows.

    model = Asked("openai/gpt-4o-mini", cache=folder)
    ask([Prompt("Chat_1:Q3", lambda: "… Question: …")], model, keep=print)
    → "Chat_1:Q3", Reply(text="in March", tokens_in=812, tokens_out=4, calls=1, seconds=0.8)
    → "Chat_1:Q4", Reply(text=None, reason="timeout", calls=1)

Every answer is kept in a cache the moment it comes, without end of life: what was answered
once is not asked again, also not after a run was killed. What fails is tried again by
inspect-ai (429, 5xx, a broken connection); what still fails has a reason instead of a text,
in our own words, since a provider's may hold the prompt. Prompts are made when their turn
comes: thousands of long ones would not fit into memory at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from realtalk.corpora.download import cache_folder
from realtalk.corpora.reading import Progress, silent
from realtalk.errors import MissingExtraError, RealtalkError

if TYPE_CHECKING:
    from inspect_ai.model import CachePolicy, Model, ModelOutput

__all__ = ["Asked", "Prompt", "Reply", "ask"]

_BROKEN_REPLIES = 2  # as often is a prompt sent again after a reply cut off in its JSON
_GIVE_UP_AFTER = 20  # failures in a row, each after its own retries
_SETUP = {401: "the provider does not accept the key", 404: "the provider does not know the model"}
_NO_CONNECTION = "no connection"
_UNREACHABLE = "the server cannot be reached"
_HERE = ("localhost", "127.0.0.1", "::1")
_OURS = "realtalk/"


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom to ask and how. `timeout` is for one attempt, `retries` come after it."""

    model: str
    cache: Path | None = None
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    connections: int = 10
    timeout: int = 120
    retries: int = 5
    seed: int = 0
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if find_spec("inspect_ai") is None:
            raise MissingExtraError("asking a language model", "llm")
        if "/" not in self.model.strip("/"):
            raise RealtalkError(
                f"no provider in the name of the model '{self.model}'",
                fix="name one as provider/model, such as openai/gpt-4o-mini or realtalk/smollm2",
            )
        for option, value, least in (
            ("connections", self.connections, 1),
            ("timeout", self.timeout, 1),
            ("retries", self.retries, 0),
        ):
            if value < least:
                raise RealtalkError(f"{option} must be {least} or more, not {value}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing to ask. `flaw` says what is wrong with an answer, "" where it is good.

    A flawed answer is asked for again with each of `reminders` put behind the prompt.
    """

    key: str
    make: Callable[[], str]
    flaw: Callable[[str], str] = lambda text: "" if text.strip() else "empty answer"
    reminders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, or why nothing did; what it cost. `seconds` is this machine's wait."""

    text: str | None
    reason: str = ""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class _Record:
    """What has happened so far."""

    heard: bool = False  # the model has answered at least once
    failures: int = 0  # in a row
    stop: str = ""  # why nothing more is asked
    setup: str = ""  # what is wrong with the key, the name of the model or the server's address

    def failed(self, error: BaseException) -> str:
        reason, status = _reason(error)
        self.failures += 1
        if not self.heard and status in _SETUP:
            self.setup = self.stop = _SETUP[status]
        elif not self.heard and reason == _NO_CONNECTION:
            self.setup = self.stop = _UNREACHABLE
        elif self.failures >= _GIVE_UP_AFTER:
            self.stop = f"the provider stopped answering: {reason}"
        return reason


def ask(
    prompts: Sequence[Prompt],
    asked: Asked,
    keep: Callable[[str, Reply], None],
    progress: Progress = silent,
) -> None:
    """Asks every prompt and gives each reply to `keep` as it comes, in no certain order."""
    if not prompts:
        return
    if asked.model.startswith(_OURS):
        # One slot: a queue in the server would count as waiting time.
        asked = replace(asked, connections=1, timeout=max(asked.timeout, 600))
    record = _Record()
    if asked.base_url and not _listens(asked.base_url):
        # Nobody to wait for; what was answered once still comes from the cache.
        asked = replace(asked, retries=0)
    with _environment(asked):
        _finished(_all(prompts, asked, record, keep, progress))
    if record.setup:
        checked = "address of the server and the network"
        if record.setup != _UNREACHABLE:
            checked = "name of the model and its API key"
        raise RealtalkError(record.setup, where=asked.model, fix=f"check the {checked}")


def _listens(url: str) -> bool:
    """Whether somebody listens at an address of this machine, before minutes of trying again.

    Of other machines it is not asked: there may be a proxy on the way.
    """
    found = urlsplit(url)
    try:
        if found.hostname not in _HERE:
            return True
        port = found.port or (443 if found.scheme == "https" else 80)
        socket.create_connection((found.hostname, port), timeout=5).close()
    except (OSError, ValueError):
        return False
    return True


async def _all(
    prompts: Sequence[Prompt],
    asked: Asked,
    record: _Record,
    keep: Callable[[str, Reply], None],
    progress: Progress,
) -> None:
    model = _model(asked)
    # The cache's own key leaves the model's arguments out.
    arguments = json.dumps(dict(asked.model_args), sort_keys=True, default=str)
    from inspect_ai.model import CachePolicy

    policy = CachePolicy(
        expiry=None, per_epoch=False, scopes={"task": "realtalk", "arguments": arguments}
    )
    waiting = iter(prompts)
    done = 0

    async def work() -> None:
        nonlocal done
        for prompt in waiting:
            reply = await _one(prompt, model, policy, record)
            # A wrong key is the caller's to mend: no prompt is to be taken for answered.
            if not record.setup:
                keep(prompt.key, reply)
            done += 1
            progress(done, len(prompts), f"asking {asked.model}")

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(asked.connections, len(prompts))):
                group.create_task(work())
    except* Exception as errors:
        # What `keep` or `make` raised, as itself: nothing else gets here.
        raise _first(errors) from None
    finally:
        await model.api.aclose()


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _one(prompt: Prompt, model: Model, policy: CachePolicy, record: _Record) -> Reply:
    reason, calls, tokens_in, tokens_out = "", 0, 0, 0
    began = time.perf_counter()
    text: str | None = None
    made = ""
    # Each try differs from the one before, else the cache would answer in its place.
    for reminder in ("", *prompt.reminders):
        if record.stop:
            reason = record.stop
            break
        made = made or prompt.make()
        try:
            output = await _generated(made + reminder, model, policy)
        except Exception as error:
            reason = record.failed(error)
            break
        record.heard, record.failures = True, 0
        calls += 1
        if output.usage is not None:
            tokens_in += output.usage.input_tokens
            tokens_out += output.usage.output_tokens
        reason = _flaw(prompt, output)
        if not reason:
            text = output.completion
            break
        if reason in {"refused", "too long for the model"}:
            break
    return Reply(text, reason, calls, tokens_in, tokens_out, time.perf_counter() - began)


async def _generated(text: str, model: Model, policy: CachePolicy) -> ModelOutput:
    """The model's output. Inspect tries again after most failures, but not after a reply cut
    off in the middle of its JSON."""
    for _ in range(_BROKEN_REPLIES):
        try:
            return await model.generate(text, cache=policy)
        except json.JSONDecodeError:
            continue
    return await model.generate(text, cache=policy)


def _flaw(prompt: Prompt, output: ModelOutput) -> str:
    stopped = output.stop_reason if output.choices else None
    if stopped == "content_filter":
        return "refused"
    if stopped == "model_length":
        return "too long for the model"
    return prompt.flaw(output.completion)


def _reason(error: BaseException) -> tuple[str, int | None]:
    """Why a call failed, in our words: a provider's own may hold the whole request."""
    last = getattr(error, "last_attempt", None)  # the error of spent retries wraps the real one
    if last is not None and last.exception() is not None:
        error = last.exception()
    if isinstance(error, json.JSONDecodeError):
        return "malformed answer", None
    status = getattr(error, "status_code", None)
    kind = type(error).__name__
    if not isinstance(status, int):
        # Before connections: a client may say that a connection timed out.
        if "Timeout" in kind:
            return "timeout", None
        if "Connect" in kind:
            return _NO_CONNECTION, None
        return f"provider error ({kind})", None
    named = {408: "timeout", 429: "rate limited"}
    return named.get(status, f"provider error ({status})"), status


def _model(asked: Asked) -> Model:
    from inspect_ai.model import GenerateConfig, get_model

    if asked.model.startswith(_OURS):
        import realtalk.models.provider  # noqa: F401  registers it where no entry point did

    key = None
    if asked.base_url and asked.model.startswith("openai-api/"):
        # A server on one's own machine wants no key, the client insists on one.
        service = asked.model.split("/")[1].upper().replace("-", "_")
        key = None if os.environ.get(f"{service}_API_KEY") else "none"
    try:
        return get_model(
            asked.model,
            config=GenerateConfig(
                temperature=0.0,
                seed=asked.seed,
                max_tokens=asked.max_tokens,
                max_connections=asked.connections,
                adaptive_connections=False,
                attempt_timeout=asked.timeout,
                max_retries=asked.retries,
            ),
            base_url=asked.base_url,
            api_key=key,
            memoize=False,
            **asked.model_args,
        )
    except RealtalkError:
        raise
    except Exception as error:
        said = re.sub(r"\[/?[a-z]+\]", "", str(getattr(error, "message", error)))
        raise RealtalkError(f"the model cannot be used: {said}", where=asked.model) from error


def _finished(work: Coroutine[Any, Any, None]) -> None:
    """Runs to the end, also where a loop runs already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    raised: list[BaseException] = []

    def elsewhere() -> None:
        try:
            asyncio.run(work)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=elsewhere, name="asking")
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@contextmanager
def _environment(asked: Asked) -> Iterator[None]:
    """Inspect learns from the environment where its cache lies and how much it traces."""
    answers = Path(asked.cache or cache_folder() / "answers")
    # Inspect writes with the user's umask: the folder keeps others from what was said of chats.
    answers.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = {
        "INSPECT_CACHE_DIR": str(answers),
        "INSPECT_TRACE_LEVEL": "critical",  # failed calls are traced with their text
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
