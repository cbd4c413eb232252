"""A Slack workspace export (zip or folder), or one day's file of it, into chats.

    users.json                [{"id": "U1", "profile": {"display_name": "ann"}}]
    channels.json             [{"id": "C1", "name": "general"}]     also groups, dms, mpims
    general/2024-05-01.json   [{"type": "message", "user": "U1", "ts": "1714548600.000100",
                                "text": "<@U1> &lt;3"}]
    → Chat("general") with one message "@ann <3"

One chat a channel. A message is named by its `ts`; an answer in a thread replies to the
thread's first message. A day's file alone has ids for names unless the entries tell more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, assemble, matching, reactions
from realtalk.corpora.exports.values import attached, from_number, mapping, records, scalar, whole
from realtalk.corpora.json_input import head_keys, head_text, load, zone
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from realtalk.corpora.source import Member, Source

__all__ = ["FORMAT"]

_DAY = re.compile(r"^(?:(?P<channel>.*)/)?\d{4}-\d\d-\d\d\.json(?:\.gz)?$")
_LISTS = ("channels", "groups", "dms", "mpims")
_SAID = frozenset(
    {
        *("", "bot_message", "file_share", "me_message", "thread_broadcast", "reply_broadcast"),
        *("file_comment", "file_mention", "tombstone"),
    }
)
_REFERENCE = re.compile(r"<([^<>\n]+)>")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def _sniff(source: Source) -> bool:
    return any(matching(source, (".json",), _is_day, named=_DAY)) or (
        len(source.members) == 1 and any(matching(source, (".json",), _is_day))
    )


def _is_day(member: Member) -> bool:
    keys = head_keys(member)
    if not head_text(member).lstrip().startswith("[") or not {"ts", "type"} <= keys:
        return False
    named = _DAY.match(member.name) is not None
    return bool(keys & {"user", "bot_id", "username", "subtype"}) and (named or "text" in keys)


def _read(source: Source, options: ReadOptions) -> Reading:
    tz = zone(options.timezone)
    days = tuple(member for member in source.having(".json") if _DAY.match(member.name))
    days = days or tuple(matching(source, (".json",), _is_day, limit=0))
    days = days or (source.having(".json") if len(source.members) == 1 else ())
    if not days:
        raise RealtalkError(
            "no day files (channel/2024-05-01.json) found",
            where=str(source.path),
            fix="give the workspace export as it was downloaded, or its unpacked folder",
        )
    names = _Names(source)
    drafts: dict[str, Draft] = {}
    for member in days:
        match = _DAY.match(member.name)
        folder = (match["channel"] or "").rsplit("/", 1)[-1] if match else member.stem
        items = load(member)
        if not isinstance(items, list):
            raise RealtalkError("not a list of messages", where=member.where)
        draft = drafts.setdefault(folder, names.draft(folder or source.name))
        for index, item in enumerate(items):
            where = f"{member.name}, [{index}]"
            if not isinstance(item, dict):
                draft.leave(where, "not an object")
            elif (
                item.get("type", "message") != "message" or scalar(item.get("subtype")) not in _SAID
            ):
                draft.system += 1
            else:
                draft.add(_entry(item, where, names, tz))
    return assemble(source, "slack", list(drafts.values()), options)


class _Names:
    """Who and what the ids of a workspace are."""

    def __init__(self, source: Source) -> None:
        self.people: dict[str, str] = {"USLACKBOT": "Slackbot"}
        self.channels: dict[str, str] = {}
        self.kinds: dict[str, tuple[str, dict[str, Any]]] = {}
        for user in self._list(source, "users"):
            name = _person(user)
            if name:
                self.people[scalar(user.get("id"))] = name
        for kind in _LISTS:
            for channel in self._list(source, kind):
                number, name = scalar(channel.get("id")), scalar(channel.get("name"))
                self.kinds.setdefault(name or number, (kind, channel))
                if name:
                    self.channels[number] = name

    @staticmethod
    def _list(source: Source, name: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for member in source.having(".json"):
            if len(source.members) > 1 and member.name.rsplit("/", 1)[-1] == f"{name}.json":
                found += records(load(member))
        return found

    def draft(self, folder: str) -> Draft:
        """A conversation without a name of its own is called after its members."""
        kind, channel = self.kinds.get(folder, ("", {}))
        given = channel.get("members")
        ids = [scalar(one) for one in given] if isinstance(given, list) else []
        people = [self.people.get(one, one) for one in ids]
        unnamed = kind in ("dms", "mpims") and people
        extra = {"kind": kind, "id": scalar(channel.get("id")), "members": people}
        extra["topic"] = scalar(mapping(channel.get("topic")).get("value"))
        return Draft(
            ", ".join(people) if unnamed else folder,
            extra={key: value for key, value in extra.items() if value},
        )

    def sender(self, item: dict[str, Any]) -> tuple[str, str]:
        user, bot = scalar(item.get("user")), scalar(item.get("bot_id"))
        told = self.people.get(user) or _person(mapping(item.get("user_profile")))
        if user and not (bot and scalar(item.get("subtype")) == "bot_message"):
            return user, told or user
        name = scalar(item.get("username")) or scalar(mapping(item.get("bot_profile")).get("name"))
        # One integration may speak under several names; each is a speaker of its own.
        return (f"{bot}/{name}" if bot and name else bot or user), name or told or bot


def _person(user: dict[str, Any]) -> str:
    profile = mapping(user.get("profile")) or user
    keys = ("display_name", "display_name_normalized", "real_name", "real_name_normalized", "name")
    return next(
        (
            scalar(place.get(key)).strip()
            for place in (profile, user)
            for key in keys
            if scalar(place.get(key)).strip()
        ),
        "",
    )


def _entry(item: dict[str, Any], where: str, names: _Names, tz: ZoneInfo | None) -> Entry:
    author, name = names.sender(item)
    ts, thread = scalar(item.get("ts")), scalar(item.get("thread_ts"))
    subtype = scalar(item.get("subtype"))
    gone = subtype == "tombstone"
    text, links = _text(scalar(item.get("text")), names)
    if not text:
        text = _blocks(item.get("blocks"), names).strip()
    extra = _reactions(item, names)
    if subtype:
        extra["subtype"] = subtype
    return Entry(
        author,
        name,
        from_number(ts, tz),
        "" if gone else text,
        id=ts,
        attachments=(*_attachments(item), *links),
        reply_to=thread if thread != ts else "",
        edited=isinstance(item.get("edited"), dict),
        deleted=gone,
        extra=extra,
        where=where,
    )


def _text(written: str, names: _Names) -> tuple[str, list[Attachment]]:
    """Slack's markup as people see it; a link behind words is kept beside the text."""
    links: list[Attachment] = []

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        sign, rest = target[:1], target[1:]
        if sign == "@":
            return f"@{names.people.get(rest) or label or rest}"
        if sign == "#":
            return f"#{label or names.channels.get(rest, rest)}"
        if sign == "!":
            word = rest.partition("^")[0]
            return label or f"@{word}"
        if label and label != target and not target.startswith("mailto:"):
            links.append(Attachment("link", _plain(label), _plain(target)))
        return label or target

    return _plain(_REFERENCE.sub(shown, written)), links


def _blocks(value: Any, names: _Names) -> str:
    """Text that stands in blocks only, as some apps post it."""
    told = ""
    for piece in records(value):
        kind = scalar(piece.get("type"))
        if kind == "user":
            number = scalar(piece.get("user_id"))
            told += f"@{names.people.get(number) or number}"
        elif kind == "emoji":
            told += f":{scalar(piece.get('name'))}:"
        elif kind == "link":
            told += scalar(piece.get("text")) or scalar(piece.get("url"))
        elif isinstance(piece.get("text"), dict):
            told += _text(scalar(piece["text"].get("text")), names)[0] + "\n"
        else:
            told += scalar(piece.get("text")) + _blocks(piece.get("elements"), names)
            # A section, a list's item or a quotation is a paragraph of its own.
            told += "\n" if kind.startswith("rich_text_section") else ""
    return told


def _pictures(value: Any) -> Iterator[dict[str, Any]]:
    """Pictures that stand in blocks only."""
    for piece in records(value):
        if scalar(piece.get("type")) == "image":
            yield piece
        yield from _pictures(piece.get("elements"))


def _plain(text: str) -> str:
    for escaped, character in _ESCAPES:
        text = text.replace(escaped, character)
    return text


def _reactions(item: dict[str, Any], names: _Names) -> dict[str, Any]:
    def given() -> Iterator[tuple[str, str, int]]:
        for reaction in records(item.get("reactions")):
            emoji, users = scalar(reaction.get("name")), reaction.get("users")
            people = [scalar(user) for user in users] if isinstance(users, list) else []
            yield emoji, "", whole(reaction.get("count"), len(people) or 1)
            for user in people:
                yield emoji, names.people.get(user, user), 0

    return reactions(given())


def _attachments(item: dict[str, Any]) -> Iterator[Attachment]:
    for file in records(item.get("files")) or records([item.get("file")]):
        if file.get("mode") in ("tombstone", "hidden_by_limit"):
            yield Attachment("media")
        else:
            title = scalar(file.get("name")) or scalar(file.get("title"))
            address = file.get("url_private") or file.get("permalink")
            yield attached(address, name=title, mime=file.get("mimetype"))
    for picture in _pictures(item.get("blocks")):
        yield attached(picture.get("image_url"), "image", picture.get("alt_text"))
    for card in records(item.get("attachments")):
        title = scalar(card.get("title")) or scalar(card.get("author_name"))
        address = scalar(card.get("title_link")) or scalar(card.get("from_url"))
        told = scalar(card.get("text")) or scalar(card.get("fallback"))
        if title or address or told:
            yield Attachment("link", _plain(title), _plain(address), _plain(told))


FORMAT = Format(title="Slack (workspace export)", sniff=_sniff, read=_read)
