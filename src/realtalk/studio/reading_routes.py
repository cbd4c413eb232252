"""The pages that only read: chats, messages, search, strips.

GET /chat/0/messages/3 → fifty messages as HTML
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.studio import pages
from realtalk.studio.asking import annotator, page
from realtalk.studio.desk import Desk
from realtalk.studio.exchange import LAYOUTS
from realtalk.studio.guard import Keys
from realtalk.studio.jumping import day_hits, jump
from realtalk.studio.shelf import PIECE

_MOST_STRIPS = 400
_MOST_BOOKS = 120


def reading_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    @router.get("/")
    def library(request: Request, q: str = "") -> HTMLResponse:
        me = annotator(request, desk, keys)
        wanted = q.casefold().strip()
        matches = [
            book
            for book in desk.shelf.books
            if wanted in " ".join((book.chat.id, *book.chat.speakers)).casefold()
        ]
        books = matches[:_MOST_BOOKS]
        counts = {book.number: desk.store.authors(book.chat.id) for book in books}
        return page(
            "library.html",
            desk=desk,
            me=me,
            counts=counts,
            books=books,
            total=len(matches),
            q=q,
            csrf=keys.csrf,
        )

    @router.get("/csrf")
    def csrf() -> JSONResponse:
        # A page that outlived its server asks for the new token; other sites cannot read it.
        return JSONResponse({"csrf": keys.csrf})

    @router.get("/chat/{number}")
    def chat(request: Request, number: int, at: int = 0, who: str = "") -> HTMLResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        at = max(0, min(at, len(book.messages) - 1))
        shown = desk.shown(book, me, who)
        items = desk.store.items(book.chat.id, shown)
        return page(
            "chat.html",
            desk=desk,
            me=me,
            at=at,
            who=shown,
            annotators=desk.annotators(book, me),
            counts=pages.session_counts(book, items),
            first_piece=at // PIECE,
            rows=book.piece(at // PIECE),
            strips=desk.strips(book),
            layouts=LAYOUTS,
            starts=[(start, each.number, pages.day(each.time)) for start, each in book.starts],
            csrf=keys.csrf,
            **pages.context(book),
        )

    @router.get("/chat/{number}/messages/{piece}")
    def messages(number: int, piece: int) -> HTMLResponse:
        book = desk.book(number)
        rows = book.piece(max(0, piece))
        return page("messages.html", rows=rows, strips=desk.strips(book), **pages.context(book))

    @router.get("/chat/{number}/search")
    def search(number: int, q: str = "") -> HTMLResponse:
        book = desk.book(number)
        hits, days = book.search(q), day_hits(book, q)
        return page("hits.html", hits=hits, days=days, **pages.context(book))

    @router.get("/chat/{number}/glance")
    def glance(number: int) -> HTMLResponse:
        return page("glance.html", sentences=desk.book(number).glance)

    @router.get("/chat/{number}/jump")
    def jump_to(
        number: int, q: str = "", after: int | None = None, back: bool = False
    ) -> JSONResponse:
        return JSONResponse(jump(desk.book(number), q, after, back=back).to_json())

    @router.get("/chat/{number}/strips")
    def strips(number: int, places: str = "") -> JSONResponse:
        book = desk.book(number)
        chat_strips = desk.strips(book)
        parts = [part for part in places.split(",") if part]
        if not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
            raise RealtalkError("places are numbers of messages, with commas between them")
        wanted = [int(part) for part in parts]
        lacking = [at for at in wanted if at < len(book.messages)]
        if lacking:
            chat_strips.reading(book.messages[lacking[0]].id)
        shown = {}
        for place in wanted[:_MOST_STRIPS]:
            if place < len(book.messages) and (strip := chat_strips.of(book.messages[place].id)):
                # A turn's later messages show its label small.
                same = place > 0 and chat_strips.of(book.messages[place - 1].id) is strip
                shown[place] = pages.render(
                    "strip.html", strip=strip, strips=chat_strips, same=same
                )
        done, total, note = chat_strips.progress
        return JSONResponse({"done": done, "total": total, "note": note, "strips": shown})

    return router
