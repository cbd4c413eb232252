"""Two corpora: tests against a second implementation, and verdicts that can go either way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from facet_labels import Row, lively, table
from realtalk.ei.comparison import compare, comparison_rows
from realtalk.ei.speakers import speakers
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.metrics.statistics import Estimate


def corpus(chats: int, wide: bool, seed: int = 0) -> tuple[SpeakerFacets, ...]:
    rows: list[Row] = []
    for chat in range(chats):
        names = (f"{wide}{chat}a", f"{wide}{chat}b")
        rows += lively(f"c{chat}", names, seed + chat, wide=wide, turns=120)
    return speakers(table(rows))


HUMAN, SIMULATED = corpus(6, True), corpus(6, False, 50)


def levels(speakers: tuple[SpeakerFacets, ...], facet: str) -> list[float]:
    return [value for who in speakers if (value := who[facet].value) is not None]


def test_the_papers_findings_hold_where_they_are_true() -> None:
    found = compare(HUMAN, SIMULATED, ("people", "bots"))
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
    turned = compare(SIMULATED, HUMAN)
    assert [each.verdict for each in turned.findings] == ["does not hold"] * 3
    alike = compare(corpus(6, True), corpus(6, True, 80))
    assert alike.findings[0].verdict == alike.findings[1].verdict == "cannot be told"
    few = compare(HUMAN[:4], SIMULATED)
    assert [each.verdict for each in few.findings] == ["cannot be told"] * 3
    assert few["empathy"].delta.unscored == "fewer than 3 chats on one side"
    nobody = compare((), ())
    assert comparison_rows(nobody).rows[0][4] is None
    assert [each.verdict for each in nobody.findings] == ["cannot be told"] * 3


@pytest.mark.parametrize("facet", FACETS)
def test_numbers_twice(facet: str) -> None:
    each: Any = compare(HUMAN, SIMULATED)[facet]
    a, b = levels(HUMAN, facet), levels(SIMULATED, facet)
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
    found = compare(HUMAN, SIMULATED)
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
        for at, who in enumerate(HUMAN[:count])
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
        for at, who in enumerate(HUMAN[:count])
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
