"""Discord channels as DiscordChatExporter's HTML into drafts of chats.

    <div class=chatlog__message-group><div class=chatlog__message-container data-message-id=123>
    ... <span class=chatlog__author title=ann data-user-id=7>Ann</span> ...
    <div class=chatlog__content><span class=chatlog__markdown-preserve>hi</span></div> ...
    → Draft("general") with one entry of Ann

Up to 2.x the name and the time stood once, before all messages of a group, and messages had no
number before 2.14 and classes such as `msg-user` before 2.0:

    <div class="chatlog__message-group"><div class="chatlog__messages"><span
    class="chatlog__author-name" title="ann#1">Ann</span> <span class="chatlog__timestamp">01-May-24
    09:30 AM</span><div class="chatlog__content">hi</div><div class="chatlog__content">so?</div> ...
    → two entries of Ann at 9:30

The number of a message holds the moment at which it was sent, so its written date, which is in
the exporter's language, is only needed where the number is none of Discord's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, reactions
from realtalk.formats.exports.html_tags import Bubble, PageFile, PageWalker, Tag, page_of, unescape
from realtalk.formats.json_input import Zone, from_number, make_attachment, word_pairs
from realtalk.formats.source import Member

_EPOCH = 1_420_070_400_000  # the first millisecond of 2015, from which Discord counts
_SMALLEST = 1 << 40  # numbers below are no times
_ANSWERED = re.compile(r"scrollToMessage\(event, ?['\"]?(\d{1,25})")
_CHANNEL = re.compile(r" \[(\d{5,25})\][^/]*$")  # "Gardeners - beds [123456] [part 2].html"
_NUMBER = re.compile(r"\d{1,25}", re.ASCII)
# What stands in a tag of such a class, the more particular first.
_ROLES = [
    (name, role.strip("-"))  # "-" for none
    for name, role in map(
        str.split,
        """
        chatlog__system-notification notice
        chatlog__edited-timestamp    edited
        chatlog__author-tag          bot
        chatlog__bot-tag             bot
        chatlog__author              author
        chatlog__reply               reply
        chatlog__reference           reply
        chatlog__short-timestamp     stamp
        chatlog__timestamp           stamp
        chatlog__embed-title         title
        chatlog__embed-description   caption
        chatlog__attachment          file
        chatlog__sticker             file
        chatlog__embed               file
        chatlog__reaction-count      count
        chatlog__reaction-emoji      emoji
        chatlog__reactions           -
        chatlog__reaction            reaction
        chatlog__content             text
        msg-edited                   edited
        msg-user                     author
        msg-date                     stamp
        msg-attachment               file
        msg-content                  text
        """.strip().splitlines(),
    )
]
_GROUPS = frozenset(("chatlog__message-group", "msg"))
_NAMES = frozenset(("chatlog__author-name", "msg-user"))  # outside of messages, once for a group
# Server and channel, of every age.
_PREAMBLE = frozenset(
    ["preamble__entry", "info__guild-name", "info__channel-name", "guild-name", "channel-name"]
)
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

# A file, a sticker or a card begins with such a tag, and is of such a kind.
_BEGIN = word_pairs("""
    chatlog__attachment
    msg-attachment
    chatlog__sticker    sticker
    chatlog__embed      link
""")
_SHOWN = {"image": "image", "video": "video", "gifv": "video"}  # cards that are a file


def is_page(text: str) -> bool:
    """Whether the head of a page is the exporter's; its styles come first and are long."""
    if "chatlog__message" in text:
        return "preamble" in text or "info__" in text or "chatlog__author-name" in text
    return all(name in text for name in ("msg-user", "msg-date", "msg-content"))


def drafts(
    members: list[Member],
    tz: Zone,
    dates: Callable[[list[str]], Callable[[str], datetime | None]],
    is_notice: Callable[[str], bool],
) -> list[Draft]:
    """One chat per channel.

    `dates` gives a way to read dates as those of all pages are written, and `is_notice` tells the
    exporter's words for what the app wrote: old pages have no other mark of it.
    """
    chats: dict[str, Draft] = {}
    pages = [(member, page_of(member, _DiscordPage)) for member in members]
    parse_date = dates([bubble.line("stamp") for _, page in pages for bubble in page.bubbles])
    for member, page in pages:
        channel = _CHANNEL.search(member.name)
        place = channel[1] if channel else f"/{member.name}"
        draft = chats.setdefault(place, Draft(page.title or member.stem))
        draft.notice(page.notices)
        for place, bubble in enumerate(page.bubbles, 1):
            where = f"{member.name}, message {bubble.id or place}"
            entry = bubble.entry(where, tz, parse_date)
            notice = bubble.is_old and not entry.attachments and is_notice(entry.text)
            add(draft, entry, notice)
    return list(chats.values())


def add(draft: Draft, entry: Entry, notice: bool) -> None:
    """Adds an entry that may be the exporter's words for what the app wrote, or for a call."""
    entry.call = notice and entry.text.startswith("Started a call")
    if notice and not entry.call:
        draft.notice()
    else:
        draft.add(entry)


@dataclass(slots=True)
class _Author:
    id: str = ""
    also: str = ""
    name: list[str] = field(default_factory=list)
    is_bot: bool = False


def _attachment(file: PageFile) -> Attachment:
    if file.kind == "link":
        caption = "".join(file.parts["caption"]).strip()
        return Attachment("link", file.line("title"), file.url, caption)
    return make_attachment(file.url, file.kind, file.line("title"))


@dataclass(slots=True)
class _DiscordMessage(Bubble):
    """One message of a page."""

    author: _Author = field(default_factory=_Author)
    is_notice: bool = False
    edited: bool = False
    is_old: bool = False  # its author stands before the group
    part: int = 0  # of those in `_PARTS`, the last that has begun

    def entry(self, where: str, tz: Zone, parse_date: Callable[[str], datetime | None]) -> Entry:
        number = int(self.id) if _NUMBER.fullmatch(self.id) else 0
        time = from_number((number >> 22) + _EPOCH, tz, 1000) if number > _SMALLEST else None
        name = " ".join("".join(self.author.name).split())
        marks = ((emoji, (), count) for emoji, count in self.reactions)
        return Entry(
            self.author.id,
            name,
            time or parse_date(self.line("stamp")),
            self.text("text"),
            id=self.id,
            attachments=tuple(map(_attachment, self.files)),
            reply_to=self.reply,
            edited=self.edited,
            extra=reactions(marks) | {"bot": self.author.is_bot},
            also=self.author.also if self.author.also != name else "",
            where=where,
        )


@dataclass(frozen=True, slots=True)
class _Spot:
    """An open tag: what stands in it, and whether it is the outermost of a message."""

    role: str = ""
    message: bool = False


class _DiscordPage(PageWalker[_Spot]):
    """Collects the messages of one page while it is walked through."""

    def __init__(self, text: str) -> None:
        super().__init__(_Spot())
        self.notices = 0
        self.bubbles: list[_DiscordMessage] = []
        self._entries: list[str] = []  # of the preamble: the server, the channel, its topic
        self._author = _Author()
        self._stamp: list[str] = []  # of a group, where it stands before its messages
        self._answered = ""
        self._is_old = False  # whether the group has its author before its messages
        self._bubble: _DiscordMessage | None = None
        self._walk(text)
        self._finish()

    @property
    def title(self) -> str:
        channel = self._entries[1] if len(self._entries) > 1 else "".join(self._entries)
        return " ".join(channel.rpartition(" / ")[2].split())

    def _start(self, tag: Tag) -> None:
        attributes = tag.attributes
        classes = attributes.get("class", "").split()
        roles = (role for begins, role in _ROLES for name in classes if name.startswith(begins))
        role = next(roles, None)
        spot = _Spot(self._here.role if role is None else role)
        if not _GROUPS.isdisjoint(classes):
            self._finish()
            self._author, self._stamp, self._answered = _Author(), [], ""
            self._is_old = False
            spot = _Spot()
        elif "data-message-id" in attributes:
            self._begin(attributes["data-message-id"])
            spot = _Spot(message=True)
        elif not _PREAMBLE.isdisjoint(classes):
            self._entries.append("")
            spot = _Spot("preamble")
        else:
            self._part(tag.name, classes)
            if self._bubble is not None:
                self._look(self._bubble, tag.name, attributes, role, spot.role)
                self._file(self._bubble, tag.name, classes, attributes, spot.role)
            else:
                # What stands before the messages of a group: who wrote them, and what they answer.
                if not _NAMES.isdisjoint(classes):
                    self._is_old = True
                    self._author.also = attributes.get("title", "")
                    self._author.id = attributes.get("data-user-id") or self._author.also
                elif role == "bot":
                    self._author.is_bot = True
                if spot.role == "reply" and (
                    answered := _ANSWERED.search(attributes.get("onclick", ""))
                ):
                    self._answered = answered[1]
        self._enter(tag.name, spot)

    def _begin(self, number: str) -> None:
        self._finish()
        self._bubble = _DiscordMessage(
            number, self._answered, author=self._author, is_old=self._is_old
        )
        self._answered = ""
        self._bubble.parts["stamp"] += self._stamp

    def _part(self, tag: str, classes: list[str]) -> None:
        """Begins a message without a number where a part of it stands that begins one."""
        part = next((_PARTS[name] for name in classes if name in _PARTS), None)
        if part is None or tag == "img" or not self._is_old:
            return
        bubble = self._bubble
        if bubble is not None and bubble.id:
            return
        if bubble is None or part < bubble.part or (part == bubble.part and part in _ONCE):
            self._begin("")
        if self._bubble is not None:
            self._bubble.part = part

    def _look(
        self,
        bubble: _DiscordMessage,
        tag: str,
        attributes: dict[str, str],
        own: str | None,
        role: str,
    ) -> None:
        """What a tag inside of a message says by itself; `own` is the role of its classes."""
        if own == "notice":
            bubble.is_notice = True
        elif own == "edited":
            bubble.edited = True
        elif own == "author" and "data-user-id" in attributes:
            self._author.id = attributes["data-user-id"]
            self._author.also = attributes.get("title", "")
        elif own == "bot":
            self._author.is_bot = True
        elif own == "reaction":
            bubble.reactions.append([attributes.get("title", ""), "1"])
        elif own == "stamp" and (title := attributes.get("title", "")):
            bubble.parts["stamp"] = [title]
        if role == "reply" and (answered := _ANSWERED.search(attributes.get("onclick", ""))):
            bubble.reply = answered[1]
        if tag == "br" and role == "text":
            bubble.parts["text"].append("\n")
        if tag == "img" and role in ("text", "reaction", "emoji"):
            self._emoji(bubble, role, attributes.get("alt") or attributes.get("title", ""))

    @staticmethod
    def _file(
        bubble: _DiscordMessage, tag: str, classes: list[str], attributes: dict[str, str], role: str
    ) -> None:
        for name in classes:
            if name in _BEGIN and tag != "img":
                bubble.files.append(PageFile(_BEGIN[name]))
        if not bubble.files or role not in ("file", "title", "caption"):
            return
        file, address = bubble.files[-1], attributes.get("href") or attributes.get("src") or ""
        picture = next((name for name in classes if name.startswith("chatlog__embed-generic-")), "")
        file.kind = _SHOWN.get(picture.rpartition("-")[2], file.kind)
        is_icon = any(name.endswith(("-icon", "-thumbnail")) for name in classes)
        # The preview of a file stands in a link to it; a card's title has the best address.
        if address and not address.startswith("#") and not is_icon:
            file.url = address if role == "title" else file.url or address

    @staticmethod
    def _emoji(bubble: _DiscordMessage, role: str, emoji: str) -> None:
        if role == "text":
            bubble.write(role, emoji)
        elif bubble.reactions and not bubble.reactions[-1][0]:
            bubble.reactions[-1][0] = emoji

    def _end(self, name: str) -> None:
        for spot in self._leave(name):
            if spot.message:
                self._finish()

    def _finish(self) -> None:
        bubble = self._bubble
        if bubble is not None and bubble.is_notice:
            self.notices += 1
        elif bubble is not None:
            self.bubbles.append(bubble)
        self._bubble = None

    def _data(self, raw: str) -> None:
        role = self._here.role
        if not raw or not role:
            return
        text = unescape(raw)
        if role == "preamble":
            self._entries[-1] += text
        elif role == "author":
            self._author.name.append(text)
        elif self._bubble is None:
            if role == "stamp":
                self._stamp.append(text)
        elif role == "emoji":
            self._emoji(self._bubble, role, text.strip())
        elif role in ("text", "stamp", "count", "title", "caption"):
            self._bubble.write(role, text)
