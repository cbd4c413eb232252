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
from typing import TYPE_CHECKING, Any

from realtalk.corpora.exports.assembly import Draft, Entry, assemble
from realtalk.corpora.exports.values import attached, from_stamp, mapping, scalar
from realtalk.corpora.json_input import decoded, head_keys, head_text, load, zone
from realtalk.corpora.source import matching
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from realtalk.corpora.reading import Reading, ReadOptions
    from realtalk.corpora.source import Member, Source

__all__ = ["read", "sniff"]

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
    tz = zone(options.timezone)
    owner_id, owner = _owner(source)
    titles = _titles(source)
    drafts = []
    for member in matching(source, (".json", ".csv"), _is_channel, limit=0, named=_FILE):
        folder = _FOLDER.search(member.name)
        number = folder[1] if folder else ""
        draft = Draft(titles.get(number) or (f"channel {number}" if number else member.stem))
        draft.newest_first = True
        draft.extra = {"id": number} if number else {}
        for where, row in _rows(member):
            if row is None:
                draft.leave(where, "not an object")
            else:
                draft.add(_entry(row, where, owner_id, owner, tz))
        drafts.append(draft)
    notes = ["a Discord data package holds its owner's messages only"]
    return assemble(source, "discord", drafts, options, notes)


def _named(source: Source, name: str) -> dict[str, Any]:
    for member in source.having(".json"):
        if f"/{member.name.lower()}".endswith(name):
            try:
                return mapping(load(member))
            except RealtalkError:
                return {}  # the messages can be read without it
    return {}


def _owner(source: Source) -> tuple[str, str]:
    user = _named(source, "/user.json")
    name = scalar(user.get("global_name")) or scalar(user.get("username"))
    return scalar(user.get("id")), name or "me"


def _titles(source: Source) -> dict[str, str]:
    return {key: scalar(title) for key, title in _named(source, "messages/index.json").items()}


def _rows(member: Member) -> list[tuple[str, dict[str, Any] | None]]:
    if member.suffix == ".json":
        items = load(member)
        if not isinstance(items, list):
            raise RealtalkError("not a list of messages", where=member.where)
        return [
            (f"{member.name}, [{index}]", item if isinstance(item, dict) else None)
            for index, item in enumerate(items)
        ]
    text = decoded(member.read())
    try:
        table = list(csv.DictReader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise RealtalkError("not a readable CSV table", where=member.where) from error
    return [(f"{member.name}, row {number}", row) for number, row in enumerate(table, 2)]


def _entry(
    row: dict[str, Any], where: str, owner_id: str, owner: str, tz: ZoneInfo | None
) -> Entry:
    files = scalar(row.get("Attachments")).split()
    return Entry(
        owner_id,
        owner,
        _time(row.get("Timestamp"), tz),
        scalar(row.get("Contents")),
        id=scalar(row.get("ID")),
        attachments=tuple(attached(url) for url in files),
        where=where,
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
