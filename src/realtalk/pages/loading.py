"""Folders → the runs that they hold, as values ready to be shown. No model is asked anything.

    find([Path("demo")])
    → [RunPlace("corpus", demo/corpora/sample, "sample"),
       RunPlace("emotional intelligence", demo/labels/sample, "sample"),
       RunPlace("memory probing", demo/probe, "probe"), …]
    loaded = load([Path("demo")])
    loaded.corpora[0].stats            → CorpusStats(name="sample", …)
    loaded.labels[0].speakers          → (SpeakerFacets("Chat_1…", "Mara", …), …)
    loaded.runs[0].run                 → <Run memory probing: …>
    loaded.left_out                    → (("sweep/whole", "the run has no row yet"),)

A folder is a run, or holds runs (as the folder of a sweep or of the demo does), some levels
down. A run's name is its folder's; where two have one name, the folders above are named too.
A run that cannot be read is left out with its reason, and named in the report, so that one
broken folder of twenty does not cost the other nineteen.

    said = AuthorOverrides(simulated=("mine",))
    writer_of(("mine", "mine-labels"), "jsonl", said)  → WriterKind(True, "as you said")
    writer_of(("bench",), "locomo", said)  → WriterKind(True, "by its format, locomo")
    writer_of(("family",), "whatsapp", said)  → WriterKind(False, "by its format, whatsapp")
    writer_of(("sample-simulated",), "realtalk", said)  → WriterKind(True, "by its name")
    writer_of(("realtalk",), "realtalk", said)  → WriterKind(False, "nothing says otherwise")

Who wrote a corpus, people or models, is what the user says first, then what the format knows. A
name is a guess, and the last resort.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from realtalk.ei.protocols import rules_of
from realtalk.errors import RealtalkError
from realtalk.evals.run import SHIPPED, Run
from realtalk.evals.values import KNOWN
from realtalk.files.progress import Progress, silent
from realtalk.formats.store import is_stored
from realtalk.formats.store import load as load_corpus
from realtalk.registry import known_name

if TYPE_CHECKING:
    import polars as pl

    from realtalk.describe.values import CorpusStats
    from realtalk.ei.speakers import SpeakerConsistency
    from realtalk.ei.values import SpeakerFacets

CORPUS, LABELS = "corpus", "emotional intelligence"
_RUN = "run.json"
_DEEPEST = 4
_FIX = "give a folder that `realtalk read`, `ei`, `probe`, `persona` or `threads` wrote with `out=`"


class RunPlace(NamedTuple):
    """One run: its kind as in run.json, or corpus; its versions where it keeps them."""

    kind: str
    path: Path
    name: str
    versions: tuple[Mapping[str, str], ...] = ()


def find(folders: Sequence[Path]) -> list[RunPlace]:
    """Every run in and below the folders, each once, in the order given."""
    runs_by_folder: dict[Path, RunPlace] = {}
    for folder in folders:
        here = list(_below(folder, 0)) if folder.is_dir() else []
        if not here:
            what = "is not a folder" if folder.exists() else "does not exist"
            what = "no stored run here" if folder.is_dir() else what
            raise RealtalkError(what, where=str(folder), fix=_FIX)
        for place in here:
            runs_by_folder.setdefault(place.path.resolve(), place)
    return _named_apart(list(runs_by_folder.values()))


def _below(folder: Path, depth: int) -> Iterator[RunPlace]:
    here = _place(folder)
    if here is not None:
        yield here
        return
    if depth == _DEEPEST:
        return
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise RealtalkError(f"cannot be read ({error.strerror})", where=str(folder)) from error
    for inner in inside:
        if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
            yield from _below(inner, depth + 1)


def _place(folder: Path) -> RunPlace | None:
    # A folder given as "." or ".." has its name only once it is resolved.
    name = folder.resolve().name or "run"
    record = folder / _RUN
    if not record.is_file():
        return RunPlace(CORPUS, folder, name) if is_stored(folder) else None
    try:
        about = orjson.loads(record.read_bytes())
        if isinstance(about["kind"], str):
            return RunPlace(about["kind"], folder, name, tuple(map(dict, about["versions"])))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise RealtalkError("is not the record of a run", where=str(record), fix="make the run again")


def told_apart(names: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Names of runs for a table; where two have one name, every one of them names its folder."""
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{name} ({folder})"
        for name, folder in zip(names, folders, strict=True)
    ]


def _named_apart(runs: list[RunPlace]) -> list[RunPlace]:
    """Corpora and labels may share a name: they are the same chats. Runs of one kind may not."""
    places = [run.path.resolve().parts[1:] for run in runs]
    renamed = list(runs)
    for depth in range(2, max(map(len, places), default=0) + 1):
        counts = Counter((run.kind, run.name) for run in renamed)
        renamed = [
            run if counts[run.kind, run.name] == 1 else run._replace(name="/".join(place[-depth:]))
            for run, place in zip(renamed, places, strict=True)
        ]
    return renamed


class CorpusRun(NamedTuple):
    """A stored corpus, counted."""

    folder: RunPlace
    stats: CorpusStats
    about: Mapping[str, Any]
    writer: WriterKind

    @property
    def corpus(self) -> str:
        return self.stats.name


class LabelsRun(NamedTuple):
    """Labels of one corpus, called by its name."""

    folder: RunPlace
    name: str
    frame: pl.DataFrame
    protocol: str
    speakers: tuple[SpeakerFacets, ...]
    consistency: tuple[SpeakerConsistency, ...]
    writer: WriterKind

    @property
    def corpus(self) -> str:
        return self.name

    @property
    def unit(self) -> str:
        """What was labelled."""
        return "turns" if rules_of(self.protocol).joined else "messages"


class StoredRun(NamedTuple):
    """A run of a benchmark."""

    folder: RunPlace
    run: Run
    writer: WriterKind

    @property
    def corpus(self) -> str:
        return str(self.run.settings["corpus"]["name"])


class LoadedRuns(NamedTuple):
    """Everything that the report is made from."""

    corpora: tuple[CorpusRun, ...] = ()
    labels: tuple[LabelsRun, ...] = ()
    runs: tuple[StoredRun, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def load(
    folders: Sequence[Path], progress: Progress = silent, authors: AuthorOverrides | None = None
) -> LoadedRuns:
    """Every run in and below the folders, people's before models'."""
    authors = authors or AuthorOverrides()
    kinds = (CORPUS, *SHIPPED, *KNOWN)
    places = find(folders)
    left_out = [
        (place.name, f"a run of {place.kind}") for place in places if place.kind not in kinds
    ]
    every: list[CorpusRun | LabelsRun | StoredRun] = []
    # Corpora first: labels are called by the corpus that they belong to.
    order = [place for place in places if place.kind in kinds]
    order.sort(key=lambda place: place.kind != CORPUS)
    for done, folder in enumerate(order):
        progress(done, len(order), f"reading {folder.name}")
        corpora = [run for run in every if isinstance(run, CorpusRun)]
        try:
            with _of_this_version(folder):
                if folder.kind == CORPUS:
                    every.append(_corpus(folder, authors))
                elif folder.kind == LABELS:
                    every.append(_labels(folder, corpora, authors))
                else:
                    every.append(_run(folder, corpora, authors))
        except RealtalkError as error:
            if folder.path in folders:
                raise
            left_out.append((folder.name, error.what))
    progress(len(order), len(order), "all runs read")
    if not every:
        name, reason = left_out[0]
        raise RealtalkError(f"nothing can be reported of {name} ({reason})", where=str(folders[0]))
    authors.refuse_unknown(name for run in every for name in _names(run.folder, run.corpus))
    # Those that ship in their order, then others.
    ranks = {kind: rank for rank, kind in enumerate(SHIPPED)}
    every.sort(key=lambda run: (ranks.get(run.folder.kind, len(ranks)), run.writer.is_simulated))
    return LoadedRuns(
        tuple(run for run in every if isinstance(run, CorpusRun)),
        tuple(run for run in every if isinstance(run, LabelsRun)),
        tuple(run for run in every if isinstance(run, StoredRun)),
        tuple(left_out),
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


def _names(folder: RunPlace, corpus: str) -> tuple[str, ...]:
    """What a user may call it: by its run, by the run's folder, by its corpus."""
    return tuple(dict.fromkeys((folder.name, folder.path.resolve().name, corpus)))


def _corpus(folder: RunPlace, authors: AuthorOverrides) -> CorpusRun:
    from realtalk.describe import describe

    tables = load_corpus(folder.path).tables
    about = orjson.loads((folder.path / "corpus.json").read_bytes())
    _validate(len(about["source"]), about["ledger"]["in_messages"])
    by = writer_of(_names(folder, tables.name), tables.format, authors)
    return CorpusRun(folder, describe(tables), about, by)


def _labels(folder: RunPlace, corpora: Sequence[CorpusRun], authors: AuthorOverrides) -> LabelsRun:
    from realtalk.ei.results import SPEAKER_FILE, labels_about, read_labels
    from realtalk.ei.speakers import consistency_of, measure_speakers
    from realtalk.ei.values import from_frame

    frame, about = read_labels(folder.path), labels_about(folder.path)
    if frame.is_empty() or about is None:
        raise RealtalkError("holds no label", where=str(folder.path))
    stored_facets = _speakers(folder.path / SPEAKER_FILE)
    pairs = frame.select("speaker", "chat").unique()
    consistency: tuple[SpeakerConsistency, ...] = ()
    # Measuring draws a thousand resamples per facet: only for speakers who can be compared.
    if stored_facets is not None and pairs["speaker"].is_unique().all():
        speakers = from_frame(stored_facets)
    else:
        measured = list(measure_speakers(frame, about["protocol"]))
        speakers = tuple(facets.speaker for facets in measured)
        consistency = consistency_of(measured)
    names, format_ = _names(folder, about["corpus"]), about["format"]
    # The corpus that labels are of has their chats, and their name.
    chats = set(frame["chat"].unique())
    for corpus in corpora:
        if corpus.corpus == about["corpus"] and chats <= {
            chat.id for chat in corpus.stats.per_chat
        }:
            names += _names(corpus.folder, corpus.corpus)
            format_ = corpus.stats.format
            break
    by = writer_of(names, format_, authors)
    return LabelsRun(folder, about["corpus"], frame, about["protocol"], speakers, consistency, by)


def _run(folder: RunPlace, corpora: Sequence[CorpusRun], authors: AuthorOverrides) -> StoredRun:
    run = Run.load(folder.path)
    about = run.settings["corpus"]
    names = _names(folder, str(about["name"]))
    for corpus in corpora:
        if corpus.corpus == about["name"]:
            names += _names(corpus.folder, corpus.corpus)
    by = writer_of(names, about.get("format"), authors)
    # Scored here, where a run that cannot be scored can still be left out.
    _validate(run.name, run.variants, run.cautions, about["sha256"])
    return StoredRun(folder, run, by)


def _validate(*_values: object) -> None:
    """Its arguments raise where a run lacks what they are made from."""


def _speakers(path: Path) -> pl.DataFrame | None:
    import polars as pl

    from realtalk.ei.values import SPEAKERS

    try:
        frame = pl.read_parquet(path) if path.is_file() else None
    except (pl.exceptions.PolarsError, OSError):
        frame = None
    # Speakers follow from the labels: a table of an older version is made anew.
    return frame if frame is not None and frame.schema == SPEAKERS and frame.height else None


# A published corpus of chats between models.
_BY_MODELS = frozenset({"locomo"})
# What a messenger wrote for the people who chatted in it.
_BY_PEOPLE = frozenset(
    """
    whatsapp whatsapp-database whatsapp-exporter telegram signal discord slack instagram messenger
    imessage line kakaotalk viber chatlab teams google-chat mbox
    """.split()  # noqa: SIM905 - words read better than quotes
)
# Words in a name that say that no person wrote the chats.
_WORDS = frozenset({"simulated", "locomo", "llm", "generated", "synthetic"})


@dataclass(frozen=True, slots=True)
class AuthorOverrides:
    """Names of corpora or runs that, as the user says, models wrote, or people."""

    simulated: tuple[str, ...] = ()
    human: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if both := sorted(set(self.simulated) & set(self.human)):
            raise RealtalkError(f"'{both[0]}' is named as simulated and as human", fix="choose one")

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Raises where a name is unknown: a typing error would turn a comparison around."""
        names = list(dict.fromkeys(known))
        for name in (*self.simulated, *self.human):
            if not names:
                raise RealtalkError(f"there is no corpus and no labels to call '{name}'")
            known_name("corpus or run", name, names)


class WriterKind(NamedTuple):
    """Whether models wrote it, and by what that is known."""

    is_simulated: bool
    reason: str

    def __str__(self) -> str:
        return f"written by {'models' if self.is_simulated else 'people'} ({self.reason})"


def says_simulated(name: str) -> bool:
    """Whether a name says that a model wrote both sides."""
    return not _WORDS.isdisjoint(re.split(r"[\W_]+", name.casefold()))


def writer_of(names: Sequence[str], format_: str | None, authors: AuthorOverrides) -> WriterKind:
    """Decides for a corpus, or for a run on it, by every name that it goes by."""
    for is_simulated, names_stated in ((True, authors.simulated), (False, authors.human)):
        if not set(names_stated).isdisjoint(names):
            return WriterKind(is_simulated, "as you said")
    if format_ in _BY_MODELS or format_ in _BY_PEOPLE:
        return WriterKind(format_ in _BY_MODELS, f"by its format, {format_}")
    if any(says_simulated(name) for name in names):
        return WriterKind(True, "by its name")
    return WriterKind(False, "nothing says otherwise")
