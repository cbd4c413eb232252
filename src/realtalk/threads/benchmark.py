"""One task over the replies of a corpus, as a benchmark: a variant per setting, a group per user.

    task = ThreadTask(make_samples(corpus, "sentiment"), ("p-conv", "p-nonconv"))
    run_threads(corpus, task, make_predictor("mean"), Path("out"))    → PredictedRun
    rescore_threads(Path("out"), lambda: corpus)                      → what changed
    load_threads(Path("out")).summary.variants["p-conv"].overall["mcc"]

A predictor learns from the train part of each setting and is shown replies of the test part
without the truth about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.rescoring import Rescored, keeps_scores, rescore
from realtalk.evals.summaries import Summary, summarise
from realtalk.evals.values import Answer, Row, Sample, Score, Stage
from realtalk.local.progress import Progress, silent
from realtalk.threads.predictors import Predictor, Value, blinded
from realtalk.threads.protocols import stored_protocol
from realtalk.threads.registry import refuse_unfit
from realtalk.threads.rows import columns, earlier_row, scores_of
from realtalk.threads.sampling import Samples, make_samples
from realtalk.threads.scoring import ReplyScorer
from realtalk.threads.values import SETTINGS, Case, Setting, Target, Task, known_task

if TYPE_CHECKING:
    import polars as pl

KIND = "thread tasks"
_Given: TypeAlias = Sequence[Sample[Case, Target]]
_NEEDED = ("task", "settings", "protocol", "test")  # settings that a table reads


class ThreadTask:
    """The replies of the test part in each setting.

    `chosen` is how they were drawn (limit, seed), for the record.
    """

    name = KIND
    version = "2"
    group = "user"

    def __init__(
        self,
        samples: Samples,
        settings: Sequence[Setting],
        chosen: Mapping[str, Any] | None = None,
    ) -> None:
        self.samples = samples
        self.shown_settings: tuple[Setting, ...] = tuple(settings)
        self._chosen = dict(chosen or {})
        self._scorer = ReplyScorer(samples.task)

    @property
    def scores(self) -> tuple[Score, ...]:
        return scores_of(self.samples.task)

    @property
    def columns(self) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        return columns()

    @property
    def settings(self) -> dict[str, Any]:
        counts = self.samples.counts
        return {
            "task": self.samples.task,
            "settings": list(self.shown_settings),
            "protocol": dict(self.samples.protocol.settings),
            "chosen": self._chosen,
            "train": counts.train,
            "test": counts.test,
            "scoring": self._scorer.settings,
        }

    def refuse(self, predictor: Predictor, corpus: Corpus) -> None:
        """Raises where the predictor cannot do the task, or there is nothing to predict."""
        refuse_unfit(predictor, self.samples.task, self.samples.protocol)
        if not self.samples.counts.test:
            raise RealtalkError(
                "there is no reply to predict",
                where=corpus.name,
                fix="a user needs several replies with a time; see `realtalk threads samples`",
            )

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the samples are drawn from it already
        progress: Progress = silent,
    ) -> Iterator[Stage[Case, Target]]:
        for setting in self.shown_settings:
            yield Stage(
                setting,
                _Shown(self.samples.of(setting, "test", progress)),
                lambda setting=setting: self.samples.of(setting, "train", progress),  # type: ignore[misc]
            )

    def score(
        self,
        samples: _Given,
        answers: Sequence[Answer[Value]],
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return self._scorer.rows([sample.truth for sample in samples], answers)

    def truths(self) -> Iterator[Stage[None, Target]]:
        """As `stages`, with nothing to show: conversations and histories are not made."""
        for setting in self.shown_settings:
            yield Stage(
                setting,
                [
                    Sample(target.key, target.user, setting, None, target)
                    for target in self.samples.part("test")
                ],
            )

    def stored_answer(self, sample: Sample[Any, Target], row: Row) -> Answer[Value] | None:
        """What was predicted, where the row is of this very reply."""
        words = self.samples.task == "next_text"
        truth = sample.truth.text if words else sample.truth.score
        if row["truth_text" if words else "truth"] != truth:
            return None
        return Answer(row["answer" if words else "predicted"], row["unscored"] or "")

    def target(self, sample: Sample[Case, Target]) -> str:
        if self.samples.task == "next_text":
            return sample.truth.text
        if sample.truth.score is None:
            return "unknown"
        if self.samples.task == "impact":
            return f"{sample.truth.score:g}"
        return "positive" if sample.truth.positive else "negative"

    def about(self, sample: Sample[Case, Target]) -> dict[str, str]:
        return {"domain": sample.truth.domain}


class _Shown(_Given):
    """Cases as samples, made when they are asked for; what is shown of them is blinded."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases

    def __len__(self) -> int:
        return len(self._cases)

    @overload
    def __getitem__(self, index: int) -> Sample[Case, Target]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sample[Case, Target]]: ...
    def __getitem__(self, index: int | slice) -> Sample[Case, Target] | list[Sample[Case, Target]]:
        if isinstance(index, slice):
            return [_sample(case) for case in self._cases[index]]
        return _sample(self._cases[index])


def _sample(case: Case) -> Sample[Case, Target]:
    return Sample(case.key, case.target.user, case.setting, blinded(case), case.target)


@dataclass(frozen=True)
class PredictedRun(running.RunRecord):
    """A run of a thread task."""

    @property
    def name(self) -> str:
        return run_name(self.settings)

    @property
    def task(self) -> Task:
        return known_task(self.settings["task"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What a table made from this run has to say."""
        notes = []
        protocol = self.settings["protocol"]
        if protocol["protocol"] != "clean":
            notes.append(f"made with leaks: {protocol['protocol']}")
        if protocol["with_scores"]:
            notes.append("scores, which are as of the crawl, were shown")
        wanted = len(self.settings["settings"]) * self.settings["test"]
        if len(self.rows) < wanted:
            notes.append(f"{len(self.rows):,} of {wanted:,} predictions are there so far")
        return tuple(notes)

    @cached_property
    def summary(self) -> Summary:
        return summary_of(self.name, self.task, self.rows, self.notes)


def summary_of(name: str, task: Task, rows: Sequence[Row], notes: Sequence[str] = ()) -> Summary:
    """The figures of rows of one task, also domain by domain."""
    return summarise(
        name,
        rows,
        scores_of(task),
        slices="domain",
        order=SETTINGS,
        about={"task": task},
        facts=_base_rate,
        notes=notes,
    )


def _base_rate(rows: Sequence[Row]) -> dict[str, float | None]:
    """The share of scores above 0: what accuracy has to beat."""
    truths = [row["truth"] for row in rows if row["truth"] is not None]
    return {"positive": sum(truth > 0 for truth in truths) / len(truths) if truths else None}


def run_name(settings: Mapping[str, Any]) -> str:
    """What a run is called in tables: its predictor, its model, and what is not clean about it."""
    predictor, protocol = settings["solver"], settings["protocol"]
    parts = [str(predictor["name"])]
    given = predictor["settings"]
    if given.get("model"):
        parts.append(str(given["model"]))
    if given.get("scale") and settings["task"] == "impact":
        parts.append(f"({given['scale']})")
    parts += [f"(no {name})" for name in ("texts", "counts") if given.get(name) is False]
    if protocol["protocol"] != "clean":
        parts.append(f"[{protocol['protocol']}]")
    elif protocol["with_scores"]:
        parts.append("[with scores]")
    return " ".join(parts)


def run_threads(
    corpus: Corpus,
    task: ThreadTask,
    predictor: Predictor,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> PredictedRun:
    """Predicts and scores what the folder does not have yet; in memory without a folder."""
    task.refuse(predictor, corpus)
    made = running.run(task, corpus, predictor, folder, fresh=fresh, progress=progress)
    return PredictedRun(**vars(made))


def load_threads(folder: Path) -> PredictedRun:
    """A run's rows, of one that was stopped as far as it got; also one of version 0.1.0."""
    found = running.load(
        folder, KIND, earlier_row, solver=lambda settings: settings.get("predictor"), needed=_NEEDED
    )
    return PredictedRun(**vars(found))


def rescore_threads(
    folder: Path, corpus: Callable[[], Corpus], *, progress: Progress = silent
) -> Rescored:
    """Scores a stored run's predictions by today's formulas; nobody predicts again.

    The corpus is read only where the task's rows keep scores.
    """
    found = load_threads(folder)
    if not keeps_scores(scores_of(found.task), columns()):
        return Rescored(len(found.rows), 0, {}, 0, stored=False)
    chats = corpus()
    drawn: Mapping[str, Any] = found.settings.get("chosen") or {}
    samples = make_samples(
        chats,
        found.task,
        protocol=stored_protocol(found.settings["protocol"]),
        limit=drawn.get("limit"),
        train_limit=drawn.get("train_limit"),
        seed=drawn.get("seed", 0),
        progress=progress,
    )
    task = ThreadTask(samples, found.settings["settings"], drawn)
    return rescore(found, task, task.truths(), progress=progress)
