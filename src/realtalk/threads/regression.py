"""Ridge and logistic regression on the shipped encoder's vectors and on counts.

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
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.metrics.statistics import Array
from realtalk.metrics.sums import CLASSIFICATION, confusion, signed_exp, signed_log
from realtalk.threads.features import counts, texts
from realtalk.threads.outcomes import Outcomes
from realtalk.threads.predictors import Value
from realtalk.threads.values import Case, Part, Task
from realtalk.threads.vectors import Vectors

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
