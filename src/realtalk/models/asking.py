"""Prompts → a language model's answers, none lost: any provider that inspect-ai knows.

    model = ModelConfig("openai/gpt-4o-mini", cache=folder)
    ask([Prompt("Chat_1:Q3", lambda: "… Question: …")], model, keep=print)
    → "Chat_1:Q3", Reply(text="in March", tokens_in=812, tokens_out=4, calls=1, seconds=0.8)
    → "Chat_1:Q4", Reply(text=None, reason="timeout", calls=1)

An answer that can be used is kept in a cache the moment it comes, without end of life: it is not
requested again, even after a run was killed. What fails is tried again a limited number of
times (429, 5xx, a broken connection, a hang, a web page in place of a reply); what still fails
has a reason instead of a text and is asked again by the next run. Prompts are built when their
turn comes: thousands of long ones would not fit into memory at once.

REALTALK_TIMEOUT, REALTALK_RETRIES and REALTALK_RETRY_WAIT in the environment set the seconds
that one attempt may take (120), how often it is repeated (5), and the first pause before that
(3 seconds; each further one is twice as long).

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
import os
import random
import re
import socket
import threading
import time
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.files.download import cache_folder
from realtalk.files.environment import environment
from realtalk.files.progress import Progress, Trouble, silent
from realtalk.files.writing import owner_only, private_folder
from realtalk.models.addresses import address_of
from realtalk.models.replies import (
    NO_CONNECTION,
    TIMEOUT,
    TOO_LONG,
    Failure,
    GuardedModel,
    bound_bodies,
    count,
    flaw_of,
    readable,
    reason_of,
    sendable,
)

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

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


_GIVE_UP_AFTER = 20  # failures in a row, each after its own retries
# `ask` keeps to `connections` itself: Inspect would keep to what a process first asked with.
_UNLIMITED = 10_000
_SURE = 3  # as many prompts fail alike before the key or the address is to blame
_SETUP = {
    401: "the provider does not accept the key",
    403: "the provider denies access",
    404: "the provider does not know the model",
}
_OWN_FAULT = (400, 413, 422)  # the request's: the next one may be answered
_UNREACHABLE = "the server cannot be reached"
_HERE = ("localhost", "127.0.0.1", "::1")
_OURS = "realtalk/"
_heard: set[tuple[str, str | None]] = set()  # models and addresses that answered this process


def _setting(name: str, default: float) -> float:
    """A number of the environment."""
    setting = os.environ.get(name, "").strip()
    try:
        return float(setting) if setting else default
    except ValueError:
        raise RealtalkError(f"'{setting}' is not a number", where=name) from None


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Whom to ask and how. `timeout` is for one attempt, `retries` come after `wait` seconds."""

    model: str
    cache: Path | None = None
    base_url: str | None = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    connections: int = 10
    rate: str | None = None  # requests to this server, as `per_minute` reads it
    timeout: int = field(default_factory=lambda: int(_setting("REALTALK_TIMEOUT", 120)))
    retries: int = field(default_factory=lambda: int(_setting("REALTALK_RETRIES", 5)))
    wait: float = field(default_factory=lambda: _setting("REALTALK_RETRY_WAIT", 3.0))
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
            ("wait", self.wait, 0),
        ):
            if value < least:
                raise RealtalkError(f"{option} must be {least} or more, not {value}")
        if self.rate is not None:
            per_minute(self.rate)

    @property
    def address(self) -> str | None:
        """Which server answers, without keys; None for the provider's own."""
        return address_of(self.model, self.base_url)


def patience(timeout: int | None, retries: int | None) -> dict[str, Any]:
    """Those of the two that are given, as arguments of `ModelConfig`."""
    pairs = (("timeout", timeout), ("retries", retries))
    return {name: value for name, value in pairs if value is not None}


class Prompt(NamedTuple):
    """One thing to ask. `flaw` says what is wrong with an answer, "" where it is good.

    A flawed answer is requested again, with each of `reminders` appended to the prompt.
    """

    key: str
    make: Callable[[], str]
    flaw: Callable[[str], str] = lambda text: ""  # noqa: ARG005  an empty one never gets here
    reminders: tuple[str, ...] = ()


class Reply(NamedTuple):
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
    alike: Counter[str] = field(default_factory=Counter)  # failures that a wrong setup explains
    stop: str = ""  # why nothing more is asked
    tell: Callable[[str], object] = str  # what goes wrong and is tried again
    setup: str = ""  # what is wrong with the key, the name of the model or the server's address

    def note_failure(self, failure: Failure) -> str:
        blamed = _SETUP.get(failure.status or 0, "")
        if failure.reason == NO_CONNECTION:
            blamed = _UNREACHABLE
        if not (self.heard and failure.status in _OWN_FAULT):
            self.failures += 1
        self.alike[blamed] += 1
        if blamed and not self.heard and self.alike[blamed] >= _SURE:
            self.setup = self.stop = blamed
        elif self.failures >= _GIVE_UP_AFTER:
            self.stop = f"the provider stopped answering: {failure.reason}"
        return failure.reason


def ask(
    prompts: Sequence[Prompt],
    config: ModelConfig,
    keep: Callable[[str, Reply], None],
    progress: Progress = silent,
) -> None:
    """Asks every prompt and gives each reply to `keep` as it comes, in no certain order."""
    if not prompts:
        return
    if config.model.startswith(_OURS):
        # One slot: a queue in the server would count as waiting time.
        config = replace(config, connections=1, timeout=max(config.timeout, 600))
    place = (config.model, config.address)
    record = _Record(heard=place in _heard)
    if config.base_url and not _listens(config.base_url):
        # Nobody to wait for; what was answered once still comes from the cache.
        config = replace(config, retries=0)
    with _environment(config):
        _run(_all(prompts, config, record, keep, progress))
    if record.heard:
        _heard.add(place)
    if record.setup:
        checked = "address of the server and the network"
        if record.setup != _UNREACHABLE:
            checked = "name of the model and its API key"
        raise RealtalkError(record.setup, where=config.model, fix=f"check the {checked}")


def _listens(url: str) -> bool:
    """Whether somebody listens at an address of this machine, before minutes of trying again.

    Other machines are not tried: there may be a proxy on the way.
    """
    parts = urlsplit(url)
    try:
        if parts.hostname not in _HERE:
            return True
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname, port), timeout=5).close()
    except (OSError, ValueError):
        return False
    return True


async def _all(
    prompts: Sequence[Prompt],
    config: ModelConfig,
    record: _Record,
    keep: Callable[[str, Reply], None],
    progress: Progress,
) -> None:
    model = _model(config)
    bound_bodies(model.api)
    leave_repeating_to_us(model.api)
    guarded = GuardedModel(model, config.model_args)
    waiting = iter(prompts)
    # Failures before the first answer: where the key is wrong they are the caller's to mend, and
    # no prompt is to be taken for asked.
    failures: list[tuple[str, Reply]] = []
    done = 0
    record.tell = without_repeats(lambda trouble: progress(done, len(prompts), Trouble(trouble)))

    def hand_on() -> None:
        while failures and not record.setup:
            keep(*failures.pop(0))

    async def work() -> None:
        nonlocal done
        for prompt in waiting:
            reply = await _one(prompt, guarded, config, record)
            if reply.text is None and not record.heard:
                failures.append((prompt.key, reply))
            elif not record.setup:
                hand_on()
                keep(prompt.key, reply)
            done += 1
            progress(done, len(prompts), f"asking {config.model}")

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(config.connections, len(prompts))):
                group.create_task(work())
        hand_on()
    except* Exception as errors:
        # What `keep` or `make` raised, as itself: nothing else gets here.
        raise _first(errors) from None
    finally:
        await model.api.aclose()


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _one(prompt: Prompt, model: GuardedModel, config: ModelConfig, record: _Record) -> Reply:
    began = time.perf_counter()
    text = sendable(prompt.make())
    flaw = partial(flaw_of, flaw=prompt.flaw)
    tries = [text, *(text + reminder for reminder in prompt.reminders)]
    for message in tries:
        answer = await model.stored_answer(message, flaw)
        if answer is not None:
            return _reply([answer], "", began)
    heard: list[ModelOutput] = []
    reason, turn = "", _turn(config)
    for message in tries:
        if record.stop:
            return _reply(heard, record.stop, began)
        try:
            output = await generate(
                partial(model.ask, message, flaw),
                config.retries,
                config.wait,
                turn,
                record.tell,
            )
        except Exception as error:
            return _reply(heard, record.note_failure(reason_of(error)), began)
        record.heard, record.failures = True, 0
        heard.append(output)
        reason = flaw(output)
        if reason in {"", "refused", "too long for the model"}:
            break
    return _reply(heard, reason, began)


def _turn(config: ModelConfig) -> Callable[[], Awaitable[None]] | None:
    """What every request waits for; requests to one server wait for each other."""
    if config.rate is None:
        return None
    server = config.address or config.model.partition("/")[0]
    return partial(pace_of(server).turn, per_minute(config.rate))


def _reply(heard: Sequence[ModelOutput], reason: str, began: float) -> Reply:
    """The last output's text where nothing is wrong with it, and what all of them cost."""
    used = [output.usage for output in heard if output.usage is not None]
    return Reply(
        None if reason else readable(heard[-1].completion),
        reason,
        len(heard),
        sum(count(usage.input_tokens) for usage in used),
        sum(count(usage.output_tokens) for usage in used),
        time.perf_counter() - began,
    )


def _model(config: ModelConfig) -> Model:
    from inspect_ai.model import GenerateConfig, get_model

    if config.model.startswith(_OURS):
        import realtalk.models.provider  # noqa: F401  registers it where no entry point did

    key = None
    if config.base_url and config.model.startswith("openai-api/"):
        # A server on one's own machine wants no key, the client insists on one.
        service = config.model.split("/")[1].upper().replace("-", "_")
        key = None if os.environ.get(f"{service}_API_KEY") else "none"
    try:
        return get_model(
            config.model,
            config=GenerateConfig(
                temperature=0.0,
                seed=config.seed,
                max_tokens=config.max_tokens,
                max_connections=_UNLIMITED,
                adaptive_connections=False,
                attempt_timeout=config.timeout,
                max_retries=0,  # `generate` tries again
            ),
            base_url=config.base_url,
            api_key=key,
            memoize=False,
            **config.model_args,
        )
    except RealtalkError:
        raise
    except Exception as error:
        message = re.sub(r"\[/?[a-z]+\]", "", str(getattr(error, "message", error)))
        raise RealtalkError(f"the model cannot be used: {message}", where=config.model) from error


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Runs to the end, even inside a running loop (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
    else:
        with ThreadPoolExecutor(1, "asking") as elsewhere:
            elsewhere.submit(asyncio.run, work).result()


@contextmanager
def _environment(config: ModelConfig) -> Iterator[None]:
    """Inspect learns from the environment where its cache lies and how much it traces."""
    answers = Path(config.cache or cache_folder() / "answers")
    private_folder(answers)
    settings = {
        "INSPECT_CACHE_DIR": str(answers),
        "INSPECT_TRACE_LEVEL": "critical",  # failed calls are traced with their text
    }
    # Inspect keeps what was said of chats.
    with environment(settings), owner_only(), warnings.catch_warnings():
        # Of a reply in another form than promised, with words from it.
        warnings.filterwarnings("ignore", "Pydantic serializer warnings")
        yield
