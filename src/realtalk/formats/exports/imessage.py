"""iMessage and the SMS beside it: Messages' own database, or what imessage-exporter writes.

    ~/Library/Messages/chat.db
    imessage-exporter -f txt → +15550100.txt, or -f html → +15550100.html
    → one chat per conversation; who owns the machine is called Me

The database says more than the others: everybody's address, ids, and what answers what.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count, groupby, islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.exports.databases import (
    DATABASES,
    Database,
    has_tables,
    is_database,
    log_notes,
    open_database,
)
from realtalk.formats.exports.html_tags import Element, page_elements
from realtalk.formats.exports.text_entries import EARLY, export_lines
from realtalk.formats.json_input import (
    Fields,
    from_number,
    head_text,
    make_attachment,
    text_at,
    word_pairs,
    word_set,
)
from realtalk.formats.source import FormatFiles, Member
from realtalk.grouping import grouped
from realtalk.text.wordlists import language_lines
from realtalk.text.words import one_line
from realtalk.text.written_days import parse_spelled

# What text and pages of imessage-exporter share:
#
# moment("May 17, 2022  5:29:42 PM (Read by you after 1 hour)")  → 2022-05-17 17:29:42
# tapback("Loved by Ann")                                        → ("❤️", ["Ann"], 1)

OWNER = "Me"
STAMP = r"[A-Z][a-z]{2} \d{1,2}, \d{4} {1,2}\d{1,2}:\d\d:\d\d [AP]M"
# In the order of their numbers, 2000 and on, in Apple's database.
TAPBACKS = word_pairs("""
    Loved      ❤️
    Liked      👍
    Disliked   👎
    Laughed    😂
    Emphasized ‼️
    Questioned ❓
""")
_TAPBACK = re.compile(r"(\S.{0,30}?) by (.{1,200})")
_STICKER_TAPBACK = re.compile(r"(?:.{1,40} )?Sticker from (.{1,200}?): .{1,1000}")
_LOST_STICKER = re.compile(r"Sticker from (.{1,200}) not found!")
_LONGEST = 1000
Reaction = tuple[str, list[str], int]


def moment(text: str) -> datetime | None:
    """The time that a text begins with; what follows it is when it was read."""
    stamp = re.match(rf"\s*({STAMP})", text, re.ASCII)
    return parse_spelled(stamp[1]) if stamp else None


def tapback(words: str) -> Reaction | None:
    """Who reacted how, in the exporter's words; None for any other line."""
    if len(words) > _LONGEST:
        return None
    sticker = _STICKER_TAPBACK.fullmatch(words) or _LOST_STICKER.fullmatch(words)
    if sticker:
        return "sticker", [sticker[1]], 1
    match = _TAPBACK.fullmatch(words)
    return (TAPBACKS.get(match[1], match[1]), [match[2]], 1) if match else None


# Text of imessage-exporter into drafts of chats, one file per conversation.
#
#     May 17, 2022  5:29:42 PM (Read by you after 5 seconds)
#     Ann
#     are you there?
#     Tapbacks:
#     Loved by Me
#
#     → one entry of Ann, with a reaction of Me
#
# A time and a name alone on their lines, below an empty line, begin a message; a time with words
# behind it is a notice. Answers stand twice, indented below what they answer and by themselves:
# the indented ones say what is answered and are no messages of their own.

_HEAD = re.compile(rf"{STAMP}(?: \(Read by .{{1,200}} after .{{1,100}}\))?")
_NOTICE = re.compile(rf"{STAMP} .{{1,1000}}")
_INDENTED = re.compile(rf" {{4}}{STAMP}(?: \(Read by .{{1,200}} after .{{1,100}}\))?")
_FIRST = re.compile(rf"{STAMP} (.*)")  # of an edited message
_EDITED = re.compile(r"Edited [\w ,]{1,100} later: (.*)")
_UNSENT = re.compile(r".{1,200} unsent this message part(?: [\w ,]{1,100} after sending)?!")
_FILE = re.compile(r"(?:~?/|[A-Z]:\\|attachments[/\\])[^\n]{0,1000}\.\w{1,8}")
_STICKER = re.compile(r"(?:.{1,40} )?Sticker from [^:]{1,200}: ")
_HEARD = "Transcription: "
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


class ThreadCopy(NamedTuple):
    """An answer as it stands below what it answers, and how many lines it takes."""

    parent: Entry
    entry: Entry
    size: int
    tail: list[str]  # what stands below it and an empty line


def is_text(member: Member) -> bool:
    """Whether a text begins with a time and a name, each alone on its line, or with a notice."""
    lines = head_text(member).lstrip("\ufeff\r\n").replace("\r\n", "\n").split("\n", 40)[:40]
    return any(_is_head(lines, place) for place in range(len(lines))) and (
        _HEAD.fullmatch(lines[0]) is not None or _NOTICE.fullmatch(lines[0]) is not None
    )


def read_text(member: Member, export: Export) -> None:
    """The chat of one file."""
    lines = export_lines(member)
    chat = export.draft(member, member.stem, unit="lines")
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
    entry = Entry("", lines[1], moment(lines[0]), "", where=where)
    own: list[str] = []
    tail: list[str] = []
    place = 2
    while place < len(lines):
        if _INDENTED.fullmatch(lines[place]):
            end = next((at for at in range(place, len(lines)) if not lines[at]), len(lines))
            stamp, *copy = [line.removeprefix("    ") for line in lines[place:end]]
            answer = Entry("", "".join(copy[:1]), moment(stamp), "", where=where)
            answer.size = end - place
            _tell(answer, copy[1:])
            tail = []
            copies.append(ThreadCopy(entry, answer, min(end + 1, len(lines)) - place, tail))
            place = end + 1
        else:
            own.append(lines[place])
            tail.append(lines[place])
            place += 1
    entry.size = 2 + len(own)
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
    text: list[str] = []
    files: list[Attachment] = []
    marks: list[Reaction] = []
    unsent = False
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if line in _TAPBACKS and place < len(lines) and tapback(lines[place]):
            while place < len(lines) and (mark := tapback(lines[place])):
                marks.append(mark)
                place += 1
            place += place < len(lines) and not lines[place]
        elif _FILE.fullmatch(line) and "ttachments" in line:
            files.append(make_attachment(line))
        elif sticker := _STICKER.match(line):
            files.append(make_attachment(line[sticker.end() :].partition(" (")[0], "sticker"))
        elif line in _LOST:
            files.append(Attachment("media"))
        elif line.startswith(_HEARD) and files and files[-1].kind == "audio":
            files[-1] = replace(files[-1], caption=line.removeprefix(_HEARD))
        elif edited := _EDITED.fullmatch(line) or (place == 1 and _FIRST.fullmatch(line)):
            text = [edited[1]]
            entry.edited = True
        elif _UNSENT.fullmatch(line):
            unsent = True
        elif not _EFFECT.fullmatch(line):
            text.append(line)
    entry.text = "\n".join(text).rstrip("\n")
    entry.attachments = tuple(files)
    entry.deleted |= unsent and not entry.text and not files
    entry.extra = reactions(marks)


def _join(chat: Draft, copies: list[ThreadCopy]) -> None:
    """Ties every answer to what it answers; one that stands in a thread only is a message."""
    by_head = grouped(((entry.time, entry.name), entry) for entry in chat.entries)
    for copy in copies:
        alike = by_head.get((copy.entry.time, copy.entry.name), [])
        begins = copy.entry.text.split("\n", 1)[0]
        answer = next((entry for entry in alike[:9] if entry.text.startswith(begins)), None)
        copy.parent.id = copy.parent.id or copy.parent.where.rpartition(":")[2]
        if answer is None:
            answer = copy.entry
            chat.add(answer)
            chat.notice(copy.size - answer.size)
        else:
            chat.notice(copy.size)
            # Takes what is the answer's from what it answers: it goes on below an empty line.
            tail = "\n".join(copy.tail).strip("\n")
            # Newer versions indent every line, older ones the first of each part.
            plain = "\n".join(line.removeprefix("    ") for line in copy.tail).strip("\n")
            parent = copy.parent
            if tail and answer.text.endswith(plain) and parent.text.endswith(tail):
                parent.text = parent.text[: -len(tail)].rstrip("\n")
                parent.size -= len(copy.tail)
                chat.notice(len(copy.tail))
        answer.reply_to = copy.parent.id


# Pages of imessage-exporter into drafts of chats, one page per conversation.
#
#     <div class="message"><div class="received"><p><span class="timestamp"><a href="sms://open?
#     message-guid=41">May 17, 2022  5:29:42 PM</a></span> <span class="sender">Ann</span></p>
#     <hr><div class="message_part"><span class="bubble">hi</span></div></div></div>
#     → one entry of Ann, "hi", id 41
#
# Answers stand twice, inside of what they answer and by themselves; those inside say what is
# answered and are no messages of their own.

_GUID = re.compile(r"message-guid=([\w:./-]{1,100})")
# The exporter leaves out the end of this tag.
_AUDIO = re.compile(r'<audio [^<>"]{0,100}src="([^"<>]{1,1000})"')
# Elements that say something else than what is around them.
_PARTS = word_set("""
    timestamp sender bubble subject tapback reaction sticker_tapback unsent edited name caption
    subcaption transcription shareplay shared_location attachment_error app_error deleted expressive
    reply_context reply_anchor app message
    """)
_SILENT = word_set("message app name tapback reaction sticker_tapback bubble")
_SHOWN = word_pairs("""
    img
    video  video
    source video
    audio  audio
""")


def is_page(member: Member) -> bool:
    """Whether the head of a page is one of imessage-exporter's."""
    head = head_text(member)
    marks = ('class="message_part"', 'class="timestamp"', 'class="sender"')
    return all(mark in head for mark in marks) and (
        'class="received"' in head or 'class="sent ' in head
    )


def _is_message(element: Element) -> bool:
    return element.name == "div" and "message" in element.classes


def _is_wanted(element: Element, around: list[Element]) -> bool:
    """Whether it is a message or a notice; answers are read with what they answer."""
    if any("replies" in outer.classes for outer in around):
        return False
    return _is_message(element) or (element.name == "div" and "announcement" in element.classes)


def _files_in(element: Element, around: str = "") -> Iterator[tuple[str, str]]:
    """The kinds and paths of files."""
    for part in element.parts:
        if isinstance(part, str):
            yield from (("audio", path) for path in _AUDIO.findall(part))
        elif part.classes.isdisjoint(_SILENT):
            holds = next(
                (name for name in ("sticker", "attachment") if name in part.classes), around
            )
            path = part.get("src")
            if path and part.name in _SHOWN:
                yield ("sticker" if holds == "sticker" else _SHOWN[part.name]), path
            elif part.name == "a" and holds == "attachment":
                yield "", part.get("href")
            yield from _files_in(part, holds)


def _page_entry(message: Element) -> Entry | None:
    """A message; None where it only says that a place or a film is shared."""
    own = list(message.inside(_is_message))

    def having(*classes: str) -> list[Element]:
        return [element for element in own if not element.classes.isdisjoint(classes)]

    def said(*classes: str) -> list[str]:
        return [element.without(_PARTS) for element in having(*classes)]

    def line(*classes: str) -> str:
        return "\n".join(map(one_line, said(*classes))).strip()

    guids = (
        _GUID.search(link.get("href")) for stamp in having("timestamp") for link in stamp.inside()
    )
    links = [link for app in having("app") for link in app.links()]
    edited = [
        [table, *(row for row in table.inside() if row.name == "tr")][-1].without(_PARTS).strip()
        for table in having("edited")[-1:]
    ]
    text = "\n".join(filter(None, [*said("bubble"), *edited]))
    paths = (next(alike) for _, alike in groupby(_files_in(message), itemgetter(1)))
    marks = map(_reaction, said("tapback", "reaction", "sticker_tapback"))
    files = [make_attachment(path, kind) for kind, path in paths]
    files += [Attachment("media")] * len(having("attachment_error", "app_error"))
    if heard := "".join(said("transcription")).strip().removeprefix(_HEARD):
        files = [replace(file, caption=heard) if file.kind == "audio" else file for file in files]
    link = next(filter(None, links), "")
    if having("shareplay", "shared_location") and not (having("bubble") or files or link):
        return None
    if link or having("app"):
        title = line("name") or line("app")
        caption = line("caption", "subcaption")
        files.append(Attachment("link" if link else "media", title, link, caption))
    return Entry(
        "",
        one_line("".join(said("sender"))),
        moment("".join(said("timestamp"))),
        text or link,
        id=next((guid[1] for guid in guids if guid), ""),
        attachments=tuple(files),
        edited=bool(edited),
        deleted=bool(having("deleted") or (having("unsent") and not (text or files))),
        extra=reactions(mark for mark in marks if mark),
    )


def _reaction(words: str) -> Reaction | None:
    plain = one_line(words)
    # Of a sticker only the picture and its owner are shown.
    return ("sticker", [plain[3:]], 1) if plain.startswith("by ") else tapback(plain)


def read_page(member: Member, export: Export) -> None:
    """The chat of one page."""
    chat = export.draft(member, member.stem)
    copies: list[tuple[str, Entry]] = []
    numbers = count(1)

    def take(message: Element, parent: Entry | None) -> None:
        entry = _page_entry(message)
        where = f"{member.name}, message {next(numbers)}"
        if parent is None or entry is None:
            chat.take(entry, where)
        else:
            entry.where = where
            copies.append((parent.id, entry))
        for answer in filter(_is_message, message.inside(_is_message)):
            take(answer, entry)

    for element in page_elements(member, _is_wanted):
        if _is_message(element):
            take(element, None)
        else:
            chat.notice()
    by_key = {_key(entry): entry for entry in chat.entries}
    for answered, copy in copies:
        if answer := by_key.get(_key(copy)):
            chat.notice()
        else:
            answer = copy
            chat.add(answer)
        answer.reply_to = answered


def _key(entry: Entry) -> tuple[object, ...]:
    return (entry.id,) if entry.id else (entry.time, entry.name, entry.text)


# The text in Apple's typedstream, in which newer versions of Messages keep what was written.
#
#     b"\x04\x0bstreamtyped ... NSString\x01\x94\x84\x01+\x02hi\x86 ..." → "hi"
#
# A string's class is followed by `+`, its length and its bytes. A length takes one byte, or after
# 0x81 two and after 0x82 four, the lowest first. Of all that the stream holds only the first string
# is wanted: what comes after it is how the text looks.

_TYPED = re.compile(rb"\x04\x0bstreamtyped(?>.*?NSString).{0,29}?\x84\x01\+(.)", re.DOTALL)
_WIDE = {0x81: 2, 0x82: 4}


def typed_text(blob: bytes) -> str | None:
    """The text; None where the bytes are no such stream, or end too early."""
    stream = _TYPED.match(blob)
    if stream is None:
        return None
    start, (first,) = stream.end(), stream[1]
    width = _WIDE.get(first, 0)
    length = int.from_bytes(blob[start : start + width], "little") if width else first
    text = blob[start + width :][:length]
    return text.decode("utf-8", "replace") if len(text) == length else None


# macOS's chat.db, or a phone's sms.db, into drafts of chats, one per conversation.
#
#     message: guid 41, handle_id 3, date 674501382000000000, text "hi"     handle 3: +15550100
#     → Draft("+15550100") with one entry "hi", id 41
#
# Times count from 2001, in nanoseconds or, before 2017, in seconds. Tapbacks are rows of their own:
# they are notices, and reactions of what they point at.

_EPOCH = 978_307_200  # the first second of 2001
_SECONDS = 10**11  # a larger date is in nanoseconds
_OBJECT = "\ufffc"  # where a file stands in a text
_TABLES = language_lines("realtalk.formats.exports", "imessage_tables.txt")
_NEEDED = {"message": "ROWID date is_from_me", "handle": "ROWID id"}
_FIRST_TAPBACK, _FIRST_TAKEN_BACK, _PLACED_STICKER = 2000, 3000, 1000
_EMOJI = (*TAPBACKS.values(), "", "sticker")  # the seventh stands in a column of its own

Marks = dict[str, dict[tuple[str, str], Reaction]]  # of messages, by whom and which


def _read_database(database: Database, member: Member, export: Export) -> None:
    """Every message in its conversation, with what was given to it."""
    if not database.has(_NEEDED):
        raise member.error("holds no messages of Apple's")
    people = dict(database.frame("handle").rows())
    chats = {row["ROWID"]: row for row in database.rows("chat")}
    joined = database.frame("chat_handle_join").rows()
    members = grouped((number, people.get(person) or "") for number, person in joined)
    sent = database.frame("chat_message_join").rows()
    chat_of = {message: number for number, message in reversed(sent)}  # the first that has it
    listed = {row["ROWID"]: row for row in database.rows("attachment")}
    attached = database.frame("message_attachment_join").rows()
    files = grouped((message, listed[file]) for message, file in attached if file in listed)
    marks: Marks = defaultdict(dict)
    before = len(export.drafts)  # of other files: an older copy must not undo their reactions
    for row in database.rows("message"):
        number = chat_of.get(row["ROWID"])
        # In a chat of two it may not be said who sent a message.
        others = members.get(number, [])
        alone = others[0] if len(others) == 1 else ""
        person = people.get(row["handle_id"]) or alone
        sender = "" if row["is_from_me"] else person
        # A message without a chat is in that of its person.
        chat = chats.get(number, {})
        key = text_at(chat, "chat_identifier") or person or "unknown"
        name = text_at(chat, "display_name") or key
        draft = export.draft((member, key), name, extra={"participants": others})
        kind = row["associated_message_type"] or 0
        if kind >= _PLACED_STICKER:
            _react(marks, row, kind, OWNER if row["is_from_me"] else sender)
            draft.notice()
        elif row["item_type"] or row["group_action_type"]:
            draft.notice()
        else:
            entry = _entry(row, sender, files.get(row["ROWID"], []))
            draft.take(entry, f"{member.name}, message {row['ROWID']}")
    for draft in islice(export.drafts.values(), before, None):
        for entry in draft.entries:
            if entry.id in marks:
                entry.extra |= reactions(marks[entry.id].values())


def _react(marks: Marks, row: Fields, kind: int, name: str) -> None:
    """Notes a tapback, or that one was taken back, with the message it is about."""
    # "p:0/GUID" for a part of a message, "bp:GUID" for a whole one.
    about = text_at(row, "associated_message_guid").rpartition("/")[2].removeprefix("bp:")
    place = kind % 1000 if kind >= _FIRST_TAPBACK else len(_EMOJI) - 1
    emoji = _EMOJI[place] if place < len(_EMOJI) else ""
    emoji = emoji or text_at(row, "associated_message_emoji")
    if kind >= _FIRST_TAKEN_BACK:
        marks[about].pop((name, emoji), None)
    elif emoji:
        marks[about][name, emoji] = (emoji, [name], 1)


def _entry(row: Fields, sender: str, listed: list[Fields]) -> Entry:
    text = text_at(row, "text")
    if not text and row["attributedBody"]:
        text = typed_text(row["attributedBody"]) or ""
    text = text.replace(_OBJECT, "").strip() if _OBJECT in text else text
    files = tuple(_file(file, row) for file in listed)
    app = text_at(row, "balloon_bundle_id").rpartition(":")[2].rpartition(".")[2]
    if app and not (text or files):
        files = (Attachment("media", app),)
    edited, says, date = bool(row["date_edited"]), bool(text or files), row["date"]
    return Entry(
        sender,
        OWNER if row.get("is_from_me") else sender,
        from_number(_EPOCH + (date / 1e9 if abs(date) >= _SECONDS else date)) if date else None,
        text,
        id=text_at(row, "guid"),
        attachments=files,
        reply_to=text_at(row, "thread_originator_guid"),
        edited=edited and says,
        # What was unsent has lost its text.
        deleted=(edited or bool(row["date_retracted"])) and not says,
        extra={"subject": text_at(row, "subject")},
    )


def _file(file: Fields, row: Fields) -> Attachment:
    heard = "audio" if row.get("is_audio_message") else ""
    kind = "sticker" if file.get("is_sticker") else heard
    name = text_at(file, "transfer_name")
    return make_attachment(file.get("filename"), kind, name, file.get("mime_type"))


def _is_ours(member: Member) -> bool:
    if member.suffix in DATABASES:
        # By what the first pages say, or else the tables.
        named = b"chat_message_join" in member.head()
        return is_database(member) and (
            named or (member.path is not None and has_tables(member, _TABLES, _NEEDED))
        )
    return is_page(member) if member.suffix == ".html" else is_text(member)


_FILES = FormatFiles(
    (*DATABASES, ".html", ".txt"),
    _is_ours,
    "no iMessage chat found",
    "pass chat.db, or the files that imessage-exporter has written",
)


def _read(export: Export) -> None:
    pages = {(member.folder, member.stem) for member in export.members if member.suffix == ".html"}
    for member in export:
        if member.suffix in DATABASES:
            with open_database(member, _TABLES) as database:
                _read_database(database, member, export)
            export.notes += log_notes(member)
        elif member.suffix == ".html":
            read_page(member, export)
        elif (member.folder, member.stem) not in pages:
            read_text(member, export)


FORMAT = export_format(
    "iMessage (chat.db, imessage-exporter's text or HTML)", "imessage", _FILES, _read
)
