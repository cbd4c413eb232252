"""Two simulators on the same turns → what differs, by how much, and whether beyond chance.

    found = compare(untuned_rows, untuned, tuned_rows, tuned)
    found.changes["empathy"]
    → Change(n=1930, groups=10, first=1.8, second=1.2, difference=Estimate(-0.6, -0.7, -0.5, …),
             relative=…, p=0.004, p_holm=0.02)
    found.better["empathy"]         → (9, 1)
    found.gain_and_consistency      → Estimate(value=-0.31, low=-0.79, high=0.39, n=10)

Only turns that both have scored count, and every speaker counts the same. Intervals draw whole
speakers and the test swaps the two sides of whole speakers; of fewer than five speakers it is
their turns. Holm's correction is within a family: content, the paper's six EI scores, and what
goes beyond the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from realtalk.ei.languages import Languages, languages_json
from realtalk.evals import comparing
from realtalk.evals.estimating import paired_lines
from realtalk.evals.values import Row, Score
from realtalk.metrics.statistics import Estimate, pearson
from realtalk.persona.rows import SCORES, WHOLE
from realtalk.persona.summaries import Simulation

# What has a better side.
COMPARED: tuple[Score, ...] = tuple(
    score for score in (*SCORES.values(), *WHOLE.values()) if score.better
)
_TINY = 1e-9  # a spread or a change that is only rounding


@dataclass(frozen=True, kw_only=True)
class SpeakersCompared(comparing.Compared):
    """Every score tested, and the gain of each speaker over the six EI scores."""

    better: Mapping[str, tuple[int, int]]  # speakers for whom the second side is better, is worse
    gains: Mapping[str, float]  # in standard deviations of the first side's scores
    gain_and_consistency: Estimate
    languages: tuple[tuple[Languages, ...], tuple[Languages, ...]]  # of either side

    def to_json(self) -> dict[str, Any]:
        first, second = (languages_json(each) for each in self.languages)
        return {**asdict(self), "languages": {"first": first, "second": second}}


def compare(
    first_rows: Sequence[Row], first: Simulation, second_rows: Sequence[Row], second: Simulation
) -> SpeakersCompared:
    """Tests every score that both sides have."""
    names = (first.name, second.name)
    found = comparing.compare(first_rows, second_rows, COMPARED, names, what="turn")
    pairs = comparing.matched(first_rows, second_rows)
    better: dict[str, tuple[int, int]] = {}
    gains: dict[str, list[float]] = {}
    for score in COMPARED:
        changes, spread = _of_speakers(pairs, score)
        if not changes:
            continue
        toward = np.array([score.better * change for change in changes.values()])
        better[score.name] = (int((toward > _TINY).sum()), int((toward < -_TINY).sum()))
        if score.family == "EI":
            for who, change in changes.items():
                gain = score.better * change / spread if spread > _TINY else 0.0
                gains.setdefault(who, []).append(gain)
    mean_gain = {who: float(np.mean(changes)) for who, changes in gains.items()}
    consistency = [first.speakers[who].consistency for who in mean_gain]
    return SpeakersCompared(
        names=names,
        changes={name: found.changes[name] for name in better},
        strict={},
        alone=found.alone,
        better=better,
        gains=mean_gain,
        gain_and_consistency=pearson(list(mean_gain.values()), consistency),
        languages=(first.languages, second.languages),
    )


def _of_speakers(pairs: Sequence[tuple[Row, Row]], score: Score) -> tuple[dict[str, float], float]:
    """What changes for each speaker, and how far single turns of the first side spread."""
    assert score.parts is not None
    before, after = [one for one, _ in pairs], [other for _, other in pairs]
    one, other, groups = paired_lines(before, after, score.parts)
    changes: dict[str, float] = {}
    for who, line in zip(groups, other - one, strict=True):
        changes[who] = changes.get(who, 0.0) + float(line[0])
    spread = float(np.std(one[:, 0] / one[:, 1])) if len(one) else 0.0
    return changes, spread
