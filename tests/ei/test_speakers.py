"""Facets against a second implementation, by hand, and where they cannot be computed."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from facet_formulas import course, exponential_cost
from facet_formulas import facets as plain_facets
from facet_labels import lively, random_tables, table
from realtalk.ei.formulas import exponents, fit_exponential
from realtalk.ei.protocols import Rules
from realtalk.ei.speakers import speakers
from realtalk.ei.values import FACETS, SPEAKERS, from_frame, speakers_frame, speakers_json, unit_of
from refusals import refused
from text_tables import records, spoken
from tries import tries
from work_done import lines_run


@pytest.mark.parametrize(
    "protocol",
    [
        "turns",
        "paper",
        pytest.param("released", marks=pytest.mark.slow),
    ],
)
@settings(max_examples=tries(30))
@given(labels=random_tables())
def test_formulas_twice(protocol: str, labels: pl.DataFrame) -> None:
    released, over_turns = protocol == "released", protocol == "paper"
    for who in speakers(labels, protocol):
        rows = labels.filter(pl.col("chat") == who.chat).to_dicts()
        for name, expected in plain_facets(rows, who.speaker, released, over_turns).items():
            found = who[name]
            if expected is None:
                assert found.value is None and found.unscored, name
            else:
                assert found.value == pytest.approx(expected, abs=1e-9), name
                assert found.n > 1 or found.low is None
                assert found.low is not None or found.n < 2 or FACETS[name].unit != "share"
                if found.low is not None and found.high is not None:
                    assert found.low - 1e-9 <= expected <= found.high + 1e-9
        own = [row for row in rows if row["speaker"] == who.speaker]
        for name in ("reflective_frequency", "emotion_diversity", "empathy", "intimacy_linear"):
            assert who[name].n + who[name].left_out == len(own) == who.turns


@settings(max_examples=tries(30))
@given(labels=random_tables())
def test_the_exponential_is_a_least_squares_fit(labels: pl.DataFrame) -> None:
    for who in speakers(labels):
        rows = labels.filter(pl.col("chat") == who.chat, pl.col("speaker") == who.speaker)
        x, y = course(rows.to_dicts())
        found = who["intimacy_exponential"]
        if len(x) < 2:
            assert found.value is None
        elif found.value is not None:
            least = exponential_cost(x, y, found.value)
            for step in (1e-3, 1e-2, 0.1):
                for b in (found.value - step, found.value + step):
                    assert exponential_cost(x, y, b) >= least - 1e-9


@pytest.mark.parametrize("y", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.6], [0.6, 0.0]])
def test_no_curve_is_no_number(y: list[float]) -> None:
    assert fit_exponential(np.arange(1.0, len(y) + 1), np.array(y)) is None
    rows = [{"session": number, "intimacy": value} for number, value in enumerate(y, 1)]
    found = speakers(table(rows))[0]["intimacy_exponential"]
    assert found.value is None
    assert found.unscored == "no exponential curve settles on the session means"


def test_pairs_by_their_place_in_a_session() -> None:
    labels = table(
        records("""
            session | speaker | emotion
            1       | Mara    | joy
            1       | Theo    | joy
            1       | Mara    | fear
            2       | Mara    | fear
            2       | Theo    | fear
            2       | Mara    | fear
        """)
    )
    mara, theo = speakers(labels, Rules("by place", False, False, "kth"))
    assert mara["emotion_stability"].value == pytest.approx(1 / 2)
    assert theo["emotion_stability"].unscored == "no session with two turns"
    with refused("unknown-protocol"):
        speakers(labels, "papr")
    # First with first: joy with joy, fear with fear; their second has no partner.
    assert (mara["emotion_alignment"].value, mara["emotion_alignment"].n) == (1.0, 2)


def test_every_facet_of_the_papers_text_by_hand() -> None:
    """§4.3, formula by formula, on one small chat: M_s are Mara's six turns, p is Theo."""
    labels = table(
        records("""
            session | speaker | reflective | grounding | sentiment | emotion | intimacy | empathy
            1       | Mara    | true       | false     | positive  | joy     | 0.25     | 0.0
            1       | Theo    | false      | true      | positive  | joy     | 0.5      | 3.0
            1       | Mara    | false      | true      | positive  | joy     | 0.75     | 2.0
            2       | Mara    | false      | false     | negative  | fear    | 0.5      | 1.0
            2       | Theo    | false      | false     | negative  | anger   | 0.5      | 3.0
            2       | Mara    | true       | false     | negative  | fear    | 1.0      | 6.0
            3       | Mara    | true       | true      | negative  | fear    | 0.5      | 1.5
            3       | Theo    | false      | false     | neutral   | joy     | 0.5      | 3.0
            3       | Mara    | false      | false     | neutral   | fear    | 0.25     | 1.5
        """)
    )
    mara, theo = speakers(labels, "paper")
    values = {facet.name: found.value for facet, found in mara.items()}
    assert values == {
        "reflective_frequency": pytest.approx(3 / 6),
        # joy 2, fear 4 of 6
        "emotion_diversity": pytest.approx(
            -(2 / 6) * math.log2(2 / 6) - (4 / 6) * math.log2(4 / 6)
        ),
        # positive 2, negative 3, neutral 1 of 6
        "sentiment_diversity": pytest.approx(
            -(2 / 6) * math.log2(2 / 6) - (3 / 6) * math.log2(3 / 6) - (1 / 6) * math.log2(1 / 6)
        ),
        "grounding_frequency": pytest.approx(2 / 6),
        "empathy": pytest.approx(12 / 6),
        # means of the sessions: .5, .75, .375
        "intimacy_linear": pytest.approx((0.375 - 0.5) / 2),
        "intimacy_exponential": values["intimacy_exponential"],
        # |M_s| - 1 = 5 steps; the sentiment changes twice, the emotion once
        "sentiment_stability": pytest.approx(3 / 5),
        "emotion_stability": pytest.approx(4 / 5),
        # She answers three times, with the same sentiment each time, once with the same emotion;
        # the divisor is |M_s| = 6, her openings too.
        "sentiment_alignment": pytest.approx(3 / 6),
        "emotion_alignment": pytest.approx(1 / 6),
    }
    assert mara["emotion_alignment"].n == 6 and mara["emotion_stability"].n == 5
    # Theo never opens: nothing parts the protocols. Of his three answers two match in sentiment.
    assert theo["sentiment_alignment"].value == pytest.approx(2 / 3)
    by_turns = speakers(labels)
    assert by_turns[1].facets == theo.facets
    assert by_turns[0]["sentiment_alignment"].value == 1.0
    assert by_turns[0]["emotion_alignment"].value == pytest.approx(1 / 3)
    assert unit_of(FACETS["emotion_alignment"], mara.protocol) == "turns"
    assert unit_of(FACETS["emotion_stability"], mara.protocol) == "pairs"
    assert unit_of(FACETS["emotion_alignment"], by_turns[0].protocol) == "pairs"


def test_speakers_know_what_they_write_in() -> None:
    tongues = ["en", "other", "other", "und", None]
    labels = table([{"emotion": "joy", "language": each, "measure": "hub"} for each in tongues])
    mara = speakers(labels)[0]
    assert mara.by_language == {"en": 1, "other": 2, "und": 1}
    assert mara.languages.english == pytest.approx(1 / 3)
    assert from_frame(speakers_frame([mara])) == (mara,)
    assert "2 of 3 turns are not in English" in speakers_json([mara])["languages"]["notes"][0]
    # Labels of a version that did not look are measured all the same.
    old = speakers(labels.drop("language"))[0]
    assert old.facets == mara.facets and old.languages.english is None
    assert "not known" in speakers_json([old])["languages"]["notes"][0]


def test_what_cannot_be_computed_says_why() -> None:
    alone = speakers(table([{"emotion": "joy", "sentiment": None, "intimacy": 0.5}]))[0]
    reasons = {facet.name: found.unscored for facet, found in alone.items() if found.unscored}
    assert reasons == dict(
        spoken("""
        reflective_frequency: no turn has a scored reflective
        sentiment_diversity: no turn has a scored sentiment
        grounding_frequency: no turn has a scored grounding
        empathy: no turn has a scored empathy
        intimacy_linear: speaks in one session only
        intimacy_exponential: speaks in one session only
        sentiment_stability: fewer than two turns
        emotion_stability: fewer than two turns
        sentiment_alignment: no turn answers another speaker
        emotion_alignment: no turn answers another speaker
    """)
    )
    # One turn has an entropy of zero, and no interval.
    assert (alone["emotion_diversity"].value, alone["emotion_diversity"].low) == (0.0, None)
    silent = speakers(table([{"session": 1}, {"session": 2}]))[0]
    assert all(found.value is None for found in silent.facets)
    assert silent["intimacy_linear"].unscored == "fewer than two sessions have a scored intimacy"
    assert silent["emotion_stability"].unscored == "no pair of turns has a scored emotion"
    assert silent["emotion_stability"].left_out == 1
    assert speakers(table([])) == ()


def test_an_interval_covers_what_it_estimates() -> None:
    """About 95 of 100 samples of 60 turns: their interval holds the share they came from."""
    chance = np.random.default_rng(11)
    rows = [
        {"chat": str(chat), "grounding": bool(yes), "empathy": float(score)}
        for chat in range(200)
        for yes, score in zip(chance.random(60) < 0.3, chance.normal(2, 1, 60), strict=True)
    ]
    found = speakers(table(rows))
    for name, truth in (("grounding_frequency", 0.3), ("empathy", 2.0)):
        inside = sum((who[name].low or 0) <= truth <= (who[name].high or 0) for who in found)
        assert 176 <= inside <= 198, name


def test_a_speaker_does_not_depend_on_the_rest_of_the_table() -> None:
    first, second = lively("a", ("Mara", "Theo"), 1), lively("b", ("Mara", "Ines"), 2)
    together = speakers(table(second + first))
    assert set(together) == {*speakers(table(first)), *speakers(table(second))}
    shuffled = table(first).sample(fraction=1.0, shuffle=True, seed=3).sort("session")
    assert set(speakers(shuffled)) == set(speakers(table(first)))


def test_the_table_is_fixed_and_comes_back() -> None:
    found = speakers(table([*lively("a", ("Mara", "Theo"), 1), {"chat": "b"}]))
    frame = speakers_frame(found)
    assert frame.schema == SPEAKERS
    assert from_frame(frame) == found
    assert frame["unscored"].list.len().to_list() == [0, 0, 11]
    assert speakers_frame(()).schema == SPEAKERS
    with refused("column 'empathy_n' is missing"):
        from_frame(frame.drop("empathy_n"))
    with refused("column 'emotion' is missing"):
        speakers(table([]).drop("emotion"))


def test_work_grows_with_the_speakers_alone() -> None:
    def work(chats: int) -> int:
        rows = [
            row
            for chat in range(chats)
            for row in lively(f"c{chat}", (f"s{chat}", f"t{chat}"), chat, turns=40)
        ]
        labels = table(rows)
        return lines_run(lambda: speakers(labels))

    work(1)  # what is imported late is imported now
    assert work(8) < 5 * work(2)


def test_alike_turns_are_no_proof_that_every_turn_is_alike() -> None:
    """Resamples of equal labels are all the same: an interval of no width would claim too much."""
    rows = [
        {"reflective": False, "grounding": True, "sentiment": "neutral", "empathy": 1.0, **who}
        for who in ({"speaker": "Mara"}, {"speaker": "Theo"}) * 5
    ]
    mara, _ = speakers(table(rows))
    never, always = mara["reflective_frequency"], mara["grounding_frequency"]
    # Wilson's interval of 0 of 5 by its formula: z² / (n + z²).
    widest = 1.959964**2 / (5 + 1.959964**2)
    assert (never.value, never.low) == (0, 0) and (always.value, always.high) == (1, 1)
    assert never.high == pytest.approx(widest, abs=1e-6)
    assert always.low == pytest.approx(1 - widest, abs=1e-6)
    assert mara["sentiment_stability"].low == pytest.approx(4 / (4 + 1.959964**2), abs=1e-6)
    for name in ("sentiment_diversity", "empathy"):
        assert mara[name].value is not None
        assert (mara[name].low, mara[name].high) == (None, None)


def test_a_diversity_of_rare_labels_lies_within_its_interval() -> None:
    """A resample misses labels that came once: its entropy is too small on average."""
    kinds = ("joy", "fear", "anger", "sadness", "love", "trust", "disgust", "optimism")
    turns = [{"session": 1, "speaker": "Mara", "emotion": kind} for kind in kinds]
    found = speakers(table(turns))[0]["emotion_diversity"]
    assert found.value == pytest.approx(3.0)
    low, value, high = found.low, found.value, found.high
    assert low is not None and value is not None and high is not None
    assert low < value < high


def test_many_fits_at_once_are_the_same_as_one_by_one() -> None:
    chance = np.random.default_rng(5)
    x = np.arange(1.0, 20.0)
    y = 0.4 + 0.01 * x + chance.normal(0, 0.06, (40, x.size))
    near = fit_exponential(x, y.mean(axis=0))
    assert near is not None
    for found, row in zip(exponents(x, y, near), y, strict=True):
        single = fit_exponential(x, row)
        assert single is not None
        assert found == pytest.approx(single[1], abs=1e-6)
