"""Viber's message history, which it sends by e-mail as a zip of one file per chat, into chats.

    [ 01/05/2024 ] 15:05:11: Ann: hi                     text
    01/05/2024,15:05:11,Ann,+15550100,hi                 table without names of columns
    ="01/05/2024"<TAB>15:05:11<TAB>="Ann"<TAB>="+15550100"<TAB>"hi"
    → Chat with one message of Ann

A dated line without a name is a notice. Tables do not always quote text of several lines, so they
are read line by line like the text. Whether the day or the month comes first is told by the dates
of all files together; the owner is called as Viber calls them ("Me", "Moi").
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Entry, Export, export_format
from realtalk.formats.exports.text_entries import (
    AppPhrases,
    EntryLines,
    day_order,
    export_lines,
    head_lines,
)
from realtalk.formats.source import FormatFiles, Member
from realtalk.text.calendars import clock_time
from realtalk.text.written_days import day_of

_WORDING = AppPhrases("viber", "image video sticker audio location file contact")
_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?:[ \u202f]?(?P<half>[AaPp]\.?[Mm]\.?))?"
)
_TEXT = re.compile(rf"\[ ?({_DAY}) ?\],? {_CLOCK}:? (?P<rest>.*)")
_NUMBER = r"[+\d()\s.*-]{0,40}"
_ROW = re.compile(
    rf'=?"?({_DAY})"?(?P<gap>[,;\t])\s?=?"?{_CLOCK}"?(?P=gap)\s?'
    r'=?(?:"(?P<quoted>[^"]{0,100})"|(?P<plain>[^,;\t"]{0,100}))(?P=gap)\s?'
    rf'=?"?(?P<number>{_NUMBER})"?(?P=gap)\s?(?P<text>.*)'
)
_LONGEST_NAME = 100
_LONGEST_WORDS = 80
_HEAD_LINES = 40
_CALL = re.compile(rf"({_WORDING.any_of('call')})[ ,(]{{0,3}}([\d:]{{0,10}})\)?")


class DatedLine(NamedTuple):
    """A line that begins with its date and time; without a name it is the app's."""

    day: str
    clock: time
    name: str
    text: str


def _line(line: str) -> DatedLine | None:
    """The pieces of a line that begins a message or notice; None for any other."""
    match = _TEXT.match(line) or _ROW.match(line)
    if match is None:
        return None
    clock = clock_time(match["hour"], match["minute"], match["second"], match["half"] or "")
    if clock is None:
        return None
    if match.re is _ROW:
        name = (match["quoted"] or match["plain"] or "").strip() or match["number"].strip()
        return DatedLine(match[1], clock, name, match["text"])
    name, colon, text = f"{match['rest']} ".partition(": ")
    if not colon or not 0 < len(name) <= _LONGEST_NAME:
        return DatedLine(match[1], clock, "", match["rest"])
    return DatedLine(match[1], clock, name, text.removesuffix(" "))


def _is_ours(member: Member) -> bool:
    lines = head_lines(member, _HEAD_LINES)
    heads = [_line(line) for line in lines]
    return any(heads[:1]) and any(head.name for head in heads if head)


_FILES = FormatFiles(
    (".txt", ".csv", ".tsv"),
    _is_ours,
    "no Viber chat found",
    "pass the zip, .txt or .csv that Viber has sent by e-mail",
)


def _read(export: Export) -> None:
    files = [(member, export_lines(member)) for member in export]
    heads = (_TEXT.match(line) or _ROW.match(line) for _, lines in files for line in lines)
    order = day_order(dict.fromkeys(head[1] for head in heads if head), export)
    for member, lines in files:
        draft = export.draft(member, member.stem, unit="lines")
        entries = EntryLines(draft, member.name, _judge)
        for line in lines:
            head = _line(line)
            day: date | None = day_of(head.day, order) if head else None
            if head is None or day is None:
                entries.go_on(line)
            elif head.name:
                entries.begin(head.name, datetime.combine(day, head.clock), head.text)
            else:
                entries.notice()
        entries.end()


def _judge(entry: Entry) -> bool:
    """Takes the quotes of a table and the app's own words out of a message."""
    text = entry.text
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        inside = text[1:-1]
        if '"' not in inside.replace('""', ""):
            text = entry.text = inside.replace('""', '"')
    if len(text) > _LONGEST_WORDS:
        return True
    if text in _WORDING.deleted:
        entry.text, entry.deleted = "", True
    elif kind := _WORDING.kinds.get(text):
        entry.text, entry.attachments = "", (Attachment(kind),)
    elif call := _CALL.fullmatch(text):
        entry.text, entry.attachments = "", (Attachment("call", call[1], caption=call[2]),)
    return True


FORMAT = export_format("Viber (message history sent by e-mail)", "viber", _FILES, _read)
