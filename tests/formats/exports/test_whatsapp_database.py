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
from realtalk.chat import Attachment, Call, Reaction
from realtalk.errors import RealtalkError
from realtalk.formats.exports import databases
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.tables import from_corpus, to_corpus
from written_phones import APPLE, CONTACTS, NEW, OLD, Rows, database

ANN, BO, TRIP = "1555@s.whatsapp.net", "1666@s.whatsapp.net", "12-34@g.us"
START = 1_714_548_600_000  # 2024-05-01 07:30

NEW_ROWS: dict[str, list[dict[str, Any]]] = {
    "jid": [
        {"_id": 1, "raw_string": ANN},
        {"_id": 2, "raw_string": "77@lid"},
        {"_id": 3, "user": "12-34", "server": "g.us"},
        {"_id": 4, "raw_string": "status@broadcast"},
        {"_id": 5, "raw_string": BO},
    ],
    "jid_map": [{"lid_row_id": 2, "jid_row_id": 5}],
    "chat": [
        {"_id": 1, "jid_row_id": 1},
        {"_id": 2, "jid_row_id": 3, "subject": "Trip"},
        {"_id": 3, "jid_row_id": 4},
    ],
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
        {"chat_row_id": 2, "from_me": 1, "message_type": 9, "timestamp": START + 90_000_000},
        {"chat_row_id": 2, "text_data": "from nobody"},
        {"chat_row_id": 3, "sender_jid_row_id": 1, "message_type": 1},
        {"chat_row_id": 9, "text_data": "to nowhere"},
        {"chat_row_id": 1, "message_type": 777},
        {"chat_row_id": 1, "message_type": 66, "text_data": "tea or coffee?", "timestamp": 0},
    ],
    "message_media": [
        {
            "message_row_id": 4,
            "file_path": "Media/WhatsApp Images/a.jpg",
            "mime_type": "image/jpeg",
        },
        {"message_row_id": 11, "file_path": "Media/x.pdf", "media_name": "Plan.pdf"},
    ],
    "message_quoted": [{"message_row_id": 3, "key_id": "k2"}],
    "message_edit_info": [{"message_row_id": 2}],
    "message_revoked": [{"message_row_id": 5}],
    "message_add_on": [
        {"_id": 1, "parent_message_row_id": 2, "from_me": 1},
        {"_id": 2, "parent_message_row_id": 10, "from_me": 0, "sender_jid_row_id": 1},
        {"_id": 3, "parent_message_row_id": 10, "from_me": 0, "sender_jid_row_id": 2},
        {"_id": 4, "parent_message_row_id": 10, "from_me": 1},
    ],
    "message_add_on_reaction": [
        {"message_add_on_row_id": number, "reaction": emoji}
        for number, emoji in ((1, "❤️"), (2, "👍"), (3, "👍"), (4, ""))
    ],
    "call_log": [
        {"jid_row_id": 1, "from_me": 0, "timestamp": START + 8_000},
        {"jid_row_id": 1, "from_me": 1, "timestamp": START + 120_000},
    ],
}
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
    reading = read(phone.parent)
    ann, trip = reading.corpus.chats
    assert (ann.id, ann.speakers) == ("Ann", ("Ann", "Me"))
    assert [(m.speaker, m.text, m.edited, m.deleted) for m in ann.messages] == [
        ("Ann", "did you sleep", True, False),
        ("Me", "barely", False, False),
        ("Ann", "look", False, False),
        ("Ann", "", False, True),
        ("Ann", "", False, True),
        ("Ann", "tea or coffee?", False, False),
    ]
    first, second, picture, *_, poll = ann.messages
    assert first.time == datetime(2024, 5, 1, 7, 30, 2) and poll.time is None
    assert second.reply_to == first.id
    assert picture.attachments == (Attachment("image", "a.jpg", "Media/WhatsApp Images/a.jpg"),)
    assert first.reactions == (Reaction("❤️", ("Me",), 1),)
    called = datetime(2024, 5, 1, 7, 30, 8)
    assert ann.calls == (Call("Ann", called), Call("Me", datetime(2024, 5, 1, 7, 32)))
    assert (trip.id, trip.speakers, len(trip.sessions)) == ("Trip", ("Bo", "Me"), 2)
    assert trip.messages[0].reactions == (Reaction("👍", ("Ann", "Bo"), 2),)
    assert trip.messages[1].attachments == (Attachment("file", "Plan.pdf", "Media/x.pdf"),)
    # 16 rows and 2 calls: the empty one, the one of nobody and the one to nowhere are left over.
    assert str(reading.ledger) == "18 entries = 8 in messages + 7 system + 3 left over"
    assert {left.where for left in reading.ledger.leftovers} == {
        f"msgstore.db, message {row}" for row in (7, 12, 14)
    }
    assert reading.notes[:1] == ("messages of a kind that is not known, taken as notices: 1",)


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
    rows: list[dict[str, Any]] = [
        {"key_remote_jid": "-1"},
        {"data": "hi", "key_id": "a"},
        {"key_from_me": 1, "data": "ho", "quoted_row_id": 5},
        {"media_wa_type": "1", "data": "bytes", "media_caption": "see", "media_name": "a.jpg"},
        {"key_from_me": 1, "status": 5, "edit_version": 7},
        {"key_remote_jid": TRIP, "remote_resource": BO, "data": "here"},
        {"key_remote_jid": TRIP, "status": 6, "data": "Trip"},
        {"media_wa_type": "8"},
    ]
    common = {"key_remote_jid": ANN, "key_from_me": 0, "media_wa_type": "0", "status": 0}
    messages = [common | {"timestamp": START + n} | row for n, row in enumerate(rows)]
    quotes = [{"_id": 5, "key_id": "a", "data": "hi"}]
    chats = [{"key_remote_jid": TRIP, "subject": "Trip"}]
    tables: Rows = {"messages": messages, "messages_quotes": quotes, "chat_list": chats}
    (tmp_path / "msgstore.db").write_bytes(database(OLD, tables))
    reading = read(tmp_path / "msgstore.db")
    ann, trip = reading.corpus.chats
    assert [(m.speaker, m.text, m.deleted) for m in ann.messages] == [
        ("+1555", "hi", False),
        ("Me", "ho", False),
        ("+1555", "see", False),
        ("Me", "", True),
    ]
    assert ann.messages[1].reply_to == ann.messages[0].id
    assert ann.messages[2].attachments == (Attachment("image", "a.jpg", "a.jpg"),)
    assert [call.speaker for call in ann.calls] == ["+1555"]
    assert (trip.id, trip.speakers) == ("Trip", ("+1666",))
    assert str(reading.ledger) == "8 entries = 5 in messages + 3 system + 0 left over"


def proto(number: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(data)]) + data


def test_a_phone_of_apple(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"ZTEXT": "hi", "ZSTANZAID": "A1"},
        {"ZISFROMME": 1, "ZTEXT": "ho", "ZMESSAGEDATE": 736241410.25},
        {"ZMESSAGETYPE": 1},
        {"ZMESSAGETYPE": 14, "ZISFROMME": 1},
        {"ZMESSAGETYPE": 10},
        {"ZCHATSESSION": 2, "ZGROUPMEMBER": 1, "ZTEXT": "here", "ZPARENTMESSAGE": None},
        {"ZCHATSESSION": 2, "ZGROUPMEMBER": 2, "ZMESSAGETYPE": 8, "ZPARENTMESSAGE": 6},
        {"ZCHATSESSION": 2, "ZMESSAGETYPE": 6, "ZTEXT": "Trip"},
    ]
    common = {"ZCHATSESSION": 1, "ZISFROMME": 0, "ZMESSAGETYPE": 0}
    messages = [
        common | {"Z_PK": n, "ZSTANZAID": f"S{n}", "ZMESSAGEDATE": 736241400.0 + n} | row
        for n, row in enumerate(rows, 1)
    ]
    messages[1]["ZMESSAGEDATE"] = 736241402.25
    mark = proto(1, proto(1, "x") + proto(2, BO) + proto(3, "😂")) + proto(1, proto(3, "👍"))
    tables: Rows = {
        "ZWAMESSAGE": messages,
        "ZWACHATSESSION": [
            {"Z_PK": 1, "ZCONTACTJID": ANN, "ZPARTNERNAME": "Ann"},
            {"Z_PK": 2, "ZCONTACTJID": TRIP, "ZPARTNERNAME": "Trip"},
        ],
        "ZWAGROUPMEMBER": [
            {"Z_PK": 1, "ZMEMBERJID": BO, "ZCONTACTNAME": ""},
            {"Z_PK": 2, "ZMEMBERJID": "1777@s.whatsapp.net", "ZCONTACTNAME": "Cy"},
        ],
        "ZWAPROFILEPUSHNAME": [{"ZJID": BO, "ZPUSHNAME": "Bo"}],
        "ZWAMEDIAITEM": [
            {"ZMESSAGE": 2, "ZMETADATA": proto(4, "hi") + proto(5, "A1")},
            {"ZMESSAGE": 3, "ZMEDIALOCALPATH": "Media/a/b.jpg", "ZTITLE": "look"},
            {"ZMESSAGE": 7, "ZMEDIALOCALPATH": "Media/a/c.pdf", "ZTITLE": "Plan.pdf"},
        ],
        "ZWAMESSAGEINFO": [
            {"ZMESSAGE": 1, "ZRECEIPTINFO": proto(7, mark)},
            {"ZMESSAGE": 6, "ZRECEIPTINFO": b"\x3a\xff\xff\xffbroken"},
        ],
    }
    (tmp_path / "ChatStorage.sqlite").write_bytes(database(APPLE, tables))
    reading = read(tmp_path / "ChatStorage.sqlite")
    ann, trip = reading.corpus.chats
    assert [(m.speaker, m.text, m.deleted) for m in ann.messages] == [
        ("Ann", "hi", False),
        ("Me", "ho", False),
        ("Ann", "look", False),
        ("Me", "", True),
    ]
    assert ann.messages[1].reply_to == ann.messages[0].id
    assert ann.messages[1].time == datetime(2024, 5, 1, 7, 30, 2, 250000)
    assert ann.messages[0].reactions == (Reaction("😂", ("Bo",), 1), Reaction("👍", ("Me",), 1))
    assert (trip.id, trip.speakers) == ("Trip", ("Bo", "Cy"))
    assert trip.messages[1].attachments == (Attachment("file", "Plan.pdf", "Media/a/c.pdf"),)
    assert trip.messages[1].reply_to == trip.messages[0].id
    assert str(reading.ledger) == "8 entries = 6 in messages + 2 system + 0 left over"


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
    with pytest.raises(RealtalkError, match=r"msgstore\.db") as error:
        open_reading(phone, "whatsapp-database")
    assert "\n" not in str(error.value)
    phone.write_bytes(database(CONTACTS, {}))
    with pytest.raises(RealtalkError, match=r"WhatsApp's that has no messages.*ChatStorage"):
        open_reading(phone)


def test_what_the_exporter_makes_of_it(tmp_path: Path) -> None:
    common = {"from_me": False, "time": "07:30", "media": False, "meta": False, "data": None}
    rows: list[dict[str, Any]] = [
        {"data": "one <br>two", "key_id": "a", "reactions": {"You": "👍", "Bo": "👍"}},
        {"from_me": True, "data": "yes", "reply": "a"},
        {"media": True, "data": "Media/a.jpg", "mime": "image/jpeg", "caption": "look"},
        {"media": True, "meta": True, "data": "The media is missing", "mime": "media"},
        {"meta": True, "data": "Message deleted"},
        {"meta": True, "data": "You blocked this contact"},
        {"data": {"odd": 1}},
    ]
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
    ann, trip = opened.reading.corpus.chats
    assert [(m.speaker, m.text, m.deleted) for m in ann.messages] == [
        ("Ann", "one\ntwo", False),
        ("Me", "yes", False),
        ("Ann", "look", False),
        ("Ann", "", False),
        ("Ann", "", True),
    ]
    first, second, picture, missing, _ = ann.messages
    assert first.reactions == (Reaction("👍", ("Me", "Bo"), 2),)
    assert second.reply_to == first.id and first.time == datetime(2024, 5, 1, 7, 30)
    assert picture.attachments == (Attachment("image", "a.jpg", "Media/a.jpg"),)
    assert missing.attachments == (Attachment("media"),)
    assert (trip.id, trip.speakers) == ("Trip", ("Bo",))
    assert str(opened.reading.ledger) == "9 entries = 6 in messages + 1 system + 2 left over"


def test_another_app_beside_it_is_read_too(phone: Path) -> None:
    sent = {"ROWID": 1, "handle_id": 1, "date": 674_501_382, "is_from_me": 0, "text": "hi"}
    tables = {"handle": [{"ROWID": 1, "id": "+1999"}], "message": [sent]}
    (phone.parent / "chat.db").write_bytes(written_apple.database(tables))
    reading = read(phone.parent)
    assert {chat.id for chat in reading.corpus.chats} == {"+1555", "Trip", "+1999"}
    assert reading.notes[-1] == "read as imessage, beside whatsapp-database: chat.db"
