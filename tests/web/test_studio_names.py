"""Names to redact, in the studio: ticked, kept as the table that the command applies."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from file_modes import mode
from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.redaction.candidates import Mention
from realtalk.redaction.redact import RULES, redact
from realtalk.redaction.review import NameDecision, read_review
from refusals import refused
from studio_server import SCRIPT, small_corpus, studio_client

pytest.importorskip("fastapi", reason="the extra studio is not installed")


class Guesses:
    """A source that is sure of nobody."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            if (start := text.find("cardamom")) >= 0:
                yield Mention(number, start, start + 8, "organisation", 0.3, "guesses")


class Broken:
    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        raise RealtalkError("the encoder cannot be loaded", where="names")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx.Client]:
    sources = [*RULES, Guesses()]
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
