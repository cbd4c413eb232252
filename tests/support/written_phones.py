"""Messages as WhatsApp keeps them on phones: rows by table → the bytes of a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from said import Files, Form, Said, as_json, by_chat

NEW = """
CREATE TABLE jid (_id INTEGER PRIMARY KEY, user TEXT, server TEXT, raw_string TEXT);
CREATE TABLE jid_map (lid_row_id INTEGER PRIMARY KEY, jid_row_id INTEGER);
CREATE TABLE chat (_id INTEGER PRIMARY KEY, jid_row_id INTEGER, subject TEXT);
CREATE TABLE message (_id INTEGER PRIMARY KEY, chat_row_id INTEGER, from_me INTEGER, key_id TEXT,
  sender_jid_row_id INTEGER, timestamp INTEGER, message_type INTEGER, text_data TEXT,
  status INTEGER);
CREATE TABLE message_media (message_row_id INTEGER PRIMARY KEY, file_path TEXT, mime_type TEXT,
  media_name TEXT, media_caption TEXT);
CREATE TABLE message_quoted (message_row_id INTEGER PRIMARY KEY, key_id TEXT, text_data TEXT);
CREATE TABLE message_edit_info (message_row_id INTEGER PRIMARY KEY, original_key_id TEXT);
CREATE TABLE message_revoked (message_row_id INTEGER PRIMARY KEY, revoked_key_id TEXT);
CREATE TABLE message_add_on (_id INTEGER PRIMARY KEY, parent_message_row_id INTEGER,
  from_me INTEGER, sender_jid_row_id INTEGER, message_add_on_type INTEGER);
CREATE TABLE message_add_on_reaction (message_add_on_row_id INTEGER PRIMARY KEY, reaction TEXT);
CREATE TABLE call_log (_id INTEGER PRIMARY KEY, jid_row_id INTEGER, from_me INTEGER,
  timestamp INTEGER, video_call INTEGER, duration INTEGER, group_jid_row_id INTEGER);
"""
OLD = """
CREATE TABLE messages (_id INTEGER PRIMARY KEY, key_remote_jid TEXT, key_from_me INTEGER,
  key_id TEXT, status INTEGER, data TEXT, timestamp INTEGER, media_wa_type TEXT,
  media_mime_type TEXT, media_name TEXT, media_caption TEXT, remote_resource TEXT,
  quoted_row_id INTEGER, edit_version INTEGER);
CREATE TABLE messages_quotes (_id INTEGER PRIMARY KEY, key_id TEXT, data TEXT);
CREATE TABLE chat_list (_id INTEGER PRIMARY KEY, key_remote_jid TEXT, subject TEXT);
"""
APPLE = """
CREATE TABLE ZWAMESSAGE (Z_PK INTEGER PRIMARY KEY, ZISFROMME INTEGER, ZMESSAGEDATE TIMESTAMP,
  ZTEXT VARCHAR, ZMESSAGETYPE INTEGER, ZSTANZAID VARCHAR, ZCHATSESSION INTEGER,
  ZGROUPMEMBER INTEGER, ZPARENTMESSAGE INTEGER);
CREATE TABLE ZWACHATSESSION (Z_PK INTEGER PRIMARY KEY, ZCONTACTJID VARCHAR, ZPARTNERNAME VARCHAR);
CREATE TABLE ZWAGROUPMEMBER (Z_PK INTEGER PRIMARY KEY, ZMEMBERJID VARCHAR, ZCONTACTNAME VARCHAR);
CREATE TABLE ZWAMEDIAITEM (Z_PK INTEGER PRIMARY KEY, ZMESSAGE INTEGER, ZMEDIALOCALPATH VARCHAR,
  ZTITLE VARCHAR, ZVCARDNAME VARCHAR, ZVCARDSTRING VARCHAR, ZMETADATA BLOB);
CREATE TABLE ZWAPROFILEPUSHNAME (Z_PK INTEGER PRIMARY KEY, ZJID VARCHAR, ZPUSHNAME VARCHAR);
CREATE TABLE ZWAMESSAGEINFO (Z_PK INTEGER PRIMARY KEY, ZMESSAGE INTEGER, ZRECEIPTINFO BLOB);
"""
CONTACTS = (
    "CREATE TABLE wa_contacts (_id INTEGER PRIMARY KEY, jid TEXT, display_name TEXT, wa_name TEXT);"
)
Rows = Mapping[str, Iterable[Mapping[str, Any]]]


def database(schema: str, tables: Rows) -> bytes:
    """The bytes of a database with these rows."""
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(schema)
        for table, rows in tables.items():
            for row in rows:
                names, marks = ", ".join(row), ", ".join("?" * len(row))
                made.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])
        made.commit()
        return made.serialize()


def _android(said: list[Said]) -> Files:
    people = {who: place for place, who in enumerate(dict.fromkeys(one.who for one in said), 1)}
    chats = {name: place for place, name in enumerate(by_chat(said), 1000)}
    tables = {
        "jid": [
            *({"_id": row, "raw_string": f"{row}@s.whatsapp.net"} for row in people.values()),
            *({"_id": row, "raw_string": f"{row}@g.us"} for row in chats.values()),
        ],
        "chat": [{"_id": row, "jid_row_id": row, "subject": name} for name, row in chats.items()],
        "message": [
            {
                "_id": place + 1,
                "chat_row_id": chats[one.chat],
                "from_me": 0,
                "key_id": f"k{place}",
                "sender_jid_row_id": people[one.who],
                "timestamp": one.epoch * 1000,
                "message_type": 0,
                "text_data": one.text.encode("utf-8", "replace").decode(),
            }
            for place, one in enumerate(said)
        ],
        "message_quoted": [
            {"message_row_id": place + 1, "key_id": f"k{one.reply}"}
            for place, one in enumerate(said)
            if one.reply is not None
        ],
    }
    names = [
        {"jid": f"{row}@s.whatsapp.net", "display_name": who.encode("utf-8", "replace").decode()}
        for who, row in people.items()
    ]
    contacts = database(CONTACTS, {"wa_contacts": names})
    return {"msgstore.db": database(NEW, tables), "wa.db": contacts}


def _exporter(said: list[Said]) -> Files:
    chats = {
        f"{number}@g.us": {
            "name": name,
            "messages": {
                str(place): {
                    "from_me": False,
                    "timestamp": one.epoch,
                    "key_id": one.id or f"k{place}",
                    "meta": False,
                    "media": False,
                    "data": one.text,
                    "sender": one.who,
                    "reply": None if one.reply is None else f"k{one.reply}",
                }
                for place, one in chat
            },
        }
        for number, (name, chat) in enumerate(by_chat(said).items())
    }
    return {"result.json": as_json(chats)}


PHONES: dict[str, Form] = {
    "whatsapp database": Form("whatsapp-database", _android),
    "whatsapp exporter": Form("whatsapp-exporter", _exporter),
}
