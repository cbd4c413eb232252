"""What many functions take alike: chats, how they are read, a model, where work is done.

    as_corpus("sample")     → the same corpus, whether a path, a stored folder or a value is given
    probe("chat.txt", reading=Reading(dates="dmy"), model=Model("openai/gpt-4o", rate="5/s"))
    label("archive", engine=Engine("processes", workers=4))

A plain text is short for each: `model="openai/gpt-4o-mini"` is `Model("openai/gpt-4o-mini")`,
`engine="ray"` is `Engine("ray")`, `reading="whatsapp"` is `Reading(format="whatsapp")`.
The command shows their fields as options of their own, in a panel each. What a reader assumed or
mended ("days before months") is logged by the logger `realtalk`, one line each, and `check` of the
same path lists it: nothing is written into a Chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, cast

from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.engine.jobs import Backend
    from realtalk.formats import reading as read_values
    from realtalk.formats.reading import ReadOptions
    from realtalk.formats.store import CorpusStream
    from realtalk.text.calendars import DateOrder

Value = TypeVar("Value")
Readable: TypeAlias = "str | PathLike[str] | Corpus | read_values.ReadCorpus | Callable[[], Corpus]"

_LOG = logging.getLogger("realtalk")


@dataclass(frozen=True)
class Reading:
    """How chats are read where the file does not tell.

    Attributes:
        format: Input format (default: detected).
        gap: Pause between sessions: 6h, 90m, 2d, day.
        dates: Order of ambiguous dates: dmy, mdy or ymd.
        timezone: Clock for exports in UTC, e.g. Europe/Athens.
        columns: Column of a table, e.g. speaker=author.
    """

    format: str | None = None
    gap: str = "6h"
    dates: str | None = None
    timezone: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def read_options(self, progress: Progress | None = None) -> ReadOptions:
        """The same as the readers take it."""
        from typing import get_args

        from realtalk.formats.json_input import zone
        from realtalk.formats.reading import ReadOptions
        from realtalk.formats.sessions import parse_gap
        from realtalk.registry import known_name
        from realtalk.text.calendars import DateOrder

        if self.dates is not None:
            known_name("date order", self.dates, get_args(DateOrder))
        zone(self.timezone)
        return ReadOptions(
            gap=parse_gap(self.gap),
            dates=cast("DateOrder | None", self.dates),
            timezone=self.timezone,
            columns=tuple(self.columns.items()),
            progress=progress or silent,
        )


@dataclass(frozen=True)
class Model:
    """A language model and how it is asked.

    Attributes:
        name: Model to ask, e.g. openai/gpt-4o-mini.
        base_url: Server address.
        rate: Most requests, e.g. 300/min.
        connections: Concurrent requests.
        max_tokens: Longest answer, in tokens.
    """

    name: str | None = None
    base_url: str | None = None
    rate: str | None = None
    connections: int = 10
    max_tokens: int | None = None

    def overrides(self) -> dict[str, Any]:
        """What differs from the defaults, by the names of a solver's settings."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain = {entry.name: entry.default for entry in fields(self)}
        return {
            "model" if name == "name" else name: value
            for name, value in own.items()
            if value != plain[name]
        }


@dataclass(frozen=True)
class Engine:
    """Where the work is done.

    Attributes:
        name: Backend: inline, processes or ray.
        workers: Number of workers.
        address: Ray cluster to join, e.g. auto.
    """

    name: str | None = None
    workers: int | None = None
    address: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.name, self.workers, self.address))

    def backend(self, device: str = "cpu") -> Backend:
        """The engine that does the work: this process where none is named."""
        from realtalk.engine.engines import choose

        return choose(self.name, self.workers, self.address, device)


def is_path(value: object) -> TypeGuard[str | PathLike[str]]:
    """Whether a value names a place: a text or a path."""
    return isinstance(value, str) or hasattr(value, "__fspath__")


def as_path(place: str | PathLike[str] | None) -> Path | None:
    """The place that the caller named, if any."""
    return None if place is None else Path(place)


def value_object(kind: type[Value], value: Value | str | None) -> Value:
    """A value of this kind; a plain text is its first field, and nothing all its defaults.

    Args:
        kind: Reading, Model or Engine.
        value: A value of this kind, its first field, or None.
    """
    make: Any = kind
    if value is None or isinstance(value, str):
        options: Value = make() if value is None else make(value)
        return options
    if not isinstance(value, kind):
        name = kind.__name__
        raise RealtalkError(
            f"{type(value).__name__} is no {name}", fix=f"give a text or a realtalk {name}"
        )
    return value


def log_notes(notes: Sequence[str]) -> None:
    """Says what was assumed; a command prints it as a note."""
    for note in notes:
        _LOG.warning("%s", note)


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
