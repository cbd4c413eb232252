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

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from realtalk.chat import (
    Alias,
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


# Other names of a chat's speakers, learned from the chat itself.
#
#     Emi writes "I'm Kate" (D1:32); Emi's events begin "Kate goes ..." sixteen times
#     → Alias("Kate", "Emi", "D1:32")
#
# Four kinds of evidence, strongest first: a speaker introduces themselves ("my name is …"),
# a speaker's events have another subject, a multi-word name's first part ("Fahim" of "Fahim
# Khan"), and an annotator's misspelling ("Muhammad" for "Muhhamed") that the chat's own
# messages never use. A name that two speakers could claim is nobody's alias.

# No name is longer, and two unbounded runs side by side take the square of their length.
_NAME = r"([A-Z][\w’'-]{0,40}[a-z]\w{0,20})"
_SAYS = re.compile(
    rf"\b(?:[Mm]y name(?:'s|’s| is)|[Nn]ame(?:'s|’s)|(?:[Cc]all|calls|called) me) {_NAME}"
)
# "I'm Kate" is an introduction, "I'm Italian" is not: it counts only if someone else in
# the chat, or an annotator, uses the word as that person's name.
_IS = re.compile(
    rf"\b(?:I'm|I’m|I am|[Tt]his is) {_NAME}(?=\s*(?:$|[.,!?)]|and you|by the way|btw|nice))"
)
# "hey Kate", "thanks, Kate", "Kate!"; the name is looked at only, so it may begin the next call.
_CALLS = re.compile(
    r"(?:\b(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Mm]eet you|[Mm]orning|[Nn]ight),? |, )"
    rf"(?={_NAME})|^(?={_NAME}[,!])"
)
_BEGINS = re.compile(r"['’-]")
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_ASKS_NAME = re.compile(r"\bname\b", re.IGNORECASE)
_NOT_NAMES = frozenset(
    """The This That There Here What When Where Which Who How Why Yes No Not Just Really Good
    Great Fine Okay Sorry Back Home Busy Happy Glad Sure January February March April May June
    July August September October November December Monday Tuesday Wednesday Thursday Friday
    Saturday Sunday""".split()  # noqa: SIM905 - words read better than quotes
)
_INTRODUCTIONS = 3  # people introduce themselves in the first sessions
_MOST_COMPARED = 100_000  # words with names: in a crowd nobody can tell whose name is misspelt
_LONGEST_WORD = 60
_ALIKE = 0.72  # Faheem/Fahim .73, Aqib/Akib .75, Nicole/Nicolas .77 (caught by use in the chat)


def learn(
    speakers: Sequence[str],
    sessions: Sequence[Session],
    events: Iterable[Event] = (),
    questions: Iterable[Question] = (),
) -> tuple[Alias, ...]:
    """Aliases in order of strength, each name once."""
    events, questions = tuple(events), tuple(questions)
    speaker_names = {name.casefold() for name in speakers}
    claims: dict[str, dict[str, str]] = {}  # name → {speaker: source}
    # The first words of each speaker's events, where capitalised.
    subjects: dict[str, Counter[str]] = {speaker: Counter() for speaker in speakers}
    for event in events:
        if event.kind == "event" and event.speaker in subjects:
            word = _WORD.match(event.text.strip())
            if word and word[0][0].isupper():
                subjects[event.speaker][_bare(word[0])] += 1
    told = list(_introductions(sessions, subjects, questions))
    for speaker, counts in subjects.items():
        often = (name for name, count in counts.items() if count >= max(2, counts.total() / 2))
        told += ((name, speaker, "events") for name in often)
    for speaker in speakers:
        first, *rest = speaker.split() or [""]
        if rest and len(first) > 2 and first.isalpha():
            told.append((first, speaker, "name"))
    for name, speaker, source in told:
        if name.casefold() not in speaker_names and name not in _NOT_NAMES:
            claims.setdefault(name, {}).setdefault(speaker, source)
    aliases = [
        Alias(name, speaker, source)
        for name, claimants in claims.items()
        if len(claimants) == 1
        for speaker, source in claimants.items()
    ]
    speaker_of = {**{name: name for name in speakers}, **{a.name: a.speaker for a in aliases}}
    if events or questions:
        aliases += _misspellings(speaker_of, sessions, events, questions)
    return tuple(aliases)


def _introductions(
    sessions: Sequence[Session],
    subjects: dict[str, Counter[str]],
    questions: Sequence[Question],
) -> Iterable[tuple[str, str, str]]:
    question_words = {word for question in questions for word in _WORD.findall(question.text)}
    callers = _callers(sessions)
    previous: Message | None = None
    for session in sessions[:_INTRODUCTIONS]:
        for message in session.messages:
            for name in _SAYS.findall(message.text):
                yield name, message.speaker, message.id
            for name in _IS.findall(message.text):
                answers = previous is not None and _ASKS_NAME.search(previous.text)
                noted = name in question_words or name in subjects.get(message.speaker, ())
                if answers or noted or callers.get(name, set()) - {message.speaker}:
                    yield name, message.speaker, message.id
            previous = message


def _callers(sessions: Sequence[Session]) -> dict[str, set[str]]:
    """Who calls somebody by each name."""
    callers: dict[str, set[str]] = {}
    for session in sessions:
        for message in session.messages:
            for name in map("".join, _CALLS.findall(message.text)):
                # "hey Kate's" and "hey Kate-Ann" call Kate, too.
                for called in (name, _BEGINS.split(name)[0]):
                    callers.setdefault(called, set()).add(message.speaker)
    return callers


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)


def _misspellings(
    speaker_of: dict[str, str],
    sessions: Sequence[Session],
    events: Sequence[Event],
    questions: Sequence[Question],
) -> list[Alias]:
    spoken = {
        word.casefold()
        for session in sessions
        for message in session.messages
        for word in _WORD.findall(message.text)
    }
    words: dict[str, str] = {}
    for source, texts in (
        ("questions", [question.text for question in questions]),
        ("events", [event.text for event in events if event.kind == "event"]),
    ):
        for text in texts:
            for word in _WORD.findall(text):
                if word[0].isupper() and 3 < len(word) <= _LONGEST_WORD:
                    words.setdefault(_bare(word), source)
    names = {name.casefold(): speaker for name, speaker in speaker_of.items() if name}
    aliases: list[Alias] = []
    if len(words) * len(names) > _MOST_COMPARED:
        return aliases
    for word, source in words.items():
        plain = word.casefold()
        if plain in names or plain in spoken or word in _NOT_NAMES:
            continue
        near = {speaker for name, speaker in names.items() if _alike(plain, name)}
        if len(near) == 1:
            aliases.append(Alias(word, near.pop(), source))
    return aliases


def _alike(word: str, name: str) -> bool:
    if word[0] != name[0] or len(name) > _LONGEST_WORD:
        return False
    return difflib.SequenceMatcher(None, word, name).ratio() >= _ALIKE
