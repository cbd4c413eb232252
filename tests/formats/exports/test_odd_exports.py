"""Exports as they lie about: cut off, in other encodings, and with entries that say little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment
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


@pytest.mark.parametrize(
    "tail", ["14/07/2024, 9", "14/07/2024, 9:43", "14/07/2024, 9:43\u202fpm -"]
)
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
