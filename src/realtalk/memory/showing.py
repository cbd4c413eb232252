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
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from itertools import groupby

from realtalk.chat import Attachment, Chat, Message, Session
from realtalk.errors import RealtalkError
from realtalk.evals.prompts import written_day
from realtalk.memory.counting import Lines, Size
from realtalk.memory.values import Budget, Context, Cost

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
