"""What people check of a corpus: the audit's verdicts, drafted questions, and names to redact.

GET /chat/0/audit → the page; POST /chat/0/audit {"question": "Q3", "choice": "reject", …}
GET /audit/export → corrected.jsonl, which `realtalk probe run PATH --golds corrected.jsonl` takes
GET /chat/0/drafts → the page, of the same cards; POST /chat/0/drafts {"question": "draft-3f2a", …}
POST /chat/0/drafts/keep → {"questions": 31}: the accepted ones are in the stored corpus
GET /names → the page; GET /names/ready → {"ready": true} once they are found
POST /names {"form": "Ingrid", "kind": "person", "replace": false} → 201, kept
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.formats.audit import MEANINGS, VERDICTS, counts
from realtalk.redaction.candidates import MENTION_KINDS
from realtalk.redaction.review import DOUBTFUL, NameDecision
from realtalk.web.asking import Asked, CardForm, NameForm, Opened, Visit, download_lines
from realtalk.web.library import OpenChat
from realtalk.web.reviews import CardDecision, CardReviews

router = APIRouter()


@router.get("/chat/{number}/audit")
def audit(visit: Asked, open_chat: Opened, verdict: str = "") -> HTMLResponse:
    audits = visit.studio.audit_of(open_chat)
    verdict_counts = counts(audits.values())
    filter_verdict = verdict if verdict in verdict_counts else ""
    questions = [
        (question, audited)
        for question in open_chat.chat.questions
        if (audited := audits.get(question.id))
        and (audited.verdict == filter_verdict if filter_verdict else audited.verdict != "ok")
    ]
    return _cards(
        visit,
        open_chat,
        visit.studio.reviews,
        questions,
        counts=verdict_counts,
        chosen=filter_verdict,
        meanings=MEANINGS,
        verdicts=VERDICTS,
    )


@router.get("/chat/{number}/drafts")
def drafts(visit: Asked, open_chat: Opened) -> HTMLResponse:
    reviews = visit.studio.draft_reviews
    by_id = {draft.question.id: draft for draft in reviews.source.kept}
    shown = [(question, by_id[question.id]) for question in reviews.questions(open_chat.chat)]
    return _cards(visit, open_chat, reviews, shown)


def _cards(
    visit: Visit, open_chat: OpenChat, reviews: CardReviews[Any], shown: list[Any], **more: Any
) -> HTMLResponse:
    """Questions, each with what was found of it, and what everybody says of them."""
    decisions = reviews.of(open_chat.chat)
    mine = {id_: by[visit.me] for id_, by in decisions.items() if visit.me in by}
    return visit.page(
        f"{reviews.page}.html", open_chat, shown=shown, said=decisions, mine=mine, **more
    )


@router.post("/chat/{number}/audit")
def decide(visit: Asked, open_chat: Opened, form: CardForm) -> JSONResponse:
    return _decide(visit, open_chat, form, visit.studio.reviews)


@router.post("/chat/{number}/drafts")
def decide_draft(visit: Asked, open_chat: Opened, form: CardForm) -> JSONResponse:
    return _decide(visit, open_chat, form, visit.studio.draft_reviews)


def _decide(
    visit: Visit, open_chat: OpenChat, form: CardForm, reviews: CardReviews[Any]
) -> JSONResponse:
    decision = CardDecision(**form.model_dump(exclude={"question"}))
    reviews.decide(open_chat.chat, form.question, visit.me, decision)
    return JSONResponse({"who": visit.me, "choice": form.choice}, 201)


@router.post("/chat/{number}/drafts/keep")
def keep_drafts(visit: Asked, open_chat: Opened) -> JSONResponse:
    return JSONResponse({"questions": visit.studio.keep_drafts(open_chat)}, 201)


@router.get("/audit/export")
def export(visit: Asked) -> Response:
    corrected = visit.studio.reviews.correct(visit.studio.library.corpus.chats)
    return download_lines(corrected.lines(), "corrected.jsonl")


_MOST = 1_000  # rows of a part of a page


@router.get("/names")
def show(visit: Asked, kind: str = "") -> HTMLResponse:
    rows = visit.studio.name_review.rows
    kind_filter = kind if kind in MENTION_KINDS else ""
    parts: dict[str, list[dict[str, str]]] = {"likely": [], "doubtful": []}
    for row in rows or ():
        if kind_filter in ("", row["kind"]):
            parts["doubtful" if row[DOUBTFUL] else "likely"].append(row)
    counts = Counter(row["kind"] for row in rows or ())
    return visit.page(
        "names.html",
        ready=rows is not None,
        parts={name: part[:_MOST] for name, part in parts.items()},
        totals={name: len(part) for name, part in parts.items()},
        counts={name: counts[name] for name in MENTION_KINDS},
        kinds=list(MENTION_KINDS),
        chosen=kind_filter,
    )


@router.get("/names/ready")
def ready(visit: Asked) -> JSONResponse:
    return JSONResponse({"ready": visit.studio.name_review.rows is not None})


@router.post("/names")
def decide_name(visit: Asked, form: NameForm) -> JSONResponse:
    visit.studio.name_review.decide(NameDecision(form.form.strip(), form.kind, form.replace))
    return JSONResponse({"form": form.form.strip(), "replace": form.replace}, 201)
