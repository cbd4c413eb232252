"""How long and how much a client may send before the studio closes the door.

    uvicorn.Config(app, http=connections(Limits(headers=10)))   slow heads, and too many clients
    await body(receive, headers, 1 << 17, limits)               → bytes, or TooMuch (413, 408)
    await app(scope, receive, parting(receive, send, limits))   an answer before the body was read

A server that waits for ever can be blocked by anybody who sends nothing. Bodies are counted as they
come; what they claim to be is believed only where it is already too much.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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
