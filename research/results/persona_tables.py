"""Persona runs → the tables of the page, in the form of the paper's Tables 2 and 8.

table_2([run, other], published=True)    one line per simulator, the paper's two below
table_8(run, published=True)             one line per speaker, the paper's beside it
beyond([run, other])                     kappa, distances, variety, who wrote it
compare(run, other)                      → Compared, with speakers for whom it is better
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from realtalk.evals.comparing import Average, RunComparison, average
from realtalk.evals.run import Run
from realtalk.evals.tables import compared_table, figure
from realtalk.evals.values import Lines, Row, Score
from realtalk.metrics.statistics import Estimate
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.choosing import PUBLISHED_SCORES, TABLE_2
from realtalk.persona.scoring import SCORES, WHOLE

_MAIN = tuple(name for name, kind in SCORES.items() if kind.family != "beyond")
_PUBLISHED = {SCORES[name].published: name for name in SCORES if SCORES[name].published}
_DIGITS = 2


def score_of(name: str) -> Score:
    return SCORES.get(name) or WHOLE[name]


def title_of(name: str) -> str:
    """A score's name as it stands over a column."""
    return score_of(name).title


def fact_average(run: Run, name: str) -> Average:
    """What is known of every speaker, averaged over them: variety, ceiling, floor."""
    values = (fact[name] for fact in run.facts)
    return average(each["value"] if isinstance(each, Mapping) else each for each in values)


def with_rows(run: Run, rows: Sequence[Row]) -> Run:
    """The run on these rows alone."""
    return replace(run, rows=rows)


def compare(first: Run, second: Run) -> RunComparison:
    """The second run against the first, on the turns that both have."""
    return first.changes(second, names=(first.name, second.name))[""]


def gain_line(found: RunComparison) -> str:
    """Whether people who are alike in both chats gain more."""
    return str(found.further["notes"][-1])


def compared(found: RunComparison) -> Lines:
    """One line per score: both means over speakers, the difference, the test, and for how many."""
    scores = [replace(score, digits=3) for score in PersonaBenchmark.scores]
    return compared_table({"": found}, scores, samples="turns", groups="speakers")


def unscored(run: Run) -> list[str]:
    """One line per reason; nothing where every turn has its scores."""
    found = run.variants[""]
    kinds = (("unscored", found.unscored), ("without a truth", found.untold))
    return [
        f"{run.name}, {what}: {count:,} of {found.rows:,} turns ({reason})"
        for what, reasons in kinds
        for reason, count in reasons.items()
    ]


def _cell(run: Run, name: str) -> str | None:
    return figure(run.variants[""].overall[name], _DIGITS)


def table_2(runs: Sequence[Run], *, published: bool) -> Lines:
    """Averages over speakers, in the form of the paper's Table 2."""
    headings = ("simulator", "speakers", "turns", *(title_of(name) for name in _MAIN))
    rows: list[tuple[Any, ...]] = []
    for run in runs:
        found = run.variants[""]
        counted = f"{found.scored:,} of {found.rows:,}"
        rows.append((run.name, len(run.groups), counted, *(_cell(run, name) for name in _MAIN)))
    for title, line in TABLE_2.items() if published else ():
        cells = {
            _PUBLISHED[name]: f"{line.mean[name]:.2f} ± {line.sd[name]:.2f}"
            for name in PUBLISHED_SCORES
        }
        rows.append((f"Table 2: {title}", 10, None, *(cells.get(name) for name in _MAIN)))
    return headings, rows


def beyond(runs: Sequence[Run]) -> Lines:
    """What raw agreement hides: chance, distributions, variety, length and authorship."""
    headings = (
        "simulator",
        *(title_of(name) for name in WHOLE),
        "length ratio",
        "distinct-1",
        "distinct-2",
        "taken for the speaker",
    )

    def averaged(run: Run, name: str) -> str | None:
        return figure(fact_average(run, name), _DIGITS)

    rows: list[tuple[Any, ...]] = [
        (
            run.name,
            *(_cell(run, name) for name in (*WHOLE, "length_ratio")),
            *(averaged(run, f"distinct_{n}") for n in (1, 2)),
            _cell(run, "taken_for"),
        )
        for run in runs
    ]
    if runs:
        real = runs[0]
        own = (averaged(real, f"distinct_{n}_truth") for n in (1, 2))
        ends = (*["1.00"] * 4, *["0.00"] * 2, "1.00", *own, averaged(real, "ceiling"))
        rows.append(("the person (ceiling)", *ends))
        nothing = [None] * (len(WHOLE) + 3)
        rows.append(("the partner's real turns", *nothing, averaged(real, "floor")))
        rows.append(("chance", *["0.00"] * 4, *[None] * 5, "0.50"))
    return headings, rows


def speaker_score(run: Run, who: str, name: str) -> Estimate:
    """One speaker's figure."""
    return run.variants[""].slices[who][name]
