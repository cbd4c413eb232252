"""Messenger and Instagram downloaded as HTML into conversations.

    your_facebook_activity/messages/inbox/ann_123/message_1.html    one conversation, newest first
    <div class="_a6-g"><div class="_a6-h">Ann</div><div class="_a6-p"><div>hi</div></div>
    <div class="_a6-o">May 1, 2024, 9:30 AM</div></div>
    → OpenThread(Draft("Ann")) with one candidate of Ann

The names of classes change from year to year, so a message is known by its structure: an element
that holds a name, a body and a date, in this order, and no other message. Dates are spelled in the
language and the clock of the account. Pages say less than JSON: no time of a reaction, and seconds
only sometimes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from realtalk.chat import Attachment
from realtalk.corpora.exports.assembly import Draft, Entry, reactions
from realtalk.corpora.exports.html_tags import VOID, PageWalker, Tag, page_of, unescaped
from realtalk.corpora.exports.meta_threads import Candidate, OpenThread
from realtalk.corpora.exports.spelled_dates import LONGEST, order_of, spelled
from realtalk.corpora.exports.values import attached, filled
from realtalk.corpora.reading import DateOrder
from realtalk.corpora.source import Member

PAGE = re.compile(r"(?:^|/)message_(\d{1,9})\.html?(\.gz)?$")
ENDINGS = (".html", ".htm")
NOTE = "a download as HTML tells no seconds and no calls apart; one as JSON does"
HEAD = 1 << 18  # bytes of a page that are looked at: its styles come first

_LONGEST_NAME = 200
_LONGEST_TEXT = 20_000  # letters in which addresses are looked for
_CLOCK = re.compile(r"\d[:.h]\d\d|\d[時时시]")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_BLOCKS = frozenset(("div", "p", "h1", "h2", "h3", "h4", "section", "footer", "ul", "li", "table"))
_UNSEEN = frozenset(("style", "script", "head", "title"))
_MEDIA = {"img": "image", "video": "video", "audio": "audio", "source": ""}
_PLAYED = ("video", "audio")  # what stands in such an element, or in a link to one, is the app's
_REACTION = re.compile(r"(\W{1,16})(.{0,200}?)(?: ?\([^()]{6,60}\))?", re.DOTALL)


def messages_in(text: str) -> int:
    """How many messages the head of a page holds."""
    return len(_MetaPage(text).messages)


def threads(members: list[Member], order: DateOrder | None) -> list[OpenThread]:
    """One conversation per folder, its pages in order."""
    pages: dict[str, list[tuple[Member, _MetaPage]]] = {}
    for member in sorted(members, key=_place):
        alone = PAGE.search(member.name) is None
        # A download in several archives has "inbox/ann_123" in more than one of them.
        folder = f"/{member.name}" if alone else "/".join(member.folder.split("/")[-2:]) + "/"
        pages.setdefault(folder, []).append((member, page_of(member, _MetaPage)))
    every = [page for parts in pages.values() for _, page in parts]
    order = order or order_of(message.stamp for page in every for message in page.messages)
    return [_thread(parts, order) for parts in pages.values()]


def _place(member: Member) -> tuple[str, int]:
    match = PAGE.search(member.name)
    return member.folder, int(match[1]) if match else 0


def _thread(parts: list[tuple[Member, _MetaPage]], order: DateOrder) -> OpenThread:
    first, page = parts[0]
    people = [message.name for _, page in parts for message in page.messages]
    folder = first.folder.rsplit("/", 1)[-1] if PAGE.search(first.name) else ""
    draft = Draft(
        page.title or folder or first.stem,
        newest_first=True,
        extra=filled({"participants": list(dict.fromkeys(people))}),
    )
    thread = OpenThread(draft)
    for member, part in parts:
        for index, message in enumerate(part.messages):
            time = spelled(message.stamp, order)
            entry = Entry(
                "",
                message.name,
                time,
                message.text,
                attachments=tuple(message.files),
                extra=reactions(message.reactions),
                where=f"{member.name}, messages[{index}]",
            )
            # Without seconds a reaction in the same minute is no sign of anything.
            thread.candidates.append(Candidate(entry, second=0))
    return thread


@dataclass(slots=True)
class _Message:
    """One message as a page states it."""

    name: str
    text: str
    stamp: str
    files: list[Attachment]
    reactions: list[tuple[str, list[str], int]]


@dataclass(slots=True)
class _Element:
    """An open element: which pieces of text are in it, and in the elements inside of it."""

    name: str
    start: int
    messages: int  # how many there were before it
    played: bool  # a film or a sound, or a link to one
    inside: list[tuple[int, int]] = field(default_factory=list)


class _MetaPage(PageWalker[_Element]):
    """Collects the messages of one page while it is walked through.

    Pieces of text stand in one list, so that an element is a pair of places in it: nothing is
    copied from level to level.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.messages: list[_Message] = []
        self._pieces: list[str] = []
        self._ends: list[int] = [0]  # letters up to each piece
        self._files: list[tuple[int, str, str]] = []  # the place, the tag, the address
        self._listed: list[tuple[int, int]] = []  # the places of what stands in lists
        self._title: list[str] = []
        self._unseen = ""  # the tag whose text nobody sees
        self._spoken: list[tuple[int, int]] = []  # the places of words for a file
        self._walk(text)

    @property
    def title(self) -> str:
        return " ".join("".join(self._title).split())

    def _data(self, written: str) -> None:
        if self._unseen == "title":
            self._title.append(unescaped(written))
        elif written and not self._unseen:
            self._append(unescaped(written))

    def _append(self, text: str) -> None:
        self._pieces.append(text)
        self._ends.append(self._ends[-1] + len(text))

    def _start(self, tag: Tag) -> None:
        if tag.name in _UNSEEN and tag.name != "head":
            self._unseen = tag.name
            return
        played = tag.name in _PLAYED
        if tag.name in _MEDIA or tag.name == "a":
            named = tag.attributes
            if address := named.get("src") or named.get("href") or "":
                self._files.append((len(self._pieces), tag.name, address))
                played |= "://" not in address and attached(address).kind in _PLAYED
        if tag.name == "br" or tag.name in _BLOCKS:
            self._append("\n")
        if tag.name not in VOID:
            start = len(self._pieces)
            self._open.enter(tag.name, _Element(tag.name, start, len(self.messages), played))

    def _end(self, name: str) -> None:
        if name == self._unseen:
            self._unseen = ""
            return
        for element in self._open.leave(name):
            span = (element.start, len(self._pieces))
            if element.name == "li":
                self._listed.append(span)
            if element.played:
                self._spoken.append(span)
            if len(element.inside) == 3 and element.messages == len(self.messages):
                self._look(element)
            outer = self._open.here
            if outer is not None and len(outer.inside) < 4:
                outer.inside.append(span)
        if name in _BLOCKS:
            self._append("\n")

    def _length(self, span: tuple[int, int]) -> int:
        return self._ends[span[1]] - self._ends[span[0]]

    def _text(self, span: tuple[int, int]) -> str:
        return "".join(self._pieces[span[0] : span[1]])

    def _look(self, element: _Element) -> None:
        """Takes an element for a message where it holds a name, a body and a date."""
        name, body, date = element.inside
        if not (0 < self._length(name) <= _LONGEST_NAME and 6 < self._length(date) <= LONGEST):
            return
        stamp, called = self._text(date).strip(), " ".join(self._text(name).split())
        # A month in a language that is not known still has its year and clock around it.
        dated = _YEAR.search(stamp) or spelled(stamp, "dmy") or spelled(stamp, "mdy")
        if not called or not dated or not _CLOCK.search(stamp):
            return
        lists = [span for span in self._listed if body[0] <= span[0] and span[1] <= body[1]]
        self.messages.append(
            _Message(
                called,
                self._said(body, sorted([*lists, *self._spoken])),
                stamp,
                list(self._attachments(body)),
                [mark for span in lists if (mark := _mark(self._text(span)))],
            )
        )
        self._listed.clear()
        self._spoken.clear()
        self._files.clear()

    def _said(self, body: tuple[int, int], others: list[tuple[int, int]]) -> str:
        """The text of a body without the reactions that are listed in it, or words for a film."""
        kept: list[str] = []
        start = body[0]
        for span in others:
            if span[0] < body[0] or span[1] > body[1]:
                continue
            kept += self._pieces[start : span[0]]
            start = max(start, span[1])
        kept += self._pieces[start : body[1]]
        lines = [line.strip() for line in "".join(kept).split("\n")]
        return "\n".join(filter(None, lines))

    def _attachments(self, body: tuple[int, int]) -> Iterator[Attachment]:
        text = self._text(body)
        seen: set[str] = set()
        for place, tag, address in self._files:
            # An address in the text is there already, and a preview stands in a link to its file.
            if not body[0] <= place <= body[1] or address in seen:
                continue
            seen.add(address)
            if tag != "a":
                yield attached(address, _MEDIA[tag])
            elif "://" not in address:
                yield attached(address)
            elif len(text) > _LONGEST_TEXT or address not in text:
                yield Attachment("link", url=address)


def _mark(text: str) -> tuple[str, list[str], int] | None:
    """A reaction: an emoji, who gave it, and, in brackets, when."""
    match = _REACTION.fullmatch(" ".join(text.split()))
    return (match[1].strip(), [match[2].strip()], 1) if match and match[1].strip() else None
