"""KakaoTalk: phones, PC and Mac, Korean and English."""

from __future__ import annotations

from pathlib import Path

import exported
from exported import messages
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.source import ending
from shown import check, renamed
from text_tables import cases

PC = """마라,테오 님과 카카오톡 대화
저장한 날짜 : 2024-05-03 15:05:11

--------------- 2024년 5월 1일 수요일 ---------------
마라님이 테오님을 초대했습니다.
[마라] [오전 12:05] 잘 잤어?
어제는 너무 늦었지
[테오] [오후 12:05] 사진
[마라] [오후 3:05] 파일: 일정 5월.pdf
누리님이 들어왔습니다.
[테오] [오후 3:06] 보이스톡 3:04
--------------- 2024년 5월 2일 목요일 ---------------
[마라] [오전 9:00] 삭제된 메시지입니다.
"""
ANDROID = """마라 님과 카카오톡 대화
저장한 날짜 : 2024년 5월 3일 오후 3:05


2024년 5월 1일 오전 12:05
2024년 5월 1일 오전 12:05, 마라 : 잘 잤어?
2024년 5월 1일 오후 12:06, 테오 : 사진 2장
2024년 5월 1일 오후 3:06, 누리님이 나갔습니다.

2024년 5월 2일 오전 9:00
2024년 5월 2일 오전 9:00, 마라 : 비율은 3 : 2
2024년 5월 9일 목요일
그날 보자
"""
IPHONE = """Talk_2024.5.3 15:05-1.txt
저장한 날짜 : 2024. 5. 3. 오후 3:05



2024년 5월 1일 수요일
2024. 5. 1. 오전 12:05, 마라 : 잘 잤어?
2024. 5. 1. 13:06: 누리님이 들어왔습니다.
2024. 5. 1. 오후 3:06, 테오 : (이모티콘) 좋아
"""
ENGLISH = """KakaoTalk Chats with Mara, Theo
Date Saved : May 3, 2024, 3:05 PM


May 1, 2024, 12:05 AM
May 1, 2024, 12:05 AM, Mara : did you sleep
at all?
May 1, 2024 at 3:06 PM, Theo : Photo
May 1, 2024, 3:07 PM, Nuri left the chatroom.
"""
MAC = """Date,User,Message
2024-05-01 00:05:11,"마라","잘 잤어?
어제는 너무 늦었지"
2024-05-01 00:06:12,"누리","누리님이 들어왔습니다."
2024-05-01 00:07:13,"테오","동영상"
2024-05-01 00:07:14
"""


def read(folder: Path, text: str, name: str = "KakaoTalkChats.txt") -> ReadCorpus:
    return exported.read(folder, {name: text}, "kakaotalk")


def test_a_pc(tmp_path: Path) -> None:
    check(
        read(tmp_path, PC),
        """
        마라,테오 (마라, 테오)
        session 1, 2024-05-01 00:05:00
        D1:1 2024-05-01 00:05:00 마라: 잘 잤어?⏎어제는 너무 늦었지
        session 2, 2024-05-01 12:05:00
        D2:1 2024-05-01 12:05:00 테오:
            image
        D2:2 2024-05-01 15:05:00 마라:
            file 일정 5월.pdf
        D2:3 2024-05-01 15:06:00 테오:
            call 보이스톡  3:04
        session 3, 2024-05-02 09:00:00
        D3:1 2024-05-02 09:00:00 마라, deleted:
        13 lines = 6 in messages + 7 system + 0 left over
        """,
    )


def test_android(tmp_path: Path) -> None:
    # A day that nothing of that day follows was written by a person.
    check(
        read(tmp_path, ANDROID),
        """
        마라 (마라, 테오)
        session 1, 2024-05-01 00:05:00
        D1:1 2024-05-01 00:05:00 마라: 잘 잤어?
        session 2, 2024-05-01 12:06:00
        D2:1 2024-05-01 12:06:00 테오:
            image
            image
        session 3, 2024-05-02 09:00:00
        D3:1 2024-05-02 09:00:00 마라: 비율은 3 : 2⏎2024년 5월 9일 목요일⏎그날 보자
        13 lines = 5 in messages + 8 system + 0 left over
        """,
    )


def test_an_iphone(tmp_path: Path) -> None:
    check(
        read(tmp_path, IPHONE),
        """
        KakaoTalkChats (마라, 테오)
        session 1, 2024-05-01 00:05:00
        D1:1 2024-05-01 00:05:00 마라: 잘 잤어?
        session 2, 2024-05-01 15:06:00
        D2:1 2024-05-01 15:06:00 테오: 좋아
            sticker
        9 lines = 2 in messages + 7 system + 0 left over
        """,
    )


def test_english(tmp_path: Path) -> None:
    check(
        read(tmp_path, ENGLISH),
        """
        Mara, Theo (Mara, Theo)
        session 1, 2024-05-01 00:05:00
        D1:1 2024-05-01 00:05:00 Mara: did you sleep⏎at all?
        session 2, 2024-05-01 15:06:00
        D2:1 2024-05-01 15:06:00 Theo:
            image
        9 lines = 3 in messages + 6 system + 0 left over
        """,
    )


@cases("""
    title | day | stamps
    # Android, from old to new, and where English is not American.
    KakaoTalk Chats with Mara | 12:05am, May 1, 2024 | {:02}:05am, May 1, 2024
    KakaoTalk Chats with Mara | May 1, 2024, 12:05 AM | May 1, 2024, {:02}:05 AM
    KakaoTalk Chats with Mara | May 1, 2024 at 12:05 AM | May 1, 2024 at {}:05\u202fAM
    KakaoTalk Chats with Mara | May 1, 2024, 12:05 a.m. | May 1, 2024, {}:05 a.m.
    KakaoTalk Chats with Mara | 1 May 2024 at 12:05 am | 1 May 2024 at {}:05\u00a0am
    KakaoTalk Chats with Mara | 1 May 2024, 00:05 | 1 May 2024, {0:02}:05
    KakaoTalk Chats with Mara | Wednesday 1 May 2024 | Wed, 1 May 2024 {0:02}:05
    # An iPhone.
    KakaoTalk Chats with Mara (2 people)-1.txt | Wednesday, May 1, 2024 | May 1, 2024, {}:05 AM
    Talk_2024.5.3 15:05-1.txt | Wednesday, May 1, 2024 | May 1, 2024 {0:02}:05
    Talk_2024.5.3 15:05-1.txt | Wednesday, May 1, 2024 | May 1, 2024 at {0:02}:05
    Mara Talk Chats | Wednesday, May 1, 2024 | 2024/05/01 AM {}:05
""")
def test_english_phones(tmp_path: Path, title: str, day: str, stamps: str) -> None:
    hours = (0, 1) if "{0" in stamps else (12, 1)
    first, second = (stamps.format(hour) for hour in hours)
    text = f"""{title}
Date Saved : May 3, 2024, 3:05 PM


{day}
{first}, Mara invited Theo and Nuri.
{first}, Mara : did you sleep

at 3:05pm, May 2 : or later?
{second}, you : <Photo>
{second}: Nuri left this chatroom.
"""
    reading = read(tmp_path, text)
    check(
        renamed(reading, "Mara"),
        """
        Mara (Mara, you)
        session 1, 2024-05-01 00:05:00
        D1:1 2024-05-01 00:05:00 Mara: did you sleep⏎⏎at 3:05pm, May 2 : or later?
        D1:2 2024-05-01 01:05:00 you:
            image
        11 lines = 4 in messages + 7 system + 0 left over
        """,
    )


@cases("""
    title                          | day                    | clock
    Mara with KakaoTalk Chats      | Wednesday, May 1, 2024 | 3:06 PM
    Theo KakaoTalk Chats with Mara | Wednesday, 1 May 2024  | 15:06
    Mara with KakaoTalk Chats      | 2024년 5월 1일 수요일  | PM 3:06
    Mara with KakaoTalk Chats      | Wednesday, May 1, 2024 | 3:06 p.m.
""")
def test_english_pcs(tmp_path: Path, title: str, day: str, clock: str) -> None:
    text = f"""{title}
Date Saved : 2024-05-03 15:05:11

--------------- {day} ---------------
[Mara] [{clock}] who came?
We invited everybody.
[Theo] [{clock}] (Photo)
Mara invited Nuri and Ana.
The message has been deleted.
"""
    check(
        read(tmp_path, text),
        """
        Mara (Mara, Theo)
        session 1, 2024-05-01 15:06:00
        D1:1 2024-05-01 15:06:00 Mara: who came?⏎We invited everybody.
        D1:2 2024-05-01 15:06:00 Theo:
            image
        9 lines = 3 in messages + 6 system + 0 left over
        """,
    )


def test_an_english_mac(tmp_path: Path) -> None:
    table = """Date,User,Message
2024-05-01 00:05:11,"Mara","Mara invited Theo and."
2024-05-01 00:06:11,"Mara","(Photo)"
2024-05-01 00:07:11,"Theo","I invited Nuri."
2024-05-01 00:08:11,"","Nuri joined this chatroom."
,"","The message has been deleted."
"""
    check(
        read(tmp_path, table, "chat.csv"),
        """
        chat (Mara, Theo)
        session 1, 2024-05-01 00:06:11
        D1:1 2024-05-01 00:06:11 Mara:
            image
        D1:2 2024-05-01 00:07:11 Theo: I invited Nuri.
        6 entries = 2 in messages + 4 system + 0 left over
        """,
    )


def test_a_mac(tmp_path: Path) -> None:
    check(
        read(tmp_path, MAC, "chat.csv"),
        """
        chat (마라, 테오)
        session 1, 2024-05-01 00:05:11
        D1:1 2024-05-01 00:05:11 마라: 잘 잤어?⏎어제는 너무 늦었지
        D1:2 2024-05-01 00:07:13 테오:
            video
        5 entries = 2 in messages + 2 system + 1 left over
        chat.csv, row 5: too few columns
        """,
    )


def test_hashes_of_files_and_other_things_that_were_sent(tmp_path: Path) -> None:
    sent = {
        f"{'0a' * 32}.jpg\n{'1b' * 32}.mp4": ["image", "video"],
        "연락처: 누리": ["contact"],
        "Map: Seoul Station": ["location"],
        "Emoticons": ["sticker"],
        "음성메시지": ["audio"],
        "페이스톡 부재중": ["call"],
        "Face Talk Canceled": ["call"],
        "사진은 나중에": [],
    }
    for words, kinds in sent.items():
        text = ANDROID.replace("잘 잤어?", words)
        assert [file.kind for file in messages(read(tmp_path, text))[0].attachments] == kinds


def test_a_notice_in_the_middle_of_a_message_was_written_by_a_person(tmp_path: Path) -> None:
    text = PC.replace("어제는 너무 늦었지", "누리님이 나갔습니다.\n라고 써 있네")
    assert messages(read(tmp_path, text))[0].text == "잘 잤어?\n누리님이 나갔습니다.\n라고 써 있네"


def test_lines_before_everything_are_left_over(tmp_path: Path) -> None:
    reading = read(tmp_path, PC.replace("저장한 날짜 : 2024-05-03 15:05:11", "무엇"))
    assert [(left.where, left.reason) for left in reading.ledger.leftovers] == [
        ("KakaoTalkChats.txt:2", "before the first message")
    ]


def test_a_title_of_several_people_is_no_table() -> None:
    assert ending(PC.encode()) == ".txt"
    assert ending(b"speaker,text\nann,hi\n") == ".csv"
    assert ending(b'speaker,text\n"ann\nb",hi\n') == ".csv"
