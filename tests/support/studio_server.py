"""A studio for tests: a fictional chat, a real server, and clients that are let in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from realtalk.chat import Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.web.app import Server
from realtalk.web.library import ChatLibrary
from realtalk.web.session import StudioSession
from realtalk.web.store import Store
from realtalk.web.turn_labels import TurnLabels

SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
_COMMAND = "from realtalk.cli.main import main; main()"


def small_chat() -> Chat:
    """Two sessions, a photo, a message that is a script, an event and a question."""
    start = datetime(2026, 5, 4, 9, 0)
    said = [
        [
            ("Ilse", "I moved to the harbour flat on Sunday"),
            ("Omar", "already?? how is the light"),
            ("Omar", SCRIPT),
            ("Ilse", "soft, and the café downstairs smells of cardamom"),
        ],
        [
            ("Omar", "did the kettle survive the move"),
            ("Ilse", "it did, my sister Noor carried it on her lap"),
            ("Ilse", ""),
        ],
    ]
    sessions = []
    for number, lines in enumerate(said, 1):
        day = start + timedelta(days=2 * (number - 1))
        messages = tuple(
            Message(
                f"D{number}:{at}",
                who,
                day + timedelta(minutes=at),
                text,
                () if text else (Attachment("image", caption="a dented kettle"),),
            )
            for at, (who, text) in enumerate(lines, 1)
        )
        sessions.append(Session(number, day, messages))
    question = Question("Q1", "When did Ilse move?", "3 May 2026", "temporal", ("D1:1",))
    event = Event(1, "Ilse", "Ilse moves to a flat at the harbour.")
    return Chat("Chat_1_Ilse_Omar", ("Ilse", "Omar"), tuple(sessions), (event,), (question,))


def small_corpus() -> Corpus:
    return Corpus("harbour", "realtalk", (small_chat(),))


@contextmanager
def entered(url: str) -> Iterator[httpx.Client]:
    """A client that followed the link and knows the page's token."""
    parts = urlsplit(url)
    with httpx.Client(base_url=f"http://{parts.netloc}", timeout=300, verify=False) as client:
        client.get(f"/?{parts.query}").raise_for_status()
        client.headers["x-csrf-token"] = client.get("/csrf").json()["csrf"]
        yield client


@contextmanager
def studio_client(folder: Path, corpus: Corpus, **options: Any) -> Iterator[httpx.Client]:
    """A client of a studio of the corpus, whose annotations are in the folder."""
    with (
        open_studio(folder, corpus, {}, **options) as studio,
        Server.start(studio) as server,
        entered(server.url) as client,
    ):
        yield client


class Studio:
    """The command as a process of its own."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url

    def kill(self) -> None:
        """No warning, no clean end."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@contextmanager
def run_studio(path: str, annotations: Path, *words: str) -> Iterator[Studio]:
    """Starts `realtalk studio` and waits for its link; what it says is in ANNOTATIONS.said."""
    environment = {**os.environ, "REALTALK_CACHE": str(annotations.parent / "cache")}
    command = [sys.executable, "-c", _COMMAND, "studio", path, "--no-browser"]
    with annotations.with_suffix(".said").open("wb") as said:
        process = subprocess.Popen(
            [*command, "--annotations", str(annotations), *words],
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env=environment,
        )
    try:
        assert process.stdout is not None
        yield Studio(process, process.stdout.readline().partition("studio: ")[2].strip())
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def new_item(kind: str, fields: dict[str, Any], request: str, who: str = "") -> dict[str, Any]:
    return {"kind": kind, "fields": fields, "who": who, "request": request}


@contextmanager
def open_studio(
    folder: Path, corpus: Corpus | None = None, labels: Any = None, **options: Any
) -> Iterator[StudioSession]:
    """Ana's studio of a corpus, the small one by default, whose annotations are in the folder."""
    store = Store.open(folder / "notes.sqlite")
    library = ChatLibrary(corpus or small_corpus())
    given = {"Chat_1_Ilse_Omar": TurnLabels()} if labels is None else labels
    yield StudioSession(library, store, "Ana", given, **options)
    store.close()
