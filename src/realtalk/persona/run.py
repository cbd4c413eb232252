"""Persona simulation as a run: tasks, a simulator and a folder → rows and figures, resumable.

    run_persona(corpus, tasks, simulator, Path("out"))    → SimulatedRun(folder, settings, rows, …)
    load_persona(Path("out"))                             → what is there
    joined("tuned", [load_persona(a), load_persona(b)])   → one simulation of several runs

out/run.json  out/simulated.jsonl, .parquet  out/rows.jsonl, .parquet  out/speakers.jsonl, .parquet

What was simulated is kept as it comes. A turn that failed in an earlier run is tried again; a
speaker whose turns are all there and scored is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import corpus_record
from realtalk.evals.folder import RunFolder, Table
from realtalk.local.progress import Progress, silent
from realtalk.persona.rows import (
    KEY,
    SIMULATED_KEY,
    SPEAKER_KEY,
    Row,
    row_schema,
    simulated_schema,
)
from realtalk.persona.scoring import Scorer
from realtalk.persona.summaries import Simulation, summarise
from realtalk.persona.values import PersonaTask, Simulated, Simulator

__all__ = ["KIND", "SimulatedRun", "joined", "load_persona", "run_name", "run_persona", "share"]

KIND = "persona simulation"
_TEXTS = ("truth", "simulated")  # columns that hold what people and models wrote
_AT_ONCE = 256  # prompts handed to a simulator that does not say otherwise


@dataclass(frozen=True)
class SimulatedRun:
    """A run as it is on disk."""

    folder: Path
    settings: Mapping[str, Any]
    rows: Sequence[Row]
    speakers: Sequence[Row]
    versions: Sequence[Mapping[str, str]] = ()

    @property
    def name(self) -> str:
        return run_name(self.settings)

    @property
    def simulation(self) -> Simulation:
        return summarise(self.name, self.rows, self.speakers)


def run_name(settings: Mapping[str, Any]) -> str:
    """What a run is called in tables: its simulator, model and whether it was told a style."""
    simulator = settings["simulator"]
    parts = [str(simulator["name"])]
    told = simulator["settings"]
    if told.get("model"):
        parts.append(str(told["model"]))
    if told.get("style"):
        parts.append("styled")
    return " ".join(parts)


def run_persona(
    corpus: Corpus,
    tasks: Sequence[PersonaTask],
    simulator: Simulator,
    folder: Path,
    *,
    scorer: Scorer | None = None,
    fresh: bool = False,
    limit: int | None = None,
    progress: Progress = silent,
) -> SimulatedRun:
    """Simulates and scores what the folder does not have yet. `limit` takes a speaker's first."""
    if not tasks:
        raise RealtalkError("nobody to simulate", where=corpus.name)
    if limit is not None and limit < 1:
        raise RealtalkError(f"the limit must be 1 or more, not {limit}")
    scorer = scorer or Scorer(corpus)
    cut = [_limited(task, limit) for task in tasks]
    settings = {
        "corpus": corpus_record(corpus),
        "simulator": {
            "name": simulator.name,
            "version": simulator.version,
            "settings": dict(simulator.settings),
        },
        "context": dict(cut[0].learning.settings),
        "chats": {task.speaker: [task.learning.chat.id, task.test.id] for task in cut},
        "scoring": scorer.settings,
        "limit": limit,
    }
    total = sum(len(task.turns) for task in cut)
    with RunFolder.open(folder, KIND, settings, fresh=fresh) as run:
        said = run.table("simulated", SIMULATED_KEY)
        rows = run.table("rows", KEY)
        speakers = run.table("speakers", SPEAKER_KEY)
        done = 0
        for task in cut:
            added = _simulate(task, simulator, said, (done, total), progress)
            done += len(task.turns)
            if added or speakers.get((task.speaker,)) is None:
                _score(task, scorer, (said, rows, speakers), progress)
        order = [(task.speaker, turn.id) for task in cut for turn in task.turns]
        said.finish(order, simulated_schema())
        rows.finish(order, row_schema())
        speakers.finish([(task.speaker,) for task in cut])
    return load_persona(folder)


def _limited(task: PersonaTask, limit: int | None) -> PersonaTask:
    from dataclasses import replace

    return task if limit is None else replace(task, turns=task.turns[:limit])


def _simulate(
    task: PersonaTask,
    simulator: Simulator,
    said: Table,
    counted: tuple[int, int],
    progress: Progress,
) -> int:
    """Asks for the turns that are not there yet; how many were."""

    def open_(id_: str) -> bool:
        row = said.get((task.speaker, id_))
        return row is None or row["text"] is None

    waiting = [prompt for prompt in task.prompts if open_(prompt.id)]
    if not waiting:
        return 0
    what = f"{simulator.name} as {task.speaker}"
    before, total = counted
    done = before + len(task.turns) - len(waiting)
    progress(done, total, f"{what}: learning from {task.learning.chat.id}")
    # Neither call is given the truth: the prompts hold what was said before each turn, no more.
    simulator.prepare(task.learning, progress)
    step = int(getattr(simulator, "at_once", _AT_ONCE))
    for start in range(0, len(waiting), step):
        part = waiting[start : start + step]
        found = simulator.simulate(
            part,
            lambda now, _, __, at=done: progress(at + now, total, what),
        )
        if [each.id for each in found] != [prompt.id for prompt in part]:
            raise ValueError(f"{simulator.name} did not answer its prompts in order")
        for each in found:
            said.add(
                {
                    **{"speaker": task.speaker, "id": each.id, "text": each.text},
                    "unscored": None if each.text is not None else each.unscored or "no reason",
                    **{"tokens_in": each.tokens_in, "tokens_out": each.tokens_out},
                }
            )
        done += len(part)
        progress(done, total, what)
    return len(waiting)


def _score(
    task: PersonaTask, scorer: Scorer, tables: tuple[Table, Table, Table], progress: Progress
) -> None:
    said, rows, speakers = tables
    found = []
    for turn in task.turns:
        row = said.get((task.speaker, turn.id))
        if row is not None:
            found.append(
                Simulated(
                    row["id"],
                    row["text"],
                    row["unscored"] or "",
                    row["tokens_in"],
                    row["tokens_out"],
                )
            )
    made, facts = scorer.score(task, found, progress)
    for row in made:
        rows.add(row)
    # Last: it is what says that the speaker is scored.
    speakers.add(facts)


def load_persona(folder: Path) -> SimulatedRun:
    """A run's rows, of one that was stopped as far as it got."""
    run = RunFolder.load(folder, KIND)
    speakers = run.rows("speakers", SPEAKER_KEY)
    scored = {each["speaker"] for each in speakers}
    rows = [row for row in run.rows("rows", KEY) if row["speaker"] in scored]
    if not rows:
        raise RealtalkError(
            "the run has no scores yet", where=str(folder), fix="start it again: it goes on"
        )
    return SimulatedRun(folder, run.settings, rows, speakers, run.versions)


def share(folder: Path, out: Path) -> SimulatedRun:
    """A copy of a run's scores without a word of what was written, fit to be given away."""
    import polars as pl

    from realtalk.local.writing import private_folder, write_json, write_parquet

    found = load_persona(folder)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RealtalkError("is not empty", where=str(out), fix="name another folder")
    private_folder(out)
    tables = {
        "rows": pl.DataFrame(found.rows, schema=row_schema()).drop(_TEXTS),
        "speakers": pl.DataFrame(found.speakers, infer_schema_length=None),
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
    seen: dict[str, Path] = {}
    for run in runs:
        for fact in run.speakers:
            if fact["speaker"] in seen:
                raise RealtalkError(
                    f"{fact['speaker']} is also in {seen[fact['speaker']]}",
                    where=str(run.folder),
                    fix="give runs of one simulator with different speakers, or name them apart",
                )
            seen[fact["speaker"]] = run.folder
        rows += run.rows
        facts += run.speakers
    return summarise(name, rows, facts), rows
