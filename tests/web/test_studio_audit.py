"""The audit reviewed: accepted, rejected, corrected, kept, and exported as golds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from audited_chats import asked, audit, corpus
from file_modes import mode
from realtalk.formats.audit import Audit
from realtalk.memory.golds import golds_named
from realtalk.web.reviews import AuditReviews, CardDecision
from refusals import refused
from studio_server import studio_client

pytest.importorskip("fastapi", reason="the extra studio is not installed")

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
