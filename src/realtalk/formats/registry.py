"""Which formats there are, and which one a path is in.

    detect(Source.open("export.zip")) → "whatsapp"

The order is from the most to the least particular: every `sniff` answers for its own
marks only, and the catch-alls (JSONL, CSV) come last.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.chat import Chat, Corpus
from realtalk.errors import RealtalkError
from realtalk.formats.json_input import decode, head_keys, list_fields, load, word_pairs
from realtalk.formats.reading import Format, ReadOptions
from realtalk.formats.source import EXPORT_AGAIN, Member, Source, ending
from realtalk.registry import Registry

# A source that no reader takes → the error that says what it is, and what to do instead.
#
#     explain(Source.open("msgstore.db.crypt15"))
#     → msgstore.db.crypt15: is WhatsApp's encrypted backup, which is not read; open the chat in
#       WhatsApp → more → export chat
#     explain(Source.open("diary.txt"))
#     → diary.txt: not recognised: text whose first line has 31 characters and no date; …
#
# The table of what people try is `foreign.toml`. Of any other file its shape is told: counts,
# endings and names of fields, never a word of a message.

_LOOKED_AT = 20  # files of a folder
_NAMED = 2_000  # of which the names are looked at
_MOST_PARSED = 50_000_000  # bytes of JSON
_DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,4}[年년]")


class _ForeignFile(NamedTuple):
    """What a file is, by its name, its first bytes, keys of its JSON, or several of them."""

    title: str
    fix: str
    name: str = ""  # a pattern
    head: str = ""  # a pattern of bytes
    keys: Collection[str] = ()

    def fits(self, member: Member, head: bytes, keys: frozenset[str]) -> bool:
        return (
            (not self.name or re.search(self.name, f"/{member.name}", re.I) is not None)
            and (not self.head or re.match(self.head.encode(), head, re.S) is not None)
            and keys.issuperset(self.keys)
        )


@cache
def _table() -> tuple[dict[str, str], list[_ForeignFile]]:
    """What to do, by short names, and the files."""
    text = files("realtalk.formats").joinpath("foreign.toml").read_text("utf-8")
    table = tomllib.loads(text)
    fixes: dict[str, str] = table["fixes"]
    entries = [_ForeignFile(**entry) for entry in table["known"]]
    return fixes, [entry._replace(fix=fixes.get(entry.fix, entry.fix)) for entry in entries]


def explain(source: Source) -> RealtalkError:
    """What a source is, as an error."""
    where = str(source.path)
    if not any(member.size for member in source.members):
        what = "holds empty files and nothing else"
        return RealtalkError(what, where=where, fix=EXPORT_AGAIN)
    try:
        for member in source.members[:3]:
            member.head()  # says so where it is damaged, or out of proportion
        if (kind := _find_kind(source)) is not None:
            what = f"is {kind.title}, which is not read"
            return RealtalkError(what, where=where, fix=kind.fix, code="unknown-format")
        if len(source.members) == 1:
            shape, fix = _describe(source.members[0])
            where = source.members[0].where
            return RealtalkError(shape, where=where, fix=fix, code="unknown-format")
    except RealtalkError as error:
        return error
    endings = Counter(member.suffix or "without ending" for member in source.members)
    listing = ", ".join(f"{count:,} {name}" for name, count in endings.most_common(_LOOKED_AT))
    example = next(iter(source.having(".json", ".txt", ".csv", ".html")), source.members[0])
    return RealtalkError(
        f"not recognised: none of its {len(source.members):,} files is a chat ({listing})",
        where=where,
        fix=f"read one of them alone to see why, such as {example.where}",
        code="unknown-format",
    )


def _find_kind(source: Source) -> _ForeignFile | None:
    """What it is, where every file that is looked at is of one known sort."""
    # The one file that tells what an archive is, or the first of them; a single page (the last of
    # the table) tells nothing about the files around it.
    by_name = [entry for entry in _table()[1][:-1] if entry.name and not (entry.head or entry.keys)]
    members: Sequence[Member] = source.members[:_LOOKED_AT]
    for member in source.members[:_NAMED]:
        if any(entry.fits(member, b"", frozenset()) for entry in by_name):
            members = [member]
            break
    kinds = [_kind(member) for member in members]
    return kinds[0] if len({kind and kind.title for kind in kinds}) == 1 else None


def _kind(member: Member) -> _ForeignFile | None:
    try:
        head, keys = member.head(8192), head_keys(member)
    except (RealtalkError, OSError, ValueError):
        return None
    return next((entry for entry in _table()[1] if entry.fits(member, head, keys)), None)


def _describe(member: Member) -> tuple[str, str]:
    """The shape of a file, and what to do; damaged JSON raises its own error."""
    head, (fixes, _) = member.head(), _table()
    if head.startswith(b"PK\x03\x04"):
        return "the zip cannot be opened: it is damaged or cut off", EXPORT_AGAIN
    if member.name.lower().endswith(".zip"):
        return "is not a zip, though its name says so", EXPORT_AGAIN
    text = decode(head)
    if not text.strip():
        return "holds blank lines and nothing else", EXPORT_AGAIN
    if member.suffix == ".json" or text.lstrip().startswith(("{", "[")):
        is_small = member.size <= _MOST_PARSED and not member.name.lower().endswith(".gz")
        shape = f", {_describe_json(load(member))}" if is_small else ""
        return f"not recognised: JSON of no app that is known{shape}", fixes["table"]
    if not ending(head):
        return "not recognised: binary data, not text", fixes["export"]
    if member.suffix in (".csv", ".tsv"):
        return "not recognised: a table of one column", fixes["table"]
    first = next(line for line in text.splitlines() if line.strip())
    date = "a date" if _DATE.search(first) else "no date"
    shape = f"text whose first line has {len(first):,} characters and {date}"
    return f"not recognised: {shape}", fixes["line"]


def _describe_json(value: Any) -> str:
    if isinstance(value, dict) and value:
        return f"an object with {list_fields(list(value))}"
    if isinstance(value, list) and value:
        objects = [row for row in value[:_LOOKED_AT] if isinstance(row, dict)]
        fields = dict.fromkeys(key for row in objects for key in row)
        inside = f"objects with {list_fields(list(fields))}" if fields else "values without fields"
        return f"a list of {len(value):,} {inside}"
    return "empty" if value in ({}, []) else "a single value"


FORMATS: Registry[Format] = Registry(
    "format",
    {
        name: f"realtalk.formats.{place}"
        for name, place in word_pairs("""
            realtalk          published.realtalk:FORMAT
            sheet             published.sheet:FORMAT
            locomo-plus       published.memory_sets:LOCOMO_PLUS
            locomo            published.locomo:FORMAT
            longmemeval       published.memory_sets:LONGMEMEVAL
            beam              published.memory_sets:BEAM
            realmem           published.memory_sets:REALMEM
            lmeb              published.memory_sets:LMEB
            convokit          published.convokit:FORMAT
            reddit            published.reddit:FORMAT
            whatsapp          exports.whatsapp.reader:FORMAT
            whatsapp-database exports.whatsapp.database:FORMAT
            whatsapp-exporter exports.whatsapp.exporter:FORMAT
            telegram          exports.telegram:FORMAT
            signal            exports.signal:FORMAT
            discord           exports.discord:FORMAT
            slack             exports.slack:FORMAT
            instagram         exports.meta:INSTAGRAM
            messenger         exports.meta:MESSENGER
            imessage          exports.imessage:FORMAT
            line              exports.line:FORMAT
            kakaotalk         exports.kakaotalk:FORMAT
            viber             exports.viber:FORMAT
            chatlab           exports.chatlab:FORMAT
            teams             exports.teams:FORMAT
            google-chat       exports.google_chat:FORMAT
            chatgpt           exports.assistants:CHATGPT
            claude            exports.assistants:CLAUDE
            mbox              exports.mbox:FORMAT
            jsonl             published.row_files:JSONL
            csv               published.row_files:CSV
        """).items()
    },
)


def find_format(source: Source, names: Iterable[str]) -> str | None:
    """The first of these formats that a source is in."""
    return next((name for name in names if FORMATS[name].sniff(source)), None)


def detect(source: Source) -> str:
    """The name of the format, or an error that says what the source is instead."""
    if (name := find_format(source, FORMATS)) is not None:
        return name
    if len(source.members) == 1 and source.having(".xlsx"):
        return "sheet"  # its reader says what is wrong with it
    raise explain(source)


def writable() -> tuple[str, ...]:
    """Formats that can be written."""
    return tuple(name for name in FORMATS if FORMATS[name].write is not None)


# What a written format could not keep, found by reading it back.
#
#     not_kept(corpus, "csv", paths)        → {"events": 12, "questions": 4}
#     losses(corpus, read_back)             → {"replies": 2, "aliases": 1}, nothing else differs
#
# Counted are messages (or events, questions, aliases) that are not as they were. A table of
# what each format holds would be shorter, and wrong as soon as a writer changes.

LOSSLESS = ("convokit", "jsonl", "locomo")  # proven by tests, so not read back

_FIELDS = word_pairs("""
    id          message ids
    speaker     speakers
    time        times
    text        texts
    attachments attachments
    reply_to    replies
    edited      edited marks
    deleted     deleted marks
    extra       further fields of messages
""")


def not_kept(corpus: Corpus, name: str, paths: tuple[Path, ...]) -> dict[str, int]:
    """What is not in the files just written; other files of their folder do not count."""
    if name in LOSSLESS:
        return {}
    members = tuple(member for path in paths for member in Source.open(path).members)
    source = Source(paths[0].parent, members)
    return losses(corpus, FORMATS[name].read(source, ReadOptions()).corpus)


def losses(before: Corpus, after: Corpus) -> dict[str, int]:
    """What differs and how often, in the order of the model; {} where nothing does."""
    counts: Counter[str] = Counter()
    for old, new in zip_longest(before.chats, after.chats):
        if old is None or new is None:
            counts["chats"] += 1
        else:
            _chat(old, new, counts)
    return {name: count for name, count in counts.items() if count}


def _chat(old: Chat, new: Chat, counts: Counter[str]) -> None:
    counts["chat names"] += old.id != new.id
    counts["sessions"] += abs(len(old.sessions) - len(new.sessions))
    for before, after in zip_longest(old.messages, new.messages):
        if before is None or after is None:
            counts["messages"] += 1
        elif before != after:
            for name, label in _FIELDS.items():
                if getattr(before, name) != getattr(after, name):
                    counts[label] += 1
    counts["events"] += _missing(old.events, new.events)
    counts["questions"] += _missing(old.questions, new.questions)
    counts["aliases"] += _missing(old.aliases, new.aliases)
    counts["further fields of chats"] += old.extra != new.extra


def _missing(before: Iterable[Any], after: Iterable[Any]) -> int:
    return (Counter(before) - Counter(after)).total()
