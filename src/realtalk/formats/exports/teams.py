"""Microsoft Teams and Skype, as JSON, into chats. Two layouts are known:

    messages as Microsoft Graph gives them, which exporters of Teams save:
        {"value": [{"id": "41", "messageType": "message", "chatId": "19:x",
                    "createdDateTime": "2024-05-01T07:30:00Z",
                    "from": {"user": {"id": "u7", "displayName": "Ann"}},
                    "body": {"contentType": "html", "content": "<p>hi</p>"}}]}
        or a list of such pages; a message of a channel holds its answers in "replies"
    messages.json of a personal account, Teams' or Skype's:
        {"userId": "8:ben", "conversations": [{"id": "8:ann", "displayName": "Ann",
         "MessageList": [{"messagetype": "RichText", "content": "hi", ...}]}]}
    → Chat("Ann") with one message of Ann

What an entry is stands in its type; calls, people who come and go and the like are notices.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import orjson

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.exports.html_tags import Flat, Tag, elements, find_links, flat, walk
from realtalk.formats.json_input import (
    Fields,
    as_list,
    drop_empty,
    from_stamp,
    head_keys,
    load,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    odd_at,
    scalar,
    text_at,
    whole,
    word_pairs,
)
from realtalk.formats.source import FormatFiles, Member

# messages.json of a personal account of Teams or Skype into drafts of chats.
#
#     {"userId": "8:ben", "exportDate": "2024-05-02", "conversations": [
#       {"id": "8:ann", "displayName": "Ann", "MessageList": [
#         {"id": "41", "displayName": "Ann", "originalarrivaltime": "2024-05-01T07:30:00Z",
#          "messagetype": "RichText", "content": "hi", "from": "8:ann", "properties": null}]}]}
#     → Draft("Ann") with one entry of Ann
#
# Whatever is no rich text, text or poll was written by the app: calls, people who were added. A
# call is told when it begins and when it ends, and counted once; it names those who took part, the
# owner of the account among them. Conversations such as "48:calllogs" are lists that the app keeps.
# A file is an element inside the text; a quotation names the message that it answers.

_NOTICES = frozenset(
    f"RichText/{kind}"
    for kind in ("Media_CallRecording", "Media_CallTranscript", "ScheduledCallInvite")
)
_PERSONAL_LISTS = "48:"  # how the app's own lists are numbered: calls, notifications, what is saved
_NOTES = "48:notes"  # what the owner writes to themselves
# What kind of file an element or a type of entry is of, by the beginning of its name.
_KINDS = word_pairs("""
    picture     image
    media_album image
    audio       audio
    media_audio audio
    video       video
    media_video video
    media_flik  sticker
    swift       link
    media_card  link
    contacts    contact
    location    location
""")


def _fill_personal(found: Export, export: Fields, file: str) -> None:
    """Adds one chat per conversation, or to the chat that another file has of it."""
    owner = text_at(export, "userId")
    names = _names(export)
    for place, conversation in enumerate(objects_at(export, "conversations")):
        number = text_at(conversation, "id")
        name = text_at(conversation, "displayName") or names.get(number, "") or number
        extra = {"id": number, "owner": owner}
        key = number or (file, place)
        draft = found.draft(key, name, newest_first=True, extra=extra)
        is_list = number.startswith(_PERSONAL_LISTS) and number != _NOTES
        where = f"{file}, conversations[{place}].MessageList"
        for here, item in draft.objects(as_list(conversation.get("MessageList")), where):
            if is_list:
                draft.notice()
                continue
            entry = _personal_entry(item, names)
            kind = text_at(item, "messagetype")
            entry.call = kind == "Event/Call" and _begins(text_at(item, "content"))
            said = kind.partition("/")[0] in ("RichText", "Text", "Poll", "")
            is_entry = entry.call or (said and kind not in _NOTICES)
            draft.take(entry if is_entry else None, here)


def _begins(content: str) -> bool:
    """Whether an event is of a call's beginning, or of one that nobody took; not of its end."""
    tags = (tag for tag in walk(content) if isinstance(tag, Tag) and tag.name == "partlist")
    return any(tag.attributes.get("type") in ("started", "missed") for tag in tags)


def _person(sender: str) -> str:
    """The account behind an address such as https://…/contacts/8:ann."""
    return sender.rpartition("/")[2]


def _names(export: Fields) -> dict[str, str]:
    """Who is called what, as far as any message, conversation or call says."""
    names: dict[str, str] = {}
    callers: dict[str, str] = {}
    for conversation in objects_at(export, "conversations"):
        for item in objects_at(conversation, "MessageList"):
            if name := text_at(item, "displayName").strip():
                names.setdefault(_person(text_at(item, "from")), name)
            if "<part " in (content := text_at(item, "content")):
                callers |= dict(_callers(content))
        if name := text_at(conversation, "displayName").strip():
            names.setdefault(text_at(conversation, "id"), name)
    # What people call themselves comes before what an event says.
    return callers | names


def _callers(content: str) -> Iterator[tuple[str, str]]:
    """Who took part in a call: <part identity="live:ann"><name>Ann</name></part>."""
    for part in elements(content, lambda element, _: element.name == "part"):
        person = part.get("identity")
        account = person if person.partition(":")[0].isdigit() else f"8:{person}"
        for name in part.inside():
            is_name = name.name in ("name", "displayname")
            if is_name and person and name.line() not in ("", person, account):
                yield account, name.line()


def _personal_entry(item: Fields, names: dict[str, str]) -> Entry:
    kind, content = text_at(item, "messagetype"), text_at(item, "content")
    properties = object_at(item, "properties")
    sender = _person(text_at(item, "from"))
    gone = bool(text_at(properties, "deletetime"))
    plain = kind == "Text" and not content.startswith("<")
    body = Flat(content) if plain else flat(content, spaced=not kind.endswith("/Html"))
    files = _personal_files(kind, content)
    marks = (
        (text_at(mark, "key"), [names.get(mri, "") for mri in _users(mark)], len(_users(mark)))
        for mark in objects_at(properties, "emotions")
    )
    return Entry(
        sender,
        names.get(sender, "") or sender.partition(":")[2] or sender,
        from_stamp(item.get("originalarrivaltime") or item.get("composetime")),
        "" if gone or files else body.text,  # beside a file stand words for old programs
        id=text_at(item, "id"),
        attachments=() if gone else tuple(files or find_links(body)),
        reply_to=body.answers,
        edited=bool(text_at(properties, "edittime")) or "<e_m " in content,
        deleted=gone,
        extra=reactions(marks) | {"quote": "" if body.answers else body.quoted},
        odd=odd_at(item, "content"),
    )


def _users(mark: Fields) -> list[str]:
    return [scalar(user.get("mri")) for user in objects_at(mark, "users")]


def _personal_files(kind: str, content: str) -> list[Attachment]:
    """Files stand as elements in the text: <URIObject type="Picture.1" uri="…">."""
    form = kind.partition("/")[2]
    files: list[Attachment] = []
    for tag in walk(content) if "<URIObject" in content or form not in ("", "Html") else ():
        if not isinstance(tag, Tag) or tag.closes:
            continue
        fields = tag.attributes
        if tag.name == "uriobject":
            kind = _kind(fields.get("type", "")) or _kind(form) or "file"
            files.append(make_attachment(fields.get("uri", ""), kind))
        elif tag.name == "originalname" and files and (name := fields.get("v", "")):
            last = files[-1]
            files[-1] = make_attachment(last.url, "" if last.kind == "file" else last.kind, name)
        elif tag.name in ("location", "c") and _kind(form) in ("location", "contact"):
            title = fields.get("address", "") or fields.get("f", "")
            files.append(Attachment(_kind(form), title, fields.get("url", "")))
    if not files and _kind(form):
        files.append(Attachment(_kind(form)))
    return files


def _kind(name: str) -> str:
    small = name.lower()
    return next((kind for begins, kind in _KINDS.items() if small.startswith(begins)), "")


_LISTS = ("value", "messages", "Messages")
_NAMED_AFTER = 4  # people whose names make that of a chat


def _is_ours(member: Member) -> bool:
    keys = head_keys(member)
    graph = {"messageType", "createdDateTime", "body"} <= keys and bool(
        keys & {"contentType", "chatId", "channelIdentity", "eventDetail"}
    )
    personal = "MessageList" in keys and bool(keys & {"messagetype", "originalarrivaltime"})
    return graph or personal


_FILES = FormatFiles(
    (".json",),
    _is_ours,
    "no messages of Microsoft Teams or Skype found",
    "give messages.json of the account's export, or chats saved from Microsoft Graph",
)


def _read(found: Export) -> None:
    short: list[str] = []  # ids of messages of which the file does not hold every reply
    for member in found:
        export = load(member)
        if isinstance(mapping(export).get("conversations"), list):
            _fill_personal(found, export, member.name)
        else:
            _fill(export, member, found, short)
    if short:
        found.notes.append(
            "messages of which the export says that it does not hold every reply: "
            f"{len(short):,} (the first is {short[0]})"
        )


def _fill(export: Any, member: Member, found: Export, short: list[str]) -> None:
    """Adds messages as Graph gives them: a list, an object that holds one, or a list of those."""
    whole_file = isinstance(export, list)
    holders = export if whole_file else [export]
    if not whole_file and not _key(export):
        raise member.error("no list of messages")
    titles = (text_at(holder, "topic", "displayName", "name") for holder in holders if _key(holder))
    title = next(filter(None, titles), "")
    here: dict[Hashable, Draft] = {}
    calls: set[str] = set()
    for path, item in _threads(_list_items(holders, numbered=whole_file)):
        where = f"{member.name}, {path}"
        channel = object_at(mapping(item), "channelIdentity")
        number = text_at(mapping(item), "chatId") or text_at(channel, "channelId")
        # What is no object stands in the file's first chat.
        place = number or next(iter(here), (member.name, ""))
        draft = here[place] = found.draft(place, "", newest_first=True, extra={"id": number})
        if _is_short(mapping(item)):
            short.append(text_at(item, "id") or where)
        if not isinstance(item, dict):
            draft.leave(where, "not an object")
        elif caller := _caller(item, calls):
            draft.add(
                Entry(
                    text_at(caller, "id"),
                    text_at(caller, "displayName"),
                    from_stamp(item.get("createdDateTime")),
                    "",
                    call=True,
                )
            )
        elif text_at(item, "messageType") not in ("message", "") or object_at(item, "eventDetail"):
            draft.notice()
        else:
            draft.take(_entry(item), where)
    for draft in here.values():
        people = list(dict.fromkeys(entry.name for entry in draft.entries if entry.name))
        of_people = ", ".join(people[:_NAMED_AFTER]) if len(here) > 1 else ""
        draft.name = draft.name or title or of_people or member.stem


def _key(holder: Any) -> str:
    """The field in which a page holds its messages; "" of what is no page."""
    if text_at(mapping(holder), "messageType"):
        return ""
    return next((key for key in _LISTS if isinstance(mapping(holder).get(key), list)), "")


def _list_items(holders: list[Any], *, numbered: bool) -> Iterator[tuple[str, Any]]:
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
            if replies := as_list(mapping(item).get("replies")):
                inherited = {key: item.get(key) for key in ("chatId", "channelIdentity")}
                inherited["replyToId"] = item.get("id")
                answers = [
                    (
                        f"{path}.replies[{place}]",
                        inherited | drop_empty(reply) if mapping(reply) else reply,
                    )
                    for place, reply in enumerate(replies)
                ]
                waiting.append(iter(answers))
                break
        else:
            waiting.pop()


def _is_short(item: Fields) -> bool:
    """Whether a message says that it has more replies than stand in it."""
    stated = whole(item.get("replies@odata.count"))
    return bool(text_at(item, "replies@odata.nextLink")) or stated > len(
        as_list(item.get("replies"))
    )


def _entry(item: Fields) -> Entry:
    sender = _identity(object_at(item, "from"))
    body = object_at(item, "body")
    content = text_at(body, "content")
    body_text = flat(content) if text_at(body, "contentType") == "html" else Flat(content)
    gone = bool(text_at(item, "deletedDateTime"))
    files = objects_at(item, "attachments")
    answered = next((number for file in files if (number := _reply_target(file))), "")
    marks = (
        (
            text_at(mark, "reactionType", "displayName"),
            [text_at(_identity(object_at(mark, "user")), "displayName")],
            None,
        )
        for mark in objects_at(item, "reactions")
    )
    return Entry(
        text_at(sender, "id"),
        text_at(sender, "displayName"),
        from_stamp(item.get("createdDateTime")),
        "" if gone else body_text.text,
        id=text_at(item, "id"),
        attachments=() if gone else (*_files(files), *find_links(body_text)),
        reply_to=answered or text_at(item, "replyToId"),
        edited=bool(text_at(item, "lastEditedDateTime")),
        deleted=gone,
        extra=reactions(marks)
        | {
            "subject": text_at(item, "subject"),
            "quote": "" if answered else body_text.quoted,
            "bot": "application" in object_at(item, "from") and not sender.get("isUser"),
        },
        odd=odd_at(body, "content") or not isinstance(item.get("body"), dict | None),
    )


def _identity(sender: Fields) -> Fields:
    """A person, or else a bot or a device."""
    if user := object_at(sender, "user"):
        return user | {"isUser": True}
    return object_at(sender, "application") or object_at(sender, "device")


def _caller(item: Fields, calls: set[str]) -> Fields:
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


def _reply_target(file: Fields) -> str:
    """The id of the message that this one answers: it is attached to it."""
    if text_at(file, "contentType") != "messageReference":
        return ""
    try:
        content = orjson.loads(text_at(file, "content") or "{}")
    except orjson.JSONDecodeError:
        content = {}
    return text_at(mapping(content), "messageId") or text_at(file, "id")


def _files(files: Sequence[Fields]) -> Iterator[Attachment]:
    for file in files:
        kind = text_at(file, "contentType")
        if kind == "reference":
            yield make_attachment(file.get("contentUrl"), name=file.get("name"))
        elif kind.startswith(("image/", "video/", "audio/")):
            yield make_attachment(file.get("contentUrl"), name=file.get("name"), mime=kind)
        elif "Reference" not in kind:  # a card; answers and forwarded messages are no files
            title = text_at(file, "name") or kind.rsplit(".", 1)[-1]
            yield Attachment("link", title, text_at(file, "contentUrl"))


FORMAT = export_format("Microsoft Teams, Skype (JSON)", "teams", _FILES, _read)
