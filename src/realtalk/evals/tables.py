"""Figures of runs → tables for people: headings and rows, in one look for every benchmark.

figure(Estimate(0.844, 0.684, 1.0), score)    → "0.844 [0.684, 1.000]"
averaged(average([0.2, 0.4, 0.9]), 2)         → "0.50 ± 0.36 [0.20, 0.90]"
summary_table(summaries, ...)                 one line per run and variant
slice_table(summary, "p-conv", "domain")      one line per slice
compared_table(compared, scores, ...)         one line per score: difference, ratio, test
unscored_lines(summary)                       what has no score, and why
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from realtalk.evals.averaging import Average
from realtalk.evals.comparing import Compared
from realtalk.evals.summaries import Summary, VariantScores
from realtalk.evals.values import Score
from realtalk.metrics.grouped import Change
from realtalk.metrics.statistics import Estimate

Lines: TypeAlias = tuple[tuple[str, ...], list[tuple[Any, ...]]]


def figure(found: Estimate | None, score: Score) -> str | None:
    """A figure with its interval; None where there is none."""
    return None if found is None else _written(found.value, found.low, found.high, score.digits)


def averaged(found: Average, digits: int) -> str | None:
    """An average with its standard deviation and interval: "0.50 ± 0.36 [0.20, 0.90]"."""
    return _written(found.mean, found.low, found.high, digits, found.sd)


def _written(
    value: float | None,
    low: float | None,
    high: float | None,
    digits: int,
    sd: float | None = None,
) -> str | None:
    if value is None:
        return None
    text = f"{value:.{digits}f}"
    if sd is not None:
        text += f" ± {sd:.{digits}f}"
    if low is not None and high is not None:
        text += f" [{low:.{digits}f}, {high:.{digits}f}]"
    return text


def summary_table(
    summaries: Sequence[Summary],
    scores: Sequence[Score],
    *,
    solver: str,
    variant: str,
    samples: str,
    groups: str,
    facts: Sequence[str] = (),
) -> Lines:
    """Runs and their variants; the words are what the benchmark calls these things."""
    headings = (solver, variant, samples, groups, *facts, *(score.title for score in scores))
    rows: list[tuple[Any, ...]] = []
    for each in summaries:
        for name, found in each.variants.items():
            about = (found.groups, *(_fact(found, fact) for fact in facts))
            cells = (figure(found.overall[score.name], score) for score in scores)
            counted = f"{found.scored:,} of {found.told:,}"
            rows.append((each.name, name, counted, *about, *cells))
            if found.unscored:
                cells = (figure(found.strict.get(score.name), score) for score in scores)
                rows.append((f"{each.name}, strict", name, f"{found.told:,}", *about, *cells))
    return headings, rows


def _fact(found: VariantScores, name: str) -> str | None:
    value = found.facts.get(name)
    return None if value is None else f"{value:.3f}"


def slice_table(
    summary: Summary, variant: str, scores: Sequence[Score], *, slices: str, samples: str
) -> Lines:
    """Each slice of one variant."""
    rows: list[tuple[Any, ...]] = []
    for name, found in summary.variants[variant].slices.items():
        n = max(each.n for each in found.values())
        rows.append((name or "(none)", n, *(figure(found[each.name], each) for each in scores)))
    return (slices, samples, *(score.title for score in scores)), rows


def compared_table(
    compared: Compared,
    scores: Sequence[Score],
    *,
    samples: str,
    groups: str,
    strict: bool = False,
) -> Lines:
    """The second side against the first."""
    first, second = compared.names
    headings = (
        "score",
        samples,
        groups,
        first,
        second,
        "difference",
        "relative",
        "p",
        "p (Holm)",
        "better",
    )
    known = {score.name: score for score in scores}
    rows: list[tuple[Any, ...]] = []
    for name, change in (compared.strict if strict else compared.changes).items():
        score = known[name]
        sides = (figure(Estimate(value), score) for value in (change.first, change.second))
        rows.append(
            (
                score.title,
                change.n,
                change.groups,
                *sides,
                figure(change.difference, score),
                share(change.relative),
                p_value(change.p),
                p_value(change.p_holm),
                better_side(score, change, compared.names),
            )
        )
    return headings, rows


def share(found: Estimate) -> str | None:
    """A relative change with its interval: "+198% [+120%, +260%]"."""
    if found.value is None:
        return None
    text = f"{found.value:+.0%}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:+.0%}, {found.high:+.0%}]"
    return text


def p_value(value: float | None) -> str | None:
    return None if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


def better_side(score: Score, change: Change, names: tuple[str, str]) -> str | None:
    """The side that is better beyond chance: the interval leaves 0 out and so does the test."""
    low, high = change.difference.low, change.difference.high
    if not score.better or low is None or high is None or change.p_holm is None:
        return None
    if low <= 0 <= high or change.p_holm >= 0.05:
        return None
    return names[1] if (low > 0) == (score.better > 0) else names[0]


def unscored_lines(summary: Summary) -> list[str]:
    """What is unscored, with its reasons."""
    lines = []
    for variant, found in summary.variants.items():
        reasons_of: Mapping[str, Mapping[str, int]] = {
            "unscored": found.unscored,
            "without a truth": found.untold,
            "left out": found.left_out,
        }
        for what, reasons in reasons_of.items():
            if reasons:
                counted = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
                lines.append(f"{summary.name}, {variant}, {what}: {counted}")
    return lines
