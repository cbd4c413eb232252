"""Questions about the ten chats, answered from the conversation or from events → Table 3.

    table_3(corpus, Path("out/probe"), reader)
    → Exhibit("table-3", ..., not comparable: because 'extract' answers, not gpt-4o-mini)

A model of the paper's name is compared with its own row; every other reader stands beside the
rows for orientation. Each input is a probe run of its own, which goes on where it was stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from realtalk.chat import Corpus
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import file_stem
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import ProbedRun
from realtalk.memory.judging import Judge
from realtalk.memory.published import TABLE_3, Published
from realtalk.memory.readers import Reader
from realtalk.memory.registry import make_memory
from realtalk.memory.rescoring import probe_and_judge
from realtalk.memory.scoring import QuestionFigures
from realtalk.memory.tables import published_rows, unscored_lines
from realtalk.memory.values import Budget
from realtalk.stats.grids import Grid
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
    model = reader.settings.get("model")
    who = str(model or reader.name)
    runs: dict[str, ProbedRun] = {}
    for memory in INPUTS:
        if memory == "events" and reader.name == "extract":
            continue  # it takes spans of messages, and this input shows none
        plan = Plan(corpus, make_memory(memory, {}), reader, (Budget(),))
        place = folder / file_stem(who) / memory
        runs[memory] = probe_and_judge(plan, place, judge=judge, progress=progress)
    same = _published(who)
    figures: list[PaperFigure] = []
    for memory, run in runs.items():
        line = next(each for each in same or TABLE_3 if each.memory == memory)
        figures += _figures(line, run)
    notes = [note for run in runs.values() for note in unscored_lines(run.scores)]
    if "events" not in runs:
        notes.append("events: the reader 'extract' reads messages, and events are none")
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


def _published(model: str) -> tuple[Published, ...] | None:
    """The table's rows of the model that answers, if it is one of its models."""
    name = model.rsplit("/", 1)[-1]
    return tuple(line for line in TABLE_3 if line.model == name) or None


def _verdict(who: str, same: tuple[Published, ...] | None, figures: list[PaperFigure]) -> Verdict:
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


def _figures(line: Published, run: ProbedRun) -> list[PaperFigure]:
    scores = run.scores
    answered = list(scores.answers.values())
    lenient = [each for (*_, wording), each in scores.judged.items() if wording == "lenient"]
    row = f"{line.model}, {INPUTS[line.memory]}"
    return [
        _figure(row, f"{title} {name}", printed, groups.get(name), score)
        for title, score, groups, column in (
            ("F1", "f1", answered[0].by_category if answered else {}, line.f1),
            ("judged", "right", lenient[0].by_category if lenient else {}, line.accuracy),
        )
        for name, printed in column.items()
    ]


def _figure(
    row: str, column: str, printed: float, group: QuestionFigures | None, score: str
) -> PaperFigure:
    estimate = None if group is None else group.estimates.get(score)
    if estimate is None or estimate.value is None:
        unscored = "not judged" if score == "right" else "not answered"
        return PaperFigure(row, column, printed, None, 3, unscored=unscored)
    return PaperFigure.of(row, column, printed, estimate, 3)


def _grid(runs: dict[str, ProbedRun], who: str) -> Grid:
    """The paper's rows once, below all of ours."""
    headings: tuple[str, ...] = ()
    rows: list[list[Any]] = []
    below: list[list[Any]] = []
    for memory, run in runs.items():
        headings, lines = published_rows(run.scores, who, memory)
        own = len(lines) - len(TABLE_3)
        rows += [list(line) for line in lines[:own]]
        below = [list(line) for line in lines[own:]]
    return Grid(list(headings), [*rows, *below])
