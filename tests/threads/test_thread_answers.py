"""Answers of models: read where they can mean one thing only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.threads.asking import read_answer
from realtalk.threads.values import TASKS, Task


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("positive", True, ""),
        ("**Negative.**", False, ""),
        ("The score will be positive, since positive things are said.", True, ""),
        ("<think>negative? no</think>\nPositive", True, ""),
        ("<think>positive", None, "no answer"),
        ("positive or negative", None, "both positive and negative"),
        ("not positive", None, "a label denied"),
        ("5", None, "neither positive nor negative"),
        ("positively", None, "neither positive nor negative"),
    ],
)
def test_sentiment(text: str, value: bool | None, reason: str) -> None:
    answer = read_answer("sentiment", text)
    assert (answer.value, answer.unscored) == (value, reason)


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("12", 12, ""),
        ("Score: -1,204.", -1204, ""),
        ("\N{MINUS SIGN}7", -7, ""),
        ("1.5k", 1500, ""),
        ("12, I am sure of 12", 12, ""),
        ("3-7", None, "several numbers"),
        ("user_12", None, "no number"),
        ("9" * 400, None, "no number"),
        ("", None, "no answer"),
    ],
)
def test_impact(text: str, value: float | None, reason: str) -> None:
    answer = read_answer("impact", text)
    assert (answer.value, answer.unscored) == (value, reason)


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
