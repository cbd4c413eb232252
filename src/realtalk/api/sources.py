"""Whatever holds chats → a corpus: a path, a sample's name, a stored folder, a value.

    read("WhatsApp Chat with Mara.zip")    → <Corpus …: 1 chat, 2 speakers, 412 messages>
    read("Mara (1).zip", into="mara")      → the stored corpus with what is new
    as_corpus("sample")                    → the same corpus, however it is given
    samples()                              → ("sample", "sample-simulated", "sample-threads")

What a reader assumed or mended ("days before months") is logged by the logger `realtalk`, one
line each, and `check` of the same path lists it: nothing is written into a Chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from realtalk.api.options import Reading, is_path, value_object
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.formats import reading as read_values
    from realtalk.formats.opening import OpenedSource
    from realtalk.formats.reading import ReadOptions
    from realtalk.formats.store import CorpusStream

Readable: TypeAlias = "str | PathLike[str] | Corpus | read_values.ReadCorpus | Callable[[], Corpus]"

_LOG = logging.getLogger("realtalk")


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
    from realtalk.formats.opening import add, stored_options, together

    _check_places(out, into, chat)
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


def log_notes(notes: Sequence[str]) -> None:
    """Says what was assumed; a command prints it as a note."""
    for note in notes:
        _LOG.warning("%s", note)


def _open(path: Readable, format_name: str | None, options: ReadOptions) -> OpenedSource:
    from realtalk.formats.opening import OpenedSource, open_reading

    if is_path(path):
        return open_reading(str(path), format_name, options)
    reading = as_reading(path)
    return OpenedSource(reading, None, reading.tables.format)


def _check_places(
    out: str | PathLike[str] | None, into: str | PathLike[str] | None, chat: str | None
) -> None:
    """Refuses what says nothing together, and a place that cannot be written."""
    from realtalk.files.writing import check_local

    if out is not None and into is not None:
        raise RealtalkError(
            "`out=` stores a new corpus, `into=` adds to a stored one", fix="give one of them"
        )
    if chat is not None and into is None:
        raise RealtalkError("`chat=` names a chat of a stored corpus", fix="give `into=` too")
    if out is not None:
        check_local(Path(out))


def as_corpus(
    source: Readable, reading: Reading | str | None = None, progress: Progress = silent
) -> Corpus:
    """The corpus, however it is given; a function that reads one is called now."""
    return as_reading(source, reading, progress).corpus


def as_reading(
    source: Readable, reading: Reading | str | None = None, progress: Progress = silent
) -> read_values.ReadCorpus:
    """The corpus with what happened when it was read; of a Corpus alone that is not known."""
    from realtalk.chat import Corpus
    from realtalk.formats.opening import open_reading
    from realtalk.formats.reading import Ledger, ReadCorpus

    if isinstance(source, ReadCorpus):
        return source
    if callable(source):
        source = source()
    if isinstance(source, Corpus):
        total = sum(len(chat.messages) for chat in source.chats)
        return ReadCorpus(corpus=source, ledger=Ledger("messages", total, total))
    way = value_object(Reading, reading)
    corpus_reading = open_reading(path_of(source), way.format, way.read_options(progress)).reading
    log_notes(corpus_reading.notes)
    return corpus_reading


def stored_place(source: Readable) -> Path | None:
    """The folder of a stored corpus; None of anything else."""
    from realtalk.formats.store import is_stored

    return Path(source) if is_path(source) and is_stored(Path(source)) else None


def as_stream(source: Readable, option: str | None = None) -> CorpusStream | None:
    """A stored corpus in pieces; None of anything else, unless a parameter needs it."""
    from realtalk.formats.store import open_stream, opened_stream

    if is_path(source):
        path = str(source)
        return open_stream(path) if option is None else opened_stream(path, f"`{option}=`")
    if option is None:
        return None
    raise RealtalkError(
        f"`{option}=` works on stored corpora, part by part",
        fix="store it first, read(…, out=…), and give its path",
    )


def path_of(source: object) -> str:
    """A path or a sample's name as text; anything else is refused by its type."""
    if not is_path(source):
        raise RealtalkError(
            f"{type(source).__name__} holds no chats",
            fix="give a path, a sample's name, a Corpus or a stored folder",
        )
    return str(source)
