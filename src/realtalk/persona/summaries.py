"""Rows of scores → figures per speaker and on average over speakers, each with its interval.

    found = summarise("retrieve", rows, facts)
    found.speakers["Mara"].scores["empathy"]   → Estimate(value=1.02, low=0.9, high=1.15, n=123)
    found.averages["empathy"]                  → Average(mean=1.02, sd=0.11, low=…, high=…, n=10)

An average is over the speakers' own means, as Table 2 is made from Table 8: everybody counts the
same however much they wrote. Its standard deviation is over speakers, its interval draws
speakers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from realtalk.ei.languages import Languages, languages_json, merged
from realtalk.evals.averaging import Average, average
from realtalk.evals.values import Row
from realtalk.metrics.statistics import Estimate, bootstrap_interval, wilson
from realtalk.persona.rows import AGREEMENTS, SCORES, WHOLE, label_score

_FACTS = ("distinct_1", "distinct_1_truth", "distinct_2", "distinct_2_truth")
_SKEWED = frozenset({"length_ratio"})  # one long answer to a short turn would outweigh all
_BINARY = frozenset({*AGREEMENTS, "taken_for"})


@dataclass(frozen=True, slots=True)
class SpeakerScores:
    """One speaker: the mean of every score, and what only all turns together can tell.

    Of length ratios it is the median.
    """

    speaker: str
    learn: str
    test: str
    turns: int
    unscored: Mapping[str, int]  # reason → turns
    scores: Mapping[str, Estimate]  # SCORES, then WHOLE
    distinct: Mapping[str, float | None]
    ceiling: Estimate
    floor: Estimate
    consistency: float | None
    tokens_in: int
    tokens_out: int
    # Of the person's own turns in the tested chat.
    languages: Languages = field(default_factory=lambda: Languages("", "", {}))
    untold: Mapping[str, int] = field(default_factory=dict)  # turns without a truth, by reason

    @property
    def scored(self) -> int:
        return self.turns - sum(self.unscored.values()) - sum(self.untold.values())


@dataclass(frozen=True)
class Simulation:
    """What one simulator got from everybody."""

    name: str
    speakers: Mapping[str, SpeakerScores]
    averages: Mapping[str, Average]

    @property
    def turns(self) -> int:
        return sum(each.turns for each in self.speakers.values())

    @property
    def scored(self) -> int:
        return sum(each.scored for each in self.speakers.values())

    @property
    def languages(self) -> tuple[Languages, ...]:
        """Of the tested chats: their EI is labelled by a model that may know English alone."""
        return merged(each.languages for each in self.speakers.values())

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "languages": languages_json(self.languages),
            "turns": self.turns,
            "scored": self.scored,
            "averages": {name: asdict(each) for name, each in self.averages.items()},
            "speakers": {name: asdict(each) for name, each in self.speakers.items()},
        }


def summarise(name: str, rows: Sequence[Row], facts: Sequence[Row]) -> Simulation:
    """Every speaker who has rows, in the order of the facts."""
    by_speaker: dict[str, list[Row]] = {}
    for row in rows:
        by_speaker.setdefault(row["group"], []).append(row)
    known = {each["group"]: each for each in facts if each["group"] in by_speaker}
    speakers = {who: _speaker(by_speaker[who], fact) for who, fact in known.items()}
    averages = {
        score: average(each.scores[score].value for each in speakers.values())
        for score in (*SCORES, *WHOLE)
    }
    for fact in _FACTS:
        averages[fact] = average(each.distinct[fact] for each in speakers.values())
    for end in ("ceiling", "floor"):
        averages[end] = average(getattr(each, end).value for each in speakers.values())
    return Simulation(name, speakers, averages)


def _speaker(rows: Sequence[Row], fact: Row) -> SpeakerScores:
    told = [row for row in rows if row["untold"] is None]
    unscored = Counter(row["unscored"] for row in told if row["unscored"] is not None)
    untold = Counter(row["untold"] for row in rows if row["untold"] is not None)
    scores = {name: _mean(name, rows) for name in SCORES}
    scores |= {title: label_score(title, rows) for title in WHOLE}
    return SpeakerScores(
        speaker=fact["group"],
        learn=fact["learn"],
        test=fact["test"],
        turns=len(rows),
        unscored=dict(unscored),
        untold=dict(untold),
        scores=scores,
        distinct={name: fact[name] for name in _FACTS},
        ceiling=Estimate(**fact["ceiling"]),
        floor=Estimate(**fact["floor"]),
        consistency=fact["consistency"],
        tokens_in=sum(row["tokens_in"] for row in rows),
        tokens_out=sum(row["tokens_out"] for row in rows),
        languages=Languages(
            fact["test"],
            fact.get("measure") or "embedded",  # runs of 0.1.0 knew no other
            {each["language"]: each["turns"] for each in fact.get("by_language") or ()},
            fact.get("version") or "",
        ),
    )


def _mean(name: str, rows: Sequence[Row]) -> Estimate:
    known = [row[name] for row in rows if row[name] is not None]
    left_out = len(rows) - len(known)
    if not known:
        return Estimate(None, left_out=left_out, unscored="no turn has this score")
    middle = np.median if name in _SKEWED else np.mean
    if name in _BINARY:
        low, high = wilson(known) or (None, None)
    else:
        low, high = bootstrap_interval((known,), middle) or (None, None)
    return Estimate(float(middle(known)), low, high, len(known), left_out)
