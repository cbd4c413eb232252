"""`report`: one's own chats as a page worth reading, or stored runs as a page of tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.each import EachRequest, report_each
from realtalk.cli.options import (
    Address,
    Columns,
    Dates,
    Each,
    EngineName,
    EngineOptions,
    FormatName,
    Fresh,
    Gap,
    Json,
    Timezone,
    Workers,
    opened,
    read_options,
)

if TYPE_CHECKING:
    from realtalk.corpora.reading import ReadOptions
    from realtalk.portrait.build import PortraitOptions

_PAGE = Path("report.html")


def register(app: typer.Typer) -> None:
    app.command()(report)


def report(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…",
            help="One export, stored corpus or sample: a page about the chat. Or folders that "
            "`ei`, `probe`, `persona`, `threads` or `read` wrote with --out: a page about runs.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The page to write. With --each a folder, for one page per input.",
        ),
    ] = _PAGE,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The page's title.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="chat: estimate feelings from an even sample of the turns."),
    ] = False,
    labels: Annotated[
        bool, typer.Option("--labels/--no-labels", help="chat: whether to estimate feelings.")
    ] = True,
    words: Annotated[
        bool, typer.Option("--words/--no-words", help="chat: whether to show words and emoji.")
    ] = True,
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="chat: call people by letters.")
    ] = False,
    chat: Annotated[
        str | None, typer.Option("--chat", metavar="ID", help="chat: one of several.")
    ] = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    simulated: Annotated[
        list[str] | None,
        typer.Option(
            "--simulated",
            metavar="NAME",
            help="runs: a corpus or run that models wrote. May be repeated; without it the format "
            "tells, else the name.",
        ),
    ] = None,
    human: Annotated[
        list[str] | None,
        typer.Option(
            "--human",
            metavar="NAME",
            help="runs: a corpus or run that people wrote. May be repeated.",
        ),
    ] = None,
    each: Each = False,
    engine: EngineName = None,
    workers: Workers = None,
    address: Address = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Write one self-contained page: about a chat, or about stored runs.

    An export gives a page about the chat: at a glance, people, rhythm, words and emoji, feelings,
    with filters by person and time. Labels are kept, so a second call is quick. No message is in
    the page, and nothing leaves this machine. Folders of runs give tables and charts with their
    intervals; nothing is measured anew. With --json also prints the figures.

    With --each every export or stored corpus gets a page of its own in the folder --out.

    Examples:

        realtalk report "WhatsApp Chat with Mara.zip"

        realtalk report chat.txt --quick --anonymous --out to-share.html

        realtalk report chat.txt --no-words --no-labels

        realtalk report demo

        realtalk report corpora/mine labels sweep --out mine.html

        realtalk report exports/ --each --out pages --engine processes --workers 2
    """
    from realtalk.errors import RealtalkError
    from realtalk.report.build import check_page
    from realtalk.surface.pages import is_chats

    chosen = EngineOptions(engine, workers, address)
    if each:
        if simulated or human:
            raise RealtalkError("--simulated and --human are for runs", fix="leave them out")
        place = None if out == _PAGE else out
        reading = read_options(gap, dates, timezone, column)
        request = EachRequest(paths, place, format_name, reading, chosen, fresh, json)
        report_each(
            request,
            labels=labels,
            quick=quick,
            words=words,
            anonymous=anonymous,
            chat=chat,
            title=title or "",
        )
        return
    if alone := chosen.given() or ("--fresh" if fresh else None):
        raise RealtalkError(f"{alone} is for many files", fix="give --each too")
    check_page(out)
    if format_name is not None or (len(paths) == 1 and is_chats(paths[0])):
        from realtalk.portrait.build import PortraitOptions

        if len(paths) > 1:
            raise RealtalkError("a page about a chat is made from one path", fix="read them first")
        options = PortraitOptions(
            labels=labels,
            quick=quick,
            words=words,
            anonymous=anonymous,
            chat=chat,
            title=title or "",
        )
        reading = read_options(gap, dates, timezone, column)
        _of_chat(paths[0], out, options, format_name, reading, json)
    else:
        _of_runs([Path(path) for path in paths], out, title, simulated, human, json)


def _of_chat(
    path: str,
    out: Path,
    options: PortraitOptions,
    format_name: str | None,
    reading: ReadOptions,
    json: bool,
) -> None:
    from realtalk.cli.printing import print_json, progress, say, warn
    from realtalk.portrait.build import make_portrait, write_portrait

    with opened(path, format_name, reading) as found:
        with progress("labelling") as advance:
            portrait = make_portrait(found.reading, options, say=warn, progress=advance)
        with progress("page") as advance:
            page = write_portrait(portrait, out)
    if json:
        print_json(portrait.to_json())
    for sentence in portrait.sentences:
        say(f"· {sentence.figure} {sentence.text}")
    for line in (portrait.options.sampled, *portrait.options.cautions):
        if line:
            warn(line)
    say(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB); open it in a browser")


def _of_runs(
    runs: list[Path],
    out: Path,
    title: str | None,
    simulated: list[str] | None,
    human: list[str] | None,
    json: bool,
) -> None:
    from realtalk.cli.printing import print_json, progress, say, warn
    from realtalk.report.build import make_report, write_report
    from realtalk.report.writers import Told

    told = Told(tuple(simulated or ()), tuple(human or ()))
    with progress("report") as advance:
        made = make_report(runs, title=title, told=told, progress=advance)
        path = write_report(made, out)
    if json:
        print_json(made.to_json())
    for key in made.key_figures:
        say(f"· {key.figure} {key.says} ({key.range})")
    for note in made.sections[-1].notes:
        warn(note)
    charts = sum(len(section.charts) for section in made.sections)
    tables = sum(len(section.tables) for section in made.sections)
    size = path.stat().st_size / 1e6
    say(f"wrote {path} ({size:.1f} MB): {tables} tables, {charts} charts; open it in a browser")
