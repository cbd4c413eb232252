"""Persona simulation and who wrote it as Inspect tasks.

    inspect eval realtalk/persona_simulation -T path=sample -T speaker=Mara \\
        --model openai/gpt-4o-mini
    inspect eval realtalk/persona_simulation -T style=true -T turns=50 -T prompts=my-prompts
    inspect eval realtalk/persona_guess -T path=sample -T simulated=as-mara --model …

Needs inspect-ai (extra llm): only tasks.py and tests import this.
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai import Task, task

from realtalk.evals.inspecting import inspect_task
from realtalk.evals.run import Run
from realtalk.formats.opening import open_reading
from realtalk.persona.benchmark import KIND, PersonaBenchmark
from realtalk.persona.guessing import GuessBenchmark, run_tasks, simulated_texts
from realtalk.persona.prompting import LlmGuesser, LlmSimulator
from realtalk.persona.turns import CONTEXT_SESSIONS, CONTEXT_TOKENS, choices_of, tasks_of


@task
def persona_simulation(
    path: str = "sample",
    speaker: str | None = None,
    context_sessions: int = CONTEXT_SESSIONS,
    context_tokens: int = CONTEXT_TOKENS,
    style: bool = False,
    choice: str = "ei",
    turns: int | None = None,
    seed: int = 0,
    prompts: str | None = None,
) -> Task:
    """A speaker's turns, continued by a model and compared with what they wrote.

    Without `speaker` everybody with two chats. `style` also tells how the speaker writes in the
    other chat. `turns` takes each speaker's first ones (`--limit` of Inspect the first of all).
    """
    corpus = open_reading(path).reading.corpus
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    tested = tasks_of(corpus, choices_of(corpus, speaker=speaker, choice=choice), **context)
    folder = Path(prompts) if prompts else None
    # Inspect says which model.
    model = LlmSimulator(model="inspect/any", style=style, prompts=folder, seed=seed)
    benchmark = PersonaBenchmark(corpus, tested, limit=turns)
    return inspect_task(benchmark, corpus, model, metadata={"style": style})


@task
def persona_guess(
    path: str = "sample",
    speaker: str | None = None,
    simulated: str | None = None,
    context_sessions: int = CONTEXT_SESSIONS,
    context_tokens: int = CONTEXT_TOKENS,
    style: bool = True,
    choice: str = "ei",
    turns: int | None = None,
    seed: int = 0,
    prompts: str | None = None,
) -> Task:
    """Which of four replies did the speaker write here? Chance is .25.

    `simulated` is a folder that `realtalk persona run` wrote, whose chats and contexts are then
    taken; without one the fourth reply is another speaker's, too. Without `style` the model is not
    told how the speaker writes elsewhere. `turns` takes each speaker's first ones.
    """
    corpus = open_reading(path).reading.corpus
    runs = [Run.load(simulated, KIND)] if simulated else []
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    if runs:
        tested = run_tasks(corpus, runs, speaker)
    else:
        tested = tasks_of(corpus, choices_of(corpus, speaker=speaker, choice=choice), **context)
    texts = simulated_texts({run.name: [run] for run in runs})
    folder = Path(prompts) if prompts else None
    model = LlmGuesser(model="inspect/any", style=style, prompts=folder, seed=seed)
    benchmark = GuessBenchmark(corpus, tested, simulated=texts, seed=seed, limit=turns)
    return inspect_task(benchmark, corpus, model, metadata={"style": style})
