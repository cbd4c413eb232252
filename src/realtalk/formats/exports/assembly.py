"""Raw entries of a messenger export into ordered, session-cut chats that add up.

    draft = Draft("Family")
    draft.add(Entry("user17", "Ann", datetime(2024, 5, 1, 9, 30), "hi", id="41"))
    draft.notice()
    draft.leave("result.json, messages[2]", "not an object")
    export_format("Telegram", "telegram", files, fill).read(source, options)
    → Reading: one chat with D1:1, ledger "3 entries = 1 in messages + 1 system + 1 left over"

A reader of one app only says what an entry means; who is who, what came first, which
reply belongs where and whether everything is accounted for is decided here, once. `json_input`
takes what an entry needs out of JSON, `text_entries` out of lines of text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from realtalk.chat import Alias, Attachment, Chat, Corpus, Message, Session, pack_extra
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import NOT_TEXT, Fields, Zone, drop_empty, on_clock, whole, zone
from realtalk.formats.limits import check_leftovers
from realtalk.formats.merging import join_overlaps, packed_calls
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import cut_at_pauses
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.text.folding import STRAY_SIGNS

# Who wrote what: one name for every author of a chat, and no name for two of them.
#
#     shown_names([("7", "Ann", ""), ("8", "Ann ", ""), ("9", "Ben", "")])
#     → {("id", "7"): "Ann (7)", ("id", "8"): "Ann (8)", ("id", "9"): "Ben"}
#
# The app's own id tells people apart. Where it has none, two people of one name cannot be told
# apart and are one speaker. Of people who share a name each is called by another name that the app
# has for them, or else by name and id. Case counts, what nobody can see does not.

Author = tuple[str, str]  # ("id", the app's id) or ("name", the name)

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u200c\u200d\ufe0e\ufe0f")  # drawn as nothing


def author(number: str, name: str) -> Author:
    """Who an entry is by: the id where there is one."""
    return ("id", number) if number else ("name", name)


def plain_name(name: str) -> str:
    """A name without what cannot be seen; "" where nothing of it can."""
    plain = " ".join(STRAY_SIGNS.sub("", unicodedata.normalize("NFC", name)).split())
    return "" if all(letter in _BLANK or letter == " " for letter in plain) else plain


def shown_names(people: Iterable[tuple[str, str, str]]) -> dict[Author, str]:
    """A name for every author, from (id, name, another name) of each entry."""
    names: dict[Author, str] = {}
    others: dict[Author, str] = {}
    for number, name, also in people:
        key = author(number, name)
        names[key] = names.get(key) or plain_name(name)
        others[key] = others.get(key) or plain_name(also)
    rivals = Counter(name for (kind, _), name in names.items() if kind == "id")
    accounts = Counter(others.values())
    used = set(names.values())
    free = UniqueNames(taken=used)
    labels: dict[Author, str] = {}
    for key, name in names.items():
        alternative = others[key]
        if not name:
            labels[key] = free.free(alternative or plain_name(key[1]) or "Unknown")
        elif rivals[name] < 2 or key[0] == "name":
            labels[key] = name  # an entry without id belongs to the one who has this name
        elif alternative and accounts[alternative] == 1 and alternative not in used:
            labels[key] = free.free(alternative)
        else:
            labels[key] = free.free(f"{name} ({key[1]})")
    return labels


_EVERY = 10_000  # leftovers between two looks whether there are too many
# Where in a file, and which part of it: "message_1.json, messages[3]", "data.json:14".
_IN_FILE = re.compile(r"(?:_\d+)?(?:\.\w+)?(?:, [^,]*|:\d+)$")


@dataclass(slots=True)
class Entry:
    """One message as the export states it; `author` is the app's own id of the sender."""

    author: str
    name: str
    time: datetime | None  # with its offset from UTC where that is known
    text: str
    id: str = ""
    attachments: tuple[Attachment, ...] = ()
    reply_to: str = ""
    edited: bool = False
    deleted: bool = False
    extra: Fields = field(default_factory=dict)
    also: str = ""  # another name of the sender
    where: str = ""
    size: int = 1  # how many lines or entries of the input it took
    call: bool = False  # the app tells that they called: a notice, not a message
    odd: bool = False  # where its text should stand is another value, so what it says is not known


@dataclass(slots=True)
class Draft:
    """One chat while it is being read, with the count of what was no message."""

    name: str
    unit: str = "entries"
    id: str = ""  # the app's own: chats with different ones are different, whatever they hold
    newest_first: bool = False  # the app's habit, for chats whose times do not show it
    extra: Fields = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    system: int = 0
    leftovers: list[Leftover] = field(default_factory=list)
    calls: list[Entry] = field(default_factory=list)
    _seen: set[tuple[Any, ...]] = field(default_factory=set)
    _files: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def notice(self, count: int = 1) -> None:
        """Counts what the app wrote by itself: the one way in which a reader says so."""
        self.system += count

    def leave(self, where: str, reason: str) -> None:
        self.leftovers.append(Leftover(where, reason))
        if not len(self.leftovers) % _EVERY:
            check_leftovers(len(self.leftovers), len(self.entries) + self.system, where)

    def objects(self, items: Iterable[Any], where: str) -> Iterator[tuple[str, Fields]]:
        """Every object of a list, with its place; anything else is left over."""
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield f"{where}[{index}]", item
            else:
                self.leave(f"{where}[{index}]", "not an object")

    def fill(
        self, items: Iterable[Any], where: str, read_entry: Callable[[Fields], Entry | None]
    ) -> None:
        """Takes the entry of every object of a list."""
        for place, item in self.objects(items, where):
            self.take(read_entry(item), place)

    def take(self, entry: Entry | None, where: str) -> None:
        """Adds an entry that stands there; where there is none, the app wrote by itself."""
        if entry is None:
            self.notice()
        else:
            entry.where = where
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Takes a message, or leaves it over with the reason why it is none."""
        if entry.call:
            self.notice(entry.size)
            if not (entry.id and self._again(entry)):
                self.calls.append(entry)
            return
        if not (entry.author or entry.name.strip()):
            reason = "no sender"
        elif entry.odd and not entry.deleted:
            reason = f"{NOT_TEXT} (message {entry.id})" if entry.id else NOT_TEXT
        elif not (entry.text or entry.attachments or entry.deleted):
            reason = "neither text nor attachment"
        elif entry.id and self._again(entry):
            reason = f"repeats message {entry.id}"
        elif not entry.id and self._elsewhere(entry):
            reason = "repeats a message of another file"
        else:
            self.entries.append(entry)
            return
        for _ in range(entry.size):
            self.leave(entry.where, reason)

    def _again(self, entry: Entry) -> bool:
        """Whether the same message came before. An id alone is no proof: some are times."""
        key = (entry.id, *_said(entry))
        is_repeat = key in self._seen
        self._seen.add(key)
        return is_repeat

    def _elsewhere(self, entry: Entry) -> bool:
        """Whether an app without ids has the same message in another file of the chat."""
        if entry.time is None:
            return False
        file = _IN_FILE.sub("", entry.where)
        return self._files.setdefault(_said(entry), file) != file

    @property
    def ledger(self) -> Ledger:
        in_messages = sum(entry.size for entry in self.entries)
        return Ledger.of(in_messages, self.leftovers, self.system, self.unit)


@dataclass(slots=True)
class Export:
    """What a reader of one app is given; going through it yields the app's files, with progress."""

    source: Source
    options: ReadOptions
    files: FormatFiles
    notes: list[str] = field(default_factory=list)
    drafts: dict[Hashable, Draft] = field(default_factory=dict)

    def draft(self, key: Hashable, name: str, **fields: Any) -> Draft:
        """The chat of this key, made where it is not there yet."""
        if key not in self.drafts:
            self.drafts[key] = Draft(name, **fields)
        return self.drafts[key]

    @property
    def members(self) -> tuple[Member, ...]:
        return self.files.members(self.source)

    def __iter__(self) -> Iterator[Member]:
        return self.options.in_turn(self.members)


def export_format(
    title: str,
    name: str,
    files: FormatFiles,
    fill: Callable[[Export], None],
    *others: Callable[[Source], bool],
) -> Format:
    """The format of an app whose chats `fill` puts into the drafts of an export.

    `others` recognise it, too, besides its files.
    """

    def read(source: Source, options: ReadOptions) -> ReadCorpus:
        tz = zone(options.timezone)
        export = Export(source, options, files)
        fill(export)
        return _assemble(source, name, list(export.drafts.values()), options, export.notes, tz)

    sniffs = (*others, files.sniff)
    return Format(title, lambda source: any(sniff(source) for sniff in sniffs), read)


def _assemble(
    source: Source,
    format_name: str,
    drafts: Sequence[Draft],
    options: ReadOptions,
    notes: Iterable[str],
    tz: Zone,
) -> ReadCorpus:
    """The reading of all drafts; those without a message only count in the ledger."""
    ledger = Ledger.sum([draft.ledger for draft in drafts])
    all_notes = list(dict.fromkeys(notes))
    chats: list[Chat] = []
    titles: list[str] = []
    ids: list[str] = []
    names = UniqueNames()
    for done, draft in enumerate(drafts):
        options.progress(done, len(drafts), "chats")
        for entry in (*draft.entries, *draft.calls):
            entry.time = on_clock(entry.time, tz)
        if draft.entries:
            titles.append(draft.name.strip() or source.name)
            ids.append(draft.id or str(draft.extra.get("id") or ""))
            chats.append(_chat(draft, names.free(titles[-1]), options))
    options.progress(len(drafts), len(drafts), "chats")
    if not chats:
        if not ledger.leftovers:
            raise source.error(f"no message among {ledger.total:,} entries")
        left = ledger.leftovers[0]
        raise source.error(
            f"no message could be read ({ledger}); first left over: {left.where}, {left.reason}",
            "check that this is the export you mean",
        )
    untimed = sum(entry.time is None for draft in drafts for entry in draft.entries)
    if untimed:
        all_notes.append(f"messages without a readable time, left in their place: {untimed:,}")
    corpus = Corpus(source.name, format_name, tuple(chats))
    reading = ReadCorpus(corpus=corpus, ledger=ledger, notes=tuple(all_notes))
    return join_overlaps(reading, titles, options.gap, ids)


def _chat(draft: Draft, name: str, options: ReadOptions) -> Chat:
    # Turned around where the file runs backwards, so that equal times stay in order too.
    times = (entry.time for entry in draft.entries if entry.time is not None)
    entries = draft.entries[:: -1 if runs_backwards(times, draft.newest_first) else 1]
    speakers = shown_names((entry.author, entry.name, entry.also) for entry in entries)
    groups = cut_at_pauses(entries, options.gap)
    ids: dict[str, str] = {}  # the app's → ours
    for number, group in enumerate(groups, 1):
        for place, entry in enumerate(group, 1):
            ids.setdefault(entry.id, f"D{number}:{place}")
    ids.pop("", None)
    sessions = tuple(
        Session(
            number,
            group[0].time,
            tuple(
                _message(entry, f"D{number}:{place}", speakers, ids)
                for place, entry in enumerate(group, 1)
            ),
        )
        for number, group in enumerate(groups, 1)
    )
    order = tuple(dict.fromkeys(m.speaker for session in sessions for m in session.messages))
    authors = {label: key[1] for key, label in speakers.items() if key[0] == "id"}
    extra = drop_empty(draft.extra | {"authors": authors})
    # Whoever called and wrote nothing here is nobody of this chat.
    calls = ((speakers.get(_author(call)), call.time) for call in draft.calls)
    if call_times := packed_calls((name, time) for name, time in calls if name is not None):
        extra["calls"] = call_times
    others = dict.fromkeys((entry.also, speakers[_author(entry)]) for entry in entries)
    aliases = tuple(
        Alias(also, label, "the export") for also, label in others if also and also != label
    )
    return Chat(name, order, sessions, aliases=aliases, extra=pack_extra(extra))


def runs_backwards(times: Iterable[datetime], otherwise: bool = False) -> bool:
    """Whether the newest comes first; what the app does `otherwise`, where times do not tell."""
    steps = Counter(a < b for a, b in pairwise(times) if a != b)
    return otherwise if steps[False] == steps[True] else steps[False] > steps[True]


def _message(
    entry: Entry, id_: str, speakers: Mapping[Author, str], ids: Mapping[str, str]
) -> Message:
    # What answers something that was not exported says so.
    stray = "" if entry.reply_to in ids else entry.reply_to
    return Message(
        id_,
        speakers[_author(entry)],
        entry.time,
        entry.text,
        entry.attachments,
        ids.get(entry.reply_to),
        entry.edited,
        entry.deleted,
        pack_extra(drop_empty(entry.extra | {"id": entry.id, "reply_to": stray})),
    )


def _said(entry: Entry) -> tuple[Any, ...]:
    """By what an entry is known for the same as another."""
    return _author(entry), entry.time, entry.text, len(entry.attachments)


def _author(entry: Entry) -> Author:
    return author(entry.author, entry.name)


def reactions(marks: Iterable[tuple[str, Sequence[str], Any]]) -> Fields:
    """(emoji, by whom, how many) as `extra`: one shape for every app, {} for none.

    A number that the app does not state is that of the people it names, or one.
    """
    counts: dict[str, int] = {}
    people: dict[str, list[str]] = {}
    for emoji, names, count in marks:
        if emoji:
            counts[emoji] = counts.get(emoji, 0) + whole(count, len(names) or 1)
            people.setdefault(emoji, []).extend(filter(None, names))
    entries = [{"emoji": emoji, "count": counts[emoji], "by": people[emoji]} for emoji in counts]
    return {"reactions": entries} if entries else {}
