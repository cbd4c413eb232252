"""What redaction is to replace besides speakers → a table to tick, and back.

    write_review(path, found)         a CSV: decision, form, kind, same_as, sure, count, …
    decisions = read_review(path)     → NameDecisions of the same rows, as their owner left them

Nothing is written but the table, which only its owner can read: it holds the names. `decision` is
"replace" or "keep"; a changed `kind` and `same_as` (somebody whose name it is too) count as well,
and a row that is added is replaced wherever its form stands.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from realtalk.corpora.redaction.candidates import NameCandidate
from realtalk.corpora.redaction.folding import fold
from realtalk.corpora.redaction.mentions import MENTION_KINDS
from realtalk.errors import RealtalkError
from realtalk.local.writing import write_text
from realtalk.registry import suggest

COLUMNS = ("decision", "form", "kind", "same_as", "sure", "count", "source", "where", "context")
_YES = frozenset({"replace", "yes", "y", "x", "1", "true"})
_NO = frozenset({"keep", "no", "n", "0", "false"})
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class NameDecision:
    """One row of a table that somebody has ticked."""

    form: str
    kind: str
    is_replaced: bool
    same_as: str = ""


def review_rows(
    found: Iterable[NameCandidate], decisions: Iterable[NameDecision] = ()
) -> list[dict[str, str]]:
    """One row per form, what is unsure first, as decided; at the end forms that were added."""
    said = {fold(each.form): each for each in decisions}
    ordered = sorted(found, key=lambda each: (each.is_sure, -each.count, each.form))
    rows = []
    for each in ordered:
        decision = said.pop(fold(each.form), None) or NameDecision(
            each.form, each.kind, each.is_replaced, each.same_as
        )
        rows.append(
            _decided_cells(decision)
            | {
                "form": each.form,
                "sure": "yes" if each.is_sure else "no",
                "count": str(each.count),
                "source": each.source,
                "where": " ".join(each.places),
                "context": each.context,
            }
        )
    empty = dict.fromkeys(COLUMNS, "")
    return rows + [empty | _decided_cells(each) for each in said.values()]


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
        # A sheet must not take a chat's text for a formula.
        writer.writerow(
            {name: f"'{text}" if text.startswith(_FORMULA) else text for name, text in row.items()}
        )
    write_text(path, "\ufeff" + stream.getvalue())
    return len(rows)


def read_review(path: Path) -> list[NameDecision]:
    """The decisions of a table; a line that cannot be read is named."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RealtalkError("cannot be read as a table", where=str(path)) from error
    rows = list(csv.DictReader(io.StringIO(text), delimiter=_delimiter(text)))
    if not rows and not text.startswith("decision"):
        raise RealtalkError("is no table of names", where=str(path), fix="write it with --review")
    for name in ("decision", "form", "kind"):
        if rows and name not in rows[0]:
            raise RealtalkError(f"has no column {name}", where=str(path))
    return [_decision(row, number, path) for number, row in enumerate(rows, 2) if row["form"]]


def _delimiter(text: str) -> str:
    """Sheets write semicolons where commas part decimals."""
    head = text.partition("\n")[0]
    return ";" if head.count(";") > head.count(",") else ","


def _decision(row: dict[str, str | None], line: int, path: Path) -> NameDecision:
    said = (row["decision"] or "").strip().casefold()
    kind = (row["kind"] or "").strip().casefold()
    if said not in _YES | _NO:
        raise RealtalkError(
            "the decision is neither replace nor keep", where=f"{path}, line {line}"
        )
    if kind not in MENTION_KINDS:
        raise suggest("kind", kind, list(MENTION_KINDS))
    form = (row["form"] or "").removeprefix("'")
    return NameDecision(form, kind, said in _YES, (row.get("same_as") or "").strip())


def decided(
    found: Sequence[NameCandidate], decisions: Sequence[NameDecision]
) -> list[NameCandidate]:
    """The candidates that are to be replaced, as the decisions say."""
    said = {fold(each.form): each for each in decisions}
    made: list[NameCandidate] = []
    for each in found:
        decision = said.pop(fold(each.form), None)
        if decision is None:
            made += [each] if each.is_replaced else []
        elif decision.is_replaced:
            made.append(_as_decided(decision, each.small))
    made += [_as_decided(each, True) for each in said.values() if each.is_replaced]
    return made


def _as_decided(decision: NameDecision, small: bool) -> NameCandidate:
    return NameCandidate(
        decision.form, decision.kind, 0, 1.0, "review", same_as=decision.same_as, small=small
    )
