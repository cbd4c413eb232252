"""Drafted questions as cards: accepted, corrected, rejected, put into the stored corpus; and in
a real browser by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

import realtalk as rt
from axe_checks import assert_nothing_bars
from drafted_chats import MODEL, garden
from file_modes import mode
from page_browser import expect
from realtalk.api.choices import as_reading
from realtalk.api.pages import open_desk
from realtalk.chat import Chat, Corpus, Question
from realtalk.formats.audit import chat_key
from realtalk.formats.store import store
from realtalk.memory.drafting import DraftedQuestion, Drafts, drafted
from realtalk.web.reviews import CardDecision, DraftReviews
from realtalk.web.session import StudioSession
from refusals import refused
from studio_browser import NEEDED
from studio_server import SCRIPT, open_studio, studio_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ["studio_pages"]

OWN = Question("Q1", "What does Ines play?", "the piano", "multi_hop", ("D1:1",))
CHAT = Chat("Chat_1_Ines_Tobias", ("Ines", "Tobias"), garden().sessions, questions=(OWN,))
CORPUS = Corpus("garden", "realtalk", (CHAT,))
ASKED = (
    drafted("What did the greenhouse cost?", "340 euros", "single_hop", ("D1:1",)),
    drafted("When did the storm come?", "8 March 2026", "temporal", ("D2:1",)),
    drafted(f"Who mended it? {SCRIPT}", "Marek", "multi_hop", ("D1:3", "D2:3")),
)
DRAFTS = Drafts(
    (
        *(
            DraftedQuestion(chat_key(CHAT), each, MODEL, "", f"read {SCRIPT}", "not told")
            for each in ASKED
        ),
        DraftedQuestion(
            chat_key(CHAT), drafted("Why?", "so", "commonsense", ("D1:1",)), MODEL, "dropped"
        ),
    )
)
COST, STORM, WHO = (each.id for each in ASKED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    reading = as_reading(CORPUS)
    return store(reading, tmp_path / "garden")


@pytest.fixture
def client(tmp_path: Path, folder: Path) -> Iterator[httpx.Client]:
    with studio_client(tmp_path, CORPUS, drafts=DRAFTS, stored=folder) as made:
        yield made


def say(client: httpx.Client, question: str, choice: str, **more: str) -> httpx.Response:
    body = {"question": question, "choice": choice, **more}
    return client.post("/chat/0/drafts", json=body)


def kept(client: httpx.Client) -> int:
    reply = client.post("/chat/0/drafts/keep", json={})
    assert reply.status_code == 201
    return int(reply.json()["questions"])


def test_accepted_and_mended_drafts_become_questions_of_the_stored_corpus(
    client: httpx.Client, folder: Path, tmp_path: Path
) -> None:
    page = client.get("/chat/0/drafts").text
    assert page.count('class="verdict"') == 3  # none that a rule dropped
    assert "340 euros" in page and MODEL in page and "<script>document" not in page
    assert "/chat/0/drafts" in client.get("/chat/0").text
    assert say(client, COST, "accept").status_code == 201
    mended = {"verdict": "ok", "text": "When did a storm break a pane?", "answer": "8.3.2026"}
    assert say(client, STORM, "correct", **mended).json() == {"who": "Ana", "choice": "correct"}
    assert say(client, WHO, "reject", comment="of whom?").status_code == 201
    assert "3 of 3 reviewed by you" in client.get("/chat/0/drafts").text
    assert kept(client) == kept(client) == 2  # a second time changes nothing
    questions = rt.read(folder).chats[0].questions
    assert [each.id for each in questions] == ["Q1", COST, STORM]
    assert questions[0] == OWN and questions[1] == ASKED[0]
    assert (questions[2].text, questions[2].answer) == (mended["text"], mended["answer"])
    assert say(client, COST, "reject").status_code == 201
    assert kept(client) == 1
    assert [each.id for each in rt.read(folder).chats[0].questions] == ["Q1", STORM]
    assert mode(tmp_path / "notes.drafts.json") == mode(folder / "questions.parquet") == 0o600


def test_a_draft_that_anybody_rejects_is_no_question(tmp_path: Path) -> None:
    reviews = DraftReviews.open(tmp_path / "a.drafts.json", DRAFTS)
    reviews.decide(CHAT, COST, "Ana", CardDecision("accept"))
    reviews.decide(CHAT, COST, "Bo", CardDecision("reject"))
    reviews.decide(CHAT, WHO, "Ana", CardDecision("correct", verdict="ok", answer=" Marek M. "))
    reviews.decide(CHAT, WHO, "Bo", CardDecision("accept"))
    again = DraftReviews.open(tmp_path / "a.drafts.json", DRAFTS)
    assert [(each.id, each.answer) for each in again.chosen(CHAT)] == [(WHO, "Marek M.")]
    with refused("no such question"):
        reviews.decide(CHAT, "Q1", "Ana", CardDecision("accept"))


def test_only_a_stored_corpus_takes_questions(tmp_path: Path) -> None:
    with studio_client(tmp_path, CORPUS, drafts=DRAFTS) as client:
        assert "realtalk read CHAT --out DIR" in client.get("/chat/0/drafts").text
        assert say(client, COST, "accept").status_code == 201
        assert client.post("/chat/0/drafts/keep", json={}).status_code == 400
    with studio_client(tmp_path, CORPUS) as client:
        assert "realtalk probe draft CHAT" in client.get("/chat/0/drafts").text
        assert "/chat/0/drafts" not in client.get("/chat/0").text


def test_the_studio_finds_the_drafts_of_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    DRAFTS.write(Path("garden-drafts.jsonl"))
    DRAFTS.write(Path("other.jsonl"))
    for file in (None, "other.jsonl"):
        _, desk = open_desk(CORPUS, drafts=file)
        assert len(desk.drafts.of(CHAT)) == 3
        desk.close()
    with refused("cannot be read"):
        open_desk(CORPUS, drafts="missing.jsonl")


# --- in a real browser ---


PLACE = "chat/0/drafts"


@pytest.fixture
def studio(tmp_path: Path, folder: Path) -> Iterator[StudioSession]:
    with open_studio(tmp_path, CORPUS, {}, drafts=DRAFTS, stored=folder) as made:
        yield made


@NEEDED
def test_drafts_are_mended_by_keyboard_and_put_into_the_corpus(page: Page, tmp_path: Path) -> None:
    press, cards = page.keyboard.press, page.locator(".verdict")
    press("j")
    press("a")
    expect(cards.nth(0).locator("[data-done]")).to_have_text("✓ accept")
    press("j")
    press("c")
    press("ControlOrMeta+a")  # the field has the words that are to be mended
    page.keyboard.type("When did the storm break a pane?")
    press("Tab")
    page.keyboard.type("8.3.2026")
    press("Tab")
    press("Enter")
    expect(cards.nth(1).locator("[data-done]")).to_have_text("✓ correct")
    page.get_by_role("button", name="Put the accepted ones into the corpus").press("Enter")
    expect(page.get_by_text("2 questions are in the corpus")).to_be_visible()
    own, first, second = rt.read(tmp_path / "garden").chats[0].questions
    assert (own, first) == (OWN, ASKED[0])
    assert (second.text, second.answer) == ("When did the storm break a pane?", "8.3.2026")
    assert page.title().startswith("Drafts")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert_nothing_bars(page)
