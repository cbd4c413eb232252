"""REALTALK's published JSON, one file per chat, to a Corpus and back.

    {"name": {"speaker_1": "Mara", "speaker_2": "Theo"},
     "session_1": [{"clean_text": "hey", "speaker": "Mara", "dia_id": "D1:1",
                    "date_time": "02.03.2026, 18:03:12", "img_file": [], "img_url": []}],
     "events_session_1": {"agent_a": [{"sub-event": "Mara moves.", "id": "E", ...}], "agent_b": []},
     "session_1_date_time": "02.03.2026, 18:03:12",
     "qa": [{"question": ..., "answer": ..., "evidence": ["D1:1"], "category": 2}]}

Quirks kept in mind: `events_session_N` is no session; the D-number of a message id is not
always its session's number; a photo and its `_opt` copy are one picture; one caption serves
all pictures of a message; an event may be empty or carry its text as its id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from realtalk.chat import (
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Session,
    pack_extra,
    unpack_extra,
)
from realtalk.errors import RealtalkError
from realtalk.files.writing import file_stems, write_json
from realtalk.formats.aliases import learn
from realtalk.formats.json_input import Fields, load, text_of, with_keys
from realtalk.formats.published.record import Part, corpus_format
from realtalk.formats.questions import annotated_question, name_of, number_of
from realtalk.formats.reading import Ledger, Leftover
from realtalk.formats.source import FormatFiles, Member

TIME = "%d.%m.%Y, %H:%M:%S"
_SESSION = re.compile(r"session_([0-9]{1,9})")  # nine digits fit the stored column
_AGENTS = ("agent_a", "agent_b")
_OPT = re.compile(r"_opt(?=\.\w+$)")


def parse_time(text: object, form: str = TIME) -> datetime | None:
    """`DD.MM.YYYY, HH:MM:SS`, or None."""
    try:
        return datetime.strptime(str(text).strip(), form)
    except ValueError:
        return None


_FILES = FormatFiles(
    (".json",), with_keys("session_1 speaker_1", "clean_text dia_id"), "no REALTALK chat found"
)


def _chat(member: Member) -> Part:
    data = load(member)
    if not isinstance(data, dict) or not isinstance(data.get("name"), dict):
        raise member.error("has no speakers under 'name'")
    speakers = tuple(text_of(value) for value in data["name"].values())
    sessions: list[Session] = []
    leftovers: list[Leftover] = []
    for number, entries in _sessions_by_number(data, member):
        messages = []
        for index, entry in enumerate(entries):
            message = _message(entry)
            if message is None:
                where = f"{member.name}: session_{number}[{index}]"
                leftovers.append(Leftover(where, "has no speaker, text or id"))
            else:
                messages.append(message)
        stamp = parse_time(data.get(f"session_{number}_date_time"))
        first = messages[0].time if messages else None
        sessions.append(Session(number, stamp or first, tuple(messages)))
    listed = frozenset(speakers)
    speakers += tuple(
        {m.speaker: None for s in sessions for m in s.messages if m.speaker not in listed}
    )
    ids = {message.id for session in sessions for message in session.messages}
    events = tuple(_events(data, speakers, [session.number for session in sessions]))
    questions = tuple(_questions(data, ids))
    aliases = learn(speakers, sessions, events, questions)
    chat = Chat(member.stem, speakers, tuple(sessions), events, questions, aliases)
    return [chat], Ledger.of(len(chat.messages), leftovers)


def _sessions_by_number(data: Fields, member: Member) -> Iterator[tuple[int, list[Any]]]:
    sessions = []
    for key, value in data.items():
        if match := _SESSION.fullmatch(key):
            if not isinstance(value, list):
                raise member.error(f"'{key}' is not a list of messages")
            sessions.append((int(match[1]), value))
    if not sessions:
        raise member.error("has no session")
    yield from sorted(sessions, key=lambda entry: entry[0])


def _message(entry: Any) -> Message | None:
    if not isinstance(entry, dict):
        return None
    text, speaker, id_ = entry.get("clean_text"), entry.get("speaker"), entry.get("dia_id")
    if not (isinstance(text, str) and isinstance(speaker, str) and isinstance(id_, str)):
        return None
    files = [text_of(name) for name in _list(entry.get("img_file"))]
    links = [text_of(link) for link in _list(entry.get("img_url"))]
    names = tuple(dict.fromkeys(_OPT.sub("", name) for name in files))
    pictures = [Attachment("image", name) for name in names]
    pictures += [Attachment("image", url=link) for link in links]
    extra: Fields = {}
    if caption := text_of(entry.get("blip_caption")):
        if pictures:
            head = pictures[0]
            pictures[0] = Attachment(head.kind, head.name, head.url, caption)
        else:
            extra["blip_caption"] = caption
    if files != list(names):
        extra["img_file"] = files  # which copies there were, for the way back
    time = parse_time(entry.get("date_time"))
    if time is None and entry.get("date_time"):
        extra["date_time"] = text_of(entry["date_time"])
    return Message(id_, speaker, time, text, tuple(pictures), extra=pack_extra(extra))


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else [value]


def _events(data: Fields, speakers: tuple[str, ...], sessions: list[int]) -> Iterator[Event]:
    for number in sessions:
        noted = data.get(f"events_session_{number}")
        if not isinstance(noted, dict):
            continue
        for agent, entries in noted.items():
            place = _AGENTS.index(agent) if agent in _AGENTS else None
            speaker = speakers[place] if place is not None and place < len(speakers) else agent
            for event in _list(entries):
                entry = event if isinstance(event, dict) else {"sub-event": text_of(event)}
                extra = {
                    key: value
                    for key, value in entry.items()
                    if key not in ("sub-event", "date") and (key, value) not in _PLAIN_EVENT
                }
                text, date = text_of(entry.get("sub-event")), text_of(entry.get("date"))
                yield Event(number, speaker, text, date=date, extra=pack_extra(extra))


_PLAIN_EVENT: tuple[tuple[str, Any], ...] = (("id", "E"), ("caused_by", []))


def _questions(data: Fields, ids: set[str]) -> Iterator[Question]:
    for index, entry in enumerate(_list(data.get("qa")), 1):
        if not isinstance(entry, dict):
            continue
        answer = entry.get("answer")
        yield annotated_question(
            f"Q{index}",
            text_of(entry.get("question")),
            None if answer is None else text_of(answer),
            name_of("realtalk", entry.get("category")),
            tuple(text_of(piece) for piece in _list(entry.get("evidence"))),
            ids,
        )


def _write(corpus: Corpus, folder: Path) -> tuple[Path, ...]:
    """One JSON file per chat; only two speakers fit the layout's agents."""
    return tuple(
        write_json(folder / f"{stem}.json", _chat_fields(chat))
        for stem, chat in zip(file_stems(corpus), corpus.chats, strict=True)
    )


def _chat_fields(chat: Chat) -> Fields:
    if len(chat.speakers) > len(_AGENTS):
        raise RealtalkError(
            f"has {len(chat.speakers)} speakers; the REALTALK layout holds two",
            where=f"chat {chat.id}",
            fix="export it with `to=jsonl` or convokit",
        )
    data: Fields = {
        "name": {f"speaker_{place}": name for place, name in enumerate(chat.speakers, 1)}
    }
    agents = dict(zip(chat.speakers, _AGENTS, strict=False))
    for session in chat.sessions:
        data[f"session_{session.number}"] = [_published_message(m) for m in session.messages]
        events: dict[str, list[Fields]] = {agent: [] for agent in _AGENTS}
        for event in chat.events:
            if event.kind == "event" and event.session == session.number:
                agent = agents.get(event.speaker or "", event.speaker or _AGENTS[0])
                entry = {"sub-event": event.text, "date": event.date, "id": "E", "caused_by": []}
                events.setdefault(agent, []).append({**entry, **unpack_extra(event.extra)})
        data[f"events_session_{session.number}"] = events
    for session in chat.sessions:
        data[f"session_{session.number}_date_time"] = stamp(session.time)
    data["qa"] = [
        {
            "question": question.text,
            "answer": question.answer,
            "evidence": list(question.stated or question.evidence),
            "category": number_of("realtalk", question.category) or question.category,
        }
        for question in chat.questions
    ]
    return data


def _published_message(message: Message) -> Fields:
    extra = unpack_extra(message.extra)
    entry: Fields = {
        "clean_text": message.text,
        "speaker": message.speaker,
        "date_time": extra.get("date_time") or stamp(message.time),
        "img_file": extra.get("img_file") or [a.name for a in message.attachments if a.name],
        "img_url": [a.url for a in message.attachments if a.url],
        "dia_id": message.id,
    }
    captions = [a.caption for a in message.attachments if a.caption]
    if caption := "; ".join(captions) or extra.get("blip_caption"):
        entry["blip_caption"] = caption
    return entry


def stamp(time: datetime | None) -> str:
    """`parse_time` backwards; "" for none."""
    return "" if time is None else time.strftime(TIME)


FORMAT = corpus_format("REALTALK JSON, as published", "realtalk", _FILES, _chat, _write)
