"""Facts that a model noted session by session, recalled with the messages behind them.

    Notes(model="openai/gpt-4o-mini", hops=2).build(chat).recall(question, Budget(tokens=1000))
    → "[Monday 2 March 2026]
       - Mara's contract at the archive ends on 31 March 2026.

       [Monday 2 March 2026]
       Mara: till the 31st, then I'm out
       ..."

Notes are taken once a chat: what the model answered is kept, and a run that was killed asks
only for the rest. With `hops=2` what the best notes mention is searched again: a note about
"the dog from the shelter" leads to the one that says the dog's name.

A session → facts that a model noted, each with the messages it rests on.

    taken = take_notes(chat, Asked("openai/gpt-4o-mini"), load_note_prompt())
    taken.notes      → (Note(1, "Mara's contract at the archive ends on 31 March 2026.",
                             ("D1:4", "D1:5")), ...)
    taken.unscored   → {7: "malformed answer"}

The model sees one session with numbered messages and answers in JSON. A note that cites no
message, or one that is not there, makes the answer malformed: it is asked for again, and the
session has no notes where that does not help. Nothing is mended and nothing guessed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat, Question, Session
from realtalk.ei.judge import unfenced, unreadable
from realtalk.encoders.lexical import Bm25, RankingOf, best_first, with_aliases
from realtalk.errors import RealtalkError
from realtalk.evals.prompts import Prompts, load_prompts
from realtalk.files.progress import Progress, silent
from realtalk.memory.restored import lines_then_messages
from realtalk.memory.showing import Lines, MessageCosts, day_line, session_text
from realtalk.memory.values import Budget, Context, Cost, NothingRemembered
from realtalk.models.asking import Asked, Prompt, Reply, ask, patience

_VERSION = "1"
_REMINDERS = (
    '\n\nThe answer must be one JSON object with the key "notes", without any other text, and '
    'every note must have "fact", a sentence, and "messages", numbers from the session.',
    '\n\nThe answer could not be read. Only {"notes": [{"fact": "…", "messages": [1]}]} can.',
)


@dataclass(frozen=True, slots=True)
class Note:
    """A fact from a session and the messages that say it."""

    session: int
    text: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """A chat's notes in time order, the sessions that have none and why, and the cost.

    `sessions` is how many were to be noted.
    """

    sessions: int
    notes: tuple[Note, ...]
    unscored: Mapping[int, str]
    cost: Cost


def load_note_prompt(folder: Path | None = None) -> Prompts:
    """Our prompt, or `notes.md` of a folder, with {session} and where wanted {speakers}."""
    needed = {"notes": ("session",)}
    return load_prompts("realtalk.memory", _VERSION, needed, ("speakers",), folder, strip=False)


def note_text(prompts: Prompts, chat: Chat, session: Session) -> str:
    """The prompt about one session; nothing of any other is in it."""
    speakers = _listed(chat.speakers)
    return prompts.fill("notes", session=_numbered(session), speakers=speakers)


def take_notes(chat: Chat, asked: Asked, wording: Prompts, progress: Progress = silent) -> Taken:
    """One question to the model a session that has words."""
    sessions = {
        str(at): session
        for at, session in enumerate(chat.sessions)
        if any(message.text.strip() or message.attachments for message in session.messages)
    }
    replies: dict[str, Reply] = {}
    prompts = [
        Prompt(
            key,
            partial(note_text, wording, chat, session),
            partial(_flaw, session),
            _REMINDERS,
        )
        for key, session in sessions.items()
    ]
    ask(prompts, asked, replies.__setitem__, progress)
    notes: list[Note] = []
    unscored: dict[int, str] = {}
    for key, session in sessions.items():
        reply = replies[key]
        found = None if reply.text is None else read_notes(reply.text, session)
        if found is None:
            unscored[session.number] = reply.reason
        else:
            notes += found
    cost = Cost(
        sum(reply.calls for reply in replies.values()),
        sum(reply.tokens_in for reply in replies.values()),
        sum(reply.tokens_out for reply in replies.values()),
        sum(reply.seconds for reply in replies.values()),
    )
    return Taken(len(sessions), tuple(notes), unscored, cost)


def read_notes(text: str, session: Session) -> list[Note] | None:
    """What the answer says, strictly; None where it is malformed."""
    try:
        found = json.loads(unfenced(text))
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("notes"), list):
        return None
    notes = []
    for entry in found["notes"]:
        if not isinstance(entry, dict):
            return None
        fact, cited = entry.get("fact"), entry.get("messages")
        if not isinstance(fact, str) or not fact.strip():
            return None
        if not isinstance(cited, list) or not cited:
            return None
        # `type`, because True is an int to isinstance and a mistake here.
        if any(type(each) is not int or not 1 <= each <= len(session.messages) for each in cited):
            return None
        ids = dict.fromkeys(session.messages[each - 1].id for each in sorted(cited))
        notes.append(Note(session.number, " ".join(fact.split()), tuple(ids)))
    return notes


def _flaw(session: Session, text: str) -> str:
    return unreadable(text) if read_notes(text, session) is None else ""


def _numbered(session: Session) -> str:
    """The session's messages under their days, each line with its number."""
    lines: list[str] = []
    day = ""
    for number, message in enumerate(session.messages, 1):
        head, _, line = session_text(session, [message]).partition("\n")
        if head != day:
            lines.append(head)
            day = head
        lines.append(f"{number}. {line}")
    return "\n".join(lines)


def _listed(names: tuple[str, ...]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


_LEADING = 3  # notes whose words are searched again at each hop
_FAINTER = 0.5  # what a hop takes from a score


class Notes:
    """`top` notes come first, then their messages, then other notes while there is room.

    `messages=False` shows notes alone. Nothing is sent before `build` is called.
    """

    name = "notes"

    def __init__(
        self,
        *,
        model: str,
        hops: int = 1,
        top: int = 20,
        messages: bool = True,
        prompts: Path | None = None,
        base_url: str | None = None,
        connections: int = 10,
        rate: str | None = None,
        timeout: int | None = None,
        retries: int | None = None,
        cache: Path | None = None,
        ranking: RankingOf = Bm25,
    ) -> None:
        for setting, value in (("hops", hops), ("top", top)):
            if value < 1:
                raise RealtalkError(f"{setting} must be 1 or more, not {value}")
        self.asked = Asked(
            model,
            cache=cache,
            base_url=base_url,
            connections=connections,
            rate=rate,
            **patience(timeout, retries),
        )
        self.prompt = load_note_prompt(prompts)
        self.version = f"1, prompts {self.prompt.version}"
        self.hops = hops
        self.top = top
        self.messages = messages
        self.ranking = ranking

    @property
    def settings(self) -> dict[str, str | int | float | bool]:
        return {
            "model": self.asked.model,
            **({"base_url": self.asked.address} if self.asked.address else {}),
            "hops": self.hops,
            "top": self.top,
            "messages": self.messages,
            "ranking": self.ranking.__name__.lower(),
        }

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltNotes:
        """Takes the notes. A chat of which no session could be noted is an error."""
        taken = take_notes(chat, self.asked, self.prompt, progress)
        if taken.unscored and len(taken.unscored) == taken.sessions:
            reasons = ", ".join(sorted(set(taken.unscored.values())))
            raise NothingRemembered(
                f"no session could be noted ({reasons})",
                where=chat.id,
                fix="try another model, or look at the provider",
            )
        return BuiltNotes(chat, taken, self)


class BuiltNotes:
    """A chat's notes, searchable. `unscored` are the sessions without notes, and why;
    `cost` is what taking them took."""

    def __init__(self, chat: Chat, taken: Taken, memory: Notes) -> None:
        self.notes = taken.notes
        self.unscored = taken.unscored
        self.cost = taken.cost
        self._chat = chat
        self._memory = memory
        self._costs = MessageCosts(chat)
        self._sheet = _sheet(chat, taken.notes)
        self._ranking = memory.ranking([note.text for note in taken.notes])

    def recall(self, question: Question, budget: Budget) -> Context:
        """The best notes, their messages, then other notes: each while the budget lasts."""
        order = best_first(self.scores(question))
        leading = order[: self._memory.top]
        ranked = dict.fromkeys(id_ for at in order for id_ in self.notes[at].message_ids)
        behind = dict.fromkeys(id_ for at in leading for id_ in self.notes[at].message_ids)
        return lines_then_messages(
            self._sheet,
            self._costs,
            leading,
            tuple(behind) if self._memory.messages else (),
            budget,
            others=order,
            ranked=tuple(ranked),
            tells=not self._memory.messages,
        )

    def scores(self, question: Question) -> npt.NDArray[np.float64]:
        """How well each note fits, from 0 to 1: by the question's words, or by those of notes
        that fit it."""
        asked = with_aliases(self._chat, question.text)
        scores = _scaled(self._ranking.scores(asked))
        searched: set[int] = set()
        for hop in range(1, self._memory.hops):
            leads = [at for at in best_first(scores) if scores[at] > 0 and at not in searched]
            for at in leads[:_LEADING]:
                searched.add(at)
                mentioned = self._ranking.scores(self.notes[at].text)
                mentioned[at] = 0.0  # a note leads to others, not to itself
                reached = _scaled(mentioned) * scores[at] * _FAINTER**hop
                scores = np.maximum(scores, reached)
        return scores


def _scaled(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    most = float(scores.max(initial=0.0))
    return scores / most if most > 0 else scores


def _sheet(chat: Chat, notes: tuple[Note, ...]) -> Lines:
    days = {session.number: day_line(session) for session in chat.sessions}
    numbers = list(dict.fromkeys(note.session for note in notes))
    heads = [days[number] for number in numbers]
    head_of = [numbers.index(note.session) for note in notes]
    return Lines([f"- {note.text}" for note in notes], heads, head_of, head_of)
