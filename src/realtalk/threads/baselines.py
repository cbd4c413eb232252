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
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import cosines
from realtalk.metrics.statistics import Array
from realtalk.metrics.sums import CLASSIFICATION, confusion, signed_exp, signed_log
from realtalk.registry import suggest
from realtalk.threads.features import Outcome, Outcomes, counts, texts
from realtalk.threads.predictors import Value, person_shown
from realtalk.threads.values import TASKS, Case, Part, Task
from realtalk.threads.vectors import Vectors

_SCALES = ("log", "raw", "median")


class _Baseline(PlainSolver):
    """What the baselines have in common; a subclass may have settings or learn."""

    tasks: tuple[Task, ...] = TASKS

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False


class _FromOutcomes(_Baseline):
    """Learns what became of the replies of the train part."""

    _learned: Outcomes | None = None

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:  # noqa: ARG002
        self._learned = Outcomes(learning)

    @property
    def _known(self) -> Outcomes:
        if self._learned is None:
            raise ValueError("prepare comes first")
        return self._learned


class Majority(_FromOutcomes):
    """One answer for all, the best there is without looking."""

    name = "majority"

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        known = self._known
        return [Answer(_overall(known, sample.task)) for sample in shown]


class Parent(_Baseline):
    """What is answered, taken for the answer. Knows nothing without the conversation."""

    name = "parent"

    def needs_scores(self, task: Task) -> bool:
        return task != "next_text"

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        return [_of_parent(sample) for sample in shown]


def _of_parent(sample: Case) -> Answer[Value]:
    if not sample.conversation:
        return Answer(None, "the parent is not shown")
    parent = sample.conversation[-1]
    if sample.task == "next_text":
        words = parent.text.strip() or parent.title.strip()
        return Answer(words or None, "" if words else "the parent has no words")
    if parent.score is None:
        return Answer(None, "the parent's score is hidden or unknown")
    value: Value = parent.score > 0 if sample.task == "sentiment" else float(parent.score)
    return Answer(value)


class Mean(_FromOutcomes):
    """The mean outcome of the shown person's earlier replies; of everybody's where there is none.

    `scale` is where scores are averaged: log (the signed log), raw, or median for the median.
    """

    name = "mean"
    tasks: tuple[Task, ...] = ("sentiment", "impact")

    def __init__(self, *, scale: str = "log") -> None:
        if scale not in _SCALES:
            raise suggest("scale", scale, list(_SCALES))
        self._scale = scale

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"scale": self._scale}

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._known.need_scores()

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        known = self._known
        return [Answer(self._value(known, sample)) for sample in shown]

    def _value(self, known: Outcomes, sample: Case) -> Value:
        earlier = known.before(person_shown(sample), sample.target.time)
        scores = np.array([each.score for each in earlier]) if earlier else known.scores
        if sample.task == "sentiment":
            return bool((scores > 0).mean() > 0.5)
        if self._scale == "log":
            return float(signed_exp(signed_log(scores).mean()))
        return float(scores.mean() if self._scale == "raw" else np.median(scores))


class Nearest(_FromOutcomes):
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
        """The texts that it will encode; of words to be written, what is shown before them."""
        for case in cases:
            if case.task != "next_text":
                yield case.text or ""
            elif part == "test":
                if case.conversation:
                    yield case.conversation[-1].text
                yield from (each.text for each in case.history)

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:
        known = self._known
        words = [self._texts(known, sample) for sample in shown]
        self._vectors.add((text for asked, found in words for text in (asked, *found)), progress)
        return [
            self._copied(known, sample, asked, found)
            for sample, (asked, found) in zip(shown, words, strict=True)
        ]

    def _texts(self, known: Outcomes, sample: Case) -> tuple[str, list[str]]:
        """What to be near to, and what is to choose from."""
        if sample.task == "next_text":
            asked = sample.conversation[-1].text if sample.conversation else ""
            return asked, [each.text for each in sample.history]
        return sample.text or "", [each.text for each in _earlier(known, sample)]

    def _copied(
        self, known: Outcomes, sample: Case, asked: str, found: Sequence[str]
    ) -> Answer[Value]:
        if not found:
            if sample.task == "next_text":
                return Answer(None, "no history is shown")
            return Answer(_overall(known, sample.task))
        place = len(found) - 1
        if asked.strip():
            near = cosines(self._vectors.of(found), self._vectors.of([asked])[0])
            # Of equals the latest.
            place = len(found) - 1 - int(np.argmax(near[::-1]))
        if sample.task == "next_text":
            words = found[place].strip()
            return Answer(words or None, "" if words else "nothing to copy")
        score = _earlier(known, sample)[place].score
        return Answer(score > 0 if sample.task == "sentiment" else score)


def _earlier(known: Outcomes, sample: Case) -> Sequence[Outcome]:
    return known.before(person_shown(sample), sample.target.time)


def _overall(known: Outcomes, task: Task) -> Value:
    if task == "next_text":
        if known.commonest is None:
            raise RealtalkError("no reply of the train part has words")
        return known.commonest
    known.need_scores()
    return known.positive > 0.5 if task == "sentiment" else known.median


Rows: TypeAlias = npt.NDArray[np.float32]

_HELD = 0.2  # the latest share of the train part, which chooses
_ALPHAS = (10.0, 100.0, 1e3, 1e4, 1e5)  # of the ridge
_INVERSE = (0.001, 0.01, 0.1)  # of the logistic regression: its C
_FEWEST = 20  # solved samples to learn from
_CUTS = 199  # thresholds that are tried


@dataclass(frozen=True)
class _Learned:
    """A fitted model with what its inputs are measured by."""

    model: Any
    centre: Rows
    scale: Rows
    threshold: float = 0.5  # of the chance of yes, at or below which it is no
    ends: tuple[float, float] = (-np.inf, np.inf)  # of the signed log that was ever seen


class Regression:
    """Learns once a setting. `texts=false` leaves the vectors out, `counts=false` the counts."""

    name = "regression"
    version = "1"
    tasks: tuple[Task, ...] = ("sentiment", "impact")

    def __init__(self, *, texts: bool = True, counts: bool = True) -> None:
        if not (texts or counts):
            raise RealtalkError("a regression on nothing", fix="leave texts or counts on")
        self._texts = texts
        self._counts = counts
        self._vectors = Vectors()
        self._known: Outcomes | None = None
        self._domains: tuple[str, ...] = ()
        self._columns: tuple[int, ...] = ()  # of texts: reply, parent, post, those that are shown
        self._learned: _Learned | None = None

    @property
    def settings(self) -> Mapping[str, Any]:
        found: dict[str, Any] = {"texts": self._texts, "counts": self._counts}
        return {**found, "encoder": self._vectors.version} if self._texts else found

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterator[str]:  # noqa: ARG002
        """The texts that it will encode."""
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
        self._known = Outcomes(solved)
        self._domains = tuple(sorted({sample.target.domain for sample in solved}))
        self._columns = tuple(
            place for place in range(3) if any(texts(sample)[place].strip() for sample in solved)
        )
        task = solved[0].task
        table = self._table(solved, progress)
        truth = np.array([float(sample.target.score or 0.0) for sample in solved])
        progress(0, 0, f"learning {task} from {len(solved):,} replies")
        self._learned = (
            _classified(table, truth > 0)
            if task == "sentiment"
            else _ridge(table, signed_log(truth))
        )

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:
        if self._learned is None:
            raise ValueError("prepare comes first")
        if not shown:
            return []
        learned = self._learned
        table = (self._table(shown, progress) - learned.centre) / learned.scale
        values: list[Value]
        if shown[0].task == "sentiment":
            chances = learned.model.predict_proba(table)[:, 1]
            values = [bool(chance > learned.threshold) for chance in chances]
        else:
            told = np.clip(learned.model.predict(table).astype(np.float64), *learned.ends)
            values = [float(value) for value in signed_exp(told)]
        return [Answer(value) for value in values]

    def _table(self, samples: Sequence[Case], progress: Progress) -> Rows:
        """One line per sample."""
        assert self._known is not None
        parts: list[Rows] = []
        if self._counts:
            lines = [
                [*counts(sample, self._known), *(sample.target.domain == d for d in self._domains)]
                for sample in samples
            ]
            parts.append(np.array(lines, dtype=np.float32))
        if self._texts:
            shown = [texts(sample) for sample in samples]
            columns = [[each[place] for each in shown] for place in self._columns]
            self._vectors.add((text for column in columns for text in column), progress)
            parts += [self._vectors.of(column) for column in columns]
        return np.concatenate(parts, axis=1)


def _measured(table: Rows) -> tuple[Rows, Rows]:
    centre, scale = table.mean(axis=0), table.std(axis=0)
    # What never changes here says nothing: 0 throughout, whatever it is later.
    return centre, np.where(scale > 1e-6, scale, np.float32(np.inf)).astype(np.float32)


def _parted(table: Rows) -> tuple[int, Rows, Rows, tuple[Rows, Rows]]:
    """Where the held part begins, and both parts measured by the earlier one."""
    cut = int(len(table) * (1 - _HELD))
    centre, scale = _measured(table[:cut])
    whole = _measured(table)
    return cut, (table[:cut] - centre) / scale, (table[cut:] - centre) / scale, whole


def _ridge(table: Rows, truth: Array) -> _Learned:
    from sklearn.linear_model import Ridge

    cut, early, late, (centre, scale) = _parted(table)
    aims = truth.astype(np.float32)

    def error(alpha: float) -> float:
        model = Ridge(alpha=alpha, solver="cholesky").fit(early, aims[:cut])
        return float(np.abs(model.predict(late) - aims[cut:]).mean())

    best = min(_ALPHAS, key=error)
    model = Ridge(alpha=best, solver="cholesky").fit((table - centre) / scale, aims)
    return _Learned(model, centre, scale, ends=(float(truth.min()), float(truth.max())))


def _classified(table: Rows, truth: npt.NDArray[np.bool_]) -> _Learned:
    cut, early, late, (centre, scale) = _parted(table)
    if truth.all() or not truth.any():
        raise RealtalkError(
            "every reply of the train part has the same class",
            fix="take more replies, or the predictor majority",
        )
    chosen, threshold = _INVERSE[0], 0.5
    if _varied(truth[:cut]) and _varied(truth[cut:]):
        tried = []
        for inverse in _INVERSE:
            chances = _logistic(inverse, early, truth[:cut]).predict_proba(late)[:, 1]
            tried.append((*_best_cut(chances, truth[cut:]), inverse))
        _, threshold, chosen = max(tried)
    model = _logistic(chosen, (table - centre) / scale, truth)
    return _Learned(model, centre, scale, threshold)


def _varied(truth: npt.NDArray[np.bool_]) -> bool:
    return bool(truth.any() and not truth.all())


def _logistic(inverse: float, table: Rows, truth: npt.NDArray[np.bool_]) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=inverse, class_weight="balanced", max_iter=500, tol=1e-3)
    return model.fit(table, truth)


def _best_cut(chances: Array, truth: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The highest MCC that a threshold reaches, and the threshold."""
    cuts = np.unique(np.quantile(chances, np.linspace(0, 1, _CUTS + 2)[1:-1]))
    said = chances[None, :] > cuts[:, None]
    parts = np.stack([confusion(truth, row).sum(axis=0) for row in said])
    reached = np.nan_to_num(CLASSIFICATION["mcc"](parts), nan=-1.0)
    best = int(np.argmax(reached))
    return float(reached[best]), float(cuts[best])
