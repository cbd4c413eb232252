"""The studio as a program: a port of this machine, the link, and an end at Ctrl-C.

with Server.start(desk, port=0) as server:
    server.url → "http://127.0.0.1:53817/?token=…"
    server.wait()
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from realtalk.errors import MissingExtraError, RealtalkError

if TYPE_CHECKING:
    from realtalk.studio.desk import Desk
    from realtalk.studio.limits import Limits

_NEEDED = ("fastapi", "uvicorn", "jinja2")
_START = 30.0  # seconds


def need_extra() -> None:
    """Raises where the web libraries are not installed."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise MissingExtraError("the studio", "studio")


class Server:
    """A studio that answers on this machine only."""

    def __init__(self, thread: threading.Thread, url: str, entered: threading.Event) -> None:
        self._thread = thread
        self.url = url
        self.entered = entered  # set once somebody came in by the link

    @classmethod
    @contextmanager
    def start(cls, desk: Desk, port: int = 0, limits: Limits | None = None) -> Iterator[Server]:
        """Answers until the block ends. Port 0 takes any that is free."""
        need_extra()
        desk.shelf.prepare()  # first: it works beside the imports, which take as long
        import uvicorn

        from realtalk.studio.app import make_app
        from realtalk.studio.guard import Keys
        from realtalk.studio.limits import Limits, connections

        limits = limits or Limits()
        listening = _listen(port)
        keys = Keys.new(listening.getsockname()[1])
        entered = threading.Event()
        config = uvicorn.Config(
            make_app(desk, keys, entered.set, limits),
            http=connections(limits),
            log_level="warning",
            access_log=False,  # addresses hold what people search for
            server_header=False,
            lifespan="off",
            ws="none",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            late = time.monotonic() + _START
            while not server.started:
                if not thread.is_alive() or time.monotonic() > late:
                    raise RealtalkError("the studio did not start", where=f"port {keys.port}")
                time.sleep(0.01)
            yield cls(thread, keys.url, entered)
        finally:
            server.should_exit = True
            thread.join(5)
            listening.close()

    def wait(self) -> None:
        """Until somebody interrupts."""
        while self._thread.is_alive():
            self._thread.join(0.5)


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # Without this every answer waits 40 ms for the other side to confirm its first part.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or "ports go from 0 to 65535"
        raise RealtalkError(
            f"cannot be used ({reason})", where=f"port {port}", fix="name another: --port"
        ) from error
    return listening
