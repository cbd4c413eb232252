"""Talk in the studio: consent on the page, replies in pieces, one at a time, kept and marked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from file_modes import open_to_others
from persona_chats import ines
from realtalk.api.pages import open_desk
from realtalk.formats.opening import open_reading
from realtalk.web.session import StudioSession
from refusals import refused
from studio_server import SCRIPT, entered
from talk_rooms import Piecemeal, talk_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")


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
    from realtalk.web.serving import Server

    _, studio = open_desk(ines(), tmp_path / "n.sqlite")
    with Server.start(studio) as server, entered(server.url) as client:
        assert "Nobody is simulated here" in client.get("/talk").text
        assert "/talk" not in client.get("/").text
        answer = client.post("/talk/begin", json={"answer": "self"})
        assert answer.status_code == 400 and "--talk NAME" in answer.json()["error"]
    studio.close()
    with refused("did you mean 'Ines'"):
        open_desk(ines(), tmp_path / "n.sqlite", talk={"speaker": "Inez"})
