"""Messenger's and Instagram's downloads, as JSON or as HTML, into chats.

your_facebook_activity/messages/inbox/ann_123/message_1.json    one conversation, newest first
{"participants": [{"name": "Ann"}], "messages": [
  {"sender_name": "Ann", "timestamp_ms": 1714548600000, "content": "hi"}]}
your_facebook_activity/messages/inbox/ann_123/message_1.html    the same as a page
→ Chat("Ann") with one message of Ann
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from realtalk.chat import Attachment
from realtalk.errors import RealtalkError
from realtalk.formats.exports.assembly import Draft, Entry, assemble, reactions
from realtalk.formats.exports.html_tags import VOID, PageWalker, Tag, page_of, unescaped
from realtalk.formats.exports.meta_notices import judge
from realtalk.formats.exports.meta_repeats import Line, MetaThread
from realtalk.formats.exports.values import (
    attached,
    filled,
    from_number,
    object_at,
    objects_at,
    records,
    scalar,
    text_at,
    whole,
)
from realtalk.formats.json_input import (
    Fields,
    Zone,
    decoded,
    head_keys,
    head_text,
    is_odd,
    listed,
    load,
    mapping,
    zone,
)
from realtalk.formats.reading import Format, ReadCorpus, ReadOptions
from realtalk.formats.source import Member, Source, matching, taken
from realtalk.text.calendars import DateOrder
from realtalk.text.written_days import LONGEST, order_of, spelled

# Conversations of Messenger or Instagram while they are read, until their notices are known.
#
#     thread = OpenThread(Draft("Ann"))
#     thread.candidates.append(Candidate(entry, second=1714548600))
#     settle([thread])     → notes; thread.draft holds messages, and counts what the app wrote
#
# What may be the app's own can only be decided when every conversation is read (`meta_notices`).

_NEAR = 10  # entries between a message and the notice that somebody liked it
_FIXED = "messages whose characters were put right"
_REPEATED = "counted as notices because they repeat with nothing but an emoji changing"
_UNCERTAIN = "messages that begin with their sender's own name and may be notices of the app"


@dataclass(slots=True)
class Candidate:
    """An entry that is a message, or a notice of the app."""

    entry: Entry
    second: int  # when it was sent
    is_repaired: bool = False


@dataclass(slots=True)
class OpenThread:
    """One conversation: its draft, and what will be in it."""

    draft: Draft
    candidates: list[Candidate] = field(default_factory=list)
    reacted: set[tuple[str, int]] = field(default_factory=set)  # who gave a reaction when

    def evidence(self) -> MetaThread:
        """What distinguishes the notices of a conversation from its messages."""
        entries = [candidate.entry for candidate in self.candidates]
        given = [
            [
                (name, mark["emoji"])
                for mark in entry.extra.get("reactions", ())
                for name in mark["by"]
            ]
            for entry in entries
        ]
        lines = [
            Line(
                entry.name,
                entry.text,
                bool(entry.attachments),
                (entry.name, candidate.second) in self.reacted,
                frozenset(
                    emoji
                    for marks in given[max(0, at - _NEAR) : at + _NEAR + 1]
                    for name, emoji in marks
                    if name == entry.name
                ),
                entry.time.toordinal() if entry.time else 0,
            )
            for at, (entry, candidate) in enumerate(zip(entries, self.candidates, strict=True))
        ]
        return MetaThread(tuple(self.draft.extra.get("participants", ())), lines)


def settle(threads: Sequence[OpenThread]) -> list[str]:
    """Gives every entry its place: a message, or a notice of the app; what to say about it."""
    judged = judge([thread.evidence() for thread in threads])
    fixed = 0
    for thread, sorts in zip(threads, judged.sorts, strict=True):
        for candidate, sort in zip(thread.candidates, sorts, strict=True):
            entry = candidate.entry
            if sort == "notice":
                thread.draft.notice()
                continue
            if sort is not None:  # the app's words for what the sender sent or took back
                entry.extra["notice"], entry.text = entry.text, ""
                entry.deleted = entry.deleted or sort == "unsent"
                if sort == "sent" and not entry.attachments:
                    entry.attachments = (Attachment("media"),)
            fixed += sort is None and candidate.is_repaired
            thread.draft.add(entry)
    counts = {_FIXED: fixed, _UNCERTAIN: judged.uncertain, _REPEATED: judged.repeated}
    return [f"{what}: {count:,}" for what, count in counts.items() if count]


# Messenger and Instagram downloaded as HTML into conversations.
#
#     your_facebook_activity/messages/inbox/ann_123/message_1.html    one conversation, newest first
#     <div class="_a6-g"><div class="_a6-h">Ann</div><div class="_a6-p"><div>hi</div></div>
#     <div class="_a6-o">May 1, 2024, 9:30 AM</div></div>
#     → OpenThread(Draft("Ann")) with one candidate of Ann
#
# The names of classes change from year to year, so a message is known by its structure: an element
# that holds a name, a body and a date, in this order, and no other message. Dates are spelled in
# the language and the clock of the account. Pages say less than JSON: no time of a reaction, and
# seconds only sometimes.

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
_PAGE_MEDIA = {"img": "image", "video": "video", "audio": "audio", "source": ""}
_PLAYED = ("video", "audio")  # what stands in such an element, or in a link to one, is the app's
_REACTION = re.compile(r"(\W{1,16})(.{0,200}?)(?: ?\([^()]{6,60}\))?", re.DOTALL)


def messages_in(text: str) -> int:
    """How many messages the head of a page holds."""
    return len(_MetaPage(text).messages)


def _page_threads(members: list[Member], order: DateOrder | None) -> list[OpenThread]:
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
        if tag.name in _PAGE_MEDIA or tag.name == "a":
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
                yield attached(address, _PAGE_MEDIA[tag])
            elif "://" not in address:
                yield attached(address)
            elif len(text) > _LONGEST_TEXT or address not in text:
                yield Attachment("link", url=address)


def _mark(text: str) -> tuple[str, list[str], int] | None:
    """A reaction: an emoji, who gave it, and, in brackets, when."""
    match = _REACTION.fullmatch(" ".join(text.split()))
    return (match[1].strip(), [match[2].strip()], 1) if match and match[1].strip() else None


# Messenger and Instagram conversations (JSON download) into chats: both have Meta's layout.
#
#     your_facebook_activity/messages/inbox/ann_123/message_1.json ... message_9.json
#                                           one conversation, newest first
#     {"participants": [{"name": "Ann"}], "title": "Ann", "thread_path": "inbox/ann_123",
#      "messages": [{"sender_name": "Ann", "timestamp_ms": 1714548600000,
#                    "content": "caf\u00c3\u00a9?"}]}
#     → Chat("Ann") with one message "café?"
#
#     {"participants": ["Ann"], "threadName": "Ann_7", "messages": [{"senderName": "Ann",
#      "text": "hi", "timestamp": 1714548600000, "type": "text", "media": [], ...}]}
#     → the same, from an end-to-end encrypted conversation
#
# The older download writes every UTF-8 byte as a character of its own; each string is
# put right where that is possible and left alone where it is not. The bare minimum of the layout
# counts as Instagram. Where a download is there as HTML too, the JSON is read.

_PART = re.compile(r"(?:^|/)message_(\d{1,9})\.json(\.gz)?$")
_MESSENGER_ONLY = frozenset(
    """
    sender_id_INTERNAL thread_type ip gifs sticker plan missed bumped_message_metadata
    threadName senderName isUnsent
    """.split()  # noqa: SIM905 - words read better than quotes
)
_MEDIA = {
    "photos": "image",
    "videos": "video",
    "audio_files": "audio",
    "gifs": "image",
    "files": "",
    "shared_files": "",
}
_SYSTEM_TYPES = frozenset({"subscribe", "unsubscribe", "call", "plan"})
_SYSTEM_FIELDS = ("call_duration", "users")  # only calls, and people who come and go, have them


def repaired(text: str) -> str:
    """UTF-8 that was read as Latin-1, made right; any other text as it is."""
    if text.isascii():
        return text
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _sniff(source: Source, *, instagram: bool) -> bool:
    """Whether a message file, by which the whole source can be judged, is of the one app."""
    member = next(matching(source, (".json",), _is_thread, named=_PART), None)
    member = member or next(matching(source, (".json",), _is_thread), None)
    member = member or next(_pages(source, limit=8), None)
    return member is not None and _is_of_instagram(member, source) == instagram


def _pages(source: Source, limit: int = 0) -> Iterator[Member]:
    """Pages of a download as HTML; one that stands alone may have any name."""
    named = PAGE if len(source.members) > 1 else None
    return matching(source, ENDINGS, _is_page, limit=limit, named=named)


def _is_page(member: Member) -> bool:
    # One message by structure may be anything; a file of the usual name, or two, are not.
    least = 1 if PAGE.search(member.name) else 2
    return messages_in(decoded(member.head(HEAD))) >= least


def _is_thread(member: Member) -> bool:
    """Whether the head is that of a Meta message file."""
    keys = head_keys(member)
    if "messages" not in keys:
        # An unusually long list of participants can push the messages out of the head.
        return "participants" in keys and _PART.search(member.name.rsplit("/", 1)[-1]) is not None
    return {"sender_name", "timestamp_ms"} <= keys or {"senderName", "timestamp"} <= keys


def _is_of_instagram(member: Member, source: Source) -> bool:
    """Instagram, unless something says Messenger; the bare minimum fits both alike."""
    head = head_text(member)
    path = f"{source.path.name}/{member.name}".lower()
    if "your_instagram_activity" in head or "instagram" in path:
        return True
    if "your_facebook_activity" in head or "facebook" in path or "messenger" in path:
        return False
    return member.suffix == ".json" and not head_keys(member) & _MESSENGER_ONLY


def _read(source: Source, options: ReadOptions, *, format_name: str) -> ReadCorpus:
    """Every conversation of the source, its parts joined."""
    tz = zone(options.timezone)
    members = taken(source, (".json",), _is_thread)
    if not members:
        if pages := list(_pages(source)):
            found = _page_threads(pages, options.dates)
            notes = [*settle(found), NOTE]
            return assemble(source, format_name, [thread.draft for thread in found], options, notes)
        raise RealtalkError(
            "no message files (message_1.json) found",
            where=str(source.path),
            fix="download your information again and choose the format JSON",
        )
    threads: dict[str, OpenThread] = {}
    for member in sorted(members, key=_part):
        export = mapping(load(member))
        if not isinstance(export.get("messages"), list):
            if len(members) > 1:
                continue
            raise RealtalkError("no list of 'messages'", where=member.where)
        encrypted = "threadName" in export or any(
            "senderName" in item for item in records(export["messages"])[:1]
        )
        # Only the older layout runs backwards.
        thread = threads.setdefault(
            _thread_key(export, member), OpenThread(Draft("", newest_first=not encrypted))
        )
        thread.draft.id = thread.draft.id or text_at(export, "thread_path")
        _describe(thread.draft, export, member, encrypted=encrypted)
        for where, item in thread.draft.objects(export["messages"], f"{member.name}, messages"):
            _add(thread, item, where, tz, encrypted=encrypted)
    notes = settle(list(threads.values()))
    drafts = [thread.draft for thread in threads.values()]
    return assemble(source, format_name, drafts, options, notes)


def _add(thread: OpenThread, item: Fields, where: str, tz: Zone, *, encrypted: bool) -> None:
    """Takes one entry; the download of encrypted conversations is clean UTF-8."""
    fix = scalar if encrypted else _repair
    kind = text_at(item, "type").lower()
    if encrypted:
        name, stamp = fix(item.get("senderName")), item.get("timestamp")
        written = text_at(item, "text", "messageText")
        attachments = tuple(_media(file) for file in objects_at(item, "media"))
        gone = item.get("isUnsent") is True
        notice = kind == "placeholder" and not gone and not attachments
    else:
        name, stamp = fix(item.get("sender_name")), item.get("timestamp_ms")
        written = text_at(item, "content")
        attachments = tuple(_attachments(item))
        empty = item.get("is_taken_down") is True and not (written or attachments)
        gone = item.get("is_unsent") is True or empty
        notice = any(item.get(key) not in (None, []) for key in _SYSTEM_FIELDS)
    if kind == "call" or item.get("call_duration") is not None:
        thread.draft.add(Entry("", name, from_number(stamp, tz, 1000), "", call=True))
        return
    if notice or kind in _SYSTEM_TYPES:
        thread.draft.notice()
        return
    text = fix(written)
    marks = [
        (fix(mark.get("reaction")), fix(mark.get("actor")), whole(mark.get("timestamp")))
        for mark in objects_at(item, "reactions")
    ]
    if not encrypted:
        thread.reacted |= {
            (actor, when if when < 10**11 else when // 1000) for _, actor, when in marks if when
        }
    entry = Entry(
        "",
        name,
        from_number(stamp, tz, 1000),
        "" if gone else text,
        attachments=attachments,
        deleted=gone,
        extra=reactions((emoji, [actor], 1) for emoji, actor, _ in marks),
        where=where,
        odd=is_odd(item.get("text" if encrypted else "content")),
    )
    thread.candidates.append(Candidate(entry, whole(stamp) // 1000, text != written))


def _repair(value: Any) -> str:
    return repaired(scalar(value))


def _part(member: Member) -> tuple[str, int, str]:
    folder, _, name = member.name.rpartition("/")
    match = _PART.search(name)
    return folder, int(match[1]) if match else 0, name


def _thread_key(export: Fields, member: Member) -> str:
    """What the parts of one conversation have in common."""
    folder, number, _ = _part(member)
    path = text_at(export, "thread_path")
    return path or (f"{folder}/" if number and folder else f"/{member.name}")


def _describe(draft: Draft, export: Fields, member: Member, *, encrypted: bool) -> None:
    if draft.name:
        return
    fix = scalar if encrypted else _repair
    folder, number, _ = _part(member)
    fallback = folder.rsplit("/", 1)[-1] if number and folder else member.stem
    draft.name = fix(export.get("title")) or text_at(export, "threadName") or fallback
    people = [
        fix(person.get("name") if isinstance(person, dict) else person)
        for person in listed(export.get("participants"))
    ]
    path = text_at(export, "thread_path")
    draft.extra = filled({"participants": people, "thread_path": path})


def _attachments(item: Fields) -> Iterator[Attachment]:
    for key, kind in _MEDIA.items():
        for file in records(item.get(key)):
            yield attached(_repair(file.get("uri")), kind)
    if sticker := object_at(item, "sticker"):
        yield attached(_repair(sticker.get("uri")), "sticker")
    share = object_at(item, "share")
    title, address, caption = (
        _repair(share.get(key)) for key in ("original_content_owner", "link", "share_text")
    )
    if title or address or caption:
        yield Attachment("link", title, address, caption)


def _media(file: Fields) -> Attachment:
    uri = text_at(file, "uri")
    # Where a file could not be fetched, a sentence stands in place of its address.
    return attached(uri) if "." in uri or "/" in uri else Attachment("media")


INSTAGRAM = Format(
    title="Instagram (JSON or HTML download)",
    sniff=partial(_sniff, instagram=True),
    read=partial(_read, format_name="instagram"),
)
MESSENGER = Format(
    title="Messenger (JSON or HTML download)",
    sniff=partial(_sniff, instagram=False),
    read=partial(_read, format_name="messenger"),
)
