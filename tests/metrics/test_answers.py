"""Answer scores against a second transcription of the released formula."""

from __future__ import annotations

import string
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

from realtalk.formats.questions import CATEGORIES
from realtalk.metrics.answers import (
    date_f1,
    exact_match,
    is_abstention,
    partial_match,
    rouge_l_stemmed,
    score_answer,
    stems,
    token_f1,
)
from text_tables import cases, lines
from tries import tries

NUMBERS = {name: number for number, name in CATEGORIES["locomo"].items()} | {"commonsense": 3}
PORTER = PorterStemmer()


def released(prediction: str, answer: Any, number: int) -> float:
    """The released evaluation by category number, in its own order of steps."""
    answer = str(answer)
    if number == 3:
        answer = answer.split(";")[0].strip()
    if number in (2, 3, 4):
        return released_f1(prediction, answer)
    if number == 1:
        predicted = [piece.strip() for piece in prediction.split(",")]
        true = [piece.strip() for piece in answer.split(",")]
        best = [max(released_f1(one, piece) for one in predicted) for piece in true]
        return sum(best) / len(best)
    said = prediction.lower()
    return 1.0 if "no information available" in said or "not mentioned" in said else 0.0


def released_words(text: str) -> list[str]:
    text = text.replace(",", "").lower()
    text = "".join(one for one in text if one not in set(string.punctuation))
    text = regex.sub(r"\b(a|an|the|and)\b", " ", text)
    return [PORTER.stem(word) for word in " ".join(text.split()).split()]


def released_f1(prediction: str, answer: str) -> float:
    ours, theirs = released_words(prediction), released_words(answer)
    same = sum((Counter(ours) & Counter(theirs)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(ours), same / len(theirs)
    return (2 * precision * recall) / (precision + recall)


@cases("""
    prediction                        | gold                             | category    | value
    3 January, 2024                   | 03 January 2024                  | temporal    | 2/3
    On 19.01.2024                     | 19.01.2024.                      | temporal    | 2/3
    19 January 2024                   | 19.01.2024                       | temporal    | 0
    "2022"                            | "2022"                           | temporal    | 1
    running shoes                     | the run shoe                     | single_hop  | 1
    a cat and the dog                 | cat dog                          | single_hop  | 1
    dog dog dog                       | dog                              | single_hop  | 1/2
    ""                                | dog                              | single_hop  | 0
    the                               | a                                | single_hop  | 0
    tennis, swimming                  | swimming, chess                  | multi_hop   | 1/2
    swimming and chess                | swimming, chess                  | multi_hop   | 2/3
    pasta with peas                   | peas                             | multi_hop   | 1/2
    red, red                          | red, blue, green                 | multi_hop   | 1/3
    Yes                               | Yes; she said that she liked it  | commonsense | 1
    Yes                               | Yes; she said that she liked it  | open_domain | 1
    Yes                               | Yes; she said that she liked it  | single_hop  | 1/4
    Not mentioned in the conversation | null                             | adversarial | 1
    No information available.         | red                              | adversarial | 1
    I do not know                     | red                              | adversarial | 0
""")
def test_equals_the_released_formula(
    prediction: str, gold: str | None, category: str, value: str | int
) -> None:
    expected = pytest.approx(float(Fraction(value)))
    assert partial_match(prediction, gold, category) == expected
    assert released(prediction, gold, NUMBERS[category]) == expected


WORDS = lines("""
    the
    a
    an
    And
    cats
    cat
    running
    runs
    2024
    January,
    19.01.2024
    it’s
    don't
    naïve
    cafe\u0301 a
    a\u0301
    a²
    happily;
    skies
    dying
    ,
    ;
    —
    x_y
    O'Neil
    no information available
    Not mentioned
""")
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=25)


@settings(max_examples=tries(300))
@given(prediction=texts, gold=texts, category=st.sampled_from(sorted(NUMBERS)))
def test_equals_the_released_formula_on_any_text(prediction: str, gold: str, category: str) -> None:
    ours = partial_match(prediction, gold, category)
    assert ours == pytest.approx(released(prediction, gold, NUMBERS[category]), abs=1e-12)
    assert list(stems(gold)) == released_words(gold)
    assert 0 <= ours <= 1


def test_realtalk_numbers_its_categories_as_the_formula_needs() -> None:
    assert CATEGORIES["realtalk"] == {1: "multi_hop", 2: "temporal", 3: "commonsense"}


DRESSED = ("19.01.2024", "19 January 2024", "January 19, 2024", "Jan 19th 2024", "2024-01-19")


@pytest.mark.parametrize("prediction", DRESSED)
@pytest.mark.parametrize("gold", DRESSED)
def test_equal_dates_match_in_any_dress(prediction: str, gold: str) -> None:
    assert date_f1(prediction, gold, "temporal") == 1
    assert date_f1(f"on {prediction}", f"On {gold}.", "temporal") == 1
    assert date_f1(f"jam, {prediction}", f"{gold}, jam", "multi_hop") == 1


@cases("""
    prediction                          | gold                           | value
    20 January 2024                     | 19 January 2024                | 0    # the paper's: 2/3
    January 2024                        | 19.01.2024                     | 4/5
    "2024"                              | 19 January 2024                | 1/2
    12.01.2024                          | few weeks after 12 Jan 2024    | 2/5
    a few weeks after January 12, 2024  | few weeks after 12 Jan 2024    | 1
    19.01.2024, 20.01.2024              | 19 January 2024                | 2/3
    from 1 May 2023 to 3 May 2023       | 03.05.2023 - 01.05.2023        | 2/3
    3-5 May 2023                        | 03.05.2023 - 05.05.2023        | 1
    May 3-5, 2023                       | 3 May 2023 to 5 May 2023       | 4/5
    3-5 May 2023                        | 3-5 May 2022                   | 0
    4-5 May 2023                        | 3-5 May 2023                   | 1/2
    28 December - 2 January 2024        | 28.12.2023-02.01.2024          | 1
    28 December 2024 - 2 January 2025   | 28 December - 2 January 2024   | 0
    # A date on one side alone is three words.
    in January 2024                     | in winter                      | 2/5
    in winter                           | in January 2024                | 2/5
    cats on 19 January 2024             | cats on Monday                 | 4/8
""")
def test_dates_on_both_sides_count_as_one_word(
    prediction: str, gold: str, value: str | int
) -> None:
    assert date_f1(prediction, gold, "temporal") == pytest.approx(float(Fraction(value)))


@given(prediction=texts, gold=st.sampled_from(["two cats", "Yes; on Monday", "red, blue"]))
def test_without_dates_on_both_sides_it_is_the_papers_f1(prediction: str, gold: str) -> None:
    for category in ("temporal", "multi_hop", "commonsense"):
        assert date_f1(prediction, gold, category) == partial_match(prediction, gold, category)


def test_the_other_scores() -> None:
    assert exact_match("The cat!", "cat", "single_hop") == 1
    assert exact_match("cat dog", "dog cat", "single_hop") == 0
    assert exact_match("likely yes", "Likely yes; she swims", "commonsense") == 1
    # The longest common subsequence of "swim in lake" and "lake swimming" is one word.
    assert rouge_l_stemmed("swimming in lakes", "lake swim", "single_hop") == pytest.approx(0.4)
    assert token_f1("swimming in lakes", "lake swim") == pytest.approx(0.8)


@cases("""
    said                                    | score
    Not mentioned.                          | 1.0
    You did not mention the bus.            | 1.0
    The information is not enough.          | 1.0
    There is no information on that         | 1.0
    it wasn’t mentioned                     | 1.0
    I don't know                            | 1.0
    Unknown                                 | 1.0
    She never said which                    | 1.0
    That cannot be determined               | 1.0
    not explicitly stated                   | 1.0
    There's insufficient context to answer  | 1.0
    I can't tell from the chat              | 1.0
    in Tromsø                               | 0.0
    ""                                      | 0.0
    the blue kiln                           | 0.0
    ten days                                | 0.0
    Nothing but tea                         | 0.0
""")
def test_an_abstention_may_be_said_in_many_ways(said: str, score: float) -> None:
    found = score_answer(said, "You never named a harbour.", "abstention")
    assert list(found.values()) == [score] * 4


def test_locomo_keeps_the_words_of_its_released_code() -> None:
    assert score_answer("I don't know", None, "adversarial")["f1"] == 0.0
    assert not is_abstention("You did not mention it")
    assert is_abstention("That was NOT MENTIONED.")


def test_what_cannot_be_scored_is_not_zero() -> None:
    assert score_answer("red", None, "temporal") == {}
    assert set(score_answer("not mentioned", None, "adversarial").values()) == {1.0}
    scores = score_answer("On January 19th, 2024", "19.01.2024", "temporal")
    assert list(scores) == ["f1", "exact", "rouge_l_stemmed", "date_f1"]
    assert scores["f1"] == 0
    assert scores["date_f1"] == pytest.approx(2 / 3)
    assert date_f1("\ue000 3 May", "3 May", "temporal") == 1.0  # the mark of a date in a text


def test_answers_of_which_normalising_leaves_nothing() -> None:
    """ "A" is an article to the formula; two articles are not therefore the same answer."""
    assert exact_match("the", "A", "multi_hop") == 0.0
    assert exact_match("a ", "A", "multi_hop") == 1.0
    assert exact_match("", "", "multi_hop") == 0.0


def test_rouge_reads_every_script() -> None:
    assert rouge_l_stemmed("京都 東京", "東京", "temporal") == pytest.approx(2 / 3)
    assert rouge_l_stemmed("👍", "👍", "temporal") == 1.0
    assert rouge_l_stemmed("москва", "Париж", "temporal") == 0.0
