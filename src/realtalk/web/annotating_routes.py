"""The requests that change annotations, and the panel that shows them.

PATCH /items/q3f9 {"version": 2, "fields": {"answer": "Porto"}, "request": "6f1c…"}
→ 200 {"item": {"version": 3, …}}, or 409 with both versions; an answer means: on the disk
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse

from realtalk.errors import RealtalkError
from realtalk.web import pages
from realtalk.web.asking import (
    AnnotatorForm,
    Asked,
    CopyForm,
    EditForm,
    ItemForm,
    Opened,
    RemoveForm,
    SettleForm,
    Visit,
    WhoForm,
    remember,
)
from realtalk.web.library import OpenChat
from realtalk.web.values import (
    BLANKS,
    FINAL,
    Conflict,
    StudioItem,
    checked_name,
    clean_fields,
)

router = APIRouter()


def _open_chat_of(visit: Visit, item: StudioItem) -> OpenChat:
    for open_chat in visit.studio.library.open_chats:
        if open_chat.chat.id == item.chat:
            return open_chat
    raise RealtalkError("the chat of this item is not open here", where=f"item {item.id}")


def _card(visit: Visit, item: StudioItem) -> str:
    values = pages.context(_open_chat_of(visit, item))
    mine = item.author in (visit.me, FINAL)
    return pages.render("card.html", item=item, mine=mine, opened=True, **values)


def _answer(visit: Visit, result: StudioItem | Conflict) -> JSONResponse:
    if isinstance(result, StudioItem):
        return JSONResponse({"item": result.to_json()})
    both = [item for item in (result.current, result.copy) if item and not item.deleted]
    body = {
        "error": "changed elsewhere too; both versions are kept",
        "current": result.current.to_json(),
        "kept": result.copy.to_json() if result.copy else None,
        "html": "".join(_card(visit, item) for item in both),
    }
    return JSONResponse(body, 409)


def _listing(items: Iterable[StudioItem], **about: Any) -> JSONResponse:
    return JSONResponse(about | {"items": [item.to_json() for item in items]})


@router.get("/chat/{number}/panel")
def panel(
    visit: Asked, open_chat: Opened, session: int | None = None, who: str = ""
) -> HTMLResponse:
    author, items = visit.items_to_show(open_chat, who)
    sessions = {part.number: part for part in open_chat.chat.sessions}
    current = session if session in sessions else open_chat.starts[0][1].number
    events: dict[int | None, list[StudioItem]] = defaultdict(list)
    for item in items:
        if item.kind == "event":
            # A chat that was read anew may have lost the session and speaker of an event.
            number, speaker = item.body["session"], item.body["speaker"]
            has_place = number in sessions and speaker in open_chat.chat.speakers
            events[number if has_place else None].append(item)
    undo, redo = visit.store.steps(open_chat.chat.id, author)
    return visit.page(
        "panel.html",
        open_chat,
        who=author,
        mine=author in (visit.me, FINAL),
        session=current,
        speaking={message.speaker for message in sessions[current].messages},
        annotators=visit.studio.annotators(open_chat, visit.me),
        events=events[current],
        lost=events[None],
        # What a new question looks like; it is stored with the first thing put into it.
        blank=StudioItem("new", open_chat.chat.id, "question", author, 0, BLANKS["question"]),
        questions=[i for i in items if i.kind == "question"],
        counts=pages.session_counts(open_chat, items),
        undo=undo,
        redo=redo,
    )


@router.get("/chat/{number}/counts")
def counts(visit: Asked, open_chat: Opened, who: str = "") -> JSONResponse:
    _, items = visit.items_to_show(open_chat, who)
    return JSONResponse(
        {
            "annotators": visit.studio.annotators(open_chat, visit.me),
            "sessions": pages.session_counts(open_chat, items),
            "questions": sum(item.kind == "question" for item in items),
        }
    )


@router.get("/chat/{number}/items")
def list_items(visit: Asked, open_chat: Opened, who: str = "") -> JSONResponse:
    author, items = visit.items_to_show(open_chat, who)
    return _listing(items, who=author)


@router.post("/chat/{number}/items")
def create(visit: Asked, open_chat: Opened, form: ItemForm) -> JSONResponse:
    kind = form.kind
    fields = clean_fields(kind, form.fields, open_chat.chat, open_chat.categories)
    if kind == "event" and not {"session", "speaker"} <= set(fields):
        raise RealtalkError("an event belongs to a session and a speaker")
    body = BLANKS[kind] | fields
    author = visit.writer(form.who)
    item = visit.store.create(open_chat.chat.id, kind, author, body, request=form.request)
    return JSONResponse({"item": item.to_json(), "html": _card(visit, item)}, 201)


@router.patch("/items/{id_}")
def change(visit: Asked, id_: str, form: EditForm) -> JSONResponse:
    item = visit.store.item(id_)
    open_chat = _open_chat_of(visit, item)
    fields = clean_fields(item.kind, form.fields, open_chat.chat, open_chat.categories, item.body)
    author = visit.studio.owner(item, visit.me)
    done = visit.store.change(id_, author, form.version, fields, request=form.request)
    return _answer(visit, done)


@router.delete("/items/{id_}")
def remove(visit: Asked, id_: str, form: RemoveForm) -> JSONResponse:
    author = visit.studio.owner(visit.store.item(id_), visit.me)
    return _answer(visit, visit.store.remove(id_, author, form.version, request=form.request))


@router.post("/items/{id_}/settle")
def settle(visit: Asked, id_: str, form: SettleForm) -> JSONResponse:
    author = visit.studio.owner(visit.store.item(id_), visit.me)
    return _listing(visit.store.settle(id_, author, form.take))


@router.post("/chat/{number}/copy")
def copy(visit: Asked, open_chat: Opened, form: CopyForm) -> JSONResponse:
    if form.to not in (visit.me, FINAL):
        raise RealtalkError("items are copied to one's own or to the agreed ones")
    items = [visit.store.item(id_) for id_ in form.items]
    if any(item.chat != open_chat.chat.id for item in items):
        raise RealtalkError("an item of another chat", where=f"chat {open_chat.chat.id}")
    copies = visit.store.create_all(
        open_chat.chat.id, form.to, [(item.kind, item.body, item.id) for item in items]
    )
    return JSONResponse({"copied": len(copies)}, 201)


@router.post("/chat/{number}/undo")
def undo(visit: Asked, open_chat: Opened, form: WhoForm) -> JSONResponse:
    return _listing(visit.store.undo(open_chat.chat.id, visit.writer(form.who)))


@router.post("/chat/{number}/redo")
def redo(visit: Asked, open_chat: Opened, form: WhoForm) -> JSONResponse:
    return _listing(visit.store.redo(open_chat.chat.id, visit.writer(form.who)))


@router.post("/annotator")
def become(visit: Asked, form: AnnotatorForm) -> JSONResponse:
    name = checked_name(form.name)
    response = JSONResponse({"name": name})
    remember(response, name, visit.keys)
    return response
