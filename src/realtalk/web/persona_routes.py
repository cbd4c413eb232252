"""Guess which reply a person wrote, and talk to a simulated one.

GET /chat/0/guess → the page; POST /guess/judge {"knows": true}
POST /chat/0/guess {"turn": 14, "place": 2} → 201 {"html": the next round}
GET /chat/0/guess/round?at=3 → a round again; GET /guess/results; GET /guess/export → JSONL
GET /talk → the page; POST /talk/begin {"answer": "self"} → 201, or 409 {"ask": "Are you …?"}
POST /talk {"text": "are you up?"} → lines of JSON: {"piece": "bare"}, …, {"text": "barely"}
"""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse

from realtalk.chat import MARK
from realtalk.errors import RealtalkError, as_options
from realtalk.persona.guessing import people_figures, people_tables
from realtalk.persona.talking import NoConsent
from realtalk.web.asking import (
    Asked,
    BeginForm,
    JudgeForm,
    Opened,
    PickForm,
    SayForm,
    Visit,
    download_lines,
)
from realtalk.web.guessing import CONTEXT, TalkRoom
from realtalk.web.library import OpenChat
from realtalk.web.pages import context, render

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


router = APIRouter()


def _round(visit: Visit, open_chat: OpenChat, number: int | None = None) -> str:
    """A round as HTML: the one of that number, else the first that is open."""
    room = visit.studio.guess_room
    rounds, mine = room.rounds(open_chat.chat), room.picks(open_chat.chat, visit.me)
    at = number
    if at is None:
        waiting = (at for at, lineup in enumerate(rounds) if lineup.turn.prompt.place not in mine)
        at = next(waiting, len(rounds))
    lineup_view = None
    if 0 <= at < len(rounds):
        lineup = rounds[at]
        prompt = lineup.turn.prompt
        lineup_view = {
            "turn": lineup.turn.prompt.place,
            "speaker": prompt.speaker,
            "session": prompt.session,
            "before": prompt.context[-CONTEXT:],
            "replies": [lineup.replies[place].text for place in room.order(lineup, visit.me)],
            "picked": mine.get(lineup.turn.prompt.place),
        }
    return render(
        "guess_round.html",
        shown=lineup_view,
        number=at,
        total=len(rounds),
        done=len(mine),
        **context(open_chat),
    )


@router.get("/chat/{number}/guess")
def guess(visit: Asked, open_chat: Opened) -> HTMLResponse:
    knows = visit.studio.guess_room.knows(visit.me)
    return visit.page(
        "guess.html",
        open_chat,
        knows=knows,
        round=_round(visit, open_chat) if knows is not None else "",
        total=len(visit.studio.guess_room.rounds(open_chat.chat)),
    )


@router.get("/chat/{number}/guess/round")
def again(visit: Asked, open_chat: Opened, at: int) -> HTMLResponse:
    return HTMLResponse(_round(visit, open_chat, at))


@router.post("/chat/{number}/guess")
def pick(visit: Asked, open_chat: Opened, form: PickForm) -> JSONResponse:
    visit.studio.guess_room.pick(open_chat.chat, form.turn, visit.me, form.place)
    return JSONResponse({"html": _round(visit, open_chat)}, 201)


@router.post("/guess/judge")
def introduce(visit: Asked, form: JudgeForm) -> JSONResponse:
    visit.studio.guess_room.introduce(visit.me, knows=form.knows)
    return JSONResponse({"who": visit.me, "knows": form.knows}, 201)


@router.get("/guess/results")
def results(visit: Asked) -> HTMLResponse:
    rows = visit.studio.guess_room.rows
    tables = people_tables(people_figures(rows)) if rows else {}
    return visit.page("guess_results.html", tables=tables, picks=len(rows))


@router.get("/guess/export")
def export(visit: Asked) -> Response:
    rows = ({name: row[name] for name in _EXPORTED} for row in visit.studio.guess_room.rows)
    return download_lines(rows, "guesses.jsonl")


def _room(visit: Visit) -> TalkRoom:
    if visit.studio.talk is None:
        raise RealtalkError("nobody is simulated here", fix="start the studio with `talk=NAME`")
    return visit.studio.talk


def _render_talk(talk: TalkRoom) -> str:
    return render("talk_said.html", talk=talk, mark=MARK)


@router.get("/talk")
def show(visit: Asked) -> HTMLResponse:
    talk = visit.studio.talk
    return visit.page("talk.html", talk=talk, said="" if talk is None else _render_talk(talk))


@router.post("/talk/begin")
def begin(visit: Asked, form: BeginForm) -> JSONResponse:
    talk = _room(visit)
    try:
        talk.open(form.answer)
    except NoConsent as error:
        return JSONResponse({"error": as_options(str(error)), "ask": talk.question}, 409)
    return JSONResponse({"html": _render_talk(talk)}, 201)


@router.post("/talk")
def say(visit: Asked, form: SayForm) -> StreamingResponse:
    return StreamingResponse(_room(visit).say(form.text), media_type="application/x-ndjson")
