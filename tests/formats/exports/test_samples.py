"""The exports at hand, of many parsers' own test data: counts, files, and expected parses."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from exported import messages
from realtalk.chat import Attachment
from realtalk.formats.exports.whatsapp.reader import FORMAT
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source
from text_tables import cases, lines

# File, messages, speakers, system lines, leftovers.
# - ca_4A_11M is named for four authors; the file has five: Alice writes too, and two notices name
#   her.
# - In bee_movie one header lacks its bracket, so its line goes with the message before.
# - In erronous there are times without punctuation, two lines without a sender, and the group's own
#   name as one.
COUNTS = """
    whatsapp/ca_2A_5M.txt 5 2 0 0
    whatsapp/ca_4A_11M.txt 11 5 3 0
    whatsapp/ca_4A_11M.zip 11 5 3 0
    whatsapp/pustur_example_with_media.zip 48 3 4 0
    whatsapp/rwhatsapp_sample.txt 7 2 2 0
    whatsapp/sd_ddmmyyyy_hhmmss.txt 14 2 3 0
    whatsapp/sd_ddmmyyyy_hhmmss_a.txt 14 2 3 0
    whatsapp/sd_mmddyyy_hhmmss.txt 14 2 3 0
    whatsapp/sd_mmddyyy_hhmmss_a.txt 14 2 3 0
    whatsapp/sd_yyyymmdd_hhmmss.txt 14 2 3 0
    whatsapp/sd_yyyymmdd_hhmmss_a.txt 14 2 3 0
    whatsapp/sd_ddmmyyyy_hhmmss_bee_movie.txt 52 1 3 0
    whatsapp/sd_ddmmyyyy_hhmmss_erronous.txt 21 3 11 2
    whatsapp/whatstk_lorem.txt 500 4 0 0
    whatsapp/whatstk_lorem-merge-part1.txt 300 4 0 0
    whatsapp/whatstk_lorem-merge-part2.txt 300 5 0 0
    whatsapp/whatstk_pokemon.txt 18 8 2 0
    whatsapp/ws_Elizabeth_Bennet.txt 1 1 1 0
    whatsapp/ws_Jane_Doe.txt 6 2 1 0
    whatsapp/ws_Mark_Darcy.txt 1 1 1 0
    telegram/ca_DM_2A_7M.json 6 2 2 0
    messenger/ca_2A_7M.json 7 2 0 0
    discord/ca_DM_2A_2M.json 2 2 1 0
"""


def read(folder: Path, name: str) -> ReadCorpus:
    """An export below the folder of its app."""
    opened = open_reading(folder / "chat_exports" / name)
    assert opened.format == name.partition("/")[0]
    return opened.reading


@pytest.mark.parametrize("line", lines(COUNTS))
def test_counts(data: Path, line: str) -> None:
    name, *counts = line.split()
    reading = read(data, name)
    ledger, [chat] = reading.ledger, reading.corpus.chats
    found = (len(messages(reading)), len(chat.speakers), ledger.system, len(ledger.leftovers))
    assert [*map(str, found)] == counts


@cases("""
    name
    whatsapp/cm_test_ddmmyy_24hrs.txt
    whatsapp/cm_test_mmddyy_24hrs.txt
    whatsapp/cm_test_mmddyyyy_12hrs.txt
    whatsapp/cm_test_yyyymmdd_24hrs.txt
    signal/cm_test_export.txt
    instagram/cm_test_export.json
    telegram/cm_test_single_export.json
    telegram/cm_test_batch_export.json
""")
def test_expected_parse(data: Path, name: str) -> None:
    """The expected parse turns a line break into a space; we keep what was written."""
    target = json.loads((data / "chat_exports" / name).with_name("cm_target.json").read_bytes())
    expected = [
        (entry["author"], datetime.fromisoformat(entry["timestamp"]), entry["message"])
        for entry in target[:: 1 if name.startswith("telegram") else -1]
    ]
    found = messages(read(data, name))
    assert [(m.speaker, m.time, m.text.replace("\n", " ")) for m in found] == expected


@cases("""
    name                                   | kinds
    whatsapp/pustur_example_with_media.zip | ["image", "video", "audio", "file"]
    telegram/ca_DM_2A_7M.json              | ["image", "image"]
    messenger/ca_2A_7M.json                | ["image", "sticker", "audio", "file"]
""")
def test_files(data: Path, name: str, kinds: list[str]) -> None:
    found = messages(read(data, name))
    assert [file.kind for message in found for file in message.attachments] == kinds


def test_a_late_message_is_put_in_its_place(data: Path) -> None:
    found = messages(read(data, "whatsapp/ca_2A_5M.txt"))
    clock = [f"{m.time:%H:%M}" for m in found if m.time]
    assert clock == ["12:00", "12:01", "12:02", "12:02", "12:03"]
    assert found[-1].attachments == (Attachment("media"),)


def test_the_folder_as_a_whole(data: Path) -> None:
    reading = FORMAT.read(Source.open(data / "chat_exports/whatsapp"), ReadOptions())
    assert len(reading.corpus.chats) == COUNTS.count(".txt") + 4


def test_one_export_of_a_phone_tells_the_date_order_of_the_others(
    data: Path, tmp_path: Path
) -> None:
    for path in (data / "chat_exports/whatsapp").glob("ws_*.txt"):
        shutil.copy(path, tmp_path)
    by_id = {chat.id: chat for chat in open_reading(tmp_path).reading.corpus.chats}
    first = next(iter(by_id["ws_Mark_Darcy"].messages))
    assert first.time == datetime(2021, 4, 10, 15, 45)
