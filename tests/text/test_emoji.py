"""Emoji as words for an encoder that has none in its vocabulary."""

from __future__ import annotations

import pytest

from realtalk.text.emoji import in_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("so late \U0001f62d\U0001f62d", "so late loudly crying face"),
        ("thanks \u2764\ufe0f \U0001f44d\U0001f3fd", "thanks heart thumbs up sign"),
        ("plain words: a-b, 3/4", "plain words: a-b, 3/4"),
        ("\U0001f1eb\U0001f1f7", ""),
        ("caf\u00e9 \u4f60\u597d", "caf\u00e9 \u4f60\u597d"),
    ],
)
def test_names_stand_for_signs(text: str, words: str) -> None:
    assert " ".join(in_words(text).split()) == words
