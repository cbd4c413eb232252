"""Pages of imessage-exporter into drafts of chats, one page per conversation.

    <div class="message"><div class="received"><p><span class="timestamp"><a href="sms://open?
    message-guid=41">May 17, 2022  5:29:42 PM</a></span> <span class="sender">Ann</span></p>
    <hr><div class="message_part"><span class="bubble">hi</span></div></div></div>
    → one entry of Ann, "hi", id 41

Answers stand twice, inside of what they answer and by themselves; those inside say what is
answered and are no messages of their own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.html_tags import PageWalker, Tag, page_of, unescaped
from realtalk.corpora.exports.imessage_marks import Reaction, moment, sent_file, tapback
from realtalk.corpora.source import Member

_GUID = re.compile(r"message-guid=([\w:./-]{1,100})")
# The exporter leaves out the end of this tag.
_AUDIO = re.compile(r'<audio [^<>"]{0,100}src="([^"<>]{1,1000})"')
# What the text inside of such a class is.
_PARTS = {
    "timestamp": "time",
    "sender": "sender",
    "bubble": "text",
    "subject": "subject",
    "tapback": "tapback",
    "reaction": "tapback",
    "sticker_tapback": "tapback",
    "unsent": "unsent",
    "edited": "edited",
    "name": "title",
    "caption": "caption",
    "subcaption": "caption",
    "transcription": "transcription",
    "shareplay": "shared",
    "shared_location": "shared",
    "attachment_error": "lost",
    "app_error": "lost",
    "deleted": "deleted",
    "expressive": "effect",
    "reply_context": "context",
    "reply_anchor": "context",
    "app": "app",
}
_PIECE = "\0\uffff\0"  # between two pieces of one part; nothing that is written
_WHOLE = ("title", "time", "sender")  # parts that are one piece
_FILES = {"img": "image", "video": "video", "source": "video", "audio": "audio"}


def is_page(head: str) -> bool:
    """Whether the head of a page is one of imessage-exporter's."""
    marks = ('class="message_part"', 'class="timestamp"', 'class="sender"')
    return all(mark in head for mark in marks) and (
        'class="received"' in head or 'class="sent ' in head
    )


@dataclass(slots=True)
class _AppleBubble:
    """One message of a page: pieces of text by what they are, and its files."""

    parent: _AppleBubble | None
    guid: str = ""
    parts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    files: list[tuple[str, str]] = field(default_factory=list)  # kind, path
    link: str = ""

    def said(self, part: str) -> str:
        return "".join(self.parts[part]).strip()

    def _words(self, part: str) -> str:
        return "\n".join(" ".join(words.split()) for words in self.said(part).split(_PIECE)).strip()

    @property
    def is_shared(self) -> bool:
        """Whether it only says that a place or a film is shared."""
        return "shared" in self.parts and not (self.said("text") or self.files or self.link)

    def entry(self, where: str) -> Entry:
        edited = self.said("edited").split(_PIECE)[-1].strip()
        texts = "".join(self.parts["text"]).split(_PIECE)[1:]
        text = "\n".join(filter(None, (*texts, edited)))
        marks = [_reaction(words) for words in self.said("tapback").split(_PIECE)]
        files = [_file(kind, path) for kind, path in self.files]
        files += [Attachment("media")] * self.parts["lost"].count(_PIECE)
        if (heard := self.said("transcription").removeprefix("Transcription: ")) and files:
            files[-1] = Attachment(files[-1].kind, files[-1].name, files[-1].url, heard)
        if self.link or "app" in self.parts:
            title, caption, rest = (self._words(part) for part in ("title", "caption", "app"))
            kind = "link" if self.link else "media"
            files.append(Attachment(kind, title or rest, self.link, caption))
        return Entry(
            "",
            " ".join(self.said("sender").split()),
            moment(self.said("time")),
            text or self.link,
            id=self.guid,
            attachments=tuple(files),
            edited="edited" in self.parts,
            deleted="deleted" in self.parts or ("unsent" in self.parts and not (text or files)),
            extra=reactions(mark for mark in marks if mark),
            where=where,
        )


def _file(kind: str, path: str) -> Attachment:
    return sent_file(path, kind if kind in ("sticker", "video", "audio") else "")


def _reaction(words: str) -> Reaction | None:
    plain = " ".join(words.split())
    # Of a sticker only the picture and its owner are shown.
    return ("sticker", [plain[3:]], 1) if plain.startswith("by ") else tapback(plain)


def draft(member: Member) -> Draft:
    """The chat of one page."""
    page = page_of(member, _ApplePage)
    chat = Draft(member.stem)
    chat.notice(page.notices)
    copies: list[tuple[_AppleBubble, Entry]] = []
    for number, bubble in enumerate(page.bubbles, 1):
        where = f"{member.name}, message {number}"
        if bubble.is_shared:
            chat.notice()
        elif bubble.parent is None:
            chat.add(bubble.entry(where))
        else:
            copies.append((bubble.parent, bubble.entry(where)))
    known = {_key(entry): entry for entry in chat.entries}
    for parent, copy in copies:
        answer = known.get(_key(copy))
        if answer is None:
            answer = copy
            chat.add(copy)
        else:
            chat.notice()
        answer.reply_to = parent.guid
    return chat


def _key(entry: Entry) -> tuple[object, ...]:
    return (entry.id,) if entry.id else (entry.time, entry.name, entry.text)


class _AppleSpot(NamedTuple):
    """What the text at a place is, and the message around it."""

    part: str = ""
    bubble: _AppleBubble | None = None


class _ApplePage(PageWalker[_AppleSpot]):
    """Collects the messages of one page while it is walked through."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.notices = 0
        self.bubbles: list[_AppleBubble] = []
        self._walk(text)

    def _start(self, tag: Tag) -> None:
        named = tag.attributes
        classes = named.get("class", "").split()
        part, bubble = self._open.here or _AppleSpot()
        if tag.name == "div" and "message" in classes:
            bubble = _AppleBubble(bubble)
            part = ""
            self.bubbles.append(bubble)
        elif tag.name == "div" and "announcement" in classes:
            self.notices += 1
            part, bubble = "", None
        elif bubble is not None:
            part = self._inside(tag, named, classes, part, bubble)
        if not tag.is_alone:
            self._open.enter(tag.name, _AppleSpot(part, bubble))

    def _inside(
        self, tag: Tag, named: dict[str, str], classes: list[str], part: str, bubble: _AppleBubble
    ) -> str:
        """Takes what a tag in a message says by itself; which part the text in it is."""
        own = next((_PARTS[name] for name in classes if name in _PARTS), "")
        if own == "time" and part == "edited":
            return "context"  # when it was edited
        if own:
            if own not in _WHOLE:
                bubble.parts[own].append(_PIECE)  # a piece of its own
            return own
        address = named.get("src") or ""
        if "sticker" in classes:
            return "sticker"
        if tag.name in _FILES and address and part not in ("app", "title", "tapback"):
            kind = "sticker" if part == "sticker" else _FILES[tag.name]
            if not bubble.files or bubble.files[-1][1] != address:
                bubble.files.append((kind, address))
        elif tag.name == "a" and part == "time":
            found = _GUID.search(named.get("href", ""))
            bubble.guid = found[1] if found else ""
        elif tag.name == "a" and part == "app":
            bubble.link = bubble.link or named.get("href", "")
        elif tag.name == "a" and "attachment" in part:
            bubble.files.append(("", named.get("href", "")))
        elif tag.name == "tr" and part == "edited":
            bubble.parts[part].append(_PIECE)
        elif tag.name == "br" and part in ("text", "edited"):
            bubble.parts[part].append("\n")
        return "attachment" if "attachment" in classes else part

    def _data(self, written: str) -> None:
        part, bubble = self._open.here or _AppleSpot()
        if bubble is None or not written:
            return
        for audio in _AUDIO.finditer(written):
            bubble.files.append(("audio", unescaped(audio[1])))
        if part and part != "attachment":
            bubble.parts[part].append(unescaped(written))
