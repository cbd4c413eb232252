"""The studio over HTTP: who is let in, what comes out, and that nothing is lost or run."""

from __future__ import annotations

import io
import json
import logging
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from realtalk.chat import Corpus
from realtalk.formats.opening import open_reading
from realtalk.web.app import Server
from realtalk.web.library import ChatLibrary
from realtalk.web.session import StudioSession
from realtalk.web.store import Store
from refusals import refused
from studio_server import SCRIPT, entered, new_item, open_studio, small_corpus

pytest.importorskip("fastapi", reason="the extra studio is not installed")


pytest_plugins = ["studio_pages"]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    with open_studio(tmp_path) as made:
        yield made


def base_of(server: Server) -> str:
    return server.url.partition("/?")[0]


def create(client: httpx.Client, kind: str, fields: dict[str, Any], name: str) -> dict[str, Any]:
    answer = client.post("/chat/0/items", json=new_item(kind, fields, name))
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["item"])


PATHS = ("/", "/chat/0", "/chat/0/messages/0", "/chat/0/search?q=flat", "/chat/0/panel", "/csrf")


def test_nobody_is_let_in_without_the_link(server: Server) -> None:
    with httpx.Client(base_url=base_of(server)) as stranger:
        for path in PATHS:
            answer = stranger.get(path)
            assert answer.status_code == 403, path
            assert "harbour" not in answer.text
        assert stranger.get("/?token=wrong").status_code == 403
        cookie = f"realtalk-studio-{urlsplit(server.url).port}=guess"
        assert stranger.get("/chat/0", headers={"cookie": cookie}).status_code == 403


def test_the_link_sets_a_strict_cookie(server: Server) -> None:
    with httpx.Client(base_url=base_of(server)) as browser:
        answer = browser.get(f"/?{urlsplit(server.url).query}")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=strict" in cookie
        assert urlsplit(server.url).query.removeprefix("token=") not in cookie
        assert browser.get("/chat/0").status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", ""])
def test_another_name_for_this_machine_is_turned_away(client: httpx.Client, host: str) -> None:
    assert client.get("/chat/0", headers={"host": host}).status_code in (400, 421)


def test_a_change_needs_the_token_and_this_origin(
    client: httpx.Client, studio: StudioSession
) -> None:
    form = new_item("question", {"text": "Why?"}, "request-1")
    del client.headers["x-csrf-token"]
    assert client.post("/chat/0/items", json=form).status_code == 403
    wrong = {"x-csrf-token": "0" * 64}
    assert client.post("/chat/0/items", json=form, headers=wrong).status_code == 403
    right = {"x-csrf-token": client.get("/csrf").json()["csrf"]}
    for foreign in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        answer = client.post("/chat/0/items", json=form, headers=right | foreign)
        assert answer.status_code == 403, foreign
    assert "Ana" not in studio.store.authors()
    here = {"origin": str(client.base_url).rstrip("/"), "sec-fetch-site": "same-origin"}
    assert client.post("/chat/0/items", json=form, headers=right | here).status_code == 201


def test_other_sites_may_link_but_not_read(client: httpx.Client) -> None:
    foreign = {"sec-fetch-site": "cross-site"}
    assert client.get("/csrf", headers=foreign | {"sec-fetch-mode": "cors"}).status_code == 403
    assert client.get("/", headers=foreign | {"sec-fetch-mode": "navigate"}).status_code == 200


def test_every_answer_forbids_foreign_scripts(client: httpx.Client) -> None:
    for path in (*PATHS, "/static/studio.js", "/nowhere", "/chat/99"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] in ("no-store", "no-cache")
        assert headers["referrer-policy"] == "no-referrer"


def test_pages_hold_nothing_from_outside(client: httpx.Client) -> None:
    for path in ("/", "/chat/0", "/chat/0/review"):
        page = client.get(path).text
        assert "http://" not in page and "https://" not in page


def test_chat_text_is_escaped_everywhere(client: httpx.Client) -> None:
    create(client, "question", {"text": SCRIPT, "answer": SCRIPT}, "request-1")
    create(client, "event", {"session": 1, "speaker": "Ilse", "text": SCRIPT}, "request-2")
    client.post("/annotator", json={"name": "<b>Bo</b>"}).raise_for_status()
    create(client, "question", {"text": SCRIPT}, "request-3")
    for path in (
        "/chat/0",
        "/chat/0/messages/0",
        "/chat/0/search?q=script",
        "/chat/0/panel?who=Ana&session=1",
        "/chat/0/review?first=Ana",
        "/",
    ):
        page = client.get(path).text
        assert "<script>document" not in page and "<img src=x" not in page, path
        assert "<b>Bo</b>" not in page


def test_a_failure_is_logged_without_text(
    client: httpx.Client, studio: StudioSession, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("I moved to the harbour flat")

    client.get("/chat/0/search?q=flat").raise_for_status()
    object.__setattr__(studio.library.open_chats[0], "search", broken)
    with caplog.at_level(logging.DEBUG):
        answer = client.get("/chat/0/search?q=secretword")
        late = time.monotonic() + 120
        while "ValueError" not in caplog.text and time.monotonic() < late:
            time.sleep(0.01)  # the answer goes out before the line is written
    assert answer.status_code == 500
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert any("ValueError in test_studio_server.py" in line for line in ours)
    for private in ("harbour", "secretword"):
        assert private not in answer.text and not any(private in line for line in ours)


def test_refusals_do_not_repeat_what_was_sent(client: httpx.Client) -> None:
    answer = client.post("/chat/0/items", json={"kind": "secret words", "fields": 3})
    assert answer.status_code == 422 and "secret" not in answer.text
    stranger = new_item("event", {"session": 1, "speaker": "Secretname"}, "r" * 9)
    answer = client.post("/chat/0/items", json=stranger)
    assert answer.status_code == 400 and "Secretname" not in answer.text


def test_annotators_have_their_own_and_copy_from_others(client: httpx.Client) -> None:
    page = client.get("/chat/0/panel").text
    assert "When did Ilse move?" in page  # what came with the chat, until there is something own
    published = client.get("/chat/0/items?who=corpus").json()["items"]
    ids = [item["id"] for item in published]
    assert client.post("/chat/0/copy", json={"items": ids, "to": "Ana"}).json()["copied"] == 2
    assert client.post("/chat/0/copy", json={"items": ids, "to": "Bo"}).status_code == 400
    client.post("/annotator", json={"name": "Bo"}).raise_for_status()
    assert client.get("/chat/0/items?who=Bo").json()["items"] == []
    assert client.post("/chat/0/undo", json={}).json()["items"] == []  # Ana's step is not Bo's


def export_file(client: httpx.Client, layout: str, who: str) -> tuple[str, bytes]:
    answer = client.get(f"/chat/0/export?layout={layout}&who={who}")
    answer.raise_for_status()
    return answer.headers["content-disposition"].rpartition("''")[2], answer.content


@pytest.mark.parametrize("layout", ["realtalk", "sheet", "jsonl"])
def test_what_is_exported_reads_back_equal(
    client: httpx.Client, tmp_path: Path, layout: str
) -> None:
    fields = {"text": "Who?", "answer": "Noor", "category": "multi_hop", "evidence": ["D2:2"]}
    create(client, "question", fields, "request-1")
    noted = {"session": 2, "speaker": "Ilse", "text": "Noor carries a kettle."}
    create(client, "event", noted, "request-2")
    name, data = export_file(client, layout, "Ana")
    path = tmp_path / name
    path.write_bytes(data)
    (chat,) = open_reading(path).reading.corpus.chats
    (question,) = chat.questions
    assert (question.text, question.answer, question.category) == ("Who?", "Noor", "multi_hop")
    assert question.evidence == ("D2:2",)
    assert [(e.session, e.speaker, e.text) for e in chat.events] == [
        (2, "Ilse", "Noor carries a kettle.")
    ]
    assert [m.text for m in chat.messages] == [m.text for m in small_corpus().chats[0].messages]


@pytest.mark.parametrize("layout", ["realtalk", "sheet"])
def test_a_file_is_imported_once(client: httpx.Client, layout: str) -> None:
    name, data = export_file(client, layout, "corpus")
    url = f"/chat/0/import?name={name}&who=Cleo"
    first = client.post(url, content=data).json()
    assert (first["made"], first["there"], first["who"]) == (2, 0, "Cleo")
    assert client.post(url, content=data).json()["made"] == 0
    wanted = client.get("/chat/0/items?who=corpus").json()["items"]
    got = client.get("/chat/0/items?who=Cleo").json()["items"]
    for one, other in zip(wanted, got, strict=True):
        for key in ("text", "evidence"):
            assert one["body"].get(key) == other["body"].get(key)


def bomb() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (3 << 20))
    return packed.getvalue()


def test_files_that_do_not_fit_are_refused(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("realtalk.web.reviews._LARGEST_UNPACKED", 2 << 20)
    refused = (
        ("x.exe", b"MZ", "not a file to import"),
        ("x.json", b"{", "cannot be read"),
        ("x.xlsx", b"PK nonsense", "not a spreadsheet"),
        ("x.xlsx", bomb(), "unpacks to more"),
    )
    for name, data, why in refused:
        answer = client.post(f"/chat/0/import?name={name}", content=data)
        assert answer.status_code == 400 and why in answer.json()["error"], name
        assert "/tmp" not in answer.text
    other = json.loads(export_file(client, "realtalk", "corpus")[1])
    for entry in (*other["session_1"], *other["session_2"]):
        entry["dia_id"] = "D9" + entry["dia_id"][1:]
    answer = client.post("/chat/0/import?name=o.json", content=json.dumps(other).encode())
    assert answer.status_code == 400 and "another chat" in answer.json()["error"]


def test_a_port_that_is_taken_says_so(server: Server, studio: StudioSession) -> None:
    port = urlsplit(server.url).port
    assert port is not None
    with refused(f"port {port}"), Server.start(studio, port):
        pass


@contextmanager
def studio_of(corpus: Corpus, store: Store) -> Iterator[httpx.Client]:
    session = StudioSession(ChatLibrary(corpus), store, "Ana", {})
    with Server.start(session) as server, entered(server.url) as client:
        yield client


def test_a_chat_that_was_read_anew_loses_no_annotation(tmp_path: Path) -> None:
    """A session and a speaker's name are gone: what was noted of them is shown, and goes on."""
    store = Store.open(tmp_path / "notes.sqlite")
    made = small_corpus()
    chat = made.chats[0]
    with studio_of(made, store) as client:
        told = {"text": "Where?", "evidence": ["D1:1", "D2:2"]}
        question = create(client, "question", told, "request-1")
        for number, (session, who) in enumerate(((2, "Ilse"), (1, "Omar"), (1, "Ilse"))):
            fields = {"session": session, "speaker": who, "text": f"event-{number}"}
            create(client, "event", fields, f"request-e{number}")
    renamed = tuple(
        replace(each, speaker=each.speaker.replace("Omar", "Omer"))
        for each in chat.sessions[0].messages
    )
    only = replace(chat.sessions[0], messages=renamed)
    anew = replace(chat, speakers=("Ilse", "Omer"), sessions=(only,))
    with studio_of(replace(made, chats=(anew,)), store) as client:
        panel = client.get("/chat/0/panel?who=Ana").text
        here, _, lost = panel.partition("Without a place")
        assert "event-2" in here and "event-0" in lost and "event-1" in lost
        assert "event-2" not in lost and "event-1" not in here
        evidence = ["D1:1", "D2:2", "D1:3"]
        form: dict[str, Any] = {"version": 1, "request": "request-2"}
        form["fields"] = {"evidence": evidence}
        answer = client.patch(f"/items/{question['id']}", json=form)
        assert answer.status_code == 200 and answer.json()["item"]["body"]["evidence"] == evidence
    store.close()
