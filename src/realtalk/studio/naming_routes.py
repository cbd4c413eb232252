"""Names to redact: a page with a table to tick, for the whole corpus.

GET /names → the page; GET /names/ready → {"ready": true} once they are found
POST /names {"form": "Ingrid", "kind": "person", "replace": false} → 201, kept
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.redaction.mentions import MENTION_KINDS
from realtalk.redaction.review import DOUBTFUL, NameDecision
from realtalk.studio.asking import NameForm, annotator, page
from realtalk.studio.desk import Desk
from realtalk.studio.guard import Keys

_MOST = 1_000  # rows of a part of a page


def naming_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    @router.get("/names")
    def show(request: Request, kind: str = "") -> HTMLResponse:
        rows = desk.name_review.rows
        chosen = kind if kind in MENTION_KINDS else ""
        known = rows or []
        shown = [row for row in known if chosen in ("", row["kind"])]
        parts = {
            "likely": [row for row in shown if not row[DOUBTFUL]],
            "doubtful": [row for row in shown if row[DOUBTFUL]],
        }
        return page(
            "names.html",
            desk=desk,
            me=annotator(request, desk, keys),
            ready=rows is not None,
            parts={name: rows[:_MOST] for name, rows in parts.items()},
            totals={name: len(rows) for name, rows in parts.items()},
            counts={name: sum(row["kind"] == name for row in known) for name in MENTION_KINDS},
            kinds=list(MENTION_KINDS),
            chosen=chosen,
            csrf=keys.csrf,
        )

    @router.get("/names/ready")
    def ready() -> JSONResponse:
        return JSONResponse({"ready": desk.name_review.rows is not None})

    @router.post("/names")
    def decide(form: NameForm) -> JSONResponse:
        desk.name_review.decide(NameDecision(form.form.strip(), form.kind, form.replace))
        return JSONResponse({"form": form.form.strip(), "replace": form.replace}, 201)

    return router
