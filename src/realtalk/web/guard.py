"""Who may ask: the door in front of every page.

    keys = Keys.new(port=8123)
    app = Guard(inner, keys)

A request must name this machine as its host (another site's name that points here is turned
away), come with the cookie that the opening link sets, and, where it changes something, with
the page's own token and from this origin. Bodies are bounded before anybody reads them ;
a path that takes none is answered at once. Every answer forbids foreign scripts, frames and
caches, and a failure is logged without any text.

    uvicorn.Config(app, http=connections(Limits(headers=10)))   slow heads, and too many clients
    await body(receive, headers, 1 << 17, limits)               → bytes, or TooMuch (413, 408)
    await app(scope, receive, parting(receive, send, limits))   an answer before the body was read

A server that waits for ever can be blocked by anybody who sends nothing. Bodies are counted as they
come; what they claim to be is believed only where it is already too much.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import traceback
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

AsgiMessage: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[AsgiMessage]]
Send: TypeAlias = Callable[[AsgiMessage], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, and connections at once."""

    headers: float = 10.0  # until the head of a request is there
    body: float = 30.0  # until its body is
    parting: float = 1.0  # for a client that is still sending to read why it is turned away
    connections: int = 100  # a browser opens six for each studio


class TooMuch(Exception):
    """A body that is too large or too slow."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status


def has_body(headers: Mapping[bytes, bytes]) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def body(
    receive: Receive, headers: Mapping[bytes, bytes], largest: int, limits: Limits
) -> bytes:
    """The whole body; TooMuch where it is too large or too slow."""
    too_large = TooMuch(413, f"larger than {largest:,} bytes")
    claimed = headers.get(b"content-length", b"0")
    if claimed.isdigit() and (len(claimed) > 20 or int(claimed) > largest):
        raise too_large
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.body):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return b""
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > largest:
                    raise too_large
                if not message.get("more_body"):
                    return b"".join(parts)
    except TimeoutError as error:
        raise TooMuch(408, "the request came too slowly") from error


def parting(receive: Receive, send: Send, limits: Limits) -> Send:
    """Sends an answer and closes, although the body was not read.

    A connection that is closed while the other side sends is reset, and the answer with it; so
    what still comes is thrown away for a moment.
    """

    async def last(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        elif not message.get("more_body"):
            await send({**message, "more_body": True})
            with suppress(TimeoutError):
                async with asyncio.timeout(limits.parting):
                    while (await receive()).get("more_body"):
                        pass
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return last


def connections(limits: Limits) -> type[H11Protocol]:
    """Uvicorn's connections, limited in number, silent ones closed."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Bounded(H11Protocol):
        _late: asyncio.TimerHandle | None = None  # set while the head of a request is awaited

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()
            there = [each for each in self.connections if not each.transport.is_closing()]
            if len(there) > limits.connections:
                # Who has said nothing for the longest makes room; a reader's page asks at once.
                silent = [each for each in there if isinstance(each, Bounded) and each._late]
                min(silent, key=Bounded._since, default=self).transport.close()

        def _since(self) -> float:
            return self._late.when() if self._late else 0.0

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._forget()

        def _forget(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

        def _watch(self) -> None:
            """One deadline for each head: a byte now and then does not move it."""
            if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                self._forget()
            elif self._late is None:
                self._late = self.loop.call_later(limits.headers, self.transport.close)

    return Bounded


Scope: TypeAlias = MutableMapping[str, Any]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_USUAL_PORT = 80  # browsers leave it out of the host
_READING = frozenset({"GET", "HEAD"})
_OPEN = ("/static/",)  # style, script and icon: no chat is in them
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_ENTERED = (
    b'<!doctype html><meta charset="utf-8"><title>realtalk studio</title>'
    b'<link rel="icon" href="/static/icon.svg"><meta http-equiv="refresh" content="0;url=/">'
    b'<a href="/">Open the studio</a>'
)
_LOG = logging.getLogger("realtalk.web")


@dataclass(frozen=True)
class Keys:
    """The secrets of one server, made anew at every start."""

    port: int
    token: str  # in the link that opens the studio
    session: str  # in the cookie

    @classmethod
    def new(cls, port: int) -> Keys:
        return cls(port, secrets.token_urlsafe(24), secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """Browsers share cookies between ports: the name tells two studios apart."""
        return f"realtalk-studio-{self.port}"

    @property
    def csrf(self) -> str:
        return hmac.new(self.session.encode(), b"change", hashlib.sha256).hexdigest()

    @property
    def origins(self) -> tuple[str, ...]:
        return tuple(f"http://{host}" for host in self.hosts)

    @property
    def hosts(self) -> tuple[str, ...]:
        names = ("127.0.0.1", "localhost")
        with_port = tuple(f"{name}:{self.port}" for name in names)
        return with_port + names if self.port == _USUAL_PORT else with_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"


class Guard:
    """An ASGI application in front of another."""

    def __init__(
        self,
        app: App,
        keys: Keys,
        entered: Callable[[], None] = lambda: None,
        takes: Callable[[Scope], int] = lambda _: 0,
        limits: Limits | None = None,
    ) -> None:
        self._app = app
        self._keys = keys
        self._entered = entered  # told whenever somebody came in by the link
        self._takes = takes  # the largest body that a request may have, in bytes
        self._limits = limits or Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        closing = parting(receive, send, self._limits) if has_body(headers) else send
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(closing, *refusal)
        elif self._entering(scope):
            await self._enter(closing)
        elif not (largest := self._takes(scope)):
            await self._serve(scope, b"", receive, closing)
        else:
            try:
                read = await body(receive, headers, largest, self._limits)
            except TooMuch as error:
                await _answer(closing, error.status, str(error))
            else:
                await self._serve(scope, read, receive, send)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        keys = self._keys
        if headers.get(b"host", b"").decode("latin-1") not in keys.hosts:
            return 421, "this server answers to its own address only"
        # Following a link from elsewhere is harmless; anything else that another site asks is not.
        foreign = headers.get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none")
        following = scope["method"] == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
        if foreign and not following:
            return 403, "another site asked"
        if scope["path"].startswith(_OPEN) or self._entering(scope):
            return None
        if not _same(_cookie(headers, keys.cookie), keys.session):
            return 403, "open the studio by the link that its terminal shows"
        if scope["method"] in _READING:
            return None
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and origin not in keys.origins:
            return 403, "another site asked"
        if not _same(headers.get(b"x-csrf-token", b"").decode("latin-1"), keys.csrf):
            return 403, "the page is out of date: load it again"
        return None

    def _entering(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in _READING:
            return False
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return bool(given) and _same(given, self._keys.token)

    async def _enter(self, send: Send) -> None:
        # A page that goes on by itself, not a redirect: a strict cookie is not sent along a
        # redirect that began on another site.
        cookie = f"{self._keys.cookie}={self._keys.session}; HttpOnly; SameSite=Strict; Path=/"
        await _send(send, 200, b"text/html; charset=utf-8", _ENTERED, cookie.encode())
        self._entered()

    async def _serve(self, scope: Scope, read: bytes, receive: Receive, send: Send) -> None:
        given = False

        async def replay() -> AsgiMessage:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": read, "more_body": False}

        started = False

        async def guarded(message: AsgiMessage) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                kept = [*message.get("headers", ()), *_HEADERS]
                fixed = scope["path"].startswith(_OPEN)
                kept.append((b"cache-control", b"no-cache" if fixed else b"no-store"))
                message = {**message, "headers": kept}
            await send(message)

        try:
            await self._app(scope, replay, guarded)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            name = last.filename.rpartition("/")[2]
            _LOG.error("%s in %s, line %s", type(error).__name__, name, last.lineno)
            if not started:
                await _answer(send, 500, "something went wrong; the terminal says where")


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _cookie(headers: dict[bytes, bytes], name: str) -> str:
    # By hand: a cookie of another program on this machine must not spoil the parsing of ours.
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


async def _answer(send: Send, status: int, line: str) -> None:
    await _send(send, status, b"text/plain; charset=utf-8", line.encode())


async def _send(
    send: Send, status: int, kind: bytes, body: bytes, cookie: bytes | None = None
) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *_HEADERS]
    headers.append((b"cache-control", b"no-store"))
    if cookie is not None:
        headers.append((b"set-cookie", cookie))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
