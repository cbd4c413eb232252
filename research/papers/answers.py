"""Questions about the ten chats, answered from the conversation or from events → Table 3.

    table_3(corpus, Path("out/probe"), reader)
    → Exhibit("table-3", ..., not comparable: because smollm2 answers, not gpt-4o-mini)

A model of the paper's name is compared with its own row; every other reader stands beside the
rows for orientation. Each input is a probe run of its own, which goes on where it was stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realtalk.cells import Grid
from realtalk.chat import Corpus
from realtalk.evals.run import Run
from realtalk.evals.tables import figure
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import file_stem
from realtalk.memory.asking import Plan
from realtalk.memory.golds import TABLE_3, PublishedLine
from realtalk.memory.judging import Judge
from realtalk.memory.readers import Reader
from realtalk.memory.registry import make_memory
from realtalk.memory.rescoring import probe_and_judge
from realtalk.memory.values import Budget
from realtalk.metrics.statistics import Estimate
from research.papers.values import Exhibit, PaperFigure, Verdict, judged

INPUTS = {"whole": "conversation", "events": "events"}  # memory: the paper's input


def table_3(
    corpus: Corpus,
    folder: Path,
    reader: Reader,
    *,
    judge: Judge | None = None,
    progress: Progress = silent,
) -> Exhibit:
    """Both inputs of the table, read by one reader."""
    if not any(chat.questions for chat in corpus.chats):
        return Exhibit("table-3", Verdict.not_made("these chats have no questions"))
    if reader.name == "none":
        return Exhibit("table-3", Verdict.not_made("no model was named that answers (--model)"))
    who = str(reader.settings.get("model") or reader.name)
    runs: dict[str, Run] = {}
    for memory in INPUTS:
        plan = Plan(corpus, make_memory(memory, {}), reader, (Budget(),))
        place = folder / file_stem(who) / memory
        runs[memory] = probe_and_judge(plan, place, judge=judge, progress=progress)
    same = _published(who)
    figures: list[PaperFigure] = []
    for memory, run in runs.items():
        line = next(each for each in same or TABLE_3 if each.memory == memory)
        figures += _figures(line, run)
    notes = [note for run in runs.values() for note in run.remarks()]
    if same is None:
        notes.append(f"set beside the rows of {TABLE_3[0].model}, the smaller of its two models")
        notes.append(
            "what events cost a language model of 1.5B that answered from both inputs, by kind of "
            "question, is on the page of memories (docs/results/memory.md)"
        )
    if not any("judged" in figure.column and figure.measured is not None for figure in figures):
        notes.append("accuracy by a judge is unscored: no judge was named (--judge)")
    grids = (("This run above the paper's rows", _grid(runs, who)),)
    return Exhibit("table-3", _verdict(who, same, figures), figures, grids, notes)


def _published(model: str) -> tuple[PublishedLine, ...] | None:
    """The table's rows of the model that answers, if it is one of its models."""
    name = model.rsplit("/", 1)[-1]
    return tuple(line for line in TABLE_3 if line.model == name) or None


def _verdict(
    who: str, same: tuple[PublishedLine, ...] | None, figures: list[PaperFigure]
) -> Verdict:
    if same is None:
        return Verdict.not_comparable(f"'{who}' answers here, not the models of the paper")
    inside = [
        figure
        for figure in figures
        if figure.low is not None
        and figure.high is not None
        and figure.low <= figure.published <= figure.high
    ]
    scored = [figure for figure in figures if figure.measured is not None]
    verdict = judged(figures)
    line = f"{len(inside)} of {len(scored)} printed figures lie in our 95 % intervals"
    return Verdict(verdict.kind, f"{verdict.line}; {line}")


def _by_category(run: Run, wording: str = "") -> Mapping[str, Estimate]:
    """F1 of every category, or what a judge says with a wording."""
    for found in run.variants.values():
        name = next((each for each in found.overall if each.startswith(wording or "f1")), "")
        if name:
            return {part: figures[name] for part, figures in found.slices.items()}
    return {}


def _figures(line: PublishedLine, run: Run) -> list[PaperFigure]:
    row = f"{line.model}, {INPUTS[line.memory]}"
    figures = []
    for title, wording, column in (("F1", "", line.f1), ("judged", "lenient by", line.accuracy)):
        groups = _by_category(run, wording)
        for name, printed in column.items():
            estimate = groups.get(name)
            if estimate is None or estimate.value is None:
                unscored = "not judged" if wording else "not answered"
                made = PaperFigure(row, f"{title} {name}", printed, None, 3, unscored=unscored)
            else:
                made = PaperFigure.of(row, f"{title} {name}", printed, estimate, 3)
            figures.append(made)
    return figures


def _grid(runs: dict[str, Run], who: str) -> Grid:
    """F1 and lenient judgements of our runs, above the paper's rows, which have no intervals."""
    categories = tuple(TABLE_3[0].f1)
    titles = [f"{what} {name}" for what in ("F1", "judged") for name in categories]
    rows: list[list[Any]] = []
    for memory, run in runs.items():
        sides = (_by_category(run), _by_category(run, "lenient by"))
        cells = [figure(side.get(name)) for side in sides for name in categories]
        rows.append([f"this run: {who}", memory, *cells])
    for line in TABLE_3:
        values = (*line.f1.values(), *line.accuracy.values())
        rows.append([f"Table 3: {line.model}", line.memory, *(f"{each:.3f}" for each in values)])
    return Grid(["who answered", "from", *titles], rows)
