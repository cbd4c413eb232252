"""What people check of a corpus: the audit's verdicts, a page per chat, and names to redact.

GET /chat/0/audit → the page; POST /chat/0/audit {"question": "Q3", "choice": "reject", …}
GET /audit/export → corrected.jsonl, which `realtalk probe run PATH --golds corrected.jsonl` takes
GET /names → the page; GET /names/ready → {"ready": true} once they are found
POST /names {"form": "Ingrid", "kind": "person", "replace": false} → 201, kept
"""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.formats.audit import MEANINGS, VERDICTS, counts
from realtalk.redaction.mentions import MENTION_KINDS
from realtalk.redaction.review import DOUBTFUL, NameDecision
from realtalk.web import pages
from realtalk.web.asking import AuditForm, NameForm, annotator, page
from realtalk.web.audit_reviews import AuditDecision
from realtalk.web.guard import Keys
from realtalk.web.session import StudioSession


def auditing_routes(studio: StudioSession, keys: Keys) -> APIRouter:
    router = APIRouter()

    @router.get("/chat/{number}/audit")
    def audit(request: Request, number: int, verdict: str = "") -> HTMLResponse:
        open_chat = studio.open_chat(number)
        found = studio.audited(open_chat)
        known = counts(found.values())
        chosen = verdict if verdict in known else ""
        shown = [
            (question, found[question.id])
            for question in open_chat.chat.questions
            if question.id in found and _is_shown(found[question.id].verdict, chosen)
        ]
        me, said = annotator(request, studio, keys), studio.reviews.of(open_chat.chat)
        return page(
            "audit.html",
            me=me,
            shown=shown,
            said=said,
            mine={id_: by[me] for id_, by in said.items() if me in by},
            counts=known,
            chosen=chosen,
            meanings=MEANINGS,
            verdicts=VERDICTS,
            csrf=keys.csrf,
            **pages.context(open_chat),
        )

    @router.post("/chat/{number}/audit")
    def decide(request: Request, number: int, form: AuditForm) -> JSONResponse:
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        decision = AuditDecision(form.choice, form.comment, form.verdict, form.answer)
        studio.reviews.decide(open_chat.chat, form.question, me, decision)
        return JSONResponse({"who": me, "choice": form.choice}, 201)

    @router.get("/audit/export")
    def export() -> Response:
        corrected = studio.reviews.corrected(
            open_chat.chat for open_chat in studio.library.open_chats
        )
        lines = b"\n".join(orjson.dumps(line) for line in corrected.lines()) + b"\n"
        named = "attachment; filename=corrected.jsonl"
        return Response(
            lines, media_type="application/octet-stream", headers={"content-disposition": named}
        )

    return router


def _is_shown(verdict: str, chosen: str) -> bool:
    return verdict == chosen if chosen else verdict != "ok"


_MOST = 1_000  # rows of a part of a page


def naming_routes(studio: StudioSession, keys: Keys) -> APIRouter:
    router = APIRouter()

    @router.get("/names")
    def show(request: Request, kind: str = "") -> HTMLResponse:
        rows = studio.name_review.rows
        chosen = kind if kind in MENTION_KINDS else ""
        known = rows or []
        shown = [row for row in known if chosen in ("", row["kind"])]
        parts = {
            "likely": [row for row in shown if not row[DOUBTFUL]],
            "doubtful": [row for row in shown if row[DOUBTFUL]],
        }
        return page(
            "names.html",
            studio=studio,
            me=annotator(request, studio, keys),
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
        return JSONResponse({"ready": studio.name_review.rows is not None})

    @router.post("/names")
    def decide(form: NameForm) -> JSONResponse:
        studio.name_review.decide(NameDecision(form.form.strip(), form.kind, form.replace))
        return JSONResponse({"form": form.form.strip(), "replace": form.replace}, 201)

    return router
