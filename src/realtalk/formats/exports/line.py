"""LINE's exported chats, from a phone or a PC, into chats.

    [LINE] Chat history with Ann          [LINE] Annとのトーク履歴
    Saved on: 2024/05/02 15:05            保存日時：2024/05/02 15:05

    2024/05/01(Wed)                       2024/05/01(水)
    15:05<TAB>Ann<TAB>hi                  15:05<TAB>Ann<TAB>[スタンプ]
    15:06<TAB>Bo joined the group         15:06<TAB>Boが参加しました
    → Chat("Ann") with one message of Ann, and one notice

A message has three columns and a notice two, whatever the language; the third is empty where a
text begins with an empty line. Text of several lines stands in quotes, and words in brackets stand
for what was sent. A call begins with a telephone. A PC
writes spaces instead of tabs ("15:05 Ann hi"), so there a name is what the lines of one person
share. Times are to the minute.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import date, datetime, time
from functools import partial
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format
from realtalk.formats.exports.text_entries import (
    AppPhrases,
    EntryLines,
    day_order,
    export_lines,
    head_lines,
)
from realtalk.formats.source import FormatFiles, Member
from realtalk.grouping import grouped
from realtalk.text.calendars import clock_time, rule_of
from realtalk.text.written_days import day_of

_WORDING = AppPhrases("line", "image video sticker audio file contact location media")
_MARK = "[LINE]"
_HEAD_LINES = 60
_LONGEST_NAME = 100
_LONGEST_WORDS = 60
_MOST_WORDS = 6  # of a name
_TELLING = 3  # lines of one person, before what they share is taken for a name
_TIME = re.compile(
    r"(?:([^\W\d_]{2,12}\.?) ?)?(\d{1,2}):(\d\d)(?: ?([AaPp]\.?[Mm]\.?|น\.))?(\t| {1,4})(.+)"
)
_WIDE = "    "  # what copying makes of a tab
_PLACEHOLDER = re.compile(r"\[[^\W\d_][^\[\]\n]{2,40}\]")
_CALL = "☎"
_TITLES = tuple(
    re.compile(pattern.strip().removesuffix(" |"))
    for pattern in _WORDING.sections["title"].split("\n")
)
_Groups = dict[str, list[tuple[str, list[str]]]]  # lines and their words, by what they begin with


class TimedLine(NamedTuple):
    """A line that begins with a time of day, what parts it, and what follows."""

    clock: time
    gap: str
    rest: str

    @property
    def has_columns(self) -> bool:
        return self.gap in ("\t", _WIDE)


def _parse_timed(line: str) -> TimedLine | None:
    if "\t" not in line[:40] and " " not in line[:40]:
        return None
    match = _TIME.match(line)
    if match is None:
        return None
    word = match[1] or match[4] or ""
    if match[1] and not rule_of(match[1]):
        return None
    clock = clock_time(match[2], match[3], None, word)
    return TimedLine(clock, match[5], match[6]) if clock else None


def _is_ours(member: Member) -> bool:
    lines = head_lines(member, _HEAD_LINES)
    days = [place for place, line in enumerate(lines) if day_of(line)]
    # Below a day stands something with a time.
    below = any(place + 1 < len(lines) and _parse_timed(lines[place + 1]) for place in days)
    if not below or lines[0].lstrip().startswith(_MARK):
        return below
    # Without a title: any diary may have a date above a time, but neither columns nor weekdays.
    columns = any(timed.gap == "\t" for line in lines if (timed := _parse_timed(line)))
    return days[0] == 0 and (columns or any(letter.isalpha() for letter in lines[0]))


_FILES = FormatFiles((".txt",), _is_ours, "no LINE chat found", "pass the exported .txt")


def _read_text(member: Member, export: Export) -> None:
    """The chat of one text file."""
    lines = export_lines(member)
    timed = [_parse_timed(line) for line in lines]
    untimed = (line for line, head in zip(lines, timed, strict=True) if line and head is None)
    order = day_order(untimed, export, f"{member.name}: ")
    draft = export.draft(member, _title(member.stem) or member.stem, unit="lines")
    tabs = any(line and line.gap == "\t" for line in timed)
    narrow = [line.rest for line in timed if line and not line.has_columns]
    names = {} if tabs else _names(narrow, draft.name)
    people = set(names.values()) or {
        name for head in timed if head for name, text in [_parts(head, names)] if text
    }
    if names:
        export.notes.append(f"{member.name}: no tabs; names were told from texts by what repeats")
    entries = EntryLines(draft, member.name, partial(_judge, bare=not tabs))
    day: date | None = None
    # Below the title a line may say when the file was saved.
    is_saved = lines and lines[0].startswith(_MARK) and re.search(r"\d:\d\d", "".join(lines[1:2]))

    def leads(number: int) -> date | None:
        """The day that a line states, where something with a time stands below it."""
        day = day_of(lines[number], order)
        near = range(number + 1, min(number + 4, len(lines)))
        return day if day and next((timed[at] for at in near if lines[at].strip()), None) else None

    def goes_on(number: int) -> bool:
        """Whether the next line that is not empty belongs to the message of this one."""
        below = next((at for at in range(number + 1, len(lines)) if lines[at]), None)
        if below is None:
            return False
        head = timed[below]
        if head is not None:
            return tabs and head.gap != "\t"
        return leads(below) is None

    for number, (line, head) in enumerate(zip(lines, timed, strict=True)):
        if head is None and (stated := leads(number)):
            day = stated
            entries.notice()
        elif head is not None and day is not None and (head.gap == "\t" or not tabs):
            name, text = _parts(head, names)
            # Without a text it is a notice, unless the text begins with an empty line.
            has_text = head.has_columns and head.gap in head.rest
            if name and (text or ((has_text or name in people) and goes_on(number))):
                entries.begin(name, datetime.combine(day, head.clock), text)
            else:
                entries.notice()
        elif day is None and (line.startswith(_MARK) or (number == 1 and is_saved)):
            draft.name = _title(line) or draft.name
            entries.title()
        else:
            entries.go_on(line)
    entries.end()
    _take_recurring(draft)


def _title(line: str) -> str:
    """The name of the chat in the first line, or in the file's name."""
    plain = line.removeprefix(_MARK).strip()
    for pattern in _TITLES:
        if match := pattern.fullmatch(plain):
            return next(filter(None, match.groups()), "").strip()
    return plain if line.startswith(_MARK) else ""


def _parts(head: TimedLine, names: dict[str, str]) -> tuple[str, str]:
    """Who wrote a line and what; an empty name or text for a notice."""
    if head.has_columns:
        name, _, text = head.rest.partition(head.gap)
        return (name, text) if len(name) <= _LONGEST_NAME else ("", "")
    name = names.get(head.rest, "")
    return name, head.rest[len(name) :].strip()


def _names(rests: Sequence[str], title: str) -> dict[str, str]:
    """For each line without tabs the name that it begins with: what a person's lines share."""
    names_by_rest: dict[str, str] = {}
    open_groups: _Groups = {}
    ordered = sorted({*rests})
    begun: list[str] = []  # what others begin with, too: perhaps a name without a text
    for rest in dict.fromkeys(rests):
        first = bisect_left(ordered, f"{rest.rstrip()} ")
        if rest.startswith(f"{title} "):
            names_by_rest[rest] = title
        elif any(
            following.startswith(f"{rest.rstrip()} ") for following in ordered[first : first + 1]
        ):
            begun.append(rest)
        elif " " in rest:
            words = rest.split(" ", _MOST_WORDS + 1)
            open_groups.setdefault(words[0], []).append((rest, words))
    for size in range(1, _MOST_WORDS + 1):
        longer: _Groups = {}
        for name, group in open_groups.items():
            nexts = {words[size] for _, words in group}
            # One word more is shared by all, and something is left to say.
            shared = len(nexts) == 1 and all(len(words) > size + 1 for _, words in group)
            if shared and len(group) >= _TELLING and size < _MOST_WORDS:
                longer[f"{name} {nexts.pop()}"] = group
            else:
                names_by_rest.update((rest, name[:_LONGEST_NAME]) for rest, _ in group)
        open_groups = longer
    people = set(names_by_rest.values())
    for rest in begun:
        words = rest.split()
        names = (" ".join(words[:size]) for size in range(min(len(words), _MOST_WORDS), 0, -1))
        names_by_rest[rest] = next(filter(people.__contains__, names), "".join(words[:1]))
    return names_by_rest


def _judge(entry: Entry, *, bare: bool) -> bool:
    """Takes the quotes and the app's own words, on a PC without brackets, out of a message."""
    text = entry.text
    if "\n" in text and text.startswith('"') and text.endswith('"'):
        inside = text[1:-1]
        doubled = inside.replace('""', "")
        entry.text = inside.replace('""', '"') if '"' not in doubled else inside
        return True
    in_brackets = text[:1] == "[" and text[-1:] == "]"
    if text in _WORDING.deleted:
        entry.text, entry.deleted = "", True
    elif len(text) <= _LONGEST_WORDS and text.startswith(_CALL):
        entry.attachments = (Attachment("call", caption=text.removeprefix(_CALL).strip()),)
        entry.text = ""
    elif kind := _WORDING.kinds.get(text[1:-1] if in_brackets else text if bare else ""):
        entry.attachments, entry.text = (Attachment(kind),), ""
    return True


def _take_recurring(draft: Draft) -> None:
    """Words in brackets that recur are the app's, in a language that we do not know.

    They stay as the caption of what was sent, so that nothing is lost where a person wrote them.
    """
    people = grouped(
        (entry.text, entry.name)
        for entry in draft.entries
        if len(entry.text) <= _LONGEST_WORDS and _PLACEHOLDER.fullmatch(entry.text)
    )
    app = {text for text, names in people.items() if len(names) >= _TELLING or len({*names}) > 1}
    for entry in draft.entries:
        if entry.text in app:
            entry.attachments = (Attachment("media", caption=entry.text[1:-1]),)
            entry.text = ""


def _read(export: Export) -> None:
    for member in export:
        _read_text(member, export)


FORMAT = export_format("LINE (text)", "line", _FILES, _read)
