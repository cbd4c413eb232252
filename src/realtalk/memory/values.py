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

Messages → the text that a reader is shown, and what that text costs.

    message_line(message)              → "Mara: look at this [shares an image: a red bicycle]"
    MessageCosts(chat).context(["D2:1", "D1:4"]).text
    → "[Monday 2 March 2026]
       Mara: did you sleep at all

       [Wednesday 4 March 2026]
       Theo: the radio works again"
    MessageCosts(chat).fit(["D2:1", "D1:4"], Budget(tokens=30))    → ("D2:1", "D1:4")

A message is one line, under the day it was sent: sessions are set apart, and one that goes on
past midnight gets a line for the new day. Two in five messages of the published chats are sent
on a later day than the one their session began.

Lines chosen so that they fit a budget of tokens or words exactly.

    sheet = Lines(["Mara: hi", "Theo: hello"], ["[Monday 2 March 2026]"] * 2, [1, 1])
    Filling(sheet, Size(Budget(tokens=9))).take([1, 0])     → [1]
    sheet.text([1])                                         → "[Monday 2 March 2026]\nTheo: hello"

The tokens of a text are exactly the sum of its lines' (`encoders.tokens`): a budget is filled
without counting anything twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import date
from itertools import accumulate, groupby, pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from realtalk.chat import Attachment, Chat, Message, Question, Session
from realtalk.encoders.tokens import count_each, count_tokens, count_words
from realtalk.errors import OwnCodeError, RealtalkError
from realtalk.evals.language_models import written_day
from realtalk.evals.values import Cost, Settings
from realtalk.text.words import one_line

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


_UNLIMITED = Budget()


class Size:
    """Tokens and words spent so far, against a budget."""

    __slots__ = ("_most_tokens", "_most_words", "tokens", "words")

    def __init__(self, budget: Budget = _UNLIMITED) -> None:
        for unit, most in (("tokens", budget.tokens), ("words", budget.words)):
            if most is not None and most < 0:
                raise RealtalkError(f"a budget must be 0 {unit} or more, not {most}")
        self.tokens = self.words = 0
        self._most_tokens = float("inf") if budget.tokens is None else budget.tokens
        self._most_words = float("inf") if budget.words is None else budget.words

    def add(self, tokens: int, words: int) -> bool:
        """Spends this much if it is there."""
        if self.tokens + tokens > self._most_tokens or self.words + words > self._most_words:
            return False
        self.tokens += tokens
        self.words += words
        return True


class Lines:
    """Lines in order, each under a head (a day) and in a block (a session), with their costs.

    A head is written once over the chosen lines that it stands for; an empty line parts two
    blocks.
    """

    def __init__(self, lines: Sequence[str], heads: Sequence[str], blocks: Sequence[Any]) -> None:
        self.lines = tuple(lines)
        self.heads = tuple(heads)
        self.blocks = tuple(blocks)
        under = [*zip(blocks, heads, strict=True)]
        changes = (line_head != next_head for line_head, next_head in pairwise(under))
        self.head_of = [*accumulate(changes, initial=0)]  # the number of each line's head
        days = [*dict.fromkeys(heads)]
        tokens = count_each([*lines, *days])
        # One by one, numbers of Python cost a fifth of an array's.
        self.costs = [*zip(tokens, map(count_words, lines), strict=False)]
        self.head_costs = dict(
            zip(days, zip(tokens[len(lines) :], map(count_words, days), strict=True), strict=True)
        )
        self.tokens, self.words = np.array(self.costs, np.int64).reshape(-1, 2).T

    def text(self, places: Iterable[int]) -> str:
        """The lines at these places, in order, each once."""
        blocks = []
        for _, block in groupby(sorted(set(places)), self.blocks.__getitem__):
            lines: list[str] = []
            for _, day in groupby(block, self.head_of.__getitem__):
                first, *others = day
                lines += [self.heads[first], *(self.lines[at] for at in (first, *others))]
            blocks.append("\n".join(lines))
        return "\n\n".join(blocks)


class Filling:
    """Lines taken one by one while a budget lasts; several sheets can share one `size`."""

    def __init__(self, sheet: Lines, size: Size) -> None:
        self._sheet = sheet
        self._size = size
        self._taken: dict[int, None] = {}
        self._heads: set[int] = set()

    def add(self, at: int) -> bool:
        """Takes the line at this place, unless it does not fit. One taken before costs nothing."""
        if at in self._taken:
            return True
        sheet = self._sheet
        tokens, words = sheet.costs[at]
        head = sheet.head_of[at]
        if head not in self._heads:
            of_head = sheet.head_costs[sheet.heads[at]]
            tokens, words = tokens + of_head[0], words + of_head[1]
        if not self._size.add(tokens, words):
            return False
        self._taken[at] = None
        self._heads.add(head)
        return True

    def take(self, places: Iterable[int], *, skipping: bool = True) -> list[int]:
        """Adds lines, best first; all places taken so far, in the order that they came.

        A line that is too long is passed over; without `skipping` it is the end.
        """
        for at in places:
            if not self.add(at) and not skipping:
                break
        return [*self._taken]


_KINDS = {
    "image": "an image",
    "video": "a video",
    "audio": "a recording",
    "sticker": "a sticker",
    "file": "a file",
    "contact": "a contact",
    "location": "a place",
    "link": "a link",
    "call": "a call",
}
_NAMED = frozenset({"file", "contact", "location", "link"})  # an image's name is only a number

_FREE = Cost()


def day_line(session: Session, day: date | None = None) -> str:
    """What stands over messages: their day, else the session's, else its number."""
    if day is None and session.time is not None:
        day = session.time.date()
    return f"[session {session.number}]" if day is None else f"[{written_day(day)}]"


def message_line(message: Message) -> str:
    """A message as one line: speaker, text, and what came with it in brackets."""
    parts = [f"{one_line(message.speaker)}:", one_line(message.text)]
    if message.deleted and not message.text.strip():
        parts.append("[deletes a message]")
    parts += [_attachment_text(attachment) for attachment in message.attachments]
    return " ".join(part for part in parts if part)


def _attachment_text(attachment: Attachment) -> str:
    what = _KINDS.get(attachment.kind, "media")
    caption = attachment.caption or (attachment.name if attachment.kind in _NAMED else "")
    caption = one_line(caption)
    verb = "makes" if attachment.kind == "call" else "shares"
    return f"[{verb} {what}: {caption}]" if caption else f"[{verb} {what}]"


def session_text(session: Session, messages: Iterable[Message] | None = None) -> str:
    """A session's messages, or those given, under their days; "" for none."""
    lines = []
    messages_shown = session.messages if messages is None else tuple(messages)
    for day, run in groupby(messages_shown, key=lambda message: _day(session, message)):
        lines += [day_line(session, day), *(message_line(message) for message in run)]
    return "\n".join(lines)


def _day(session: Session, message: Message) -> date | None:
    moment = message.time or session.time
    return moment.date() if moment is not None else None


class MessageCosts(Lines):
    """A chat's messages as lines, with what each costs, counted once.

    `ids`, `lines`, `blocks` (the place of a message's session in the chat), `tokens` and `words`
    run in time order; of two messages with one id the first counts.
    """

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        lines: dict[str, str] = {}
        heads: list[str] = []
        blocks: list[int] = []
        for number, session in enumerate(chat.sessions):
            for message in session.messages:
                if message.id not in lines:
                    lines[message.id] = message_line(message)
                    heads.append(day_line(session, _day(session, message)))
                    blocks.append(number)
        super().__init__([*lines.values()], heads, blocks)
        self.ids = tuple(lines)
        self.place = {id_: at for at, id_ in enumerate(lines)}  # message id → its place in time

    def at(self, message_id: str) -> int:
        """The place of a message in time."""
        try:
            return self.place[message_id]
        except KeyError:
            raise RealtalkError(
                f"no message '{message_id}'", where=self.chat.id, fix="give ids of this chat"
            ) from None

    def in_session(self, number: int) -> list[int]:
        """The places of the messages of the session with this number."""
        sessions = self.chat.sessions
        return [at for at, block in enumerate(self.blocks) if sessions[block].number == number]

    def around(self, message_id: str, reach: int) -> tuple[str, ...]:
        """A message with as many before and after it in its session, in time order."""
        at = self.at(message_id)
        near = range(max(0, at - reach), min(len(self.ids), at + reach + 1))
        return tuple(self.ids[place] for place in near if self.blocks[place] == self.blocks[at])

    def fit(
        self, message_ids: Iterable[str], budget: Budget, *, skipping: bool = True
    ) -> tuple[str, ...]:
        """Those of the messages, best first, that fit together, in the order given.

        A message that is too long is passed over; without `skipping` it is the end.
        """
        filling = Filling(self, Size(budget))
        places = filling.take(map(self.at, message_ids), skipping=skipping)
        return tuple(self.ids[at] for at in places)

    def context(
        self,
        message_ids: Iterable[str],
        *,
        before: str = "",
        ranked: Sequence[str] | None = None,
        cost: Cost = _FREE,
        tells: bool = False,
    ) -> Context:
        """The messages as a context; `before` is other text that goes ahead of them."""
        places = sorted({self.at(id_) for id_ in message_ids})
        size = Size()
        Filling(self, size).take(places)
        size.add(count_tokens(before), count_words(before))
        return Context(
            "\n\n".join(part for part in (before, self.text(places)) if part),
            tuple(self.ids[at] for at in places),
            size.tokens,
            size.words,
            None if ranked is None else tuple(ranked),
            cost,
            tells,
        )


def lines_then_messages(
    sheet: Lines,
    costs: MessageCosts,
    leading: Sequence[int],
    messages: Sequence[str],
    budget: Budget,
    *,
    others: Sequence[int] = (),
    ranked: Sequence[str] | None = None,
    tells: bool = False,
) -> Context:
    """Leading lines, then messages, then other lines: each while the budget lasts."""
    size = Size(budget)
    lines = Filling(sheet, size)
    lines.take(leading)
    shown_places = Filling(costs, size).take(map(costs.at, messages))
    before = sheet.text(lines.take(others))
    ids = [costs.ids[at] for at in shown_places]
    return costs.context(ids, before=before, ranked=ranked, tells=tells)
