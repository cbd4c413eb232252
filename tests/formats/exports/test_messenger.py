"""Messenger: parts joined, characters put right, and what the app said itself."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from realtalk.chat import Attachment, Message, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.formats.exports.meta import MESSENGER, repaired
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source

START = 1714548600000


def broken(text: str) -> str:
    """As the download writes it: every byte a character."""
    return text.encode("utf-8").decode("latin-1")


def entry(number: int, **values: Any) -> dict[str, Any]:
    return {
        "sender_name": "Ann Berg",
        "timestamp_ms": START + number * 1000,
        "content": f"text {number}",
        "is_geoblocked_for_viewer": False,
    } | values


def thread(*items: Any, **values: Any) -> dict[str, Any]:
    return {
        "participants": [{"name": "Ann Berg"}, {"name": "Bo"}],
        "messages": list(items)[::-1],
        "title": "Ann Berg",
        "is_still_participant": True,
        "thread_path": "inbox/annberg_1",
        "thread_type": "Regular",
        "magic_words": [],
    } | values


def read(folder: Path, export: Any, options: ReadOptions | None = None) -> ReadCorpus:
    path = folder / "message_1.json"
    path.write_text("\ufeff" + json.dumps(export), encoding="utf-8")
    source = Source.open(path)
    assert MESSENGER.sniff(source)
    return MESSENGER.read(source, options or ReadOptions())


def messages(reading: ReadCorpus) -> list[Message]:
    return [message for chat in reading.corpus.chats for message in chat.messages]


@pytest.mark.parametrize("text", ["café", "прывітанне", "👍🏽", "plain"])
def test_characters_are_put_right(text: str) -> None:
    assert repaired(broken(text)) == text


@pytest.mark.parametrize("text", ["café", "прывітанне", "ÃÃ", "naïve"])
def test_correct_text_is_left_alone(text: str) -> None:
    assert repaired(text) == text


def test_names_title_and_reactions_are_put_right_too(tmp_path: Path) -> None:
    name = broken("Zoë")
    marks = [{"reaction": broken("❤"), "actor": broken("Łuk")}]
    item = entry(1, sender_name=name, content=broken("tschüß"), reactions=marks)
    reading = read(tmp_path, thread(item, title=name, participants=[{"name": name}]))
    [chat] = reading.corpus.chats
    [message] = chat.messages
    assert (chat.id, message.speaker, message.text) == ("Zoë", "Zoë", "tschüß")
    assert unpack_extra(chat.extra)["participants"] == ["Zoë"]
    expected = [{"emoji": "❤", "count": 1, "by": ["Łuk"]}]
    assert unpack_extra(message.extra)["reactions"] == expected
    assert reading.notes == ("messages whose characters were put right: 1",)


def test_parts_are_joined_across_a_download_in_the_right_order(tmp_path: Path) -> None:
    same = [entry(5, timestamp_ms=START, content=text) for text in "abc"]
    path = tmp_path / "facebook-ann.zip"
    base = "your_facebook_activity/messages"
    with ZipFile(path, "w") as archive:
        for number in range(70):
            archive.writestr(f"ads/{number}.json", "{}")
        archive.writestr(f"{base}/autofill_information.json", '{"label_values": []}')
        for number in range(1, 12):  # part 11 holds the oldest; names sort 1, 10, 11, 2
            first = START + (11 - number) * 10_000
            items = [entry(0, timestamp_ms=first + i, content=f"{number}") for i in range(2)]
            part = thread(*(same if number == 11 else items))
            archive.writestr(f"{base}/inbox/annberg_1/message_{number}.json", json.dumps(part))
        other = thread(entry(1), title="Bo", thread_path="archived_threads/bo_2")
        archive.writestr(f"{base}/archived_threads/bo_2/message_1.json", json.dumps(other))
        empty = thread(title="Nobody", thread_path="inbox/nobody_3")
        archive.writestr(f"{base}/inbox/nobody_3/message_1.json", json.dumps(empty))
    source = Source.open(path)
    assert MESSENGER.sniff(source)
    reading = MESSENGER.read(source, ReadOptions())
    bo, ann = reading.corpus.chats
    assert (bo.id, ann.id) == ("Bo", "Ann Berg")
    texts = [message.text for message in ann.messages]
    assert texts[:3] == ["a", "b", "c"]
    assert texts[3:] == [str(number) for number in range(10, 0, -1) for _ in range(2)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"photos": [{"uri": "m/a.jpg"}]}, Attachment("image", "a.jpg", "m/a.jpg")),
        ({"videos": [{"uri": "m/a.mp4"}]}, Attachment("video", "a.mp4", "m/a.mp4")),
        ({"audio_files": [{"uri": "m/a.mp4"}]}, Attachment("audio", "a.mp4", "m/a.mp4")),
        ({"gifs": [{"uri": "m/a.gif"}]}, Attachment("image", "a.gif", "m/a.gif")),
        ({"files": [{"uri": "m/a.docx"}]}, Attachment("file", "a.docx", "m/a.docx")),
        ({"sticker": {"uri": "m/a.png"}}, Attachment("sticker", "a.png", "m/a.png")),
        (
            {"share": {"link": "https://a.org", "share_text": "T"}},
            Attachment("link", "", "https://a.org", "T"),
        ),
    ],
)
def test_attachments(tmp_path: Path, values: dict[str, Any], expected: Attachment) -> None:
    notice = {"content": "Ann sent an attachment."}
    [message] = messages(read(tmp_path, thread(entry(1, **(notice | values)))))
    assert (message.text, message.attachments) == ("", (expected,))


@pytest.mark.parametrize(
    "values",
    [
        {"call_duration": 0, "content": "Ann called you."},
        {"type": "Subscribe", "content": "Ann added Bo."},
        {"type": "Unsubscribe", "content": "Ann left."},
        {"content": "Ann named the group Garden club."},
        {"content": "You set the nickname for Bo to B."},
        {"content": broken("Reacted ❤ to your message ")},
    ],
)
def test_what_the_app_said_is_no_message(tmp_path: Path, values: dict[str, Any]) -> None:
    reading = read(tmp_path, thread(entry(1), entry(2, **values)))
    assert (reading.ledger.in_messages, reading.ledger.system) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "You missed the bus again.",
        "Bo left the group.",
        "You voted for that?",
        "You left the group because of me",
        "Ann is late again.",
        "Ann Berg here, new number.",
        "Mum pinned a message.",
        "someone created a poll: where to eat",
        "You sent me a photo.",
    ],
)
def test_what_people_say_about_each_other_is(tmp_path: Path, text: str) -> None:
    [message] = messages(read(tmp_path, thread(entry(1, content=text))))
    assert message.text == text


@pytest.mark.parametrize(
    "text",
    [
        "Ann Berg started a video chat",
        "You missed a video call from Ann Berg",
        "Ann missed your call",
    ],
)
def test_calls_are_no_message(tmp_path: Path, text: str) -> None:
    reading = read(tmp_path, thread(entry(1, content=text), entry(2)))
    assert [message.text for message in messages(reading)] == ["text 2"]
    assert reading.ledger.system == 1


def test_two_downloads_of_one_conversation_overlap(tmp_path: Path) -> None:
    for year, items in (
        ("2023", [entry(1), entry(2), entry(2)]),
        ("2024", [entry(2), entry(3, photos=[{"uri": "a.jpg"}])]),
    ):
        folder = tmp_path / f"facebook-{year}" / "messages" / "inbox" / "annberg_1"
        folder.mkdir(parents=True)
        (folder / "message_1.json").write_text(json.dumps(thread(*items)))
    reading = MESSENGER.read(Source.open(tmp_path), ReadOptions())
    # Twice in one file is twice said; in another file it is the same once more.
    assert [m.text for m in messages(reading)] == ["text 1", "text 2", "text 2", "text 3"]
    assert [left.reason for left in reading.ledger.leftovers] == [
        "repeats a message of another file"
    ]


def test_unsent_messages_are_deleted_ones(tmp_path: Path) -> None:
    [message] = messages(read(tmp_path, thread(entry(1, is_unsent=True))))
    assert (message.deleted, message.text) == (True, "")


def test_rubbish_is_accounted_for(tmp_path: Path) -> None:
    items = (entry(1), None, entry(2, content=None), entry(3, sender_name=None))
    reading = read(tmp_path, thread(*items, entry(4, timestamp_ms="soon")))
    assert str(reading.ledger) == "5 entries = 2 in messages + 0 system + 3 left over"
    assert any("without a readable time" in note for note in reading.notes)


def test_encrypted_conversations(tmp_path: Path) -> None:
    def item(number: int, **values: Any) -> dict[str, Any]:
        return {
            "isUnsent": False,
            "media": [],
            "reactions": [],
            "senderName": "Zoë Ã©",  # correct as it stands
            "text": f"text {number}",
            "timestamp": START + number * 1000,
            "type": "text",
        } | values

    export = {
        "participants": ["Zoë Ã©", "Bo"],
        "threadName": "Zoë_7",
        "messages": [
            item(1, reactions=[{"actor": "Bo", "reaction": "❤"}]),
            item(2, text="", media=[{"uri": "./media/a.jpeg"}], type="media"),
            item(3, text="", media=[{"uri": "Failed to download media"}], type="media"),
            item(4, text="User unsent a message", isUnsent=True, type="placeholder"),
            item(5, text="Bo joined.", type="placeholder"),
        ],
    }
    reading = read(tmp_path, export, ReadOptions(timezone="Asia/Tokyo"))
    [chat] = reading.corpus.chats
    first, second, third, fourth = chat.messages
    assert (chat.id, chat.speakers) == ("Zoë_7", ("Zoë Ã©",))
    assert first.time == datetime(2024, 5, 1, 16, 30, 1)
    assert unpack_extra(first.extra)["reactions"][0]["by"] == ["Bo"]
    assert second.attachments == (Attachment("image", "a.jpeg", "./media/a.jpeg"),)
    assert third.attachments == (Attachment("media"),)
    assert (fourth.deleted, fourth.text) == (True, "")
    assert reading.ledger.system == 1


def test_no_message_files_is_one_clear_error(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    with pytest.raises(RealtalkError, match="choose the format JSON"):
        MESSENGER.read(Source.open(tmp_path), ReadOptions())


def test_sample(data: Path) -> None:
    source = Source.open(data / "chat_exports" / "messenger" / "ca_2A_7M.json")
    assert MESSENGER.sniff(source)
    reading = MESSENGER.read(source, ReadOptions())
    assert (reading.ledger.in_messages, reading.ledger.total) == (7, 7)
    found = messages(reading)
    assert [a.kind for m in found for a in m.attachments] == ["image", "sticker", "audio", "file"]
    assert len(reading.corpus.speakers) == 2
