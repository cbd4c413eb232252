"""A session → facts that a model noted, each with the messages it rests on.

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

from realtalk.chat import Chat, Session
from realtalk.ei.judge import unfenced, unreadable
from realtalk.evals.prompts import Prompts, load_prompts
from realtalk.files.progress import Progress, silent
from realtalk.memory.showing import session_text
from realtalk.memory.values import Cost
from realtalk.models.asking import Asked, Prompt, Reply, ask

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
