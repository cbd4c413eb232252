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
"आशा"; `ordinary`) goes only where it stands like a name ("hey will"; `text`), and `Key.left`
counts the others; titles and the small words in names ("Dr", "de") stay; a name of one digit does,
and forms that a ticked table keeps (`names`), which are never the name as it is written.
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
    MENTION_KINDS,
    SHOWN,
    SPEAKERS,
    BirthdayRule,
    CapitalsRule,
    MentionSource,
    NameCandidate,
    candidates,
    sentence_around,
)
from realtalk.redaction.names import Names, SpeakerForms, SpeakersWords, names_held, squash
from realtalk.redaction.review import NameDecision, Verdict, decide
from realtalk.redaction.rewriting import Rewriter, changed_fields, restore
from realtalk.redaction.standins import STAND_IN, StandIns, kind_and_number, kind_of, wording
from realtalk.redaction.text import Scanner
from realtalk.registry import known_name
from realtalk.text.folding import fold, fold_word, parts
from realtalk.text.ordinary import merge_words, ordinary_words

# What `keep` can leave as it is. Speakers and the names given are always replaced.
KINDS = tuple(
    """
    people places organisations birthdays handles phones emails links addresses numbers files
    extra
    """.split()  # noqa: SIM905 - words read better than quotes
)
_NOT_IN_TEXT = frozenset({"files", "extra"})
RULES: tuple[MentionSource, ...] = (CapitalsRule(), BirthdayRule())


@dataclass(frozen=True, slots=True)
class Key:
    """Stand-ins and what they stand for. Private: whoever has it can undo the redaction."""

    entries: tuple[tuple[str, tuple[str, ...]], ...] = field(repr=False)
    left: int = 0  # speakers' names that stand like ordinary words
    changed: Mapping[str, Any] = field(default_factory=dict, repr=False)  # as `rewriting` keeps it
    notes: tuple[str, ...] = ()  # on the decisions, without a name

    def to_json(self) -> dict[str, list[str]]:
        return {stand_in: list(originals) for stand_in, originals in self.entries}

    def to_file(self) -> dict[str, Any]:
        """Who is who, and all that `restore` needs: what a key file holds."""
        return {**self.to_json(), "restore": self.changed}

    def restore(self, redacted: Corpus) -> Corpus:
        """The corpus as it was, from what redaction made of it."""
        return restore(redacted, self.changed)

    def is_named_in(self, text: str) -> bool:
        """Whether a text, such as a folder's name, holds one of the names."""
        names = Names()
        for stand_in, originals in self.entries:
            for original in originals if kind_of(stand_in) == "person" else ():
                names.add(original, stand_in)
        return Scanner(StandIns(), names, {}).text(text, "", dense=True) != text

    def counts(self) -> dict[str, int]:
        """How many different things of each kind were replaced; this is not private."""
        kinds = Counter(kind_of(stand_in) for stand_in, _ in self.entries)
        order = sorted(kinds, key=lambda kind: (kind != "person", kind))
        return {kind: kinds[kind] for kind in order}


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
    verdict = decide(first.candidates(sources), decisions)
    notes = _notes(verdict, first)
    if verdict.kept_of_speakers:
        first = SpeakerPass(corpus, names, keep, verdict.kept_of_speakers)
    final = first.without(verdict.chosen, verdict.kept)
    originals = first.stand_ins.originals
    entries = tuple((name, tuple(originals[name])) for name in sorted(originals, key=_order))
    return final, Key(entries, first.left, changed_fields(corpus, final), notes)


def find_candidates(
    corpus: Corpus,
    *,
    names: Sequence[str] = (),
    keep: frozenset[str] = frozenset(),
    sources: Sequence[MentionSource] = RULES,
) -> list[NameCandidate]:
    """What `redact` would replace besides speakers' names as such and things with a pattern."""
    return SpeakerPass(corpus, names, keep).candidates(sources)


def _notes(verdict: Verdict, first: SpeakerPass) -> tuple[str, ...]:
    """What somebody who ticked a table should know."""
    notes = []
    if verdict.contradicted:
        notes.append(
            f"forms in a row to keep and in one to replace: {verdict.contradicted:,}, kept"
        )
    if own := len(verdict.kept.intersection(map(fold, first.persons))):
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
        stay: frozenset[str] = frozenset(),
    ) -> None:
        """`stay`: folded forms of speakers' names that stay."""
        refuse_unknown_kinds(keep)
        if "extra" in keep:
            names = (*names, *_reactors(corpus))
        aliases = [alias.name for chat in corpus.chats for alias in chat.aliases]
        speakers = list(_chats_of(corpus))
        texts = [text for text, _ in _texts_with_ids(corpus)]
        self.stand_ins = StandIns(
            names_held((*speakers, *aliases, *names)), wording(texts, (*speakers, *names))
        )
        for text in (*texts, *speakers):
            self.stand_ins.reserve(text)
        self._corpus, self._keep = corpus, keep
        self.persons = _persons(corpus, self.stand_ins)
        self._everyone = Names()
        self._forms = SpeakerForms(stay)
        own: dict[str, Names] = {}
        for chat in corpus.chats:
            own[chat.id] = Names()
            # Whole speakers' names first, for they are surest.
            called = [(who, who) for who in dict.fromkeys(_in_chat(chat))]
            called += [(alias.speaker, alias.name) for alias in chat.aliases]
            for who, name in called:
                person = self.persons[who]
                own[chat.id].add(name, person)
                self._forms.add(person, name)
                if name and not STAND_IN.fullmatch(name):
                    self.stand_ins.note(person, name)
        # Across chats a speaker's own name is surer than another speaker's nickname.
        for speaker, person in self.persons.items():
            self._everyone.add(speaker, person, own=len(corpus.chats) == 1)
        for chat in corpus.chats:
            for alias in chat.aliases:
                self._everyone.add(alias.name, self.persons[alias.speaker])
        for name in filter(None, map(str.strip, names)):
            person = self._find_known(name) or self.stand_ins.make("person", name)
            self._everyone.add(name, person)
            self._forms.add(person, name)
        ordinary = {
            chat.id: ordinary_words([message.text for message in chat.messages])
            for chat in corpus.chats
        }
        scanner = Scanner(self.stand_ins, self._everyone, own, keep, ordinary, self._forms)
        bare = Scanner(self.stand_ins, self._everyone, own, ordinary=ordinary)
        self.redacted = Rewriter(scanner, bare, self.persons, keep).corpus(corpus)
        self.left = scanner.left
        for person, form in self._forms.met if stay else ():
            if fold(form) in stay:
                self.stand_ins.originals[person].pop(form, None)
        self._words = SpeakersWords(self._everyone, merge_words(ordinary.values()))

    def candidates(self, sources: Sequence[MentionSource]) -> list[NameCandidate]:
        """What the sources find in it, of the kinds that are not kept; speakers' forms before."""
        persons: dict[str, str] = {}
        for speaker in self.persons:
            for part in () if STAND_IN.fullmatch(speaker) else parts(speaker):
                persons.setdefault(fold_word(part), speaker)
        originals = [text for text, _ in _texts_with_ids(self._corpus)]
        others = (
            candidate
            for candidate in candidates(
                list(_texts_with_ids(self.redacted)), sources, persons, originals
            )
            if MENTION_KINDS[candidate.kind] not in self._keep
            and not self._words.are_in(candidate.form)
        )
        return [*self._speakers_forms(), *others]

    def _speakers_forms(self) -> Iterator[NameCandidate]:
        """What was taken for a speaker's name and is not written like it."""
        ids = dict(reversed(list(_texts_with_ids(self._corpus))))
        names_of = {person: name for name, person in reversed(self.persons.items())}
        for (person, form), met in self._forms.met.items():
            text, start = met[0]
            places = (ids.get(text, "") for text, _ in met[:SHOWN])
            yield NameCandidate(
                form,
                "person",
                len(met),
                1.0,
                SPEAKERS,
                tuple(filter(None, dict.fromkeys(places))),
                sentence_around(text, start, start + len(form)),
                same_as=names_of.get(person) or next(iter(self.stand_ins.originals[person]), ""),
                small=True,
                is_doubted=True,  # it may be a word
            )

    def without(
        self, replacements: Sequence[NameCandidate], stay: frozenset[str] = frozenset()
    ) -> Corpus:
        """The corpus without these, too; `stay`: folded forms that stay."""
        others = Names(capitals_only=True)
        whole = {
            fold_word(part): candidate.form
            for candidate in reversed(replacements)
            if candidate.kind == "person" and len(words := parts(candidate.form)) > 1
            for part in words
        }
        for candidate in replacements:
            form, small = candidate.form, candidate.small
            if candidate.kind == "person":
                person = self._person(candidate, others, whole)
                others.add_other(form, person, small=small)
                self.stand_ins.note(person, form)
            else:
                others.add_phrase(form, self.stand_ins.make(candidate.kind, form), small=small)
        if others.is_empty:
            return self.redacted
        scanner = Scanner(self.stand_ins, others, {}, forms=SpeakerForms(stay))
        same = {person: person for person in self.persons.values()}
        return Rewriter(scanner, scanner, same, frozenset(KINDS)).corpus(self.redacted)

    def _person(self, candidate: NameCandidate, others: Names, whole: Mapping[str, str]) -> str:
        """Whose stand-in somebody has: of the person named, of the whole name, or a new one."""
        same, form = candidate.same_as, candidate.form
        if STAND_IN.fullmatch(same):
            return same
        if person := (same and self._find_known(same)) or _find_person(others, same or form):
            return person
        return self.stand_ins.make("person", same or whole.get(fold_word(form), form))

    def _find_known(self, name: str) -> str | None:
        return self.persons.get(name) or _find_person(self._everyone, name)


def _find_person(names: Names, name: str) -> str | None:
    if person := names.squashed.get(squash(name)):
        return person
    return next((span.person for span in names.find(name) if span.end == len(name)), None)


def refuse_unknown_kinds(kinds: frozenset[str], what: str = "kind to keep") -> None:
    """Raises where something that nobody knows is to be kept."""
    for kind in sorted(kinds):
        known_name(what, kind, KINDS)


def _order(stand_in: str) -> tuple[str, int]:
    return stand_in.rstrip("0123456789>"), kind_and_number(stand_in)[1]


def _texts_with_ids(corpus: Corpus) -> Iterator[tuple[str, str]]:
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


def _chats_of(corpus: Corpus) -> dict[str, set[int]]:
    """Speakers, and in which chats they are."""
    chats: dict[str, set[int]] = {}
    for number, chat in enumerate(corpus.chats):
        for name in _in_chat(chat):
            chats.setdefault(name, set()).add(number)
    return chats


def _reactors(corpus: Corpus) -> list[str]:
    """Who only reacted: people whose names stand in `extra`, and who said nothing."""
    messages = (message for chat in corpus.chats for message in chat.messages)
    people = dict.fromkeys(name for each in messages for mark in each.reactions for name in mark.by)
    speakers = _chats_of(corpus)
    return [name for name in people if name not in speakers and not STAND_IN.fullmatch(name)]


def _persons(corpus: Corpus, stand_ins: StandIns) -> dict[str, str]:
    """Speakers and their stand-ins. "Mara" and "mara" are one unless they meet in a chat."""
    groups: dict[str, list[tuple[str, set[int]]]] = {}  # of one spelling: a person, and their chats
    persons: dict[str, str] = {}
    for name, chats in _chats_of(corpus).items():
        if not name:
            persons[name] = name  # nobody
            continue
        same = groups.setdefault(name.casefold(), [])
        group = next((group for group in same if chats.isdisjoint(group[1])), None)
        if group is None:
            group = (stand_ins.make("person", name, name), set())
            same.append(group)
        stand_ins.note(group[0], name)
        group[1].update(chats)
        persons[name] = group[0]
    return persons
