"""Two simulated people and the times of their turns → a chat, turn by turn.

    talk = SimulatedChat("Chat_1", (Side("Noor", role), Side("Piet", other)), planned, remember)
    while not talk.done:
        prompt = talk.prompt()             # a TurnPrompt, for the simulator of side talk.side
        talk.add(simulator.solve([prompt])[0])
    talk.chat                              → <Chat Chat_1: 2 speakers, 8 sessions, 290 messages>

A prompt shows what a memory recalls of earlier sessions for what was said last, and the present
session as far as a number of words reaches: the turns of a chat under their days, which is what
adapters have learned to go on from. A chat that was stored is gone on with where it was: times and
people come from the seed, what was said from the chat.

Chats in the making and who writes them → a corpus marked as simulated, kept as it grows.

    corpus = converse(chats, (first, second), settings, out=Path("simulated"))
    corpus.chats[0].speakers               → ("Noor (simulated)", "Piet (simulated)")

All chats go on side by side: the turns that wait for one simulator are handed to it together. What
was said is stored every few seconds, and when it ends; the same call goes on where it was, to
the same chats, if the simulators answer the same. Another one's folder is refused. The marks are
those of a talk: in every speaker's name, each message's `extra`, and the names of chats and corpus.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from itertools import accumulate, cycle, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from realtalk.chat import (
    MARK,
    Chat,
    Corpus,
    Event,
    Message,
    Session,
    Turn,
    pack_extra,
    turns,
    unpack_extra,
)
from realtalk.encoders.tokens import count_words
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import written_day
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent, within
from realtalk.files.writing import refuse_strangers
from realtalk.formats.store import is_stored, load, load_about
from realtalk.persona.cast import PlannedTurn, Role
from realtalk.persona.talking import Consent, keep_corpus, unmark
from realtalk.persona.values import ContextTurn, Simulator, TurnPrompt

# What was said lately, and when → ids of earlier messages, oldest first.
Recall: TypeAlias = Callable[[str, datetime], Sequence[str]]
Remember: TypeAlias = Callable[[Chat], Recall]

PRESENT_WORDS = 600  # of the session that is going on
NAME = "conversations-simulated"
_ELSEWHERE = "name another folder with `out=`, or start anew with `fresh=True`"
_EVERY = 5.0  # seconds between stores
_CUE = 2  # turns that the memory is asked about
_SILENT = 5  # turns in a row without an answer, after which something is wrong
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")


class Side(NamedTuple):
    """Who writes: an invented person, or one who is learned from (no role)."""

    name: str
    role: Role | None = None


class SimulatedChat:
    """A chat that comes into being; `at` is how many of its `total` turns are done."""

    def __init__(
        self,
        id_: str,
        sides: tuple[Side, Side],
        planned: Sequence[PlannedTurn],
        remember: Remember | None = None,
    ) -> None:
        self.id = id_
        self.sides = sides
        self.at = 0
        self.total = len(planned)
        self.silent: dict[int, str] = {}  # turns that were not answered, and why
        self._planned = planned
        self._remember = remember
        self._messages: dict[int, list[Message]] = {}  # by session
        self._recall: tuple[int, Recall, Mapping[str, ContextTurn]] | None = None

    @property
    def done(self) -> bool:
        return self.at >= self.total

    @property
    def side(self) -> int:
        """Whose turn it is: 0 or 1."""
        return self._planned[self.at].side

    @property
    def chat(self) -> Chat:
        """What was said so far, with what happened to whom."""
        names = tuple(side.name for side in self.sides)
        sessions = (
            Session(number, messages[0].time, tuple(messages))
            for number, messages in self._messages.items()
        )
        return Chat(self.id, names, tuple(sessions), self._events())

    def prompt(self) -> TurnPrompt:
        """What stands before the next turn."""
        turn = self._planned[self.at]
        present: list[ContextTurn] = []
        words = PRESENT_WORDS
        for earlier in reversed(self._turns(turn.session)):
            words -= count_words(earlier.text)
            if words < 0 and present:
                break
            present.append(ContextTurn(turn.session, earlier.time, earlier.speaker, earlier.text))
        return TurnPrompt(
            id=f"{self.id}#{self.at}",
            chat=self.id,
            session=turn.session,
            speaker=self.sides[turn.side].name,
            time=turn.time,
            context=(*self._earlier(turn), *present[::-1]),
            about=self._about(turn),
        )

    def add(self, answer: Answer[str]) -> None:
        """Takes the next turn; one without words is a silence, and kept as such."""
        turn = self._planned[self.at]
        side = self.sides[turn.side]
        text = (answer.value or "").strip()
        if text:
            self.silent.pop(self.at, None)  # it was asked again
            messages = self._messages.setdefault(turn.session, [])
            # Whoever was learned from parts their own messages; the others are given a number.
            lines = messages_of(text, None if side.role is None else len(turn.pauses) + 1)
            waits = accumulate(cycle(turn.pauses or (1.0,)), initial=0.0)
            for line, seconds in zip(lines, waits, strict=False):
                moment = turn.time + timedelta(seconds=seconds)
                messages.append(
                    Message(f"D{turn.session}:{len(messages) + 1}", side.name, moment, line)
                )
        else:
            self.silent[self.at] = answer.unscored or "no words"
            if all(self.at - back in self.silent for back in range(_SILENT)):
                raise RealtalkError(
                    f"no answer, {_SILENT} times in a row ({self.silent[self.at]})",
                    where=self.id,
                    fix="try another simulator, or call it again: it goes on where it was",
                )
        self.at += 1

    def restore(self, chat: Chat, at: int, silent: Mapping[int, str]) -> None:
        """Goes on after what an earlier run wrote, under plain names."""
        if not 0 <= at <= self.total:
            raise RealtalkError("has other turns than these settings give", where=self.id)
        self._messages = {session.number: list(session.messages) for session in chat.sessions}
        self.at, self.silent = at, dict(silent)

    def _turns(self, session: int) -> list[Turn]:
        return list(turns(Session(session, None, tuple(self._messages.get(session, ())))))

    def _events(self) -> tuple[Event, ...]:
        """Each under the first session of its day or later, as far as the chat has come."""
        begun = {number: messages[0].time for number, messages in self._messages.items()}
        events = []
        for side in self.sides:
            for day, text in side.role.events if side.role else ():
                after = (n for n, time in begun.items() if time is not None and time.date() >= day)
                if (number := next(after, None)) is not None:
                    events.append(Event(number, side.name, text, date=written_day(day)))
        return tuple(sorted(events, key=lambda event: event.session))

    def _about(self, turn: PlannedTurn) -> str:
        role = self.sides[turn.side].role
        if role is None:
            return ""
        partner = self.sides[1 - turn.side].name
        begins = "" if turn.session in self._messages else ", first and after a while"
        number = "one message"
        if turn.pauses:
            number = f"{len(turn.pauses) + 1} short messages, each on a line of its own"
        return (
            f"{role.describe(turn.time)}\nIt is {turn.time:%H:%M} now, and you write to your "
            f"friend {partner}{begins}.\nYou send {number}."
        )

    def _earlier(self, turn: PlannedTurn) -> Iterator[ContextTurn]:
        """What is recalled of the sessions before this one."""
        chat = self.chat
        past = tuple(session for session in chat.sessions if session.number < turn.session)
        if self._remember is None or not past:
            return
        if self._recall is None or self._recall[0] != turn.session:
            by_id: Mapping[str, ContextTurn] = {
                message.id: ContextTurn(session.number, message.time, message.speaker, message.text)
                for session in past
                for message in session.messages
            }
            recall = self._remember(replace(chat, sessions=past, events=()))
            self._recall = (turn.session, recall, by_id)
        _, recall, by_id = self._recall
        lately = (self._turns(turn.session) or self._turns(past[-1].number))[-_CUE:]
        for id_ in recall("\n".join(context_turn.text for context_turn in lately), turn.time):
            yield by_id[id_]


def messages_of(text: str, count: int | None = None) -> list[str]:
    """A turn as messages, one per line; with a count as many, as far as it has sentences."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while count is not None and len(lines) > count:
        sizes = [len(line) + len(next_line) for line, next_line in pairwise(lines)]
        at = sizes.index(min(sizes))
        lines[at : at + 2] = [f"{lines[at]} {lines[at + 1]}"]
    while count is not None and len(lines) < count:
        parted = [(len(line), at) for at, line in enumerate(lines) if _SENTENCE.search(line)]
        if not parted:
            break
        size, at = max(parted)
        # In two, between the sentences that are nearest to its middle.
        pause = min(_SENTENCE.finditer(lines[at]), key=lambda gap: abs(gap.start() - size / 2))
        lines[at : at + 1] = [lines[at][: pause.start()], lines[at][pause.end() :]]
    return lines


def marked_chat(chat: Chat, by: tuple[str, str], about: Mapping[str, Any]) -> Chat:
    """The chat as it may leave: marked by its speakers' names, in every message, and as a whole.

    `by` is what each of the two writes with.
    """
    writers = dict(zip(chat.speakers, by, strict=True))

    def message(said: Message) -> Message:
        extra = pack_extra({"simulated": writers[said.speaker]})
        return replace(said, speaker=said.speaker + MARK, extra=extra)

    return replace(
        change_messages(chat, message),
        speakers=tuple(name + MARK for name in chat.speakers),
        events=tuple(replace(event, speaker=f"{event.speaker}{MARK}") for event in chat.events),
        extra=pack_extra({"simulated": about}),
    )


def change_messages(chat: Chat, change: Callable[[Message], Message]) -> Chat:
    """The chat with every message changed."""
    sessions = (
        replace(session, messages=tuple(map(change, session.messages))) for session in chat.sessions
    )
    return replace(chat, sessions=tuple(sessions))


def converse(
    chats: Sequence[SimulatedChat],
    simulators: tuple[Simulator, Simulator],
    settings: Mapping[str, Any],
    consents: Sequence[Consent] = (),
    *,
    out: Path | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Lets everybody write until all chats are done. `settings` say what the chats depend on."""
    by = (simulators[0].name, simulators[1].name)
    # As JSON has it, so that what was stored can be compared.
    record = json.loads(json.dumps(settings, default=str))
    about = {"by": by, "settings": record, "consent": [asdict(consent) for consent in consents]}

    def corpus() -> Corpus:
        made = []
        for chat in chats:
            silences = {str(turn): reason for turn, reason in chat.silent.items()}
            state = {**about, "turns": chat.at, "silent": silences}
            made.append(marked_chat(chat.chat, by, state))
        return Corpus(NAME, "jsonl", tuple(made))

    if out is not None and is_stored(out) and not fresh:
        _restore(chats, record, out)
    total = sum(chat.total for chat in chats)
    # One that writes both sides is asked once.
    writers = simulators[:1] if simulators[0] is simulators[1] else simulators
    stored = time.monotonic()
    try:
        while waiting := [chat for chat in chats if not chat.done]:
            sides = [(chat, simulators[chat.side]) for chat in waiting]
            for writer in writers:
                group = [chat for chat, whose in sides if whose is writer]
                done = sum(chat.at for chat in chats)
                progress(done, total, "turns")
                telling = within(progress, done, total, "turns")
                answers = writer.solve([chat.prompt() for chat in group], telling) if group else []
                for chat, answer in zip(group, answers, strict=True):
                    chat.add(answer)
            if out is not None and time.monotonic() - stored > _EVERY:
                keep_corpus(corpus(), out)
                stored = time.monotonic()
        progress(total, total, "turns")
    finally:  # what was said before something failed is kept, too
        if out is not None and any(chat.at for chat in chats):
            keep_corpus(corpus(), out)
    return corpus()


def _restore(chats: Sequence[SimulatedChat], settings: Mapping[str, Any], folder: Path) -> None:
    """Takes over what an earlier call has stored, if it was to make the same chats."""
    kept = load(folder).corpus.chats
    if [chat.id for chat in kept] != [chat.id for chat in chats]:
        raise RealtalkError("holds other chats", where=str(folder), fix=_ELSEWHERE)
    for chat, earlier in zip(chats, kept, strict=True):
        about = unpack_extra(earlier.extra).get("simulated", {})
        before = about.get("settings", {})
        for name in {**before, **settings}:
            if before.get(name) != settings.get(name):
                raise RealtalkError(
                    f"was made with another {name}", where=str(folder), fix=_ELSEWHERE
                )
        silences = {int(turn): reason for turn, reason in about["silent"].items()}
        chat.restore(change_messages(earlier, unmark), int(about["turns"]), silences)


def refuse_others(folder: Path) -> None:
    """Raises where a folder holds anything but simulated conversations: it would be lost."""
    if not (is_stored(folder) and load_about(folder).name == NAME):
        refuse_strangers(folder, "simulated chats", "corpus.json")
