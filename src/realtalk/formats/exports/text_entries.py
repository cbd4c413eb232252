"""Lines of a text export into entries of a draft: one line begins a message, others go on with it.

    2024. 5. 1. 15:05, Ann : are you      begin("Ann", datetime(2024, 5, 1, 15, 5), "are you")
    there?                                go_on("there?")
    (an empty line)                       go_on("")
    2024. 5. 1. 15:06, Ann left           notice()
    → one entry "are you\\nthere?" of two lines, and two notices

Empty lines at the end of a message are how the app parts messages, so they count as its own.
Every line is counted once, whatever becomes of it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from datetime import datetime

from realtalk.formats.exports.assembly import Draft, Entry, Export
from realtalk.formats.json_input import decode, head_text
from realtalk.formats.source import Member
from realtalk.text.calendars import DateOrder
from realtalk.text.wordlists import phrases, sections
from realtalk.text.written_days import is_open, shares_order

EARLY = "before the first message"


def export_lines(member: Member) -> list[str]:
    """The lines of a text, whatever ends them; people paste other separators into messages."""
    text = decode(member.read()).replace("\r\n", "\n")
    if "\n" not in text:
        text = text.replace("\r", "\n")
    return text.removesuffix("\n").split("\n") if text else []


def table_rows(member: Member) -> list[tuple[str, list[str]]]:
    """The rows of a CSV file, its header among them, each with its place."""
    try:
        rows = list(csv.reader(io.StringIO(decode(member.read()), newline="")))
    except csv.Error as error:
        raise member.error("not a readable CSV table") from error
    return [(f"{member.name}, row {number}", row) for number, row in enumerate(rows, 1)]


def day_order(lines: Iterable[str], export: Export, file: str = "") -> DateOrder:
    """Which number of a day is the month, in lines that may state one; a note where it is open."""
    days = list(filter(is_open, lines))
    if export.options.dates is not None or not days:
        return export.options.dates or "dmy"
    order, certain = shares_order(days)
    if not certain:
        export.notes.append(f"{file}the dates could be dmy or mdy; read as {order} (`dates=`)")
    return order


def head_lines(member: Member, most: int) -> list[str]:
    """The first lines of a text that are not empty."""
    lines = head_text(member).split("\n", most)[:most]
    return [line.rstrip("\r") for line in lines if line.strip()]


# The words that an app writes into its exported texts by itself, from the file beside this one.
#
#     words = AppPhrases("viber", "image video sticker")      reads viber_wording.txt
#     words.kinds["Photo message"]                         → "image"
#     words.any_of("call")                                 → "Missed call|Incoming call|…"


class AppPhrases:
    """The phrases of one app: what stands for a file that was sent, or a message taken back."""

    def __init__(self, app: str, kinds: str) -> None:
        self.sections = sections("realtalk.formats.exports", f"{app}_wording.txt")
        self.kinds = self.by_phrase(kinds)
        self.deleted = frozenset(phrases(self.sections["deleted"]))

    def by_phrase(self, kinds: str, heading: str = "{}") -> dict[str, str]:
        """The phrases of some sections, each with its kind."""
        return {
            phrase: kind
            for kind in kinds.split()
            for phrase in phrases(self.sections[heading.format(kind)])
        }

    def any_of(self, section: str) -> str:
        """A pattern for the phrases of a section."""
        return "|".join(map(re.escape, phrases(self.sections[section])))


class EntryLines:
    """Takes the lines of one file in order, and adds what they come to to its draft.

    `judge` is handed every entry when its text is whole: it takes the app's own words out of the
    text, and answers False for what the app wrote by itself. `is_notice` tells lines that an app
    puts below a message without any mark.
    """

    def __init__(
        self,
        draft: Draft,
        file: str,
        judge: Callable[[Entry], bool],
        is_notice: Callable[[str], bool] = lambda line: not line,
    ) -> None:
        self.draft = draft
        self._file = file
        self._judge = judge
        self._is_notice = is_notice
        self._entry: Entry | None = None
        self._lines: list[str] = []
        self._number = 0
        self._begun = False

    def begin(self, name: str, time: datetime | None, text: str) -> None:
        """A line that begins a message: who sent it and when, and the start of its text."""
        self.end()
        self._number += 1
        self._begun = True
        self._entry = Entry("", name, time, "", where=f"{self._file}:{self._number}")
        self._lines = [text]

    def notice(self) -> None:
        """A line of the app: it ends the message before it."""
        self.end()
        self._number += 1
        self._begun = True
        self.draft.notice()

    def title(self) -> None:
        """A line about the file, or an empty one, before everything else."""
        self._number += 1
        self.draft.notice()

    def go_on(self, line: str) -> None:
        """A line without a mark: it belongs to the message or notice before it."""
        if self._entry is not None:
            self._number += 1
            self._lines.append(line)
        elif self._begun or not line.strip():
            self.title()
        else:
            self.leave(EARLY)

    def leave(self, reason: str) -> None:
        """A line that is neither."""
        self.end()
        self._number += 1
        self.draft.leave(f"{self._file}:{self._number}", reason)

    def end(self) -> None:
        """Adds the message that is open."""
        entry, lines = self._entry, self._lines
        if entry is None:
            return
        self._entry = None
        while len(lines) > 1 and self._is_notice(lines[-1]):
            lines.pop()
            self.draft.notice()
        entry.text = "\n".join(lines)
        entry.size = len(lines)
        if self._judge(entry):
            self.draft.add(entry)
        else:
            self.draft.notice(entry.size)
