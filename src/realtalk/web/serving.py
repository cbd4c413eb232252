"""The studio as a program: a port of this machine, the link, and an end at Ctrl-C.

with Server.start(studio, port=0) as server:
    server.url → "http://127.0.0.1:53817/?token=…"
    server.wait()

    with in_browser(server.url, server.entered) as opened:
        server.wait()

The browser is started with the address of a file that only this user can read; the page in it
goes on to the studio. The file is removed once the studio was entered, or at the end.
"""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from realtalk.errors import MissingExtraError, RealtalkError

if TYPE_CHECKING:
    from realtalk.web.guard import Limits
    from realtalk.web.session import StudioSession

_NEEDED = ("fastapi", "uvicorn", "jinja2")
_START = 30.0  # seconds
_END = 30.0  # seconds for answers under way


def need_extra() -> None:
    """Raises where the web libraries are not installed."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise MissingExtraError("the studio", "studio")


class Server(NamedTuple):
    """A studio that answers on this machine only."""

    ended: threading.Event
    url: str
    entered: threading.Event  # set once somebody came in by the link

    @classmethod
    @contextmanager
    def start(
        cls, studio: StudioSession, port: int = 0, limits: Limits | None = None
    ) -> Iterator[Server]:
        """Answers until the block ends. Port 0 takes any that is free."""
        need_extra()
        studio.library.prepare()  # first: it works beside the imports, which take as long
        import uvicorn

        from realtalk.web.app import make_app
        from realtalk.web.guard import Keys, Limits, connections

        limits = limits or Limits()
        listening = _listen(port)
        keys = Keys.new(listening.getsockname()[1])
        entered = threading.Event()
        config = uvicorn.Config(
            make_app(studio, keys, entered.set, limits),
            http=connections(limits),
            log_level="warning",
            access_log=False,  # addresses hold what people search for
            server_header=False,
            lifespan="off",
            ws="none",
        )
        server = uvicorn.Server(config)
        ended = threading.Event()

        def serve() -> None:
            try:
                server.run(sockets=[listening])
            finally:
                ended.set()

        threading.Thread(target=serve, daemon=True).start()
        try:
            late = time.monotonic() + _START
            while not server.started:
                if ended.is_set() or time.monotonic() > late:
                    raise RealtalkError("the studio did not start", where=f"port {keys.port}")
                time.sleep(0.01)
            yield cls(ended, keys.url, entered)
        finally:
            server.should_exit = True
            if ended.wait(_END):
                listening.close()

    def wait(self) -> None:
        """Until somebody interrupts.

        Not by joining the thread: one whose joining is interrupted counts as ended in Python 3.11.
        """
        while not self.ended.wait(0.5):
            pass


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
            f"cannot be used ({reason})", where=f"port {port}", fix="name another: `port=`"
        ) from error
    return listening


_PAGE = (
    '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
    '<meta http-equiv="refresh" content="0;url={url}"><title>realtalk studio</title>'
    '<a href="{url}">Open the studio</a>\n'
)


@contextmanager
def in_browser(url: str, entered: threading.Event) -> Iterator[bool]:
    """Opens the link, and says whether there is a browser to open it in."""
    import webbrowser

    page = _private_page(url)

    def remove() -> None:
        entered.wait()
        page.unlink(missing_ok=True)

    try:
        threading.Thread(target=remove, daemon=True).start()
        yield webbrowser.open(page.as_uri())
    finally:
        page.unlink(missing_ok=True)


def _private_page(url: str) -> Path:
    """In the home folder: browsers that are packed apart from the system see no other /tmp."""
    try:
        number, name = _new_file(Path.home())
    except (OSError, RuntimeError):  # nowhere to write, or a user without a home
        number, name = _new_file(None)
    with os.fdopen(number, "w", encoding="utf-8") as stream:
        stream.write(_PAGE.format(url=escape(url)))
    return Path(name)


def _new_file(folder: Path | None) -> tuple[int, str]:
    return tempfile.mkstemp(
        prefix="realtalk-studio-", suffix=".html", dir=folder
    )  # 0600 from birth
