"""What Messenger and Instagram share: Meta's message files into chats.

    inbox/ann_123/message_1.json, message_2.json     one conversation, newest first
    {"participants": [{"name": "Ann"}], "title": "Ann", "thread_path": "inbox/ann_123",
     "messages": [{"sender_name": "Ann", "timestamp_ms": 1714548600000,
                   "content": "caf\\u00c3\\u00a9?"}]}
    → Chat("Ann") with one message "café?"

    {"participants": ["Ann"], "threadName": "Ann_7", "messages": [{"senderName": "Ann",
     "text": "hi", "timestamp": 1714548600000, "type": "text", "media": [], ...}]}
    → the same, from an end-to-end encrypted conversation

The older download writes every UTF-8 byte as a character of its own; each string is
put right where that is possible and left alone where it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.corpora.exports.meta_notices import Line, MetaThread, judge
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_number,
    mapping,
    records,
    scalar,
    whole,
)
from realtalk.corpora.json_input import head_keys, head_text, load, zone
from realtalk.corpora.reading import Reading, ReadOptions
from realtalk.corpora.source import matching
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from realtalk.corpora.source import Member, Source

__all__ = ["belongs_to_instagram", "first_thread", "read_threads", "repaired"]

_PART = re.compile(r"(?:^|/)message_(\d{1,9})\.json(\.gz)?$")
_MESSENGER_ONLY = frozenset(
    {
        "sender_id_INTERNAL",
        "thread_type",
        "ip",
        "gifs",
        "sticker",
        "plan",
        "missed",
        "bumped_message_metadata",
        "threadName",
        "senderName",
        "isUnsent",
    }
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
_NEAR = 10  # entries between a message and the notice that somebody liked it
_UNCERTAIN = "messages that begin with their sender's own name and may be notices of the app"


def repaired(text: str) -> str:
    """UTF-8 that was read as Latin-1, made right; any other text as it is."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def first_thread(source: Source) -> Member | None:
    """A message file by which the whole source can be judged."""
    member = next(matching(source, (".json",), _is_thread, named=_PART), None)
    return member or next(matching(source, (".json",), _is_thread), None)


def _is_thread(member: Member) -> bool:
    """Whether the head is that of a Meta message file."""
    keys = head_keys(member)
    if "messages" not in keys:
        # An unusually long list of participants can push the messages out of the head.
        return "participants" in keys and _PART.search(member.name.rsplit("/", 1)[-1]) is not None
    return {"sender_name", "timestamp_ms"} <= keys or {"senderName", "timestamp"} <= keys


def belongs_to_instagram(member: Member, source: Source) -> bool:
    """Instagram, unless something says Messenger; the bare minimum fits both alike."""
    head = head_text(member)
    path = f"{source.path.name}/{member.name}".lower()
    if "your_instagram_activity" in head or "instagram" in path:
        return True
    if "your_facebook_activity" in head or "facebook" in path or "messenger" in path:
        return False
    return not head_keys(member) & _MESSENGER_ONLY


def read_threads(source: Source, options: ReadOptions, format_name: str) -> Reading:
    """Every conversation of the source, its parts joined."""
    tz = zone(options.timezone)
    members = source.having(".json")
    if len(source.members) > 1:
        members = tuple(matching(source, (".json",), _is_thread, limit=0))
    if not members:
        raise RealtalkError(
            "no message files (message_1.json) found",
            where=str(source.path),
            fix="download your information again and choose the format JSON",
        )
    threads: dict[str, _Thread] = {}
    for member in sorted(members, key=_part):
        thread = load(member)
        if not isinstance(thread, dict) or not isinstance(thread.get("messages"), list):
            if len(members) > 1:
                continue
            raise RealtalkError("no list of 'messages'", where=member.where)
        encrypted = "threadName" in thread or any(
            "senderName" in item for item in records(thread["messages"])[:1]
        )
        # Only the older layout runs backwards.
        held = threads.setdefault(
            _thread(thread, member), _Thread(Draft("", newest_first=not encrypted))
        )
        draft = held.draft
        _describe(draft, thread, member, not encrypted)
        take = _encrypted if encrypted else _plain
        for where, item in draft.objects(thread["messages"], f"{member.name}, messages"):
            take(held, item, where, tz)
    notes = _finish(list(threads.values()))
    return assemble(source, format_name, [held.draft for held in threads.values()], options, notes)


@dataclass(slots=True)
class _Thread:
    """A conversation while it is read: what may be the app's own can only be decided at the end."""

    draft: Draft
    entries: list[Entry] = field(default_factory=list)
    repaired: set[int] = field(default_factory=set)  # places of entries that were put right
    reacted: set[tuple[str, int]] = field(default_factory=set)  # who gave a reaction when

    def add(self, entry: Entry, stamp: Any, reacted: Any, *, fixed: bool = False) -> None:
        if fixed:
            self.repaired.add(len(self.entries))
        for one in records(reacted):
            if when := whole(one.get("timestamp")):
                self.reacted.add(
                    (_repair(one.get("actor")), when if when < 10**11 else when // 1000)
                )
        entry.extra["second"] = whole(stamp) // 1000
        self.entries.append(entry)


def _evidence(held: _Thread) -> MetaThread:
    """What distinguishes the notices of a conversation from its messages."""
    reactors = [
        {name for mark in entry.extra.get("reactions", ()) for name in mark["by"]}
        for entry in held.entries
    ]
    near = [
        any(entry.name in names for names in reactors[max(0, place - _NEAR) : place + _NEAR + 1])
        for place, entry in enumerate(held.entries)
    ]
    lines = [
        Line(
            entry.name,
            entry.text,
            bool(entry.attachments),
            (entry.name, entry.extra["second"]) in held.reacted,
            near[place],
        )
        for place, entry in enumerate(held.entries)
    ]
    return MetaThread(tuple(held.draft.extra.get("participants", ())), lines)


def _finish(threads: Sequence[_Thread]) -> list[str]:
    """Gives every entry its place: a message, or a notice of the app."""
    judged, uncertain = judge([_evidence(held) for held in threads])
    fixed = 0
    for held, sorts in zip(threads, judged, strict=True):
        for place, (entry, sort) in enumerate(zip(held.entries, sorts, strict=True)):
            del entry.extra["second"]
            if sort == "notice":
                held.draft.notice()
                continue
            if sort is not None:  # the app's words for what the sender sent or took back
                entry.extra["notice"], entry.text = entry.text, ""
                entry.deleted = entry.deleted or sort == "unsent"
                if sort == "sent" and not entry.attachments:
                    entry.attachments = (Attachment("media"),)
            fixed += sort is None and place in held.repaired
            held.draft.add(entry)
    notes = [f"messages whose characters were put right: {fixed:,}"] if fixed else []
    return [*notes, *([f"{_UNCERTAIN}: {uncertain:,}"] if uncertain else [])]


def _repair(value: Any) -> str:
    return repaired(scalar(value))


def _part(member: Member) -> tuple[str, int, str]:
    folder, _, name = member.name.rpartition("/")
    match = _PART.search(name)
    return folder, int(match[1]) if match else 0, name


def _thread(thread: dict[str, Any], member: Member) -> str:
    """What the parts of one conversation have in common."""
    folder, number, _ = _part(member)
    named = scalar(thread.get("thread_path"))
    return named or (f"{folder}/" if number and folder else f"/{member.name}")


def _describe(draft: Draft, thread: dict[str, Any], member: Member, broken: bool) -> None:
    if draft.name:
        return
    fix = _repair if broken else scalar
    folder, number, _ = _part(member)
    fallback = folder.rsplit("/", 1)[-1] if number and folder else member.stem
    draft.name = fix(thread.get("title")) or scalar(thread.get("threadName")) or fallback
    participants = thread.get("participants")
    people = [
        fix(person.get("name")) if isinstance(person, dict) else fix(person)
        for person in (participants if isinstance(participants, list) else [])
    ]
    path = scalar(thread.get("thread_path"))
    draft.extra = filled({"participants": people, "thread_path": path})


def _plain(held: _Thread, item: dict[str, Any], where: str, tz: ZoneInfo | None) -> None:
    """One entry of the ordinary download."""
    fields = any(item.get(name) not in (None, []) for name in _SYSTEM_FIELDS)
    if scalar(item.get("type")).lower() in _SYSTEM_TYPES or fields:
        held.draft.notice()
        return
    written = scalar(item.get("content"))
    text = repaired(written)
    attachments = tuple(_attachments(item))
    taken = item.get("is_taken_down") is True and not (text or attachments)
    gone = item.get("is_unsent") is True or taken
    entry = Entry(
        "",
        _repair(item.get("sender_name")),
        from_number(item.get("timestamp_ms"), tz, 1000),
        "" if gone else text,
        attachments=attachments,
        deleted=gone,
        extra=reactions(
            (_repair(one.get("reaction")), [_repair(one.get("actor"))], 1)
            for one in records(item.get("reactions"))
        ),
        where=where,
    )
    held.add(entry, item.get("timestamp_ms"), item.get("reactions"), fixed=text != written)


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    for key, kind in _MEDIA.items():
        for file in records(item.get(key)):
            yield attached(_repair(file.get("uri")), kind)
    sticker = mapping(item.get("sticker"))
    if sticker:
        yield attached(_repair(sticker.get("uri")), "sticker")
    share = mapping(item.get("share"))
    if any(scalar(share.get(key)) for key in ("link", "share_text", "original_content_owner")):
        yield Attachment(
            "link",
            _repair(share.get("original_content_owner")),
            _repair(share.get("link")),
            _repair(share.get("share_text")),
        )


def _encrypted(held: _Thread, item: dict[str, Any], where: str, tz: ZoneInfo | None) -> None:
    """One entry of the download of encrypted conversations, which is clean UTF-8."""
    kind = scalar(item.get("type")).lower()
    text = scalar(item.get("text")) or scalar(item.get("messageText"))
    gone = item.get("isUnsent") is True
    media = tuple(_media(file) for file in records(item.get("media")))
    if (kind in _SYSTEM_TYPES) or (kind == "placeholder" and not gone and not media):
        held.draft.notice()
        return
    entry = Entry(
        "",
        scalar(item.get("senderName")),
        from_number(item.get("timestamp"), tz, 1000),
        "" if gone else text,
        attachments=media,
        deleted=gone,
        extra=reactions(
            (scalar(one.get("reaction")), [scalar(one.get("actor"))], 1)
            for one in records(item.get("reactions"))
        ),
        where=where,
    )
    held.add(entry, item.get("timestamp"), ())


def _media(file: dict[str, Any]) -> Attachment:
    uri = scalar(file.get("uri"))
    # Where a file could not be fetched, a sentence stands in place of its address.
    return attached(uri) if "." in uri or "/" in uri else Attachment("media")
