"""One list of messages as Messages keeps it, and as imessage-exporter writes it."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

import written_phones
from said import Files, Form, Said, by_chat, texts
from written_phones import Rows

SCHEMA = """
CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT, service TEXT);
CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, chat_identifier TEXT, display_name TEXT);
CREATE TABLE message (
  ROWID INTEGER PRIMARY KEY, guid TEXT, text TEXT, attributedBody BLOB, handle_id INTEGER,
  date INTEGER, is_from_me INTEGER DEFAULT 0, item_type INTEGER DEFAULT 0,
  group_action_type INTEGER DEFAULT 0, associated_message_guid TEXT,
  associated_message_type INTEGER DEFAULT 0, associated_message_emoji TEXT,
  date_edited INTEGER DEFAULT 0, thread_originator_guid TEXT, balloon_bundle_id TEXT,
  is_audio_message INTEGER DEFAULT 0, subject TEXT);
CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
CREATE TABLE chat_handle_join (chat_id INTEGER, handle_id INTEGER);
CREATE TABLE attachment (
  ROWID INTEGER PRIMARY KEY, filename TEXT, mime_type TEXT, transfer_name TEXT,
  is_sticker INTEGER);
CREATE TABLE message_attachment_join (message_id INTEGER, attachment_id INTEGER);
"""


def styled(text: str) -> bytes:
    """A text in the stream that Messages keeps it in."""
    data = text.encode("utf-8", "replace")
    size = len(data)
    if size < 0x80:
        length = bytes([size])
    elif size < 1 << 16:
        length = b"\x81" + size.to_bytes(2, "little")
    else:
        length = b"\x82" + size.to_bytes(4, "little")
    return (
        b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x12NSAttributedString\x00\x84\x84"
        b"\x08NSObject\x00\x85\x92\x84\x84\x84\x08NSString\x01\x94\x84\x01+"
        + length
        + data
        + b"\x86\x84\x02iI\x01\x02\x92\x84\x84\x84\x0cNSDictionary\x00"
    )


def database(tables: Rows) -> bytes:
    """The bytes of a database with these rows."""
    return written_phones.database(SCHEMA, tables)


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _database(said: list[Said]) -> Files:
    people = {who: number for number, who in enumerate(dict.fromkeys(s.who for s in said), 1)}
    chats = {name: number for number, name in enumerate(by_chat(said), 1)}
    tables: dict[str, Iterable[dict[str, Any]]] = {
        "handle": [{"ROWID": n, "id": _plain(who)} for who, n in people.items()],
        "chat": [{"ROWID": n, "chat_identifier": name} for name, n in chats.items()],
        "chat_message_join": [
            {"chat_id": chats[one.chat], "message_id": place} for place, one in enumerate(said, 1)
        ],
        "message": (
            {
                "ROWID": place,
                "guid": one.id or f"g{place}",
                "text": None if place % 2 else _plain(one.text),
                "attributedBody": styled(one.text) if place % 2 else None,
                "handle_id": people[one.who],
                "date": (one.epoch - 978_307_200) * 10**9,
                "thread_originator_guid": None if one.reply is None else f"g{one.reply + 1}",
            }
            for place, one in enumerate(said, 1)
        ),
    }
    return {"chat.db": database(tables)}


def _time(one: Said) -> str:
    hour = one.time.hour % 12 or 12
    half = "AM" if one.time.hour < 12 else "PM"
    return f"{one.time:%b %d, %Y} {hour:2}:{one.time:%M:%S} {half}"


_text = texts("+1555010{}.txt", "", lambda one: f"{_time(one)}\n{one.who}\n{one.text}\n\n")


def _page(said: list[Said]) -> Files:
    files = {}
    for place, chat in enumerate(by_chat(said).values()):
        bubbles = [
            '<div class="message">\n<div class="received">\n<p><span class="timestamp">'
            f'<a href="sms://open?message-guid={html.escape(one.id or f"g{at}")}">{_time(one)}</a>'
            f'</span>\n<span class="sender">{html.escape(one.who)}</span></p>\n<hr>'
            f'<div class="message_part">\n<span class="bubble">{html.escape(one.text)}</span>\n'
            "</div>\n</div>\n</div>\n"
            for at, one in chat
        ]
        page = f"<html>\n<head></head><body>\n{''.join(bubbles)}</body></html>"
        files[f"+1555010{place}.html"] = page.encode("utf-8", "replace")
    return files


APPLE: dict[str, Form] = {
    "imessage": Form("imessage", _database),
    "imessage text": Form("imessage", _text),
    "imessage html": Form("imessage", _page),
}
