"""Persona simulation as an Inspect task, for `tasks` to register.

    inspect eval realtalk/persona_simulation -T path=sample -T speaker=Mara \\
        --model openai/gpt-4o-mini

A sample is one turn of the speaker in the tested chat; what they really wrote is its target, and
the solver puts the chat so far into the prompt when the turn comes. Scores are those of
`realtalk persona simulate`, turn by turn; kappa and distances need all turns at once and are
there only. Needs inspect-ai (extra llm): only `tasks` and tests import this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from realtalk.corpora.opening import open_reading
from realtalk.errors import RealtalkError
from realtalk.models.replies import readable
from realtalk.persona.prompting import PROMPT_VERSION, cleaned, text_of
from realtalk.persona.rows import SCORES
from realtalk.persona.scoring import Scorer as PersonaScorer
from realtalk.persona.styles import Guide
from realtalk.persona.turns import CONTEXT_SESSIONS, CONTEXT_TOKENS, tasks
from realtalk.persona.values import PersonaTask, PersonaTurn, Simulated

__all__ = ["persona_simulation"]

_VERSION = "1"
_UNASKED = {"model_length": "too long for the model", "content_filter": "refused"}


@task
def persona_simulation(
    path: str = "sample",
    speaker: str | None = None,
    context_sessions: int = CONTEXT_SESSIONS,
    context_tokens: int = CONTEXT_TOKENS,
    style: bool = False,
    choice: str = "ei",
    turns: int | None = None,
) -> Task:
    """A speaker's turns, continued by a model and compared with what they wrote.

    Without `speaker` everybody with two chats. `style` also tells how the speaker writes in the
    other chat. `turns` takes each speaker's first ones (`--limit` of Inspect the first of all).
    """
    corpus = open_reading(path).reading.corpus
    found = tasks(
        corpus,
        context_sessions=context_sessions,
        context_tokens=context_tokens,
        speaker=speaker,
        choice=choice,
    )
    if turns is not None and turns < 1:
        raise RealtalkError(f"turns must be 1 or more, not {turns}")
    asked = {each.speaker: each for each in found}
    scoring = PersonaScorer(corpus)
    judges = [scoring.can_judge(each) for each in found]  # of everybody, before turns come singly
    names = tuple(
        name
        for name in SCORES
        if (all(judges) or name != "taken_for")
        and (scoring.compares_meaning or name not in {"semantic", "cosine"})
    )
    chosen = [(each.speaker, turn) for each in found for turn in each.turns[:turns]]
    return Task(
        dataset=MemoryDataset([_sample(who, turn) for who, turn in chosen], name=corpus.name),
        solver=continued(asked, style),
        scorer=against_the_person(asked, scoring, names),
        version=_VERSION,
        fail_on_error=0.9999,  # a fault of the provider costs its turn, not all
        metadata={"prompts": PROMPT_VERSION, "style": style, "scoring": scoring.settings},
    )


def _sample(speaker: str, turn: PersonaTurn) -> Sample:
    return Sample(
        input=turn.id,
        target=turn.text,
        id=f"{speaker}:{turn.id}",
        metadata={"speaker": speaker, "turn": turn.id, "chat": turn.prompt.chat},
    )


@solver
def continued(asked: Mapping[str, PersonaTask], style: bool) -> Solver:
    """Shows the model the chat so far and lets it go on."""
    prompts = {(who, prompt.id): prompt for who, each in asked.items() for prompt in each.prompts}
    guides: dict[str, Guide] = {}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        who = state.metadata["speaker"]
        prompt = prompts[who, state.metadata["turn"]]
        told = ""
        if style:
            if who not in guides:
                guides[who] = Guide(asked[who].learning)
            told = guides[who].text(prompt)
        state.messages = [ChatMessageUser(content=text_of(prompt, told))]
        return await generate(state)

    return solve


def against_the_person(
    asked: Mapping[str, PersonaTask], scoring: PersonaScorer, names: Sequence[str]
) -> Scorer:
    """Content, EI and authorship of one turn beside what was really written."""
    known = {(who, turn.id): turn for who, each in asked.items() for turn in each.turns}
    metrics = [grouped(mean(), "speaker"), stderr(cluster="speaker")]

    @scorer(metrics=dict.fromkeys(names, metrics), name="against_the_person")
    def made() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001
            who = state.metadata["speaker"]
            turn = known[who, state.metadata["turn"]]
            stopped = state.output.stop_reason if state.output.choices else None
            if stopped in _UNASKED:
                return Score.unscored(explanation=_UNASKED[stopped])
            said = cleaned(readable(state.output.completion), turn.prompt)
            one = replace(asked[who], turns=(turn,))
            row = scoring.score(one, [Simulated(turn.id, said or None, "empty answer")])[0][0]
            missing = [name for name in names if row[name] is None]
            if missing:
                reason = row["unscored"] or "; ".join(row["left_out"])
                return Score.unscored(explanation=reason)
            return Score(value={name: row[name] for name in names}, answer=said)

        return score

    return made()
