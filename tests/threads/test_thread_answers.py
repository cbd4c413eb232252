"""Answers of models: read where they can mean one thing only."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from realtalk.threads.asking import read_answer
from realtalk.threads.values import TASKS, Task
from text_tables import cases


@cases(r"""
    task      | text                                     | value   | reason
    sentiment | positive                                 | true    | ""
    sentiment | **Negative.**                            | false   | ""
    sentiment | The score will be positive, since positive things are said. | true | ""
    sentiment | "<think>negative? no</think>\nPositive"  | true    | ""
    sentiment | <think>positive                          | null    | no answer
    sentiment | positive or negative                     | null    | both positive and negative
    sentiment | not positive                             | null    | a label denied
    sentiment | "5"                                      | null    | neither positive nor negative
    sentiment | positively                               | null    | neither positive nor negative
    impact    | "12"                                     | 12      | ""
    impact    | Score: -1,204.                           | -1204   | ""
    impact    | −7                                       | -7      | ""
    impact    | 1.5k                                     | 1500    | ""
    impact    | 12, I am sure of 12                      | 12      | ""
    impact    | 3-7                                      | null    | several numbers
    impact    | user_12                                  | null    | no number
    impact    | ""                                       | null    | no answer
    next_text | "\"phew\""                               | phew    | ""
    next_text | " two\nlines "                           | "two\nlines" | ""
    next_text | "\"one\" and \"two\""                    | "\"one\" and \"two\"" | ""
    next_text | "\"\""                                   | null    | no answer
    next_text | <thinking>hm</thinking>ok                | ok      | ""
""")
def test_an_answer_is_read_where_it_means_one_thing(
    task: Task, text: str, value: object, reason: str
) -> None:
    answer = read_answer(task, text)
    assert (answer.value, answer.unscored) == (value, reason)


def test_a_number_without_end_is_none() -> None:
    assert read_answer("impact", "9" * 400).unscored == "no number"


@given(st.sampled_from(TASKS), st.text(max_size=200))
def test_any_text_gives_a_value_or_a_reason(task: Task, text: str) -> None:
    answer = read_answer(task, text)
    assert (answer.value is None) == bool(answer.unscored)
