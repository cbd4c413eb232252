"""Telegram Desktop's JSON: who, when, what, and what is no message."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from realtalk.chat import Attachment, Message, Reaction, unpack_extra
from realtalk.formats.exports.telegram import FORMAT
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Source
from realtalk.formats.store import store


def entry(number: int, **values: Any) -> dict[str, Any]:
    moment = datetime(2024, 5, 1, 9, 30 + number % 30)
    item = {
        "id": number,
        "type": "message",
        "date": moment.isoformat(),
        "date_unixtime": str(int(datetime(2024, 5, 1, 7, 30 + number % 30).timestamp())),
        "from": "Ann",
        "from_id": "user1",
        "text": f"text {number}",
        "text_entities": [{"type": "plain", "text": f"text {number}"}],
    }
    item.update(values)
    return {key: value for key, value in item.items() if value is not ...}


def chat(*items: Any, **values: Any) -> dict[str, Any]:
    return {"name": "Ann", "type": "personal_chat", "id": 7, "messages": list(items)} | values


def read(folder: Path, export: Any, options: ReadOptions | None = None) -> ReadCorpus:
    path = folder / "result.json"
    path.write_text(json.dumps(export), encoding="utf-8")
    source = Source.open(path)
    assert FORMAT.sniff(source)
    return FORMAT.read(source, options or ReadOptions())


def messages(reading: ReadCorpus) -> list[Message]:
    return [message for chat in reading.corpus.chats for message in chat.messages]


def only(folder: Path, **values: Any) -> Message:
    [message] = messages(read(folder, chat(entry(1, **values))))
    return message


def test_pieces_of_text_are_joined_as_they_stand(tmp_path: Path) -> None:
    text = ["half", {"type": "bold", "text": "way"}, " there, ", {"type": "link", "text": "a.org"}]
    assert only(tmp_path, text=text).text == "halfway there, a.org"


def test_a_link_right_behind_styled_text_gets_a_space(tmp_path: Path) -> None:
    link = {"type": "link", "text": "https://a.org"}
    assert (
        only(tmp_path, text=[{"type": "bold", "text": "See:"}, link]).text == "See: https://a.org"
    )
    assert only(tmp_path, text=[{"type": "bold", "text": "("}, link]).text == "(https://a.org"
    assert only(tmp_path, text=["(see:", link, ")"]).text == "(see:https://a.org)"


def test_a_hidden_link_is_kept_beside_the_text(tmp_path: Path) -> None:
    piece = {"type": "text_link", "text": "here", "href": "https://a.org/x"}
    message = only(tmp_path, text=["look ", piece], text_entities=...)
    assert message.text == "look here"
    assert message.attachments == (Attachment("link", "here", "https://a.org/x"),)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"photo": "photos/a.jpg"}, Attachment("image", "a.jpg", "photos/a.jpg")),
        ({"photo": "(File not included.)"}, Attachment("image")),
        (
            {"file": "v/a.ogg", "media_type": "voice_message", "mime_type": "audio/ogg"},
            Attachment("audio", "a.ogg", "v/a.ogg"),
        ),
        (
            {"file": "r/a.mp4", "media_type": "video_message"},
            Attachment("video", "a.mp4", "r/a.mp4"),
        ),
        (
            {"file": "(File exceeds size)", "media_type": "video_file", "file_name": "trip.mov"},
            Attachment("video", "trip.mov"),
        ),
        (
            {"file": "s/a.webp", "media_type": "sticker", "sticker_emoji": "🐝"},
            Attachment("sticker", "a.webp", "s/a.webp", "🐝"),
        ),
        (
            {"file": "f/a.pdf", "file_name": "plan.pdf", "mime_type": "application/pdf"},
            Attachment("file", "plan.pdf", "f/a.pdf"),
        ),
        (
            {
                "contact_information": {
                    "first_name": "Ida",
                    "last_name": "Berg",
                    "phone_number": "+1",
                }
            },
            Attachment("contact", "Ida Berg", "", "+1"),
        ),
        (
            {"location_information": {"latitude": 1.5, "longitude": -2.25}, "place_name": "Pier"},
            Attachment("location", "Pier", "geo:1.5,-2.25"),
        ),
    ],
)
def test_attachments(tmp_path: Path, values: dict[str, Any], expected: Attachment) -> None:
    message = only(tmp_path, text="", text_entities=[], **values)
    assert message.attachments == (expected,)
    assert message.text == ""


def test_a_poll_says_its_question(tmp_path: Path) -> None:
    poll = {"question": "When?", "answers": [{"text": "now", "voters": 1}, {"text": "later"}]}
    message = only(tmp_path, text="", text_entities=[], poll=poll)
    assert message.text == "When?"
    assert unpack_extra(message.extra)["poll"] == ["now", "later"]


def test_replies_edits_forwards_and_reactions(tmp_path: Path) -> None:
    export = chat(
        entry(1),
        entry(2, reply_to_message_id=1, edited="2024-05-02T10:00:00", via_bot="@pic"),
        entry(3, reply_to_message_id=999, edited="1970-01-01T01:00:00"),
        entry(4, reply_to_message_id=1, reply_to_peer_id="channel5", forwarded_from="Ida"),
        entry(
            5, reactions=[{"type": "emoji", "count": 2, "emoji": "❤", "recent": [{"from": "Bo"}]}]
        ),
    )
    first, second, third, fourth, fifth = messages(read(tmp_path, export))
    assert (second.reply_to, second.edited) == (first.id, True)
    assert (third.reply_to, third.edited) == (None, False)
    assert unpack_extra(third.extra)["reply_to"] == "999"
    assert fourth.reply_to is None
    assert unpack_extra(fourth.extra)["forwarded_from"] == "Ida"
    assert unpack_extra(second.extra)["via_bot"] == "@pic"
    expected = [{"emoji": "❤", "count": 2, "by": ["Bo"]}]
    assert unpack_extra(fifth.extra)["reactions"] == expected


@pytest.mark.parametrize("way", ["stored", "jsonl", "csv", "locomo", "convokit"])
def test_reactions_are_kept_wherever_a_chat_goes(tmp_path: Path, way: str) -> None:
    given = [{"type": "emoji", "count": 2, "emoji": "❤", "recent": [{"from": "Bo"}]}]
    reading = read(tmp_path, chat(entry(1), entry(2, reactions=given)))
    out = tmp_path / "out"
    if way == "stored":
        store(reading, out)
    else:
        write = FORMATS[way].write
        assert write is not None
        write(reading.corpus, out)
    first, second = messages(open_reading(out).reading)
    assert (first.reactions, second.reactions) == ((), (Reaction("❤", ("Bo",), 2),))


def test_people_of_one_name_and_deleted_accounts_stay_apart(tmp_path: Path) -> None:
    export = chat(
        entry(1),
        entry(2, from_id="user2"),
        entry(3, **{"from": None, "from_id": "user3"}),
        entry(4, **{"from": None, "from_id": "user4"}),
        entry(5, **{"from": "Bo", "from_id": "user5"}),
    )
    [one] = read(tmp_path, export).corpus.chats
    assert one.speakers == (
        *("Ann (user1)", "Ann (user2)"),
        *("Deleted Account (user3)", "Deleted Account (user4)", "Bo"),
    )


def test_service_entries_and_rubbish_are_accounted_for(tmp_path: Path) -> None:
    export = chat(
        {"id": 0, "type": "service", "actor": "Ann", "action": "pin_message", "text": ""},
        entry(1),
        "not an entry",
        entry(2, text="", text_entities=[]),
        entry(3, **{"from": None, "from_id": None}),
        entry(1),
    )
    reading = read(tmp_path, export)
    assert str(reading.ledger) == "6 entries = 1 in messages + 1 system + 4 left over"
    assert [left.reason for left in reading.ledger.leftovers] == [
        "not an object",
        "neither text nor attachment",
        "no sender",
        "repeats message 1",
    ]
    assert reading.ledger.leftovers[0].where == "result.json, messages[2]"


@pytest.mark.parametrize("action", ["phone_call", "group_call", "invite_members", "topic_created"])
def test_what_the_app_tells_of_people_is_no_message(tmp_path: Path, action: str) -> None:
    told = {"id": 9, "type": "service", "date": "2024-05-01T09:31:00", "actor": "Ann"}
    told |= {"actor_id": "user1", "action": action, "duration_seconds": 56, "text": ""}
    reading = read(tmp_path, chat(entry(1), told))
    assert str(reading.ledger) == "2 entries = 1 in messages + 1 system + 0 left over"


def test_the_exporters_clock_is_used_until_a_zone_is_asked_for(tmp_path: Path) -> None:
    item = entry(1, date="2024-05-01T09:30:00", date_unixtime="1714548600")
    assert messages(read(tmp_path, chat(item)))[0].time == datetime(2024, 5, 1, 9, 30)
    zoned = read(tmp_path, chat(item), ReadOptions(timezone="Asia/Tokyo"))
    assert messages(zoned)[0].time == datetime(2024, 5, 1, 16, 30)
    assert zoned.notes == ()


def test_where_one_entry_lacks_the_local_time_all_use_utc(tmp_path: Path) -> None:
    export = chat(
        entry(1, date="2024-05-01T11:30:00", date_unixtime="1714548600"),
        entry(2, date=..., date_unixtime="1714548660"),
    )
    reading = read(tmp_path, export)
    assert [message.time for message in messages(reading)] == [
        datetime(2024, 5, 1, 7, 30),
        datetime(2024, 5, 1, 7, 31),
    ]
    assert len(reading.notes) == 1
    assert "no local time" in reading.notes[0]


def test_a_whole_account(tmp_path: Path) -> None:
    export = {
        "about": "Here is the data you requested. Remember: Telegram is ad free.",
        "personal_information": {"first_name": "Ann"},
        "contacts": {"list": []},
        "chats": {"about": "x", "list": [chat(entry(1)), chat(entry(2)), chat(name="Empty")]},
        "left_chats": {"list": [chat(entry(3), name=None, type="private_group")]},
    }
    reading = read(tmp_path, export)
    assert [one.id for one in reading.corpus.chats] == ["Ann", "Ann (2)", "Private group"]
    assert reading.ledger.total == 3


def test_a_zip_and_a_folder_with_other_json_files(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        for number in range(80):
            archive.writestr(f"files/{number}.json", "{}")
        archive.writestr("result.json", json.dumps(chat(entry(1))))
    source = Source.open(path)
    assert FORMAT.sniff(source)
    assert len(messages(FORMAT.read(source, ReadOptions()))) == 1


def test_two_exports_of_one_chat_are_one_chat(tmp_path: Path) -> None:
    for day, items in (("01", [entry(1), entry(2)]), ("02", [entry(2), entry(3)])):
        folder = tmp_path / f"ChatExport_2024-05-{day}"
        folder.mkdir()
        (folder / "result.json").write_text(json.dumps(chat(*items)))
    reading = FORMAT.read(Source.open(tmp_path), ReadOptions())
    assert [message.text for message in messages(reading)] == ["text 1", "text 2", "text 3"]
    assert len(reading.corpus.chats) == 1
    assert reading.ledger.leftovers[0].reason == "repeats message 2"


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {"poll": {"question": {"text": "where to?"}, "answers": [{"text": ["Os", "lo"]}]}},
            "where to?",
        ),
        ({"todo_list": {"title": "shopping", "answers": [{"id": 1, "text": "milk"}]}}, "shopping"),
        ({"invoice_information": {"title": "Tea", "amount": 3}}, "Tea"),
    ],
)
def test_what_a_poll_a_list_or_an_invoice_is_headed_with(
    tmp_path: Path, values: dict[str, Any], text: str
) -> None:
    message = only(tmp_path, text="", text_entities=[], **values)
    assert message.text == text
    told = unpack_extra(message.extra)
    assert told.get("poll", ["Oslo"]) == ["Oslo"] and told.get("tasks", ["milk"]) == ["milk"]


def test_samples(data: Path) -> None:
    folder = data / "chat_exports" / "telegram"
    target = json.loads((folder / "cm_target.json").read_text(encoding="utf-8"))
    expected = [(t["author"], datetime.fromisoformat(t["timestamp"]), t["message"]) for t in target]
    for name in ("cm_test_single_export.json", "cm_test_batch_export.json"):
        found = messages(FORMAT.read(Source.open(folder / name), ReadOptions()))
        assert [(m.speaker, m.time, m.text) for m in found] == expected
    reading = FORMAT.read(Source.open(folder / "ca_DM_2A_7M.json"), ReadOptions())
    assert str(reading.ledger) == "8 entries = 6 in messages + 2 system + 0 left over"
    assert [a.kind for m in messages(reading) for a in m.attachments] == ["image", "image"]
    assert len(reading.corpus.speakers) == 2
