"""Messenger and Instagram conversations (JSON download) into chats: both have Meta's layout.

    your_facebook_activity/messages/inbox/ann_123/message_1.json ... message_9.json
                                          one conversation, newest first
    {"participants": [{"name": "Ann"}], "title": "Ann", "thread_path": "inbox/ann_123",
     "messages": [{"sender_name": "Ann", "timestamp_ms": 1714548600000,
                   "content": "caf\\u00c3\\u00a9?"}]}
    → Chat("Ann") with one message "café?"

    {"participants": ["Ann"], "threadName": "Ann_7", "messages": [{"senderName": "Ann",
     "text": "hi", "timestamp": 1714548600000, "type": "text", "media": [], ...}]}
    → the same, from an end-to-end encrypted conversation

The older download writes every UTF-8 byte as a character of its own; each string is
put right where that is possible and left alone where it is not. The bare minimum of the layout
counts as Instagram. `meta_html` reads a download as HTML; where both are there, the JSON is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports import meta_html
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.corpora.exports.meta_threads import Candidate, OpenThread, settle
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_number,
    object_at,
    records,
    scalar,
    text_at,
    whole,
)
from realtalk.corpora.json_input import (
    decoded,
    head_keys,
    head_text,
    is_odd,
    listed,
    load,
    mapping,
    zone,
)
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, matching, taken
from realtalk.errors import RealtalkError

_PART = re.compile(r"(?:^|/)message_(\d{1,9})\.json(\.gz)?$")
_MESSENGER_ONLY = frozenset(
    """
    sender_id_INTERNAL thread_type ip gifs sticker plan missed bumped_message_metadata
    threadName senderName isUnsent
    """.split()  # noqa: SIM905 - words read better than quotes
)
_MEDIA = {
    "photos": "image",
    "videos": "video",
    "audio_files": "audio",
    "gifs": "image",
    "files": "",
    "shared_files": "",
}
_SYSTEM_TYPES = frozenset({"subscribe", "unsubscribe", "call", "plan"})
_SYSTEM_FIELDS = ("call_duration", "users")  # only calls, and people who come and go, have them


def repaired(text: str) -> str:
    """UTF-8 that was read as Latin-1, made right; any other text as it is."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _sniff(source: Source, *, instagram: bool) -> bool:
    """Whether a message file, by which the whole source can be judged, is of the one app."""
    member = next(matching(source, (".json",), _is_thread, named=_PART), None)
    member = member or next(matching(source, (".json",), _is_thread), None)
    member = member or next(_pages(source, limit=8), None)
    return member is not None and _is_of_instagram(member, source) == instagram


def _pages(source: Source, limit: int = 0) -> Iterator[Member]:
    """Pages of a download as HTML; one that stands alone may have any name."""
    named = meta_html.PAGE if len(source.members) > 1 else None
    return matching(source, meta_html.ENDINGS, _is_page, limit=limit, named=named)


def _is_page(member: Member) -> bool:
    # One message by structure may be anything; a file of the usual name, or two, are not.
    least = 1 if meta_html.PAGE.search(member.name) else 2
    return meta_html.messages_in(decoded(member.head(meta_html.HEAD))) >= least


def _is_thread(member: Member) -> bool:
    """Whether the head is that of a Meta message file."""
    keys = head_keys(member)
    if "messages" not in keys:
        # An unusually long list of participants can push the messages out of the head.
        return "participants" in keys and _PART.search(member.name.rsplit("/", 1)[-1]) is not None
    return {"sender_name", "timestamp_ms"} <= keys or {"senderName", "timestamp"} <= keys


def _is_of_instagram(member: Member, source: Source) -> bool:
    """Instagram, unless something says Messenger; the bare minimum fits both alike."""
    head = head_text(member)
    path = f"{source.path.name}/{member.name}".lower()
    if "your_instagram_activity" in head or "instagram" in path:
        return True
    if "your_facebook_activity" in head or "facebook" in path or "messenger" in path:
        return False
    return member.suffix == ".json" and not head_keys(member) & _MESSENGER_ONLY


def _read(source: Source, options: ReadOptions, *, format_name: str) -> Reading:
    """Every conversation of the source, its parts joined."""
    tz = zone(options.timezone)
    members = taken(source, (".json",), _is_thread)
    if not members:
        if pages := list(_pages(source)):
            found = meta_html.threads(pages, options.dates)
            notes = [*settle(found), meta_html.NOTE]
            return assemble(source, format_name, [thread.draft for thread in found], options, notes)
        raise RealtalkError(
            "no message files (message_1.json) found",
            where=str(source.path),
            fix="download your information again and choose the format JSON",
        )
    threads: dict[str, OpenThread] = {}
    for member in sorted(members, key=_part):
        export = mapping(load(member))
        if not isinstance(export.get("messages"), list):
            if len(members) > 1:
                continue
            raise RealtalkError("no list of 'messages'", where=member.where)
        encrypted = "threadName" in export or any(
            "senderName" in item for item in records(export["messages"])[:1]
        )
        # Only the older layout runs backwards.
        thread = threads.setdefault(
            _thread_key(export, member), OpenThread(Draft("", newest_first=not encrypted))
        )
        thread.draft.id = thread.draft.id or text_at(export, "thread_path")
        _describe(thread.draft, export, member, encrypted=encrypted)
        for where, item in thread.draft.objects(export["messages"], f"{member.name}, messages"):
            _add(thread, item, where, tz, encrypted=encrypted)
    notes = settle(list(threads.values()))
    drafts = [thread.draft for thread in threads.values()]
    return assemble(source, format_name, drafts, options, notes)


def _add(
    thread: OpenThread, item: dict[str, Any], where: str, tz: ZoneInfo | None, *, encrypted: bool
) -> None:
    """Takes one entry; the download of encrypted conversations is clean UTF-8."""
    fix = scalar if encrypted else _repair
    kind = text_at(item, "type").lower()
    if encrypted:
        name, stamp = fix(item.get("senderName")), item.get("timestamp")
        written = text_at(item, "text", "messageText")
        attachments = tuple(_media(file) for file in records(item.get("media")))
        gone = item.get("isUnsent") is True
        notice = kind == "placeholder" and not gone and not attachments
    else:
        name, stamp = fix(item.get("sender_name")), item.get("timestamp_ms")
        written = text_at(item, "content")
        attachments = tuple(_attachments(item))
        empty = item.get("is_taken_down") is True and not (written or attachments)
        gone = item.get("is_unsent") is True or empty
        notice = any(item.get(key) not in (None, []) for key in _SYSTEM_FIELDS)
    if kind == "call" or item.get("call_duration") is not None:
        thread.draft.add(Entry("", name, from_number(stamp, tz, 1000), "", call=True))
        return
    if notice or kind in _SYSTEM_TYPES:
        thread.draft.notice()
        return
    text = fix(written)
    marks = [
        (fix(mark.get("reaction")), fix(mark.get("actor")), whole(mark.get("timestamp")))
        for mark in records(item.get("reactions"))
    ]
    if not encrypted:
        thread.reacted |= {
            (actor, when if when < 10**11 else when // 1000) for _, actor, when in marks if when
        }
    entry = Entry(
        "",
        name,
        from_number(stamp, tz, 1000),
        "" if gone else text,
        attachments=attachments,
        deleted=gone,
        extra=reactions((emoji, [actor], 1) for emoji, actor, _ in marks),
        where=where,
        odd=is_odd(item.get("text" if encrypted else "content")),
    )
    thread.candidates.append(Candidate(entry, whole(stamp) // 1000, text != written))


def _repair(value: Any) -> str:
    return repaired(scalar(value))


def _part(member: Member) -> tuple[str, int, str]:
    folder, _, name = member.name.rpartition("/")
    match = _PART.search(name)
    return folder, int(match[1]) if match else 0, name


def _thread_key(export: dict[str, Any], member: Member) -> str:
    """What the parts of one conversation have in common."""
    folder, number, _ = _part(member)
    path = text_at(export, "thread_path")
    return path or (f"{folder}/" if number and folder else f"/{member.name}")


def _describe(draft: Draft, export: dict[str, Any], member: Member, *, encrypted: bool) -> None:
    if draft.name:
        return
    fix = scalar if encrypted else _repair
    folder, number, _ = _part(member)
    fallback = folder.rsplit("/", 1)[-1] if number and folder else member.stem
    draft.name = fix(export.get("title")) or text_at(export, "threadName") or fallback
    people = [
        fix(person.get("name") if isinstance(person, dict) else person)
        for person in listed(export.get("participants"))
    ]
    path = text_at(export, "thread_path")
    draft.extra = filled({"participants": people, "thread_path": path})


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    for key, kind in _MEDIA.items():
        for file in records(item.get(key)):
            yield attached(_repair(file.get("uri")), kind)
    if sticker := object_at(item, "sticker"):
        yield attached(_repair(sticker.get("uri")), "sticker")
    share = object_at(item, "share")
    title, address, caption = (
        _repair(share.get(key)) for key in ("original_content_owner", "link", "share_text")
    )
    if title or address or caption:
        yield Attachment("link", title, address, caption)


def _media(file: dict[str, Any]) -> Attachment:
    uri = text_at(file, "uri")
    # Where a file could not be fetched, a sentence stands in place of its address.
    return attached(uri) if "." in uri or "/" in uri else Attachment("media")


INSTAGRAM = Format(
    title="Instagram (JSON or HTML download)",
    sniff=partial(_sniff, instagram=True),
    read=partial(_read, format_name="instagram"),
)
MESSENGER = Format(
    title="Messenger (JSON or HTML download)",
    sniff=partial(_sniff, instagram=False),
    read=partial(_read, format_name="messenger"),
)
