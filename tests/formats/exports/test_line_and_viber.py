"""LINE: phones in several languages, and the PC's text without tabs; Viber's text and tables."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import messages
from hostile_files import archive
from realtalk.chat import Attachment
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from realtalk.text.written_days import day_of, shares_order
from refusals import refused
from shown import check
from text_tables import cases

ENGLISH = """[LINE] Chat history with Mara
Saved on: 2024/05/03 15:05

2024/05/01(Wed)
15:05\tMara\tdid you sleep
15:06\tTheo Lund\t"no:
the ""neighbours"" drilled

2024/05/09(Thu)
is better"
15:07\tNuri joined the group.
15:07\t\tMara changed the album's name
15:08\tMara\t[Sticker]
15:09\tMara\t☎ Call time 5:32

2024/05/02(Thu)
00:01\tTheo Lund\t[sic]\twith a tab
"""
PC = """2025.12.30 火曜日
23:43 Mara Berg スタンプ
23:44 Theo Lund did you
sleep
23:44 Theo Lund and you too
23:45 Theo Lund ok
23:46 Maraがメッセージの送信を取り消しました

2025.12.31 水曜日
00:10 Nuri あけまして
"""


def read(folder: Path, text: str, name: str = "talk.txt", **options: Any) -> ReadCorpus:
    return exported.read(folder, {name: text}, "line", **options)


def test_english(tmp_path: Path) -> None:
    check(
        read(tmp_path, ENGLISH),
        """
        Mara (Mara, Theo Lund)
        session 1, 2024-05-01 15:05:00
        D1:1 2024-05-01 15:05:00 Mara: did you sleep
        D1:2 2024-05-01 15:06:00 Theo Lund: no:⏎the "neighbours" drilled⏎⏎2024/05/09(Thu)⏎is
            better
        D1:3 2024-05-01 15:08:00 Mara:
            sticker
        D1:4 2024-05-01 15:09:00 Mara:
            call   Call time 5:32
        session 2, 2024-05-02 00:01:00
        D2:1 2024-05-02 00:01:00 Theo Lund: [sic]       with a tab
        17 lines = 9 in messages + 8 system + 0 left over
        """,
    )


@cases("""
    title                  | saved | day | clock | sent
    Maraとのトーク履歴     | 保存日時：2024/05/03 15:05 | 2024/05/01(水) | 15:05 | 写真
    Maraのトーク履歴       | 保存日時：R6/05/03 15:05 | R6/05/01(水) | 午後3:05 | 画像
    與Mara的聊天記錄       | 儲存日期：2024/05/03 15:05 | 2024/05/01（三） | 下午03:05 | 照片
    与Mara的聊天记录       | 保存日期：2024/5/3 15:05 | 2024/5/1（周三） | 15:05 | 图片
    Mara님과의 대화        | 저장: 24.05.03 15:05 | 2024년 5월 1일 수요일 | 오후 03:05 | 사진
    ประวัติการแชทกับ Mara  | บันทึกวันที่ 03/05/2567 15:05 | พ. 01/05/2567 | 15:05 | รูป
    Chat history with Mara | On: 05/03/2024, 15:05 | Wed, 05/01/2024 | 3:05PM | Photo
    Chat history with Mara | On: 03/05/2024 15:05 | Wed, 01/05/2024 | 3:05 PM | Photo
    Chat history with Mara | On: 24/05/03 15:05 | 2024.05.01 Wednesday | 15:05 | Photo
""")
def test_languages(tmp_path: Path, title: str, saved: str, day: str, clock: str, sent: str) -> None:
    lines = (f"[LINE] {title}", saved, "", day, f"{clock}\tMara\t[{sent}]", f"{clock}\tTheo\thi")
    check(
        read(tmp_path, "\r\n".join(lines)),
        """
        Mara (Mara, Theo)
        session 1, 2024-05-01 15:05:00
        D1:1 2024-05-01 15:05:00 Mara:
            image
        D1:2 2024-05-01 15:05:00 Theo: hi
        6 lines = 2 in messages + 4 system + 0 left over
        """,
    )


def test_a_pc_without_tabs(tmp_path: Path) -> None:
    check(
        read(tmp_path, PC, "[LINE]Mara Berg.txt"),
        """
        Mara Berg (Mara Berg, Theo Lund, Nuri)
        session 1, 2025-12-30 23:43:00
        D1:1 2025-12-30 23:43:00 Mara Berg:
            sticker
        D1:2 2025-12-30 23:44:00 Theo Lund: did you⏎sleep
        D1:3 2025-12-30 23:44:00 Theo Lund: and you too
        D1:4 2025-12-30 23:45:00 Theo Lund: ok
        D1:5 2025-12-31 00:10:00 Nuri: あけまして
        10 lines = 6 in messages + 4 system + 0 left over
        [LINE]Mara Berg.txt: no tabs; names were told from texts by what repeats
        """,
    )


def test_tabs_that_became_spaces(tmp_path: Path) -> None:
    reading = read(tmp_path, ENGLISH.replace("\t", "    "))
    assert [m.speaker for m in messages(reading)][:3] == ["Mara", "Theo Lund", "Mara"]
    assert messages(reading)[2].attachments == (Attachment("sticker"),)
    assert not reading.notes


def test_placeholders_of_a_language_that_is_not_known(tmp_path: Path) -> None:
    added = "00:02\tMara\t[Naklejka]\n00:03\tTheo Lund\t[Naklejka]\n00:04\tMara\t[once]\n"
    text = f"{ENGLISH}{added}"
    *_, first, second, once = messages(read(tmp_path, text))
    assert first.attachments == second.attachments == (Attachment("media", caption="Naklejka"),)
    assert (first.text, once.text) == ("", "[once]")


def test_what_was_taken_back(tmp_path: Path) -> None:
    text = ENGLISH.replace("did you sleep", "メッセージの送信を取り消しました")
    assert messages(read(tmp_path, text))[0].deleted


def test_dates_that_nothing_decides_are_noted(tmp_path: Path) -> None:
    text = ENGLISH.replace("2024/05/01(Wed)", "01/05/2024").replace("2024/05/02(Thu)", "02/05/2024")
    reading = read(tmp_path, text)
    assert messages(reading)[0].time == datetime(2024, 5, 1, 15, 5)
    assert any("dmy or mdy" in note for note in reading.notes)
    reading = read(tmp_path, text, dates="mdy")
    assert messages(reading)[0].time == datetime(2024, 1, 5, 15, 5)
    assert not reading.notes


def test_a_diary_is_no_chat(tmp_path: Path) -> None:
    with refused("unknown-format"):
        read(tmp_path, "2024-05-01\n15:05 went for a walk\n16:00 came home again\n", "diary.txt")


@cases(r"""
    tab  | other
    "\t" | Theo Lund
    ""   | Nobody
""")
def test_a_text_that_begins_with_an_empty_line(tmp_path: Path, tab: str, other: str) -> None:
    """Also where the tab was cut off."""
    added = f"00:02\tMara{tab}\n\nslept well\n00:03\tMara{tab}\n00:04\t{other}{tab}\n\n"
    reading = read(tmp_path, f"{ENGLISH}{added}2024/05/03(Fri)\n00:05\tMara\tgood\n")
    *_, slept, good = messages(reading)
    assert (slept.speaker, slept.text) == ("Mara", "\n\nslept well")
    assert (good.speaker, good.time) == ("Mara", datetime(2024, 5, 3, 0, 5))
    assert str(reading.ledger) == "25 lines = 13 in messages + 12 system + 0 left over"


@pytest.mark.parametrize("space", ["", " "])
def test_a_text_that_begins_with_an_empty_line_on_a_pc(tmp_path: Path, space: str) -> None:
    added = f"00:11 Theo Lund{space}\n\nslept well\n00:12 Theo Lund and\n00:13 Theo Lund{space}\n"
    reading = read(tmp_path, f"{PC}{added}00:14 Nuri good\n00:15 Nuri\n")
    check(
        reading,
        """
        talk (Mara, Theo Lund, Nuri)
        session 1, 2025-12-30 23:43:00
        D1:1 2025-12-30 23:43:00 Mara: Berg スタンプ
        D1:2 2025-12-30 23:44:00 Theo Lund: did you⏎sleep
        D1:3 2025-12-30 23:44:00 Theo Lund: and you too
        D1:4 2025-12-30 23:45:00 Theo Lund: ok
        D1:5 2025-12-31 00:10:00 Nuri: あけまして
        D1:6 2025-12-31 00:11:00 Theo Lund: ⏎⏎slept well
        D1:7 2025-12-31 00:12:00 Theo Lund: and
        D1:8 2025-12-31 00:14:00 Nuri: good
        17 lines = 11 in messages + 6 system + 0 left over
        talk.txt: no tabs; names were told from texts by what repeats
        """,
    )


def test_days() -> None:
    assert day_of("--------------- Wednesday, May 1, 2024 ---------------") == date(2024, 5, 1)
    assert day_of("1 May 2024") == date(2024, 5, 1)
    assert day_of("2024年5月1日 星期三") == date(2024, 5, 1)
    assert day_of("2024/02/30") is None
    assert day_of("2024/05/01 was fine") is None
    assert day_of("on 2024/05/01") is None
    assert shares_order(["Wed, 05/01/2024"]) == ("mdy", True)
    assert shares_order(["11/01/2025", "11/02/2025", "12/01/2025"]) == ("mdy", True)
    assert shares_order(["13/01/2025"]) == ("dmy", True)
    assert shares_order(["11/01/2025"]) == ("dmy", False)


# --- Viber: its text, and its two tables without names of columns ---


VIBER = """[ 12/05/2024 ] 15:05:11: Mara: did you sleep
at all?
[ 13/05/2024 ] 15:06:12: Me: Photo message

[ 13/05/2024 ] 3:07:13 PM: Nuri joined the group
[ 13/05/2024 ] 15:08:14: Me: Missed call
[ 14/05/2024 ] 12:09:15 AM: Theo: no: the neighbours
"""
VIBER_TABLE = """12/05/2024,15:05:11,Mara,+15550100,did you sleep, really
at all?
13/05/2024,15:06:12,Moi,+15550101,Autocollant
13/05/2024,15:07:12,,+15550102,who am I
"""
SHEET = """="12/05/2024"\t15:05:11\t="Mara, B"\t="+15550100"\t"did ""you""
sleep"
="13/05/2024"\t15:06:12\t="Me"\t="+15550101"\t"no"
"""


def read_viber(folder: Path, name: str, text: str) -> ReadCorpus:
    return exported.read(folder, {name: text}, "viber")


def test_viber(tmp_path: Path) -> None:
    check(
        read_viber(tmp_path, "Mara.txt", VIBER),
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
        read_viber(tmp_path, "Mara.csv", VIBER_TABLE),
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
    found = messages(read_viber(tmp_path, "Mara.csv", SHEET))
    assert [(m.speaker, m.text) for m in found] == [("Mara, B", 'did "you"\nsleep'), ("Me", "no")]


def test_the_chats_of_a_zip_share_the_order_of_their_dates(tmp_path: Path) -> None:
    other = {"Mara.txt": VIBER.encode(), "Theo.txt": b"[ 05/06/2024 ] 15:05:11: Theo: hi\n"}
    reading = open_reading(archive(tmp_path / "Messages.zip", other)).reading
    assert [chat.id for chat in reading.corpus.chats] == ["Mara", "Theo"]
    assert messages(reading)[-1].time == datetime(2024, 6, 5, 15, 5, 11)
    assert not reading.notes
