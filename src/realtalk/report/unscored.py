"""Every run → what has no score, how often and why. Unscored is never zero, and never hidden.

unscored_section(loaded, …)   → a table: run | what | unscored | of | reason
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from realtalk.report.grids import table
from realtalk.report.values import Cell, Section

if TYPE_CHECKING:
    from realtalk.evals.summaries import Summary
    from realtalk.persona.summaries import Simulation
    from realtalk.report.loading import GuessesRun, LabelsRun, LoadedRuns, ProbeRun


def unscored_section(
    loaded: LoadedRuns,
    personas: Mapping[tuple[str, str], Mapping[str, Simulation]],
    threads: Mapping[tuple[str, str, str], Mapping[str, Summary]],
) -> Section | None:
    """None where nothing was scored at all, so that nothing can be missing."""
    if not (loaded.labels or loaded.probes or personas or loaded.guesses or threads):
        return None
    rows: list[tuple[Cell, ...]] = []
    for labels in loaded.labels:
        rows += _labels(labels)
    for probe in loaded.probes:
        rows += _probe(probe)
    for group in personas.values():
        for simulation in group.values():
            rows += _persona(simulation)
    for guess in loaded.guesses:
        rows += _guesses(guess)
    for runs in threads.values():
        for summary in runs.values():
            rows += _threads(summary)
    if not rows:
        return Section("unscored", "Unscored", "Everything that was to be scored has its score.")
    lead = "What could not be scored is left out of every mean, and counted here with its reason."
    view = table("Unscored, by run and reason", ("run", "what", "unscored", "of", "reason"), rows)
    return Section("unscored", "Unscored", lead, (view,))


def _labels(each: LabelsRun) -> Iterator[tuple[Cell, ...]]:
    from realtalk.ei.label_files import unscored_reasons

    for measure, reason, count in unscored_reasons(each.frame):
        yield (f"{each.name}, labels", str(measure), count, each.frame.height, reason)
    facets = Counter(
        (facet.title, found.unscored)
        for who in each.speakers
        for facet, found in who.items()
        if found.unscored is not None
    )
    for (title, reason), count in facets.items():
        yield (f"{each.name}, speakers", title.lower(), count, len(each.speakers), reason)


def _probe(each: ProbeRun) -> Iterator[tuple[Cell, ...]]:
    name = f"{each.corpus}, {each.memory} read by {each.reader}"
    rows = each.probed.rows
    for reason, count in Counter(row["reason"] for row in each.scores.unscored).items():
        yield (name, "answers", count, len(rows), reason)
    bare = sum(not row["evidence"] for row in rows)
    if bare:
        yield (name, "evidence", bare, len(rows), "the question names no evidence")
    for reason, count in Counter(
        row["unscored"] for row in each.probed.judgements if row["unscored"] is not None
    ).items():
        yield (name, "judgements", count, len(each.probed.judgements), reason)


def _persona(each: Simulation) -> Iterator[tuple[Cell, ...]]:
    from realtalk.persona.rows import SCORES

    whole: Counter[str] = Counter()
    untold: Counter[str] = Counter()
    single: Counter[str] = Counter()
    for who in each.speakers.values():
        whole.update(who.unscored)
        untold.update(who.untold)
        failed = sum(who.unscored.values()) + sum(who.untold.values())
        for score in SCORES:
            single[score] += max(0, who.scores[score].left_out - failed)
    for reason, count in whole.items():
        yield (each.name, "turns", count, each.turns, reason)
    for reason, count in untold.items():
        yield (each.name, "truths", count, each.turns, reason)
    for score, count in single.items():
        if count:
            reason = "this score alone could not be made"
            yield (each.name, SCORES[score].title, count, each.turns, reason)


def _guesses(each: GuessesRun) -> Iterator[tuple[Cell, ...]]:
    for scores in each.run.summary.variants.values():
        for reason, count in scores.unscored.items():
            yield (each.run.name, "guesses", count, scores.rows, reason)


def _threads(each: Summary) -> Iterator[tuple[Cell, ...]]:
    for setting, scores in each.variants.items():
        run = f"{each.name}, {each.about['task']}, {setting}"
        for what, reasons in (
            ("predictions", scores.unscored),
            ("truths", scores.untold),
            ("single scores", scores.left_out),
        ):
            for reason, count in reasons.items():
                yield (run, what, count, scores.rows, reason)
