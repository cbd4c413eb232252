"""Every phone language's header: the same small chat is read back from each; and headers of two
shapes in one file, where all messages are read and what was pasted stays text."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import exported
from exported import messages
from realtalk.chat import Message
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus
from realtalk.text.calendars import MONTHS, hour_of_day
from text_tables import cases


def read(tmp_path: Path, text: str) -> list[Message]:
    return messages(exported.read(tmp_path, {"chat.txt": text}, "whatsapp"))


# What 20 June 2019, 15:58:47, and 00:05 the next day look like, each up to its |.
AFTERNOON_AND_NIGHT = """
20/06/2019, 15:58 - |21/06/2019, 00:05 - |
20/6/19 15:58 - |21/6/19 0:05 - |
20/6/19, 15:58:47: |21/6/19, 00:05:01: |
20/06/2019 15:58:47: |21/06/2019 00:05:01: |
6/20/19, 3:58:47 PM: |6/21/19, 12:05:01 AM: |
2019-06-20, 3:58:47 PM: |2019-06-21, 12:05:01 AM: |
20 Jun 2019, 15:58 - |21 Jun 2019, 00:05 - |
20 June 2019 at 15:58 - |21 June 2019 at 00:05 - |
Jun 20, 2019, 3:58 PM - |Jun 21, 2019, 12:05 AM - |
[Jun 20, 2019, 3:58:47\u202fPM] |[Jun 21, 2019, 12:05:01\u202fAM] |
20. Juni 2019 um 15:58 - |21. Juni 2019 um 00:05 - |
20 de junio de 2019, 15:58 - |21 de junio de 2019, 0:05 - |
20 juin 2019 à 15:58 - |21 juin 2019 à 00:05 - |
20 июня 2019, 15:58 - |21 июня 2019, 00:05 - |
6/20/19, 3:58 PM - |6/21/19, 12:05 AM - |
6/20/19, 3:58\u202fPM - |6/21/19, 12:05\u202fAM - |
20/06/2019, 3:58\u00a0pm - |21/06/2019, 12:05\u00a0am - |
20/6/2019, 3:58\u00a0p.\u00a0m. - |21/6/2019, 12:05\u00a0a.\u00a0m. - |
20/6/2019 3:58 p.m. - |21/6/2019 12:05 a.m. - |
20/6/2019 03:58 p. m. - |21/6/2019 00:05 a. m. - |
20.06.19, 15:58 - |21.06.19, 00:05 - |
20.06.2019, 15:58 – |21.06.2019, 00:05 – |
20.06.2019, 15:58 — |21.06.2019, 00:05 — |
20.06.2019 15.58 - |21.06.2019 00.05 - |
20.6.2019 klo 15.58 - |21.6.2019 klo 0.05 - |
20.06.2019 kl. 15.58 - |21.06.2019 kl. 00.05 - |
20. 6. 2019 15:58 - |21. 6. 2019 0:05 - |
20. 06. 2019. 15:58 - |21. 06. 2019. 00:05 - |
2019. 06. 20. 15:58 - |2019. 06. 21. 0:05 - |
2019. 6. 20. 오후 3:58 - |2019. 6. 21. 오전 12:05 - |
2019/6/20 下午3:58 - |2019/6/21 凌晨12:05 - |
2019/06/20 午後3:58 - |2019/06/21 午前0:05 - |
2019年6月20日 15:58 - |2019年6月21日 0:05 - |
2019-06-20 15:58 - |2019-06-21 00:05 - |
2019-06-20, 3:58 p.m. - |2019-06-21, 12:05 a.m. - |
19-06-20, 15:58 - |19-06-21, 00:05 - |
2019-06-20 15 h 58 - |2019-06-21 0 h 05 - |
20/06/2019 à 15h58 - |21/06/2019 à 00h05 - |
20 06 2019, 15:58 - |21 06 2019, 00:05 - |
20.06.19 г., 15:58 ч. - |21.06.19 г., 0:05 ч. - |
20/06/19, 3:58 μ.μ. - |21/06/19, 12:05 π.μ. - |
20/06/2019, 3:58 CH - |21/06/2019, 12:05 SA - |
2019. 06. 20. du. 3:58 - |2019. 06. 21. de. 12:05 - |
20/06/2019, 3:58 in the afternoon - |21/06/2019, 12:05 at night - |
20/06/2019, 3:58 de la tarde - |21/06/2019, 12:05 de la madrugada - |
20/6/2019, 3:58 अपराह्न - |21/6/2019, 12:05 पूर्वाह्न - |
२०/०६/२०१९, ३:५८ म.उ. - |२१/०६/२०१९, १२:०५ म.पू. - |
٢٠\u200f/٦\u200f/٢٠١٩، ٣:٥٨ م - |٢١\u200f/٦\u200f/٢٠١٩، ١٢:٠٥ ص - |
۱۳۹۸/۳/۳۰،\u200f ۱۵:۵۸ - |۱۳۹۸/۳/۳۱،\u200f ۰:۰۵ - |
20/6/2562 15:58 - |21/6/2562 00:05 - |
２０１９/６/２０ １５:５８ - |２０１９/６/２１ ０:０５ - |
[20.06.19, 15:58:47] |[21.06.19, 00:05:01] |
\u200e[20/06/2019, 15:58:47] |\u200e[21/06/2019, 00:05:01] |
[20/06/2019 15:58:47] |[21/06/2019 00:05:01] |
[6/20/19, 3:58:47\u202fPM] |[6/21/19, 12:05:01\u202fAM] |
[2019-06-20, 3:58:47 PM] |[2019-06-21, 12:05:01 AM] |
[2019/6/20 下午3:58:47] |[2019/6/21 上午12:05:01] |
[20.06.2019 15.58.47] |[21.06.2019 00.05.01] |
[20/6/19 15:58:47] |[21/6/19 0:05:01] |
\ufeff[2019. 6. 20. 오후 3:58:47] |[2019. 6. 21. 오전 12:05:01] |
[20\u200f/6\u200f/2019, 3:58:47 م] |[21\u200f/6\u200f/2019, 12:05:01 ص] |
[20062019, 155847] |[21062019, 000501] |
[20190620, 155847] |[20190621, 000501] |
"""


@pytest.mark.parametrize("headers", AFTERNOON_AND_NIGHT.strip("\n").split("\n"))
def test_header(tmp_path: Path, headers: str) -> None:
    first, second, _ = headers.split("|")
    text = f"{first}Mara Lind: hi: there\nsecond line\n{first}Theo: ok\n{second}Mara Lind: late\n"
    found = read(tmp_path, text)
    seconds = first.startswith(("[", "\u200e", "\ufeff")) or first.endswith(": ")
    noon = datetime(2019, 6, 20, 15, 58, 47 if seconds else 0)
    night = datetime(2019, 6, 21, 0, 5, 1 if seconds else 0)
    assert [(m.speaker, m.time, m.text) for m in found] == [
        ("Mara Lind", noon, "hi: there\nsecond line"),
        ("Theo", noon, "ok"),
        ("Mara Lind", night, "late"),
    ]


CLOCKS = """
12:10 AM=0 | 12:10 PM=12 | 1:10 AM=1 | 11:10 PM=23 | 00:10 am=0 | 13:10 pm=13 | 9:10 at night=21 |
2:10 at night=2 | 8:10 in the evening=20 | 中午12:10=12 | 中午1:10=13 | 晚上9:10=21 | 早上9:10=9 |
清晨5:10=5 | 12:10 noon=12 | 7:10 ÖS=19 | 7:10 ÖÖ=7 | 7:10 em=19 | 7:10 ip.=19"""


@pytest.mark.parametrize("stated", CLOCKS.split("|"))
def test_twelve_hour_words(tmp_path: Path, stated: str) -> None:
    clock, hour = stated.strip().split("=")
    found = read(tmp_path, f"20/06/2019, {clock} - Mara: hi\n21/06/2019, {clock} - Theo: ho\n")
    assert found[0].time == datetime(2019, 6, 20, int(hour), 10)


def test_the_first_word_that_says_something_counts() -> None:
    assert [hour_of_day(hour, "", "noon") for hour in (1, 11, 12)] == [13, 11, 12]


@cases(r"""
    lines
    "22:35, 12/07/2017 - An: chào\n09:01, 13/07/2017 - Bình: ừ"
    "[22:35:10, 12/07/2017] An: chào\n[09:01:00, 13/07/2017] Bình: ừ"
    "10:35 PM, 12/07/2017 - An: chào\n9:01 AM, 13/07/2017 - Bình: ừ"
    "22:35 12-07-2017 - An: chào\nlại đây\n09:01 13-07-2017 - Bình: ừ"
""")
def test_the_time_may_come_first(tmp_path: Path, lines: str) -> None:
    first, last = read(tmp_path, lines)
    assert (first.speaker, first.text.split("\n")[0]) == ("An", "chào")
    clocks = [m.time and m.time.replace(second=0) for m in (first, last)]
    assert clocks == [datetime(2017, 7, 12, 22, 35), datetime(2017, 7, 13, 9, 1)]


def test_named_months_are_told_apart(tmp_path: Path) -> None:
    names = [month[:3] for month in MONTHS]
    lines = [f"3 {name} 2019, 9:00 - Mara: {name} 3, 2019" for name in names]
    found = read(tmp_path, "\n".join(lines))
    assert [message.time for message in found] == [
        datetime(2019, month, 3, 9, 0) for month in range(1, 13)
    ]
    assert [message.text for message in found] == [f"{name} 3, 2019" for name in names]


def test_a_line_of_a_log_is_no_header(tmp_path: Path) -> None:
    text = (
        "20/06/2019, 15:58 - Mara: see\n"
        "01/02/2011 10:11:12: server: down\n"
        "21/06/2019, 15:58 - Theo: ok\n"
    )
    assert [message.text for message in read(tmp_path, text)] == [
        "see\n01/02/2011 10:11:12: server: down",
        "ok",
    ]


# --- headers of two shapes in one file ---


FIRST = datetime(2021, 3, 13, 9, 15)
STEP = timedelta(hours=7)
SHAPES = {
    "24 hours": "%d/%m/%Y, %H:%M - ",
    "12 hours": "%d/%m/%Y, %I:%M %p - ",
    "month first": "%m/%d/%y, %I:%M %p - ",
    "points": "%d.%m.%y, %H:%M - ",
    "iPhone": "[%d.%m.%y, %H:%M:%S] ",
    "iPhone, month first": "[%m/%d/%y, %I:%M:%S %p] ",
    "year first": "[%Y-%m-%d, %H:%M:%S] ",
}
PEOPLE = ("Mara", "Theo")


def headed(
    shape: str,
    count: int,
    start: datetime = FIRST,
    people: tuple[str, ...] = PEOPLE,
    step: timedelta = STEP,
) -> list[str]:
    return [
        f"{start + step * at:{shape}}{people[at % len(people)]}: {start + step * at:%j %H}"
        for at in range(count)
    ]


def read_mixed(folder: Path, text: list[str]) -> ReadCorpus:
    path = folder / "WhatsApp Chat with Theo.txt"
    path.write_text("\n".join(text) + "\n", "utf-8")
    return open_reading(path).reading


def check_all(reading: ReadCorpus, count: int) -> None:
    """All are messages of their own, at their time, and every line is accounted for."""
    messages = reading.tables.messages
    assert messages["time"].to_list() == [FIRST + STEP * at for at in range(count)]
    assert messages["text"].to_list() == [f"{FIRST + STEP * at:%j %H}" for at in range(count)]
    assert set(messages["speaker"]) == set(PEOPLE)
    assert (reading.ledger.total, reading.ledger.in_messages) == (count, count)


@cases("""
    first | second
    60    | 40
    200   | 8
    30    | 2
    2     | 30
""")
def test_a_phone_that_was_changed(first: int, second: int, tmp_path: Path) -> None:
    shapes = list(SHAPES.values())
    for before, after in pairwise([*shapes, shapes[0]]):
        text = headed(before, first) + headed(after, second, FIRST + STEP * first)
        check_all(read_mixed(tmp_path, text), first + second)


def test_there_and_back_again(tmp_path: Path) -> None:
    shapes = ["24 hours", "iPhone", "24 hours", "month first"]
    text = [
        line
        for place, name in enumerate(shapes)
        for line in headed(SHAPES[name], 25, FIRST + STEP * 25 * place)
    ]
    check_all(read_mixed(tmp_path, text), 100)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%d/%m/%Y, %H:%M - ", "%m/%d/%Y, %H:%M - "),
        ("[%m/%d/%y, %H:%M:%S] ", "[%d/%m/%y, %H:%M:%S] "),
    ],
)
@cases("""
    first | second
    60    | 70
    200   | 60
    20    | 200
""")
def test_day_and_month_change_places(
    before: str, after: str, first: int, second: int, tmp_path: Path
) -> None:
    """The shape is the same: only the dates tell."""
    reading = read_mixed(
        tmp_path, headed(before, first) + headed(after, second, FIRST + STEP * first)
    )
    check_all(reading, first + second)
    [note] = [note for note in reading.notes if "change places" in note]
    assert note.endswith(f"from line {first + 1} on")


# --- what was pasted ----------------------------------------------------------------------

MAIN = SHAPES["24 hours"]
LATER = FIRST + STEP * 20
PASTED = {
    "older words of the same people": headed(SHAPES["iPhone"], 12, FIRST - timedelta(days=400)),
    "older words of strangers": headed(
        SHAPES["iPhone"], 12, FIRST - timedelta(days=400), ("Old Friend", "Aunt")
    ),
    "words of strangers just now": headed(
        SHAPES["iPhone"],
        12,
        LATER - timedelta(minutes=20),
        ("Old Friend", "Aunt"),
        timedelta(minutes=1),
    ),
    "the same, in a like shape": headed(
        SHAPES["12 hours"], 12, LATER - timedelta(minutes=20), ("Old Friend",), timedelta(minutes=1)
    ),
    "words of this chat": headed(SHAPES["iPhone"], 2, LATER - STEP),
    "one line of this chat": headed(SHAPES["points"], 1, LATER - STEP),
}


@pytest.mark.parametrize("name", PASTED)
def test_an_extract_inside_a_message(name: str, tmp_path: Path) -> None:
    text = headed(MAIN, 40)
    text[20:21] = [text[20], *PASTED[name]]
    reading = read_mixed(tmp_path, text)
    messages = reading.tables.messages
    assert messages.height == 40
    assert set(messages["speaker"]) == set(PEOPLE)
    assert messages["text"][20].splitlines()[1:] == PASTED[name]
    assert reading.ledger.in_messages == len(text)


@cases("""
    name
    older words of strangers
    words of this chat
    one line of this chat
""")
def test_an_extract_in_the_last_message(name: str, tmp_path: Path) -> None:
    reading = read_mixed(tmp_path, headed(MAIN, 21) + PASTED[name])
    assert reading.tables.messages.height == 21
    assert reading.tables.messages["text"][20].splitlines()[1:] == PASTED[name]


def test_an_extract_of_another_chat_of_the_same_people(tmp_path: Path) -> None:
    """It lies in the time of this chat and shares no message with it."""
    other = [f"{line} (in the group)" for line in headed(SHAPES["iPhone"], 9, FIRST + STEP * 3)]
    reading = read_mixed(tmp_path, headed(MAIN, 40) + other)
    assert reading.tables.messages.height == 40
    assert any("taken for text: 9" in note for note in reading.notes)
