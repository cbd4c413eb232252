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
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, matching, reactions
from realtalk.corpora.exports.values import attached, from_number, mapping, records, scalar
from realtalk.corpora.json_input import head_keys, head_text, load, zone
from realtalk.corpora.reading import Reading, ReadOptions
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from realtalk.corpora.source import Member, Source

__all__ = ["belongs_to_instagram", "first_thread", "read_threads", "repaired"]

_PART = re.compile(r"(?:^|/)message_(\d{1,9})\.json(\.gz)?$")
_MESSENGER_ONLY = frozenset(
    {
        *("sender_id_INTERNAL", "thread_type", "ip", "gifs", "sticker", "plan", "missed"),
        *("bumped_message_metadata", "threadName", "senderName", "isUnsent"),
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
_REACTED = re.compile(r"^(liked a message|.{0,80}\breacted .{1,40} to your message)\s*$", re.I)
# What the app itself says in a conversation, after the sender's name or "You".
_ATTACHED = re.compile(r"sent (an?|the|\d+) [\w ]{1,30}\.")
_NOTICE = re.compile(
    r"(named the group .+|created the group|left the (group|conversation)|"
    r"(added|removed) .+ (to|from) the group|changed the (group photo|theme|chat theme)( .+)?|"
    r"(set|cleared) (the|your|his|her|their) (own )?(nickname|emoji|quick reaction)( .+)?|"
    r"(pinned|unpinned) a message|turned (on|off) (disappearing|vanish) .+|"
    r"(joined|started|ended|missed) (a|an|the|your) (video |audio )?(call|chat)( from .{1,80})?|"
    r"(are|is) now connected on .+|can now message and call .+)\.?|"
    r"created a poll: .+|(voted for|removed vote for) .+ in the poll: .+"
)


# Of a call the app also speaks of the one who did not make it.
_CALLED = re.compile(
    r"(missed (a|your) (video |audio )?(call|chat) (from|with) .{1,80}|"
    r"(started|ended) a (video|audio) (call|chat))\.?"
)


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
    found = next(matching(source, (".json",), _is_thread, named=_PART), None)
    return found or next(matching(source, (".json",), _is_thread), None)


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
    found = source.having(".json")
    if len(source.members) > 1:
        found = tuple(matching(source, (".json",), _is_thread, limit=0))
    if not found:
        raise RealtalkError(
            "no message files (message_1.json) found",
            where=str(source.path),
            fix="download your information again and choose the format JSON",
        )
    threads: dict[str, Draft] = {}
    fixed = 0
    for member in sorted(found, key=_part):
        thread = load(member)
        if not isinstance(thread, dict) or not isinstance(thread.get("messages"), list):
            if len(found) > 1:
                continue
            raise RealtalkError("no list of 'messages'", where=member.where)
        encrypted = "threadName" in thread or any(
            "senderName" in item for item in records(thread["messages"])[:1]
        )
        # Only the older layout runs backwards.
        draft = threads.setdefault(_thread(thread, member), Draft("", newest_first=not encrypted))
        fix = scalar if encrypted else _repair
        _describe(draft, thread, member, fix is _repair)
        for index, item in enumerate(thread["messages"]):
            where = f"{member.name}, messages[{index}]"
            if not isinstance(item, dict):
                draft.leave(where, "not an object")
            elif encrypted:
                _encrypted(draft, item, where, tz)
            else:
                fixed += _plain(draft, item, where, tz)
    notes = [f"messages whose characters were put right: {fixed:,}"] if fixed else []
    return assemble(source, format_name, list(threads.values()), options, notes)


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
    given = thread.get("participants")
    people = [
        fix(person.get("name")) if isinstance(person, dict) else fix(person)
        for person in (given if isinstance(given, list) else [])
    ]
    path = scalar(thread.get("thread_path"))
    draft.extra = {
        key: value for key, value in (("participants", people), ("thread_path", path)) if value
    }


def _plain(draft: Draft, item: dict[str, Any], where: str, tz: ZoneInfo | None) -> bool:
    """One entry of the ordinary download; whether its text had to be put right."""
    sender, written = _repair(item.get("sender_name")), scalar(item.get("content"))
    text = repaired(written)
    attachments = tuple(_attachments(item))
    people = (sender, *draft.extra.get("participants", ()))
    if _is_system(item, people, text, bool(attachments)):
        draft.system += 1
        return False
    extra = reactions(
        (_repair(one.get("reaction")), _repair(one.get("actor")), 1)
        for one in records(item.get("reactions"))
    )
    if attachments and _says(_ATTACHED, (sender,), text):
        extra["notice"], text = text, ""  # the app's words for a file, not the sender's
    gone = item.get("is_unsent") is True
    draft.add(
        Entry(
            "",
            sender,
            from_number(item.get("timestamp_ms"), tz, 1000),
            "" if gone else text,
            attachments=attachments,
            deleted=gone,
            extra=extra,
            where=where,
        )
    )
    return text != written and not extra.get("notice")


def _is_system(item: dict[str, Any], people: Sequence[str], text: str, carries: bool) -> bool:
    if scalar(item.get("type")).lower() in _SYSTEM_TYPES or "call_duration" in item:
        return True
    if carries:
        return False
    return (
        _says(_NOTICE, people[:1], text)
        or _says(_CALLED, people, text)
        or _REACTED.match(text) is not None
    )


def _says(notice: re.Pattern[str], people: Iterable[str], text: str) -> bool:
    """Whether the app speaks of one of these people in the third person, or of "You"."""
    names = dict.fromkeys(("You", *(part for one in people for part in (one, *one.split()[:1]))))
    return any(
        name != "" and text.startswith(f"{name} ") and notice.fullmatch(text, len(name) + 1)
        for name in names
    )


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


def _encrypted(draft: Draft, item: dict[str, Any], where: str, tz: ZoneInfo | None) -> None:
    """One entry of the download of encrypted conversations, which is clean UTF-8."""
    kind = scalar(item.get("type")).lower()
    text = scalar(item.get("text"))
    gone = item.get("isUnsent") is True
    media = tuple(_media(file) for file in records(item.get("media")))
    if (kind in _SYSTEM_TYPES) or (kind == "placeholder" and not gone and not media):
        draft.system += 1
        return
    extra = reactions(
        (scalar(one.get("reaction")), scalar(one.get("actor")), 1)
        for one in records(item.get("reactions"))
    )
    draft.add(
        Entry(
            "",
            scalar(item.get("senderName")),
            from_number(item.get("timestamp"), tz, 1000),
            "" if gone else text,
            attachments=media,
            deleted=gone,
            extra=extra,
            where=where,
        )
    )


def _media(file: dict[str, Any]) -> Attachment:
    uri = scalar(file.get("uri"))
    # Where a file could not be fetched, a sentence stands in place of its address.
    return attached(uri) if "." in uri or "/" in uri else Attachment("media")
