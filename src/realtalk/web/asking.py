"""Who sends a request and what it holds, as the routes take it.

visit.me           → the name that the browser's cookie holds, else the studio's own
EditForm           → {"version": 3, "fields": {"answer": "Porto"}, "request": "6f1c…"}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple
from urllib.parse import quote, unquote

import orjson
from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from realtalk.errors import RealtalkError
from realtalk.web.guard import Keys
from realtalk.web.library import OpenChat
from realtalk.web.pages import context, render
from realtalk.web.reviews import Choice
from realtalk.web.session import StudioSession
from realtalk.web.store import Store
from realtalk.web.values import FINAL, StudioItem, checked_name

_LONG = 30 * 24 * 3600  # seconds that a browser remembers who annotates


# Names that a page or the store made: plain signs, so that any of them can be looked up.
_Request = Annotated[str, Field(min_length=8, max_length=64, pattern=r"^[!-~]+$")]
_Id = Annotated[str, Field(max_length=64, pattern=r"^[!-~]+$")]
_Version = Annotated[int, Field(ge=0, lt=1 << 63)]  # what SQLite can hold


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ItemForm(_Form):
    """A new item."""

    kind: Literal["event", "question"]
    fields: dict[str, Any]
    who: str = Field(default="", max_length=80)
    request: _Request


class RemoveForm(_Form):
    """An item to take away, as it was at a version."""

    version: _Version
    request: _Request


class EditForm(RemoveForm):
    """Changed fields, and the version that they were made to."""

    fields: dict[str, Any]


class SettleForm(_Form):
    """How a conflict ends."""

    take: Literal["this", "other", "both"]


class CopyForm(_Form):
    """Items to copy: to one's own, or to what was agreed."""

    items: list[_Id] = Field(max_length=5000)
    to: str = Field(max_length=80)


class CardForm(_Form):
    """What somebody says of one of the audit's verdicts, or of a draft."""

    question: str = Field(max_length=200)
    choice: Choice
    comment: str = Field(default="", max_length=2000)
    verdict: str = Field(default="", max_length=40)
    answer: str = Field(default="", max_length=2000)
    text: str = Field(default="", max_length=2000)


class NameForm(_Form):
    """Whether a name that was found, or one that somebody adds, is to be replaced."""

    form: str = Field(min_length=1, max_length=200)
    kind: Literal["person", "place", "organisation", "address", "birthday", "number"]
    replace: bool


class PickForm(_Form):
    """Which of the replies that are shown somebody takes for real."""

    turn: int = Field(ge=0, lt=1 << 31)
    place: int = Field(ge=0, le=3)


class JudgeForm(_Form):
    """Whether somebody who guesses knows the chat."""

    knows: bool


class BeginForm(_Form):
    """By whose leave somebody is written as, one of consent.MEANINGS; "" asks what is kept."""

    answer: Literal["", "self", "given", "research", "fictional"]


class SayForm(_Form):
    """What somebody says to a simulated speaker."""

    text: str = Field(min_length=1, max_length=4000)


class WhoForm(_Form):
    """Whose last step to take back."""

    who: str = Field(default="", max_length=80)


class AnnotatorForm(_Form):
    """Who annotates from now on."""

    name: str = Field(max_length=200)


def _cookie(keys: Keys) -> str:
    return f"realtalk-annotator-{keys.port}"


class Visit(NamedTuple):
    """What a request is asked of, and who asks."""

    studio: StudioSession
    keys: Keys
    me: str  # the annotator whom this browser stands for

    @property
    def store(self) -> Store:
        return self.studio.store

    def items(self, open_chat: OpenChat, author: str) -> list[StudioItem]:
        """What somebody noted in a chat."""
        return self.store.items(open_chat.chat.id, author)

    def items_to_show(self, open_chat: OpenChat, asked: str) -> tuple[str, list[StudioItem]]:
        """Whose items a page shows, and these."""
        author = self.studio.author_to_show(open_chat, self.me, asked)
        return author, self.items(open_chat, author)

    def writer(self, who: str) -> str:
        """Whose items a change makes: what was agreed, or one's own."""
        return FINAL if who == FINAL else self.me

    def page(self, template: str, open_chat: OpenChat | None = None, **values: Any) -> HTMLResponse:
        """A template, filled; of one chat, or of none."""
        values_shared = {} if open_chat is None else context(open_chat)
        values_shared |= {"studio": self.studio, "csrf": self.keys.csrf, "me": self.me}
        return HTMLResponse(render(template, **values_shared, **values))


def _visit(request: Request) -> Visit:
    studio: StudioSession = request.app.state.studio
    keys: Keys = request.app.state.keys
    try:
        me = checked_name(unquote(request.cookies.get(_cookie(keys), "")))
    except RealtalkError:  # nobody said, or nobody's name
        me = studio.annotator
    return Visit(studio, keys, me)


# What a route names to be handed: who asks of what, and the chat whose number is in the path.
Asked = Annotated[Visit, Depends(_visit)]


def _open_chat(visit: Asked, number: int) -> OpenChat:
    return visit.studio.open_chat(number)


Opened = Annotated[OpenChat, Depends(_open_chat)]


def remember(response: Response, name: str, keys: Keys) -> None:
    """Sets who annotates in this browser."""
    response.set_cookie(
        _cookie(keys), quote(name), max_age=_LONG, httponly=True, samesite="strict", path="/"
    )


def download(data: bytes, name: str) -> Response:
    """A file to keep."""
    disposition = f"attachment; filename*=UTF-8''{quote(name)}"
    return Response(
        data, media_type="application/octet-stream", headers={"content-disposition": disposition}
    )


def download_lines(rows: Iterable[Mapping[str, Any]], name: str) -> Response:
    """A file of JSON Lines to keep."""
    return download(b"".join(orjson.dumps(row) + b"\n" for row in rows), name)
