"""Messages → the text that a reader is shown, and what that text costs.

    shown(message)              → "Mara: look at this [shares an image: a red bicycle]"
    assemble(chat, ["D2:1", "D1:4"])
    → "[Monday 2 March 2026]
       Mara: did you sleep at all

       [Wednesday 4 March 2026]
       Theo: the radio works again"
    MessageCosts(chat).fit(["D2:1", "D1:4"], Budget(tokens=30))    → ("D2:1", "D1:4")

A message is one line, under the day it was sent: sessions are set apart, and one that goes on
past midnight gets a line for the new day. Two in five messages of the published chats are sent
on a later day than the one their session began.

Lines chosen so that they fit a budget of tokens or words exactly.

    sheet = Lines(["Mara: hi", "Theo: hello"], ["[Monday 2 March 2026]"], [0, 0], [0, 0])
    sheet.fit([1, 0], Size(Budget(tokens=9)))   → [1]
    sheet.text([1])                             → "[Monday 2 March 2026]\nTheo: hello"

The tokens of a text are exactly the sum of its lines' (`encoders.tokens`): a budget is filled
without counting anything twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from itertools import groupby

import numpy as np
import numpy.typing as npt

from realtalk.chat import Attachment, Chat, Message, Session
from realtalk.encoders.tokens import count_each, count_tokens, count_words
from realtalk.errors import RealtalkError
from realtalk.evals.prompts import written_day
from realtalk.memory.values import Budget, Context, Cost

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

    def add_text(self, text: str) -> bool:
        """Spends what a text costs, line ends around it included, if that is there."""
        return self.add(count_tokens(text), count_words(text))


class Lines:
    """Lines in order, each under a head (a day) and in a block (a session), with their costs.

    A head is written once over the chosen lines that it stands for; an empty line parts two
    blocks. `counted=False` leaves the tokens out where only text is wanted.
    """

    def __init__(
        self,
        lines: Sequence[str],
        heads: Sequence[str],
        head_of: Sequence[int],
        block_of: Sequence[int],
        *,
        counted: bool = True,
    ) -> None:
        self.lines = tuple(lines)
        self.heads = tuple(heads)
        self.head_of = tuple(head_of)
        self.block_of = tuple(block_of)
        self.words: npt.NDArray[np.int64] = np.array([*map(count_words, lines)], np.int64)
        counts = count_each([*lines, *heads]) if counted else []
        self.tokens: npt.NDArray[np.int64] = np.array(counts[: len(lines)], np.int64)
        # One by one, numbers of Python cost a fifth of an array's.
        self._each = [*zip(counts[: len(lines)], self.words.tolist(), strict=False)]
        self._head_tokens = counts[len(lines) :]
        self._head_words = [count_words(head) for head in heads]

    def text(self, places: Collection[int]) -> str:
        """The lines at these places, in order, each once."""
        written: list[str] = []
        head = block = -1
        for at in sorted(set(places)):
            if self.head_of[at] != head:
                if written and self.block_of[at] != block:
                    written.append("")
                head, block = self.head_of[at], self.block_of[at]
                written.append(self.heads[head])
            written.append(self.lines[at])
        return "\n".join(written)

    def fit(self, places: Iterable[int], size: Size, *, skipping: bool = True) -> list[int]:
        """The places, best first, whose lines still fit; `size` grows by what they cost.

        A line that is too long is passed over; without `skipping` it is the end.
        """
        # As Filling does it, in one loop: this is the better part of recalling.
        taken: dict[int, None] = {}
        heads: set[int] = set()
        for at in places:
            if at in taken:
                continue
            tokens, words = self._each[at]
            head = self.head_of[at]
            if head not in heads:
                tokens += self._head_tokens[head]
                words += self._head_words[head]
            if size.add(tokens, words):
                taken[at] = None
                heads.add(head)
            elif not skipping:
                break
        return list(taken)

    def cost(self, at: int, *, with_head: bool) -> tuple[int, int]:
        """(tokens, words) of a line, its head included where that is not written yet."""
        tokens, words = self._each[at]
        if with_head:
            head = self.head_of[at]
            tokens += self._head_tokens[head]
            words += self._head_words[head]
        return tokens, words


class Filling:
    """Lines taken one by one while a budget lasts; several sheets can share one `size`."""

    def __init__(self, sheet: Lines, size: Size) -> None:
        self._sheet = sheet
        self._size = size
        self._taken: dict[int, None] = {}
        self._heads: set[int] = set()

    @property
    def taken(self) -> list[int]:
        """The places taken, in the order that they came."""
        return list(self._taken)

    def add(self, at: int) -> bool:
        """Takes the line at this place, unless it does not fit. One taken before costs nothing."""
        if at in self._taken:
            return True
        head = self._sheet.head_of[at]
        if not self._size.add(*self._sheet.cost(at, with_head=head not in self._heads)):
            return False
        self._taken[at] = None
        self._heads.add(head)
        return True


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


def one_line(text: str) -> str:
    """The text with every run of white space made one space."""
    return " ".join(text.split())


def day_line(session: Session, day: date | None = None) -> str:
    """What stands over messages: their day, else the session's, else its number."""
    if day is None and session.time is not None:
        day = session.time.date()
    return f"[session {session.number}]" if day is None else f"[{written_day(day)}]"


def shown(message: Message) -> str:
    """A message as one line: speaker, text, and what came with it in brackets."""
    parts = [f"{one_line(message.speaker)}:", one_line(message.text)]
    if message.deleted and not message.text.strip():
        parts.append("[deletes a message]")
    parts += [_shared(attachment) for attachment in message.attachments]
    return " ".join(part for part in parts if part)


def _shared(attachment: Attachment) -> str:
    what = _KINDS.get(attachment.kind, "media")
    told = attachment.caption or (attachment.name if attachment.kind in _NAMED else "")
    told = one_line(told)
    verb = "makes" if attachment.kind == "call" else "shares"
    return f"[{verb} {what}: {told}]" if told else f"[{verb} {what}]"


def session_text(session: Session, messages: Iterable[Message] | None = None) -> str:
    """A session's messages, or those given, under their days; "" for none."""
    lines = []
    chosen = session.messages if messages is None else tuple(messages)
    for day, run in groupby(chosen, key=lambda message: _day(session, message)):
        lines += [day_line(session, day), *(shown(message) for message in run)]
    return "\n".join(lines)


def assemble(chat: Chat, message_ids: Collection[str]) -> str:
    """Any messages put in time order under their days, each once."""
    return MessageCosts(chat, counted=False).assemble(message_ids)


def _day(session: Session, message: Message) -> date | None:
    moment = message.time or session.time
    return moment.date() if moment is not None else None


class MessageCosts:
    """A chat's messages as lines, with what each costs, counted once.

    `ids`, `lines`, `session_of`, `tokens` and `words` run in time order; of two messages with
    one id the first counts. `counted=False` leaves the tokens out where only text is wanted.
    """

    def __init__(self, chat: Chat, *, counted: bool = True) -> None:
        self.chat = chat
        self.place: dict[str, int] = {}  # message id → its place in time
        lines: list[str] = []
        heads: list[str] = []
        head_of: list[int] = []
        session_of: list[int] = []
        for number, session in enumerate(chat.sessions):
            last: date | None = None
            begun = False
            for message in session.messages:
                if message.id in self.place:
                    continue
                day = _day(session, message)
                if not begun or day != last:
                    heads.append(day_line(session, day))
                    last, begun = day, True
                self.place[message.id] = len(lines)
                lines.append(shown(message))
                head_of.append(len(heads) - 1)
                session_of.append(number)
        self.sheet = Lines(lines, heads, head_of, session_of, counted=counted)
        self.ids = tuple(self.place)
        self.lines = self.sheet.lines
        self.session_of = self.sheet.block_of  # the place of each one's session in the chat
        self.tokens = self.sheet.tokens
        self.words = self.sheet.words

    def at(self, message_id: str) -> int:
        """The place of a message in time."""
        try:
            return self.place[message_id]
        except KeyError:
            raise RealtalkError(
                f"no message '{message_id}'", where=self.chat.id, fix="give ids of this chat"
            ) from None

    def in_session(self, number: int) -> tuple[str, ...]:
        """The messages of the session with this number, in time order."""
        named = {at for at, each in enumerate(self.chat.sessions) if each.number == number}
        return tuple(id_ for id_, at in zip(self.ids, self.session_of, strict=True) if at in named)

    def around(self, message_id: str, reach: int) -> tuple[str, ...]:
        """A message with as many before and after it in its session, in time order."""
        at = self.at(message_id)
        home = self.session_of[at]
        near = range(max(0, at - reach), min(len(self.ids), at + reach + 1))
        return tuple(self.ids[each] for each in near if self.session_of[each] == home)

    def assemble(self, message_ids: Collection[str]) -> str:
        """The messages in time order under their days, each once."""
        return self.sheet.text([self.at(id_) for id_ in message_ids])

    def fit(
        self,
        message_ids: Iterable[str],
        budget: Budget,
        *,
        spent: tuple[int, int] = (0, 0),
        skipping: bool = True,
    ) -> tuple[str, ...]:
        """Those of the messages, best first, that fit together, in the order given.

        `spent` is what other text has taken: (tokens, words). A message that is too long is
        passed over; without `skipping` it is the end.
        """
        size = Size(budget)
        if not size.add(*spent):
            return ()
        places = (self.at(id_) for id_ in message_ids)
        return tuple(self.ids[at] for at in self.sheet.fit(places, size, skipping=skipping))

    def context(
        self,
        message_ids: Collection[str],
        *,
        before: str = "",
        ranked: Sequence[str] | None = None,
        cost: Cost = _FREE,
        tells: bool = False,
    ) -> Context:
        """The messages as a context; `before` is other text that goes ahead of them."""
        places = sorted({self.at(id_) for id_ in message_ids})
        size = Size()
        self.sheet.fit(places, size)
        size.add_text(before)
        return Context(
            "\n\n".join(part for part in (before, self.sheet.text(places)) if part),
            tuple(self.ids[at] for at in places),
            size.tokens,
            size.words,
            None if ranked is None else tuple(ranked),
            cost,
            tells,
        )
