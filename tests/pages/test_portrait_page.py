"""The page of a chat in a real browser: its figures are those of a count by hand, filtered too."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import date
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest
import scipy.stats

from axe_checks import assert_nothing_bars
from portrait_chats import ODD, arabic_group, english, japanese, reading, spanish
from realtalk.chat import Corpus, Message
from realtalk.ei.labelling import labels_for
from realtalk.pages.chat_page import PortraitOptions, make_portrait, write_portrait

MADE = {"english": english, "spanish": spanish, "japanese": japanese, "arabic": arabic_group}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests here: the same chat is labelled once."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def open_page(open_file: Callable[..., Any], tmp_path: Path, kept: Path) -> Callable[..., Any]:
    """Writes and opens a page."""

    def opened(corpus: Corpus, width: int = 1200, **options: Any) -> Any:
        chosen = PortraitOptions(**({"labels": False} | options))
        made = make_portrait(reading(corpus), chosen, cache=kept)
        return open_file(write_portrait(made, tmp_path / "page.html"), width)

    return opened


Line = dict[str, Any]


def by_hand(corpus: Corpus) -> list[Line]:
    """One entry per message, counted without any of the code under test."""
    lines: list[Line] = []
    for chat in corpus.chats:
        for session in chat.sessions:
            before: Message | None = None
            for at, message in enumerate(session.messages):
                wait = None
                answered = before if before and before.speaker != message.speaker else None
                if answered and answered.time and message.time and answered.time <= message.time:
                    wait = int((message.time - answered.time).total_seconds())
                lines.append(
                    {
                        "chat": chat.id,
                        "message": message,
                        "starts": at == 0,
                        "ends": at == len(session.messages) - 1,
                        "wait": wait,
                    }
                )
                before = message
    return lines


def expected(lines: list[Line], unit: int) -> dict[str, Any]:
    """Figures of a selection, by hand."""
    days: Counter[date] = Counter()
    people: dict[str, dict[str, Any]] = defaultdict(lambda: defaultdict(int))
    week: Counter[tuple[int, int]] = Counter()
    for line in lines:
        message: Message = line["message"]
        who = people[message.speaker]
        who["messages"] += 1
        who["words"] += len(message.text.split())
        who["characters"] += len(message.text)
        who["question"] += any(mark in message.text for mark in "?؟？")
        who["starts"] += line["starts"]
        who["ends"] += line["ends"]
        who["edited"] += message.edited
        who["deleted"] += message.deleted
        who["calls"] += sum(file.kind == "call" for file in message.attachments)
        who["image"] += sum(file.kind == "image" for file in message.attachments)
        who["links"] += message.text.count("https://") + message.text.startswith("mira esto")
        if line["wait"] is not None:
            who.setdefault("waits", []).append(line["wait"] // unit)
        if message.time is not None:
            days[message.time.date()] += 1
            week[message.time.weekday(), message.time.hour] += 1
            who["night"] += message.time.hour < 5
    return {"people": people, "days": days, "week": week}


def by_size(names: Iterable[str]) -> list[str]:
    """The commonest first, those that are as common by their names."""
    sizes = Counter(names)
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def longest(days: set[date]) -> tuple[int, int]:
    """The longest run of days with messages, and of days without between them."""
    order = sorted(days)
    gaps = [(later - day).days - 1 for day, later in pairwise(order)]
    runs = accumulate(gaps, lambda run, gap: 1 if gap else run + 1, initial=1)
    return max(runs), max(gaps, default=0)


def shown(page: Any, choice: dict[str, Any]) -> dict[str, Any]:
    """The page's own figures for a selection, days and people by name."""
    found: dict[str, Any] = page.evaluate(
        """(choice) => {
            const made = window.realtalk.figures(choice);
            const months = window.realtalk.monthly(made);
            return {...made, own: null, near: null, days: [...made.days], months};
        }""",
        choice,
    )
    return found


COLUMNS = (
    "messages",
    "words",
    "characters",
    "question",
    "starts",
    "ends",
    "edited",
    "deleted",
    "calls",
    "image",
    "links",
    "night",
)
CHOICES: list[dict[str, Any]] = json.loads("""[
 {"people": null, "chat": null, "from": null, "to": null},
 {"people": [0], "chat": null, "from": null, "to": null},
 {"people": [0, 1], "chat": 0, "from": 3, "to": 17},
 {"people": null, "chat": null, "from": 10, "to": 12}]""")


@pytest.mark.parametrize("name", MADE)
def test_every_figure_is_that_of_a_count_by_hand(name: str, open_page: Any) -> None:
    corpus = MADE[name]()
    page = open_page(corpus)
    lines = by_hand(corpus)
    unit = 60 if name == "spanish" else 1
    names = by_size(line["message"].speaker for line in lines)
    names = names if len(names) <= 13 else names[:12]
    chat_names = by_size(line["chat"] for line in lines)
    first = min(line["message"].time.date() for line in lines)
    for choice in CHOICES:
        chosen = [
            line
            for line in lines
            if (
                choice["people"] is None
                or line["message"].speaker in [names[at] for at in choice["people"]]
            )
            and (choice["chat"] is None or line["chat"] == chat_names[choice["chat"]])
            and (
                choice["from"] is None
                or choice["from"] <= (line["message"].time.date() - first).days <= choice["to"]
            )
        ]
        found, right = shown(page, choice), expected(chosen, unit)
        assert found["total"]["messages"] == len(chosen)
        assert dict(found["days"]) == {(day - first).days: n for day, n in right["days"].items()}
        if chosen:
            streak, silence = longest(set(right["days"]))
            assert found["streak"]["days"] == streak
            assert (found["silence"] or {"days": 0})["days"] == silence
            assert found["busiest"]["messages"] == max(right["days"].values())
        for day in range(7):
            for hour in range(24):
                assert found["week"][day][hour] == right["week"][day, hour]
        for who in found["people"]:
            if who["person"] >= len(names):
                continue
            by = right["people"][names[who["person"]]]
            for column in COLUMNS:
                assert who[column] == by[column], (choice, names[who["person"]], column)
            waits = by.get("waits", [])
            assert who["replies"] == len(waits)
            assert who["reply"] == (statistics.median(waits) if waits else None)
        months = Counter(day.isoformat()[:7] for day in right["days"].elements())
        found_in = {each["month"]: sum(each["counts"]) for each in found["months"]}
        assert Counter(found_in) == months  # which takes a month without a message for none


WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)


def words_by_hand(lines: list[Line]) -> Counter[str]:
    """Words as the page counts them, without its code: addresses cut out, letters only."""
    found: Counter[str] = Counter()
    for line in lines:
        found.update(WORD.findall(ADDRESS.sub(" ", line["message"].text).lower()))
    return found


@pytest.mark.parametrize("name", ["english", "spanish"])
def test_words_and_emoji_are_those_of_a_count_by_hand(name: str, open_page: Any) -> None:
    corpus = MADE[name]()
    page = open_page(corpus)
    lines = by_hand(corpus)
    names = by_size(line["message"].speaker for line in lines)
    everybody = words_by_hand(lines)
    total = sum(everybody.values())
    typical = page.evaluate(
        "window.realtalk.typicalWords(window.realtalk.figures(window.realtalk.state))"
    )
    assert any(typical) or name != "english"
    for person, entries in enumerate(typical):
        own = words_by_hand([x for x in lines if x["message"].speaker == names[person]])
        size = sum(own.values())
        for entry in entries:
            word = entry["word"]
            others = everybody[word] - own[word]
            assert (entry["count"], entry["others"]) == (own[word], others), word
            prior = 500 * everybody[word] / total
            hers, theirs = (
                math.log((count + prior) / (of + 500 - count - prior))
                for count, of in ((own[word], size), (others, total - size))
            )
            right = (hers - theirs) / math.sqrt(1 / (own[word] + prior) + 1 / (others + prior))
            assert entry["z"] == pytest.approx(right) and right >= 1.96
    emoji = page.evaluate(
        "window.realtalk.uses('emoji', window.realtalk.figures({...window.realtalk.state}).own)"
    )
    for item, counts in zip(emoji["items"], emoji["counts"], strict=True):
        for person, count in enumerate(counts):
            own_lines = [x for x in lines if x["message"].speaker == names[person]]
            assert count == sum(x["message"].text.count(item) for x in own_lines)


def first_figure(page: Any) -> str:
    return str(page.inner_text("#glance-items .big >> nth=0"))


def test_filters_in_the_page_change_what_is_shown(open_page: Any) -> None:
    corpus = english()
    page = open_page(corpus)
    lines = by_hand(corpus)
    assert first_figure(page) == f"{len(lines):,}"
    page.click("#filter-people button:has-text('Tom')")
    own = [line for line in lines if line["message"].speaker == "Tom"]
    assert first_figure(page) == f"{len(own):,}"
    assert "Tom" in page.inner_text("#selection")
    page.fill("#filter-from", "2024-12-01")
    page.fill("#filter-to", "2024-12-31")
    page.dispatch_event("#filter-to", "change")
    own = [
        line
        for line in own
        if date(2024, 12, 1) <= line["message"].time.date() <= date(2024, 12, 31)
    ]
    assert first_figure(page) == f"{len(own):,}"
    page.check("#hide-names")
    assert "Tom" not in page.inner_text("body") and "Ines" not in page.title()


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_chats_have_sensible_pages(name: str, open_page: Any) -> None:
    page = open_page(ODD[name]())
    for width in (1200, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.hit") is None
    # The one picture is the card, which the page drew itself.
    (picture,) = page.query_selector_all("main img")
    assert picture.get_attribute("src").startswith("data:image/svg+xml")
    assert page.query_selector("#card-view > img") is not None
    assert first_figure(page).replace(",", "").isdigit()
    deserts = page.evaluate(
        """() => [...document.querySelectorAll("table tbody tr")]
            .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))
            .filter((cells) => cells.length && cells.every((text) => text === "–"))"""
    )
    assert deserts == []
    sections = page.evaluate(
        """() => [...document.querySelectorAll("section")]
            .filter((each) => !each.hidden).map((each) => each.innerText.length)"""
    )
    assert min(sections) > 40
    if name == "no times":
        assert not page.is_visible("#rhythm") and page.is_visible("#people")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_bars_the_way(scheme: str, open_page: Any) -> None:
    """axe finds no violation, with everything shown and the details open."""
    page = open_page(english(), labels=True)
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert_nothing_bars(page)


def overall(page: Any, measure: str, *people: int) -> dict[str, float]:
    """A measure of all people, or of those named."""
    found: dict[str, float] = page.evaluate(
        """([measure, people]) => {
            const made = window.realtalk, own = made.figures(made.state).own;
            return made.overall(measure, own, people.length ? new Set(people) : undefined); }""",
        [measure, people],
    )
    return found


def test_feelings_and_their_intervals_are_those_of_the_labels(open_page: Any, kept: Path) -> None:
    """The interval of one person's mood is by whole days."""
    corpus = english()
    page = open_page(corpus, labels=True)
    labels = labels_for(corpus, None, kept).frame
    felt = labels.drop_nulls("sentiment")
    found = overall(page, "positive")
    assert found["n"] == felt.height
    assert found["value"] == pytest.approx((felt["sentiment"] == "positive").mean(), abs=1e-9)
    assert found["low"] < found["value"] < found["high"]
    assert overall(page, "intimacy")["value"] == pytest.approx(labels["intimacy"].mean(), abs=1e-4)
    felt = felt.filter(pl.col("speaker") == "Ines")
    score = felt["sentiment"].replace_strict({"positive": 1, "neutral": 0, "negative": -1})
    days = felt.select(pl.col("time").dt.date().alias("day"), score.alias("score"))
    sums = days.group_by("day").agg(pl.col("score").sum(), pl.len().alias("n"))
    n, count = felt.height, sums.height
    mean = score.sum() / n
    spread = ((sums["score"] - mean * sums["n"]) ** 2).sum()
    margin = scipy.stats.t.ppf(0.975, count - 1) * math.sqrt(spread * count / (count - 1)) / n
    found = overall(page, "mood", 0)
    assert (found["n"], found["days"]) == (n, count)
    assert found["value"] == pytest.approx(mean)
    assert found["high"] - found["value"] == pytest.approx(margin, rel=2e-3)
    assert not page.is_visible("#feelings")  # of two chats together
    page.select_option("#filter-chat", "0")
    assert page.is_visible("#feelings")


def test_the_card_has_a_calendar_and_peoples_colours_and_names_nobody_unless_asked(
    open_page: Any,
) -> None:
    corpus = english()
    page = open_page(corpus)
    page.select_option("#filter-chat", "0")

    def shown() -> str:
        return unquote(page.get_attribute("#card-view img", "src"))

    text = shown()
    people = {message.speaker for message in corpus.chats[0].messages}
    for at in range(len(people)):
        colour = page.evaluate(
            f"getComputedStyle(document.documentElement).getPropertyValue('--p{at}')"
        )
        assert text.count(colour.strip()) >= 2  # a part of the bar, and the dot before the name
    assert len(re.findall(r'height="15"', text)) >= 84  # a square for each of some ninety days
    drawn = saved(page, "#card-svg").decode()
    for each in (text, drawn):
        assert "Ines" not in each and "Person A" in each and "<svg" in each
    page.check("#card-names")
    assert "Ines" in shown() and b"Ines" in saved(page, "#card-svg")
    assert saved(page, "#card-png").startswith(b"\x89PNG")


def saved(page: Any, button: str) -> bytes:
    with page.expect_download() as waiting:
        page.click(button)
    return Path(waiting.value.path()).read_bytes()
