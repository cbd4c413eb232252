"""Two corpora: tests against a second implementation, and verdicts that can go either way; the same
person in two chats: differences, their intervals, and the paper's own numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from facet_labels import Row, lively, table
from realtalk.ei.comparison import compare, comparison_rows
from realtalk.ei.speakers import ResampledFacets, consistency, consistency_of, speakers
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.metrics.statistics import Estimate


@cache
def corpus(chats: int, wide: bool, seed: int = 0) -> tuple[SpeakerFacets, ...]:
    rows: list[Row] = []
    for chat in range(chats):
        names = (f"{wide}{chat}a", f"{wide}{chat}b")
        rows += lively(f"c{chat}", names, seed + chat, wide=wide, turns=120)
    return speakers(table(rows))


def human() -> tuple[SpeakerFacets, ...]:
    return corpus(6, True)


def simulated() -> tuple[SpeakerFacets, ...]:
    return corpus(6, False, 50)


def levels(speakers: tuple[SpeakerFacets, ...], facet: str) -> list[float]:
    return [value for who in speakers if (value := who[facet].value) is not None]


def test_the_papers_findings_hold_where_they_are_true() -> None:
    found = compare(human(), simulated(), ("people", "bots"))
    assert [each.verdict for each in found.findings] == ["holds", "holds", "holds"]
    assert [each.claim for each in found.findings] == [
        "people is more diverse in emotion and sentiment than bots",
        "bots is more empathic than people",
        "people's speakers are more varied than bots's",
    ]
    assert "n = 12 in 6 chats" in found.findings[0].because
    # Six chats against six, wholly apart: 2 of 924 ways, and three tests were made.
    assert "p = .006 (Mann-Whitney over chats" in found.findings[1].because


def test_they_fail_where_they_are_false_and_say_so_where_nothing_tells() -> None:
    turned = compare(simulated(), human())
    assert [each.verdict for each in turned.findings] == ["does not hold"] * 3
    alike = compare(corpus(6, True), corpus(6, True, 80))
    assert alike.findings[0].verdict == alike.findings[1].verdict == "cannot be told"
    few = compare(human()[:4], simulated())
    assert [each.verdict for each in few.findings] == ["cannot be told"] * 3
    assert few["empathy"].delta.unscored == "fewer than 3 chats on one side"
    nobody = compare((), ())
    assert comparison_rows(nobody).rows[0][4] is None
    assert [each.verdict for each in nobody.findings] == ["cannot be told"] * 3


@pytest.mark.parametrize("facet", FACETS)
def test_numbers_twice(facet: str) -> None:
    each: Any = compare(human(), simulated())[facet]
    a, b = levels(human(), facet), levels(simulated(), facet)
    assert (each.first.n, each.second.n) == (len(a), len(b))
    assert (each.first.chats, each.second.chats) == (6, 6)
    assert each.first.mean == pytest.approx(sum(a) / len(a))
    assert each.first.low < sum(a) / len(a) < each.first.high
    ones, others = by_chats(a), by_chats(b)
    pairs = [(x > y) - (x < y) for x in ones for y in others]
    assert each.delta.value == pytest.approx(sum(pairs) / len(pairs))

    assert each.ratio.value == pytest.approx(np.var(a, ddof=1) / np.var(b, ddof=1))
    # Both against scipy's own tests over chats.
    assert each.p_shift == pytest.approx(float(stats.mannwhitneyu(ones, others).pvalue))
    away = [by_chats([abs(x - float(np.median(side))) for x in side]) for side in (a, b)]
    assert each.p_spread == pytest.approx(float(stats.ttest_ind(*away).pvalue))
    assert each.p_shift_holm >= each.p_shift


def by_chats(values: list[float]) -> list[float]:
    """The means of chats of two."""
    return [(one + other) / 2 for one, other in zip(values[::2], values[1::2], strict=True)]


def test_holm_is_over_the_facets() -> None:
    found = compare(human(), simulated())
    smallest: Any = min(found.facets, key=lambda each: each.p_shift or 1.0)
    assert smallest.p_shift_holm == pytest.approx(smallest.p_shift * 11)


def test_a_facet_without_change_is_no_error() -> None:
    flat = speakers(table([{"chat": str(n), "grounding": False} for n in range(4)]))
    found = compare(flat, flat)
    assert found["grounding_frequency"].p_spread is None
    assert found["grounding_frequency"].ratio.unscored == "the second side does not vary"
    assert found["grounding_frequency"].delta.value == 0
    assert found["grounding_frequency"].delta.n == 8
    assert found["empathy"].first.left_out == 4
    assert found.findings[2].verdict == "cannot be told"


def apart(count: int, by: float) -> tuple[SpeakerFacets, ...]:
    """Speakers who differ a little from one another, in every facet around one value."""
    return tuple(
        replace(who, facets=tuple(Estimate(by + at % 4 / 10) for _ in FACETS))
        for at, who in enumerate(human()[:count])
    )


def test_claims_are_weighed_together() -> None:
    """Four chats against four, wholly apart: p is 2 of 70 ways, and three tests were made."""
    found = compare(copies(8, 9.0), copies(8, 0.0))
    claims = ("emotion_diversity", "sentiment_diversity", "empathy")
    assert [found[name].p_shift for name in claims] == pytest.approx([2 / 70] * 3)
    assert [each.verdict for each in found.findings[:2]] == ["cannot be told"] * 2
    assert all("p = .086" in each.because for each in found.findings[:2])


def test_a_corpus_that_lies_elsewhere_is_not_more_varied() -> None:
    """Speakers are measured from the median of their own corpus, however far the other is."""
    for sides in ((apart(12, 0.0), apart(8, 5.0)), (apart(8, 5.0), apart(12, 0.0))):
        assert compare(*sides).findings[2].verdict == "cannot be told"


def copies(count: int, lift: float) -> tuple[SpeakerFacets, ...]:
    """Chats whose two speakers are the same in every facet, each chat a little above the last."""
    return tuple(
        replace(who, facets=tuple(Estimate(lift + at // 2) for _ in FACETS))
        for at, who in enumerate(human()[:count])
    )


def test_a_chat_counts_once_however_many_speakers_it_has() -> None:
    """Who talks to each other is alike: a second speaker of every chat must not lower any p."""
    both = compare(copies(12, 2.5), copies(12, 0.0))
    alone = compare(copies(12, 2.5)[::2], copies(12, 0.0)[::2])
    assert both["empathy"].first.n == 12 and alone["empathy"].first.n == 6
    for one, other in zip(both.facets, alone.facets, strict=True):
        assert one.p_shift == other.p_shift
        assert one.p_spread == pytest.approx(other.p_spread)
        assert one.delta == other.delta
        assert (one.first.low, one.first.high) == (other.first.low, other.first.high)
    # Speaker by speaker these would be beyond chance.
    rows = [[who["empathy"].value or 0.0 for who in copies(12, lift)] for lift in (2.5, 0.0)]
    assert stats.mannwhitneyu(*rows).pvalue < 0.05 < (both["empathy"].p_shift or 0)
    assert both.findings[0].verdict == "cannot be told"


# --- the same person in two chats ---


TWO = lively("a", ("Mara", "Theo"), 1) + lively("b", ("Mara", "Ines"), 2, wide=False)


def test_differences_are_those_of_the_facets() -> None:
    labels = table(TWO)
    found: Any
    (found,) = consistency(labels)
    assert (found.speaker, found.chats) == ("Mara", ("a", "b"))
    everyone: Any = speakers(labels)
    first, second = (who for who in everyone if who.speaker == "Mara")
    parts = []
    for place, (facet, each) in enumerate(found.items()):
        one, other = first[facet.name].value, second[facet.name].value
        values = [value for who in everyone if (value := who[facet.name].value) is not None]
        assert each.value == pytest.approx(abs(one - other))
        assert each.n == first[facet.name].n + second[facet.name].n
        assert 0 <= each.low <= abs(one - other) + 1e-9 <= each.high + 2e-9
        parts.append(abs(one - other) / (max(values) - min(values)))
        assert found.scaled[place] == pytest.approx(parts[-1])
    assert found.overall.value == pytest.approx(sum(parts) / len(parts))
    assert found.overall.n == len(FACETS)
    assert found.overall.low < sum(parts) / len(parts) < found.overall.high
    # A person with many emotions here and three there differs for certain in that.
    assert (found["emotion_diversity"].low or 0) > 0.5


def test_a_person_who_is_the_same_differs_by_nothing_certain() -> None:
    again = [{**row, "chat": "b"} for row in lively("a", ("Mara", "Theo"), 1)]
    found = consistency(table([*lively("a", ("Mara", "Theo"), 1), *again]))
    assert [who.speaker for who in found] == ["Mara", "Theo"]
    for who in found:
        assert all(each.value == 0 and each.low == 0 for each in who.facets)
        assert who.overall.value == who.overall.low == 0


def test_an_interval_that_holds_zero_reaches_to_its_farther_end() -> None:
    """Differences from -3 to 1 are from 0 to 3 apart."""
    draws = np.linspace(-3.0, 1.0, 1001)
    speaker = SpeakerFacets("a", "Mara", 9, 3, "paper", "m", "1", (Estimate(0.0, -1, 1, 9),) * 11)
    sides = [
        ResampledFacets(replace(speaker, chat=chat), tuple(of for _ in FACETS))
        for chat, of in (("a", draws), ("b", np.zeros(1001)))
    ]
    for order in (sides, sides[::-1]):
        (found,) = consistency_of(order)
        assert (found.facets[0].low, found.facets[0].high) == pytest.approx((0.0, 2.9))


def test_pairs_of_chats_and_nobody() -> None:
    rows = [row for chat in "abc" for row in lively(chat, ("Mara", f"with {chat}"), ord(chat))]
    assert [who.chats for who in consistency(table(rows))] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert consistency(table(lively("a", ("Mara", "Theo"), 1))) == ()
    # Those who left share a name and are not one person.
    gone = [row for chat in "ab" for row in lively(chat, ("[deleted]", f"with {chat}"), 1)]
    assert consistency(table(gone)) == ()


def test_what_one_chat_lacks_is_unscored() -> None:
    found = consistency(table([*lively("a", ("Mara", "Theo"), 1), {"chat": "b", "emotion": "joy"}]))
    (mara,) = found
    assert mara["empathy"].value is None
    assert mara["empathy"].unscored == "b: no turn has a scored empathy"
    assert mara["emotion_diversity"].value is not None and mara["emotion_diversity"].low is None
    assert (mara.overall.n, mara.overall.left_out) == (1, 10)
    empty = consistency(table([{"chat": "a"}, {"chat": "b"}]))
    assert empty[0].overall.unscored == "no facet is scored in both chats"


def test_the_whole_has_no_interval_where_a_part_has_none() -> None:
    """With one turn per chat nothing can be drawn again: the whole knows no more than its parts."""
    once = [
        {"chat": chat, "speaker": who, "reflective": said, "empathy": float(said), "intimacy": 0.5}
        for chat, who, said in (("a", "Mara", True), ("a", "Theo", False), ("b", "Mara", False))
    ]
    (mara,) = consistency(table(once))
    assert mara.overall.value == 1.0
    assert (mara.overall.low, mara.overall.high) == (None, None)
