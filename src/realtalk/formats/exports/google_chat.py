"""Google Chat from Google Takeout, a folder or its zip, into chats.

    Google Chat/Groups/DM abc/group_info.json    {"members": [{"name": "Ann", "email": "a@x.org"}]}
    Google Chat/Groups/DM abc/messages.json
        {"messages": [{"creator": {"name": "Ann", "email": "a@x.org", "user_type": "Human"},
                       "created_date": "Wednesday, May 1, 2024 at 7:30:00 AM UTC",
                       "text": "hi", "topic_id": "t1", "message_id": "abc/t1/m1"}]}
    Google Chat/Users/User 7/user_info.json      {"user": {"name": "Ben", "email": "b@x.org"}}
    → Chat("Ann") with one message of Ann

Dates are spelled in the language of the account and stated in UTC. A conversation of two is
called after the one who is not the account's owner. An answer in a thread replies to the thread's
first message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Entry, Export, export_format, reactions
from realtalk.formats.json_input import (
    Fields,
    as_list,
    from_stamp,
    from_utc,
    load_beside,
    load_export,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    odd_at,
    scalar,
    text_at,
    with_keys,
)
from realtalk.formats.source import FormatFiles
from realtalk.text.written_days import parse_spelled

_FILES = FormatFiles(
    (".json",),
    with_keys("messages creator created_date", "topic_id message_id user_type email"),
    "no Google Chat messages (Groups/*/messages.json) found",
    "export Google Chat with Google Takeout, and give the zip or its folder",
    re.compile(r"(?:^|/)messages\.json(\.gz)?$"),
)


def _read(export: Export) -> None:
    source, members = export.source, export.members
    beside = [(m, load_beside(m)) for m in source.having(".json") if m.stem.endswith("_info")]
    owners = {text_at(info, "user/email").lower() for m, info in beside if m.stem == "user_info"}
    infos = {m.folder: info for m, info in beside if m.stem == "group_info"}
    first: dict[str, str] = {}  # of every topic, its first message
    for member in members:
        info = infos.get(member.folder, {}) if len(source.members) > 1 else {}
        people = objects_at(info, "members")
        names = {text_at(person, "email").lower(): _name(person) for person in people}
        others = {name for email, name in names.items() if email not in owners}
        folder = member.folder.rsplit("/", 1)[-1]
        kind, _, number = folder.partition(" ")
        alone = others.pop() if len(others) == 1 and kind == "DM" and number else ""
        extra = {"members": list(map(_name, people)), "kind": kind if number else "", "id": number}
        # The folder of a conversation has its id: downloads of several days have it alike.
        key = folder if " " in folder else member.name
        name = alone or text_at(info, "name") or folder or member.stem
        draft = export.draft(key, name, extra=extra)
        entry = partial(_entry, names=names, first=first)
        draft.fill(load_export(member)["messages"], f"{member.name}, messages", entry)


def _name(person: Fields) -> str:
    return text_at(person, "name", "email")


def _entry(item: Fields, names: dict[str, str], first: dict[str, str]) -> Entry | None:
    creator = object_at(item, "creator")
    email = text_at(creator, "email").lower()
    number, topic = text_at(item, "message_id"), text_at(item, "topic_id")
    opening = first.setdefault(topic, number) if topic else ""
    quoted = text_at(item, "quoted_message_metadata/message_id")
    gone = text_at(item, "message_state") == "DELETED" or bool(item.get("deletion_metadata"))
    date = text_at(item, "created_date")
    text = "" if gone else text_at(item, "text")
    files = tuple(_attachments(item, text))
    is_call = not text and [file.kind for file in files] == ["call"]
    marks = (
        (
            text_at(mark, "emoji/unicode") or text_at(mark, "emoji/custom_emoji/short_code"),
            [
                names.get(address, address)
                for address in map(str.lower, map(scalar, as_list(mark.get("reactor_emails"))))
            ],
            None,
        )
        for mark in objects_at(item, "reactions")
    )
    return Entry(
        email,
        text_at(creator, "name") or names.get(email, "") or email,
        from_utc(parse_spelled(date) or from_stamp(date)),
        text,
        id=number,
        attachments=files,
        reply_to=quoted or (opening if opening != number else ""),
        edited=bool(text_at(item, "updated_date")),
        deleted=gone,
        extra=reactions(marks) | {"bot": text_at(creator, "user_type") == "Bot"},
        call=is_call,
        odd=odd_at(item, "text"),
    )


def _attachments(item: Fields, text: str) -> Iterator[Attachment]:
    for file in objects_at(item, "attached_files"):
        yield make_attachment(file.get("export_name"), name=file.get("original_name"))
    for note in objects_at(item, "annotations"):
        if link := object_at(note, "url_metadata"):
            address = link.get("url")
            url = text_at(mapping(address), "private_do_not_access_or_else_safe_url_wrapped_value")
            url = url or scalar(address)
            title = text_at(link, "title")
            if url not in text or title:
                yield Attachment("link", title, url, text_at(link, "snippet"))
        if drive := object_at(note, "drive_metadata"):
            yield Attachment("file", text_at(drive, "title"), text_at(drive, "url", "id"))
        if meeting := object_at(note, "video_call_metadata"):
            space = object_at(meeting, "meeting_space")
            yield Attachment("call", url=text_at(space, "meeting_url"))
        if picture := object_at(note, "upload_metadata"):
            yield make_attachment(
                "", name=picture.get("content_name"), mime=picture.get("content_type")
            )


FORMAT = export_format("Google Chat (Takeout)", "google-chat", _FILES, _read)
