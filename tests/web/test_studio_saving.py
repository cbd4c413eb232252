"""Saving in a real browser: through conflicts, a full disk and a server that comes back, nothing
that was typed is lost, and nothing is stored before something was put in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from page_browser import seeing
from realtalk.web.app import Server
from realtalk.web.session import StudioSession
from realtalk.web.store import Store
from studio_browser import CHAT, NEEDED, asked, base_of, opened
from studio_server import run_studio

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Browser, BrowserContext, Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]


def texts(studio: StudioSession) -> list[str]:
    return sorted(item.body["text"] for item in studio.store.items(CHAT, "Ana"))


def test_a_new_question_is_stored_with_its_first_word(page: Page, studio: StudioSession) -> None:
    see = seeing(page)
    press = page.keyboard.press
    page.set_viewport_size({"width": 1300, "height": 420})  # so that there is something to scroll
    press("q")
    expect(page.locator("#questions textarea").first).to_be_focused()
    press("Escape")
    press("n")  # the panel is drawn anew; the empty card stays
    expect(page.locator("#panel h3").first).to_contain_text("session 2")
    see("#questions .card").to_have_count(1)
    press("q")  # the same card, not another
    see("#questions .card").to_have_count(1)
    assert studio.store.items(CHAT, "Ana") == []
    # At once, however busy the machine is: a letter that stands for a while is stored.
    page.locator("#questions textarea").first.evaluate(
        """box => ["x", ""].forEach(text => {
            box.value = text;
            box.dispatchEvent(new Event("input", { bubbles: true }));
        })"""
    )
    press("Tab")
    see("#saved").to_have_text("")
    assert studio.store.items(CHAT, "Ana") == []
    page.keyboard.type("an answer")
    see("#saved").to_have_text("Saved")
    (item,) = studio.store.items(CHAT, "Ana")
    assert (item.body["answer"], item.body["text"]) == ("an answer", "")
    page.locator("#questions [data-remove]").click()
    see("#questions .card").to_have_count(0)
    page.locator("[data-new-question]").click()
    page.locator("#questions [data-remove]").click()
    see("#questions .card").to_have_count(0)


def changed_elsewhere(context: BrowserContext, server: Server, text: str) -> Page:
    """Such a tab, whose question another tab has changed since."""
    page = asked(context, server, "Start")
    other = opened(context, server, [])
    other.locator("#questions summary").click()
    other.locator("#questions textarea").first.fill(text)
    expect(other.locator("#saved")).to_have_text("Saved")
    return page


def test_two_tabs_lose_nothing(
    context: BrowserContext, server: Server, studio: StudioSession
) -> None:
    page = changed_elsewhere(context, server, "From the second tab")
    see = seeing(page)
    page.locator("#questions textarea").first.fill("From the first tab")
    see(".clash").to_be_visible()
    texts = {item.body["text"] for item in studio.store.items(CHAT, "Ana")}
    assert texts == {"From the first tab", "From the second tab"}
    page.locator("[data-settle=this]").click()
    see("#questions .card").to_have_count(1)
    see("#questions .asked").to_have_text("From the first tab")


@pytest.mark.slow
def test_typing_goes_on_through_a_conflict(
    context: BrowserContext, server: Server, studio: StudioSession
) -> None:
    """The letters after it are no keys of the page (u, q and t are), and change one's own only."""
    page = changed_elsewhere(context, server, "theirs")
    see = seeing(page)
    write = page.keyboard.type
    page.bring_to_front()
    with page.expect_response(lambda answer: answer.status == 409):
        write(" mine")
    write(" quit ", delay=20)
    write("quote", delay=60)
    see(".clash").to_be_visible()
    see("#saved").to_have_text("Saved")
    texts = [item.body["text"] for item in studio.store.items(CHAT, "Ana")]
    assert sorted(texts) == ["Start mine quit quote", "theirs"]
    expect(page.locator("#questions .conflict textarea").first).to_be_focused()
    see("#questions .conflict .asked").to_have_text("Start mine quit quote")


@pytest.mark.slow
def test_what_cannot_be_saved_is_tried_until_it_can(
    context: BrowserContext, server: Server, studio: StudioSession
) -> None:
    """Without another key: the file is away, and comes back."""
    page = asked(context, server, "Kept")
    see = seeing(page)
    studio.store.path.rename(studio.store.path.with_name("moved.sqlite"))
    page.keyboard.type(" lost")
    see("#toast").to_contain_text("nothing can be saved")
    see("#saved").to_have_text("Not saved, trying again…")
    studio.store.path.with_name("moved.sqlite").rename(studio.store.path)
    see("#saved").to_have_text("Saved")
    assert texts(studio) == ["Kept lost"]


def full(studio: StudioSession, is_full: bool) -> None:
    """SQLite itself says that there is no room: the file may not grow by a page."""
    connection: sqlite3.Connection = studio.store.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages if is_full else 1 << 30}")


def test_a_full_disk_is_said_and_nothing_typed_is_lost(
    context: BrowserContext, server: Server, studio: StudioSession
) -> None:
    page = asked(context, server, "Kept")
    see = seeing(page)
    full(studio, True)
    long = "and a long thought. " * 190
    page.locator("#questions textarea").first.fill(long)
    page.locator(".new-event").first.fill("An event of some length. " * 155)
    page.keyboard.press("Enter")
    see("#toast").to_contain_text("the disk is full")
    see("#saved").to_have_text("Not saved, trying again…")
    see(".waiting").to_contain_text("An event of some length.")
    full(studio, False)
    see("#saved").to_have_text("Saved")
    see(".card.event").to_have_count(1)
    assert texts(studio) == [("An event of some length. " * 155).strip(), long]


@pytest.mark.slow
def test_what_is_refused_stays_and_goes_along_with_the_next_change(
    context: BrowserContext, server: Server, studio: StudioSession
) -> None:
    page = asked(context, server, "Kept")
    see = seeing(page)
    press = page.keyboard.press
    area = page.locator("#questions textarea").first
    area.evaluate("(area) => area.removeAttribute('maxlength')")
    area.fill("x" * 4001)
    press("Tab")
    see("#toast").to_contain_text("longer than 4,000")
    see("#saved").to_have_text("Not saved")
    page.set_viewport_size({"width": 1300, "height": 420})
    press("Escape")
    press("n")  # the panel is not drawn anew over it
    see("#where").to_contain_text("Session 2")
    expect(area).to_have_value("x" * 4001)
    area.fill("short enough")
    see("#saved").to_have_text("Saved")
    assert texts(studio) == ["short enough"]


def put_back(studio: StudioSession, older: Path) -> None:
    """What a copy of the file holds takes the place of what the studio has."""
    connection = studio.store.connection
    with closing(sqlite3.connect(older)) as source, source:
        source.backup(connection)
    source.close()


def copied(studio: StudioSession, path: Path) -> Path:
    with closing(sqlite3.connect(path)) as target, target:
        studio.store.connection.backup(target)
    target.close()
    return path


@pytest.mark.slow
def test_an_older_copy_of_the_file_loses_nothing_that_is_on_the_page(
    context: BrowserContext, server: Server, studio: StudioSession, tmp_path: Path
) -> None:
    page = asked(context, server, "First")
    see = seeing(page)
    older = copied(studio, tmp_path / "older.sqlite")
    page.keyboard.type(" second")
    see("#saved").to_have_text("Saved")
    put_back(studio, older)
    assert texts(studio) == ["First"]
    page.keyboard.type(" third")
    see(".clash").to_be_visible()
    see("#saved").to_have_text("Saved")
    assert texts(studio) == ["First", "First second third"]
    for path in ("panel", "review", "export?layout=realtalk"):
        answer = context.request.get(f"{base_of(server)}chat/0/{path}")
        assert answer.status == 200, path
    page.locator("[data-settle=this]").click()
    see("#questions .card").to_have_count(1)
    assert texts(studio) == ["First second third"]


@pytest.mark.slow
def test_a_page_outlives_its_server(browser: Browser, tmp_path: Path) -> None:
    notes = tmp_path / "notes.sqlite"
    context = browser.new_context(viewport={"width": 1300, "height": 800})
    page = context.new_page()
    see = seeing(page)
    with run_studio("sample", notes, "--annotator", "Ana") as first:
        port = str(urlsplit(first.url).port)
        page.goto(first.url)
        page.wait_for_selector(".book")
        page.goto(f"{first.url.partition('?')[0]}chat/0")
        page.wait_for_selector("#panel h3")
        page.keyboard.press("q")
        page.keyboard.type("Typed before")
        see("#saved").to_have_text("Saved")
        first.kill()
    page.locator("#questions textarea").first.fill("Typed while nobody listened")
    see("#saved").to_contain_text("Not saved")
    with run_studio("sample", notes, "--annotator", "Ana", "--port", port) as second:
        context.new_page().goto(second.url)  # the new link lets the old page in again
        see("#saved").to_have_text("Saved", timeout=20_000)
    store = Store.open(notes)
    (item,) = store.items("Chat_1_Mara_Theo", "Ana")
    store.close()
    context.close()
    assert item.body["text"] == "Typed while nobody listened"
