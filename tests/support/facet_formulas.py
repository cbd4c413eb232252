"""The formulas of §4.3 a second time, in plain Python, turn by turn."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from itertools import pairwise
from typing import Any

from scipy import stats

Row = dict[str, Any]


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def entropy(labels: list[str]) -> float | None:
    return float(stats.entropy([*Counter(labels).values()], base=2)) if labels else None


def stability(own: list[Row], name: str, across: bool) -> float | None:
    hits = []
    for before, now in pairwise(own):
        if not across and before["session"] != now["session"]:
            continue
        if before[name] is not None and now[name] is not None:
            hits.append(float(before[name] == now[name]))
    return mean(hits)


def answered(rows: list[Row], who: str, name: str, over_turns: bool = False) -> float | None:
    """Divided by the pairs, or by all turns as §4.3 writes; never without any pair."""
    hits = []
    alone = 0
    for place, row in enumerate(rows):
        if row["speaker"] != who:
            continue
        partner = None
        for other in rows[:place]:
            if other["session"] == row["session"] and other["speaker"] != who:
                partner = other
        if partner is None:
            alone += over_turns and row[name] is not None
        elif partner[name] is not None and row[name] is not None:
            hits.append(float(partner[name] == row[name]))
    return sum(hits) / (len(hits) + alone) if hits else None


def directly(rows: list[Row], who: str, name: str) -> float | None:
    """As the paper's released code: only with the message before, if it is another's."""
    hits = []
    for before, row in pairwise(rows):
        answers = row["speaker"] == who != before["speaker"]
        known = before[name] is not None and row[name] is not None
        if answers and known and row["session"] == before["session"]:
            hits.append(float(before[name] == row[name]))
    return mean(hits)


def course(own: list[Row]) -> tuple[list[float], list[float]]:
    x, y = [], []
    for order, session in enumerate(dict.fromkeys(row["session"] for row in own), 1):
        value = mean(
            [
                row["intimacy"]
                for row in own
                if row["session"] == session and row["intimacy"] is not None
            ]
        )
        if value is not None:
            x.append(float(order))
            y.append(value)
    return x, y


def slope(x: list[float], y: list[float]) -> float | None:
    return float(stats.linregress(x, y).slope) if len(x) > 1 else None


def exponential_cost(x: list[float], y: list[float], b: float) -> float:
    """What is left of y by the best curve a·e^(b·x) with this b."""
    middle = sum(x) / len(x)
    power = [math.exp(b * (each - middle)) for each in x]
    a = sum(p * v for p, v in zip(power, y, strict=True)) / sum(p * p for p in power)
    return sum((v - a * p) ** 2 for p, v in zip(power, y, strict=True))


def facets(
    rows: list[Row],
    who: str,
    released: bool = False,
    over_turns: bool = False,
) -> dict[str, float | None]:
    """Ten of the eleven facets of one speaker in one chat; rows are in order."""
    own = [row for row in rows if row["speaker"] == who]

    def known(name: str) -> list[Any]:
        return [row[name] for row in own if row[name] is not None]

    align = directly if released else partial(answered, over_turns=over_turns)
    across = not released
    return {
        "reflective_frequency": mean(known("reflective")),
        "emotion_diversity": entropy(known("emotion")),
        "sentiment_diversity": entropy(known("sentiment")),
        "grounding_frequency": mean(known("grounding")),
        "empathy": mean(known("empathy")),
        "intimacy_linear": slope(*course(own)),
        "sentiment_stability": stability(own, "sentiment", across),
        "emotion_stability": stability(own, "emotion", across),
        "sentiment_alignment": align(rows, who, "sentiment"),
        "emotion_alignment": align(rows, who, "emotion"),
    }
