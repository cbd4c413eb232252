"""Tuned and untuned compared, in some ways of writing → what holds of what was asked, in words.

    claims({"greedy": compare(…), "sampled": compare(…)}, ceiling)    → a Markdown table

The likeliest token at every step and a drawn one make different writers of one model: each claim
is tested within a way, and the page shows all of them, whichever holds. A verdict goes by
speakers, as the paper counts: the test swaps whole speakers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from realtalk.evals.comparing import RunComparison
from realtalk.metrics.statistics import holm
from realtalk.persona.scoring import AGREEMENTS, DIFFERENCES, SCORES
from research.papers.markdown import table as markdown
from research.results.persona_tables import title_of

SIX = (*AGREEMENTS, *DIFFERENCES)
CONTENT = ("rouge_1", "rouge_l", "semantic", "cosine")
ENOUGH = 0.05
ENDINGS = {"greedy": "", "sampled": "-sampled", "pure": "-pure"}  # how the runs of a way are called
Ways = Mapping[str, RunComparison]


def claims(ways: Ways, ceiling: float | None) -> str:
    rows = [
        (
            "tuned beats untuned on at least four of the six EI scores, p < .05 after correction",
            *(six(found) for found in ways.values()),
        ),
        ("content similarity is not worse", *(content(found) for found in ways.values())),
    ]
    for name in ("js_emotion", "js_sentiment"):
        rows.append(
            (
                f"nearer to the speaker's real distribution by {title_of(name)} for eight of ten",
                *(nearer(found, name) for found in ways.values()),
            )
        )
    rows.append(
        (
            "taken for the speaker more often than untuned"
            + ("" if ceiling is None else f" (their own turns {ceiling:.2f}, chance .50)"),
            *(taken(found) for found in ways.values()),
        )
    )
    return f"{markdown(('asked', *ways), rows)}\n\n{over_all(ways)}"


def six(found: RunComparison) -> str:
    won = [name for name in SIX if gained(found, name, found.changes[name].p_holm)]
    return verdict(
        len(won) >= 4, f"{len(won)} of six ({names(won)}); worse on: {names(lost(found))}"
    )


def lost(found: RunComparison) -> list[str]:
    """Scores on which tuned is worse, after correction."""
    return [name for name in SIX if gained(found, name, found.changes[name].p_holm, sign=-1)]


def gained(found: RunComparison, name: str, p: float | None, sign: int = 1) -> bool:
    better = sign * moved(found, name) * SCORES[name].better > 0
    return better and p is not None and p < ENOUGH


def moved(found: RunComparison, name: str) -> float:
    """How far the second side is above the first."""
    return found.changes[name].difference.value or 0.0


def both_sides(found: RunComparison, name: str, digits: int) -> str:
    change = found.changes[name]
    return f"{change.first:.{digits}f} → {change.second:.{digits}f}"


def over_all(ways: Ways) -> str:
    """Every way is another try: the same counts, corrected for all tests of all ways."""
    places = [(way, name) for way in ways for name in SIX]
    corrected = holm([ways[way].changes[name].p for way, name in places])
    won = Counter(
        way for (way, name), p in zip(places, corrected, strict=True) if gained(ways[way], name, p)
    )
    told = [f"{way} {won[way]} of six" for way in ways]
    return (
        f"The ways were tested in this order. Corrected for all {len(ways) * len(SIX)} tests "
        f"together, tuned wins: {', '.join(told)}."
    )


def content(found: RunComparison) -> str:
    worse = [name for name in CONTENT if gained(found, name, found.changes[name].p_holm, sign=-1)]
    told = "; ".join(f"{title_of(name)} {both_sides(found, name, 3)}" for name in CONTENT)
    return verdict(not worse, told)


def nearer(found: RunComparison, name: str) -> str:
    change, better = found.changes[name], found.further["better"][name][0]
    sides = both_sides(found, name, 3)
    return verdict(
        better >= 8, f"{better} of {change.groups}; {sides} on average; p {_p(change.p_holm)}"
    )


def taken(found: RunComparison) -> str:
    change, better = found.changes["taken_for"], found.further["better"]["taken_for"][0]
    return verdict(
        gained(found, "taken_for", change.p_holm),
        f"{both_sides(found, 'taken_for', 2)}; better for {better} of {change.groups}, "
        f"p {_p(change.p_holm)}",
    )


def _p(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}".removeprefix("0")


def verdict(holds: bool, because: str) -> str:
    return f"**{'holds' if holds else 'fails'}**: {because}"


def names(given: Sequence[str]) -> str:
    return ", ".join(title_of(name) for name in given) or "none"
