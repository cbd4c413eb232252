"""Viber: its text, and its two tables without names of columns."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import exported
from exported import messages
from hostile_files import archive
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from shown import check

TEXT = """[ 12/05/2024 ] 15:05:11: Mara: did you sleep
at all?
[ 13/05/2024 ] 15:06:12: Me: Photo message

[ 13/05/2024 ] 3:07:13 PM: Nuri joined the group
[ 13/05/2024 ] 15:08:14: Me: Missed call
[ 14/05/2024 ] 12:09:15 AM: Theo: no: the neighbours
"""
TABLE = """12/05/2024,15:05:11,Mara,+15550100,did you sleep, really
at all?
13/05/2024,15:06:12,Moi,+15550101,Autocollant
13/05/2024,15:07:12,,+15550102,who am I
"""
SHEET = """="12/05/2024"\t15:05:11\t="Mara, B"\t="+15550100"\t"did ""you""
sleep"
="13/05/2024"\t15:06:12\t="Me"\t="+15550101"\t"no"
"""


def read(folder: Path, name: str, text: str) -> ReadCorpus:
    return exported.read(folder, {name: text}, "viber")


def test_text(tmp_path: Path) -> None:
    check(
        read(tmp_path, "Mara.txt", TEXT),
        """
        Mara (Mara, Me, Theo)
        session 1, 2024-05-12 15:05:11
        D1:1 2024-05-12 15:05:11 Mara: did you sleep⏎at all?
        session 2, 2024-05-13 15:06:12
        D2:1 2024-05-13 15:06:12 Me:
            image
        D2:2 2024-05-13 15:08:14 Me:
            call Missed call
        session 3, 2024-05-14 00:09:15
        D3:1 2024-05-14 00:09:15 Theo: no: the neighbours
        7 lines = 5 in messages + 2 system + 0 left over
        """,
    )


def test_a_table(tmp_path: Path) -> None:
    check(
        read(tmp_path, "Mara.csv", TABLE),
        """
        Mara (Mara, Moi, +15550102)
        session 1, 2024-05-12 15:05:11
        D1:1 2024-05-12 15:05:11 Mara: did you sleep, really⏎at all?
        session 2, 2024-05-13 15:06:12
        D2:1 2024-05-13 15:06:12 Moi:
            sticker
        D2:2 2024-05-13 15:07:12 +15550102: who am I
        4 lines = 4 in messages + 0 system + 0 left over
        """,
    )


def test_a_table_for_a_spreadsheet(tmp_path: Path) -> None:
    found = messages(read(tmp_path, "Mara.csv", SHEET))
    assert [(m.speaker, m.text) for m in found] == [("Mara, B", 'did "you"\nsleep'), ("Me", "no")]


def test_the_chats_of_a_zip_share_the_order_of_their_dates(tmp_path: Path) -> None:
    other = {"Mara.txt": TEXT.encode(), "Theo.txt": b"[ 05/06/2024 ] 15:05:11: Theo: hi\n"}
    reading = open_reading(archive(tmp_path / "Messages.zip", other)).reading
    assert [chat.id for chat in reading.corpus.chats] == ["Mara", "Theo"]
    assert messages(reading)[-1].time == datetime(2024, 6, 5, 15, 5, 11)
    assert not reading.notes
