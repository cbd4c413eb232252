"""Was the evidence found: recall at k messages and at budgets, and nDCG@10, without any model.

    score = score_ranking(["D1:4", "D1:2", "D3:9"], {"D1:2", "D9:9"}, words={"D1:4": 12, ...})
    → {"any@5": 1.0, "all@5": 0.0, "recall@5": 0.5, ..., "ndcg@10": 0.39, "recall@500w": 0.5, ...}
    summarise([QuestionRetrieval("q1", "Chat_1", "temporal", score), ...]).to_json()
    → {"n": 706, "any@5": 0.76, "intervals": {"any@5": [0.72, 0.80]}, "by_category": {...}}

`any` is one piece of evidence found, `all` every piece, `recall` the part of them. A budget of
words ("w") or tokens ("t") is filled in rank order until the next message does not fit, and
stops there: what is ranked behind it is not seen, even if it is short. A question without
evidence has no score and is counted apart. Intervals are 95 % bootstrap intervals: whole chats
are drawn where there are enough of them, as questions of one chat are alike, else questions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.grouped import FEWEST_GROUPS, Figure, grouped_estimates, ratio
from realtalk.metrics.statistics import Array, Interval

__all__ = [
    "MESSAGES",
    "NDCG_AT",
    "TOKEN_BUDGETS",
    "WORD_BUDGETS",
    "QuestionRetrieval",
    "RetrievalGroup",
    "RetrievalSummary",
    "score_ranking",
    "summarise",
]

MESSAGES = (5, 10, 20, 50)
NDCG_AT = 10
WORD_BUDGETS = (500, 1000, 2000)
TOKEN_BUDGETS = (1000, 2000, 4000, 8000)
_DISCOUNTS = tuple(1 / math.log2(rank + 2) for rank in range(NDCG_AT))

Scores: TypeAlias = dict[str, float]


@dataclass(frozen=True, slots=True)
class QuestionRetrieval:
    """One question's scores; None where it has no evidence to find."""

    question: str
    chat: str
    category: str
    scores: Scores | None


@dataclass(frozen=True, slots=True)
class RetrievalGroup:
    """Means over `n` questions with their intervals; `unscored` had no evidence."""

    n: int
    unscored: int
    means: Mapping[str, float]
    intervals: Mapping[str, Interval | None]
    drawn: Literal["chats", "questions"]

    def to_json(self) -> dict[str, Any]:
        """The means under their own names, which is what tables and checks look up."""
        return {
            "n": self.n,
            "unscored": self.unscored,
            **self.means,
            "intervals": {
                name: None if interval is None else list(interval)
                for name, interval in self.intervals.items()
            },
            "intervals_over": self.drawn,
        }


@dataclass(frozen=True, slots=True)
class RetrievalSummary:
    """All questions together, and each category."""

    overall: RetrievalGroup
    by_category: Mapping[str, RetrievalGroup] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            **self.overall.to_json(),
            "by_category": {name: group.to_json() for name, group in self.by_category.items()},
        }


def score_ranking(
    ranked: Sequence[str],
    evidence: Collection[str],
    *,
    words: Mapping[str, int] | None = None,
    tokens: Mapping[str, int] | None = None,
    messages: Sequence[int] = MESSAGES,
    word_budgets: Sequence[int] = WORD_BUDGETS,
    token_budgets: Sequence[int] = TOKEN_BUDGETS,
) -> Scores | None:
    """The scores of one question's ranking, best first; None without evidence.

    `words` and `tokens` are what each ranked message costs; without them there are no scores
    at such budgets. A message that is ranked twice counts where it stands first. A ranking may
    be shorter than k: what it leaves out is not found.
    """
    wanted = set(evidence)
    if not wanted:
        return None
    order = list(dict.fromkeys(ranked))
    places = [place for place, message in enumerate(order) if message in wanted]
    scores: Scores = {}
    for k in messages:
        _found(scores, f"{k}", places, k, len(wanted))
    gain = sum(_DISCOUNTS[place] for place in places if place < NDCG_AT)
    scores[f"ndcg@{NDCG_AT}"] = gain / sum(_DISCOUNTS[: len(wanted)])
    for costs, budgets, unit in ((words, word_budgets, "w"), (tokens, token_budgets, "t")):
        if costs is not None and budgets:
            spent = _spent(order, costs, max(budgets))
            for budget in budgets:
                fitting = int(np.searchsorted(spent, budget, side="right"))
                _found(scores, f"{budget}{unit}", places, fitting, len(wanted))
    return scores


def _found(scores: Scores, at: str, places: Sequence[int], first: int, wanted: int) -> None:
    hits = sum(place < first for place in places)
    scores[f"any@{at}"] = float(hits > 0)
    scores[f"all@{at}"] = float(hits == wanted)
    scores[f"recall@{at}"] = hits / wanted


def _spent(order: Sequence[str], costs: Mapping[str, int], largest: int) -> Array:
    """What the first 1, 2, 3 … messages cost together, as far as the largest budget goes."""
    spent: list[int] = []
    total = 0
    for message in order:
        cost = costs.get(message)
        if cost is None:
            raise RealtalkError("a ranked message has no cost", where=message)
        if cost < 0:
            raise RealtalkError("a message cannot cost less than nothing", where=message)
        total += cost
        spent.append(total)
        if total > largest:  # what lies behind every budget is not counted
            break
    return np.asarray(spent, dtype=np.float64)


def summarise(rows: Sequence[QuestionRetrieval]) -> RetrievalSummary:
    """Means and intervals overall and by category, categories in their order of appearance."""
    categories = dict.fromkeys(row.category for row in rows)
    return RetrievalSummary(
        _group(rows),
        {name: _group([row for row in rows if row.category == name]) for name in categories},
    )


def _group(rows: Sequence[QuestionRetrieval]) -> RetrievalGroup:
    scored = [(row.chat, row.scores) for row in rows if row.scores is not None]
    unscored = len(rows) - len(scored)
    if not scored:
        return RetrievalGroup(0, unscored, {}, {}, "questions")
    chats = [chat for chat, _ in scored]
    names = list(scored[0][1])
    if any(list(scores) != names for _, scores in scored):
        raise RealtalkError("questions were scored at different budgets", fix="score them alike")
    parts = np.array([[*scores.values(), 1.0] for _, scores in scored])
    figures = {name: _mean(place) for place, name in enumerate(names)}
    means: dict[str, float] = {}
    intervals: dict[str, Interval | None] = {}
    for name, estimate in grouped_estimates(parts, chats, figures).items():
        assert estimate.value is not None  # a score is a number
        means[name] = estimate.value
        intervals[name] = None
        if estimate.low is not None and estimate.high is not None:
            intervals[name] = estimate.low, estimate.high
    drawn: Literal["chats", "questions"] = (
        "chats" if len(set(chats)) >= FEWEST_GROUPS else "questions"
    )
    return RetrievalGroup(len(scored), unscored, means, intervals, drawn)


def _mean(place: int) -> Figure:
    """The mean of one score: its sum by the last one, which counts questions."""
    return lambda sums: ratio(sums[..., [place, -1]])
