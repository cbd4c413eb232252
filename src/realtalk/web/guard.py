"""Who may ask: the door in front of every page.

    keys = Keys.new(port=8123)
    app = Guard(inner, keys)

A request must name this machine as its host (another site's name that points here is turned
away), come with the cookie that the opening link sets, and, where it changes something, with
the page's own token and from this origin. Bodies are bounded before anybody reads them ;
a path that takes none is answered at once. Every answer forbids foreign scripts, frames and
caches, and a failure is logged without any text.

    uvicorn.Config(app, http=connections(Limits(headers=10)))   slow heads, and too many clients
    await body(receive, headers, 1 << 17, limits)               → bytes, or HTTPException (413, 408)
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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, PlainTextResponse

if TYPE_CHECKING:
    from uvicorn.protocols.http.h11_impl import H11Protocol

AsgiMessage: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[AsgiMessage]]
Send: TypeAlias = Callable[[AsgiMessage], Awaitable[None]]


class Limits(NamedTuple):
    """Seconds, and connections at once."""

    headers: float = 10.0  # until the head of a request is there
    body: float = 30.0  # until its body is
    parting: float = 1.0  # for a client that is still sending to read why it is turned away
    connections: int = 100  # a browser opens six for each studio


async def body(
    receive: Receive, headers: Mapping[bytes, bytes], largest: int, limits: Limits
) -> bytes:
    """The whole body; an HTTPException where it is too large or too slow."""
    too_large = HTTPException(413, f"larger than {largest:,} bytes")
    claimed = headers.get(b"content-length", b"0")
    if claimed.isdigit() and (len(claimed) > 20 or int(claimed) > largest):
        raise too_large
    content = b""
    try:
        async with asyncio.timeout(limits.body):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return b""
                content += bytes(message.get("body", b""))
                if len(content) > largest:
                    raise too_large
                if not message.get("more_body"):
                    return content
    except TimeoutError as error:
        raise HTTPException(408, "the request came too slowly") from error


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

    class BoundedProtocol(H11Protocol):
        _late: asyncio.TimerHandle | None = None  # set while the head of a request is awaited

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()
            present = [
                connection
                for connection in self.connections
                if not connection.transport.is_closing()
            ]
            if len(present) > limits.connections:
                # Who has said nothing for the longest makes room; a reader's page asks at once.
                silent = {
                    connection._late.when(): connection
                    for connection in present
                    if isinstance(connection, BoundedProtocol) and connection._late
                }
                silent[min(silent)].transport.close()

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

    return BoundedProtocol


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
    '<!doctype html><meta charset="utf-8"><title>realtalk studio</title>'
    '<link rel="icon" href="/static/icon.svg"><meta http-equiv="refresh" content="0;url=/">'
    '<a href="/">Open the studio</a>'
)
_LOG = logging.getLogger("realtalk.web")


class Keys(NamedTuple):
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
        has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        closing = parting(receive, send, self._limits) if has_body else send
        content = b""
        try:
            self._refuse(scope, headers)
            if largest := self._takes(scope):
                content = await body(receive, headers, largest, self._limits)
                closing = send
        except HTTPException as error:
            await self._answer(scope, receive, closing, error.status_code, error.detail)
        else:
            app = self._enter if self._is_entering(scope) else self._app
            await self._serve(app, scope, content, receive, closing)

    def _refuse(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Raises where a request may not be answered."""
        keys = self._keys
        if headers.get(b"host", b"").decode("latin-1") not in keys.hosts:
            raise HTTPException(421, "this server answers to its own address only")
        # Following a link from elsewhere is harmless; anything else that another site asks is not.
        foreign = headers.get(b"sec-fetch-site", b"none") not in (b"same-origin", b"none")
        following = scope["method"] == "GET" and headers.get(b"sec-fetch-mode") == b"navigate"
        if foreign and not following:
            raise HTTPException(403, "another site asked")
        if scope["path"].startswith(_OPEN) or self._is_entering(scope):
            return
        if not _same(_cookie(headers, keys.cookie), keys.session):
            raise HTTPException(403, "open the studio by the link that its terminal shows")
        if scope["method"] in _READING:
            return
        if headers.get(b"origin", b"").decode("latin-1") not in ("", *keys.origins):
            raise HTTPException(403, "another site asked")
        if not _same(headers.get(b"x-csrf-token", b"").decode("latin-1"), keys.csrf):
            raise HTTPException(403, "the page is out of date: load it again")

    def _is_entering(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in _READING:
            return False
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return bool(token) and _same(token, self._keys.token)

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        # A page that goes on by itself, not a redirect: a strict cookie is not sent along a
        # redirect that began on another site.
        page = HTMLResponse(_ENTERED)
        page.set_cookie(self._keys.cookie, self._keys.session, httponly=True, samesite="strict")
        await page(scope, receive, send)
        self._entered()

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, status: int, line: str
    ) -> None:
        await self._serve(PlainTextResponse(line, status), scope, b"", receive, send)

    async def _serve(
        self, app: App, scope: Scope, content: bytes, receive: Receive, send: Send
    ) -> None:
        """The application's answer with the headers that every answer has."""
        bodies = iter([{"type": "http.request", "body": content, "more_body": False}])
        started = False

        async def replay() -> AsgiMessage:
            return next(bodies, None) or await receive()

        async def send_guarded(message: AsgiMessage) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                fixed = scope["path"].startswith(_OPEN) and message["status"] < 400
                cached = (b"cache-control", b"no-cache" if fixed else b"no-store")
                headers = [*message.get("headers", ()), *_HEADERS, cached]
                message = {**message, "headers": headers}
            await send(message)

        try:
            await app(scope, replay, send_guarded)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            name = last.filename.rpartition("/")[2]
            _LOG.error("%s in %s, line %s", type(error).__name__, name, last.lineno)
            if not started:
                line = "something went wrong; the terminal says where"
                await self._answer(scope, receive, send, 500, line)


def _same(first: str, second: str) -> bool:
    return hmac.compare_digest(first.encode(), second.encode())


def _cookie(headers: dict[bytes, bytes], name: str) -> str:
    # By hand: a cookie of another program on this machine must not spoil the parsing of ours.
    for part in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""
