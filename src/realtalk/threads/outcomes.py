"""Solved samples → what became of a person's replies before a moment.

    known = Outcomes(train)
    known.before("mara", time)      → (Outcome(time, "phew", 2.0), …), oldest first
    known.median, known.mean_log    → over everybody, for those of whom nothing is known

Only replies written strictly before the moment count: also for the train part itself, where a
reply's own outcome must not tell about it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.sums import signed_log
from realtalk.threads.values import Case


@dataclass(frozen=True, slots=True)
class Outcome:
    """A reply and its score."""

    time: datetime
    text: str
    score: float


class Outcomes:
    """By person and time. Replies without a score are not in it."""

    def __init__(self, samples: Iterable[Case]) -> None:
        found: dict[str, list[Outcome]] = {}
        texts: Counter[str] = Counter()
        for sample in samples:
            target = sample.target
            texts[target.text.strip()] += 1
            if target.score is not None:
                made = Outcome(target.time, target.text, float(target.score))
                found.setdefault(target.user, []).append(made)
        for replies in found.values():
            replies.sort(key=lambda each: (each.time, each.text))
        self._by_person = found
        self._times = {who: [each.time for each in kept] for who, kept in found.items()}
        self.scores = np.array([each.score for kept in found.values() for each in kept])
        del texts[""]
        self.commonest = min(texts, key=lambda text: (-texts[text], text)) if texts else None

    def need_scores(self) -> None:
        """Raises where there is nothing to learn an outcome from."""
        if not self.scores.size:
            raise RealtalkError(
                "no reply of the train part has a score", fix="predict next_text, or more data"
            )

    @cached_property
    def median(self) -> float:
        return float(np.median(self.scores))

    @cached_property
    def mean(self) -> float:
        return float(self.scores.mean())

    @cached_property
    def mean_log(self) -> float:
        return float(signed_log(self.scores).mean())

    @cached_property
    def positive(self) -> float:
        """The share of scores above 0."""
        return float((self.scores > 0).mean())

    def before(self, person: str | None, moment: datetime) -> Sequence[Outcome]:
        """What the person wrote before that moment, with its outcome, oldest first."""
        if person is None or person not in self._by_person:
            return ()
        return self._by_person[person][: bisect_left(self._times[person], moment)]
