"""Persona simulation as a benchmark: one stage and one group per speaker, one sample per turn.

    run_persona(corpus, tasks, simulator, Path("out"))    → SimulatedRun(settings, rows, facts, …)
    run_persona(corpus, tasks, simulator)                 → the same, and nothing is written
    load_persona(Path("out"))                             → what is there
    rescore_persona(Path("out"), corpus)                  → what today's formulas changed
    joined("tuned", [load_persona(a), load_persona(b)])   → one simulation of several runs

out/run.json  out/rows.jsonl, .parquet  out/groups.jsonl, .parquet: what is known of each speaker

A simulator learns from one chat of a speaker and is shown what was said before each of their
turns in another, never the turn itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.rescoring import Rescored, rescore
from realtalk.evals.rows import run_schema
from realtalk.evals.values import Answer, Row, Sample, Score, Stage
from realtalk.local.progress import Progress, silent
from realtalk.persona.rows import SCORES, WHOLE, columns, earlier_row
from realtalk.persona.scoring import TurnScorer
from realtalk.persona.summaries import Simulation, summarise
from realtalk.persona.turns import stored_tasks, tasks_record
from realtalk.persona.values import PersonaTask, PersonaTurn, Simulator, TurnPrompt

if TYPE_CHECKING:
    import polars as pl

KIND = "persona simulation"
_TEXTS = ("truth", "answer")  # columns that hold what people and models wrote


class PersonaBenchmark:
    """The turns of every task. `limit` takes each speaker's first."""

    name = KIND
    version = "2"
    group = "speaker"
    scores: tuple[Score, ...] = (*SCORES.values(), *WHOLE.values())

    def __init__(
        self,
        corpus: Corpus,
        tasks: Sequence[PersonaTask],
        scorer: TurnScorer | None = None,
        limit: int | None = None,
    ) -> None:
        if not tasks:
            raise RealtalkError("nobody to simulate", where=corpus.name)
        if limit is not None and limit < 1:
            raise RealtalkError(f"the limit must be 1 or more, not {limit}")
        self._tasks = {task.speaker: replace(task, turns=task.turns[:limit]) for task in tasks}
        self._scorer = scorer or TurnScorer(corpus)
        self._limit = limit

    @property
    def columns(self) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        return columns()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            **tasks_record(self._tasks.values()),
            "scoring": self._scorer.settings,
            "limit": self._limit,
        }

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the tasks are made from it already
        progress: Progress = silent,  # noqa: ARG002
    ) -> Iterator[Stage[TurnPrompt, PersonaTurn]]:
        for speaker, task in self._tasks.items():
            samples = [Sample(turn.id, speaker, "", turn.prompt, turn) for turn in task.turns]
            yield Stage(speaker, samples, lambda task=task: task.learning)  # type: ignore[misc]

    def score(
        self,
        samples: Sequence[Sample[TurnPrompt, PersonaTurn]],
        answers: Sequence[Answer[str]],
        progress: Progress = silent,
    ) -> list[Row]:
        turns = [sample.truth for sample in samples]
        return self._scorer.rows(self._tasks[samples[0].group], turns, answers, progress)

    def facts(self, stage: Stage[TurnPrompt, PersonaTurn], rows: Sequence[Row]) -> Row:
        return self._scorer.facts(self._tasks[stage.title], rows)

    def stored_answer(
        self, sample: Sample[TurnPrompt, PersonaTurn], row: Row
    ) -> Answer[str] | None:
        """What was simulated, where the row is of this very turn."""
        if row["truth"] != sample.truth.text:
            return None
        return Answer(row["answer"], row["unscored"] or "")

    def target(self, sample: Sample[TurnPrompt, PersonaTurn]) -> str:
        return sample.truth.text

    def about(self, sample: Sample[TurnPrompt, PersonaTurn]) -> dict[str, str]:
        return {"chat": sample.shown.chat}


@dataclass(frozen=True)
class SimulatedRun(running.RunRecord):
    """A run of persona simulation."""

    @property
    def speakers(self) -> list[str]:
        """Those whose turns are all there."""
        return [fact["group"] for fact in self.facts]

    @cached_property
    def simulation(self) -> Simulation:
        return summarise(self.name, self.rows, self.facts)

    @property
    def name(self) -> str:
        return run_name(self.settings)


def run_name(settings: Mapping[str, Any]) -> str:
    """What a run is called in tables: its simulator, model and what it was told of the speaker."""
    simulator = settings["solver"]
    parts = [str(simulator["name"])]
    given = simulator["settings"]
    if given.get("model"):
        parts.append(str(given["model"]))
    if given.get("style"):
        parts.append("styled")
    elif given.get("examples") and "retrieved" not in parts[0].split():
        parts.append("retrieved")
    return " ".join(parts)


def run_persona(
    corpus: Corpus,
    tasks: Sequence[PersonaTask],
    simulator: Simulator,
    folder: Path | None = None,
    *,
    scorer: TurnScorer | None = None,
    fresh: bool = False,
    limit: int | None = None,
    progress: Progress = silent,
) -> SimulatedRun:
    """Simulates and scores what the folder does not have yet. `limit` takes a speaker's first."""
    made = running.run(
        PersonaBenchmark(corpus, tasks, scorer, limit),
        corpus,
        simulator,
        folder,
        fresh=fresh,
        progress=progress,
    )
    return SimulatedRun(**vars(made))


def rescore_persona(
    folder: Path,
    corpus: Corpus,
    *,
    scorer: TurnScorer | None = None,
    progress: Progress = silent,
) -> Rescored:
    """Scores a stored run's turns by today's formulas; nobody is simulated again.

    `scorer` is needed where the run was scored by BERTScore.
    """
    record = _load(folder)
    tasks = stored_tasks(corpus, record.settings, record.facts)
    if not tasks:
        raise RealtalkError(
            "none of its chats is in this corpus",
            where=str(folder),
            fix="name the corpus it was of",
        )
    benchmark = PersonaBenchmark(corpus, tasks, scorer, record.settings.get("limit"))
    semantic = record.settings.get("scoring", {}).get("semantic")
    if semantic is not None and "semantic" not in benchmark.settings["scoring"]:
        raise RealtalkError(
            f"its semantic similarity is by {semantic}",
            where=str(folder),
            fix="name the model with --bertscore",
        )
    return rescore(record, benchmark, benchmark.stages(corpus), progress=progress)


def _load(folder: Path) -> running.RunRecord:
    return running.load(
        folder,
        KIND,
        earlier_row,
        solver=lambda settings: settings.get("simulator"),
        needed=("chats",),
    )


def load_persona(folder: Path) -> SimulatedRun:
    """A run's rows, of one that was stopped as far as it got; also one of version 0.1.0."""
    found = _load(folder)
    scored = {fact["group"] for fact in found.facts}
    rows = [row for row in found.rows if row["group"] in scored]
    if not rows:
        raise RealtalkError(
            "the run has no scores yet", where=str(folder), fix="start it again: it goes on"
        )
    return SimulatedRun(**{**vars(found), "rows": rows})


def share(folder: Path, out: Path) -> SimulatedRun:
    """A copy of a run's scores without a word of what was written, fit to be given away."""
    import polars as pl

    from realtalk.local.writing import private_folder, write_json, write_parquet

    found = load_persona(folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RealtalkError("is not empty", where=str(out), fix="name another folder")
    private_folder(out)
    tables = {
        "rows": pl.DataFrame(found.rows, schema=run_schema(columns())).drop(_TEXTS),
        "groups": pl.DataFrame(found.facts, infer_schema_length=None),
    }
    for name, frame in tables.items():
        write_parquet(out / f"{name}.parquet", frame, level=19)
    write_json(
        out / "run.json",
        {"kind": KIND, "settings": dict(found.settings), "versions": list(found.versions)},
    )
    return load_persona(out)


def joined(name: str, runs: Sequence[SimulatedRun]) -> tuple[Simulation, list[Row]]:
    """Runs of different speakers as one simulation: an adapter is for one speaker."""
    rows: list[Row] = []
    facts: list[Row] = []
    seen: dict[str, Path | None] = {}
    for run in runs:
        for speaker in run.speakers:
            if speaker in seen:
                raise RealtalkError(
                    f"{speaker} is also in {seen[speaker]}",
                    where=str(run.folder),
                    fix="give runs of one simulator with different speakers, or name them apart",
                )
            seen[speaker] = run.folder
        rows += run.rows
        facts += run.facts
    return summarise(name, rows, facts), rows
