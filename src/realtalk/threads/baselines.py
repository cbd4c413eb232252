"""Four ways to predict without a language model: what any model has to beat.

    majority    the commonest class; the median score; the commonest reply
    parent      the sign, the score or the words of what is answered
    mean        what became of the shown person's earlier replies, on average
    nearest     what became of, or the words of, their nearest earlier reply

Where 19 replies in 20 have a positive score, the majority is right 19 times in 20 and knows
nothing: read MCC and balanced accuracy before accuracy and F1.

Ridge and logistic regression on the shipped encoder's vectors and on counts.

    predictor = Regression()
    predictor.prepare(samples.of("p-conv", "train"))
    predictor.solve(blinded_cases)[0]    → Answer(True)

`impact` is a ridge regression of the signed log of the score. `sentiment` is a logistic
regression with balanced classes that says no above a threshold of its own. How strongly weights
are held back, and that threshold, are chosen on the latest fifth of the train part, after
learning from the rest; then everything is learned once more from the whole.

A sample → numbers that a regression can use, from what the sample shows and nothing else.

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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.grouping import grouped
from realtalk.metrics.similarity import Rows, cosines
from realtalk.metrics.statistics import Array, Truth
from realtalk.metrics.sums import CLASSIFICATION, confusion, signed_exp, signed_log
from realtalk.registry import known_name
from realtalk.threads.predictors import Value, person_shown
from realtalk.threads.values import TASKS, Case, Part, ShownEntry, Task
from realtalk.threads.vectors import Vectors


class Outcome(NamedTuple):
    """A reply and its score."""

    time: datetime
    text: str
    score: float


class Outcomes:
    """By person and time. Replies without a score are not in it."""

    def __init__(self, samples: Iterable[Case]) -> None:
        targets = [sample.target for sample in samples]
        texts = Counter(target.text.strip() for target in targets)
        self._by_person = grouped(
            (target.user, Outcome(target.time, target.text, float(target.score)))
            for target in targets
            if target.score is not None
        )
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


_SCALES = ("log", "raw", "median")


class Baseline(PlainSolver):
    """What the baselines have in common; a subclass may have settings or learn more."""

    tasks: tuple[Task, ...] = TASKS
    _known: Outcomes  # of the replies of the train part

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterable[str]:  # noqa: ARG002
        """The texts of cases that it will encode, where they are of that part."""
        return ()

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:  # noqa: ARG002
        self._known = Outcomes(learning)

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        return [self._answer(sample) for sample in shown]

    def _answer(self, sample: Case) -> Answer[Value]:
        """The best there is without looking: what became of most replies."""
        outcomes = self._known
        if sample.task == "next_text":
            if outcomes.commonest is None:
                raise RealtalkError("no reply of the train part has words")
            return Answer(outcomes.commonest)
        outcomes.need_scores()
        return Answer(outcomes.positive > 0.5 if sample.task == "sentiment" else outcomes.median)


class Majority(Baseline):
    """One answer for all."""

    name = "majority"


class Parent(Baseline):
    """What is answered, taken for the answer. Knows nothing without the conversation."""

    name = "parent"

    def needs_scores(self, task: Task) -> bool:
        return task != "next_text"

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:
        """Nothing is learned."""

    def _answer(self, sample: Case) -> Answer[Value]:
        if not sample.conversation:
            return Answer(None, "the parent is not shown")
        parent = sample.conversation[-1]
        if sample.task == "next_text":
            return _words(parent.text.strip() or parent.title, "the parent has no words")
        if parent.score is None:
            return Answer(None, "the parent's score is hidden or unknown")
        return _outcome(sample, parent.score)


class Mean(Baseline):
    """The mean outcome of the shown person's earlier replies; of everybody's where there is none.

    `scale` is where scores are averaged: log (the signed log), raw, or median for the median.
    """

    name = "mean"
    tasks: tuple[Task, ...] = ("sentiment", "impact")

    def __init__(self, *, scale: str = "log") -> None:
        known_name("scale", scale, _SCALES)
        self._scale = scale

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"scale": self._scale}

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._known.need_scores()

    def _answer(self, sample: Case) -> Answer[Value]:
        earlier = [outcome.score for outcome in self._known.before(sample)]
        scores = np.array(earlier) if earlier else self._known.scores
        if sample.task == "sentiment":
            return Answer(bool((scores > 0).mean() > 0.5))
        if self._scale == "log":
            return Answer(float(signed_exp(signed_log(scores).mean())))
        return Answer(float(scores.mean() if self._scale == "raw" else np.median(scores)))


class Nearest(Baseline):
    """Copies the shown person's reply that is nearest in meaning.

    For an outcome: nearest to the reply itself, among those of the train part. For words: the one
    of their history nearest to what is answered, or the latest where nothing is shown.
    """

    name = "nearest"

    def __init__(self) -> None:
        self._vectors = Vectors()

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"encoder": self._vectors.version}

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterator[str]:
        """Of words to be written, what is shown before them."""
        for case in cases:
            if case.task != "next_text":
                yield case.text or ""
            elif part == "test":
                yield from (entry.text for entry in (*case.conversation[-1:], *case.history))

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:
        pairs = [self._texts(sample) for sample in shown]
        self._vectors.add((text for query, pool in pairs for text in (query, *pool)), progress)
        return super().solve(shown, progress)

    def _texts(self, sample: Case) -> tuple[str, list[str]]:
        """What to be near to, and what is to choose from."""
        if sample.task == "next_text":
            query = sample.conversation[-1].text if sample.conversation else ""
            return query, [entry.text for entry in sample.history]
        return sample.text or "", [outcome.text for outcome in self._known.before(sample)]

    def _answer(self, sample: Case) -> Answer[Value]:
        query, pool = self._texts(sample)
        if not pool:
            if sample.task == "next_text":
                return Answer(None, "no history is shown")
            return super()._answer(sample)
        place = len(pool) - 1
        if query.strip():
            near = cosines(self._vectors.of(pool), self._vectors.of([query])[0])
            # Of equals the latest.
            place -= int(np.argmax(near[::-1]))
        if sample.task == "next_text":
            return _words(pool[place], "nothing to copy")
        return _outcome(sample, self._known.before(sample)[place].score)


def _words(text: str, reason: str) -> Answer[Value]:
    words = text.strip()
    return Answer(words) if words else Answer(None, reason)


def _outcome(sample: Case, score: float) -> Answer[Value]:
    return Answer(score > 0 if sample.task == "sentiment" else float(score))


_HELD = 0.2  # the latest share of the train part, which chooses
_ALPHAS = (10.0, 100.0, 1e3, 1e4, 1e5)  # of the ridge
_INVERSE = (0.001, 0.01, 0.1)  # of the logistic regression: its C
_FEWEST = 20  # solved samples to learn from
_CUTS = 199  # thresholds that are tried


class _FittedModel(NamedTuple):
    """A fitted model with what its inputs are measured by."""

    model: Any
    scale: Scale
    threshold: float = 0.5  # of the chance of yes, at or below which it is no
    ends: tuple[float, float] = (-np.inf, np.inf)  # of the signed log that was ever seen


class Regression(Baseline):
    """Learns once a setting. `texts=false` leaves the vectors out, `counts=false` the counts."""

    name = "regression"
    tasks: tuple[Task, ...] = ("sentiment", "impact")
    _domains: tuple[str, ...]
    _columns: tuple[int, ...]  # of texts: reply, parent, post, those that are shown
    _learned: _FittedModel

    def __init__(self, *, texts: bool = True, counts: bool = True) -> None:
        if not (texts or counts):
            raise RealtalkError("a regression on nothing", fix="leave texts or counts on")
        self._texts = texts
        self._counts = counts
        self._vectors = Vectors()

    @property
    def settings(self) -> Mapping[str, Any]:
        encoder = {"encoder": self._vectors.version} if self._texts else {}
        return {"texts": self._texts, "counts": self._counts, **encoder}

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterator[str]:  # noqa: ARG002
        for case in cases if self._texts else ():
            yield from texts(case)

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:
        solved = sorted(
            (sample for sample in learning if sample.target.score is not None),
            key=lambda sample: (sample.target.time, sample.key),
        )
        if len(solved) < _FEWEST:
            raise RealtalkError(
                f"{len(solved)} solved replies are too few to learn from",
                fix=f"a regression wants {_FEWEST}; take majority or mean",
            )
        super().prepare(solved)
        self._domains = tuple(sorted({sample.target.domain for sample in solved}))
        self._columns = tuple(
            place for place in range(3) if any(texts(sample)[place].strip() for sample in solved)
        )
        task = solved[0].task
        table = self._table(solved, progress)
        truth = np.array([float(sample.target.score or 0.0) for sample in solved])
        progress(0, 0, f"learning {task} from {len(solved):,} replies")
        self._learned = (
            _fit_classifier(table, truth > 0)
            if task == "sentiment"
            else _ridge(table, signed_log(truth))
        )

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:
        if not shown:
            return []
        learned = self._learned
        table = learned.scale.measure(self._table(shown, progress))
        if shown[0].task == "sentiment":
            chances = learned.model.predict_proba(table)[:, 1]
            return [Answer(bool(chance > learned.threshold)) for chance in chances]
        logs = np.clip(learned.model.predict(table).astype(np.float64), *learned.ends)
        return [Answer(float(value)) for value in signed_exp(logs)]

    def _table(self, samples: Sequence[Case], progress: Progress) -> Rows:
        """One line per sample."""
        parts: list[Rows] = []
        if self._counts:
            lines = [
                [*counts(sample, self._known), *(sample.target.domain == d for d in self._domains)]
                for sample in samples
            ]
            parts.append(np.array(lines, dtype=np.float32))
        if self._texts:
            sample_texts = [texts(sample) for sample in samples]
            columns = [[some[place] for some in sample_texts] for place in self._columns]
            self._vectors.add((text for column in columns for text in column), progress)
            parts += [self._vectors.of(column) for column in columns]
        return np.concatenate(parts, axis=1)


class Scale:
    """What the lines of a table are measured by."""

    def __init__(self, table: Rows) -> None:
        self._centre, spread = table.mean(axis=0), table.std(axis=0)
        # What never changes here says nothing: 0 throughout, whatever it is later.
        self._spread = np.where(spread > 1e-6, spread, np.float32(np.inf)).astype(np.float32)

    def measure(self, table: Rows) -> Rows:
        measured: Rows = (table - self._centre) / self._spread
        return measured


def split_latest(table: Rows) -> tuple[Rows, Rows]:
    """All but the latest fifth, and that, which chooses; both measured by the earlier part."""
    split = int(len(table) * (1 - _HELD))
    scale = Scale(table[:split])
    return scale.measure(table[:split]), scale.measure(table[split:])


def _ridge(table: Rows, truth: Array) -> _FittedModel:
    from sklearn.linear_model import Ridge

    early, late = split_latest(table)
    aims = truth.astype(np.float32)
    split, scale = len(early), Scale(table)

    def error(alpha: float) -> float:
        model = Ridge(alpha=alpha, solver="cholesky").fit(early, aims[:split])
        return float(np.abs(model.predict(late) - aims[split:]).mean())

    best = min(_ALPHAS, key=error)
    model = Ridge(alpha=best, solver="cholesky").fit(scale.measure(table), aims)
    return _FittedModel(model, scale, ends=(float(truth.min()), float(truth.max())))


def _fit_classifier(table: Rows, truth: Truth) -> _FittedModel:
    if not _has_both_classes(truth):
        raise RealtalkError(
            "every reply of the train part has the same class",
            fix="take more replies, or the predictor majority",
        )
    early, late = split_latest(table)
    before, after = truth[: len(early)], truth[len(early) :]
    scale = Scale(table)
    best, threshold = _INVERSE[0], 0.5
    if _has_both_classes(before) and _has_both_classes(after):
        _, threshold, best = max(
            (
                *_best_cut(_logistic(inverse, early, before).predict_proba(late)[:, 1], after),
                inverse,
            )
            for inverse in _INVERSE
        )
    return _FittedModel(_logistic(best, scale.measure(table), truth), scale, threshold)


def _has_both_classes(truth: Truth) -> bool:
    return bool(truth.any() and not truth.all())


def _logistic(inverse: float, table: Rows, truth: Truth) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=inverse, class_weight="balanced", max_iter=500, tol=1e-3)
    return model.fit(table, truth)


def _best_cut(chances: Array, truth: Truth) -> tuple[float, float]:
    """The highest MCC that a threshold reaches, and the threshold."""
    cuts = np.unique(np.quantile(chances, np.linspace(0, 1, _CUTS + 2)[1:-1]))
    parts = np.stack([confusion(truth, chances > threshold).sum(axis=0) for threshold in cuts])
    reached = np.nan_to_num(CLASSIFICATION["mcc"](parts), nan=-1.0)
    best = int(np.argmax(reached))
    return float(reached[best]), float(cuts[best])
