"""The application: routes behind the guard, and errors as one line.

app = make_app(studio, keys) → an ASGI application for one port

The studio as a program: a port of this machine, the link, and an end at Ctrl-C.

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
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import Match

from realtalk.errors import MissingExtraError, RealtalkError, as_options
from realtalk.web import (
    annotating_routes,
    checking_routes,
    persona_routes,
    reading_routes,
    reviewing_routes,
)
from realtalk.web.guard import Guard, Keys, Limits, Scope, connections
from realtalk.web.reviews import LARGEST_UPLOAD
from realtalk.web.session import StudioSession
from realtalk.web.troubles import save_error

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


_LARGEST_EDIT = 128 << 10
ROUTERS = (
    reading_routes.router,
    annotating_routes.router,
    reviewing_routes.router,
    checking_routes.router,
    persona_routes.router,
)


def make_app(
    studio: StudioSession,
    keys: Keys,
    entered: Callable[[], None] = lambda: None,
    limits: Limits | None = None,
) -> Guard:
    """Everything that the studio answers, for one corpus; `entered`: the link was followed."""
    app = FastAPI(title="realtalk studio", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.studio, app.state.keys = studio, keys
    for router in ROUTERS:
        app.include_router(router)
    folder = str(files("realtalk.web") / "static")
    app.mount("/static", StaticFiles(directory=folder), name="static")

    def takes(scope: Scope) -> int:
        """The largest body that a request may have; none where nobody would look at it."""
        for route in (route_of for router in ROUTERS for route_of in router.routes):
            if scope["method"] not in ("GET", "HEAD") and route.matches(scope)[0] is Match.FULL:
                return LARGEST_UPLOAD if scope["path"].endswith("/import") else _LARGEST_EDIT
        return 0

    def refuse(_request: Request, error: Exception) -> JSONResponse:
        return line(str(error), getattr(error, "status", 400))

    def line(text: str, status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
        # A page is read by who started it with a command; and a line may hold half a character.
        text = as_options(text).encode("utf-8", "replace").decode()
        return JSONResponse({"error": text}, status, headers)

    def refuse_form(_request: Request, error: RequestValidationError) -> JSONResponse:
        # Only where and why: the default answer would repeat what was sent.
        first = error.errors()[0]
        where = ".".join(str(part)[:40] for part in first.get("loc", ()))
        return line(f"{where}: {first.get('msg', 'does not fit')}", 422)

    def refuse_route(_request: Request, error: HTTPException) -> JSONResponse:
        return line(str(error.detail), error.status_code, error.headers)

    def refuse_writing(request: Request, error: sqlite3.Error | OSError) -> JSONResponse:
        problem = save_error(error, studio.store.path.name)
        if problem is None:
            raise error
        return refuse(request, problem)

    def report_failure(_request: Request, _error: Exception) -> JSONResponse:
        return line("something went wrong; the terminal says where", 500)

    app.exception_handlers |= {
        Exception: report_failure,  # the guard logs it
        RealtalkError: refuse,
        RequestValidationError: refuse_form,
        HTTPException: refuse_route,
        sqlite3.Error: refuse_writing,
        OSError: refuse_writing,
    }
    return Guard(app, keys, entered, takes, limits)
