"""Persona runs → who could have written the next turn, corpus by corpus.

persona_sections(loaded.personas)   → [Section("persona", …), Section("persona-realtalk", …)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from realtalk.ei.languages import language_notes
from realtalk.metrics.statistics import Estimate
from realtalk.report.charts import interval_panels, score_panel
from realtalk.report.grids import table
from realtalk.report.values import ChartView, Section

if TYPE_CHECKING:
    from realtalk.persona.summaries import Simulation
    from realtalk.report.loading import PersonaRun

_DRAWN = ("taken_for", "rouge_1", "cosine", "emotion", "intimacy", "empathy")
_INTERVALS = (
    "Mean ± standard deviation over speakers [95 % interval of the mean]; of one speaker the mean "
    "over turns [95 % interval]. More is better, but for intimacy and empathy, which are absolute "
    "differences."
)


def simulations(personas: Sequence[PersonaRun]) -> dict[tuple[str, str], dict[str, Simulation]]:
    """By corpus and name. Runs of one simulator with different speakers are one simulation."""
    from realtalk.persona.benchmark import joined

    groups: dict[tuple[str, str], dict[str, list[PersonaRun]]] = {}
    for each in personas:
        key = (each.corpus, str(each.run.settings["corpus"]["sha256"]))
        named = groups.setdefault(key, {})
        name = each.run.name
        # The same speaker twice: another setting of the simulator, so another simulation.
        taken = {who for other in named.get(name, ()) for who in other.run.speakers}
        if not taken.isdisjoint(each.run.speakers):
            name = f"{name} ({each.folder.name})"
        named.setdefault(name, []).append(each)
    return {
        key: {
            name: replace(runs[0].simulation, name=name)
            if len(runs) == 1
            else joined(name, [each.run for each in runs])[0]
            for name, runs in named.items()
        }
        for key, named in groups.items()
    }


def persona_sections(found: Mapping[tuple[str, str], Mapping[str, Simulation]]) -> list[Section]:
    """Nothing where no persona run was given."""
    if not found:
        return []
    turns = sum(each.turns for group in found.values() for each in group.values())
    lead = (
        f"{turns:,} turns were written in somebody's place and set beside what the person wrote. "
        "A good simulator is taken for the speaker as often as the speaker's own turns are."
    )
    sections = [Section("persona", "Persona", lead)]
    return [*sections, *(_corpus(name, sha, group) for (name, sha), group in found.items())]


def figure_of(each: Simulation, score: str) -> Estimate:
    """A score over speakers; of one speaker alone over their turns."""
    if len(each.speakers) == 1:
        return next(iter(each.speakers.values())).scores[score]
    average = each.averages[score]
    return Estimate(average.mean, average.low, average.high, average.n)


def _corpus(name: str, sha: str, group: Mapping[str, Simulation]) -> Section:
    from realtalk.persona.tables import beyond, table_2, table_8

    runs = list(group.values())
    people = len({who for each in runs for who in each.speakers})
    tables = [
        table("Averages", *table_2(runs, published=False), note=_INTERVALS),
        table("Beyond the paper: chance, variety, authorship", *beyond(runs)),
        *(table(f"{each.name}: every speaker", *table_8(each, published=False)) for each in runs),
    ]
    lead = (
        f"{len(runs)} simulator{'' if len(runs) == 1 else 's'}, {people} "
        f"speaker{'' if people == 1 else 's'}."
    )
    charts = (_chart(name, runs),) if len(runs) > 1 else ()
    notes = tuple(dict.fromkeys(line for each in runs for line in language_notes(each.languages)))
    return Section(f"persona-{name}-{sha[:6]}", name, lead, tuple(tables), charts, notes, 1)


def _chart(name: str, runs: Sequence[Simulation]) -> ChartView:
    from realtalk.persona.rows import SCORES

    panels = [
        score_panel(SCORES[score], [(each.name, figure_of(each, score)) for each in runs])
        for score in _DRAWN
    ]
    lines = [f"{name}: means over speakers, of one speaker over turns, with 95 % intervals"]
    return interval_panels("Simulators beside each other", lines, panels)
