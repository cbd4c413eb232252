"""The page of a chat says no more than its counts: axes are times, bars are shares, ties are ties.

Every sentence is made twice, for the terminal and in the page; here both must say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from facet_labels import table
from portrait_chats import reading
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.files.writing import write_text
from realtalk.formats.tables import from_corpus
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.chat_page import Portrait, PortraitOptions, make_portrait, render
from realtalk.pages.glance import _is_expected
from text_tables import cases

Said = tuple[str, datetime]
Show = Callable[..., Any]


def session(number: int, said: Iterable[Said], text: str = "all is well") -> Session:
    lines = [Message(f"{number}:{at}", who, time, text) for at, (who, time) in enumerate(said)]
    return Session(number, lines[0].time, tuple(lines))


def made(*chats: Sequence[Sequence[Said]], text: str = "all is well") -> Corpus:
    return Corpus(
        "own",
        "own",
        tuple(
            Chat(
                f"chat {number}",
                tuple(sorted({who for talk in talks for who, _ in talk})),
                tuple(session(at + 1, talk, text) for at, talk in enumerate(talks)),
            )
            for number, talks in enumerate(chats)
        ),
    )


def talk(day: datetime, *who: str, seconds: int = 40) -> list[Said]:
    return [(name, day + timedelta(seconds=seconds * at)) for at, name in enumerate(who)]


@pytest.fixture
def shown(open_file: Show, tmp_path: Path) -> Show:
    """A corpus as a page in a browser; labels are told, so that no model is needed."""

    def opened(corpus: Corpus, labels: Any = None, width: int = 1200) -> Any:
        page = render(Portrait(Aggregates.build(from_corpus(corpus), labels)))
        return open_file(write_text(tmp_path / "page.html", page), width)

    return opened


def glance(page: Any) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(
        "Object.fromEntries(window.realtalk.glance(window.realtalk.figures(window.realtalk.state))"
        ".map((each) => [each.id, each.whole ? each.text : `${each.figure} ${each.text}`]))"
    )
    return found


def told_twice(corpus: Corpus, shown: Show) -> dict[str, str]:
    """The sentences of the terminal, which are those of the page."""
    found = make_portrait(reading(corpus), PortraitOptions(labels=False)).sentences
    told = {each.id: str(each) for each in found}
    assert glance(shown(corpus)) == told
    return told


# ---- charts

MONTHS = ("2023-01", "2023-03", "2023-04", "2023-06")


def felt_in_months() -> tuple[Corpus, Any]:
    """Turns of two people in January, March, April and June, on twelve days each."""
    talks, rows = [], []
    for month in MONTHS:
        for day in range(1, 13):
            begin = datetime.fromisoformat(f"{month}-{day:02}T18:00")
            talks.append(talk(begin, *("Ann", "Bo") * 4))
            for who, time in talks[-1]:
                mood = "positive" if (day + time.second) % 3 else "negative"
                rows.append(
                    {"chat": "chat 0", "session": len(talks), "speaker": who, "time": time}
                    | {"sentiment": mood, "emotion": "joy", "intimacy": 0.1 + day / 100}
                )
    return made(talks), table(rows)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_month_without_turns_is_a_gap_on_the_axis(width: int, shown: Show) -> None:
    page = shown(*felt_in_months(), width=width)
    charts = page.evaluate(
        """() => [...document.querySelectorAll("#feelings-body figure")]
            .filter((each) => each.querySelector("svg.fluid")).map((each) => ({
                dots: [...each.querySelectorAll("circle")].map((dot) => [
                    dot.querySelector("title").textContent, Number(dot.getAttribute("cx"))]),
                lines: [...each.querySelectorAll("polyline")].map((line) =>
                    line.getAttribute("points").split(" ").map((at) => Number(at.split(",")[0]))),
                rows: [...each.querySelectorAll("tbody tr")].map((row) => row.textContent),
                names: [...each.querySelectorAll("svg.fluid > text")].map((name) => {
                    const box = name.getBoundingClientRect(), all = each.querySelector("svg.fluid").getBoundingClientRect();
                    return [box.left - all.left, all.right - box.right, box.left, box.right, box.height, name.textContent];
                }).filter((name) => /20\\d\\d$/.test(name[5]))}))"""  # noqa: E501
    )
    assert len(charts) == 2  # mood and intimacy; nobody's empathy is labelled
    for chart in charts:
        places = {name.split(", ")[1].split(":")[0]: x for name, x in chart["dots"]}
        january, march, april, june = (
            places[f"{name} 2023"] for name in ("January", "March", "April", "June")
        )
        step = april - march
        assert step > 0
        assert march - january == pytest.approx(2 * step) == pytest.approx(june - april)
        assert chart["lines"] and all(
            max(later - x for x, later in pairwise(line)) <= step + 0.01 for line in chart["lines"]
        )
        assert [row for row in chart["rows"] if "no turn" in row] == [
            "February 2023no turnno turn",
            "May 2023no turnno turn",
        ]
        assert len(chart["names"]) >= 2
        for left, right, _, _, height, _ in chart["names"]:
            assert min(left, right) >= 0 and height >= 9
        for (_, _, _, end, *_), (_, _, begin, *_) in pairwise(chart["names"]):
            assert end < begin


def test_names_of_many_months_are_not_cut_off(shown: Show) -> None:
    months = [datetime(2000 + at // 12, at % 12 + 1, 1) for at in range(119)]
    page = shown(made([talk(day, "Ann", "Bo") for day in months]))
    inside = page.evaluate(
        """() => { const chart = document.querySelector('[aria-label="Messages by month"]');
            const all = chart.getBoundingClientRect();
            return [...chart.querySelectorAll("text")].map((each) => each.getBoundingClientRect())
                .every((box) => box.left >= all.left && box.right <= all.right + 0.5); }"""
    )
    assert inside


def test_the_last_month_of_a_calendar_is_not_cut_off(shown: Show) -> None:
    page = shown(made([talk(datetime(2022, 3, 4), "Ann", "Bo"), talk(datetime(2023, 1, 2), "Bo")]))
    name, drawing = page.evaluate(
        """() => { const chart = document.querySelector("svg.plain");
            return [[...chart.querySelectorAll("text")].find((each) => each.textContent === "Jan 2023"), chart]
                .map((each) => each.getBoundingClientRect().right); }"""  # noqa: E501
    )
    assert name <= drawing


def test_beside_a_long_name_there_is_room_for_figures_on_a_phone(
    shown: Show,
) -> None:
    long = "Bartholomew Featherstonehaugh-Cholmondeley"
    people = (long, "Ann", "Bo", "Cy", "Di", "Ed")
    page = shown(made([talk(datetime(2023, 3, day), *people) for day in range(1, 9)]))
    page.set_viewport_size({"width": 390, "height": 800})
    widths = page.evaluate(
        "() => [...document.querySelectorAll('.many tbody th')].map((name) => name.offsetWidth)"
    )
    assert widths and max(widths) < 195


def test_a_bar_on_a_track_is_its_share_of_all(shown: Show) -> None:
    corpus, labels = felt_in_months()
    text = "see https://example.org/walks"
    linked = made([talk(datetime(2023, 1, 1), "Ann", "Bo", "Ann", "Bo", "Ann")], text=text)
    found = [bars(shown(linked)), bars(shown(corpus, labels))]
    for tracked, wide, said in (bar for page in found for bar in page):
        assert not tracked or said.startswith(f"{wide}%")
    assert (True, 60, "60%, 3 messages") in found[0]
    assert (False, 100, "5") in found[0]  # links have no whole that they are a share of
    assert (True, 100, "100%") in found[1]  # all turns are joy


def bars(page: Any) -> list[tuple[bool, int, str]]:
    """Every bar: whether it stands on a track, how much of it is filled, its figure."""
    rows: list[list[Any]] = page.evaluate(
        """() => [...document.querySelectorAll(".bars li")].map((bar) => {
            const wide = (each) => bar.querySelector(each).getBoundingClientRect().width;
            const track = getComputedStyle(bar.querySelector(".bar-track")).backgroundColor;
            return [track !== "rgba(0, 0, 0, 0)", Math.round(100 * wide(".bar-fill") / wide(".bar-track")),
                bar.querySelector(".bar-value").textContent]; })"""  # noqa: E501
    )
    return [(tracked, wide, said) for tracked, wide, said in rows]


# ---- sentences

FIVE = datetime(2025, 5, 1, 9)


def days(*numbers: int) -> list[datetime]:
    return [FIVE + timedelta(days=number) for number in numbers]


def even() -> Corpus:
    """Two people who do everything alike, on days that are all alike."""
    pairs = [("Ann", "Bo", "Ann", "Bo"), ("Bo", "Ann", "Bo", "Ann")]
    return made([talk(day, *pairs[at % 2]) for at, day in enumerate(days(0, 1, 3, 4, 6, 7))])


def unlike() -> Corpus:
    """Ann writes and begins more, one day is fullest, one silence longest; Bo answers later."""
    talks = [
        [("Ann", day), ("Bo", day + timedelta(seconds=90)), ("Ann", day + timedelta(seconds=110))]
        for day in days(0, 1, 2, 6, 7, 8, 20)
    ]
    return made([*talks[:-1], talks[-1] + talk(days(20)[0] + timedelta(hours=1), "Ann")])


def three() -> Corpus:
    """Of three people two answer within the same minute."""
    said = (("Cy", 0), ("Ann", 40), ("Cy", 440), ("Bo", 480))
    return made(
        [[(who, day + timedelta(seconds=at)) for who, at in said] for day in days(0, 1, 2, 3, 4, 5)]
    )


def two_chats() -> Corpus:
    return made(
        [talk(day, "Ann", "Bo", "Ann") for day in days(0, 1, 2)],
        [talk(day, "Cy", "Ann") for day in days(0, 1, 2, 9, 10)],
    )


EXPECTED: dict[Callable[[], Corpus], dict[str, str | None]] = {
    even: {
        "share": "Ann and Bo each wrote 50% of the messages",
        "starts": "Ann and Bo each began 50% of 6 conversations",
        "reply": "Both usually answer within 40 seconds",
        "streak": "2 days in a row with messages, the longest streak, 3 times; first 1 May 2025 "
        "to 2 May 2025",
        "silence": None,  # a day here and there
        "busiest": None,  # all days are alike
    },
    unlike: {
        "share": "68% of the messages are from Ann",
        "reply": "Ann usually answers within 20 seconds, Bo within 2 minutes",
        "streak": "3 days in a row with messages, the longest streak, 2 times; first 1 May 2025 "
        "to 3 May 2025",
        "silence": "11 days without a message, the longest silence: 10 May 2025 to 20 May 2025",
        "busiest": "4 messages on 21 May 2025, the busiest day",
    },
    three: {
        "reply": "Ann and Bo usually answer within 40 seconds, the soonest of 3 people",
    },
    two_chats: {
        "messages": "19 messages, 57 words, from 3 people in 2 chats, 1 May 2025 to 11 May 2025",
        "share": None,  # they are no group
        "starts": None,
        "reply": None,
        "silence": "6 days without a message in any of the 2 chats, the longest silence: 4 May "
        "2025 to 9 May 2025",
        "busiest": "5 messages on each of the 3 busiest days, the first 1 May 2025",
    },
}


@pytest.mark.parametrize("make", EXPECTED, ids=lambda make: make.__name__)
def test_sentences_say_what_was_counted(make: Callable[[], Corpus], shown: Show) -> None:
    told = told_twice(make(), shown)
    assert {name: told.get(name) for name in EXPECTED[make]} == EXPECTED[make]


def habits() -> Corpus:
    """A year of Sundays: Ann asks and writes long, and both write as often as each other."""
    lines = {"Ann": "shall we go for a long walk along the river?", "Bo": "yes gladly"}
    sessions = []
    for week in range(20):
        said = talk(FIVE + timedelta(days=3 + 7 * week), *("Ann", "Bo", "Bo", "Ann"))
        messages = (
            Message(f"{week}:{at}", who, time, lines[who]) for at, (who, time) in enumerate(said)
        )
        sessions.append(Session(week + 1, said[0][1], tuple(messages)))
    return Corpus("own", "own", (Chat("own", ("Ann", "Bo"), tuple(sessions)),))


def test_what_chance_would_give_gives_way(shown: Show) -> None:
    """Ties come last; the eighth place is another fact's."""
    told = told_twice(habits(), shown)
    assert told["length"] == "10.0 words a message on average from Ann; Bo writes 2.0 words"
    assert told["question"] == "100% of the messages from Ann ask something; from Bo it is 0%"
    assert told["weekday"] == "100% of the messages come on a Sunday"
    assert told["reply"] == "Both usually answer within 40 seconds"
    assert list(told)[-1] == "share" and list(told).index("starts") < list(told).index("share")


@cases("""
    count | total | people | expected
    51    | 100   | 2      | true
    60    | 100   | 2      | false
    6     | 10    | 2      | true
    540   | 1000  | 2      | true
    40    | 100   | 3      | true
""")
def test_a_share_is_told_where_it_is_no_chance(
    count: int, total: int, people: int, expected: bool
) -> None:
    assert _is_expected(count, total, people) is expected


def test_figures_of_one_chat_are_not_said_to_be_of_all(shown: Show) -> None:
    page = shown(two_chats())
    assert page.inner_text("#heading") == "2 chats of Ann, Cy and Bo"
    page.select_option("#filter-chat", "0")
    assert "chats" not in " ".join(glance(page).values())
    page.select_option("#filter-chat", "")
    page.click("#filter-people button:has-text('Bo')")
    assert "from those you chose" in glance(page)["streak"]
    assert "in 2 chats" not in glance(page)["messages"]


def test_what_is_felt_is_a_models_and_is_counted(shown: Show) -> None:
    page = shown(*felt_in_months())
    assert glance(page)["mood"].split("%", 1)[1].startswith(" of 384 turns sound positive to a m")
    assert "in shares of 384 turns" in page.inner_text("#feelings-body")


def test_names_that_are_hidden_are_said_to_be_in_the_file(shown: Show) -> None:
    page = shown(even())
    assert not page.is_visible("#names-held")
    page.check("#hide-names")
    assert "the file still holds them" in page.inner_text("#names-held")
    assert "Ann" not in page.inner_text("body")
    page.uncheck("#hide-names")
    assert not page.is_visible("#names-held")
