"""A stored run and its benchmark → the same run by today's formulas. Nobody is asked again.

    rescore(record, benchmark, benchmark.stages(corpus))
    → Rescored(rows=200, changed={"rouge_l": 12}, changed_rows=12, missing=3)

A row's answer is scored again where its sample is still there, by key (sample, group, variant);
other rows stay as they are and are counted. So do columns that the benchmark does not score.
The settings are written last: killed before, it is done again with the same result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder
from realtalk.evals.provenance import versions
from realtalk.evals.rows import RowKey, row_key, run_schema, sample_key
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, AnyBenchmark, AnySample, AnyStage, Row, Score, by_column
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import write_json

_AT_ONCE = 1024  # samples
# A batch of other texts moves the last digits of a vector: no formula changed.
_ALIKE = 1e-5


@dataclass(frozen=True, slots=True)
class RescoringReport:
    """What scoring again did to a run."""

    rows: int
    changed_rows: int
    changed: Mapping[str, int]  # how many rows changed, column by column
    missing: int  # rows whose sample is no longer there, kept as they were
    stored: bool = True  # whether rows keep scores at all

    @property
    def lines(self) -> list[str]:
        """What to tell whoever asked for it."""
        if not self.stored:
            return [
                "its figures are always made from its rows by today's formulas: nothing is stored "
                "to be rescored"
            ]
        lines = [f"scored again: {self.changed_rows:,} of {self.rows:,} rows changed"]
        if self.changed:
            changes = (f"{name} in {count:,}" for name, count in self.changed.items())
            lines.append(f"changed: {', '.join(changes)}")
        if self.missing:
            lines.append(
                f"{self.missing:,} rows are of samples that are not in the corpus: "
                "kept as they were"
            )
        return lines


def keeps_scores(scores: Iterable[Score], columns: Mapping[str, Any]) -> bool:
    """Whether rows keep scores; others are made from the rows whenever they are looked at."""
    return any(score.name in columns for score in scores)


def rescore(
    record: Run,
    benchmark: AnyBenchmark,
    stages: Iterable[AnyStage],
    progress: Progress = silent,
) -> RescoringReport:
    """Scores the answers of a stored run again and writes it."""
    stored = {row_key(row): row for row in record.rows}
    by_title = {stage.title: stage for stage in stages}
    tell: Callable[[AnyStage, Sequence[Row]], Row] | None = getattr(benchmark, "facts", None)

    def facts_of(known: Row, rows: Sequence[Row]) -> Row:
        stage = by_title.get(known["group"])
        if stage is None or tell is None:
            return known
        facts = _as_stored(tell(stage, rows))
        return known | {name: facts[name] for name in _differing(known, facts)}

    return store_rescored(
        record,
        (
            pair
            for stage in by_title.values()
            for pair in _score_stage(stage, benchmark, stored, progress)
        ),
        benchmark.columns,
        benchmark.settings["scoring"],
        facts_of,
    )


def store_rescored(
    record: Run,
    scored: Iterable[tuple[RowKey, Row]],
    columns: Mapping[str, Any],
    scoring: Any,
    facts_of: Callable[[Row, Sequence[Row]], Row] | None = None,
) -> RescoringReport:
    """Writes rows with the columns that were scored anew, by key; says what changed.

    `facts_of` tells the facts of a group again, from its rows.
    """
    assert record.folder is not None  # it is a stored one
    place = str(record.folder)
    if any("answer" not in row for row in record.rows):
        raise RealtalkError(
            "its rows have no answers", where=place, fix="rescore the run that was shared"
        )
    rows: dict[RowKey, Row] = {row_key(row): row for row in record.rows}
    changes = {}
    for key, own in scored:
        names = _differing(rows[key], own)
        changes[key] = names
        rows[key] = {**rows[key], **{name: own[name] for name in names}}
    if not changes:
        raise RealtalkError(
            "none of its samples is in this corpus", where=place, fix="name the corpus it was of"
        )
    facts = list(record.facts)
    if facts_of is not None:
        groups = by_column(rows.values(), "group")
        facts = [facts_of(fact, groups.get(fact["group"], [])) for fact in facts]
    stored = RunFolder.load(record.folder, record.kind)
    stored.rewrite("rows", list(rows.values()), run_schema(columns))
    stored.rewrite("groups", facts)
    settings = {**record.settings, "scoring": scoring}
    used = [*record.versions, *(own for own in (versions(),) if own not in record.versions)]
    write_json(
        record.folder / "run.json", {"kind": record.kind, "settings": settings, "versions": used}
    )
    changed = Counter(name for names in changes.values() for name in names)
    changed_rows = sum(map(bool, changes.values()))
    return RescoringReport(
        len(rows), changed_rows, dict(changed.most_common()), len(rows) - len(changes)
    )


def _as_stored(value: Any) -> Any:
    """A value as it reads when it comes back from the disk."""
    return orjson.loads(orjson.dumps(value))


def _differing(known: Row, anew: Row) -> list[str]:
    return [
        name for name, value in anew.items() if name not in known or not _alike(known[name], value)
    ]


def _score_stage(
    stage: AnyStage,
    benchmark: AnyBenchmark,
    rows: Mapping[RowKey, Row],
    progress: Progress,
) -> Iterable[tuple[RowKey, Row]]:
    """The keys of a stage's stored answers, and their columns as they are scored today."""
    pairs: list[tuple[AnySample, Answer[Any]]] = []
    for sample in stage.samples:
        row = rows.get(sample_key(sample))
        answer = None if row is None else benchmark.stored_answer(sample, row)
        if answer is not None:
            pairs.append((sample, answer))
    for start in range(0, len(pairs), _AT_ONCE):
        progress(start, len(pairs), f"scoring {stage.title}")
        block = pairs[start : start + _AT_ONCE]
        samples = [sample for sample, _ in block]
        columns = benchmark.score(samples, [answer for _, answer in block], progress)
        yield from zip(map(sample_key, samples), _as_stored(columns), strict=True)


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for the last digits of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_ALIKE, abs_tol=_ALIKE)
    return bool(one == other)
