"""What redaction is to replace → a table to tick, one row per name, and back.

    write_review(path, found)         a CSV: decision, form, kind, same_as, forms, sure, count, …
    decisions = read_review(path)     → NameDecisions of the same rows, as their owner left them

Nothing is written but the table, which only its owner can read: it holds the names. Likely names
come first, what is doubtful (and stays) last. `decision` is "replace" or "keep"; a changed `kind`
and `same_as` (somebody whose name it is too) count as well, and a row that is added is replaced
wherever its form stands. Where a form is in two rows, or in another row's forms, keep wins.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from realtalk.errors import RealtalkError
from realtalk.local.spreadsheets import guarded, unguarded
from realtalk.local.writing import write_text
from realtalk.redaction.candidates import SPEAKERS, NameCandidate
from realtalk.redaction.grouping import NameGroup, grouped
from realtalk.redaction.mentions import MENTION_KINDS
from realtalk.registry import suggest
from realtalk.text.folding import fold

COLUMNS = (
    "decision",
    "form",
    "kind",
    "same_as",
    "forms",
    "sure",
    "count",
    "context",
    "source",
    "where",
)
DOUBTFUL = "doubtful"  # of a row, beside its cells
_NEEDED = ("decision", "form", "kind")
BETWEEN = " | "  # the forms of a row
_SHOWN = 3  # ids of a row
_YES = frozenset({"replace", "yes", "y", "x", "1", "true"})
_NO = frozenset({"keep", "no", "n", "0", "false"})


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
    found: Iterable[NameCandidate], decisions: Iterable[NameDecision] = ()
) -> list[dict[str, str]]:
    """One row per name, as decided: likely ones, those that were added, doubtful ones.

    Besides the table's cells a row says whether it is `doubtful`: it stays by itself.
    """
    given = list(decisions)
    by_fold: dict[str, list[int]] = {}
    for at, each in enumerate(given):
        for key in each.folds:
            by_fold.setdefault(key, []).append(at)
    used: set[int] = set()
    likely: list[dict[str, str]] = []
    doubtful: list[dict[str, str]] = []
    for group in sorted(grouped(found), key=_likely_first):
        fitting = sorted({at for key in group.folds for at in by_fold.get(key, ())})
        used.update(fitting)
        cells = _cells(group, [given[at] for at in fitting])
        (likely if group.is_replaced else doubtful).append(cells)
    empty = dict.fromkeys((*COLUMNS, DOUBTFUL), "")
    added = [
        empty | _decided_cells(each) | {"forms": BETWEEN.join(each.forms or (each.form,))}
        for at, each in enumerate(given)
        if at not in used
    ]
    return [*likely, *added, *doubtful]


def _cells(group: NameGroup, decisions: Sequence[NameDecision]) -> dict[str, str]:
    head, listed = group.head, group.listed
    default = NameDecision(head.form, head.kind, group.is_replaced, group.same_as)
    # Of several decisions on one name the one that keeps it.
    decision = min(decisions, key=lambda each: each.is_replaced, default=default)
    places = dict.fromkeys(place for each in listed for place in each.places)
    return _decided_cells(decision) | {
        "form": head.form,
        "forms": BETWEEN.join(dict.fromkeys(each.form for each in listed)),
        "sure": "yes" if group.is_sure and group.is_replaced else "no",
        "count": str(group.count),
        "context": head.context,
        "source": head.source,
        "where": " ".join(list(places)[:_SHOWN]),
        DOUBTFUL: "" if group.is_replaced else "yes",
    }


def _likely_first(group: NameGroup) -> tuple[bool, bool, int, str]:
    return not group.is_replaced, not group.is_sure, -group.count, group.head.form


def _decided_cells(decision: NameDecision) -> dict[str, str]:
    return {
        "decision": "replace" if decision.is_replaced else "keep",
        "form": decision.form,
        "kind": decision.kind,
        "same_as": decision.same_as,
    }


def write_review(
    path: Path, found: Iterable[NameCandidate], decisions: Iterable[NameDecision] = ()
) -> int:
    """Writes the table for its owner alone; how many rows it has."""
    rows = review_rows(found, decisions)
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS)
    writer.writeheader()
    for row in rows:
        writer.writerow({name: guarded(row[name]) for name in COLUMNS})
    write_text(path, "\ufeff" + stream.getvalue())
    return len(rows)


def read_review(path: Path) -> list[NameDecision]:
    """The decisions of a table; a line that cannot be read is named."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RealtalkError("cannot be read as a table", where=str(path)) from error
    try:
        reader = csv.DictReader(io.StringIO(text), delimiter=_delimiter(text))
        names, rows = list(reader.fieldnames or ()), list(reader)
    except csv.Error as error:
        raise RealtalkError("cannot be read as a table", where=str(path)) from error
    anew = "remove it and write it anew with --review"
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


def _delimiter(text: str) -> str:
    """Sheets write semicolons where commas part decimals, and some write tabs."""
    head = text.partition("\n")[0]
    return max(",;\t", key=head.count)


def _decision(row: dict[str, str | None], line: int, path: Path) -> NameDecision:
    said = (row["decision"] or "").strip().casefold()
    kind = (row["kind"] or "").strip().casefold()
    if said not in _YES | _NO:
        raise RealtalkError(
            "the decision is neither replace nor keep", where=f"{path}, line {line}"
        )
    if kind not in MENTION_KINDS:
        raise suggest("kind", kind, list(MENTION_KINDS))
    form, same_as, forms = (unguarded(row.get(name) or "") for name in ("form", "same_as", "forms"))
    more = tuple(each for each in map(str.strip, forms.split(BETWEEN.strip())) if each)
    return NameDecision(form, kind, said in _YES, same_as.strip(), more)


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of candidates."""

    chosen: tuple[NameCandidate, ...]  # to be replaced
    kept: frozenset[str]  # folded forms that stay, whatever else would replace them
    kept_of_speakers: frozenset[str]  # those among them that were taken for a speaker's name
    contradicted: int = 0  # forms that are in a row to keep and in one to replace


def decided(found: Sequence[NameCandidate], decisions: Sequence[NameDecision]) -> Decided:
    """What is to be replaced, as the decisions say; keep wins."""
    kept = {key for each in decisions if not each.is_replaced for key in each.folds}
    replaced = [each for each in decisions if each.is_replaced]
    by_fold = {key: each for each in reversed(replaced) for key in each.folds}
    chosen: list[NameCandidate] = []
    of_speakers: set[str] = set()
    known: set[str] = set()
    for group in grouped(found):
        known |= group.folds
        for each in group.members:
            key, head = fold(each.form), fold(group.head.form)
            decision = by_fold.get(key, by_fold.get(head))
            if key in kept or (head in kept and key not in by_fold):
                of_speakers |= {key} if each.source == SPEAKERS else set()
            elif each.source == SPEAKERS:
                if decision is not None and decision.same_as not in ("", each.same_as):
                    of_speakers.add(key)  # not this speaker's, but somebody else's
                    chosen.append(_as_decided(each, decision, group))
            elif decision is None:
                chosen += [_in_group(each, group)] if each.is_replaced else []
            elif _goes(each, group, decision):
                chosen.append(_as_decided(each, decision, group))
    for decision in replaced:
        chosen += _added(decision, known | kept)
    both = kept & by_fold.keys()
    return Decided(tuple(chosen), frozenset(kept), frozenset(of_speakers), len(both))


def _goes(each: NameCandidate, group: NameGroup, decision: NameDecision) -> bool:
    """Whether a form goes with its row: by itself, since the row was ticked, or since it was added.

    A row that goes by itself leaves the forms that are words there: "Rose" goes, "rose" stays.
    """
    if each.is_replaced or not group.is_replaced:
        return True
    return each.form in decision.forms and each not in group.listed


def _in_group(each: NameCandidate, group: NameGroup) -> NameCandidate:
    """A form with the person whose form it is: the group's, unless it has one."""
    if each.kind != "person" or each.same_as or each is group.head:
        return each
    return replace(each, same_as=group.same_as or group.head.form)


def _as_decided(each: NameCandidate, decision: NameDecision, group: NameGroup) -> NameCandidate:
    """A form as its row says; one that would have stayed goes as it was found."""
    own = fold(decision.same_as) not in group.folds
    same_as = decision.same_as if own else ""
    if not same_as and each is not group.head and decision.kind == "person":
        same_as = group.head.form
    small = each.small or (not each.is_replaced and each.form.islower())
    return replace(
        each, kind=decision.kind, score=1.0, source="review", same_as=same_as, small=small
    )


def _added(decision: NameDecision, known: set[str]) -> Iterator[NameCandidate]:
    """Forms that nobody found."""
    for form in dict.fromkeys((decision.form, *decision.forms)):
        if fold(form) not in known:
            same_as = decision.same_as or (decision.form if form != decision.form else "")
            yield NameCandidate(form, decision.kind, 0, 1.0, "review", same_as=same_as, small=True)
