"""The studio in a real browser: reading, annotating, exporting, and a script that does not run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.measures.labels import Label
from realtalk.studio.desk import Desk
from realtalk.studio.opening import in_browser
from realtalk.studio.serving import Server
from realtalk.studio.shelf import Shelf
from realtalk.studio.store import Store
from realtalk.studio.strips import Strips
from studio_server import SCRIPT, small_corpus, studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
    sync_playwright,
)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        made = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


def long_chat(sessions: int, each: int) -> Chat:
    """Many messages of different length, an hour apart."""
    start = datetime(2026, 1, 1)
    made = [
        Session(
            number,
            start + timedelta(days=number),
            tuple(
                Message(
                    f"D{number}:{at}",
                    "Ilse" if (at // 3) % 2 else "Omar",
                    start + timedelta(days=number, minutes=at),
                    f"message {number}-{at} " + "and more " * (at % 17),
                )
                for at in range(1, each + 1)
            ),
        )
        for number in range(1, sessions + 1)
    ]
    return Chat("long", ("Ilse", "Omar"), tuple(made))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = Store.open(tmp_path / "notes.sqlite")
    corpus = small_corpus()
    chats = (*corpus.chats, long_chat(100, 60))
    strip = Label(sentiment="positive", sentiment_p=0.9, emotion="joy", reflective=True)
    labels = {"Chat_1_Ilse_Omar": Strips({"D1:1": strip})}
    yield Desk(Shelf(Corpus("harbour", "realtalk", chats)), store, "Ana", labels)
    store.close()


@pytest.fixture
def server(desk: Desk) -> Iterator[Server]:
    with Server.start(desk) as running:
        yield running


@pytest.fixture
def context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1300, "height": 800}, accept_downloads=True)
    made.set_default_timeout(15_000)
    page = made.new_page()
    page.goto(server.url)
    page.wait_for_selector(".book")
    page.close()
    yield made
    made.close()


@pytest.fixture
def trouble() -> list[str]:
    return []


@pytest.fixture
def page(context: BrowserContext, server: Server, trouble: list[str]) -> Iterator[Page]:
    yield opened(context, server, trouble)
    assert trouble == []


def opened(context: BrowserContext, server: Server, trouble: list[str], chat: int = 0) -> Page:
    page = context.new_page()
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
    page.goto(f"{server.url.partition('?')[0]}chat/{chat}")
    page.wait_for_selector("#panel h3")
    return page


def test_reading(page: Page) -> None:
    expect(page.locator(".row")).to_have_count(7)
    expect(page.locator(".session").first).to_contain_text("Session 1 · Mon 4 May 2026")
    expect(page.locator(".file figcaption")).to_contain_text("a dented kettle")
    page.locator("#m0 .ei").hover()
    expect(page.locator("#m0 .tip")).to_be_visible()
    expect(page.locator("#m0 .tip")).to_contain_text("90 %")
    page.keyboard.press("/")
    page.keyboard.type("cardam")
    expect(page.locator("#hits mark")).to_have_text("cardamom")
    page.keyboard.press("Enter")
    expect(page.locator("#m3")).to_have_class("row hue0 current flash")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("#m4.current")).to_be_visible()
    expect(page.locator("#where")).to_contain_text("Session")
    page.locator("#questions summary").click()
    page.locator("#questions .chip button").first.click()
    expect(page.locator("#m0.current.evidence")).to_be_visible()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()


def test_a_script_in_a_message_does_not_run(page: Page) -> None:
    expect(page.locator("#m2 .text")).to_have_text(SCRIPT)
    page.keyboard.press("q")
    page.keyboard.type(SCRIPT)
    expect(page.locator("#questions textarea").first).to_have_value(SCRIPT)
    expect(page.locator("#saved")).to_have_text("Saved")
    page.reload()
    page.wait_for_selector("#questions .asked")
    expect(page.locator("#questions .asked")).to_have_text(SCRIPT)
    assert "owned" not in page.title()
    assert page.locator("img[src='x']").count() == 0


def test_annotating_a_question_end_to_end(page: Page, desk: Desk, tmp_path: Path) -> None:
    page.keyboard.press("q")
    page.keyboard.type("Who carried the kettle?")
    expect(page.locator("#questions textarea").first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type("her sister Noor")
    page.locator(".choice span", has_text="Aggregation").click()
    page.keyboard.press("Escape")
    page.locator("[data-pick]").click()
    page.locator("#m5 .bubble").click()
    page.locator("#m6 .bubble").click()
    expect(page.locator(".row.evidence")).to_have_count(2)
    page.keyboard.press("k")
    page.keyboard.press("j")
    page.keyboard.press("Space")  # the last one is not evidence after all
    expect(page.locator(".row.evidence")).to_have_count(1)
    page.keyboard.press("Escape")
    page.locator(".new-event").first.fill("Ilse's kettle survives the move.")
    page.keyboard.press("Enter")
    expect(page.locator(".card.event")).to_have_count(1)
    expect(page.locator("#saved")).to_have_text("Saved")
    (question,) = desk.store.items("Chat_1_Ilse_Omar", "Ana", "question")
    assert question.body == {
        "text": "Who carried the kettle?",
        "answer": "her sister Noor",
        "category": "multi_hop",
        "evidence": ["D2:2"],
    }
    page.keyboard.press("Escape")
    page.locator("[data-open=files]").click()
    with page.expect_download() as download:
        page.locator("[data-export=realtalk]").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    data = json.loads(path.read_text("utf-8"))
    assert [entry["question"] for entry in data["qa"]] == ["Who carried the kettle?"]
    assert data["qa"][0]["evidence"] == ["D2:2"]
    noted = data["events_session_1"]["agent_a"] + data["events_session_2"]["agent_a"]
    assert [entry["sub-event"] for entry in noted] == ["Ilse's kettle survives the move."]


def test_undo_and_redo_by_key(page: Page) -> None:
    page.keyboard.press("q")
    page.keyboard.type("A question")
    expect(page.locator("#questions textarea").first).to_have_value("A question")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator("#questions textarea").first).to_have_value("")
    page.keyboard.press("u")
    expect(page.locator("#questions .card")).to_have_count(0)
    page.keyboard.press("Shift+U")
    page.keyboard.press("Shift+U")
    expect(page.locator("#questions .asked")).to_have_text("A question")


def asked(context: BrowserContext, server: Server, text: str) -> Page:
    """A tab in which a question was begun, the keys still in it."""
    page = opened(context, server, [])  # the browser itself reports a refusal as an error
    page.keyboard.press("q")
    page.keyboard.type(text)
    expect(page.locator("#saved")).to_have_text("Saved")
    return page


def changed_elsewhere(context: BrowserContext, server: Server, text: str) -> Page:
    """Such a tab, whose question another tab has changed since."""
    page = asked(context, server, "Start")
    other = opened(context, server, [])
    other.locator("#questions summary").click()
    other.locator("#questions textarea").first.fill(text)
    expect(other.locator("#saved")).to_have_text("Saved")
    return page


def test_two_tabs_lose_nothing(context: BrowserContext, server: Server, desk: Desk) -> None:
    page = changed_elsewhere(context, server, "From the second tab")
    page.locator("#questions textarea").first.fill("From the first tab")
    expect(page.locator(".clash")).to_be_visible()
    texts = {item.body["text"] for item in desk.store.items("Chat_1_Ilse_Omar", "Ana")}
    assert texts == {"From the first tab", "From the second tab"}
    page.locator("[data-settle=this]").click()
    expect(page.locator("#questions .card")).to_have_count(1)
    expect(page.locator("#questions .asked")).to_have_text("From the first tab")


def test_typing_goes_on_through_a_conflict(
    context: BrowserContext, server: Server, desk: Desk
) -> None:
    """The letters after it are no keys of the page (u, q and t are), and change one's own only."""
    page = changed_elsewhere(context, server, "theirs")
    page.bring_to_front()
    with page.expect_response(lambda answer: answer.status == 409):
        page.keyboard.type(" mine")
    page.keyboard.type(" quit ", delay=20)
    page.keyboard.type("quote", delay=60)
    expect(page.locator(".clash")).to_be_visible()
    expect(page.locator("#saved")).to_have_text("Saved")
    texts = [item.body["text"] for item in desk.store.items("Chat_1_Ilse_Omar", "Ana")]
    assert sorted(texts) == ["Start mine quit quote", "theirs"]
    expect(page.locator("#questions .conflict textarea").first).to_be_focused()
    expect(page.locator("#questions .conflict .asked")).to_have_text("Start mine quit quote")


def test_what_is_refused_is_not_called_saved(
    context: BrowserContext, server: Server, desk: Desk
) -> None:
    page = asked(context, server, "Kept")
    desk.store.path.rename(desk.store.path.with_name("moved.sqlite"))
    page.keyboard.type(" lost")
    expect(page.locator("#toast")).to_contain_text("nothing can be saved")
    expect(page.locator("#saved")).to_have_text("Not saved")
    desk.store.path.with_name("moved.sqlite").rename(desk.store.path)
    page.keyboard.type(" found")
    expect(page.locator("#saved")).to_have_text("Saved")
    (item,) = desk.store.items("Chat_1_Ilse_Omar", "Ana")
    assert item.body["text"] == "Kept lost found"


def test_the_page_that_a_browser_is_given_leads_into_the_studio(
    browser: Browser, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a file, as it is opened: the cookie is strict, and the file is another site."""
    given: list[str] = []

    def noted(url: str) -> bool:
        given.append(url)
        return True

    monkeypatch.setattr("webbrowser.open", noted)
    monkeypatch.setenv("HOME", str(tmp_path))
    context = browser.new_context()
    with in_browser(server.url, server.entered):
        page = context.new_page()
        page.goto(given[0])
        page.wait_for_selector(".book")
        assert given[0].startswith("file:") and "token" not in page.url
        server.entered.wait(5)
    assert list(tmp_path.glob("*.html")) == []
    context.close()


def test_a_long_chat_scrolls_and_jumps(
    context: BrowserContext, server: Server, trouble: list[str]
) -> None:
    page = opened(context, server, trouble, chat=1)
    total = 6000
    page.locator("#sessions [data-session='77']").click()
    row = page.locator(f"#m{76 * 60}")
    expect(row).to_be_in_viewport()
    expect(page.locator("#where")).to_contain_text("Session 77")
    assert page.locator(".row").count() < total / 10
    page.evaluate("document.getElementById('reader').scrollTo(0, 1e9)")
    expect(page.locator(f"#m{total - 1}")).to_be_visible()
    expect(page.locator("#where")).to_contain_text("Session 100")
    for _ in range(12):
        page.mouse.move(600, 400)
        page.mouse.wheel(0, -900)
        page.wait_for_timeout(30)
    expect(page.locator(".row").first).to_be_attached()
    assert page.locator(".row").count() < total / 5
    assert trouble == []


def test_light_dark_and_phone(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.goto(server.url)
    page.wait_for_selector(".book")
    page.goto(f"{server.url.partition('?')[0]}chat/0")
    page.wait_for_selector("#panel h3", state="attached")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.locator("[data-theme-switch]").click()
    assert page.evaluate(colour) != dark
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("#panel")).to_be_hidden()
    page.locator("[data-show=annotate]").click()
    expect(page.locator("#panel")).to_be_visible()
    expect(page.locator("#reader")).to_be_hidden()
    context.close()


def test_long_names_leave_every_page_its_width_and_its_buttons(
    browser: Browser, tmp_path: Path
) -> None:
    names = ("x" * 150, "שלום " + "y" * 120)
    said = (Message("D1:1", names[0], None, "z" * 300), Message("D1:2", names[1], None, "hm"))
    chat = Chat("c" * 150, names, (Session(1, None, said),))
    store = Store.open(tmp_path / "notes.sqlite")
    desk = Desk(Shelf(Corpus("n" * 150, "realtalk", (chat,))), store, "A" * 60, {})
    # What is wider than its own box and neither cut short nor scrolled.
    beyond = (
        "[...document.querySelectorAll('body *')].filter((each) => !each.closest('dialog, select')"
        " && each.scrollWidth > each.clientWidth + 2 && each.clientWidth > 0"
        " && getComputedStyle(each).overflowX === 'visible')"
        ".map((each) => each.id || each.className || each.tagName)"
    )
    with Server.start(desk) as server:
        base = server.url.partition("?")[0]
        for width in (1200, 360):
            context = browser.new_context(viewport={"width": width, "height": 740})
            page = context.new_page()
            page.goto(server.url)
            page.wait_for_selector(".book")
            for path in ("", "chat/0", "chat/0/review"):
                page.goto(base + path)
                if path == "chat/0":
                    page.wait_for_selector("#panel h3", state="attached")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, path
                assert page.evaluate(beyond) == [], path
                expect(page.locator("[data-theme-switch]")).to_be_in_viewport(ratio=1)
            context.close()
    store.close()


def test_two_annotators_are_settled(page: Page, server: Server, desk: Desk) -> None:
    body = {"text": "Who is Noor?", "answer": "a sister", "category": "", "evidence": ["D2:2"]}
    for name in ("Ana", "Bo"):
        desk.store.create("Chat_1_Ilse_Omar", "question", name, body)
    page.goto(f"{server.url.partition('?')[0]}chat/0/review?first=Ana&second=Bo")
    expect(page.locator(".figures tbody tr")).to_have_count(7)
    page.locator("[data-take]").first.click()
    expect(page.locator("td.taken .good")).to_have_text("✓ agreed")
    (agreed,) = desk.store.items("Chat_1_Ilse_Omar", "final")
    assert agreed.body == body


@pytest.mark.slow
def test_a_page_outlives_its_server(browser: Browser, tmp_path: Path) -> None:
    notes = tmp_path / "notes.sqlite"
    context = browser.new_context(viewport={"width": 1300, "height": 800})
    page = context.new_page()
    with studio("sample", notes, "--annotator", "Ana") as first:
        port = str(urlsplit(first.url).port)
        page.goto(first.url)
        page.wait_for_selector(".book")
        page.goto(f"{first.url.partition('?')[0]}chat/0")
        page.wait_for_selector("#panel h3")
        page.keyboard.press("q")
        page.keyboard.type("Typed before")
        expect(page.locator("#saved")).to_have_text("Saved")
        first.kill()
    page.locator("#questions textarea").first.fill("Typed while nobody listened")
    expect(page.locator("#saved")).to_contain_text("Not saved")
    with studio("sample", notes, "--annotator", "Ana", "--port", port) as second:
        context.new_page().goto(second.url)  # the new link lets the old page in again
        expect(page.locator("#saved")).to_have_text("Saved", timeout=20_000)
    store = Store.open(notes)
    (item,) = store.items("Chat_1_Mara_Theo", "Ana")
    store.close()
    context.close()
    assert item.body["text"] == "Typed while nobody listened"
