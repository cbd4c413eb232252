"""Slow, silent, many and large: what a client may send before the door is closed."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from realtalk.web.app import Server
from realtalk.web.guard import Limits
from studio_server import entered, open_studio
from text_tables import cases

pytest.importorskip("fastapi", reason="the extra studio is not installed")

SHORT = Limits(headers=2.0, body=1.0, parting=0.3, connections=40)
LONG = 30.0  # seconds that a test waits for what ought to happen in one


pytest_plugins = ["studio_pages"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with open_studio(tmp_path) as studio, Server.start(studio, limits=SHORT) as running:
        yield running


def connected(server: Server) -> socket.socket:
    place = urlsplit(server.url)
    assert place.hostname is not None and place.port is not None
    return socket.create_connection((place.hostname, place.port), timeout=LONG)


def is_closed(line: socket.socket) -> bool:
    """Whether the other side has closed, without waiting for it."""
    readable, _, _ = select.select([line], [], [], 0)
    try:
        return bool(readable) and line.recv(1, socket.MSG_PEEK) == b""
    except ConnectionError:
        return True


def head(client: httpx.Client, first: str, *more: str) -> bytes:
    cookie = "; ".join(f"{each.name}={each.value}" for each in client.cookies.jar)
    lines = [
        f"{first} HTTP/1.1",
        f"host: {client.base_url.netloc.decode()}",
        f"cookie: {cookie}",
        f"x-csrf-token: {client.headers['x-csrf-token']}",
        "content-type: application/json",
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def is_answered(client: httpx.Client) -> bool:
    """Whether somebody with a new connection gets a page."""
    with httpx.Client(base_url=client.base_url, cookies=client.cookies, timeout=LONG) as another:
        return another.get("/chat/0").status_code == 200


def everything(line: socket.socket) -> bytes:
    """What comes until the other side closes."""
    parts = []
    try:
        while part := line.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nhost: 127."])
def test_three_hundred_slow_connections_are_closed(
    server: Server, client: httpx.Client, said: bytes
) -> None:
    """Silent from the start, or a byte now and then; a reader is answered all the while."""
    lines = [connected(server) for _ in range(300)]
    for line in lines:
        if said:
            line.sendall(said)
    assert is_answered(client)
    late = time.monotonic() + LONG
    while (left := [line for line in lines if not is_closed(line)]) and time.monotonic() < late:
        for line in left:
            with suppress(OSError):
                line.sendall(b"x" if said else b"")  # does not put off the end
        time.sleep(0.05)
    assert not left
    assert is_answered(client)
    for line in lines:
        line.close()


def test_no_more_connections_than_allowed_are_kept(tmp_path: Path) -> None:
    """With no time limit in sight: who said nothing for the longest makes room."""
    patient = Limits(headers=600, connections=40)
    with (
        open_studio(tmp_path) as studio,
        Server.start(studio, limits=patient) as server,
        entered(server.url) as client,
    ):
        lines = [connected(server) for _ in range(100)]
        late = time.monotonic() + LONG
        while sum(not is_closed(line) for line in lines) > 40 and time.monotonic() < late:
            time.sleep(0.02)
        assert sum(not is_closed(line) for line in lines) <= 40
        assert not is_closed(lines[-1])
        assert is_answered(client)
        for line in lines:
            line.close()


def test_a_kept_connection_that_begins_again_slowly_is_closed(
    server: Server, client: httpx.Client
) -> None:
    with connected(server) as line:
        line.sendall(head(client, "GET /csrf"))
        answer = b""
        while b'"csrf"' not in answer:
            answer += line.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200")
        line.sendall(b"GET /csrf HTTP/1.1\r\n")
        assert everything(line) == b""


def test_a_slow_body_is_not_waited_for(server: Server, client: httpx.Client) -> None:
    for told, sent in (
        ("content-length: 1000", b"{"),
        ("transfer-encoding: chunked", b"1\r\n{\r\n"),
    ):
        with connected(server) as line:
            line.sendall(head(client, "POST /annotator", told) + sent)
            answer = everything(line)
        assert answer.startswith(b"HTTP/1.1 408") and b"too slowly" in answer


LARGE = 31 << 20


@cases("""
    first                   | status
    POST /chat/0            | 405
    PUT /chat/0/items       | 405
    DELETE /chat/0/panel    | 405
    POST /nowhere           | 404
    POST /static/studio.css | 405
    POST /chat/0/items      | 413
    PATCH /items/q1         | 413
    POST /annotator         | 413
    GET /csrf               | 200
    GET /static/studio.css  | 200
""")
def test_a_large_body_is_answered_before_it_is_sent(
    server: Server, client: httpx.Client, first: str, status: int
) -> None:
    with connected(server) as line:  # claimed, and not one byte of it
        line.sendall(head(client, first, f"content-length: {LARGE}"))
        assert everything(line).startswith(f"HTTP/1.1 {status}".encode())
    with connected(server) as line:  # uncounted: it is read up to the limit at most
        line.sendall(head(client, first, "transfer-encoding: chunked"))
        line.settimeout(LONG)
        sent = 0
        try:
            while sent < LARGE:
                line.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
                sent += 65536
        except (ConnectionError, TimeoutError):
            pass
        assert everything(line).startswith(f"HTTP/1.1 {status}".encode()) or sent < LARGE


def test_who_is_turned_away_need_not_send_the_rest(server: Server, client: httpx.Client) -> None:
    with connected(server) as line:
        line.sendall(
            f"POST /chat/0/import?name=x.json HTTP/1.1\r\nhost: {client.base_url.netloc.decode()}"
            f"\r\ncontent-length: {LARGE}\r\n\r\n".encode()
        )
        assert everything(line).startswith(b"HTTP/1.1 403")


def test_a_client_that_sends_first_and_reads_later_learns_why(
    server: Server, client: httpx.Client
) -> None:
    """Browsers do so: an answer that is reset under way would read as 'no answer'."""
    for body in (b"x" * (1 << 20), iter([b"x" * 10_000] * 40)):  # counted, and in chunks
        assert client.post("/chat/0/items", content=body).status_code == 413
    assert client.put("/chat/0/items", content=b"x" * (1 << 20)).status_code == 405
    assert client.get("/csrf").status_code == 200
