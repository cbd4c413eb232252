"""One entry of a LoCoMo sample to one frozen value and back.

    {"speaker": "Mara", "dia_id": "D1:1", "text": "look", "img_url": ["https://…"],
     "blip_caption": "a photo of a cat", "query": "cat"}
    ↔ Message("D1:1", "Mara", None, "look", (Attachment("image", …),), extra='{"query":"cat"}')

`extra` is the patch from the entry that the model's fields make to the entry that was
read: keys of the layout that the model lacks, and values written in another type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from realtalk.chat import Attachment, Chat, Event, EventKind, Message, Question, unpack_extra
from realtalk.corpora import evidence
from realtalk.corpora.categories import name_of, number_of
from realtalk.corpora.json_input import text_of
from realtalk.corpora.published.record import KEY, amended, differences, extra_of
from realtalk.errors import RealtalkError

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
_MONTHS = """
    january february march april may june july august september october november december
""".split()  # noqa: SIM905 - words read better than quotes
_ABSENT = "absent"


def parse_date(text: object) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, or None."""
    match = _DATE.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[5].lower() not in _MONTHS or not 1 <= int(match[1]) <= 12:
        return None
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    month = _MONTHS.index(match[5].lower()) + 1
    try:
        return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]))
    except ValueError:
        return None


def _day(time: datetime) -> str:
    # Not strftime: its month names follow the machine's language.
    return f"{time.day} {_MONTHS[time.month - 1].capitalize()}, {time.year:04d}"


def format_date(time: datetime) -> str:
    """`parse_date` backwards; seconds have no place in the layout."""
    half = "am" if time.hour < 12 else "pm"
    return f"{time.hour % 12 or 12}:{time.minute:02d} {half} on {_day(time)}"


def patch(base: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """What turns `base` into `wanted`; `patched` applies it."""
    changes = {
        key: value
        for key, value in wanted.items()
        if key not in base or base[key] != value or type(base[key]) is not type(value)
    }
    absent = [key for key in base if key not in wanted]
    return {**changes, _ABSENT: absent} if absent else changes


def patched(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    absent = change.get(_ABSENT)
    if not isinstance(absent, list):
        return {**base, **change}
    full = {**base, **{key: value for key, value in change.items() if key != _ABSENT}}
    gone = {key for key in absent if isinstance(key, str)}
    return {key: value for key, value in full.items() if key not in gone}


_Value = TypeVar("_Value", Message, Question)


def _entry(
    value: _Value, written: dict[str, Any], read: Callable[[Any], _Value | None]
) -> dict[str, Any]:
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


def _finished(value: _Value, written: dict[str, Any], entry: dict[str, Any], where: str) -> _Value:
    change = patch(written, {key: item for key, item in entry.items() if key != KEY})
    return amended(replace(value, extra=extra_of(change, where)), entry.get(KEY), where)


def _turn(message: Message) -> dict[str, Any]:
    entry: dict[str, Any] = {"speaker": message.speaker, "dia_id": message.id, "text": message.text}
    pictures = [file for file in message.attachments if file.kind == "image"]
    if urls := [file.url for file in pictures if file.url]:
        entry["img_url"] = urls
    if pictures and pictures[0].caption:
        entry["blip_caption"] = pictures[0].caption
    return entry


def turn_entry(message: Message) -> dict[str, Any]:
    return _entry(message, _turn(message), lambda entry: message_of(entry, message.id))


def question_of(entry: Any, id_: str, ids: set[str], where: str) -> Question | None:
    """A question, or None for what is none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("question"), str):
        return None
    given = entry.get("evidence")
    pieces = given if isinstance(given, list) else [] if given is None else [given]
    answer = entry.get("answer")
    question = evidence.annotated_question(
        id_,
        entry["question"],
        None if answer is None else text_of(answer),
        name_of("locomo", entry.get("category")),
        tuple(text_of(piece) for piece in pieces),
        ids,
    )
    return _finished(question, _qa(question), entry, where)


def _qa(question: Question) -> dict[str, Any]:
    number = number_of("locomo", question.category)
    entry: dict[str, Any] = {"question": question.text}
    if question.answer is not None:
        entry["answer"] = question.answer
    entry["evidence"] = list(question.stated or question.evidence)
    entry["category"] = question.category if number is None else number
    return entry


def qa_entry(question: Question, id_: str, ids: set[str]) -> dict[str, Any]:
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
    named, _ = evidence.resolve([piece for piece in pieces if isinstance(piece, str)], ids)
    extra = "" if given == _named(named) else extra_of({"stated": given}, "observation")
    return Event(number, speaker, text, "observation", "", named, extra)


def _named(ids: tuple[str, ...]) -> str | list[str]:
    return ids[0] if len(ids) == 1 else list(ids)


def section(chat: Chat, name: str) -> dict[str, Any]:
    """One of the three groups of notes, with an entry for every session."""
    kind, _ = SECTIONS[name]
    events = [event for event in chat.events if event.kind == kind]
    if kind == "summary":
        return {f"session_{event.session}_summary": event.text for event in events}
    sections: dict[str, Any] = {}
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
