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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from realtalk.chat import Chat, Corpus
from realtalk.ei.labels import turn_inputs
from realtalk.ei.told_apart import sparse_features
from realtalk.metrics.statistics import SEED, Estimate, wilson
from realtalk.persona.values import PersonaTask

AUTHORSHIP_VERSION = "1"
_FOLDS = 5
FEWEST_TURNS = 10  # turns of each side, below which nothing is learned


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
        found = np.array([model.predict_proba(table)[:, 1] for model in self._models])
        return [
            float(found[fold, at] if fold is not None else found[:, at].mean())
            for at, fold in enumerate(self._fold_of.get(text) for text in texts)
        ]


@dataclass(frozen=True, slots=True)
class Trial:
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
    elsewhere = [chat for chat in corpus.chats if chat.id != task.test.id]
    others = [text for chat in elsewhere for text in _said(chat, partners)]
    asked = _said(task.test, partners)
    source = "other chats"
    if len(others) < FEWEST_TURNS:
        half = len(task.test.sessions) // 2
        early = {session.number for session in task.test.sessions[:half]}
        others = _said(task.test, partners, early)
        asked = asked[len(others) :]
        source = "the tested chat, first half"
    if min(len(own), len(others)) < FEWEST_TURNS:
        reason = f"fewer than {FEWEST_TURNS} turns of one side to learn from"
        none = Estimate(None, unscored=reason)
        return Trial(None, none, none, len(own), len(others), source, reason)
    judge = WhoWroteIt.learn(own, others)
    truths = [turn.text for turn in task.turns if turn.text]
    return Trial(
        judge,
        taken_for(judge.shares(truths)),
        taken_for(judge.shares(asked)),
        len(own),
        len(others),
        source,
    )


def _said(chat: Chat, who: set[str], sessions: set[int] | None = None) -> list[str]:
    return [
        given.text
        for given in turn_inputs(Corpus(chat.id, "", (chat,)))
        if given.speaker in who
        and given.text.strip()
        and (sessions is None or given.session in sessions)
    ]


def taken_for(shares: Sequence[float]) -> Estimate:
    """How often texts are taken for the speaker."""
    hits = [float(share > 0.5) for share in shares]
    if not hits:
        return Estimate(None, unscored="no text")
    low, high = wilson(hits) or (None, None)
    return Estimate(sum(hits) / len(hits), low, high, len(hits))
