"""Telegram Desktop's HTML export, which it offers first, into drafts of chats.

    ChatExport_2024-05-01/messages.html, messages2.html      one chat, in pages
    <div class="message default clearfix" id="message41"> ... title="01.05.2024 09:30:00
    UTC+02:00" ... <div class="from_name">Ann</div> <div class="text">look: x.org</div>
    → Draft("Ann") with one entry "look: x.org", id 41

The pages tell less than the JSON export: no ids of people, so two of one name are one
speaker, and no sign that a message was edited. The reader says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
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


def is_page(text: str) -> bool:
    """Whether the head of a page is that of a chat."""
    return "page_wrap" in text and ("from_name" in text or "message service" in text)


def drafts(members: Iterable[Member], tz: ZoneInfo | None) -> list[Draft]:
    """A chat a folder, its pages in order."""
    made: dict[str, Draft] = {}
    last: dict[str, str] = {}
    for member in sorted(members, key=_place):
        folder = member.name.rpartition("/")[0]
        page = _Page()
        page.feed(decoded(member.read()))
        page.close()
        title = " ".join(page.title.split()) or folder.rsplit("/", 1)[-1] or member.stem
        draft = made.setdefault(folder, Draft(title))
        draft.system += page.notices
        for found in page.messages:
            # Below the first of several bubbles in a row the name is not repeated.
            sender = last[folder] = found["from"] or last.get(folder, "")
            where = f"{member.name}, message {found['id']}"
            draft.add(_entry(found, sender, where, tz))
    return list(made.values())


def _place(member: Member) -> tuple[str, int]:
    match = PAGE.search(member.name)
    return member.name.rpartition("/")[0], int(match[1] or 1) if match else 0


def _entry(found: dict[str, Any], sender: str, where: str, tz: ZoneInfo | None) -> Entry:
    answered = _ANSWERED.search(found["reply"])
    extra: dict[str, Any] = reactions(found["reactions"])
    for key in ("forwarded_from", "poll"):
        if found[key]:
            extra[key] = found[key]
    text = found["text"].strip() or found["question"].strip()
    return Entry(
        "",
        sender,
        _time(found["date"], tz),
        text,
        id=found["id"],
        attachments=tuple(_attachments(found["files"], text)),
        reply_to=answered[1] if answered else "",
        extra=extra,
        where=where,
    )


def _time(stamp: str, tz: ZoneInfo | None) -> datetime | None:
    """The exporter's wall clock, or the clock of `tz` where the page tells its offset."""
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


def _attachments(files: list[dict[str, str]], text: str) -> Iterator[Attachment]:
    for file in files:
        kind, url = file["kind"], file["url"]
        title, status = file["title"].strip(), file["status"].strip()
        if kind == "image" and title == "Sticker":
            yield Attachment("sticker", url=url, caption=status)
        elif kind in ("contact", "location"):
            yield Attachment(kind, title, url, status)
        elif kind == "call":
            yield Attachment(kind)
        elif kind == "link":
            # A plain address is in the text already; one behind words is not.
            if url.split("://", 1)[-1].rstrip("/") not in text:
                yield Attachment(kind, url=url)
        elif kind:
            yield attached(url, kind)
        else:
            yield attached(url, name=title)


class _Page(HTMLParser):
    """Collects the messages of one page while it is walked through."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self.notices = 0
        self.messages: list[dict[str, Any]] = []
        self._open: list[tuple[str, frozenset[str]]] = []
        self._message: dict[str, Any] | None = None
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        classes = frozenset(told.get("class", "").split())
        if tag == "div" and "message" in classes and self._message is None:
            if "service" in classes:
                # The lines between two days are of the page, not of the chat.
                self.notices += not told.get("id", "").startswith("message-")
            elif "default" in classes:
                self._begin(told.get("id", "").removeprefix("message"))
        elif self._message is not None:
            self._look(tag, classes, told)
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append((tag, classes))

    def handle_endtag(self, tag: str) -> None:
        if not any(opened == tag for opened, _ in self._open):
            return
        while self._open.pop()[0] != tag:
            pass
        if self._message is not None and len(self._open) <= self._depth:
            self.messages.append(self._message)
            self._message = None

    def handle_data(self, data: str) -> None:
        inside = [classes for _, classes in self._open]
        if self._message is None:
            if any("page_header" in classes for classes in inside):
                self.title += data
            return
        within = inside[self._depth :]
        if key := _meaning(within):
            place = self._message["files"][-1] if key in ("title", "status") else self._message
            if key == "poll":
                place[key].append(data.strip().removeprefix("- "))
            elif key == "emoji":
                place["reactions"].append((data.strip(), "", 1))
            elif key == "count":
                emoji, who, _ = place["reactions"].pop()
                place["reactions"].append((emoji, who, whole(data.strip(), 1)))
            elif key == "text":
                place[key] += data
            else:
                place[key] += " ".join(data.split())

    def _begin(self, number: str) -> None:
        self._depth = len(self._open)
        self._message = {
            **dict.fromkeys(("from", "date", "text", "reply", "forwarded_from", "question"), ""),
            "id": number,
            "files": [],
            "poll": [],
            "reactions": [],
        }

    def _look(self, tag: str, classes: frozenset[str], told: dict[str, str]) -> None:
        """What a tag inside of a message says by itself."""
        assert self._message is not None
        inside = [opened for _, opened in self._open[self._depth :]]
        if "date" in classes and "pull_right" in classes:
            self._message["date"] = told.get("title", "")
        elif tag == "br" and _meaning(inside) == "text":
            self._message["text"] += "\n"
        elif tag == "a" and any("reply_to" in opened for opened in inside):
            self._message["reply"] = told.get("href", "")
        elif "media" in classes or classes & _WRAPS.keys():
            kinds = [kind for name, kind in (_MEDIA | _WRAPS).items() if name in classes]
            url = told.get("href", "")
            self._message["files"].append(
                {"kind": kinds[0] if kinds else "", "url": url, "title": "", "status": ""}
            )
        elif tag == "a" and _meaning(inside) == "text" and told.get("href", "").startswith("http"):
            self._message["files"].append(
                {"kind": "link", "url": told["href"], "title": "", "status": ""}
            )


def _meaning(within: list[frozenset[str]]) -> str:
    """Which part of a message a text belongs to, by the classes around it; "" for none."""
    forwarded = any("forwarded" in classes for classes in within)
    for classes in reversed(within):
        if "from_name" in classes:
            return "forwarded_from" if forwarded else "from"
        if "text" in classes and "bold" not in classes:
            return "text"
        if "emoji" in classes:
            return "emoji"
        if "count" in classes:
            return "count"
        if "answer" in classes:
            return "poll"
        if "question" in classes:
            return "question"
        if "title" in classes and any("media" in outer for outer in within):
            return "title"
        if "status" in classes and any("media" in outer for outer in within):
            return "status"
        if "details" in classes or "initials" in classes:
            return ""
    return ""
