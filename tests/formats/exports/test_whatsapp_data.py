"""The exports at hand, of many parsers' own test data: counts, and one expected parse."""

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

# File, messages, speakers, system lines, leftovers.
# - ca_4A_11M is named for four authors; the file has five: Alice writes too, and two notices name
#   her.
# - In bee_movie one header lacks its bracket, so its line goes with the message before.
# - In erronous there are times without punctuation, two lines without a sender, and the group's own
#   name as one.
COUNTS = """
ca_2A_5M.txt 5 2 0 0
ca_4A_11M.txt 11 5 3 0
ca_4A_11M.zip 11 5 3 0
pustur_example_with_media.zip 48 3 4 0
rwhatsapp_sample.txt 7 2 2 0
sd_ddmmyyyy_hhmmss.txt 14 2 3 0
sd_ddmmyyyy_hhmmss_a.txt 14 2 3 0
sd_mmddyyy_hhmmss.txt 14 2 3 0
sd_mmddyyy_hhmmss_a.txt 14 2 3 0
sd_yyyymmdd_hhmmss.txt 14 2 3 0
sd_yyyymmdd_hhmmss_a.txt 14 2 3 0
sd_ddmmyyyy_hhmmss_bee_movie.txt 52 1 3 0
sd_ddmmyyyy_hhmmss_erronous.txt 21 3 11 2
whatstk_lorem.txt 500 4 0 0
whatstk_lorem-merge-part1.txt 300 4 0 0
whatstk_lorem-merge-part2.txt 300 5 0 0
whatstk_pokemon.txt 18 8 2 0
ws_Elizabeth_Bennet.txt 1 1 1 0
ws_Jane_Doe.txt 6 2 1 0
ws_Mark_Darcy.txt 1 1 1 0
"""


def read(path: Path) -> ReadCorpus:
    opened = open_reading(path)
    assert opened.format == "whatsapp"
    return opened.reading


@pytest.mark.parametrize("line", COUNTS.split("\n")[1:-1])
def test_counts(data: Path, line: str) -> None:
    name, *counts = line.split()
    reading = read(data / "chat_exports/whatsapp" / name)
    ledger, [chat] = reading.ledger, reading.corpus.chats
    found = (len(messages(reading)), len(chat.speakers), ledger.system, len(ledger.leftovers))
    assert [*map(str, found)] == counts


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
    found = messages(read(folder / f"cm_test_{name}.txt"))
    assert [(m.time, m.speaker, m.text.replace("\n", " ")) for m in found] == expected


def test_a_late_message_is_put_in_its_place(data: Path) -> None:
    found = messages(read(data / "chat_exports/whatsapp/ca_2A_5M.txt"))
    clock = [f"{m.time:%H:%M}" for m in found if m.time]
    assert clock == ["12:00", "12:01", "12:02", "12:02", "12:03"]
    assert found[-1].attachments == (Attachment("media"),)


def test_media_of_an_archive(data: Path) -> None:
    reading = read(data / "chat_exports/whatsapp/pustur_example_with_media.zip")
    kinds = [file.kind for message in messages(reading) for file in message.attachments]
    assert kinds == ["image", "video", "audio", "file"]


def test_the_folder_as_a_whole(data: Path) -> None:
    reading = FORMAT.read(Source.open(data / "chat_exports/whatsapp"), ReadOptions())
    assert len(reading.corpus.chats) == COUNTS.count(".txt") + 4


def test_one_export_of_a_phone_tells_the_date_order_of_the_others(
    data: Path, tmp_path: Path
) -> None:
    for path in (data / "chat_exports/whatsapp").glob("ws_*.txt"):
        shutil.copy(path, tmp_path)
    by_id = {chat.id: chat for chat in read(tmp_path).corpus.chats}
    first = next(iter(by_id["ws_Mark_Darcy"].messages))
    assert first.time == datetime(2021, 4, 10, 15, 45)
