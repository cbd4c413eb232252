"""Exports as they lie about: cut off, in other encodings, with entries that say little, and pages
whose tags were lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment
from realtalk.formats.exports.html_tags import flat
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from refusals import refused
from text_tables import cases

ANN = {"id": "7", "name": "ann"}


def read(folder: Path, name: str, content: Any) -> ReadCorpus:
    return exported.read(folder, {name: content})


def telegram(*items: dict[str, Any]) -> dict[str, Any]:
    return {"name": "Club", "type": "private_group", "id": 5, "messages": list(items)}


def said(number: int, **values: Any) -> dict[str, Any]:
    stamp = {"date": f"2024-05-01T09:0{number}:00", "date_unixtime": str(1714546800 + 60 * number)}
    return {"id": number, "type": "message", **stamp, "from": "Ann", "from_id": "user1"} | values


def discord(*items: dict[str, Any]) -> dict[str, Any]:
    return {"guild": {"name": "G"}, "channel": {"id": "5", "name": "general"}} | {
        "messages": [
            {"id": str(at), "type": "Default", "timestamp": "2024-05-01T09:30:00+00:00"}
            | {"content": "", "author": ANN}
            | item
            for at, item in enumerate(items)
        ]
    }


@cases("""
    encoding
    utf-8
    utf-8-sig
    utf-16
    utf-16-le
    utf-16-be
""")
def test_json_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    for export in (telegram(said(1, text="né 🎉")), discord({"content": "né 🎉"})):
        data = json.dumps(export, ensure_ascii=False, indent=1).replace("\n", "\r\n")
        assert texts(read(tmp_path, "result.json", data.encode(encoding))) == ["né 🎉"]


def test_json_that_was_cut_off_says_so(tmp_path: Path) -> None:
    data = json.dumps(telegram(*(said(n, text="hi") for n in range(1, 6)))).encode()
    with refused(r"ends in the middle .* cut off"):
        read(tmp_path, "result.json", data[:-80])
    with refused("not valid JSON"):
        read(tmp_path, "result.json", data.replace(b'"hi"', b"hi", 1))


WHATSAPP = (
    "12/07/2024, 9:35\u202fpm - Mara: hi\n"
    "13/07/2024, 9:36\u202fam - Theo: on which day?\n"
    "13/07/2024, 9:37\u202fam - Mara: we leave\n"
)


@cases(r"""
    tail
    14/07/2024, 9
    14/07/2024, 9:43
    "14/07/2024, 9:43\u202fpm -"
""")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_chat_that_ends_in_the_middle_of_a_header(
    tmp_path: Path, tail: str, encoding: str
) -> None:
    reading = read(tmp_path, "c.txt", f"{WHATSAPP}{tail}".encode(encoding))
    assert texts(reading) == ["hi", "on which day?", "we leave"]
    assert [left.where for left in reading.ledger.leftovers] == ["c.txt:4"]
    assert str(reading.ledger) == "4 lines = 3 in messages + 0 system + 1 left over"


@pytest.mark.parametrize("tail", ["14/07/2024", "at 9", "14.07.2024, 9:43", "14/07/2024, 9:43\n"])
def test_a_last_line_that_somebody_wrote_stays(tmp_path: Path, tail: str) -> None:
    reading = read(tmp_path, "c.txt", f"{WHATSAPP}{tail}")
    assert texts(reading)[-1] == f"we leave\n{tail}".strip()
    assert not reading.ledger.leftovers


def test_a_signal_text_that_ends_in_the_middle_of_a_header(tmp_path: Path) -> None:
    text = "[2024-05-01, 09:30] Ann: hi\n[2024-05-01, 09:31] Ben: ho\n[2024-05-01, 09:3"
    reading = read(tmp_path, "Ann.txt", text)
    assert texts(reading) == ["hi", "ho"]
    assert [left.where for left in reading.ledger.leftovers] == ["Ann.txt:3"]


def test_what_bots_post_in_tables_and_pictures(tmp_path: Path) -> None:
    rows = {"fields": [{"name": "Score", "value": "3"}, {"name": "x"}], "author": {"name": "Bot"}}
    picture = {"image": {"url": "https://x.example/y.gif"}, "images": []}
    export = discord({"embeds": [rows]}, {"embeds": [picture]}, {"content": "<a:dance:55> <:b:1>"})
    one, two, three = messages(read(tmp_path, "general.json", export))
    assert one.attachments == (Attachment("link", "Bot", "", "Score: 3"),)
    assert two.attachments == (Attachment("image", "y.gif", "https://x.example/y.gif"),)
    assert three.text == ":dance: :b:"


def test_a_picture_that_stands_in_a_slack_block(tmp_path: Path) -> None:
    block = {"type": "image", "image_url": "https://x.example/c.png", "alt_text": "a cat"}
    entry = {"type": "message", "user": "U1", "ts": "1714548609.000100", "text": ""}
    items = [entry | {"blocks": [block]}, entry | {"ts": "1714548610.0", "text": "hi"}]
    first = messages(read(tmp_path, "2024-05-01.json", items))[0]
    assert first.attachments == (Attachment("image", "a cat", "https://x.example/c.png"),)


def test_thousands_of_members_and_a_very_long_message(tmp_path: Path) -> None:
    items = [
        said(1, id=at, **{"from": f"P{at % 3000} ", "from_id": f"user{at}", "text": "🎉"})
        for at in range(6000)
    ]
    items[7]["text"] = "long " * 60_000
    reading = read(tmp_path, "result.json", telegram(*items))
    [chat] = reading.corpus.chats
    assert len(set(chat.speakers)) == 6000
    assert len(chat.by_id["D1:8"].text) == 300_000
    assert "P0 (user0)" in chat.speakers


OTHERS = {
    "KakaoTalk.txt": "Ann 님과 카카오톡 대화\n\n2024. 5. 1. 15:05, Ann : hi\n",
    "[LINE] Ann.txt": "[LINE] Chat history with Ann\n\n2024/05/01(Wed)\n15:05\tAnn\thi\n",
    "viber.txt": "[ 01/05/2024 ] 15:05:11: Ann: hi\n",
    "imessage.txt": "May 17, 2022  5:29:42 PM\nAnn\nhi\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_chat_of_another_app_that_was_sent_in_one_does_not_take_it(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "WhatsApp Chat with Theo.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr(name, OTHERS[name])
        archive.writestr("WhatsApp Chat with Theo.txt", WHATSAPP)
    opened = open_reading(path)
    assert opened.format == "whatsapp"
    assert texts(opened.reading)[0] == "hi"
    files = {f"files/{name}": OTHERS[name], "result.json": telegram(said(1, text="hi"))}
    exported.read(tmp_path / "export", files, "telegram")
    alone = exported.write(tmp_path, {name: OTHERS[name]})
    assert open_reading(alone).format in ("kakaotalk", "line", "viber", "imessage")


# --- pages as text: where tags were lost no message is, and none runs into its neighbour ---


HEADS = {
    "discord": "<div class=preamble></div>",
    "telegram": "<div class=page_wrap>",
}
# A message of each app, and parts of it that get lost, up to the next.
DISCORD = (
    "<div class=chatlog__message-group><div data-message-id={number}><span class=chatlog__author>"
    "{name}</span><span class=chatlog__timestamp>01-May-24 09:30 AM</span>"
    "<div class=chatlog__content>{words}</div></div></div>"
)
OLD = (
    "<div class=chatlog__message-group><span class=chatlog__author-name>{name}</span><span "
    "class=chatlog__timestamp>01-May-24 09:30 AM</span><div class=chatlog__content>{words}</div>"
    "<div class=chatlog__attachment>Attachment: <a href=a.pdf>a.pdf</a></div></div>"
)
TELEGRAM = (
    '<div class="message default" id="message{number}"><div class="pull_right date details" '
    'title="01.05.2024 09:30:07">09:30</div><div class="from_name">{name}</div>'
    '<div class="text">{words}</div></div>'
)
IMESSAGE = (
    '<div class="message"><div class="received"><p><span class="timestamp">May 17, 2022  5:29:42 '
    'PM</span><span class="sender">{name}</span></p><div class="message_part"><span '
    'class="bubble">{words}</span></div></div></div>'
)
META = (
    "<div><div>{name}</div><div><div>{words}</div></div><div>May 1, 2024, 7:3{number} AM</div>"
    "</div>"
)


@pytest.mark.parametrize(
    ("app", "message", "lost"),
    [
        ("discord", DISCORD, ("</span>", "</div></div></div>")),
        ("discord", OLD, ("</span>", "</div></div>")),
        ("telegram", TELEGRAM, ("</div>", "</div></div>")),
        ("imessage", IMESSAGE, ("</span></p>", "</span></div></div></div>", "</div></div>")),
        ("messenger", META, ("</div>",)),
    ],
)
def test_lost_tags(tmp_path: Path, app: str, message: str, lost: tuple[str, ...]) -> None:
    first, second = (
        message.format(number=number, name=name, words=words)
        for number, name, words in ((1, "Ida", "hi"), (2, "Ben", "so?"))
    )
    if app == "messenger":
        first, second = second, first  # the newest is the first
    path = "your_facebook_activity/messages/inbox/ida_7/message_1.html"
    name = {"telegram": "messages.html", "messenger": path}.get(app, "a.html")
    for place, tags in enumerate(lost):
        before, found, after = first.rpartition(tags)
        assert found
        page = HEADS.get(app, "") + before + after + second
        reading = exported.read(tmp_path / str(place), {name: page}, app)
        assert [(m.speaker, m.text) for m in messages(reading)] == [("Ida", "hi"), ("Ben", "so?")]


# --- the text of one message ---


@cases(r"""
    written                                              | text
    <p>one</p><p>two</p>                                 | "one\ntwo"
    "<div>one</div>\n <div>&nbsp;</div>\n<div>two</div>" | "one\n\ntwo"
    a<br>b<br/>c                                         | "a\nb\nc"
    "  much \n space  "                                  | much space
    <ul><li>x</li><li>y</li></ul>                        | "x\ny"
    <style>p {}</style><p>seen</p><script>no()</script>  | seen
    a &lt;b&gt; &amp; &#127793;                          | a <b> & 🌱
    "<pre>x = 1\n  y = 2</pre>"                          | "x = 1\n y = 2"
    never < closed                                       | never < closed
    <!-- a comment --><b>bold</b>                        | bold
    ""                                                   | ""
""")
def test_text(written: str, text: str) -> None:
    assert flat(written).text == text


def test_quotations_links_and_pictures_stand_apart() -> None:
    found = flat(
        '<blockquote itemid="41">old <a href="u">w</a></blockquote>new '
        '<a href="https://x.org">words</a><img src="cid:1" alt="bed">'
    )
    assert (found.text, found.quoted, found.answers) == ("new words", "old w", "41")
    assert found.links == [("https://x.org", "words")]
    assert found.pictures == [("cid:1", "bed")]
