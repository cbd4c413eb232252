"""`reproduce`: the REALTALK paper, table by table, beside what this machine measures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import BaseUrl, Connections, Json, Rate, named_run
from realtalk.cli.probe_options import Fresh, JudgeName

if TYPE_CHECKING:
    from realtalk.paper import Exhibit, Reproduction

# Wider tables are in the files: a terminal would break them into many parts.
_SHOWN_COLUMNS, _SHOWN_FIGURES = 6, 9


def register(app: typer.Typer) -> None:
    app.command()(reproduce)


def reproduce(
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            help="A folder that holds realtalk/ and locomo/.",
            show_default="what `realtalk data get` fetched",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")] = Path(
        "reproduced"
    ),
    only: Annotated[
        str,
        typer.Option(
            "--only", metavar="A,B", help="Only these: table-1, section-5.1, figure-2, table-7 …"
        ),
    ] = "",
    persona: Annotated[
        list[str] | None,
        typer.Option(
            "--persona",
            metavar="RUN",
            help="Tables 2 and 8: a folder that `persona run` wrote; NAME=RUN gives a name, "
            "runs of one name are joined, 'tuned' in a name says so. May be repeated.",
        ),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(
            "--sweep",
            metavar="DIR",
            help="Figure 7: what `persona sweep` wrote, or a folder of shared runs that are called "
            "sweepN-NAME.",
        ),
    ] = None,
    threads: Annotated[
        list[Path] | None,
        typer.Option(
            "--threads",
            metavar="RUN",
            help="PersonaConvBench: a folder that `threads run` wrote, or a table of shared rows "
            "(.parquet). May be repeated: a run is of one task and one protocol.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Table 3: provider/model, which is sent the chats; without it the reader "
            "'extract', which runs here.",
        ),
    ] = None,
    base_url: BaseUrl = None,
    judge: JudgeName = None,
    connections: Connections = 10,
    rate: Rate = None,
    fresh: Fresh = False,
    json: Json = False,
) -> None:
    """Set every published table and figure beside what is measured here.

    Writes tables (CSV), figures, reproduced.json, .md and one page, reproduced.html, into DIR. What
    takes long (labels, answers) is kept there: a run that was stopped goes on where it was.
    Nothing leaves this machine unless --model or --judge names a model elsewhere.

    Every parity has a recorded verdict. Known failures are printed as failures, each with its
    reason; the exit status is 1 if a parity fails that is not recorded as failing.

    Examples:

        realtalk data get realtalk && realtalk data get locomo && realtalk reproduce

        realtalk reproduce --data data --only table-1,table-5,table-6

        realtalk reproduce --persona untuned=base --persona tuned=mara --persona tuned=theo

        realtalk reproduce --persona untuned=docs/results/persona/untuned \\
            --persona tuned=docs/results/persona/tuned --sweep docs/results/persona

        realtalk reproduce --only personaconvbench \\
            --threads docs/results/threads-model-rows.parquet

        realtalk reproduce --model openai/gpt-4o-mini --judge openai/gpt-4o
    """
    from realtalk.chat import Corpus
    from realtalk.cli.persona_options import are_published, load_runs
    from realtalk.cli.printing import end_unscored, print_json, progress, say
    from realtalk.errors import RealtalkError
    from realtalk.local.writing import write_text
    from realtalk.paper import StudyPlan
    from realtalk.paper import reproduce as carry_out
    from realtalk.paper.markdown import markdown
    from realtalk.paper.showing import write, write_pictures
    from realtalk.surface.choices import make_judge, make_reader
    from realtalk.threads.shared_rows import load_predictions

    loaded = load_runs(list(map(named_run, persona or [])))
    if not are_published([run for each in loaded for run in each.runs]):
        raise RealtalkError(
            "a persona run is not of the paper's speakers and chats",
            fix="make it with: realtalk persona run DATA/realtalk --choice paper",
        )
    # REALTALK has no question without an answer, so the reader need not see the corpus first.
    reader = make_reader(
        None,
        model,
        Corpus("", ""),
        base_url=base_url,
        connections=connections,
        rate=rate,
        judged=judge is not None,
    )
    plan = StudyPlan(
        data=data,
        simulations=tuple(each.simulation for each in loaded),
        sweep=sweep,
        threads=load_predictions(threads or ()),
        reader=reader,
        judge=make_judge(
            judge, reader.settings, base_url=base_url, connections=connections, rate=rate
        ),
        only=tuple(part.strip() for part in only.split(",") if part.strip()),
    )
    with progress("reproducing") as advance:
        found = carry_out(plan, out, fresh=fresh, progress=advance)
        advance(0, 0, "drawing")
        write_pictures(found, out)
        write(found, out)
        called = _command(only, persona or [], sweep, threads or [])
        write_text(out / "reproduced.md", markdown(found, called))
    if json:
        print_json(found.to_json())
    else:
        _print(found, out)
    say(f"{sum(found.seconds.values()):.0f} s; tables, figures and the page are in {out}/")
    for parity in found.mended:
        say(f"holds, though recorded as failing: {parity.name}, {parity.reached}")
    answered = found["table-3"] if "table-3" in plan.wanted else None
    if model and answered and all(figure.measured is None for figure in answered.figures):
        end_unscored([answered.notes[0] if answered.notes else "no question was answered"])
    for parity in found.broken:
        say(f"BROKEN: {parity.name} has to be {parity.wanted}, is {parity.reached}")
    if found.broken:
        raise typer.Exit(1)


def _command(only: str, persona: list[str], sweep: Path | None, threads: list[Path]) -> str:
    """What was called, as far as it decides what comes out; DATA stands for a folder."""
    words = ["realtalk reproduce --data DATA", *([f"--only {only}"] if only else [])]
    words += [f"--persona {each}" for each in persona]
    words += [f"--sweep {sweep}"] if sweep else []
    return " ".join([*words, *(f"--threads {each}" for each in threads)])


def _print(found: Reproduction, out: Path) -> None:
    from realtalk.cli.printing import show
    from realtalk.paper.showing import parity_grid, statement_grid, verdict_grid

    for exhibit in found.exhibits:
        _print_exhibit(exhibit, out)
    show("the paper beside its own tables and data", *statement_grid(found))
    if found.parities:
        show("what has to hold", *parity_grid(found))
    show("verdicts", *verdict_grid(found))


def _print_exhibit(exhibit: Exhibit, out: Path) -> None:
    from realtalk.cli.printing import say, show
    from realtalk.paper.showing import figure_grid

    say("")
    say(f"── {exhibit.title}: {exhibit.verdict}")
    if exhibit.figures:
        grid = figure_grid(exhibit.figures, intervals=False)
        if len(grid.headings) <= _SHOWN_FIGURES:
            show(f"{exhibit.title}: printed and measured", *grid)
        else:
            say(f"{len(exhibit.figures)} figures, with intervals, in {out}/tables/{exhibit.id}.csv")
    for number, (title, grid) in enumerate(exhibit.grids, 1):
        if len(grid.headings) <= _SHOWN_COLUMNS:
            show(f"{exhibit.title.partition(':')[0]}: {title}", *grid)
        else:
            say(f"{title}: in {out}/tables/{exhibit.id}-more-{number}.csv")
    for note in exhibit.notes:
        say(f"· {note}")
