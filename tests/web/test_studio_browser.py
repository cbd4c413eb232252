"""The studio in a real browser: reading, annotating, exporting, and a script that does not run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from page_browser import seeing
from realtalk.web.app import Server, in_browser
from realtalk.web.session import StudioSession
from studio_browser import NEEDED, opened
from studio_server import SCRIPT

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Browser, BrowserContext, Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]


def test_reading(page: Page) -> None:
    see = seeing(page)
    press = page.keyboard.press
    see(".row").to_have_count(7)
    expect(page.locator(".session").first).to_contain_text("Session 1 · Mon 4 May 2026")
    see(".file figcaption").to_contain_text("a dented kettle")
    page.locator("#m0 .ei").hover()
    see("#m0 .tip").to_be_visible()
    see("#m0 .tip").to_contain_text("90 %")
    press("/")
    page.keyboard.type("cardam")
    see("#hits mark").to_have_text(["cardamom"])  # after those of "c"
    see("#sessions").to_be_hidden()
    press("Enter")
    see("#m3").to_have_class("row hue0 current flash")
    press("Escape")
    press("j")
    see("#m4.current").to_be_visible()
    see("#where").to_contain_text("Session")
    page.locator("#questions summary").click()
    page.locator("#questions .chip button").first.click()
    see("#m0.current.evidence").to_be_visible()
    press("?")
    see("#keys").to_be_visible()


def test_a_script_in_a_message_does_not_run(page: Page) -> None:
    see = seeing(page)
    see("#m2 .text").to_have_text(SCRIPT)
    page.keyboard.press("q")
    page.keyboard.type(SCRIPT)
    expect(page.locator("#questions textarea").first).to_have_value(SCRIPT)
    see("#saved").to_have_text("Saved")
    page.reload()
    page.wait_for_selector("#questions .asked")
    see("#questions .asked").to_have_text(SCRIPT)
    assert "owned" not in page.title()
    assert page.locator("img[src='x']").count() == 0


def test_annotating_a_question_end_to_end(
    page: Page, studio: StudioSession, tmp_path: Path
) -> None:
    see = seeing(page)
    press = page.keyboard.press
    press("q")
    page.keyboard.type("Who carried the kettle?")
    expect(page.locator("#questions textarea").first).to_be_focused()
    press("Tab")
    page.keyboard.type("her sister Noor")
    page.locator(".choice span", has_text="Aggregation").click()
    press("Escape")
    page.locator("[data-pick]").click()
    page.locator("#m5 .bubble").click()
    page.locator("#m6 .bubble").click()
    see(".row.evidence").to_have_count(2)
    press("k")
    press("j")
    press("Space")  # the last one is not evidence after all
    see(".row.evidence").to_have_count(1)
    press("Escape")
    page.locator(".new-event").first.fill("Ilse's kettle survives the move.")
    press("Enter")
    see(".card.event").to_have_count(1)
    see("#saved").to_have_text("Saved")
    items = studio.store.items("Chat_1_Ilse_Omar", "Ana")
    (question,) = (item for item in items if item.kind == "question")
    assert question.body == {
        "text": "Who carried the kettle?",
        "answer": "her sister Noor",
        "category": "multi_hop",
        "evidence": ["D2:2"],
    }
    press("Escape")
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


@pytest.mark.slow
def test_a_long_chat_scrolls_and_jumps(
    context: BrowserContext, server: Server, trouble: list[str]
) -> None:
    page = opened(context, server, trouble, chat=1)
    see = seeing(page)
    total = 6000
    page.locator("#sessions [data-session='77']").click()
    row = page.locator(f"#m{76 * 60}")
    expect(row).to_be_in_viewport()
    see("#where").to_contain_text("Session 77")
    assert page.locator(".row").count() < total / 10
    page.evaluate("document.getElementById('reader').scrollTo(0, 1e9)")
    see(f"#m{total - 1}").to_be_visible()
    see("#where").to_contain_text("Session 100")
    for _ in range(12):
        page.mouse.move(600, 400)
        page.mouse.wheel(0, -900)
        page.wait_for_timeout(30)
    expect(page.locator(".row").first).to_be_attached()
    assert page.locator(".row").count() < total / 5
    assert trouble == []


@pytest.mark.slow
def test_light_dark_and_phone(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = context.new_page()
    see = seeing(page)
    page.goto(server.url)
    page.wait_for_selector(".book")
    page.goto(f"{server.url.partition('?')[0]}chat/0")
    page.wait_for_selector("#panel h3", state="attached")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(colour)
    page.locator("[data-theme-switch]").click()
    assert page.evaluate(colour) != dark
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    see("#panel").to_be_hidden()
    page.locator("[data-show=annotate]").click()
    see("#panel").to_be_visible()
    see("#reader").to_be_hidden()
    context.close()


def test_two_annotators_are_settled(page: Page, server: Server, studio: StudioSession) -> None:
    see = seeing(page)
    body = {"text": "Who is Noor?", "answer": "a sister", "category": "", "evidence": ["D2:2"]}
    for name in ("Ana", "Bo"):
        studio.store.create("Chat_1_Ilse_Omar", "question", name, body)
    page.goto(f"{server.url.partition('?')[0]}chat/0/review?first=Ana&second=Bo")
    see(".figures tbody tr").to_have_count(7)
    page.locator("[data-take]").first.click()
    see("td.taken .good").to_have_text("✓ agreed")
    (agreed,) = studio.store.items("Chat_1_Ilse_Omar", "final")
    assert agreed.body == body
