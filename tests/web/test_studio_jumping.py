"""A word or a day is found in two keys: in the index, over the wire, and in a real browser."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from page_browser import seeing
from realtalk.chat import Chat, Message, Session
from realtalk.web.library import OpenChat
from realtalk.web.reading_routes import Jump, day_hits, jump
from studio_browser import NEEDED, long_chat
from studio_server import small_chat
from text_tables import cases

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Page

pytest_plugins = ["studio_pages"]


def test_words_are_gone_through_and_around() -> None:
    open_chat = OpenChat(0, small_chat(), ())
    assert jump(open_chat, "kettle") == Jump(4, 1, 2)
    assert jump(open_chat, "KETT", 4) == Jump(6, 2, 2)
    assert jump(open_chat, "kettle", 6) == Jump(4, 1, 2)
    assert jump(open_chat, "kettle", 4, back=True) == Jump(6, 2, 2)
    assert jump(open_chat, "kettle", back=True) == Jump(6, 2, 2)
    assert jump(open_chat, "kettle", 5, back=True) == Jump(4, 1, 2)
    assert jump(open_chat, "ettl") == Jump(4, 1, 2)  # letters, where no word begins so
    assert jump(open_chat, "zeppelin") == jump(open_chat, " ") == Jump()


def test_every_hit_is_reached_not_only_those_that_are_listed() -> None:
    open_chat = OpenChat(0, long_chat(10, 60), ())
    place, seen = None, []
    for _ in range(600):
        found = jump(open_chat, "message", place)
        place = found.place
        seen.append(place)
    assert seen == list(range(600)) and found.total == 600


@cases("""
    typed
    2026-05-06
    6 May 2026
    06.05.2026
    Wed 6 May 2026
    6 May
""")
def test_a_day(typed: str) -> None:
    open_chat = OpenChat(0, small_chat(), ())
    assert jump(open_chat, typed) == Jump(4, 1, 1, "Wed 6 May 2026")


def test_days_of_a_month_and_a_day_without_messages() -> None:
    open_chat = OpenChat(0, small_chat(), ())
    assert jump(open_chat, "May 2026") == Jump(0, 1, 2, "Mon 4 May 2026")
    assert jump(open_chat, "2026-05", 0) == Jump(4, 2, 2, "Wed 6 May 2026")
    assert jump(open_chat, "5 May 2026") == Jump(4, 1, 1, "Wed 6 May 2026", exact=False)
    assert jump(open_chat, "1 June 2027") == Jump(4, 1, 1, "Wed 6 May 2026", exact=False)
    assert jump(open_chat, "1 June 1999") == Jump(0, 1, 1, "Mon 4 May 2026", exact=False)
    assert jump(open_chat, "9 June") == Jump()


def test_a_year_and_a_month_alone_are_words() -> None:
    said = (Message("1", "Ida", datetime(2026, 5, 4), "in 2026 we may"),)
    open_chat = OpenChat(0, Chat("c", ("Ida",), (Session(1, None, said),)), ())
    assert day_hits(open_chat, "2026") is None and jump(open_chat, "2026") == Jump(0, 1, 1)
    assert day_hits(open_chat, "May") is None and jump(open_chat, "May") == Jump(0, 1, 1)


def test_a_chat_without_times_and_one_past_midnight() -> None:
    said = tuple(Message(str(at), "Ida", None, "hello") for at in range(3))
    assert (
        day_hits(OpenChat(0, Chat("c", ("Ida",), (Session(1, None, said),)), ()), "6 May 2026")
        is None
    )
    start = datetime(2026, 5, 4, 23, 59)
    late = tuple(Message(str(at), "Ida", start + timedelta(minutes=at), "hello") for at in range(3))
    open_chat = OpenChat(0, Chat("c", ("Ida",), (Session(1, start, late),)), ())
    assert jump(open_chat, "5 May 2026") == Jump(1, 1, 1, "Tue 5 May 2026")
    assert [hit.messages for hit in open_chat.days] == [1, 2]


@NEEDED
def test_a_word_by_keys_alone(page: Page) -> None:
    see = seeing(page)
    press = page.keyboard.press
    press("/")
    page.keyboard.type("kettle")
    press("Enter")
    see("#m4.current").to_be_focused()  # where a listener reads on
    see("#found").to_have_text("Message 1 of 2")
    see("#found").to_have_role("status")
    press("Enter")
    see("#m6.current").to_be_focused()
    see("#hits [aria-current]").to_have_attribute("data-go", "6")
    press("g")
    see("#m4.current").to_be_focused()
    press("Shift+Enter")
    see("#m6.current").to_be_focused()
    press("G")
    see("#m4.current").to_be_focused()
    press("/")
    page.keyboard.type("zeppelin")
    press("Enter")
    see("#found").to_have_text("Nothing found for zeppelin")
    see("#search").to_be_focused()
    press("Escape")
    for place in ("#found", "#hits"):
        see(place).to_be_hidden()
    see("#search").to_have_value("")
    see("#sessions").to_be_visible()
    press("g")
    see("#search").to_be_focused()
    see("#search").to_have_accessible_name("Search for a word or a day")
    described = page.locator("#search").get_attribute("aria-describedby")
    see(f"#{described}").to_contain_text("Enter jumps to the first message")
