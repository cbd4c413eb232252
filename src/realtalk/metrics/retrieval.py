"""Was the evidence found: recall at k messages and nDCG@10, without any model.

    score_ranking(["D1:4", "D1:2", "D3:9"], {"D1:2", "D9:9"})
    → {"any@5": 1.0, "all@5": 0.0, "recall@5": 0.5, ..., "ndcg@10": 0.39}

`any` is one piece of evidence found, `all` every piece, `recall` the part of them. A question
without evidence has no score.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

MESSAGES = (5, 10, 20, 50)
NDCG_AT = 10
_DISCOUNTS = tuple(1 / math.log2(rank + 2) for rank in range(NDCG_AT))


def score_ranking(ranked: Sequence[str], evidence: Collection[str]) -> dict[str, float]:
    """The scores of one question's ranking, best first; none without evidence.

    A message that is ranked twice counts where it stands first. A ranking may be shorter than k:
    what it leaves out is not found.
    """
    relevant = set(evidence)
    if not relevant:
        return {}
    places = [place for place, message in enumerate(dict.fromkeys(ranked)) if message in relevant]
    scores: dict[str, float] = {}
    for k in MESSAGES:
        scores |= found_among(f"{k}", sum(place < k for place in places), len(relevant))
    gain = sum(_DISCOUNTS[place] for place in places if place < NDCG_AT)
    return {**scores, f"ndcg@{NDCG_AT}": gain / sum(_DISCOUNTS[: len(relevant)])}


def found_among(at: str, hits: int, wanted: int) -> dict[str, float]:
    """How much of the evidence is among the first messages, or in the context."""
    shares = {"any": float(hits > 0), "all": float(hits == wanted), "recall": hits / wanted}
    return {f"{name}@{at}": share for name, share in shares.items()}
