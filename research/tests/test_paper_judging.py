"""Table 7's verdicts can fail: trivial answers pass nothing, a wrong scale passes order alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from realtalk.ei.values import FACETS
from research.papers.judging import Judged, SpeakerKey, best_split, circle_of, circles, judge
from research.papers.published import TABLE_7

KEYS = list(TABLE_7)


def judged(facet: str, answer: Callable[[SpeakerKey, float], float]) -> Judged:
    found = judge({key: answer(key, row[facet]) for key, row in TABLE_7.items()}, facet)
    assert found is not None
    return found


def printed(facet: str) -> np.ndarray:
    return np.array([row[facet] for row in TABLE_7.values()])


def test_circles_share_speakers() -> None:
    people: dict[int, set[str]] = {}
    for chat, speaker in TABLE_7:
        people.setdefault(circles()[chat], set()).add(speaker)
    assert sorted(map(sorted, people.values())) == [
        ["Akib", "Fahim Khan", "Muhhamed"],
        ["Emi", "Kevin", "Paola", "elise"],
        ["Nebraas", "Nicolas", "Vanessa"],
    ]
    assert circle_of("Elise") == circle_of("emi") != circle_of("Vanessa")


@pytest.mark.parametrize("facet", FACETS)
def test_the_table_itself_passes(facet: str) -> None:
    found = judged(facet, lambda _, value: value)
    assert found.order
    assert found.scale
    assert found.over_all["error"].ours.value == 0


@pytest.mark.parametrize("facet", FACETS)
def test_who_knows_the_chats_alone_passes_nothing(facet: str) -> None:
    """Both partners get the same number, be it the printed mean of their chat or their circle."""

    def mean(inside: Callable[[SpeakerKey], bool]) -> float:
        return float(np.mean([TABLE_7[key][facet] for key in KEYS if inside(key)]))

    first = ("Chat_1_Emi_Elise", "Chat_3_Kevin_Paola", "Chat_4_Emi_Paola")
    for answer in (
        lambda key, _: mean(lambda other: other[0] == key[0]),
        lambda key, _: 3 * mean(lambda other: other[0] == key[0]) + 1,
        lambda key, _: mean(lambda other: circles()[other[0]] == circles()[key[0]]),
        lambda key, _: float(key[0] in first),
        lambda *_: mean(lambda _: True),
    ):
        found = judged(facet, answer)
        sides = (found.over_all, found.within)
        assert not any(each.passes for side in sides for each in side.values())
        assert found.partners[0] == 0


@pytest.mark.parametrize("facet", FACETS)
def test_a_wrong_scale_is_seen(facet: str) -> None:
    found = judged(facet, lambda _, value: 15 * value + 1)
    assert found.order
    assert not found.scale
    assert found.over_all["r"].ours.value == pytest.approx(1)
    assert (found.over_all["concordance"].ours.value or 0) < 0.7


def test_who_is_who_within_a_chat_counts() -> None:
    """Every chat's mean as printed, its two partners swapped: a high r over all, and fails."""
    column = {key: TABLE_7[key]["emotion_diversity"] for key in KEYS}
    partner = {key: next(k for k in KEYS if k[0] == key[0] and k != key) for key in KEYS}
    found = judged("emotion_diversity", lambda key, _: column[partner[key]])
    assert (found.over_all["r"].ours.value or 0) > 0.8
    assert found.chats == pytest.approx(1)
    assert found.within["r"].ours.value == pytest.approx(-1)
    assert not found.order
    assert found.partners == (0, 8)
    assert judged("emotion_diversity", lambda _, value: value).partners == (8, 8)


def test_thresholds_are_half_way_from_the_dummy() -> None:
    found = judged("empathy", lambda _, value: value)
    for figure in ("r", "concordance"):
        each = found.over_all[figure]
        assert each.wanted == pytest.approx((1 + (each.dummy or 0)) / 2)
        assert found.within[figure].wanted == 0.5
        assert (each.circle or 0) < (each.dummy or 0)  # the chat tells more than the circle
    error = found.over_all["error"]
    assert error.wanted == pytest.approx((error.dummy or 0) / 2)
    assert (error.dummy or 0) < (error.circle or 0)


def test_intervals_draw_whole_chats() -> None:
    """Two speakers of a chat with one error are one draw, so that the interval is as wide."""
    shifts = {chat: float(at % 2) for at, chat in enumerate(circles())}
    found = judged("empathy", lambda key, value: value + shifts[key[0]])
    error = found.over_all["error"].ours
    assert error.value == pytest.approx(0.5)
    # Of eight chats drawn, two to six in 95 %: rows drawn one by one would give 4 to 12 of 16.
    assert error.low == pytest.approx(1 / 8, abs=0.02)
    assert error.high == pytest.approx(7 / 8, abs=0.02)


def test_without_all_speakers_nothing_is_judged() -> None:
    column: dict[SpeakerKey, float | None] = {key: row["empathy"] for key, row in TABLE_7.items()}
    column[KEYS[0]] = None
    assert judge(column, "empathy") is None
    assert judge({}, "empathy") is None


def test_one_circle_alone_has_no_split() -> None:
    circle, sides = best_split(np.array([1.0, 3.0]), np.array([2.0, 2.0]))
    assert circle == 2
    assert sides.tolist() == [2.0, 2.0]


def test_a_figure_at_its_mark_by_luck_does_not_pass() -> None:
    """All but one chat are as printed; r reaches its mark, not so where that one is drawn often."""

    def answer(key: SpeakerKey, value: float) -> float:
        if key[0] != "Chat_8_Akib_Muhhamed":
            return value
        return value + (0.2 if key == KEYS[KEYS.index(key) | 1] else -0.2)

    r = judged("intimacy_linear", answer).within["r"]
    assert (r.ours.value or 0) >= r.wanted
    assert (r.beyond.low or 0) < 0
    assert not r.passes


def test_order_and_scale_need_both_sides() -> None:
    right = judged("empathy", lambda _, value: value)
    wrong = judged("empathy", lambda *_: 2.0)
    assert not replace(right, within=wrong.within).order
    assert not replace(right, within=wrong.within).scale
    assert not replace(right, over_all=wrong.over_all).order
    assert right.scale
