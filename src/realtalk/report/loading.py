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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.report.finding import CORPUS, LABELS, RunPlace, find
from realtalk.report.writers import Told, WriterKind, written

if TYPE_CHECKING:
    import polars as pl

    from realtalk.ei import SpeakerConsistency, SpeakerFacets
    from realtalk.memory.benchmark import ProbedRun
    from realtalk.memory.scoring import RunScores
    from realtalk.persona.benchmark import SimulatedRun
    from realtalk.persona.guessing import GuessRun
    from realtalk.persona.summaries import Simulation
    from realtalk.stats.values import CorpusStats
    from realtalk.threads.benchmark import PredictedRun

# What the report reads of a run's settings.
_PROBE = ("corpus", "solver", "budgets")
_PERSONA = ("corpus", "solver", "context", "limit")
_GUESSES = ("corpus", "solver", "replies", "context")
_THREADS = ("corpus", "task", "solver", "settings", "chosen", "protocol", "test")


@dataclass(frozen=True)
class CorpusRun:
    """A stored corpus, counted."""

    folder: RunPlace
    stats: CorpusStats
    about: Mapping[str, Any]
    written: WriterKind

    @property
    def names(self) -> tuple[str, ...]:
        return _names(self.folder, self.stats.name)


@dataclass(frozen=True)
class LabelsRun:
    """Labels of one corpus. `name` is the corpus's where it is known, else the folder's."""

    folder: RunPlace
    name: str
    frame: pl.DataFrame
    protocol: str
    speakers: tuple[SpeakerFacets, ...]
    consistency: tuple[SpeakerConsistency, ...]
    written: WriterKind
    version: str | None  # of the package that made them, where they say it

    @property
    def names(self) -> tuple[str, ...]:
        return _names(self.folder, self.name)


@dataclass(frozen=True)
class ProbeRun:
    """A memory and a reader on one corpus."""

    folder: RunPlace
    probed: ProbedRun
    written: WriterKind

    @property
    def names(self) -> tuple[str, ...]:
        return _names(self.folder, self.corpus)

    @property
    def corpus(self) -> str:
        return str(self.probed.settings["corpus"]["name"])

    @cached_property
    def scores(self) -> RunScores:
        return self.probed.scores

    @property
    def memory(self) -> str:
        """The memory, and the golds where they are not the published ones."""
        golds = self.probed.golds
        return (
            self.probed.memory if golds == "published" else f"{self.probed.memory}, {golds} golds"
        )

    @property
    def reader(self) -> str:
        """The model that answered, or the reader without one; "none" where nobody did."""
        return self.probed.model or self.probed.reader


@dataclass(frozen=True)
class PersonaRun:
    """A simulator's turns."""

    folder: RunPlace
    run: SimulatedRun

    @property
    def corpus(self) -> str:
        return str(self.run.settings["corpus"]["name"])

    @cached_property
    def simulation(self) -> Simulation:
        return self.run.simulation


@dataclass(frozen=True)
class GuessesRun:
    """Guesses of who wrote it."""

    folder: RunPlace
    run: GuessRun


@dataclass(frozen=True)
class ThreadsRun:
    """A predictor's replies."""

    folder: RunPlace
    run: PredictedRun


@dataclass(frozen=True)
class LoadedRuns:
    """Everything that the report is made from."""

    corpora: tuple[CorpusRun, ...] = ()
    labels: tuple[LabelsRun, ...] = ()
    probes: tuple[ProbeRun, ...] = ()
    personas: tuple[PersonaRun, ...] = ()
    threads: tuple[ThreadsRun, ...] = ()
    guesses: tuple[GuessesRun, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def runs(self) -> tuple[RunPlace, ...]:
        groups = (self.corpora, self.labels, self.probes, self.personas, self.guesses, self.threads)
        return tuple(each.folder for group in groups for each in group)


def load(
    folders: Sequence[Path], progress: Progress = silent, told: Told | None = None
) -> LoadedRuns:
    """Every run in and below the folders, people's before models'."""
    from realtalk.memory.benchmark import KIND as PROBE
    from realtalk.memory.benchmark import load_probe
    from realtalk.persona.benchmark import KIND as PERSONA
    from realtalk.persona.benchmark import load_persona
    from realtalk.persona.guessing import GUESSES, load_guess
    from realtalk.threads.benchmark import KIND as THREADS
    from realtalk.threads.benchmark import load_threads

    told = told or Told()
    finds = find(folders, (PROBE, PERSONA, GUESSES, THREADS))
    left_out = [(each.name, f"a run of {each.kind}") for each in finds.unknown]
    corpora: list[CorpusRun] = []
    labels: list[LabelsRun] = []
    probes: list[ProbeRun] = []
    personas: list[PersonaRun] = []
    guesses: list[GuessesRun] = []
    threads: list[ThreadsRun] = []
    # Corpora first: labels are called by the corpus that they belong to.
    order = sorted(finds.runs, key=lambda each: each.kind != CORPUS)
    for done, folder in enumerate(order):
        progress(done, len(order), f"reading {folder.name}")
        try:
            with _of_this_version(folder):
                if folder.kind == CORPUS:
                    corpora.append(_corpus(folder, told))
                elif folder.kind == LABELS:
                    labels.append(_labels(folder, corpora, told))
                elif folder.kind == PROBE:
                    probes.append(_probe(folder, load_probe(folder.path), corpora, told))
                elif folder.kind == PERSONA:
                    personas.append(_persona(folder, load_persona(folder.path)))
                elif folder.kind == GUESSES:
                    guesses.append(_guesses(folder, load_guess(folder.path)))
                else:
                    threads.append(_threads(folder, load_threads(folder.path)))
        except RealtalkError as error:
            if folder.path in folders:
                raise
            left_out.append((folder.name, error.what))
    progress(len(order), len(order), "all runs read")
    if not (corpora or labels or probes or personas or guesses or threads):
        name, reason = left_out[0]
        raise RealtalkError(f"nothing can be reported of {name} ({reason})", where=str(folders[0]))
    known: list[CorpusRun | LabelsRun | ProbeRun] = [*corpora, *labels, *probes]
    told.refuse_unknown(name for each in known for name in each.names)
    return LoadedRuns(
        corpora=tuple(sorted(corpora, key=lambda each: each.written.is_simulated)),
        labels=tuple(sorted(labels, key=lambda each: each.written.is_simulated)),
        probes=tuple(sorted(probes, key=lambda each: each.written.is_simulated)),
        personas=tuple(personas),
        guesses=tuple(guesses),
        threads=tuple(threads),
        left_out=tuple(left_out),
    )


@contextmanager
def _of_this_version(folder: RunPlace) -> Iterator[None]:
    """Rows of another version may lack a column, its settings may have another form."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        lacks = f"lacks {error}" if isinstance(error, KeyError) else type(error).__name__
        raise RealtalkError(
            f"does not fit this version of realtalk ({lacks})",
            where=str(folder.path),
            fix="make the run again",
        ) from error


def _refuse_incomplete(
    folder: RunPlace, settings: Mapping[str, Any], needed: Sequence[str]
) -> None:
    missing = [name for name in needed if name not in settings]
    if missing:
        where = str(folder.path / "run.json")
        raise RealtalkError(f"its settings lack '{missing[0]}'", where=where)


def _names(folder: RunPlace, corpus: str) -> tuple[str, ...]:
    """What a user may call it: by its run, by the run's folder, by its corpus."""
    return tuple(dict.fromkeys((folder.name, folder.path.resolve().name, corpus)))


def _corpus(folder: RunPlace, told: Told) -> CorpusRun:
    import orjson

    from realtalk.corpora.store import load as load_corpus
    from realtalk.stats import describe

    tables = load_corpus(folder.path).tables
    about = orjson.loads((folder.path / "corpus.json").read_bytes())
    _need(len(about["source"]), about["ledger"]["in_messages"])
    by = written(_names(folder, tables.name), tables.format, told)
    return CorpusRun(folder, describe(tables), about, by)


def _labels(folder: RunPlace, corpora: Sequence[CorpusRun], told: Told) -> LabelsRun:
    from realtalk.corpora.store import load as load_corpus
    from realtalk.ei import from_frame
    from realtalk.ei.consistency import consistency_of
    from realtalk.ei.label_files import labels_about, read_labels, with_languages
    from realtalk.ei.speakers import measure_speakers

    frame = read_labels(folder.path)
    if frame.is_empty():
        raise RealtalkError("holds no label", where=str(folder.path))
    about = labels_about(folder.path)
    owner = _owner(frame, None if about is None else about.corpus, corpora)
    if owner is not None and frame["language"].null_count():
        frame = with_languages(frame, load_corpus(owner.folder.path).corpus)
    kept = _speakers(folder.path / "speakers.parquet")
    protocol = _protocol(frame, kept) if about is None else about.protocol
    # Measuring draws a thousand resamples per facet: only for speakers who can be compared.
    if kept is not None and not _in_two_chats(frame):
        speakers = from_frame(kept)
        consistency: tuple[SpeakerConsistency, ...] = ()
    else:
        measured = list(measure_speakers(frame, protocol))
        speakers = tuple(each.speaker for each in measured)
        consistency = consistency_of(measured)
    name, format_ = folder.name, None
    names: tuple[str, ...] = ()
    if owner is not None:
        name, format_, names = owner.stats.name, owner.stats.format, owner.names
    elif about is not None:
        name, format_ = about.corpus, about.format
    by = written((*_names(folder, name), *names), format_, told)
    version = None if about is None or folder.versions else about.realtalk  # as run.json has it
    return LabelsRun(folder, name, frame, protocol, speakers, consistency, by, version)


def _owner(frame: pl.DataFrame, name: str | None, corpora: Sequence[CorpusRun]) -> CorpusRun | None:
    """The corpus that labels are of: it has their chats, and their name where they know it."""
    chats = set(frame["chat"].unique())
    fitting = (each for each in corpora if chats <= {chat.id for chat in each.stats.per_chat})
    return next((each for each in fitting if name in (None, each.stats.name)), None)


def _probe(
    folder: RunPlace, probed: ProbedRun, corpora: Sequence[CorpusRun], told: Told
) -> ProbeRun:
    _refuse_incomplete(folder, probed.settings, _PROBE)
    about = probed.settings["corpus"]
    same = [each for each in corpora if each.stats.name == about["name"]]
    names = tuple(name for each in same for name in each.names)
    # Runs of earlier versions do not say the format; the corpus beside them may.
    format_ = about.get("format") or next((each.stats.format for each in same), None)
    by = written((*_names(folder, str(about["name"])), *names), format_, told)
    run = ProbeRun(folder, probed, by)
    # Scored here, where a run that cannot be scored can still be left out.
    _need(run.memory, run.reader, run.scores, about["sha256"])
    return run


def _persona(folder: RunPlace, simulated: SimulatedRun) -> PersonaRun:
    _refuse_incomplete(folder, simulated.settings, _PERSONA)
    run = PersonaRun(folder, simulated)
    _need(run.corpus, run.simulation, simulated.settings["corpus"]["sha256"])
    return run


def _guesses(folder: RunPlace, guessed: GuessRun) -> GuessesRun:
    _refuse_incomplete(folder, guessed.settings, _GUESSES)
    about = guessed.settings["corpus"]
    _need(guessed.summary, guessed.name, about["name"], about["sha256"])
    return GuessesRun(folder, guessed)


def _threads(folder: RunPlace, predicted: PredictedRun) -> ThreadsRun:
    _refuse_incomplete(folder, predicted.settings, _THREADS)
    about, protocol = predicted.settings["corpus"], predicted.settings["protocol"]
    _need(predicted.summary, about["name"], about["sha256"], protocol["protocol"])
    return ThreadsRun(folder, predicted)


def _need(*_values: object) -> None:
    """Does nothing: its arguments raise where a run lacks what they are made from."""


def _speakers(path: Path) -> pl.DataFrame | None:
    import polars as pl

    from realtalk.ei import SPEAKERS

    try:
        frame = pl.read_parquet(path) if path.is_file() else None
    except (pl.exceptions.PolarsError, OSError):
        frame = None
    # Speakers follow from the labels: a table of an older version is made anew.
    return frame if frame is not None and frame.schema == SPEAKERS and frame.height else None


def _protocol(frame: pl.DataFrame, kept: pl.DataFrame | None) -> str:
    """The protocol of labels that do not state it: by their speakers' table, else by their look."""
    from realtalk.ei.label_files import of_messages

    if kept is not None:
        return str(kept["protocol"][0])
    return "released" if of_messages(frame) else "turns"


def _in_two_chats(frame: pl.DataFrame) -> bool:
    pairs = frame.select("speaker", "chat").unique()
    return pairs.height > pairs["speaker"].n_unique()
