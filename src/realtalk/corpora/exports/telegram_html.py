"""Telegram Desktop's HTML export, which it offers first, into drafts of chats.

    ChatExport_2024-05-01/messages.html, messages2.html      one chat, in pages
    <div class="message default clearfix" id="message41"> ... title="01.05.2024 09:30:00
    UTC+02:00" ... <div class="from_name">Ann</div> <div class="text">look: x.org</div>
    → Draft("Ann") with one entry "look: x.org", id 41

The pages say less than the JSON export: no ids of people, so two of one name are one
speaker, and no sign that a message was edited. The reader says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.html_tags import PageWalker, Tag, page_of, unescaped
from realtalk.corpora.exports.values import attached, filled
from realtalk.corpora.source import Member

PAGE = re.compile(r"(?:^|/)messages(\d*)\.html$")
NOTE = "Telegram's HTML export tells no ids of people and no edits; its JSON export does"
_STAMP = re.compile(
    r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d):(\d\d):(\d\d)(?: UTC([+-])(\d\d):(\d\d))?", re.ASCII
)
_ANSWERED = re.compile(r"#go_to_message(\d+)", re.ASCII)
_MOST_SEARCHED = 100_000_000  # letters: a message of a hundred thousand links keeps them all
# What the text in a tag of such a class is, and what kind of file such a tag holds.
_SAID = {
    "from_name": "from",
    "text": "text",
    "emoji": "emoji",
    "count": "count",
    "answer": "poll",
    "question": "question",
}
_AROUND = frozenset({"page_header", "media", "forwarded", "reply_to"})
_WRAPS = {
    "photo_wrap": "image",
    "video_file_wrap": "video",
    "animated_wrap": "video",
    "sticker_wrap": "sticker",
}
_FILES = {
    "media_photo": "image",
    "media_video": "video",
    "media_voice_message": "audio",
    "media_audio_file": "audio",
    "media_contact": "contact",
    "media_location": "location",
    "media_live_location": "location",
    "media_venue": "location",
    "media_call": "call",
    **_WRAPS,
}


def is_page(text: str) -> bool:
    """Whether the head of a page is that of a chat."""
    return "page_wrap" in text and ("from_name" in text or "message service" in text)


def drafts(members: Iterable[Member], tz: ZoneInfo | None) -> list[Draft]:
    """One chat per folder, its pages in order."""
    by_folder: dict[str, Draft] = {}
    last: dict[str, str] = {}
    for member in sorted(members, key=_place):
        folder = member.folder
        page = page_of(member, _TelegramPage)
        title = page.title or folder.rsplit("/", 1)[-1] or member.stem
        draft = by_folder.setdefault(folder, Draft(title))
        draft.notice(page.notices)
        for bubble in page.bubbles:
            # Below the first of several bubbles in a row the name is not repeated.
            sender = last[folder] = "".join(bubble.parts["from"]) or last.get(folder, "")
            entry = bubble.entry(sender, f"{member.name}, message {bubble.id}", tz)
            entry.call = bubble.is_call
            draft.add(entry)
    return list(by_folder.values())


def _place(member: Member) -> tuple[str, int]:
    match = PAGE.search(member.name)
    return member.folder, int(match[1] or 1) if match else 0


@dataclass(slots=True)
class _File:
    """Something in a message that is not text, with the words beside it."""

    kind: str
    url: str
    title: list[str] = field(default_factory=list)
    status: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Bubble:
    """One message of a page: pieces of text by what they are, and what stands beside them."""

    id: str
    date: str = ""
    reply: str = ""
    parts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    files: list[_File] = field(default_factory=list)
    reactions: list[tuple[str, tuple[()], str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts["text"]).strip() or "".join(self.parts["question"]).strip()

    @property
    def is_call(self) -> bool:
        """Whether it is a call, which stands on a page as a bubble of the caller."""
        return not self.text and [file.kind for file in self.files] == ["call"]

    def entry(self, sender: str, where: str, tz: ZoneInfo | None) -> Entry:
        answered = _ANSWERED.search(self.reply)
        extra = {
            "forwarded_from": "".join(self.parts["forwarded_from"]),
            "poll": self.parts["poll"],
        }
        return Entry(
            "",
            sender,
            _time(self.date, tz),
            self.text,
            id=self.id,
            attachments=tuple(_attachments(self.files, self.text)),
            reply_to=answered[1] if answered else "",
            extra=reactions(self.reactions) | filled(extra),
            where=where,
        )


def _time(stamp: str, tz: ZoneInfo | None) -> datetime | None:
    """The exporter's wall clock, or the clock of `tz` where the page states its offset."""
    match = _STAMP.match(stamp)
    if match is None:
        return None
    day, month, year, hour, minute, second = (int(match[place]) for place in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second)
        if tz is not None and match[7]:
            offset = timedelta(hours=int(match[8]), minutes=int(match[9]))
            known = timezone(offset if match[7] == "+" else -offset)
            moment = moment.replace(tzinfo=known).astimezone(tz).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return moment


def _attachments(files: list[_File], text: str) -> Iterator[Attachment]:
    searched = len(files) * len(text) <= _MOST_SEARCHED
    for file in files:
        kind, url = file.kind, file.url
        title, status = "".join(file.title).strip(), "".join(file.status).strip()
        if kind == "image" and title == "Sticker":
            yield Attachment("sticker", url=url, caption=status)
        elif kind in ("contact", "location"):
            yield Attachment(kind, title, url, status)
        elif kind == "call":
            yield Attachment(kind)
        elif kind == "link":
            # A plain address is in the text already; one behind words is not.
            if not searched or url.split("://", 1)[-1].rstrip("/") not in text:
                yield Attachment(kind, url=url)
        elif kind:
            yield attached(url, kind)
        else:
            yield attached(url, name=title)


@dataclass(frozen=True, slots=True)
class _Place:
    """An open tag: what text in it means, by its classes and those around it."""

    meaning: str = ""
    in_file: str = ""  # the meaning where the tag stands in an attached file
    around: frozenset[str] = frozenset()

    @property
    def part(self) -> str:
        """Which part of a message a text here belongs to; "" for none."""
        meaning = self.in_file if "media" in self.around else self.meaning
        forwarded = meaning == "from" and "forwarded" in self.around
        return "forwarded_from" if forwarded else meaning

    def inside(self, classes: frozenset[str]) -> _Place:
        """A tag inside of this one."""
        own = _meaning(classes)
        meaning, in_file = (self.meaning, self.in_file) if own is None else (own, own)
        if not classes & _SAID.keys():
            in_file = next((name for name in ("title", "status") if name in classes), in_file)
        return _Place(meaning, in_file, self.around | (classes & _AROUND))


def _meaning(classes: frozenset[str]) -> str | None:
    """What a tag's own classes say of the text in it; None where they say nothing."""
    for name, meaning in _SAID.items():
        if name in classes and not (name == "text" and "bold" in classes):
            return meaning
    return "" if classes & {"details", "initials"} else None


class _TelegramPage(PageWalker[_Place]):
    """Collects the messages of one page while it is walked through."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.notices = 0
        self.bubbles: list[_Bubble] = []
        self._title: list[str] = []
        self._bubble: _Bubble | None = None
        self._depth = 0
        self._walk(text)
        self._finish()  # a page may end in the middle of a message

    @property
    def title(self) -> str:
        return " ".join("".join(self._title).split())

    def _start(self, tag: Tag) -> None:
        self._enter(tag.name, tag.attributes)
        if tag.is_alone:
            self._end(tag.name)

    def _enter(self, tag: str, attributes: dict[str, str]) -> None:
        classes = frozenset(attributes.get("class", "").split())
        around = self._open.here or _Place()
        if tag == "div" and "message" in classes and self._bubble is None:
            if "service" in classes:
                # The lines between two days are of the page, not of the chat.
                self.notices += not attributes.get("id", "").startswith("message-")
            elif "default" in classes:
                self._bubble = _Bubble(attributes.get("id", "").removeprefix("message"))
                self._depth = len(self._open)
                around = _Place()  # what is around a message does not tell what is in it
        elif self._bubble is not None:
            self._look(self._bubble, tag, classes, attributes, around)
        self._open.enter(tag, around.inside(classes))

    def _end(self, tag: str) -> None:
        if self._open.leave(tag) and len(self._open) <= self._depth:
            self._finish()

    def _finish(self) -> None:
        if self._bubble is not None:
            self.bubbles.append(self._bubble)
            self._bubble = None

    def _data(self, written: str) -> None:
        place = self._open.here or _Place()
        bubble = self._bubble
        if bubble is None:
            if "page_header" in place.around:
                self._title.append(unescaped(written))
            return
        if not written or len(self._open) <= self._depth or not (part := place.part):
            return
        data = unescaped(written)
        words = " ".join(data.split())
        if part in ("title", "status"):
            if bubble.files:
                file = bubble.files[-1]
                (file.title if part == "title" else file.status).append(words)
        elif part == "emoji":
            bubble.reactions.append((data.strip(), (), "1"))
        elif part == "count":
            if bubble.reactions:
                bubble.reactions[-1] = (bubble.reactions[-1][0], (), data.strip())
        elif part == "poll":
            bubble.parts[part].append(data.strip().removeprefix("- "))
        else:
            bubble.parts[part].append(data if part == "text" else words)

    def _look(
        self,
        bubble: _Bubble,
        tag: str,
        classes: frozenset[str],
        attributes: dict[str, str],
        at: _Place,
    ) -> None:
        """What a tag inside of a message says by itself."""
        address = attributes.get("href", "")
        if "date" in classes and "pull_right" in classes:
            bubble.date = attributes.get("title", "")
        elif tag == "br" and at.part == "text":
            bubble.parts["text"].append("\n")
        elif tag == "a" and "reply_to" in at.around:
            bubble.reply = address
        elif "media" in classes or classes & _WRAPS.keys():
            kind = next((kind for name, kind in _FILES.items() if name in classes), "")
            bubble.files.append(_File(kind, address))
        elif tag == "a" and at.part == "text" and address.startswith("http"):
            bubble.files.append(_File("link", address))
