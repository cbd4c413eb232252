"""Two simulators on the same turns → what differs, by how much, and whether beyond chance.

    found = compare(untuned_rows, untuned, tuned_rows, tuned)
    found.tests["empathy"]
    → PersonaTest(turns=1930, speakers=10, first=1.8, second=1.2, difference=-0.6, low=-0.7,
                  high=-0.5, better=9, worse=1, p_turns=0.0002, p_speakers=0.004, …)
    found.gain_and_consistency      → Estimate(value=-0.31, low=-0.79, high=0.39, n=10)

Only turns that both have scored count. Two tests: Wilcoxon's signed ranks over speakers, which
asks whether it would hold for other people, and a bootstrap that draws turns within speakers,
which asks whether it would hold for other turns of these. Both are corrected by Holm within a
family: content, the paper's six EI scores, and what goes beyond the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from realtalk.ei.languages import Languages, languages_json
from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import (
    SEED,
    Array,
    Estimate,
    holm,
    pearson,
    percentile_interval,
)
from realtalk.persona.rows import SCORES, Row
from realtalk.persona.summaries import BEYOND, Simulation, label_score, labelled_by

__all__ = ["Compared", "PersonaTest", "compare"]

_DRAWS = 10_000
_AT_ONCE = 1 << 22  # numbers drawn at a time
_TINY = 1e-9  # a spread that is only rounding
_FEWEST_SPEAKERS = 5  # with fewer the signed ranks cannot reach .05


@dataclass(frozen=True, slots=True)
class PersonaTest:
    """The second side against the first. `better` and `worse` count speakers."""

    family: str
    turns: int
    speakers: int
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    better: int
    worse: int
    p_turns: float | None
    p_speakers: float | None
    p_turns_holm: float | None = None
    p_speakers_holm: float | None = None


@dataclass(frozen=True)
class Compared:
    """Every score tested, and the gain of each speaker over the six EI scores."""

    names: tuple[str, str]
    tests: Mapping[str, PersonaTest]
    gains: Mapping[str, float]  # in standard deviations of the first side's scores
    gain_and_consistency: Estimate
    languages: tuple[tuple[Languages, ...], tuple[Languages, ...]] = ((), ())  # of either side

    def to_json(self) -> dict[str, Any]:
        return {
            "names": list(self.names),
            "languages": dict(
                zip(("first", "second"), map(languages_json, self.languages), strict=True)
            ),
            "tests": {name: asdict(test) for name, test in self.tests.items()},
            "gains": dict(self.gains),
            "gain_and_consistency": self.gain_and_consistency.to_json(),
        }


def compare(
    first_rows: Sequence[Row], first: Simulation, second_rows: Sequence[Row], second: Simulation
) -> Compared:
    """Tests every score that both sides have."""
    pairs = _pairs(first_rows, second_rows)
    if not pairs:
        raise RealtalkError(
            f"{first.name} and {second.name} share no turn",
            fix="compare runs on the same corpus and choice of chats",
        )
    tests: dict[str, PersonaTest] = {}
    gains: dict[str, list[float]] = {}
    for name, kind in SCORES.items():
        if not kind.better:
            continue
        known = {
            who: [(a[name], b[name]) for a, b in both if None not in (a[name], b[name])]
            for who, both in pairs.items()
        }
        known = {who: both for who, both in known.items() if both}
        if not known:
            continue
        tests[name] = _of_turns(kind.family, kind.better, known)
        if kind.family == "EI":
            spread = float(np.std([a for both in known.values() for a, _ in both]))
            for who, both in known.items():
                change = kind.better * float(np.mean([b - a for a, b in both]))
                gains.setdefault(who, []).append(change / spread if spread > _TINY else 0.0)
    for name, better in BEYOND.items():
        turns, told = 0, []
        for both in pairs.values():
            shared = [pair for pair in both if _labelled(pair, labelled_by(name))]
            a, b = (
                (label_score(name, side).value for side in zip(*shared, strict=True))
                if shared
                else (None, None)
            )
            if a is not None and b is not None:
                turns += len(shared)
                told.append((a, b))
        if told:
            tests[name] = _of_speakers(better, told, turns)
    mean_gain = {who: float(np.mean(changes)) for who, changes in gains.items()}
    return Compared(
        (first.name, second.name),
        _corrected(tests),
        mean_gain,
        pearson(list(mean_gain.values()), [first.speakers[who].consistency for who in mean_gain]),
        (first.languages, second.languages),
    )


def _pairs(first: Sequence[Row], second: Sequence[Row]) -> dict[str, list[tuple[Row, Row]]]:
    other = {(row["speaker"], row["id"]): row for row in second}
    found: dict[str, list[tuple[Row, Row]]] = {}
    for row in first:
        match = other.get((row["speaker"], row["id"]))
        if match is not None:
            found.setdefault(row["speaker"], []).append((row, match))
    return found


def _labelled(pair: tuple[Row, Row], measure: str) -> bool:
    """Whether the turn has this label on both sides: a figure over other turns is another one."""
    return all(
        row[f"{measure}_{which}"] is not None for row in pair for which in ("truth", "simulated")
    )


def _of_turns(
    family: str, better: int, known: Mapping[str, Sequence[tuple[float, float]]]
) -> PersonaTest:
    rng = np.random.default_rng(SEED)
    sides = [
        np.array([np.mean([pair[side] for pair in both]) for both in known.values()], np.float64)
        for side in (0, 1)
    ]
    draws = np.zeros(_DRAWS)
    for both in known.values():
        draws += _drawn(np.array([b - a for a, b in both], np.float64), rng)
    draws /= len(known)
    made = _of_pairs(family, better, sides[0], sides[1], sum(map(len, known.values())))
    low, high = percentile_interval(draws) or (None, None)
    below, above = int((draws <= 0).sum()), int((draws >= 0).sum())
    p = min(1.0, 2 * (min(below, above) + 1) / (_DRAWS + 1))
    return replace(made, low=low, high=high, p_turns=p)


def _drawn(change: Array, rng: np.random.Generator) -> Array:
    """The mean change in resamples of one speaker's turns."""
    n = change.size
    found = np.empty(_DRAWS)
    step = max(1, _AT_ONCE // n)
    for start in range(0, _DRAWS, step):
        stop = min(start + step, _DRAWS)
        found[start:stop] = change[rng.integers(0, n, (stop - start, n))].mean(axis=1)
    return found


def _of_speakers(better: int, told: Sequence[tuple[float, float]], turns: int) -> PersonaTest:
    """A figure that only a speaker as a whole has: the interval draws speakers."""
    a, b = (np.array([pair[side] for pair in told], np.float64) for side in (0, 1))
    made = _of_pairs("beyond", better, a, b, turns)
    if a.size < 2:
        return made
    draws = _drawn(b - a, np.random.default_rng(SEED))
    low, high = percentile_interval(draws) or (None, None)
    return replace(made, low=low, high=high)


def _of_pairs(family: str, better: int, a: Array, b: Array, turns: int) -> PersonaTest:
    from scipy import stats

    change = b - a
    p: float | None = None
    if a.size >= _FEWEST_SPEAKERS:
        # Exact where it can be; without any change there is nothing to rank.
        p = float(stats.wilcoxon(change).pvalue) if np.any(change != 0) else 1.0
    return PersonaTest(
        family,
        turns,
        a.size,
        float(a.mean()),
        float(b.mean()),
        float(change.mean()),
        None,
        None,
        int((better * change > 0).sum()),
        int((better * change < 0).sum()),
        None,
        p,
    )


def _corrected(tests: Mapping[str, PersonaTest]) -> dict[str, PersonaTest]:
    made = dict(tests)
    for family in dict.fromkeys(test.family for test in tests.values()):
        names = [name for name, test in tests.items() if test.family == family]
        turns = holm([tests[name].p_turns for name in names])
        speakers = holm([tests[name].p_speakers for name in names])
        for name, p_turns, p_speakers in zip(names, turns, speakers, strict=True):
            made[name] = replace(made[name], p_turns_holm=p_turns, p_speakers_holm=p_speakers)
    return made
