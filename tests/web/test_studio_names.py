"""Names to redact, in the studio: ticked, kept as the table that the command applies; in a real
browser by keyboard alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from axe_checks import assert_nothing_bars, on_a_phone
from file_modes import mode
from page_browser import expect
from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.redaction.candidates import Mention
from realtalk.redaction.redact import RULES, redact
from realtalk.redaction.review import NameDecision, read_review
from realtalk.web.session import StudioSession
from refusals import refused
from studio_browser import NEEDED
from studio_server import SCRIPT, open_studio, small_corpus, studio_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytest_plugins = ["studio_pages"]


@dataclass(frozen=True)
class Guesses:
    """A source that is sure of nobody."""

    kind: str
    words: tuple[str, ...]

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            for word in self.words:
                if (start := text.find(word)) >= 0:
                    yield Mention(number, start, start + len(word), self.kind, 0.3, "guesses")


class Broken:
    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        raise RealtalkError("the encoder cannot be loaded", where="names")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    sources = [*RULES, Guesses("organisation", ("cardamom",))]
    with studio_client(tmp_path, small_corpus(), name_sources=sources) as made:
        yield made


def waited(client: httpx.Client) -> str:
    client.get("/names")
    while not client.get("/names/ready").json()["ready"]:
        time.sleep(0.05)
    return client.get("/names").text


def tick(client: httpx.Client, form: str, kind: str, replaced: bool) -> httpx.Response:
    return client.post("/names", json={"form": form, "kind": kind, "replace": replaced})


def test_names_are_ticked_and_the_table_is_the_commands(
    client: httpx.Client, tmp_path: Path
) -> None:
    page = waited(client)
    assert "Noor" in page and "cardamom" in page
    likely, _, doubtful = page.partition('<details id="doubtful">')
    assert "Noor" in likely and "cardamom" in doubtful and "Noor" not in doubtful
    assert "1 doubtful" in doubtful
    assert "my sister <mark>Noor</mark> carried it on her lap" in likely  # the sentence
    assert "smells of <mark>cardamom</mark>" in doubtful and SCRIPT not in page
    assert "/names" in client.get("/chat/0").text and "/names" in client.get("/").text
    path = tmp_path / "notes.names.csv"
    assert not path.exists()  # nothing is written before somebody decides
    assert tick(client, "Noor", "person", False).status_code == 201
    assert tick(client, "cardamom", "place", True).status_code == 201
    assert tick(client, "<b>kettle</b>", "place", True).status_code == 201
    assert mode(path) == 0o600
    again = client.get("/names?kind=place").text
    assert "cardamom" in again and "Noor" not in again
    assert "&lt;b&gt;kettle" in again and "<b>kettle" not in again
    decisions = read_review(path)
    made, _ = redact(small_corpus(), decisions=decisions)
    texts = [message.text for message in made.chats[0].messages]
    assert "my sister Noor carried" in texts[5] and "smells of <place-" in texts[3]


def test_forms_of_a_speaker_are_ticked_as_one_name(tmp_path: Path) -> None:
    from realtalk.web.reviews import NameReview

    (chat,) = small_corpus().chats
    (session, *_) = chat.sessions
    said = replace(session.messages[0], text="hey ilse, is Ilse there? omars cup, Omars cup")
    corpus = Corpus("one", "x", (replace(chat, sessions=(replace(session, messages=(said,)),)),))
    review = NameReview(corpus, tmp_path / "a.names.csv", ())
    while (rows := review.rows) is None:
        time.sleep(0.05)
    assert {row["form"]: set(row["forms"].split(" | ")) for row in rows} == {
        "Omars": {"Omars", "omars"},
        "ilse": {"ilse"},
    }
    review.decide(NameDecision("Omars", "person", False))
    review.decide(NameDecision("ilse", "person", False))
    made, _ = redact(corpus, sources=(), decisions=read_review(review.path))
    (message,) = made.chats[0].messages
    assert message.text == "hey ilse, is Person1 there? omars cup, Omars cup"
    review.decide(NameDecision("Omars", "person", True))
    again = NameReview(corpus, review.path, ())
    while (rows := again.rows) is None:
        time.sleep(0.05)
    assert {row["form"]: row["decision"] for row in rows} == {"Omars": "replace", "ilse": "keep"}


def test_decisions_are_there_when_the_studio_opens_again(tmp_path: Path) -> None:
    with studio_client(tmp_path, small_corpus(), name_sources=RULES) as client:
        waited(client)
        assert tick(client, "Noor", "person", False).status_code == 201
    with studio_client(tmp_path, small_corpus(), name_sources=RULES) as client:
        row = waited(client).partition('data-form="Noor"')[2].partition("</tr>")[0]
        assert "data-tick>" in row and "checked" not in row


@pytest.mark.parametrize(
    ("form", "kind", "status"),
    [
        ("", "person", 422),
        ("   ", "person", 400),
        ("Noor", "people", 422),
        ("x" * 201, "person", 422),
    ],
)
def test_what_is_no_decision_is_refused(
    client: httpx.Client, form: str, kind: str, status: int
) -> None:
    waited(client)
    assert tick(client, form, kind, True).status_code == status
    assert client.post("/names", json={}, headers={"x-csrf-token": ""}).status_code == 403


def test_a_tagger_that_cannot_be_loaded_is_one_line(tmp_path: Path) -> None:
    with studio_client(tmp_path, small_corpus(), name_sources=[Broken()]) as client:
        client.get("/names")
        while (said := client.get("/names/ready")).status_code == 200:
            time.sleep(0.05)
        assert said.status_code == 400 and "cannot be loaded" in said.json()["error"]


def test_names_of_all_chats_are_listed_once(tmp_path: Path) -> None:
    from realtalk.web.reviews import NameReview

    (chat,) = small_corpus().chats
    two = Corpus("two", "realtalk", (chat, replace(chat, id="Chat_2")))
    review = NameReview(two, tmp_path / "a.names.csv", RULES)
    while (rows := review.rows) is None:
        time.sleep(0.05)
    assert [row["form"] for row in rows] == ["Noor"] and rows[0]["count"] == "2"
    (tmp_path / "b.names.csv").write_text("a,b\n1,2\n")
    with refused("no column"):
        NameReview(two, tmp_path / "b.names.csv", RULES)


# --- in a real browser ---


PLACE = "names"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    with open_studio(
        tmp_path, name_sources=[*RULES, Guesses("place", ("cardamom", "kettle"))]
    ) as made:
        yield made


@pytest.fixture
def page(page: Page) -> Page:
    page.wait_for_selector("#ticked:not(:empty)")  # the last that the script does: keys work now
    return page


@NEEDED
def test_names_are_ticked_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    press = page.keyboard.press
    ticked = page.locator("#ticked")
    expect(ticked).to_have_text("1 of 3 are replaced")
    press("j")
    expect(page.locator("[data-tick]").first).to_be_focused()
    press("j")  # the rest is folded away
    expect(page.locator("[data-tick]").first).to_be_focused()
    press("x")
    expect(ticked).to_have_text("0 of 3 are replaced")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.get_by_label("Add a name").focus()
    page.keyboard.type("harbour xjk")
    press("Tab")
    page.keyboard.type("place")
    press("Tab")
    press("Enter")
    expect(ticked).to_have_text("1 of 4 are replaced")
    kept = {
        each.form: (each.kind, each.is_replaced)
        for each in read_review(tmp_path / "notes.names.csv")
    }
    assert kept == {
        "Noor": ("person", False),
        "harbour xjk": ("place", True),
        "cardamom": ("place", False),
        "kettle": ("place", False),
    }
    press("j")
    press("Space")
    expect(ticked).to_have_text("2 of 4 are replaced")


@NEEDED
def test_doubtful_names_are_folded_away_with_their_count(page: Page) -> None:
    press = page.keyboard.press
    summary = page.locator("#doubtful summary")
    expect(summary).to_contain_text("2 doubtful")
    kettle = page.locator('[data-form="kettle"]')
    expect(kettle).to_be_hidden()
    press("d")
    expect(kettle).to_be_visible()
    expect(kettle.locator("mark")).to_have_text("kettle")
    expect(page.locator("#doubtful [data-tick]").first).to_be_focused()
    press("x")
    expect(summary).to_contain_text("(1 ticked)")
    press("d")
    expect(kettle).to_be_hidden()
    page.locator('[data-form="Noor"] bdi').first.click()  # a click on a name decides nothing
    expect(page.locator("#ticked")).to_have_text("2 of 3 are replaced")


@NEEDED
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(scheme: str, page: Page) -> None:
    """axe finds no violation, and the page fits on a phone."""
    on_a_phone(page, scheme)
    assert_nothing_bars(page)
