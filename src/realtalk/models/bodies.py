"""An endless reply of a provider → an error, before it fills the memory.

    bound_bodies(model.api)    # from now on a body of more than 16 MB raises EndlessBody

The client libraries read a reply whole before anybody sees it. Those built on httpx let the
stream of a response be replaced; a provider with another client stays as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

_MOST = 16_000_000  # bytes: the longest answers of models are a hundredth of it
_MOST_PACKED = 1_000_000  # a packed body may be a thousand times as large


class EndlessBody(Exception):
    """A reply is longer than any answer."""


def bound_bodies(api: Any) -> None:
    """Bounds every reply to a provider's client, where it is one of httpx."""
    client = getattr(getattr(api, "client", None), "_client", None)
    hooks = getattr(client, "event_hooks", None)
    if isinstance(hooks, dict) and isinstance(hooks.get("response"), list):
        hooks["response"].append(_bound)


async def _bound(response: Any) -> None:
    stream = response.stream
    kind = next((each for each in type(stream).__mro__ if each.__name__ == "AsyncByteStream"), None)
    if kind is None:
        return
    packed = response.headers.get("content-encoding", "identity") != "identity"
    most = _MOST_PACKED if packed else _MOST

    class Bounded(kind):  # type: ignore[valid-type, misc]
        """The same bytes, up to a limit."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for chunk in stream:
                read += len(chunk)
                if read > most:
                    raise EndlessBody(f"more than {most:,} bytes")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = Bounded()
