"""Which formats there are, and which one a path is in.

    detect(Source.open("export.zip")) → "whatsapp"

The order is from the most to the least particular: every `sniff` answers for its own
marks only, and the catch-alls (JSONL, CSV) come last.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from realtalk.errors import RealtalkError
from realtalk.formats.json_input import head_keys
from realtalk.formats.reading import Format
from realtalk.formats.source import Member, Source
from realtalk.registry import Registry

# Files that people try and that are not read → what they are, and how to get one that is.
#
#     explanation(Source.open("msgstore.db.crypt15"))
#     → RealtalkError: msgstore.db.crypt15: is WhatsApp's encrypted backup, which is not read; open
#       the chat in WhatsApp → more → export chat
#
# The table is `foreign.toml`.

_LOOKED_AT = 20  # files of a folder
_NAMED = 2_000  # of which the names are looked at


@dataclass(frozen=True, slots=True)
class _ForeignFile:
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
def _foreign_files() -> list[_ForeignFile]:
    table = tomllib.loads(files("realtalk.formats").joinpath("foreign.toml").read_text("utf-8"))
    entries = [_ForeignFile(**entry) for entry in table["known"]]
    return [replace(entry, fix=table["fixes"].get(entry.fix, entry.fix)) for entry in entries]


def explanation(source: Source) -> RealtalkError | None:
    """What a source is, where every file that is looked at is of one known sort."""
    # The one file that tells what an archive is, or the first of them; a single page (the last of
    # the table) tells nothing about the files around it.
    by_name = [
        entry for entry in _foreign_files()[:-1] if entry.name and not (entry.head or entry.keys)
    ]
    members: Sequence[Member] = source.members[:_LOOKED_AT]
    for member in source.members[:_NAMED]:
        if any(entry.fits(member, b"", frozenset()) for entry in by_name):
            members = [member]
            break
    sorts = {_sort(member) for member in members}
    kind = next(iter(sorts)) if len(sorts) == 1 else None
    if kind is None:
        return None
    title, fix = kind
    return RealtalkError(f"is {title}, which is not read", where=str(source.path), fix=fix)


def _sort(member: Member) -> tuple[str, str] | None:
    try:
        head, keys = member.head(8192), head_keys(member)
    except (RealtalkError, OSError, ValueError):
        return None
    match = next((entry for entry in _foreign_files() if entry.fits(member, head, keys)), None)
    return (match.title, match.fix) if match else None


_HERE = "realtalk.formats"

FORMATS: Registry[Format] = Registry(
    "format",
    {
        "realtalk": f"{_HERE}.published.realtalk:FORMAT",
        "sheet": f"{_HERE}.published.sheet:FORMAT",
        "locomo": f"{_HERE}.published.locomo:FORMAT",
        "longmemeval": f"{_HERE}.published.longmemeval:FORMAT",
        "convokit": f"{_HERE}.published.convokit:FORMAT",
        "reddit": f"{_HERE}.published.reddit:FORMAT",
        "whatsapp": f"{_HERE}.exports.whatsapp.reader:FORMAT",
        "telegram": f"{_HERE}.exports.telegram:FORMAT",
        "signal": f"{_HERE}.exports.signal:FORMAT",
        "discord": f"{_HERE}.exports.discord:FORMAT",
        "slack": f"{_HERE}.exports.slack:FORMAT",
        "instagram": f"{_HERE}.exports.meta:INSTAGRAM",
        "messenger": f"{_HERE}.exports.meta:MESSENGER",
        "imessage": f"{_HERE}.exports.imessage:FORMAT",
        "line": f"{_HERE}.exports.line:FORMAT",
        "kakaotalk": f"{_HERE}.exports.kakaotalk:FORMAT",
        "viber": f"{_HERE}.exports.viber:FORMAT",
        "chatlab": f"{_HERE}.exports.chatlab:FORMAT",
        "teams": f"{_HERE}.exports.teams:FORMAT",
        "google-chat": f"{_HERE}.exports.google_chat:FORMAT",
        "mbox": f"{_HERE}.exports.mbox:FORMAT",
        "jsonl": f"{_HERE}.published.jsonl:FORMAT",
        "csv": f"{_HERE}.published.csv:FORMAT",
    },
)


def find_format(source: Source, names: Iterable[str]) -> str | None:
    """The first of these formats that a source is in."""
    return next((name for name in names if FORMATS[name].sniff(source)), None)


def detect(source: Source) -> str:
    """The name of the format, or an error that lists what can be read."""
    if (name := find_format(source, FORMATS)) is not None:
        return name
    if len(source.members) == 1 and source.having(".xlsx"):
        return "sheet"  # its reader says what is wrong with it
    if not any(member.size for member in source.members):
        raise RealtalkError("holds empty files and nothing else", where=str(source.path))
    for member in source.members[:3]:
        member.head()  # says so where it is damaged, or out of proportion
    if error := explanation(source):
        raise error
    raise RealtalkError(
        "the format is not recognised",
        where=str(source.path),
        fix=f"name it with `format=`: {', '.join(FORMATS)}",
    )


def writable() -> tuple[str, ...]:
    """Formats that can be written."""
    return tuple(name for name in FORMATS if FORMATS[name].write is not None)
