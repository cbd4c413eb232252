"""Both papers in one run: corpora and stored runs in, one row per printed result out.

    study = reproduce(StudyPlan(data=Path("data")), Path("reproduced"))
    study.papers["REALTALK"][0]       → ResultRow("Table 1, REALTALK", …)

    reproduced/run.json, stages.jsonl      what it was made from, and how long each stage took
    reproduced/labels/realtalk-messages/   EI labels, kept chat by chat

Labels cost minutes and go on where they were stopped; the rest takes seconds and is made again
every time, so that nothing stale is shown.
"""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from realtalk.cells import Grid
from realtalk.chat import Corpus
from realtalk.describe import CorpusStats, describe
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder, Table, content_hash, versions
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.golds import are_published
from realtalk.registry import suggest
from research.papers.counts import corpus_rows
from research.papers.guidelines import check_guidelines
from research.papers.intimacy import SCALE_NOTE, course_note
from research.papers.labelling import label_corpus
from research.papers.memories import memory_rows
from research.papers.persona_conv import thread_rows
from research.papers.personas import Simulations, persona_rows
from research.papers.published import CHATS
from research.papers.rule import ResultRow
from research.papers.shared_rows import Predictions
from research.papers.speakers import Readings, measure, speaker_rows
from research.papers.table_7 import draw_table_7, table_7_grids, table_7_rows

KIND = "reproduction"
PARTS = ("corpus", "speakers", "personas", "memories", "threads")
REALTALK, THREADS = "REALTALK", "PersonaConvBench"
_CORPORA = {"realtalk": REALTALK, "locomo": "LoCoMo"}  # folder: name in Table 1
_LABELS = "labels"


@dataclass(frozen=True)
class StudyPlan:
    """What is reproduced from what. Without `data`, what `realtalk data get` fetched."""

    data: Path | None = None
    simulations: Simulations | None = None
    sweep: Path | None = None
    threads: Predictions = field(default_factory=dict)
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.only:
            if name not in PARTS:
                raise suggest("part of the papers", name, list(PARTS))

    def has(self, part: str) -> bool:
        return not self.only or part in self.only


@dataclass(frozen=True)
class Reproduction:
    """Every row, what explains Table 7, and what it was made with."""

    papers: Mapping[str, Sequence[ResultRow]]
    grids: Mapping[str, Grid]
    notes: Sequence[str]
    picture: Any  # of Altair
    made: Mapping[str, str]
    seconds: Mapping[str, float]  # by stage; stages that were kept cost nothing now

    def to_json(self) -> dict[str, Any]:
        """All but the picture and how long it took: what the page is made from."""
        return {
            "made": dict(self.made),
            "notes": list(self.notes),
            "papers": {name: [row.to_json() for row in rows] for name, rows in self.papers.items()},
        }


class _Corpora:
    """The corpora of a folder, read once, by their names in Table 1."""

    def __init__(self, data: Path | None) -> None:
        place = data if data is not None else cache_folder(None)
        self.readings = {
            name: open_reading(place / folder).reading
            for folder, name in _CORPORA.items()
            if (place / folder).is_dir()
        }
        if REALTALK not in self.readings:
            raise RealtalkError(
                "no folder 'realtalk' with the paper's chats here",
                where=str(place),
                fix="fetch them with `realtalk data get realtalk` and `realtalk data get locomo`, "
                "or name a folder that holds realtalk/ and locomo/ with --data",
            )
        if not are_published(chat.id for chat in self.corpora[REALTALK].chats):
            raise RealtalkError(
                "these are not the chats of the paper",
                where=str(place / "realtalk"),
                fix=f"their ids begin with {CHATS[0]}; describe others with `realtalk stats`",
            )

    @cached_property
    def corpora(self) -> dict[str, Corpus]:
        return {name: reading.corpus for name, reading in self.readings.items()}

    @cached_property
    def stats(self) -> dict[str, CorpusStats]:
        return {name: describe(reading.tables) for name, reading in self.readings.items()}


def reproduce(
    plan: StudyPlan, folder: Path, *, fresh: bool = False, progress: Progress = silent
) -> Reproduction:
    """Builds what the plan wants; labels that the folder holds are not made again."""
    progress(0, 0, "reading the corpora")
    corpora = _Corpora(plan.data)
    labeller = EmbeddedLabeller()
    folders = {name: folder_ for folder_, name in _CORPORA.items()}
    settings = {
        "corpora": {folders[name]: content_hash(each) for name, each in corpora.corpora.items()},
        "labels": {"name": labeller.name, "version": labeller.version},
    }
    if fresh and (folder / "run.json").is_file():
        # Refuses a folder of something else before anything is removed.
        RunFolder.load(folder, KIND)
        shutil.rmtree(folder / _LABELS, ignore_errors=True)
    rows: list[ResultRow] = []
    people: dict[str, Readings] = {}
    with RunFolder.open(folder, KIND, settings, fresh=fresh) as run:
        clock = _Clock(run.table("stages", ("stage",)))
        if plan.has("speakers"):
            for name, corpus in corpora.corpora.items():
                with clock(f"labels of {name}"):
                    place = folder / _LABELS
                    labels = label_corpus(folders[name], corpus, place, labeller, progress)
                with clock(f"speakers of {name}"):
                    people[name] = measure(labels)
        if plan.has("corpus"):
            days = check_guidelines(corpora.corpora[REALTALK]).days
            rows += corpus_rows(corpora.stats, corpora.corpora, days)
        ours = people.get(REALTALK)
        if ours is not None:
            rows += [*speaker_rows(ours, people.get("LoCoMo")), *table_7_rows(ours)]
        if plan.has("personas"):
            rows += persona_rows(plan.simulations, plan.sweep)
        if plan.has("memories"):
            rows += memory_rows()
        threads = [*thread_rows(plan.threads)] if plan.has("threads") else []
    grids = {} if ours is None else table_7_grids(ours)
    scale = [SCALE_NOTE, course_note(ours.labels["messages"])] if ours and len(grids) > 1 else []
    made = {
        **versions(),
        "labels": f"{labeller.name} {labeller.version}",
        "processor": platform.machine(),
    }
    picture = None if ours is None else draw_table_7(ours)
    papers = {REALTALK: rows, THREADS: threads}
    return Reproduction(papers, grids, scale, picture, made, clock.seconds)


class _Clock:
    """How long stages take, kept in the run."""

    def __init__(self, table: Table) -> None:
        self.seconds: dict[str, float] = {}
        self._table = table

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[stage] = round(time.perf_counter() - began, 3)
        self._table.add({"stage": stage, "seconds": self.seconds[stage]})
