"""The audit's page in a real browser: by keyboard alone, texts stay texts, nothing bars the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from audited_chats import asked
from axe_checks import assert_nothing_bars, on_a_phone
from page_browser import seeing
from realtalk.chat import Corpus
from realtalk.formats.audit import Audit, AuditedQuestion, chat_key, question_key
from realtalk.memory.golds import golds_named
from realtalk.web.reviews import CardDecision
from realtalk.web.session import StudioSession
from studio_browser import NEEDED
from studio_server import SCRIPT, open_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]

_LONG = "and so on " * 60
_FIRST, *_OTHERS = asked().questions
CHAT = replace(
    asked(), questions=(replace(_FIRST, text=f"{_FIRST.text} {SCRIPT}", answer="x" * 200), *_OTHERS)
)


PLACE = "chat/0/audit"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    """Of the questions one is fine; the others are wrong, at length."""
    wrong = AuditedQuestion("wrong", f"Pepper {_LONG}", (), ("D2:2", "D2:3"), f"Not Salt. {SCRIPT}")
    verdicts = {question_key(each): wrong for each in CHAT.questions}
    verdicts[question_key(CHAT.questions[4])] = AuditedQuestion("ok", "the oven", (), ("D1:3",))
    audit = Audit("audited", {chat_key(CHAT): verdicts})
    with open_studio(tmp_path, Corpus("bakery", "realtalk", (CHAT,)), {}, audit=audit) as made:
        made.reviews.decide(CHAT, "Q1", "Bo" * 40, CardDecision("reject", f"no: {SCRIPT}"))
        yield made


def test_verdicts_are_reviewed_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    see = seeing(page)
    write = page.keyboard.type
    cards = page.locator(".verdict")
    press = page.keyboard.press
    see("#reviewed").to_have_text("0 of 4 reviewed by you")
    press("a")  # no card has the keys yet
    press("j")
    expect(cards.nth(0)).to_be_focused()
    press("m")
    write(f"raj {SCRIPT}")
    press("Escape")
    press("a")
    expect(cards.nth(0).locator("[data-done]")).to_have_text("✓ accept")
    press("j")
    press("r")
    expect(cards.nth(1).locator("[data-done]")).to_have_text("✓ reject")
    press("m")
    write("Porto, she says")
    press("Enter")  # what is typed after a choice belongs to it
    press("Escape")
    press("j")
    press("c")
    write("incomplete")
    press("Tab")
    write("Porto")
    press("Tab")
    press("Enter")
    expect(cards.nth(2).locator("[data-done]")).to_have_text("✓ correct")
    expect(cards.nth(2).locator("[data-choice=correct]")).to_be_focused()
    see("#reviewed").to_have_text("3 of 4 reviewed by you")
    with page.expect_download() as started:
        page.get_by_role("link", name="Export the corrected audit").press("Enter")
    started.value.save_as(tmp_path / "corrected.jsonl")
    found = golds_named(str(tmp_path / "corrected.jsonl")).audit_of(CHAT)
    assert found["Q1"].comment.endswith(f"Ana: raj {SCRIPT}")
    assert (found["Q2"].verdict, found["Q2"].comment) == ("ok", "Ana: Porto, she says")
    assert (found["Q3"].verdict, found["Q3"].answer) == ("incomplete", "Porto")
    assert found["Q4"].reviewed == ""
    page.reload()
    see("#reviewed").to_have_text("3 of 4 reviewed by you")
    expect(cards.nth(0).locator("[data-choice=accept]")).to_have_attribute("aria-pressed", "true")
    assert page.title().startswith("Audit") and page.locator(".verdict img").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(scheme: str, page: Page) -> None:
    """axe finds no violation, and long names and answers fit on a phone."""
    on_a_phone(page, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert_nothing_bars(page)
    wide = """() => [...document.querySelectorAll("main *")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth).length"""
    assert page.evaluate(wide) == 0
