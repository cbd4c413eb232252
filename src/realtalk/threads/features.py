"""A sample → numbers that a regression can use, from what the sample shows and nothing else.

    counts(sample, known)    → float64 [len(COUNTS)]: words, questions, …, minutes since the parent
    texts(sample)            → ("phew", "the reply that it answers", "the post's title")

Counts are of the reply's own text, of the conversation where it is shown, and of the person whose
history is shown: how their earlier replies of the train part fared. Where the history is another
person's, so are these. The moment of writing is known in every setting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from realtalk.metrics.statistics import Array
from realtalk.threads.outcomes import Outcomes
from realtalk.threads.predictors import person_shown
from realtalk.threads.values import Case, Shown

COUNTS = (
    "words",
    "questions",
    "exclamations",
    "links",
    "capitals",
    "quotes",
    "lines",
    "thanks",
    "has_text",
    "depth",
    "answers_post",
    "own_post",
    "own_before",
    "answers_self",
    "minutes_since_parent",
    "minutes_since_post",
    "parent_words",
    "post_words",
    "voices",
    "parent_score",
    "parent_score_known",
    "hour_sin",
    "hour_cos",
    "weekend",
    "history",
    "history_words",
    "earlier",
    "earlier_log",
    "earlier_positive",
    "last_log",
    "hint",
)
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
    return _cut(sample.text or ""), _cut(parent), _cut(about)


def _cut(text: str) -> str:
    return " ".join(text.split()[:_WORDS])


def counts(sample: Case, known: Outcomes) -> Array:
    """The counts in the order of COUNTS."""
    found = [*_of_text(sample.text), *_of_conversation(sample), *_of_moment(sample)]
    hint = {"positive": 1.0, "negative": -1.0}.get(sample.hint, 0.0)  # what a leak gives away
    return np.array([*found, *_of_person(sample, known), hint], dtype=np.float64)


def _of_text(given: str | None) -> list[float]:
    text = given or ""
    letters, capitals = sum(map(str.isalpha, text)), sum(map(str.isupper, text))
    return [
        math.log1p(len(text.split())),
        math.log1p(text.count("?")),
        math.log1p(text.count("!")),
        float(bool(_LINK.search(text))),
        capitals / letters if letters else 0.0,
        float(bool(_QUOTE.search(text))),
        math.log1p(text.count("\n")),
        float(bool(_THANKS.search(text))),
        float(bool(text.strip())),
    ]


def _of_conversation(sample: Case) -> list[float]:
    path, who = sample.conversation, sample.target.user
    if not path:
        return [0.0] * 12
    post, parent = path[0], path[-1]
    score = parent.score
    return [
        math.log1p(len(path)),
        float(len(path) == 1),
        float(post.author == who),
        math.log1p(sum(each.author == who for each in path[1:])),
        float(parent.author == who),
        _minutes(parent, sample),
        _minutes(post, sample),
        math.log1p(len(parent.text.split())),
        math.log1p(len(post.text.split())),
        math.log1p(len({each.author for each in path})),
        0.0 if score is None else _log(score),
        float(score is not None),
    ]


def _minutes(earlier: Shown, sample: Case) -> float:
    if earlier.time is None:
        return 0.0
    apart = (sample.target.time - earlier.time).total_seconds() / 60
    return math.log1p(max(0.0, apart))


def _of_moment(sample: Case) -> list[float]:
    time = sample.target.time
    turn = 2 * math.pi * (time.hour + time.minute / 60) / 24
    return [math.sin(turn), math.cos(turn), float(time.weekday() >= 5)]


def _log(score: float) -> float:
    """`signed_log` of one number: an array of one would cost a hundred times as much."""
    return math.copysign(math.log1p(abs(score)), score)


def _of_person(sample: Case, known: Outcomes) -> list[float]:
    shown: Sequence[Shown] = sample.history
    words = sum(len(each.text.split()) for each in shown) / len(shown) if shown else 0.0
    earlier = known.before(person_shown(sample), sample.target.time)
    scores = [each.score for each in earlier]
    n = len(scores)
    log, positive = known.mean_log, known.positive
    return [
        math.log1p(len(shown)),
        math.log1p(words),
        math.log1p(n),
        (sum(map(_log, scores)) + _PRIOR * log) / (n + _PRIOR),
        (sum(score > 0 for score in scores) + _PRIOR * positive) / (n + _PRIOR),
        _log(scores[-1]) if n else log,
    ]
