"""Telegram Desktop's HTML export, which it offers first, into drafts of chats.

    ChatExport_2024-05-01/messages.html, messages2.html      one chat, in pages
    <div class="message default clearfix" id="message41"> ... title="01.05.2024 09:30:00
    UTC+02:00" ... <div class="from_name">Ann</div> <div class="text">look: x.org</div>
    → Draft("Ann") with one entry "look: x.org", id 41

The pages say less than the JSON export: no ids of people, so two of one name are one
speaker, and no sign that a message was edited. The reader says so.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.values import attached, whole
from realtalk.corpora.json_input import decoded

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from realtalk.corpora.source import Member

__all__ = ["NOTE", "PAGE", "drafts", "is_page"]

PAGE = re.compile(r"(?:^|/)messages(\d*)\.html$")
NOTE = "Telegram's HTML export tells no ids of people and no edits; its JSON export does"
_STAMP = re.compile(
    r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d):(\d\d):(\d\d)(?: UTC([+-])(\d\d):(\d\d))?", re.ASCII
)
_ANSWERED = re.compile(r"#go_to_message(\d+)", re.ASCII)
_VOID = frozenset(("area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"))
_DEEPEST = 200  # tags inside each other; real pages have a dozen
_MOST_SEARCHED = 100_000_000  # letters: a message of a hundred thousand links keeps them all
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,40})([^<>]*)>|<![^<>]*>")
_ATTRIBUTE = re.compile(r"""([a-zA-Z][\w:.-]{0,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')""")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_WRAPS = {
    "photo_wrap": "image",
    "video_file_wrap": "video",
    "animated_wrap": "video",
    "sticker_wrap": "sticker",
}
_MEDIA = {
    "media_photo": "image",
    "media_video": "video",
    "media_voice_message": "audio",
    "media_audio_file": "audio",
    "media_contact": "contact",
    "media_location": "location",
    "media_live_location": "location",
    "media_venue": "location",
    "media_call": "call",
}
_FILES = _MEDIA | _WRAPS


def is_page(text: str) -> bool:
    """Whether the head of a page is that of a chat."""
    return "page_wrap" in text and ("from_name" in text or "message service" in text)


def drafts(members: Iterable[Member], tz: ZoneInfo | None) -> list[Draft]:
    """One chat per folder, its pages in order."""
    by_folder: dict[str, Draft] = {}
    last: dict[str, str] = {}
    for member in sorted(members, key=_place):
        folder = member.folder
        page = _Page(decoded(member.read()))
        title = page.title or folder.rsplit("/", 1)[-1] or member.stem
        draft = by_folder.setdefault(folder, Draft(title))
        draft.notice(page.notices)
        for found in page.messages:
            # Below the first of several bubbles in a row the name is not repeated.
            sender = last[folder] = "".join(found["from"]) or last.get(folder, "")
            where = f"{member.name}, message {found['id']}"
            if _is_call(found):
                draft.notice()
            else:
                draft.add(_entry(found, sender, where, tz))
    return list(by_folder.values())


def _place(member: Member) -> tuple[str, int]:
    match = PAGE.search(member.name)
    return member.folder, int(match[1] or 1) if match else 0


def _is_call(message: dict[str, Any]) -> bool:
    """Whether a message is a call, which stands on a page as a bubble of the caller."""
    alone = not "".join((*message["text"], *message["question"])).strip()
    return alone and [file["kind"] for file in message["files"]] == ["call"]


def _entry(message: dict[str, Any], sender: str, where: str, tz: ZoneInfo | None) -> Entry:
    answered = _ANSWERED.search(message["reply"])
    extra: dict[str, Any] = reactions(message["reactions"])
    if origin := "".join(message["forwarded_from"]):
        extra["forwarded_from"] = origin
    if message["poll"]:
        extra["poll"] = message["poll"]
    text = "".join(message["text"]).strip() or "".join(message["question"]).strip()
    return Entry(
        "",
        sender,
        _time(message["date"], tz),
        text,
        id=message["id"],
        attachments=tuple(_attachments(message["files"], text)),
        reply_to=answered[1] if answered else "",
        extra=extra,
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


def _attachments(files: list[dict[str, Any]], text: str) -> Iterator[Attachment]:
    searched = len(files) * len(text) <= _MOST_SEARCHED
    for file in files:
        kind, url = file["kind"], file["url"]
        title, status = ("".join(file[key]).strip() for key in ("title", "status"))
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

    tag: str = ""
    meaning: str = ""
    in_file: str = ""  # the meaning where the tag stands in an attached file
    header: bool = False  # of the page
    media: bool = False
    forwarded: bool = False
    reply: bool = False

    @property
    def part(self) -> str:
        """Which part of a message a text here belongs to; "" for none."""
        meaning = self.in_file if self.media else self.meaning
        return "forwarded_from" if meaning == "from" and self.forwarded else meaning

    def inside(self, tag: str, classes: frozenset[str]) -> _Place:
        """A tag inside of this one."""
        meaning = self.meaning if (own_meaning := _meaning(classes)) is None else own_meaning
        in_file = self.in_file if own_meaning is None else own_meaning
        for name in ("title", "status"):
            if name in classes and not classes & _SAID.keys():
                in_file = name
                break
        return _Place(
            tag,
            meaning,
            in_file,
            self.header or "page_header" in classes,
            self.media or "media" in classes,
            self.forwarded or "forwarded" in classes,
            self.reply or "reply_to" in classes,
        )


_SAID = {
    "from_name": "from",
    "text": "text",
    "emoji": "emoji",
    "count": "count",
    "answer": "poll",
    "question": "question",
}


def _meaning(classes: frozenset[str]) -> str | None:
    """What a tag's own classes say of the text in it; None where they say nothing."""
    for name, meaning in _SAID.items():
        if name in classes and not (name == "text" and "bold" in classes):
            return meaning
    return "" if classes & {"details", "initials"} else None


class _Page:
    """Collects the messages of one page while it is walked through.

    Telegram escapes `<` and `>` everywhere but in tags, so a tag ends at the first `>`. Python's
    own parser looks for ends again and again: a page of five megabytes could take it hours.
    """

    def __init__(self, text: str) -> None:
        self.notices = 0
        self.messages: list[dict[str, Any]] = []
        self._title: list[str] = []
        self._open: list[_Place] = []
        self._tags: Counter[str] = Counter()  # of the open ones
        self._message: dict[str, Any] | None = None
        self._depth = 0
        start = 0
        ended = text.rfind("-->") + 3  # what begins later has no end to look for
        text = _COMMENT.sub("", text[:ended]) + text[ended:] if ended > 2 else text
        for tag in _TAG.finditer(text):
            self._data(text[start : tag.start()])
            start = tag.end()
            if tag[2] is None:
                continue  # <!DOCTYPE html>
            name = tag[2].lower()
            if not tag[1]:
                self._start(name, _attributes(tag[3]))
            if tag[1] or tag[3].endswith("/"):
                self._end(name)
        self._data(text[start:])
        self._finish()  # a page may end in the middle of a message

    @property
    def title(self) -> str:
        return " ".join("".join(self._title).split())

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        classes = frozenset(attributes.get("class", "").split())
        around = self._open[-1] if self._open else _Place()
        if tag == "div" and "message" in classes and self._message is None:
            if "service" in classes:
                # The lines between two days are of the page, not of the chat.
                self.notices += not attributes.get("id", "").startswith("message-")
            elif "default" in classes:
                self._begin(attributes.get("id", "").removeprefix("message"))
                around = _Place()  # what is around a message does not tell what is in it
        elif self._message is not None:
            self._look(tag, classes, attributes, around)
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(around.inside(tag, classes))
            self._tags[tag] += 1

    def _end(self, tag: str) -> None:
        if not self._tags[tag]:
            return
        closed = ""
        while closed != tag:
            closed = self._open.pop().tag
            self._tags[closed] -= 1
        if len(self._open) <= self._depth:
            self._finish()

    def _finish(self) -> None:
        if self._message is not None:
            self.messages.append(self._message)
            self._message = None

    def _data(self, written: str) -> None:
        place = self._open[-1] if self._open else _Place()
        if self._message is None:
            if place.header:
                self._title.append(_unescaped(written))
            return
        if not written or len(self._open) <= self._depth or not (key := place.part):
            return
        data = _unescaped(written)
        if key in ("title", "status"):
            if files := self._message["files"]:
                files[-1][key].append(" ".join(data.split()))
        elif key == "poll":
            self._message[key].append(data.strip().removeprefix("- "))
        elif key == "emoji":
            self._message["reactions"].append((data.strip(), (), 1))
        elif key == "count":
            if given := self._message["reactions"]:
                emoji, _, _ = given.pop()
                given.append((emoji, (), whole(data.strip(), 1)))
        else:
            self._message[key].append(data if key == "text" else " ".join(data.split()))

    def _begin(self, number: str) -> None:
        self._depth = len(self._open)
        self._message = {
            **{key: [] for key in ("from", "text", "forwarded_from", "question")},
            **{key: [] for key in ("files", "poll", "reactions")},
            **dict.fromkeys(("date", "reply"), ""),
            "id": number,
        }

    def _look(
        self, tag: str, classes: frozenset[str], attributes: dict[str, str], at: _Place
    ) -> None:
        """What a tag inside of a message says by itself."""
        assert self._message is not None
        address = attributes.get("href", "")
        if "date" in classes and "pull_right" in classes:
            self._message["date"] = attributes.get("title", "")
        elif tag == "br" and at.part == "text":
            self._message["text"].append("\n")
        elif tag == "a" and at.reply:
            self._message["reply"] = address
        elif "media" in classes or classes & _WRAPS.keys():
            kinds = [kind for name, kind in _FILES.items() if name in classes]
            self._message["files"].append(_file(kinds[0] if kinds else "", address))
        elif tag == "a" and at.part == "text" and address.startswith("http"):
            self._message["files"].append(_file("link", address))


def _file(kind: str, url: str) -> dict[str, Any]:
    return {"kind": kind, "url": url, "title": [], "status": []}


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(text):
        attributes.setdefault(name.lower(), _unescaped("".join(values)))
    return attributes


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a character's number of thousands of digits
        return text
