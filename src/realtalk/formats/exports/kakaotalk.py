"""KakaoTalk's exported chats, of a phone, a PC or a Mac, in Korean or English, into chats.

    [Ann] [오후 3:05] hi                        a PC, below "------- 2024년 5월 1일 수요일 -------"
    2024년 5월 1일 오후 3:05, Ann : hi           Android
    2024. 5. 1. 오후 3:05, Ann : hi             iPhone
    May 1, 2024 at 3:05 PM, Ann : hi            both, in English; "1 May 2024 15:05", too
    3:05pm, May 1, 2024, Ann : hi               older phones, in English
    2024-05-01 15:05:11,"Ann","hi"              a Mac, below "Date,User,Message"
    → Chat with one message of Ann

A dated line without " : " is a notice of the app. On a PC notices have no mark at all: a line
below a day is one, and below a message its words tell (`kakaotalk_wording.txt`). Times are to
the minute but on a Mac.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format
from realtalk.formats.exports.text_entries import (
    AppPhrases,
    EntryLines,
    export_lines,
    head_lines,
    table_rows,
)
from realtalk.formats.json_input import from_stamp, head_text, make_attachment
from realtalk.formats.source import FormatFiles, Member
from realtalk.text.calendars import AFTER, BEFORE, SPACE, clock_time
from realtalk.text.written_days import MONTH, day_of, is_parted

_WORDING = AppPhrases("kakaotalk", "image video sticker audio contact location")
_HEADINGS = _WORDING.by_phrase("file contact location", "{} heading")
_CLOCK = (
    rf"(?:(?P<before>{BEFORE}){SPACE}?)?(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    rf"(?:{SPACE}?(?P<behind>{AFTER}))?"
)
_DATE = (
    r"(?P<date>\d{4}(?:년 ?|\. ?|[-/])\d{1,2}(?:월 ?|\. ?|[-/])\d{1,2}(?:일|\.)?"
    rf"|(?:[A-Z][a-z]{{2,9}},? )?(?:{MONTH}\.? \d{{1,2}},? \d{{4}}|\d{{1,2}} {MONTH}\.?,? \d{{4}}))"
)
_STAMPED = re.compile(rf"{_DATE},?(?: at)?{SPACE}{_CLOCK}(?P<rest>(?:[,:] .*)?)")
_CLOCK_FIRST = re.compile(rf"{_CLOCK},? {_DATE}(?P<rest>(?:[,:] .*)?)")
_PC = re.compile(rf"\[(?P<name>.{{1,100}}?)\] \[{_CLOCK}\](?: (?P<text>.*)|$)")
_TIMED = re.compile(
    rf"{_CLOCK}, (?P<name>.{{1,100}}?) : (?P<text>.*)"
)  # below a day between dashes
_TITLE = re.compile(
    r"(?P<a>.{1,200}?) ?(?:님과의? )?카카오톡 대화"
    r"|(?:.{1,200} )?KakaoTalk Chats with (?P<b>.{1,200}?)(?:-\d{1,3}\.txt)?"
    r"|(?P<c>.{1,200}?) (?:with )?(?:Kakao)?Talk Chats",
    re.IGNORECASE,
)
_SAVED = re.compile(r"(?:저장한 날짜|Date Saved|Saved Date|Saved on) ?: ?.{1,60}", re.IGNORECASE)
_FILE_TITLE = re.compile(r"Talk_[\d. :-]{6,40}\.txt")
_TABLE = re.compile(r'"?Date"?,"?User"?,"?Message"?\r?\n"?\d{4}-\d\d-\d\d \d{1,2}:\d\d:\d\d"?,')
_HEAD_LINES = 60
_LONGEST_NAME = 100

_IN_BRACKETS = re.compile(r"<[^<>]{1,40}>|\([^()]{1,40}\)")
# A line that is a person's own unless it begins with somebody of the chat.
_INVITED = re.compile(r"(.{1,100}?) invited .{1,600}\.")
_SEVERAL = re.compile(r"사진 (\d{1,2})장|(\d{1,2}) [Pp]hotos")
_WITH_STICKER = re.compile(r"\((?:이모티콘|[Ee]moticon)\) ")
# Exports with media name each file by a hash.
_HASHED = re.compile(r"[0-9a-f]{32,128}\.\w{2,5}")
_NOTICE = re.compile(re.sub(r"\s*\|?\n\s*", "|", _WORDING.sections["notice"]))
_CALL = re.compile(
    rf"({_WORDING.any_of('call')})(?: ?({_WORDING.any_of('call end')}|\d{{1,3}}:\d\d(?::\d\d)?))?"
)


class StampedLine(NamedTuple):
    """A line that begins with its time: whose it is ("" for the app), and what follows."""

    time: datetime
    name: str
    text: str


def _is_ours(member: Member) -> bool:
    if _is_table(member):
        return True
    lines = head_lines(member, _HEAD_LINES)
    titled = any(_is_title(line) for line in lines[:3])
    parted = any(is_parted(line) and day_of(line) for line in lines)
    count = sum(_is_said(line, parted) for line in lines)
    return count > 0 if titled else count >= max(1, min(3, len(lines)))


_FILES = FormatFiles(
    (".txt", ".csv", ".tsv"),  # a title with a comma looks like columns
    _is_ours,
    "no KakaoTalk chat found",
    "pass the exported .txt or .csv",
)


def _is_table(member: Member) -> bool:
    return _TABLE.match(head_text(member)) is not None


def _is_title(line: str) -> bool:
    return any(pattern.fullmatch(line) for pattern in (_TITLE, _SAVED, _FILE_TITLE))


def _is_said(line: str, parted: bool) -> bool:
    if _PC.match(line) or (parted and _TIMED.match(line)):
        return parted
    stamped = _parse_stamped(line)
    return stamped is not None and bool(stamped.name)


def _read(export: Export) -> None:
    for member in export:
        if _is_table(member):
            _read_table(member, export.draft(member, member.stem))
        else:
            _read_text(member, export.draft(member, member.stem, unit="lines"))


def _read_text(member: Member, draft: Draft) -> None:
    """The chat of one text file."""
    lines = export_lines(member)
    day: date | None = None
    begun = False
    people = {match["name"] for line in lines if (match := _PC.match(line))}

    def is_notice(line: str) -> bool:
        invited = _INVITED.fullmatch(line) if " invited " in line[:120] else None
        return _is_notice(line) or (invited is not None and invited[1] in people)

    entries = EntryLines(draft, member.name, _judge, is_notice)
    for number, line in enumerate(lines):
        stamped = _parse_stamped(line)
        timed = _PC.match(line) if people else _TIMED.match(line) if day else None
        if stamped is not None and stamped.name:
            entries.begin(stamped.name, stamped.time, stamped.text)
        elif timed is not None and stamped is None:
            clock = _clock(timed)
            moment = datetime.combine(day, clock) if day and clock else None
            entries.begin(timed["name"], moment, timed["text"] or "")
        elif is_parted(line) and (parted := day_of(line)):
            day = parted
            entries.notice()
        elif (stamped and stamped.text) or _leads(lines, number, stamped):
            entries.notice()
        elif not begun and _is_title(line):
            title = _TITLE.fullmatch(line)
            if title:
                draft.name = next(filter(None, title.groups()))
            entries.title()
            continue
        else:
            entries.go_on(line)
            continue
        begun = True
    entries.end()


def _clock(match: re.Match[str]) -> time | None:
    """The time of day that stands in a line."""
    word = match["before"] or match["behind"] or ""
    return clock_time(match["hour"], match["minute"], match["second"], word)


def _parse_stamped(line: str) -> StampedLine | None:
    """The pieces of a line that begins with a whole date and time; None for any other."""
    # Most lines that are none begin with neither a number nor a capital.
    if not line[:1].isdigit() and not line[:1].isupper():
        return None
    match = _STAMPED.fullmatch(line) or _CLOCK_FIRST.fullmatch(line)
    if match is None:
        return None
    day, time_of_day = day_of(match["date"]), _clock(match)
    if day is None or time_of_day is None:
        return None
    moment, rest = datetime.combine(day, time_of_day), match["rest"]
    name, colon, text = f"{rest[2:]} ".partition(" : ")
    if rest.startswith(",") and colon and 0 < len(name) <= _LONGEST_NAME:
        return StampedLine(moment, name, text.removesuffix(" "))
    return StampedLine(moment, "", rest[2:])


def _leads(lines: list[str], number: int, stamped: StampedLine | None) -> bool:
    """Whether a line is a day above something of that day: else a person wrote it."""
    day = stamped.time.date() if stamped else day_of(lines[number])
    if day is None:
        return False
    below = next((line for line in lines[number + 1 : number + 4] if line.strip()), "")
    next_stamped = _parse_stamped(below)
    return next_stamped.time.date() == day if next_stamped else _TIMED.match(below) is not None


def _is_notice(line: str) -> bool:
    return (
        not line or line in _WORDING.deleted or (len(line) < 1000 and bool(_NOTICE.fullmatch(line)))
    )


def _judge(entry: Entry) -> bool:
    """Takes the app's words out of a message; False where it is a notice under somebody's name."""
    text = entry.text
    if text in _WORDING.deleted:
        entry.text, entry.deleted = "", True
        return True
    if len(text) > 1000 and "\n" not in text[:200]:
        return True  # the app's own words are few
    invited = text.startswith(f"{entry.name} invited ") and text.endswith(".")
    if text.startswith(entry.name) and (invited or _is_notice(text)):
        return False
    entry.attachments = _find_attachments(text)
    if entry.attachments:
        entry.text = ""
    elif match := _WITH_STICKER.match(text):
        entry.text = text[match.end() :]
        entry.attachments = (Attachment("sticker"),)
    return True


def _find_attachments(text: str) -> tuple[Attachment, ...]:
    """What a text stands for, where it is the app's own words for something that was sent."""
    if kind := _WORDING.kinds.get(text) or _WORDING.kinds.get(
        text[1:-1] if _IN_BRACKETS.fullmatch(text) else ""
    ):
        return (Attachment(kind),)
    if several := _SEVERAL.fullmatch(text):
        return (Attachment("image"),) * int(several[1] or several[2])
    if call := _CALL.fullmatch(text):
        return (Attachment("call", call[1], caption=call[2] or ""),)
    heading, colon, name = text.partition(": ")
    if colon and heading in _HEADINGS and "\n" not in name:
        kind = _HEADINGS[heading]
        return (make_attachment("", "", name) if kind == "file" else Attachment(kind, name),)
    files = text.split("\n")
    if all(_HASHED.fullmatch(name) for name in files):
        return tuple(make_attachment("", "", name) for name in files)
    return ()


def _read_table(member: Member, draft: Draft) -> None:
    """The chat of one Mac's table."""
    draft.notice()  # the names of the columns
    for where, row in table_rows(member)[1:]:
        if len(row) < 3:
            draft.leave(where, "too few columns")
            continue
        entry = Entry("", row[1], from_stamp(row[0]), row[2], where=where)
        if row[1].strip() and _judge(entry):
            draft.add(entry)
        else:
            draft.notice()


FORMAT = export_format("KakaoTalk (text, CSV of a Mac)", "kakaotalk", _FILES, _read)
