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
from realtalk.evals.run import Run
from realtalk.evals.values import Row
from realtalk.metrics.statistics import holm
from realtalk.persona.choosing import TABLE_2
from realtalk.persona.scoring import AGREEMENTS, DIFFERENCES, SCORES
from research.papers.markdown import table as markdown
from research.results.persona_tables import compare, gain_line, title_of, with_rows

SIX = (*AGREEMENTS, *DIFFERENCES)
CONTENT = ("rouge_1", "rouge_l", "semantic", "cosine")
ENOUGH = 0.05
LIMIT = 160  # tokens that a turn could have
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


def rates(runs: Mapping[str, Run], ways: Ways) -> str:
    """How often each says what is rare: agreement on rare things rewards silence."""
    hows = [f"{how}{way}" for how in ("untuned", "tuned") for way in ENDINGS.values()]
    told = []
    for name in ("reflective", "grounding"):
        truth = share(runs["tuned"], f"{name}_truth")
        said = ", ".join(f"{how} {share(runs[how], f'{name}_simulated'):.0%}" for how in hows)
        told.append(f"{name} turns: the people {truth:.0%}, {said}")
    circles = ", ".join(f"{how} {unended(runs[how]):.0%}" for how in hows)
    apart = {way: found.changes["js_sentiment"].second or 0.0 for way, found in ways.items()}
    nearest = min(apart, key=lambda way: apart[way])
    return (
        "Greedy writing of so small a model is a poor test of what it has learned: it runs in "
        f"circles (turns that reached the limit of {LIMIT} tokens: {circles}). "
        "Of all turns, "
        + "; ".join(told)
        + ". Whoever says less of them than people do agrees more often, as the constant shows: "
        "kappa and the distances above tell more. By sentiment the untuned model is near the "
        "people already once it samples, so there is little to gain; tuned comes nearest in the "
        f"way '{nearest}' ({apart[nearest]:.3f} bits). Tried: three ways of "
        "writing, learning rate 2e-4, a penalty on repetition (1.2, untuned and greedy: fewer "
        "circles, less agreement on reflective turns). Not tried: rates above 5e-4, larger models."
    )


def ended(both: Mapping[str, Run]) -> str:
    """Tuned against untuned on the turns that both ended by themselves: how much is stopping?"""
    told = []
    for way, end in ENDINGS.items():
        sides = [both[f"{how}{end}"] for how in ("untuned", "tuned")]
        whole = [
            {key(row) for row in run.rows if (row["tokens_out"] or 0) < LIMIT} for run in sides
        ]
        first, second = (
            with_rows(run, [row for row in run.rows if key(row) in set.intersection(*whole)])
            for run in sides
        )
        found = compare(first, second)
        won = [name for name in SIX if gained(found, name, found.changes[name].p_holm)]
        taken_for = found.changes["taken_for"].p_holm
        told.append(
            (
                way,
                f"{max(change.n for change in found.changes.values()):,}",
                both_sides(found, "rouge_1", 3),
                both_sides(found, "semantic", 3),
                names(won),
                names(lost(found)),
                f"{both_sides(found, 'taken_for', 2)}, p {_p(taken_for)}",
            )
        )
    headings = (
        "way",
        "turns",
        "ROUGE-1",
        "token matching F1",
        "EI scores won",
        "lost",
        "taken for the speaker",
    )
    return (
        "Much of what tuning teaches so small a model may be when to stop, and no control with "
        "matched lengths was run. What can be told from the rows: the same tests on those turns "
        "that untuned and tuned both ended by themselves (Holm).\n\n" + markdown(headings, told)
    )


def key(row: Row) -> tuple[str, str]:
    return (row["group"], row["sample"])


def share(run: Run, column: str) -> float:
    known = [row[column] for row in run.rows if row[column] is not None]
    return float(sum(known) / len(known))


def unended(run: Run) -> float:
    return float(sum((row["tokens_out"] or 0) >= LIMIT for row in run.rows) / len(run.rows))


def findings(ways: Ways) -> str:
    before, after = TABLE_2["without fine-tuning"].mean, TABLE_2["with fine-tuning"].mean
    rows = []
    for name, kind in SCORES.items():
        if not kind.published or any(name not in found.changes for found in ways.values()):
            continue
        theirs = after[kind.published] - before[kind.published]
        cells = []
        for found in ways.values():
            change = found.changes[name].difference
            sure = (found.changes[name].p_holm or 1) < ENOUGH
            same = (theirs > 0) == (moved(found, name) > 0) if theirs else not sure
            certain = "yes" if sure or not theirs else "not beyond chance"
            said = certain if same else "no"
            cells += [f"{change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}]", said]
        rows.append((title_of(name), f"{theirs:+.2f}", *cells))
    headings = [heading for way in ways for heading in (way, f"same direction ({way})")]
    return (
        "What fine-tuning changes, by Table 2's averages and here:\n\n"
        + markdown(("score", "paper", *headings), rows)
        + "\n\nThe paper's explanation, that speakers alike in both chats gain more: "
        + "; ".join(f"{way}: {gain_line(found)}" for way, found in ways.items())
        + "."
    )
