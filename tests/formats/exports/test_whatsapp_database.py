"""WhatsApp's own databases: three layouts, names, reactions, replies, calls; nothing written."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import written_apple
from realtalk.formats.exports import databases
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.tables import from_corpus, to_corpus
from refusals import refused
from shown import check
from written_phones import APPLE, CONTACTS, NEW, OLD, database

ANN, BO, TRIP = "1555@s.whatsapp.net", "1666@s.whatsapp.net", "12-34@g.us"
START = 1_714_548_600_000  # 2024-05-01 07:30

# The jids of Ann, Bo and a group; times count milliseconds from START.
NEW_ROWS: dict[str, list[dict[str, Any]]] = json.loads("""{
"jid": [
 {"_id": 1, "raw_string": "1555@s.whatsapp.net"}, {"_id": 2, "raw_string": "77@lid"},
 {"_id": 3, "user": "12-34", "server": "g.us"}, {"_id": 4, "raw_string": "status@broadcast"},
 {"_id": 5, "raw_string": "1666@s.whatsapp.net"}],
"jid_map": [{"lid_row_id": 2, "jid_row_id": 5}],
"chat": [
 {"_id": 1, "jid_row_id": 1}, {"_id": 2, "jid_row_id": 3, "subject": "Trip"},
 {"_id": 3, "jid_row_id": 4}],
"message": [
 {"chat_row_id": -1, "message_type": -1},
 {"text_data": "did you sleep"},
 {"from_me": 1, "text_data": "barely", "key_id": "mine"},
 {"message_type": 1, "text_data": "look"},
 {"message_type": 2},
 {"message_type": 15},
 {"message_type": 0, "from_me": 1},
 {"message_type": 10},
 {"message_type": 7, "status": 6, "chat_row_id": 2},
 {"chat_row_id": 2, "sender_jid_row_id": 2, "text_data": "who drives?"},
 {"chat_row_id": 2, "from_me": 1, "message_type": 9, "timestamp": 1714638600000},
 {"chat_row_id": 2, "text_data": "from nobody"},
 {"chat_row_id": 3, "sender_jid_row_id": 1, "message_type": 1},
 {"chat_row_id": 9, "text_data": "to nowhere"},
 {"chat_row_id": 1, "message_type": 777},
 {"chat_row_id": 1, "message_type": 66, "text_data": "tea or coffee?", "timestamp": 0}],
"message_media": [
 {"message_row_id": 4, "file_path": "Media/WhatsApp Images/a.jpg", "mime_type": "image/jpeg"},
 {"message_row_id": 11, "file_path": "Media/x.pdf", "media_name": "Plan.pdf"}],
"message_quoted": [{"message_row_id": 3, "key_id": "k2"}],
"message_edit_info": [{"message_row_id": 2}],
"message_revoked": [{"message_row_id": 5}],
"message_add_on": [
 {"_id": 1, "parent_message_row_id": 2, "from_me": 1},
 {"_id": 2, "parent_message_row_id": 10, "from_me": 0, "sender_jid_row_id": 1},
 {"_id": 3, "parent_message_row_id": 10, "from_me": 0, "sender_jid_row_id": 2},
 {"_id": 4, "parent_message_row_id": 10, "from_me": 1}],
"message_add_on_reaction": [
 {"message_add_on_row_id": 1, "reaction": "❤️"}, {"message_add_on_row_id": 2, "reaction": "👍"},
 {"message_add_on_row_id": 3, "reaction": "👍"}, {"message_add_on_row_id": 4, "reaction": ""}],
"call_log": [
 {"jid_row_id": 1, "from_me": 0, "timestamp": 1714548608000},
 {"jid_row_id": 1, "from_me": 1, "timestamp": 1714548720000}]
}""")
NEW_ROWS["message"] = [
    {"_id": n, "chat_row_id": 1, "from_me": 0, "key_id": f"k{n}", "timestamp": START + n * 1000}
    | row
    for n, row in enumerate(NEW_ROWS["message"], 1)
]
WA = database(
    CONTACTS, {"wa_contacts": [{"jid": ANN, "display_name": "Ann"}, {"jid": BO, "wa_name": "Bo"}]}
)


def read(path: Path, **options: Any) -> ReadCorpus:
    opened = open_reading(path, options=ReadOptions(**options))
    assert opened.format == "whatsapp-database"
    reading = opened.reading
    assert from_corpus(to_corpus(reading.tables)).messages.equals(reading.tables.messages)
    return reading


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    path = tmp_path / "phone" / "msgstore.db"
    path.parent.mkdir()
    path.write_bytes(database(NEW, NEW_ROWS))
    return path


def test_a_phone(phone: Path) -> None:
    (phone.parent / "wa.db").write_bytes(WA)
    # 16 rows and 2 calls: the empty one, the one of nobody and the one to nowhere are left over.
    check(
        read(phone.parent),
        """
        Ann (Ann, Me) {"authors":{"Ann":"1555@s.whatsapp.net"},"calls":{"Ann":["2024-05-01T07:30
            :08"],"Me":["2024-05-01T07:32:00"]},"id":"1555@s.whatsapp.net"}
        session 1, 2024-05-01 07:30:02
        D1:1 2024-05-01 07:30:02 Ann, edited: did you sleep
            {"reactions":[{"by":["Me"],"count":1,"emoji":"❤️"}]}
        D1:2 2024-05-01 07:30:03 Me, to D1:1: barely
        D1:3 2024-05-01 07:30:04 Ann: look
            image a.jpg Media/WhatsApp Images/a.jpg
        D1:4 2024-05-01 07:30:05 Ann, deleted:
        D1:5 2024-05-01 07:30:06 Ann, deleted:
        D1:6 None Ann: tea or coffee?
        Trip (Bo, Me) {"authors":{"Bo":"1666@s.whatsapp.net"},"id":"12-34@g.us"}
        session 1, 2024-05-01 07:30:10
        D1:1 2024-05-01 07:30:10 Bo: who drives?
            {"reactions":[{"by":["Ann","Bo"],"count":2,"emoji":"👍"}]}
        session 2, 2024-05-02 08:30:00
        D2:1 2024-05-02 08:30:00 Me:
            file Plan.pdf Media/x.pdf
        18 entries = 8 in messages + 7 system + 3 left over
        msgstore.db, message 7: neither text nor attachment
        msgstore.db, message 12: no sender
        msgstore.db, message 14: belongs to no chat
        messages of a kind that is not known, taken as notices: 1
        messages without a readable time, left in their place: 1
        """,
    )


def test_names_and_clocks(phone: Path) -> None:
    # Without a list of contacts people are their numbers; one that lies beside is used.
    reading = read(phone, timezone="Europe/Athens")
    assert [chat.id for chat in reading.corpus.chats] == ["+1555", "Trip"]
    assert reading.corpus.chats[0].messages[0].time == datetime(2024, 5, 1, 10, 30, 2)
    (phone.parent / "wa.db").write_bytes(WA)
    assert [chat.id for chat in read(phone).corpus.chats] == ["Ann", "Trip"]


@pytest.mark.parametrize("batch", [1, 2, 50_000])
def test_a_text_of_broken_signs_spoils_no_other(
    phone: Path, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [message.text for message in read(phone).corpus.chats[0].messages]
    with closing(sqlite3.connect(phone)) as made:
        made.execute("UPDATE message SET text_data = CAST(x'ff686f' AS TEXT) WHERE key_id = 'mine'")
        made.commit()
    monkeypatch.setattr(databases, "_BATCH", batch)
    texts = [message.text for message in read(phone).corpus.chats[0].messages]
    assert texts == [before[0], "\ufffdho", *before[2:]]


def test_nothing_is_written_beside_it_and_a_zip_says_the_same(phone: Path, tmp_path: Path) -> None:
    expected = read(phone).corpus.chats
    with closing(sqlite3.connect(phone)) as made:
        made.execute("PRAGMA journal_mode=WAL")
    phone.chmod(0o400)
    phone.parent.chmod(0o500)
    try:
        assert read(phone).corpus.chats == expected
        assert [path.name for path in phone.parent.iterdir()] == ["msgstore.db"]
    finally:
        phone.parent.chmod(0o700)
    with ZipFile(tmp_path / "backup.zip", "w") as archive:
        archive.write(phone, "Databases/msgstore.db")
    assert read(tmp_path / "backup.zip").corpus.chats == expected
    # The same phone a day later: what both hold is taken once.
    (phone.parent / "msgstore-2024-05-02.1.db").write_bytes(phone.read_bytes())
    assert [len(chat.messages) for chat in read(phone.parent).corpus.chats] == [6, 2]


def test_an_older_phone(tmp_path: Path) -> None:
    tables = json.loads("""{"messages": [
        {"key_remote_jid": "-1"},
        {"data": "hi", "key_id": "a"},
        {"key_from_me": 1, "data": "ho", "quoted_row_id": 5},
        {"media_wa_type": "1", "data": "bytes", "media_caption": "see", "media_name": "a.jpg"},
        {"key_from_me": 1, "status": 5, "edit_version": 7},
        {"key_remote_jid": "12-34@g.us", "remote_resource": "1666@s.whatsapp.net", "data": "here"},
        {"key_remote_jid": "12-34@g.us", "status": 6, "data": "Trip"},
        {"media_wa_type": "8"}],
        "messages_quotes": [{"_id": 5, "key_id": "a", "data": "hi"}],
        "chat_list": [{"key_remote_jid": "12-34@g.us", "subject": "Trip"}]}""")
    common = {"key_remote_jid": ANN, "key_from_me": 0, "media_wa_type": "0", "status": 0}
    messages = [common | {"timestamp": START + n} | row for n, row in enumerate(tables["messages"])]
    (tmp_path / "msgstore.db").write_bytes(database(OLD, tables | {"messages": messages}))
    check(
        read(tmp_path / "msgstore.db"),
        """
        +1555 (+1555, Me) {"authors":{"+1555":"1555@s.whatsapp.net"},"calls":{"+1555":["2024-05-
            01T07:30:00.007000"]},"id":"1555@s.whatsapp.net"}
        session 1, 2024-05-01 07:30:00.001000
        D1:1 2024-05-01 07:30:00.001000 +1555: hi
        D1:2 2024-05-01 07:30:00.002000 Me, to D1:1: ho
        D1:3 2024-05-01 07:30:00.003000 +1555: see
            image a.jpg a.jpg
        D1:4 2024-05-01 07:30:00.004000 Me, deleted:
        Trip (+1666) {"authors":{"+1666":"1666@s.whatsapp.net"},"id":"12-34@g.us"}
        session 1, 2024-05-01 07:30:00.005000
        D1:1 2024-05-01 07:30:00.005000 +1666: here
        8 entries = 5 in messages + 3 system + 0 left over
        """,
    )


def proto(number: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(data)]) + data


def test_a_phone_of_apple(tmp_path: Path) -> None:
    tables = json.loads("""{"ZWAMESSAGE": [
        {"ZTEXT": "hi", "ZSTANZAID": "A1"},
        {"ZISFROMME": 1, "ZTEXT": "ho", "ZMESSAGEDATE": 736241402.25},
        {"ZMESSAGETYPE": 1},
        {"ZMESSAGETYPE": 14, "ZISFROMME": 1},
        {"ZMESSAGETYPE": 10},
        {"ZCHATSESSION": 2, "ZGROUPMEMBER": 1, "ZTEXT": "here", "ZPARENTMESSAGE": null},
        {"ZCHATSESSION": 2, "ZGROUPMEMBER": 2, "ZMESSAGETYPE": 8, "ZPARENTMESSAGE": 6},
        {"ZCHATSESSION": 2, "ZMESSAGETYPE": 6, "ZTEXT": "Trip"}],
        "ZWACHATSESSION": [
        {"Z_PK": 1, "ZCONTACTJID": "1555@s.whatsapp.net", "ZPARTNERNAME": "Ann"},
        {"Z_PK": 2, "ZCONTACTJID": "12-34@g.us", "ZPARTNERNAME": "Trip"}],
        "ZWAGROUPMEMBER": [
        {"Z_PK": 1, "ZMEMBERJID": "1666@s.whatsapp.net", "ZCONTACTNAME": ""},
        {"Z_PK": 2, "ZMEMBERJID": "1777@s.whatsapp.net", "ZCONTACTNAME": "Cy"}],
        "ZWAPROFILEPUSHNAME": [{"ZJID": "1666@s.whatsapp.net", "ZPUSHNAME": "Bo"}],
        "ZWAMEDIAITEM": [
        {"ZMESSAGE": 3, "ZMEDIALOCALPATH": "Media/a/b.jpg", "ZTITLE": "look"},
        {"ZMESSAGE": 7, "ZMEDIALOCALPATH": "Media/a/c.pdf", "ZTITLE": "Plan.pdf"}]}""")
    common = {"ZCHATSESSION": 1, "ZISFROMME": 0, "ZMESSAGETYPE": 0}
    tables["ZWAMESSAGE"] = [
        common | {"Z_PK": n, "ZSTANZAID": f"S{n}", "ZMESSAGEDATE": 736241400.0 + n} | row
        for n, row in enumerate(tables["ZWAMESSAGE"], 1)
    ]
    mark = proto(1, proto(1, "x") + proto(2, BO) + proto(3, "😂")) + proto(1, proto(3, "👍"))
    tables["ZWAMEDIAITEM"].append({"ZMESSAGE": 2, "ZMETADATA": proto(4, "hi") + proto(5, "A1")})
    tables["ZWAMESSAGEINFO"] = [
        {"ZMESSAGE": 1, "ZRECEIPTINFO": proto(7, mark)},
        {"ZMESSAGE": 6, "ZRECEIPTINFO": b"\x3a\xff\xff\xffbroken"},
    ]
    (tmp_path / "ChatStorage.sqlite").write_bytes(database(APPLE, tables))
    check(
        read(tmp_path / "ChatStorage.sqlite"),
        """
        Ann (Ann, Me) {"authors":{"Ann":"1555@s.whatsapp.net"},"id":"1555@s.whatsapp.net"}
        session 1, 2024-05-01 07:30:01
        D1:1 2024-05-01 07:30:01 Ann: hi
        {"reactions":[{"by":["Bo"],"count":1,"emoji":"😂"},{"by":["Me"],"count":1,"emoji":"👍"}]}
        D1:2 2024-05-01 07:30:02.250000 Me, to D1:1: ho
        D1:3 2024-05-01 07:30:03 Ann: look
            image b.jpg Media/a/b.jpg
        D1:4 2024-05-01 07:30:04 Me, deleted:
        Trip (Bo, Cy)
            {"authors":{"Bo":"1666@s.whatsapp.net","Cy":"1777@s.whatsapp.net"},"id":"12-34@g.us"
            }
        session 1, 2024-05-01 07:30:06
        D1:1 2024-05-01 07:30:06 Bo: here
        D1:2 2024-05-01 07:30:07 Cy, to D1:1:
            file Plan.pdf Media/a/c.pdf
        8 entries = 6 in messages + 2 system + 0 left over
        """,
    )


def test_parts_that_are_missing_or_damaged(phone: Path) -> None:
    least = {name: NEW_ROWS[name] for name in ("jid", "chat", "message")}
    schema = "".join(
        f"{part};" for part in NEW.split(";") if any(f"TABLE {name} " in part for name in least)
    )
    phone.write_bytes(
        database(
            schema.replace("status INTEGER", "x").replace(
                "message_type INTEGER", "message_type TEXT"
            ),
            {
                **least,
                "message": [
                    {k: v for k, v in row.items() if k != "status"} for row in least["message"]
                ],
            },
        )
    )
    reading = read(phone)
    assert reading.ledger.total == 16 and len(reading.corpus.chats) == 2
    whole = database(NEW, NEW_ROWS)
    phone.write_bytes(whole[: len(whole) // 2])
    with refused("msgstore.db"):
        open_reading(phone, "whatsapp-database")
    phone.write_bytes(database(CONTACTS, {}))
    with refused("WhatsApp's that has no messages.*ChatStorage"):
        open_reading(phone)


def test_what_the_exporter_makes_of_it(tmp_path: Path) -> None:
    rows = json.loads("""[
        {"data": "one <br>two", "key_id": "a", "reactions": {"You": "👍", "Bo": "👍"}},
        {"from_me": true, "data": "yes", "reply": "a"},
        {"media": true, "data": "Media/a.jpg", "mime": "image/jpeg", "caption": "look"},
        {"media": true, "meta": true, "data": "The media is missing", "mime": "media"},
        {"meta": true, "data": "Message deleted"},
        {"meta": true, "data": "You blocked this contact"},
        {"data": {"odd": 1}}]""")
    common = {"from_me": False, "time": "07:30", "media": False, "meta": False, "data": None}
    messages = {
        str(n): common | {"key_id": f"k{n}", "timestamp": START / 1000 + n} | row
        for n, row in enumerate(rows)
    }
    chats = {
        ANN: {"name": "Ann", "type": "android", "their_avatar": None, "messages": messages},
        TRIP: {"name": "Trip", "messages": {"9": messages["1"] | {"from_me": 0, "sender": "Bo"}}},
        BO: None,
    }
    (tmp_path / "result.json").write_text(json.dumps(chats))
    opened = open_reading(tmp_path / "result.json")
    assert opened.format == "whatsapp-exporter"
    check(
        opened.reading,
        """
        Ann (Ann, Me)
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ann: one⏎two
            {"id":"a","reactions":[{"by":["Me","Bo"],"count":2,"emoji":"👍"}]}
        D1:2 2024-05-01 07:30:01 Me, to D1:1: yes
            {"id":"k1"}
        D1:3 2024-05-01 07:30:02 Ann: look
            image a.jpg Media/a.jpg
            {"id":"k2"}
        D1:4 2024-05-01 07:30:03 Ann:
            media
            {"id":"k3"}
        D1:5 2024-05-01 07:30:04 Ann, deleted:
            {"id":"k4"}
        Trip (Bo)
        session 1, 2024-05-01 07:30:01
        D1:1 2024-05-01 07:30:01 Bo: yes
            {"id":"k1","reply_to":"a"}
        9 entries = 6 in messages + 1 system + 2 left over
        result.json, 1555@s.whatsapp.net[6]: its text is not text but another value (message k6)
        result.json: not an object
        """,
    )


def test_another_app_beside_it_is_read_too(phone: Path) -> None:
    sent = {"ROWID": 1, "handle_id": 1, "date": 674_501_382, "is_from_me": 0, "text": "hi"}
    tables = {"handle": [{"ROWID": 1, "id": "+1999"}], "message": [sent]}
    (phone.parent / "chat.db").write_bytes(written_apple.database(tables))
    reading = read(phone.parent)
    assert {chat.id for chat in reading.corpus.chats} == {"+1555", "Trip", "+1999"}
    assert reading.notes[-1] == "read as imessage, beside whatsapp-database: chat.db"
