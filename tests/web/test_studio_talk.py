"""Talk in the studio: consent, replies in pieces, one at a time, kept; also by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from axe_checks import assert_nothing_bars, on_a_phone
from file_modes import open_to_others
from page_browser import expect, seeing
from persona_chats import ines
from realtalk.api.pages import open_desk
from realtalk.formats.opening import open_reading
from realtalk.web.app import Server
from realtalk.web.session import StudioSession
from refusals import refused
from studio_browser import NEEDED, base_of, watched
from studio_server import SCRIPT, entered
from talk_rooms import Piecemeal, talk_studio

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


pytest_plugins = ["studio_pages"]


@pytest.fixture
def studio(tmp_path: Path, solver: Piecemeal) -> Iterator[StudioSession]:
    made = talk_studio(tmp_path, solver)
    yield made
    made.close()


@pytest.fixture
def solver() -> Piecemeal:
    return Piecemeal()


def said(answer: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.text.splitlines()]


def test_nothing_is_written_without_a_yes(client: httpx.Client, tmp_path: Path) -> None:
    assert "Talk to <bdi>Ines</bdi>" in client.get("/").text
    page = client.get("/talk").text
    assert "You are <b><bdi>Juno</bdi></b>" in page and "is simulated" in page
    refused = client.post("/talk/begin", json={"answer": ""})
    assert refused.status_code == 409 and refused.json()["ask"].count("Ines") == 5
    assert client.post("/talk/begin", json={"answer": "maybe"}).status_code == 422
    answer = client.post("/talk", json={"text": "hello"})
    assert answer.status_code == 400 and "has not begun" in answer.json()["error"]
    assert not (tmp_path / "talk").exists()
    assert client.post("/talk/begin", json={"answer": "given"}).status_code == 201
    assert client.post("/talk/begin", json={"answer": ""}).status_code == 201  # not asked again


def test_a_reply_comes_in_pieces_and_is_kept_and_marked(
    client: httpx.Client, tmp_path: Path
) -> None:
    client.post("/talk/begin", json={"answer": "self"})
    answer = client.post("/talk", json={"text": f" {SCRIPT} "})
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    assert said(answer) == [
        {"piece": "you said "},
        {"piece": SCRIPT},
        {"text": f"you said {SCRIPT}"},
    ]
    (chat,) = open_reading(str(tmp_path / "talk")).reading.corpus.chats
    assert [(m.speaker, m.text) for m in chat.messages] == [
        ("Juno", SCRIPT),
        ("Ines (simulated)", f"you said {SCRIPT}"),
    ]
    assert chat.messages[1].extra == '{"simulated":"piecemeal"}'
    assert open_to_others(tmp_path / "talk") == {}
    shown = client.get("/talk").text
    assert "Ines (simulated)" in shown and SCRIPT not in shown and "&lt;script&gt;" in shown
    (error,) = said(client.post("/talk", json={"text": "hush"}))
    assert "no answer (empty answer)" in error["error"]
    for wrong in ({"text": ""}, {"text": "x" * 4001}, {}, {"text": 1}):
        assert client.post("/talk", json=wrong).status_code == 422
    (blank,) = said(client.post("/talk", json={"text": "  "}))
    assert "nothing was said" in blank["error"]


def test_one_message_at_a_time(client: httpx.Client, solver: Piecemeal) -> None:
    client.post("/talk/begin", json={"answer": "self"})
    with client.stream("POST", "/talk", json={"text": "wait"}) as waiting:
        again = client.post("/talk", json={"text": "hello?"})
        assert again.status_code == 400 and "Ines is still writing" in again.json()["error"]
        solver.go_on.set()
        waiting.read()
        assert said(waiting)[-1] == {"text": "you said wait"}
    assert said(client.post("/talk", json={"text": "hello?"}))[-1] == {"text": "you said hello?"}


def test_without_a_speaker_there_is_nobody_to_talk_to(tmp_path: Path) -> None:
    from realtalk.web.app import Server

    _, studio = open_desk(ines(), tmp_path / "n.sqlite")
    with Server.start(studio) as server, entered(server.url) as client:
        assert "Nobody is simulated here" in client.get("/talk").text
        assert "/talk" not in client.get("/").text
        answer = client.post("/talk/begin", json={"answer": "self"})
        assert answer.status_code == 400 and "--talk NAME" in answer.json()["error"]
    studio.close()
    with refused("did you mean 'Ines'"):
        open_desk(ines(), tmp_path / "n.sqlite", talk={"speaker": "Inez"})


# --- in a real browser ---


@pytest.fixture
def page(context: BrowserContext, server: Server, trouble: list[str]) -> Iterator[Page]:
    yield watched(context, f"{base_of(server)}talk", trouble)
    # The browser itself reports the refusal that asks for consent.
    assert [line for line in trouble if "409" not in line] == []


@NEEDED
def test_a_talk_by_keyboard_alone(page: Page, tmp_path: Path, solver: Piecemeal) -> None:
    see = seeing(page)
    write = page.keyboard.type
    see("#asks").to_contain_text("Are you Ines")
    see("#asks").to_be_focused()
    press = page.keyboard.press
    press("Tab")
    press("Enter")  # I am Ines
    box = page.locator("textarea")
    expect(box).to_be_focused()
    write(SCRIPT)
    press("Enter")
    bubbles = page.locator("#said .bubble")
    expect(bubbles).to_have_count(2)
    expect(bubbles.nth(1)).to_contain_text(f"you said {SCRIPT}")
    expect(bubbles.nth(1)).to_contain_text("Ines (simulated)")
    assert page.title() != "owned"
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_enabled()  # the reply is kept
    write("wait")
    press("Enter")
    expect(bubbles).to_have_count(4)
    write("not yet")
    press("Enter")  # nothing is sent while a reply is written
    expect(bubbles).to_have_count(4)
    expect(send).to_be_disabled()
    solver.go_on.set()
    expect(bubbles.nth(3)).to_contain_text("you said wait")
    expect(send).to_be_enabled()
    page.reload()
    expect(bubbles).to_have_count(4)  # and nobody is asked again
    (chat,) = open_reading(str(tmp_path / "talk")).reading.corpus.chats
    assert len(chat.messages) == 4


@NEEDED
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_bars_the_way(scheme: str, page: Page) -> None:
    """axe finds no violation, and everything fits on a phone."""
    on_a_phone(page, scheme)
    for step in ("consent", "talk"):
        if step == "talk":
            page.locator('[data-answer="given"]').click()
            page.locator("textarea").fill("is it dry?")
            page.get_by_role("button", name="Send").click()
            expect(page.locator("#said .bubble")).to_have_count(2)
        assert_nothing_bars(page)
