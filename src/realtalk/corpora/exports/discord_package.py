"""Discord's own data package into chats: only what the package's owner wrote.

    messages/index.json              {"123": "general in Gardeners"}
    messages/c123/channel.json       {"id": "123", "type": 0, "name": "general"}
    messages/c123/messages.json      [{"ID": 41, "Timestamp": "2024-05-01 09:30:00",
                                       "Contents": "hi", "Attachments": ""}]
    account/user.json                {"username": "ann", "global_name": "Ann"}
    → Chat("general in Gardeners") with one message of Ann ("me" without user.json)

Older packages have messages.csv with the same columns. Times are UTC.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from realtalk.corpora.exports.assembly import Draft, Entry, assemble
from realtalk.corpora.exports.values import attached, from_stamp, scalar, text_at
from realtalk.corpora.json_input import decoded, head_keys, head_text, is_odd, load, mapping, zone
from realtalk.corpora.reading import Reading, ReadOptions
from realtalk.corpora.source import Member, Source, matching
from realtalk.errors import RealtalkError

_CSV_HEAD = re.compile(r'"?ID"?,"?Timestamp"?,"?Contents"?')
_FILE = re.compile(r"(?:^|/)messages\.(?:json|csv)$", re.I)
_FOLDER = re.compile(r"(?:^|/)c?(\d{1,25})/messages\.(?:json|csv)$", re.I)


def sniff(source: Source) -> bool:
    """Whether any member is a channel of a data package."""
    return any(matching(source, (".json", ".csv"), _is_channel, named=_FILE))


def _is_channel(member: Member) -> bool:
    if member.suffix == ".csv":
        return _CSV_HEAD.match(head_text(member)) is not None
    return {"ID", "Timestamp", "Contents"} <= head_keys(member)


def read(source: Source, options: ReadOptions) -> Reading:
    """Every channel of the package."""
    user = _named(source, "/user.json")
    titles = _named(source, "messages/index.json")
    entry = partial(
        _entry,
        owner_id=text_at(user, "id"),
        owner=text_at(user, "global_name", "username") or "me",
        tz=zone(options.timezone),
    )
    drafts = []
    for member in matching(source, (".json", ".csv"), _is_channel, limit=0, named=_FILE):
        folder = _FOLDER.search(member.name)
        number = folder[1] if folder else ""
        title = text_at(titles, number) or (f"channel {number}" if number else member.stem)
        draft = Draft(title, newest_first=True, extra={"id": number} if number else {})
        if member.suffix == ".json":
            items = load(member)
            if not isinstance(items, list):
                raise RealtalkError("not a list of messages", where=member.where)
            draft.fill(items, f"{member.name}, ", entry)
        else:
            header, *rows = filter(None, table_rows(member))
            for place, row in enumerate(rows, 2):
                message = entry(dict(zip(header, row, strict=False)))
                message.where = f"{member.name}, row {place}"
                draft.add(message)
        drafts.append(draft)
    notes = ["a Discord data package holds its owner's messages only"]
    return assemble(source, "discord", drafts, options, notes)


def table_rows(member: Member) -> list[list[str]]:
    """The rows of a CSV file, its header among them."""
    try:
        return list(csv.reader(io.StringIO(decoded(member.read()), newline="")))
    except csv.Error as error:
        raise RealtalkError("not a readable CSV table", where=member.where) from error


def _named(source: Source, name: str) -> dict[str, Any]:
    for member in source.having(".json"):
        if f"/{member.name.lower()}".endswith(name):
            try:
                return mapping(load(member))
            except RealtalkError:
                return {}  # the messages can be read without it
    return {}


def _entry(row: dict[str, Any], owner_id: str, owner: str, tz: ZoneInfo | None) -> Entry:
    return Entry(
        owner_id,
        owner,
        _time(row.get("Timestamp"), tz),
        text_at(row, "Contents"),
        id=text_at(row, "ID"),
        attachments=tuple(attached(url) for url in text_at(row, "Attachments").split()),
        odd=is_odd(row.get("Contents")),
    )


def _time(value: Any, tz: ZoneInfo | None) -> datetime | None:
    """Without an offset these stamps are UTC."""
    written = from_stamp(value, None)
    if written is None or tz is None:
        return written
    try:
        aware = datetime.fromisoformat(scalar(value).strip())
        aware = aware if aware.tzinfo is not None else aware.replace(tzinfo=UTC)
        return aware.astimezone(tz).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return written
