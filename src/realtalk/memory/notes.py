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

    built = Notes(model="openai/gpt-4o-mini").build(chat)
    built.notes      → (Note(1, "Mara's contract at the archive ends on 31 March 2026.",
                             ("D1:4", "D1:5")), ...)
    built.unscored   → {7: "malformed answer"}

The model sees one session with numbered messages and answers in JSON. A note that cites no
message, or one that is not there, makes the answer malformed: it is asked for again, and the
session has no notes where that does not help. Nothing is mended and nothing guessed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from realtalk.chat import Chat, Question, Session
from realtalk.ei.judge import strip_fence, unreadable
from realtalk.encoders.lexical import Bm25, RankingOf, best_first, with_aliases
from realtalk.evals.language_models import Prompts, join_names, load_prompts, reply_cost
from realtalk.evals.values import Cost, Settings
from realtalk.files.progress import Progress, silent
from realtalk.memory.values import (
    Budget,
    ConfiguredMemory,
    Context,
    Lines,
    MessageCosts,
    NoMemoryError,
    day_line,
    lines_then_messages,
    session_text,
)
from realtalk.metrics.statistics import Array
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask, patience
from realtalk.registry import at_least
from realtalk.text.words import one_line

_VERSION = "1"
_REMINDERS = (
    '\n\nThe answer must be one JSON object with the key "notes", without any other text, and '
    'every note must have "fact", a sentence, and "messages", numbers from the session.',
    '\n\nThe answer could not be read. Only {"notes": [{"fact": "…", "messages": [1]}]} can.',
)


class Note(NamedTuple):
    """A fact from a session and the messages that say it."""

    session: int
    text: str
    message_ids: tuple[str, ...]


def load_note_prompt(folder: Path | None = None) -> Prompts:
    """Our prompt, or `notes.md` of a folder, with {session} and where wanted {speakers}."""
    needed = {"notes": ("session",)}
    return load_prompts("realtalk.memory", _VERSION, needed, ("speakers",), folder, strip=False)


def note_text(prompts: Prompts, chat: Chat, session: Session) -> str:
    """The prompt about one session; nothing of any other is in it."""
    speakers = join_names(chat.speakers)
    return prompts.fill("notes", session=number_lines(session), speakers=speakers)


def read_notes(text: str, session: Session) -> list[Note] | None:
    """What the answer says, strictly; None where it is malformed."""
    try:
        content = json.loads(strip_fence(text))
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("notes"), list):
        return None
    notes = []
    for entry in content["notes"]:
        match entry:
            case {"fact": str(fact), "messages": [*cited]} if (
                fact.strip() and cited and all(_is_number(number, session) for number in cited)
            ):
                ids = dict.fromkeys(session.messages[number - 1].id for number in sorted(cited))
                notes.append(Note(session.number, one_line(fact), tuple(ids)))
            case _:
                return None
    return notes


def _is_number(cited: Any, session: Session) -> bool:
    # `type`, because True is an int to isinstance and a mistake here.
    return type(cited) is int and 1 <= cited <= len(session.messages)


def _flaw(session: Session, text: str) -> str:
    return unreadable(text) if read_notes(text, session) is None else ""


def number_lines(session: Session, first: int = 1) -> str:
    """The session's messages under their days, each line with its number."""
    lines: list[str] = []
    day = ""
    for number, message in enumerate(session.messages, first):
        head, _, line = session_text(session, [message]).partition("\n")
        if head != day:
            lines.append(head)
            day = head
        lines.append(f"{number}. {line}")
    return "\n".join(lines)


_LEADING = 3  # notes whose words are searched again at each hop
_FAINTER = 0.5  # what a hop takes from a score


@dataclass(kw_only=True, eq=False)
class Notes(ConfiguredMemory):
    """`top` notes come first, then their messages, then other notes while there is room.

    `messages=False` shows notes alone. Nothing is sent before `build` is called.
    """

    name = "notes"
    recorded = ("hops", "top", "messages", "ranking")

    model: str
    hops: int = 1
    top: int = 20
    messages: bool = True
    prompts: Path | None = None
    base_url: str | None = None
    connections: int = 10
    rate: str | None = None
    timeout: int | None = None
    retries: int | None = None
    cache: Path | None = None
    ranking: RankingOf = Bm25

    def __post_init__(self) -> None:
        at_least(1, hops=self.hops, top=self.top)
        self.config = ModelConfig(
            self.model,
            cache=self.cache,
            base_url=self.base_url,
            connections=self.connections,
            rate=self.rate,
            **patience(self.timeout, self.retries),
        )
        self.prompt = load_note_prompt(self.prompts)

    @property
    def version(self) -> str:
        return f"1, prompts {self.prompt.version}"

    @property
    def settings(self) -> Settings:
        address = {"base_url": self.config.address} if self.config.address else {}
        return {"model": self.model, **address, **super().settings}

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltNotes:
        """Takes the notes, one question to the model a session that has words.

        A chat of which no session could be noted is an error.
        """
        sessions = {
            str(at): session
            for at, session in enumerate(chat.sessions)
            if any(message.text.strip() or message.attachments for message in session.messages)
        }
        prompts = [
            Prompt(
                key,
                partial(note_text, self.prompt, chat, session),
                partial(_flaw, session),
                _REMINDERS,
            )
            for key, session in sessions.items()
        ]
        replies: dict[str, Reply] = {}
        ask(prompts, self.config, replies.__setitem__, progress)
        notes: list[Note] = []
        unscored: dict[int, str] = {}
        for key, session in sessions.items():
            reply = replies[key]
            noted = None if reply.text is None else read_notes(reply.text, session)
            notes += noted or ()
            if noted is None:
                unscored[session.number] = reply.reason
        if unscored and len(unscored) == len(sessions):
            reasons = ", ".join(sorted(set(unscored.values())))
            raise NoMemoryError(
                f"no session could be noted ({reasons})",
                where=chat.id,
                fix="try another model, or look at the provider",
            )
        cost = sum(map(reply_cost, replies.values()), Cost())
        return BuiltNotes(chat, notes, unscored, cost, self)


class BuiltNotes:
    """A chat's notes in time order, searchable. `unscored` are the sessions without notes, and
    why; `cost` is what taking them took."""

    def __init__(
        self,
        chat: Chat,
        notes: Sequence[Note],
        unscored: Mapping[int, str],
        cost: Cost,
        memory: Notes,
    ) -> None:
        self.notes = tuple(notes)
        self.unscored = unscored
        self.cost = cost
        self._memory = memory
        self._costs = MessageCosts(chat)
        days = {session.number: day_line(session) for session in chat.sessions}
        numbers = [note.session for note in notes]
        lines = [f"- {note.text}" for note in notes]
        self._sheet = Lines(lines, [days[number] for number in numbers], numbers)
        self._ranking = memory.ranking([note.text for note in notes])

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

    def scores(self, question: Question) -> Array:
        """How well each note fits, from 0 to 1: by the question's words, or by those of notes
        that fit it."""
        text = with_aliases(self._costs.chat, question.text)
        scores = _scale(self._ranking.scores(text))
        searched: set[int] = set()
        for hop in range(1, self._memory.hops):
            leads = [at for at in best_first(scores) if scores[at] > 0 and at not in searched]
            for at in leads[:_LEADING]:
                searched.add(at)
                mentioned = self._ranking.scores(self.notes[at].text)
                mentioned[at] = 0.0  # a note leads to others, not to itself
                reached = _scale(mentioned) * scores[at] * _FAINTER**hop
                scores = np.maximum(scores, reached)
        return scores


def _scale(scores: Array) -> Array:
    most = float(scores.max(initial=0.0))
    return scores / most if most > 0 else scores
