"""Whatever holds chats → a corpus: a path, a sample's name, a stored folder, a value.

    read("WhatsApp Chat with Mara.zip")    → <Corpus …: 1 chat, 2 speakers, 412 messages>
    as_corpus("sample")                    → the same corpus, however it is given
    as_corpus(lambda: corpus)              → the same, read when it is needed
    samples()                              → ("sample", "sample-simulated", "sample-threads")

What a reader assumed or mended ("days before months") is logged by the logger `realtalk.read`,
one line each, and `check` of the same path lists it: nothing is written into a Chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from realtalk.chat import Corpus
from realtalk.corpora.opening import SAMPLES, Opened, open_reading
from realtalk.corpora.reading import DateOrder, Ledger, Reading, ReadOptions
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
    path: Readable,
    format: str | None = None,
    *,
    gap: str = "6h",
    dates: str | None = None,
    timezone: str | None = None,
    columns: Mapping[str, str] | None = None,
    out: str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> Corpus:
    """Reads chats from any known format.

    `path` is a file, folder or zip, a stored folder or a sample's name; its `format` is found by
    itself. `gap` is the pause that ends a session in exports ("6h", "90m", "2d", or "day" for
    calendar days), `dates` the order of a WhatsApp export that cannot tell it ("dmy", "mdy",
    "ymd"), `timezone` the clock for exports stamped in UTC ("Europe/Athens"), and `columns` our
    names for the columns of a JSONL or CSV file ({"speaker": "author"}). With `out` the corpus
    is stored there as Parquet. What was assumed is logged by the logger `realtalk.read`.
    """
    options = read_options(gap, dates, timezone, columns, progress)
    if isinstance(path, Corpus | Reading):
        opened = Opened(as_reading(path), None, as_corpus(path).format)
    else:
        opened = open_reading(path_of(path), format, options)
    for note in opened.reading.notes:
        _LOG.warning("%s: %s", opened.reading.tables.name, note)
    if out is not None:
        from realtalk.corpora.store import store

        store(opened.reading, Path(out), opened.source, options)
    return opened.reading.corpus


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
