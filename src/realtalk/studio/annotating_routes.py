"""The requests that change annotations, and the panel that shows them.

PATCH /items/q3f9 {"version": 2, "fields": {"answer": "Porto"}, "request": "6f1c…"}
→ 200 {"item": {"version": 3, …}}, or 409 with both versions; an answer means: on the disk
"""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.studio import pages
from realtalk.studio.asking import (
    AnnotatorForm,
    CopyForm,
    EditForm,
    ItemForm,
    RemoveForm,
    SettleForm,
    WhoForm,
    annotator,
    page,
    remember,
)
from realtalk.studio.bodies import blank
from realtalk.studio.desk import Desk
from realtalk.studio.guard import Keys
from realtalk.studio.shelf import Book
from realtalk.studio.values import (
    FINAL,
    Conflict,
    ItemKind,
    StudioItem,
    checked_name,
    cleaned,
)


def _has_place(item: StudioItem, sessions: Collection[int], speakers: Collection[str]) -> bool:
    """Whether the chat, which may have been read anew, still has an event's session and speaker."""
    return item.body.get("session") in sessions and item.body.get("speaker") in speakers


def annotating_routes(desk: Desk, keys: Keys) -> APIRouter:
    router = APIRouter()

    def book_of(item: StudioItem) -> Book:
        for book in desk.shelf.books:
            if book.chat.id == item.chat:
                return book
        raise RealtalkError("the chat of this item is not open here", where=f"item {item.id}")

    def card(item: StudioItem, me: str) -> str:
        book = book_of(item)
        mine = item.author in (me, FINAL)
        return pages.render("card.html", item=item, mine=mine, opened=True, **pages.context(book))

    def answer(found: StudioItem | Conflict, me: str) -> JSONResponse:
        if isinstance(found, StudioItem):
            return JSONResponse({"item": found.to_json()})
        both = [item for item in (found.current, found.kept) if item and not item.deleted]
        body = {
            "error": "changed elsewhere too; both versions are kept",
            "current": found.current.to_json(),
            "kept": found.kept.to_json() if found.kept else None,
            "html": "".join(card(item, me) for item in both),
        }
        return JSONResponse(body, 409)

    @router.get("/chat/{number}/panel")
    def panel(
        request: Request, number: int, session: int | None = None, who: str = ""
    ) -> HTMLResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        shown = desk.shown(book, me, who)
        items = desk.store.items(book.chat.id, shown)
        known = {each.number: each for each in book.chat.sessions}
        events = [item for item in items if item.kind == "event"]
        lost = [item for item in events if not _has_place(item, known, book.chat.speakers)]
        current = session if session in known else book.starts[0][1].number
        undo, redo = desk.store.steps(book.chat.id, shown)
        return page(
            "panel.html",
            me=me,
            who=shown,
            mine=shown in (me, FINAL),
            session=current,
            speaking={message.speaker for message in known[current].messages},
            annotators=desk.annotators(book, me),
            events=[i for i in events if i.body.get("session") == current and i not in lost],
            lost=lost,
            # What a new question looks like; it is stored with the first thing put into it.
            blank=StudioItem("new", book.chat.id, "question", shown, 0, blank("question")),
            questions=[i for i in items if i.kind == "question"],
            counts=pages.session_counts(book, items),
            undo=undo,
            redo=redo,
            **pages.context(book),
        )

    @router.get("/chat/{number}/counts")
    def counts(request: Request, number: int, who: str = "") -> JSONResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        items = desk.store.items(book.chat.id, desk.shown(book, me, who))
        return JSONResponse(
            {
                "annotators": desk.annotators(book, me),
                "sessions": pages.session_counts(book, items),
                "questions": sum(item.kind == "question" for item in items),
            }
        )

    @router.get("/chat/{number}/items")
    def listed(request: Request, number: int, who: str = "") -> JSONResponse:
        book = desk.book(number)
        shown = desk.shown(book, annotator(request, desk, keys), who)
        items = [item.to_json() for item in desk.store.items(book.chat.id, shown)]
        return JSONResponse({"who": shown, "items": items})

    @router.post("/chat/{number}/items")
    def create(request: Request, number: int, form: ItemForm) -> JSONResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        kind: ItemKind = form.kind
        fields = cleaned(kind, form.fields, book.chat, book.categories)
        if kind == "event" and not {"session", "speaker"} <= set(fields):
            raise RealtalkError("an event belongs to a session and a speaker")
        author = FINAL if form.who == FINAL else me
        body = {**blank(kind), **fields}
        item = desk.store.create(book.chat.id, kind, author, body, request=form.request)
        return JSONResponse({"item": item.to_json(), "html": card(item, me)}, 201)

    @router.patch("/items/{id_}")
    def change(request: Request, id_: str, form: EditForm) -> JSONResponse:
        me = annotator(request, desk, keys)
        item = desk.store.item(id_)
        book = book_of(item)
        fields = cleaned(item.kind, form.fields, book.chat, book.categories, item.body)
        author = desk.owner(item, me)
        return answer(
            desk.store.change(id_, author, form.version, fields, request=form.request), me
        )

    @router.delete("/items/{id_}")
    def remove(request: Request, id_: str, form: RemoveForm) -> JSONResponse:
        me = annotator(request, desk, keys)
        author = desk.owner(desk.store.item(id_), me)
        return answer(desk.store.remove(id_, author, form.version, request=form.request), me)

    @router.post("/items/{id_}/settle")
    def settle(request: Request, id_: str, form: SettleForm) -> JSONResponse:
        me = annotator(request, desk, keys)
        author = desk.owner(desk.store.item(id_), me)
        done = desk.store.settle(id_, author, form.take)
        return JSONResponse({"items": [item.to_json() for item in done]})

    @router.post("/chat/{number}/copy")
    def copy(request: Request, number: int, form: CopyForm) -> JSONResponse:
        book = desk.book(number)
        me = annotator(request, desk, keys)
        if form.to not in (me, FINAL):
            raise RealtalkError("items are copied to one's own or to the agreed ones")
        wanted = [desk.store.item(id_) for id_ in form.items]
        if any(item.chat != book.chat.id for item in wanted):
            raise RealtalkError("an item of another chat", where=f"chat {book.chat.id}")
        copies = desk.store.create_all(
            book.chat.id, form.to, [(item.kind, item.body, item.id) for item in wanted]
        )
        return JSONResponse({"copied": len(copies)}, 201)

    def stepped(number: int, request: Request, form: WhoForm, back: bool) -> JSONResponse:
        book = desk.book(number)
        author = FINAL if form.who == FINAL else annotator(request, desk, keys)
        turn = desk.store.undo if back else desk.store.redo
        return JSONResponse({"items": [item.to_json() for item in turn(book.chat.id, author)]})

    @router.post("/chat/{number}/undo")
    def undo(number: int, request: Request, form: WhoForm) -> JSONResponse:
        return stepped(number, request, form, True)

    @router.post("/chat/{number}/redo")
    def redo(number: int, request: Request, form: WhoForm) -> JSONResponse:
        return stepped(number, request, form, False)

    @router.post("/annotator")
    def become(form: AnnotatorForm) -> JSONResponse:
        name = checked_name(form.name)
        response = JSONResponse({"name": name})
        remember(response, name, keys)
        return response

    return router
