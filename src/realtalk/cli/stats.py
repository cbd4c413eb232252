"""`stats`: what a corpus looks like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import (
    Address,
    Columns,
    Dates,
    EngineName,
    EngineOptions,
    FormatName,
    Fresh,
    Gap,
    Json,
    Target,
    Timezone,
    Workers,
    opened,
    read_options,
)

if TYPE_CHECKING:
    from realtalk.corpora.store import CorpusStream
    from realtalk.stats import CorpusStats


def register(app: typer.Typer) -> None:
    app.command()(stats)


def stats(
    path: Target,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Also draw: PNG, SVG and interactive HTML."),
    ] = None,
    engine: EngineName = None,
    workers: Workers = None,
    address: Address = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="With --engine: where what is counted of each part is kept, so that a command "
            "that was stopped goes on.",
        ),
    ] = None,
    fresh: Fresh = False,
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Describe a corpus: sizes, sessions, response gaps, runs, activity, questions.

    A stored corpus in parts, or a folder of stored corpora, is counted part by part, by one
    process or several; the figures are the same.

    Examples:

        realtalk stats sample

        realtalk stats "WhatsApp Chat.zip" --figures pictures

        realtalk stats data/realtalk --json

        realtalk stats corpora/ --engine processes --workers 4    # what read --each stored
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.stats import chat_rows, corpus_rows, describe

    options = read_options(gap, dates, timezone, column)
    chosen = EngineOptions(engine, workers, address)
    stream = _stream(path, chosen.given() or (out and "--out") or (fresh and "--fresh") or None)
    if stream is None:
        with opened(path, format_name, options) as found:
            described = describe(found.reading.tables)
    else:
        described = _described(stream, chosen, out, fresh)
    if json:
        print_json(described.to_json())
    else:
        headings, rows = chat_rows(described)
        show(f"{described.name}: every chat", headings, rows, 50, "; --json has them all")
        show(f"{described.name}: the corpus", *corpus_rows(described))
    if figures is not None:
        from realtalk.stats.figures import draw, save_figures

        drawn = draw(described)
        for reason in drawn.left_out.values():
            warn(reason)
        paths = save_figures(drawn.charts, figures)
        say(f"wrote {len(paths)} files to {figures}")


def _stream(path: str, asked: str | None) -> CorpusStream | None:
    """The corpus in pieces, where it has more than one or an engine is asked for."""
    from realtalk.corpora.store import open_stream, opened_stream

    if asked is not None:
        return opened_stream(path, asked)
    stream = open_stream(path)
    return stream if stream is not None and len(stream.pieces) > 1 else None


def _described(
    stream: CorpusStream, chosen: EngineOptions, out: Path | None, fresh: bool
) -> CorpusStats:
    from realtalk.cli.printing import progress, warn
    from realtalk.stats.describe import describe_stream
    from realtalk.surface.counting import describe_by

    with progress("counting") as advance:
        if chosen.given() is None and out is None:
            described = describe_stream(stream, advance)
        else:
            described = describe_by(stream, chosen.engine(), out, fresh=fresh, progress=advance)
    for note in stream.notes:
        warn(note)
    return described
