"""Frames of Signal's own plaintext export (main.jsonl) into drafts of chats.

    {"account": {"givenName": "Ben"}}
    {"recipient": {"id": "1", "self": {}}}
    {"recipient": {"id": "2", "contact": {"profileGivenName": "Ann"}}}
    {"chat": {"id": "9", "recipientId": "2"}}
    {"chatItem": {"chatId": "9", "authorId": "2", "dateSent": "1714548612000",
                  "standardMessage": {"text": {"body": "hi"}}}}
    → Draft("Ann") with one message of Ann and four entries that are no messages

Numbers are written as text there, as protocol buffers do; all ids are compared as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.values import (
    attached,
    from_number,
    object_at,
    records,
    scalar,
    text_at,
    whole,
)
from realtalk.corpora.json_input import is_odd, mapping

_MENTIONED = "\ufffc"  # stands in a text for whoever is mentioned there

_SAID = (
    "standardMessage",
    "stickerMessage",
    "contactMessage",
    "viewOnceMessage",
    "poll",
    "directStoryReplyMessage",
    "remoteDeletedMessage",
    "adminDeletedMessage",
    "paymentNotification",
)


def frames(lines: Iterable[tuple[str, Any]], tz: ZoneInfo | None) -> list[Draft]:
    """One draft per chat; frames about the account itself count as system entries of the first."""
    rest = Draft("Signal")
    people: dict[str, str] = {}
    chats: dict[str, str] = {}
    items: list[tuple[str, dict[str, Any]]] = []
    me, own = "Me", ""
    for where, frame in lines:
        if not isinstance(frame, dict):
            rest.leave(where, "not a JSON object")
        elif isinstance(frame.get("chatItem"), dict):
            items.append((where, frame["chatItem"]))
        else:
            rest.notice()
            me = _joined(object_at(frame, "account"), "givenName", "familyName") or me
            if recipient := object_at(frame, "recipient"):
                name = "" if "self" in recipient else _recipient(recipient)
                own = text_at(recipient, "id") if "self" in recipient else own
                people[text_at(recipient, "id")] = name
                # Mentions name people by the id of their account.
                if account_id := text_at(object_at(recipient, "contact"), "aci"):
                    people[account_id] = name
            if chat := object_at(frame, "chat"):
                chats[text_at(chat, "id")] = text_at(chat, "recipientId")
    people = {number: name or me for number, name in people.items()}
    drafts: dict[str, Draft] = {}
    for where, item in items:
        number = text_at(item, "chatId")
        name = people.get(chats.get(number, ""), "") or f"Chat {number}"
        draft = drafts.setdefault(number, Draft(name))
        if any(key in item for key in _SAID):
            entry = _entry(item, where, people, tz)
            # A payment is told by the app; what was written beside it is somebody's.
            if "paymentNotification" in item and not entry.text:
                draft.notice()
            else:
                draft.add(entry)
        elif caller := _caller(item, own, chats.get(number, "")):
            time = from_number(text_at(item, "dateSent"), tz, 1000)
            draft.add(Entry(caller, people.get(caller, ""), time, "", call=True))
        else:
            draft.notice()
    return [*drafts.values(), rest]


def _caller(item: dict[str, Any], own: str, other: str) -> str:
    """The id of whoever made a call; "" where the update tells of something else."""
    update = object_at(item, "updateMessage")
    if call := object_at(update, "individualCall"):
        sides = {"OUTGOING": own, "INCOMING": other}
        return sides.get(text_at(call, "direction"), "") or text_at(item, "authorId")
    return text_at(object_at(update, "groupCall"), "startedCallRecipientId")


def with_mentions(body: Any, ranges: Any, people: Mapping[str, str]) -> str:
    """A text in which whoever is mentioned stands by name."""
    text = scalar(body)
    if _MENTIONED not in text:
        return text
    names = []
    for mention in sorted(records(ranges), key=lambda mention: whole(mention.get("start"))):
        if account := text_at(mention, "mentionAci", "mentionUuid"):
            shown = people.get(account) or text_at(mention, "replacementText")
            names.append(f"@{shown}" if shown else _MENTIONED)
    parts = text.split(_MENTIONED)
    if len(parts) != len(names) + 1:
        return text  # which of them is meant cannot be told
    return parts[0] + "".join(name + part for name, part in zip(names, parts[1:], strict=True))


def _joined(part: dict[str, Any], *keys: str) -> str:
    return " ".join(filter(None, (text_at(part, key).strip() for key in keys)))


def _recipient(recipient: dict[str, Any]) -> str:
    contact = object_at(recipient, "contact")
    group = object_at(object_at(object_at(recipient, "group"), "snapshot"), "title")
    phone = text_at(contact, "e164")
    return (
        _joined(object_at(contact, "nickname"), "given", "family")
        or _joined(contact, "systemGivenName", "systemFamilyName")
        or _joined(contact, "profileGivenName", "profileFamilyName")
        or text_at(contact, "username")
        or (f"+{phone}" if phone else "")
        or text_at(group, "title")
        or text_at(object_at(recipient, "callLink"), "name")
        or text_at(object_at(object_at(recipient, "distributionList"), "distributionList"), "name")
        or ("Signal" if "releaseNotes" in recipient else "")
        or f"Recipient {text_at(recipient, 'id')}"
    )


def _entry(item: dict[str, Any], where: str, people: dict[str, str], tz: ZoneInfo | None) -> Entry:
    author, sent = text_at(item, "authorId"), text_at(item, "dateSent")
    kind = next(key for key in _SAID if key in item)
    content = mapping(item[kind])
    body = object_at(content, "text") or object_at(object_at(content, "textReply"), "text")
    text = with_mentions(body.get("body"), body.get("bodyRanges"), people)
    extra = reactions(
        (text_at(mark, "emoji"), [people.get(text_at(mark, "authorId"), "")], 1)
        for mark in records(content.get("reactions"))
    )
    quote = object_at(content, "quote")
    answered, quoted = text_at(quote, "targetSentTimestamp"), object_at(quote, "text")
    # What is quoted but was not there any more when it was quoted, stands nowhere else.
    if not whole(answered) and (words := text_at(quoted, "body")):
        extra["quote"] = words
    if "longText" in content or "longText" in object_at(content, "textReply"):
        extra["cut"] = True  # the rest lies in a file of the export
    if kind == "poll":
        extra["poll"] = [text_at(option, "option") for option in records(content.get("options"))]
    stated = content.get("text", object_at(content, "textReply").get("text"))
    return Entry(
        author,
        people.get(author, ""),
        from_number(sent, tz, 1000),
        text or text_at(content, "question", "emoji", "note"),
        id=sent,
        attachments=tuple(_attachments(kind, content)),
        reply_to=answered if whole(answered) else "",
        edited=bool(item.get("revisions")),
        deleted=kind in ("remoteDeletedMessage", "adminDeletedMessage"),
        extra=extra,
        where=where,
        odd=is_odd(body.get("body")) or not isinstance(stated, dict | None),
    )


def _attachments(kind: str, content: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(content.get("attachments")):
        yield _file(file)
    for link in records(content.get("linkPreview")):
        caption = text_at(link, "description")
        yield Attachment("link", text_at(link, "title"), text_at(link, "url"), caption)
    if kind == "viewOnceMessage":
        yield _file(object_at(content, "attachment"))
    if kind == "stickerMessage":
        yield Attachment("sticker", caption=text_at(object_at(content, "sticker"), "emoji"))
    if kind == "contactMessage":
        given = content.get("contact")
        contact = mapping(given) or next(iter(records(given)), {})
        name = _joined(object_at(contact, "name"), "givenName", "familyName")
        yield Attachment("contact", name)


def _file(file: dict[str, Any]) -> Attachment:
    pointer = object_at(file, "pointer")
    name, mime = text_at(pointer, "fileName"), text_at(pointer, "contentType")
    if not name and not mime:
        return Attachment("media")
    kind = attached("", name=name, mime=mime).kind
    return Attachment(kind, name, caption=text_at(pointer, "caption"))
