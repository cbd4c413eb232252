"""Answers of models: read where they can mean one thing only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.threads.asking import read_answer
from realtalk.threads.values import TASKS, Task
from text_tables import cases


@cases(r"""
    text                                     | value | reason
    positive                                 | true  | ""
    **Negative.**                            | false | ""
    The score will be positive, since positive things are said. | true  | ""
    "<think>negative? no</think>\nPositive"  | true  | ""
    <think>positive                          | null  | no answer
    positive or negative                     | null  | both positive and negative
    not positive                             | null  | a label denied
    "5"                                      | null  | neither positive nor negative
    positively                               | null  | neither positive nor negative
""")
def test_sentiment(text: str, value: bool | None, reason: str) -> None:
    answer = read_answer("sentiment", text)
    assert (answer.value, answer.unscored) == (value, reason)


@cases("""
    text                | value | reason
    "12"                | 12    | ""
    Score: -1,204.      | -1204 | ""
    −7                  | -7    | ""
    1.5k                | 1500  | ""
    12, I am sure of 12 | 12    | ""
    3-7                 | null  | several numbers
    user_12             | null  | no number
    ""                  | null  | no answer
""")
def test_impact(text: str, value: float | None, reason: str) -> None:
    answer = read_answer("impact", text)
    assert (answer.value, answer.unscored) == (value, reason)
    assert read_answer("impact", "9" * 400).unscored == "no number"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"phew"', "phew"),
        (" two\nlines ", "two\nlines"),
        ('"one" and "two"', '"one" and "two"'),
        ('""', None),
        ("<thinking>hm</thinking>ok", "ok"),
    ],
)
def test_next_text(text: str, value: str | None) -> None:
    assert read_answer("next_text", text).value == value


@given(st.sampled_from(TASKS), st.text(max_size=200))
def test_any_text_gives_a_value_or_a_reason(task: Task, text: str) -> None:
    answer = read_answer(task, text)
    assert (answer.value is None) == bool(answer.unscored)
