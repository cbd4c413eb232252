"""Names and texts from right to left: every one in an element of its own direction."""

from __future__ import annotations

from datetime import datetime

from realtalk.chat import Attachment, Chat, Corpus, Message, Session
from realtalk.web import pages
from realtalk.web.library import ChatLibrary

DANA = "דנה (2)"


class NoStrips:
    progress = (0, 0)

    def of(self, _: str) -> None:
        return None


def test_messages_and_their_names() -> None:
    time = datetime(2026, 3, 2, 18, 4)
    said = Message("D1:1", DANA, time, "שלום 3", (Attachment("image", "תמונה 1.jpg"),))
    chat = Chat("שיחה 1", (DANA, "Theo"), (Session(1, time, (said,)),))
    open_chat = ChatLibrary(Corpus("c", "jsonl", (chat,))).open_chats[0]
    html = pages.render(
        "messages.html", rows=open_chat.piece(0), strips=NoStrips(), **pages.context(open_chat)
    )
    assert f'<span class="who"><bdi>{DANA}</bdi></span>' in html
    assert '<p class="text" dir="auto">שלום 3</p>' in html
    assert "<figcaption><bdi>תמונה 1.jpg</bdi>" in html
    assert '<bdi class="id">D1:1</bdi>' in html


def test_names_in_a_row_do_not_change_places() -> None:
    made = pages._people((DANA, "<b>", "Theo"))
    assert made == f"<bdi>{DANA}</bdi> · <bdi>&lt;b&gt;</bdi> · <bdi>Theo</bdi>"


def test_where_no_markup_can_stand_a_name_is_set_apart_by_marks() -> None:
    assert pages._apart("Theo (2)") == "Theo (2)"
    assert pages._apart(DANA) == f"\u2068{DANA}\u2069"
