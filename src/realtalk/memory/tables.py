"""Figures of a run → tables for people: headings and rows.

retrieval_rows(scores.retrieval)       → ("category", "n", "any@5", …), [("all", 706, "0.77 …")]
answer_rows(scores, published=True)    → the run's F1 by category, Table 3's lines below it
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.evals.tables import Lines, figure
from realtalk.evals.values import Score
from realtalk.memory.published import TABLE_3
from realtalk.memory.rows import ANSWER_SCORES
from realtalk.memory.scoring import QuestionFigures, RunFigures, RunScores

_SHOWN = ("any@5", "all@5", "recall@5", "recall@10", "recall@20", "all@20", "recall@50", "ndcg@10")
_ALL = "all"
_LOOK = Score("", "")  # every score is a mean from 0 to 1


def _figure(figures: QuestionFigures | None, name: str) -> str | None:
    """A mean with its interval: "0.770 [0.722, 0.801]"."""
    return None if figures is None else figure(figures.estimates.get(name), _LOOK)


def _groups(summary: RunFigures) -> list[tuple[str, QuestionFigures]]:
    """Everything and each category, audited golds beside the published ones."""
    board = [] if summary.board is None else [("mean of categories", summary.board)]
    plain = [(_ALL, summary.overall), *board, *summary.by_category.items()]
    beside = {} if summary.audited is None else dict(_groups(summary.audited))
    groups: list[tuple[str, QuestionFigures]] = []
    for title, group in plain:
        groups.append((title, group))
        if title in beside:
            groups.append((f"{title}, audited", beside[title]))
    return groups


def retrieval_rows(summary: RunFigures) -> Lines:
    """One line per figure, one column per category: the figures are many, the categories few."""
    groups = _groups(summary)
    names = [
        name
        for name in summary.overall.means
        if name in _SHOWN or (name.endswith(("t", "w", _ALL)) and not name.startswith("any"))
    ]
    headings = ("evidence found", *(f"{title}, n={group.n}" for title, group in groups))
    return headings, [(name, *(_figure(group, name) for _, group in groups)) for name in names]


def answer_rows(scores: RunScores) -> Lines:
    """Every score of the answers by category."""
    groups = list(
        dict.fromkeys(name for each in scores.answers.values() for name, _ in _groups(each))
    )
    headings = ("score", "budget", *groups)
    rows: list[tuple[Any, ...]] = []
    for budget, summary in scores.answers.items():
        rows.append(("n", budget, *_counts(summary, groups)))
        rows += [_line(name, budget, summary, name, groups) for name in ANSWER_SCORES]
    for (budget, judge, wording), summary in scores.judged.items():
        own = " (its own answers)" if judge == scores.model else ""
        rows.append(_line(f"{wording}, {judge}{own}", budget, summary, "right", groups))
    return headings, rows


def published_rows(scores: RunScores, reader: str, memory: str) -> Lines:
    """The run's F1 and lenient judgements beside Table 3 of the paper, which has no intervals."""
    categories = tuple(TABLE_3[0].f1)
    headings = (
        "who answered",
        "from",
        *(f"F1 {name}" for name in categories),
        *(f"judged {name}" for name in categories),
    )
    rows: list[tuple[Any, ...]] = []
    for budget, summary in scores.answers.items():
        judged = next(
            (
                each
                for (where, _, wording), each in scores.judged.items()
                if where == budget and wording.partition(",")[0] == "lenient"
            ),
            None,
        )
        found = [_figure(summary.by_category.get(name), "f1") for name in categories]
        right = [
            _figure(None if judged is None else judged.by_category.get(name), "right")
            for name in categories
        ]
        rows.append((f"this run: {reader}", f"{memory}, {budget}", *found, *right))
    for line in TABLE_3:
        values = (*line.f1.values(), *line.accuracy.values())
        rows.append((f"Table 3: {line.model}", line.memory, *(f"{each:.3f}" for each in values)))
    return headings, rows


def unscored_lines(scores: RunScores, most: int = 10) -> list[str]:
    """One line per reason, with the first of its questions."""
    by_reason: dict[str, list[str]] = {}
    for row in scores.unscored:
        by_reason.setdefault(row["reason"], []).append(f"{row['chat']}:{row['id']}")
    total = sum(each.questions for each in scores.costs.values())
    lines = []
    for reason, names in by_reason.items():
        more = f" and {len(names) - most:,} more" if len(names) > most else ""
        shown = ", ".join(names[:most])
        lines.append(f"unscored: {len(names):,} of {total:,} ({reason}): {shown}{more}")
    return lines + _unnoted(scores, most) + _partly(scores)


def _unnoted(scores: RunScores, most: int) -> list[str]:
    found = () if scores.building is None else scores.building.unscored
    by_reason: dict[str, list[str]] = {}
    for each in found:
        by_reason.setdefault(each["reason"], []).append(f"{each['chat']}:{each['session']}")
    return [
        f"not remembered: {len(names):,} sessions ({reason}): {', '.join(names[:most])}"
        + (f" and {len(names) - most:,} more" if len(names) > most else "")
        for reason, names in by_reason.items()
    ]


def _partly(scores: RunScores) -> list[str]:
    if not scores.partly_resolved or scores.retrieval is None:
        return []
    return [
        f"evidence: of {scores.partly_resolved:,} questions a piece names no message; they are "
        "scored on the rest"
    ]


def _counts(summary: RunFigures, groups: Sequence[str]) -> list[str]:
    known = dict(_groups(summary))
    found = [known.get(name) for name in groups]
    return ["–" if each is None else f"{each.n} of {each.n + each.unscored}" for each in found]


def _line(
    title: str, budget: str, summary: RunFigures, name: str, groups: Sequence[str]
) -> tuple[Any, ...]:
    known = dict(_groups(summary))
    return (title, budget, *(_figure(known.get(group), name) for group in groups))


def cost_rows(scores: RunScores) -> Lines:
    headings = (
        "budget",
        "questions",
        "context tokens",
        "context words",
        "calls",
        "tokens in",
        "tokens out",
        "recall ms",
        "reader s",
        "building s",
    )
    return headings, [
        (
            budget,
            each.questions,
            round(each.context_tokens, 1),
            round(each.context_words, 1),
            each.calls,
            each.tokens_in,
            each.tokens_out,
            None if each.recall_ms is None else round(each.recall_ms, 2),
            None if each.reader_seconds is None else round(each.reader_seconds, 3),
            None,
        )
        for budget, each in scores.costs.items()
    ] + _building(scores)


def _building(scores: RunScores) -> list[tuple[Any, ...]]:
    built = scores.building
    if built is None:
        return []
    spent = (built.calls, built.tokens_in, built.tokens_out)
    seconds = None if built.seconds is None else round(built.seconds, 2)
    return [("building the memory", None, None, None, *spent, None, None, seconds)]


def sweep_rows(runs: Mapping[str, RunScores]) -> Lines:
    """One line per memory and budget: what it costs to build and to show, finds and answers.

    Where chats were audited, the audited golds' figures stand beside the published ones'.
    """
    audited = any(
        figures is not None and figures.audited is not None
        for scores in runs.values()
        for figures in (scores.retrieval, *scores.answers.values())
    )
    found = ("recall", "all evidence", "f1", "date f1", "accepted")
    titles = [f"{name}{golds}" for name in found for golds in ("", ", audited")[: 1 + audited]]
    rows: list[tuple[Any, ...]] = []
    for memory, scores in runs.items():
        for budget, cost in scores.costs.items():
            retrieval, answers = scores.retrieval, scores.answers.get(budget)
            places = {
                "recall": (retrieval, f"recall@{budget}"),
                "all evidence": (retrieval, f"all@{budget}"),
                "f1": (answers, "f1"),
                "date f1": (answers, "date_f1"),
                "accepted": (answers, "accepted"),
            }
            cells: dict[str, str | None] = {}
            for title, (figures, name) in places.items():
                beside = None if figures is None else figures.audited
                cells[title] = _figure(None if figures is None else figures.overall, name)
                cells[f"{title}, audited"] = _figure(
                    None if beside is None else beside.overall, name
                )
            rows.append(
                (
                    memory,
                    budget,
                    round(cost.context_tokens),
                    round(cost.context_words),
                    *(cells[title] for title in titles),
                    *_build_cells(scores),
                )
            )
    building = ("build calls", "build tokens", "build s")
    return ("memory", "budget", "tokens", "words", *titles, *building), rows


def _build_cells(scores: RunScores) -> tuple[int | None, int | None, float | None]:
    """Calls, tokens and seconds that building took, of all chats together."""
    built = scores.building
    if built is None:
        return None, None, None
    seconds = None if built.seconds is None else round(built.seconds, 2)
    return built.calls, built.tokens_in + built.tokens_out, seconds
