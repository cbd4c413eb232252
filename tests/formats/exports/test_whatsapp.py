"""Whole exports: encodings, line ends, date orders, pasted chats, archives, the ledger; and the
exports at hand, of many parsers' own test data."""

from __future__ import annotations

import json
import shutil
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import messages, texts
from realtalk.chat import Attachment
from realtalk.formats.exports.whatsapp.reader import FORMAT
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.source import Source
from refusals import refused
from text_tables import cases, lines


def read(tmp_path: Path, text: str | bytes, **options: Any) -> ReadCorpus:
    path = exported.write(tmp_path, {"chat.txt": text})
    return open_reading(path, "whatsapp", ReadOptions(**options)).reading


def read_all(tmp_path: Path, files: dict[str, str]) -> ReadCorpus:
    return exported.read(tmp_path, files, "whatsapp")


def days(reading: ReadCorpus) -> list[str]:
    return [str(m.time.date()) for m in messages(reading) if m.time]


def chat(dates: list[str], clock: str = "10:00") -> str:
    return "".join(f"{date}, {clock} - Mara: m{n}\n" for n, date in enumerate(dates))


SMALL = "20/06/2019, 15:58 - Mara 🌙: hi 😂\nmore\n\n20/06/2019, 15:59 - Theo: ho\n"


@cases("""
    encoding
    utf-8
    utf-8-sig
    utf-16
    utf-16-le
    utf-16-be
""")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, end: str) -> None:
    reading = exported.read(
        tmp_path, {"c.txt": SMALL.replace("\n", end).encode(encoding)}, "whatsapp"
    )
    assert texts(reading) == ["hi 😂\nmore", "ho"]
    assert reading.corpus.chats[0].speakers == ("Mara 🌙", "Theo")
    assert reading.ledger.total == 4
    assert reading.notes == ()


def test_only_line_feeds_end_a_line(tmp_path: Path) -> None:
    odd = "a\u2028b\x0bc\x0cd\x85e\x1cf"
    reading = read(tmp_path, f"20/06/2019, 15:58 - Mara: {odd}\n")
    assert texts(reading) == [odd]
    assert reading.ledger.total == 1


def test_invalid_bytes_are_replaced_and_noted(tmp_path: Path) -> None:
    reading = read(
        tmp_path, b"20/06/2019, 15:58 - Mara: a\xff\xfeb\n20/06/2019, 15:58 - Theo: \xc3\xa7\n"
    )
    assert texts(reading) == ["a\ufffd\ufffdb", "ç"]
    [note] = reading.notes
    assert "2 invalid bytes" in note


def test_lines_are_all_accounted_for(tmp_path: Path) -> None:
    text = (
        "\nsome heading\n"
        "20/06/2019, 15:58 - Mara created group\n"
        "with a second line\n"
        "20/06/2019, 15:59 - Mara: one\n\ntwo\n\n\n"
        "20/06/2019, 15:59 - : nameless\nits second line\n"
        "20/06/2019, 16:00 - Theo:\nthree\n"
    )
    reading = read(tmp_path, text)
    assert [(m.speaker, m.text) for m in messages(reading)] == [("Mara", "one\n\ntwo")]
    ledger = reading.ledger
    assert (ledger.total, ledger.in_messages, ledger.system) == (13, 5, 4)
    assert [left.where for left in ledger.leftovers] == [f"chat.txt:{n}" for n in (1, 2, 10, 11)]


def test_a_cut_off_space_after_a_known_name(tmp_path: Path) -> None:
    text = "20/06/2019, 15:58 - Mara: hi\n20/06/2019, 15:59 - Mara:\n- milk\n- bread\n"
    assert texts(read(tmp_path, text)) == ["hi", "\n- milk\n- bread"]


def test_names(tmp_path: Path) -> None:
    names = {
        "~\u202fKim": "Kim",
        "~ Lee": "Lee",
        "\u202a+49 170 1234567\u202c": "+49 170 1234567",
        "+49\u00a0170\u00a01234567": "+49 170 1234567",
        "A-B - C": "A-B - C",
        "R2-D2 🤖": "R2-D2 🤖",
        "12/07": "12/07",
    }
    text = "".join(f"20/06/2019, 15:58 - {name}: x: y\n" for name in names)
    said = messages(read(tmp_path, text))
    assert [(m.speaker, m.text) for m in said] == [(name, "x: y") for name in names.values()]


def test_messages_are_ordered_by_time_and_stay_stable(tmp_path: Path) -> None:
    text = "".join(
        f"20/06/2019, 12:{minute:02d} - Mara: {n}\n" for n, minute in enumerate([0, 1, 3, 2, 3, 2])
    )
    assert texts(read(tmp_path, text)) == ["0", "1", "3", "5", "2", "4"]


# --- which number is the day -------------------------------------------------------------


@cases("""
    dates                                | expected
    ["01/02/2020", "13/02/2020"]         | ["2020-02-01", "2020-02-13"]
    ["02/01/2020", "02/13/2020"]         | ["2020-02-01", "2020-02-13"]
    # Only one order keeps the time running forward.
    ["05/01/2021", "03/02/2021"]         | ["2021-01-05", "2021-02-03"]
    ["01/05/2021", "02/03/2021"]         | ["2021-01-05", "2021-02-03"]
    # Days in a row beat months in a row.
    ["01/02/20", "02/02/20", "03/02/20"] | ["2020-02-01", "2020-02-02", "2020-02-03"]
    ["02/01/20", "02/02/20", "02/03/20"] | ["2020-02-01", "2020-02-02", "2020-02-03"]
    ["20-02-01", "20-02-02", "20-02-03"] | ["2020-02-01", "2020-02-02", "2020-02-03"]
    ["2020-13-02", "2020-14-02"]         | ["2020-02-13", "2020-02-14"]
    ["2020-02-03", "2020-02-04"]         | ["2020-02-03", "2020-02-04"]
""")
def test_date_order_from_the_file(tmp_path: Path, dates: list[str], expected: list[str]) -> None:
    assert days(read(tmp_path, chat(dates))) == expected


def test_date_order_from_media_names(tmp_path: Path) -> None:
    text = "04/05/2020, 10:00 - Mara: IMG-20200405-WA0001.jpg (file attached)\n"
    reading = read(tmp_path, text)
    assert days(reading) == ["2020-04-05"]
    assert reading.notes == ()
    text = "[04/05/2020, 10:00:00] Mara: \u200e<attached: 00000012-PHOTO-2020-05-04-10-00-00.jpg>\n"
    assert days(read(tmp_path, text)) == ["2020-05-04"]


def test_an_open_date_order_takes_the_default_and_says_so(tmp_path: Path) -> None:
    for clock, expected in (("10:00", "2020-05-04"), ("10:00 AM", "2020-04-05")):
        reading = read(tmp_path, chat(["04/05/2020"], clock))
        assert days(reading) == [expected]
        [note] = reading.notes
        assert "`dates=dmy`, mdy or ymd" in note
    assert days(read(tmp_path, chat(["04.05.2020"], "10:00 AM"))) == ["2020-05-04"]


def test_dates_option_overrules(tmp_path: Path) -> None:
    text = chat(["04/05/2020"])
    reading = read(tmp_path, text, dates="mdy")
    assert (days(reading), reading.notes) == (["2020-04-05"], ())
    assert days(read(tmp_path, chat(["04/05/20"]), dates="ymd")) == ["2004-05-20"]


def test_dates_option_that_contradicts_the_file_names_the_line(tmp_path: Path) -> None:
    with refused("line 2: the date does not fit the order mdy"):
        read(tmp_path, chat(["04/05/2020", "20/05/2020"]), dates="mdy")
    with refused("line 1: the date does not fit the order ymd"):
        read(tmp_path, chat(["04/05/2020"]), dates="ymd")


def test_chats_of_one_folder_share_their_date_order(tmp_path: Path) -> None:
    open_, proven = chat(["04/05/2020"]), chat(["02/04/2020", "02/20/2020"])
    reading = read_all(tmp_path, {"a/_chat.txt": open_, "b/_chat.txt": proven})
    assert [c.id for c in reading.corpus.chats] == ["a", "b"]
    assert days(reading)[0] == "2020-04-05"
    [note] = reading.notes
    assert "other chats" in note


# --- what only looks like a header -------------------------------------------------------


def test_pasted_chats_stay_text(tmp_path: Path) -> None:
    pasted = "[03.02.11, 10:00:00] Old Friend: remember?\n3/2/11, 9:00 PM - Other: yes"
    text = (
        f"20/06/2019, 15:58 - Mara: look\n{pasted}\n"
        "20/06/2019, 15:59 - Theo: [15:58, 20/6/2019] Mara: look\n99/99/2019, 10:00 - X: y\n"
        "[20/06/2019, 15:59 - Z: z\n"
        "20/06/2019, 16:00 - Mara: 1/2 of it - or so: fine\n"
    )
    reading = read(tmp_path, text)
    assert texts(reading) == [
        f"look\n{pasted}",
        "[15:58, 20/6/2019] Mara: look\n99/99/2019, 10:00 - X: y\n[20/06/2019, 15:59 - Z: z",
        "1/2 of it - or so: fine",
    ]
    assert reading.corpus.chats[0].speakers == ("Mara", "Theo")


def test_a_pasted_timetable_at_the_end_stays_text(tmp_path: Path) -> None:
    text = (
        "20/06/2019, 15:58 - Mara: hi\n20/06/2019, 15:59 - Theo: plan\n21.6.2019 10:00 - Train: 9\n"
    )
    assert texts(read(tmp_path, text)) == ["hi", "plan\n21.6.2019 10:00 - Train: 9"]


def test_a_longer_pasted_chat_does_not_take_over(tmp_path: Path) -> None:
    pasted = "\n".join(f"[03.02.11, 10:00:{n:02d}] Old Friend: {n}" for n in range(40))
    lines = [f"20/06/2019, 15:{n:02d} - Mara: {n}" for n in range(10)]
    lines[4] += "\n" + pasted
    reading = read(tmp_path, "\n".join(lines))
    assert len(texts(reading)) == 10
    assert reading.corpus.chats[0].speakers == ("Mara",)


def parts(second: str, people: tuple[str, str] = ("Mara", "Theo")) -> tuple[str, list[str]]:
    """Ten messages of one phone, then ten of another that begin in the middle of the first."""
    day = datetime(2019, 6, 13, 9, 30, 7)
    hours = [day + timedelta(hours=5 * n) for n in range(15)]
    lines = [f"{t:%d/%m/%Y, %H:%M} - {people[n % 2]}: {n}" for n, t in enumerate(hours[:10])]
    lines += [t.strftime(second) + f"{people[n % 2]}: {n}" for n, t in enumerate(hours) if n >= 5]
    return "\n".join(lines) + "\n", [str(n) for n in range(15)]


@cases("""
    second
    "[%d.%m.%y, %H:%M:%S] "
    "%m/%d/%y, %I:%M %p - "
    "%Y-%m-%d %H:%M - "
    "[%d %b %Y, %H:%M:%S] "
    "%b %d, %Y, %I:%M %p - "
    "%d %B %Y, %H:%M - "
""")
def test_two_exports_in_one_file(tmp_path: Path, second: str) -> None:
    text, expected = parts(second)
    reading = read(tmp_path, text)
    assert texts(reading) == expected
    assert reading.corpus.chats[0].speakers == ("Mara", "Theo")
    assert [left.reason for left in reading.ledger.leftovers] == [
        "a message that stands in the file twice"
    ] * 5
    assert "a second export stands in the file, with headers of its own: 10" in reading.notes


# --- files, folders, archives ------------------------------------------------------------


def test_zip_with_media_and_documents(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat - Theo.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_chat.txt", SMALL)
        archive.writestr("00000001-PHOTO-2019-06-20.jpg", b"\xff\xd8")
        archive.writestr("00000002-old chat.txt", SMALL.replace("2019", "2011"))
        archive.writestr("__MACOSX/._chat.txt", b"\x00\x05\x16")
    # The title of an archive inside an archive names the chat too.
    with zipfile.ZipFile(tmp_path / "mail.zip", "w") as outer:
        outer.write(path, path.name)
    for place in (path, tmp_path / "mail.zip"):
        opened = open_reading(place)
        assert opened.format == "whatsapp"
        assert [c.id for c in opened.reading.corpus.chats] == ["Theo"]
        assert opened.reading.ledger.total == 4


def test_folder_of_exports(tmp_path: Path) -> None:
    files = {
        "WhatsApp Chat - Theo/_chat.txt": SMALL,
        "WhatsApp Chat - Juno/_chat.txt": SMALL,
        "sub/WhatsApp Chat - Juno/_chat.txt": SMALL.replace("15:", "16:"),
        "readme.txt": "about these chats\n",
    }
    reading = read_all(tmp_path, files)
    assert [c.id for c in reading.corpus.chats] == ["Juno", "Theo", "Juno (2)"]
    assert (reading.ledger.total, reading.corpus.format) == (12, "whatsapp")


@cases("""
    name
    WhatsApp Chat with Theo
    WhatsApp-Chat mit Theo
    Chat de WhatsApp con Theo
""")
def test_chat_name(tmp_path: Path, name: str) -> None:
    assert read_all(tmp_path, {f"{name}.txt": SMALL}).corpus.chats[0].id == "Theo"


@pytest.mark.parametrize(
    "text",
    [
        *("\n", "hello\nworld\n", "12/07/2017 was a fine day\n", "speaker,text\nMara,hi\n"),
        *("\x00" * 50, "[2019-12-24, 12:23] Jane: Hello\n", '{"a": 1}', "12:30 - Mara: hi\n"),
        "notes\n12/07/2017, 22:35 - Mara: hi\n",
    ],
)
def test_sniff_leaves_other_texts_alone(tmp_path: Path, text: str) -> None:
    assert not FORMAT.sniff(Source.open(exported.write(tmp_path, {"x.txt": text})))


@pytest.mark.parametrize("text", ["hello\n", "\n\n", "\ufeff", "20/06/2019, 15:58 - Mara left\n"])
def test_no_message_is_an_error_without_chat_text(tmp_path: Path, text: str) -> None:
    with refused() as error:
        read(tmp_path, text)
    assert "chat.txt" in str(error.value)
    assert "Mara" not in str(error.value)


FIRST = (
    "12/01/2024, 22:07 - Mara: one\n13/01/2024, 22:07 - Theo: ok\n13/01/2024, 22:07 - Theo: ok\n"
)
SECOND = (
    "13/01/2024, 22:07 - Theo: ok\n13/01/2024, 22:07 - Theo: ok\n14/01/2024, 9:00 - Mara: two\n"
)


def test_a_greeting_sent_to_two_people_makes_no_one_chat(tmp_path: Path) -> None:
    """iPhones call every chat `_chat.txt`."""
    files = {}
    for name, partner in (("_chat.txt", "Mara"), ("_chat (1).txt", "Juno")):
        lines = [f"[01.01.24, 10:0{at}:00] {partner}: {partner} says {at}\n" for at in range(8)]
        lines.insert(4, "[01.01.24, 10:04:00] Theo: happy new year\n")
        files[name] = "".join(lines)
    reading = read_all(tmp_path, files)
    assert [len(list(chat.messages)) for chat in reading.corpus.chats] == [9, 9]


def test_chats_of_one_name_without_a_common_message_stay_two(tmp_path: Path) -> None:
    other = SECOND.replace(": ok", ": fine")
    names = ("WhatsApp Chat with Mara.txt", "WhatsApp Chat with Mara (1).txt")
    reading = read_all(tmp_path, dict(zip(names, (FIRST, other), strict=True)))
    assert len(reading.corpus.chats) == 2


def test_a_file_saved_by_an_old_editor(tmp_path: Path) -> None:
    text = "20/06/2019, 15:58 - René: “ça va” – 5 €\n21/06/2019, 15:58 - Zoë: où\n"
    reading = read(tmp_path, text.encode("cp1252"))
    assert texts(reading) == ["“ça va” – 5 €", "où"]
    assert reading.corpus.chats[0].speakers == ("René", "Zoë")
    assert "Windows-1252" in reading.notes[0]


# --- the exports at hand: counts, files, and expected parses ---


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


def read_sample(folder: Path, name: str) -> ReadCorpus:
    """An export below the folder of its app."""
    opened = open_reading(folder / "chat_exports" / name)
    assert opened.format == name.partition("/")[0]
    return opened.reading


@pytest.mark.parametrize("line", lines(COUNTS))
def test_counts(data: Path, line: str) -> None:
    name, *counts = line.split()
    reading = read_sample(data, name)
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
    found = messages(read_sample(data, name))
    assert [(m.speaker, m.time, m.text.replace("\n", " ")) for m in found] == expected


@cases("""
    name                                   | kinds
    whatsapp/pustur_example_with_media.zip | ["image", "video", "audio", "file"]
    telegram/ca_DM_2A_7M.json              | ["image", "image"]
    messenger/ca_2A_7M.json                | ["image", "sticker", "audio", "file"]
""")
def test_files(data: Path, name: str, kinds: list[str]) -> None:
    found = messages(read_sample(data, name))
    assert [file.kind for message in found for file in message.attachments] == kinds


def test_a_late_message_is_put_in_its_place(data: Path) -> None:
    found = messages(read_sample(data, "whatsapp/ca_2A_5M.txt"))
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
