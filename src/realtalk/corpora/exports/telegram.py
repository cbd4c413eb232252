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
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports import telegram_html
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_number,
    from_stamp,
    object_at,
    records,
    scalar,
    text_at,
)
from realtalk.corpora.json_input import head_keys, head_text, is_odd, listed, load, mapping, zone
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, matching, taken
from realtalk.errors import RealtalkError

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
    """
    forwarded_from via_bot saved_from author signature edited duration_seconds game_title
    self_destruct_period_seconds
    """.split()  # noqa: SIM905 - words read better than quotes
)
# What a poll, a list or an invoice is headed with: the words of its sender.
_TITLES = (("poll", "question"), ("todo_list", "title"), ("invoice_information", "title"))


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
    members = taken(source, (".json",), _is_export)
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
        for chat, where in _chats(mapping(load(member)), member):
            kind, number = text_at(chat, "type"), text_at(chat, "id")
            # Only what stands in another file can be the same chat once more.
            here[kind, number] += 1
            name = text_at(chat, "name") or kind.replace("_", " ").capitalize()
            draft = drafts.setdefault(
                (kind, number or where, here[kind, number]),
                Draft(name, extra=filled({"type": kind, "id": number})),
            )
            if _fill(draft, chat, where, tz):
                notes.append(
                    f"{where}: some entries have no local time; UTC (or --timezone) stamps are "
                    "used where they stand, local ones elsewhere"
                )
    return assemble(source, "telegram", list(drafts.values()), options, notes)


def _chats(export: dict[str, Any], member: Member) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(export.get("messages"), list):
        yield export, member.name
        return
    lists = {part: object_at(export, part).get("list") for part in ("chats", "left_chats")}
    for part, chats in lists.items():
        for index, chat in enumerate(records(chats)):
            yield chat, f"{member.name}, {part}[{index}]"
    if not any(isinstance(chats, list) for chats in lists.values()):
        raise RealtalkError(
            "neither 'messages' nor 'chats' found: not a Telegram export", where=member.where
        )


def _fill(draft: Draft, chat: dict[str, Any], where: str, tz: ZoneInfo | None) -> bool:
    """Adds a chat's messages; whether some of them have no local time."""
    items = listed(chat.get("messages"))
    # What is no message may have no time at all, and must not move those of the others.
    dated = [item for item in records(items) if _is_said(item)]
    local = all(from_stamp(item.get("date"), None) for item in dated)
    entry = partial(_entry, clock=local and tz is None, tz=tz)
    draft.fill(items, f"{where}, messages", entry)
    return not local and any("date" in item for item in dated)


def _is_said(item: dict[str, Any]) -> bool:
    """Whether an entry is somebody's message; calls, pins and the like are "service"."""
    return scalar(item.get("type", "message")) == "message"


def _call(item: dict[str, Any], time: datetime | None) -> Entry | None:
    """A call by whoever made it; None for any other notice."""
    if text_at(item, "action") != "phone_call":
        return None
    number = text_at(item, "id")
    return Entry(text_at(item, "actor_id"), text_at(item, "actor"), time, "", id=number, call=True)


def _entry(item: dict[str, Any], clock: bool, tz: ZoneInfo | None) -> Entry | None:
    stamp = None if clock else from_number(item.get("date_unixtime"), tz)
    if not _is_said(item):
        return _call(item, stamp or from_stamp(item.get("date"), tz))
    author = text_at(item, "from_id")
    extra = filled({key: text_at(item, key) for key in item.keys() & _PLAIN_EXTRA})
    if "reactions" in item:
        extra |= _reactions(item)
    if poll := object_at(item, "poll"):
        extra["poll"] = [_words(answer.get("text")) for answer in records(poll.get("answers"))]
    if tasks := records(object_at(item, "todo_list").get("answers")):
        extra["tasks"] = [_words(task.get("text")) for task in tasks]
    titles = (_words(object_at(item, key).get(title)) for key, title in _TITLES)
    # Old exports stamp what was never edited with the first second of 1970.
    edited = not text_at(item, "edited").startswith(("1970-01-01", "1969-12-31"))
    here = "reply_to_peer_id" not in item  # else the answer is to another chat's message
    written = (item.get("text"), item.get("text_entities"))
    text = next(filter(None, (_text(value) for value in written if not _is_odd(value))), "")
    return Entry(
        author,
        text_at(item, "from") or ("Deleted Account" if author else ""),
        stamp or from_stamp(item.get("date"), tz),
        text or next(filter(None, titles), ""),
        id=text_at(item, "id"),
        attachments=tuple(_attachments(item)),
        reply_to=text_at(item, "reply_to_message_id") if here else "",
        edited="edited" in extra and edited,
        extra=extra,
        odd=not text and any(map(_is_odd, written)),
    )


def _is_odd(value: Any) -> bool:
    """Whether a text, or a piece of it, is no text."""
    if not isinstance(value, list):
        return is_odd(value)
    return any(is_odd(each.get("text") if isinstance(each, dict) else each) for each in value)


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
        kind = text_at(entity, "type")
        added = text_at(entity, "text") if entity else scalar(piece)
        if kind == "link" and styled and (text[-1:].isalnum() or text[-1:] in set(":;,.!?")):
            text += " "
        text += added
        styled = kind not in ("", "plain") and bool(added)
    return text


def _reactions(item: dict[str, Any]) -> dict[str, Any]:
    return reactions(
        (
            text_at(reaction, "emoji", "document_id", "type"),
            [text_at(person, "from") for person in records(reaction.get("recent"))],
            reaction.get("count"),
        )
        for reaction in records(item.get("reactions"))
    )


def _path(value: Any) -> str:
    """A path inside the export; "(File not included...)" and the like is none."""
    path = scalar(value)
    return "" if path.startswith("(") else path


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    if "photo" in item:
        yield attached(_path(item["photo"]), "image")
    if "file" in item or "media_type" in item:
        unnamed = "file_name" not in item and "mime_type" not in item
        kind = _MEDIA.get(text_at(item, "media_type"), "media" if unnamed else "")
        file = attached(_path(item.get("file")), kind, item.get("file_name"), item.get("mime_type"))
        yield Attachment(file.kind, file.name, file.url, text_at(item, "sticker_emoji"))
    if contact := object_at(item, "contact_information"):
        parts = (text_at(contact, "first_name"), text_at(contact, "last_name"))
        phone = text_at(contact, "phone_number")
        yield Attachment("contact", " ".join(filter(None, parts)), caption=phone)
    if place := object_at(item, "location_information"):
        at = f"geo:{text_at(place, 'latitude')},{text_at(place, 'longitude')}"
        yield Attachment("location", text_at(item, "place_name"), at, text_at(item, "address"))
    if game := text_at(item, "game_title"):
        caption = text_at(item, "game_description")
        yield Attachment("link", game, text_at(item, "game_link"), caption)
    for paid in records(item.get("paid_media")):
        yield attached(_path(paid.get("photo") or paid.get("file")), "media")
    for piece in records(item.get("text_entities") or item.get("text")):
        if piece.get("type") == "text_link" and (address := text_at(piece, "href")):
            yield Attachment("link", text_at(piece, "text"), address)


FORMAT = Format(title="Telegram (JSON or HTML export)", sniff=_sniff, read=_read)
