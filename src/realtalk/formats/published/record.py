"""The frozen values as plain JSON records and back, without loss.

    record(Message("D1:2", "Mara", datetime(2026, 3, 2, 18, 4), "hey"))
    → {"id": "D1:2", "speaker": "Mara", "time": "2026-03-02T18:04:00", "text": "hey"}
    restore(Message, {...}, where)  → the same Message
    differences(target, actual)     → {"time": ...}: only the fields that differ
    amend(actual, {"time": ...})    → target

JSON Lines stores whole records. A writer for somebody else's layout stores, under the
key `realtalk`, only what that layout cannot say (`differences`), and its reader puts it
back (`amend`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

from realtalk.chat import (
    Alias,
    Attachment,
    Chat,
    Corpus,
    Event,
    EventKind,
    Message,
    Question,
    Session,
    pack_extra,
)
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import Fields, as_list, mapping
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.text.written_days import parse_spelled

# Chats from several files → one reading.
#
# parts = [_chats(member) for member in options.in_turn(source.having(".json"))]
# gather(source, "realtalk", parts)
# → Reading: chats "Chat_1", "Chat_1-2"; the ledgers added up


Part = tuple[list[Chat], Ledger]  # of a corpus: what was read of one file


def members_ending(source: Source, suffixes: tuple[str, ...], missing: str) -> Sequence[Member]:
    """The files with one of these endings; a file that stands alone may have any."""
    members = source.having(*suffixes) or source.members
    if len(members) > 1 and members is source.members:
        raise source.error(missing)
    return members


def folders_with(source: Source, names: Collection[str]) -> dict[str, dict[str, Member]]:
    """The files of these names, by their folders and names; .gz copies count."""
    folders: dict[str, dict[str, Member]] = {}
    for member in source.members:
        name = member.name.lower().removesuffix(".gz").rpartition("/")[2]
        if name in names:
            folders.setdefault(member.folder, {}).setdefault(name, member)
    return folders


def by_number(member: Member) -> list[int]:
    """Sorts Chat_2 before Chat_10: people number their chats, and tables follow this order."""
    return [int(part) if part.isdecimal() else 0 for part in re.split(r"(\d+)", member.name)]


def gather(
    source: Source,
    format_name: str,
    parts: Sequence[Part],
    notes: Iterable[str] = (),
    *,
    unit: str = "entries",
    name: str | None = None,
) -> ReadCorpus:
    """One corpus of the chats of all files, with unique ids: two files may have one name."""
    ledger = Ledger.sum([ledger for _, ledger in parts], unit)
    if not ledger.in_messages:
        raise source.error("holds no message that can be read")
    ids = UniqueNames("{}-{}")
    unique = tuple(replace(chat, id=ids.free(chat.id)) for chats, _ in parts for chat in chats)
    corpus = Corpus(source.name if name is None else name, format_name, unique)
    return ReadCorpus(corpus=corpus, ledger=ledger, notes=tuple(notes))


def corpus_format(
    title: str,
    name: str,
    files: FormatFiles,
    read_part: Callable[[Member], Part],
    write: Callable[[Corpus, Path], tuple[Path, ...]] | None = None,
) -> Format:
    """The format of a corpus whose files are read one by one."""

    def read(source: Source, options: ReadOptions) -> ReadCorpus:
        members = sorted(files.members(source), key=by_number)
        return gather(source, name, [read_part(member) for member in options.in_turn(members)])

    return Format(title, files.sniff, read, write)


def chat_part(
    id_: str, sessions: Iterable[Session], questions: Iterable[Question], rest: Sequence[Leftover]
) -> Part:
    """One chat of what was said and asked, with the count of that and of what is left over."""
    chat = make_chat(id_, sessions, questions)
    return [chat], Ledger.of(len(chat.messages), rest)


def make_chat(id_: str, sessions: Iterable[Session], questions: Iterable[Question] = ()) -> Chat:
    """A chat whose speakers are those who speak in it, in the order of their first words."""
    chat = Chat(id_, (), tuple(sessions), (), tuple(questions))
    speakers = tuple(dict.fromkeys(message.speaker for message in chat.messages))
    return replace(chat, speakers=speakers)


def spoken_turns(
    turns: Any, session: int, where: str, rest: list[Leftover], who: str = "role"
) -> Iterator[tuple[Fields, Message]]:
    """Turns of a session that say something, each with its message; others are left over."""
    count = 0
    for at, turn in enumerate(as_list(turns)):
        speaker, text = (mapping(turn).get(key) for key in (who, "content"))
        if isinstance(speaker, str) and isinstance(text, str):
            count += 1
            yield turn, Message(f"D{session}:{count}", speaker, None, text)
        else:
            rest.append(Leftover(f"{where}[{at}]", f"has no {who} or no content"))


def known_evidence(stated: Iterable[str], known: Container[str]) -> Fields:
    """What a question names: the messages that are known, what is not, and all as it stands."""
    names = tuple(dict.fromkeys(stated))
    evidence = tuple(name for name in names if name in known)
    unresolved = tuple(name for name in names if name not in known)
    return {"evidence": evidence, "unresolved": unresolved, "stated": names}


def spelled_time(value: Any) -> datetime | None:
    """The time that a text spells; midnight of a day without a clock."""
    return parse_spelled(f"{value} 00:00") if isinstance(value, str) else None


def undated_notes(count: int) -> tuple[str, ...]:
    """What a reading says about time stamps that it could not read."""
    return (f"{count:,} time stamps could not be read; those messages have none",) if count else ()


KEY = "realtalk"  # where a foreign layout carries what it has no field for
_DEEPEST = 200  # the JSON writer stops at 254, and layouts wrap an extra in a few levels
LARGEST_SESSION = 2**31 - 1  # what the stored column holds

T = TypeVar("T", Message, Session, Event, Question, Alias, Attachment, Chat)


def extra_of(values: Mapping[str, Any], where: str) -> str:
    """`pack_extra` for values of unknown origin: absurd nesting is an error, not a crash."""
    try:
        text = pack_extra(values)
        # Brackets bound the depth, so the exact look is rarely needed.
        if text.count("[") + text.count("{") <= _DEEPEST or not _deeper(values):
            return text
    except (RecursionError, ValueError):
        pass
    raise RealtalkError("holds values nested too deeply to keep", where=where)


def _deeper(values: Any) -> bool:
    """Whether anything lies below the deepest level that writers can take."""
    level = [values]
    for _ in range(_DEEPEST):
        below: list[Any] = []
        for value in level:
            below += value.values() if isinstance(value, dict) else value
        level = [value for value in below if isinstance(value, dict | list)]
    return bool(level)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return record(value) if is_dataclass(value) else value


def record(value: Any, *, full: bool = False) -> Fields:
    """Every field of a value that is not at its default (`full`: every field), as JSON."""
    return {
        field.name: _plain(getattr(value, field.name))
        for field in fields(value)
        if full or field.default is MISSING or getattr(value, field.name) != field.default
    }


def differences(target: T, actual: T) -> Fields:
    """The fields of `target` that differ in `actual`, as JSON."""
    return {
        field.name: _plain(getattr(target, field.name))
        for field in fields(target)
        if getattr(target, field.name) != getattr(actual, field.name)
    }


_UNFIT = (TypeError, ValueError, RecursionError, AttributeError)  # what a decoder may raise
_Decoder = Callable[[Any], Any]


def _exactly(kind: type[Any], value: Any) -> Any:
    if type(value) is not kind or (kind is int and abs(value) > LARGEST_SESSION):
        raise TypeError
    return value


def _time(value: Any) -> datetime:
    return datetime.fromisoformat(_exactly(str, value)).replace(tzinfo=None)


def _extra(value: Any) -> Any:
    if value != "":
        _exactly(dict, json.loads(_exactly(str, value)))
    return value


def _decode(kind: type[T], data: Any) -> T:
    data = _exactly(dict, data)  # a field without default that is missing is a TypeError, too
    return kind(**{key: take(data[key]) for key, take in _FIELDS[kind].items() if key in data})


_VALUES: tuple[type[Any], ...] = (Attachment, Alias, Message, Session, Event, Question)
_DECODERS: Mapping[str, _Decoder] = {
    "datetime": _time,
    "EventKind": lambda value: get_args(EventKind)[get_args(EventKind).index(value)],
    **{kind.__name__: partial(_exactly, kind) for kind in (str, bool, int)},
    **{kind.__name__: partial(_decode, kind) for kind in _VALUES},
}


def _decoder(field: Field[Any]) -> _Decoder:
    """How the value of a field is read, by its type: `str`, `str | None`, `tuple[str, ...]`."""
    if field.name == "extra":
        return _extra
    kind = str(field.type)
    inner = kind.removeprefix("tuple[").removesuffix(", ...]").removesuffix(" | None")
    decode = _DECODERS[inner]

    def optional(value: Any) -> Any:
        return None if value is None else decode(value)

    def several(value: Any) -> tuple[Any, ...]:
        return tuple(map(decode, _exactly(list, value)))

    return decode if kind == inner else several if kind.startswith("tuple") else optional


_FIELDS: Mapping[type[Any], Mapping[str, _Decoder]] = {
    kind: {field.name: _decoder(field) for field in fields(kind)} for kind in (*_VALUES, Chat)
}


def restore(kind: type[T], data: Any, where: str) -> T:
    """The value of a record; keys that are no field are passed over."""
    try:
        return _decode(kind, data)
    except _UNFIT as error:
        raise RealtalkError(f"is not a {kind.__name__.lower()} record", where=where) from error


def amend(value: T, data: Any, where: str) -> T:
    """The value with a record's fields in place of its own."""
    if data is None:
        return value
    if not isinstance(data, dict):
        raise RealtalkError(f"'{KEY}' is not a record", where=where)
    decoders = _FIELDS[type(value)]
    try:
        return replace(
            value, **{name: decoders[name](item) for name, item in data.items() if name in decoders}
        )
    except _UNFIT as error:
        raise RealtalkError(f"'{KEY}' holds a value of the wrong kind", where=where) from error
