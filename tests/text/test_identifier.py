"""The language identifier: single texts, scripts, what belongs to no language; emoji as words."""

from __future__ import annotations

import numpy as np
import pytest

import realtalk_models
from multilingual_chats import CHATS, ENGLISH
from realtalk.text.languages import LanguageIdentifier
from realtalk.text.words import amount, emoji_in_words, language_words, script_of
from text_tables import cases


@pytest.mark.parametrize("language", CHATS)
def test_every_line_is_told_alone(language: str) -> None:
    identifier = LanguageIdentifier.load_shipped()
    for line in CHATS[language]:
        guess = identifier.guess(line)
        assert guess is not None and guess.language == language, line
        assert 0.3 < guess.probability <= 1


def test_english_is_told() -> None:
    guesses = [LanguageIdentifier.load_shipped().guess(line) for line in ENGLISH]
    assert [guess and guess.language for guess in guesses] == ["en"] * 4


@cases("""
    text
    ""
    🙂 12:30
    https://example.org/una/pagina
    @mara #playa
    jajaja lol ㅋㅋㅋ
""")
def test_what_has_no_words_has_no_language(text: str) -> None:
    assert LanguageIdentifier.load_shipped().guess(text) is None


def test_a_script_that_nobody_taught_it_is_not_guessed() -> None:
    assert LanguageIdentifier.load_shipped().guess("ᚠᛇᚻ ᛒᛦᚦ ᚠᚱᚩᚠᚢᚱ") is None


def test_words_of_many_scripts() -> None:
    assert language_words("Oye, 😂 jaja qué tal? @mara https://example.org") == [
        "oye",
        "qué",
        "tal",
    ]
    assert language_words("कल हम बाज़ार जाएँगे।")[2] == "बाज़ार"  # vowel signs do not part a word
    assert language_words("I don’t know, 7abibi") == ["i", "dont", "know", "7abibi"]
    assert language_words("\ud83d hola") == ["hola"]  # half of an emoji
    assert sum(map(amount, language_words("昨天我们去了海边"))) == 4
    assert script_of(["привет", "ok"]) == "CYRILLIC" and script_of([]) == ""


def test_probabilities_add_up_and_other_scripts_are_out_of_question() -> None:
    identifier = LanguageIdentifier.load_shipped()
    scores = identifier.log_probabilities(language_words("завтра поедем к бабушке"))
    assert scores is not None and np.exp(scores).sum() == pytest.approx(1)
    assert np.isneginf(scores[identifier.languages.index("es")])


def test_it_is_small_and_knows_sixty_languages() -> None:
    packed = realtalk_models.path("languages") / "identifier.npz"
    assert packed.stat().st_size < 1_500_000
    languages = LanguageIdentifier.load_shipped().languages
    assert len(languages) >= 60 and {"hi-Latn", "ar-Latn"} <= set(languages)


# --- emoji as words ---


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
