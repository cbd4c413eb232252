"""WeChat, QQ and other chats in ChatLab's exchange format, JSON or JSONL, into chats.

    {"chatlab": {"version": "0.0.2"}, "meta": {"name": "Garden", "platform": "wechat",
     "type": "group"}, "members": [{"platformId": "wx1", "accountName": "Ann"}],
     "messages": [{"sender": "wx1", "accountName": "Ann", "timestamp": 1714548600, "type": 0,
                   "content": "hi"}]}
    {"_type": "header", "chatlab": {...}, "meta": {...}}      the same as lines: a header,
    {"_type": "member", "platformId": "wx1", ...}             the members,
    {"_type": "message", "sender": "wx1", ...}                then the messages
    → Chat("Garden") with one message of Ann

What an entry is stands in its `type`, a number: text, pictures and the like, and from 80 on what
the app wrote. The header and the members are lines of a JSONL file too, and count as notices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Entry, Export, export_format
from realtalk.formats.json_input import (
    BLANK,
    Fields,
    from_number,
    head_keys,
    head_text,
    json_lines,
    load_export,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    odd_at,
    text_at,
    whole,
    word_pairs,
)
from realtalk.formats.source import FormatFiles, Member

_HEAD = re.compile(r'"chatlab"\s{0,9}:\s{0,9}\{')
_KINDS = word_pairs("""
    1  image
    2  audio
    3  video
    4  file
    5  sticker
    7  link
    8  location
    24 link
    27 contact
""")
_GIFTS = {20: "red packet", 21: "transfer"}
_POKE, _CALL, _FORWARD, _SYSTEM, _RECALL, _OTHER = 22, 23, 26, 80, 81, 99
_MILLISECONDS = 10**11  # a stamp from here on is no number of seconds
# "[图片]" in whatever language: what an exporter writes in place of a file, and what follows it.
_PLACEHOLDER = re.compile(r"[\[【]([^\[\]【】\n]{1,20})[\]】]\s{0,9}")
_ADDRESS = re.compile(r"\S{1,2000}[./]\S{1,2000}")


def _is_ours(member: Member) -> bool:
    if member.suffix == ".json":
        return {"chatlab", "meta"} <= head_keys(member) and bool(_HEAD.search(head_text(member)))
    # Lines that begin with # are comments.
    lines = head_text(member).lstrip().splitlines()
    first = next((line for line in lines if not line.startswith("#")), "")
    return '"_type"' in first and _HEAD.search(first) is not None


_FILES = FormatFiles(
    (".json", ".jsonl", ".ndjson"),
    _is_ours,
    "no file in ChatLab's format found",
    "choose the format ChatLab (JSON or JSONL) in the exporter",
)


def _read(export: Export) -> None:
    for member in export:
        meta: Fields = {}
        people: dict[str, Fields] = {}
        messages: list[tuple[str, Any]] = []
        notices = 0
        lines = (
            (f"{member.name}:{number}", value)
            for number, value in json_lines(member)
            if value is not BLANK
        )
        for where, line in _values(member) if member.suffix == ".json" else lines:
            kind = text_at(mapping(line), "_type")
            if kind == "header":
                meta = meta or object_at(line, "meta")
            elif kind == "member":
                people[text_at(line, "platformId")] = line
            else:
                messages.append((where, line))
                continue
            notices += bool(where)
        # Only a group has an id by which two files can be known for one chat.
        extra = {key: text_at(meta, key) for key in ("platform", "type", "groupId", "ownerId")}
        group, name = extra["groupId"], text_at(meta, "name") or member.stem
        key = (extra["platform"], group) if group else member.name
        draft = export.draft(key, name, id=group, extra=extra)
        draft.notice(notices)
        for where, item in messages:
            if not isinstance(item, dict):
                draft.leave(where, "not a JSON object")
            elif text_at(item, "_type") != "message":
                draft.leave(where, "neither header, member nor message")
            else:
                person = people.get(text_at(item, "sender"), {})
                draft.take(_entry(item, person), where)


def _values(member: Member) -> Iterator[tuple[str, Any]]:
    """A JSON file as the lines that it would be; its header and members are no entries."""
    export = load_export(member)
    yield "", {"_type": "header", "meta": object_at(export, "meta")}
    for person in objects_at(export, "members"):
        yield "", person | {"_type": "member"}
    for index, item in enumerate(export["messages"]):
        place = f"{member.name}, messages[{index}]"
        yield place, item | {"_type": "message"} if isinstance(item, dict) else item


def _entry(item: Fields, person: Fields) -> Entry | None:
    kind, sender = whole(item.get("type"), _OTHER), text_at(item, "sender")
    gone = kind == _RECALL and bool(sender)
    if kind == _POKE or (_SYSTEM <= kind < _OTHER and not gone):
        return None
    # How a sender is called: in this group first, by the account last.
    candidates = (
        text_at(place, key).strip()
        for key in ("groupNickname", "accountName")
        for place in (person, item)
    )
    names = list(dict.fromkeys(filter(None, candidates)))
    text, files = ("", ()) if gone else _content(kind, text_at(item, "content"))
    # Some exporters write milliseconds.
    per_second = 1000 if whole(item.get("timestamp")) >= _MILLISECONDS else 1
    return Entry(
        sender,
        names[0] if names else "",
        from_number(item.get("timestamp"), per_second),
        text,
        id=text_at(item, "platformMessageId"),
        attachments=files,
        reply_to=text_at(item, "replyToMessageId"),
        deleted=gone,
        extra={"sent": _GIFTS.get(kind, ""), "forwarded": kind == _FORWARD},
        also=names[-1] if names else "",
        call=kind == _CALL,
        odd=odd_at(item, "content"),
    )


def _content(kind: int, content: str) -> tuple[str, tuple[Attachment, ...]]:
    """The text and the file that an entry of some type holds."""
    file = _KINDS.get(str(kind), "")
    if not file:
        return content, ()
    placeholder = _PLACEHOLDER.match(content)
    rest = content[placeholder.end() :].strip() if placeholder else content.strip()
    if rest.startswith("data:"):
        return "", (Attachment(file),)  # the file itself, as letters
    if _ADDRESS.fullmatch(rest):
        return "", (make_attachment(rest, file),)
    if file == "audio":
        return rest, (Attachment(file),)  # what was said, written down by the app
    if file in ("file", "link", "location", "contact"):
        return "", (Attachment(file, rest),)
    # A sticker goes by the name that stands in brackets.
    caption = placeholder[1] if placeholder and file == "sticker" and not rest else rest
    return "", (Attachment(file, caption=caption),)


FORMAT = export_format("WeChat, QQ (ChatLab)", "chatlab", _FILES, _read)
