"""Told apart: one where it is plain, a half where it cannot be, and nothing where chats are few."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from facet_labels import label_table
from realtalk.chat import Chat, Corpus, Message
from realtalk.ei.labels import turn_inputs
from realtalk.ei.told_apart import above, pair_estimate, told_apart
from short_chats import chat_of
from surface_labels import ByLength
from text_tables import lines

_WORDS = "boat tea rain late oven bread song train sleep paint cat".split()  # noqa: SIM905


def corpus(
    name: str, chats: int, seed: int, *, formal: bool = False, turns: int = 60, people: int = 2
) -> Corpus:
    """Invented chatter; formal people write longer, with capitals and full stops."""
    chance = random.Random(seed)
    made = []
    for number in range(chats):
        names = tuple(f"{name}{number * people + at}" for at in range(2))
        lines = []
        for at in range(turns):
            text = " ".join(chance.choices(_WORDS, k=chance.randint(2, 9)))
            if formal:
                text = f"Certainly, {text}. How are you, {names[at % 2]}?"
            lines.append(f"{names[at % 2]}: {text}")
        made.append(chat_of(*lines, id=f"{name}_{number}"))
    return Corpus(name, "jsonl", tuple(made))


def labels(*both: Corpus) -> Any:
    def one(each: Corpus) -> pl.DataFrame:
        inputs = turn_inputs(each)
        return label_table(inputs, ByLength().label(inputs), "by length")

    return tuple(map(one, both))


def test_what_is_plain_is_told_and_what_is_alike_is_not() -> None:
    people = corpus("people", 5, 1, turns=30)
    bots = corpus("bots", 5, 2, formal=True, turns=30)
    plain = told_apart(people, bots, labels(people, bots))
    for way in ("words", "facets"):
        auc: Any = plain[way].auc
        assert auc.value > 0.97 and auc.low > 0.9
        assert auc.n == 300 and plain[way].chats == (5, 5)
    twins = corpus("twins", 5, 3, turns=30)
    alike = told_apart(people, twins, labels(people, twins))
    for way in ("words", "facets"):
        auc = alike[way].auc
        assert abs(auc.value - 0.5) < 0.1 and auc.low < 0.5 < auc.high + 0.02
    turned = told_apart(bots, people)
    assert turned["words"].auc.value == pytest.approx(plain["words"].auc.value, abs=0.02)
    assert told_apart(people, bots)["words"] == plain["words"]


def test_names_do_not_tell() -> None:
    """Everybody is called by name in every turn: what differs is the name alone."""
    called = [corpus(name, 4, 5, formal=True) for name in ("people", "bots")]
    found: Any = told_apart(called[0], called[1])
    assert abs(found["words"].auc.value - 0.5) < 0.1
    assert found["facets"].auc.value is None
    assert found["facets"].auc.unscored == "no EI labels are given"


def test_people_are_held_out() -> None:
    apart = told_apart(corpus("a", 6, 1), corpus("b", 5, 2))["words"]
    # Everybody knows the next one: whoever is asked about leaves with all their chats.
    chained = told_apart(corpus("a", 6, 1, people=1), corpus("b", 5, 2))["words"]
    for each in (apart, chained):
        assert each.folds == 5
        assert {one for one, _, _ in each.pairs} == {f"a_{at}" for at in range(6)}
        assert all(0 <= auc <= 1 for _, _, auc in each.pairs)
        # Scores of two classifiers are never set beside each other: six chats, each with the one
        # chat of the other side that the same classifier was asked about.
        assert len(each.pairs) == 6


# How people write: no two alike, and each always the same way.
_STYLES = lines("""
    {0}!!!
    {0}...
    well, {0}.
    {0} haha
    so {0}?
    {0} :)
    ok {0} ok
    hm, {0}
""")


def friends(seed: int, pairs: dict[str, str], mark: str = "", turns: int = 40) -> Corpus:
    """Chats of people who keep their style in every chat, whoever else is in it."""
    chance = random.Random(seed)
    made = []
    for chat, names in pairs.items():
        lines = []
        for at in range(turns):
            who = names[at % 2]
            text = " ".join(chance.choices(_WORDS, k=chance.randint(2, 9)))
            lines.append(f"{who}{mark}: {_STYLES['ABCDEFGH'.index(who)].format(text)}")
        made.append(chat_of(*lines, id=chat))
    return Corpus("friends" + mark, "jsonl", tuple(made))


_REAL = {"1": "AB", "2": "AC", "3": "BC", "4": "DE", "5": "DE", "6": "FG", "7": "HG"}
_WRITTEN = {"a": "AB", "b": "DE", "c": "FH", "d": "FG"}


def test_the_same_people_on_both_sides_are_not_told_from_themselves() -> None:
    """Only names are changed: who knows one side of a person would be wrong of the other."""
    found = told_apart(friends(1, _REAL), friends(2, _WRITTEN, " (simulated)"))["words"]
    auc: Any = found.auc
    assert auc.low < 0.5 < auc.high and abs(auc.value - 0.5) < 0.12
    assert found.folds == 3
    # Only people of one circle are set beside each other.
    circle = {**dict.fromkeys("123a", 1), **dict.fromkeys("45b", 2), **dict.fromkeys("67cd", 3)}
    assert {(circle[one], circle[other]) for one, other, _ in found.pairs} == {
        (1, 1), (2, 2), (3, 3)
    }  # fmt: skip


def test_what_a_model_adds_is_told_though_it_writes_as_the_same_people() -> None:
    written = friends(2, _WRITTEN, " (Simulated)")
    marked = replace(written, chats=tuple(begun(chat, "As you know, ") for chat in written.chats))
    auc: Any = told_apart(friends(1, _REAL), marked)["words"].auc
    assert auc.value > 0.6 and auc.low > 0.55


def test_one_person_in_every_chat_is_too_few_people() -> None:
    mine = {"1": "AB", "2": "AC", "3": "AD", "4": "AE"}
    found = told_apart(friends(1, mine), corpus("b", 5, 2))
    for each in found.values():
        assert each.auc.value is None and (each.auc.unscored or "").startswith("too few people")
        assert not each.folds and not each.pairs


def begun(chat: Chat, phrase: str) -> Chat:
    """The same, every third message with a phrase before it."""
    return changed(
        chat, lambda at, each: each if at % 3 else replace(each, text=phrase + each.text)
    )


def changed(chat: Chat, change: Callable[[int, Message], Message]) -> Chat:
    return replace(
        chat,
        sessions=tuple(
            replace(session, messages=tuple(change(*each) for each in enumerate(session.messages)))
            for session in chat.sessions
        ),
    )


def test_too_few_chats_are_said() -> None:
    found = told_apart(corpus("a", 2, 1), corpus("b", 5, 2))
    for each in found.values():
        assert each.auc.value is None
        assert each.auc.unscored == "fewer than 3 chats on one side (2 and 5)"
    assert json.loads(json.dumps(found["words"].to_json()))["auc"]["value"] is None


def test_a_turn_without_a_label_is_not_a_turn_with_zero() -> None:
    """Labels that are missing at random tell nothing."""
    both = corpus("a", 4, 1), corpus("b", 4, 2)
    holes = tuple(
        frame.with_columns(
            pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col(name)).alias(name)
            for name in ("intimacy", "emotion", "reflective")
        )
        for frame in labels(*both)
    )
    auc: Any = told_apart(both[0], both[1], (holes[0], holes[1]))["facets"].auc
    assert abs(auc.value - 0.5) < 0.12


def test_the_figure_is_the_share_of_pairs() -> None:
    chance = np.random.default_rng(0)
    one, other = chance.normal(size=40).round(1), chance.normal(0.5, size=30).round(1)
    pairs = [(b > a) + 0.5 * (a == b) for a in one for b in other]
    assert above(one, other) == pytest.approx(np.mean(pairs))
    table = np.array([[0.9, np.nan], [np.nan, 0.7], [0.8, np.nan]])
    found: Any = pair_estimate(table, 12)
    assert found.value == pytest.approx(0.8) and found.n == 12
    assert 0.69 < found.low < found.value
