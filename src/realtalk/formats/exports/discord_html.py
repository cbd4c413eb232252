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
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, reactions
from realtalk.formats.exports.html_tags import Element, page_elements
from realtalk.formats.json_input import from_number, make_attachment, word_pairs, word_set
from realtalk.formats.source import Member
from realtalk.text.calendars import DateOrder
from realtalk.text.words import one_line
from realtalk.text.written_days import parse_spelled

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


def is_page(text: str) -> bool:
    """Whether the head of a page is the exporter's; its styles come first and are long."""
    if "chatlog__message" in text:
        return "preamble" in text or "info__" in text or "chatlog__author-name" in text
    return all(name in text for name in ("msg-user", "msg-date", "msg-content"))


def read_pages(
    members: list[Member],
    export: Export,
) -> None:
    """One chat per channel."""
    pages = [(member, _Page(member)) for member in members]
    stamps = [message.stamp for _, page in pages for message in page.messages]
    order = export.options.dates or date_order(stamps)
    for member, page in pages:
        channel = _CHANNEL.search(member.name)
        key = channel[1] if channel else f"/{member.name}"
        draft = export.draft(key, page.title or member.stem)
        draft.notice(page.notices)
        for place, message in enumerate(page.messages, 1):
            entry = message.entry(order)
            entry.where = f"{member.name}, message {entry.id or place}"
            # Old pages have no other mark of a notice than its words.
            add(draft, entry, likely=message.is_old and not entry.attachments)


def add(draft: Draft, entry: Entry, *, likely: bool) -> None:
    """Adds an entry that may be the exporter's words for what the app wrote, or for a call."""
    notice = likely and _EXPORTER.fullmatch(entry.text) is not None
    entry.call = notice and entry.text.startswith("Started a call")
    if notice and not entry.call:
        draft.notice()
    else:
        draft.add(entry)


def date_order(stamps: list[str]) -> DateOrder:
    """Day or month first, as the largest numbers of the file allow; month where they do not."""
    firsts = (int(match[1]) for stamp in stamps if (match := _NUMERIC.match(stamp)))
    return "dmy" if any(12 < first <= 31 for first in firsts) else "mdy"


def parse_date(text: str, order: DateOrder) -> datetime | None:
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


class _Page:
    """The messages of one page."""

    def __init__(self, member: Member) -> None:
        self.messages: list[_Message] = []
        self.notices = 0
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
        for group, numbered in groups:
            for message in _messages(group, numbered):
                if "notice" in message.parts:
                    self.notices += 1
                else:
                    self.messages.append(message)
        self.title = one_line("".join(heading[:2][-1:]).rpartition(" / ")[2])


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
            time or parse_date(self.stamp, order),
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
    parts: Parts = {}
    for element in elements:
        parts.setdefault(_role(element), []).append(element)
    return parts


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
