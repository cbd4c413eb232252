"""The application: routes behind the guard, and errors as one line.

app = make_app(desk, keys) → an ASGI application for one port
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles

from realtalk.errors import RealtalkError
from realtalk.studio.annotating_routes import annotating_routes
from realtalk.studio.desk import Desk
from realtalk.studio.guard import Guard, Keys
from realtalk.studio.reading_routes import reading_routes
from realtalk.studio.reviewing_routes import reviewing_routes

__all__ = ["make_app"]


def make_app(desk: Desk, keys: Keys, entered: Callable[[], None] = lambda: None) -> Guard:
    """Everything that the studio answers, for one corpus; `entered`: the link was followed."""
    app = FastAPI(title="realtalk studio", docs_url=None, redoc_url=None, openapi_url=None)
    for routes in (reading_routes, annotating_routes, reviewing_routes):
        app.include_router(routes(desk, keys))
    folder = str(files("realtalk.studio") / "static")
    app.mount("/static", StaticFiles(directory=folder), name="static")

    @app.exception_handler(RealtalkError)
    def refused(_request: Request, error: RealtalkError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 400)

    @app.exception_handler(RequestValidationError)
    def unfit(_request: Request, error: RequestValidationError) -> JSONResponse:
        # Only where and why: the default answer would repeat what was sent.
        first = error.errors()[0]
        where = ".".join(str(part) for part in first.get("loc", ()))
        return JSONResponse({"error": f"{where}: {first.get('msg', 'does not fit')}"}, 422)

    return Guard(app, keys, entered)
