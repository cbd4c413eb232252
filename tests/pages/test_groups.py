"""Groups, several chats and words on the page: who answers whom, what is not added up, what can
be looked up."""

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
from realtalk.pages.aggregates import Aggregates, answers, mentions
from realtalk.pages.chat_page import Portrait, render
from realtalk.pages.lines import message_lines

FIRST = datetime(2025, 1, 6, 9)
SAID = [
    ("Nadia", "who is at the boathouse?"),
    ("Will Orme", "me. and Nadia will come, too"),
    ("Will Orme", "soon"),
    ("Tomasz", "@will wait for me"),
    ("Nadia", "tomasz, tomasz! Orme has the key"),
]


def chat(name: str, said: list[tuple[str, str]], *, quotes: dict[int, int] | None = None) -> Chat:
    lines = tuple(
        Message(
            f"{name}:{at}",
            who,
            FIRST + timedelta(minutes=at),
            text,
            reply_to=f"{name}:{quotes[at]}" if quotes and at in quotes else None,
        )
        for at, (who, text) in enumerate(said)
    )
    return Chat(name, tuple(dict.fromkeys(who for who, _ in said)), (Session(1, FIRST, lines),))


def pairs(frame: Any) -> list[tuple[str, str]]:
    return sorted(frame.select("speaker", "other").iter_rows())


def lines(*chats: Chat) -> Any:
    return message_lines(from_corpus(Corpus("own", "own", chats))).frame


def test_turns_answer_whoever_wrote_before_and_quotes_their_writer() -> None:
    frame = lines(chat("<Boat> club", SAID, quotes={4: 1}))
    assert pairs(answers(frame)) == [
        ("Nadia", "Will Orme"),  # quoted; Tomasz wrote before
        ("Tomasz", "Will Orme"),
        ("Will Orme", "Nadia"),
    ]


def test_an_ordinary_word_is_no_mention_unless_it_is_marked() -> None:
    frame = lines(chat("club", SAID))
    assert pairs(mentions(frame, ["Nadia", "Will Orme", "Tomasz"])) == [
        ("Nadia", "Tomasz"),
        ("Nadia", "Will Orme"),
        ("Tomasz", "Will Orme"),  # "@will"; "Nadia will come" mentions nobody but Nadia
        ("Will Orme", "Nadia"),
    ]


def test_two_people_are_no_group() -> None:
    frame = lines(chat("two", [line for line in SAID if line[0] != "Tomasz"]))
    assert not answers(frame).height and not mentions(frame, ["Nadia", "Will Orme"]).height


def opened(open_file: Any, folder: Path, *chats: Chat, width: int = 1200) -> Any:
    made = from_corpus(Corpus("own", "own", chats))
    return open_file(
        write_text(folder / "page.html", render(Portrait(Aggregates.build(made)))), width
    )


def test_a_group_has_its_name_and_its_matrix(open_file: Any, tmp_path: Path) -> None:
    page = opened(open_file, tmp_path, chat("<Boat> club", SAID * 3))
    assert page.inner_text("#heading") == "<Boat> club"
    table = page.locator("[aria-label='Who answers whom'] tbody tr")
    assert table.count() == 3 and not page.is_visible("#chats")
    nadia = table.filter(has=page.locator("th", has_text="Nadia")).locator("td")
    assert nadia.all_inner_texts() == ["", "0", "3"]  # Nadia, Will Orme, Tomasz
    mentioned = page.locator("#people .bars").last.locator("li")
    assert mentioned.first.inner_text().split("\n")[0] == "Will Orme"
    page.check("#hide-names")
    assert "Boat" not in page.inner_text("body") and "Orme" not in page.inner_text("body")


def test_several_chats_are_listed_and_not_added_up(open_file: Any, tmp_path: Path) -> None:
    two = chat("Nadia's sister", [("Nadia", "hello"), ("Ilse", "hello")] * 4)
    page = opened(open_file, tmp_path, chat("Boat club", SAID * 3), two)
    rows = page.locator("#chats-body tbody tr")
    assert [row.split("\t")[1:3] for row in rows.all_inner_texts()] == [
        ["Nadia, Will Orme and Tomasz", "15"],
        ["Nadia and Ilse", "8"],
    ]
    assert "Choose a chat" in page.inner_text("#chats-body .note")
    for hidden in ("people", "words", "feelings"):
        assert not page.is_visible(f"#{hidden}")
    page.click("#chats-body button >> nth=1")
    assert page.inner_text("#heading") == "Nadia and Ilse"
    assert page.is_visible("#people") and "Tomasz" not in page.inner_text("#people")
    assert page.input_value("#filter-chat") == "1"
    page.click("#chats-body button >> nth=0")
    assert page.inner_text("#heading") == "Boat club"
    page.click("#chats-body button >> nth=0")
    assert not page.is_visible("#people")


def edges(page: Any, what: str) -> list[float]:
    """How far from the page's own right edge each of these ends."""
    found: list[float] = page.evaluate(
        """(what) => { const main = document.getElementById("main"), style = getComputedStyle(main);
            const right = main.getBoundingClientRect().right - parseFloat(style.paddingRight);
            return [...document.querySelectorAll(what)].filter((each) => each.offsetParent || each.ownerSVGElement !== undefined)
                .map((each) => Math.round(right - each.getBoundingClientRect().right)); }""",  # noqa: E501
        what,
    )
    return found


def test_charts_bars_and_tables_end_at_one_edge(open_file: Any, tmp_path: Path) -> None:
    page = opened(open_file, tmp_path, chat("Boat club", SAID * 3), width=1280)
    what = "#people .bars, #people .scroll, #people table, .drawing svg.fluid, #glance-items"
    found = edges(page, what)
    assert len(found) >= 5 and set(found) == {0}


def test_on_a_phone_bars_have_their_figure_beside_them(open_file: Any, tmp_path: Path) -> None:
    page = opened(open_file, tmp_path, chat("Boat club", SAID * 3), width=390)
    beside = page.evaluate(
        """() => [...document.querySelectorAll(".bars li")].map((bar) => {
            const box = (part) => bar.querySelector(part).getBoundingClientRect();
            const track = box(".bar-track"), value = box(".bar-value");
            return value.left >= track.right && value.top < track.bottom && track.width > 40; })"""
    )
    assert len(beside) >= 3 and all(beside)
    table = page.locator("[aria-label='Figures by person']")
    assert table.evaluate("(each) => each.scrollWidth <= each.clientWidth")  # three people fit
    cut = page.locator("[aria-label='Who answers whom']")
    assert "gradient" in cut.evaluate("(each) => getComputedStyle(each).backgroundImage")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


# --- words: what can be looked up, and how much of it ---


MONDAY = datetime(2025, 1, 6, 9)  # a Monday


def corpus(*said: tuple[str, str], every: timedelta = timedelta(days=1)) -> Corpus:
    """One session for each text."""
    sessions = tuple(
        Session(at + 1, MONDAY + at * every, (Message(f"m{at}", who, MONDAY + at * every, text),))
        for at, (who, text) in enumerate(said)
    )
    return Corpus("own", "own", (Chat("own", tuple(sorted({who for who, _ in said})), sessions),))


def held(made: Corpus) -> dict[str, Any]:
    found: dict[str, Any] = Aggregates.build(from_corpus(made)).to_json()
    return found


def looked_up(data: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Telling words, phrases, and the words that can only be looked up."""
    items, words, phrases = (data["lookup"][name] for name in ("items", "words", "phrases"))
    return items[:words], items[words : words + phrases], items[words + phrases :]


def test_function_words_can_only_be_looked_up() -> None:
    said = [("Ann", "I'm sure that you don't see the lighthouse"), ("Bo", "yeah it's the ferry")]
    telling, _, other = looked_up(held(corpus(*said * 4)))
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
    _, phrases, _ = looked_up(held(corpus(*said * 4)))
    assert "harbour lights" in phrases and "crab sandwich" in phrases
    assert "on my way" in phrases and "my way" not in phrases
    text = json.dumps(phrases)
    assert "way harbour" not in text and "lind" not in text and "sandwich crab" not in text


def test_small_chats_have_a_lower_bar_and_large_ones_do_not() -> None:
    thrice = [("Ann", "walnut")] * 3 + [("Bo", "fig")] * 2
    assert looked_up(held(corpus(*thrice)))[0] == ["walnut"]
    long = [("Bo", "pebble " * 2000)] * 5
    assert looked_up(held(corpus(*thrice, *long)))[0] == ["pebble"]


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
