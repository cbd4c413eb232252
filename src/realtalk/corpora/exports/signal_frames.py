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
from typing import TYPE_CHECKING, Any

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.values import attached, from_number, mapping, records, scalar, whole

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

__all__ = ["frames", "with_mentions"]

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
)


def frames(lines: Iterable[tuple[str, Any]], tz: ZoneInfo | None) -> list[Draft]:
    """One draft per chat; frames about the account itself count as system entries of the first."""
    rest = Draft("Signal")
    people: dict[str, str] = {}
    chats: dict[str, str] = {}
    items: list[tuple[str, dict[str, Any]]] = []
    me = "Me"
    for where, frame in lines:
        if not isinstance(frame, dict):
            rest.leave(where, "not a JSON object")
        elif isinstance(frame.get("chatItem"), dict):
            items.append((where, frame["chatItem"]))
        else:
            rest.notice()
            account = mapping(frame.get("account"))
            me = _joined(account, "givenName", "familyName") or me
            recipient = mapping(frame.get("recipient"))
            chat = mapping(frame.get("chat"))
            if recipient:
                name = "" if "self" in recipient else _recipient(recipient)
                people[scalar(recipient.get("id"))] = name
                # Mentions name people by the id of their account.
                if account_id := scalar(mapping(recipient.get("contact")).get("aci")):
                    people[account_id] = name
            if chat:
                chats[scalar(chat.get("id"))] = scalar(chat.get("recipientId"))
    people = {number: name or me for number, name in people.items()}
    drafts: dict[str, Draft] = {}
    for where, item in items:
        number = scalar(item.get("chatId"))
        name = people.get(chats.get(number, ""), "") or f"Chat {number}"
        draft = drafts.setdefault(number, Draft(name))
        if any(key in item for key in _SAID):
            draft.add(_entry(item, where, people, tz))
        else:
            draft.notice()
    return [*drafts.values(), rest]


def with_mentions(body: Any, ranges: Any, people: Mapping[str, str]) -> str:
    """A text in which whoever is mentioned stands by name."""
    text = scalar(body)
    if _MENTIONED not in text:
        return text
    named = []
    for one in sorted(records(ranges), key=lambda one: whole(one.get("start"))):
        account = scalar(one.get("mentionAci")) or scalar(one.get("mentionUuid"))
        if account:
            shown = people.get(account) or scalar(one.get("replacementText"))
            named.append(f"@{shown}" if shown else _MENTIONED)
    parts = text.split(_MENTIONED)
    if len(parts) != len(named) + 1:
        return text  # which of them is meant cannot be told
    return parts[0] + "".join(name + part for name, part in zip(named, parts[1:], strict=True))


def _joined(part: dict[str, Any], *keys: str) -> str:
    return " ".join(filter(None, (scalar(part.get(key)).strip() for key in keys)))


def _recipient(recipient: dict[str, Any]) -> str:
    contact = mapping(recipient.get("contact"))
    group = mapping(mapping(mapping(recipient.get("group")).get("snapshot")).get("title"))
    return (
        _joined(mapping(contact.get("nickname")), "given", "family")
        or _joined(contact, "systemGivenName", "systemFamilyName")
        or _joined(contact, "profileGivenName", "profileFamilyName")
        or scalar(contact.get("username"))
        or (f"+{scalar(contact['e164'])}" if scalar(contact.get("e164")) else "")
        or scalar(group.get("title"))
        or ("Signal" if "releaseNotes" in recipient else "")
        or f"Recipient {scalar(recipient.get('id'))}"
    )


def _entry(item: dict[str, Any], where: str, people: dict[str, str], tz: ZoneInfo | None) -> Entry:
    author, sent = scalar(item.get("authorId")), scalar(item.get("dateSent"))
    kind = next(key for key in _SAID if key in item)
    content = mapping(item[kind])
    body = mapping(content.get("text")) or mapping(mapping(content.get("textReply")).get("text"))
    text = with_mentions(body.get("body"), body.get("bodyRanges"), people)
    text = text or scalar(content.get("question")) or scalar(content.get("emoji"))
    extra = reactions(
        (scalar(one.get("emoji")), [people.get(scalar(one.get("authorId")), "")], 1)
        for one in records(content.get("reactions"))
    )
    if kind == "poll":
        extra["poll"] = [scalar(option.get("option")) for option in records(content.get("options"))]
    return Entry(
        author,
        people.get(author, ""),
        from_number(sent, tz, 1000),
        text,
        id=sent,
        attachments=tuple(_attachments(kind, content)),
        reply_to=scalar(mapping(content.get("quote")).get("targetSentTimestamp")),
        edited=bool(item.get("revisions")),
        deleted=kind in ("remoteDeletedMessage", "adminDeletedMessage"),
        extra=extra,
        where=where,
    )


def _attachments(kind: str, content: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(content.get("attachments")):
        yield _file(file)
    for link in records(content.get("linkPreview")):
        caption = scalar(link.get("description"))
        yield Attachment("link", scalar(link.get("title")), scalar(link.get("url")), caption)
    if kind == "viewOnceMessage":
        yield _file(mapping(content.get("attachment")))
    if kind == "stickerMessage":
        yield Attachment("sticker", caption=scalar(mapping(content.get("sticker")).get("emoji")))
    if kind == "contactMessage":
        given = content.get("contact")
        contact = mapping(given) or next(iter(records(given)), {})
        yield Attachment(
            "contact", _joined(mapping(contact.get("name")), "givenName", "familyName")
        )


def _file(file: dict[str, Any]) -> Attachment:
    pointer = mapping(file.get("pointer"))
    name, mime = scalar(pointer.get("fileName")), scalar(pointer.get("contentType"))
    if not name and not mime:
        return Attachment("media")
    guess = attached("", name=name, mime=mime)
    return Attachment(guess.kind, name, caption=scalar(pointer.get("caption")))
