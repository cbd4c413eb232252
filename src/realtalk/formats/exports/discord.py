"""Discord channels, as DiscordChatExporter writes them, into chats.

    {"guild": {...}, "channel": {"id": "5", "name": "general"}, "messages": [
      {"id": "41", "type": "Default", "timestamp": "2024-05-01T09:30:00+00:00",
       "content": "hi", "author": {"id": "7", "name": "ann", "nickname": "Ann"}}]}
    AuthorID,Author,Date,Content,Attachments,Reactions        (its CSV)
    <div class=chatlog__message-container data-message-id=41> (its HTML)
    → Chat("general") with one message of Ann

Files of one channel (parts, or exports of several date ranges) are joined, and a message
that stands in two of them is taken once. Discord's own data package holds only what its owner
wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.exports.html_tags import Element, page_elements
from realtalk.formats.exports.text_entries import table_rows
from realtalk.formats.json_input import (
    Fields,
    decode,
    from_number,
    from_stamp,
    from_utc,
    head_keys,
    head_text,
    load_beside,
    load_export,
    load_list,
    make_attachment,
    mapping,
    object_at,
    objects_at,
    odd_at,
    text_at,
    with_keys,
    word_pairs,
    word_set,
)
from realtalk.formats.source import FormatFiles, Member, Source, matching
from realtalk.grouping import grouped
from realtalk.text.calendars import DateOrder
from realtalk.text.words import one_line
from realtalk.text.written_days import parse_spelled

# Discord channels as DiscordChatExporter's HTML into drafts of chats.
#
#     <div class=chatlog__message-group><div class=chatlog__message-container data-message-id=123>
#     ... <span class=chatlog__author title=ann data-user-id=7>Ann</span> ...
#     <div class=chatlog__content><span class=chatlog__markdown-preserve>hi</span></div> ...
#     → Draft("general") with one entry of Ann
#
# Up to 2.x the name and the time stood once, before all messages of a group, and messages had no
# number before 2.14 and classes such as `msg-user` before 2.0:
#
#     <div class="chatlog__message-group"><div class="chatlog__messages"><span
#     class="chatlog__author-name" title="ann#1">Ann</span> <span class="chatlog__timestamp">1-May
#     09:30 AM</span><div class="chatlog__content">hi</div><div class="chatlog__content">so?</div>
#     → two entries of Ann at 9:30
#
# The number of a message holds the moment at which it was sent, so its written date, which is in
# the exporter's language, is only needed where the number is none of Discord's.

_EPOCH = 1_420_070_400_000  # the first millisecond of 2015, from which Discord counts
_SMALLEST = 1 << 40  # numbers below are no times
_ANSWERED = re.compile(r"scrollToMessage\(event, ?['\"]?(\d{1,25})")
_CHANNEL = re.compile(r" \[(\d{5,25})\][^/]*$")  # "Gardeners - beds [123456] [part 2].html"
_NUMBER = re.compile(r"\d{1,25}", re.ASCII)
# What an element is whose class begins so ("-" for none), the more particular first.
_ROLES = word_pairs("""
    chatlog__system-notification notice
    chatlog__edited-timestamp    edited
    chatlog__author-tag          bot
    chatlog__bot-tag             bot
    chatlog__reply               reply
    chatlog__reference           reply
    chatlog__short-timestamp     stamp
    chatlog__timestamp           stamp
    chatlog__embed-title         title
    chatlog__embed-description   caption
    chatlog__reaction-count      count
    chatlog__reaction-emoji      emoji
    chatlog__reactions           -
    chatlog__reaction            reaction
    chatlog__attachment          -
    chatlog__sticker             -
    chatlog__embed               -
    msg-attachment               -
    chatlog__content             text
    msg-edited                   edited
    msg-date                     stamp
    msg-content                  text
""")
# What the exporter writes for notices; its CSV has no column that tells them.
_EXPORTER = re.compile(
    r"Added a recipient\.|Added .{1,80} to the group\.|Removed a recipient\.|Left the group\.|"
    r"Removed .{1,80} from the group\.|Started a call that lasted [\d.,\s]{1,12} minutes\.|"
    r"Changed the channel name(?:\.|: .{1,120})|Changed the channel icon\.|Pinned a message\.|"
    r"Started a thread\.|Joined the server\.|A poll has closed\."
)
_NUMERIC = re.compile(r"\s*(\d{1,4})[./-]\d{1,2}[./-]\d{1,4},? \d{1,2}:\d\d")
_GROUPS = frozenset(("chatlog__message-group", "msg"))
_NAMES = ("chatlog__author", "chatlog__author-name", "msg-user")
# Server and channel, of every age.
_PREAMBLE = word_set("preamble__entry info__guild-name info__channel-name guild-name channel-name")
# The order of the parts of a message, where no tag is around them: an earlier one begins another.
_PARTS = {
    "chatlog__content": 0,
    "msg-content": 0,
    "chatlog__attachment": 1,
    "msg-attachment": 1,
    "chatlog__embed": 2,
    "chatlog__reactions": 3,
}
_ONCE = (0, 3)  # parts that a message has one of
# What kind of file an element of such a class is.
_FILES = word_pairs("""
    chatlog__attachment
    msg-attachment
    chatlog__sticker    sticker
    chatlog__embed      link
""")
# Cards that are a file.
_SHOWN = word_pairs("""
    image image
    video video
    gifv  video
""")


def _is_page(member: Member) -> bool:
    """Whether the head of a page is the exporter's; its styles come first and are long."""
    text = decode(member.head(_PAGE_HEAD))
    if "chatlog__message" in text:
        return "preamble" in text or "info__" in text or "chatlog__author-name" in text
    return all(name in text for name in ("msg-user", "msg-date", "msg-content"))


def _read_pages(members: list[Member], export: Export) -> None:
    """One chat per channel."""
    pages = [(member, *_page(member)) for member in members]
    stamps = [message.stamp for _, _, messages, _ in pages for message in messages]
    order = export.options.dates or _date_order(stamps)
    for member, title, messages, notices in pages:
        channel = _CHANNEL.search(member.name)
        key = channel[1] if channel else f"/{member.name}"
        draft = export.draft(key, title or member.stem)
        draft.notice(notices)
        for place, message in enumerate(messages, 1):
            entry = message.entry(order)
            entry.where = f"{member.name}, message {entry.id or place}"
            # Old pages have no other mark of a notice than its words.
            _add(draft, entry, likely=message.is_old and not entry.attachments)


def _add(draft: Draft, entry: Entry, *, likely: bool) -> None:
    """Adds an entry that may be the exporter's words for what the app wrote, or for a call."""
    notice = likely and _EXPORTER.fullmatch(entry.text) is not None
    entry.call = notice and entry.text.startswith("Started a call")
    if notice and not entry.call:
        draft.notice()
    else:
        draft.add(entry)


def _date_order(stamps: list[str]) -> DateOrder:
    """Day or month first, as the largest numbers of the file allow; month where they do not."""
    firsts = (int(match[1]) for stamp in stamps if (match := _NUMERIC.match(stamp)))
    return "dmy" if any(12 < first <= 31 for first in firsts) else "mdy"


def _parse_date(text: str, order: DateOrder) -> datetime | None:
    """A date in the exporter's own way of writing: 01-May-24 09:30 AM, 5/1/2024 9:30 AM."""
    for form in ("%d-%b-%y %I:%M %p", "%d-%b-%Y %I:%M %p", "%d-%b-%y %H:%M"):
        try:
            return datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    return parse_spelled(text, order) if _NUMERIC.match(text) else None


def _is_wanted(element: Element, around: list[Element]) -> bool:
    """Whether it is a group, a message with a number, a heading, or a part that lost its group."""
    begins = _GROUPS | _PREAMBLE
    if not around or around[0].classes & _PREAMBLE:
        begins |= _PARTS.keys() | set(_NAMES)
    return not element.classes.isdisjoint(begins) or "data-message-id" in element.attributes


def _page(member: Member) -> tuple[str, list[_Message], int]:
    """The title of a page, its messages, and how many notices it has."""
    heading: list[str] = []  # the server, the channel, its topic
    groups = [(Element(""), list[Element]())]  # each with its messages that have numbers
    for element in page_elements(member, _is_wanted):
        if not element.classes.isdisjoint(_PREAMBLE):
            heading.append(element.text())
        elif not element.classes.isdisjoint(_GROUPS):
            groups.append((element, []))
        elif "data-message-id" in element.attributes:
            groups[-1][1].append(element)
        else:
            groups[-1][0].parts.append(element)
    every = [message for group in groups for message in _messages(*group)]
    said = [message for message in every if "notice" not in message.parts]
    title = one_line("".join(heading[:2][-1:]).rpartition(" / ")[2])
    return title, said, len(every) - len(said)


Parts = dict[str, list[Element]]  # elements by what they are


class _Message(NamedTuple):
    """One message, and what stands in its group only."""

    element: Element
    parts: Parts
    author: Element
    is_bot: bool
    is_old: bool  # its author stands before all messages of the group

    @property
    def stamp(self) -> str:
        stamps = self.parts.get("stamp", [])
        titles = [stamp.attributes["title"] for stamp in stamps if "title" in stamp.attributes]
        return "".join(titles[-1:]) or one_line(_said(stamps[:1]))

    def entry(self, order: DateOrder) -> Entry:
        number = self.element.get("data-message-id")
        sent = int(number) if _NUMBER.fullmatch(number) else 0
        time = from_number((sent >> 22) + _EPOCH, 1000) if sent > _SMALLEST else None
        name, about = one_line(_said([self.author])), self.author.attributes
        also = about.get("title", "")
        clicks = (
            part.get("onclick")
            for reply in self.parts.get("reply", ())
            for part in (reply, *reply.inside())
        )
        answered = _ANSWERED.search(" ".join(clicks))
        return Entry(
            about.get("data-user-id") or (also if self.is_old else ""),
            name,
            time or _parse_date(self.stamp, order),
            _said(self.parts.get("text", ())).strip(),
            id=number,
            attachments=tuple(
                _file(element, kind)
                for element in self.element.inside()
                for class_name, kind in _FILES.items()
                if class_name in element.classes and element.name != "img"
            ),
            reply_to=answered[1] if answered else "",
            edited="edited" in self.parts,
            extra=reactions(map(_mark, self.parts.get("reaction", ()))) | {"bot": self.is_bot},
            also=also if also != name else "",
        )


def _role(element: Element) -> str:
    """What an element is; "" where its class does not tell."""
    roles = (
        role
        for begins, role in _ROLES.items()
        for name in element.classes
        if name.startswith(begins)
    )
    return next(roles, "") if element.classes else ""


def _parts(elements: Iterable[Element]) -> Parts:
    return grouped((_role(element), element) for element in elements)


def _messages(group: Element, numbered: list[Element]) -> Iterator[_Message]:
    """The messages of a group. Those without numbers are parts that stand beside each other."""
    around = list(group.inside())
    is_old = bool(group.having(*_NAMES))
    author = next((name for part in (group, *numbered) for name in _authors(part)), Element(""))
    above = _parts(around)
    is_bot = "bot" in above
    for message in (*numbered, *(_bundles(around) if is_old else ())):
        parts = _parts(message.inside())
        if "stamp" not in parts:
            parts["stamp"] = above.get("stamp", [])
        if numbered:  # the first of them answers what stands above
            parts.setdefault("reply", above.pop("reply", []))
        author = next(_authors(message), author)
        is_bot |= "bot" in parts
        yield _Message(message, parts, author, is_bot, is_old)


def _authors(element: Element) -> Iterator[Element]:
    return (name for name in element.having(*_NAMES) if _said([name]).strip())


def _bundles(elements: list[Element]) -> list[Element]:
    """Messages of parts that follow each other: one that stands too early begins another."""
    bundles: list[Element] = []
    last = len(_PARTS)
    for element in elements:
        # One whose end is lost holds those that follow it.
        element.parts = [
            each
            for each in element.parts
            if isinstance(each, str) or each.name == "img" or each.classes.isdisjoint(_PARTS)
        ]
        part = next((_PARTS[name] for name in element.classes if name in _PARTS), None)
        if part is None or element.name == "img":
            continue
        if part < last or (part == last and part in _ONCE):
            bundles.append(Element("div"))
        bundles[-1].parts.append(element)
        last = part
    return bundles


def _said(elements: Iterable[Element]) -> str:
    """What stands in some elements, without what is something else."""
    return "".join(element.text(_in_text) for element in elements)


def _in_text(element: Element) -> str | None:
    """What stands in a text for an emoji, which is a picture, and for what is not of the text."""
    if element.name == "img":
        return element.get("alt") or element.get("title")
    return "" if _role(element) else None


def _mark(element: Element) -> tuple[str, tuple[()], str]:
    """An emoji, and how often it was given."""
    counts = _said(element.having("chatlog__reaction-count")[:1])
    emoji = (inner for inner in element.inside() if inner.name == "img" or _role(inner) == "emoji")
    drawn = (_in_text(inner) if inner.name == "img" else inner.text().strip() for inner in emoji)
    title = element.get("title")
    return title or next(filter(None, drawn), ""), (), counts.strip() or "1"


def _file(element: Element, kind: str) -> Attachment:
    """A file, a sticker or a card."""
    roles: dict[str, Element] = {}
    urls: list[str] = []
    for inner in (element, *element.inside()):
        roles.setdefault(_role(inner), inner)
        address = inner.get("href") or inner.get("src")
        is_icon = any(name.endswith(("-icon", "-thumbnail")) for name in inner.classes)
        # The preview of a file stands in a link to it.
        if address and not address.startswith("#") and not is_icon:
            urls.append(address)
        for name in inner.classes:
            if name.startswith("chatlog__embed-generic-"):
                kind = _SHOWN.get(name.rpartition("-")[2], kind)
    title, caption = (roles.get(role, Element("")) for role in ("title", "caption"))
    # A card's title has the best address.
    best = (part.get("href") for part in (title, *title.inside()))
    url = next(filter(None, (*best, *urls)), "")
    if kind == "link":
        return Attachment("link", title.line(), url, caption.text().strip())
    return make_attachment(url, kind, title.line())


# Discord's own data package into chats: only what the package's owner wrote.
#
#     messages/index.json              {"123": "general in Gardeners"}
#     messages/c123/channel.json       {"id": "123", "type": 0, "name": "general"}
#     messages/c123/messages.json      [{"ID": 41, "Timestamp": "2024-05-01 09:30:00",
#                                        "Contents": "hi", "Attachments": ""}]
#     account/user.json                {"username": "ann", "global_name": "Ann"}
#     → Chat("general in Gardeners") with one message of Ann ("me" without user.json)
#
# Older packages have messages.csv with the same columns. Times are UTC.

_PACKAGE_HEAD = re.compile(r'"?ID"?,"?Timestamp"?,"?Contents"?')
_FILE = re.compile(r"(?:^|/)messages\.(?:json|csv)$", re.I)
_FOLDER = re.compile(r"(?:^|/)c?(\d{1,25})/messages\.(?:json|csv)$", re.I)


def _holds_package(source: Source) -> bool:
    """Whether any member is a channel of a data package."""
    return any(matching(source, (".json", ".csv"), _is_package_channel, name=_FILE))


def _is_package_channel(member: Member) -> bool:
    if member.suffix == ".csv":
        return _PACKAGE_HEAD.match(head_text(member)) is not None
    return {"ID", "Timestamp", "Contents"} <= head_keys(member)


def _read_package(export: Export) -> None:
    """Every channel of the package."""
    source = export.source
    user = _file_content(source, "/user.json")
    titles = _file_content(source, "messages/index.json")
    entry = partial(
        _package_entry,
        owner_id=text_at(user, "id"),
        owner=text_at(user, "global_name", "username") or "me",
    )
    for member in matching(source, (".json", ".csv"), _is_package_channel, limit=0, name=_FILE):
        folder = _FOLDER.search(member.name)
        number = folder[1] if folder else ""
        title = text_at(titles, number) or (f"channel {number}" if number else member.stem)
        extra = {"id": number} if number else {}
        draft = export.draft(member.name, title, newest_first=True, extra=extra)
        if member.suffix == ".json":
            draft.fill(load_list(member), f"{member.name}, ", entry)
        else:
            (_, header), *rows = [(place, row) for place, row in table_rows(member) if row]
            for place, row in rows:
                draft.take(entry(dict(zip(header, row, strict=False))), place)


def _file_content(source: Source, name: str) -> Fields:
    for member in source.having(".json"):
        if f"/{member.name.lower()}".endswith(name):
            return load_beside(member)
    return {}


def _package_entry(row: Fields, owner_id: str, owner: str) -> Entry:
    return Entry(
        owner_id,
        owner,
        from_utc(from_stamp(row.get("Timestamp"))),
        text_at(row, "Contents"),
        id=text_at(row, "ID"),
        attachments=tuple(make_attachment(url) for url in text_at(row, "Attachments").split()),
        odd=odd_at(row, "Contents"),
    )


# By name, or by number where the exporter had none: default, reply and the two commands. All
# others are notices: joins, pins, calls, boosts, threads, polls that closed.
_SAID = word_set("Default Reply ChatInputCommand ContextMenuCommand 0 19 20 23") | {""}
_CALLS = frozenset({"Call", "3"})
_CSV_HEAD = re.compile(r'"?AuthorID"?,"?Author"?,"?Date"?,"?Content"?', re.I)
_PAGE_HEAD = 1 << 18  # bytes: a page begins with its styles
_MENTION = re.compile(r"<@!?(\d{1,25})>")
_EMOJI = re.compile(r"<a?(:\w{1,40}:)\d{1,25}>")
_COUNTED = re.compile(r"(.+?) \((\d{1,9})\)$")


_CHANNELS = FormatFiles(
    (".json",),
    with_keys("guild channel", "messages dateRange exportedAt"),
    "no channel of DiscordChatExporter found",
    "export the channel as JSON",
)


_TABLES = FormatFiles((".csv",), lambda member: bool(_CSV_HEAD.match(head_text(member))))
_PAGES = FormatFiles((".html", ".htm"), _is_page, most=64)


def _read(export: Export) -> None:
    source = export.source
    has_channels = any(_CHANNELS.find(source))
    tables = tuple(_TABLES.find(source))
    if not has_channels and not tables:
        if _holds_package(source):
            export.notes.append("a Discord data package holds its owner's messages only")
            _read_package(export)
            return
        if pages := list(_PAGES.find(source)):
            _read_pages(pages, export)
            return
    for member in export if has_channels or not tables else ():
        file = load_export(member)
        channel = object_at(file, "channel")
        extra = {key: text_at(channel, key) for key in ("category", "type", "id", "topic")}
        extra["guild"] = text_at(file, "guild/name")
        name = text_at(channel, "name") or member.stem
        draft = export.draft(extra["id"] or f"/{member.name}", name, extra=extra)
        draft.fill(file["messages"], f"{member.name}, messages", _entry)
    for member in tables:
        _read_table(member, export)


def _entry(item: Fields) -> Entry | None:
    kind, author = text_at(item, "type"), object_at(item, "author")
    number, time = text_at(item, "id"), from_stamp(item.get("timestamp"))
    if kind in _CALLS:
        return Entry(text_at(author, "id"), _display_name(author), time, "", id=number, call=True)
    if kind not in _SAID:
        return None
    forwarded = object_at(item, "forwardedMessage")
    marks = (
        (
            text_at(mark, "emoji/name"),
            [_display_name(user) for user in objects_at(mark, "users")],
            mark.get("count"),
        )
        for mark in objects_at(item, "reactions")
    )
    extra = {
        "bot": author.get("isBot") is True,
        "pinned": item.get("isPinned") is True,
        "forwarded": bool(forwarded),
        "edited": text_at(item, "timestampEdited"),
        "mentions": [_display_name(person) for person in objects_at(item, "mentions")],
    }
    return Entry(
        text_at(author, "id"),
        _display_name(author),
        time,
        _text(item) or _text(forwarded),
        id=number,
        attachments=(*_attachments(item), *_attachments(forwarded)),
        reply_to="" if forwarded else text_at(item, "reference/messageId"),
        edited=bool(extra["edited"]),
        extra=reactions(marks) | extra,
        also=text_at(author, "name"),
        odd=odd_at(item, "content") or odd_at(forwarded, "content"),
    )


def _text(item: Fields) -> str:
    """What was written; an export without the exporter's markdown names people by id."""
    names = {
        text_at(person, "id"): _display_name(person) for person in objects_at(item, "mentions")
    }
    return _MENTION.sub(
        lambda match: f"@{names[match[1]]}" if names.get(match[1]) else match[0],
        _EMOJI.sub(r"\1", text_at(item, "content")),
    )


def _display_name(person: Fields) -> str:
    return text_at(person, "nickname", "name")


def _attachments(item: Fields) -> Iterator[Attachment]:
    for file in objects_at(item, "attachments"):
        yield make_attachment(file.get("url"), name=file.get("fileName"))
    for sticker in objects_at(item, "stickers"):
        yield make_attachment(sticker.get("sourceUrl"), "sticker", sticker.get("name"))
    for embed in objects_at(item, "embeds"):
        # Bots post tables, too.
        fields = [field for field in objects_at(embed, "fields") if text_at(field, "value")]
        rows = [f"{text_at(field, 'name')}: {text_at(field, 'value')}" for field in fields]
        caption = "\n".join(filter(None, (text_at(embed, "description"), *rows)))
        title = text_at(embed, "title") or text_at(embed, "author/name")
        url = text_at(embed, "url")
        if title or url or caption:
            yield Attachment("link", title, url, caption)
        pictures = [embed.get("image"), *objects_at(embed, "images")]
        urls = dict.fromkeys(text_at(mapping(picture), "url") for picture in pictures)
        for picture in filter(None, urls):
            yield make_attachment(picture, "image")


def _read_table(member: Member, export: Export) -> None:
    draft = export.draft(f"/{member.name}", member.stem)
    rows = [(where, row) for where, row in table_rows(member)[1:] if row]
    order = export.options.dates or _date_order([row[2] for _, row in rows if len(row) > 2])
    for where, row in rows:
        if len(row) < 4:
            draft.leave(where, "too few columns")
            continue
        author, name, stamp, text, files, marks = (*row, "", "")[:6]
        entry = Entry(
            author,
            name,
            from_stamp(stamp) or _parse_date(stamp, order),
            text,
            attachments=tuple(
                make_attachment(url.strip()) for url in files.split(",") if url.strip()
            ),
            extra=reactions(map(_counted, marks.split(","))),
            where=where,
        )
        _add(draft, entry, likely=not files)


def _counted(mark: str) -> tuple[str, tuple[()], str]:
    match = _COUNTED.fullmatch(mark.strip())
    return (match[1], (), match[2]) if match else (mark.strip(), (), "1")


FORMAT = export_format(
    "Discord (DiscordChatExporter, data package)",
    "discord",
    _CHANNELS,
    _read,
    _TABLES.sniff,
    _holds_package,
    _PAGES.sniff,
)
