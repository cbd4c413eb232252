"""The requests that change annotations, and the panel that shows them.

PATCH /items/q3f9 {"version": 2, "fields": {"answer": "Porto"}, "request": "6f1c…"}
→ 200 {"item": {"version": 3, …}}, or 409 with both versions; an answer means: on the disk
"""

from __future__ import annotations

from collections.abc import Collection

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.web import pages
from realtalk.web.asking import (
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
from realtalk.web.guard import Keys
from realtalk.web.library import OpenChat
from realtalk.web.session import StudioSession
from realtalk.web.values import (
    FINAL,
    Conflict,
    ItemKind,
    StudioItem,
    blank,
    checked_name,
    cleaned,
)


def _has_place(item: StudioItem, sessions: Collection[int], speakers: Collection[str]) -> bool:
    """Whether the chat, which may have been read anew, still has an event's session and speaker."""
    return item.body.get("session") in sessions and item.body.get("speaker") in speakers


def annotating_routes(studio: StudioSession, keys: Keys) -> APIRouter:
    router = APIRouter()

    def open_chat_of(item: StudioItem) -> OpenChat:
        for open_chat in studio.library.open_chats:
            if open_chat.chat.id == item.chat:
                return open_chat
        raise RealtalkError("the chat of this item is not open here", where=f"item {item.id}")

    def card(item: StudioItem, me: str) -> str:
        open_chat = open_chat_of(item)
        mine = item.author in (me, FINAL)
        return pages.render(
            "card.html", item=item, mine=mine, opened=True, **pages.context(open_chat)
        )

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
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        shown = studio.shown(open_chat, me, who)
        items = studio.store.items(open_chat.chat.id, shown)
        known = {each.number: each for each in open_chat.chat.sessions}
        events = [item for item in items if item.kind == "event"]
        lost = [item for item in events if not _has_place(item, known, open_chat.chat.speakers)]
        current = session if session in known else open_chat.starts[0][1].number
        undo, redo = studio.store.steps(open_chat.chat.id, shown)
        return page(
            "panel.html",
            me=me,
            who=shown,
            mine=shown in (me, FINAL),
            session=current,
            speaking={message.speaker for message in known[current].messages},
            annotators=studio.annotators(open_chat, me),
            events=[i for i in events if i.body.get("session") == current and i not in lost],
            lost=lost,
            # What a new question looks like; it is stored with the first thing put into it.
            blank=StudioItem("new", open_chat.chat.id, "question", shown, 0, blank("question")),
            questions=[i for i in items if i.kind == "question"],
            counts=pages.session_counts(open_chat, items),
            undo=undo,
            redo=redo,
            **pages.context(open_chat),
        )

    @router.get("/chat/{number}/counts")
    def counts(request: Request, number: int, who: str = "") -> JSONResponse:
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        items = studio.store.items(open_chat.chat.id, studio.shown(open_chat, me, who))
        return JSONResponse(
            {
                "annotators": studio.annotators(open_chat, me),
                "sessions": pages.session_counts(open_chat, items),
                "questions": sum(item.kind == "question" for item in items),
            }
        )

    @router.get("/chat/{number}/items")
    def listed(request: Request, number: int, who: str = "") -> JSONResponse:
        open_chat = studio.open_chat(number)
        shown = studio.shown(open_chat, annotator(request, studio, keys), who)
        items = [item.to_json() for item in studio.store.items(open_chat.chat.id, shown)]
        return JSONResponse({"who": shown, "items": items})

    @router.post("/chat/{number}/items")
    def create(request: Request, number: int, form: ItemForm) -> JSONResponse:
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        kind: ItemKind = form.kind
        fields = cleaned(kind, form.fields, open_chat.chat, open_chat.categories)
        if kind == "event" and not {"session", "speaker"} <= set(fields):
            raise RealtalkError("an event belongs to a session and a speaker")
        author = FINAL if form.who == FINAL else me
        body = {**blank(kind), **fields}
        item = studio.store.create(open_chat.chat.id, kind, author, body, request=form.request)
        return JSONResponse({"item": item.to_json(), "html": card(item, me)}, 201)

    @router.patch("/items/{id_}")
    def change(request: Request, id_: str, form: EditForm) -> JSONResponse:
        me = annotator(request, studio, keys)
        item = studio.store.item(id_)
        open_chat = open_chat_of(item)
        fields = cleaned(item.kind, form.fields, open_chat.chat, open_chat.categories, item.body)
        author = studio.owner(item, me)
        return answer(
            studio.store.change(id_, author, form.version, fields, request=form.request), me
        )

    @router.delete("/items/{id_}")
    def remove(request: Request, id_: str, form: RemoveForm) -> JSONResponse:
        me = annotator(request, studio, keys)
        author = studio.owner(studio.store.item(id_), me)
        return answer(studio.store.remove(id_, author, form.version, request=form.request), me)

    @router.post("/items/{id_}/settle")
    def settle(request: Request, id_: str, form: SettleForm) -> JSONResponse:
        me = annotator(request, studio, keys)
        author = studio.owner(studio.store.item(id_), me)
        done = studio.store.settle(id_, author, form.take)
        return JSONResponse({"items": [item.to_json() for item in done]})

    @router.post("/chat/{number}/copy")
    def copy(request: Request, number: int, form: CopyForm) -> JSONResponse:
        open_chat = studio.open_chat(number)
        me = annotator(request, studio, keys)
        if form.to not in (me, FINAL):
            raise RealtalkError("items are copied to one's own or to the agreed ones")
        wanted = [studio.store.item(id_) for id_ in form.items]
        if any(item.chat != open_chat.chat.id for item in wanted):
            raise RealtalkError("an item of another chat", where=f"chat {open_chat.chat.id}")
        copies = studio.store.create_all(
            open_chat.chat.id, form.to, [(item.kind, item.body, item.id) for item in wanted]
        )
        return JSONResponse({"copied": len(copies)}, 201)

    def stepped(number: int, request: Request, form: WhoForm, back: bool) -> JSONResponse:
        open_chat = studio.open_chat(number)
        author = FINAL if form.who == FINAL else annotator(request, studio, keys)
        turn = studio.store.undo if back else studio.store.redo
        return JSONResponse({"items": [item.to_json() for item in turn(open_chat.chat.id, author)]})

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
