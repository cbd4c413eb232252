"""LoCoMo's JSON, the official list of samples or one sample per file, to a Corpus and back.

    [{"sample_id": "conv-1",
      "conversation": {"speaker_a": "Mara", "speaker_b": "Theo",
                       "session_1_date_time": "1:56 pm on 8 May, 2023",
                       "session_1": [{"speaker": "Mara", "dia_id": "D1:1", "text": "hey"}]},
      "qa": [{"question": ..., "answer": ..., "evidence": ["D1:1"], "category": 2}],
      "event_summary": {"events_session_1": {"Mara": ["..."], "Theo": [], "date": "8 May, 2023"}},
      "observation": {"session_1_observation": {"Mara": [["...", "D1:1"]], "Theo": []}},
      "session_summary": {"session_1_summary": "..."}}]
    → Chat("conv-1", ("Mara", "Theo"), ...) with Events of all three kinds

A sample alone in its file takes the file's name as chat id. Only sessions have a date:
messages have no time. A date without a session is not a session. Whatever the layout
says in another way than the model would (a number as answer, one url instead of a list,
an unknown key) is kept in `extra` as a patch, so the written file equals the one read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from realtalk.chat import (
    Attachment,
    Chat,
    Corpus,
    Event,
    EventKind,
    Message,
    Question,
    Session,
    unpack_extra,
)
from realtalk.errors import RealtalkError
from realtalk.files.writing import file_stems, write_json
from realtalk.formats.json_input import (
    Fields,
    as_list,
    drop_empty,
    head_text,
    load,
    mapping,
    text_of,
    without,
)
from realtalk.formats.published.record import (
    KEY,
    Part,
    amend,
    by_number,
    differences,
    extra_of,
    gather,
)
from realtalk.formats.questions import annotated_question, name_of, number_of, resolve
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.text.calendars import MONTHS
from realtalk.text.written_days import parse_spelled

# One entry of a LoCoMo sample to one frozen value and back.
#
#     {"speaker": "Mara", "dia_id": "D1:1", "text": "look", "img_url": ["https://…"],
#      "blip_caption": "a photo of a cat", "query": "cat"}
#     ↔ Message("D1:1", "Mara", None, "look", (Attachment("image", …),), extra='{"query":"cat"}')
#
# `extra` is the patch from the entry that the model's fields make to the entry that was
# read: keys of the layout that the model lacks, and values written in another type.

# Nine digits fit the stored column; "session_01" would not be written back as it was.
_NUMBER = r"(0|[1-9][0-9]{0,8})"
SESSION = re.compile(rf"session_{_NUMBER}")
SECTIONS: Mapping[str, tuple[EventKind, re.Pattern[str]]] = {
    "event_summary": ("event", re.compile(rf"events_session_{_NUMBER}")),
    "observation": ("observation", re.compile(rf"session_{_NUMBER}_observation")),
    "session_summary": ("summary", re.compile(rf"session_{_NUMBER}_summary")),
}
_ABSENT = "absent"


def parse_date(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, or None."""
    return parse_spelled(text.replace(" on ", " ")) if isinstance(text, str) else None


def _day(time: datetime) -> str:
    # Not strftime: its month names follow the machine's language.
    return f"{time.day} {MONTHS[time.month - 1]}, {time.year:04d}"


def format_date(time: datetime) -> str:
    """`parse_date` backwards; seconds have no place in the layout."""
    half = "am" if time.hour < 12 else "pm"
    return f"{time.hour % 12 or 12}:{time.minute:02d} {half} on {_day(time)}"


def patch(base: Fields, target: Fields) -> Fields:
    """What turns `base` into `target`; `apply_patch` applies it."""
    changes = {
        key: value
        for key, value in target.items()
        if key not in base or base[key] != value or type(base[key]) is not type(value)
    }
    absent = [key for key in base if key not in target]
    return {**changes, _ABSENT: absent} if absent else changes


def apply_patch(base: Fields, change: Fields) -> Fields:
    absent = change.get(_ABSENT)
    if not isinstance(absent, list):
        return {**base, **change}
    return without({**base, **without(change, (_ABSENT,))}, absent)


_Value = TypeVar("_Value", Message, Question)
_Part = TypeVar("_Part", Message, Question, Event)


def _entry(value: _Value, default: Fields, parse: Callable[[Any], _Value | None]) -> Fields:
    """The layout's entry that reads back as this very value."""
    try:
        full = apply_patch(default, unpack_extra(value.extra))
        if parse(full) == value:
            return full
    except RealtalkError:
        pass  # another format's extra: not a patch, so it travels as it is
    read_back = parse(default)
    assert read_back is not None
    return {**default, KEY: differences(value, read_back)}


def message_of(entry: Any, where: str) -> Message | None:
    """A turn, or None for what is none."""
    if not isinstance(entry, dict):
        return None
    id_, speaker, text = entry.get("dia_id"), entry.get("speaker"), entry.get("text")
    if not isinstance(id_, str) or not isinstance(speaker, str):
        return None
    if text is not None and not isinstance(text, str):
        return None
    links = entry.get("img_url")
    links = links if isinstance(links, list) else [links]
    pictures = [Attachment("image", url=url) for url in links if isinstance(url, str) and url]
    # One caption serves the message; it was made from its first picture.
    if isinstance(caption := entry.get("blip_caption"), str) and caption:
        first = pictures[0] if pictures else Attachment("image")
        pictures[:1] = [replace(first, caption=caption)]
    message = Message(id_, speaker, None, text or "", tuple(pictures))
    return _with_patch(message, _turn(message), entry, where)


def _with_patch(value: _Value, default: Fields, entry: Fields, where: str) -> _Value:
    change = patch(default, without(entry, (KEY,)))
    return amend(replace(value, extra=extra_of(change, where)), entry.get(KEY), where)


def _turn(message: Message) -> Fields:
    entry: Fields = {"speaker": message.speaker, "dia_id": message.id, "text": message.text}
    pictures = [file for file in message.attachments if file.kind == "image"]
    if urls := [file.url for file in pictures if file.url]:
        entry["img_url"] = urls
    if pictures and pictures[0].caption:
        entry["blip_caption"] = pictures[0].caption
    return entry


def question_of(entry: Any, id_: str, ids: set[str], where: str) -> Question | None:
    """A question, or None for what is none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
        return None
    evidence = entry.get("evidence")
    pieces = evidence if isinstance(evidence, list) else [] if evidence is None else [evidence]
    answer = entry.get("answer")
    question = annotated_question(
        id_,
        entry["question"],
        None if answer is None else text_of(answer),
        name_of("locomo", entry.get("category")),
        tuple(map(text_of, pieces)),
        ids,
    )
    return _with_patch(question, _qa(question), entry, where)


def _qa(question: Question) -> Fields:
    number = number_of("locomo", question.category)
    entry: Fields = {"question": question.text}
    if question.answer is not None:
        entry["answer"] = question.answer
    entry["evidence"] = list(question.stated or question.evidence)
    entry["category"] = question.category if number is None else number
    return entry


def events_of(
    kind: EventKind, number: int, value: Any, ids: set[str]
) -> Iterator[tuple[str, Event | None]]:
    """The notes about one session, each with its place; None for what is no note."""
    if kind == "summary":
        yield "", Event(number, None, value, kind) if isinstance(value, str) else None
        return
    if not isinstance(value, dict):
        yield "", None
        return
    about = value if kind == "observation" else without(value, ("date",))
    date = value.get("date") if kind == "event" else ""
    for speaker, notes in about.items():
        if not isinstance(notes, list):
            yield f".{speaker}", None
        for index, note in enumerate(as_list(notes)):
            event = None
            if kind == "observation":
                event = _observation(number, speaker, note, ids)
            elif isinstance(note, str):
                event = Event(number, speaker, note, kind, date if isinstance(date, str) else "")
            yield f".{speaker}[{index}]", event


def _observation(number: int, speaker: str, note: Any, ids: set[str]) -> Event | None:
    if not (isinstance(note, list) and len(note) == 2 and isinstance(note[0], str)):
        return None
    text, stated = note
    pieces = stated if isinstance(stated, list) else [stated]
    references, _ = resolve([piece for piece in pieces if isinstance(piece, str)], ids)
    extra = "" if stated == _id_field(references) else extra_of({"stated": stated}, "observation")
    return Event(number, speaker, text, "observation", "", references, extra)


def _id_field(ids: tuple[str, ...]) -> str | list[str]:
    return ids[0] if len(ids) == 1 else list(ids)


def section(chat: Chat, name: str) -> Fields:
    """One of the three groups of notes, with an entry for every session."""
    kind, _ = SECTIONS[name]
    events = [event for event in chat.events if event.kind == kind]
    if kind == "summary":
        return {f"session_{event.session}_summary": event.text for event in events}
    sections: Fields = {}
    if not events:
        return sections
    times = {session.number: session.time for session in chat.sessions}
    key = "events_session_{}" if kind == "event" else "session_{}_observation"
    for number in dict.fromkeys((*times, *(event.session for event in events))):
        sections[key.format(number)] = {}
    for event in events:
        notes = sections[key.format(event.session)].setdefault(event.speaker or "", [])
        stated = unpack_extra(event.extra).get("stated", _id_field(event.evidence))
        notes.append(event.text if kind == "event" else [event.text, stated])
    for notes in sections.values():  # after those who have notes: the order of notes is kept
        for speaker in chat.speakers[:2]:
            notes.setdefault(speaker, [])
    if kind == "event":
        dates = {event.session: event.date for event in events}
        for number, time in times.items():
            day = dates.get(number) or (_day(time) if time is not None else "")
            sections[key.format(number)]["date"] = day
    return sections


_HEAD = re.compile(r'\s*(?:\[\s*)?\{\s*"')
_REALTALK = re.compile(r'"(?:clean_text|speaker_1)"\s*:')  # keys: people may write the words
_MARKS = ('"speaker_a"', '"dia_id"', '"adversarial_answer"', '"session_1_date_time"')
_LAYOUT = ("conversation", "qa", *SECTIONS)
_WHOLE = "whole"  # under `realtalk`: chat fields that the layout cannot say


def _is_ours(member: Member) -> bool:
    text = head_text(member)
    if not _HEAD.match(text) or _REALTALK.search(text):
        return False
    if '"conversation"' in text and any(mark in text for mark in _MARKS):
        return True
    # The official files begin with some 60 KB of questions.
    opening = re.match(r'\s*(?:\[\s*)?\{\s*"qa"\s*:\s*\[', text)
    return bool(opening) and '"evidence"' in text and '"category"' in text


_FILES = FormatFiles((".json",), _is_ours, "no LoCoMo file found")


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = _FILES.members(source)
    parts: list[Part] = []
    notes: list[str] = []
    samples: dict[tuple[str, bool], Chat] = {}
    for member in options.in_turn(sorted(members, key=by_number)):
        for id_, sample, where, whole in _samples(member):
            chat, ledger = _read_sample(id_, sample, where)
            # The official file and the files split from it often lie side by side: a sample
            # of the one is left out where a file of the other says the same.
            sample_id = text_of(sample.get("sample_id"))
            twin = samples.get((sample_id, not whole))
            if twin and (twin.sessions, twin.questions) == (chat.sessions, chat.questions):
                notes.append(f"{member.name}: {id_} is {twin.id} again and was left out")
                continue
            samples.setdefault((sample_id, whole), chat)
            parts.append(([chat], ledger))
    return gather(source, "locomo", parts, notes)


def _samples(member: Member) -> Iterator[tuple[str, Fields, str, bool]]:
    """Id, sample, place, and whether the file lists several."""
    data = load(member)
    samples = data if isinstance(data, list) else [data]
    for index, sample in enumerate(samples):
        where = f"{member.where}, sample {index + 1}" if samples is data else member.where
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            raise RealtalkError("is not a LoCoMo sample: it has no 'conversation'", where=where)
        sample_id = text_of(sample.get("sample_id")) or f"{member.stem}-{index + 1}"
        yield sample_id if samples is data else member.stem, sample, where, samples is data


def _read_sample(id_: str, sample: Fields, where: str) -> tuple[Chat, Ledger]:
    """The chat of one sample, with the ledger of its entries."""
    leftovers: list[Leftover] = []

    def entries(value: Any, place: str) -> Iterator[tuple[str, Any]]:
        if value is not None and not isinstance(value, list):
            leftovers.append(Leftover(f"{where}: {place}", "is not a list"))
        for index, entry in enumerate(as_list(value)):
            yield f"{place}[{index}]", entry

    def readable(values: Iterable[tuple[str, _Part | None]], reason: str) -> Iterator[_Part]:
        for place, value in values:
            if value is None:
                leftovers.append(Leftover(f"{where}: {place}", reason))
            else:
                yield value

    if not isinstance(sample.get(KEY), dict | None):
        raise RealtalkError(f"'{KEY}' is not a record", where=where)
    own = mapping(sample.get(KEY))
    times = mapping(own.get("session_times"))
    conversation: Fields = sample["conversation"]
    sessions = []
    for number in sorted(
        int(match[1]) for key in conversation if (match := SESSION.fullmatch(key))
    ):
        key = f"session_{number}"
        turns = (
            (place, message_of(entry, f"{where}: {place}"))
            for place, entry in entries(conversation[key], key)
        )
        messages = tuple(readable(turns, "has no speaker, id or text"))
        session = Session(number, parse_date(conversation.get(f"{key}_date_time")), messages)
        if str(number) in times:
            session = amend(session, {"time": times[str(number)]}, where)
        sessions.append(session)
    ids = {message.id for session in sessions for message in session.messages}
    spoke = [message.speaker for session in sessions for message in session.messages]
    pair = (text_of(conversation.get(key)) for key in ("speaker_a", "speaker_b"))
    speakers = tuple(dict.fromkeys(filter(None, (*spoke, *pair))))
    questions: list[Question] = []
    stated_questions = (
        (place, question_of(entry, f"Q{len(questions) + 1}", ids, f"{where}: {place}"))
        for place, entry in entries(sample.get("qa"), "qa")
    )
    for question in readable(stated_questions, "has no question"):
        questions.append(question)  # one by one: the next is numbered by those before it
    events: list[Event] = []
    for name, (kind, pattern) in SECTIONS.items():
        noted = mapping(sample.get(name))
        if not isinstance(sample.get(name), dict | None):
            leftovers.append(Leftover(f"{where}: {name}", "is not a mapping"))
        matches = [match for key in noted if (match := pattern.fullmatch(key))]
        for match in sorted(matches, key=lambda match: int(match[1])):
            notes = (
                (f"{name}.{match[0]}{place}", event)
                for place, event in events_of(kind, int(match[1]), noted[match[0]], ids)
            )
            events += readable(notes, "is not a note")
    chat = Chat(id_, speakers, tuple(sessions), tuple(events), tuple(questions))
    chat = replace(chat, extra=extra_of(_sample_patch(chat, sample), where))
    return amend(chat, own.get(_WHOLE), where), Ledger.of(len(spoke), leftovers)


def _sample_patch(chat: Chat, sample: Fields) -> Fields:
    """What the file says otherwise than the writer would."""
    defaults = _default_sample(chat, chat.id)
    plain = without(sample, (*_LAYOUT, KEY))
    changes = {"sample": patch({"sample_id": defaults["sample_id"]}, plain)}
    for key in _LAYOUT:
        actual, default = sample.get(key), defaults[key]
        if isinstance(actual, dict) and isinstance(default, dict):
            changes[key] = patch(default, actual)
        elif actual != default:
            changes["sample"] |= patch({key: default}, {key: actual} if key in sample else {})
    return drop_empty(changes)


def _default_sample(chat: Chat, sample_id: str) -> Fields:
    """The sample that the layout's own fields can say, without any patch."""
    ids = {message.id for message in chat.messages}

    def turn(message: Message) -> Fields:
        return _entry(message, _turn(message), lambda entry: message_of(entry, message.id))

    def asked(question: Question, id_: str) -> Fields:
        return _entry(question, _qa(question), lambda entry: question_of(entry, id_, ids, id_))

    conversation: Fields = {}
    for key, name in zip(("speaker_a", "speaker_b"), chat.speakers, strict=False):
        conversation[key] = name
    for session in chat.sessions:
        if session.time is not None:
            conversation[f"session_{session.number}_date_time"] = format_date(session.time)
        conversation[f"session_{session.number}"] = [turn(m) for m in session.messages]
    return {
        "qa": [asked(q, f"Q{place}") for place, q in enumerate(chat.questions, 1)],
        "conversation": conversation,
        **{name: section(chat, name) for name in SECTIONS},
        "sample_id": sample_id,
    }


def _sample(chat: Chat, sample_id: str, read_as: str) -> Fields:
    """A sample that reads back as the very same chat, under the id `read_as`."""
    bare = _default_sample(chat, sample_id)
    try:
        changes = unpack_extra(chat.extra)
        full = dict(bare)
        for key, change in changes.items():
            if key in _LAYOUT and isinstance(full[key], dict):
                full[key] = apply_patch(full[key], change)
        full = _complete(apply_patch(full, changes.get("sample", {})), chat, read_as)
        if _read_sample(read_as, full, "")[0] == chat:
            return full
    except (RealtalkError, AttributeError, TypeError):
        pass  # another format's extra: not a patch, so it travels as it is
    return _complete(bare, chat, read_as)


def _complete(sample: Fields, chat: Chat, read_as: str) -> Fields:
    """The sample with what it cannot say put under `realtalk`."""
    read_back, _ = _read_sample(read_as, sample, "")
    readable_times = {session.number: session.time for session in read_back.sessions}
    times = {
        str(session.number): session.time and session.time.isoformat()
        for session in chat.sessions
        if session.time != readable_times.get(session.number)
    }
    # Sessions and questions carry their own.
    changes = without(differences(chat, read_back), ("sessions", "questions"))
    own = drop_empty({"session_times": times, _WHOLE: changes})
    return {**sample, KEY: own} if own else sample


def _write(corpus: Corpus, path: Path) -> tuple[Path, ...]:
    """A path that ends in .json gets the official list; any other is a folder of samples."""
    if path.suffix.lower() == ".json":
        samples = [_sample(chat, _sample_id(chat), _sample_id(chat)) for chat in corpus.chats]
        return (write_json(path, samples),)
    return tuple(
        write_json(path / f"{stem}.json", _sample(chat, _sample_id(chat), stem))
        for stem, chat in zip(file_stems(corpus), corpus.chats, strict=True)
    )


def _sample_id(chat: Chat) -> str:
    """The sample's own id where its file was called something else."""
    try:
        return str(unpack_extra(chat.extra)["sample"]["sample_id"])
    except (KeyError, TypeError, ValueError):
        return chat.id


FORMAT = Format("LoCoMo JSON, official or split by chat", _FILES.sniff, _read, _write)
