"""Emoji as words for an encoder that has none in its vocabulary."""

from __future__ import annotations

from realtalk.text.words import emoji_in_words
from text_tables import cases


@cases("""
    text                  | words
    so late 😭😭          | so late loudly crying face
    thanks ❤️ 👍🏽        | thanks heart thumbs up sign
    plain words: a-b, 3/4 | plain words: a-b, 3/4
    🇫🇷                    | ""
    café 你好             | café 你好
""")
def test_names_stand_for_signs(text: str, words: str) -> None:
    assert " ".join(emoji_in_words(text).split()) == words
