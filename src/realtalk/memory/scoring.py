"""Rows of a run → figures: overall and by category, with n and intervals, and what they cost.

    found = score_run(rows, timings, judgements)
    found.retrieval.overall.means["any@5"]                 → 0.77
    found.answers["1000t"].by_category["temporal"].means["f1"]    → 0.21
    found.judged["1000t", "openai/gpt-4o-mini", "strict"].overall  → …
    found.costs["1000t"].context_tokens                    → 981.4
    compare_runs(question_scores(rows), question_scores(others)).tests["f1"].p    → 0.03

What has no score is left out of the means, counted, and listed with its reason. Two runs are
compared on the questions that both have scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.memory.rows import ANSWER_SCORES, BUDGET_SCORES, RANK_SCORES, Row
from realtalk.memory.wording import WORDING_VERSION
from realtalk.metrics.paired import PairedTest, compare_paired, wilson
from realtalk.metrics.retrieval import (
    QuestionRetrieval,
    RetrievalGroup,
    RetrievalSummary,
    summarise,
)
from realtalk.metrics.statistics import holm

__all__ = [
    "Building",
    "Comparison",
    "Costs",
    "RunScores",
    "compare_runs",
    "question_scores",
    "refuse_other_questions",
    "score_run",
]

Judged: TypeAlias = tuple[str, str, str]  # budget, judge, wording
_BINARY = ("exact", "right", "any@", "all@")  # how the names of right-or-wrong scores begin


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

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Building:
    """What building the memories took, which no question's cost holds.

    `unscored` are the sessions that a memory could not take in, each with the reason.
    """

    memories: int
    calls: int
    tokens_in: int
    tokens_out: int
    unscored: tuple[Row, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class RunScores:
    """Every figure of a run. `retrieval` is None where no question has evidence.

    `partly_resolved` questions have evidence of which a piece names no message; they are scored
    on the rest.
    """

    retrieval: RetrievalSummary | None
    answers: Mapping[str, RetrievalSummary]
    judged: Mapping[Judged, RetrievalSummary]
    costs: Mapping[str, Costs]
    unscored: tuple[Row, ...]
    building: Building | None = None
    partly_resolved: int = 0

    def to_json(self) -> dict[str, Any]:
        """Retrieval at the top under its own names, the rest by budget."""
        return {
            **(self.retrieval.to_json() if self.retrieval else {}),
            "answers": {budget: each.to_json() for budget, each in self.answers.items()},
            "judged": [
                {"budget": budget, "judge": judge, "wording": wording, **each.to_json()}
                for (budget, judge, wording), each in self.judged.items()
            ],
            "costs": {budget: each.to_json() for budget, each in self.costs.items()},
            "building": None if self.building is None else self.building.to_json(),
            "unscored_questions": list(self.unscored),
            "evidence_partly_unresolved": self.partly_resolved,
        }


def score_run(
    rows: Sequence[Row],
    timings: Sequence[Row] = (),
    judgements: Sequence[Row] = (),
    memories: Sequence[Row] = (),
) -> RunScores:
    """All figures that the rows hold."""
    budgets = list(dict.fromkeys(row["budget"] for row in rows))
    asked = any(row["answer"] is not None or row["unscored"] is not None for row in rows)
    return RunScores(
        _retrieval(rows, budgets),
        {budget: _answers(_of(rows, budget)) for budget in budgets} if asked else {},
        _judged(rows, judgements),
        {budget: _costs(_of(rows, budget), _of(timings, budget)) for budget in budgets},
        tuple(
            {name: row[name] for name in ("chat", "id", "budget")} | {"reason": row["unscored"]}
            for row in rows
            if row["unscored"] is not None
        ),
        _building(memories) if memories else None,
        len({(r["chat"], r["id"]) for r in rows if r["evidence"] and r.get("unresolved")}),
    )


def _building(memories: Sequence[Row]) -> Building:
    return Building(
        len(memories),
        sum(row["calls"] for row in memories),
        sum(row["tokens_in"] for row in memories),
        sum(row["tokens_out"] for row in memories),
        tuple({"chat": row["chat"], **each} for row in memories for each in row["unscored"]),
    )


def _of(rows: Iterable[Row], budget: str) -> list[Row]:
    return [row for row in rows if row["budget"] == budget]


def _summary(
    rows: Iterable[Row], scores: Callable[[Row], dict[str, float] | None]
) -> RetrievalSummary:
    return summarise(
        [QuestionRetrieval(row["id"], row["chat"], row["category"], scores(row)) for row in rows]
    )


def _named(names: Sequence[str]) -> Callable[[Row], dict[str, float] | None]:
    def scores(row: Row) -> dict[str, float] | None:
        if any(row[name] is None for name in names):
            return None
        return {name: row[name] for name in names}

    return scores


def _retrieval(rows: Sequence[Row], budgets: Sequence[str]) -> RetrievalSummary | None:
    """The order that the memory ranks in, and what its contexts hold at each budget."""
    if not any(row["evidence"] for row in rows):
        return None
    first = _of(rows, budgets[0])
    # A memory without an order of its own has nothing to be scored at five messages.
    parts = []
    if any(row[RANK_SCORES[0]] is not None for row in first):
        parts.append(_proportions(first, _named(RANK_SCORES)))
    for budget in budgets:
        part = _proportions(_of(rows, budget), _named(BUDGET_SCORES))
        parts.append(_renamed(part, budget))
    return _merged(parts)


def _renamed(part: RetrievalSummary, budget: str) -> RetrievalSummary:
    def group(each: RetrievalGroup) -> RetrievalGroup:
        return replace(
            each,
            means={name.replace("budget", budget): value for name, value in each.means.items()},
            intervals={
                name.replace("budget", budget): value for name, value in each.intervals.items()
            },
        )

    return RetrievalSummary(
        group(part.overall), {name: group(each) for name, each in part.by_category.items()}
    )


def _merged(parts: Sequence[RetrievalSummary]) -> RetrievalSummary:
    def merge(groups: Sequence[RetrievalGroup]) -> RetrievalGroup:
        means: dict[str, float] = {}
        intervals: dict[str, tuple[float, float] | None] = {}
        for group in groups:
            means |= group.means
            intervals |= group.intervals
        return replace(groups[0], means=means, intervals=intervals)

    return RetrievalSummary(
        merge([part.overall for part in parts]),
        {name: merge([part.by_category[name] for part in parts]) for name in parts[0].by_category},
    )


def _answers(rows: Sequence[Row]) -> RetrievalSummary:
    return _proportions(rows, _named(ANSWER_SCORES))


def _judged(rows: Sequence[Row], judgements: Sequence[Row]) -> dict[Judged, RetrievalSummary]:
    """Each judge and wording apart. A question without an answer is unscored there too."""
    at = {(row["chat"], row["id"], row["budget"]): row for row in rows}
    sets: dict[Judged, dict[tuple[str, str, str], Row]] = {}
    for each in judgements:
        key = (each["chat"], each["id"], each["budget"])
        sets.setdefault((each["budget"], each["judge"], _asked_with(each)), {})[key] = each
    found = {}
    for named, given in sets.items():
        joined = [
            row | {"right": given[key]["right"] if key in given else None}
            for key, row in at.items()
            if key[2] == named[0]
        ]
        found[named] = _proportions(joined, _named(("right",)))
    return found


def _asked_with(judgement: Row) -> str:
    """The wording, with its version where the prompts were not ours: they are other questions."""
    version = judgement["prompts"]
    wording = str(judgement["wording"])
    return wording if version == WORDING_VERSION else f"{wording}, prompts {version}"


def _proportions(
    rows: Sequence[Row], scores: Callable[[Row], dict[str, float] | None]
) -> RetrievalSummary:
    """Wilson's interval where a proportion was not drawn by chats, or is the same in all of
    them: it also holds at 0 and 1. A score that was only ever 0 or 1 is a proportion too: three
    wrong answers do not make an F1 of 0 certain."""
    found = _summary(rows, scores)

    def mended(group: RetrievalGroup, chosen: Sequence[Row]) -> RetrievalGroup:
        intervals = dict(group.intervals)
        for name, interval in group.intervals.items():
            drawn = group.drawn == "chats" and interval is not None and interval[0] < interval[1]
            if drawn:
                continue
            values = [given[name] for row in chosen if (given := scores(row)) is not None]
            if name.startswith(_BINARY) or set(values) <= {0.0, 1.0}:
                intervals[name] = wilson(values)
        return replace(group, intervals=intervals)

    return RetrievalSummary(
        mended(found.overall, rows),
        {
            name: mended(group, [row for row in rows if row["category"] == name])
            for name, group in found.by_category.items()
        },
    )


def _costs(rows: Sequence[Row], timings: Sequence[Row]) -> Costs:
    def total(name: str) -> int:
        return sum(row[name] + row[f"memory_{name}"] for row in rows)

    return Costs(
        len(rows),
        fmean(row["tokens"] for row in rows),
        fmean(row["words"] for row in rows),
        total("calls"),
        total("tokens_in"),
        total("tokens_out"),
        fmean(each["recall_ms"] for each in timings) if timings else None,
        fmean(each["reader_seconds"] for each in timings) if timings else None,
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the same questions: a test a score, and their p corrected by Holm.

    `corrected` takes questions as independent, `corrected_by_chat` chats: None where there are
    too few of them.
    """

    names: tuple[str, str]
    tests: Mapping[str, PairedTest]
    corrected: Mapping[str, float]
    corrected_by_chat: Mapping[str, float | None]
    left_out: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.names[0],
            "second": self.names[1],
            "scores": {
                name: {
                    **(told := test.to_json()),
                    "p_holm": self.corrected[name],
                    "left_out": self.left_out[name],
                    "by_chat": {**told["by_chat"], "p_holm": self.corrected_by_chat[name]},
                }
                for name, test in self.tests.items()
            },
        }


def compare_runs(
    first: Mapping[tuple[str, str], Mapping[str, float | None]],
    second: Mapping[tuple[str, str], Mapping[str, float | None]],
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Scores by (chat, question) of two runs, paired; see `question_scores`."""
    shared = [key for key in first if key in second]
    if not shared:
        raise RealtalkError("the two runs have no question in common")
    known = dict.fromkeys(name for key in shared for name in first[key] if name in second[key])
    tests: dict[str, PairedTest] = {}
    left_out: dict[str, int] = {}
    for name in known:
        pairs = [
            (key[0], one, other)
            for key in shared
            if (one := first[key].get(name)) is not None
            and (other := second[key].get(name)) is not None
        ]
        test = compare_paired(
            [one for _, one, _ in pairs],
            [other for _, _, other in pairs],
            [chat for chat, _, _ in pairs],
        )
        if test is not None:
            tests[name] = test
            left_out[name] = len(set(first) | set(second)) - len(pairs)
    if not tests:
        raise RealtalkError("the two runs have no score in common")
    corrected = holm([test.p for test in tests.values()])
    by_chat = holm([test.by_chat.p for test in tests.values()])
    return Comparison(
        names,
        tests,
        {name: p for name, p in zip(tests, corrected, strict=True) if p is not None},
        dict(zip(tests, by_chat, strict=True)),
        left_out,
    )


def refuse_other_questions(first: Iterable[Row], second: Iterable[Row]) -> None:
    """Raises where one id stands for two questions: answers to them cannot be paired."""
    known = {(row["chat"], row["id"]): (row["question"], row["gold"]) for row in first}
    for row in second:
        key = (row["chat"], row["id"])
        if key in known and known[key] != (row["question"], row["gold"]):
            raise RealtalkError(
                f"the runs ask different questions under '{key[1]}'",
                where=key[0],
                fix="compare runs over the same corpus",
            )


def question_scores(
    rows: Iterable[Row], judgements: Iterable[Row] = ()
) -> dict[tuple[str, str], dict[str, float | None]]:
    """Everything that a run of one budget says about each question, by (chat, question)."""
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for row in rows:
        names = (*ANSWER_SCORES, "any@5", "recall@20", "ndcg@10", "recall@budget", "all@budget")
        found[row["chat"], row["id"]] = {name: row[name] for name in names}
    for each in judgements:
        scores = found.get((each["chat"], each["id"]))
        if scores is not None:
            scores[f"{_asked_with(each)} by {each['judge']}"] = each["right"]
    return found
