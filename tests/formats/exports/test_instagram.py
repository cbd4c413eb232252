"""Instagram: told from Messenger, with likes and shares as what they are."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Attachment
from realtalk.formats.exports.meta import INSTAGRAM, MESSENGER
from realtalk.formats.reading import ReadOptions
from realtalk.formats.source import Source


def entry(number: int, **values: Any) -> dict[str, Any]:
    moment = 1714548600000 + number * 1000
    return {"sender_name": "ann", "timestamp_ms": moment, "content": f"text {number}"} | values


def write(path: Path, *items: Any, **values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    export = {"participants": [{"name": "ann"}], "messages": list(items)[::-1]} | values
    path.write_text(json.dumps(export), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("message_1.json", {}, INSTAGRAM),
        ("message_1.json", {"joinable_mode": {"mode": 1}, "magic_words": []}, INSTAGRAM),
        ("message_1.json", {"thread_type": "Regular"}, MESSENGER),
        ("your_instagram_activity/messages/inbox/a_1/message_1.json", {"ip": "x"}, INSTAGRAM),
        ("your_facebook_activity/messages/inbox/a_1/message_1.json", {}, MESSENGER),
    ],
)
def test_which_of_the_two(tmp_path: Path, name: str, values: dict[str, Any], expected: Any) -> None:
    path = write(tmp_path / "x" / name, entry(1), **values)
    source = Source.open(tmp_path / "x" if "/" in name else path)
    assert [app for app in (INSTAGRAM, MESSENGER) if app.sniff(source)] == [expected]


def test_an_instagram_link_in_a_messenger_chat_does_not_mislead(tmp_path: Path) -> None:
    item = entry(1, content="https://www.instagram.com/p/1", sender_id_INTERNAL=0)
    assert not INSTAGRAM.sniff(Source.open(write(tmp_path / "message_1.json", item)))


def test_likes_and_shares(tmp_path: Path) -> None:
    share = {"link": "https://a.org/p/1", "original_content_owner": "zoe", "share_text": "T"}
    path = write(
        tmp_path / "message_1.json",
        entry(1),
        entry(2, content="Liked a message"),
        entry(3, content="ann sent an attachment.", share=share),
        entry(4, content="Liked a message", photos=[{"uri": "p/a.jpg"}]),
        title="Ann",
    )
    reading = INSTAGRAM.read(Source.open(path), ReadOptions())
    [chat] = reading.corpus.chats
    first, second, third = chat.messages
    assert first.time == datetime(2024, 5, 1, 7, 30, 1)
    assert second.text == ""
    assert second.attachments == (Attachment("link", "zoe", "https://a.org/p/1", "T"),)
    assert third.text == "Liked a message"
    assert reading.corpus.format == "instagram"
    assert str(reading.ledger) == "4 entries = 3 in messages + 1 system + 0 left over"


def test_sample(data: Path) -> None:
    folder = data / "chat_exports" / "instagram"
    source = Source.open(folder / "cm_test_export.json")
    assert INSTAGRAM.sniff(source)
    [chat] = INSTAGRAM.read(source, ReadOptions()).corpus.chats
    target = json.loads((folder / "cm_target.json").read_text(encoding="utf-8"))[::-1]
    assert [(m.speaker, m.time, m.text) for m in chat.messages] == [
        (t["author"], datetime.fromisoformat(t["timestamp"]), t["message"]) for t in target
    ]
