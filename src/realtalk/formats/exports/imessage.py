"""iMessage and the SMS beside it: Messages' own database, or what imessage-exporter writes.

    ~/Library/Messages/chat.db
    imessage-exporter -f txt → +15550100.txt, or -f html → +15550100.html   (`imessage_pages`)
    → one chat per conversation; who owns the machine is called Me

The database says more than the others: everybody's address, ids, and what answers what.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from itertools import islice
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Entry, Export, export_format, reactions
from realtalk.formats.exports.databases import (
    DATABASES,
    Database,
    has_tables,
    is_database,
    log_notes,
    open_database,
)
from realtalk.formats.exports.imessage_pages import (
    OWNER,
    TAPBACKS,
    Reaction,
    is_page,
    is_text,
    read_page,
    read_text,
)
from realtalk.formats.json_input import Fields, from_number, make_attachment, text_at
from realtalk.formats.source import FormatFiles, Member
from realtalk.text.wordlists import language_lines

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
_STICKER = "sticker"
_EMOJI = (*TAPBACKS.values(), "", _STICKER)  # the seventh stands in a column of its own

Row = Fields
Marks = dict[str, dict[tuple[str, str], Reaction]]  # of messages, by whom and which


def _is_database(member: Member) -> bool:
    """Whether a file is Messages' database, by what its first pages say, or else its tables."""
    if not is_database(member):
        return False
    head = member.head()
    if b"chat_message_join" in head or member.path is None:
        return b"chat_message_join" in head
    return has_tables(member, _TABLES, _NEEDED)


def _read_database(database: Database, member: Member, export: Export) -> None:
    """Every message in its conversation, with what was given to it."""
    if not database.has(_NEEDED):
        raise member.error("holds no messages of Apple's")
    people = dict(database.frame("handle").rows())
    chats = {row["ROWID"]: row for row in database.rows("chat")}
    members: dict[Any, list[str]] = defaultdict(list)  # of a conversation
    for number, person in database.frame("chat_handle_join").rows():
        members[number].append(people.get(person) or "")
    chat_of: dict[Any, Any] = {}  # a message's conversation
    for number, message in database.frame("chat_message_join").rows():
        chat_of.setdefault(message, number)
    listed = {row["ROWID"]: row for row in database.rows("attachment")}
    files: dict[Any, list[Row]] = defaultdict(list)  # of a message
    for message, file in database.frame("message_attachment_join").rows():
        if file in listed:
            files[message].append(listed[file])
    marks: Marks = defaultdict(dict)
    before = len(export.drafts)  # of other files: an older copy must not undo their reactions
    for row in database.rows("message"):
        number = chat_of.get(row["ROWID"])
        # In a chat of two it may not be said who sent a message.
        alone = members[number][0] if len(members[number]) == 1 else ""
        person = people.get(row["handle_id"]) or alone
        sender = "" if row["is_from_me"] else person
        # A message without a chat is in that of its person.
        chat = chats.get(number, {})
        key = text_at(chat, "chat_identifier") or person or "unknown"
        name = text_at(chat, "display_name") or key
        draft = export.draft((member, key), name, extra={"participants": members[number]})
        kind = row["associated_message_type"] or 0
        if kind >= _PLACED_STICKER:
            _react(marks, row, kind, OWNER if row["is_from_me"] else sender)
            draft.notice()
        elif row["item_type"] or row["group_action_type"]:
            draft.notice()
        else:
            entry = _entry(row, sender, files[row["ROWID"]])
            draft.take(entry, f"{member.name}, message {row['ROWID']}")
    for draft in islice(export.drafts.values(), before, None):
        for entry in draft.entries:
            if entry.id in marks:
                entry.extra |= reactions(marks[entry.id].values())


def _react(marks: Marks, row: Row, kind: int, name: str) -> None:
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


def _entry(row: Row, sender: str, listed: list[Row]) -> Entry:
    text = _text(row)
    files = tuple(_file(file, row) for file in listed)
    app = text_at(row, "balloon_bundle_id").rpartition(":")[2].rpartition(".")[2]
    if app and not (text or files):
        files = (Attachment("media", app),)
    edited = bool(row["date_edited"])
    says = bool(text or files)
    return Entry(
        sender,
        OWNER if row.get("is_from_me") else sender,
        _time(row["date"]),
        text,
        id=text_at(row, "guid"),
        attachments=files,
        reply_to=text_at(row, "thread_originator_guid"),
        edited=edited and says,
        # What was unsent has lost its text.
        deleted=(edited or bool(row["date_retracted"])) and not says,
        extra={"subject": text_at(row, "subject")},
    )


def _text(row: Row) -> str:
    """What was written: in a column of its own, or in the styled text that newer versions keep."""
    text = text_at(row, "text")
    if not text and row["attributedBody"]:
        text = typed_text(row["attributedBody"]) or ""
    return text.replace(_OBJECT, "").strip() if _OBJECT in text else text


def _file(file: Row, row: Row) -> Attachment:
    sticker = _STICKER if file.get("is_sticker") else ""
    kind = sticker or ("audio" if row.get("is_audio_message") else "")
    name = text_at(file, "transfer_name")
    return make_attachment(file.get("filename"), kind, name, file.get("mime_type"))


def _time(value: float | None) -> datetime | None:
    """A date of Apple's: nanoseconds, or seconds in older databases, since 2001."""
    if not value:
        return None
    return from_number(_EPOCH + (value / 1e9 if abs(value) >= _SECONDS else value))


def _is_ours(member: Member) -> bool:
    if member.suffix in DATABASES:
        return _is_database(member)
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
