"""The same person in two chats: differences, their intervals, and the paper's own numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from facet_labels import lively, table
from realtalk.ei.speakers import ResampledFacets, consistency, consistency_of, speakers
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.metrics.statistics import Estimate

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


def test_overall_is_the_papers_persona_consistency(data: Path) -> None:
    """Table 7's differences, scaled by each facet's range, are Table 8's numbers.

    Table 7 leaves out two chats, whose speakers widen the ranges: ours are a little larger.
    """
    published = data.parent / "paper" / "published.json"
    if not published.is_file():
        pytest.skip("the published tables are not at hand")
    tables = json.loads(published.read_text("utf-8"))
    known = {row["speaker"]: row["persona_consistency"] for row in tables["table8"]["rows"]}
    measured = [
        ResampledFacets(
            SpeakerFacets(
                *(row["chat"], row["speaker"], 1, 1, "paper", "published", "1"),
                tuple(Estimate(float(value), n=1) for value in row["values"]),
            ),
            tuple(np.zeros(10) for _ in row["values"]),
        )
        for row in tables["table7"]["rows"]
    ]
    found = {who.speaker: who.overall.value for who in consistency_of(measured)}
    both = [(known[name], value) for name, value in found.items() if name in known]
    assert len(both) == 6
    ours, theirs = [value for _, value in both], [value for value, _ in both]
    assert np.corrcoef(np.array(ours, dtype=float), theirs)[0, 1] > 0.99
    assert all(0 <= (value or 0) - printed < 0.016 for printed, value in both)


def test_the_whole_has_no_interval_where_a_part_has_none() -> None:
    """With one turn per chat nothing can be drawn again: the whole knows no more than its parts."""
    once = [
        {"chat": chat, "speaker": who, "reflective": said, "empathy": float(said), "intimacy": 0.5}
        for chat, who, said in (("a", "Mara", True), ("a", "Theo", False), ("b", "Mara", False))
    ]
    (mara,) = consistency(table(once))
    assert mara.overall.value == 1.0
    assert (mara.overall.low, mara.overall.high) == (None, None)
