"""The papers in one command: every printed result beside ours and a dummy's, in one of four words.

    python -m research.papers.reproduce --data DATA
    → reproduced/reproduced.md, reproduced.json, tables/*.csv, figures/*

Labels, which take minutes, are kept in the folder: a run that was stopped goes on where it was.
The exit status is 1 if a row's word is not the committed one (research/results/rows/reproduced.json);
`--record` commits the rows of this run instead, and makes the page and its picture from them.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from realtalk.api.runs import load_named
from realtalk.cells import Grid
from realtalk.cli.printing import print_json, progress, say
from realtalk.describe.figures import save_figures
from realtalk.errors import RealtalkError
from realtalk.files.naming import named_run
from realtalk.files.writing import write_json, write_text
from realtalk.persona.benchmark import are_published
from research.command import call
from research.papers.personas import Simulations
from research.papers.shared_rows import load_predictions
from research.papers.study import Reproduction, StudyPlan, reproduce
from research.results import PAGES, ROWS
from research.results.reproduced_results import STORED, page, terminal

_PERSONA = ROWS / "persona" / "qwen2.5-1.5b"
_SIDES = {"untuned": "untuned-greedy", "tuned": "tuned-greedy", "dummy": "constant"}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.papers.reproduce",
        description="Set every printed result of both papers beside ours and a dummy's. Nothing "
        "leaves this machine.",
    )
    add = parser.add_argument
    add(
        "--data",
        type=Path,
        metavar="DIR",
        help="a folder that holds realtalk/ and locomo/; default: what `realtalk data get` fetched",
    )
    add("--out", "-o", type=Path, default=Path("reproduced"), metavar="DIR", help="where to write")
    add("--only", default="", metavar="A,B", help="corpus, speakers, personas, memories, threads")
    add(
        "--persona",
        action="append",
        default=[],
        metavar="SIDE=RUN",
        help="Tables 2 and 8: a persona run; SIDE is untuned, tuned or dummy (default: committed)",
    )
    add(
        "--sweep",
        type=Path,
        default=_PERSONA,
        metavar="DIR",
        help="Figure 7: what `sweep simulate` wrote (default: committed)",
    )
    add(
        "--threads",
        type=Path,
        action="append",
        default=[],
        metavar="RUN",
        help="PersonaConvBench: a run of threads, or shared rows (.parquet; default: committed)",
    )
    add("--fresh", action="store_true", help="label anew")
    add("--record", action="store_true", help="commit the rows, and make page and picture")
    add("--json", action="store_true", help="print JSON")
    return parser


def main(words: Sequence[str] | None = None) -> None:
    """Reproduces what the options ask for, writes it and prints it."""
    options = _options().parse_args(words)
    plan = StudyPlan(
        options.data, only=tuple(part.strip() for part in options.only.split(",") if part.strip())
    )
    if plan.has("personas"):
        plan = replace(plan, simulations=_simulations(options.persona), sweep=options.sweep)
    if plan.has("threads"):
        places = options.threads or [ROWS / "threads-model-rows.parquet"]
        plan = replace(plan, threads=load_predictions(places))
    out: Path = options.out
    with progress("reproducing") as advance:
        study = reproduce(plan, out, fresh=options.fresh, progress=advance)
    _write(study, out)
    if options.record:
        write_text(STORED, json.dumps(study.to_json(), indent=1, ensure_ascii=False) + "\n")
        write_text(PAGES / "reproduced.md", page(study.to_json()))
        (PAGES / "reproduced.svg").write_bytes((out / "figures" / "table-7.svg").read_bytes())
    if options.json:
        print_json(study.to_json())
    else:
        for title, rows in study.papers.items():
            if rows:
                print(f"\n{title}\n\n{terminal([row.to_json() for row in rows])}\n")
    say(f"{sum(study.seconds.values()):.0f} s for labels; tables and page are in {out}/")
    changed = _changed(study)
    for line in changed:
        say(f"CHANGED: {line}")
    if changed:
        sys.exit(1)


def _simulations(texts: Sequence[str]) -> Simulations:
    """Persona runs by side; only of the paper's speakers and chats."""
    places = {side: str(_PERSONA / folder) for side, folder in _SIDES.items()}
    for name, place in map(named_run, texts):
        if name not in _SIDES:
            raise RealtalkError(
                f"'{name}' is no side", fix="write untuned=RUN, tuned=RUN, dummy=RUN"
            )
        places[name] = place
    runs = load_named([f"{side}={place}" for side, place in places.items()])
    if not all(map(are_published, runs)):
        raise RealtalkError(
            "a persona run is not of the paper's speakers and chats",
            fix="make it with: realtalk simulate DATA/realtalk --choice paper",
        )
    return Simulations(**dict(zip(places, runs, strict=True)))


def _write(study: Reproduction, out: Path) -> None:
    write_json(out / "reproduced.json", study.to_json())
    write_text(out / "reproduced.md", page(study.to_json()))
    for name, grid in study.grids.items():
        _csv(out / "tables" / f"{name}.csv", grid)
    if study.picture is not None:
        save_figures({"table-7": study.picture}, out / "figures")


def _csv(path: Path, grid: Grid) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([grid.headings, *grid.rows])
    write_text(path, buffer.getvalue())


def _changed(study: Reproduction) -> list[str]:
    """Rows whose word is not the committed one; rows that could not be made here do not count."""
    stored: Mapping[str, Any] = (
        json.loads(STORED.read_text("utf-8"))["papers"] if STORED.is_file() else {}
    )
    before = {
        (paper, row["where"], row["paper"]): row["word"]
        for paper, rows in stored.items()
        for row in rows
    }
    lines = []
    for paper, rows in study.papers.items():
        for row in rows:
            word = before.get((paper, row.where, row.says))
            if word is not None and word != row.word and row.ours.text != "–":
                lines.append(f"{row.where}: {word} before, {row.word} now")
    return lines


if __name__ == "__main__":
    call(main)
