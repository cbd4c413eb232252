"""HTML, of a page or of one message, into its tags and its text, in time linear to its length.

    list(walk('<p class="x">a &amp; b</p>'))
    → [Tag("p", ' class="x"'), "a &amp; b", Tag("p", closes=True)]
    list(elements('<i>a</i><p class="x">b</p>', lambda element, _: "x" in element.classes))
    → [Element("p", {"class": "x"}, frozenset({"x"}), ["b"])]
    flat('<p>see <a href="https://x.org">this</a></p><blockquote>old</blockquote>')
    → Flat(text="see this", quoted="old", links=[("https://x.org", "this")])

Exporters escape `<` and `>` everywhere but in tags, so a tag ends at the first `>`. Python's own
parser looks for ends again and again: a page of five megabytes could take it hours.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from realtalk.chat import Attachment
from realtalk.errors import RealtalkError
from realtalk.formats.json_input import decode, make_attachment, word_set
from realtalk.formats.limits import scale
from realtalk.formats.source import Member
from realtalk.text.words import one_line

VOID = word_set("area br col hr img input link meta source wbr")

_DEEPEST = 200  # tags inside each other; real pages have a dozen
_MOST_DEEPER = 2_000  # tags below that: a page of nothing else is refused, not walked to its end
_MOST_INSIDE = 1_000_000  # elements in a wanted one, each of 200 bytes; whole pages have 200,000
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]{0,40})([^<>]*)>|<![^<>]*>")
# Minified pages leave the quotes out where they can.
_ATTRIBUTE = re.compile(
    r"""([a-zA-Z][\w:.-]{0,60})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))"""
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPACES = re.compile(r"[ \t\r\n\f\u00a0]+")
_BLOCKS = word_set("""
    address article blockquote dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr
    li main nav ol p pre quote section table tbody tr ul
    """)
_UNSEEN = word_set("head style script title template noscript legacyquote")
_QUOTES = frozenset(("blockquote", "quote"))
_TELLING = _QUOTES | {"a", "emoji", "img"}  # tags whose attributes say something


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as it stands: its name in small letters, and what else is in it."""

    name: str
    rest: str = ""
    closes: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether nothing can be inside: `<x/>`, not `</x>` or `<x href=a/>`."""
        return not self.closes and self.rest.endswith("/") and self.rest[-2:-1] in " \n\"'"

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


@dataclass(slots=True, eq=False)
class Element:
    """An element with all that is in it: text as people see it, and further elements."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    classes: frozenset[str] = frozenset()
    parts: list[Element | str] = field(default_factory=list)

    def inside(self, is_closed: Callable[[Element], bool] = lambda _: False) -> Iterator[Element]:
        """Every element in it, in the order of the page, but nothing in those that are closed."""
        waiting = self.parts[::-1]  # no recursion, which takes time for every level
        while waiting:
            part = waiting.pop()
            if not isinstance(part, str):
                yield part
                if not is_closed(part):
                    waiting += reversed(part.parts)

    def having(self, *classes: str) -> list[Element]:
        """The elements in it that are of one of these classes."""
        return [element for element in self.inside() if not element.classes.isdisjoint(classes)]

    def text(self, instead: Callable[[Element], str | None] = lambda _: None) -> str:
        """Its text with line breaks; `instead` may say what stands for an element in it."""
        texts = []
        for part in self.parts:
            if isinstance(part, str):
                texts.append(part)
            elif (words := instead(part)) is not None:
                texts.append(words)
            else:
                texts.append("\n" if part.name == "br" else part.text(instead))
        return "".join(texts)

    def get(self, attribute: str) -> str:
        """What an attribute says; "" where it is not there."""
        return self.attributes.get(attribute, "")

    def without(self, classes: Iterable[str]) -> str:
        """Its text without that of elements of such classes."""
        return self.text(lambda inner: None if inner.classes.isdisjoint(classes) else "")

    def links(self) -> list[str]:
        """The addresses of the links in it."""
        return [part.get("href") for part in self.inside() if part.name == "a"]

    def line(self) -> str:
        return one_line(self.text())


Wanted = Callable[[Element, list[Element]], bool]


def elements(text: str, is_wanted: Wanted, where: str | None = None) -> Iterator[Element]:
    """The elements of a page that are wanted, each when it ends.

    One ends where another begins, too: in a damaged page its own end may be lost. `is_wanted` is
    told what is open of the one before.
    """
    opened: list[Element] = []
    names: Counter[str] = Counter()
    kept = -1  # the place of the wanted element that is open
    deeper = 0  # tags that are open where no more are kept
    inside = 0  # elements in the wanted one
    for piece in walk(text):
        if isinstance(piece, str):
            if kept >= 0:
                opened[-1].parts.append(unescape(piece))
        elif not piece.closes:
            if deeper > scale(_MOST_DEEPER) or inside > scale(_MOST_INSIDE):
                raise RealtalkError(
                    f"holds more than {_DEEPEST:,} tags inside each other, or too many in one",
                    where=where,
                    fix="an exporter writes no such page; export the chat again",
                )
            attributes = piece.attributes
            classes = frozenset(attributes.get("class", "").split())
            element = Element(piece.name, attributes, classes)
            is_alone = piece.name in VOID or piece.is_alone
            if not is_alone and is_wanted(element, opened[kept:] if kept >= 0 else []):
                if kept >= 0:
                    yield opened[kept]
                    names.subtract(ended.name for ended in opened[kept:])
                    del opened[kept:]
                    deeper = inside = 0
                kept = len(opened) if len(opened) < _DEEPEST else -1
            elif kept >= 0:
                opened[-1].parts.append(element)
                inside += 1
            if is_alone:
                continue
            if len(opened) < _DEEPEST:
                opened.append(element)
                names[piece.name] += 1
                continue
            deeper += 1
        elif deeper:
            deeper -= 1
        else:  # closes whatever was left open in it, too
            while names[piece.name]:
                ended = opened.pop()
                names[ended.name] -= 1
                if len(opened) == kept:
                    kept, inside = -1, 0
                    yield ended
                if ended.name == piece.name:
                    break
    if kept >= 0:  # a page may end in the middle of a message
        yield opened[kept]


def page_elements(member: Member, is_wanted: Wanted) -> Iterator[Element]:
    """Those of a whole file."""
    return elements(decode(member.read()), is_wanted, member.where)


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
    result, own, quoted = Flat(), list[str](), list[str]()
    unseen = quotes = 0  # how many such tags are open
    kept = int(spaced)
    link: tuple[str, int] | None = None  # an address, and where its words begin
    for piece in walk(text):
        here = quoted if quotes else own
        if isinstance(piece, str):
            between_blocks = not here or here[-1].endswith("\n")
            if not unseen and (kept or not between_blocks or piece.strip(" \t\r\n\f")):
                words = unescape(piece)
                here.append(words if kept else _SPACES.sub(" ", words))
            continue
        name, step = piece.name, -1 if piece.closes else 1
        if name in _UNSEEN:
            unseen = max(0, unseen + (0 if piece.is_alone else step))
        if unseen or name in _UNSEEN:
            continue
        fields = piece.attributes if step > 0 and name in _TELLING else {}
        if name in _QUOTES and not piece.is_alone:
            if not quotes:
                answered = fields.get("itemid") or fields.get("messageid") or ""
                result.answers = result.answers or answered
            quotes = max(0, quotes + step)
            here = quoted if quotes else own
        if name == "br" or (name in _BLOCKS and here and not here[-1].endswith("\n")):
            here.append("\n")
        if name in ("td", "th"):
            here.append(" ")
        if name == "pre":
            kept = max(0, kept + step)
        if name in ("img", "emoji") and step > 0:
            # A picture that was sent; an emoji is drawn as one, and is text.
            address, words = fields.get("src", ""), fields.get("alt", "")
            if not address or "emoji" in fields.get("itemtype", "").lower():
                here.append(words)
            elif not quotes:
                result.pictures.append((address, words))
        if name == "a":
            if link is not None:
                result.links.append((link[0], _lines(own[link[1] :])))
            target = "" if quotes else fields.get("href", "")
            link = (target, len(own)) if target else None
    result.text, result.quoted = _lines(own), _lines(quoted)
    return result


def find_links(body: Flat) -> Iterator[Attachment]:
    """Pictures in a text, and addresses that stand behind words of it."""
    for address, words in body.pictures:
        yield make_attachment(address, "image", words)
    for address, words in body.links:
        if address.rstrip("/") != words.rstrip("/"):
            yield Attachment("link", words, address)


def _lines(pieces: list[str]) -> str:
    return join_lines(line.removeprefix(" ").rstrip(" ") for line in "".join(pieces).split("\n"))


def join_lines(lines: Iterable[str]) -> str:
    """Lines as a text: one empty line at most between two of them, none around them."""
    paragraphs: list[str] = []
    for line in lines:
        if line or (paragraphs and paragraphs[-1]):
            paragraphs.append(line)
    return "\n".join(paragraphs).strip("\n")
