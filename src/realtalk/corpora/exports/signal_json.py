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
from typing import TYPE_CHECKING, Any

import orjson

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.signal_frames import frames, with_mentions
from realtalk.corpora.exports.values import (
    attached,
    from_number,
    from_stamp,
    mapping,
    records,
    scalar,
)
from realtalk.corpora.json_input import head_keys, head_text, load, zone
from realtalk.corpora.source import matching

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from realtalk.corpora.reading import ReadOptions
    from realtalk.corpora.source import Member, Source

__all__ = ["drafts", "files", "is_call", "sniff"]

# The tool's own English, whatever the language of the phone.
_CALL = re.compile(r"(?:Incoming|Outgoing|Missed) (?:[a-z]+ )?call(?: \([a-z0-9, ]{1,40}\))?")

_DESKTOP = frozenset({"conversationId", "sent_at", "sourceUuid", "received_at", "sourceServiceId"})


def sniff(source: Source) -> bool:
    """Whether any member has one of the three layouts."""
    return any(matching(source, (".json", ".jsonl"), _is_ours))


def files(source: Source) -> tuple[Member, ...]:
    """The members that have; a lone JSON file is taken for one on the user's word."""
    members = tuple(matching(source, (".json", ".jsonl"), _is_ours, limit=0))
    return members or (source.having(".json", ".jsonl") if len(source.members) == 1 else ())


def _is_ours(member: Member) -> bool:
    return _layout(member) != ""


def _layout(member: Member) -> str:
    keys = head_keys(member)
    first = head_text(member).lstrip()[:1]
    if first == "{" and ("chatItem" in keys or {"version", "backupTimeMs"} <= keys):
        return "frames"
    if (
        first == "{"
        and {"date", "sender", "body", "attachments"} <= keys
        and "messages" not in keys
    ):
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
    """The place and the value of every line; None where it is no JSON."""
    data = member.read().removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield f"{member.name}:{number}", orjson.loads(line)
        except orjson.JSONDecodeError:
            yield f"{member.name}:{number}", None


def _exported(member: Member, tz: ZoneInfo | None) -> Draft:
    folder = member.folder.rsplit("/", 1)[-1]
    draft = Draft(folder if member.stem == "data" and folder else member.stem)
    for where, item in _lines(member):
        if not isinstance(item, dict):
            draft.leave(where, "not a JSON object")
            continue
        if item.get("call") is True or item.get("missed") is True:
            draft.notice()
            continue
        extra = reactions(
            (scalar(pair[1]), [scalar(pair[0])], 1)
            for pair in _listed(item.get("reactions"))
            if isinstance(pair, list) and len(pair) == 2
        )
        quote = scalar(item.get("quote")).strip().removeprefix("> ").replace("\n> ", "\n")
        if quote:
            extra["quote"] = quote
        gone = item.get("deleted") is True
        body = scalar(item.get("body")).removesuffix("  ")  # Markdown's line break
        entry = Entry(
            "",
            scalar(item.get("sender")),
            from_stamp(item.get("date"), tz),
            "" if gone else body,
            attachments=tuple(_files(item)),
            deleted=gone,
            extra=extra,
            where=where,
        )
        if is_call(entry):
            draft.notice()
        else:
            draft.add(entry)
    return draft


def is_call(entry: Entry) -> bool:
    """Whether signal-export wrote this for a call; most of its versions only say so in words."""
    bare = not (entry.attachments or entry.extra or entry.deleted)
    return bare and _CALL.fullmatch(entry.text.strip()) is not None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _files(item: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(item.get("attachments")):
        yield attached(file.get("path"), name=file.get("name"))
    sticker = item.get("sticker")
    emoji = scalar(mapping(sticker).get("emoji")) if isinstance(sticker, dict) else scalar(sticker)
    if sticker:
        yield Attachment("sticker", caption=emoji)


def _desktop(member: Member, tz: ZoneInfo | None) -> list[Draft]:
    data = load(member)
    holder = mapping(data)
    # "messsages" is how one widespread tool spells it.
    items = data if isinstance(data, list) else holder.get("messages", holder.get("messsages"))
    people: dict[str, str] = {}
    groups: set[str] = set()
    for conversation in records(holder.get("conversations")):
        name = _conversation_name(conversation)
        for key in ("id", "e164", "uuid", "serviceId"):
            people.setdefault(scalar(conversation.get(key)), name)
        if scalar(conversation.get("type")) == "group":
            groups.add(scalar(conversation.get("id")))
    drafts_by_id: dict[str, Draft] = {}
    for index, item in enumerate(_listed(items)):
        where = f"{member.name}, messages[{index}]"
        conversation_id = scalar(mapping(item).get("conversationId"))
        name = people.get(conversation_id) or scalar(mapping(item).get("conversationName"))
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


def _conversation_name(conversation: dict[str, Any]) -> str:
    keys = ("name", "profileFullName", "profileName", "e164", "id")
    return next((scalar(conversation[k]) for k in keys if scalar(conversation.get(k))), "")


def _message(
    item: dict[str, Any], where: str, people: dict[str, str], private: bool, tz: ZoneInfo | None
) -> Entry:
    if item["type"] == "outgoing":
        author, name = "", "Me"
    else:
        keys = ("sourceServiceId", "sourceUuid", "source", "conversationId")
        author = next((scalar(item[key]) for key in keys if scalar(item.get(key))), "")
        known = people.get(scalar(item.get("conversationId"))) if private else ""
        name = people.get(author) or known or scalar(item.get("conversationName"))
    sent = item.get("sent_at") or item.get("timestamp")
    gone = bool(item.get("deletedForEveryone"))
    files = [
        attached(file.get("path"), name=file.get("fileName"), mime=file.get("contentType"))
        for file in records(item.get("attachments"))
    ]
    sticker = mapping(item.get("sticker"))
    if sticker:
        files.append(Attachment("sticker", caption=scalar(sticker.get("emoji"))))
    files += [
        Attachment("link", scalar(link.get("title")), scalar(link.get("url")))
        for link in records(item.get("preview"))
    ]
    return Entry(
        author,
        name,
        from_number(sent, tz, 1000),
        "" if gone else with_mentions(item.get("body"), item.get("bodyRanges"), people),
        id=scalar(sent),
        attachments=tuple(files),
        reply_to=scalar(mapping(item.get("quote")).get("id")),
        edited=bool(_listed(item.get("editHistory"))),
        deleted=gone,
        extra=reactions(
            (scalar(one.get("emoji")), [people.get(scalar(one.get("fromId")), "")], 1)
            for one in records(item.get("reactions"))
        ),
        where=where,
    )
