"""Other names of a chat's speakers, learned from the chat itself.

    Emi writes "I'm Kate" (D1:32); Emi's events begin "Kate goes ..." sixteen times
    → Alias("Kate", "Emi", "D1:32")

Four kinds of evidence, strongest first: a speaker introduces themselves ("my name is …"),
a speaker's events have another subject, a multi-word name's first part ("Fahim" of "Fahim
Khan"), and an annotator's misspelling ("Muhammad" for "Muhhamed") that the chat's own
messages never use. A name that two speakers could claim is nobody's alias.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from realtalk.chat import Alias, Event, Message, Question, Session

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
