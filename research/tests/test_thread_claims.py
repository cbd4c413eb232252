"""Claims of PersonaConvBench, judged by invented predictions."""

from __future__ import annotations

import pytest

from realtalk.metrics.statistics import holm
from realtalk.threads.published import COLUMNS
from realtalk.threads.scoring import SCORES
from research.papers.claims import (
    CLAIMS,
    PAIRS,
    PERSON,
    TALK,
    gained_more,
    judge_claim,
    printed,
    settings_compared,
)
from research.papers.shared_rows import SHARED_SCORES
from research.tests.predicted_threads import predicted


def test_every_printed_column_is_a_claim() -> None:
    single = [claim for claim in CLAIMS if claim.pair == TALK and claim.gain is None]
    assert sorted(SCORES[claim.scores[0]].published for claim in single) == sorted(COLUMNS)
    assert [claim.task for claim in CLAIMS if claim.pair == PERSON] == [
        "sentiment",
        "impact",
        "next_text",
    ]
    told = {claim.says: printed(claim) for claim in CLAIMS}
    assert told["sentiment: MCC is better with the conversation"] == (
        "5 of 5 models, +21% to +199%"
    )
    # GPT-4o-mini writes better without it, by one score.
    assert told["next text: METEOR is better with the conversation"].startswith("4 of 5 models")
    # The abstract's gain is over the model itself, not over the best of those without.
    assert told["sentiment: by 198 % in MCC"] == "+199% over itself, +85% over the best without"


def test_a_claim_holds_only_beyond_chance() -> None:
    verdicts = {}
    for name, right in {
        "better": {"p-conv": 0.95, "p-nonconv": 0.55},
        "alike": {"p-conv": 0.75, "p-nonconv": 0.75},
        "worse": {"p-conv": 0.5, "p-nonconv": 0.95},
    }.items():
        compared = settings_compared(predicted("sentiment", right), "sentiment")
        verdicts[name] = [
            judge_claim(claim, compared).verdict
            for claim in CLAIMS
            if claim.task == "sentiment" and claim.pair == TALK
        ]
    assert verdicts["better"][:3] == ["holds"] * 3
    assert verdicts["alike"] == ["not beyond chance"] * 4
    assert verdicts["worse"] == ["the other way"] * 4
    assert judge_claim(CLAIMS[0], None).verdict == "not made"


def test_a_smaller_gain_than_claimed_holds_in_part() -> None:
    size = next(claim for claim in CLAIMS if claim.gain is not None)
    small = {"p-conv": 0.9, "p-nonconv": 0.8}
    large = {"p-conv": 0.95, "p-nonconv": 0.62}
    found = [
        judge_claim(size, settings_compared(predicted("sentiment", each, 2000), "sentiment"))
        for each in (small, large)
    ]
    assert [each.verdict for each in found] == ["in part", "holds"]
    high = found[0].changes["mcc"].relative.high
    assert high is not None and size.gain is not None and high < size.gain


def test_the_person_may_help_in_part() -> None:
    """Half of a task's scores move."""
    rows = predicted("next_text", {"p-conv": 0.9})
    for row in rows:
        row["bleu"] = row["meteor"] = 0.2  # what does not move
    compared = settings_compared(rows, "next_text")
    (claim,) = (each for each in CLAIMS if (each.task, each.pair) == ("next_text", PERSON))
    assert judge_claim(claim, compared).verdict == "in part"


def test_the_correction_is_over_all_settings_and_scores() -> None:
    compared = settings_compared(predicted("sentiment", {"p-conv": 0.62}), "sentiment")
    assert tuple(compared) == PAIRS
    every = [change for changes in compared.values() for change in changes.values()]
    assert len(every) == len(PAIRS) * len(SHARED_SCORES["sentiment"])
    assert [change.p_holm for change in every] == holm([change.p for change in every])


def test_a_setting_that_is_missing_is_not_compared() -> None:
    rows = [row for row in predicted("impact", {}) if row["variant"] != "np-nonconv"]
    assert set(settings_compared(rows, "impact")) == {TALK, PERSON}


def test_leaks_gain_what_clean_rules_do_not() -> None:
    flat = predicted("sentiment", {"p-conv": 0.7, "p-nonconv": 0.7}, 600)
    steep = predicted("sentiment", {"p-conv": 0.95, "p-nonconv": 0.6}, 600, seed=4)
    more = gained_more(flat, steep, "sentiment", TALK)
    assert set(more) == {score.name for score in SHARED_SCORES["sentiment"]}
    gains = [settings_compared(rows, "sentiment")[TALK]["mcc"] for rows in (flat, steep)]
    values = [gain.difference.value for gain in gains]
    assert values[0] is not None and values[1] is not None
    assert more["mcc"].value == pytest.approx(values[1] - values[0])
    assert more["mcc"].low is not None and more["mcc"].low > 0
    same = gained_more(flat, flat, "sentiment", TALK)["mcc"]
    assert (same.value, same.low, same.high) == (0, 0, 0)
    nothing = gained_more([], steep, "sentiment", TALK)["mcc"]
    assert nothing.value is None and nothing.unscored
