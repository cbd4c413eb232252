"""The whole paper in one run: corpora in, exhibits, statements and parities out.

    found = reproduce(StudyPlan(data=Path("data")), Path("reproduced"))
    found.exhibits        Table 1, §5.1, Figure 2, ... in the paper's order
    found.broken          parities that fail and are not recorded as failing

    reproduced/run.json, stages.jsonl      what it was made from, and how long each stage took
    reproduced/labels/realtalk-messages/   EI labels, kept chat by chat
    reproduced/probe/extract/whole/        a probe run, kept question by question

What costs minutes is kept and goes on where it was stopped; the rest takes seconds and is made
again every time, so that nothing stale is shown.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from realtalk.chat import Corpus
from realtalk.corpora.guidelines import check_guidelines
from realtalk.corpora.opening import open_reading
from realtalk.corpora.reading import Reading
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import content_hash
from realtalk.evals.folder import RunFolder, Table, versions
from realtalk.local.download import cache_folder
from realtalk.local.progress import Progress, silent
from realtalk.memory.judging import Judge
from realtalk.memory.published import is_published
from realtalk.memory.readers import ExtractReader, Reader
from realtalk.paper import answers, contexts, counts, personas, speakers
from realtalk.paper import table_7 as facing
from realtalk.paper.labelling import label_corpus
from realtalk.paper.published import CHATS
from realtalk.paper.statements import statements
from realtalk.paper.values import Exhibit, Parity, Statement
from realtalk.persona.summaries import Simulation
from realtalk.registry import suggest
from realtalk.stats import CorpusStats, describe

__all__ = ["EXHIBITS", "KIND", "Reproduction", "StudyPlan", "reproduce"]

KIND = "reproduction"
EXHIBITS = (
    "table-1",
    "section-5.1",
    "figure-2",
    "figure-3",
    "table-2",
    "table-3",
    "table-5",
    "table-6",
    "figure-4",
    "figure-5",
    "table-7",
    "figure-6",
    "table-8",
    "figure-7",
)
_LABELLED = frozenset({"figure-2", "figure-3", "table-7", "figure-6", "table-8"})
_CORPORA = {"realtalk": "REALTALK", "locomo": "LoCoMo", "longmemeval": "LongMemEval"}
_LABELS, _PROBE = "labels", "probe"


@dataclass(frozen=True)
class StudyPlan:
    """What is reproduced from what. Without `data`, what `realtalk data get` fetched."""

    data: Path | None = None
    simulations: tuple[Simulation, ...] = ()
    sweep: Path | None = None
    reader: Reader = field(default_factory=ExtractReader)
    judge: Judge | None = None
    only: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.only:
            if name not in EXHIBITS:
                raise suggest("part of the paper", name, list(EXHIBITS))

    @property
    def wanted(self) -> tuple[str, ...]:
        return tuple(name for name in EXHIBITS if not self.only or name in self.only)


@dataclass(frozen=True)
class Reproduction:
    """Everything that came out, and what it was made with."""

    exhibits: tuple[Exhibit, ...]
    statements: tuple[Statement, ...]
    seconds: Mapping[str, float]  # by stage; stages that were kept cost nothing now
    settings: Mapping[str, Any]
    versions: Mapping[str, str]

    def __getitem__(self, name: str) -> Exhibit:
        return next(each for each in self.exhibits if each.id == name)

    @property
    def parities(self) -> tuple[Parity, ...]:
        return tuple(parity for each in self.exhibits for parity in each.parities)

    @property
    def broken(self) -> tuple[Parity, ...]:
        return tuple(parity for parity in self.parities if parity.broken)

    @property
    def mended(self) -> tuple[Parity, ...]:
        return tuple(parity for parity in self.parities if parity.mended)

    def to_json(self) -> dict[str, Any]:
        return {
            "exhibits": [each.to_json() for each in self.exhibits],
            "statements": [each.to_json() for each in self.statements],
            "parities": [each.to_json() for each in self.parities],
            "broken": [each.name for each in self.broken],
            "mended": [each.name for each in self.mended],
            "seconds": dict(self.seconds),
            "settings": dict(self.settings),
            "versions": dict(self.versions),
        }


class _Corpora:
    """The corpora of a folder, read once."""

    def __init__(self, data: Path | None) -> None:
        self.place = data if data is not None else cache_folder(None)
        self.readings: dict[str, Reading] = {}
        for name in _CORPORA:
            folder = self.place / name
            if folder.is_dir():
                self.readings[name] = open_reading(folder).reading
        here = self.readings.get("realtalk")
        if here is None:
            raise RealtalkError(
                "no folder 'realtalk' with the paper's chats here",
                where=str(self.place),
                fix="fetch them with `realtalk data get realtalk` and `realtalk data get locomo`, "
                "or name a folder that holds realtalk/ and locomo/ with --data",
            )
        if not is_published(here.corpus):
            raise RealtalkError(
                "these are not the chats of the paper",
                where=str(self.place / "realtalk"),
                fix=f"their ids begin with {CHATS[0]}; describe others with `realtalk stats`",
            )

    @cached_property
    def stats(self) -> dict[str, CorpusStats]:
        """By the names of Table 1."""
        return {_CORPORA[name]: describe(each.tables) for name, each in self.readings.items()}

    def corpus(self, name: str) -> Corpus | None:
        return self.readings[name].corpus if name in self.readings else None


def reproduce(
    plan: StudyPlan, folder: Path, *, fresh: bool = False, progress: Progress = silent
) -> Reproduction:
    """Makes what the plan wants; stages that the folder holds are not made again."""
    progress(0, 0, "reading the corpora")
    corpora = _Corpora(plan.data)
    labeller = EmbeddedLabeller()
    settings = {
        "corpora": {name: content_hash(each.corpus) for name, each in corpora.readings.items()},
        "labels": {"name": labeller.name, "version": labeller.version},
    }
    if fresh and (folder / "run.json").is_file():
        RunFolder.load(
            folder, KIND
        )  # refuses a folder of something else before anything is removed
        for kept in (_LABELS, _PROBE):
            shutil.rmtree(folder / kept, ignore_errors=True)
    with RunFolder.open(folder, KIND, settings, fresh=fresh) as run:
        clock = _Clock(run.table("stages", ("stage",)))
        readings: dict[str, speakers.Readings] = {}
        if _LABELLED & set(plan.wanted):
            for name in ("realtalk", "locomo"):
                if (corpus := corpora.corpus(name)) is None:
                    continue
                with clock(f"labels of {name}"):
                    labels = label_corpus(name, corpus, folder / _LABELS, labeller, progress)
                progress(0, 0, f"describing the speakers of {name}")
                with clock(f"speakers of {name}"):
                    readings[name] = speakers.measure(labels)
        makers = _makers(plan, corpora, readings, folder, progress)
        exhibits = []
        for name in plan.wanted:
            progress(0, 0, name)
            with clock(name):
                exhibits.append(makers[name]())
        days = check_guidelines(corpora.readings["realtalk"].corpus).days
        said = statements(corpora.stats["REALTALK"], days, readings.get("realtalk"))
    return Reproduction(tuple(exhibits), said, clock.seconds, settings, versions())


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


def _makers(
    plan: StudyPlan,
    corpora: _Corpora,
    readings: Mapping[str, speakers.Readings],
    folder: Path,
    progress: Progress,
) -> dict[str, Callable[[], Exhibit]]:
    """What makes each exhibit; nothing is made before it is called."""
    stats = corpora.stats
    ours = stats["REALTALK"]
    people, simulated = readings.get("realtalk"), readings.get("locomo")
    corpus = corpora.readings["realtalk"].corpus

    def from_labels(make: Callable[[speakers.Readings], Exhibit]) -> Callable[[], Exhibit]:
        def made() -> Exhibit:
            assert people is not None  # labels were made for what is wanted
            return make(people)

        return made

    return {
        "table-1": lambda: counts.table_1(stats),
        "section-5.1": lambda: counts.section_5_1(ours),
        "figure-2": from_labels(lambda each: speakers.figure_2(each, simulated)),
        "figure-3": from_labels(speakers.figure_3),
        "table-2": lambda: personas.table_2(plan.simulations),
        "table-3": lambda: answers.table_3(
            corpus, folder / _PROBE, plan.reader, judge=plan.judge, progress=progress
        ),
        "table-5": lambda: counts.table_5(ours),
        "table-6": lambda: counts.table_6(ours),
        "figure-4": lambda: counts.figure_4(ours),
        "figure-5": lambda: counts.figure_5(ours),
        "table-7": from_labels(facing.table_7),
        "figure-6": from_labels(lambda each: speakers.figure_6(each, simulated)),
        "table-8": lambda: personas.table_8(plan.simulations, people),
        "figure-7": lambda: contexts.figure_7(plan.sweep),
    }
