"""Found runs → their stored rows as values, ready to be shown. No model is asked anything.

    loaded = load([Path("demo")])
    loaded.corpora[0].stats            → CorpusStats(name="sample", …)
    loaded.labels[0].speakers          → (SpeakerFacets("Chat_1…", "Mara", …), …)
    loaded.probes[0].probed.scores     → RunScores(…)
    loaded.left_out                    → (("sweep/whole", "the run has no row yet"),)

A run that cannot be read is left out with its reason, and named in the report, so that one
broken folder of twenty does not cost the other nineteen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.corpora.reading import Progress, silent
from realtalk.errors import RealtalkError
from realtalk.report.finding import CORPUS, LABELS, Found, find

if TYPE_CHECKING:
    import polars as pl

    from realtalk.facets import SpeakerConsistency, SpeakerFacets
    from realtalk.probing.scoring import RunScores
    from realtalk.runs.persona import SimulatedRun
    from realtalk.runs.probing import Probed
    from realtalk.runs.threads import PredictedRun
    from realtalk.stats.values import CorpusStats

__all__ = [
    "CorpusRun",
    "LabelsRun",
    "Loaded",
    "PersonaRun",
    "ProbeRun",
    "ThreadsRun",
    "load",
    "says_simulated",
]

# What the report reads of a run's settings.
_PROBE = ("corpus", "memory", "reader", "budgets")
_PERSONA = ("corpus", "simulator", "context", "limit")
_THREADS = ("corpus", "task", "predictor", "settings", "chosen", "protocol", "test")
# Words in a name that say that no person wrote the chats.
_SIMULATED = frozenset({"simulated", "locomo", "llm", "generated", "synthetic"})


def says_simulated(name: str) -> bool:
    """Whether a corpus's name says that a model wrote both sides."""
    return not _SIMULATED.isdisjoint(re.split(r"[\W_]+", name.casefold()))


@dataclass(frozen=True)
class CorpusRun:
    """A stored corpus, counted."""

    found: Found
    stats: CorpusStats
    about: Mapping[str, Any]


@dataclass(frozen=True)
class LabelsRun:
    """Labels of one corpus. `name` is the corpus's where it is among the runs."""

    found: Found
    name: str
    frame: pl.DataFrame
    protocol: str
    speakers: tuple[SpeakerFacets, ...]
    consistency: tuple[SpeakerConsistency, ...]

    @property
    def is_simulated(self) -> bool:
        """Whether a name says that a model wrote both sides."""
        return says_simulated(f"{self.name} {self.found.name}")


@dataclass(frozen=True)
class ProbeRun:
    """A memory and a reader on one corpus."""

    found: Found
    probed: Probed

    @property
    def corpus(self) -> str:
        return str(self.probed.settings["corpus"]["name"])

    @cached_property
    def scores(self) -> RunScores:
        return self.probed.scores

    @property
    def memory(self) -> str:
        return str(self.probed.settings["memory"]["name"])

    @property
    def reader(self) -> str:
        """The model that answered, or the reader without one; "none" where nobody did."""
        return self.probed.model or str(self.probed.settings["reader"]["name"])


@dataclass(frozen=True)
class PersonaRun:
    """A simulator's turns."""

    found: Found
    run: SimulatedRun

    @property
    def corpus(self) -> str:
        return str(self.run.settings["corpus"]["name"])


@dataclass(frozen=True)
class ThreadsRun:
    """A predictor's replies."""

    found: Found
    run: PredictedRun


@dataclass(frozen=True)
class Loaded:
    """Everything that the report is made from."""

    corpora: tuple[CorpusRun, ...] = ()
    labels: tuple[LabelsRun, ...] = ()
    probes: tuple[ProbeRun, ...] = ()
    personas: tuple[PersonaRun, ...] = ()
    threads: tuple[ThreadsRun, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def runs(self) -> tuple[Found, ...]:
        groups = (self.corpora, self.labels, self.probes, self.personas, self.threads)
        return tuple(each.found for group in groups for each in group)


def load(folders: Sequence[Path], progress: Progress = silent) -> Loaded:
    """Every run in and below the folders."""
    from realtalk.runs.persona import KIND as PERSONA
    from realtalk.runs.persona import load_persona
    from realtalk.runs.probing import KIND as PROBE
    from realtalk.runs.probing import load_probe
    from realtalk.runs.threads import KIND as THREADS
    from realtalk.runs.threads import load_threads

    finds = find(folders, (PROBE, PERSONA, THREADS))
    left_out = [(each.name, f"a run of {each.kind}") for each in finds.unknown]
    corpora: list[CorpusRun] = []
    labels: list[LabelsRun] = []
    probes: list[ProbeRun] = []
    personas: list[PersonaRun] = []
    threads: list[ThreadsRun] = []
    # Corpora first: labels are called by the corpus that they belong to. People before models.
    order = sorted(finds.runs, key=lambda each: (each.kind != CORPUS, _is_simulated(each)))
    for done, found in enumerate(order):
        progress(done, len(order), f"reading {found.name}")
        try:
            if found.kind == CORPUS:
                corpora.append(_corpus(found))
            elif found.kind == LABELS:
                labels.append(_labels(found, corpora))
            elif found.kind == PROBE:
                probed = load_probe(found.folder)
                _refuse_incomplete(found, probed.settings, _PROBE)
                probes.append(ProbeRun(found, probed))
            elif found.kind == PERSONA:
                simulated = load_persona(found.folder)
                _refuse_incomplete(found, simulated.settings, _PERSONA)
                personas.append(PersonaRun(found, simulated))
            else:
                predicted = load_threads(found.folder)
                _refuse_incomplete(found, predicted.settings, _THREADS)
                threads.append(ThreadsRun(found, predicted))
        except RealtalkError as error:
            if found.folder in folders:
                raise
            left_out.append((found.name, error.what))
    progress(len(order), len(order), "all runs read")
    if not (corpora or labels or probes or personas or threads):
        name, reason = left_out[0]
        raise RealtalkError(f"nothing can be reported of {name} ({reason})", where=str(folders[0]))
    return Loaded(
        *(tuple(corpora), tuple(labels), tuple(probes)),
        *(tuple(personas), tuple(threads), tuple(left_out)),
    )


def _refuse_incomplete(found: Found, settings: Mapping[str, Any], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in settings]
    if missing:
        where = str(found.folder / "run.json")
        raise RealtalkError(f"its settings lack '{missing[0]}'", where=where)


def _is_simulated(found: Found) -> bool:
    return says_simulated(found.name) or says_simulated(found.folder.parent.name)


def _corpus(found: Found) -> CorpusRun:
    import orjson

    from realtalk.corpora.store import load as load_corpus
    from realtalk.stats import describe

    tables = load_corpus(found.folder).tables
    about = orjson.loads((found.folder / "corpus.json").read_bytes())
    return CorpusRun(found, describe(tables), about)


def _labels(found: Found, corpora: Sequence[CorpusRun]) -> LabelsRun:
    from realtalk.facets import from_frame
    from realtalk.facets.consistency import consistency_of
    from realtalk.facets.speakers import measure_speakers
    from realtalk.measures.label_files import read_labels

    frame = read_labels(found.folder)
    if frame.is_empty():
        raise RealtalkError("holds no label", where=str(found.folder))
    kept = _speakers(found.folder / "speakers.parquet")
    protocol = _protocol(frame, kept)
    # Measuring draws a thousand resamples a facet: only for speakers who can be compared.
    if kept is not None and not _in_two_chats(frame):
        speakers = from_frame(kept)
        consistency: tuple[SpeakerConsistency, ...] = ()
    else:
        measured = list(measure_speakers(frame, protocol))
        speakers = tuple(each.speaker for each in measured)
        consistency = consistency_of(measured)
    chats = set(frame["chat"].unique())
    owner = next(
        (each.stats.name for each in corpora if chats <= {chat.id for chat in each.stats.per_chat}),
        None,
    )
    return LabelsRun(found, owner or found.name, frame, protocol, speakers, consistency)


def _speakers(path: Path) -> pl.DataFrame | None:
    import polars as pl

    from realtalk.facets import SPEAKERS

    try:
        frame = pl.read_parquet(path) if path.is_file() else None
    except (pl.exceptions.PolarsError, OSError):
        frame = None
    # Speakers follow from the labels: a table of an older version is made anew.
    return frame if frame is not None and frame.schema == SPEAKERS and frame.height else None


def _protocol(frame: pl.DataFrame, kept: pl.DataFrame | None) -> str:
    import polars as pl

    if kept is not None:
        return str(kept["protocol"][0])
    # Joined turns change their speaker each time; single messages need not.
    same = pl.all_horizontal(
        pl.col(name) == pl.col(name).shift(1) for name in ("chat", "session", "speaker")
    )
    return "released" if frame.sort("chat", "turn").select(same.any()).item() else "paper"


def _in_two_chats(frame: pl.DataFrame) -> bool:
    pairs = frame.select("speaker", "chat").unique()
    return pairs.height > pairs["speaker"].n_unique()
