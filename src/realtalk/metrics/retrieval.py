"""Was the evidence found: recall at k messages and at budgets, and nDCG@10, without any model.

    score = score_ranking(["D1:4", "D1:2", "D3:9"], {"D1:2", "D9:9"}, words={"D1:4": 12, ...})
    → {"any@5": 1.0, "all@5": 0.0, "recall@5": 0.5, ..., "ndcg@10": 0.39, "recall@500w": 0.5, ...}

`any` is one piece of evidence found, `all` every piece, `recall` the part of them. A budget of
words ("w") or tokens ("t") is filled in rank order until the next message does not fit, and
stops there: what is ranked behind it is not seen, even if it is short. A question without
evidence has no score.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import Array

MESSAGES = (5, 10, 20, 50)
NDCG_AT = 10
WORD_BUDGETS = (500, 1000, 2000)
TOKEN_BUDGETS = (1000, 2000, 4000, 8000)
_DISCOUNTS = tuple(1 / math.log2(rank + 2) for rank in range(NDCG_AT))

Scores: TypeAlias = dict[str, float]


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
