"""Memory probing as an Inspect task: `inspect eval realtalk/memory_probing`.

    inspect eval realtalk/memory_probing -T path=sample -T memory=events -T budget=2000 \\
        --model openai/gpt-4o-mini
    inspect eval realtalk/memory_probing -T judge=anthropic/claude-sonnet-4-5 -T questions=100
    inspect eval realtalk/memory_probing -T path=data/realtalk -T golds=audited

Needs inspect-ai (extra llm): only tasks.py imports this.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState

from realtalk.errors import RealtalkError
from realtalk.evals.inspecting import inspect_task, missing_reason
from realtalk.evals.language_models import Prompts
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import MemoryBenchmark
from realtalk.memory.golds import SAME, WORDINGS, golds_named, read_verdict, refuse_own_judge
from realtalk.memory.registry import BUDGETLESS, make_memory
from realtalk.memory.remembering import LlmReader, load_wording
from realtalk.memory.rows import may_abstain
from realtalk.memory.values import Budget, parse_budgets
from realtalk.models.asking import ModelConfig
from realtalk.models.replies import is_blank, readable, reason_of


@task
def memory_probing(
    path: str = "sample",
    memory: str = "retrieved",
    budget: str | int = "1000",
    settings: str | Mapping[str, Any] = "",
    categories: str = "",
    questions: int | None = None,
    prompts: str | None = None,
    judge: str | None = None,
    golds: str = "published",
) -> Task:
    """Questions about long chats, answered from what a memory recalls.

    `settings` are the memory's, as key=value,key=value. `questions` takes so many, evenly by
    category and chat (`--limit` of Inspect takes the first ones). `judge` is another model that
    judges the answers, leniently and strictly; "same" is the model under test. `golds` are what
    counts as right: published, audited, lmeb (the questions of MTEB's board), or a corrected audit
    that the studio exported; what they leave out is asked and not scored.
    """
    corpus = open_reading(path).reading.corpus
    pairs = settings if isinstance(settings, Mapping) else _pairs(settings)
    budgets = (Budget(),) if memory in BUDGETLESS else parse_budgets(str(budget))
    if len(budgets) != 1:
        raise RealtalkError("one budget per task", fix="run it once for each")
    names = tuple(part.strip() for part in categories.split(",") if part.strip())
    wording = load_wording(Path(prompts) if prompts else None)
    # Inspect says which model.
    reader = LlmReader(ModelConfig("inspect/any"), wording, abstain=may_abstain(corpus))
    plan = Plan(
        corpus,
        make_memory(memory, pairs),
        reader,
        budgets,
        names or None,
        questions,
        golds_named(golds),
    )
    solver = plan.solver
    return inspect_task(
        MemoryBenchmark(plan),
        corpus,
        solver,
        metadata={"memory": solver.settings["memory"], "prompts": wording.version},
        judges=[] if judge is None else [_by_judge(judge, use, wording) for use in WORDINGS],
    )


def _pairs(text: str) -> dict[str, str]:
    """The settings that a text names: `around=3,top=5`."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    for key, equals, value in pairs:
        if not equals or not key.strip():
            raise RealtalkError(f"'{key}{value}' is no setting", fix="write it as name=value")
    return {key.strip(): value.strip() for key, _, value in pairs}


def _by_judge(judge: str, wording: str, prompts: Prompts) -> Scorer:
    """Whether an answer is right, asked as the command asks it."""

    @scorer(metrics=[grouped(mean(), "category"), stderr(cluster="chat")], name=wording)
    def score_answers() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            refuse_own_judge(str(state.model), judge)
            answer = readable(state.output.completion).strip()
            left_out = state.metadata.get("left_out", "")
            reason = (
                missing_reason(state) or left_out or ("empty answer" if is_blank(answer) else "")
            )
            if reason:
                return Score.unscored(explanation=reason)
            prompt = prompts.fill(
                f"judge_{wording}",
                question=state.metadata["question"],
                gold=target.text,
                answer=answer,
            )
            try:
                output = await _judge(judge).generate(prompt, config=_CONFIG)
            except Exception as error:
                return Score.unscored(explanation=f"the judge: {reason_of(error).reason}")
            right = read_verdict(readable(output.completion))
            if right is None:
                return Score.unscored(explanation="the judge gave no verdict")
            return Score(value=right, answer=answer)

        return score

    return score_answers()


_CONFIG = GenerateConfig(temperature=0.0, seed=0)


def _judge(name: str) -> Model:
    return get_model() if name == SAME else get_model(name)
