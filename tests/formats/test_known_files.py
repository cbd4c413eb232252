"""Files that are not read say what they are and what to do instead."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from realtalk.errors import RealtalkError
from realtalk.formats.opening import open_reading

SNAPS = {"ann": [{"From": "ann", "Media Type": "TEXT", "Created": "2024-05-01 07:30:00 UTC"}]}
HANGOUTS = {
    "conversations": [{"conversation_id": {"id": "x"}, "participant_data": [], "events": []}]
}


@pytest.mark.parametrize(
    ("name", "head", "what", "fix"),
    [
        ("msgstore.db.crypt15", b"\x0a\x26\x00\x81", "WhatsApp's encrypted backup", "export chat"),
        ("signal-2024-05-01.backup", b"\0\0\0\x36\x0a\x34", "Signal's encrypted", "signal-export"),
        ("key_datas", b"TDF$\x01\x02", "Telegram Desktop's own storage", "export chat history"),
        ("EnMicroMsg.db", bytes(range(7, 90)), "WeChat's database", "ChatLab"),
        ("chat.ichat", b"bplist00\xd4\x01", "Apple's Messages", "chat.db"),
        ("outlook.pst", b"!BDN\x01\x02", "an Outlook mailbox", "mbox"),
        ("a.msg", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "an Outlook message", ".eml"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "an old Office", ".txt"),
        ("talk.pdf", b"%PDF-1.7\n%\xe2\xe3", "a PDF document", ".txt"),
        ("screen.png", b"\x89PNG\r\n\x1a\n\0\0\0\r", "a picture", "screenshot"),
        ("IMG_1.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF", "a picture", "screenshot"),
        ("IMG_1.heic", b"\0\0\0\x18ftypheic\0\0", "a picture", "screenshot"),
        ("clip.mp4", b"\0\0\0\x18ftypisom\0\0", "a sound or a video", "guide"),
        ("voice.opus", b"OggS\0\x02\0\0", "a sound or a video", "guide"),
        ("talk.rtf", b"{\\rtf1\\ansi", "rich text", ".txt"),
        ("x.7z", b"7z\xbc\xaf'\x1c\0\x04", "7-Zip", "unpack"),
        ("x.rar", b"Rar!\x1a\x07\x01\0", "RAR", "unpack"),
        ("chat_history.json", json.dumps(SNAPS).encode(), "Snapchat's download", "columns"),
        ("Hangouts.json", json.dumps(HANGOUTS).encode(), "Google Hangouts", "Google Chat"),
        ("direct-messages.js", b"window.YTD.direct_messages.part0 = [ {", "X's archive", "columns"),
        ("sms.xml", b"<?xml version='1.0'?>\n<smses count='2'>", "SMS messages in XML", "columns"),
        ("all.vcf", b"BEGIN:VCARD\nVERSION:3.0\n", "contacts", "export"),
        ("x.html", b"<html><head><title>Slack Export - x</title>", "Slack exports", "JSON"),
        ("x.html", b"<!DOCTYPE html><html><body>hello", "a web page", "export"),
    ],
)
def test_each_says_what_it_is(tmp_path: Path, name: str, head: bytes, what: str, fix: str) -> None:
    path = tmp_path / name
    path.write_bytes(head)
    with pytest.raises(RealtalkError) as caught:
        open_reading(path)
    assert what in str(caught.value) and fix in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "what"), [("msgstore.db", "WhatsApp's"), ("x.sqlite", "SQLite")])
def test_databases(tmp_path: Path, name: str, what: str) -> None:
    with closing(sqlite3.connect(tmp_path / name)) as database, database:
        database.execute("create table message (text)")
    with pytest.raises(RealtalkError, match=what):
        open_reading(tmp_path / name)


def test_archives(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "8_live_ben_export.tar", "w") as archive:
        info = tarfile.TarInfo("messages.json")
        info.size = 2
        archive.addfile(info, io.BytesIO(b"{}"))
    with pytest.raises(RealtalkError, match=r"tar archive.*messages\.json"):
        open_reading(tmp_path / "8_live_ben_export.tar")
    with zipfile.ZipFile(tmp_path / "talk.docx", "w") as document:
        document.writestr("[Content_Types].xml", "<Types/>")
        document.writestr("word/document.xml", "<w:document/>")
    with pytest.raises(RealtalkError, match="a Word document"):
        open_reading(tmp_path / "talk.docx")


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(RealtalkError, match="is a picture"):
        open_reading(tmp_path)
    (tmp_path / "x.bin").write_bytes(b"\0\1\2\3 whatever")
    with pytest.raises(RealtalkError, match="not recognised"):
        open_reading(tmp_path)
