"""The whole paper in one run: corpora in, exhibits, statements and parities out.

    study = reproduce(StudyPlan(data=Path("data")), Path("reproduced"))
    study.exhibits        Table 1, §5.1, Figure 2, ... in the paper's order
    study.broken          parities that fail and are not recorded as failing

    reproduced/run.json, stages.jsonl      what it was made from, and how long each stage took
    reproduced/labels/realtalk-messages/   EI labels, kept chat by chat
    reproduced/probe/gpt-4o-mini/whole/       a probe run, kept question by question

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

from realtalk.describe import CorpusStats, describe
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import content_hash
from realtalk.evals.folder import RunFolder, Table
from realtalk.evals.library_versions import versions
from realtalk.evals.run import Run
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.golds import are_published
from realtalk.memory.judging import Judge
from realtalk.memory.readers import NoReader, Reader
from realtalk.registry import suggest
from research.papers import answers, contexts, counts, persona_conv, personas, speakers
from research.papers.guidelines import check_guidelines
from research.papers.labelling import label_corpus
from research.papers.published import CHATS
from research.papers.shared_rows import Predictions
from research.papers.statements import statements
from research.papers.table_7 import table_7
from research.papers.values import TITLES, Exhibit, Parity, Statement

KIND = "reproduction"
EXHIBITS = tuple(TITLES)
_LABELLED = frozenset({"figure-2", "figure-3", "table-7", "figure-6", "table-8"})
_CORPORA = {"realtalk": "REALTALK", "locomo": "LoCoMo", "longmemeval": "LongMemEval"}
_LABELS, _PROBE = "labels", "probe"


@dataclass(frozen=True)
class StudyPlan:
    """What is reproduced from what. Without `data`, what `realtalk data get` fetched."""

    data: Path | None = None
    simulations: tuple[Run, ...] = ()
    sweep: Path | None = None
    threads: Predictions = field(default_factory=dict)
    reader: Reader = field(default_factory=NoReader)
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
        return next(exhibit for exhibit in self.exhibits if exhibit.id == name)

    @property
    def parities(self) -> tuple[Parity, ...]:
        return tuple(parity for exhibit in self.exhibits for parity in exhibit.parities)

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
        place = data if data is not None else cache_folder(None)
        self.readings = {
            name: open_reading(place / name).reading for name in _CORPORA if (place / name).is_dir()
        }
        if "realtalk" not in self.readings:
            raise RealtalkError(
                "no folder 'realtalk' with the paper's chats here",
                where=str(place),
                fix="fetch them with `realtalk data get realtalk` and `realtalk data get locomo`, "
                "or name a folder that holds realtalk/ and locomo/ with --data",
            )
        self.realtalk = self.readings["realtalk"].corpus
        if not are_published(chat.id for chat in self.realtalk.chats):
            raise RealtalkError(
                "these are not the chats of the paper",
                where=str(place / "realtalk"),
                fix=f"their ids begin with {CHATS[0]}; describe others with `realtalk stats`",
            )

    @cached_property
    def stats(self) -> dict[str, CorpusStats]:
        """By the names of Table 1."""
        return {_CORPORA[name]: describe(each.tables) for name, each in self.readings.items()}


def reproduce(
    plan: StudyPlan, folder: Path, *, fresh: bool = False, progress: Progress = silent
) -> Reproduction:
    """Builds what the plan wants; stages that the folder holds are not repeated."""
    progress(0, 0, "reading the corpora")
    corpora = _Corpora(plan.data)
    labeller = EmbeddedLabeller()
    settings = {
        "corpora": {name: content_hash(each.corpus) for name, each in corpora.readings.items()},
        "labels": {"name": labeller.name, "version": labeller.version},
    }
    if fresh and (folder / "run.json").is_file():
        # Refuses a folder of something else before anything is removed.
        RunFolder.load(folder, KIND)
        for kept in (_LABELS, _PROBE):
            shutil.rmtree(folder / kept, ignore_errors=True)
    with RunFolder.open(folder, KIND, settings, fresh=fresh) as run:
        clock = _Clock(run.table("stages", ("stage",)))
        people: dict[str, speakers.Readings] = {}
        if _LABELLED & set(plan.wanted):
            for name in ("realtalk", "locomo"):
                if name not in corpora.readings:
                    continue
                corpus = corpora.readings[name].corpus
                with clock(f"labels of {name}"):
                    labels = label_corpus(name, corpus, folder / _LABELS, labeller, progress)
                progress(0, 0, f"describing the speakers of {name}")
                with clock(f"speakers of {name}"):
                    people[name] = speakers.measure(labels)
        exhibits = []
        for name in plan.wanted:
            progress(0, 0, name)
            with clock(name):
                exhibits.append(_exhibit(name, plan, corpora, people, folder, progress))
        days = check_guidelines(corpora.realtalk).days
        both = (people.get("realtalk"), people.get("locomo"))
        checked = statements(corpora.stats["REALTALK"], days, *both)
    return Reproduction(tuple(exhibits), checked, clock.seconds, settings, versions())


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


def _exhibit(
    name: str,
    plan: StudyPlan,
    corpora: _Corpora,
    people: Mapping[str, speakers.Readings],
    folder: Path,
    progress: Progress,
) -> Exhibit:
    """One part of the paper, by its name; what is labelled first is in `people`."""
    stats = corpora.stats["REALTALK"]
    simulated = people.get("locomo")
    builders: dict[str, Callable[[], Exhibit]] = {
        "table-1": lambda: counts.table_1(corpora.stats),
        "section-5.1": lambda: counts.section_5_1(stats),
        "figure-2": lambda: speakers.figure_2(people["realtalk"], simulated),
        "figure-3": lambda: speakers.figure_3(people["realtalk"]),
        "table-2": lambda: personas.table_2(plan.simulations),
        "table-3": lambda: answers.table_3(
            corpora.realtalk, folder / _PROBE, plan.reader, judge=plan.judge, progress=progress
        ),
        "table-5": lambda: counts.table_5(stats),
        "table-6": lambda: counts.table_6(stats),
        "figure-4": lambda: counts.figure_4(stats),
        "figure-5": lambda: counts.figure_5(stats),
        "table-7": lambda: table_7(people["realtalk"]),
        "figure-6": lambda: speakers.figure_6(people["realtalk"], simulated),
        "table-8": lambda: personas.table_8(plan.simulations, people.get("realtalk")),
        "figure-7": lambda: contexts.figure_7(plan.sweep),
        persona_conv.ID: lambda: persona_conv.main_table(plan.threads),
    }
    return builders[name]()
