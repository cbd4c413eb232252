"""The audit's verdicts, reviewed by people: a page per chat, and the corrected file.

GET /chat/0/audit → the page; POST /chat/0/audit {"question": "Q3", "choice": "reject", …}
GET /audit/export → corrected.jsonl, which `realtalk probe run PATH --golds corrected.jsonl` takes
"""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.corpora.audit import MEANINGS, VERDICTS, counts
from realtalk.studio import pages
from realtalk.studio.asking import AuditForm, annotator, page
from realtalk.studio.audit_reviews import AuditDecision
from realtalk.studio.desk import Desk
from realtalk.studio.guard import Keys


def auditing_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    @router.get("/chat/{number}/audit")
    def audit(request: Request, number: int, verdict: str = "") -> HTMLResponse:
        book = desk.book(number)
        found = desk.audited(book)
        known = counts(found.values())
        chosen = verdict if verdict in known else ""
        shown = [
            (question, found[question.id])
            for question in book.chat.questions
            if question.id in found and _is_shown(found[question.id].verdict, chosen)
        ]
        me, said = annotator(request, desk, keys), desk.reviews.of(book.chat)
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
            **pages.context(book),
        )

    @router.post("/chat/{number}/audit")
    def decide(request: Request, number: int, form: AuditForm) -> JSONResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        decision = AuditDecision(form.choice, form.comment, form.verdict, form.answer)
        desk.reviews.decide(book.chat, form.question, me, decision)
        return JSONResponse({"who": me, "choice": form.choice}, 201)

    @router.get("/audit/export")
    def export() -> Response:
        corrected = desk.reviews.corrected(book.chat for book in desk.shelf.books)
        lines = b"\n".join(orjson.dumps(line) for line in corrected.lines()) + b"\n"
        named = "attachment; filename=corrected.jsonl"
        return Response(
            lines, media_type="application/octet-stream", headers={"content-disposition": named}
        )

    return router


def _is_shown(verdict: str, chosen: str) -> bool:
    return verdict == chosen if chosen else verdict != "ok"
