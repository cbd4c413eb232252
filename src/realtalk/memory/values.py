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
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from realtalk.chat import Chat, Question
from realtalk.encoders.tokens import count_tokens, count_words
from realtalk.errors import RealtalkError
from realtalk.evals.values import Cost
from realtalk.files.progress import Progress, silent

__all__ = [
    "Budget",
    "Built",
    "Context",
    "Cost",
    "Memory",
    "NothingRemembered",
    "RecalledAnswer",
    "ShownQuestion",
]


_UNCOUNTED = -1


class NothingRemembered(RealtalkError):
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


class Built(Protocol):
    """One chat's memory, ready to be asked.

    It may also have `cost`, a `Cost` of building it, and `unscored`, sessions that it could not
    take in and why: a run keeps both. One that somebody wrote may return a text or message ids
    instead of a context (remembering.py).
    """

    def recall(self, question: Question, budget: Budget) -> Context: ...


class Memory(Protocol):
    """A way to remember. `settings` and `version` go into every run made with it."""

    name: str

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> dict[str, str | int | float | bool]: ...

    def build(self, chat: Chat, progress: Progress = silent) -> Built: ...


class ConfiguredMemory:
    """Base of our memories: the settings are the attributes that `setting_names` lists."""

    setting_names: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        return "1"

    @property
    def settings(self) -> dict[str, str | int | float | bool]:
        return {name: _recorded(getattr(self, name)) for name in self.setting_names}


def _recorded(value: Any) -> str | int | float | bool:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, type):
        return value.__name__.lower()
    recorded: str | int | float | bool = value
    return recorded


_ALL = "all"
_WRITTEN = re.compile(r"\A([1-9][0-9_]{0,8})(t|w)?\Z")


def parse_budgets(text: str, *, words: bool = False) -> tuple[Budget, ...]:
    """Budgets in the order given, each once; a bare number is tokens, or `words`."""
    found: dict[Budget, None] = {}
    for part in (piece.strip().lower() for piece in text.split(",")):
        if not part:
            continue
        match = _WRITTEN.match(part)
        if part == _ALL:
            found[Budget()] = None
        elif match is None:
            raise RealtalkError(
                f"'{part}' is no budget", fix="write 1000 (tokens), 2000w (words) or all"
            )
        else:
            size = int(match[1])
            in_words = match[2] == "w" or (match[2] is None and words)
            found[Budget(words=size) if in_words else Budget(tokens=size)] = None
    if not found:
        raise RealtalkError("no budget is given", fix="write 1000 (tokens), 2000w (words) or all")
    return tuple(found)


def label(budget: Budget) -> str:
    """The budget as it is written: in rows, keys and tables."""
    parts = []
    if budget.tokens is not None:
        parts.append(f"{budget.tokens}t")
    if budget.words is not None:
        parts.append(f"{budget.words}w")
    return "+".join(parts) or _ALL
