"""The benchmarks as Inspect tasks, found by their entry point: `inspect eval realtalk/…`.

    inspect eval realtalk/memory_probing -T path=sample -T memory=retrieved -T budget=1000 \\
        --model openai/gpt-4o-mini
    inspect eval realtalk/persona_simulation -T speaker=Mara --model openai/gpt-4o-mini
    inspect eval realtalk/threads -T task=sentiment -T setting=p-conv --model openai/gpt-4o-mini
    inspect view

A sample holds the question and its true answer; the solver puts the memory's context into the
prompt when the question's turn comes, so that long chats are not held in memory hundreds of
times. Scores are those of `realtalk probe`, by the paper's formulas and, where one is named, by
a judge. Needs inspect-ai (extra llm): only Inspect and tests import this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

import realtalk.models.provider  # noqa: F401  registers realtalk/smollm2
from realtalk.chat import Chat, Question
from realtalk.corpora.opening import open_reading
from realtalk.errors import RealtalkError
from realtalk.evals.prompts import Prompts
from realtalk.memory.asking import Plan, bare, built_without_questions, known_by
from realtalk.memory.budgets import parse_budgets
from realtalk.memory.judging import UNTOLD, read_verdict, refuse_own_judge
from realtalk.memory.readers import Item, NoReader, prompt_of
from realtalk.memory.registry import BUDGETLESS, make_memory, parse_settings
from realtalk.memory.rows import ANSWER_SCORES, answer_scores, category_of, may_abstain
from realtalk.memory.values import Budget, Built
from realtalk.memory.wording import load_wording
from realtalk.metrics.answers import ABSTAINING
from realtalk.models.replies import is_blank, readable, reason_of
from realtalk.persona.inspecting import persona_simulation
from realtalk.threads.inspecting import threads

__all__ = ["memory_probing", "persona_simulation", "threads"]

_VERSION = "2"


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
) -> Task:
    """Questions about long chats, answered from what a memory recalls.

    `settings` are the memory's, as key=value,key=value. `questions` takes so many, evenly from
    the chats (`--limit` of Inspect takes the first ones). `judge` is another model that judges
    the answers, leniently and strictly.
    """
    corpus = open_reading(path).reading.corpus
    given = settings if isinstance(settings, Mapping) else _pairs(settings)
    budgets = (Budget(),) if memory in BUDGETLESS else parse_budgets(str(budget))
    if len(budgets) != 1:
        raise RealtalkError("one budget a task", fix="run it once for each")
    names = tuple(part.strip() for part in categories.split(",") if part.strip())
    made = make_memory(memory, given)
    plan = Plan(corpus, made, NoReader(), budgets, names or None, questions)
    wording = load_wording(Path(prompts) if prompts else None)
    abstain = may_abstain(corpus)
    scorers: list[Scorer] = [formulas()]
    if judge is not None:
        scorers += [lenient(judge, wording), strict(judge, wording)]
    return Task(
        dataset=MemoryDataset(
            [_sample(chat, each) for chat, chosen in plan.questions for each in chosen],
            name=corpus.name,
        ),
        solver=from_memory(plan, budgets[0], wording, abstain, judge),
        scorer=scorers,
        version=_VERSION,
        fail_on_error=0.9999,  # a fault of the provider costs its question, not all
        metadata={
            "memory": {"name": made.name, "version": made.version, **made.settings},
            "prompts": wording.version,
        },
    )


def _pairs(text: str) -> dict[str, str]:
    return parse_settings([part for part in text.split(",") if part.strip()])


def _sample(chat: Chat, question: Question) -> Sample:
    category = category_of(question)
    return Sample(
        input=question.text,
        target=UNTOLD if question.answer is None or category in ABSTAINING else question.answer,
        id=f"{chat.id}:{question.id}",
        metadata={
            "chat": chat.id,
            "question": question.id,
            "category": category,
            "told": question.answer is not None,
        },
    )


@solver
def from_memory(
    plan: Plan, budget: Budget, wording: Prompts, abstain: bool, judge: str | None
) -> Solver:
    """Shows the model what the memory recalls, and lets it answer."""
    known = {(chat.id, q.id): (chat, q) for chat, chosen in plan.questions for q in chosen}
    memories: dict[tuple[str, int], Built] = {}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if judge is not None:
            refuse_own_judge(str(state.model), judge)
        chat, question = known[state.metadata["chat"], state.metadata["question"]]
        chat = known_by(chat, question.asked)
        key = (chat.id, len(chat.by_id))
        if key not in memories:
            memories[key] = built_without_questions(plan.memory, chat)
        context = memories[key].recall(bare(question), budget)
        state.metadata |= {
            "context_tokens": context.tokens,
            "context_words": context.words,
            "message_ids": list(context.message_ids),
        }
        item = Item(chat, bare(question), context)
        state.messages = [ChatMessageUser(content=prompt_of(item, wording, abstain))]
        return await generate(state)

    return solve


_METRICS = [grouped(mean(), "category"), stderr(cluster="chat")]


@scorer(metrics=dict.fromkeys(ANSWER_SCORES, _METRICS))
def formulas() -> Scorer:
    """The paper's F1, exact match, ROUGE-L and date-aware F1."""

    async def score(state: TaskState, target: Target) -> Score:
        reason = _unanswered(state)
        if reason:
            return Score.unscored(explanation=reason)
        gold = target.text if state.metadata["told"] else None
        answer = readable(state.output.completion).strip()
        values = answer_scores(answer, gold, state.metadata["category"])
        if any(value is None for value in values.values()):
            return Score.unscored(explanation="the question has no true answer")
        return Score(value=dict(values), answer=answer)

    return score


@scorer(metrics=_METRICS)
def lenient(model: str, words: Prompts) -> Scorer:
    """Whether the answer matches the true one, by another model."""
    return _by_judge(model, "lenient", words)


@scorer(metrics=_METRICS)
def strict(model: str, words: Prompts) -> Scorer:
    """Whether the answer is fully right, by another model."""
    return _by_judge(model, "strict", words)


def _by_judge(model: str, wording: str, words: Prompts) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        reason = _unanswered(state)
        if reason:
            return Score.unscored(explanation=reason)
        answer = readable(state.output.completion).strip()
        prompt = words.fill(
            f"judge_{wording}", question=state.input_text, gold=target.text, answer=answer
        )
        try:
            output = await get_model(model).generate(prompt)
        except Exception as error:
            return Score.unscored(explanation=f"the judge: {reason_of(error).reason}")
        right = read_verdict(readable(output.completion))
        if right is None:
            return Score.unscored(explanation="the judge gave no verdict")
        return Score(value=right, answer=answer)

    return score


def _unanswered(state: TaskState) -> str:
    """Why there is no answer, "" where there is one."""
    if state.output.choices and state.output.stop_reason == "model_length":
        return "too long for the model"
    if state.output.choices and state.output.stop_reason == "content_filter":
        return "refused"
    return "empty answer" if is_blank(readable(state.output.completion)) else ""
