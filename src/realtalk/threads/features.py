"""A sample → numbers that a regression can use, from what the sample shows and nothing else.

    counts(sample, known)    → float64 [31]: words, questions, …, minutes since the parent
    texts(sample)            → ("phew", "the reply that it answers", "the post's title")

Counts are of the reply's own text, of the conversation where it is shown, and of the person whose
history is shown: how their earlier replies of the train part fared. Where the history is another
person's, so are these. The moment of writing is known in every setting.

Solved samples → what became of a person's replies before a moment.

    known = Outcomes(train)
    known.before(sample)            → [Outcome(time, "phew", 2.0), …], oldest first
    known.median, known.mean_log    → over everybody, for those of whom nothing is known

Only replies written strictly before the moment count: also for the train part itself, where a
reply's own outcome must not tell about it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import Array
from realtalk.metrics.sums import signed_log
from realtalk.threads.predictors import person_shown
from realtalk.threads.values import Case, ShownEntry


class Outcome(NamedTuple):
    """A reply and its score."""

    time: datetime
    text: str
    score: float


class Outcomes:
    """By person and time. Replies without a score are not in it."""

    def __init__(self, samples: Iterable[Case]) -> None:
        self._by_person: dict[str, list[Outcome]] = {}
        texts: Counter[str] = Counter()
        for target in (sample.target for sample in samples):
            texts[target.text.strip()] += 1
            if target.score is not None:
                outcome = Outcome(target.time, target.text, float(target.score))
                self._by_person.setdefault(target.user, []).append(outcome)
        for outcomes in self._by_person.values():
            outcomes.sort(key=attrgetter("time", "text"))
        self.scores = np.array(
            [outcome.score for outcomes in self._by_person.values() for outcome in outcomes]
        )
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
    def mean_log(self) -> float:
        return float(signed_log(self.scores).mean())

    @cached_property
    def positive(self) -> float:
        """The share of scores above 0."""
        return float((self.scores > 0).mean())

    def before(self, sample: Case) -> Sequence[Outcome]:
        """What the person shown wrote before the reply, with its outcome, oldest first."""
        outcomes = self._by_person.get(person_shown(sample) or "", [])
        return outcomes[: bisect_left(outcomes, sample.target.time, key=attrgetter("time"))]


_LINK = re.compile(r"https?://|www\.|\[[^\]]*\]\(")
_QUOTE = re.compile(r"^\s*(?:>|&gt;)", re.MULTILINE)
_THANKS = re.compile(r"\b(?:thanks?|thank you|thx|ty)\b", re.IGNORECASE)
_WORDS = 64  # of a text that are encoded: nine replies in ten have fewer
_PRIOR = 5.0  # as many replies as everybody's mean counts beside a person's own


def texts(sample: Case) -> tuple[str, str, str]:
    """The reply, what it answers and what the post is about; "" for what is not shown."""
    path = sample.conversation
    parent = path[-1].text or path[-1].title if path else ""
    about = path[0].title or path[0].text if path else ""
    return _first_words(sample.text or ""), _first_words(parent), _first_words(about)


def _first_words(text: str) -> str:
    return " ".join(text.split()[:_WORDS])


def counts(sample: Case, known: Outcomes) -> Array:
    """The counts, in this order:

    words questions exclamations links capitals quotes lines thanks has_text depth answers_post
    own_post own_before answers_self minutes_since_parent minutes_since_post parent_words post_words
    voices parent_score parent_score_known hour_sin hour_cos weekend history history_words earlier
    earlier_log earlier_positive last_log hint
    """
    numbers = [*_of_text(sample.text or ""), *_of_conversation(sample), *_of_moment(sample)]
    hint = {"positive": 1.0, "negative": -1.0}.get(sample.hint, 0.0)  # what a leak gives away
    return np.array([*numbers, *_of_person(sample, known), hint], dtype=np.float64)


def _of_text(text: str) -> list[float]:
    letters, capitals = sum(map(str.isalpha, text)), sum(map(str.isupper, text))
    return [
        math.log1p(len(text.split())),
        math.log1p(text.count("?")),
        math.log1p(text.count("!")),
        _LINK.search(text) is not None,
        capitals / letters if letters else 0.0,
        _QUOTE.search(text) is not None,
        math.log1p(text.count("\n")),
        _THANKS.search(text) is not None,
        bool(text.strip()),
    ]


def _of_conversation(sample: Case) -> list[float]:
    path, who = sample.conversation, sample.target.user
    if not path:
        return [0.0] * 12
    post, parent = path[0], path[-1]
    return [
        math.log1p(len(path)),
        len(path) == 1,
        post.author == who,
        math.log1p(sum(entry.author == who for entry in path[1:])),
        parent.author == who,
        _minutes(parent, sample),
        _minutes(post, sample),
        math.log1p(len(parent.text.split())),
        math.log1p(len(post.text.split())),
        math.log1p(len({entry.author for entry in path})),
        _log(parent.score or 0.0),
        parent.score is not None,
    ]


def _minutes(earlier: ShownEntry, sample: Case) -> float:
    if earlier.time is None:
        return 0.0
    apart = (sample.target.time - earlier.time).total_seconds() / 60
    return math.log1p(max(0.0, apart))


def _of_moment(sample: Case) -> list[float]:
    time = sample.target.time
    turn = 2 * math.pi * (time.hour + time.minute / 60) / 24
    return [math.sin(turn), math.cos(turn), time.weekday() >= 5]


def _log(score: float) -> float:
    """`signed_log` of one number: an array of one would cost a hundred times as much."""
    return math.copysign(math.log1p(abs(score)), score)


def _of_person(sample: Case, known: Outcomes) -> list[float]:
    entries = sample.history
    words = sum(len(entry.text.split()) for entry in entries) / len(entries) if entries else 0.0
    scores = [outcome.score for outcome in known.before(sample)]
    weight = len(scores) + _PRIOR
    log, positive = known.mean_log, known.positive
    return [
        math.log1p(len(entries)),
        math.log1p(words),
        math.log1p(len(scores)),
        (sum(map(_log, scores)) + _PRIOR * log) / weight,
        (sum(score > 0 for score in scores) + _PRIOR * positive) / weight,
        _log(scores[-1]) if scores else log,
    ]
