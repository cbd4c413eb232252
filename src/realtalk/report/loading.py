"""Found runs → their stored rows as values, ready to be shown. No model is asked anything.

    loaded = load([Path("demo")])
    loaded.corpora[0].stats            → CorpusStats(name="sample", …)
    loaded.labels[0].speakers          → (SpeakerFacets("Chat_1…", "Mara", …), …)
    loaded.runs[0].run                 → <Run memory probing: …>
    loaded.left_out                    → (("sweep/whole", "the run has no row yet"),)

A run that cannot be read is left out with its reason, and named in the report, so that one
broken folder of twenty does not cost the other nineteen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.evals.run import SHIPPED, Run
from realtalk.evals.values import KNOWN
from realtalk.files.progress import Progress, silent
from realtalk.report.finding import CORPUS, LABELS, RunPlace, find
from realtalk.report.writers import Told, WriterKind, written

if TYPE_CHECKING:
    import polars as pl

    from realtalk.describe.values import CorpusStats
    from realtalk.ei import SpeakerConsistency, SpeakerFacets


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
class StoredRun:
    """A run of a benchmark."""

    folder: RunPlace
    run: Run
    written: WriterKind

    @property
    def names(self) -> tuple[str, ...]:
        return _names(self.folder, str(self.run.settings["corpus"]["name"]))


@dataclass(frozen=True)
class LoadedRuns:
    """Everything that the report is made from."""

    corpora: tuple[CorpusRun, ...] = ()
    labels: tuple[LabelsRun, ...] = ()
    runs: tuple[StoredRun, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def places(self) -> tuple[RunPlace, ...]:
        return tuple(
            each.folder for group in (self.corpora, self.labels, self.runs) for each in group
        )


def load(
    folders: Sequence[Path], progress: Progress = silent, told: Told | None = None
) -> LoadedRuns:
    """Every run in and below the folders, people's before models'."""
    told = told or Told()
    finds = find(folders, (*SHIPPED, *KNOWN))
    left_out = [(each.name, f"a run of {each.kind}") for each in finds.unknown]
    corpora: list[CorpusRun] = []
    labels: list[LabelsRun] = []
    runs: list[StoredRun] = []
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
                else:
                    runs.append(_run(folder, corpora, told))
        except RealtalkError as error:
            if folder.path in folders:
                raise
            left_out.append((folder.name, error.what))
    progress(len(order), len(order), "all runs read")
    everything: list[CorpusRun | LabelsRun | StoredRun] = [*corpora, *labels, *runs]
    if not everything:
        name, reason = left_out[0]
        raise RealtalkError(f"nothing can be reported of {name} ({reason})", where=str(folders[0]))
    told.refuse_unknown(name for each in everything for name in each.names)
    return LoadedRuns(
        corpora=tuple(sorted(corpora, key=lambda each: each.written.is_simulated)),
        labels=tuple(sorted(labels, key=lambda each: each.written.is_simulated)),
        runs=tuple(
            sorted(runs, key=lambda each: (_ranked(each.run.kind), each.written.is_simulated))
        ),
        left_out=tuple(left_out),
    )


def _ranked(kind: str) -> int:
    """Those that ship in their order, then others."""
    return list(SHIPPED).index(kind) if kind in SHIPPED else len(list(SHIPPED))


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


def _names(folder: RunPlace, corpus: str) -> tuple[str, ...]:
    """What a user may call it: by its run, by the run's folder, by its corpus."""
    return tuple(dict.fromkeys((folder.name, folder.path.resolve().name, corpus)))


def _corpus(folder: RunPlace, told: Told) -> CorpusRun:
    import orjson

    from realtalk.describe import describe
    from realtalk.formats.store import load as load_corpus

    tables = load_corpus(folder.path).tables
    about = orjson.loads((folder.path / "corpus.json").read_bytes())
    _need(len(about["source"]), about["ledger"]["in_messages"])
    by = written(_names(folder, tables.name), tables.format, told)
    return CorpusRun(folder, describe(tables), about, by)


def _labels(folder: RunPlace, corpora: Sequence[CorpusRun], told: Told) -> LabelsRun:
    from realtalk.ei import from_frame
    from realtalk.ei.consistency import consistency_of
    from realtalk.ei.label_files import labels_about, read_labels
    from realtalk.ei.speakers import measure_speakers

    frame = read_labels(folder.path)
    if frame.is_empty():
        raise RealtalkError("holds no label", where=str(folder.path))
    about = labels_about(folder.path)
    owner = _owner(frame, None if about is None else about["corpus"], corpora)
    kept = _speakers(folder.path / "speakers.parquet")
    protocol = _protocol(frame, kept) if about is None else about["protocol"]
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
        name, format_ = about["corpus"], about["format"]
    by = written((*_names(folder, name), *names), format_, told)
    version = None if about is None or folder.versions else about["realtalk"]  # as run.json has it
    return LabelsRun(folder, name, frame, protocol, speakers, consistency, by, version)


def _owner(frame: pl.DataFrame, name: str | None, corpora: Sequence[CorpusRun]) -> CorpusRun | None:
    """The corpus that labels are of: it has their chats, and their name where they know it."""
    chats = set(frame["chat"].unique())
    fitting = (each for each in corpora if chats <= {chat.id for chat in each.stats.per_chat})
    return next((each for each in fitting if name in (None, each.stats.name)), None)


def _run(folder: RunPlace, corpora: Sequence[CorpusRun], told: Told) -> StoredRun:
    run = Run.load(folder.path)
    about = run.settings["corpus"]
    same = [each for each in corpora if each.stats.name == about["name"]]
    names = tuple(name for each in same for name in each.names)
    by = written((*_names(folder, str(about["name"])), *names), about.get("format"), told)
    # Scored here, where a run that cannot be scored can still be left out.
    _need(run.name, run.variants, run.cautions, about["sha256"])
    return StoredRun(folder, run, by)


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
