"""Telegram Desktop's HTML pages: the same chat as its JSON tells, as far as they go."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import messages
from realtalk.chat import Attachment
from realtalk.formats.reading import ReadCorpus
from shown import check

HEAD = """<!DOCTYPE html><html><head><meta charset="utf-8"/><title>Exported Data</title>
<link href="css/style.css" rel="stylesheet"/></head><body onload="CheckLocation();">
<div class="page_wrap"><div class="page_header"><div class="content">
<div class="text bold">
Garden &amp; Co
</div></div></div><div class="page_body chat_page"><div class="history">
<div class="message service" id="message-1"><div class="body details">
1 May 2024
</div></div>"""
END = "</div></div></div></body></html>"


def bubble(number: int, inside: str, sender: str = "", minute: int = 30) -> str:
    name = f'<div class="from_name">\n{sender}\n       </div>' if sender else ""
    joined = "" if sender else " joined"
    return f"""
<div class="message default clearfix{joined}" id="message{number}">
 <div class="pull_left userpic_wrap"><div class="userpic userpic3"><div class="initials">
A
 </div></div></div>
 <div class="body">
  <div class="pull_right date details" title="01.05.2024 09:{minute}:07 UTC+02:00">
09:{minute}
  </div>
  {name}{inside}
 </div>
</div>"""


def text(words: str) -> str:
    return f'<div class="text">\n{words}\n       </div>'


def read(folder: Path, *bubbles: str, name: str = "messages.html", **options: Any) -> ReadCorpus:
    page = HEAD + "".join(bubbles) + END
    return exported.read(folder, {name: page}, "telegram", **options)


def test_who_when_what_and_to_whom(tmp_path: Path) -> None:
    reply = (
        '<div class="reply_to details">In reply to '
        '<a href="#go_to_message41" onclick="return GoToMessage(41)">this message</a></div>'
    )
    reading = read(
        tmp_path,
        bubble(41, text("hi<br>there &lt;3 <strong>you</strong>"), "Ann"),
        bubble(42, text("still me"), minute=31),
        bubble(43, reply + text("yes"), "Ben", minute=32),
        '<div class="message service" id="message44"><div class="body details">Ann pinned'
        " a message</div></div>",
    )
    check(
        reading,
        """
        Garden & Co (Ann, Ben)
        session 1, 2024-05-01 09:30:07
        D1:1 2024-05-01 09:30:07 Ann: hi⏎there <3 you
            {"id":"41"}
        D1:2 2024-05-01 09:31:07 Ann: still me
            {"id":"42"}
        D1:3 2024-05-01 09:32:07 Ben, to D1:1: yes
            {"id":"43"}
        4 entries = 3 in messages + 1 system + 0 left over
        Telegram's HTML export tells no ids of people and no edits; its JSON export does
        """,
    )


def test_the_offset_is_used_where_a_clock_is_asked_for(tmp_path: Path) -> None:
    # One page may have another name.
    reading = read(tmp_path, bubble(1, text("x"), "Ann"), name="ann.html", timezone="UTC")
    assert messages(reading)[0].time == datetime(2024, 5, 1, 7, 30, 7)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (
            '<a class="photo_wrap clearfix pull_left" href="photos/photo_1.jpg"><img/></a>',
            Attachment("image", "photo_1.jpg", "photos/photo_1.jpg"),
        ),
        (
            '<div class="media clearfix pull_left media_photo"><div class="body">'
            '<div class="title bold">Photo</div><div class="status details">Not included</div>'
            "</div></div>",
            Attachment("image"),
        ),
        (
            '<div class="media clearfix pull_left media_photo"><div class="body">'
            '<div class="title bold">Sticker</div><div class="status details">😂</div></div></div>',
            Attachment("sticker", caption="😂"),
        ),
        (
            '<a class="media clearfix pull_left block_link media_voice_message" href="v/a1.ogg">'
            '<div class="body"><div class="title bold">Voice message</div></div></a>',
            Attachment("audio", "a1.ogg", "v/a1.ogg"),
        ),
        (
            '<a class="media clearfix pull_left block_link media_file" href="files/Plan.pdf">'
            '<div class="body"><div class="title bold">Plan.pdf</div></div></a>',
            Attachment("file", "Plan.pdf", "files/Plan.pdf"),
        ),
        (
            '<div class="media clearfix pull_left media_contact"><div class="body">'
            '<div class="title bold">Zed</div><div class="status details">+49 1</div></div></div>',
            Attachment("contact", "Zed", caption="+49 1"),
        ),
    ],
)
def test_media(tmp_path: Path, inside: str, expected: Attachment) -> None:
    wrapped = f'<div class="media_wrap clearfix">{inside}</div>'
    reading = read(tmp_path, bubble(1, wrapped + text("look"), "Ann"))
    [message] = messages(reading)
    assert (message.text, message.attachments) == ("look", (expected,))


def test_links_forwards_polls_and_reactions(tmp_path: Path) -> None:
    link = '<a href="https://x.example/a">https://x.example/a</a> <a href="https://y.example">y</a>'
    forwarded = (
        '<div class="pull_left forwarded userpic_wrap"></div><div class="forwarded body">'
        '<div class="from_name">Zed <span class="date details" title="01.04.2024 09:00:00">'
        " 01.04.2024 09:00:00</span></div>" + text("old news") + "</div>"
    )
    poll = (
        '<div class="media_wrap clearfix"><div class="media_poll"><div class="question bold">tea?'
        '</div><div class="details">Anonymous poll</div><div class="answer">- yes</div>'
        '<div class="answer">- no</div></div></div>'
    )
    reactions = (
        '<span class="reactions"><span class="reaction"><span class="emoji">👍</span>'
        '<span class="count">2</span></span><span class="reaction"><span class="emoji">❤</span>'
        '<span class="userpics"><div class="userpic"><div class="initials">B</div></div></span>'
        "</span></span>"
    )
    reading = read(
        tmp_path,
        bubble(1, text(link) + reactions, "Ann"),
        bubble(2, forwarded, "Ben"),
        bubble(3, poll),
    )
    check(
        reading,
        """
        Garden & Co (Ann, Ben)
        session 1, 2024-05-01 09:30:07
        D1:1 2024-05-01 09:30:07 Ann: https://x.example/a y
            link  https://y.example
        {"id":"1","reactions":[{"by":[],"count":2,"emoji":"👍"},{"by":[],"count":1,"emoji":"❤"}]}
        D1:2 2024-05-01 09:30:07 Ben: old news
            {"forwarded_from":"Zed","id":"2"}
        D1:3 2024-05-01 09:30:07 Ben: tea?
            {"id":"3","poll":["yes","no"]}
        3 entries = 3 in messages + 0 system + 0 left over
        Telegram's HTML export tells no ids of people and no edits; its JSON export does
        """,
    )


def test_pages_are_joined_in_order_and_chats_kept_apart(tmp_path: Path) -> None:
    pages = {
        "a/messages10.html": bubble(3, text("three"), minute=40),
        "a/messages2.html": bubble(2, text("two"), "Ben", minute=35),
        "a/messages.html": bubble(1, text("one"), "Ann"),
        "b/messages.html": bubble(1, text("other"), "Zed"),
    }
    files = {name: HEAD + bubbles + END for name, bubbles in pages.items()}
    reading = exported.read(tmp_path, files, "telegram")
    told = [[(m.speaker, m.text) for m in chat.messages] for chat in reading.corpus.chats]
    assert told == [[("Ann", "one"), ("Ben", "two"), ("Ben", "three")], [("Zed", "other")]]
