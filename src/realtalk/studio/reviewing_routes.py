"""Agreement and adjudication of two annotators, and files out and in.

GET /chat/0/review?first=Ana&second=Bo → the page; GET /chat/0/export?who=Ana&layout=sheet → a file
"""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.studio import pages
from realtalk.studio.agreement import compare
from realtalk.studio.asking import annotator, page
from realtalk.studio.desk import Desk
from realtalk.studio.exchange import exported, imported
from realtalk.studio.guard import Keys
from realtalk.studio.values import CORPUS, FINAL, checked_name


def reviewing_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    def pair(number: int, first: str, second: str) -> tuple[list[str], str, str]:
        """Everybody who can be compared, and the two that are."""
        there = desk.store.authors(desk.book(number).chat.id)
        names = [name for name in there if name != FINAL]
        # People before the file: agreement is between annotators first.
        names.sort(key=lambda name: name == CORPUS)
        one = first if first in names else (names[0] if names else "")
        others = [name for name in names if name != one]
        two = second if second in others else (others[0] if others else "")
        return names, one, two

    @router.get("/chat/{number}/review")
    def review(request: Request, number: int, first: str = "", second: str = "") -> HTMLResponse:
        book = desk.book(number)
        names, one, two = pair(number, first, second)
        agreed = desk.store.items(book.chat.id, FINAL)
        comparison = None
        if one and two:
            chat = book.chat.id
            comparison = compare(book, desk.store.items(chat, one), desk.store.items(chat, two))
        return page(
            "review.html",
            desk=desk,
            me=annotator(request, desk, keys),
            names=names,
            first=one,
            second=two,
            found=comparison,
            agreed=agreed,
            taken={item.taken_from for item in agreed},
            csrf=keys.csrf,
            **pages.context(book),
        )

    @router.get("/chat/{number}/agreement")
    def agreement(number: int, first: str = "", second: str = "") -> JSONResponse:
        book = desk.book(number)
        _, one, two = pair(number, first, second)
        if not (one and two):
            raise RealtalkError("two annotators are needed", where=f"chat {book.chat.id}")
        items = (desk.store.items(book.chat.id, name) for name in (one, two))
        comparison = compare(book, *items)
        return JSONResponse(
            {
                "first": one,
                "second": two,
                "figures": [each.to_json() for each in comparison.figures],
            }
        )

    @router.get("/chat/{number}/export")
    def export(request: Request, number: int, layout: str, who: str = "") -> Response:
        book = desk.book(number)
        shown = desk.shown(book, annotator(request, desk, keys), who)
        name, data = exported(book, desk.store.items(book.chat.id, shown), layout)
        named = f"attachment; filename*=UTF-8''{quote(name)}"
        return Response(
            data, media_type="application/octet-stream", headers={"content-disposition": named}
        )

    @router.post("/chat/{number}/import")
    async def import_(request: Request, number: int, name: str, who: str = "") -> JSONResponse:
        data = await request.body()

        def take() -> JSONResponse:
            book = desk.book(number)
            author = checked_name(who) if who else annotator(request, desk, keys)
            content = imported(book, name, data)
            created = desk.store.create_all(book.chat.id, author, content.bodies)
            counts = {"made": len(created), "there": len(content.bodies) - len(created)}
            return JSONResponse(counts | {"notes": list(content.notes), "who": author}, 201)

        return await run_in_threadpool(take)

    return router
