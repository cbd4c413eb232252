"""Four ways to continue as somebody without a language model: what any model has to beat.

    simulator = Retrieve()
    simulator.prepare(task.learning)
    simulator.solve(task.prompts)[0]    → Answer("haha no way")

`copy` repeats what was said last, `constant` says one flat thing, `common` always the speaker's
most typical turn, `retrieve` what the speaker said in the other chat where the context was
nearest. On raw agreement a constant is hard to beat: most turns are not reflective.

    near = Nearness("encoder")                       # or "words"
    near.index(["hi there", "the oven broke"])(["my oven is dead"])    → [[1, 0]]
    near.central(["ok", "ok then", "fine, ok"])      → 0, the one most like all others

`encoder` is the sentence encoder that ships with the package; `words` needs no model: BM25 for
the nearest, shared words for the central one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from realtalk.encoders.lexical import Bm25, best_first
from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, PlainSolver, Settings
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import cosines, shipped_encoder
from realtalk.persona.values import Learning, TurnPrompt
from realtalk.registry import known_name
from realtalk.text.words import words_and_emoji

_WAYS = ("encoder", "words")
_TURNS = 2  # of a context that are compared: what is answered, and what that answered
# For each text the places of those that were indexed, nearest first.
Nearest: TypeAlias = Callable[[Sequence[str]], list[list[int]]]


class Nearness:
    """A way of telling what is near: by meaning, or by words in common."""

    def __init__(self, way: str = "encoder") -> None:
        known_name("way of finding the nearest", way, _WAYS)
        self._encoder = shipped_encoder() if way == "encoder" else None
        self.version = f"encoder {self._encoder.version}" if self._encoder else "words 1"

    def index(self, texts: Sequence[str]) -> Nearest:
        """These texts, to be asked which of them are nearest."""
        if (encoder := self._encoder) is None:
            ranking = Bm25(texts)
            return lambda asked: [best_first(ranking.scores(text)) for text in asked]
        vectors = encoder.embed(texts)
        # What was embedded once is not again: training asks for the very texts that are indexed.
        vector_of = dict(zip(texts, vectors, strict=True))

        def nearest(asked: Sequence[str]) -> list[list[int]]:
            if new := [text for text in dict.fromkeys(asked) if text not in vector_of]:
                vector_of.update(zip(new, encoder.embed(new), strict=True))
            near = (cosines(vectors, vector_of[text]) for text in asked)
            return [best_first(row.astype(np.float64)) for row in near]

        return nearest

    def central(self, texts: Sequence[str]) -> int:
        """The place of the text that is most like all of them; of equals the first."""
        if self._encoder is not None:
            vectors = self._encoder.embed(texts)
            # The mean cosine with all others is that with their sum, and with itself always 1.
            return int(np.argmax(cosines(vectors, vectors.sum(axis=0))))
        word_sets = [set(words_and_emoji(text)) for text in texts]

        def likeness(at: int) -> float:
            own = word_sets[at]
            return sum(2 * len(own & words) / max(1, len(own) + len(words)) for words in word_sets)

        return max(range(len(texts)), key=likeness)


class Copy(PlainSolver):
    """Repeats the last thing that somebody else said."""

    name = "copy"

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        answers = []
        for prompt in shown:
            others = [turn.text for turn in prompt.context if turn.speaker != prompt.speaker]
            silence = "" if others else "nobody else speaks in the context"
            answers.append(Answer(others[-1] if others else None, silence))
        return answers


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


class _FromOwnTurns(PlainSolver):
    """Repeats turns of the speaker; `by` says what is near."""

    def __init__(self, *, by: str = "encoder") -> None:
        self._by = by
        self._near = Nearness(by)
        self._texts: list[str] = []

    @property
    def settings(self) -> Settings:
        return {"by": self._by, "nearness": self._near.version}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        refuse_empty(learning)
        progress(0, 0, f"reading {learning.chat.id}")
        self._texts = [turn.text for turn in learning.turns]


class Common(_FromOwnTurns):
    """The one turn of the speaker that is most like all of them, every time."""

    name = "common"

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._texts = [self._texts[self._near.central(self._texts)]]

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [Answer(self._texts[0])] * len(shown)


class Retrieve(_FromOwnTurns):
    """What the speaker said where the context was nearest."""

    name = "retrieve"

    @property
    def settings(self) -> Settings:
        return {**super().settings, "turns": _TURNS}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._index = self._near.index([gist(turn.prompt) for turn in learning.turns])

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        progress(0, len(shown), "finding the nearest context")
        ranked = self._index([gist(prompt) for prompt in shown])
        return [Answer(self._texts[places[0]]) for places in ranked]


def gist(prompt: TurnPrompt) -> str:
    """The end of a context, which is what a turn answers."""
    return "\n".join(turn.text for turn in prompt.context[-_TURNS:])


def refuse_empty(learning: Learning) -> None:
    """Raises where there is nothing to learn from."""
    if not learning.turns:
        raise RealtalkError(f"{learning.speaker} has no turn to learn from", where=learning.chat.id)
