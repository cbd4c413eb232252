"""Accepted answers: equal once normalised, and nothing that says more or less."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from realtalk.metrics.answers import is_polar, matches_gold, polarity
from text_tables import cases


@cases("""
    answer                              | gold | question | same
    5 January 2024                      | She moved on 05.01.2024 | When did she move? | true
    January 5th, 2024                   | 05.01.2024 | When? | true
    8-10 January 2024                   | from 08.01 to 10.01 | When? | true
    camera, phone | He used the phone and the camera. | What did he use? | true
    Twice                               | 2 times | How many times did he call? | true
    25 days (25 January to 18 February) | 25 days | How long? | true
    Yes, they often cook together       | Yes | Do they get on well? | true
    No, never                           | No, they don't. | Do they get on well? | true
    Stir-fry; fries                     | fries, stirfry | What does she like? | true
    Nessa                               | Ines | Who baked? | true
    simple                              | Simple | Is it simple or complex? | true
    phone                               | phone and camera | What did he use? | false
    phone, camera, tripod               | phone and camera | What did he use? | false
    10 January 2024                     | A week before 10.01.2024 | When? | false
    January 2024                        | 10.01.2024 | When? | false
    "3"                                 | 2 times | How many times did he call? | false
    Yes                                 | No, they don't | Do they get on well? | false
    ""                                  | Porto | Where? | false
    Porto                               | "" | Where? | false
""")
def test_an_answer_is_accepted_that_says_the_same_and_neither_more_nor_less(
    answer: str, gold: str, question: str, same: bool
) -> None:
    assert matches_gold(answer, gold, question=question, names=("Nessa=Ines",)) is same


def test_one_of_the_accepted_answers_is_enough() -> None:
    assert not matches_gold("40 hours a week", "full-time")
    assert matches_gold("40 hours a week", "full-time", ["forty", "40 hours a week"])
    assert matches_gold("Not mentioned", None, category="adversarial")
    assert not matches_gold("Porto", None)


def test_yes_and_no_are_read_from_the_first_clause() -> None:
    assert is_polar("Does she bake?") and is_polar("By her words, can we assume that?")
    assert not is_polar("Does she bake bread or cakes?") and not is_polar("When does she bake?")
    assert (polarity("Probably yes"), polarity("No way"), polarity("Bread")) == (True, False, None)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_equals_itself_and_nothing_raises(answer: str, gold: str) -> None:
    matches_gold(answer, gold, question=gold)
    if any(letter.isalnum() and letter.isascii() for letter in gold):
        assert matches_gold(gold, gold) or not gold.strip()
