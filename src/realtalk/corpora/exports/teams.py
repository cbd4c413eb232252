"""Microsoft Teams and Skype, as JSON, into chats. Two layouts are known:

    messages as Microsoft Graph gives them, which exporters of Teams save:
        {"value": [{"id": "41", "messageType": "message", "chatId": "19:x",
                    "createdDateTime": "2024-05-01T07:30:00Z",
                    "from": {"user": {"id": "u7", "displayName": "Ann"}},
                    "body": {"contentType": "html", "content": "<p>hi</p>"}}]}
        or a list of such pages; a message of a channel holds its answers in "replies"
    messages.json of a personal account, Teams' or Skype's (`teams_personal`):
        {"userId": "8:ben", "conversations": [{"id": "8:ann", "displayName": "Ann",
         "MessageList": [{"messagetype": "RichText", "content": "hi", ...}]}]}
    → Chat("Ann") with one message of Ann

What an entry is stands in its type; calls, people who come and go and the like are notices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from realtalk.chat import Attachment
from realtalk.corpora.exports import teams_personal
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.corpora.exports.html_tags import Flat, flat, linked
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_stamp,
    object_at,
    records,
    text_at,
    whole,
)
from realtalk.corpora.json_input import head_keys, is_odd, load, mapping, zone
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, holding, taken
from realtalk.errors import RealtalkError

_LISTS = ("value", "messages", "Messages")
_NAMED_AFTER = 4  # people whose names make that of a chat


def _is_ours(member: Member) -> bool:
    keys = head_keys(member)
    graph = {"messageType", "createdDateTime", "body"} <= keys and bool(
        keys & {"contentType", "chatId", "channelIdentity", "eventDetail"}
    )
    return graph or teams_personal.fits(keys)


def _read(source: Source, options: ReadOptions) -> Reading:
    tz = zone(options.timezone)
    members = taken(
        source,
        (".json",),
        _is_ours,
        missing="no messages of Microsoft Teams or Skype found",
        fix="give messages.json of the account's export, or chats saved from Microsoft Graph",
    )
    drafts: dict[tuple[str, ...], Draft] = {}
    short: list[str] = []  # ids of messages of which the file does not hold every reply
    for member in members:
        export = load(member)
        if isinstance(mapping(export).get("conversations"), list):
            teams_personal.fill(drafts, export, member.name, tz)
        else:
            _fill(export, member, drafts, tz, short)
    notes = []
    if short:
        notes.append(
            "messages of which the export says that it does not hold every reply: "
            f"{len(short):,} (the first is {short[0]})"
        )
    return assemble(source, "teams", list(drafts.values()), options, notes)


def _fill(
    export: Any,
    member: Member,
    drafts: dict[tuple[str, ...], Draft],
    tz: ZoneInfo | None,
    short: list[str],
) -> None:
    """Adds messages as Graph gives them: a list, an object that holds one, or a list of those."""
    whole_file = isinstance(export, list)
    holders = export if whole_file else [export]
    if not whole_file and not _key(export):
        raise RealtalkError("no list of messages", where=member.where)
    titles = (text_at(each, "topic", "displayName", "name") for each in holders if _key(each))
    title = next(filter(None, titles), "")
    here: dict[tuple[str, ...], Draft] = {}
    calls: set[str] = set()
    for path, item in _threads(_listed(holders, numbered=whole_file)):
        where = f"{member.name}, {path}"
        channel = object_at(mapping(item), "channelIdentity")
        number = text_at(mapping(item), "chatId") or text_at(channel, "channelId")
        # What is no object stands in the file's first chat.
        place = (number,) if number else next(iter(here), (member.name, ""))
        draft = here[place] = drafts.setdefault(
            place, Draft("", newest_first=True, extra=filled({"id": number}))
        )
        if _is_short(mapping(item)):
            short.append(text_at(item, "id") or where)
        if not isinstance(item, dict):
            draft.leave(where, "not an object")
        elif caller := _caller(item, calls):
            draft.add(
                Entry(
                    text_at(caller, "id"),
                    text_at(caller, "displayName"),
                    from_stamp(item.get("createdDateTime"), tz),
                    "",
                    call=True,
                )
            )
        elif text_at(item, "messageType") not in ("message", "") or object_at(item, "eventDetail"):
            draft.notice()
        else:
            draft.add(_entry(item, where, tz))
    for draft in here.values():
        people = list(dict.fromkeys(entry.name for entry in draft.entries if entry.name))
        of_people = ", ".join(people[:_NAMED_AFTER]) if len(here) > 1 else ""
        draft.name = draft.name or title or of_people or member.stem


def _key(holder: Any) -> str:
    """The field in which a page holds its messages; "" of what is no page."""
    if text_at(mapping(holder), "messageType"):
        return ""
    return next((key for key in _LISTS if isinstance(mapping(holder).get(key), list)), "")


def _listed(holders: list[Any], *, numbered: bool) -> Iterator[tuple[str, Any]]:
    """What pages hold, and what stands beside them, each with its place in the file."""
    for number, holder in enumerate(holders):
        before = f"[{number}]" if numbered else ""
        if key := _key(holder):
            field = f"{before}.{key}" if numbered else key
            yield from ((f"{field}[{place}]", item) for place, item in enumerate(holder[key]))
        else:
            yield before, holder


def _threads(listed: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Every message, then those that answer it: they stand in it and may not say so themselves."""
    waiting = [listed]
    while waiting:
        for path, item in waiting[-1]:
            yield path, item
            if replies := _replies(mapping(item)):
                known = {key: item.get(key) for key in ("chatId", "channelIdentity")}
                known["replyToId"] = item.get("id")
                answers = [
                    (f"{path}.replies[{place}]", known | filled(each) if mapping(each) else each)
                    for place, each in enumerate(replies)
                ]
                waiting.append(iter(answers))
                break
        else:
            waiting.pop()


def _replies(item: dict[str, Any]) -> list[Any]:
    replies = item.get("replies")
    return replies if isinstance(replies, list) else []


def _is_short(item: dict[str, Any]) -> bool:
    """Whether a message says that it has more replies than stand in it."""
    stated = whole(item.get("replies@odata.count"))
    return bool(text_at(item, "replies@odata.nextLink")) or stated > len(_replies(item))


def _entry(item: dict[str, Any], where: str, tz: ZoneInfo | None) -> Entry:
    sender = _identity(object_at(item, "from"))
    body = object_at(item, "body")
    content = text_at(body, "content")
    said = flat(content) if text_at(body, "contentType") == "html" else Flat(content)
    gone = bool(text_at(item, "deletedDateTime"))
    files = records(item.get("attachments"))
    answered = next((number for file in files if (number := _answered(file))), "")
    marks = (
        (
            text_at(mark, "reactionType", "displayName"),
            [text_at(_identity(object_at(mark, "user")), "displayName")],
            None,
        )
        for mark in records(item.get("reactions"))
    )
    return Entry(
        text_at(sender, "id"),
        text_at(sender, "displayName"),
        from_stamp(item.get("createdDateTime"), tz),
        "" if gone else said.text,
        id=text_at(item, "id"),
        attachments=() if gone else (*_files(files), *linked(said)),
        reply_to=answered or text_at(item, "replyToId"),
        edited=bool(text_at(item, "lastEditedDateTime")),
        deleted=gone,
        extra=reactions(marks)
        | filled(
            {
                "subject": text_at(item, "subject"),
                "quote": "" if answered else said.quoted,
                "bot": "application" in object_at(item, "from") and not sender.get("isUser"),
            }
        ),
        where=where,
        odd=is_odd(body.get("content")) or not isinstance(item.get("body"), dict | None),
    )


def _identity(sender: dict[str, Any]) -> dict[str, Any]:
    """A person, or else a bot or a device."""
    if user := object_at(sender, "user"):
        return user | {"isUser": True}
    return object_at(sender, "application") or object_at(sender, "device")


def _caller(item: dict[str, Any], calls: set[str]) -> dict[str, Any]:
    """Who made a call; {} for anything else, and where another event told of the same call."""
    detail = object_at(item, "eventDetail")
    kind = text_at(detail, "@odata.type")
    if not kind.endswith(("callStartedEventMessageDetail", "callEndedEventMessageDetail")):
        return {}
    number = text_at(detail, "callId")
    if number in calls:
        return {}
    if number:
        calls.add(number)
    return _identity(object_at(detail, "initiator"))


def _answered(file: dict[str, Any]) -> str:
    """The id of the message that this one answers: it is attached to it."""
    if text_at(file, "contentType") != "messageReference":
        return ""
    try:
        content = orjson.loads(text_at(file, "content") or "{}")
    except orjson.JSONDecodeError:
        content = {}
    return text_at(mapping(content), "messageId") or text_at(file, "id")


def _files(files: Sequence[dict[str, Any]]) -> Iterator[Attachment]:
    for file in files:
        kind = text_at(file, "contentType")
        if kind == "reference":
            yield attached(file.get("contentUrl"), name=file.get("name"))
        elif kind.startswith(("image/", "video/", "audio/")):
            yield attached(file.get("contentUrl"), name=file.get("name"), mime=kind)
        elif "Reference" not in kind:  # a card; answers and forwarded messages are no files
            title = text_at(file, "name") or kind.rsplit(".", 1)[-1]
            yield Attachment("link", title, text_at(file, "contentUrl"))


FORMAT = Format(
    title="Microsoft Teams, Skype (JSON)", sniff=holding((".json",), _is_ours), read=_read
)
