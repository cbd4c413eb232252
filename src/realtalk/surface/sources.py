"""Whatever holds chats → a corpus: a path, a sample's name, a stored folder, a value.

    read("WhatsApp Chat with Mara.zip")    → <Corpus …: 1 chat, 2 speakers, 412 messages>
    read("Mara (1).zip", into="mara")      → the stored corpus with what is new
    as_corpus("sample")                    → the same corpus, however it is given
    as_corpus(lambda: corpus)              → the same, read when it is needed
    samples()                              → ("sample", "sample-simulated", "sample-threads")

What a reader assumed or mended ("days before months") is logged by the logger `realtalk.read`,
one line each, and `check` of the same path lists it: nothing is written into a Chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, get_args

from realtalk.chat import Corpus
from realtalk.corpora.opening import SAMPLES, Opened, add, open_reading, stored_options, together
from realtalk.corpora.reading import DateOrder, Ledger, Reading, ReadOptions
from realtalk.corpora.store import CorpusStream, open_stream, opened_stream
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

Readable: TypeAlias = "str | PathLike[str] | Corpus | Reading | Callable[[], Corpus]"

_LOG = logging.getLogger("realtalk.read")


def samples() -> tuple[str, ...]:
    """The names of the fictional chats that ship with the package.

    `read` and every other function take such a name in place of a path.
    """
    return SAMPLES


def read(
    path: Readable | Sequence[str | PathLike[str]],
    format: str | None = None,
    *,
    gap: str = "6h",
    dates: str | None = None,
    timezone: str | None = None,
    columns: Mapping[str, str] | None = None,
    out: str | PathLike[str] | None = None,
    into: str | PathLike[str] | None = None,
    chat: str | None = None,
    same: Mapping[str, str] | None = None,
    take_edits: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Reads chats from any known format.

    `path` is a file, folder or zip, a stored folder or a sample's name; its `format` is found by
    itself. `gap` is the pause that ends a session in exports ("6h", "90m", "2d", or "day" for
    calendar days), `dates` the order of a WhatsApp export that cannot tell it ("dmy", "mdy",
    "ymd"), `timezone` the clock for exports stamped in UTC ("Europe/Athens"), and `columns` our
    names for the columns of a JSONL or CSV file ({"speaker": "author"}). With `out` the corpus
    is stored there as Parquet. What was assumed is logged by the logger `realtalk.read`.

    Of a list of paths, exports of one chat are joined, and `same` says which names are one
    person's ({"Mum": "Anna"}). With `into` what is new is added to the corpus that is stored
    there, and the whole is returned: what it has keeps its ids, and stays as it was where it was
    edited, deleted or given reactions since, unless `take_edits`. `chat` is the id of the chat
    that goes on, where several could be meant.
    """
    checked_places(out, into, chat)
    options = read_options(gap, dates, timezone, columns, progress)
    if into is not None:
        options = stored_options(Path(into), options)
    given: Sequence[Any] = path if isinstance(path, list | tuple) else [path]
    if not given:
        raise RealtalkError("the list of paths is empty", fix="name a file, a folder or a zip")
    opened = [_opened(each, format, options) for each in given]
    if into is not None:
        added = add(Path(into), opened, options, chat=chat, same=same, take_edits=take_edits)
        for note in (*added.notes, str(added.counts)):
            _LOG.warning("%s: %s", added.reading.tables.name, note)
        return added.reading.corpus
    found = together(opened, options, same=same, take_edits=take_edits)
    for note in found.reading.notes:
        _LOG.warning("%s: %s", found.reading.tables.name, note)
    if out is not None:
        from realtalk.corpora.store import store

        store(found.reading, Path(out), found.source, options)
    return found.reading.corpus


def _opened(path: Readable, format: str | None, options: ReadOptions) -> Opened:
    if isinstance(path, Corpus | Reading):
        return Opened(as_reading(path), None, as_corpus(path).format)
    return open_reading(path_of(path), format, options)


def checked_places(out: object, into: object, chat: str | None) -> None:
    """Refuses what says nothing together."""
    if out is not None and into is not None:
        raise RealtalkError(
            "--out stores a new corpus, --into adds to a stored one", fix="give one of them"
        )
    if chat is not None and into is None:
        raise RealtalkError("--chat names a chat of a stored corpus", fix="give --into too")


def as_corpus(source: Readable) -> Corpus:
    """The corpus, however it is given; a function that reads one is called now."""
    if callable(source):
        return source()
    return source if isinstance(source, Corpus) else as_reading(source).corpus


def as_reading(source: Readable) -> Reading:
    """The corpus with what happened when it was read; of a Corpus alone that is not known."""
    if isinstance(source, Reading):
        return source
    if isinstance(source, Corpus):
        total = sum(len(chat.messages) for chat in source.chats)
        return Reading(corpus=source, ledger=Ledger("messages", total, total))
    return as_reading(source()) if callable(source) else open_reading(path_of(source)).reading


def as_stream(source: Readable, option: str | None = None) -> CorpusStream | None:
    """A stored corpus in pieces; None of anything else, unless an option needs it."""
    if callable(source) or isinstance(source, Corpus | Reading):
        if option is None:
            return None
        raise RealtalkError(
            f"{option} works on stored corpora, part by part",
            fix="store it first, read(…, out=…), and give its path",
        )
    path = path_of(source)
    return open_stream(path) if option is None else opened_stream(path, option)


def path_of(source: object) -> str:
    """A path or a sample's name as text; anything else is refused by its type."""
    if not isinstance(source, str | Path) and not hasattr(source, "__fspath__"):
        raise RealtalkError(
            f"{type(source).__name__} holds no chats",
            fix="give a path, a sample's name, a Corpus, a Reading or a stored folder",
        )
    return str(source)


def read_options(
    gap: str = "6h",
    dates: str | None = None,
    timezone: str | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> ReadOptions:
    """The options as the readers take them, checked."""
    from realtalk.corpora.json_input import zone
    from realtalk.corpora.sessions import parse_gap
    from realtalk.registry import suggest

    if dates is not None and dates not in get_args(DateOrder):
        raise suggest("date order", dates, list(get_args(DateOrder)))
    zone(timezone)
    return ReadOptions(
        gap=parse_gap(gap),
        dates=cast("DateOrder | None", dates),
        timezone=timezone,
        columns=tuple((columns or {}).items()),
        progress=progress,
    )
