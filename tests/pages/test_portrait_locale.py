"""The page in the reader's locale, words of every script, and chats in other languages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from multilingual_chats import CHATS, ENGLISH, corpus_of, needs_multilingual
from portrait_chats import ODD, SAID_BY_TWO, chat, corpus, english, reading, two_people
from realtalk.chat import Corpus
from realtalk.ei import encoder_choice
from realtalk.formats.reading import ReadCorpus
from realtalk.pages.chat_page import PortraitOptions, make_portrait, render, write_portrait
from text_tables import cases


def portrait(made: Corpus) -> Any:
    return make_portrait(reading(made), PortraitOptions(labels=False))


@pytest.fixture
def open_in(open_file: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    def opened(made: Corpus, locale: str) -> Any:
        return open_file(write_portrait(portrait(made), tmp_path / "page.html"), locale=locale)

    return opened


@pytest.mark.parametrize("language", SAID_BY_TWO)
def test_typical_words_are_those_that_tell(language: str) -> None:
    """Every word of both is known as one, and nothing that everybody says is among them."""
    used = portrait(two_people(language)).aggregates.words
    _, hers, his = SAID_BY_TWO[language]
    assert used is not None and used.languages[0] == language
    shown = set(used.words["item"])
    assert {*hers, *his} <= shown and len(shown) <= 9


def test_english_loses_its_commonest_words_too() -> None:
    used = portrait(english()).aggregates.words
    assert used is not None and used.languages == ("en",)
    shown = set(used.words["item"])
    assert shown and not {"the", "this"} & shown


def test_a_name_is_hidden_inside_a_run() -> None:
    texts = ("今日は健太が休みです", "健太は元気かな", "図書館に健太と行った", "健太の本を見た")
    used = portrait(corpus(chat(("健太", "美咲"), texts, 400))).aggregates.words
    assert used is not None and used.words.height
    shown = (*used.words["item"], *used.openings["item"])
    assert not [word for word in shown if "健太" in word]


def test_laughter_behind_a_word_is_laughter() -> None:
    texts = ("太好笑了哈哈哈哈", "真的吗哈哈", "明天去图书馆")
    used = portrait(corpus(chat(("小雨", "志强"), texts, 300))).aggregates.words
    assert used is not None and set(used.laughter["item"]) == {"哈哈"}
    said = sum(text.count("哈") > 0 for text in texts)
    assert used.laughter.height == pytest.approx(300 * said / 3, rel=0.2)


# What the page shows of the first day, of a big number and of a share, and the first weekday.
SHOWN = {
    "en-US": ("20 November 2024", "900", "Monday", "12:00"),
    "de-DE": ("20. November 2024", "900", "Montag", "12:00"),
    "ar-EG": ("٢٠ نوفمبر ٢٠٢٤", "٩٠٠", "الاثنين", "١٢:٠٠"),
    "hi-IN": ("20 नवंबर 2024", "900", "सोमवार", "12:00"),
    "ja-JP": ("2024年11月20日", "900", "月曜日", "12:00"),
}


@pytest.mark.parametrize("locale", SHOWN)
def test_dates_and_numbers_follow_the_reader(locale: str, open_in: Any) -> None:
    day, number, weekday, hour = SHOWN[locale]
    page = open_in(english(), locale)
    assert page.inner_text("#glance-items .big >> nth=0") == number
    says = page.inner_text("#glance-items .says >> nth=0")
    assert day in says and "messages" in says and "people" in says  # sentences stay English
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    rhythm = page.inner_text("#rhythm")
    assert weekday in rhythm and hour in rhythm
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    if locale == "de-DE":
        page.select_option("#filter-chat", "0")
        assert "%" in page.inner_text("#people") and "\u00a0%" in page.inner_text("#people")
        assert {"2.038", "5,4"} <= set(page.inner_text("#people table").split())
    if locale == "ar-EG":
        assert "\u2068٢٠ نوفمبر ٢٠٢٤\u2069" in says  # nothing beside it is turned round


def test_a_card_stays_english(open_in: Any) -> None:
    page = open_in(english(), "ar-EG")
    with page.expect_download() as waiting:
        page.click("#card-svg")
    text = Path(waiting.value.path()).read_text("utf-8")
    assert ">900<" in text and "from 4 people" in text
    assert not any(digit in text for digit in "٠١٢٣٤٥٦٧٨٩")


@cases("""
    locale | name
    de-DE  | Türkisch
    ja-JP  | トルコ語
    en-GB  | Turkish
""")
def test_languages_have_the_readers_names(locale: str, name: str, open_in: Any) -> None:
    assert name in open_in(two_people("tr"), locale).inner_text("#words .note >> nth=0")


def test_names_from_right_to_left_stand_apart(open_in: Any) -> None:
    page = open_in(ODD["right to left"](), "en-US")
    says = page.evaluate(
        "window.realtalk.glance(window.realtalk.figures(window.realtalk.state)).map((x) => x.text)"
    )
    named = [text for text in says if "דנה" in text or "أمل" in text]
    assert named and all("\u2068" in text and "\u2069" in text for text in named)
    first = "(x) => x.firstChild.tagName"
    chips = page.evaluate(f"[...document.querySelectorAll('.chips li')].map({first})")
    assert set(chips) <= {"BDI"}


# --- a chat in another language ---


def spoken(lines: Any) -> ReadCorpus:
    return reading(corpus_of({"playa": lines}, times=12))


def graded(monkeypatch: pytest.MonkeyPatch, grade: str) -> None:
    own = {"grade": grade, "measures": {"sentiment": {"grade": grade}}}
    monkeypatch.setattr(encoder_choice, "_grade_file", lambda: {"languages": {"es": own}})


@needs_multilingual
@pytest.mark.parametrize(("grade", "claimed"), [("rough", False), ("usable", True)])
def test_the_mood_is_said_from_usable_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grade: str, claimed: bool
) -> None:
    graded(monkeypatch, grade)
    made = make_portrait(spoken(CHATS["es"]), PortraitOptions(language="en"), cache=tmp_path)
    assert ("mood" in {each.id for each in made.sentences}) == claimed
    page = render(made)
    held = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert held is not None and json.loads(held[1])["claims"] is claimed
    (line,) = made.notes
    assert line.startswith("playa: Spanish in 48 turns, labelled by the multilingual encoder")
    assert f"whose grade there is {grade}" in line and "whose grade there is" in page


def test_an_english_page_says_what_it_said(tmp_path: Path) -> None:
    made = make_portrait(spoken(ENGLISH), cache=tmp_path)
    assert made.claims and not made.notes
    assert "mood" in {each.id for each in made.sentences}
