"""Two ways to guess who wrote it without a language model.

    guesser = ByStyle()                     # "classifier"
    guesser.prepare(task.learning)
    guesser.solve([lineup])                 → [Answer(2)], the place of the reply

`classifier` tells the speaker's turns from the others' in the chat that is learned from
(authorship.py) and takes the reply that looks most like theirs. `nearness` takes the reply whose
meaning is nearest to what was said before, to what the speaker wrote elsewhere, or to both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from realtalk.chat import Corpus
from realtalk.ei.labels import turn_inputs
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Encoder, Rows, shipped_encoder
from realtalk.persona.authorship import AUTHORSHIP_VERSION, FEWEST_TURNS, WhoWroteIt
from realtalk.persona.lineups import Lineup
from realtalk.persona.simulators import gist, refuse_empty
from realtalk.persona.values import Learning, Settings
from realtalk.registry import suggest

_TO = ("both", "context", "speaker")
_NEAREST = 5  # turns of the speaker that a reply is compared with


class ByStyle(PlainSolver):
    """By the classifier of authorship."""

    name = "classifier"

    def __init__(self) -> None:
        self._judge: WhoWroteIt | None = None

    @property
    def settings(self) -> Settings:
        return {"authorship": AUTHORSHIP_VERSION}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        progress(0, 0, f"reading {learning.chat.id}")
        own = [turn.text for turn in learning.turns]
        others = [
            each.text
            for each in turn_inputs(Corpus(learning.chat.id, "", (learning.chat,)))
            if each.speaker != learning.speaker and each.text.strip()
        ]
        enough = min(len(own), len(others)) >= FEWEST_TURNS
        self._judge = WhoWroteIt.learn(own, others) if enough else None

    def solve(self, shown: Sequence[Lineup], progress: Progress = silent) -> list[Answer[int]]:  # noqa: ARG002
        if self._judge is None:
            reason = f"fewer than {FEWEST_TURNS} turns of one side to learn from"
            return [Answer(None, reason)] * len(shown)
        shares = iter(self._judge.shares([text for each in shown for text in each.replies]))
        return [Answer(int(np.argmax([next(shares) for _ in each.replies]))) for each in shown]


class ByMeaningNear(PlainSolver):
    """By the cosine of sentence vectors.

    `to` the context is to the last two turns, `to` the speaker to the nearest of their turns in
    the chat that is learned from; a reply that stands there word for word is not compared with
    itself.
    """

    name = "nearness"

    def __init__(self, *, to: str = "both", encoder: Encoder | None = None) -> None:
        if to not in _TO:
            raise suggest("side to be near to", to, list(_TO))
        self._to = to
        self._encoder = encoder or shipped_encoder()
        self._own: Rows | None = None
        self._texts: list[str] = []

    @property
    def settings(self) -> Settings:
        return {"to": self._to, "nearness": f"encoder {self._encoder.version}"}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        refuse_empty(learning)
        progress(0, 0, f"reading {learning.chat.id}")
        self._texts = list(dict.fromkeys(turn.text for turn in learning.turns))
        self._own = self._encoder.embed(self._texts)

    def solve(self, shown: Sequence[Lineup], progress: Progress = silent) -> list[Answer[int]]:
        if self._own is None:
            raise ValueError("prepare comes first")
        progress(0, len(shown), "finding the nearest reply")
        replies = self._encoder.embed([text for each in shown for text in each.replies])
        contexts = self._encoder.embed([gist(each.prompt) for each in shown])
        answers, at = [], 0
        for each, context in zip(shown, contexts, strict=True):
            own = replies[at : at + len(each.replies)]
            at += len(each.replies)
            near = np.zeros(len(own))
            if self._to != "speaker":
                near += own @ context
            if self._to != "context":
                near += self._to_speaker(own, each.replies)
            answers.append(Answer(int(np.argmax(near))))
        return answers

    def _to_speaker(self, vectors: Rows, texts: Sequence[str]) -> Rows:
        assert self._own is not None
        cosines = vectors @ self._own.T
        for row, text in zip(cosines, texts, strict=True):
            if text in self._texts and len(self._texts) > 1:
                row[self._texts.index(text)] = -1.0
        nearest = np.sort(cosines, axis=1)[:, -_NEAREST:]
        return np.asarray(nearest.mean(axis=1), np.float32)
