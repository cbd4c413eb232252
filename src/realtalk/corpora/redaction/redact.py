"""A corpus without the people in it: names, handles, numbers, addresses and links replaced.

    redacted, key = redact(corpus, names=["Aunt Ida"])
    "Mara, call Theo: +49 170 1234567"  →  "Person1, call Person2: <phone-1>"
    key.to_json()                       →  {"Person1": ["Mara"], ..., "<phone-1>": [...]}

The same thing has the same stand-in all over the corpus. Ids of messages, times, sessions
and evidence stay, so whatever is measured on structure stays the same. Redacting twice
changes nothing.

What is promised: no name of a speaker, and no part of one with two graphemes or more, is left
in anything that is written, in any script, case and spelling that `names` knows, with the
endings of many languages. The exceptions: an everyday word in small letters ("will", "may";
`words.EVERYDAY`) stays unless a name stands at its place ("hey will"), and `Key.left` counts
those; titles and the small words in names ("Dr", "de") stay; a name of one digit does.
What is not: other people's names are guessed from capital letters inside sentences,
so names that occur once (but for "hi Bea", "my sister Bea"), or are always written small,
stay, and some places or titles go;
nicknames, birthdays, places and what a story gives away stay too; of addresses only streets
with a number, postcodes and coordinates go. Read the result before you pass it on, and name
more people with `names`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from realtalk.chat import Chat, Corpus
from realtalk.corpora.redaction.kinds import words_of
from realtalk.corpora.redaction.names import Names, names_held
from realtalk.corpora.redaction.rewriting import Rewriter
from realtalk.corpora.redaction.standins import STAND_IN, StandIns, kind_of
from realtalk.corpora.redaction.text import Scanner
from realtalk.corpora.redaction.words import BEFORE_OTHERS, GREETINGS, NOT_PEOPLE, RELATIONS
from realtalk.registry import suggest

# What `keep` can leave as it is. Speakers and the names given are always replaced.
KINDS = ("people", "handles", "phones", "emails", "links", "addresses", "numbers", "files", "extra")
_SEEN_AT_LEAST = 2  # mid-sentence, in different texts


@dataclass(frozen=True, slots=True)
class Key:
    """Stand-ins and what they stand for. Private: whoever has it can undo the redaction."""

    entries: tuple[tuple[str, tuple[str, ...]], ...] = field(repr=False)
    left: int = 0  # everyday words in small letters that are speakers' names as well

    def to_json(self) -> dict[str, list[str]]:
        return {stand_in: list(originals) for stand_in, originals in self.entries}

    def is_named_in(self, text: str) -> bool:
        """Whether a text, such as a folder's name, holds one of the names."""
        names = Names()
        for stand_in, originals in self.entries:
            for original in originals if kind_of(stand_in) == "Person" else ():
                names.add(original, stand_in)
        return Scanner(StandIns(), names, {}).text(text, "", dense=True) != text

    def counts(self) -> dict[str, int]:
        """How many different things of each kind were replaced; this is not private."""
        kinds = Counter(kind_of(stand_in) for stand_in, _ in self.entries)
        return {kind.lower(): count for kind, count in sorted(kinds.items())}


def redact(
    corpus: Corpus, *, names: Sequence[str] = (), keep: frozenset[str] = frozenset()
) -> tuple[Corpus, Key]:
    """The corpus with stand-ins, and the key to them."""
    refuse_unknown_kinds(keep)
    if "extra" in keep:
        names = (*names, *_reactors(corpus))
    called = [alias.name for chat in corpus.chats for alias in chat.aliases]
    stand_ins = StandIns(names_held((*_speakers(corpus), *called, *names)))
    for text in (*_texts(corpus), *_speakers(corpus)):
        stand_ins.reserve(text)
    persons = _persons(corpus, stand_ins)
    everyone, chats = Names(), {}
    for chat in corpus.chats:
        chats[chat.id] = _names_in(chat, persons, stand_ins)
    # Across chats a speaker's own name is surer than another speaker's nickname.
    for speaker, person in persons.items():
        everyone.add(speaker, person, own=len(corpus.chats) == 1)
    for chat in corpus.chats:
        for alias in chat.aliases:
            everyone.add(alias.name, persons[alias.speaker])
    for name in names:
        if given := name.strip():
            known = [span.person for span in everyone.find(given) if span.end == len(given)]
            everyone.add(given, known[0] if known else stand_ins.make("Person", given))
    scanner = Scanner(stand_ins, everyone, chats, keep)
    bare = Scanner(stand_ins, everyone, chats)
    redacted = Rewriter(scanner, bare, persons, stand_ins, keep).corpus(corpus)
    if "people" not in keep:
        others = Names(capitals_only=True)
        for name in _people(redacted):
            others.add_word(name, stand_ins.make("Person", name))
        if others.words:
            second = Scanner(stand_ins, others, {})
            same = {person: person for person in persons.values()}
            redacted = Rewriter(second, second, same, stand_ins, frozenset(KINDS)).corpus(redacted)
    entries = sorted(stand_ins.originals.items(), key=lambda entry: _order(entry[0]))
    return redacted, Key(
        tuple((stand_in, tuple(originals)) for stand_in, originals in entries), scanner.left
    )


def refuse_unknown_kinds(keep: frozenset[str]) -> None:
    """Raises where something that nobody knows is to be kept."""
    for kind in sorted(keep):
        if kind not in KINDS:
            raise suggest("kind to keep", kind, list(KINDS))


def _order(stand_in: str) -> tuple[str, int]:
    digits = "".join(sign for sign in stand_in if sign.isdigit())
    return stand_in.rstrip("0123456789>"), int(digits)


def _texts(corpus: Corpus) -> Iterator[str]:
    """Every text that may name somebody."""
    for chat in corpus.chats:
        for message in chat.messages:
            yield message.text
            for attachment in message.attachments:
                yield attachment.caption
                yield attachment.name
                yield attachment.url
        for event in chat.events:
            yield event.text
        for question in chat.questions:
            yield question.text
            yield question.answer or ""


def _in_chat(chat: Chat) -> Iterator[str]:
    yield from chat.speakers
    yield from dict.fromkeys(message.speaker for message in chat.messages)
    yield from (event.speaker for event in chat.events if event.speaker is not None)
    yield from (alias.speaker for alias in chat.aliases)


def _speakers(corpus: Corpus) -> Iterator[str]:
    return iter(dict.fromkeys(name for chat in corpus.chats for name in _in_chat(chat)))


def _reactors(corpus: Corpus) -> list[str]:
    """Who only reacted: people whose names stand in `extra`, and who said nothing."""
    marks = (mark for chat in corpus.chats for one in chat.messages for mark in one.reactions)
    speakers = set(_speakers(corpus))
    people = dict.fromkeys(name for mark in marks for name in mark.by)
    return [name for name in people if name not in speakers and not STAND_IN.fullmatch(name)]


def _persons(corpus: Corpus, stand_ins: StandIns) -> dict[str, str]:
    """Speakers and their stand-ins. "Mara" and "mara" are one unless they meet in a chat."""
    together = [set(_in_chat(chat)) for chat in corpus.chats]
    groups: dict[str, list[list[str]]] = {}
    persons: dict[str, str] = {}
    for name in _speakers(corpus):
        if not name:
            persons[name] = name  # nobody
            continue
        same = groups.setdefault(name.casefold(), [])
        for group in same:
            if not any(name in chat and any(other in chat for other in group) for chat in together):
                group.append(name)
                persons[name] = persons[group[0]]
                stand_ins.note(persons[name], name)
                break
        else:
            same.append([name])
            persons[name] = stand_ins.make("Person", name, name)
    return persons


def _named(chat: Chat, persons: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Persons and what they are called; whole speakers' names first, for they are surest."""
    for speaker in dict.fromkeys(_in_chat(chat)):
        yield persons[speaker], speaker
    for alias in chat.aliases:
        yield persons[alias.speaker], alias.name


def _names_in(chat: Chat, persons: dict[str, str], stand_ins: StandIns) -> Names:
    names = Names()
    for person, name in _named(chat, persons):
        names.add(name, person)
        if name and not STAND_IN.fullmatch(name):
            stand_ins.note(person, name)
    return names


def _people(corpus: Corpus) -> list[str]:
    """Words that look like names of others, in order of first appearance.

    Such a word is capitalised, follows a greeting or a word in small letters (not "in",
    "the" and their like) in two texts or more, is never written small, and is no month,
    place or brand that we know. Right after a greeting or a word such as "sister", once
    is enough.
    """
    inside: Counter[str] = Counter()
    addressed: set[str] = set()
    small: set[str] = set()
    for text in _texts(corpus):
        here: set[str] = set()
        before, ended = "", 0
        for word, start, end in words_of(text):
            if word.islower():
                small.add(word)
            elif (
                len(word) > 2
                and word.istitle()
                and (before.casefold() in GREETINGS or before.islower())
                and before not in BEFORE_OTHERS
                and text[ended:start] in (" ", ", ")
            ):
                here.add(word)
                if before.casefold() in GREETINGS | RELATIONS and _ends(text, end):
                    addressed.add(word)
            before, ended = word, end
        inside.update(sorted(here, key=text.find))
    return [
        word
        for word, seen in inside.items()
        if (seen >= _SEEN_AT_LEAST or word in addressed)
        and word.lower() not in small
        and word.casefold() not in NOT_PEOPLE
        and word.casefold().removesuffix("s") not in NOT_PEOPLE
    ]


def _ends(text: str, at: int) -> bool:
    """Whether a word that ends there is not the first of several: "Hey Mr Fox", "Hi New York"."""
    return not re.match(r" [^\W\d_a-z]", text[at : at + 2])
