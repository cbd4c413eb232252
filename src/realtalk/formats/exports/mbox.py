"""A mailbox (mbox) or mails (.eml) into chats: one thread, one chat.

    From ann@x.org Wed May  1 07:30:00 2024
    From: Ann Berg <ann@x.org>
    Subject: Re: seeds
    Message-ID: <2@x.org>
    In-Reply-To: <1@x.org>

    they came!
    → Chat("seeds") with this message of Ann Berg, which replies to <1@x.org>

A thread is what References and In-Reply-To join; a mail without them, whose subject says that it
is an answer, joins the latest thread of that subject. The plain text is read where there is one,
else the HTML; quotations and signatures are cut and counted. Times are UTC, because
people write from several zones. Automatic answers and reports of delivery are notices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header
from email.message import Message as Mail
from email.parser import BytesParser
from email.policy import compat32
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format
from realtalk.formats.exports.html_tags import flat, join_lines
from realtalk.formats.json_input import make_attachment
from realtalk.formats.source import FormatFiles, Member
from realtalk.text.words import one_line

# The body of a mail without what it quotes and without its signature.
#
#     bare("yes!\n\nOn Tue, 14 May 2024 Ann wrote:\n> did it rain?\n-- \nBen, gardener")
#     → Bare("yes!", quoted=2, signature=2)
#
# What stands behind ">" is a quotation, and so is everything below a copied header ("From: …
# Sent: … To: …") or a line of dashes around words above one. A line that ends with a colon and
# holds a date or an address introduces the quotation below it. A signature stands below "-- ".
# Where nothing would be left, the body is kept as it is: somebody forwarded it.

_COPIED = re.compile(r"\*?[^\W\d_][\w \-]{1,20}\*?\s?:\s?\*?\S.{0,300}")
_DASHES = re.compile(r"[-_]{3,40}[^-_]{0,60}[-_]{0,40}\s*")
_DATED = re.compile(r"\d{1,2}[:.h]\d\d|\b\d{4}\b|@")
_SIGNATURE = ("-- ", "--")
_LONGEST_SIGNATURE = 25  # lines
_LONGEST_INTRODUCTION = 300
_FEWEST_COPIED = 3  # header lines of a copied mail


class Bare(NamedTuple):
    """What was written, and how many lines were cut."""

    text: str
    quoted: int = 0
    signature: int = 0


def bare(body: str) -> Bare:
    """The words of the sender."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    signed = _signature(lines)
    copied = _find_copied_mail(lines[:signed])
    own: list[str] = []
    was_quoted = False
    for line in lines[:copied]:
        is_quoted = line.lstrip().startswith(">")
        if is_quoted and not was_quoted:
            _drop_introduction(own)
        elif not is_quoted:
            own.append(line.rstrip())
        was_quoted = is_quoted
    if copied < signed:
        _drop_introduction(own)
    text = join_lines(own)
    if not text:
        return Bare(join_lines(map(str.rstrip, lines)))
    return Bare(
        text, _count_filled(lines[:signed]) - _count_filled(own), _count_filled(lines[signed:])
    )


def _count_filled(lines: list[str]) -> int:
    """How many lines are not empty."""
    return sum(bool(line.strip()) for line in lines)


def _signature(lines: list[str]) -> int:
    """Where the signature begins: at the last line that parts it; few lines follow."""
    for place in range(len(lines) - 1, max(-1, len(lines) - _LONGEST_SIGNATURE), -1):
        if lines[place] in _SIGNATURE:
            return place
    return len(lines)


def _find_copied_mail(lines: list[str]) -> int:
    """Where a copied mail begins: header lines in a row, two of them with a date or an address.

    A line of dashes, or an empty one, stands above it, or nothing does.
    """
    run = dated = 0
    for place, line in enumerate(lines):
        if not line or not _COPIED.fullmatch(line.strip()):
            run = dated = 0
            continue
        run += 1
        dated += bool(_DATED.search(line))
        start = place - run + 1
        above = lines[start - 1].strip() if start else ""
        if run >= _FEWEST_COPIED and dated > 1 and (not above or _DASHES.fullmatch(above)):
            return start - 1 if above else start
    return len(lines)


def _drop_introduction(lines: list[str]) -> None:
    """Takes off "On … wrote:", which may be broken into two lines, above a quotation."""
    while lines and not lines[-1]:
        lines.pop()
    for count in (1, 2):
        words = " ".join(lines[-count:])
        if (
            lines
            and lines[-1].endswith((":", "："))
            and len(words) <= _LONGEST_INTRODUCTION
            and _DATED.search(words)
        ):
            del lines[-count:]
            return


_ENDINGS = ("", ".mbox", ".mbx", ".eml", ".txt")
_LINE = rb"From \S{1,300} .{0,40}\d{1,2}:\d\d(?::\d\d)?.{0,20}\d{4}.{0,10}"
_BEGIN = re.compile(_LINE + rb"\s*")
_HEAD = re.compile(rb"\s*" + _LINE + rb"\r?\n[\w-]{2,40}: ?")
_FIELD = re.compile(rb"^(From|Date|Message-ID|Received|Subject|MIME-Version):", re.M | re.I)
_HEADER_LINES = re.compile(rb"[\w-]{2,60}:.*")
_ADDRESS = re.compile(r"([^<>]*)<([^<>]{1,320})>.*")
_ID = re.compile(r"<[^<>\s]{1,998}>")
# "Re:", "AW:", "Fwd:", "SV:", "答复:" and a list's name in brackets; at most three letters and a
# count, or one of the longer words that programs write.
_ANSWER = re.compile(
    r"\s*(?:\[[^\[\]]{1,60}\]\s*)?(?:[^\W\d_]{1,3}|fwd|antw|resp|回复|答复|转发)(?:\[\d{1,3}\])?\s?[:：]\s*",
    re.I,
)
_LIST_NAME = re.compile(r"\s*\[[^\[\]]{1,60}\]\s*")
_LONGEST_HEADER = 2_000
_MOST_REFERENCES = 100
_MOST_PARTS = 200  # with a boundary: parts inside of parts
_MOST_COMPARED = 25_000_000  # lines times boundaries: each line may be any of them


def _is_ours(member: Member) -> bool:
    head = member.head(4096)
    if _HEAD.match(head):
        return True
    return member.name.lower().removesuffix(".gz").endswith(".eml") and _is_mail(head)


def _is_mail(head: bytes) -> bool:
    first = head.lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0]
    return bool(_HEADER_LINES.match(first)) and len({*map(bytes.lower, _FIELD.findall(head))}) > 2


_FILES = FormatFiles(
    _ENDINGS,
    _is_ours,
    "no mails found",
    "give an .mbox file, which Google Takeout and Thunderbird write, or .eml files",
)


def _read(export: Export) -> None:
    box = _Box()
    for member in export:
        for number, data in enumerate(_mails(member), 1):
            box.add(data, f"{member.name}, mail {number}")
    if box.quoted or box.signatures:
        export.notes.append(
            f"lines cut from mails: {box.quoted:,} of quotations, {box.signatures:,} of signatures"
        )
    box.fill(export)
    export.drafts[None] = box.rest


def _mails(member: Member) -> Iterator[bytes]:
    """The bytes of each mail; what stands before the first of them counts as one."""
    lines: list[bytes] = []
    blank = True
    with member.open() as stream:
        for line in stream:
            if blank and line.startswith(b"From ") and _BEGIN.fullmatch(line[:500]):
                if any(map(bytes.strip, lines)):
                    yield b"".join(lines)
                lines = []
            else:
                # Inside a mail such a line is marked, once more each time it is saved.
                marked = line.startswith(b">") and line.lstrip(b">").startswith(b"From ")
                lines.append(line[1:] if marked else line)
            blank = not line.strip()
    if any(map(bytes.strip, lines)):
        yield b"".join(lines)


@dataclass(slots=True)
class _Box:
    """Every thread of a mailbox."""

    rest: Draft = field(default_factory=lambda: Draft("Mail"))
    quoted: int = 0
    signatures: int = 0
    _mails: list[tuple[str, Entry]] = field(default_factory=list)  # with its topic
    _before: list[int] = field(default_factory=list)  # an earlier mail of the thread, or itself
    _by_id: dict[str, int] = field(default_factory=dict)
    _by_subject: dict[str, int] = field(default_factory=dict)  # the latest mail of it

    def add(self, data: bytes, where: str) -> None:
        parts = data.lower().count(b"boundary=")
        if parts > _MOST_PARTS or parts * data.count(b"\n") > _MOST_COMPARED:
            self.rest.leave(where, "too many parts")
            return
        try:
            mail = BytesParser(policy=compat32).parsebytes(data)
            self._mail(mail, where)
        except (MessageError, RecursionError, ValueError, LookupError, TypeError, AttributeError):
            self.rest.leave(where, "not a readable mail")

    def _mail(self, mail: Mail, where: str) -> None:
        automatic = _header(mail, "Auto-Submitted").lower().startswith("auto-replied")
        if automatic or mail.get_content_type() == "multipart/report":
            self.rest.notice()
            return
        name, address = _sender(mail)
        subject = _header(mail, "Subject")
        topic, is_answer = _topic(subject)
        number = next(iter(_ids(mail, "Message-ID")), "")
        answered = _ids(mail, "In-Reply-To")
        related = [*_ids(mail, "References"), *answered]
        parts = [(part, part.get_content_type()) for part in mail.walk() if not part.is_multipart()]
        body = bare(_text(parts))
        entry = Entry(
            address.lower(),
            name or address.partition("@")[0],
            _time(mail),
            body.text,
            id=number,
            attachments=tuple(_files(parts)),
            reply_to=(answered or related[-1:] or [""])[0],
            extra={"subject": subject},
            where=where,
        )
        self.quoted += body.quoted
        self.signatures += body.signature
        self._mails.append((topic or subject, entry))
        self._join(number, related, topic.casefold(), is_answer)

    def _join(self, number: str, related: list[str], subject: str, is_answer: bool) -> None:
        """Joins the latest mail to those of its thread, and so threads that turn out to be one."""
        place = len(self._before)
        self._before.append(place)
        others = []
        if is_answer and not related and number not in self._by_id and subject in self._by_subject:
            others.append(self._by_subject[subject])
        others += [self._by_id.setdefault(id_, place) for id_ in (number, *related) if id_]
        for neighbour in others:
            first, second = sorted((self._first(place), self._first(neighbour)))
            self._before[second] = first
        if subject:
            self._by_subject[subject] = place

    def _first(self, place: int) -> int:
        """The first mail of a mail's thread."""
        while self._before[place] != place:
            self._before[place] = self._before[self._before[place]]
            place = self._before[place]
        return place

    def fill(self, export: Export) -> None:
        """One draft per thread."""
        for place, (topic, entry) in enumerate(self._mails):
            draft = export.draft(self._first(place), "")
            draft.name = draft.name or topic
            draft.add(entry)


def _sender(mail: Mail) -> tuple[str, str]:
    """The name and the address; a name is decoded last, as it may hold signs of an address."""
    header = str(mail.get("From") or "")[:_LONGEST_HEADER]
    match = _ADDRESS.fullmatch(one_line(header))
    if match is None:
        return "", header.strip() if "@" in header else ""
    return _plain(match[1].strip(' "')).strip("'\""), match[2]


def _header(mail: Mail, name: str) -> str:
    return _plain(str(mail.get(name) or ""))


def _plain(header: str) -> str:
    """A header in plain letters; what is longer than any real one is cut."""
    value = header[:_LONGEST_HEADER]
    try:
        parts = decode_header(value) if "=?" in value else [(value, None)]
    except (MessageError, ValueError):
        parts = [(value, None)]
    words = (p if isinstance(p, str) else _decode(p, charset or "ascii") for p, charset in parts)
    return one_line("".join(words))


def _decode(data: bytes, charset: str) -> str:
    for name in (charset, "utf-8"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeError, ValueError):
            continue
    return data.decode("latin-1")


def _ids(mail: Mail, name: str) -> list[str]:
    return _ID.findall(str(mail.get(name) or "")[: 50 * _LONGEST_HEADER])[-_MOST_REFERENCES:]


def _topic(subject: str) -> tuple[str, bool]:
    """A subject without what programs put before it, and whether there was such a thing."""
    topic, is_answer = subject, False
    while match := _ANSWER.match(topic):
        topic, is_answer = topic[match.end() :], True
    topic = _LIST_NAME.sub("", topic, count=1) if _LIST_NAME.match(topic) else topic
    return topic.strip() or subject, is_answer


def _time(mail: Mail) -> datetime | None:
    try:
        moment = parsedate_to_datetime(_header(mail, "Date"))
        return moment.astimezone(UTC) if moment.tzinfo else moment
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _text(parts: list[tuple[Mail, str]]) -> str:
    """The first part in plain text, or else the first in HTML as text."""
    pages: list[str] = []
    for part, kind in parts:
        if kind not in ("text/plain", "text/html") or part.get_filename():
            continue
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        text = _decode(data, part.get_content_charset() or "utf-8")
        if kind == "text/plain" and text.strip():
            return text
        pages.append(text)
    page = next(filter(str.strip, pages), "")
    body = flat(page)
    if body.quoted and body.text:  # as a plain text quotes
        return "\n> ".join((body.text, *body.quoted.split("\n")))
    return body.text or body.quoted


def _files(parts: list[tuple[Mail, str]]) -> Iterator[Attachment]:
    for part, kind in parts:
        name = part.get_filename()
        if name or kind.partition("/")[0] not in ("text", "message", "multipart"):
            yield make_attachment("", name=_plain(name or ""), mime=kind)


FORMAT = export_format("E-mail (mbox, eml)", "mbox", _FILES, _read)
