"""Text of imessage-exporter into drafts of chats, one file per conversation.

    May 17, 2022  5:29:42 PM (Read by you after 5 seconds)
    Ann
    are you there?
    Tapbacks:
    Loved by Me

    → one entry of Ann, with a reaction of Me

A time and a name alone on their lines, below an empty line, begin a message; a time with words
behind it is a notice. Answers stand twice, indented below what they answer and by themselves:
the indented ones say what is answered and are no messages of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.imessage_marks import STAMP, Reaction, moment, sent_file, tapback
from realtalk.corpora.exports.text_entries import EARLY, export_lines
from realtalk.corpora.source import Member

_HEAD = re.compile(rf"{STAMP}(?: \(Read by .{{1,200}} after .{{1,100}}\))?")
_NOTICE = re.compile(rf"{STAMP} .{{1,1000}}")
_INDENTED = re.compile(rf" {{4}}{STAMP}(?: \(Read by .{{1,200}} after .{{1,100}}\))?")
_FIRST = re.compile(rf"({STAMP}) (.*)")  # of an edited message
_EDITED = re.compile(r"Edited [\w ,]{1,100} later: (.*)")
_UNSENT = re.compile(r".{1,200} unsent this message part(?: [\w ,]{1,100} after sending)?!")
_FILE = re.compile(r"(?:~?/|[A-Z]:\\|attachments[/\\])[^\n]{0,1000}\.\w{1,8}")
_STICKER = re.compile(r"(?:.{1,40} )?Sticker from [^:]{1,200}: ")
_TAPBACKS = ("Tapbacks:", "Reactions:")
_ANSWERS = "This message responded to an earlier message."
_REMOVED = "This message was deleted from the conversation!"
_LOST = ("Attachment missing!", "Attachment does not exist!")
_SHARED = (
    ["SharePlay Message", "Ended"],
    ["Started sharing location!"],
    ["Stopped sharing location!"],
    ["Shared location!"],
)
_EFFECT = re.compile(
    r"Sent with (?:Confetti|Echo|Fireworks|Balloons|Heart|Lasers|Shooting Start?|Sparkles|"
    r"Spotlight|Slam|Loud|Gentle|Invisible Ink)"
)


@dataclass(slots=True)
class ThreadCopy:
    """An answer as it stands below what it answers, and how many lines it takes."""

    parent: Entry
    entry: Entry
    size: int
    tail: list[str] = field(default_factory=list)  # what stands below it and an empty line


@dataclass(slots=True)
class _Body:
    """What the lines below a name come to."""

    text: list[str] = field(default_factory=list)
    files: list[Attachment] = field(default_factory=list)
    marks: list[Reaction] = field(default_factory=list)
    edited: bool = False
    unsent: bool = False


def is_text(head: str) -> bool:
    """Whether a text begins with a time and a name, each alone on its line, or with a notice."""
    lines = head.lstrip("\ufeff\r\n").replace("\r\n", "\n").split("\n", 40)[:40]
    return any(_is_head(lines, place) for place in range(len(lines))) and (
        _HEAD.fullmatch(lines[0]) is not None or _NOTICE.fullmatch(lines[0]) is not None
    )


def draft(member: Member) -> Draft:
    """The chat of one file."""
    lines = export_lines(member)
    chat = Draft(member.stem, unit="lines")
    starts = [place for place in range(len(lines)) if _starts(lines, place)]
    for number, line in enumerate(lines[: starts[0] if starts else len(lines)], 1):
        if line:
            chat.leave(f"{member.name}:{number}", EARLY)
        else:
            chat.notice()
    copies: list[ThreadCopy] = []
    for start, end in pairwise([*starts, len(lines)]):
        block = lines[start:end]
        while not block[-1]:
            block.pop()
            chat.notice()
        _block(chat, block, f"{member.name}:{start + 1}", copies)
    _join(chat, copies)
    return chat


def _starts(lines: Sequence[str], place: int) -> bool:
    if place and lines[place - 1]:
        return False
    return _is_head(lines, place) or _NOTICE.fullmatch(lines[place]) is not None


def _is_head(lines: Sequence[str], place: int) -> bool:
    below = lines[place + 1] if place + 1 < len(lines) else ""
    return bool(below.strip()) and _HEAD.fullmatch(lines[place]) is not None


def _block(chat: Draft, lines: list[str], where: str, copies: list[ThreadCopy]) -> None:
    """One message with what stands in its thread, or one notice."""
    if not _is_head(lines, 0):
        chat.notice(len(lines))
        return
    entry = Entry("", lines[1], moment(lines[0]), "", where=where, size=2)
    own: list[str] = []
    copy_here: ThreadCopy | None = None
    place = 2
    while place < len(lines):
        if _INDENTED.fullmatch(lines[place]):
            end = next((at for at in range(place, len(lines)) if not lines[at]), len(lines))
            copy = [line.removeprefix("    ") for line in lines[place:end]]
            name = copy[1] if len(copy) > 1 else ""
            answer = Entry("", name, moment(copy[0]), "", where=where, size=len(copy))
            _tell(answer, copy[2:])
            copy_here = ThreadCopy(entry, answer, min(end + 1, len(lines)) - place)
            copies.append(copy_here)
            place = end + 1
        else:
            own.append(lines[place])
            if copy_here is not None:
                copy_here.tail.append(lines[place])
            place += 1
    entry.size += len(own)
    if own in _SHARED:
        chat.notice(entry.size)
        return
    _tell(entry, own)
    chat.add(entry)


def _tell(entry: Entry, lines: list[str]) -> None:
    """Sets what the lines below a name say."""
    if lines and lines[0] == _REMOVED:
        entry.deleted = True
        lines = lines[1:]
    if lines and lines[-1] == _ANSWERS:
        lines = lines[:-1]
    body = _Body()
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line in _TAPBACKS and place < len(lines) and tapback(lines[place]):
            while place < len(lines) and (mark := tapback(lines[place])):
                body.marks.append(mark)
                place += 1
            place += place < len(lines) and not lines[place]
        elif not _is_own(body, line, at_start=place == 1):
            body.text.append(line)
    entry.text = "\n".join(body.text).rstrip("\n")
    entry.attachments = tuple(body.files)
    entry.edited = body.edited
    entry.deleted |= body.unsent and not entry.text and not entry.attachments
    entry.extra = reactions(body.marks)


def _is_own(body: _Body, line: str, *, at_start: bool) -> bool:
    """Whether a line is the exporter's, and then takes what it says."""
    if _FILE.fullmatch(line) and "ttachments" in line:
        body.files.append(sent_file(line))
    elif sticker := _STICKER.match(line):
        body.files.append(sent_file(line[sticker.end() :].partition(" (")[0], "sticker"))
    elif line in _LOST:
        body.files.append(Attachment("media"))
    elif line.startswith("Transcription: ") and body.files and body.files[-1].kind == "audio":
        last = body.files.pop()
        caption = line.removeprefix("Transcription: ")
        body.files.append(Attachment(last.kind, last.name, last.url, caption))
    elif edited := _EDITED.fullmatch(line):
        body.text = [edited[1]]
        body.edited = True
    elif at_start and (first := _FIRST.fullmatch(line)):
        body.text = [first[2]]
        body.edited = True
    elif _UNSENT.fullmatch(line):
        body.unsent = True
    else:
        return _EFFECT.fullmatch(line) is not None
    return True


def _join(chat: Draft, copies: list[ThreadCopy]) -> None:
    """Ties every answer to what it answers; one that stands in a thread only is a message."""
    by_head: dict[tuple[object, str], list[Entry]] = {}
    for entry in chat.entries:
        by_head.setdefault((entry.time, entry.name), []).append(entry)
    for copy in copies:
        alike = by_head.get((copy.entry.time, copy.entry.name), [])
        begins = copy.entry.text.split("\n", 1)[0]
        answer = next((each for each in alike[:9] if each.text.startswith(begins)), None)
        copy.parent.id = copy.parent.id or copy.parent.where.rpartition(":")[2]
        if answer is None:
            answer = copy.entry
            chat.add(answer)
            chat.notice(copy.size - answer.size)
        else:
            chat.notice(copy.size)
            _cut(chat, copy, answer)
        answer.reply_to = copy.parent.id


def _cut(chat: Draft, copy: ThreadCopy, answer: Entry) -> None:
    """Takes what is the answer's from what it answers: it goes on below an empty line."""
    tail = "\n".join(copy.tail).strip("\n")
    # Newer versions indent every line, older ones the first of each part.
    plain = "\n".join(line.removeprefix("    ") for line in copy.tail).strip("\n")
    parent = copy.parent
    if tail and answer.text.endswith(plain) and parent.text.endswith(tail):
        parent.text = parent.text[: -len(tail)].rstrip("\n")
        parent.size -= len(copy.tail)
        chat.notice(len(copy.tail))
