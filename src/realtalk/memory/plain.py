"""Memories that do not look at the question: everything, the end, the events, nothing.

    Whole().build(chat).recall(question, Budget())              → all sessions, oldest first
    Recent().build(chat).recall(question, Budget(tokens=1000))  → the last messages that fit
    Events().build(chat).recall(question, Budget())
    → Context("[Monday 2 March 2026]\n- Mara: Mara's contract ends on 31 March.\n...", ())

`whole` and `events` are the paper's C and E. The released code shows every session twice,
newest first, because its test for a session's key also matches the key of that session's
events: `protocol=released` does the same, for comparison.

The `oracle` memory: exactly the evidence of a question, which no memory can know.

    oracle = Oracle().knowing(lambda chat, question: ("D2:3", "D2:1"))
    oracle.build(chat).recall(question, Budget())   → Context of D2:1 and D2:3, in time order

What a reader answers from it is the most that any memory could let it answer, under the golds
that are scored by: the rest is the reader's. A question whose evidence names no message is shown
nothing. It is the one memory that is told what is right, so it says nothing about memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, TypeVar, get_args

from realtalk.chat import Chat, Event, EventKind, Question, Session
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.memory.showing import Lines, MessageCosts, Size, day_line, one_line, session_text
from realtalk.memory.values import Budget, ConfiguredMemory, Context
from realtalk.registry import suggest

WholeProtocol = Literal["paper", "released"]
ChoiceT = TypeVar("ChoiceT", bound=str)
Unit = Literal["messages", "sessions"]


def choice(setting: str, value: ChoiceT, known: Sequence[str]) -> ChoiceT:
    """The value of a setting. Raises where it is none of those known."""
    if value not in known:
        raise suggest(setting, value, list(known))
    return value


class Whole(ConfiguredMemory):
    """The full conversation. A budget that does not hold it is an error, never a silent cut."""

    name = "whole"
    setting_names = ("protocol",)

    def __init__(self, *, protocol: WholeProtocol = "paper") -> None:
        self.protocol = choice("protocol", protocol, get_args(WholeProtocol))

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltWhole:  # noqa: ARG002
        sessions = [session for session in chat.sessions if session.messages]
        if self.protocol == "released":
            sessions = [session for session in reversed(sessions) for _ in range(2)]
        return BuiltWhole(chat, "\n\n".join(session_text(session) for session in sessions))


class BuiltWhole:
    def __init__(self, chat: Chat, text: str) -> None:
        ids = tuple(chat.by_id)
        self._chat = chat.id
        self._context = Context(text, ids)

    def recall(self, question: Question, budget: Budget) -> Context:  # noqa: ARG002
        whole = self._context
        if not Size(budget).add(whole.tokens, whole.words):
            raise RealtalkError(
                f"the whole conversation has {whole.tokens:,} tokens, {whole.words:,} words, "
                "more than the budget",
                where=self._chat,
                fix="leave the budget out, or use the memory 'recent'",
            )
        return whole


class Nothing(ConfiguredMemory):
    """No context at all: what a reader knows or guesses by itself."""

    name = "none"

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltNothing:  # noqa: ARG002
        return BuiltNothing()


class BuiltNothing:
    def recall(self, question: Question, budget: Budget) -> Context:  # noqa: ARG002
        return Context("", (), 0, 0)


class Recent(ConfiguredMemory):
    """The end of the conversation, as far back as the budget reaches.

    `unit="sessions"` shows only sessions that fit whole.
    """

    name = "recent"
    setting_names = ("unit",)

    def __init__(self, *, unit: Unit = "messages") -> None:
        self.unit = choice("unit", unit, get_args(Unit))

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltRecent:  # noqa: ARG002
        return BuiltRecent(chat, self.unit)


class BuiltRecent:
    def __init__(self, chat: Chat, unit: Unit) -> None:
        self._costs = MessageCosts(chat)
        self._unit = unit
        self._newest_first = self._costs.ids[::-1]

    def recall(self, question: Question, budget: Budget) -> Context:  # noqa: ARG002
        chosen = self._costs.fit(self._newest_first, budget, skipping=False)
        if self._unit == "sessions":
            chosen = chosen[: self._last_start(len(chosen))]
        return self._costs.context(chosen, ranked=self._newest_first)

    def _last_start(self, count: int) -> int:
        """How many of the chosen, newest first, make up whole sessions."""
        sessions = self._costs.session_of[::-1]
        if count == len(sessions):
            return count
        while count and sessions[count - 1] == sessions[count]:
            count -= 1
        return count


def check_kinds(kinds: Sequence[str]) -> tuple[EventKind, ...]:
    """The kinds of events, each known, in the order of the glossary."""
    known: tuple[EventKind, ...] = get_args(EventKind)
    for kind in kinds:
        choice("kind of event", kind, known)
    return tuple(kind for kind in known if kind in kinds)


class EventLines:
    """A chat's events of some kinds as lines under their sessions' days, oldest first.

    Within a session one speaker's events stand together. `events` and `lines` run alike.
    """

    def __init__(self, chat: Chat, kinds: Sequence[EventKind]) -> None:
        self.events = _in_order(chat, kinds)
        if not self.events:
            raise RealtalkError(
                f"no {' or '.join(kinds)} noted in the chat",
                where=chat.id,
                fix="choose other kinds, or a memory that needs no events",
            )
        sessions = {session.number: session for session in chat.sessions}
        heads: list[str] = []
        head_of: list[int] = []
        last = -1
        for event in self.events:
            if not heads or event.session != last:
                heads.append(_event_head(event, sessions.get(event.session)))
            last = event.session
            head_of.append(len(heads) - 1)
        lines = [_event_line(event) for event in self.events]
        self.sheet = Lines(lines, heads, head_of, [event.session for event in self.events])
        self.lines = self.sheet.lines


def _in_order(chat: Chat, kinds: Sequence[EventKind]) -> tuple[Event, ...]:
    speakers = {speaker: at for at, speaker in enumerate(chat.speakers)}
    unnamed = len(speakers)
    chosen = [event for event in chat.events if event.kind in kinds]
    return tuple(
        sorted(
            chosen,
            key=lambda event: (event.session, speakers.get(event.speaker or "", unnamed)),
        )
    )


def _event_head(event: Event, session: Session | None) -> str:
    if session is not None and session.time is not None:
        return day_line(session)
    return f"[{one_line(event.date)}]" if event.date else f"[session {event.session}]"


def _event_line(event: Event) -> str:
    # The speaker's name as well as the text: an annotator may know them by another name.
    return f"- {one_line(event.speaker or event.kind)}: {one_line(event.text)}"


class Events(ConfiguredMemory):
    """What annotators noted, instead of the conversation; the newest where not all fits."""

    name = "events"
    setting_names = ("kinds",)

    def __init__(self, *, kinds: tuple[str, ...] = ("event",)) -> None:
        self.kinds = check_kinds(kinds)

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltEvents:  # noqa: ARG002
        return BuiltEvents(EventLines(chat, self.kinds))


class BuiltEvents:
    def __init__(self, events: EventLines) -> None:
        self._sheet = events.sheet

    def recall(self, question: Question, budget: Budget) -> Context:  # noqa: ARG002
        size = Size(budget)
        newest_first = reversed(range(len(self._sheet.lines)))
        chosen = self._sheet.fit(newest_first, size, skipping=False)
        return Context(self._sheet.text(chosen), (), size.tokens, size.words, tells=True)


EvidenceOf: TypeAlias = Callable[[str, str], Sequence[str]]  # ids of a chat and a question


class Oracle(ConfiguredMemory):
    """Shows the evidence. A plan hands it over: `knowing`."""

    name = "oracle"

    def __init__(self) -> None:
        self._evidence: EvidenceOf | None = None

    def knowing(self, evidence: EvidenceOf) -> Oracle:
        """The same memory, told what is needed for each question."""
        told = Oracle()
        told._evidence = evidence
        return told

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltOracle:  # noqa: ARG002
        if self._evidence is None:
            raise RealtalkError("the oracle was not told the evidence", fix="use it in `probe`")
        return BuiltOracle(chat, self._evidence)


class BuiltOracle:
    def __init__(self, chat: Chat, evidence: EvidenceOf) -> None:
        self._costs = MessageCosts(chat)
        self._evidence = evidence

    def recall(self, question: Question, budget: Budget) -> Context:
        named = self._evidence(self._costs.chat.id, question.id)
        known = [id_ for id_ in named if id_ in self._costs.place]
        return self._costs.context(self._costs.fit(known, budget), ranked=known)
