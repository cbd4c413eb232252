"""Guess: which reply did this person write? A page per chat, picks, results, and rows to take away.

GET /chat/0/guess → the page; POST /guess/judge {"knows": true}
POST /chat/0/guess {"turn": 14, "place": 2} → 201 {"html": the next round}
GET /chat/0/guess/round?at=3 → a round again; GET /guess/results; GET /guess/export → JSONL
"""

from __future__ import annotations

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.persona.guess_people import people_figures, people_tables
from realtalk.studio import pages
from realtalk.studio.asking import JudgeForm, PickForm, annotator, page
from realtalk.studio.desk import Desk
from realtalk.studio.guard import Keys
from realtalk.studio.guessing import CONTEXT, turn_number
from realtalk.studio.shelf import Book

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


def guessing_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    def round_of(book: Book, me: str, number: int | None = None) -> str:
        """A round as HTML: the one of that number, else the first that is open."""
        room = desk.guess_room
        rounds, mine = room.rounds(book.chat), room.picked(book.chat, me)
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
            **pages.context(book),
        )

    @router.get("/chat/{number}/guess")
    def guess(request: Request, number: int) -> HTMLResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        knows = desk.guess_room.knows(me)
        return page(
            "guess.html",
            me=me,
            knows=knows,
            round=round_of(book, me) if knows is not None else "",
            total=len(desk.guess_room.rounds(book.chat)),
            csrf=keys.csrf,
            **pages.context(book),
        )

    @router.get("/chat/{number}/guess/round")
    def again(request: Request, number: int, at: int) -> HTMLResponse:
        return HTMLResponse(round_of(desk.book(number), annotator(request, desk, keys), at))

    @router.post("/chat/{number}/guess")
    def pick(request: Request, number: int, form: PickForm) -> JSONResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        desk.guess_room.pick(book.chat, form.turn, me, form.place)
        return JSONResponse({"html": round_of(book, me)}, 201)

    @router.post("/guess/judge")
    def introduce(request: Request, form: JudgeForm) -> JSONResponse:
        me = annotator(request, desk, keys)
        desk.guess_room.introduce(me, knows=form.knows)
        return JSONResponse({"who": me, "knows": form.knows}, 201)

    @router.get("/guess/results")
    def results() -> HTMLResponse:
        rows = desk.guess_room.rows
        tables = people_tables(people_figures(rows)) if rows else {}
        return page("guess_results.html", tables=tables, picks=len(rows), desk=desk, csrf=keys.csrf)

    @router.get("/guess/export")
    def export() -> Response:
        lines = [
            orjson.dumps({name: row[name] for name in _EXPORTED}) for row in desk.guess_room.rows
        ]
        named = "attachment; filename=guesses.jsonl"
        return Response(
            b"".join(line + b"\n" for line in lines),
            media_type="application/octet-stream",
            headers={"content-disposition": named},
        )

    return router
