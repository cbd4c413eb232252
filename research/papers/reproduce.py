"""The papers in one command: every published table and figure beside what this machine measures.

    python -m research.papers.reproduce --data DATA --only table-1,table-7
    → reproduced/tables/*.csv, figures/*, reproduced.json, reproduced.md, reproduced.html

What takes long (labels, answers) is kept in the folder: a run that was stopped goes on where it
was. Every parity has a recorded verdict. Known failures are printed as failures, each with its
reason; the exit status is 1 if a parity fails that is not recorded as failing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from realtalk.api.choices import make_judge, make_reader
from realtalk.api.options import Model
from realtalk.api.runs import load_named
from realtalk.chat import Corpus
from realtalk.cli.printing import print_json, printable, progress, say, show
from realtalk.errors import RealtalkError
from realtalk.evals.run import Run
from realtalk.files.naming import named_run
from realtalk.files.writing import write_text
from realtalk.persona.benchmark import are_published
from research.command import call
from research.papers.markdown import markdown
from research.papers.shared_rows import load_predictions
from research.papers.showing import (
    figure_grid,
    parity_grid,
    statement_grid,
    verdict_grid,
    write,
    write_pictures,
)
from research.papers.study import Reproduction, StudyPlan, reproduce
from research.papers.values import Exhibit

# Wider tables are in the files: a terminal would break them into many parts.
_SHOWN_COLUMNS, _SHOWN_FIGURES = 6, 9


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.papers.reproduce",
        description="Set every published table and figure beside what is measured here. Nothing "
        "leaves this machine unless --model or --judge names a model elsewhere.",
    )
    add = parser.add_argument
    add(
        "--data",
        type=Path,
        metavar="DIR",
        help="a folder that holds realtalk/ and locomo/; default: what `realtalk data get` fetched",
    )
    add("--out", "-o", type=Path, default=Path("reproduced"), metavar="DIR", help="where to write")
    add(
        "--only",
        default="",
        metavar="A,B",
        help="only these: table-1, section-5.1, figure-2, table-7 …",
    )
    add(
        "--persona",
        action="append",
        default=[],
        metavar="RUN",
        help="Tables 2 and 8: a folder that `persona run` wrote; NAME=RUN gives a name, runs of "
        "one name are joined, 'tuned' in a name says so; may be repeated",
    )
    add(
        "--sweep",
        type=Path,
        metavar="DIR",
        help="Figure 7: what `sweep simulate` wrote, or a folder of shared runs sweepN-NAME",
    )
    add(
        "--threads",
        type=Path,
        action="append",
        default=[],
        metavar="RUN",
        help="PersonaConvBench: a folder that `threads run` wrote, or a table of shared rows "
        "(.parquet); may be repeated: a run is of one task and one protocol",
    )
    add(
        "--model",
        metavar="NAME",
        help="Table 3: provider/model, which is sent the chats; without it nobody answers",
    )
    add("--base-url", metavar="URL", help="where the model is served")
    add("--judge", metavar="MODEL", help="who judges answers")
    add("--connections", type=int, default=10, metavar="N", help="calls at a time")
    add("--rate", metavar="N/min", help="requests at most: 300/min, 5/s, 1000/h")
    add("--fresh", action="store_true", help="make kept stages again")
    add("--json", action="store_true", help="print JSON")
    return parser


def main(words: Sequence[str] | None = None) -> None:
    """Reproduces what the options ask for, writes it and prints it."""
    chosen = _options().parse_args(words)
    # REALTALK has no question without an answer, so the reader need not see the corpus first.
    model = Model(chosen.model, chosen.base_url, chosen.rate, chosen.connections)
    reader = make_reader(None, model, Corpus("", ""), judged=chosen.judge is not None)
    plan = StudyPlan(
        data=chosen.data,
        simulations=_simulations(chosen.persona),
        sweep=chosen.sweep,
        threads=load_predictions(chosen.threads),
        reader=reader,
        judge=make_judge(chosen.judge, reader.settings, model),
        only=tuple(part.strip() for part in chosen.only.split(",") if part.strip()),
    )
    out: Path = chosen.out
    with progress("reproducing") as advance:
        study = reproduce(plan, out, fresh=chosen.fresh, progress=advance)
        advance(0, 0, "drawing")
        write_pictures(study, out)
        write(study, out)
        write_text(out / "reproduced.md", markdown(study, _command(chosen)))
    if chosen.json:
        print_json(study.to_json())
    else:
        _print(study, out)
    say(f"{sum(study.seconds.values()):.0f} s; tables, figures and the page are in {out}/")
    for parity in study.mended:
        say(f"holds, though recorded as failing: {parity.name}, {parity.reached}")
    answered = study["table-3"] if "table-3" in plan.wanted else None
    if chosen.model and answered and all(figure.measured is None for figure in answered.figures):
        reason = answered.notes[0] if answered.notes else "no question was answered"
        sys.exit(f"error: nothing was scored: {printable(reason)}")
    for parity in study.broken:
        say(f"BROKEN: {parity.name} has to be {parity.wanted}, is {parity.reached}")
    if study.broken:
        sys.exit(1)


def _simulations(texts: Sequence[str]) -> tuple[Run, ...]:
    """Persona runs by name, those of one name joined; only of the paper's speakers and chats."""
    named = [(name or Path(folder).name, folder) for name, folder in map(named_run, texts)]
    loaded = load_named([f"{name}={folder}" for name, folder in named])
    if not all(map(are_published, loaded)):
        raise RealtalkError(
            "a persona run is not of the paper's speakers and chats",
            fix="make it with: realtalk persona run DATA/realtalk --choice paper",
        )
    return tuple(loaded)


def _command(chosen: argparse.Namespace) -> str:
    """What was called, as far as it decides what comes out; DATA stands for a folder."""
    words = ["python -m research.papers.reproduce --data DATA"]
    words += [f"--only {chosen.only}"] if chosen.only else []
    words += [f"--persona {run}" for run in chosen.persona]
    words += [f"--sweep {chosen.sweep}"] if chosen.sweep else []
    return " ".join([*words, *(f"--threads {run}" for run in chosen.threads)])


def _print(study: Reproduction, out: Path) -> None:
    for exhibit in study.exhibits:
        _print_exhibit(exhibit, out)
    show("the paper beside its own tables and data", *statement_grid(study))
    if study.parities:
        show("what has to hold", *parity_grid(study))
    show("verdicts", *verdict_grid(study))


def _print_exhibit(exhibit: Exhibit, out: Path) -> None:
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


if __name__ == "__main__":
    call(main)
