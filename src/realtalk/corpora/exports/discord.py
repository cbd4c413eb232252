"""Discord channels, as DiscordChatExporter writes them, into chats.

    {"guild": {...}, "channel": {"id": "5", "name": "general"}, "messages": [
      {"id": "41", "type": "Default", "timestamp": "2024-05-01T09:30:00+00:00",
       "content": "hi", "author": {"id": "7", "name": "ann", "nickname": "Ann"}}]}
    AuthorID,Author,Date,Content,Attachments,Reactions        (its CSV)
    <div class=chatlog__message-container data-message-id=41> (its HTML, `discord_html`)
    → Chat("general") with one message of Ann

Files of one channel (parts, or exports of several date ranges) are joined, and a message
that stands in two of them is taken once. Discord's own data package, which holds only what
its owner wrote, is read by `discord_package`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports import discord_html, discord_package
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.corpora.exports.values import (
    attached,
    filled,
    from_stamp,
    object_at,
    records,
    text_at,
)
from realtalk.corpora.json_input import decoded, head_keys, head_text, is_odd, load, mapping, zone
from realtalk.corpora.reading import DateOrder, Format, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, matching
from realtalk.errors import RealtalkError

# By name, or by number where the exporter had none: default, reply and the two commands. All
# others are notices: joins, pins, calls, boosts, threads, polls that closed.
_SAID = frozenset(
    {"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23", ""}
)
_CALLS = frozenset({"Call", "3"})
# What the exporter writes for notices; its CSV has no column that tells them.
_EXPORTER = re.compile(
    r"Added a recipient\.|Added .{1,80} to the group\.|Removed a recipient\.|Left the group\.|"
    r"Removed .{1,80} from the group\.|Started a call that lasted [\d.,\s]{1,12} minutes\.|"
    r"Changed the channel name(?:\.|: .{1,120})|Changed the channel icon\.|Pinned a message\.|"
    r"Started a thread\.|Joined the server\.|A poll has closed\."
)
_CSV_HEAD = re.compile(r'"?AuthorID"?,"?Author"?,"?Date"?,"?Content"?', re.I)
_PAGES = (".html", ".htm")
_PAGE_HEAD = 1 << 18  # bytes: a page begins with its styles
_MENTION = re.compile(r"<@!?(\d{1,25})>")
_EMOJI = re.compile(r"<a?(:\w{1,40}:)\d{1,25}>")
_COUNTED = re.compile(r"(.+?) \((\d{1,9})\)$")
_NUMERIC = re.compile(r"(\d{1,4})[./-](\d{1,2})[./-](\d{1,4}),? (\d{1,2}):(\d\d)(?::(\d\d))?(.*)")


def _sniff(source: Source) -> bool:
    return (
        any(matching(source, (".json",), _is_channel))
        or any(matching(source, (".csv",), _is_csv))
        or discord_package.sniff(source)
        or any(matching(source, _PAGES, _is_page, limit=64))
    )


def _is_channel(member: Member) -> bool:
    keys = head_keys(member)
    return {"guild", "channel"} <= keys and bool(keys & {"messages", "dateRange", "exportedAt"})


def _is_csv(member: Member) -> bool:
    return _CSV_HEAD.match(head_text(member)) is not None


def _is_page(member: Member) -> bool:
    return discord_html.is_page(decoded(member.head(_PAGE_HEAD)))


def _read(source: Source, options: ReadOptions) -> Reading:
    tz = zone(options.timezone)
    channels = tuple(matching(source, (".json",), _is_channel, limit=0))
    tables = tuple(matching(source, (".csv",), _is_csv, limit=0))
    if not channels and not tables:
        if discord_package.sniff(source):
            return discord_package.read(source, options)
        if pages := list(matching(source, _PAGES, _is_page, limit=0)):

            def dates(stamps: list[str]) -> Callable[[str], datetime | None]:
                return partial(_written, order=options.dates or _date_order(stamps))

            chats = discord_html.drafts(pages, tz, dates, _is_notice)
            return assemble(source, "discord", chats, options)
        channels = source.having(".json") if len(source.members) == 1 else ()
    if not channels and not tables:
        raise RealtalkError(
            "no channel of DiscordChatExporter found",
            where=str(source.path),
            fix="export the channel as JSON",
        )
    drafts: dict[str, Draft] = {}
    for member in channels:
        export = mapping(load(member))
        if not isinstance(export.get("messages"), list):
            raise RealtalkError("no list of 'messages'", where=member.where)
        number = text_at(object_at(export, "channel"), "id")
        draft = drafts.setdefault(number or f"/{member.name}", _channel(export, member))
        draft.fill(export["messages"], f"{member.name}, messages", partial(_entry, tz=tz))
    for member in tables:
        drafts[f"/{member.name}"] = _table(member, options, tz)
    return assemble(source, "discord", list(drafts.values()), options)


def _channel(export: dict[str, Any], member: Member) -> Draft:
    channel = object_at(export, "channel")
    extra = {key: text_at(channel, key) for key in ("category", "type", "id", "topic")}
    extra["guild"] = text_at(object_at(export, "guild"), "name")
    return Draft(text_at(channel, "name") or member.stem, extra=filled(extra))


def _entry(item: dict[str, Any], tz: ZoneInfo | None) -> Entry | None:
    kind, author = text_at(item, "type"), object_at(item, "author")
    number, time = text_at(item, "id"), from_stamp(item.get("timestamp"), tz)
    if kind in _CALLS:
        return Entry(text_at(author, "id"), _shown(author), time, "", id=number, call=True)
    if kind not in _SAID:
        return None
    forwarded = object_at(item, "forwardedMessage")
    extra = {
        "bot": author.get("isBot") is True,
        "pinned": item.get("isPinned") is True,
        "forwarded": bool(forwarded),
        "edited": text_at(item, "timestampEdited"),
        "mentions": [_shown(person) for person in records(item.get("mentions"))],
    }
    return Entry(
        text_at(author, "id"),
        _shown(author),
        time,
        _text(item) or _text(forwarded),
        id=number,
        attachments=(*_attachments(item), *_attachments(forwarded)),
        reply_to="" if forwarded else text_at(object_at(item, "reference"), "messageId"),
        edited=bool(extra["edited"]),
        extra=_reactions(item) | filled(extra),
        also=text_at(author, "name"),
        odd=is_odd(item.get("content")) or is_odd(forwarded.get("content")),
    )


def _text(item: dict[str, Any]) -> str:
    """What was written; an export without the exporter's markdown names people by id."""
    names = {text_at(person, "id"): _shown(person) for person in records(item.get("mentions"))}
    return _MENTION.sub(
        lambda match: f"@{names[match[1]]}" if names.get(match[1]) else match[0],
        _EMOJI.sub(r"\1", text_at(item, "content")),
    )


def _shown(person: dict[str, Any]) -> str:
    return text_at(person, "nickname", "name")


def _reactions(item: dict[str, Any]) -> dict[str, Any]:
    return reactions(
        (
            text_at(object_at(reaction, "emoji"), "name"),
            [_shown(user) for user in records(reaction.get("users"))],
            reaction.get("count"),
        )
        for reaction in records(item.get("reactions"))
    )


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(item.get("attachments")):
        yield attached(file.get("url"), name=file.get("fileName"))
    for sticker in records(item.get("stickers")):
        yield attached(sticker.get("sourceUrl"), "sticker", sticker.get("name"))
    for embed in records(item.get("embeds")):
        # Bots post tables, too.
        fields = [field for field in records(embed.get("fields")) if text_at(field, "value")]
        rows = [f"{text_at(field, 'name')}: {text_at(field, 'value')}" for field in fields]
        caption = "\n".join(filter(None, (text_at(embed, "description"), *rows)))
        title = text_at(embed, "title") or text_at(object_at(embed, "author"), "name")
        url = text_at(embed, "url")
        if title or url or caption:
            yield Attachment("link", title, url, caption)
        pictures = [embed.get("image"), *records(embed.get("images"))]
        urls = dict.fromkeys(text_at(mapping(picture), "url") for picture in pictures)
        for picture in filter(None, urls):
            yield attached(picture, "image")


def _table(member: Member, options: ReadOptions, tz: ZoneInfo | None) -> Draft:
    draft = Draft(member.stem)
    rows = discord_package.table_rows(member)[1:]
    order = options.dates or _date_order([row[2] for row in rows if len(row) > 2])
    for number, row in enumerate(rows, 2):
        where = f"{member.name}, row {number}"
        if not row:
            continue
        if len(row) < 4:
            draft.leave(where, "too few columns")
            continue
        files, marks = (*row[4:6], "", "")[:2]
        notice = not files and _is_notice(row[3])
        called = notice and row[3].startswith("Started a call")
        if notice and not called:
            draft.notice()
            continue
        draft.add(
            Entry(
                row[0],
                row[1],
                from_stamp(row[2], tz) or _written(row[2], order),
                row[3],
                attachments=tuple(attached(url.strip()) for url in files.split(",") if url.strip()),
                extra=reactions(_counted(mark.strip()) for mark in marks.split(",")),
                where=where,
                call=called,
            )
        )
    return draft


def _counted(mark: str) -> tuple[str, tuple[()], int]:
    match = _COUNTED.fullmatch(mark)
    return (match[1], (), int(match[2])) if match else (mark, (), 1)


def _is_notice(text: str) -> bool:
    """Whether these are the exporter's words for what the app itself wrote."""
    return _EXPORTER.fullmatch(text) is not None


def _date_order(stamps: list[str]) -> DateOrder:
    """Day or month first, as the largest numbers of the file allow; month where they do not."""
    dates = [match for stamp in stamps if (match := _NUMERIC.fullmatch(stamp.strip()))]
    return "dmy" if any(12 < int(match[1]) <= 31 for match in dates) else "mdy"


def _written(text: str, order: DateOrder) -> datetime | None:
    """A date in the exporter's own way of writing: 01-May-24 09:30 AM, 5/1/2024 9:30 AM."""
    for form in ("%d-%b-%y %I:%M %p", "%d-%b-%Y %I:%M %p", "%d-%b-%y %H:%M"):
        try:
            return datetime.strptime(text.strip(), form)
        except ValueError:
            continue
    match = _NUMERIC.fullmatch(text.strip())
    if match is None:
        return None
    first, second, third, hour, minute = (int(match[index]) for index in range(1, 6))
    if len(match[1]) == 4:
        year, month, day = first, second, third
    else:
        day, month, year = (first, second, third) if order == "dmy" else (second, first, third)
    half = match[7].strip().lower().replace(".", "")
    if half in ("am", "pm"):
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return datetime(
            year + 2000 if year < 100 else year, month, day, hour, minute, int(match[6] or 0)
        )
    except ValueError:
        return None


FORMAT = Format(title="Discord (DiscordChatExporter, data package)", sniff=_sniff, read=_read)
