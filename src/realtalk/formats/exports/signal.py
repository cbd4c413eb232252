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
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.errors import RealtalkError
from realtalk.formats.exports import signal_json
from realtalk.formats.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.formats.exports.text_entries import EARLY
from realtalk.formats.exports.values import make_attachment
from realtalk.formats.json_input import Fields, decode, head_text
from realtalk.formats.reading import Format, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source, matching

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

_STAMP = r"\[(\d{4}-\d\d-\d\d),? (\d\d:\d\d(?::\d\d)?)\] "
_HEADER = re.compile(rf"{_STAMP}(.*)", re.ASCII)
_DELETED = "(This message was deleted)"
_SLACK = timedelta(hours=1)  # messages arrive late
_MOST = 50  # dated lines that somebody pastes at once
_FEW = 3


class Header(NamedTuple):
    """A dated line: where it stands, its time, and what follows the date."""

    place: int
    time: datetime
    rest: str


def _headers(lines: Sequence[str]) -> Iterator[Header]:
    """The lines with a date."""
    for place, line in enumerate(lines):
        if match := _HEADER.fullmatch(line):
            with suppress(ValueError):  # no such day
                time = datetime.fromisoformat(f"{match[1]}T{match[2]}")
                yield Header(place, time, match[3])


def _starts(dated: Sequence[Header], lines: Sequence[str]) -> list[Header]:
    """Those that start a message."""
    behind = [
        head
        for head in dated[1:]
        if _before(lines, head.place).endswith(("  ", " -)", " ))", _DELETED))
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
    run = dated[:1]
    place = 1
    while place < len(dated):
        earliest = run[-1].time - _SLACK
        later = (at for at in range(place, len(dated)) if dated[at].time >= earliest)
        back = next(later, len(dated))
        # At the end of a file nothing tells an old message from a pasted line but its form.
        pasted = back - place <= _MOST if back < len(dated) else back - place < _FEW and not sure
        if back > place and pasted:
            place = back
        else:
            run.append(dated[place])
            place += 1
    return run


_JSON = (".json", ".jsonl")
_CUT = re.compile(r"\[\d{4}-\d\d-\d\d[\d:, ]*\]?", re.ASCII)  # a header without its end
# WhatsApp brackets its times too, but with seconds wherever it writes brackets.
_TEXT_HEAD = re.compile(r"\s*\[\d{4}-\d\d-\d\d, \d\d:\d\d\] [^\n:]+: ?", re.ASCII)
_MARKDOWN_HEAD = re.compile(r"\s*" + _STAMP + r"[^\n:]+: ?", re.ASCII)
_REACTIONS = re.compile(r"\n\(- (.*) -\)")
_STICKER = re.compile(r"\n\(\( (.*) \)\)")
# Names and paths are no longer than files have them: else every bracket looks to the end.
_FILE = re.compile(r"!?\[([^\]\n]{0,255}+)\]\((?:\./)?(media/[^)\n]{1,255})\) {0,2}")
_QUOTE = re.compile(r"\s*\n((?:>(?: .*)?(?:\n|\Z))+)\s*")


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
    return any(_texts(source, 64)) or any(matching(source, _JSON, signal_json.is_signal_json))


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    alone = len(source.members) == 1
    files = FormatFiles(_JSON, signal_json.is_signal_json).members(source)
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
    text = decode(member.read()).replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    if not text.endswith("\n") and lines and _CUT.fullmatch(lines[-1]):
        draft.leave(f"{member.name}:{len(lines)}", "the export ends in the middle of this line")
        lines.pop()
    dated = list(_headers(lines))
    heads = _starts(dated, lines)
    ends = [head.place for head in heads] + [len(lines)]

    def leave(places: range) -> None:
        for place in places:
            draft.leave(f"{member.name}:{place + 1}", EARLY)

    leave(range(ends[0]))
    for head, end in zip(heads, ends[1:], strict=True):
        # An empty message may have lost the space behind its colon.
        speaker, colon, first_line = f"{head.rest} ".partition(": ")
        below = range(head.place + 1, end)
        if not colon:  # a dated line that nobody said
            draft.notice()
            leave(below)
            continue
        body = [first_line.removesuffix(" "), *(lines[place] for place in below)]
        entry = Entry("", speaker, head.time, "\n".join(body).rstrip("\n"), size=len(body))
        entry.where = f"{member.name}:{head.place + 1}"
        if member.suffix == ".md":
            _markdown(entry)
            entry.call = signal_json.is_call(entry)
        draft.add(entry)
    return draft, len(dated) - len(heads)


def _markdown(entry: Entry) -> None:
    """Takes what signal-export wrote into the text out of it again."""
    text = "\n" + entry.text
    pairs = [
        pair.rpartition(": ") for marks in _REACTIONS.findall(text) for pair in marks.split(", ")
    ]
    extra: Fields = reactions((emoji, [name], 1) for name, _, emoji in pairs)
    text = _REACTIONS.sub("", text)
    files: list[Attachment] = []
    if "](" in text:  # else a text of nothing but brackets would be searched at each of them
        files += [make_attachment(path, name=name) for name, path in _FILE.findall(text)]
        text = _FILE.sub("", text)
    files += [Attachment("sticker", caption=emoji) for emoji in _STICKER.findall(text)]
    text = _STICKER.sub("", text)
    quote = _QUOTE.match(text, 1)  # below an empty first line; what stands there was typed
    if quote is not None:
        extra["quote"] = "\n".join(line[2:].rstrip() for line in quote[1].strip().split("\n"))
        text = text[quote.end() :]
    # Two spaces at a line's end are how Markdown breaks a line.
    text = "\n".join(line.removesuffix("  ") for line in text.removeprefix("\n").split("\n"))
    entry.deleted = text.strip() == _DELETED
    entry.text = "" if entry.deleted else text.strip("\n")
    entry.attachments = tuple(files)
    entry.extra = extra


FORMAT = Format("Signal (text, signal-export, plaintext export)", _sniff, _read)
