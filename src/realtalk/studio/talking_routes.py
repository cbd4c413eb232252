"""Talk: a page, consent before the first word, and replies that are shown as they are written.

GET /talk → the page; POST /talk/begin {"answer": "self"} → 201, or 409 {"ask": "Are you …?"}
POST /talk {"text": "are you up?"} → lines of JSON: {"piece": "bare"}, …, {"text": "barely"}
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse

from realtalk.chat import MARK
from realtalk.errors import RealtalkError
from realtalk.persona.consent import NoConsent
from realtalk.studio.asking import BeginForm, SayForm, annotator, page
from realtalk.studio.desk import Desk
from realtalk.studio.guard import Keys
from realtalk.studio.pages import render
from realtalk.studio.talking import TalkRoom


def talking_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    def room() -> TalkRoom:
        if desk.talk is None:
            raise RealtalkError("nobody is simulated here", fix="start the studio with --talk NAME")
        return desk.talk

    def said(talk: TalkRoom) -> str:
        return render("talk_said.html", talk=talk, mark=MARK)

    @router.get("/talk")
    def show(request: Request) -> HTMLResponse:
        talk = desk.talk
        me = annotator(request, desk, keys)
        written = "" if talk is None else said(talk)
        return page("talk.html", talk=talk, said=written, me=me, csrf=keys.csrf)

    @router.post("/talk/begin")
    def begin(form: BeginForm) -> JSONResponse:
        talk = room()
        try:
            talk.open(form.answer)
        except NoConsent as error:
            return JSONResponse({"error": str(error), "ask": talk.question}, 409)
        return JSONResponse({"html": said(talk)}, 201)

    @router.post("/talk")
    def say(form: SayForm) -> StreamingResponse:
        return StreamingResponse(room().say(form.text), media_type="application/x-ndjson")

    return router
