"""Words on the page: what is left out, what is one word, what can be looked up, how much of it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.files.writing import write_text
from realtalk.formats.tables import from_corpus
from realtalk.pages import words
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.chat_page import Portrait, render

FIRST = datetime(2025, 1, 6, 9)  # a Monday


def corpus(*said: tuple[str, str], every: timedelta = timedelta(days=1)) -> Corpus:
    """One session for each text."""
    sessions = tuple(
        Session(at + 1, FIRST + at * every, (Message(f"m{at}", who, FIRST + at * every, text),))
        for at, (who, text) in enumerate(said)
    )
    return Corpus("own", "own", (Chat("own", tuple(sorted({who for who, _ in said})), sessions),))


def held(made: Corpus) -> dict[str, Any]:
    found: dict[str, Any] = Aggregates.build(from_corpus(made)).to_json()
    return found


def parts(data: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Telling words, phrases, and the words that can only be looked up."""
    items, words, phrases = (data["lookup"][name] for name in ("items", "words", "phrases"))
    return items[:words], items[words : words + phrases], items[words + phrases :]


def test_function_words_can_only_be_looked_up() -> None:
    said = [("Ann", "I'm sure that you don't see the lighthouse"), ("Bo", "yeah it's the ferry")]
    telling, _, other = parts(held(corpus(*said * 4)))
    assert telling == ["ferry", "lighthouse"]
    assert {"the", "i'm", "you", "don't", "yeah", "it's"} <= set(other)


def test_an_apostrophe_makes_no_other_word_unless_it_does() -> None:
    said = [("Ann", "dont mums"), ("Bo", "don’t mum's"), ("Ann", "don't mums")]
    said += [("Bo", "we're well"), ("Ann", "were well"), ("Bo", "we'll")] * 2
    data = held(corpus(*said * 2))
    found = dict(zip(data["lookup"]["items"], totals(data), strict=True))
    assert found["don't"] == 6 and "dont" not in found
    assert found["mums"] == 6 and "mum's" not in found
    assert found["we're"] == found["were"] == 4


def totals(data: dict[str, Any]) -> list[int]:
    counts, found, at = data["lookup"]["count"], [], 0
    for size in data["lookup"]["sizes"]:
        found.append(sum(counts[at : at + size]))
        at += size
    return found


def test_phrases_hold_no_name_and_cross_no_sign() -> None:
    said = [("Ann", "On my way. Harbour lights for Bo Lind"), ("Bo Lind", "crab sandwich, crab")]
    _, phrases, _ = parts(held(corpus(*said * 4)))
    assert "harbour lights" in phrases and "crab sandwich" in phrases
    assert "on my way" in phrases and "my way" not in phrases
    text = json.dumps(phrases)
    assert "way harbour" not in text and "lind" not in text and "sandwich crab" not in text


def test_small_chats_have_a_lower_bar_and_large_ones_do_not() -> None:
    thrice = [("Ann", "walnut")] * 3 + [("Bo", "fig")] * 2
    assert parts(held(corpus(*thrice)))[0] == ["walnut"]
    long = [("Bo", "pebble " * 2000)] * 5
    assert parts(held(corpus(*thrice, *long)))[0] == ["pebble"]


def test_what_can_be_looked_up_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    said = [("Ann", "walnut walnut fig"), ("Bo", "walnut fig date")] * 6
    whole = held(corpus(*said))["lookup"]
    assert len(whole["items"]) > 2
    monkeypatch.setattr(words, "_ENTRIES", whole["sizes"][0])
    cut = held(corpus(*said))["lookup"]
    assert cut["items"] == ["walnut"] and len(cut["cell"]) == whole["sizes"][0]


def test_a_word_is_looked_up_in_the_page(open_file: Any, tmp_path: Path) -> None:
    said = [("Ann", "can't see the ferry"), ("Bo", "ferry or crab")] * 6
    made = corpus(*said, every=timedelta(days=4))
    text = render(Portrait(Aggregates.build(from_corpus(made))))
    page = open_file(write_text(tmp_path / "page.html", text), 1200)
    assert page.input_value("#word") == "ferry"
    page.fill("#word", "CANT")
    assert page.inner_text("#word-found p") == "“can't”: 6 times"
    bars = page.locator("#word-found rect")
    assert bars.count() == 6 and "week of 6 January 2025, Ann: 1 time" in bars.first.inner_html()
    page.fill("#word", "<i>unsaid</i>")
    assert "at least 3 times, in at least 2 conversations" in page.inner_text("#word-found p")
    assert page.query_selector("#word-found i") is None
    page.fill("#word", "ferry")
    page.click("#filter-people button:has-text('Bo')")
    assert page.input_value("#word") == "ferry"
    assert page.inner_text("#word-found p") == "“ferry”: 6 times"
    page.fill("#filter-to", "2025-01-12")
    page.dispatch_event("#filter-to", "change")
    assert page.inner_text("#word-found p").startswith("“ferry”: 1 time, in every week")
    used = page.evaluate(
        "window.realtalk.mostUsed({people: null, chat: null, from: null, to: null})"
    )
    assert used[0]["words"] == [{"item": "ferry", "count": 6}]
    assert {"item": "crab", "count": 6} in used[1]["words"]
