"""What annotators make: items with versions, and the rules for what an item may hold.

    StudioItem("q3f9", "Chat_1", "question", "Ana", 2,
               {"text": "Where did Mara move?", "answer": "Porto", "category": "multi_hop",
                "evidence": ["D1:2"]})
    cleaned("event", {"session": 3, "speaker": "Mara", "text": "Mara moves."}, chat, categories)
    → the same, checked: sessions, speakers, categories and evidence exist, lengths are bounded

An item's body is plain JSON. It keeps what the chat's own file said beyond the form
(`stated`, `unresolved`, `extra`), so that an export gives it back.

    flaw("event", {"text": "Mara moves."})       → "no session"
    dumped("event", {"text": "Mara moves."})     raises; what cannot be read back is never stored

Everything that is stored goes through `dumped`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson

from realtalk.chat import Chat, Event, Question
from realtalk.errors import RealtalkError

ItemKind = Literal["event", "question"]
Body: TypeAlias = dict[str, Any]

CORPUS = "corpus"  # what came with the chat
FINAL = "final"  # what was agreed on
RESERVED = (CORPUS, FINAL)

_LONGEST_TEXT = 4_000
_LONGEST_DATE = 100
_LONGEST_NAME = 60
_MOST_EVIDENCE = 500


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


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two changes of one item that do not go together: what is there, and what came; both kept."""

    current: StudioItem
    kept: StudioItem | None  # None where the change was a removal: there is nothing to keep


def checked_name(name: str) -> str:
    """An annotator's name, or an error that says what is wrong with it."""
    name = " ".join(name.split())
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise RealtalkError(
            "an annotator needs a name", fix=f"one line, at most {_LONGEST_NAME} characters"
        )
    if name.casefold() in RESERVED:
        raise RealtalkError(f"'{name}' is not a person's name here", fix="choose another")
    return name


def cleaned(
    kind: ItemKind,
    given: Mapping[str, Any],
    chat: Chat,
    categories: Collection[str],
    before: Mapping[str, Any] | None = None,
) -> Body:
    """The fields of a form that are given, checked against the chat.

    What the item named `before` may stay: a chat may have lost a message since.
    """
    body: Body = {}
    for name, value in given.items():
        if name not in FIELDS[kind]:
            raise RealtalkError(
                f"a {kind} has no field of that name", fix=f"known: {', '.join(FIELDS[kind])}"
            )
        body[name] = _field(kind, name, value, chat, categories, before or {})
    return body


def _field(
    kind: ItemKind,
    name: str,
    value: Any,
    chat: Chat,
    categories: Collection[str],
    before: Mapping[str, Any],
) -> Any:
    if name == "session":
        numbers = {session.number for session in chat.sessions}
        if isinstance(value, bool) or not isinstance(value, int) or value not in numbers:
            raise RealtalkError("no such session", where=f"chat {chat.id}")
        return value
    if name == "evidence":
        return _evidence(value, chat, before.get(name, ()))
    if name == "answer" and value is None:
        return None
    if not isinstance(value, str):
        raise RealtalkError(f"the {kind}'s {name} is not a text")
    longest = _LONGEST_DATE if name == "date" else _LONGEST_TEXT
    if len(value) > longest:
        raise RealtalkError(f"the {kind}'s {name} is longer than {longest:,} characters")
    if name == "speaker" and value not in chat.speakers:
        raise RealtalkError("no such speaker", where=f"chat {chat.id}")
    if name == "category" and value and value not in categories:
        raise RealtalkError("no such category", fix=f"known: {', '.join(categories)}")
    return value


def _evidence(value: Any, chat: Chat, before: Collection[str]) -> list[str]:
    if not isinstance(value, list) or len(value) > _MOST_EVIDENCE:
        raise RealtalkError(f"evidence is a list of at most {_MOST_EVIDENCE} message ids")
    for id_ in value:
        if not isinstance(id_, str) or not (id_ in chat.by_id or id_ in before):
            raise RealtalkError("evidence names no message", where=f"chat {chat.id}")
    return list(dict.fromkeys(value))


def merged(body: Body, fields: Mapping[str, Any]) -> Body:
    """A body with changed fields. New evidence makes what the file stated void."""
    new = {**body, **fields}
    if new.get("evidence") != body.get("evidence"):
        new.pop("stated", None)
        new.pop("unresolved", None)
    return new


def event_body(event: Event) -> Body:
    """An event of the chat as an item's body."""
    return _body("event", event) | {"speaker": event.speaker or ""}


def question_body(question: Question) -> Body:
    """A question of the chat as an item's body."""
    return _body("question", question)


def _body(kind: ItemKind, source: Event | Question) -> Body:
    """The fields of the form, and what the file says beyond them."""
    fields = {name: getattr(source, name) for name in FIELDS[kind]}
    beyond = {name: value for name in BEYOND if (value := getattr(source, name, None))}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in (fields | beyond).items()
    }


def event_of(body: Body) -> Event:
    """The way back from `event_body`."""
    return Event(
        body["session"],
        body["speaker"] or None,
        body.get("text", ""),
        date=body.get("date", ""),
        extra=body.get("extra", ""),
    )


def question_of(body: Body, id_: str) -> Question:
    """The way back from `question_body`; questions are numbered when they are written."""
    return Question(
        id_,
        body.get("text", ""),
        body.get("answer"),
        body.get("category", ""),
        tuple(body.get("evidence", ())),
        tuple(body.get("unresolved", ())),
        tuple(body.get("stated", ())),
        extra=body.get("extra", ""),
    )


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# What a body cannot do without: how it must be, and what stands for it where nobody knows it.
FIELDS: Mapping[str, Mapping[str, tuple[Callable[[Any], bool], Any]]] = {
    "event": {
        "session": (_number, 0),
        "speaker": (_text, ""),
        "text": (_text, ""),
        "date": (_text, ""),
    },
    "question": {
        "text": (_text, ""),
        "answer": (lambda value: value is None or isinstance(value, str), ""),
        "category": (_text, ""),
        "evidence": (_texts, []),
    },
}
# What the chat's own file may say beyond the form.
BEYOND = {"extra": _text, "stated": _texts, "unresolved": _texts}


def blank(kind: str) -> dict[str, Any]:
    """What an item holds before anything is put into it."""
    return {name: unknown for name, (_, unknown) in FIELDS[kind].items()}


def flaw(kind: str, body: Any) -> str | None:
    """What is wrong with a body, without its words; None where all is well."""
    if kind not in FIELDS or not isinstance(body, dict):
        return "not an annotation"
    for name, (fits, _) in FIELDS[kind].items():
        if name not in body:
            return f"no {name}"
        if not fits(body[name]):
            return f"no proper {name}"
    for name, fits in BEYOND.items():
        if name in body and not fits(body[name]):
            return f"no proper {name}"
    return None


def dumped(kind: str, body: Mapping[str, Any]) -> str:
    """A body as it is stored, or an error where it could not be read back."""
    wrong = flaw(kind, body)
    if wrong is not None:
        raise RealtalkError(f"the {kind} cannot be kept ({wrong})")
    try:
        return orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError as error:  # half of a pair of surrogates, or a number beyond 64 bits
        raise RealtalkError(f"the {kind} holds something that is not text") from error
