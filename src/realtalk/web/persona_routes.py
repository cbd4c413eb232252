"""Guess which reply a person wrote, and talk to a simulated one.

GET /chat/0/guess → the page; POST /guess/judge {"knows": true}
POST /chat/0/guess {"turn": 14, "place": 2} → 201 {"html": the next round}
GET /chat/0/guess/round?at=3 → a round again; GET /guess/results; GET /guess/export → JSONL
GET /talk → the page; POST /talk/begin {"answer": "self"} → 201, or 409 {"ask": "Are you …?"}
POST /talk {"text": "are you up?"} → lines of JSON: {"piece": "bare"}, …, {"text": "barely"}
"""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse

from realtalk.chat import MARK
from realtalk.errors import RealtalkError
from realtalk.persona.consent import NoConsent
from realtalk.persona.guess_people import people_figures, people_tables
from realtalk.web import pages
from realtalk.web.asking import BeginForm, JudgeForm, PickForm, SayForm, annotator, page
from realtalk.web.guard import Keys
from realtalk.web.guessing import CONTEXT, turn_number
from realtalk.web.library import OpenChat
from realtalk.web.pages import render
from realtalk.web.session import StudioSession
from realtalk.web.talking import TalkRoom

# Everything but what was said.
_EXPORTED = (
    "chat",
    "sample",
    "group",
    "judge",
    "knows",
    "origins",
    "writers",
    "truth",
    "answer",
    "picked",
    "writer",
    "accuracy",
    "chance",
    "at",
)


def guessing_routes(studio: StudioSession, keys: Keys) -> APIRouter:
    router = APIRouter()

    def round_of(open_chat: OpenChat, me: str, number: int | None = None) -> str:
        """A round as HTML: the one of that number, else the first that is open."""
        room = studio.guess_room
        rounds, mine = room.rounds(open_chat.chat), room.picked(open_chat.chat, me)
        waiting = [at for at, each in enumerate(rounds) if turn_number(each) not in mine]
        at = number if number is not None else waiting[0] if waiting else len(rounds)
        shown = None
        if rounds and 0 <= at < len(rounds):
            lineup = rounds[at]
            prompt = lineup.turn.prompt
            shown = {
                "turn": turn_number(lineup),
                "speaker": prompt.speaker,
                "session": prompt.session,
                "before": prompt.context[-CONTEXT:],
                "replies": [lineup.replies[place].text for place in room.order(lineup, me)],
                "picked": mine.get(turn_number(lineup)),
            }
        return pages.render(
            "guess_round.html",
            shown=shown,
            number=at,
            total=len(rounds),
            done=len(mine),
            **pages.context(open_chat),
        )

    @router.get("/chat/{number}/guess")
    def guess(request: Request, number: int) -> HTMLResponse:
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        knows = studio.guess_room.knows(me)
        return page(
            "guess.html",
            me=me,
            knows=knows,
            round=round_of(open_chat, me) if knows is not None else "",
            total=len(studio.guess_room.rounds(open_chat.chat)),
            csrf=keys.csrf,
            **pages.context(open_chat),
        )

    @router.get("/chat/{number}/guess/round")
    def again(request: Request, number: int, at: int) -> HTMLResponse:
        return HTMLResponse(
            round_of(studio.open_chat(number), annotator(request, studio, keys), at)
        )

    @router.post("/chat/{number}/guess")
    def pick(request: Request, number: int, form: PickForm) -> JSONResponse:
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        studio.guess_room.pick(open_chat.chat, form.turn, me, form.place)
        return JSONResponse({"html": round_of(open_chat, me)}, 201)

    @router.post("/guess/judge")
    def introduce(request: Request, form: JudgeForm) -> JSONResponse:
        me = annotator(request, studio, keys)
        studio.guess_room.introduce(me, knows=form.knows)
        return JSONResponse({"who": me, "knows": form.knows}, 201)

    @router.get("/guess/results")
    def results() -> HTMLResponse:
        rows = studio.guess_room.rows
        tables = people_tables(people_figures(rows)) if rows else {}
        return page(
            "guess_results.html", tables=tables, picks=len(rows), studio=studio, csrf=keys.csrf
        )

    @router.get("/guess/export")
    def export() -> Response:
        lines = [
            orjson.dumps({name: row[name] for name in _EXPORTED}) for row in studio.guess_room.rows
        ]
        named = "attachment; filename=guesses.jsonl"
        return Response(
            b"".join(line + b"\n" for line in lines),
            media_type="application/octet-stream",
            headers={"content-disposition": named},
        )

    return router


def talking_routes(studio: StudioSession, keys: Keys) -> APIRouter:
    router = APIRouter()

    def room() -> TalkRoom:
        if studio.talk is None:
            raise RealtalkError("nobody is simulated here", fix="start the studio with `talk=NAME`")
        return studio.talk

    def said(talk: TalkRoom) -> str:
        return render("talk_said.html", talk=talk, mark=MARK)

    @router.get("/talk")
    def show(request: Request) -> HTMLResponse:
        talk = studio.talk
        me = annotator(request, studio, keys)
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
