"""The benchmarks as they are today → one shape of figures, comparisons and failures.

    kind = KINDS["memory probing"]
    kind.load(Path("out"))               → Probed
    kind.figures(probed)                 → [{"variant": "1000t", "score": "f1", "estimate": …}, …]
    kind.changes(probed, other, None)    → [{"score": "f1", "difference": …, "p": …}, …]
    kind.failures(probed, 20)            → the rows that are worth reading, worst first

Everything that knows a benchmark's own rows stands here, so that an engine with one schema can
replace it: `runs.Run` knows none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.surface.run_rows import ALL, Row, figure_row, of_change, of_estimate, worst_first

if TYPE_CHECKING:
    from realtalk.memory.benchmark import ProbedRun
    from realtalk.memory.scoring import RunFigures
    from realtalk.persona.benchmark import SimulatedRun
    from realtalk.persona.guessing import GuessRun
    from realtalk.threads.benchmark import PredictedRun

_HALF = 0.5


@dataclass(frozen=True)
class RunKind:
    """What is a benchmark's own: how its rows become figures, and by which rules."""

    kind: str  # as run.json has it
    paired: str  # how two runs are compared
    load: Callable[[Path], Any]
    name: Callable[[Any], str]
    figures: Callable[[Any], Iterator[Row]]
    changes: Callable[[Any, Any, str | None], tuple[list[Row], Any]]
    failures: Callable[[Any, int], list[Row]]
    cautions: Callable[[Any], Sequence[str]]
    charts: Callable[[Any, str], dict[str, Any]]
    to_json: Callable[[Any], dict[str, Any]]
    schema: Callable[[], Any]


# Memory probing.


def _load_probe(folder: Path) -> ProbedRun:
    from realtalk.memory.benchmark import load_probe

    return load_probe(folder)


def _probe_figures(found: ProbedRun) -> Iterator[Row]:
    scores = found.scores
    budgets = list(scores.costs)
    if scores.retrieval is not None:
        for row in _of_figures("ranking", scores.retrieval):
            what, _, at = str(row["score"]).partition("@")
            at, _, golds = at.partition(", ")
            score = f"{what}@budget, {golds}" if golds else f"{what}@budget"
            yield row if at not in budgets else row | {"variant": at, "score": score}
    for budget, figures in scores.answers.items():
        yield from _of_figures(budget, figures)
    for (budget, judge, wording), figures in scores.judged.items():
        for row in _of_figures(budget, figures):
            yield row | {"score": f"{wording} by {judge}"}


def _of_figures(variant: str, figures: RunFigures) -> Iterator[Row]:
    groups = {ALL: figures.overall, **figures.by_category}
    if figures.board is not None:
        groups["mean of categories"] = figures.board
    beside = figures.audited
    others = {} if beside is None else {ALL: beside.overall, **beside.by_category}
    for name, group in groups.items():
        for score in group.means:
            yield of_estimate(variant, name, score, group.estimates[score])
        if name in others:
            for score in others[name].means:
                found = others[name].estimates[score]
                yield of_estimate(variant, name, f"{score}, audited", found)


def _probe_changes(
    first: ProbedRun, second: ProbedRun, variant: str | None
) -> tuple[list[Row], dict[str, Any]]:
    from realtalk.memory.rescoring import compared_audited, compared_runs

    found, _ = compared_runs(first, second, variant)
    budget = first.one_budget(variant)
    changes = [of_change(budget, name, change) for name, change in found.changes.items()]
    beside = compared_audited(first, second, variant)
    if beside is None:
        return changes, found.to_json()
    audited, _ = beside
    for name, change in audited.changes.items():
        changes.append(of_change(budget, f"{name}, audited", change))
    return changes, found.to_json() | {"audited": audited.to_json()}


def _probe_failures(found: ProbedRun, most: int) -> list[Row]:
    keys = ["group", "sample", "variant", "category", "question", "gold", "answer", "unscored"]
    columns = [*keys, "why", "date_f1", "f1", "recall@budget", "evidence"]
    return [{name: row[name] for name in columns} for row in found.failed[:most]]


def _probe_charts(found: ProbedRun, name: str) -> dict[str, Any]:
    from realtalk.memory.pictures import draw_sweep

    return draw_sweep({name: found.scores})


def _probe_schema() -> Any:
    from realtalk.evals.rows import run_schema
    from realtalk.memory.rows import columns

    return run_schema(columns())


# Persona simulation.


def _load_persona(folder: Path) -> SimulatedRun:
    from realtalk.persona.benchmark import load_persona

    return load_persona(folder)


def _persona_figures(found: SimulatedRun) -> Iterator[Row]:
    """Averages over speakers, each with its mean; of one speaker alone their own figures."""
    from realtalk.persona.rows import SCORES, WHOLE

    simulation = found.simulation
    everybody = list(simulation.speakers.values())
    for score in (*SCORES, *WHOLE):
        if len(everybody) == 1:
            yield of_estimate(found.name, ALL, score, everybody[0].scores[score])
        else:
            each = simulation.averages[score]
            left_out = sum(who.scores[score].left_out for who in everybody)
            yield figure_row(
                found.name, ALL, score, (each.mean, each.low, each.high), each.n, left_out
            )
        for who in everybody:
            yield of_estimate(found.name, who.speaker, score, who.scores[score])


def _persona_changes(
    first: SimulatedRun, second: SimulatedRun, _variant: str | None
) -> tuple[list[Row], dict[str, Any]]:
    from realtalk.persona.comparing import COMPARED, compare

    found = compare(first.rows, first.simulation, second.rows, second.simulation)
    family = {score.name: score.family for score in COMPARED}
    changes = [of_change(family[name], name, change) for name, change in found.changes.items()]
    return changes, found.to_json()


def _persona_failures(found: SimulatedRun, most: int) -> list[Row]:
    from realtalk.persona.rows import AGREEMENTS, DIFFERENCES

    def worst(row: Row) -> float | None:
        if row["unscored"] is not None:
            return -1.0
        known = [row[name] for name in AGREEMENTS if row[name] is not None]
        agreed = sum(known) / len(known) if known else None
        return None if agreed is None or agreed > _HALF else agreed + (row["semantic"] or 0.0) / 10

    columns = ["group", "chat", "session", "sample", "truth", "answer", "unscored"]
    scores = [*AGREEMENTS, *DIFFERENCES, "semantic"]
    return worst_first(found.rows, worst, [*columns, *scores], most)


def _persona_cautions(found: SimulatedRun) -> Sequence[str]:
    from realtalk.ei.languages import language_notes

    return language_notes(found.simulation.languages)


def _persona_schema() -> Any:
    from realtalk.evals.rows import run_schema
    from realtalk.persona.rows import columns

    return run_schema(columns())


def _figures_by_variant(found: GuessRun | PredictedRun) -> Iterator[Row]:
    """All, then slice by slice, of each variant; what has no variants goes by the run's name."""
    for variant, scores in found.summary.variants.items():
        for group, estimates in ((ALL, scores.overall), *scores.slices.items()):
            for score, each in estimates.items():
                yield of_estimate(variant or found.name, group, score, each)


# Who wrote it.


def _load_guess(folder: Path) -> GuessRun:
    from realtalk.persona.guessing import load_guess

    return load_guess(folder)


def _guess_changes(
    first: GuessRun, second: GuessRun, variant: str | None
) -> tuple[list[Row], dict[str, Any]]:
    from realtalk.persona.guessing import compare_guesses

    found = compare_guesses(first, second, variant)
    changes = [of_change(variant or "", name, each) for name, each in found.changes.items()]
    return changes, found.to_json()


def _guess_failures(found: GuessRun, most: int) -> list[Row]:
    def worst(row: Row) -> float | None:
        return -1.0 if row["unscored"] is not None else None if row["accuracy"] else 0.0

    columns = ["group", "chat", "session", "sample", "judge", "replies", "origins", "writers"]
    return worst_first(found.rows, worst, [*columns, "truth", "answer", "unscored"], most)


def _guess_schema() -> Any:
    from realtalk.evals.rows import run_schema
    from realtalk.persona.guess_rows import guess_columns

    return run_schema(guess_columns())


# Thread tasks.


def _load_threads(folder: Path) -> PredictedRun:
    from realtalk.threads.benchmark import load_threads

    return load_threads(folder)


def _threads_changes(
    first: PredictedRun, second: PredictedRun, variant: str | None
) -> tuple[list[Row], dict[str, Any]]:
    from realtalk.threads.comparing import compare_runs

    if first.task != second.task:
        raise RealtalkError(
            f"the first is of {first.task}, the second of {second.task}", fix="compare one task"
        )
    found = compare_runs(first.rows, second.rows, first.task, ("first", "second"))
    changes = [
        of_change(setting, name, change)
        for setting, compared in found.items()
        if variant in (None, setting)
        for name, change in compared.changes.items()
    ]
    return changes, {setting: compared.to_json() for setting, compared in found.items()}


def _threads_failures(found: PredictedRun, most: int) -> list[Row]:
    import math

    def worst(row: Row) -> float | None:
        if row["untold"] is not None:
            return None
        if row["unscored"] is not None:
            return -math.inf
        if found.task == "next_text":
            return None if row["rouge_l"] is None or row["rouge_l"] >= _HALF else row["rouge_l"]
        if found.task == "sentiment":
            return None if (row["truth"] > 0) == (row["predicted"] > 0) else 0.0
        return -abs(row["predicted"] - row["truth"]) or None

    shared = ["variant", "sample", "group", "thread", "domain", "time"]
    words = ["truth_text", "answer", "rouge_l"]
    own = words if found.task == "next_text" else ["truth", "predicted"]
    return worst_first(found.rows, worst, [*shared, *own, "unscored"], most)


def _threads_charts(found: PredictedRun, _name: str) -> dict[str, Any]:
    from realtalk.threads.pictures import draw_settings

    return draw_settings(found.summary)


def _threads_schema() -> Any:
    from realtalk.evals.rows import run_schema
    from realtalk.threads.rows import columns

    return run_schema(columns())


KINDS: Mapping[str, RunKind] = {
    each.kind: each
    for each in (
        RunKind(
            kind="memory probing",
            paired="paired by question; intervals draw whole chats, p swaps them, from 5 chats on",
            load=_load_probe,
            name=lambda found: found.name,
            figures=_probe_figures,
            changes=_probe_changes,
            failures=_probe_failures,
            cautions=lambda found: found.cautions,
            charts=_probe_charts,
            to_json=lambda found: found.to_json(),
            schema=_probe_schema,
        ),
        RunKind(
            kind="persona simulation",
            paired="paired by turn; intervals draw whole speakers, p swaps them, from 5 of them on",
            load=_load_persona,
            name=lambda found: found.name,
            figures=_persona_figures,
            changes=_persona_changes,
            failures=_persona_failures,
            cautions=_persona_cautions,
            charts=lambda _found, _name: {},
            to_json=lambda found: found.simulation.to_json(),
            schema=_persona_schema,
        ),
        RunKind(
            kind="who wrote it",
            paired="paired by turn; intervals draw whole speakers, p swaps them, from 5 of them on",
            load=_load_guess,
            name=lambda found: found.name,
            figures=_figures_by_variant,
            changes=_guess_changes,
            failures=_guess_failures,
            cautions=lambda found: found.notes,
            charts=lambda _found, _name: {},
            to_json=lambda found: found.summary.to_json(),
            schema=_guess_schema,
        ),
        RunKind(
            kind="thread tasks",
            paired="paired by reply; intervals draw whole users, p swaps them, from 5 users on",
            load=_load_threads,
            name=lambda found: found.name,
            figures=_figures_by_variant,
            changes=_threads_changes,
            failures=_threads_failures,
            cautions=lambda found: found.notes,
            charts=_threads_charts,
            to_json=lambda found: found.summary.to_json(),
            schema=_threads_schema,
        ),
    )
}
