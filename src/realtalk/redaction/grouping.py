"""Candidates → one row per name: all forms of a word, and of a person, are decided on together.

    grouped([Ingrid, INGRID, Ingrids, "Ingrid Berg"])   → one NameGroup with four forms
    grouped([William, Bill (same_as="William")])        → one NameGroup, "William"

Forms that differ in case or accents are one word. Endings join the word that they belong to, parts
of a full name the one person who has them, nicknames and slips the person whose they are. What was
taken for a speaker's name joins by case alone: "rose" may be a word where "Rosie" is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from realtalk.redaction.candidates import SPEAKERS, NameCandidate
from realtalk.redaction.names import Names
from realtalk.text.folding import fold, fold_word, parts

_Bucket = list[NameCandidate]


@dataclass(frozen=True, slots=True)
class NameGroup:
    """One name in all the forms in which it was found, the one that names it best first."""

    members: tuple[NameCandidate, ...]

    @property
    def head(self) -> NameCandidate:
        return self.members[0]

    @property
    def is_replaced(self) -> bool:
        return any(each.is_replaced for each in self.members)

    @property
    def is_sure(self) -> bool:
        return any(each.is_sure for each in self.members)

    @property
    def folds(self) -> frozenset[str]:
        return frozenset(fold(each.form) for each in self.members)

    @property
    def same_as(self) -> str:
        """Somebody else whose name it is, too."""
        others = (
            each.same_as
            for each in self.members
            if each.source == SPEAKERS or fold(each.same_as) not in self.folds
        )
        return next(filter(None, others), "")

    @property
    def listed(self) -> tuple[NameCandidate, ...]:
        """The members that go where the group does; of a group that stays, all."""
        if not self.is_replaced:
            return self.members
        going = [each for each in self.members if each.is_replaced]
        names = _names_of(going) if len(going) < len(self.members) else Names()
        return tuple(each for each in self.members if each.is_replaced or _meant(names, each.form))

    @property
    def count(self) -> int:
        """Of places; where a full name stands, its words were counted."""
        listed = self.listed
        folds = {fold(each.form) for each in listed}
        return sum(each.count for each in listed if not _has_counted_words(each, folds))


def _has_counted_words(each: NameCandidate, folds: set[str]) -> bool:
    words = parts(each.form)
    return len(words) > 1 and any(fold(word) in folds for word in words)


def grouped(found: Iterable[NameCandidate]) -> list[NameGroup]:
    """The groups, in the order in which their first forms were found."""
    by_fold: dict[str, _Bucket] = {}
    order: dict[int, int] = {}
    for at, each in enumerate(found):
        by_fold.setdefault(fold(each.form), []).append(each)
        order[id(each)] = at
    into = _joined(by_fold)
    together: dict[str, _Bucket] = defaultdict(list)
    for key, bucket in by_fold.items():
        together[_root(key, into)] += bucket
    groups = [NameGroup(tuple(sorted(some, key=_rank))) for some in together.values()]
    return sorted(groups, key=lambda group: min(order[id(each)] for each in group.members))


def _rank(each: NameCandidate) -> tuple[bool, int, bool, int, bool, str]:
    """What names a group best: what goes, the longest name, no nickname, the commonest form."""
    words = len(parts(each.form)) if each.kind == "person" and each.is_replaced else 1
    small = each.form.islower()
    return not each.is_replaced, -words, bool(each.same_as), -each.count, small, each.form


def _root(key: str, into: dict[str, str]) -> str:
    seen = {key}
    while (after := into.get(key)) is not None and after not in seen:
        key = after
        seen.add(key)
    return key


def _joined(by_fold: dict[str, _Bucket]) -> dict[str, str]:
    """Which word joins which, both folded."""
    into: dict[str, str] = {}
    others = {
        key: bucket
        for key, bucket in by_fold.items()
        if all(each.source != SPEAKERS for each in bucket)
    }
    for key, bucket in others.items():
        for each in bucket:
            if (whose := fold(each.same_as)) in others and whose != key:
                into[key] = whose
    names = Names()
    taken: dict[str, str] = {}  # label → the word that has it
    for label, key, word in _words_to_know(others):
        if label not in taken:
            names.add_other(word, label)
            taken[label] = key
    # Short before long: what a word is with an ending is looked up among those before it.
    single = [key for key, bucket in others.items() if len(parts(bucket[0].form)) == 1]
    for key in sorted(single, key=lambda key: (not _goes(others[key]), len(key), key)):
        if key in into:
            continue
        word = max(others[key], key=lambda each: each.count).form
        whose = taken.get(_meant(names, word) or "", "")
        if (
            whose
            and whose != key
            and _fit(others[whose], others[key])
            and _root(whose, into) != key
        ):
            into[key] = whose
        elif not whose:
            names.add_other(word, key)
            taken[key] = key
    return into


def _words_to_know(others: dict[str, _Bucket]) -> Iterator[tuple[str, str, str]]:
    """Parts of full names that only one person has, labelled."""
    whose: dict[str, set[str]] = defaultdict(set)
    written: dict[str, str] = {}
    for key, bucket in others.items():
        if bucket[0].kind == "person" and _goes(bucket) and len(words := parts(bucket[0].form)) > 1:
            for word in words:
                whose[fold_word(word)].add(key)
                written.setdefault(fold_word(word), word)
    for part, keys in whose.items():
        if len(keys) == 1 and len(part) > 1:
            (key,) = keys
            yield f"{key}\0{part}", key, written[part]


def _goes(bucket: Sequence[NameCandidate]) -> bool:
    return any(each.is_replaced for each in bucket)


def _fit(whose: Sequence[NameCandidate], bucket: Sequence[NameCandidate]) -> bool:
    """Whether a word may join another: of one kind, or doubted by itself."""
    return whose[0].kind == bucket[0].kind or (_goes(whose) and not _goes(bucket))


def _names_of(members: Iterable[NameCandidate]) -> Names:
    names = Names(capitals_only=True)
    for each in members:
        add = names.add_other if each.kind == "person" else names.add_phrase
        add(each.form, each.form, small=each.small)
    return names


def _meant(names: Names, form: str) -> str | None:
    """Whose name a whole form is, in some of its shapes."""
    return next((one.person for one in names.find(form) if one.end - one.start == len(form)), None)
