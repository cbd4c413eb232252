"""`stats`: what a corpus looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.options import (
    Columns,
    Dates,
    FormatName,
    Gap,
    Json,
    Target,
    Timezone,
    opened,
    read_options,
)


def register(app: typer.Typer) -> None:
    app.command()(stats)


def stats(
    path: Target,
    figures: Annotated[
        Path | None,
        typer.Option("--figures", metavar="DIR", help="Also draw: PNG, SVG and interactive HTML."),
    ] = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Describe a corpus: sizes, sessions, response gaps, runs, activity, questions.

    Examples:

        realtalk stats sample

        realtalk stats "WhatsApp Chat.zip" --figures pictures

        realtalk stats data/realtalk --json
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.stats import chat_rows, corpus_rows, describe

    with opened(path, format_name, read_options(gap, dates, timezone, column)) as found:
        tables = found.reading.tables
    described = describe(tables)
    if json:
        print_json(described.to_json())
    else:
        headings, rows = chat_rows(described)
        show(f"{tables.name}: every chat", headings, rows, 50, "; --json has them all")
        show(f"{tables.name}: the corpus", *corpus_rows(described))
    if figures is not None:
        from realtalk.stats.figures import draw, save_figures

        drawn = draw(described)
        for reason in drawn.left_out.values():
            warn(reason)
        paths = save_figures(drawn.charts, figures)
        say(f"wrote {len(paths)} files to {figures}")
