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
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from realtalk.chat import Chat, Corpus, is_nobody, person_key
from realtalk.ei.labels import COMPONENTS, WORDS, TurnInput, turn_inputs
from realtalk.files.progress import Progress, silent
from realtalk.grouping import grouped
from realtalk.metrics.statistics import (
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    percentile_interval,
    quotient,
)
from realtalk.text.words import words_and_emoji

_FOLDS = 5


def person_keys(chat: Chat) -> frozenset[str]:
    """Who writes in a chat or is written as; accounts that are gone are nobody."""
    return frozenset(person_key(who) for who in chat.speakers if not is_nobody(who))


def circles(people: Sequence[frozenset[Hashable]]) -> list[int]:
    """The people of every chat → its circle: who shares a chat, directly or through others."""
    circle = list(range(len(people)))
    home: dict[Hashable, int] = {}
    for at, members in enumerate(people):
        for who in members:
            home_circle, mine = circle[home.setdefault(who, at)], circle[at]
            circle = [home_circle if number == mine else number for number in circle]
    return circle


def hold_out(
    people: Sequence[frozenset[str]], sides: Any, sizes: Sequence[int]
) -> tuple[Any, list[Any]]:
    """The fold of every chat, and by fold which chats may be learned from.

    Where everybody knows everybody through others, chats are held out with whoever is in them: a
    fold leaves fewer chats to learn from, and where none are left on a side it is not asked.
    """
    candidates = _folds(circles(people), sides, sizes)
    folds = np.full(len(people), -1)
    learned: list[Any] = []
    for fold in range(int(candidates.max()) + 1):
        test = candidates == fold
        test_people = frozenset[str]().union(*(people[at] for at in np.flatnonzero(test).tolist()))
        free = ~test & np.array([test_people.isdisjoint(members) for members in people])
        if all(len(set(sides[which])) == 2 for which in (test, free)):
            folds[test] = len(learned)
            learned.append(free)
    return folds, learned


def _folds(circle: Sequence[int], sides: Any, sizes: Sequence[int]) -> Any:
    """Whole circles of people into folds of both sides and of like size, where there are enough."""
    groups = grouped((number, at) for at, number in enumerate(circle))
    # Circles on both sides first: what is on one side alone then fills the folds without that side.
    weight = np.asarray(sizes)
    members = sorted(
        groups.values(),
        key=lambda group: (-len(set(sides[group])), -weight[group].sum(), circle[group[0]]),
    )
    whose = [sorted(set(sides[group].tolist())) for group in members]
    count = min(_FOLDS, whose.count([0, 1]) + min(whose.count([0]), whose.count([1])))
    folds = np.zeros(len(sides), dtype=np.int64)
    if count < 2:
        for side in (0, 1):  # neighbours together: chats of one circle mostly follow each other
            mine = np.flatnonzero(sides == side)
            folds[mine] = np.arange(len(mine)) * min(_FOLDS, *np.bincount(sides)) // len(mine)
        return folds
    filled = np.zeros((count, 2))
    for group, own in zip(members, whose, strict=True):
        emptiest = int(filled[:, own].sum(axis=1).argmin())
        for at in group:
            folds[at] = emptiest
            filled[emptiest, sides[at]] += sizes[at]
    return folds


FEWEST_CHATS = 3  # of each corpus
_MOST = 400  # turns of a chat, spread evenly
WAYS = {"words": "words and letters", "facets": "EI labels and style"}
_TOO_FEW = "too few people: of whomever it asks about, too few chats without them are left to learn"
_LETTERS = re.compile(r"(\w)\1\1")
_SIGNS = r"\w+|[^\w\s]"


@dataclass(frozen=True, slots=True)
class Apartness:
    """The figure of one classifier; its `n` counts turns.

    `pairs` are what it is the mean of: a held-out chat of each corpus, and how well their turns
    are told apart. Nobody is both in what is learned from and in what is asked.
    """

    auc: Estimate
    chats: tuple[int, int]
    folds: int = 0
    pairs: tuple[tuple[str, str, float], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "auc": self.auc.to_json(),
            "chats": list(self.chats),
            "folds": self.folds,
            "speaker_disjoint": bool(self.folds),
        }


class _SplitTurns(NamedTuple):
    """The turns of both corpora that are looked at, with what is told of each."""

    inputs: list[TurnInput]
    chats: Any  # of turns: numbers, in the order of `names`
    names: list[tuple[int, str]]  # of chats: 0 of the first corpus, 1 of the second
    folds: Any  # of chats; below zero: never asked about
    learned: list[Any]  # by fold: which chats are learned from
    second: Any  # of turns: 0 of the first corpus, 1 of the second


def told_apart(
    first: Corpus,
    second: Corpus,
    labels: tuple[pl.DataFrame, pl.DataFrame] | None = None,
    *,
    joined: bool = True,
    progress: Progress = silent,
) -> dict[str, Apartness]:
    """By way; without labels that of facets is unscored. `joined` is the labels' protocol."""
    both = (first, second)
    chat_turns = grouped(
        ((side, turn.chat), turn)
        for side, corpus in enumerate(both)
        for turn in turn_inputs(corpus, joined)
        if turn.text.strip()
    )
    seconds = sum(side for side, _ in chat_turns)
    sizes = (len(chat_turns) - seconds, seconds)
    reason = f"fewer than {FEWEST_CHATS} chats on one side ({sizes[0]} and {sizes[1]})"
    if min(sizes) >= FEWEST_CHATS:
        turns = _turns(both, chat_turns)
        reason = "" if turns.learned else _TOO_FEW
    if reason:
        return dict.fromkeys(WAYS, Apartness(Estimate(None, unscored=reason), sizes))
    from threadpoolctl import threadpool_limits

    figures = {}
    for way, table, classifier in (
        ("words", _texts(turns, both), _linear),
        ("facets", None if labels is None else _numbers(turns, labels), _forest),
    ):
        if table is None:
            nothing = Estimate(None, n=len(turns.inputs), unscored="no EI labels are given")
            figures[way] = Apartness(nothing, sizes)
            continue
        scores = np.zeros(len(turns.inputs))
        for fold, chats in enumerate(turns.learned):
            progress(fold, len(turns.learned), f"telling apart by {way}")
            learned, test = chats[turns.chats], (turns.folds == fold)[turns.chats]
            # One thread: sums in one order on every machine, and no waiting for busy cores.
            with threadpool_limits(1, user_api="openmp"):
                model = classifier().fit(table[learned], turns.second[learned])
                scores[test] = model.decision_function(table[test])
        figures[way] = _figure(turns, scores, sizes)
    return figures


def _turns(both: Sequence[Corpus], said: dict[tuple[int, str], list[TurnInput]]) -> _SplitTurns:
    inputs: list[TurnInput] = []
    chats: list[int] = []
    for number, every in enumerate(said.values()):
        places = np.linspace(0, len(every) - 1, min(_MOST, len(every))).astype(int)
        inputs += [every[at] for at in places]
        chats += [number] * len(places)
    person_keys_by_chat = [{chat.id: person_keys(chat) for chat in corpus.chats} for corpus in both]
    people = [person_keys_by_chat[side][chat] for side, chat in said]
    sides = np.array([side for side, _ in said])
    folds, learned = hold_out(people, sides, np.bincount(chats).tolist())
    return _SplitTurns(inputs, np.array(chats), list(said), folds, learned, sides[chats])


def sparse_features() -> Any:
    """A new transformer of texts into how they are written: letters, words and signs.

    TF-IDF of letters within words (one to four) and of words and signs (one and two). A single
    sign or an emoji counts as a word: it is style.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_union

    return make_union(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True, min_df=2),
        TfidfVectorizer(token_pattern=_SIGNS, ngram_range=(1, 2), sublinear_tf=True, min_df=2),
    )


def _texts(turns: _SplitTurns, both: Iterable[Corpus]) -> Any:
    speakers = (person_key(who) for corpus in both for who in corpus.speakers)
    parts = sorted({re.escape(part) for who in speakers for part in words_and_emoji(who)})
    names = re.compile(rf"\b({'|'.join(parts)})\b", re.IGNORECASE)
    return np.array([names.sub("name", turn.text) for turn in turns.inputs], dtype=object)


def _numbers(turns: _SplitTurns, labels: tuple[pl.DataFrame, pl.DataFrame]) -> Any:
    rows = {
        (side, row["chat"], tuple(row["message_ids"])): row
        for side, frame in enumerate(labels)
        for row in frame.iter_rows(named=True)
    }
    return np.array(
        [
            _label_numbers(rows.get((side, turn.chat, turn.ids), {})) + _style_numbers(turn)
            for turn, side in zip(turns.inputs, turns.second.tolist(), strict=True)
        ]
    )


def _label_numbers(row: dict[str, Any]) -> list[float]:
    """The labels of a turn as numbers; what has no label is not a number, never zero."""
    plain = [row.get(name) for name in ("reflective", "grounding", "intimacy", *COMPONENTS)]
    for name, order in WORDS.items():
        label = row.get(name)
        plain += [None if label is None else label == word for word in order]
    return [np.nan if value is None else float(value) for value in plain]


def _style_numbers(given: TurnInput) -> list[float]:
    """How a turn is written: its size, its signs, its letters."""
    text = given.text
    tokens = words_and_emoji(text)
    plain = [word for word in tokens if word[0].isalnum()]
    letters = [sign for sign in text if sign.isalpha()]
    return [
        float(value)
        for value in (
            len(given.ids),
            len(plain),
            len(text),
            len(tokens) - len(plain),  # emoji
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


def _linear() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = LogisticRegression(class_weight="balanced", solver="liblinear", random_state=SEED)
    return make_pipeline(sparse_features(), model)


def _forest() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=100, max_leaf_nodes=15, class_weight="balanced", random_state=SEED
    )


def _figure(turns: _SplitTurns, scores: Array, sizes: tuple[int, int]) -> Apartness:
    chats = np.flatnonzero(turns.folds >= 0).tolist()
    ones, others = ([at for at in chats if turns.names[at][0] == side] for side in (0, 1))
    table = np.full((len(ones), len(others)), np.nan)
    pairs = []
    for row, first_chat in enumerate(ones):
        for column, second_chat in enumerate(others):
            if turns.folds[first_chat] == turns.folds[second_chat]:
                value = above(scores[turns.chats == first_chat], scores[turns.chats == second_chat])
                table[row, column] = value
                pairs.append((turns.names[first_chat][1], turns.names[second_chat][1], value))
    auc = pair_estimate(table, int((turns.folds >= 0)[turns.chats].sum()))
    return Apartness(auc, sizes, len(turns.learned), tuple(pairs))


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
    interval = percentile_interval(quotient(sums, counts))
    return Estimate(float(values.sum() / there.sum()), *interval, n)
