"""messages.json of a personal account of Teams or Skype into drafts of chats.

    {"userId": "8:ben", "exportDate": "2024-05-02", "conversations": [
      {"id": "8:ann", "displayName": "Ann", "MessageList": [
        {"id": "41", "displayName": "Ann", "originalarrivaltime": "2024-05-01T07:30:00Z",
         "messagetype": "RichText", "content": "hi", "from": "8:ann", "properties": null}]}]}
    → Draft("Ann") with one entry of Ann

Whatever is no rich text, text or poll was written by the app: calls, people who were added. A
call is told when it begins and when it ends, and counted once; it names those who took part, the
owner of the account among them. Conversations such as "48:calllogs" are lists that the app keeps.
A file is an element inside the text; a quotation names the message that it answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.html_tags import Flat, Tag, flat, linked, unescaped, walk
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_stamp,
    object_at,
    records,
    scalar,
    text_at,
)
from realtalk.corpora.json_input import is_odd, listed

_CALLS = ("RichText/Media_CallRecording", "RichText/Media_CallTranscript")
_INVITES = ("RichText/ScheduledCallInvite",)
_LISTS = "48:"  # how the app's own lists are numbered: calls, notifications, what is saved
_NOTES = "48:notes"  # what the owner writes to themselves
# What kind of file an element or a type of entry is of, by the beginning of its name.
_KINDS = {
    "picture": "image",
    "media_album": "image",
    "audio": "audio",
    "media_audio": "audio",
    "video": "video",
    "media_video": "video",
    "media_flik": "sticker",
    "swift": "link",
    "media_card": "link",
    "contacts": "contact",
    "location": "location",
    "file": "",
}


def fits(keys: Collection[str]) -> bool:
    """Whether these are keys of such a file."""
    return "MessageList" in keys and ("messagetype" in keys or "originalarrivaltime" in keys)


def fill(
    drafts: dict[tuple[str, ...], Draft], export: dict[str, Any], file: str, tz: ZoneInfo | None
) -> None:
    """Adds one chat per conversation, or to the chat that another file has of it."""
    owner = text_at(export, "userId")
    names = _names(export)
    for place, conversation in enumerate(records(export.get("conversations"))):
        number = text_at(conversation, "id")
        name = text_at(conversation, "displayName") or names.get(number, "") or number
        extra = filled({"id": number, "owner": owner})
        draft = drafts.setdefault(
            (number,) if number else (file, str(place)),
            Draft(name, newest_first=True, extra=extra),
        )
        is_list = number.startswith(_LISTS) and number != _NOTES
        where = f"{file}, conversations[{place}].MessageList"
        for here, item in draft.objects(listed(conversation.get("MessageList")), where):
            if is_list:
                draft.notice()
                continue
            entry = _entry(item, here, names, tz)
            kind = text_at(item, "messagetype")
            entry.call = kind == "Event/Call" and _begins(text_at(item, "content"))
            if entry.call or _is_said(kind):
                draft.add(entry)
            else:
                draft.notice()


def _begins(content: str) -> bool:
    """Whether an event is of a call's beginning, or of one that nobody took; not of its end."""
    tags = (tag for tag in walk(content) if isinstance(tag, Tag) and tag.name == "partlist")
    return any(tag.attributes.get("type") in ("started", "missed") for tag in tags)


def _is_said(kind: str) -> bool:
    if kind in _CALLS or kind in _INVITES:
        return False
    return kind.partition("/")[0] in ("RichText", "Text", "Poll", "")


def _person(sender: str) -> str:
    """The account behind an address such as https://…/contacts/8:ann."""
    return sender.rpartition("/")[2]


def _names(export: dict[str, Any]) -> dict[str, str]:
    """Who is called what, as far as any message, conversation or call says."""
    names: dict[str, str] = {}
    callers: dict[str, str] = {}
    for conversation in records(export.get("conversations")):
        for item in records(conversation.get("MessageList")):
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
    person = inside = ""
    for piece in walk(content):
        if isinstance(piece, str):
            name = unescaped(piece).strip()
            if person and inside in ("name", "displayname") and name not in ("", person):
                account = person if person.partition(":")[0].isdigit() else f"8:{person}"
                if name != account:
                    yield account, name
        elif piece.name == "part":
            person = "" if piece.closes else piece.attributes.get("identity", "")
        else:
            inside = "" if piece.closes else piece.name


def _entry(item: dict[str, Any], where: str, names: dict[str, str], tz: ZoneInfo | None) -> Entry:
    kind, content = text_at(item, "messagetype"), text_at(item, "content")
    properties = object_at(item, "properties")
    sender = _person(text_at(item, "from"))
    gone = bool(text_at(properties, "deletetime"))
    plain = kind == "Text" and not content.startswith("<")
    said = Flat(content) if plain else flat(content, spaced=not kind.endswith("/Html"))
    files = list(_files(kind, content))
    marks = (
        (text_at(mark, "key"), [names.get(mri, "") for mri in _users(mark)], len(_users(mark)))
        for mark in records(properties.get("emotions"))
    )
    return Entry(
        sender,
        names.get(sender, "") or sender.partition(":")[2] or sender,
        from_stamp(item.get("originalarrivaltime") or item.get("composetime"), tz),
        "" if gone or files else said.text,  # beside a file stand words for old programs
        id=text_at(item, "id"),
        attachments=() if gone else tuple(files or linked(said)),
        reply_to=said.answers,
        edited=bool(text_at(properties, "edittime")) or "<e_m " in content,
        deleted=gone,
        extra=reactions(marks) | filled({"quote": "" if said.answers else said.quoted}),
        where=where,
        odd=is_odd(item.get("content")),
    )


def _users(mark: dict[str, Any]) -> list[str]:
    return [scalar(user.get("mri")) for user in records(mark.get("users"))]


def _files(kind: str, content: str) -> Iterator[Attachment]:
    """Files stand as elements in the text: <URIObject type="Picture.1" uri="…">."""
    form = kind.partition("/")[2]
    found: list[Attachment] = []
    named = ""
    for tag in walk(content) if "<URIObject" in content or form not in ("", "Html") else ():
        if not isinstance(tag, Tag) or tag.closes:
            continue
        if tag.name == "uriobject":
            fields = tag.attributes
            kinds = (_kind(fields.get("type", "")), _kind(form))
            found.append(attached(fields.get("uri", ""), next(filter(None, kinds), "file")))
        elif tag.name == "originalname":
            named = tag.attributes.get("v", "")
            if found and named:
                last = found[-1]
                found[-1] = attached(last.url, "" if last.kind == "file" else last.kind, named)
        elif tag.name in ("location", "c") and _kind(form) in ("location", "contact"):
            fields = tag.attributes
            title = fields.get("address", "") or fields.get("f", "")
            found.append(Attachment(_kind(form), title, fields.get("url", "")))
    if not found and _kind(form):
        found.append(Attachment(_kind(form)))
    yield from found


def _kind(name: str) -> str:
    small = name.lower()
    return next((kind for begins, kind in _KINDS.items() if small.startswith(begins)), "")
