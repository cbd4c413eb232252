"""The page in every language it speaks: nothing missing, nothing left in English, plurals right."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from babel import Locale

import realtalk as rt
from portrait_chats import (
    SAID_BY_TWO,
    arabic_group,
    english,
    japanese,
    reading,
    spanish,
    two_people,
)
from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import GRADES, Grade
from realtalk.ei.languages import Remark
from realtalk.pages import chat_page
from realtalk.pages.chat_page import PortraitOptions, make_portrait, write_portrait
from realtalk.pages.wording import LANGUAGES, Phrase, Wording, page_language
from realtalk.text.languages import languages_in
from refusals import refused

OTHERS = LANGUAGES[1:]
NUMBERS = (*range(130), 1_000, 1_001, 12_345, 1_000_000, 2_000_000)


def gaps(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def forms(phrase: Phrase) -> Mapping[str, str]:
    return {"other": phrase} if isinstance(phrase, str) else phrase


def every(words: Wording) -> Iterator[tuple[tuple[str, str], Phrase]]:
    for group, phrases in words.phrases.items():
        yield from (((group, key), phrase) for key, phrase in phrases.items())


def plain(text: str) -> str:
    """Without marks of direction; which narrow space parts thousands changes with CLDR."""
    return re.sub("[\u00a0\u202f]", " ", re.sub("[\u200e\u2068\u2069]", "", text))


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_is_whole(language: str) -> None:
    """Every phrase, with the gaps of the English one, in every plural form of the language."""
    pattern, own = dict(every(Wording.load())), dict(every(Wording.load(language)))
    assert own.keys() == pattern.keys()
    plural = {*Locale.parse(language).plural_form.tags, "other"}
    for place, phrase in pattern.items():
        needed = set().union(*map(gaps, forms(phrase).values()))
        assert isinstance(own[place], str) == isinstance(phrase, str), place
        if not isinstance(phrase, str):
            assert forms(own[place]).keys() == plural, place
        for form, text in forms(own[place]).items():
            # A form of one number alone may leave the number out: "a minute".
            assert needed - {"n"} <= gaps(text) <= needed, (place, form)
            assert text.strip() or place == ("labels", "comma")


@pytest.mark.parametrize("language", OTHERS)
def test_sentences_are_translated(language: str) -> None:
    """What is longer than a word or two is never the English text."""
    english_ones = dict(every(Wording.load()))
    same = [
        place
        for place, phrase in every(Wording.load(language))
        for text in forms(phrase).values()
        if text in forms(english_ones[place]).values()
        and len(re.findall(r"[a-z]{2,}", re.sub(r"\{\w+\}", "", text))) > 2
    ]
    assert same == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_browser_says_what_python_says(
    language: str, open_file: Callable[..., Any], tmp_path: Path
) -> None:
    """Sentences, plural forms, numbers and dates of both are the same, and the page is no wider."""
    made = make_portrait(
        reading(two_people("tr")), PortraitOptions(labels=False, language=language)
    )
    page = open_file(write_portrait(made, tmp_path / "page.html"), 390)
    found = page.evaluate(
        "window.realtalk.glance(window.realtalk.figures(window.realtalk.state))"
        ".map((x) => [x.figure, x.text])"
    )
    own = [[each.figure, each.text] for each in made.sentences]
    assert [list(map(plain, pair)) for pair in found] == [list(map(plain, pair)) for pair in own]
    words = made.words
    counted = page.evaluate(
        "(numbers) => numbers.map((n) => [counted(n, 'message'), counted(n / 8, 'hour', 1)])",
        NUMBERS,
    )
    for n, pair in zip(NUMBERS, counted, strict=True):
        tenths = int(n / 8 * 10 + 0.5) / 10
        assert plain(pair[0]) == plain(words.counted(n, "message"))
        if n % 4 == 0:  # of others a half may be rounded either way
            assert plain(pair[1]) == plain(words.counted(tenths, "hour", 1))
    root = page.evaluate("[document.documentElement.lang, document.documentElement.dir]")
    assert root == [language, "rtl" if language == "ar" else "ltr"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_is_said_outside_of_the_wording(
    open_file: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every phrase marked, whatever the page shows is marked, or is somebody's own text."""
    marked = {
        group: {
            key: f"§{phrase}"
            if isinstance(phrase, str)
            else {form: f"§{text}" for form, text in phrase.items()}
            for key, phrase in phrases.items()
        }
        for group, phrases in Wording.load().phrases.items()
    }
    monkeypatch.setattr(Wording, "load", lambda language="en": Wording("en", marked))
    monkeypatch.setattr(chat_page, "QUICK", 100)
    options = PortraitOptions(language="en", quick=True)
    made = make_portrait(reading(english()), options, cache=tmp_path)
    page = open_file(write_portrait(made, tmp_path / "page.html"))
    shown = """() => {
        document.querySelectorAll("details").forEach((each) => { each.open = true; });
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
        while (walk.nextNode()) {
            const node = walk.currentNode, text = node.nodeValue.trim();
            const own = "bdi, script, time, .made, .brand, #filter-chat";
            if (node.parentElement.closest(own)) continue;
            const whole = node.parentElement.textContent;
            if (/[a-z]{2}/i.test(text) && !whole.includes("§")) found.push(text);
        }
        return [...new Set(found)];
    }"""
    times = r"(\d+ )?(Jan|Feb|Mar|Nov|Dec)\w*( \d{4})?|\w+day|(Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
    for chat in ("", "0"):
        page.select_option("#filter-chat", chat)
        left = [text for text in page.evaluate(shown) if not re.fullmatch(times, text)]
        dates = r"[\d ]* ?\w+ \d{4}"
        assert {text for text in left if not re.fullmatch(dates, text)} <= {"example.org"}


@pytest.mark.parametrize(
    ("make", "language"),
    [(english, "en"), (spanish, "es"), (japanese, "ja"), (arabic_group, "ar")],
)
def test_a_page_speaks_the_language_of_its_chat(make: Any, language: str, tmp_path: Path) -> None:
    page = rt.report(make(), out=tmp_path / "own.html", labels=False)
    assert f'<html lang="{language}"' in page.path.read_text("utf-8")
    page = rt.report(make(), out=tmp_path / "own.html", labels=False, language="en")
    assert '<html lang="en" dir="ltr">' in page.path.read_text("utf-8")
    assert "messages" in page.sentences[0]


def test_a_language_that_the_page_does_not_speak() -> None:
    turkish = [line.format("deniz") for line in SAID_BY_TWO["tr"][0]] * 20
    assert languages_in(turkish) == ("tr",) and page_language(turkish) == "en"
    assert page_language([]) == "en" and page_language(["ok"], "hi") == "hi"
    with refused("unknown language 'xx'"):
        page_language([], "xx")


def test_english_cautions_are_those_that_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own wording of what other commands say of labels, too."""
    apart: Mapping[Grade, list[str]] = {"good": ["sentiment", "emotion"], "rough": ["empathy"]}
    remarks = [
        Remark("hardly", ("a", "b", "c", "d"), "embedded", {"turns": 1200}),
        Remark("partly", ("a",), "embedded", {"others": 5, "total": 10}),
        Remark("unseen", ("a",), "embedded"),
        Remark("untold", ("a",), "embedded", {"turns": 3}),
        *(
            Remark(grade, ("a", "b"), "embedded", {"turns": 40}, ("es", "fr"), other)
            for grade in GRADES
            for other in ({}, apart)
        ),
    ]
    monkeypatch.setattr(chat_page, "language_remarks", lambda _: remarks)
    labels = pl.DataFrame({"chat": ["a"], "measure": ["embedded"], "version": [""]})
    found = chat_page._cautions(Wording.load(), labels, Corpus("none", "csv", ()), named=True)
    assert list(found) == list(map(str, remarks))
