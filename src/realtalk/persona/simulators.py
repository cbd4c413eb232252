"""Four ways to continue as somebody without a language model: what any model has to beat.

    simulator = Retrieve()
    simulator.prepare(task.learning)
    simulator.solve(task.prompts)[0]    → Answer("haha no way")

`copy` repeats what was said last, `constant` says one flat thing, `common` always the speaker's
most typical turn, `retrieve` what the speaker said in the other chat where the context was
nearest. On raw agreement a constant is hard to beat: most turns are not reflective.
"""

from __future__ import annotations

from collections.abc import Sequence

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.persona.nearness import Index, Nearness, nearness
from realtalk.persona.values import Learning, Settings, TurnPrompt

_TURNS = 2  # of a context that are compared: what is answered, and what that answered


class Copy(PlainSolver):
    """Repeats the last thing that somebody else said."""

    name = "copy"

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [_said(_last_of_others(prompt)) for prompt in shown]


def _last_of_others(prompt: TurnPrompt) -> str | None:
    others = (turn.text for turn in reversed(prompt.context) if turn.speaker != prompt.speaker)
    return next(others, None)


def _said(text: str | None) -> Answer[str]:
    return Answer(text, "" if text is not None else "nobody else speaks in the context")


class Constant(PlainSolver):
    """Says the same flat thing every time."""

    name = "constant"

    def __init__(self, *, says: str = "ok") -> None:
        if not says.strip():
            raise RealtalkError("a constant needs words", fix="give it: `settings=says=ok`")
        self._says = says

    @property
    def settings(self) -> Settings:
        return {"says": self._says}

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [Answer(self._says)] * len(shown)


class Common(PlainSolver):
    """The one turn of the speaker that is most like all of them, every time."""

    name = "common"

    def __init__(self, *, by: str = "encoder") -> None:
        self._by = by
        self._near = nearness(by)
        self._turn: str | None = None

    @property
    def settings(self) -> Settings:
        return {"by": self._by, "nearness": self._near.version}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:  # noqa: ARG002
        refuse_empty(learning)
        texts = [turn.text for turn in learning.turns]
        self._turn = texts[self._near.central(texts)]

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        if self._turn is None:
            raise ValueError("prepare comes first")
        return [Answer(self._turn)] * len(shown)


class Retrieve(PlainSolver):
    """What the speaker said where the context was nearest."""

    name = "retrieve"

    def __init__(self, *, by: str = "encoder") -> None:
        self._by = by
        self._near: Nearness = nearness(by)
        self._index: Index | None = None
        self._texts: list[str] = []

    @property
    def settings(self) -> Settings:
        return {"by": self._by, "nearness": self._near.version, "turns": _TURNS}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        refuse_empty(learning)
        progress(0, 0, f"reading {learning.chat.id}")
        self._texts = [turn.text for turn in learning.turns]
        self._index = self._near.index([gist(turn.prompt) for turn in learning.turns])

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        if self._index is None:
            raise ValueError("prepare comes first")
        progress(0, len(shown), "finding the nearest context")
        ranked = self._index.nearest([gist(prompt) for prompt in shown])
        return [Answer(self._texts[places[0]]) for places in ranked]


def gist(prompt: TurnPrompt) -> str:
    """The end of a context, which is what a turn answers."""
    return "\n".join(turn.text for turn in prompt.context[-_TURNS:])


def refuse_empty(learning: Learning) -> None:
    """Raises where there is nothing to learn from."""
    if not learning.turns:
        raise RealtalkError(f"{learning.speaker} has no turn to learn from", where=learning.chat.id)
