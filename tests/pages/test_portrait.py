"""What a portrait counts, says and holds, in the reader's locale and in other languages."""

from __future__ import annotations

import json
import math
import re
import stat
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest

import multilingual_chats
import realtalk as rt
from multilingual_chats import CHATS, corpus_of, needs_multilingual
from portrait_chats import (
    ENGLISH,
    ODD,
    SAID_BY_TWO,
    arabic_group,
    chat,
    corpus,
    english,
    japanese,
    reading,
    spanish,
    two_people,
)
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.ei import encoder_choice
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.encoders.shipped import LearnedTexts, fingerprint
from realtalk.formats.reading import ReadCorpus
from realtalk.pages import aggregates
from realtalk.pages.aggregates import feeling_lines
from realtalk.pages.chat_page import (
    Portrait,
    PortraitOptions,
    make_portrait,
    render,
    write_portrait,
)
from realtalk.pages.wording import Wording
from realtalk.pages.words import PortraitWords, log_odds
from refusals import refused
from text_tables import cases


def page_of(made: Corpus, folder: Path, **options: Any) -> str:
    chosen = PortraitOptions(**({"labels": False} | options))
    portrait = make_portrait(reading(made), chosen, cache=folder / "cache")
    return write_portrait(portrait, folder / "page.html").read_text("utf-8")


def portrait(made: Corpus) -> Portrait:
    return make_portrait(reading(made), PortraitOptions(labels=False))


def data_in(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def test_no_message_is_in_the_page(tmp_path: Path) -> None:
    """Not even one that is a single word, or an address."""
    secret = [
        "pomegranate",
        "my code is 4711",
        "https://example.org/private?x=1",
        "ana@example.org",
    ]
    made = chat(("Ana", "Ben"), [*ENGLISH, *secret[1:]], 400)
    once = Message("last", "Ana", datetime(2026, 1, 1), secret[0])
    whole = Chat(made.id, made.speakers, (*made.sessions, Session(999, once.time, (once,))))
    page = json.dumps(data_in(page_of(corpus(whole), tmp_path)))
    assert '"honestly"' in page  # words that are used often are
    for text in (*ENGLISH, "pomegranate", "4711", "private", "ana@"):
        assert text not in page
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o600


def test_without_words_there_are_none(tmp_path: Path) -> None:
    data = data_in(page_of(english(), tmp_path, words=False))
    assert not {"words", "emoji", "laughter", "openings", "domains"} & data.keys()
    assert "tokens" not in data["rows"]
    assert '<section id="words" hidden>' in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize("make", [english, spanish, arabic_group, ODD["hostile names"]])
def test_an_anonymous_page_names_nobody(make: Any, tmp_path: Path) -> None:
    made = make()
    page = page_of(made, tmp_path, anonymous=True, language="en")
    for each in made.chats:
        assert each.id not in data_in(page)["chats"]
        for name in each.speakers:
            if len(name.strip()) > 2:
                assert name not in page
    assert data_in(page)["people"][0] == "Person A"


def test_names_cannot_leave_their_place(tmp_path: Path) -> None:
    page = page_of(ODD["hostile names"](), tmp_path)
    assert "<img" not in page and "</script><b>" not in page


def test_names_of_speakers_are_nobodys_words(tmp_path: Path) -> None:
    texts = [*ENGLISH, "hey bo", "tell Bo's sister", "BO come here"]
    data = data_in(page_of(corpus(chat(("Ana", "Bo"), texts, 600)), tmp_path))
    assert not {"bo", "bo's", "ana"} & set(data["words"]["items"] + data["openings"]["items"])


def test_people_beyond_the_most_active_are_counted_together(tmp_path: Path) -> None:
    made = arabic_group()
    data = data_in(page_of(made, tmp_path))
    assert len(data["people"]) == 12 and data["members"] == 200
    writers = {message.speaker for message in made.chats[0].messages}
    assert data["others"] == len(writers) - 12
    assert sum(data["rows"]["messages"]) == len(made.chats[0].messages)


def test_a_language_without_spaces_is_counted_in_characters(tmp_path: Path) -> None:
    made = make_portrait(reading(japanese()), PortraitOptions(labels=False, language="en"))
    assert "characters" in made.sentences[0].text
    assert data_in(page_of(japanese(), tmp_path))["spaceless"] is True


@pytest.mark.parametrize("name", ODD)
def test_odd_chats_can_be_told_at_a_glance(name: str) -> None:
    said = portrait(ODD[name]()).sentences
    assert 1 <= len(said) <= 8
    text = " ".join(f"{each.figure} {each.text}" for each in said)
    assert "{" not in text and "None" not in text and "nan" not in text


def test_a_chat_without_messages_says_so() -> None:
    with refused("holds no message"):
        portrait(corpus(Chat("empty", ("Ana",), ())))


def test_log_odds_are_those_of_the_formula() -> None:
    frame = pl.DataFrame(
        {"own": [30], "size": [1000], "others": [2], "rest": [1500], "share": [0.0128]}
    )
    found = frame.select(log_odds(*(pl.col(name) for name in frame.columns))).item()
    prior = 0.0128 * 500
    first = math.log((30 + prior) / (1000 + 500 - 30 - prior))
    second = math.log((2 + prior) / (1500 + 500 - 2 - prior))
    right = (first - second) / math.sqrt(1 / (30 + prior) + 1 / (2 + prior))
    assert found == pytest.approx(right)


@cases("""
    seconds | unit   | text
    0       | minute | under a minute
    60      | minute | 1 minute
    30      | minute | under a minute
    42      | second | 42 seconds
    1       | second | 1 second
    90      | second | 2 minutes
    3600    | second | 1 hour
    5400    | second | 1.5 hours
    90000   | second | 25 hours
""")
def test_waits_in_words(seconds: float, unit: Any, text: str) -> None:
    assert Wording.load().wait(seconds, unit) == text


@cases("""
    share | text
    0     | 0%
    0.001 | under 1%
    0.39  | 39%
    0.999 | over 99%
    1     | 100%
""")
def test_shares_in_words(share: float, text: str) -> None:
    assert Wording.load().percent(share) == text


def test_low_is_told_of_answers_only() -> None:
    turns = {
        "chat": ["c"] * 5,
        "session": [1, 1, 1, 2, 2],
        "turn": [0, 1, 2, 3, 5],
        "speaker": ["Ana", "Ben", "Ana", "Ben", "Ana"],
        "time": [datetime(2025, 1, 1)] * 5,
        "sentiment": ["negative", "positive", None, "neutral", "positive"],
        "emotion": ["joy"] * 5,
        "intimacy": [0.1] * 5,
        "empathy": [1.0] * 5,
    }
    # The first answers nobody, the third and the fifth follow turns that are not negative or not
    # labelled next to them, the fourth begins a session.
    assert feeling_lines(pl.DataFrame(turns))["low"].to_list() == [None, True, False, None, None]


def test_labels_are_kept_and_a_sample_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("realtalk.pages.chat_page.QUICK", 40)
    made = english()
    spoken: list[str] = []
    quick = PortraitOptions(quick=True)
    first = make_portrait(reading(made), quick, cache=tmp_path, say=spoken.append)
    kept = pl.read_parquet(tmp_path / "labels" / "*.parquet")  # a file for each of two chats
    assert kept.height == 40
    turns = sum(len(each.turns) for each in made.chats)
    assert first.notes[0] == f"40 of {turns} turns were labelled, spread evenly over time."
    times = kept["turn"].to_list()
    assert min(times) < 10 and max(times) > 0.8 * len(made.chats[0].turns)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("labelled again")

    monkeypatch.setattr(EmbeddedLabeller, "label", never)
    again = make_portrait(reading(made), quick, cache=tmp_path)
    assert again.sentences == first.sentences


def test_the_page_says_what_the_encoder_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("realtalk.pages.chat_page.QUICK", 40)
    made = english()
    texts = (message.text for each in made.chats for message in each.messages)
    known = {found for text in texts if (found := fingerprint(text)) is not None}
    learned = LearnedTexts({"Harbour": np.array(sorted(known), np.uint32)})
    line = "in-sample, the encoder learned from Harbour"
    assert line not in page_of(made, tmp_path, labels=True, quick=True)
    monkeypatch.setattr(LearnedTexts, "of", staticmethod(lambda model: learned))
    assert f"{made.chats[0].id}: {line}" in page_of(made, tmp_path, labels=True, quick=True)
    hidden = page_of(made, tmp_path, labels=True, quick=True, anonymous=True)
    assert line in hidden and f"{made.chats[0].id}: {line}" not in hidden
    assert line not in page_of(made, tmp_path, labels=False)


def sums(data: dict[str, Any], part: str, *by: str) -> Counter[tuple[int, ...]]:
    """How often each item was counted, for each value of some columns of its rows."""
    first, rows = date.fromisoformat(data["first"]), data["rows"]
    columns: dict[str, list[int]] = {
        "chat": list(accumulate(rows["chat"])),
        "person": rows["person"],
        "weekday": [(first + timedelta(day)).weekday() for day in rows["day"]],
    }
    found: Counter[tuple[int, ...]] = Counter()
    entries = data[part]
    for row, item, n in zip(
        accumulate(entries["row"]), entries["item"], entries["count"], strict=True
    ):
        found[*(columns[name][row] for name in by), item] += n
    return found


def waits(data: dict[str, Any], person: int) -> list[int]:
    """How long a person waited before every reply."""
    of_rows = zip(accumulate(data["replies"]["row"]), data["replies"]["values"], strict=True)
    people = data["rows"]["person"]
    return [wait for row, values in of_rows if people[row] == person for wait in values]


def test_what_grows_with_the_messages_has_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted over longer times nothing is lost; of reply times the middle stays about the same."""
    made = english()
    whole = data_in(page_of(made, tmp_path))
    monkeypatch.setattr(aggregates, "_MOST", 150)
    monkeypatch.setattr(aggregates, "_MOST_REPLIES", 50)
    small = data_in(page_of(made, tmp_path))
    for part, by in {
        "hours": ("chat", "person", "weekday"),
        "answers": ("chat", "person"),
        "emoji": ("chat", "person"),
    }.items():
        assert len(small[part]["row"]) < len(whole[part]["row"])
        assert sums(small, part, *by) == sums(whole, part, *by)
    assert len(small["words"]["row"]) <= 150 < len(whole["words"]["row"])
    kept = sums(small, "words", "person")
    assert kept and all(n == sums(whole, "words", "person")[key] for key, n in kept.items())
    for person in range(2):
        all_waits, some = waits(whole, person), waits(small, person)
        assert 25 <= len(some) <= 50 < len(all_waits)
        low, high = np.quantile(all_waits, (0.4, 0.6))
        assert low <= np.median(some) <= high


def test_a_folder_gets_a_page_for_each_chat(tmp_path: Path) -> None:
    made = english()
    page = rt.report(made, out=tmp_path / "pages", labels=False)
    rows = page.to_json()["pages"]
    assert page.path == tmp_path / "pages" / "index.html"
    assert {row["chat"] for row in rows} == {each.id for each in made.chats}
    assert [row["messages"] for row in rows] == sorted(row["messages"] for row in rows)[::-1]
    listed = page.path.read_text("utf-8")
    for row in rows:
        own = data_in((tmp_path / "pages" / row["page"]).read_text("utf-8"))
        (only,) = (each for each in made.chats if each.id == row["chat"])
        assert own["chats"] == [only.id] and sum(own["rows"]["messages"]) == row["messages"]
        assert set(own["people"]) == {message.speaker for message in only.messages}
        assert f'<a href="{quote(row["page"])}">' in listed
    assert f"<title>{len(rows)} chats</title>" in listed
    again = rt.report(made, out=tmp_path / "pages", labels=False, anonymous=True).to_json()
    assert [row["chat"] for row in again["pages"]] == [f"Chat {n + 1}" for n in range(len(rows))]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("my own notes")
    with refused("is a file, but not a page"):
        rt.report(made, out=tmp_path / "mine", labels=False)


def test_a_page_is_opened_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    rt.report(english(), out=tmp_path / "own.html", labels=False)
    assert not opened
    rt.report(english(), out=tmp_path / "own.html", labels=False, open=True)
    assert opened == [(tmp_path / "own.html").resolve().as_uri()]


# --- in the reader's locale and language ---


@pytest.fixture
def open_in(open_file: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    def opened(made: Corpus, locale: str) -> Any:
        return open_file(write_portrait(portrait(made), tmp_path / "page.html"), locale=locale)

    return opened


def words_of(made: Corpus) -> PortraitWords:
    used = portrait(made).aggregates.words
    assert used is not None
    return used


@pytest.mark.parametrize("language", SAID_BY_TWO)
def test_typical_words_are_those_that_tell(language: str) -> None:
    """Every word of both is known as one, and nothing that everybody says is among them."""
    used = words_of(two_people(language))
    _, hers, his = SAID_BY_TWO[language]
    assert used.languages[0] == language
    shown = set(used.words["item"])
    assert {*hers, *his} <= shown and len(shown) <= 9


def test_english_loses_its_commonest_words_too() -> None:
    used = words_of(english())
    assert used.languages == ("en",)
    shown = set(used.words["item"])
    assert shown and not {"the", "this"} & shown


def test_a_name_is_hidden_inside_a_run() -> None:
    texts = ("今日は健太が休みです", "健太は元気かな", "図書館に健太と行った", "健太の本を見た")
    used = words_of(corpus(chat(("健太", "美咲"), texts, 400)))
    assert used.words.height
    shown = (*used.words["item"], *used.openings["item"])
    assert not [word for word in shown if "健太" in word]


def test_laughter_behind_a_word_is_laughter() -> None:
    texts = ("太好笑了哈哈哈哈", "真的吗哈哈", "明天去图书馆")
    used = words_of(corpus(chat(("小雨", "志强"), texts, 300)))
    assert set(used.laughter["item"]) == {"哈哈"}
    assert used.laughter.height == pytest.approx(200, rel=0.2)  # two of three texts laugh


# What the page shows of the first day, of a big number and of a share, and the first weekday.
@cases("""
    locale | day               | number | weekday | hour
    en-US  | 20 November 2024  | "900"  | Monday  | 12:00
    de-DE  | 20. November 2024 | "900"  | Montag  | 12:00
    ar-EG  | ٢٠ نوفمبر ٢٠٢٤    | "٩٠٠"  | الاثنين | ١٢:٠٠
    hi-IN  | 20 नवंबर 2024      | "900"  | सोमवार  | 12:00
    ja-JP  | 2024年11月20日    | "900"  | 月曜日  | 12:00
""")
def test_dates_and_numbers_follow_the_reader(
    locale: str, day: str, number: str, weekday: str, hour: str, open_in: Any
) -> None:
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
    assert data_in(page)["claims"] is claimed
    (line,) = made.notes
    assert line.startswith("playa: Spanish in 48 turns, labelled by the multilingual encoder")
    assert f"whose grade there is {grade}" in line and "whose grade there is" in page


def test_an_english_page_says_what_it_said(tmp_path: Path) -> None:
    made = make_portrait(spoken(multilingual_chats.ENGLISH), cache=tmp_path)
    assert made.claims and not made.notes
    assert "mood" in {each.id for each in made.sentences}
