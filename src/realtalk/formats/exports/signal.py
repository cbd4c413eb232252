"""Signal conversations, as text or as JSON, into chats.

    [2024-05-01, 09:30] Ann: hi                     text export, to the minute
    [2024-05-01 09:30:12] Ann: hi                   chat.md of signal-export
    {"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "hi", ...}
                                                    data.json of signal-export (`signal_json`)
    → Chat with one message of Ann

A line that does not start a message belongs to the one before it; a dated line that somebody
pasted is told from one that starts a message. Signal Desktop's own messages and
Signal's plaintext export are JSON as well; `signal_json` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.errors import RealtalkError
from realtalk.formats.exports import signal_json
from realtalk.formats.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.formats.exports.values import attached
from realtalk.formats.json_input import Fields, decoded, head_text
from realtalk.formats.reading import Format, ReadCorpus, ReadOptions
from realtalk.formats.source import Member, Source, matching

# Which dated lines of a Signal text start a message, and which somebody pasted into one.
#
#     [2024-05-01 09:30:12] Ann: look what he wrote
#     [2021-02-03 08:00:00] Cleo: hi          → text of Ann: she pasted it
#     that is all␣␣
#                                             (␣ is a space)
#     [2024-05-01 09:31:00] Bo: oh            → a message of Bo
#
# signal-export ends every message with two spaces, its reactions, its sticker or the words for a
# deleted one, so a header stands behind such an end; lines inside a message have no such end. Where
# an editor has taken the spaces off, time tells: messages are in order, so a few lines that go back
# in time before it goes on are pasted.

_HEADER = re.compile(r"\[(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)\] (.*)", re.ASCII)
_DELETED_HEADER = "(This message was deleted)"
_SLACK = timedelta(hours=1)  # messages arrive late
_MOST = 50  # dated lines that somebody pastes at once
_FEW = 3


class Header(NamedTuple):
    """A dated line: where it stands, its time, and what follows the date."""

    place: int
    time: datetime
    rest: str


def header(line: str, place: int) -> Header | None:
    """The header that a line is; None for a line without a date."""
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    try:
        return Header(place, datetime.fromisoformat(f"{match[1]}T{match[2]}"), match[3])
    except ValueError:
        return None


def starts(dated: Sequence[Header], lines: Sequence[str]) -> list[Header]:
    """Those that start a message."""
    behind = [
        head
        for head in dated[1:]
        if _before(lines, head.place).endswith(("  ", " -)", " ))", _DELETED_HEADER))
    ]
    # An editor that takes spaces off leaves the other ends in place. Half of the lines is
    # enough: the others may all stand in one message.
    spaced = any(_before(lines, head.place).endswith("  ") for head in behind)
    exact = spaced and 2 * len(behind) >= len(dated) - 1
    return _in_time([*dated[:1], *behind] if exact else list(dated), sure=exact)


def _before(lines: Sequence[str], place: int) -> str:
    """The line before, or the one before that where an empty line parts messages."""
    return lines[place - 2] if not lines[place - 1] and place > 1 else lines[place - 1]


def _in_time(dated: list[Header], *, sure: bool) -> list[Header]:
    """Without the few lines that go back in time for a while."""
    rises = sum(a.time < b.time for a, b in pairwise(dated))
    falls = sum(a.time > b.time for a, b in pairwise(dated))
    if falls > rises:
        return dated  # the newest comes first
    kept: list[Header] = []
    place = 0
    while place < len(dated):
        back = place
        if kept:
            earliest = kept[-1].time - _SLACK
            while back < len(dated) and dated[back].time < earliest:
                back += 1
        count = back - place
        goes_on = back < len(dated)
        # At the end of a file nothing tells an old message from a pasted line but its form.
        if count and (count <= _MOST if goes_on else count < _FEW and not sure):
            place = back
            continue
        kept.append(dated[place])
        place += 1
    return kept


_STAMP = r"\[(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)\] "
_CUT = re.compile(r"\[\d{4}-\d\d-\d\d[\d:, ]*\]?", re.ASCII)  # a header without its end
# WhatsApp brackets its times too, but with seconds wherever it writes brackets.
_TEXT_HEAD = re.compile(r"\s*\[\d{4}-\d\d-\d\d, \d\d:\d\d\] [^\n:]+: ?", re.ASCII)
_MARKDOWN_HEAD = re.compile(r"\s*" + _STAMP + r"[^\n:]+: ?", re.ASCII)
_REACTIONS = re.compile(r"\n\(- (.*) -\)")
_STICKER = re.compile(r"\n\(\( (.*) \)\)")
# Names and paths are no longer than files have them: else every bracket looks to the end.
# What a file's name in brackets is followed by: searched first, as a text may be all brackets.
_FILE_PATH = re.compile(r"\]\((?:\./)?(media/[^)\n]{1,255})\) {0,2}")
_LONGEST_FILE_NAME = 255
_QUOTE = re.compile(r"\s*\n((?:>(?: .*)?(?:\n|\Z))+)\s*")
_DELETED = "(This message was deleted)"


def looks_like_signal_text(head: str) -> bool:
    """Whether a text starts with a dated line as Signal's text export has, never WhatsApp's."""
    return _TEXT_HEAD.match(head.removeprefix("\ufeff")) is not None


def _is_text(member: Member) -> bool:
    if member.suffix == ".md":
        return _MARKDOWN_HEAD.match(head_text(member)) is not None
    return looks_like_signal_text(head_text(member))


def _texts(source: Source, limit: int) -> Iterator[Member]:
    return matching(source, (".txt", ".md"), _is_text, limit)


def _sniff(source: Source) -> bool:
    return any(_texts(source, 64)) or signal_json.sniff(source)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    alone = len(source.members) == 1
    files = signal_json.files(source)
    drafts = [draft for member in files for draft in signal_json.drafts(member, options)]
    # signal-export writes every chat twice; the JSON says more than the text.
    in_json = {member.folder for member in files}
    texts = _texts(source, 0) if not alone else iter(() if drafts else source.members)
    pasted = 0
    for member in texts:
        if alone or member.folder not in in_json:
            draft, dated = _draft(member)
            drafts.append(draft)
            pasted += dated
    if not drafts:
        raise RealtalkError("no Signal conversation found", where=str(source.path))
    notes = [f"dated lines inside messages, taken for pasted text: {pasted:,}"] if pasted else []
    return assemble(source, "signal", drafts, options, notes)


def _draft(member: Member) -> tuple[Draft, int]:
    """The chat of one text file, and how many dated lines in it start no message."""
    folder = member.folder.rsplit("/", 1)[-1]
    usual = member.stem in ("chat", "index")
    draft = Draft(folder if usual and folder else member.stem, unit="lines")
    text = decoded(member.read()).replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    if not text.endswith("\n") and lines and _CUT.fullmatch(lines[-1]):
        draft.leave(f"{member.name}:{len(lines)}", "the export ends in the middle of this line")
        lines.pop()
    dated = [head for place, line in enumerate(lines) if (head := header(line, place))]
    heads = {head.place: head for head in starts(dated, lines)}
    current: tuple[datetime, str, list[str], int] | None = None
    for number, line in enumerate(lines, 1):
        head = heads.get(number - 1)
        if head is None and current is not None:
            current[2].append(line)
        elif head is None:
            draft.leave(f"{member.name}:{number}", "before the first message")
        else:
            if current is not None:
                _finish(draft, current, member)
            # An empty message may have lost the space behind its colon.
            speaker, colon, first_line = f"{head.rest} ".partition(": ")
            current = (
                (head.time, speaker, [first_line.removesuffix(" ")], number) if colon else None
            )
            draft.notice(not colon)  # a dated line that nobody said
    if current is not None:
        _finish(draft, current, member)
    return draft, len(dated) - len(heads)


def _finish(draft: Draft, message: tuple[datetime, str, list[str], int], member: Member) -> None:
    time, speaker, lines, number = message
    entry = Entry("", speaker, time, "\n".join(lines).rstrip("\n"))
    entry.where, entry.size = f"{member.name}:{number}", len(lines)
    if member.suffix == ".md":
        _markdown(entry)
        entry.call = signal_json.is_call(entry)
    draft.add(entry)


def _files(text: str) -> tuple[list[Attachment], str]:
    """The files that a text links to, `![name](media/path)`, and the text without them."""
    files: list[Attachment] = []
    kept: list[str] = []
    done = 0
    link = _FILE_PATH.search(text)
    while link is not None:
        earliest = max(done, link.start() - _LONGEST_FILE_NAME - 1)
        before = text[earliest : link.start()]
        since = max(before.rfind("]"), before.rfind("\n")) + 1
        bracket = before.find("[", since)
        if bracket < 0:  # no name: the path may hold a link that has one
            link = _FILE_PATH.search(text, link.start() + 1)
            continue
        start = earliest + bracket
        files.append(attached(link[1], name=before[bracket + 1 :]))
        if start > done and text[start - 1] == "!":
            start -= 1
        kept.append(text[done:start])
        done = link.end()
        link = _FILE_PATH.search(text, done)
    return files, "".join((*kept, text[done:]))


def _markdown(entry: Entry) -> None:
    """Takes what signal-export wrote into the text out of it again."""
    text = "\n" + entry.text
    pairs = [
        pair.rpartition(": ") for marks in _REACTIONS.findall(text) for pair in marks.split(", ")
    ]
    extra: Fields = reactions((emoji, [name], 1) for name, _, emoji in pairs)
    text = _REACTIONS.sub("", text)
    files, text = _files(text)
    stickers = [Attachment("sticker", caption=emoji) for emoji in _STICKER.findall(text)]
    text = _STICKER.sub("", text)
    quote = _QUOTE.match(text, 1)  # below an empty first line; what stands there was typed
    if quote is not None:
        extra["quote"] = "\n".join(line[2:].rstrip() for line in quote[1].strip().split("\n"))
        text = text[quote.end() :]
    # Two spaces at a line's end are how Markdown breaks a line.
    text = "\n".join(line.removesuffix("  ") for line in text.removeprefix("\n").split("\n"))
    entry.deleted = text.strip() == _DELETED
    entry.text = "" if entry.deleted else text.strip("\n")
    entry.attachments = (*files, *stickers)
    entry.extra = extra


FORMAT = Format(title="Signal (text, signal-export, plaintext export)", sniff=_sniff, read=_read)
