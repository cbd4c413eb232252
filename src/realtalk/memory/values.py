"""The words of memory probing: a memory is built from a chat and recalls for a question.

    memory = MEMORIES["whole"]                    # any Memory
    built = memory.build(chat)                    # once per chat
    built.recall(question, Budget(tokens=1000))
    → Context("[2 March 2026, 18:03] Mara: did you sleep…", ("D1:2", ...), tokens=981, words=702)

A context holds every message that it shows once, in time order. `ranked` is what the memory
would show first: retrieval is scored on it, without any model.

How budgets are written: `1000` or `1000t` tokens, `2000w` words, `all` for no limit.

    parse_budgets("1000,2000w")    → (Budget(tokens=1000), Budget(words=2000))
    label(Budget(words=2000))      → "2000w"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Protocol

from realtalk.chat import Chat, Question
from realtalk.encoders.tokens import count_tokens, count_words
from realtalk.errors import OwnCodeError, RealtalkError
from realtalk.evals.values import Cost, Settings

_UNCOUNTED = -1


class NoMemoryError(RealtalkError):
    """A memory could take in nothing of a chat; others may go well."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a context may hold; None is no limit. Both hold where both are given."""

    tokens: int | None = None
    words: int | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What a reader is shown for one question.

    `message_ids` are the messages whose own text stands in `text`, in time order, each once.
    `ranked` are message ids best first, as far as the memory ranks them; None where it has no
    order of its own (the whole conversation, events). `tells` is True of a memory that shows its
    own words only: there is no message to be found in them. One that does show messages, but had
    no room for any, has shown none. Tokens and words are counted where they are not given.
    """

    text: str
    message_ids: tuple[str, ...] = ()
    tokens: int = _UNCOUNTED
    words: int = _UNCOUNTED
    ranked: tuple[str, ...] | None = None
    cost: Cost = field(default=Cost())
    tells: bool = False

    def __post_init__(self) -> None:
        # A frozen value is set once, here: ids may come as a list.
        object.__setattr__(self, "message_ids", tuple(self.message_ids))
        if self.tokens == _UNCOUNTED:
            object.__setattr__(self, "tokens", count_tokens(self.text))
        if self.words == _UNCOUNTED:
            object.__setattr__(self, "words", count_words(self.text))


class ShownQuestion(NamedTuple):
    """A question as anybody would ask it, about the chat as far as it had come by then."""

    chat: Chat
    question: Question
    budget: Budget


@dataclass(frozen=True, slots=True)
class RecalledAnswer:
    """What a memory showed, and what was answered from it; None where nothing was."""

    context: Context
    text: str | None = None


class BuiltMemory(Protocol):
    """One chat's memory, ready to be asked.

    It may also have `cost`, a `Cost` of building it, and `unscored`, sessions that it could not
    take in and why: a run keeps both. One that somebody wrote may return a text or message ids
    instead of a context (remembering.py).
    """

    def recall(self, question: Question, budget: Budget, /) -> Context: ...


class Memory(Protocol):
    """A way to remember. `settings` and `version` go into every run made with it.

    A `build` that takes `progress` as well is handed one.
    """

    name: str

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> Settings: ...

    def build(self, chat: Chat) -> BuiltMemory: ...


@dataclass(frozen=True)
class Recalling:
    """A built memory that is no more than how it recalls."""

    recall: Callable[[Question, Budget], Context]


@dataclass(kw_only=True, eq=False)
class ConfiguredMemory:
    """Base of our memories: their fields are their settings, but for those not `recorded`."""

    recorded: ClassVar[tuple[str, ...] | None] = None

    @property
    def version(self) -> str:
        return "1"

    @property
    def settings(self) -> Settings:
        names = self.recorded
        if names is None:
            names = tuple(field.name for field in fields(self))
        return {name: _plain(getattr(self, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return ",".join(value)
    return value.__name__.lower() if isinstance(value, type) else value


@contextmanager
def own_code(what: str, where: str) -> Iterator[None]:
    """Turns what somebody's code raises into an error that says only `what` failed.

    Its own words may hold the chat: they stand in its traceback, not in our line.
    """
    try:
        yield
    except RealtalkError:
        raise
    except Exception as error:
        raise OwnCodeError(f"{what} ({type(error).__name__})", where=where) from error


_ALL = "all"
_WRITTEN = re.compile(r"\A([1-9][0-9_]{0,8})(t|w)?\Z")


def parse_budgets(text: str, *, words: bool = False) -> tuple[Budget, ...]:
    """Budgets in the order given, each once; a bare number is tokens, or `words`."""
    budgets: dict[Budget, None] = {}
    fix = "write 1000 (tokens), 2000w (words) or all"
    for part in filter(None, (piece.strip().lower() for piece in text.split(","))):
        match = _WRITTEN.match(part)
        if match is None and part != _ALL:
            raise RealtalkError(f"'{part}' is no budget", fix=fix)
        size = None if match is None else int(match[1])
        in_words = match is not None and (match[2] or ("w" if words else "t")) == "w"
        budgets[Budget(words=size) if in_words else Budget(tokens=size)] = None
    if not budgets:
        raise RealtalkError("no budget is given", fix=fix)
    return tuple(budgets)


def label(budget: Budget) -> str:
    """The budget as it is written: in rows, keys and tables."""
    sizes = ((budget.tokens, "t"), (budget.words, "w"))
    return "+".join(f"{size}{unit}" for size, unit in sizes if size is not None) or _ALL
