"""A Slack workspace export (zip or folder), or one day's file of it, into chats.

    users.json                [{"id": "U1", "profile": {"display_name": "ann"}}]
    channels.json             [{"id": "C1", "name": "general"}]     also groups, dms, mpims
    general/2024-05-01.json   [{"type": "message", "user": "U1", "ts": "1714548600.000100",
                                "text": "<@U1> &lt;3"}]
    → Chat("general") with one message "@ann <3"

One chat per channel. A message is named by its `ts`; an answer in a thread replies to the
thread's first message. A day's file alone has ids for names unless the entries say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format, reactions
from realtalk.formats.json_input import (
    Fields,
    as_list,
    from_number,
    head_keys,
    head_text,
    load,
    load_list,
    make_attachment,
    object_at,
    objects_at,
    odd_at,
    records,
    scalar,
    text_at,
    word_set,
)
from realtalk.formats.source import FormatFiles, Member, Source

_DAY = re.compile(r"^(?:(?P<channel>.*)/)?\d{4}-\d\d-\d\d\.json(?:\.gz)?$")
_LISTS = ("channels", "groups", "dms", "mpims")
# What somebody said, a bot among them; every other subtype of Slack's documentation is a notice:
# joining and leaving, topics, pins, reminders, huddles, canvases, a deleted message without its
# sender (tombstone). A subtype that is not known is a message if a person typed it.
_SAID = {""} | word_set("""
    bot_message file_share me_message thread_broadcast reply_broadcast file_comment
    slackbot_response
    """)
_CHANGES = word_set("""
    join leave topic purpose name archive unarchive posting_permissions convert_to_private
    convert_to_public
""")
_NOTICES = word_set("""
    bot_add bot_remove bot_enable bot_disable pinned_item unpinned_item reminder_add reminder_delete
    huddle_thread sh_room_created sh_room_shared joiner_notification joiner_notification_for_inviter
    app_conversation_join app_conversation_leave channel_canvas_updated tabbed_canvas_updated
    document_mention document_comment_root assistant_app_thread file_mention message_changed
    message_deleted message_replied ekm_access_denied emoji_changed tombstone
""") | {f"{kind}_{change}" for kind in ("channel", "group", "mpim") for change in _CHANGES}
_REFERENCE = re.compile(r"<([^<>\n]+)>")
_ESCAPES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def _is_day(member: Member) -> bool:
    keys = head_keys(member)
    if not head_text(member).lstrip().startswith("[") or not {"ts", "type"} <= keys:
        return False
    is_day_file = _DAY.match(member.name) is not None
    return bool(keys & {"user", "bot_id", "username", "subtype"}) and (
        is_day_file or "text" in keys
    )


_FILES = FormatFiles(
    (".json",),
    _is_day,
    "no day files (channel/2024-05-01.json) found",
    "give the workspace export as it was downloaded, or its unpacked folder",
    _DAY,
)


def _read(export: Export) -> None:
    source = export.source
    days = tuple(member for member in source.having(".json") if _DAY.match(member.name))
    days = days or export.members
    names = _SlackNames(source)
    for member in days:
        match = _DAY.match(member.name)
        folder = (match["channel"] or "").rsplit("/", 1)[-1] if match else member.stem
        draft = names.draft(export, folder, source.name)
        entry = partial(_entry, names=names)
        draft.fill(load_list(member), f"{member.name}, ", entry)
    for draft in export.drafts.values():
        for said in draft.entries:
            names.late(said)


def _is_said(item: Fields) -> bool:
    """Whether an entry is somebody's message; only what a person typed has a client's id."""
    if item.get("type", "message") != "message" or item.get("hidden") is True:
        return False
    subtype = text_at(item, "subtype")
    return subtype in _SAID or (subtype not in _NOTICES and bool(item.get("client_msg_id")))


class _SlackNames:
    """Who and what the ids of a workspace are."""

    def __init__(self, source: Source) -> None:
        self.people: dict[str, str] = {"USLACKBOT": "Slackbot"}
        self.bots: dict[str, str] = {}  # by the id of a bot or an app
        self.accounts: dict[str, str] = {}  # the users that bots are
        self.users_that_are_bots = {"USLACKBOT"}
        self.channels: dict[str, str] = {}
        self.kinds: dict[str, tuple[str, Fields]] = {}
        for user in self._list(source, "users"):
            number, name, profile = text_at(user, "id"), _person(user), object_at(user, "profile")
            if name:
                self.people[number] = name
            if user.get("is_bot") is True or profile.get("bot_id"):
                self.users_that_are_bots.add(number)
                self.accounts[text_at(profile, "bot_id")] = number
                for key in ("bot_id", "api_app_id"):
                    self.bots.setdefault(text_at(profile, key), name)
        for log in self._list(source, "integration_logs"):
            for key in ("bot_id", "app_id", "service_id"):
                self.bots.setdefault(text_at(log, key), text_at(log, "app_type", "service_type"))
        self.bots.pop("", None)
        for kind in _LISTS:
            for channel in self._list(source, kind):
                number, name = text_at(channel, "id"), text_at(channel, "name")
                self.kinds.setdefault(name or number, (kind, channel))
                if name:
                    self.channels[number] = name

    @staticmethod
    def _list(source: Source, name: str) -> list[Fields]:
        entries: list[Fields] = []
        for member in source.having(".json"):
            if len(source.members) > 1 and member.name.rsplit("/", 1)[-1] == f"{name}.json":
                entries += records(load(member))
        return entries

    def of(self, ids: Any) -> list[str]:
        """The names of people by their ids, or the ids."""
        return [self.people.get(number, number) for number in map(scalar, as_list(ids))]

    def draft(self, export: Export, key: str, otherwise: str) -> Draft:
        """A conversation without a name of its own is called after its members."""
        folder = key or otherwise
        kind, channel = self.kinds.get(folder, ("", {}))
        people = self.of(channel.get("members"))
        extra = {
            "kind": kind,
            "id": text_at(channel, "id"),
            "members": people,
            "topic": text_at(channel, "topic/value"),
        }
        unnamed = kind in ("dms", "mpims") and people
        return export.draft(key, ", ".join(people) if unnamed else folder, extra=extra)

    def sender(self, item: Fields) -> tuple[str, str]:
        # A comment about a file names its author once more inside.
        user = text_at(item, "user") or text_at(item, "comment/user")
        bot, profile = text_at(item, "bot_id"), object_at(item, "bot_profile")
        person = self.people.get(user) or _person(object_at(item, "user_profile"))
        name = text_at(item, "username") or text_at(profile, "name")
        ids = (bot, text_at(item, "app_id"), text_at(profile, "app_id"))
        name = name or next((self.bots[number] for number in ids if self.bots.get(number)), "")
        if bot and name:
            self.bots.setdefault(bot, name)
        if user and not (bot and text_at(item, "subtype") == "bot_message"):
            return user, person or name or user
        if bot in self.accounts and name == self.bots.get(bot):
            return self.accounts[bot], name
        # One integration may speak under several names; each is a speaker of its own.
        return (f"{bot}/{name}" if bot and name else bot or user or name), name or person or bot

    def late(self, entry: Entry) -> None:
        """Names a bot that another entry named."""
        if entry.name == entry.author and (name := self.bots.get(entry.author)):
            entry.author, entry.name = f"{entry.author}/{name}", name

    def is_bot(self, item: Fields) -> bool:
        return bool(item.get("bot_id")) or text_at(item, "user") in self.users_that_are_bots


def _person(user: Fields) -> str:
    keys = ("display_name", "display_name_normalized", "real_name", "real_name_normalized", "name")
    places = (object_at(user, "profile") or user, user)
    names = (text_at(place, key).strip() for place in places for key in keys)
    return next(filter(None, names), "")


def _entry(item: Fields, names: _SlackNames) -> Entry | None:
    if not _is_said(item):
        return None
    author, name = names.sender(item)
    ts, thread = text_at(item, "ts"), text_at(item, "thread_ts")
    text, links = _text(_own_text(item), names)
    text = text or _blocks(item.get("blocks"), names).strip()
    marks = (
        (text_at(reaction, "name"), names.of(reaction.get("users")), reaction.get("count"))
        for reaction in objects_at(item, "reactions")
    )
    extra = {"subtype": text_at(item, "subtype"), "bot": names.is_bot(item)}
    return Entry(
        author,
        name,
        from_number(ts),
        text,
        id=ts,
        attachments=(*_attachments(item), *links),
        reply_to=thread if thread != ts else "",
        edited=isinstance(item.get("edited"), dict),
        extra=reactions(marks) | extra,
        odd=not text and odd_at(item, "text"),
    )


def _own_text(item: Fields) -> str:
    """What the sender wrote: beside an old kind of file, a sentence of Slack's stands around it."""
    text, file = text_at(item, "text"), object_at(item, "file")
    if comment := text_at(item, "comment/comment"):
        return comment
    if file and text.startswith(f"<@{text_at(item, 'user')}"):
        return text_at(file, "initial_comment/comment")
    return text


def _text(raw: str, names: _SlackNames) -> tuple[str, list[Attachment]]:
    """Slack's markup as people see it; a link behind words is kept beside the text."""
    links: list[Attachment] = []

    def replace_reference(match: re.Match[str]) -> str:
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

    return _plain(_REFERENCE.sub(replace_reference, raw)), links


def _blocks(value: Any, names: _SlackNames) -> str:
    """Text that stands in blocks only, as some apps post it."""
    text = ""
    for piece in records(value):
        kind = text_at(piece, "type")
        if kind == "user":
            number = text_at(piece, "user_id")
            text += f"@{names.people.get(number) or number}"
        elif kind == "emoji":
            text += f":{text_at(piece, 'name')}:"
        elif kind == "link":
            text += text_at(piece, "text", "url")
        elif isinstance(piece.get("text"), dict):
            text += _text(text_at(piece["text"], "text"), names)[0] + "\n"
        else:
            text += text_at(piece, "text") + _blocks(piece.get("elements"), names)
            # A section, a list's item or a quotation is a paragraph of its own.
            text += "\n" if kind.startswith("rich_text_section") else ""
    return text


def _pictures(value: Any) -> Iterator[Fields]:
    """Pictures that stand in blocks only."""
    for piece in records(value):
        if text_at(piece, "type") == "image":
            yield piece
        yield from _pictures(piece.get("elements"))


def _plain(text: str) -> str:
    for escaped, character in _ESCAPES:
        text = text.replace(escaped, character)
    return text


def _attachments(item: Fields) -> Iterator[Attachment]:
    for file in objects_at(item, "files") or records([item.get("file")]):
        if file.get("mode") in ("tombstone", "hidden_by_limit"):
            yield Attachment("media")
        else:
            address = file.get("url_private") or file.get("permalink")
            title = text_at(file, "name", "title")
            yield make_attachment(address, name=title, mime=file.get("mimetype"))
    for picture in _pictures(item.get("blocks")):
        yield make_attachment(picture.get("image_url"), "image", picture.get("alt_text"))
    for card in objects_at(item, "attachments"):
        title = text_at(card, "title", "author_name")
        address = text_at(card, "title_link", "from_url")
        caption = text_at(card, "text", "fallback")
        if title or address or caption:
            yield Attachment("link", _plain(title), _plain(address), _plain(caption))


FORMAT = export_format("Slack (workspace export)", "slack", _FILES, _read)
