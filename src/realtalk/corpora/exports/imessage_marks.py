"""What the ways of exporting iMessage share: how they write times, tapbacks and files.

moment("May 17, 2022  5:29:42 PM (Read by you after 1 hour)")  → 2022-05-17 17:29:42
tapback("Loved by Ann")                                        → ("❤️", ["Ann"], 1)
sent_file("attachments/12/3.heic")                             → Attachment("image", ...)
"""

from __future__ import annotations

import re
from datetime import datetime

from realtalk.chat import Attachment
from realtalk.corpora.exports.values import attached
from realtalk.corpora.exports.whatsapp.dayparts import hour_of_day
from realtalk.corpora.exports.written_days import month_day

OWNER = "Me"
STAMP = r"[A-Z][a-z]{2} \d{1,2}, \d{4} {1,2}\d{1,2}:\d\d:\d\d [AP]M"
_PARTS = re.compile(
    r"\s*([A-Z][a-z]{2}) (\d{1,2}), (\d{4}) {1,2}(\d{1,2}):(\d\d):(\d\d) ([AP]M)", re.ASCII
)
# In the order of their numbers, 2000 and on, in Apple's database.
TAPBACKS = {
    "Loved": "❤️",
    "Liked": "👍",
    "Disliked": "👎",
    "Laughed": "😂",
    "Emphasized": "‼️",
    "Questioned": "❓",
}
_TAPBACK = re.compile(r"(\S.{0,30}?) by (.{1,200})")
_STICKER = re.compile(r"(?:.{1,40} )?Sticker from (.{1,200}?): .{1,1000}")
_LOST_STICKER = re.compile(r"Sticker from (.{1,200}) not found!")

_LONGEST = 1000
Reaction = tuple[str, list[str], int]


def moment(text: str) -> datetime | None:
    """The time that a text begins with; what follows it is when it was read."""
    match = _PARTS.match(text)
    if match is None:
        return None
    name, day, year, hour, minute, second, half = match.groups()
    try:
        date = month_day(year, name, day)
    except ValueError:  # no such month
        return None
    try:
        clock = (hour_of_day(int(hour), half), int(minute), int(second))
        return datetime(date.year, date.month, date.day, *clock) if date else None
    except ValueError:
        return None


def tapback(words: str) -> Reaction | None:
    """Who reacted how, in the exporter's words; None for any other line."""
    if len(words) > _LONGEST:
        return None
    sticker = _STICKER.fullmatch(words) or _LOST_STICKER.fullmatch(words)
    if sticker:
        return "sticker", [sticker[1]], 1
    match = _TAPBACK.fullmatch(words)
    return (TAPBACKS.get(match[1], match[1]), [match[2]], 1) if match else None


def sent_file(path: str, kind: str = "") -> Attachment:
    """A file by its path."""
    return attached(path, kind)
