"""The audit reviewed: accepted, rejected, corrected, kept, exported as golds; and in a real browser
by keyboard alone, where texts stay texts and nothing bars the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from audited_chats import asked, audit, corpus
from axe_checks import assert_nothing_bars, on_a_phone
from file_modes import mode
from page_browser import expect, seeing
from realtalk.chat import Corpus
from realtalk.formats.audit import Audit, AuditedQuestion, chat_key, question_key
from realtalk.memory.golds import golds_named
from realtalk.web.reviews import AuditReviews, CardDecision
from realtalk.web.session import StudioSession
from refusals import refused
from studio_browser import NEEDED
from studio_server import SCRIPT, open_studio, studio_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ["studio_pages"]

CHAT = asked()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    with studio_client(tmp_path, corpus(), audit=audit()) as made:
        yield made


def say(client: httpx.Client, question: str, choice: str, **more: str) -> httpx.Response:
    return client.post("/chat/0/audit", json={"question": question, "choice": choice, **more})


def test_verdicts_are_reviewed_and_the_corrected_file_is_scored_by(
    client: httpx.Client, tmp_path: Path
) -> None:
    page = client.get("/chat/0/audit").text
    assert "What is the kitten called?" in page and "Not Salt." in page
    assert "When did Ines adopt the kitten?" not in page  # it is ok
    assert "When did Ines adopt" in client.get("/chat/0/audit?verdict=ok").text
    assert "/chat/0/audit" in client.get("/chat/0").text
    assert say(client, "Q2", "accept", comment="<b>yes</b>").status_code == 201
    assert say(client, "Q3", "reject").status_code == 201
    fixed = say(client, "Q4", "correct", verdict="wrong", answer="no")
    assert fixed.json() == {"who": "Ana", "choice": "correct"}
    shown = client.get("/chat/0/audit").text
    assert "✓ accept" in shown and "&lt;b&gt;yes&lt;/b&gt;" in shown and "<b>yes</b>" not in shown
    path = tmp_path / "corrected.jsonl"
    path.write_bytes(client.get("/audit/export").content)
    golds = golds_named(str(path))
    found = golds.audit_of(CHAT)
    assert (found["Q2"].reviewed, found["Q2"].comment) == ("Ana", "Ana: <b>yes</b>")
    assert (found["Q3"].verdict, found["Q3"].answer, found["Q3"].evidence) == (
        "ok",
        "Porto",
        ("D3:1",),
    )
    assert golds.of(CHAT)["Q4"].answer == "no" and not golds.of(CHAT)["Q4"].left_out
    assert found["Q1"] == audit().of(CHAT)["Q1"]
    assert mode(tmp_path / "notes.audit.json") == 0o600


def test_a_list_without_anything_to_review_says_so(tmp_path: Path) -> None:
    ((chat, questions),) = audit().chats.items()
    fine = {key: replace(each, verdict="ok") for key, each in questions.items()}
    with studio_client(tmp_path, corpus(), audit=Audit("audited", {chat: fine})) as client:
        assert "Nothing is left to review" in client.get("/chat/0/audit").text
        # A verdict that nothing has is no choice: the page would show it nowhere.
        assert "Nothing is left to review" in client.get("/chat/0/audit?verdict=wrong").text
        assert "Nothing is left" not in client.get("/chat/0/audit?verdict=ok").text


@pytest.mark.parametrize(
    ("question", "choice", "more", "status"),
    [
        ("Q9", "accept", {}, 400),
        ("Q2", "shrug", {}, 422),
        ("Q2", "correct", {"verdict": "odd"}, 400),
        ("Q2", "accept", {"comment": "x" * 2001}, 422),
        ("Q2", "accept", {"other": "x"}, 422),
    ],
)
def test_what_is_no_review_is_refused(
    client: httpx.Client, question: str, choice: str, more: dict[str, str], status: int
) -> None:
    assert say(client, question, choice, **more).status_code == status
    assert client.post("/chat/0/audit", json={}, headers={"x-csrf-token": ""}).status_code == 403


def test_two_who_disagree_leave_the_audit_as_it_is(tmp_path: Path) -> None:
    reviews = AuditReviews.open(tmp_path / "a.audit.json", audit())
    reviews.decide(CHAT, "Q2", "Ana", CardDecision("reject"))
    reviews.decide(CHAT, "Q2", "Bo", CardDecision("accept", "Pepper it is"))
    again = AuditReviews.open(tmp_path / "a.audit.json", audit())
    found = again.correct([CHAT]).of(CHAT)["Q2"]
    assert (found.verdict, found.answer, found.reviewed) == ("wrong", "Pepper", "Ana, Bo")
    assert found.comment == "disagreed: Ana rejects, Bo accepts. Bo: Pepper it is"
    reviews.decide(CHAT, "Q2", "Bo", CardDecision("reject"))
    assert reviews.correct([CHAT]).of(CHAT)["Q2"].verdict == "ok"


def test_a_chat_without_an_audit_has_nothing_to_review(tmp_path: Path) -> None:
    reviews = AuditReviews.open(tmp_path / "a.audit.json", Audit.load_shipped())
    with refused("no such question"):
        reviews.decide(CHAT, "Q2", "Ana", CardDecision("accept"))
    with refused("no chat here was audited"):
        reviews.correct([CHAT])
    (tmp_path / "b.audit.json").write_text('{"a": {"Ana": {"choice": "odd"}}}')
    with refused("not a file of reviews"):
        AuditReviews.open(tmp_path / "b.audit.json", audit())


# --- in a real browser ---


_LONG = "and so on " * 60
_FIRST, *_OTHERS = asked().questions
HOSTILE = replace(
    asked(), questions=(replace(_FIRST, text=f"{_FIRST.text} {SCRIPT}", answer="x" * 200), *_OTHERS)
)


PLACE = "chat/0/audit"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    """Of the questions one is fine; the others are wrong, at length."""
    wrong = AuditedQuestion("wrong", f"Pepper {_LONG}", (), ("D2:2", "D2:3"), f"Not Salt. {SCRIPT}")
    verdicts = {question_key(each): wrong for each in HOSTILE.questions}
    verdicts[question_key(HOSTILE.questions[4])] = AuditedQuestion("ok", "the oven", (), ("D1:3",))
    audit = Audit("audited", {chat_key(HOSTILE): verdicts})
    with open_studio(tmp_path, Corpus("bakery", "realtalk", (HOSTILE,)), {}, audit=audit) as made:
        made.reviews.decide(HOSTILE, "Q1", "Bo" * 40, CardDecision("reject", f"no: {SCRIPT}"))
        yield made


@NEEDED
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
    found = golds_named(str(tmp_path / "corrected.jsonl")).audit_of(HOSTILE)
    assert found["Q1"].comment.endswith(f"Ana: raj {SCRIPT}")
    assert (found["Q2"].verdict, found["Q2"].comment) == ("ok", "Ana: Porto, she says")
    assert (found["Q3"].verdict, found["Q3"].answer) == ("incomplete", "Porto")
    assert found["Q4"].reviewed == ""
    page.reload()
    see("#reviewed").to_have_text("3 of 4 reviewed by you")
    expect(cards.nth(0).locator("[data-choice=accept]")).to_have_attribute("aria-pressed", "true")
    assert page.title().startswith("Audit") and page.locator(".verdict img").count() == 0


@NEEDED
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
