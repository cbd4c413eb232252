"""Real turns of two people → which of them a text is taken for.

    judge = WhoWroteIt.learn(own=["haha no", "lol ok"], others=["Good evening.", "I agree."])
    judge.shares(["haha lol"])       → [0.71], how much it looks like the first
    trial = hold_trial(corpus, task) → Trial(judge, ceiling=…, floor=…, learned_own=129, …)

Logistic regression on TF-IDF of characters and words, both people weighing the same. It learns
from turns outside the tested chat: the speaker's in the chat that is learned from, the partner's
in their other chats. Where the partner has no other chat, the first half of their sessions in
the tested one is learned from and only the second is asked about. The speaker's turns in the
tested chat are never learned from. `ceiling` is how often they are taken for the speaker,
`floor` how often the partner's are; chance is .5. A simulator may give back a turn that was
learned from word for word: such a text is judged by a model that was not told its writer. Even
so it carries the topics of the learned chat, so that `retrieve` may pass the ceiling.

    guesser = ByStyle()                     # "classifier"
    guesser.prepare(task.learning)
    guesser.solve([lineup])                 → [Answer(2)], the place of the reply

Two ways to guess who wrote it without a language model: `classifier` takes the reply that looks
most like the speaker's turns, `nearness` the one whose meaning is nearest to what was said before,
to what the speaker wrote elsewhere, or to both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from realtalk.chat import Chat, Corpus
from realtalk.ei.labels import turn_text
from realtalk.ei.told_apart import sparse_features
from realtalk.evals.values import Answer, PlainSolver, Settings
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Encoder, shipped_encoder
from realtalk.metrics.statistics import SEED, Estimate, wilson
from realtalk.persona.lineups import Lineup
from realtalk.persona.simulators import gist, refuse_empty
from realtalk.persona.values import Learning, PersonaTask
from realtalk.registry import known_name

AUTHORSHIP_VERSION = "1"
_FOLDS = 5
FEWEST_TURNS = 10  # turns of each side, below which nothing is learned
_TOO_FEW = f"fewer than {FEWEST_TURNS} turns of one side to learn from"


class WhoWroteIt:
    """Tells one person's turns from another's."""

    def __init__(self, features: Any, models: Sequence[Any], fold_of: Mapping[str, int]) -> None:
        self._features = features
        self._models = models
        self._fold_of = fold_of

    @classmethod
    def learn(cls, own: Sequence[str], others: Sequence[str]) -> WhoWroteIt:
        """Five models, each of which was not told who wrote a fifth of the texts."""
        from sklearn.linear_model import LogisticRegression

        fold_of: dict[str, int] = {}
        for side in (own, others):
            for at, text in enumerate(dict.fromkeys(side)):
                fold_of.setdefault(text, at % _FOLDS)
        texts = [*own, *others]
        whose = np.array([1] * len(own) + [0] * len(others))
        folds = np.array([fold_of[text] for text in texts])
        features = sparse_features()
        table = features.fit_transform(texts).tocsr()
        models = [
            LogisticRegression(
                C=4.0, class_weight="balanced", solver="liblinear", random_state=SEED
            ).fit(table[folds != fold], whose[folds != fold])
            for fold in range(_FOLDS)
        ]
        return cls(features, models, fold_of)

    def shares(self, texts: Sequence[str]) -> list[float]:
        """How much each text looks like the first person's: above .5 it is taken for theirs.

        A text that was learned from is judged by the model that was not told its writer, any
        other by the mean of all.
        """
        if not texts:
            return []
        table = self._features.transform(list(texts))
        chances = np.array([model.predict_proba(table)[:, 1] for model in self._models])
        return [
            float(chances[fold, at] if fold is not None else chances[:, at].mean())
            for at, fold in enumerate(self._fold_of.get(text) for text in texts)
        ]


class Trial(NamedTuple):
    """A judge for one speaker, and what real turns get from it. No judge: too little to learn."""

    judge: WhoWroteIt | None
    ceiling: Estimate
    floor: Estimate
    learned_own: int
    learned_others: int
    partner_from: str  # "other chats", or "the tested chat, first half"
    unscored: str = ""


def hold_trial(corpus: Corpus, task: PersonaTask) -> Trial:
    """Learns to tell the task's speaker from their partners in the tested chat."""
    partners = set(task.test.speakers) - {task.speaker}
    own = [turn.text for turn in task.learning.turns]
    # The chat to learn from may hold the same partner: their turns there are outside the test.
    elsewhere = [
        chat
        for chat in corpus.chats
        if chat.id != task.test.id and not partners.isdisjoint(chat.speakers)
    ]
    others = [text for chat in elsewhere for text in _texts_of(chat, partners)]
    partner_texts = _texts_of(task.test, partners)
    source = "other chats"
    if len(others) < FEWEST_TURNS:
        half = len(task.test.sessions) // 2
        early = {session.number for session in task.test.sessions[:half]}
        others = _texts_of(task.test, partners, early)
        partner_texts = partner_texts[len(others) :]
        source = "the tested chat, first half"
    if min(len(own), len(others)) < FEWEST_TURNS:
        none = Estimate(None, unscored=_TOO_FEW)
        return Trial(None, none, none, len(own), len(others), source, _TOO_FEW)
    judge = WhoWroteIt.learn(own, others)
    truths = [turn.text for turn in task.turns if turn.text]
    return Trial(
        judge,
        share_taken(judge.shares(truths)),
        share_taken(judge.shares(partner_texts)),
        len(own),
        len(others),
        source,
    )


def _texts_of(chat: Chat, who: set[str], sessions: set[int] | None = None) -> list[str]:
    return [
        text
        for turn in chat.turns
        if turn.speaker in who
        and (sessions is None or turn.session in sessions)
        and (text := turn_text(turn)).strip()
    ]


def share_taken(shares: Sequence[float]) -> Estimate:
    """How often texts are taken for the speaker."""
    hits = [float(share > 0.5) for share in shares]
    if not hits:
        return Estimate(None, unscored="no text")
    low, high = wilson(hits)
    return Estimate(sum(hits) / len(hits), low, high, len(hits))


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
        others = _texts_of(learning.chat, set(learning.chat.speakers) - {learning.speaker})
        enough = min(len(own), len(others)) >= FEWEST_TURNS
        self._judge = WhoWroteIt.learn(own, others) if enough else None

    def solve(self, shown: Sequence[Lineup], progress: Progress = silent) -> list[Answer[int]]:  # noqa: ARG002
        if self._judge is None:
            return [Answer(None, _TOO_FEW)] * len(shown)
        shares = iter(self._judge.shares([text for lineup in shown for text in lineup.replies]))
        return [Answer(int(np.argmax([next(shares) for _ in lineup.replies]))) for lineup in shown]


class ByMeaningNear(PlainSolver):
    """By the cosine of sentence vectors.

    `to` the context is to the last two turns, `to` the speaker to the nearest of their turns in
    the chat that is learned from; a reply that stands there word for word is not compared with
    itself.
    """

    name = "nearness"

    def __init__(self, *, to: str = "both", encoder: Encoder | None = None) -> None:
        known_name("side to be near to", to, _TO)
        self._to = to
        self._encoder = encoder or shipped_encoder()
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
        progress(0, len(shown), "finding the nearest reply")
        vectors = iter(self._encoder.embed([text for lineup in shown for text in lineup.replies]))
        contexts = self._encoder.embed([gist(lineup.prompt) for lineup in shown])
        answers = []
        for lineup, context in zip(shown, contexts, strict=True):
            replies = np.array(list(islice(vectors, len(lineup.replies))))
            near = np.zeros(len(replies))
            if self._to != "speaker":
                near += replies @ context
            if self._to != "context":
                cosines = replies @ self._own.T
                for row, text in zip(cosines, lineup.replies, strict=True):
                    if text in self._texts and len(self._texts) > 1:
                        row[self._texts.index(text)] = -1.0
                near += np.sort(cosines, axis=1)[:, -_NEAREST:].mean(axis=1)
            answers.append(Answer(int(np.argmax(near))))
        return answers
