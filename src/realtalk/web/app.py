"""The application: routes behind the guard, and errors as one line.

app = make_app(studio, keys) → an ASGI application for one port
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import Match

from realtalk.errors import RealtalkError, as_options
from realtalk.web import (
    annotating_routes,
    checking_routes,
    persona_routes,
    reading_routes,
    reviewing_routes,
)
from realtalk.web.exchange import LARGEST_UPLOAD
from realtalk.web.guard import Guard, Keys, Limits, Scope
from realtalk.web.session import StudioSession
from realtalk.web.troubles import save_error

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
