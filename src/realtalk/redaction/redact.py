"""A corpus without the people in it: names, handles, numbers, addresses and links replaced.

    redacted, key = redact(corpus, names=["Aunt Ida"])
    "Mara, call Theo: +49 170 1234567"  →  "Person1, call Person2: <phone-1>"
    key.to_json()                       →  {"Person1": ["Mara"], ..., "<phone-1>": [...]}
    key.restore(redacted) == corpus

The same thing has the same stand-in all over the corpus. Ids of messages, times, sessions
and evidence stay, so whatever is measured on structure stays the same. Redacting twice
changes nothing.

What is promised: no name of a speaker, and no part of one with two graphemes or more, is left
in anything that is written, in any script, case and spelling that `names` knows, with the
endings of many languages. The exceptions: an ordinary word of the chat's language ("will", "sole",
"आशा"; `ordinary`) goes only where it stands like a name ("hey will"; `standing`), and `Key.left`
counts the others; titles and the small words in names ("Dr", "de") stay; a name of one digit does,
and forms that a ticked table keeps (`speaker_forms`), which are never the name as it is written.
What is not: everything else that identifies somebody is found by `sources` of mentions. Ours are
rules: other people's names are guessed from capital letters inside sentences, so names that occur
once (but for "hi Bea", "my sister Bea"), or are always written small, stay, and some places or
titles go; dates of birth go where a word says so; places and what a story gives away stay; of
addresses only streets with a number, postcodes and coordinates go. Read the result before you
pass it on, name more people with `names`, or tick what was found (`review`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from realtalk.chat import Chat, Corpus
from realtalk.redaction.candidates import (
    SPEAKERS,
    NameCandidate,
    candidates,
    sentence_around,
)
from realtalk.redaction.mentions import MENTION_KINDS, BirthdayRule, CapitalsRule, MentionSource
from realtalk.redaction.names import Names, names_held, squashed
from realtalk.redaction.review import Decided, NameDecision, decided
from realtalk.redaction.rewriting import Rewriter
from realtalk.redaction.speaker_forms import SpeakerForms, SpeakersWords
from realtalk.redaction.standins import STAND_IN, StandIns, kind_of, wording
from realtalk.redaction.storing import changed_fields, restored
from realtalk.redaction.text import Scanner
from realtalk.registry import suggest
from realtalk.text.folding import fold, fold_word, parts
from realtalk.text.ordinary import merged, ordinary_words

# What `keep` can leave as it is. Speakers and the names given are always replaced.
KINDS = (
    "people",
    "places",
    "organisations",
    "birthdays",
    "handles",
    "phones",
    "emails",
    "links",
    "addresses",
    "numbers",
    "files",
    "extra",
)
_NOT_IN_TEXT = frozenset({"files", "extra"})
RULES: tuple[MentionSource, ...] = (CapitalsRule(), BirthdayRule())


@dataclass(frozen=True, slots=True)
class Key:
    """Stand-ins and what they stand for. Private: whoever has it can undo the redaction."""

    entries: tuple[tuple[str, tuple[str, ...]], ...] = field(repr=False)
    left: int = 0  # speakers' names that stand like ordinary words
    changed: Mapping[str, Any] = field(default_factory=dict, repr=False)  # as `storing` keeps it
    notes: tuple[str, ...] = ()  # on the decisions, without a name

    def to_json(self) -> dict[str, list[str]]:
        return {stand_in: list(originals) for stand_in, originals in self.entries}

    def to_file(self) -> dict[str, Any]:
        """Who is who, and all that `restore` needs: what a key file holds."""
        return {**self.to_json(), "restore": self.changed}

    def restore(self, redacted: Corpus) -> Corpus:
        """The corpus as it was, from what redaction made of it."""
        return restored(redacted, self.changed)

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
    corpus: Corpus,
    *,
    names: Sequence[str] = (),
    keep: frozenset[str] = frozenset(),
    sources: Sequence[MentionSource] = RULES,
    decisions: Sequence[NameDecision] = (),
) -> tuple[Corpus, Key]:
    """The corpus with stand-ins, and the key to them.

    `sources` find what is not a speaker's; `decisions` are a ticked table (`review`).
    """
    first = SpeakerPass(corpus, names, keep)
    said = decided(first.candidates(sources), decisions)
    notes = _notes(said, first)
    if said.kept_of_speakers:
        first = SpeakerPass(corpus, names, keep, said.kept_of_speakers)
    final = first.without(said.chosen, said.kept)
    entries = sorted(first.stand_ins.originals.items(), key=lambda entry: _order(entry[0]))
    told = tuple((stand_in, tuple(originals)) for stand_in, originals in entries)
    return final, Key(told, first.left, changed_fields(corpus, final), notes)


def find_candidates(
    corpus: Corpus,
    *,
    names: Sequence[str] = (),
    keep: frozenset[str] = frozenset(),
    sources: Sequence[MentionSource] = RULES,
) -> list[NameCandidate]:
    """What `redact` would replace besides speakers' names as such and things with a pattern."""
    return SpeakerPass(corpus, names, keep).candidates(sources)


def _notes(said: Decided, first: SpeakerPass) -> tuple[str, ...]:
    """What somebody who ticked a table should know."""
    notes = []
    if said.contradicted:
        notes.append(f"forms in a row to keep and in one to replace: {said.contradicted:,}, kept")
    if own := first.names_kept(said.kept):
        notes.append(f"speakers' own names to keep: {own:,}; these are always replaced")
    return tuple(notes)


def kept_without(kinds: Sequence[str]) -> frozenset[str]:
    """What is kept where only these kinds are to be replaced; files and extras never are."""
    refuse_unknown_kinds(frozenset(kinds), "kind to replace")
    return frozenset(KINDS) - frozenset(kinds) - _NOT_IN_TEXT


class SpeakerPass:
    """A corpus without its speakers, the names given, and things with a pattern."""

    def __init__(
        self,
        corpus: Corpus,
        names: Sequence[str],
        keep: frozenset[str],
        kept: frozenset[str] = frozenset(),
    ) -> None:
        """`kept`: folded forms of speakers' names that stay."""
        refuse_unknown_kinds(keep)
        if "extra" in keep:
            names = (*names, *_reactors(corpus))
        called = [alias.name for chat in corpus.chats for alias in chat.aliases]
        speakers = list(_speakers(corpus))
        texts = list(_texts(corpus))
        self.stand_ins = StandIns(
            names_held((*speakers, *called, *names)), wording(texts, (*speakers, *names))
        )
        for text in (*texts, *speakers):
            self.stand_ins.reserve(text)
        self._keep = keep
        self._persons = _persons(corpus, self.stand_ins)
        self._everyone, chats = Names(), {}
        for chat in corpus.chats:
            chats[chat.id] = _names_in(chat, self._persons, self.stand_ins)
        # Across chats a speaker's own name is surer than another speaker's nickname.
        for speaker, person in self._persons.items():
            self._everyone.add(speaker, person, own=len(corpus.chats) == 1)
        for chat in corpus.chats:
            for alias in chat.aliases:
                self._everyone.add(alias.name, self._persons[alias.speaker])
        self._forms = SpeakerForms(kept)
        for name in names:
            if given := name.strip():
                person = self._known(given) or self._make("person", given)
                self._everyone.add(given, person)
                self._forms.add(person, given)
        for person, name in {pair for chat in corpus.chats for pair in _named(chat, self._persons)}:
            self._forms.add(person, name)
        ordinary = {
            chat.id: ordinary_words([message.text for message in chat.messages])
            for chat in corpus.chats
        }
        scanner = Scanner(self.stand_ins, self._everyone, chats, keep, ordinary, self._forms)
        bare = Scanner(self.stand_ins, self._everyone, chats, ordinary=ordinary)
        rewriter = Rewriter(scanner, bare, self._persons, self.stand_ins, keep)
        self.redacted = rewriter.corpus(corpus)
        self.left = scanner.left
        self._corpus = corpus
        for person, form in self._forms.met if kept else ():
            if fold(form) in kept:
                self.stand_ins.originals[person].pop(form, None)
        self._words = SpeakersWords(self._everyone, merged(ordinary.values()))

    def candidates(self, sources: Sequence[MentionSource]) -> list[NameCandidate]:
        """What the sources find in it, of the kinds that are not kept; speakers' forms before."""
        places = list(_placed(self.redacted))
        persons: dict[str, str] = {}
        for speaker in self._persons:
            for part in () if STAND_IN.fullmatch(speaker) else parts(speaker):
                persons.setdefault(fold_word(part), speaker)
        found = candidates(places, sources, persons, list(_texts(self._corpus)))
        others = (
            each
            for each in found
            if MENTION_KINDS[each.kind] not in self._keep and not self._words.are_in(each.form)
        )
        return [*self._speakers_forms(), *others]

    def _speakers_forms(self) -> Iterator[NameCandidate]:
        """What was taken for a speaker's name and is not written like it."""
        ids = dict(reversed(list(_placed(self._corpus))))
        called = {person: name for name, person in reversed(self._persons.items())}
        for (person, form), met in self._forms.met.items():
            text, start = met.places[0]
            places = (ids.get(text, "") for text, _ in met.places)
            yield NameCandidate(
                form,
                "person",
                met.count,
                1.0,
                SPEAKERS,
                tuple(filter(None, dict.fromkeys(places))),
                sentence_around(text, start, start + len(form)),
                same_as=called.get(person) or next(iter(self.stand_ins.originals[person]), ""),
                small=True,
                is_doubted=True,  # it may be a word
            )

    def names_kept(self, kept: frozenset[str]) -> int:
        """How many of these folded forms are speakers' names as such, which go all the same."""
        return len(kept & set(map(fold, self._persons)))

    def without(
        self, chosen: Sequence[NameCandidate], kept: frozenset[str] = frozenset()
    ) -> Corpus:
        """The corpus without these, too; `kept`: folded forms that stay."""
        others = Names(capitals_only=True)
        whole = {
            fold_word(part): each.form
            for each in reversed(chosen)
            if each.kind == "person" and len(words := parts(each.form)) > 1
            for part in words
        }
        for each in chosen:
            if each.kind == "person":
                person = self._person(each, others, whole)
                others.add_other(each.form, person, small=each.small)
                self.stand_ins.note(person, each.form)
            else:
                others.add_phrase(each.form, self._make(each.kind, each.form), small=each.small)
        if others.is_empty:
            return self.redacted
        second = Scanner(self.stand_ins, others, {}, forms=SpeakerForms(kept))
        same = {person: person for person in self._persons.values()}
        rewriter = Rewriter(second, second, same, self.stand_ins, frozenset(KINDS))
        return rewriter.corpus(self.redacted)

    def _person(self, each: NameCandidate, others: Names, whole: Mapping[str, str]) -> str:
        """Whose stand-in somebody has: of the person named, of the whole name, or a new one."""
        if each.same_as:
            if STAND_IN.fullmatch(each.same_as):
                return each.same_as
            if known := self._known(each.same_as) or _found(others, each.same_as):
                return known
            return self._make("person", each.same_as)
        if known := _found(others, each.form):
            return known
        return self._make("person", whole.get(fold_word(each.form), each.form))

    def _known(self, name: str) -> str | None:
        return self._persons.get(name) or _found(self._everyone, name)

    def _make(self, kind: str, original: str) -> str:
        return self.stand_ins.make("Person" if kind == "person" else kind, original)


def _found(names: Names, name: str) -> str | None:
    if person := names.squashed.get(squashed(name)):
        return person
    return next((span.person for span in names.find(name) if span.end == len(name)), None)


def refuse_unknown_kinds(kinds: frozenset[str], what: str = "kind to keep") -> None:
    """Raises where something that nobody knows is to be kept."""
    for kind in sorted(kinds):
        if kind not in KINDS:
            raise suggest(what, kind, list(KINDS))


def _order(stand_in: str) -> tuple[str, int]:
    digits = "".join(sign for sign in stand_in if sign.isdigit())
    return stand_in.rstrip("0123456789>"), int(digits)


def _texts(corpus: Corpus) -> Iterator[str]:
    return (text for text, _ in _placed(corpus))


def _placed(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Every text that may name somebody, and the id of its message."""
    for chat in corpus.chats:
        for message in chat.messages:
            yield message.text, message.id
            for attachment in message.attachments:
                yield attachment.caption, message.id
                yield attachment.name, message.id
                yield attachment.url, message.id
        for event in chat.events:
            yield event.text, ""
        for question in chat.questions:
            yield question.text, ""
            yield question.answer or "", ""


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
