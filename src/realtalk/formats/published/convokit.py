"""A ConvoKit corpus, as folder or zip, to a Corpus and back: one chat per conversation.

    utterances.jsonl    {"id": "u2", "conversation_id": "u1", "speaker": "mara", "text": "hey",
                         "reply-to": "u1", "timestamp": 1772474640, "meta": {"score": 3}}
    speakers.json       {"mara": {"meta": {"age": 31}, "vectors": []}}
    conversations.json  {"u1": {"meta": {"title": "…"}, "vectors": []}}
    corpus.json, index.json

    → Chat("u1", ("mara", …)) with Message("u2", "mara", …, reply_to="u1", extra='{"score":3}')

The older names are read too: `users.json`, and `user`, `root`, `reply_to` in utterances.
Utterance ids stay as they are. A message's extra is its meta, a chat's extra its
conversation's meta; vectors and the speakers' meta are under `convokit` in them (the first
chat also carries corpus.json). Conversations are cut into sessions at pauses. What ConvoKit
has no place for, such as events and questions, is written into the meta under `realtalk`
and found there again. Binary (pickled) meta is never opened.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus, Message, Session, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.files.writing import write_text
from realtalk.formats.json_input import (
    BLANK,
    NOT_TEXT,
    Fields,
    Zone,
    as_list,
    head_keys,
    json_lines,
    load,
    load_list,
    mapping,
    odd_at,
    text_of,
    without,
    word_set,
    zone,
)
from realtalk.formats.published.record import (
    KEY,
    Part,
    amend,
    differences,
    extra_of,
    folders_with,
    gather,
    make_chat,
    undated_notes,
)
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import Gap, cut_at_pauses
from realtalk.formats.source import Member, Source, matching
from realtalk.text.written_days import parse_stamp

# ConvoKit's utterances and conversations to frozen values and back.
#
#     _message({"text": "hey", "timestamp": 1772474640, "meta": {"score": 3}}, "u2", "mara", …)
#     _chat("u1", messages, meta, …) → Chat("u1", ("mara",), sessions cut at pauses, …)
#     utterance_entry(message, "u2", "u1", names) → the utterance that reads back as the message
#
# `realtalk` in a meta amends what was read; `convokit` in an extra holds what is not meta.

_OWN = "convokit"
_EPOCH = datetime(1970, 1, 1)
_READ = word_set("""
    id speaker user conversation_id root reply-to reply_to timestamp text meta
    """)


def meta_of(entry: Any) -> tuple[Fields, list[Any]]:
    """(meta, vectors) of a speaker or conversation; older files hold the bare meta."""
    if not isinstance(entry, dict):
        return {}, []
    if "meta" in entry and set(entry) <= {"meta", "vectors"}:
        return mapping(entry["meta"]), as_list(entry.get("vectors"))
    return entry, []


def _extra(meta: Fields, beyond: Fields, where: str) -> str:
    fields = without(meta, (KEY,))
    if more := {key: value for key, value in beyond.items() if value not in (None, [], {})}:
        fields[_OWN] = more
    return extra_of(fields, where)


def _message(fields: Fields, id_: str, speaker: str, tz: Zone, where: str) -> Message:
    meta = mapping(fields.get("meta"))
    reply = fields["reply-to"] if "reply-to" in fields else fields.get("reply_to")
    beyond = without(fields, _READ)
    message = Message(
        id_,
        speaker,
        parse_stamp(fields.get("timestamp"), tz),
        text_of(fields.get("text")),
        reply_to=None if reply is None else str(reply),
        extra=_extra(meta, beyond, where),
    )
    return amend(message, meta.get(KEY), where)


def _chat(id_: str, messages: list[Message], meta: Fields, beyond: Fields, gap: Gap) -> Chat:
    """The messages of one conversation, with what is known about it."""
    own = mapping(meta.get(KEY))
    where = f"conversation {id_}"
    sessions = _laid_out(messages, own.get("layout"), where)
    if sessions is None:
        sessions = tuple(
            Session(number, group[0].time, tuple(group))
            for number, group in enumerate(cut_at_pauses(messages, gap), 1)
        )
    chat = make_chat(id_, sessions)
    speakers = beyond.get("speakers") or {}
    about = {name: speakers[name] for name in chat.speakers if any(meta_of(speakers.get(name)))}
    extra = _extra(meta, {**beyond, "speakers": about}, where)
    return amend(replace(chat, extra=extra), own, where)


def _laid_out(messages: list[Message], layout: Any, where: str) -> tuple[Session, ...] | None:
    """Sessions as they were written along: [number, time, how many messages] each."""
    if layout is None:
        return None
    sessions = []
    start = 0
    for entry in layout if isinstance(layout, list) else [None]:
        if not (isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], int)):
            raise RealtalkError(f"'{KEY}' holds no layout of sessions", where=where)
        stop = start + max(0, entry[2])
        session = Session(0, None, tuple(messages[start:stop]))
        sessions.append(amend(session, {"number": entry[0], "time": entry[1]}, where))
        start = stop
    # Utterances added since then are not dropped.
    if rest := tuple(messages[start:]):
        number = max((session.number for session in sessions), default=0) + 1
        sessions.append(Session(number, rest[0].time, rest))
    return tuple(sessions)


def _stamp(time: datetime | None) -> int | float | None:
    if time is None:
        return None
    seconds = (time - _EPOCH).total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _split_extra(extra: str) -> tuple[Fields, Fields]:
    """(meta, what is not meta) of an extra."""
    meta = unpack_extra(extra)
    own = meta.pop(_OWN, None)
    if isinstance(own, dict):
        return meta, own
    return (meta if own is None else {**meta, _OWN: own}), {}


def utterance_entry(
    message: Message, name: str, conversation: str, names: Mapping[str, str]
) -> Fields:
    """The utterance called `name` that reads back as this very message."""
    meta, beyond = _split_extra(message.extra)
    entry: Fields = {
        **without(beyond, _READ),
        "id": name,
        "conversation_id": conversation,
        "text": message.text,
        "speaker": message.speaker,
        "meta": without(meta, (KEY,)),
        "reply-to": None if message.reply_to is None else names.get(message.reply_to),
        "timestamp": _stamp(message.time),
    }
    entry.setdefault("vectors", [])
    read_back = _message(entry, name, message.speaker, None, name)
    if change := differences(message, read_back):
        entry["meta"] = {**entry["meta"], KEY: change}
    return entry


def chat_entry(chat: Chat, entries: list[Fields], shared: Fields) -> Fields:
    """The entry of conversations.json with which the utterances read back as this chat."""
    meta, beyond = _split_extra(chat.extra)
    meta.pop(KEY, None)
    vectors = as_list(beyond.get("vectors"))
    messages = [_message(entry, entry["id"], entry["speaker"], None, chat.id) for entry in entries]
    context, gap = {"vectors": vectors, **shared}, ReadOptions().gap
    read_back = _chat(chat.id, messages, meta, context, gap)
    own: Fields = {}
    if read_back.sessions != chat.sessions or not entries:
        own["layout"] = [
            [session.number, session.time and session.time.isoformat(), len(session.messages)]
            for session in chat.sessions
        ]
        # The layout changes who speaks first, too.
        read_back = _chat(chat.id, messages, {**meta, KEY: dict(own)}, context, gap)
    own |= differences(chat, read_back)
    own.pop("sessions", None)
    return {"meta": {**meta, KEY: own} if own else meta, "vectors": vectors}


_UTTERANCES = ("utterances.jsonl", "utterances.json")
_BESIDE = ("speakers.json", "users.json", "conversations.json", "corpus.json", "index.json")
_MARKS = ({"conversation_id", "root"}, {"speaker", "user"}, {"reply-to", "reply_to"})


def _folders(source: Source) -> dict[str, dict[str, Member]]:
    """The files of each folder that holds utterances, by their plain names."""
    folders = folders_with(source, (*_UTTERANCES, *_BESIDE))
    return {folder: files for folder, files in folders.items() if set(files) & set(_UTTERANCES)}


def _sniff(source: Source) -> bool:
    folders = _folders(source).values()
    if any(set(files) & set(_BESIDE) for files in folders):
        return True
    alone = Source(source.path, tuple(next(iter(files.values())) for files in folders))
    return any(matching(alone, (".jsonl", ".json"), _is_ours))


def _is_ours(member: Member) -> bool:
    keys = head_keys(member)
    return all(keys & marks for marks in _MARKS)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    folders = _folders(source)
    if not folders and len(source.members) == 1:
        folders = {"": {_UTTERANCES[0]: source.members[0]}}
    if not folders:
        raise source.error("no utterances.jsonl found")
    parts: list[Part] = []
    names = UniqueNames("{}~{}")
    notes: list[str] = []
    origin = {"name": source.name, "format": "convokit"}
    for files in folders.values():
        about = _mapping(files.get("corpus.json"))
        own = mapping(about.pop(KEY, None))
        stated = {key: own.get(key, value) for key, value in origin.items()}
        if len(folders) == 1 and all(isinstance(text, str) for text in stated.values()):
            origin = stated  # as they were written along
        parts.append(_read_folder(files, about, options, names, notes))
    return gather(source, origin["format"], parts, notes, name=origin["name"])


def _read_folder(
    files: Mapping[str, Member],
    about: Fields,
    options: ReadOptions,
    names: UniqueNames,
    notes: list[str],
) -> Part:
    """The chats of one ConvoKit folder, in the order of conversations.json, others after them."""
    speakers = _mapping(files.get("speakers.json") or files.get("users.json"))
    conversations = _mapping(files.get("conversations.json"))
    member = files.get(_UTTERANCES[0]) or files[_UTTERANCES[1]]
    tz = zone(options.timezone)
    ids = UniqueNames("{}~{}")
    messages: dict[str, list[Message]] = {}
    leftovers: list[Leftover] = []
    total = undated = renamed = 0
    for total, (place, entry) in enumerate(_entries(member), 1):
        where = f"{member.name}{place}"
        if total % 100_000 == 0:
            options.progress(total, 0, "utterances")
        fields = mapping(entry)
        stated, speaker = _name(fields, "id"), _name(fields, "speaker", "user")
        if stated is None or speaker is None:
            leftovers.append(Leftover(where, "has no id or no speaker"))
        elif odd_at(fields, "text"):
            leftovers.append(Leftover(where, f"{NOT_TEXT} (utterance {stated})"))
        else:
            id_ = ids.free(stated)
            renamed += id_ != stated
            message = _message(fields, id_, speaker, tz, where)
            undated += message.time is None and fields.get("timestamp") not in (None, "")
            key = _name(fields, "conversation_id", "root") or stated
            messages.setdefault(key, []).append(message)
    chats: list[Chat] = []
    for key in dict.fromkeys((*conversations, *messages)):
        meta, vectors = meta_of(conversations.get(key))
        # Without utterances, and not written by us, there is nothing to make a chat of.
        if key in messages or KEY in meta:
            context = {"vectors": vectors, "speakers": speakers, "corpus": {} if chats else about}
            chats.append(_chat(names.free(key), messages.get(key, []), meta, context, options.gap))
    notes += undated_notes(undated)
    if renamed:
        notes.append(f"{renamed:,} utterances repeat an id and got a new one")
    return chats, Ledger.of(total - len(leftovers), leftovers)


def _name(fields: Fields, *names: str) -> str | None:
    """An id under the first of these names; numbers have been used as ids too."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return None


def _mapping(member: Member | None) -> Fields:
    data = load(member) if member else {}
    if member and not isinstance(data, dict):
        raise member.error("is not a mapping of ids")
    return mapping(data)


def _entries(member: Member) -> Iterator[tuple[str, Any]]:
    """Utterances with their place; what is no utterance is left to the caller."""
    if member.suffix == ".json":
        yield from ((f"[{index}]", entry) for index, entry in enumerate(load_list(member)))
        return
    for number, value in json_lines(member):
        if value is not BLANK:
            yield f":{number}", value


def _write(corpus: Corpus, folder: Path) -> tuple[Path, ...]:
    """The five files; ids that two chats share are made unique, as ConvoKit needs."""
    used = Counter(message.id for chat in corpus.chats for message in chat.messages)
    # What chats carry of speakers.json and corpus.json; one file each serves all chats.
    carried = [_split_extra(chat.extra)[1] for chat in corpus.chats]
    about_speakers: Fields = {}
    for beyond in carried:
        about_speakers |= mapping(beyond.get("speakers"))
    about = dict(mapping(carried[0].get("corpus"))) if carried else {}
    about.pop(KEY, None)
    utterances: list[Fields] = []
    conversations: Fields = {}
    ids = UniqueNames("{}~{}")
    for chat in corpus.chats:
        unique = [ids.free(m.id if used[m.id] == 1 else f"{chat.id}/{m.id}") for m in chat.messages]
        # A reply may stand before what it answers: all names first.
        names = {m.id: name for m, name in reversed([*zip(chat.messages, unique, strict=True)])}
        entries = [
            utterance_entry(message, name, chat.id, names)
            for message, name in zip(chat.messages, unique, strict=True)
        ]
        shared = {"speakers": about_speakers, "corpus": {} if conversations else about}
        conversations[chat.id] = chat_entry(chat, entries, shared)
        utterances += entries
    everybody = (*corpus.speakers, *(entry["speaker"] for entry in utterances))
    speakers: Fields = {name: {"meta": {}, "vectors": []} for name in everybody} | about_speakers
    if (corpus.name, corpus.format) != (folder.resolve().name, "convokit"):
        about[KEY] = {"name": corpus.name, "format": corpus.format}
    index = {
        "utterances-index": _index(entry["meta"] for entry in utterances),
        "speakers-index": _index(meta_of(entry)[0] for entry in speakers.values()),
        "conversations-index": _index(entry["meta"] for entry in conversations.values()),
        "overall-index": _index([about]),
        "version": 1,
        "vectors": [],
    }
    # ASCII escapes, as ConvoKit writes them: it reads with the machine's own encoding.
    texts = {
        "utterances.jsonl": "".join(json.dumps(entry) + "\n" for entry in utterances),
        "speakers.json": json.dumps(speakers),
        "conversations.json": json.dumps(conversations),
        "corpus.json": json.dumps(about),
        "index.json": json.dumps(index),
    }
    return tuple(write_text(folder / name, text) for name, text in texts.items())


def _index(metas: Iterable[Fields]) -> dict[str, list[str]]:
    """Which types each meta key has, in ConvoKit's own words."""
    index: dict[str, list[str]] = {}
    for key, value in chain.from_iterable(meta.items() for meta in metas):
        if (kind := str(type(value))) not in index.setdefault(key, []):
            index[key].append(kind)
    return index


FORMAT = Format("ConvoKit corpus", _sniff, _read, _write)
