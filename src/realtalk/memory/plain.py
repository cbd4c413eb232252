"""Memories that do not look at the question: everything, the end, the events, nothing.

    Whole().build(chat).recall(question, Budget())              → all sessions, oldest first
    Recent().build(chat).recall(question, Budget(tokens=1000))  → the last messages that fit
    Events().build(chat).recall(question, Budget())
    → Context("[Monday 2 March 2026]\n- Mara: Mara's contract ends on 31 March.\n...", ())

`whole` and `events` are the paper's C and E. The released code shows every session twice,
newest first, because its test for a session's key also matches the key of that session's
events: `protocol=released` does the same, for comparison.

The `oracle` memory: exactly the evidence of a question, which no memory can know.

    oracle = Oracle(evidence={"Chat_1": {"Q3": Gold("in March", evidence=("D2:3", "D2:1"))}})
    oracle.build(chat).recall(question, Budget())   → Context of D2:1 and D2:3, in time order

What a reader answers from it is the most that any memory could let it answer, under the golds
that are scored by: the rest is the reader's. A question whose evidence names no message is shown
nothing. It is the one memory that is told what is right, so it says nothing about memories.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from realtalk.chat import Chat, Event, EventKind, Question, Session
from realtalk.errors import RealtalkError
from realtalk.memory.golds import Gold
from realtalk.memory.values import (
    Budget,
    ConfiguredMemory,
    Context,
    Filling,
    Lines,
    MessageCosts,
    Recalling,
    Size,
    day_line,
    session_text,
)
from realtalk.registry import known_name
from realtalk.text.words import one_line

WholeProtocol = Literal["paper", "released"]
Unit = Literal["messages", "sessions"]


@dataclass(kw_only=True, eq=False)
class Whole(ConfiguredMemory):
    """The full conversation. A budget that does not hold it is an error, never a silent cut."""

    name = "whole"
    protocol: WholeProtocol = "paper"

    def __post_init__(self) -> None:
        known_name("protocol", self.protocol, get_args(WholeProtocol))

    def build(self, chat: Chat) -> Recalling:
        sessions = [session for session in chat.sessions if session.messages]
        if self.protocol == "released":
            sessions = [session for session in reversed(sessions) for _ in range(2)]
        whole = Context("\n\n".join(map(session_text, sessions)), tuple(chat.by_id))

        def recall(question: Question, budget: Budget) -> Context:  # noqa: ARG001
            if not Size(budget).add(whole.tokens, whole.words):
                raise RealtalkError(
                    f"the whole conversation has {whole.tokens:,} tokens, {whole.words:,} words, "
                    "more than the budget",
                    where=chat.id,
                    fix="leave the budget out, or use the memory 'recent'",
                )
            return whole

        return Recalling(recall)


class Nothing(ConfiguredMemory):
    """No context at all: what a reader knows or guesses by itself."""

    name = "none"

    def build(self, chat: Chat) -> Recalling:  # noqa: ARG002
        return Recalling(lambda question, budget: Context("", (), 0, 0))  # noqa: ARG005


@dataclass(kw_only=True, eq=False)
class Recent(ConfiguredMemory):
    """The end of the conversation, as far back as the budget reaches.

    `unit="sessions"` shows only sessions that fit whole.
    """

    name = "recent"
    unit: Unit = "messages"

    def __post_init__(self) -> None:
        known_name("unit", self.unit, get_args(Unit))

    def build(self, chat: Chat) -> Recalling:
        costs = MessageCosts(chat)
        newest_first, sessions = costs.ids[::-1], costs.blocks[::-1]

        def recall(question: Question, budget: Budget) -> Context:  # noqa: ARG001
            message_ids = costs.fit(newest_first, budget, skipping=False)
            count = len(message_ids)
            if self.unit == "sessions" and count < len(sessions):
                while count and sessions[count - 1] == sessions[count]:
                    count -= 1
            return costs.context(message_ids[:count], ranked=newest_first)

        return Recalling(recall)


def check_kinds(kinds: Sequence[str]) -> tuple[EventKind, ...]:
    """The kinds of events, each known, in the order of the glossary."""
    kinds_in_order: tuple[EventKind, ...] = get_args(EventKind)
    for kind in kinds:
        known_name("kind of event", kind, kinds_in_order)
    return tuple(kind for kind in kinds_in_order if kind in kinds)


class EventLines(Lines):
    """A chat's events of some kinds as lines under their sessions' days, oldest first.

    Within a session one speaker's events stand together. `events` and `lines` run alike.
    """

    def __init__(self, chat: Chat, kinds: Sequence[str]) -> None:
        speakers = {speaker: at for at, speaker in enumerate(chat.speakers)}
        self.events = sorted(
            (event for event in chat.events if event.kind in kinds),
            key=lambda event: (event.session, speakers.get(event.speaker or "", len(speakers))),
        )
        if not self.events:
            raise RealtalkError(
                f"no {' or '.join(kinds)} noted in the chat",
                where=chat.id,
                fix="choose other kinds, or a memory that needs no events",
            )
        sessions = {session.number: session for session in chat.sessions}
        firsts = {event.session: event for event in reversed(self.events)}
        heads = {number: _head(event, sessions.get(number)) for number, event in firsts.items()}
        numbers = [event.session for event in self.events]
        # The speaker's name as well as the text: an annotator may know them by another name.
        lines = [
            f"- {one_line(event.speaker or event.kind)}: {one_line(event.text)}"
            for event in self.events
        ]
        super().__init__(lines, [heads[number] for number in numbers], numbers)


def _head(event: Event, session: Session | None) -> str:
    if session is not None and session.time is not None:
        return day_line(session)
    return f"[{one_line(event.date)}]" if event.date else f"[session {event.session}]"


@dataclass(kw_only=True, eq=False)
class Events(ConfiguredMemory):
    """What annotators noted, instead of the conversation; the newest where not all fits."""

    name = "events"
    kinds: tuple[str, ...] = ("event",)

    def __post_init__(self) -> None:
        self.kinds = check_kinds(self.kinds)

    def build(self, chat: Chat) -> Recalling:
        sheet = EventLines(chat, self.kinds)

        def recall(question: Question, budget: Budget) -> Context:  # noqa: ARG001
            size = Size(budget)
            newest_first = reversed(range(len(sheet.lines)))
            places = Filling(sheet, size).take(newest_first, skipping=False)
            return Context(sheet.text(places), (), size.tokens, size.words, tells=True)

        return Recalling(recall)


@dataclass(kw_only=True, eq=False)
class Oracle(ConfiguredMemory):
    """Shows the evidence. A plan hands it over: golds by ids of chat and question."""

    name = "oracle"
    recorded = ()
    evidence: Mapping[str, Mapping[str, Gold]] | None = None

    def build(self, chat: Chat) -> Recalling:
        if self.evidence is None:
            raise RealtalkError("the oracle was not told the evidence", fix="use it in `probe`")
        golds, costs = self.evidence[chat.id], MessageCosts(chat)

        def recall(question: Question, budget: Budget) -> Context:
            ids = [id_ for id_ in golds[question.id].evidence if id_ in costs.place]
            return costs.context(costs.fit(ids, budget), ranked=ids)

        return Recalling(recall)
