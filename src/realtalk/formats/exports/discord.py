"""Discord channels, as DiscordChatExporter writes them, into chats.

    {"guild": {...}, "channel": {"id": "5", "name": "general"}, "messages": [
      {"id": "41", "type": "Default", "timestamp": "2024-05-01T09:30:00+00:00",
       "content": "hi", "author": {"id": "7", "name": "ann", "nickname": "Ann"}}]}
    AuthorID,Author,Date,Content,Attachments,Reactions        (its CSV)
    <div class=chatlog__message-container data-message-id=41> (its HTML, `discord_html`)
    → Chat("general") with one message of Ann

Files of one channel (parts, or exports of several date ranges) are joined, and a message
that stands in two of them is taken once. Discord's own data package holds only what its owner
wrote.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from functools import partial

from realtalk.chat import Attachment
from realtalk.formats.exports import discord_html
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.json_input import (
    Fields,
    decode,
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
    word_set,
)
from realtalk.formats.source import FormatFiles, Member, Source, matching

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


def table_rows(member: Member) -> list[tuple[str, list[str]]]:
    """The rows of a CSV file, its header among them, each with its place."""
    try:
        rows = list(csv.reader(io.StringIO(decode(member.read()), newline="")))
    except csv.Error as error:
        raise member.error("not a readable CSV table") from error
    return [(f"{member.name}, row {number}", row) for number, row in enumerate(rows, 1)]


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
_PAGES = FormatFiles(
    (".html", ".htm"),
    lambda member: discord_html.is_page(decode(member.head(_PAGE_HEAD))),
    most=64,
)


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
            discord_html.read_pages(pages, export)
            return
    for member in export if has_channels or not tables else ():
        channel = load_export(member)
        draft = _channel(channel, member, export)
        draft.fill(channel["messages"], f"{member.name}, messages", _entry)
    for member in tables:
        _read_table(member, export)


def _channel(file: Fields, member: Member, export: Export) -> Draft:
    channel = object_at(file, "channel")
    extra = {key: text_at(channel, key) for key in ("category", "type", "id", "topic")}
    extra["guild"] = text_at(file, "guild/name")
    name = text_at(channel, "name") or member.stem
    return export.draft(extra["id"] or f"/{member.name}", name, extra=extra)


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
    order = export.options.dates or discord_html.date_order(
        [row[2] for _, row in rows if len(row) > 2]
    )
    for where, row in rows:
        if len(row) < 4:
            draft.leave(where, "too few columns")
            continue
        author, name, stamp, text, files, marks = (*row, "", "")[:6]
        entry = Entry(
            author,
            name,
            from_stamp(stamp) or discord_html.parse_date(stamp, order),
            text,
            attachments=tuple(
                make_attachment(url.strip()) for url in files.split(",") if url.strip()
            ),
            extra=reactions(_parse_reaction(mark.strip()) for mark in marks.split(",")),
            where=where,
        )
        discord_html.add(draft, entry, likely=not files)


def _parse_reaction(mark: str) -> tuple[str, tuple[()], int]:
    match = _COUNTED.fullmatch(mark)
    return (match[1], (), int(match[2])) if match else (mark, (), 1)


FORMAT = export_format(
    "Discord (DiscordChatExporter, data package)",
    "discord",
    _CHANNELS,
    _read,
    _TABLES.sniff,
    _holds_package,
    _PAGES.sniff,
)
