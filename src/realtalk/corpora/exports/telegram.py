"""Telegram Desktop's JSON export, of one chat or of the whole account, into chats.

    {"name": "Ann", "type": "personal_chat", "id": 7, "messages": [
      {"id": 41, "type": "message", "date": "2024-05-01T09:30:00",
       "date_unixtime": "1714548600", "from": "Ann", "from_id": "user7",
       "text": ["look: ", {"type": "link", "text": "https://x.org"}]}]}
    → Chat("Ann") with one message "look: https://x.org"

`date` is the exporter's own wall clock and is used as long as every entry has one and no
time zone is requested; otherwise `date_unixtime`, in UTC or the zone, wherever it stands.
`telegram_html` reads the HTML export; where both lie side by side, the JSON is read.
Exports of one chat made at different times are joined, and a message that stands in two
of them is taken once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from realtalk.chat import Attachment
from realtalk.corpora.exports import telegram_html
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_number,
    from_stamp,
    mapping,
    records,
    scalar,
    whole,
)
from realtalk.corpora.json_input import head_keys, head_text, load, zone
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.corpora.source import matching
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from realtalk.corpora.source import Member, Source

__all__ = ["FORMAT"]

_MARKS = frozenset({"date_unixtime", "from_id", "text_entities", "actor_id"})
_RESULT = re.compile(r"(^|/)result[^/]*\.json(\.gz)?$")
_MEDIA = {
    "voice_message": "audio",
    "audio_file": "audio",
    "video_message": "video",
    "video_file": "video",
    "animation": "video",
    "sticker": "sticker",
}
_PLAIN_EXTRA = frozenset(
    {
        "forwarded_from",
        "via_bot",
        "saved_from",
        "author",
        "signature",
        "edited",
        "duration_seconds",
        "game_title",
        "self_destruct_period_seconds",
    }
)


def _sniff(source: Source) -> bool:
    return (
        any(matching(source, (".json",), _is_export, named=_RESULT))
        or any(matching(source, (".json",), _is_export))
        or any(_pages(source, limit=64))
    )


def _is_export(member: Member) -> bool:
    keys = head_keys(member)
    if "messages" in keys:
        return bool(keys & {"from", "actor"}) and bool(keys & _MARKS)
    # A whole account tells about its owner first; its chats may start megabytes later.
    account = {"personal_information", "profile_pictures", "frequent_contacts", "contacts", "chats"}
    return bool(keys & account) and "about" in keys and "telegram" in head_text(member).lower()


def _pages(source: Source, limit: int = 0) -> Iterator[Member]:
    def check(member: Member) -> bool:
        return telegram_html.is_page(head_text(member))

    named = telegram_html.PAGE if len(source.members) > 1 else None
    return matching(source, (".html",), check, limit=limit, named=named)


def _read(source: Source, options: ReadOptions) -> Reading:
    tz = zone(options.timezone)
    members = source.having(".json")
    if len(source.members) > 1:
        members = tuple(matching(source, (".json",), _is_export, limit=0))
    if not members:
        if pages := tuple(_pages(source)):
            from_pages = telegram_html.drafts(pages, tz)
            return assemble(source, "telegram", from_pages, options, [telegram_html.NOTE])
        raise RealtalkError(
            "no Telegram export",
            where=str(source.path),
            fix="in Telegram Desktop choose Export chat history, format: machine-readable JSON",
        )
    drafts: dict[tuple[str, str, int], Draft] = {}
    notes: list[str] = []
    for member in members:
        here: Counter[tuple[str, str]] = Counter()
        for chat, where in _chats(load(member), member):
            kind, number = scalar(chat.get("type")), scalar(chat.get("id"))
            # Only what stands in another file can be the same chat once more.
            here[kind, number] += 1
            same = (kind, number or where, here[kind, number])
            draft = drafts.setdefault(same, _named(chat, kind, number))
            if _fill(draft, chat, where, tz):
                notes.append(
                    f"{where}: some entries have no local time; UTC (or --timezone) stamps are "
                    "used where they stand, local ones elsewhere"
                )
    return assemble(source, "telegram", list(drafts.values()), options, notes)


def _chats(export: Any, member: Member) -> Iterator[tuple[dict[str, Any], str]]:
    whole_export = mapping(export)
    if isinstance(whole_export.get("messages"), list):
        yield whole_export, member.name
        return
    listed = False
    for part in ("chats", "left_chats"):
        chats = mapping(whole_export.get(part)).get("list")
        listed = listed or isinstance(chats, list)
        for index, chat in enumerate(records(chats)):
            yield chat, f"{member.name}, {part}[{index}]"
    if not listed:
        raise RealtalkError(
            "neither 'messages' nor 'chats' found: not a Telegram export", where=member.where
        )


def _named(chat: dict[str, Any], kind: str, number: str) -> Draft:
    name = scalar(chat.get("name")) or kind.replace("_", " ").capitalize()
    return Draft(name, extra=filled({"type": kind, "id": number}))


def _fill(draft: Draft, chat: dict[str, Any], where: str, tz: ZoneInfo | None) -> bool:
    """Adds a chat's messages; whether some of them have no local time."""
    messages = chat.get("messages")
    items: list[Any] = messages if isinstance(messages, list) else []
    # What is no message may have no time at all, and must not move those of the others.
    dated = [item for item in items if isinstance(item, dict) and _is_said(item)]
    local = all(from_stamp(item.get("date"), None) for item in dated)
    clock = local and tz is None
    for place, item in draft.objects(items, f"{where}, messages"):
        if _is_said(item):
            draft.add(_entry(item, place, _time(item, clock, tz)))
        else:
            draft.notice()
    return not local and any("date" in item for item in dated)


def _is_said(item: dict[str, Any]) -> bool:
    """Whether an entry is somebody's message; calls, pins and the like are "service"."""
    return scalar(item.get("type", "message")) == "message"


def _time(item: dict[str, Any], clock: bool, tz: ZoneInfo | None) -> datetime | None:
    stamp = None if clock else from_number(item.get("date_unixtime"), tz)
    return stamp or from_stamp(item.get("date"), tz)


def _entry(item: dict[str, Any], where: str, time: datetime | None) -> Entry:
    author = scalar(item.get("from_id"))
    name = scalar(item.get("from"))
    poll = mapping(item.get("poll"))
    extra = filled({key: scalar(item[key]) for key in item.keys() & _PLAIN_EXTRA})
    if "reactions" in item:
        extra |= _reactions(item)
    if poll:
        extra["poll"] = [_words(answer.get("text")) for answer in records(poll.get("answers"))]
    if tasks := records(mapping(item.get("todo_list")).get("answers")):
        extra["tasks"] = [_words(task.get("text")) for task in tasks]
    # Old exports stamp what was never edited with the first second of 1970.
    edited = not scalar(item.get("edited")).startswith(("1970-01-01", "1969-12-31"))
    here = "reply_to_peer_id" not in item  # else the answer is to another chat's message
    return Entry(
        author,
        name or ("Deleted Account" if author else ""),
        time,
        _text(item.get("text")) or _text(item.get("text_entities")) or _titled(item),
        id=scalar(item.get("id")),
        attachments=tuple(_attachments(item)),
        reply_to=scalar(item.get("reply_to_message_id")) if here else "",
        edited="edited" in extra and edited,
        extra=extra,
        where=where,
    )


def _titled(item: dict[str, Any]) -> str:
    """What a poll, a list or an invoice is headed with: the words of its sender."""
    named = (("poll", "question"), ("todo_list", "title"), ("invoice_information", "title"))
    return next(filter(None, (_words(mapping(item.get(k)).get(v)) for k, v in named)), "")


def _words(value: Any) -> str:
    """Text that newer exports write as an object or as pieces."""
    return _text(mapping(value).get("text", value))


def _text(value: Any) -> str:
    """Text pieces joined as they are: real exports keep every space inside a piece.

    One seam is mended: an address right behind another styled piece ("Link:" in bold, then
    a link) would run into it, so it gets a space.
    """
    if not isinstance(value, list):
        return scalar(value)
    text = ""
    styled = False
    for piece in value:
        entity = mapping(piece)
        kind = scalar(entity.get("type"))
        added = scalar(entity.get("text")) if entity else scalar(piece)
        if kind == "link" and styled and (text[-1:].isalnum() or text[-1:] in set(":;,.!?")):
            text += " "
        text += added
        styled = kind not in ("", "plain") and bool(added)
    return text


def _reactions(item: dict[str, Any]) -> dict[str, Any]:
    def given() -> Iterator[tuple[str, list[str], int]]:
        for reaction in records(item.get("reactions")):
            emoji = scalar(reaction.get("emoji")) or scalar(reaction.get("document_id"))
            emoji = emoji or scalar(reaction.get("type"))
            names = [scalar(one.get("from")) for one in records(reaction.get("recent"))]
            yield emoji, names, whole(reaction.get("count"), len(names) or 1)

    return reactions(given())


def _path(value: Any) -> str:
    """A path inside the export; "(File not included...)" and the like is none."""
    path = scalar(value)
    return "" if path.startswith("(") else path


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    if "photo" in item:
        yield attached(_path(item["photo"]), "image")
    if "file" in item or "media_type" in item:
        media = scalar(item.get("media_type"))
        file = attached(
            _path(item.get("file")),
            _MEDIA.get(media, "" if "file_name" in item or "mime_type" in item else "media"),
            item.get("file_name"),
            item.get("mime_type"),
        )
        yield Attachment(file.kind, file.name, file.url, scalar(item.get("sticker_emoji")))
    contact = mapping(item.get("contact_information"))
    if contact:
        parts = (scalar(contact.get("first_name")), scalar(contact.get("last_name")))
        phone = scalar(contact.get("phone_number"))
        yield Attachment("contact", " ".join(filter(None, parts)), caption=phone)
    place = mapping(item.get("location_information"))
    if place:
        at = f"geo:{scalar(place.get('latitude'))},{scalar(place.get('longitude'))}"
        yield Attachment(
            "location", scalar(item.get("place_name")), at, scalar(item.get("address"))
        )
    if game := scalar(item.get("game_title")):
        caption = scalar(item.get("game_description"))
        yield Attachment("link", game, scalar(item.get("game_link")), caption)
    for paid in records(item.get("paid_media")):
        yield attached(_path(paid.get("photo") or paid.get("file")), "media")
    pieces = item.get("text_entities") or item.get("text")
    for piece in records(pieces):
        if piece.get("type") == "text_link" and scalar(piece.get("href")):
            yield Attachment("link", scalar(piece.get("text")), scalar(piece["href"]))


FORMAT = Format(title="Telegram (JSON or HTML export)", sniff=_sniff, read=_read)
