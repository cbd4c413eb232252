"""Chats, read → what they look like, what is odd, the same elsewhere, and without their people.

read("WhatsApp Chat with Mara.zip")         → <Corpus …: 1 chat, 2 speakers, 412 messages>
read("Mara (1).zip", into="mara")           → the stored corpus with what is new
stats("sample").frame                       one row per chat
check("sample").counts()                    → {"alias": 3, …}
export("sample", to="csv", out="tables")    → what the format could not keep
shared, key = redact("sample", names=["Aunt Ida"])
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import (
    Engine,
    Readable,
    Reading,
    as_corpus,
    as_path,
    as_reading,
    as_stream,
    is_path,
    log_notes,
    value_object,
)
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.notebook import counted, table_html
from realtalk.registry import suggest

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from realtalk.chat import Corpus
    from realtalk.describe.values import CorpusStats
    from realtalk.formats.check import CheckReport
    from realtalk.formats.opening import OpenedSource
    from realtalk.formats.reading import ReadCorpus, ReadOptions
    from realtalk.redaction.redact import Key

_LOG = logging.getLogger("realtalk")
_LEVELS = ("error", "warning", "note")
FINDING_COLUMNS = ("severity", "rule", "chat", "where", "detail")


def samples() -> tuple[str, ...]:
    """Name the fictional chats that ship with the package.

    Every function takes such a name in place of a path.
    """
    from realtalk.formats.opening import SAMPLES

    return SAMPLES


def read(
    paths: Readable | Sequence[str | PathLike[str]],
    *,
    reading: Reading | str | None = None,
    out: str | PathLike[str] | None = None,
    into: str | PathLike[str] | None = None,
    chat: str | None = None,
    same: Mapping[str, str] | None = None,
    take_edits: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Read chats from any known format.

    The format is detected, for files, folders and zips. Of several paths, exports of one chat are
    joined. With `into` a newer export is added to a stored corpus: messages that are there keep
    their ids, and the same file a second time changes nothing.

    Args:
        paths: Files, folders, zips, corpora or sample name.
        reading: Format, dates and clock, where the file does not tell.
        out: Folder to store the corpus in, as Parquet.
        into: Stored corpus to add new messages to.
        chat: Id of the stored chat that goes on.
        same: Two names of one person, e.g. Mum=Anna.
        take_edits: Take edits, deletions and reactions made since.

    Returns:
        The corpus; with `into` the whole of it.

    Example:
        rt.read("sample")
        rt.read("WhatsApp Chat with Mara.zip", out="mara")
        rt.read("WhatsApp Chat with Mara (1).zip", into="mara")  # next month
        rt.read(["mine.txt", "hers.txt"], same={"Mum": "Anna"}, out="anna")
        rt.read("export/", reading=Reading(format="telegram", gap="day"))
    """
    from realtalk.files.writing import check_local
    from realtalk.formats.opening import add, stored_options, together

    if out is not None and into is not None:
        raise RealtalkError(
            "`out=` stores a new corpus, `into=` adds to a stored one", fix="give one of them"
        )
    if chat is not None and into is None:
        raise RealtalkError("`chat=` names a chat of a stored corpus", fix="give `into=` too")
    if out is not None:
        check_local(Path(out))
    way = value_object(Reading, reading)
    options = way.read_options(progress)
    if into is not None:
        options = stored_options(Path(into), options)
    sources: Sequence[Any] = paths if isinstance(paths, list | tuple) else [paths]
    if not sources:
        raise RealtalkError("the list of paths is empty", fix="name a file, a folder or a zip")
    opened = [_open(source, way.format, options) for source in sources]
    if into is not None:
        added = add(Path(into), opened, options, chat=chat, same=same, take_edits=take_edits)
        log_notes(added.notes)
        new = f", new chats {added.chats:,}" if added.chats else ""
        _LOG.info("%s%s", added.counts, new)
        _LOG.info(f"stored in {into}" if added.written else f"nothing new: {into} is as it was")
        return added.reading.corpus
    corpus_opened = together(opened, options, same=same, take_edits=take_edits)
    log_notes(corpus_opened.reading.notes)
    ledger = corpus_opened.reading.ledger
    _LOG.info("%s", ledger)
    for leftover in ledger.leftovers[:5]:
        _LOG.info("  left over: %s: %s", leftover.where, leftover.reason)
    if (more := len(ledger.leftovers) - 5) > 0:
        _LOG.info("  and %s more; realtalk check lists them all", f"{more:,}")
    if out is not None:
        from realtalk.formats.store import is_stored, store

        is_replaced = is_stored(Path(out))
        store(corpus_opened.reading, Path(out), corpus_opened.source, options)
        _LOG.info("stored in %s", out)
        if is_replaced:
            _LOG.info("in place of the corpus that was there; `into=%s` adds to one", out)
    return corpus_opened.reading.corpus


def _open(path: Readable, format_name: str | None, options: ReadOptions) -> OpenedSource:
    from realtalk.formats.opening import OpenedSource, open_reading

    if is_path(path):
        return open_reading(str(path), format_name, options)
    reading = as_reading(path)
    return OpenedSource(reading, None, reading.tables.format)


def stats(
    corpus: Readable,
    *,
    figures: str | PathLike[str] | None = None,
    reading: Reading | str | None = None,
    engine: Engine | str | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> CorpusStats:
    """Describe a corpus: sizes, sessions, reply times, questions.

    A stored corpus in parts, or a folder of stored corpora, is counted part by part, by one
    process or several; the figures are the same.

    Args:
        corpus: Chat, corpus or sample name.
        figures: Folder for charts: PNG, SVG and HTML.
        reading: Format, dates and clock, where the file does not tell.
        engine: Where the parts are counted.
        out: Folder to resume from, with an engine.
        fresh: Delete what was counted and start over.

    Returns:
        Statistics with `.frame` (one row per chat), `.figures()` and `.to_json()`; means have 95 %
        intervals that draw whole chats.

    Example:
        rt.stats("sample")
        rt.stats("WhatsApp Chat.zip", figures="pictures")
        rt.stats("corpora/", engine=Engine("processes", workers=4))
    """
    from realtalk.describe.counting import describe, describe_stream

    place = value_object(Engine, engine)
    option = next(
        (name for name, option_value in (("engine", place), ("out", out)) if option_value), None
    )
    stream = as_stream(corpus, option)
    if stream is not None and option is not None:
        from realtalk.api.batch_work import describe_by

        folder = as_path(out)
        described = describe_by(stream, place.backend(), folder, fresh=fresh, progress=progress)
        log_notes(stream.notes)
    elif stream is not None and len(stream.pieces) > 1:
        described = describe_stream(stream, progress)
        log_notes(stream.notes)
    else:
        described = describe(as_reading(corpus, reading, progress).tables)
    if figures is not None:
        from realtalk.describe.figures import draw, save_figures

        charts = draw(described)
        log_notes(tuple(charts.left_out.values()))
        _LOG.info("wrote %d files to %s", len(save_figures(charts.charts, Path(figures))), figures)
    return described


class Findings:
    """Everything odd about a corpus. Findings name ids and counts, never a message's text.

    `ledger` counts where every line of the input went and `notes` are what the reader assumed;
    of a Corpus that was read before, neither is known.
    """

    def __init__(self, report: CheckReport, source: ReadCorpus) -> None:
        self.name = source.corpus.name
        self.format = source.corpus.format
        self.findings = report.findings
        self.ledger = source.ledger
        self.notes = tuple(source.notes)
        self._report = report

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per finding: severity, rule, chat, where, detail."""
        import polars as pl

        rows = self._report.to_json()["findings"]
        return pl.DataFrame(rows, schema=dict.fromkeys(FINDING_COLUMNS, pl.String))

    def counts(self) -> dict[str, int]:
        """Findings by rule, without zeros."""
        return self._report.counts()

    @property
    def severity(self) -> str | None:
        """The gravest level there is: error, warning or note; None where nothing is odd."""
        return self._report.severity()

    def reaches(self, level: str) -> bool:
        """Whether something of this level or graver was found; nothing is "never"."""
        if level == "never" or self.severity is None:
            return False
        return _LEVELS.index(self.severity) <= _LEVELS.index(level)

    def to_json(self) -> dict[str, Any]:
        """Every finding with the ledger, as `realtalk check --json` prints them."""
        corpus = {"name": self.name, "format": self.format, "ledger": self.ledger.to_json()}
        return self._report.to_json() | corpus

    def __len__(self) -> int:
        return len(self.findings)

    def __repr__(self) -> str:
        numbers = Counter[str](finding.severity for finding in self.findings)
        levels = [counted(numbers[level], level) for level in _LEVELS if numbers[level]]
        return f"<Findings of {self.name}: {', '.join(levels) or 'nothing odd'}; {self.ledger}>"

    def _repr_html_(self) -> str:
        from realtalk.formats.check import RULES

        rows = [
            (rule, RULES[rule][0], count, RULES[rule][1]) for rule, count in self.counts().items()
        ]
        notes = (str(self.ledger), *self.notes)
        headings = ("rule", "level", "count", "meaning")
        return table_html(f"{self.name}: findings", headings, rows, notes)


def check(
    corpus: Readable, *, reading: Reading | str | None = None, progress: Progress = silent
) -> Findings:
    """List what is odd in a corpus: ids, order, evidence, answers.

    Evidence that points nowhere, messages out of order, ids that repeat, answers that are no
    answers, text that a format left behind.

    Args:
        corpus: Chat, corpus or sample name.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.check("sample")
        rt.check("WhatsApp Chat.zip")
        rt.check("data/realtalk")
    """
    from realtalk.formats.check import check as examine

    source = as_reading(corpus, reading, progress)
    return Findings(examine(source.corpus, source.ledger), source)


@dataclass(frozen=True)
class ExportResult:
    """Files that were written, and how many values of each kind their format cannot keep."""

    folder: Path
    format: str
    files: tuple[Path, ...]
    lost: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON."""
        folder, files = str(self.folder), [*map(str, self.files)]
        return {"folder": folder, "format": self.format, "files": files, "lost": dict(self.lost)}


def export(
    corpus: Readable,
    *,
    to: str,
    out: str | PathLike[str],
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> ExportResult:
    """Write chats in another format, and say what it cannot keep.

    The formats jsonl, locomo and convokit keep everything; realtalk, sheet and csv are read back
    and compared with what was written.

    Args:
        corpus: Chat, corpus or sample name.
        to: Format: realtalk, sheet, locomo, convokit, jsonl or csv.
        out: Folder for the files.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.export("sample", to="csv", out="sample-csv")
        rt.export("mara", to="sheet", out="annotate")  # to annotate
        rt.export("locomo10.json", to="convokit", out="locomo-convokit")
    """
    from realtalk.files.writing import check_holder
    from realtalk.formats.registry import FORMATS, not_kept, writable

    write = FORMATS[to].write if to in writable() else None
    if write is None:
        raise suggest("format to write", to, list(writable()))
    folder = check_holder(Path(out))
    chats = as_corpus(corpus, reading, progress)
    paths = write(chats, folder)
    return ExportResult(folder, to, tuple(paths), not_kept(chats, to, paths))


@dataclass(frozen=True)
class Redaction:
    """A corpus without its people, and the key to it: `shared, key = redact(…)`.

    Where a table of names was written to be ticked, nothing is redacted yet and there is neither.
    """

    corpus: Corpus | None = None
    key: Key | None = None
    table: Path | None = None
    sure: int = 0  # rows of the table that would be replaced
    doubtful: int = 0  # rows that would stay

    def __iter__(self) -> Iterator[Any]:
        if self.table is not None:
            raise RealtalkError(
                "nothing is redacted yet",
                where=str(self.table),
                fix="change decisions there, then call it again",
            )
        yield from (self.corpus, self.key)


def redact(
    corpus: Readable,
    *,
    out: str | PathLike[str] | None = None,
    names: Sequence[str] = (),
    keep: Sequence[str] = (),
    kinds: Sequence[str] = (),
    review: str | PathLike[str] | None = None,
    restore: str | PathLike[str] | None = None,
    key: str | PathLike[str] | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Redaction:
    """Replace names, numbers, links and places by stand-ins.

    Names, handles, phones, e-mails, links, streets, places, organisations and numbers get
    stand-ins: the same one for the same thing, everywhere. Works offline, by a small model that
    ships with the package and by rules, in many languages. They miss some names: tick what was
    found in a review table, read the result before you share it, and add missing names.

    Args:
        corpus: Chat, corpus or sample name.
        out: Folder for the redacted corpus.
        names: More names to replace.
        keep: Kinds to leave, e.g. places,links.
        kinds: Kinds to replace; all others stay.
        review: Table of names to tick; written where missing.
        restore: Key that puts the names back.
        key: File for the key; keep it private.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        The redacted corpus and its key: `key.to_json()` tells who is who, `key.counts()` only how
        many, and `key.restore(redacted)` gives the original back.

    Example:
        rt.redact("mara", review="names.csv")  # tick what to replace
        rt.redact("mara", review="names.csv", out="mara-shared")
        rt.redact("mara", names=["Aunt Fay", "Willow Street"], out="mara-shared")
        rt.redact("mara-shared", restore="key.json", out="mara-again")
    """
    from realtalk.files.writing import write_json
    from realtalk.redaction.redact import find_candidates, kept_without
    from realtalk.redaction.redact import redact as rewrite
    from realtalk.redaction.review import DOUBTFUL, read_review, review_rows, write_review
    from realtalk.redaction.rewriting import store_redacted, store_restored
    from realtalk.redaction.sources import name_sources

    keep_names = frozenset(keep) | (kept_without(kinds) if kinds else frozenset())
    chats = as_corpus(corpus, reading, progress)
    folder = as_path(out)
    if restore is not None:
        if folder is None:
            raise RealtalkError("nowhere to write", fix="name a folder: `out='again'`")
        total = store_restored(chats, Path(restore), folder)
        _LOG.info("%s messages with their names again: %s (keep it private)", f"{total:,}", folder)
        return Redaction(as_corpus(folder))
    sought: dict[str, Any] = {"names": [*names], "keep": keep_names, "sources": name_sources()}
    table = as_path(review)
    if table is not None and not table.exists():
        candidates = find_candidates(chats, **sought)
        write_review(table, candidates)
        rows = review_rows(candidates)
        doubtful = sum(bool(row[DOUBTFUL]) for row in rows)
        return Redaction(table=table, sure=len(rows) - doubtful, doubtful=doubtful)
    decisions = () if table is None else read_review(table)
    shared, mapping = rewrite(chats, **sought, decisions=decisions)
    log_notes([f"{review}: {note}" for note in mapping.notes])
    if folder is not None:
        store_redacted(shared, folder)
        if mapping.is_named_in(folder.name):
            _LOG.warning("the folder's name names a speaker: rename it before you share it")
    if key is not None:
        write_json(Path(key), mapping.to_file())
    return Redaction(shared, mapping)
