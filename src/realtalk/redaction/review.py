"""What redaction is to replace → a table to tick, one row per name, and back.

    write_review(path, found)         a CSV: decision, form, kind, same_as, forms, sure, count, …
    decisions = read_review(path)     → NameDecisions of the same rows, as their owner left them

Nothing is written but the table, which only its owner can read: it holds the names. Likely names
come first, what is doubtful (and stays) last. `decision` is "replace" or "keep"; a changed `kind`
and `same_as` (somebody whose name it is too) count as well, and a row that is added is replaced
wherever its form stands. Where a form is in two rows, or in another row's forms, keep wins.

All forms of a word, and of a person, are one row and decided on together. Forms that differ in case
or accents are one word; endings join the word that they belong to ("Ingrids"), parts of a full name
the one person who has them, nicknames and slips the person whose they are. What was taken for a
speaker's name joins by case alone: "rose" may be a word where "Rosie" is not.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from realtalk.errors import RealtalkError
from realtalk.files.spreadsheets import guard_cell, unguard_cell
from realtalk.files.writing import write_text
from realtalk.grouping import grouped
from realtalk.redaction.candidates import MENTION_KINDS, SPEAKERS, NameCandidate
from realtalk.redaction.names import Names
from realtalk.registry import known_name
from realtalk.text.folding import fold, fold_word, parts

_Bucket = list[NameCandidate]
Cells = dict[str, str]  # of a row


@dataclass(frozen=True, slots=True)
class NameGroup:
    """One name in all the forms in which it was found, the one that names it best first."""

    members: tuple[NameCandidate, ...]

    @property
    def head(self) -> NameCandidate:
        return self.members[0]

    @property
    def is_replaced(self) -> bool:
        return any(member.is_replaced for member in self.members)

    @property
    def is_sure(self) -> bool:
        return any(member.is_sure for member in self.members)

    @property
    def folds(self) -> frozenset[str]:
        return frozenset(fold(member.form) for member in self.members)

    @property
    def same_as(self) -> str:
        """Somebody else whose name it is, too."""
        others = (
            member.same_as
            for member in self.members
            if member.source == SPEAKERS or fold(member.same_as) not in self.folds
        )
        return next(filter(None, others), "")

    @property
    def listed_members(self) -> tuple[NameCandidate, ...]:
        """The members that go where the group does; of a group that stays, all."""
        if not self.is_replaced:
            return self.members
        going = [member for member in self.members if member.is_replaced]
        names = _names_of(going) if len(going) < len(self.members) else Names()
        return tuple(
            member
            for member in self.members
            if member.is_replaced or _find_owner(names, member.form)
        )

    @property
    def count(self) -> int:
        """Of places; where a full name stands, its words were counted."""
        listed = self.listed_members
        folds = {fold(member.form) for member in listed}
        total = 0
        for candidate in listed:
            words = parts(candidate.form)
            if len(words) < 2 or folds.isdisjoint(map(fold, words)):
                total += candidate.count
        return total


def group_names(candidates: Iterable[NameCandidate]) -> list[NameGroup]:
    """The groups, in the order in which their first forms were found."""
    listed = list(candidates)
    order = {id(candidate): at for at, candidate in enumerate(listed)}
    by_fold = grouped((fold(candidate.form), candidate) for candidate in listed)
    into = _find_joins(by_fold)
    together: dict[str, _Bucket] = defaultdict(list)
    for key, bucket in by_fold.items():
        together[_root(key, into)] += bucket
    groups = [NameGroup(tuple(sorted(some, key=_rank))) for some in together.values()]
    return sorted(groups, key=lambda group: min(order[id(member)] for member in group.members))


def _rank(candidate: NameCandidate) -> tuple[bool, int, bool, int, bool, str]:
    """What names a group best: what goes, the longest name, no nickname, the commonest form."""
    words = (
        len(parts(candidate.form)) if candidate.kind == "person" and candidate.is_replaced else 1
    )
    small = candidate.form.islower()
    return (
        not candidate.is_replaced,
        -words,
        bool(candidate.same_as),
        -candidate.count,
        small,
        candidate.form,
    )


def _root(key: str, into: Cells) -> str:
    path = {key}
    while (after := into.get(key)) is not None and after not in path:
        key = after
        path.add(key)
    return key


def _find_joins(by_fold: dict[str, _Bucket]) -> Cells:
    """Which word joins which, both folded."""
    into: Cells = {}
    others = {
        key: bucket
        for key, bucket in by_fold.items()
        if all(member.source != SPEAKERS for member in bucket)
    }
    for key, bucket in others.items():
        for candidate in bucket:
            if (whose := fold(candidate.same_as)) in others and whose != key:
                into[key] = whose
    names = Names()
    for key, word in _words_to_know(others):
        names.add_other(word, key)
    # Short before long: what a word is with an ending is looked up among those before it.
    single = [key for key, bucket in others.items() if len(parts(bucket[0].form)) == 1]
    for key in sorted(single, key=lambda key: (not _any_goes(others[key]), len(key), key)):
        if key in into:
            continue
        word = max(others[key], key=lambda candidate: candidate.count).form
        owner = _find_owner(names, word)
        if owner is None:
            names.add_other(word, key)
        elif owner != key and _root(owner, into) != key:
            whole, own = others[owner], others[key]
            # A word joins one of its kind, or any where it is doubted by itself.
            if whole[0].kind == own[0].kind or (_any_goes(whole) and not _any_goes(own)):
                into[key] = owner
    return into


def _words_to_know(others: dict[str, _Bucket]) -> Iterator[tuple[str, str]]:
    """Parts of full names that only one person has, and whose they are."""
    whose: dict[str, set[str]] = defaultdict(set)
    spellings: Cells = {}
    for key, bucket in others.items():
        if (
            bucket[0].kind == "person"
            and _any_goes(bucket)
            and len(words := parts(bucket[0].form)) > 1
        ):
            for word in words:
                whose[fold_word(word)].add(key)
                spellings.setdefault(fold_word(word), word)
    for part, keys in whose.items():
        if len(keys) == 1 and len(part) > 1:
            (key,) = keys
            yield key, spellings[part]


def _any_goes(bucket: Sequence[NameCandidate]) -> bool:
    return any(member.is_replaced for member in bucket)


def _names_of(members: Iterable[NameCandidate]) -> Names:
    names = Names(capitals_only=True)
    for member in members:
        add = names.add_other if member.kind == "person" else names.add_phrase
        add(member.form, member.form, small=member.small)
    return names


def _find_owner(names: Names, form: str) -> str | None:
    """Whose name a whole form is, in some of its shapes."""
    return next(
        (span.person for span in names.find(form) if span.end - span.start == len(form)), None
    )


COLUMNS = tuple("decision form kind same_as forms sure count context source where".split())  # noqa: SIM905 - words read better than quotes
DOUBTFUL = "doubtful"  # of a row, beside its cells
_NEEDED = ("decision", "form", "kind")
BETWEEN = " | "  # the forms of a row
_SHOWN = 3  # ids of a row
_YES = frozenset("replace yes y x 1 true".split())  # noqa: SIM905
_NO = frozenset("keep no n 0 false".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class NameDecision:
    """One row of a table that somebody has ticked."""

    form: str
    kind: str
    is_replaced: bool
    same_as: str = ""
    forms: tuple[str, ...] = ()  # more of the same name

    @property
    def folds(self) -> frozenset[str]:
        return frozenset(map(fold, (self.form, *self.forms)))


def review_rows(
    candidates: Iterable[NameCandidate], decisions: Iterable[NameDecision] = ()
) -> list[Cells]:
    """One row per name, as decided: likely ones, those that were added, doubtful ones.

    Besides the table's cells a row says whether it is `doubtful`: it stays by itself.
    """
    answers = list(decisions)
    by_fold = grouped((key, at) for at, answer in enumerate(answers) for key in answer.folds)
    used: set[int] = set()
    rows: list[Cells] = []
    for group in group_names(candidates):
        fitting = sorted({at for key in group.folds for at in by_fold.get(key, ())})
        used.update(fitting)
        rows.append(_cells(group, [answers[at] for at in fitting]))
    empty = dict.fromkeys((*COLUMNS, DOUBTFUL), "")
    added = [
        empty | _decided_cells(answer) | {"forms": BETWEEN.join(answer.forms or (answer.form,))}
        for at, answer in enumerate(answers)
        if at not in used
    ]
    rows.sort(key=lambda row: (row["sure"] != "yes", -int(row["count"]), row["form"]))
    likely, doubtful = ([row for row in rows if row[DOUBTFUL] == kind] for kind in ("", "yes"))
    return [*likely, *added, *doubtful]


def _cells(group: NameGroup, decisions: Sequence[NameDecision]) -> Cells:
    head, listed = group.head, group.listed_members
    default = NameDecision(head.form, head.kind, group.is_replaced, group.same_as)
    # Of several decisions on one name the one that keeps it.
    decision = min(decisions, key=lambda answer: answer.is_replaced, default=default)
    places = dict.fromkeys(place for member in listed for place in member.places)
    return _decided_cells(decision) | {
        "form": head.form,
        "forms": BETWEEN.join(dict.fromkeys(member.form for member in listed)),
        "sure": "yes" if group.is_sure and group.is_replaced else "no",
        "count": str(group.count),
        "context": head.context,
        "source": head.source,
        "where": " ".join(list(places)[:_SHOWN]),
        DOUBTFUL: "" if group.is_replaced else "yes",
    }


def _decided_cells(decision: NameDecision) -> Cells:
    return {
        "decision": "replace" if decision.is_replaced else "keep",
        "form": decision.form,
        "kind": decision.kind,
        "same_as": decision.same_as,
    }


def write_review(
    path: Path, candidates: Iterable[NameCandidate], decisions: Iterable[NameDecision] = ()
) -> int:
    """Writes the table for its owner alone; how many rows it has."""
    rows = review_rows(candidates, decisions)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: guard_cell(row[name]) for name in COLUMNS})
    write_text(path, "\ufeff" + stream.getvalue())
    return len(rows)


def read_review(path: Path) -> list[NameDecision]:
    """The decisions of a table; a line that cannot be read is named."""
    try:
        text = path.read_text("utf-8-sig")
        # Sheets write semicolons where commas part decimals, and some write tabs.
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.DictReader(io.StringIO(text), delimiter=delimiter)
        names, rows = list(reader.fieldnames or ()), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RealtalkError("cannot be read as a table", where=str(path)) from error
    anew = "remove it and write it anew with `review=`"
    for name in _NEEDED:
        if name not in names:
            raise RealtalkError(
                f"is no table of names: it has no column {name}", where=str(path), fix=anew
            )
    if "sure" in names and "forms" not in names:
        raise RealtalkError(
            "is a table of an older version, with a row for every form", where=str(path), fix=anew
        )
    return [_decision(row, number, path) for number, row in enumerate(rows, 2) if row["form"]]


def _decision(row: dict[str, str | None], line: int, path: Path) -> NameDecision:
    word = (row["decision"] or "").strip().casefold()
    kind = (row["kind"] or "").strip().casefold()
    if word not in _YES | _NO:
        raise RealtalkError(
            "the decision is neither replace nor keep", where=f"{path}, line {line}"
        )
    known_name("kind", kind, MENTION_KINDS)
    form, same_as, forms = (
        unguard_cell(row.get(name) or "") for name in ("form", "same_as", "forms")
    )
    more = tuple(part for part in map(str.strip, forms.split(BETWEEN.strip())) if part)
    return NameDecision(form, kind, word in _YES, same_as.strip(), more)


class Verdict(NamedTuple):
    """What becomes of candidates."""

    chosen: tuple[NameCandidate, ...]  # to be replaced
    kept: frozenset[str]  # folded forms that stay, whatever else would replace them
    kept_of_speakers: frozenset[str]  # those among them that were taken for a speaker's name
    contradicted: int = 0  # forms that are in a row to keep and in one to replace


def decide(found_candidates: Sequence[NameCandidate], decisions: Sequence[NameDecision]) -> Verdict:
    """What is to be replaced, as the decisions say; keep wins."""
    kept_folds = {key for answer in decisions if not answer.is_replaced for key in answer.folds}
    replaced = [answer for answer in decisions if answer.is_replaced]
    by_fold = {key: answer for answer in reversed(replaced) for key in answer.folds}
    candidates: list[NameCandidate] = []
    of_speakers: set[str] = set()
    folds: set[str] = set()
    for group in group_names(found_candidates):
        folds |= group.folds
        for member in group.members:
            key, head = fold(member.form), fold(group.head.form)
            decision = by_fold.get(key, by_fold.get(head))
            if key in kept_folds or (head in kept_folds and key not in by_fold):
                of_speakers |= {key} if member.source == SPEAKERS else set()
            elif member.source == SPEAKERS:
                if decision is not None and decision.same_as not in ("", member.same_as):
                    of_speakers.add(key)  # not this speaker's, but somebody else's
                    candidates.append(_as_decided(member, decision, group))
            elif decision is None:
                candidates += [_in_group(member, group)] if member.is_replaced else []
            elif _goes(member, group, decision):
                candidates.append(_as_decided(member, decision, group))
    for decision in replaced:
        candidates += _add_forms(decision, folds | kept_folds)
    both = kept_folds & by_fold.keys()
    return Verdict(tuple(candidates), frozenset(kept_folds), frozenset(of_speakers), len(both))


def _goes(candidate: NameCandidate, group: NameGroup, decision: NameDecision) -> bool:
    """Whether a form goes with its row: by itself, since the row was ticked, or since it was added.

    A row that goes by itself leaves the forms that are words there: "Rose" goes, "rose" stays.
    """
    if candidate.is_replaced or not group.is_replaced:
        return True
    return candidate.form in decision.forms and candidate not in group.listed_members


def _in_group(candidate: NameCandidate, group: NameGroup) -> NameCandidate:
    """A form with the person whose form it is: the group's, unless it has one."""
    if candidate.kind != "person" or candidate.same_as or candidate is group.head:
        return candidate
    return replace(candidate, same_as=group.same_as or group.head.form)


def _as_decided(
    candidate: NameCandidate, decision: NameDecision, group: NameGroup
) -> NameCandidate:
    """A form as its row says; one that would have stayed goes as it was found."""
    own = fold(decision.same_as) not in group.folds
    same_as = decision.same_as if own else ""
    if not same_as and candidate is not group.head and decision.kind == "person":
        same_as = group.head.form
    small = candidate.small or (not candidate.is_replaced and candidate.form.islower())
    return replace(
        candidate, kind=decision.kind, score=1.0, source="review", same_as=same_as, small=small
    )


def _add_forms(decision: NameDecision, folds: set[str]) -> Iterator[NameCandidate]:
    """Forms that nobody found."""
    for form in dict.fromkeys((decision.form, *decision.forms)):
        if fold(form) not in folds:
            same_as = decision.same_as or (decision.form if form != decision.form else "")
            yield NameCandidate(form, decision.kind, 0, 1.0, "review", same_as=same_as, small=True)
