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
from collections.abc import Callable, Iterator, Mapping
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
from realtalk.formats.json_input import Fields, head_text, load, text_of
from realtalk.formats.published.record import (
    KEY,
    amended,
    by_number,
    differences,
    extra_of,
    gathered,
)
from realtalk.formats.questions import annotated_question, name_of, number_of, resolve
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import Member, Source, holding, taken
from realtalk.text.calendars import MONTHS

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
_DATE = re.compile(
    r"\s*([0-9]{1,2}):([0-9]{2})\s*([ap])\.?m\.?\s+on\s+([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})\s*",
    re.IGNORECASE,
)
_ABSENT = "absent"


def parse_date(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, or None."""
    match = _DATE.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[5].capitalize() not in MONTHS or not 1 <= int(match[1]) <= 12:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    month = MONTHS.index(match[5].capitalize()) + 1
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]))
    except ValueError:
        return None


def _day(time: datetime) -> str:
    # Not strftime: its month names follow the machine's language.
    return f"{time.day} {MONTHS[time.month - 1]}, {time.year:04d}"


def format_date(time: datetime) -> str:
    """`parse_date` backwards; seconds have no place in the layout."""
    half = "am" if time.hour < 12 else "pm"
    return f"{time.hour % 12 or 12}:{time.minute:02d} {half} on {_day(time)}"


def patch(base: Mapping[str, Any], wanted: Mapping[str, Any]) -> Fields:
    """What turns `base` into `wanted`; `patched` applies it."""
    changes = {
        key: value
        for key, value in wanted.items()
        if key not in base or base[key] != value or type(base[key]) is not type(value)
    }
    absent = [key for key in base if key not in wanted]
    return {**changes, _ABSENT: absent} if absent else changes


def patched(base: Mapping[str, Any], change: Mapping[str, Any]) -> Fields:
    absent = change.get(_ABSENT)
    if not isinstance(absent, list):
        return {**base, **change}
    full = {**base, **{key: value for key, value in change.items() if key != _ABSENT}}
    gone = {key for key in absent if isinstance(key, str)}
    return {key: value for key, value in full.items() if key not in gone}


_Value = TypeVar("_Value", Message, Question)


def _entry(value: _Value, written: Fields, read: Callable[[Any], _Value | None]) -> Fields:
    """The layout's entry that reads back as this very value."""
    try:
        full = patched(written, unpack_extra(value.extra))
        if read(full) == value:
            return full
    except RealtalkError:
        pass  # another format's extra: not a patch, so it travels as it is
    read_back = read(written)
    assert read_back is not None
    return {**written, KEY: differences(value, read_back)}


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
    urls = [link for link in links if isinstance(link, str) and link]
    caption = entry.get("blip_caption")
    caption = caption if isinstance(caption, str) else ""
    # One caption serves the message; it was made from its first picture.
    pictures = [Attachment("image", url=url) for url in urls]
    if caption:
        pictures[:1] = [Attachment("image", url=urls[0] if urls else "", caption=caption)]
    message = Message(id_, speaker, None, text or "", tuple(pictures))
    return _finished(message, _turn(message), entry, where)


def _finished(value: _Value, written: Fields, entry: Fields, where: str) -> _Value:
    change = patch(written, {key: item for key, item in entry.items() if key != KEY})
    return amended(replace(value, extra=extra_of(change, where)), entry.get(KEY), where)


def _turn(message: Message) -> Fields:
    entry: Fields = {"speaker": message.speaker, "dia_id": message.id, "text": message.text}
    pictures = [file for file in message.attachments if file.kind == "image"]
    if urls := [file.url for file in pictures if file.url]:
        entry["img_url"] = urls
    if pictures and pictures[0].caption:
        entry["blip_caption"] = pictures[0].caption
    return entry


def turn_entry(message: Message) -> Fields:
    return _entry(message, _turn(message), lambda entry: message_of(entry, message.id))


def question_of(entry: Any, id_: str, ids: set[str], where: str) -> Question | None:
    """A question, or None for what is none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
        return None
    given = entry.get("evidence")
    pieces = given if isinstance(given, list) else [] if given is None else [given]
    answer = entry.get("answer")
    question = annotated_question(
        id_,
        entry["question"],
        None if answer is None else text_of(answer),
        name_of("locomo", entry.get("category")),
        tuple(text_of(piece) for piece in pieces),
        ids,
    )
    return _finished(question, _qa(question), entry, where)


def _qa(question: Question) -> Fields:
    number = number_of("locomo", question.category)
    entry: Fields = {"question": question.text}
    if question.answer is not None:
        entry["answer"] = question.answer
    entry["evidence"] = list(question.stated or question.evidence)
    entry["category"] = question.category if number is None else number
    return entry


def qa_entry(question: Question, id_: str, ids: set[str]) -> Fields:
    return _entry(question, _qa(question), lambda entry: question_of(entry, id_, ids, id_))


def events_of(
    kind: EventKind, number: int, value: Any, ids: set[str]
) -> Iterator[tuple[str, Event | None]]:
    """The notes about one session, each with its place; None for what is no note."""
    if kind == "summary":
        fit = isinstance(value, str)
        yield "", Event(number, None, value, kind) if fit else None
        return
    if not isinstance(value, dict):
        yield "", None
        return
    date = value.get("date", "") if kind == "event" else ""
    date = date if isinstance(date, str) else ""
    for speaker, notes in value.items():
        if kind == "event" and speaker == "date":
            continue
        if not isinstance(notes, list):
            yield f".{speaker}", None
            continue
        for index, note in enumerate(notes):
            place = f".{speaker}[{index}]"
            if kind == "event":
                fit = isinstance(note, str)
                yield place, Event(number, speaker, note, kind, date) if fit else None
            else:
                yield place, _observation(number, speaker, note, ids)


def _observation(number: int, speaker: str, note: Any, ids: set[str]) -> Event | None:
    if not (isinstance(note, list) and len(note) == 2 and isinstance(note[0], str)):
        return None
    text, given = note
    pieces = given if isinstance(given, list) else [given]
    named, _ = resolve([piece for piece in pieces if isinstance(piece, str)], ids)
    extra = "" if given == _named(named) else extra_of({"stated": given}, "observation")
    return Event(number, speaker, text, "observation", "", named, extra)


def _named(ids: tuple[str, ...]) -> str | list[str]:
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
        stated = unpack_extra(event.extra).get("stated", _named(event.evidence))
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


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = taken(source, (".json",), _is_ours, missing="no LoCoMo file found")
    chats: list[Chat] = []
    ledgers: list[Ledger] = []
    notes: list[str] = []
    seen: dict[tuple[str, bool], Chat] = {}
    for member in options.in_turn(sorted(members, key=by_number)):
        for id_, sample, where, whole in _samples(member):
            reader = _Sample(id_, sample, where)
            # The official file and the files split from it often lie side by side: a sample
            # of the one is left out where a file of the other says the same.
            named = text_of(sample.get("sample_id"))
            twin = seen.get((named, not whole))
            if twin and _said(twin) == _said(reader.chat):
                notes.append(f"{member.name}: {id_} is {twin.id} again and was left out")
                continue
            seen.setdefault((named, whole), reader.chat)
            chats.append(reader.chat)
            ledgers.append(reader.ledger)
    return gathered(source, "locomo", chats, ledgers, notes)


def _said(chat: Chat) -> tuple[tuple[Session, ...], tuple[Question, ...]]:
    return chat.sessions, chat.questions


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


class _Sample:
    """One sample on its way to a chat, with the ledger of its entries."""

    def __init__(self, id_: str, sample: Mapping[str, Any], where: str) -> None:
        self._where = where
        self._sample = sample
        self._left: list[Leftover] = []
        conversation: Mapping[str, Any] = sample["conversation"]
        own = sample.get(KEY)
        if own is not None and not isinstance(own, dict):
            raise RealtalkError(f"'{KEY}' is not a record", where=where)
        sessions = tuple(self._sessions(conversation, (own or {}).get("session_times")))
        ids = {message.id for session in sessions for message in session.messages}
        spoke = [message.speaker for session in sessions for message in session.messages]
        named = [text_of(conversation.get(key)) for key in ("speaker_a", "speaker_b")]
        speakers = tuple(dict.fromkeys(name for name in (*spoke, *named) if name))
        questions: list[Question] = []
        for entry, place in self._entries(sample.get("qa"), "qa"):
            question = question_of(entry, f"Q{len(questions) + 1}", ids, f"{where}: {place}")
            self._count(question is not None, place, "has no question")
            if question is not None:
                questions.append(question)
        chat = Chat(id_, speakers, sessions, tuple(self._events(ids)), tuple(questions))
        chat = replace(chat, extra=extra_of(self._patch(chat), where))
        self.chat = amended(chat, (own or {}).get(_WHOLE), where)
        messages = sum(len(session.messages) for session in sessions)
        self.ledger = Ledger.of(messages + len(self._left), self._left)

    def _count(self, good: bool, place: str, reason: str) -> None:
        if not good:
            self._left.append(Leftover(f"{self._where}: {place}", reason))

    def _entries(self, value: Any, place: str) -> Iterator[tuple[Any, str]]:
        if value is None:
            return
        if not isinstance(value, list):
            self._count(False, place, "is not a list")
            return
        for index, entry in enumerate(value):
            yield entry, f"{place}[{index}]"

    def _sessions(self, conversation: Mapping[str, Any], times: Any) -> Iterator[Session]:
        numbers = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
        for number in numbers:
            key = f"session_{number}"
            messages = []
            for entry, place in self._entries(conversation[key], key):
                message = message_of(entry, f"{self._where}: {place}")
                self._count(message is not None, place, "has no speaker, id or text")
                if message is not None:
                    messages.append(message)
            time = parse_date(conversation.get(f"{key}_date_time"))
            session = Session(number, time, tuple(messages))
            if isinstance(times, dict) and str(number) in times:
                session = amended(session, {"time": times[str(number)]}, self._where)
            yield session

    def _events(self, ids: set[str]) -> Iterator[Event]:
        for name, (kind, pattern) in SECTIONS.items():
            noted = self._sample.get(name)
            if not isinstance(noted, dict):
                self._count(noted is None, name, "is not a mapping")
                continue
            matches = [match for key in noted if (match := pattern.fullmatch(key))]
            for match in sorted(matches, key=lambda match: int(match[1])):
                for place, event in events_of(kind, int(match[1]), noted[match[0]], ids):
                    self._count(event is not None, f"{name}.{match[0]}{place}", "is not a note")
                    if event is not None:
                        yield event

    def _patch(self, chat: Chat) -> Fields:
        """What the file says otherwise than the writer would."""
        written = _written(chat, chat.id)
        plain = {key: value for key, value in self._sample.items() if key not in (*_LAYOUT, KEY)}
        kept = {"sample": patch({"sample_id": written["sample_id"]}, plain)}
        for key in _LAYOUT:
            wanted, given = self._sample.get(key), written[key]
            if isinstance(wanted, dict) and isinstance(given, dict):
                kept[key] = patch(given, wanted)
            elif wanted != given:
                kept["sample"] |= patch({key: given}, {key: wanted} if key in self._sample else {})
        return {key: value for key, value in kept.items() if value}


def _written(chat: Chat, sample_id: str) -> Fields:
    """The sample that the layout's own fields can say, without any patch."""
    ids = {message.id for message in chat.messages}
    conversation: Fields = {}
    for key, name in zip(("speaker_a", "speaker_b"), chat.speakers, strict=False):
        conversation[key] = name
    for session in chat.sessions:
        if session.time is not None:
            conversation[f"session_{session.number}_date_time"] = format_date(session.time)
        conversation[f"session_{session.number}"] = [turn_entry(m) for m in session.messages]
    return {
        "qa": [qa_entry(q, f"Q{place}", ids) for place, q in enumerate(chat.questions, 1)],
        "conversation": conversation,
        **{name: section(chat, name) for name in SECTIONS},
        "sample_id": sample_id,
    }


def _sample(chat: Chat, sample_id: str, read_as: str) -> Fields:
    """A sample that reads back as the very same chat, under the id `read_as`."""
    bare = _written(chat, sample_id)
    try:
        kept = unpack_extra(chat.extra)
        full = dict(bare)
        for key, change in kept.items():
            if key in _LAYOUT and isinstance(full[key], dict):
                full[key] = patched(full[key], change)
        full = _completed(patched(full, kept.get("sample", {})), chat, read_as)
        if _Sample(read_as, full, "").chat == chat:
            return full
    except (RealtalkError, AttributeError, TypeError):
        pass  # another format's extra: not a patch, so it travels as it is
    return _completed(bare, chat, read_as)


def _completed(sample: Fields, chat: Chat, read_as: str) -> Fields:
    """The sample with what it cannot say put under `realtalk`."""
    again = _Sample(read_as, sample, "").chat
    got = {session.number: session.time for session in again.sessions}
    times = {
        str(session.number): session.time and session.time.isoformat()
        for session in chat.sessions
        if session.time != got.get(session.number)
    }
    whole = differences(chat, again)
    for name in ("sessions", "questions"):
        whole.pop(name, None)  # they carry their own
    own = {"session_times": times, _WHOLE: whole}
    own = {key: value for key, value in own.items() if value}
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


FORMAT = Format(
    "LoCoMo JSON, official or split by chat", holding((".json",), _is_ours), _read, _write
)
