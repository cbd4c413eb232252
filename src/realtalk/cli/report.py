"""`report`: stored runs as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.options import Json


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN…",
            help="Folders that `read`, `ei`, `probe`, `persona` or `threads` wrote with --out, or "
            "folders that hold several of them.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")
    ] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The page's title.")
    ] = None,
    simulated: Annotated[
        list[str] | None,
        typer.Option(
            "--simulated",
            metavar="NAME",
            help="A corpus or run that models wrote. May be repeated; without it the format "
            "tells, else the name.",
        ),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human", metavar="NAME", help="A corpus or run that people wrote. May be repeated."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write one self-contained page from stored runs: tables, charts, what matters most.

    Nothing is measured anew and no model is asked. The page opens from the file, without a
    network; charts can be saved as PNG and SVG, tables as CSV. With --json also prints its
    figures.

    Examples:

        realtalk report demo

        realtalk report corpora/mine labels sweep --out mine.html

        realtalk report labels --title "My chats" --json

        realtalk report friends bots --simulated bots
    """
    from realtalk.cli.printing import print_json, progress, say, warn
    from realtalk.errors import RealtalkError
    from realtalk.report.build import make_report, write_report
    from realtalk.report.writers import Told

    if out.is_dir():
        raise RealtalkError("is a folder", where=str(out), fix="name a file: --out report.html")
    told = Told(tuple(simulated or ()), tuple(human or ()))
    with progress("report") as advance:
        made = make_report(runs, title=title, told=told, progress=advance)
        path = write_report(made, out)
    if json:
        print_json(made.to_json())
    for key in made.key_figures:
        say(f"· {key.figure} {key.says} ({key.range})")
    for note in made.sections[0].notes:
        warn(note)
    charts = sum(len(section.charts) for section in made.sections)
    tables = sum(len(section.tables) for section in made.sections)
    size = path.stat().st_size / 1e6
    say(f"wrote {path} ({size:.1f} MB): {tables} tables, {charts} charts; open it in a browser")
