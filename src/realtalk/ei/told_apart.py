"""Turns of two corpora → one figure: how well a classifier tells whose a turn is that it never saw.

    found = told_apart(people, models, labels)
    found["words"].auc     → Estimate(value=0.93, low=0.9, high=0.95, n=4120); .5: cannot be told
    found["facets"].auc    → the same by what is felt in a turn and how it is written

A classifier of words sees letters and words (speakers' names hidden), one of facets the EI labels
of the turn and figures of its style. A person is one over both corpora: "Mara (simulated)" is Mara.
Nobody who writes in a chat that is asked about, or is written as in it, stands in what is learned
from, on either side: else a classifier that knows Mara as a person would take her simulation for
one too. Where people are too few for that, the figure is unscored. It is the chance that of two
held-out turns, one of each corpus, the second corpus' looks more like it: the mean over pairs of
chats, so that a long chat counts no more than a short one. Intervals draw whole chats; they do not
learn again.

    circles([{"mara", "theo"}, {"ines"}, {"theo", "juno"}])     → [0, 1, 0]
    folds, learned = hold_out(people, sides, sizes)
    folds, learned[0]     → [0, 1, 0, 1], [False, True, False, True]: chats that fold 0 learns from

A person is one over both sides, as they write and as a model writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from realtalk.cells import Grid
from realtalk.chat import Chat, Corpus, is_nobody, person_key
from realtalk.ei.labels import COMPONENTS, WORDS, TurnInput, turn_inputs
from realtalk.files.progress import Progress, silent
from realtalk.metrics.statistics import (
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    percentile_interval,
)
from realtalk.metrics.writing import sparse_features
from realtalk.text.words import words_and_emoji

_FOLDS = 5


def person_keys(chat: Chat) -> frozenset[str]:
    """Who writes in a chat or is written as; accounts that are gone are nobody."""
    return frozenset(person_key(who) for who in chat.speakers if not is_nobody(who))


def circles(people: Sequence[frozenset[Hashable]]) -> list[int]:
    """The people of every chat → its circle: who shares a chat, directly or through others."""
    circle = list(range(len(people)))
    home: dict[Hashable, int] = {}
    for at, those in enumerate(people):
        for who in those:
            other, mine = circle[home.setdefault(who, at)], circle[at]
            circle = [other if each == mine else each for each in circle]
    return circle


def hold_out(
    people: Sequence[frozenset[str]], sides: Any, sizes: Sequence[int]
) -> tuple[Any, list[Any]]:
    """The fold of every chat, and by fold which chats may be learned from.

    Where everybody knows everybody through others, chats are held out with whoever is in them: a
    fold leaves fewer chats to learn from, and where none are left on a side it is not asked.
    """
    folds = _folds(circles(people), sides, sizes)
    found = np.full(len(people), -1)
    learned: list[Any] = []
    for fold in range(int(folds.max()) + 1):
        asked = folds == fold
        known = frozenset(who for at, those in enumerate(people) if asked[at] for who in those)
        free = ~asked & np.array([known.isdisjoint(each) for each in people])
        if all(len(set(sides[which])) == 2 for which in (asked, free)):
            found[asked] = len(learned)
            learned.append(free)
    return found, learned


def _folds(circle: Sequence[int], sides: Any, sizes: Sequence[int]) -> Any:
    """Whole circles of people into folds of both sides and of like size, where there are enough."""
    groups: dict[int, list[int]] = {}
    for at, number in enumerate(circle):
        groups.setdefault(number, []).append(at)
    whose = {number: set(sides[group].tolist()) for number, group in groups.items()}
    on_both = sum(len(each) == 2 for each in whose.values())
    on_one = [sum(each == {side} for each in whose.values()) for side in (0, 1)]
    count = min(_FOLDS, on_both + min(on_one))
    folds = np.zeros(len(sides), dtype=np.int64)
    if count < 2:
        for side in (0, 1):  # neighbours together: chats of one circle mostly follow each other
            mine = np.flatnonzero(sides == side)
            folds[mine] = np.arange(len(mine)) * min(_FOLDS, *np.bincount(sides)) // len(mine)
        return folds
    filled = np.zeros((count, 2))
    # Circles on both sides first: what is on one side alone then fills the folds without that side.
    turns = {number: sum(sizes[at] for at in group) for number, group in groups.items()}
    for number in sorted(groups, key=lambda each: (-len(whose[each]), -turns[each], each)):
        emptiest = int(filled[:, sorted(whose[number])].sum(axis=1).argmin())
        for at in groups[number]:
            folds[at] = emptiest
            filled[emptiest, sides[at]] += sizes[at]
    return folds


FEWEST_CHATS = 3  # of each corpus
_MOST = 400  # turns of a chat, spread evenly
WAYS = {"words": "words and letters", "facets": "EI labels and style"}
NO_TEXT = "labels hold no text: give the corpora"
TOO_FEW = "too few people: of whomever it asks about, too few chats without them are left to learn"
_LETTERS = re.compile(r"(\w)\1\1")


@dataclass(frozen=True, slots=True)
class PairOfChats:
    """How well turns of two held-out chats, one of each corpus, are told apart."""

    first: str
    second: str
    auc: float


@dataclass(frozen=True, slots=True)
class Apartness:
    """The figure of one classifier; its `n` counts turns. `pairs` are what it is the mean of."""

    way: str
    auc: Estimate
    chats: tuple[int, int]
    folds: int = 0
    disjoint: bool = False  # nobody is both in what is learned from and in what is asked
    pairs: tuple[PairOfChats, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "auc": self.auc.to_json(),
            "chats": list(self.chats),
            "folds": self.folds,
            "speaker_disjoint": self.disjoint,
        }


@dataclass(frozen=True, slots=True)
class ToldApart:
    """Both classifiers of two corpora."""

    names: tuple[str, str]
    ways: tuple[Apartness, ...]

    def __getitem__(self, way: str) -> Apartness:
        return next(each for each in self.ways if each.way == way)

    def to_json(self) -> dict[str, Any]:
        return {each.way: each.to_json() for each in self.ways}


@dataclass(frozen=True)
class _SplitTurns:
    """The turns of both corpora that are looked at, with what is told of each."""

    inputs: list[TurnInput]
    second: Any  # 0 of the first corpus, 1 of the second
    chats: Any  # of turns: numbers, in the order of `names`
    names: list[tuple[int, str]]
    folds: Any  # of chats; below zero: never asked about
    learned: list[Any]  # by fold: which chats are learned from


def told_apart(
    first: Corpus,
    second: Corpus,
    labels: tuple[pl.DataFrame, pl.DataFrame] | None = None,
    names: tuple[str, str] | None = None,
    *,
    joined: bool = True,
    progress: Progress = silent,
) -> ToldApart:
    """Both figures; without labels that of facets is unscored. `joined` is the labels' protocol."""
    called = names or (first.name, second.name)
    both = (first, second)
    said = (_said(first, joined), _said(second, joined))
    sizes = (len(said[0]), len(said[1]))
    if min(sizes) < FEWEST_CHATS:
        reason = f"fewer than {FEWEST_CHATS} chats on one side ({sizes[0]} and {sizes[1]})"
        return unscored(called, reason, sizes)
    turns = _turns(both, said)
    if not turns.learned:
        return unscored(called, TOO_FEW, sizes)
    found = []
    for way, features, learner in (
        ("words", _words(turns, both), _linear),
        ("facets", None if labels is None else _facets(turns, labels), _forest),
    ):
        if features is None:
            nothing = Estimate(None, n=len(turns.inputs), unscored="no EI labels are given")
            found.append(Apartness(way, nothing, sizes))
            continue
        scores = np.zeros(len(turns.inputs))
        for fold, chats in enumerate(turns.learned):
            progress(fold, len(turns.learned), f"telling apart by {way}")
            learned, asked = chats[turns.chats], (turns.folds == fold)[turns.chats]
            learn, ask = features(learned, asked)
            scores[asked] = learner(learn, turns.second[learned], ask)
        found.append(_figure(way, turns, scores, sizes))
    return ToldApart(called, tuple(found))


def unscored(names: tuple[str, str], reason: str, chats: tuple[int, int] = (0, 0)) -> ToldApart:
    """Both figures without a value, and why."""
    nothing = Estimate(None, unscored=reason)
    return ToldApart(names, tuple(Apartness(way, nothing, chats) for way in WAYS))


def _said(corpus: Corpus, joined: bool) -> dict[str, list[TurnInput]]:
    """The turns with words, by chat."""
    by_chat: dict[str, list[TurnInput]] = {}
    for given in turn_inputs(corpus, joined):
        if given.text.strip():
            by_chat.setdefault(given.chat, []).append(given)
    return by_chat


def _turns(
    both: tuple[Corpus, Corpus], said: tuple[dict[str, list[TurnInput]], dict[str, list[TurnInput]]]
) -> _SplitTurns:
    inputs: list[TurnInput] = []
    second: list[int] = []
    chats: list[int] = []
    names: list[tuple[int, str]] = []
    for side, by_chat in enumerate(said):
        for chat, every in by_chat.items():
            some = _evenly(every)
            inputs += some
            second += [side] * len(some)
            chats += [len(names)] * len(some)
            names.append((side, chat))
    known = [{chat.id: person_keys(chat) for chat in corpus.chats} for corpus in both]
    people = [known[side][chat] for side, chat in names]
    sides = np.array([side for side, _ in names])
    folds, learned = hold_out(people, sides, np.bincount(chats).tolist())
    return _SplitTurns(inputs, np.array(second), np.array(chats), names, folds, learned)


def _evenly(said: Sequence[TurnInput]) -> list[TurnInput]:
    if len(said) <= _MOST:
        return list(said)
    return [said[int(at)] for at in np.linspace(0, len(said) - 1, _MOST)]


Features = Callable[[Any, Any], tuple[Any, Any]]  # which turns are learned from, which are asked


def _words(turns: _SplitTurns, both: Iterable[Corpus]) -> Features:
    parts = {
        part
        for corpus in both
        for who in corpus.speakers
        for part in words_and_emoji(person_key(who))
    }
    names = re.compile(r"\b(" + "|".join(map(re.escape, sorted(parts))) + r")\b", re.IGNORECASE)
    texts = [names.sub("name", given.text) for given in turns.inputs]

    def features(learned: Any, asked: Any) -> tuple[Any, Any]:
        made = sparse_features()
        learn = made.fit_transform([texts[at] for at in np.flatnonzero(learned)])
        return learn, made.transform([texts[at] for at in np.flatnonzero(asked)])

    return features


def _facets(turns: _SplitTurns, labels: tuple[pl.DataFrame, pl.DataFrame]) -> Features:
    known = [
        {(row["chat"], tuple(row["message_ids"])): row for row in frame.iter_rows(named=True)}
        for frame in labels
    ]
    table = np.array(
        [
            _felt(known[side].get((given.chat, given.ids), {})) + _written(given)
            for given, side in zip(turns.inputs, turns.second.tolist(), strict=True)
        ]
    )
    return lambda learned, asked: (table[learned], table[asked])


def _felt(row: dict[str, Any]) -> list[float]:
    """The labels of a turn as numbers; what has no label is not a number, never zero."""
    plain = [row.get(name) for name in ("reflective", "grounding", "intimacy", *COMPONENTS)]
    found = [np.nan if value is None else float(value) for value in plain]
    for name, order in WORDS.items():
        label = row.get(name)
        found += [np.nan if label is None else float(label == each) for each in order]
    return found


def _written(given: TurnInput) -> list[float]:
    """How a turn is written: its size, its signs, its letters."""
    text = given.text
    said = words_and_emoji(text)
    plain = [word for word in said if word[0].isalnum()]
    letters = [sign for sign in text if sign.isalpha()]
    return [
        float(value)
        for value in (
            len(given.ids),
            len(plain),
            len(text),
            len(said) - len(plain),  # emoji
            text.count("?"),
            text.count("!"),
            text.count(","),
            text.count("..."),
            text.rstrip().endswith("."),
            text[:1].islower(),
            sum(sign.isupper() for sign in letters) / max(1, len(letters)),
            sum(map(len, plain)) / max(1, len(plain)),
            len(set(plain)) / max(1, len(plain)),
            sum(sign.isdigit() for sign in text),
            sum(sign in "'\u2019" for sign in text),
            bool(_LETTERS.search(text)),  # sooo
        )
    ]


def _linear(learn: Any, whose: Any, ask: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(class_weight="balanced", solver="liblinear", random_state=SEED)
    return model.fit(learn, whose).decision_function(ask)


def _forest(learn: Any, whose: Any, ask: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=100, max_leaf_nodes=15, class_weight="balanced", random_state=SEED
    )
    # One thread: sums in one order on every machine, and no waiting for busy cores.
    with threadpool_limits(1, user_api="openmp"):
        return model.fit(learn, whose).decision_function(ask)


def _figure(way: str, turns: _SplitTurns, scores: Array, chats: tuple[int, int]) -> Apartness:
    fold = turns.folds.tolist()
    ones, others = (
        [at for at, (where, _) in enumerate(turns.names) if where == side and fold[at] >= 0]
        for side in (0, 1)
    )
    table = np.full((len(ones), len(others)), np.nan)
    for row, one in enumerate(ones):
        for column, other in enumerate(others):
            if fold[one] == fold[other]:
                mine, theirs = (scores[turns.chats == at] for at in (one, other))
                table[row, column] = above(mine, theirs)
    pairs = tuple(
        PairOfChats(turns.names[one][1], turns.names[other][1], float(table[row, column]))
        for row, one in enumerate(ones)
        for column, other in enumerate(others)
        if not np.isnan(table[row, column])
    )
    auc = pair_estimate(table, int((turns.folds >= 0)[turns.chats].sum()))
    return Apartness(way, auc, chats, len(turns.learned), disjoint=True, pairs=pairs)


def above(first: Array, second: Array) -> float:
    """How often a value of the second exceeds one of the first; equal ones count half."""
    ordered = np.sort(first)
    below = np.searchsorted(ordered, second, side="left")
    upto = np.searchsorted(ordered, second, side="right")
    return float(np.mean(below + upto) / (2 * len(first)))


def pair_estimate(table: Array, n: int) -> Estimate:
    """The mean of a table of chats by chats, NaN where two were never compared.

    The interval draws rows and columns, which are whole chats.
    """
    there = ~np.isnan(table)
    values = np.where(there, table, 0.0)
    chance = np.random.default_rng(SEED)
    rows, columns = (
        chance.multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(np.float64)
        for size in table.shape
    )
    sums = np.einsum("dr,rc,dc->d", rows, values, columns, optimize=True)
    counts = np.einsum("dr,rc,dc->d", rows, there.astype(np.float64), columns, optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = percentile_interval(sums / counts) or (None, None)
    return Estimate(float(values.sum() / there.sum()), low, high, n)


def told_rows(found: ToldApart) -> Grid:
    """One row per classifier: AUC with its interval, turns and chats, and how it was held out."""
    headings = ["told apart by", "AUC (.5: cannot be told)", "turns", "chats", "held out"]
    return Grid(headings, [_row(each) for each in found.ways])


def _row(each: Apartness) -> list[Any]:
    auc = each.auc
    if auc.value is None:
        shown, held = f"unscored: {auc.unscored}", None
    else:
        interval = "" if auc.low is None else f" [{auc.low:.2f}, {auc.high:.2f}]"
        shown = f"{auc.value:.2f}{interval}"
        held = f"{each.folds} folds, people apart"
    return [WAYS[each.way], shown, auc.n, f"{each.chats[0]} / {each.chats[1]}", held]
