"""Somebody's replies elsewhere → whether a text is taken for theirs, by who-wrote-it.

    authors = Authors(corpus, targets)
    authors.shares("mara", ["phew, again", "I concur."])    → [0.71, 0.18]; None: too little known
    authors.known    → {"judged": 412, "too little": 203}   people

The judge is that of the persona benchmark. It learns from what a person replied before the first
reply that is asked about, in other threads, and from as many replies of others in those same
threads, so that topics do not tell them apart. Whoever wrote too little has no judge: their texts
are unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from realtalk.chat import Corpus
from realtalk.persona.scoring import FEWEST_TURNS, WhoWroteIt
from realtalk.threads.forest import NO_TIME, Forest, ticks
from realtalk.threads.values import Target

MOST = 200  # latest replies that are learned from


class Authors:
    """One judge per person, made when it is first asked."""

    def __init__(self, corpus: Corpus, targets: Sequence[Target]) -> None:
        self._forest = Forest.grow(corpus.chats)
        self._numbers = {name: at for at, name in enumerate(self._forest.names)}
        self._asked: dict[str, tuple[int, set[str]]] = {}  # from when on, and where
        for target in targets:
            since, threads = self._asked.get(target.user, (ticks(target.time), set()))
            since = min(since, ticks(target.time))
            self._asked[target.user] = (since, threads | {target.thread})
        self._judges: dict[str, WhoWroteIt | None] = {}
        self._by_author: dict[int, list[int]] = {}
        self._by_thread: dict[int, list[int]] = {}
        plain, gone = self._forest.plain, self._forest.gone.tolist()
        for row in range(len(self._forest)):
            if plain.parent[row] >= 0 <= plain.author[row] and not gone[row]:
                self._by_author.setdefault(plain.author[row], []).append(row)
                self._by_thread.setdefault(plain.thread[row], []).append(row)

    @property
    def known(self) -> dict[str, int]:
        """Of how many people it can be told, among those who were asked about."""
        told = Counter(
            "too little" if self._judge(user) is None else "judged" for user in self._asked
        )
        return {"judged": told["judged"], "too little": told["too little"]}

    def shares(self, user: str, texts: Sequence[str]) -> list[float | None]:
        """How much each text looks like the person's."""
        judge = self._judge(user)
        return [None] * len(texts) if judge is None else list(judge.shares(texts))

    def _judge(self, user: str) -> WhoWroteIt | None:
        if user not in self._judges:
            own, others = self._learned(user)
            enough = min(len(own), len(others)) >= FEWEST_TURNS
            self._judges[user] = WhoWroteIt.learn(own, others) if enough else None
        return self._judges[user]

    def _learned(self, user: str) -> tuple[list[str], list[str]]:
        """Replies of the person, and of others beside them in the same threads."""
        forest, plain = self._forest, self._forest.plain
        since, tested = self._asked[user]
        author = self._numbers[user]
        own = [
            row
            for row in self._by_author.get(author, [])
            if NO_TIME < plain.time[row] < since and forest.threads[plain.thread[row]] not in tested
        ]
        own = sorted(own, key=lambda row: (plain.time[row], row))[-MOST:]
        taken: set[int] = set()
        for row in own:
            beside = [
                each
                for each in self._by_thread[plain.thread[row]]
                if plain.author[each] != author and each not in taken
            ]
            if beside:
                taken.add(min(beside, key=lambda each: abs(plain.time[each] - plain.time[row])))
        return [forest.text(row) for row in own], [forest.text(row) for row in sorted(taken)]
