"""What annotators make: items with versions, and the rules for what an item may hold.

    StudioItem("q3f9", "Chat_1", "question", "Ana", 2,
               {"text": "Where did Mara move?", "answer": "Porto", "category": "multi_hop",
                "evidence": ["D1:2"]})
    clean_fields("event", {"session": 3, "speaker": "Mara", "text": "She moves."}, chat, categories)
    → the same, checked: sessions, speakers, categories and evidence exist, lengths are bounded

An item's body is plain JSON. It keeps what the chat's own file said beyond the form
(`stated`, `unresolved`, `extra`), so that an export gives it back.

    dump_body("event", {"text": "Mara moves."})     raises; what cannot be read back is never stored

Everything that is stored goes through `dump_body`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson
from pydantic import BaseModel, ValidationError

from realtalk.chat import Chat, Event, Question
from realtalk.errors import RealtalkError

ItemKind = Literal["event", "question"]
Body: TypeAlias = dict[str, Any]

CORPUS = "corpus"  # what came with the chat
FINAL = "final"  # what was agreed on

_LONGEST_TEXT = 4_000
_LONGEST = {"date": 100, "evidence": 500}
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class StudioItem:
    """One event or question of one annotator. The version grows with every change."""

    id: str
    chat: str
    kind: ItemKind
    author: str
    version: int
    body: Body
    conflict_of: str | None = None  # the item that this is the other version of
    taken_from: str | None = None  # the item that this was copied from
    deleted: bool = False

    def to_json(self) -> dict[str, Any]:
        names = ("id", "kind", "author", "version", "body", "conflict_of", "deleted")
        return {name: getattr(self, name) for name in names}


class Conflict(NamedTuple):
    """Two changes of one item that do not go together: what is there, and what came; both kept."""

    current: StudioItem
    copy: StudioItem | None  # None where the change was a removal: there is nothing to keep


def checked_name(name: str) -> str:
    """An annotator's name, or an error that says what is wrong with it."""
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RealtalkError(
            "an annotator needs a name", fix=f"one line, at most {_LONGEST_NAME} characters"
        )
    if name.casefold() in (CORPUS, FINAL):
        raise RealtalkError(f"'{name}' is not a person's name here", fix="choose another")
    return name


def clean_fields(
    kind: ItemKind,
    fields: Mapping[str, Any],
    chat: Chat,
    categories: Collection[str],
    before: Mapping[str, Any] | None = None,
) -> Body:
    """The fields of a form, checked against the chat.

    Evidence that the item named `before` may stay: a chat may have lost a message since.
    """
    here = f"chat {chat.id}"
    if fields.keys() - BLANKS[kind]:
        raise RealtalkError(
            f"a {kind} has no field of that name", fix=f"known: {', '.join(BLANKS[kind])}"
        )
    check_types(kind, {**BLANKS[kind], **fields})
    allowed = {
        "session": [session.number for session in chat.sessions],
        "speaker": chat.speakers,
        "category": ("", *categories),
    }
    for name, value in fields.items():
        if name in allowed and value not in allowed[name]:
            raise RealtalkError(f"no such {name}", where=here)
        longest = _LONGEST.get(name, _LONGEST_TEXT)
        if isinstance(value, str | list) and len(value) > longest:
            unit = "messages" if name == "evidence" else "characters"
            raise RealtalkError(f"the {kind}'s {name} is longer than {longest:,} {unit}")
    if "evidence" not in fields:
        return dict(fields)
    evidence = list(dict.fromkeys(fields["evidence"]))
    if not chat.by_id.keys() | (before or {}).get("evidence", ()) >= set(evidence):
        raise RealtalkError("evidence names no message", where=here)
    return {**fields, "evidence": evidence}


def merge_fields(body: Body, fields: Mapping[str, Any]) -> Body:
    """A body with changed fields. New evidence makes what the file stated void."""
    new = {**body, **fields}
    if new.get("evidence") != body.get("evidence"):
        new.pop("stated", None)
        new.pop("unresolved", None)
    return new


def body_of(noted: Event | Question) -> Body:
    """An event or question of the chat as an item's body, with what its file says beyond the form.

    An event of nobody has an empty speaker.
    """
    kind: ItemKind = "event" if isinstance(noted, Event) else "question"
    beyond = {name: value for name in _BEYOND if (value := getattr(noted, name, None))}
    fields = {name: getattr(noted, name) for name in BLANKS[kind]} | beyond
    body = {
        name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
    }
    return body | {"speaker": body["speaker"] or ""} if kind == "event" else body


def event_of(body: Body) -> Event:
    """The way back from `body_of`."""
    return Event(**body | {"speaker": body["speaker"] or None})


def question_of(body: Body, id_: str) -> Question:
    """The way back from `body_of`; questions are numbered when they are written."""
    fields: Body = {
        name: tuple(value) if isinstance(value, list) else value for name, value in body.items()
    }
    return Question(id_, **fields)


class _EventBody(BaseModel):
    session: int
    speaker: str
    text: str
    date: str
    extra: str = ""


class _QuestionBody(BaseModel):
    text: str
    answer: str | None
    category: str
    evidence: list[str]
    extra: str = ""
    stated: list[str] = []
    unresolved: list[str] = []


_TYPES: Mapping[str, type[BaseModel]] = {"event": _EventBody, "question": _QuestionBody}
# What an item holds before anything is put into it.
BLANKS: Mapping[str, Body] = {
    "event": {"session": 0, "speaker": "", "text": "", "date": ""},
    "question": {"text": "", "answer": "", "category": "", "evidence": []},
}
# What the chat's own file may say beyond the form.
_BEYOND = ("extra", "stated", "unresolved")


def check_types(kind: str, body: Any) -> None:
    """Raises where a body lacks a field or holds something else than it, without its words."""
    try:
        _TYPES[kind].model_validate(body, strict=True)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise RealtalkError(f"the {kind} cannot be kept (no proper {field})") from None


def dump_body(kind: str, body: Mapping[str, Any]) -> str:
    """A body as it is stored, or an error where it could not be read back."""
    check_types(kind, body)
    try:
        return orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # half of a pair of surrogates, or a number beyond 64 bits
        raise RealtalkError(f"the {kind} holds something that is not text") from error
