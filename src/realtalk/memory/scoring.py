"""Rows of a run → figures: overall and by category, with n and intervals, and what they cost.

    scores = score_run(rows, timings, judgements)
    scores.retrieval.overall.means["any@5"]                        → 0.77
    scores.answers["1000t"].by_category["temporal"].means["f1"]    → 0.21
    scores.judged["1000t", "openai/gpt-4o-mini", "strict"].overall → …
    scores.costs["1000t"].context_tokens                           → 981.4
    compare_runs(rows, others, names=("recent", "retrieved")).changes["f1"].p    → 0.03
    scores.retrieval.audited.overall.means["any@5"]                → the same rows, audited golds

What has no score is left out of the means, counted, and listed with its reason. Two runs are
compared on the questions that both have scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import fmean
from typing import Any, Literal, TypeAlias, TypeVar

from realtalk.errors import RealtalkError
from realtalk.evals.comparing import Compared, compare
from realtalk.evals.estimating import by_variant, estimate
from realtalk.evals.values import Row, Score, evenly
from realtalk.memory.rows import ANSWER_SCORES, BUDGET_SCORES, RANK_SCORES, SCORES
from realtalk.memory.wording import WORDING_VERSION
from realtalk.metrics.grouped import FEWEST_GROUPS
from realtalk.metrics.statistics import Estimate

Judged: TypeAlias = tuple[str, str, str]  # budget, judge, wording
_SCORES = {score.name: score for score in SCORES}
_COMPARED = (*ANSWER_SCORES, "any@5", "recall@20", "ndcg@10", "recall@budget", "all@budget")
_RIGHT = Score("right", "right", proportion=True)


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """Estimates over questions; those without such a score are counted, not scored."""

    estimates: Mapping[str, Estimate]
    questions: int
    drawn: Literal["chats", "questions"]

    @property
    def n(self) -> int:
        return max((estimate.n for estimate in self.estimates.values()), default=0)

    @property
    def unscored(self) -> int:
        return self.questions - self.n

    @property
    def means(self) -> dict[str, float]:
        """The scores that have a value."""
        return {
            name: estimate.value
            for name, estimate in self.estimates.items()
            if estimate.value is not None
        }

    def to_json(self) -> dict[str, Any]:
        """The means under their own names, which is what tables and checks look up."""
        return {
            "n": self.n,
            "unscored": self.unscored,
            **self.means,
            "intervals": {
                name: None if (each := self.estimates[name]).low is None else [each.low, each.high]
                for name in self.means
            },
            "intervals_over": self.drawn,
        }


@dataclass(frozen=True, slots=True)
class RunFigures:
    """All questions together, and each category.

    `board` is the mean of the categories' means, as public boards average. `audited` is the same
    questions, answers and rankings scored by the audited golds, where the chats were audited.
    """

    overall: QuestionFigures
    by_category: Mapping[str, QuestionFigures] = field(default_factory=dict)
    board: QuestionFigures | None = None
    audited: RunFigures | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            **self.overall.to_json(),
            "by_category": {name: each.to_json() for name, each in self.by_category.items()},
            **({} if self.board is None else {"mean_of_categories": self.board.to_json()}),
            **({} if self.audited is None else {"audited": self.audited.to_json()}),
        }


@dataclass(frozen=True, slots=True)
class Costs:
    """What a question cost on average, and all of them together."""

    questions: int
    context_tokens: float
    context_words: float
    calls: int
    tokens_in: int
    tokens_out: int
    recall_ms: float | None
    reader_seconds: float | None


@dataclass(frozen=True, slots=True)
class Building:
    """What building the memories took, which no question's cost holds.

    `unscored` are the sessions that a memory could not take in, each with the reason. `seconds`
    are this machine's; None where a run of an earlier version did not take them.
    """

    memories: int
    calls: int
    tokens_in: int
    tokens_out: int
    unscored: tuple[Row, ...]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RunScores:
    """Every figure of a run. `retrieval` is None where no question has evidence.

    `model` is who answered. `partly_resolved` questions have evidence of which a piece names no
    message; they are scored on the rest.
    """

    retrieval: RunFigures | None
    answers: Mapping[str, RunFigures]
    judged: Mapping[Judged, RunFigures]
    costs: Mapping[str, Costs]
    unscored: tuple[Row, ...]
    building: Building | None = None
    partly_resolved: int = 0
    model: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Retrieval at the top under its own names, the rest by budget."""
        return {
            **(self.retrieval.to_json() if self.retrieval else {}),
            "answers": {budget: each.to_json() for budget, each in self.answers.items()},
            "judged": [
                {
                    "budget": budget,
                    "judge": judge,
                    "own_answers": judge == self.model,
                    "wording": wording,
                    **each.to_json(),
                }
                for (budget, judge, wording), each in self.judged.items()
            ],
            "costs": {budget: asdict(each) for budget, each in self.costs.items()},
            "building": None if self.building is None else asdict(self.building),
            "unscored_questions": list(self.unscored),
            "evidence_partly_unresolved": self.partly_resolved,
        }


def score_run(
    rows: Sequence[Row],
    timings: Sequence[Row] = (),
    judgements: Sequence[Row] = (),
    preparations: Sequence[Row] = (),
    model: str | None = None,
    *,
    audited: Sequence[Row] = (),
    board: bool = False,
) -> RunScores:
    """All figures that the rows hold; `model` is who answered.

    `audited` are the same rows as the audited golds score them; `board` also averages as boards do.
    """
    budgets = by_variant(rows)
    times = by_variant(timings)
    answered = any(row["answer"] is not None or row["unscored"] is not None for row in rows)
    scores = [_SCORES[name] for name in ANSWER_SCORES]
    others = by_variant(audited)
    return RunScores(
        retrieval=_beside(_retrieval(budgets, board), _retrieval(others) if others else None),
        answers={
            name: _beside(
                run_figures(kept, scores),
                run_figures(others[name], scores) if name in others else None,
            )
            for name, kept in budgets.items()
            if answered
        },
        judged=_judged(budgets, judgements),
        costs={name: _costs(kept, times.get(name, [])) for name, kept in budgets.items()},
        unscored=tuple(
            {"chat": row["group"], "id": row["sample"], "budget": row["variant"], "reason": reason}
            for row in rows
            for reason in (row["unscored"], *row["left_out"])
            if reason is not None
        ),
        building=_building(preparations, timings),
        partly_resolved=len(
            {(r["group"], r["sample"]) for r in rows if r["evidence"] and r["unresolved"]}
        ),
        model=model,
    )


FiguresT = TypeVar("FiguresT", RunFigures, RunFigures | None)


def _beside(figures: FiguresT, audited: RunFigures | None) -> FiguresT:
    return figures if figures is None or audited is None else replace(figures, audited=audited)


def run_figures(
    rows: Sequence[Row],
    scores: Sequence[Score],
    names: Mapping[str, str] | None = None,
    *,
    board: bool = False,
) -> RunFigures:
    """The scores over all rows and by category, under other `names` where they are given."""

    def figures(chosen: Sequence[Row], scores: Sequence[Score] = scores) -> QuestionFigures:
        estimates = estimate(chosen, scores)
        scored = [row for row in chosen if any(row[score.name] is not None for score in scores)]
        chats = {row["group"] for row in scored}
        return QuestionFigures(
            {(names or {}).get(name, name): each for name, each in estimates.items()},
            len(chosen),
            "chats" if len(chats) >= FEWEST_GROUPS else "questions",
        )

    categories = dict.fromkeys(row["category"] for row in rows)
    even = [replace(score, parts=evenly(score.name, "category")) for score in scores]
    return RunFigures(
        figures(rows),
        {name: figures([row for row in rows if row["category"] == name]) for name in categories},
        figures(rows, even) if board else None,
    )


def _retrieval(budgets: Mapping[str, Sequence[Row]], board: bool = False) -> RunFigures | None:
    """The order that the memory ranks in, and what its contexts hold at each budget."""
    if not any(row["evidence"] for rows in budgets.values() for row in rows):
        return None
    parts: list[RunFigures] = []
    first = next(iter(budgets.values()))
    # A memory without an order of its own has nothing to be scored at five messages.
    if any(row[RANK_SCORES[0]] is not None for row in first):
        parts.append(run_figures(first, [_SCORES[name] for name in RANK_SCORES], board=board))
    for budget, rows in budgets.items():
        names = {name: name.replace("budget", budget) for name in BUDGET_SCORES}
        found = [_SCORES[name] for name in BUDGET_SCORES]
        parts.append(run_figures(rows, found, names, board=board))
    return RunFigures(
        _merged([part.overall for part in parts]),
        {
            name: _merged([part.by_category[name] for part in parts])
            for name in parts[0].by_category
        },
        _merged([part.board for part in parts if part.board is not None]) if board else None,
    )


def _merged(parts: Sequence[QuestionFigures]) -> QuestionFigures:
    estimates = {name: each for part in parts for name, each in part.estimates.items()}
    return QuestionFigures(estimates, parts[0].questions, parts[0].drawn)


def _judged(
    budgets: Mapping[str, Sequence[Row]], judgements: Sequence[Row]
) -> dict[Judged, RunFigures]:
    """Each judge and wording apart. A question without an answer is unscored there too."""
    sets: dict[Judged, dict[tuple[str, str], float | None]] = {}
    for each in judgements:
        named = (each["variant"], each["judge"], _asked_with(each))
        sets.setdefault(named, {})[each["group"], each["sample"]] = each["right"]
    return {
        named: run_figures(
            [
                row | {"right": verdicts.get((row["group"], row["sample"]))}
                for row in budgets.get(named[0], ())
            ],
            [_RIGHT],
        )
        for named, verdicts in sets.items()
    }


def _asked_with(judgement: Row) -> str:
    """The wording, with its version where the prompts were not ours: they are other questions."""
    version = judgement["prompts"]
    wording = str(judgement["wording"])
    return wording if version == WORDING_VERSION else f"{wording}, prompts {version}"


def _building(preparations: Sequence[Row], timings: Sequence[Row]) -> Building | None:
    """None where building took no model, and nobody measured how long it took."""
    taken = [row["build_seconds"] for row in timings if row.get("build_seconds") is not None]
    if not preparations and not taken:
        return None
    return Building(
        max(len(preparations), sum(seconds > 0 for seconds in taken)),
        sum(row["calls"] for row in preparations),
        sum(row["tokens_in"] for row in preparations),
        sum(row["tokens_out"] for row in preparations),
        tuple({"chat": row["stage"], **each} for row in preparations for each in row["unscored"]),
        sum(taken) if taken else None,
    )


def _costs(rows: Sequence[Row], timings: Sequence[Row]) -> Costs:
    def total(name: str) -> int:
        return sum(row[name] + row[f"memory_{name}"] for row in rows)

    return Costs(
        questions=len(rows),
        context_tokens=fmean(row["tokens"] for row in rows),
        context_words=fmean(row["words"] for row in rows),
        calls=total("calls"),
        tokens_in=total("tokens_in"),
        tokens_out=total("tokens_out"),
        recall_ms=fmean(each["recall_ms"] for each in timings) if timings else None,
        reader_seconds=fmean(each["reader_seconds"] for each in timings) if timings else None,
    )


def compare_runs(
    first: Sequence[Row],
    second: Sequence[Row],
    judgements: tuple[Iterable[Row], Iterable[Row]] = ((), ()),
    names: tuple[str, str] = ("first", "second"),
) -> tuple[Compared, tuple[Score, ...]]:
    """Rows of one budget of two runs, paired by question; and the scores that both have."""
    _refuse_other_questions(first, second)
    sides = [
        _with_verdicts(rows, given) for rows, given in zip((first, second), judgements, strict=True)
    ]
    judged = [name for name in sides[0][1] if name in sides[1][1]]
    scores = (
        *(_SCORES[name] for name in _COMPARED),
        *(Score(name, name, proportion=True) for name in judged),
    )
    known = tuple(
        score
        for score in scores
        if all(any(row.get(score.name) is not None for row in rows) for rows, _ in sides)
    )
    compared = compare(sides[0][0], sides[1][0], known, names, what="question")
    if not known:
        raise RealtalkError("the two runs have no score in common")
    return compared, known


def _with_verdicts(rows: Sequence[Row], judgements: Iterable[Row]) -> tuple[list[Row], list[str]]:
    """Rows with a column per judge and wording, and those columns.

    A row without an answer can still be compared by what was retrieved for it.
    """
    verdicts: dict[tuple[str, str], Row] = {}
    names: dict[str, None] = {}
    for each in judgements:
        name = f"{_asked_with(each)} by {each['judge']}"
        names[name] = None
        verdicts.setdefault((each["group"], each["sample"]), {})[name] = each["right"]
    return [
        {
            **row,
            "unscored": None,
            **dict.fromkeys(names),
            **verdicts.get((row["group"], row["sample"]), {}),
        }
        for row in rows
    ], list(names)


def _refuse_other_questions(first: Iterable[Row], second: Iterable[Row]) -> None:
    """Raises where one id stands for two questions: answers to them cannot be paired."""
    known = {(row["group"], row["sample"]): (row["question"], row["gold"]) for row in first}
    for row in second:
        key = (row["group"], row["sample"])
        if key in known and known[key] != (row["question"], row["gold"]):
            raise RealtalkError(
                f"the runs ask different questions under '{key[1]}'",
                where=key[0],
                fix="compare runs over the same corpus",
            )
