"""Messenger's and Instagram's downloads, as JSON or as HTML, into chats.

your_facebook_activity/messages/inbox/ann_123/message_1.json    one conversation, newest first
{"participants": [{"name": "Ann"}], "messages": [
  {"sender_name": "Ann", "timestamp_ms": 1714548600000, "content": "hi"}]}
your_facebook_activity/messages/inbox/ann_123/message_1.html    the same as a page
→ Chat("Ann") with one message of Ann
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.exports.html_tags import VOID, Element, elements
from realtalk.formats.exports.meta_notices import judge
from realtalk.formats.exports.meta_repeats import MetaThread
from realtalk.formats.json_input import (
    Fields,
    Zone,
    as_list,
    decode,
    from_number,
    head_keys,
    head_text,
    is_odd,
    load,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    on_clock,
    records,
    scalar,
    text_at,
    whole,
    word_pairs,
    word_set,
    zone,
)
from realtalk.formats.source import FormatFiles, Member, Source, matching
from realtalk.text.calendars import DateOrder
from realtalk.text.words import one_line
from realtalk.text.written_days import LONGEST, order_of, parse_spelled

# What may be the app's own can only be decided when every conversation is read (`meta_notices`).

_FIXED = "messages whose characters were put right"
_REPEATED = "counted as notices because they repeat with nothing but an emoji changing"
_UNCERTAIN = "messages that begin with their sender's own name and may be notices of the app"


def _settle(threads: Sequence[MetaThread]) -> list[str]:
    """Gives every entry its place: a message, or a notice of the app; what to say about it."""
    uncertain, repeated = judge(threads)
    fixed = 0
    for thread in threads:
        for line in thread.lines:
            entry = line.entry
            if line.sort == "notice":
                thread.draft.notice()
                continue
            if line.sort is not None:  # the app's words for what the sender sent or took back
                entry.extra["notice"], entry.text = entry.text, ""
                entry.deleted = entry.deleted or line.sort == "unsent"
                if line.sort == "sent" and not entry.attachments:
                    entry.attachments = (Attachment("media"),)
            fixed += line.sort is None and line.is_repaired
            thread.draft.add(entry)
    counts = {_FIXED: fixed, _UNCERTAIN: uncertain, _REPEATED: repeated}
    return [f"{meaning}: {count:,}" for meaning, count in counts.items() if count]


# Messenger and Instagram downloaded as HTML into conversations.
#
#     your_facebook_activity/messages/inbox/ann_123/message_1.html    one conversation, newest first
#     <div class="_a6-g"><div class="_a6-h">Ann</div><div class="_a6-p"><div>hi</div></div>
#     <div class="_a6-o">May 1, 2024, 9:30 AM</div></div>
#     → MetaThread(Draft("Ann")) with one line of Ann
#
# The names of classes change from year to year, so a message is known by its structure: an element
# that holds a name, a body and a date, in this order, and no other message. Dates are spelled in
# the language and the clock of the account. Pages say less than JSON: no time of a reaction, and
# seconds only sometimes.

_PAGE = re.compile(r"(?:^|/)message_(\d{1,9})\.html?(\.gz)?$")
_PAGES_NOTE = "a download as HTML tells no seconds and no calls apart; one as JSON does"
_HEAD = 1 << 18  # bytes of a page that are looked at: its styles come first

_LONGEST_NAME = 200
_MOST_INSIDE = 50  # elements in that of a name or a date
_LONGEST_TEXT = 20_000  # letters in which addresses are looked for
_CLOCK = re.compile(r"\d[:.h]\d\d|\d[時时시]")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_BLOCKS = word_set("div p h1 h2 h3 h4 section footer ul li table")
_UNSEEN = word_set("style script title")
_PAGE_MEDIA = word_pairs("""
    img    image
    video  video
    audio  audio
    source
    a
""")
_PLAYED = ("video", "audio")  # what stands in such an element, or in a link to one, is the app's
_REACTION = re.compile(r"(\W{1,16})(.{0,200}?)(?: ?\([^()]{6,60}\))?", re.DOTALL)


_Page = tuple[Member, str, list[tuple[str, Entry]]]  # with its title and messages


def _is_page(member: Member) -> bool:
    # One message by structure may be anything; a file of the usual name, or two, are not.
    least = 1 if _PAGE.search(member.name) else 2
    return len(_read_page(decode(member.head(_HEAD)))[1]) >= least


def _page_threads(members: list[Member], order: DateOrder | None) -> list[MetaThread]:
    """One conversation per folder, its pages in order."""
    pages: dict[str, list[_Page]] = {}
    for member in sorted(members, key=lambda member: _part(member, _PAGE)[:2]):
        alone = _PAGE.search(member.name) is None
        # A download in several archives has "inbox/ann_123" in more than one of them.
        folder = f"/{member.name}" if alone else "/".join(member.folder.split("/")[-2:]) + "/"
        page = _read_page(decode(member.read()), member.where)
        pages.setdefault(folder, []).append((member, *page))
    every = [messages for parts in pages.values() for *_, messages in parts]
    order = order or order_of(stamp for messages in every for stamp, _ in messages)
    return [_page_thread(parts, order) for parts in pages.values()]


def _page_thread(parts: list[_Page], order: DateOrder) -> MetaThread:
    first, title, _ = parts[0]
    people = dict.fromkeys(entry.name for *_, messages in parts for _, entry in messages)
    folder = first.folder.rsplit("/", 1)[-1] if _PAGE.search(first.name) else ""
    extra = {"participants": list(people)}
    thread = MetaThread(Draft(title or folder or first.stem, newest_first=True, extra=extra))
    for member, _, messages in parts:
        for index, (stamp, entry) in enumerate(messages):
            entry.time = parse_spelled(stamp, order)
            entry.where = f"{member.name}, messages[{index}]"
            thread.take(entry)
    return thread


def _read_page(text: str, where: str | None = None) -> tuple[str, list[tuple[str, Entry]]]:
    """The title of a page, and its messages, each with its date."""
    messages: list[tuple[str, Entry]] = []
    title = ""
    for root in elements(text, lambda _, around: not around, where):
        messages += _page_messages(root)
        named = (each for each in (root, *root.inside()) if each.name == "title")
        title += "".join(element.text() for element in named)
    return one_line(title), messages


def _page_messages(element: Element) -> list[tuple[str, Entry]]:
    """The messages in an element, or the one that it is: a name, a body and a date."""
    inside = [
        part
        for part in element.parts
        if not isinstance(part, str) and part.name not in VOID and part.name not in _UNSEEN
    ]
    found = [_page_messages(part) for part in inside]
    messages = [message for each in found for message in each]
    # Where its end is lost, it holds the messages below it, too.
    is_rest = all(map(_is_empty_or_found, inside[3:], found[3:]))
    if len(inside) >= 3 and is_rest and not any(found[:3]):
        messages[:0] = _page_message(*inside[:3])
    return messages


def _is_empty_or_found(part: Element, messages: Sequence[object]) -> bool:
    return bool(messages) or all(isinstance(it, str) and not it.strip() for it in part.parts)


def _page_message(name: Element, body: Element, date: Element) -> Iterator[tuple[str, Entry]]:
    sender = one_line(_short_text(name, _LONGEST_NAME))
    stamp = _short_text(date, LONGEST).strip()
    # A month in a language that is not known still has its year and clock around it.
    dated = _YEAR.search(stamp) or parse_spelled(stamp, "dmy") or parse_spelled(stamp, "mdy")
    if not sender or len(stamp) < 6 or not dated or not _CLOCK.search(stamp):
        return
    lists = (element for element in body.inside() if element.name == "li")
    marks = [mark for each in lists if (mark := _mark(each.text(_own_words)))]
    lines = (line.strip() for line in body.text(_own_words).split("\n"))
    text, files = "\n".join(filter(None, lines)), tuple(_page_files(body))
    yield stamp, Entry("", sender, None, text, attachments=files, extra=reactions(marks))


def _short_text(element: Element, most: int) -> str:
    """The text of an element; "" where it is too long for a name or a date."""
    near = [element, *islice(element.inside(), _MOST_INSIDE + 1)]
    size = sum(len(part) for each in near for part in each.parts if isinstance(part, str))
    return element.text(_own_words) if size <= most and len(near) <= _MOST_INSIDE else ""


def _own_words(element: Element) -> str | None:
    """Nothing in place of reactions, which are listed, and words for a film; blocks by lines."""
    if element.name == "li" or element.name in _UNSEEN or _is_played(element):
        return ""
    return f"\n{element.text(_own_words)}\n" if element.name in _BLOCKS else None


def _address(element: Element) -> str:
    if element.name not in _PAGE_MEDIA:
        return ""
    return element.get("src") or element.get("href")


def _is_played(element: Element) -> bool:
    """Whether it is a film or a sound, or a link to one: what stands in it is the app's."""
    address = _address(element)
    return element.name in _PLAYED or (
        bool(address) and "://" not in address and make_attachment(address).kind in _PLAYED
    )


def _page_files(body: Element) -> Iterator[Attachment]:
    text = body.text()
    addresses: set[str] = set()
    for element in body.inside():
        # An address in the text is there already, and a preview stands in a link to its file.
        address = _address(element)
        if not address or address in addresses:
            continue
        addresses.add(address)
        if element.name != "a" or "://" not in address:
            yield make_attachment(address, _PAGE_MEDIA[element.name])
        elif len(text) > _LONGEST_TEXT or address not in text:
            yield Attachment("link", url=address)


def _mark(text: str) -> tuple[str, list[str], int] | None:
    """A reaction: an emoji, who gave it, and, in brackets, when."""
    match = _REACTION.fullmatch(one_line(text))
    return (match[1].strip(), [match[2].strip()], 1) if match and match[1].strip() else None


# Messenger and Instagram conversations (JSON download) into chats: both have Meta's layout.
#
#     your_facebook_activity/messages/inbox/ann_123/message_1.json ... message_9.json
#                                           one conversation, newest first
#     {"participants": [{"name": "Ann"}], "title": "Ann", "thread_path": "inbox/ann_123",
#      "messages": [{"sender_name": "Ann", "timestamp_ms": 1714548600000,
#                    "content": "caf\u00c3\u00a9?"}]}
#     → Chat("Ann") with one message "café?"
#
#     {"participants": ["Ann"], "threadName": "Ann_7", "messages": [{"senderName": "Ann",
#      "text": "hi", "timestamp": 1714548600000, "type": "text", "media": [], ...}]}
#     → the same, from an end-to-end encrypted conversation
#
# The older download writes every UTF-8 byte as a character of its own; each string is
# put right where that is possible and left alone where it is not. The bare minimum of the layout
# counts as Instagram. Where a download is there as HTML too, the JSON is read.

_PART = re.compile(r"(?:^|/)message_(\d{1,9})\.json(\.gz)?$")
_MESSENGER_ONLY = word_set("""
    sender_id_INTERNAL thread_type ip gifs sticker plan missed bumped_message_metadata
    threadName senderName isUnsent
    """)
_MEDIA = word_pairs("""
    photos       image
    videos       video
    audio_files  audio
    gifs         image
    files
    shared_files
""")
# Where the two downloads have the sender, the time, whether it was taken back, and the text.
_CLEAN = ("senderName", "timestamp", "isUnsent", "text", "messageText")
_LATIN = ("sender_name", "timestamp_ms", "is_unsent", "content")
_SYSTEM_TYPES = word_set("subscribe unsubscribe call plan")
_SYSTEM_FIELDS = ("call_duration", "users")  # only calls, and people who come and go, have them


def repair(value: Any) -> str:
    """UTF-8 that was read as Latin-1, made right; any other text as it is."""
    text = scalar(value)
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _sniff(source: Source, *, instagram: bool) -> bool:
    """Whether a message file, by which the whole source can be judged, is of the one app."""
    threads = partial(matching, source, (".json",), _is_thread)
    members = chain(threads(name=_PART), threads(), _PAGES.find(source, limit=8))
    member = next(members, None)
    return member is not None and _is_of_instagram(member, source) == instagram


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


_PAGES = FormatFiles((".html", ".htm"), _is_page, name=_PAGE)
_FILES = FormatFiles(
    (".json",),
    _is_thread,
    "no message files (message_1.json) found",
    "download your information again and choose the format JSON",
)


def _read(export: Export) -> None:
    """Every conversation of the source, its parts joined."""
    source = export.source
    pages = [] if any(_FILES.find(source)) else list(_PAGES.find(source))
    threads = _page_threads(pages, export.options.dates) if pages else _threads(export)
    export.notes += [*_settle(threads), *([_PAGES_NOTE] if pages else [])]
    export.drafts |= enumerate(thread.draft for thread in threads)


def _threads(export: Export) -> list[MetaThread]:
    members, tz = export.members, zone(export.options.timezone)
    threads: dict[str, MetaThread] = {}
    for member in sorted(members, key=lambda member: _part(member, _PART)):
        file = mapping(load(member))
        if not isinstance(file.get("messages"), list):
            if len(members) > 1:
                continue
            raise member.error("no list of 'messages'")
        # The download of encrypted conversations is clean UTF-8, and the oldest comes first.
        encrypted = "threadName" in file or any(
            "senderName" in item for item in records(file["messages"])[:1]
        )
        fix = scalar if encrypted else repair
        folder, number, _ = _part(member, _PART)
        is_part = bool(number and folder)
        path = text_at(file, "thread_path")
        # What the parts of one conversation have in common.
        key = path or (f"{folder}/" if is_part else f"/{member.name}")
        thread = threads.setdefault(key, MetaThread(Draft("", newest_first=not encrypted)))
        draft = thread.draft
        draft.id = draft.id or path
        if not draft.name:
            fallback = folder.rsplit("/", 1)[-1] if is_part else member.stem
            draft.name = fix(file.get("title")) or text_at(file, "threadName") or fallback
            people = [
                fix(person.get("name") if isinstance(person, dict) else person)
                for person in as_list(file.get("participants"))
            ]
            draft.extra = {"participants": people, "thread_path": path}
        for where, item in draft.objects(file["messages"], f"{member.name}, messages"):
            _add(thread, item, where, tz, encrypted=encrypted)
    return list(threads.values())


def _add(thread: MetaThread, item: Fields, where: str, tz: Zone, *, encrypted: bool) -> None:
    """Takes one entry."""
    fix = scalar if encrypted else repair
    kind = text_at(item, "type").lower()
    sender, sent, unsent, *said = _CLEAN if encrypted else _LATIN
    raw, stamp = text_at(item, *said), item.get(sent)
    gone = item.get(unsent) is True
    if encrypted:
        attachments = tuple(map(_media, objects_at(item, "media")))
        notice = kind == "placeholder" and not gone and not attachments
    else:
        attachments = tuple(_attachments(item))
        gone |= item.get("is_taken_down") is True and not (raw or attachments)
        notice = any(item.get(key) not in (None, []) for key in _SYSTEM_FIELDS)
    text = fix(raw)
    entry = Entry(
        "",
        fix(item.get(sender)),
        on_clock(from_number(stamp, 1000), tz),
        "" if gone else text,
        attachments=attachments,
        deleted=gone,
        where=where,
        call=kind == "call" or item.get("call_duration") is not None,
        odd=is_odd(item.get(said[0])),
    )
    if entry.call:
        thread.draft.add(entry)
        return
    if notice or kind in _SYSTEM_TYPES:
        thread.draft.notice()
        return
    marks = [
        (fix(mark.get("reaction")), fix(mark.get("actor")), whole(mark.get("timestamp")))
        for mark in objects_at(item, "reactions")
    ]
    entry.extra = reactions((emoji, [actor], 1) for emoji, actor, _ in marks)
    if not encrypted:
        thread.reacted |= {
            (actor, when if when < 10**11 else when // 1000) for _, actor, when in marks if when
        }
    thread.take(entry, whole(stamp) // 1000, is_repaired=text != raw)


def _part(member: Member, pattern: re.Pattern[str]) -> tuple[str, int, str]:
    """The folder, the number and the name of a part of a conversation."""
    folder, _, name = member.name.rpartition("/")
    match = pattern.search(name)
    return folder, int(match[1]) if match else 0, name


def _attachments(item: Fields) -> Iterator[Attachment]:
    for key, kind in _MEDIA.items():
        for file in records(item.get(key)):
            yield make_attachment(repair(file.get("uri")), kind)
    if sticker := object_at(item, "sticker"):
        yield make_attachment(repair(sticker.get("uri")), "sticker")
    share = object_at(item, "share")
    title, address, caption = (
        repair(share.get(key)) for key in ("original_content_owner", "link", "share_text")
    )
    if title or address or caption:
        yield Attachment("link", title, address, caption)


def _media(file: Fields) -> Attachment:
    uri = text_at(file, "uri")
    # Where a file could not be fetched, a sentence stands in place of its address.
    return make_attachment(uri) if "." in uri or "/" in uri else Attachment("media")


INSTAGRAM, MESSENGER = (
    replace(
        export_format(f"{name} (JSON or HTML download)", name.lower(), _FILES, _read),
        sniff=partial(_sniff, instagram=name == "Instagram"),
    )
    for name in ("Instagram", "Messenger")
)
