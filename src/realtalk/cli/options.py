"""Options that several commands share, spelled once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from realtalk.local.naming import named_run as named_run  # noqa: PLC0414  the commands' own

if TYPE_CHECKING:
    from collections.abc import Callable

    from realtalk.chat import Corpus
    from realtalk.corpora.opening import Opened
    from realtalk.corpora.reading import Reading, ReadOptions
    from realtalk.engine.jobs import Engine
    from realtalk.local.progress import Progress

Target = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A file, folder or zip to read, a stored corpus, - for standard input, or the name "
        "of a sample: sample, sample-simulated, sample-threads.",
        show_default=False,
    ),
]
SeveralTargets = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="A file, folder or zip to read, a stored corpus, - for standard input, or the name "
        "of a sample: sample, sample-simulated, sample-threads. With --each several, folders of "
        "such, and patterns.",
        show_default=False,
    ),
]
Each = Annotated[
    bool,
    typer.Option(
        "--each",
        help="Every input by itself, into the folder --out. Of a folder, everything in it is an "
        "input; of one that a command with --each wrote, its parts are.",
    ),
]
FormatName = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", metavar="NAME", help="The format, where it is not found by itself."
    ),
]
Gap = Annotated[
    str,
    typer.Option(
        "--gap",
        metavar="PAUSE",
        help="A pause that ends a session in exports: 6h, 90m, 2d; or 'day' for calendar days.",
    ),
]
Dates = Annotated[
    str | None,
    typer.Option(
        "--dates", metavar="ORDER", help="dmy, mdy or ymd, where a WhatsApp export cannot tell."
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone", metavar="ZONE", help="Clock for exports stamped in UTC, e.g. Europe/Athens."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="OURS=THEIRS",
        help="A column of a JSONL or CSV file, e.g. speaker=author. May be repeated.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="llm: the address of a server of your own."),
]
Connections = Annotated[
    int,
    typer.Option("--connections", help="llm, judge: questions under way at once at a server."),
]
LlmConnections = Annotated[
    int | None,
    typer.Option(
        "--connections", help="llm: questions under way at once at the server.", show_default="10"
    ),
]
Rate = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="N/min",
        help="llm, judge: requests to one server at most: 300/min, 5/s, 1000/h; repetitions count.",
        show_default=False,
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew in a folder that has a run.")]
Swept = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=A,B",
        help="Values of an option of `run`, or of a setting of whom is tested; may be repeated: "
        "every combination is run.",
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="Instead of the user's cache folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
PricesFile = Annotated[
    Path | None,
    typer.Option(
        "--prices",
        metavar="FILE",
        help="Also say what the models cost: JSON with prices per million tokens, "
        '{"openai/gpt-4o-mini": {"input": 0.15, "output": 0.60}}.',
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Where the encoder in this package runs: cpu, or cuda (extra train).",
    ),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")]

EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="Where many files are worked on: inline (this process, the default), processes, or "
        "ray.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="How many files are worked on at once by processes or ray; one per processor "
        "without it.",
        show_default=False,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="A Ray cluster that is running (auto finds it); without it ray runs on this machine "
        "alone.",
        show_default=False,
    ),
]


class EngineOptions(NamedTuple):
    """The options of an engine, as they were given."""

    name: str | None = None
    workers: int | None = None
    address: str | None = None

    def engine(self, device: str = "cpu") -> Engine:
        """The engine that they name: this process where they name none."""
        from realtalk.engine.engines import choose

        return choose(self.name, self.workers, self.address, device)

    def given(self) -> str | None:
        """The first option that was given, by its name; None where nobody asked for an engine."""
        options = {"--engine": self.name, "--workers": self.workers, "--address": self.address}
        return next((name for name, value in options.items() if value is not None), None)


def read_options(
    gap: str = "6h",
    dates: str | None = None,
    timezone: str | None = None,
    columns: list[str] | None = None,
) -> ReadOptions:
    """The options as the readers take them, checked."""
    from realtalk.errors import RealtalkError
    from realtalk.surface.sources import read_options as checked

    pairs = {}
    for column in columns or ():
        ours, equals, theirs = column.partition("=")
        if not (ours and equals and theirs):
            raise RealtalkError(f"'{column}' names no column", fix="write --column speaker=author")
        pairs[ours.strip()] = theirs.strip()
    return checked(gap, dates, timezone, pairs)


@contextmanager
def opened(
    path: str, format_name: str | None, options: ReadOptions, title: str = "reading"
) -> Iterator[Opened]:
    """What the path holds, with a bar while it is read and its notes said once."""
    from dataclasses import replace

    from realtalk.cli.printing import progress, warn
    from realtalk.corpora.opening import open_reading

    with progress(title) as advance:
        found = open_reading(path, format_name, replace(options, progress=advance))
    for note in found.reading.notes:
        warn(note)
    yield found


@contextmanager
def reading(
    path: str, format_name: str | None, gap: str, title: str, *, always: bool = False
) -> Iterator[tuple[Callable[[], Corpus], Progress]]:
    """The corpus, read when it is called for, and one bar for all that is done with it."""
    with read_later(path, format_name, gap, title, always=always) as (read, advance):
        yield lambda: read().corpus, advance


@contextmanager
def read_later(
    path: str, format_name: str | None, gap: str, title: str, *, always: bool = False
) -> Iterator[tuple[Callable[[], Reading], Progress]]:
    """The same, of what was read in either form.

    So what is wrong with the options is said before a large file is read. Notes are said at the
    end, when there is no bar to break.
    """
    from dataclasses import replace

    from realtalk.cli.printing import progress, warn
    from realtalk.corpora.opening import open_reading

    options = read_options(gap)
    notes: list[str] = []
    try:
        with progress(title, always) as advance:

            def read() -> Reading:
                opened = open_reading(path, format_name, replace(options, progress=advance))
                notes.extend(opened.reading.notes)
                return opened.reading

            yield read, advance
    finally:
        for note in notes:
            warn(note)


def apart(first: str, second: str) -> tuple[str, str]:
    """Two paths' last names, as far back as they need to differ: "run" and "run" tell nothing."""
    one, other = PurePath(first).parts or (first,), PurePath(second).parts or (second,)
    for size in range(1, max(len(one), len(other)) + 1):
        names = ("/".join(one[-size:]), "/".join(other[-size:]))
        if names[0] != names[1]:
            return names
    return f"{one[-1]} (first)", f"{other[-1]} (second)"
