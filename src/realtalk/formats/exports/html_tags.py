"""HTML, of a page or of one message, into its tags and its text, in time linear to its length.

    list(walk('<p class="x">a &amp; b</p>'))
    → [Tag("p", ' class="x"'), "a &amp; b", Tag("p", closes=True)]
    flat('<p>see <a href="https://x.org">this</a></p><blockquote>old</blockquote>')
    → Flat(text="see this", quoted="old", links=[("https://x.org", "this")])

Exporters escape `<` and `>` everywhere but in tags, so a tag ends at the first `>`. Python's own
parser looks for ends again and again: a page of five megabytes could take it hours.
"""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from realtalk.chat import Attachment
from realtalk.errors import RealtalkError
from realtalk.formats.json_input import decode, make_attachment
from realtalk.formats.limits import scale
from realtalk.formats.source import Member

T = TypeVar("T")
P = TypeVar("P")

VOID = frozenset("area br col hr img input link meta source wbr".split())  # noqa: SIM905

_DEEPEST = 200  # tags inside each other; real pages have a dozen
_MOST_DEEPER = 2_000  # tags below that: a page of nothing else is refused, not walked to its end
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,40})([^<>]*)>|<![^<>]*>")
# Minified pages leave the quotes out where they can.
_ATTRIBUTE = re.compile(
    r"""([a-zA-Z][\w:.-]{0,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))"""
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPACES = re.compile(r"[ \t\r\n\f\u00a0]+")
_BLOCKS = frozenset(
    """
    address article blockquote dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr
    li main nav ol p pre quote section table tbody tr ul
    """.split()  # noqa: SIM905 - words read better than quotes
)
_UNSEEN = frozenset(("head", "style", "script", "title", "template", "noscript", "legacyquote"))
_QUOTES = frozenset(("blockquote", "quote"))


class DeepPage(RealtalkError):
    """A page of tags inside tags."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as it stands: its name in small letters, and what else is in it."""

    name: str
    rest: str = ""
    closes: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether nothing can be inside: `<x/>`, not `</x>`."""
        return not self.closes and self.rest.endswith("/")

    @property
    def attributes(self) -> dict[str, str]:
        pairs: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(self.rest):
            pairs.setdefault(name.lower(), unescape("".join(values)))
        return pairs


def walk(text: str) -> Iterator[Tag | str]:
    """Tags and the text between them, still escaped, in order; comments are left out."""
    start = 0
    ended = text.rfind("-->") + 3  # what begins later has no end to look for
    text = _COMMENT.sub("", text[:ended]) + text[ended:] if ended > 2 else text
    for match in _TAG.finditer(text):
        if start < match.start():
            yield text[start : match.start()]
        start = match.end()
        if match[2] is not None:  # else <!DOCTYPE html>
            yield Tag(match[2].lower(), match[3], bool(match[1]))
    if start < len(text):
        yield text[start:]


class PageWalker(ABC, Generic[T]):
    """Walks through a page piece by piece; a subclass says what to do with each.

    It keeps what the subclass says of every open tag; `outside` stands there before the first.
    """

    def __init__(self, outside: T) -> None:
        self._open: list[tuple[str, T]] = [("", outside)]
        self._names: Counter[str] = Counter()
        self._deeper = 0  # tags that are open where no more are kept

    def _walk(self, text: str) -> None:
        for piece in walk(text):
            if isinstance(piece, str):
                self._data(piece)
            elif piece.closes:
                self._end(piece.name)
            else:
                self._start(piece)

    @abstractmethod
    def _start(self, tag: Tag) -> None: ...

    def _end(self, name: str) -> None:
        self._leave(name)

    @abstractmethod
    def _data(self, raw: str) -> None: ...

    @property
    def _here(self) -> T:
        """What is kept of the innermost tag."""
        return self._open[-1][1]

    def _enter(self, name: str, value: T) -> None:
        if name in VOID:
            return
        if len(self._open) <= _DEEPEST:
            self._open.append((name, value))
            self._names[name] += 1
            return
        self._deeper += 1
        if self._deeper > scale(_MOST_DEEPER):
            raise DeepPage(
                f"holds more than {_DEEPEST:,} tags inside each other",
                fix="an exporter writes no such page; export the chat again",
            )

    def _leave(self, name: str) -> list[T]:
        """Closes a tag and whatever was left open in it; none where it is not open."""
        closed: list[T] = []
        if self._deeper:
            self._deeper -= 1
            return closed
        while self._names[name]:
            last, value = self._open.pop()
            self._names[last] -= 1
            closed.append(value)
            if last == name:
                break
        return closed


Parts = defaultdict[str, list[str]]  # pieces of text by what they are


def _parts() -> Parts:
    return defaultdict(list)


@dataclass(slots=True)
class PageFile:
    """Something in a message that is not text, with the words beside it."""

    kind: str
    url: str = ""
    parts: Parts = field(default_factory=_parts)

    def line(self, part: str) -> str:
        return " ".join("".join(self.parts[part]).split())


@dataclass(slots=True)
class Bubble:
    """One message of a page: pieces of text by what they are, and what stands beside them."""

    id: str
    reply: str = ""
    parts: Parts = field(default_factory=_parts)
    files: list[PageFile] = field(default_factory=list)
    reactions: list[list[str]] = field(default_factory=list)  # an emoji and its count

    def text(self, part: str) -> str:
        return "".join(self.parts[part]).strip()

    def line(self, part: str) -> str:
        return " ".join(self.text(part).split())

    def write(self, part: str, text: str) -> None:
        """Takes a piece of text; what a reaction or a file says belongs to the last of them."""
        if part == "emoji":
            self.reactions.append([text.strip(), "1"])
        elif part == "count":
            for mark in self.reactions[-1:]:
                mark[1] = text.strip()
        elif part in ("title", "status", "caption"):
            for file in self.files[-1:]:
                file.parts[part].append(text)
        else:
            self.parts[part].append(text)


def page_of(member: Member, walk_through: Callable[[str], P]) -> P:
    """What a walker makes of a page; where it is refused, the file is named."""
    try:
        return walk_through(decode(member.read()))
    except DeepPage as error:
        raise member.error(error.what, error.fix) from error


def unescape(text: str) -> str:
    """Text as people see it."""
    try:
        return html.unescape(text) if "&" in text else text
    except ValueError:  # a character's number of thousands of digits
        return text


@dataclass(slots=True)
class Flat:
    """What a piece of HTML says: its text, what it quotes, and what is linked or shown in it."""

    text: str = ""
    quoted: str = ""
    answers: str = ""  # the id of the message that is quoted, where the app states it
    links: list[tuple[str, str]] = field(default_factory=list)  # address, words
    pictures: list[tuple[str, str]] = field(default_factory=list)  # address, name


def flat(text: str, *, spaced: bool = False) -> Flat:
    """HTML of one message, flattened: one line per block, spaces as a browser shows them.

    Where it is `spaced`, line breaks and spaces are the sender's own.
    """
    return _Flattening(text, spaced).result


def find_links(body: Flat) -> Iterator[Attachment]:
    """Pictures in a text, and addresses that stand behind words of it."""
    for address, words in body.pictures:
        yield make_attachment(address, "image", words)
    for address, words in body.links:
        if address.rstrip("/") != words.rstrip("/"):
            yield Attachment("link", words, address)


class _Flattening:
    """Walks through a message."""

    def __init__(self, text: str, spaced: bool) -> None:
        self.result = Flat()
        self._own: list[str] = []
        self._quoted: list[str] = []
        self._unseen = self._quotes = 0  # how many such tags are open
        self._kept = int(spaced)
        self._link: tuple[str, int] | None = None  # an address, and where its words begin
        for piece in walk(text):
            if isinstance(piece, str):
                self._data(piece)
            elif piece.name in _UNSEEN:
                self._unseen = max(0, self._unseen + (-1 if piece.closes else not piece.is_alone))
            elif not self._unseen:
                self._tag(piece)
        self.result.text = _lines(self._own)
        self.result.quoted = _lines(self._quoted)

    @property
    def _here(self) -> list[str]:
        return self._quoted if self._quotes else self._own

    @property
    def _at_start(self) -> bool:
        """Whether a line has just begun."""
        return not self._here or self._here[-1].endswith("\n")

    def _data(self, raw: str) -> None:
        if not raw or self._unseen:
            return
        if not self._kept and self._at_start and not raw.strip(" \t\r\n\f"):
            return  # between two blocks
        words = unescape(raw)
        self._here.append(words if self._kept else _SPACES.sub(" ", words))

    def _tag(self, tag: Tag) -> None:
        if tag.name in _QUOTES and not tag.is_alone:
            if not tag.closes and not self._quotes:
                attributes = tag.attributes
                self.result.answers = self.result.answers or (
                    attributes.get("itemid") or attributes.get("messageid") or ""
                )
            self._quotes = max(0, self._quotes + (-1 if tag.closes else 1))
        if tag.name == "br" or (tag.name in _BLOCKS and not self._at_start):
            self._here.append("\n")
        if tag.name in ("td", "th"):
            self._here.append(" ")
        if tag.name == "pre":
            self._kept = max(0, self._kept + (-1 if tag.closes else 1))
        if tag.name in ("img", "emoji") and not tag.closes:
            self._picture(tag.attributes)
        if tag.name == "a":
            self._end_link()
            if not tag.closes and not self._quotes and (to := tag.attributes.get("href", "")):
                self._link = (to, len(self._own))

    def _picture(self, attributes: dict[str, str]) -> None:
        """A picture that was sent; an emoji is drawn as one, and is text."""
        address, words = attributes.get("src", ""), attributes.get("alt", "")
        if not address or "emoji" in attributes.get("itemtype", "").lower():
            self._here.append(words)
        elif not self._quotes:
            self.result.pictures.append((address, words))

    def _end_link(self) -> None:
        if self._link is not None:
            address, start = self._link
            self.result.links.append((address, _lines(self._own[start:])))
            self._link = None


def _lines(pieces: list[str]) -> str:
    return join_lines(line.removeprefix(" ").rstrip(" ") for line in "".join(pieces).split("\n"))


def join_lines(lines: Iterable[str]) -> str:
    """Lines as a text: one empty line at most between two of them, none around them."""
    paragraphs: list[str] = []
    for line in lines:
        if line or (paragraphs and paragraphs[-1]):
            paragraphs.append(line)
    return "\n".join(paragraphs).strip("\n")
