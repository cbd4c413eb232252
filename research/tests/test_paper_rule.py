"""The rule of the page: a copy of the paper agrees, a dummy never does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from realtalk.ei.values import FACETS
from realtalk.persona.choosing import PUBLISHED_SCORES, TABLE_8
from research.papers.intimacy import concordance
from research.papers.published import CIRCLES, TABLE_6, TABLE_7, SpeakerKey
from research.papers.rule import (
    DUMMY_TOO,
    NO_CHANGE,
    Effect,
    Outcome,
    ResultRow,
    Word,
    column_row,
    compare_absence,
    compare_column,
    compare_numbers,
    compare_sentence,
    count_row,
    not_comparable,
    order_p,
    still_dummy,
)

KEYS = list(TABLE_7)
GROUPS = [chat for chat, _ in KEYS]


def facet_row(facet: str, answer: Callable[[SpeakerKey, float], float]) -> ResultRow:
    printed = [row[facet] for row in TABLE_7.values()]
    ours = [answer(key, value) for key, value in zip(KEYS, printed, strict=True)]
    return column_row("Table 7", "", printed, ours, GROUPS)


def test_circles_share_speakers() -> None:
    people: dict[int, set[str]] = {}
    for speaker, circle in CIRCLES.items():
        people.setdefault(circle, set()).add(speaker)
    assert sorted(map(sorted, people.values())) == [
        ["akib", "fahim khan", "muhhamed"],
        ["elise", "emi", "kevin", "paola"],
        ["nebraas", "nicolas", "vanessa"],
    ]


@pytest.mark.parametrize("facet", FACETS)
def test_a_copy_of_the_table_agrees(facet: str) -> None:
    row = facet_row(facet, lambda _, value: value)
    assert row.verdict == "agrees"
    assert row.dummy is not None and row.dummy.word == "differs"


@pytest.mark.parametrize("facet", FACETS)
def test_who_knows_the_chats_alone_passes_nothing(facet: str) -> None:
    """Both partners get the same number, be it the printed mean of their chat or their circle."""

    def mean(inside: Callable[[SpeakerKey], bool]) -> float:
        return float(np.mean([TABLE_7[key][facet] for key in KEYS if inside(key)]))

    for answer in (
        lambda key, _: mean(lambda other: other[0] == key[0]),
        lambda key, _: 3 * mean(lambda other: other[0] == key[0]) + 1,
        lambda key, _: mean(
            lambda other: CIRCLES[other[1].casefold()] == CIRCLES[key[1].casefold()]
        ),
        lambda *_: mean(lambda _: True),
    ):
        assert facet_row(facet, answer).word in ("differs", "cannot be compared")


def test_a_coin_seldom_passes() -> None:
    """Each chat's mean and a coin for its two partners: about one column in twenty."""
    rng = np.random.default_rng(7)
    printed = np.array([row["empathy"] for row in TABLE_7.values()])
    means = printed.reshape(-1, 2).mean(axis=1).repeat(2)
    passed = 0
    for _ in range(400):
        sides = rng.normal(0, 0.2, 8)
        answer = means + np.stack([sides, -sides], axis=1).ravel()
        passed += compare_column(printed.tolist(), answer.tolist(), GROUPS).word != "differs"
    assert passed <= 35


@pytest.mark.parametrize("facet", FACETS)
def test_another_scale_agrees_in_order_alone(facet: str) -> None:
    assert facet_row(facet, lambda _, value: 15 * value + 1).verdict == "agrees in order"


def test_who_is_who_within_a_chat_counts() -> None:
    """Every chat's mean as printed, its two partners swapped: a high r over all, and differs."""
    column = {key: TABLE_7[key]["emotion_diversity"] for key in KEYS}
    partner = {key: next(k for k in KEYS if k[0] == key[0] and k != key) for key in KEYS}
    row = facet_row("emotion_diversity", lambda key, _: column[partner[key]])
    assert row.word == "differs"
    assert float(row.ours.text.removeprefix("r ")[:4]) > 0.8
    # The partners are right, and the chats are not: that is no order either.
    flat = np.repeat([1.0, 5, 2, 4, 3, 9, 7, 1], 2)
    right = facet_row("emotion_diversity", lambda key, value: value / 9 + flat[KEYS.index(key)])
    assert right.word == "differs"


@pytest.mark.parametrize("score", PUBLISHED_SCORES)
@pytest.mark.parametrize("tuned", [False, True])
def test_a_copy_of_table_8_agrees(score: str, tuned: bool) -> None:
    printed = [(row.tuned if tuned else row.without)[score] for row in TABLE_8]
    circles = [str(CIRCLES[row.speaker.casefold()]) for row in TABLE_8]
    row = column_row("Table 8", "", printed, printed, circles)
    assert row.word == "agrees"
    assert row.dummy is not None and row.dummy.word == "differs"


def test_all_ways_are_counted() -> None:
    """Two chats have four ways; print and ours go together in one of them."""
    sides = np.array([1.0, -1, 2, -2])
    assert order_p(sides, sides, ["a", "a", "b", "b"]) == 0.25
    assert order_p(sides, -sides, ["a", "a", "b", "b"]) == 1.0
    assert order_p(sides, np.zeros(4), ["a", "a", "b", "b"]) == 1.0
    many = np.arange(10.0) - 4.5  # 3.6 million ways are drawn
    assert order_p(many, many, [""] * 10) == pytest.approx(1e-4)


@pytest.mark.parametrize(
    ("published", "measured", "digits", "word"),
    [
        (20.98, 20.9799, 2, "agrees"),
        (20.98, 20.97, 2, "agrees"),
        (20.98, 20.96, 2, "differs"),
        (12, 12, None, "agrees"),
        (12, 11, None, "differs"),
        (12, None, None, "cannot be compared"),
    ],
)
def test_numbers(published: float, measured: float | None, digits: int | None, word: str) -> None:
    assert compare_numbers([published], [measured], digits).word == word


def test_counts() -> None:
    printed = [row["events"] for row in TABLE_6.values()]
    assert count_row("", "", printed, printed).word == "agrees"
    off = [printed[0] + 1, *printed[1:]]
    row = count_row("", "", printed, off)
    assert (row.word, row.ours.text[:18]) == ("agrees in order", "9 of 10 as printed")
    assert count_row("", "", printed, printed[::-1]).word == "differs"
    assert row.dummy is not None and row.dummy.word == "differs"


YES, MAYBE, NO = Effect(1, clear=True), Effect(1, clear=False), Effect(-1, clear=True)


@pytest.mark.parametrize(
    ("effects", "word"),
    [
        ([YES, YES], "agrees"),
        ([YES, MAYBE], "agrees in order"),
        ([YES, Effect(1, clear=True, fits=False)], "agrees in order"),
        ([YES, Effect(-1, clear=False)], "differs"),
        ([NO], "differs"),
        ([MAYBE, MAYBE], "cannot be compared"),
        ([NO_CHANGE], "cannot be compared"),
    ],
)
def test_sentences(effects: Sequence[Effect], word: Word) -> None:
    assert compare_sentence(effects, "").word == word


def test_that_nothing_changes_is_what_a_dummy_gets() -> None:
    assert compare_absence([NO], "").reason == "here it changes"
    assert compare_absence([NO], "", gains_only=True).word == "agrees"
    assert compare_absence([YES], "", gains_only=True).reason == "here it gains"
    still = compare_absence([NO_CHANGE], "")
    row = ResultRow("", "", compare_absence([MAYBE], ""), still)
    assert row.verdict == f"cannot be compared: {DUMMY_TOO}"
    # What differs here differs, whatever the dummy does.
    assert ResultRow("", "", compare_absence([YES], ""), still).word == "differs"
    assert ResultRow("", "", compare_sentence([YES], ""), still_dummy()).word == "agrees"
    part = Outcome("", "agrees in order")
    assert ResultRow("", "", compare_sentence([YES], ""), part).word == "cannot be compared"
    assert not_comparable("", "", "why").verdict == "cannot be compared: why"


def test_concordance_sees_level_and_width() -> None:
    truth = np.array([1.0, 2, 3, 4])
    assert concordance(truth, truth) == pytest.approx(1)
    assert concordance(truth, truth + 10) < 0.03
    assert concordance(truth, 10 * truth - 22.5) < 0.25
    assert concordance(truth, np.full(4, 2.5)) == 0
