"""Rows of scores → figures a speaker and on average over speakers, each with its interval.

    found = summarise("retrieve", rows, facts)
    found.speakers["Mara"].scores["empathy"]   → Estimate(value=1.02, low=0.9, high=1.15, n=123)
    found.averages["empathy"]                  → Average(mean=1.02, sd=0.11, low=…, high=…, n=10)

An average is over the speakers' own means, as Table 2 is made from Table 8: everybody counts the
same however much they wrote. Its standard deviation is over speakers, its interval draws
speakers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from realtalk.ei.languages import Languages, languages_json, merged
from realtalk.metrics.distributions import jensen_shannon
from realtalk.metrics.paired import wilson
from realtalk.metrics.statistics import Estimate, bootstrap_interval, cohen_kappa
from realtalk.persona.rows import AGREEMENTS, SCORES, Row

__all__ = [
    "BEYOND",
    "Average",
    "Simulation",
    "SpeakerScores",
    "average",
    "label_score",
    "labelled_by",
    "summarise",
]

_KAPPAS = {f"kappa_{name}": name for name in AGREEMENTS}
_DISTANCES = {f"js_{name}": name for name in ("emotion", "sentiment")}
_FACTS = ("distinct_1", "distinct_1_truth", "distinct_2", "distinct_2_truth")
# Figures of a speaker as a whole, and which way is better.
BEYOND: Mapping[str, int] = {**dict.fromkeys(_KAPPAS, 1), **dict.fromkeys(_DISTANCES, -1)}
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
    scores: Mapping[str, Estimate]  # SCORES, then BEYOND
    distinct: Mapping[str, float | None]
    ceiling: Estimate
    floor: Estimate
    consistency: float | None
    tokens_in: int
    tokens_out: int
    # Of the person's own turns in the tested chat.
    languages: Languages = field(default_factory=lambda: Languages("", "", {}))

    @property
    def scored(self) -> int:
        return self.turns - sum(self.unscored.values())


@dataclass(frozen=True, slots=True)
class Average:
    """Over speakers; `n` of them. Without an interval where there is one speaker."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n: int


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
        by_speaker.setdefault(row["speaker"], []).append(row)
    known = {each["speaker"]: each for each in facts if each["speaker"] in by_speaker}
    speakers = {who: _speaker(by_speaker[who], fact) for who, fact in known.items()}
    averages = {
        score: average(each.scores[score].value for each in speakers.values())
        for score in (*SCORES, *BEYOND)
    }
    for fact in _FACTS:
        averages[fact] = average(each.distinct[fact] for each in speakers.values())
    for end in ("ceiling", "floor"):
        averages[end] = average(getattr(each, end).value for each in speakers.values())
    return Simulation(name, speakers, averages)


def average(values: Iterable[float | None]) -> Average:
    """The mean over speakers; those without a figure do not count."""
    known = [value for value in values if value is not None]
    if not known:
        return Average(None, None, None, None, 0)
    mean = float(np.mean(known))
    if len(known) < 2:
        return Average(mean, None, None, None, len(known))
    low, high = bootstrap_interval((known,), np.mean) or (None, None)
    return Average(mean, float(np.std(known, ddof=1)), low, high, len(known))


def _speaker(rows: Sequence[Row], fact: Row) -> SpeakerScores:
    unscored: dict[str, int] = {}
    for row in rows:
        if row["unscored"] is not None:
            unscored[row["unscored"]] = unscored.get(row["unscored"], 0) + 1
    scores = {name: _mean(name, rows) for name in SCORES}
    scores |= {title: label_score(title, rows) for title in BEYOND}
    return SpeakerScores(
        speaker=fact["speaker"],
        learn=fact["learn"],
        test=fact["test"],
        turns=len(rows),
        unscored=unscored,
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
        ),
    )


def labelled_by(title: str) -> str:
    """The measure whose labels a figure of BEYOND is made from."""
    return _KAPPAS.get(title) or _DISTANCES[title]


def label_score(title: str, rows: Sequence[Row]) -> Estimate:
    """A figure of BEYOND over the turns that have both labels; the others are counted."""
    name = labelled_by(title)
    truth, said = ([row[f"{name}_{side}"] for row in rows] for side in ("truth", "simulated"))
    if title in _KAPPAS:
        return cohen_kappa(truth, said)
    # Only turns that have both: the two sides are to differ by the writer alone.
    both = [pair for pair in zip(truth, said, strict=True) if None not in pair]
    found = jensen_shannon([one for one, _ in both], [other for _, other in both])
    return replace(found, n=len(both), left_out=len(rows) - len(both))


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
