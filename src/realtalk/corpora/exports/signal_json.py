"""Signal conversations written as JSON into drafts of chats. Three layouts are known:

    data.json of signal-export, one entry per line, one folder per chat:
        {"date": "2024-05-01T09:30:12", "sender": "Ann", "body": "hi", "reactions": [["Ben", "❤"]]}
    messages as Signal Desktop keeps them, with or without its conversations:
        {"conversations": [{"id": "c1", "name": "Ann"}],
         "messages": [{"conversationId": "c1", "sent_at": 1714548612000, "type": "incoming",
                       "body": "hi"}]}
    Signal's own plaintext export (main.jsonl), one frame per line:
        {"recipient": {"id": "2", "contact": {"profileGivenName": "Ann"}}}
        {"chat": {"id": "9", "recipientId": "2"}}
        {"chatItem": {"chatId": "9", "authorId": "2", "dateSent": "1714548612000",
                      "standardMessage": {"text": {"body": "hi"}}}}

Signal names a message by the millisecond it was sent, so that is its id and what quotes mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.signal_frames import frames, with_mentions
from realtalk.corpora.exports.values import (
    attached,
    from_number,
    from_stamp,
    object_at,
    records,
    scalar,
    text_at,
)
from realtalk.corpora.json_input import (
    BLANK,
    head_keys,
    head_text,
    is_odd,
    json_lines,
    listed,
    load,
    mapping,
    zone,
)
from realtalk.corpora.reading import ReadOptions
from realtalk.corpora.source import Member, Source, matching, taken

# The tool's own English, whatever the language of the phone.
_CALL = re.compile(r"(?:Incoming|Outgoing|Missed) (?:[a-z]+ )?call(?: \([a-z0-9, ]{1,40}\))?")

_DESKTOP = frozenset({"conversationId", "sent_at", "sourceUuid", "received_at", "sourceServiceId"})


def sniff(source: Source) -> bool:
    """Whether any member has one of the three layouts."""
    return any(matching(source, (".json", ".jsonl"), _is_ours))


def files(source: Source) -> tuple[Member, ...]:
    """The members that have; a lone JSON file is taken for one on the user's word."""
    return taken(source, (".json", ".jsonl"), _is_ours)


def _is_ours(member: Member) -> bool:
    return _layout(member) != ""


def _layout(member: Member) -> str:
    keys = head_keys(member)
    first = head_text(member).lstrip()[:1]
    if first == "{" and ("chatItem" in keys or {"version", "backupTimeMs"} <= keys):
        return "frames"
    exported = {"date", "sender", "body", "attachments"} <= keys
    if first == "{" and exported and "messages" not in keys:
        return "lines"
    if "conversationId" in keys and len(keys & _DESKTOP) > 1 and keys & {"body", "type"}:
        return "desktop"
    return ""


def drafts(member: Member, options: ReadOptions) -> list[Draft]:
    """The chats of one file."""
    tz = zone(options.timezone)
    layout = _layout(member)
    if layout == "frames":
        return frames(_lines(member), tz)
    return _desktop(member, tz) if layout == "desktop" else [_exported(member, tz)]


def _lines(member: Member) -> Iterator[tuple[str, Any]]:
    """The place and the value of every line that is not blank."""
    for number, value in json_lines(member):
        if value is not BLANK:
            yield f"{member.name}:{number}", value


def _exported(member: Member, tz: ZoneInfo | None) -> Draft:
    folder = member.folder.rsplit("/", 1)[-1]
    draft = Draft(folder if member.stem == "data" and folder else member.stem)
    for where, item in _lines(member):
        if not isinstance(item, dict):
            draft.leave(where, "not a JSON object")
            continue
        extra = reactions(
            (scalar(pair[1]), [scalar(pair[0])], 1)
            for pair in listed(item.get("reactions"))
            if isinstance(pair, list) and len(pair) == 2
        )
        if quote := text_at(item, "quote").strip().removeprefix("> ").replace("\n> ", "\n"):
            extra["quote"] = quote
        gone = item.get("deleted") is True
        body = text_at(item, "body").removesuffix("  ")  # Markdown's line break
        entry = Entry(
            "",
            text_at(item, "sender"),
            from_stamp(item.get("date"), tz),
            "" if gone else body,
            attachments=tuple(_files(item)),
            deleted=gone,
            extra=extra,
            where=where,
            odd=is_odd(item.get("body")),
        )
        told = item.get("call") is True or item.get("missed") is True
        entry.call = told or is_call(entry)
        draft.add(entry)
    return draft


def is_call(entry: Entry) -> bool:
    """Whether signal-export wrote this for a call; most of its versions only say so in words."""
    bare = not (entry.attachments or entry.extra or entry.deleted)
    return bare and _CALL.fullmatch(entry.text.strip()) is not None


def _files(item: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(item.get("attachments")):
        yield attached(file.get("path"), name=file.get("name"))
    if sticker := item.get("sticker"):
        yield Attachment("sticker", caption=scalar(mapping(sticker).get("emoji", sticker)))


def _desktop(member: Member, tz: ZoneInfo | None) -> list[Draft]:
    data = load(member)
    holder = mapping(data)
    # "messsages" is how one widespread tool spells it.
    items = data if isinstance(data, list) else holder.get("messages", holder.get("messsages"))
    people: dict[str, str] = {}
    groups: set[str] = set()
    for conversation in records(holder.get("conversations")):
        name = text_at(conversation, "name", "profileFullName", "profileName", "e164", "id")
        for key in ("id", "e164", "uuid", "serviceId"):
            people.setdefault(text_at(conversation, key), name)
        if text_at(conversation, "type") == "group":
            groups.add(text_at(conversation, "id"))
    drafts_by_id: dict[str, Draft] = {}
    for index, item in enumerate(listed(items)):
        where = f"{member.name}, messages[{index}]"
        conversation_id = text_at(mapping(item), "conversationId")
        name = people.get(conversation_id) or text_at(mapping(item), "conversationName")
        draft = drafts_by_id.setdefault(
            conversation_id, Draft(name or conversation_id or member.stem)
        )
        if not isinstance(item, dict):
            draft.leave(where, "not an object")
        elif item.get("type") not in ("incoming", "outgoing"):
            draft.notice()
        else:
            draft.add(_message(item, where, people, conversation_id not in groups, tz))
    return list(drafts_by_id.values())


def _message(
    item: dict[str, Any], where: str, people: dict[str, str], private: bool, tz: ZoneInfo | None
) -> Entry:
    if item["type"] == "outgoing":
        author, name = "", "Me"
    else:
        author = text_at(item, "sourceServiceId", "sourceUuid", "source", "conversationId")
        known = people.get(text_at(item, "conversationId")) if private else ""
        name = people.get(author) or known or text_at(item, "conversationName")
    sent = item.get("sent_at") or item.get("timestamp")
    gone = bool(item.get("deletedForEveryone"))
    return Entry(
        author,
        name,
        from_number(sent, tz, 1000),
        "" if gone else with_mentions(item.get("body"), item.get("bodyRanges"), people),
        id=scalar(sent),
        attachments=tuple(_attachments(item)),
        reply_to=text_at(object_at(item, "quote"), "id"),
        edited=bool(listed(item.get("editHistory"))),
        deleted=gone,
        extra=reactions(
            (text_at(mark, "emoji"), [people.get(text_at(mark, "fromId"), "")], 1)
            for mark in records(item.get("reactions"))
        ),
        where=where,
        odd=is_odd(item.get("body")),
    )


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(item.get("attachments")):
        yield attached(file.get("path"), name=file.get("fileName"), mime=file.get("contentType"))
    if sticker := object_at(item, "sticker"):
        yield Attachment("sticker", caption=text_at(sticker, "emoji"))
    for link in records(item.get("preview")):
        yield Attachment("link", text_at(link, "title"), text_at(link, "url"))
