"""Every route with what nobody should send: refused in a line; all that is stored reads back."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import httpx
import pytest

from realtalk.web import annotating_routes, reading_routes, reviewing_routes
from realtalk.web.app import Server
from realtalk.web.guard import Limits
from realtalk.web.session import StudioSession
from studio_server import entered, new_item, open_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")
from fastapi.routing import APIRoute

DEEP = "[" * 900 + "]" * 900
ODD_TEXT = [
    "", "\x00", "a\x00b", "\x02\x03\x1b[31m", "\ufffe", "\u202e", "'; DROP TABLE item; --", "=1+1",
    "x" * 5_000, "\n\r\t", "Ana", "final", "corpus", "D1:1", "D9:9", "1", "-1", "𝟙", "%",
    "../../etc/passwd",
]  # fmt: skip
ODD_NUMBERS = [
    "-1", "1e3", "1.0", "٣", "9" * 5_000, str(2**63), str(10**30), "NaN", "", "0x1", "None",
]  # fmt: skip
# As it is written in JSON, so that what Python would not write (half characters, NaN) is there too.
ODD_JSON = [
    "null", "true", "0", "-1", "1.5", "1e999", "NaN", "-Infinity", str(2**63), str(10**30),
    "9" * 5_000, '"\\ud83d"', '"\\udc00\\ud800"', '"\\u0000"', '""', '"' + "x" * 5_000 + '"',
    "[]", "{}", '["\\ud83d"]',
    '[["D1:1"]]', '{"text": 1}', '["D1:1", null]', DEEP, '{"a":' * 200 + "1" + "}" * 200,
    "{", "\x00", '"D1:1"',
    '["D1:1"]', "1", "2", '"Ilse"', '"a sentence"',
]  # fmt: skip
FORMS: dict[str, dict[str, str]] = {
    "POST /chat/{number}/items": {
        "kind": '"question"', "fields": '{"text": "Why?"}', "who": '""', "request": '"{fresh}"'
    },
    "PATCH /items/{id_}": {"version": "1", "fields": '{"text": "So?"}', "request": '"{fresh}"'},
    "DELETE /items/{id_}": {"version": "1", "request": '"{fresh}"'},
    "POST /items/{id_}/settle": {"take": '"both"'},
    "POST /chat/{number}/copy": {"items": '["{item}"]', "to": '"Ana"'},
    "POST /chat/{number}/undo": {"who": '""'},
    "POST /chat/{number}/redo": {"who": '""'},
    "POST /annotator": {"name": '"Ana"'},
    "POST /chat/{number}/import": {},
}  # fmt: skip
FIELDS = [
    "text", "answer", "category", "evidence", "session", "speaker", "date", "stated", "extra",
    "x\\ud83d",
]  # fmt: skip
USUAL = {"number": "0", "piece": "0", "id_": "{item}", "layout": "realtalk", "name": "x.json"}
STRANGE = [
    *(quote(each, safe="") for each in ODD_TEXT + ODD_NUMBERS if each),
    *("%ED%A0%80", "%FF%FE", "%", "realtalk", "sheet", "x.xlsx"),
]


@dataclass(frozen=True)
class Way:
    """A method, a path, and the names that the path and the query may give a value."""

    method: str
    path: str
    queries: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*(name for name in USUAL if f"{{{name}}}" in self.path), *self.queries)

    @property
    def form(self) -> dict[str, str]:
        return dict(FORMS.get(f"{self.method} {self.path}", {}))

    def address(self, given: dict[str, str]) -> str:
        values = USUAL | given
        asked = "&".join(f"{name}={values.get(name, '')}" for name in self.queries)
        return f"{self.path.format_map(values)}?{asked}"


def as_json(written: dict[str, str]) -> str:
    return "{" + ", ".join(f'"{name}": {value}' for name, value in written.items()) + "}"


def ways() -> list[Way]:
    """All that the studio answers, from its own routes."""
    return [
        Way(method, route.path, tuple(each.name for each in route.dependant.query_params))
        for routes in (reading_routes, annotating_routes, reviewing_routes)
        for route in routes.router.routes
        if isinstance(route, APIRoute)
        for method in sorted(route.methods or ())
    ]


def one_odd_value(way: Way) -> Iterator[tuple[str, str, str]]:
    """Every request that is odd in one place."""
    body = as_json(way.form) if way.form else ""
    for name in way.names:
        for value in STRANGE:
            yield way.method, way.address({name: value}), body
    if not way.form:
        return
    plain = way.address({})
    for value in [*ODD_JSON, ""]:
        yield way.method, plain, value
        for name in (*way.form, "unknown"):
            yield way.method, plain, as_json(way.form | {name: value})
    for field in FIELDS if "fields" in way.form else ():
        for value in ODD_JSON:
            yield way.method, plain, as_json(way.form | {"fields": as_json({field: value})})


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudioSession]:
    with open_studio(tmp_path_factory.mktemp("fuzz")) as made:
        yield made


@pytest.fixture(scope="module")
def server(studio: StudioSession) -> Iterator[Server]:
    with Server.start(studio, limits=Limits(body=1.0)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with entered(server.url) as made:
        yield made


def reads_back(client: httpx.Client, studio: StudioSession) -> None:
    """Every page and file of every annotator can be had."""
    for name in (*studio.store.authors(), "final"):
        who = quote(name)
        paths = [f"panel?who={who}", f"items?who={who}", f"counts?who={who}", f"review?first={who}"]
        paths += [f"export?who={who}&layout={each}" for each in ("realtalk", "sheet", "jsonl")]
        for path in paths:
            answer = client.get(f"/chat/0/{path}")
            assert answer.status_code == 200, (path, answer.text)


def is_refused_in_a_line(answer: httpx.Response) -> None:
    if answer.request.method == "HEAD":
        return
    told = answer.json()["error"] if "json" in answer.headers["content-type"] else answer.text
    assert told and "\n" not in told and len(told) < 400 and "Traceback" not in told


class Asker:
    """Sends odd requests and looks at what became of each."""

    def __init__(self, client: httpx.Client, port: int | None) -> None:
        self._client = client
        self._cookie = f"realtalk-annotator-{port}"
        self._made = 0

    def _fresh(self) -> str:
        self._made += 1
        return f"request-{self._made}"

    def ask(self, request: tuple[str, str, str]) -> int:
        method, address, body = request
        item = ""
        if "{item}" in address + body:
            form = new_item("question", {"text": "Why?"}, self._fresh())
            item = self._client.post("/chat/0/items", json=form).json()["item"]["id"]
        body = body.replace("{fresh}", self._fresh()).replace("{item}", item)
        answer = self._client.request(
            method,
            address.replace("{item}", item),
            content=body.encode() if body else None,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code < 500, (request, answer.text)
        if answer.status_code >= 400:
            is_refused_in_a_line(answer)
        self._client.cookies.delete(self._cookie)
        if item:  # so that the panel stays short
            version = {"version": 1, "request": self._fresh()}
            self._client.request("DELETE", f"/items/{item}", json=version)
        return answer.status_code


@pytest.fixture(scope="module")
def asker(client: httpx.Client, server: Server) -> Asker:
    return Asker(client, urlsplit(server.url).port)


@pytest.mark.parametrize("each", [9, pytest.param(1, marks=pytest.mark.slow)])
def test_odd_values_in_every_place(
    client: httpx.Client, studio: StudioSession, asker: Asker, each: int
) -> None:
    """Every ninth of some three thousand requests by default."""
    found = ways()
    changing = {f"{way.method} {way.path}" for way in found if way.method not in ("GET", "HEAD")}
    assert changing == set(FORMS)
    requests = [request for way in found for request in one_odd_value(way)]
    for request in requests[::each]:
        asker.ask(request)
    reads_back(client, studio)


SEEN_TO_FAIL = [
    ("GET", "/chat/0/strips?places=" + "9" * 5_000, ""),
    ("GET", "/chat/0/strips?places=1,,\N{SUPERSCRIPT TWO}", ""),
    ("PATCH", "/items/{item}", as_json(FORMS["PATCH /items/{id_}"] | {"version": str(10**30)})),
    ("DELETE", "/items/{item}", as_json(FORMS["DELETE /items/{id_}"] | {"version": str(10**30)})),
    ("POST", "/chat/0/copy", '{"items": ["\\ud83d"], "to": "Ana"}'),
    *(
        ("POST", "/chat/0/items", as_json(FORMS["POST /chat/{number}/items"] | {name: value}))
        for name, value in (
            ("request", '"request\\ud83d"'),
            ("fields", '{"text": "\\ud83d"}'),
            ("fields", '{"\\ud83d": ""}'),
            ("\\ud83d", "1"),
        )
    ),
]


@pytest.mark.parametrize("request_", SEEN_TO_FAIL, ids=range(len(SEEN_TO_FAIL)))
def test_what_once_failed_is_refused(asker: Asker, request_: tuple[str, str, str]) -> None:
    assert 400 <= asker.ask(request_) < 500


ODD_STORED = ["\x00", "\x0b\x1f", "\ufffe\uffff", "\u2028", "=cmd|' /C calc'!A0", "x" * 4000]


@pytest.mark.parametrize("text", ODD_STORED, ids=range(len(ODD_STORED)))
def test_odd_text_that_is_taken_is_given_back(
    client: httpx.Client, studio: StudioSession, text: str
) -> None:
    """Control characters, which XLSX cannot hold, among them."""
    for kind, fields in (
        ("question", {"text": text, "answer": text}),
        ("event", {"session": 1, "speaker": "Ilse", "text": text, "date": text[:100]}),
    ):
        form = new_item(kind, fields, f"odd-{kind}-{ODD_STORED.index(text)}")
        answer = client.post("/chat/0/items", json=form)
        assert answer.status_code == 201, answer.text
        found = client.get("/chat/0/items?who=Ana").json()["items"]
        assert any(each["body"]["text"] == text for each in found)
    reads_back(client, studio)


def raw(server: Server, sent: bytes) -> bytes:
    """The first bytes of an answer to what no library would send."""
    place = urlsplit(server.url)
    assert place.hostname is not None and place.port is not None
    with socket.create_connection((place.hostname, place.port), timeout=20) as line:
        line.sendall(sent)
        return line.recv(4096)


@pytest.fixture(scope="module")
def head(client: httpx.Client, server: Server) -> bytes:
    """What a request that is let in begins with, after its first line."""
    cookie = "; ".join(f"{each.name}={each.value}" for each in client.cookies.jar)
    host, token = urlsplit(server.url).netloc, client.headers["x-csrf-token"]
    return f"host: {host}\r\ncookie: {cookie}\r\nx-csrf-token: {token}\r\n".encode()


TRICKS = [
    b"content-length: " + b"9" * 5000,
    b"content-length: -1",
    b"content-length: 5\r\ncontent-length: 6",
    b"content-length: 5\r\ntransfer-encoding: chunked",
    b"transfer-encoding: gzip, chunked",
    b"transfer-encoding: \xff",
    b"content-type: application/json; charset=\xff\xfe",
    b"content-type: multipart/form-data",
    b"content-encoding: gzip",
    b"cookie: realtalk-annotator-1=%ED%A0%80; \xff=\xfe",
    b"origin: \xff\xfe",
    b"x-csrf-token: \xff",
    b"sec-fetch-site: \xff",
    b"range: bytes=0-,0-,0-,-1",
    b"if-modified-since: Thu, 99 Xxx 99999999999 99:99:99 GMT",
    b"expect: 100-continue",
    b"upgrade: websocket\r\nconnection: upgrade",
    b"host: evil.example",
    b"x: " + b"y" * 200_000,
    b"no colon here",
    b"\x00: \x00",
]
TARGETS = [
    b"/static/studio.css", b"/static/%00", b"/static/" + b"a" * 3000, b"/static/..%2f..%2fguard.py",
    b"/static/%FF", b"/chat/0", b"/%00", b"/chat/%00", b"//", b"/chat/0/export?layout=%00", b"*",
    b"/items/%00", b"http://evil.example/",
]  # fmt: skip


def test_tricks_with_heads_end_in_a_refusal(server: Server, head: bytes) -> None:
    lines = [(method + target, b"") for target in TARGETS for method in (b"GET ", b"POST ")]
    usual = (b"GET /static/studio.js", b"POST /annotator")
    lines += [(line, trick + b"\r\n\r\n{}") for trick in TRICKS for line in usual]
    for line, rest in lines:
        answer = raw(server, line + b" HTTP/1.1\r\n" + head + (rest or b"\r\n"))
        assert answer[9:10] in b"1234", (line, rest[:60], answer[:200])


def test_a_file_with_half_a_character_is_refused_or_read(
    client: httpx.Client, studio: StudioSession
) -> None:
    data = json.loads(client.get("/chat/0/export?layout=realtalk&who=corpus").content)
    for value in ("\\ud83d", "\\u0000", "x" * 20_000):
        data["qa"][0]["question"] = "HERE"
        sent = json.dumps(data).replace('"HERE"', f'"{value}"').encode()
        answer = client.post("/chat/0/import?name=x.json&who=Cleo", content=sent)
        assert answer.status_code < 500, answer.text
    for sent in (DEEP.encode(), b'{"a":' * 100_000, b"\xff\xfe", b"", b"NaN"):
        answer = client.post("/chat/0/import?name=x.json&who=Cleo", content=sent)
        assert answer.status_code == 400, answer.text
    reads_back(client, studio)
