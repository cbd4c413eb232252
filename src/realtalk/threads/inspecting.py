"""The thread tasks as an Inspect task: `inspect eval realtalk/threads`.

    inspect eval realtalk/threads -T task=sentiment -T setting=p-conv --model openai/gpt-4o-mini
    inspect eval realtalk/threads -T path=posts.json -T task=impact -T replies=500 -T shots=2

A sample is one reply of the test part; what its setting shows is put into the prompt when its
turn comes. `plain` scores what could be read, `strict` takes the rest as wrong; both give the
figures of `realtalk threads run`. Needs inspect-ai (extra llm): only tasks.py imports this.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from realtalk.corpora.opening import open_reading
from realtalk.metrics.numbers import signed_log
from realtalk.models.replies import readable
from realtalk.threads.asking import BUDGET
from realtalk.threads.predictors import Prediction
from realtalk.threads.prompting import Prompts, load_prompts, prompt
from realtalk.threads.protocols import protocol as rules_named
from realtalk.threads.reading_answers import read_answer
from realtalk.threads.rows import TEXT_SCORES, Row
from realtalk.threads.sampling import make_samples
from realtalk.threads.scoring import Scorer as RowScorer
from realtalk.threads.summaries import measured
from realtalk.threads.values import Sample as ThreadSample
from realtalk.threads.values import Task as TaskName
from realtalk.threads.values import known_setting, known_task

__all__ = ["threads"]

_VERSION = "1"
_UNASKED = {"content_filter": "refused", "model_length": "too long for the model"}
_KEPT = ("user", "domain", "truth", "predicted", *TEXT_SCORES, "unscored", "untold")


@task(name="threads")
def threads(
    path: str = "sample-threads",
    task: str = "sentiment",
    setting: str = "p-conv",
    protocol: str = "clean",
    leaks: str = "",
    with_scores: bool = False,
    split: str = "user",
    history: str = "recent",
    shots: int = 0,
    replies: int | None = None,
    seed: int = 0,
    budget: int = BUDGET,
    prompts: str | None = None,
) -> Task:
    """Replies in discussions: liked or not, how much, or what somebody writes next.

    `replies` draws so many of the test part without looking at their outcome (`--limit` of
    Inspect takes the first ones). `leaks` are names with commas, on top of the protocol's.
    """
    rules = rules_named(
        protocol,
        leaks=tuple(part.strip() for part in leaks.split(",") if part.strip()),
        with_scores=with_scores,
        split=split,
        chosen=history,
        shots=shots,
    )
    asked, shown = known_task(task), known_setting(setting)
    corpus = open_reading(path).reading.corpus
    samples = make_samples(corpus, asked, protocol=rules, limit=replies, seed=seed)
    found = samples.of(shown, "test")
    places = {target.key: at for at, target in enumerate(samples.part("test"))}
    wording = load_prompts(Path(prompts) if prompts else None)
    rows = RowScorer(asked)
    return Task(
        dataset=MemoryDataset(
            [_sample(asked, target) for target in samples.part("test")], name=corpus.name
        ),
        solver=shown_thread(found, places, budget, wording),
        scorer=[plain(found, places, rows), strict(found, places, rows)],
        version=_VERSION,
        fail_on_error=0.9999,  # a fault of the provider costs its reply, not all
        metadata={
            "setting": shown,
            "protocol": dict(samples.protocol.settings),
            "prompts": wording.version,
            "scoring": rows.settings,
        },
    )


def _sample(asked: TaskName, target: Any) -> Sample:
    if asked == "next_text":
        truth = target.text
    elif target.score is None:
        truth = "unknown"
    else:
        truth = f"{target.score:g}" if asked == "impact" else _word(target.score > 0)
    return Sample(
        input=target.key,
        target=truth,
        id=target.key,
        metadata={"user": target.user, "domain": target.domain},
    )


def _word(positive: bool) -> str:
    return "positive" if positive else "negative"


@solver
def shown_thread(found: Any, places: Mapping[str, int], budget: int, wording: Prompts) -> Solver:
    """Shows the model what the setting shows, and lets it answer."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        sample = found[places[str(state.sample_id)]]
        state.messages = [ChatMessageUser(content=prompt(sample, budget, wording))]
        return await generate(state)

    return solve


@metric(name="figures")
def figures(asked: TaskName, as_wrong: bool) -> Metric:
    """Every figure of the task over the rows; one without a value is left out."""

    def made(scores: list[SampleScore]) -> Any:
        rows = [each.score.metadata for each in scores if each.score.metadata is not None]
        told = [row for row in rows if row["untold"] is None]
        values: dict[str, float] = {}
        for each in measured(asked, told, strict=as_wrong) if told else ():
            sums = each.parts.sum(axis=0)
            values |= {name: float(figure(sums)) for name, figure in each.figures.items()}
        return {name: value for name, value in values.items() if np.isfinite(value)}

    return made


def plain(found: Any, places: Mapping[str, int], rows: RowScorer) -> Scorer:
    """What could be read; the rest is unscored."""
    metrics = [figures(rows.task, False), stderr(cluster="user")]

    @scorer(metrics=metrics, name="plain")
    def made() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
            row = _row(state, found[places[str(state.sample_id)]], rows)
            if row["unscored"] or row["untold"]:
                return Score.unscored(explanation=row["unscored"] or row["untold"])
            return _scored(row, rows.task, state)

        return score

    return made()


def strict(found: Any, places: Mapping[str, int], rows: RowScorer) -> Scorer:
    """All replies with a truth: what could not be read is wrong."""

    @scorer(metrics=[figures(rows.task, True)], name="strict")
    def made() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
            row = _row(state, found[places[str(state.sample_id)]], rows)
            if row["untold"]:
                return Score.unscored(explanation=row["untold"])
            if row["unscored"]:
                kept = {name: row[name] for name in _KEPT}
                return Score(value=0.0, explanation=row["unscored"], metadata=kept)
            return _scored(row, rows.task, state)

        return score

    return made()


def _row(state: TaskState, sample: ThreadSample, rows: RowScorer) -> Row:
    stopped = state.output.stop_reason if state.output.choices else None
    if stopped in _UNASKED:
        said = Prediction(sample.key, None, _UNASKED[stopped])
    else:
        answer = read_answer(sample.task, readable(state.output.completion))
        said = Prediction(sample.key, answer.value, answer.reason)
    return rows.rows([sample], [said])[0]


def _scored(row: Row, asked: TaskName, state: TaskState) -> Score:
    """The value a sample shows in the viewer: right or not, the error on the log, ROUGE-1."""
    if asked == "sentiment":
        value = float((row["predicted"] > 0) == (row["truth"] > 0))
    elif asked == "impact":
        value = float(abs(signed_log(row["predicted"]) - signed_log(row["truth"])))
    elif row["rouge_1"] is None:
        return Score.unscored(explanation="; ".join(row["left_out"]))
    else:
        value = row["rouge_1"]
    kept = {name: row[name] for name in _KEPT}
    return Score(value=value, answer=readable(state.output.completion), metadata=kept)
