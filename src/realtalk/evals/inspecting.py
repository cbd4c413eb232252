"""A benchmark and the way to ask a model → an Inspect task that sends the very same requests.

    inspect_task(benchmark, corpus, LlmPredictor(model="inspect/any"))    → inspect_ai.Task

The model is the one that Inspect is told (`--model`); prompts, limits, temperature and seed are
those of the command. `plain` scores what could be read, `strict` (where a benchmark has it) takes
the rest as wrong; both give the figures of the command. Prompts are made when their turn comes.
Needs inspect-ai (extra llm).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.dataset import Sample as InspectSample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Metric, SampleScore, Scorer, Target, metric, scorer, stderr
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.solver import Solver as InspectSolver

from realtalk.chat import Corpus
from realtalk.evals.comparing import shared_parts, whole_lines
from realtalk.evals.values import Answer, AnyBenchmark, AnySample, AnyStage, Row, Score, row_of
from realtalk.models.asking import ModelConfig
from realtalk.models.replies import readable

_UNASKED = {"content_filter": "refused", "model_length": "too long for the model"}


class AskingSolver(Protocol):
    """A solver that says what a model is asked, so that somebody else can ask it."""

    @property
    def version(self) -> str: ...

    @property
    def config(self) -> ModelConfig: ...

    def prepare(self, learning: Any) -> None: ...

    def prompt(self, shown: Any) -> str: ...

    def parse(self, text: str, shown: Any) -> Answer[Any]: ...

    def most_tokens(self, shown: Any) -> int | None: ...


def missing_reason(state: TaskState) -> str:
    """Why the model gave nothing that could be read, "" where it gave something."""
    return _UNASKED.get(state.output.stop_reason, "") if state.output.choices else ""


class _Samples:
    """Every sample by its id, made when it is asked for; each stage is prepared once."""

    def __init__(self, benchmark: AnyBenchmark, corpus: Corpus, model: AskingSolver) -> None:
        self.benchmark = benchmark
        self.model = model
        self._stages: list[AnyStage] = list(benchmark.stages(corpus))
        self._places: dict[str, tuple[AnyStage, int]] = {}
        self._prepared: AnyStage | None = None

    def dataset(self, name: str) -> MemoryDataset:
        samples = []
        for stage in self._stages:
            for place, sample in enumerate(stage.samples):
                id_ = f"{stage.title}/{sample.id}" if len(self._stages) > 1 else sample.id
                self._places[id_] = (stage, place)
                about = {self.benchmark.group: sample.group, "variant": sample.variant}
                samples.append(
                    InspectSample(
                        input=sample.id,
                        target=self.benchmark.target(sample),
                        id=id_,
                        metadata={**about, **self.benchmark.about(sample)},
                    )
                )
        return MemoryDataset(samples, name=name)

    def prompt(self, id_: Any) -> tuple[str, int | None]:
        """What the model is asked, and its longest answer."""
        stage, place = self._places[str(id_)]
        if self._prepared is not stage:
            self.model.prepare(stage.learning())
            self._prepared = stage
        case = stage.samples[place].shown
        return self.model.prompt(case), self.model.most_tokens(case)

    def row(self, state: TaskState) -> Row:
        stage, place = self._places[str(state.sample_id)]
        sample: AnySample = stage.samples[place]
        reason = missing_reason(state)
        text = readable(state.output.completion)
        answer: Answer[Any] = Answer(None, reason)
        if not reason:
            answer = self.model.parse(text, sample.shown)
        return row_of(sample, answer, self.benchmark.score([sample], [answer])[0])


def inspect_task(
    benchmark: AnyBenchmark,
    corpus: Corpus,
    model: AskingSolver,
    *,
    metadata: Mapping[str, Any] | None = None,
    judges: Sequence[Scorer] = (),
) -> Task:
    """The samples of a benchmark, to be answered by the model that Inspect is told.

    `judges` are scorers beside the benchmark's own.
    """
    samples = _Samples(benchmark, corpus, model)
    strict = (False, True) if any(score.strict for score in benchmark.scores) else (False,)
    return Task(
        dataset=samples.dataset(corpus.name),
        solver=_show_sample(samples),
        scorer=[*(_by_scores(samples, wrong) for wrong in strict), *judges],
        version=benchmark.version,
        fail_on_error=0.9999,  # a fault of the provider costs its sample, not all
        metadata={"prompts": model.version, **benchmark.settings, **(metadata or {})},
    )


@solver(name="shown")
def _show_sample(samples: _Samples) -> InspectSolver:
    """Shows the model what the benchmark shows, and lets it answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        text, most = samples.prompt(state.sample_id)
        state.messages = [ChatMessageUser(content=text)]
        seed = samples.model.config.seed
        return await generate(state, temperature=0.0, seed=seed, max_tokens=most)

    return solve


def _figures(scores: Sequence[Score], rows: Sequence[Row], *, strict: bool) -> dict[str, float]:
    """Every figure over the rows; one without a value is left out."""
    values: dict[str, float] = {}
    for parts, sharing in shared_parts(scores, strict=strict):
        lines = parts(rows)
        sums = lines[whole_lines(lines)].sum(axis=0)
        values |= {score.name: float(score.figure(sums)) for score in sharing}
    return {name: value for name, value in values.items() if np.isfinite(value)}


@metric(name="figures")
def _all_figures(wanted: Sequence[Score], strict: bool, slices: str) -> Metric:
    def compute(scores: list[SampleScore]) -> Any:
        rows = [sample.score.metadata for sample in scores if sample.score.metadata is not None]
        figures = _figures(wanted, rows, strict=strict) if rows else {}
        for part in sorted({row[slices] for row in rows}) if slices else ():
            own = _figures(wanted, [row for row in rows if row[slices] == part], strict=strict)
            figures |= {f"{name}, {part}": value for name, value in own.items()}
        return figures

    return compute


def _by_scores(samples: _Samples, strict: bool) -> Scorer:
    """The benchmark's scores of what could be read; the rest is unscored, or wrong if `strict`."""
    scores, benchmark = samples.benchmark.scores, samples.benchmark
    metrics = [_all_figures(scores, strict, benchmark.slices)]
    clustered = [] if strict else [stderr(cluster=benchmark.group)]

    @scorer(metrics=[*metrics, *clustered], name="strict" if strict else "plain")
    def by_scores() -> Scorer:
        async def score(state: TaskState, target: Target) -> InspectScore:  # noqa: ARG001
            row = samples.row(state)
            if row["unscored"] and strict and not row["untold"]:
                return InspectScore(value=0.0, explanation=row["unscored"], metadata=row)
            if row["unscored"] or row["untold"]:
                return InspectScore.unscored(explanation=row["unscored"] or row["untold"])
            # The first score is what the viewer shows of a sample.
            value = _figures(scores[:1], [row], strict=False).get(scores[0].name)
            if value is None:
                reason = "; ".join(row["left_out"]) or "no score"
                return InspectScore.unscored(explanation=reason)
            return InspectScore(value=value, answer=row["answer"], metadata=row)

        return score

    return by_scores()
