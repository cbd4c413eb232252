"""The exports at hand, of many parsers' own test data: counts, and one expected parse."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from realtalk.chat import Attachment
from realtalk.formats.exports.whatsapp.reader import FORMAT
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.registry import detect
from realtalk.formats.source import Source

# File, messages, speakers, system lines, leftovers.
COUNTS = [
    ("ca_2A_5M.txt", 5, 2, 0, 0),
    # Named for four authors; the file has five: Alice writes too, and two notices name her.
    ("ca_4A_11M.txt", 11, 5, 3, 0),
    ("ca_4A_11M.zip", 11, 5, 3, 0),
    ("pustur_example_with_media.zip", 48, 3, 4, 0),
    ("rwhatsapp_sample.txt", 7, 2, 2, 0),
    ("sd_ddmmyyyy_hhmmss.txt", 14, 2, 3, 0),
    ("sd_ddmmyyyy_hhmmss_a.txt", 14, 2, 3, 0),
    ("sd_mmddyyy_hhmmss.txt", 14, 2, 3, 0),
    ("sd_mmddyyy_hhmmss_a.txt", 14, 2, 3, 0),
    ("sd_yyyymmdd_hhmmss.txt", 14, 2, 3, 0),
    ("sd_yyyymmdd_hhmmss_a.txt", 14, 2, 3, 0),
    # One header lacks its bracket, so its line goes with the message before.
    ("sd_ddmmyyyy_hhmmss_bee_movie.txt", 52, 1, 3, 0),
    # Times without punctuation; two lines without a sender; the group's own name as one.
    ("sd_ddmmyyyy_hhmmss_erronous.txt", 21, 3, 11, 2),
    ("whatstk_lorem.txt", 500, 4, 0, 0),
    ("whatstk_lorem-merge-part1.txt", 300, 4, 0, 0),
    ("whatstk_lorem-merge-part2.txt", 300, 5, 0, 0),
    ("whatstk_pokemon.txt", 18, 8, 2, 0),
    ("ws_Elizabeth_Bennet.txt", 1, 1, 1, 0),
    ("ws_Jane_Doe.txt", 6, 2, 1, 0),
    ("ws_Mark_Darcy.txt", 1, 1, 1, 0),
]


def read(path: Path) -> ReadCorpus:
    source = Source.open(path)
    assert detect(source) == "whatsapp"
    return FORMAT.read(source, ReadOptions())


@pytest.mark.parametrize(("name", "messages", "speakers", "system", "left"), COUNTS)
def test_counts(
    data: Path, name: str, messages: int, speakers: int, system: int, left: int
) -> None:
    reading = read(data / "chat_exports/whatsapp" / name)
    chat = reading.corpus.chats[0]
    assert len(list(chat.messages)) == messages
    assert len(chat.speakers) == speakers
    assert reading.ledger.system == system
    assert len(reading.ledger.leftovers) == left


@pytest.mark.parametrize(
    "name", ["ddmmyy_24hrs", "mmddyy_24hrs", "mmddyyyy_12hrs", "yyyymmdd_24hrs"]
)
def test_expected_parse(data: Path, name: str) -> None:
    folder = data / "chat_exports/whatsapp"
    target = json.loads((folder / "cm_target.json").read_text(encoding="utf-8"))
    expected = [
        (datetime.fromisoformat(entry["timestamp"]), entry["author"], entry["message"])
        for entry in reversed(target)
    ]
    messages = read(folder / f"cm_test_{name}.txt").corpus.chats[0].messages
    assert [(m.time, m.speaker, m.text.replace("\n", " ")) for m in messages] == expected


def test_a_late_message_is_put_in_its_place(data: Path) -> None:
    chat = read(data / "chat_exports/whatsapp/ca_2A_5M.txt").corpus.chats[0]
    clock = [f"{m.time:%H:%M}" for m in chat.messages if m.time]
    assert clock == ["12:00", "12:01", "12:02", "12:02", "12:03"]
    assert [m.attachments for m in chat.messages][-1] == (Attachment("media"),)


def test_media_of_an_archive(data: Path) -> None:
    chat = read(data / "chat_exports/whatsapp/pustur_example_with_media.zip").corpus.chats[0]
    kinds = [file.kind for message in chat.messages for file in message.attachments]
    assert kinds == ["image", "video", "audio", "file"]


def test_the_folder_as_a_whole(data: Path) -> None:
    reading = FORMAT.read(Source.open(data / "chat_exports/whatsapp"), ReadOptions())
    assert len(reading.corpus.chats) == sum(name.endswith(".txt") for name, *_ in COUNTS) + 4


def test_one_export_of_a_phone_tells_the_date_order_of_the_others(
    data: Path, tmp_path: Path
) -> None:
    for path in (data / "chat_exports/whatsapp").glob("ws_*.txt"):
        shutil.copy(path, tmp_path)
    reading = FORMAT.read(Source.open(tmp_path), ReadOptions())
    by_id = {chat.id: chat for chat in reading.corpus.chats}
    first = next(iter(by_id["ws_Mark_Darcy"].messages))
    assert first.time == datetime(2021, 4, 10, 15, 45)
