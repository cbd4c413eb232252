"""Which formats there are, and which one a path is in.

    detect(Source.open("export.zip")) → "whatsapp"

The order is from the most to the least particular: every `sniff` answers for its own
marks only, and the catch-alls (JSONL, CSV) come last.
"""

from __future__ import annotations

from collections.abc import Iterable

from realtalk.corpora.known_files import explanation
from realtalk.corpora.reading import Format
from realtalk.corpora.source import Source
from realtalk.errors import RealtalkError
from realtalk.registry import Registry

_HERE = "realtalk.corpora"

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
        "instagram": f"{_HERE}.exports.meta_json:INSTAGRAM",
        "messenger": f"{_HERE}.exports.meta_json:MESSENGER",
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


def recognised(source: Source, names: Iterable[str]) -> str | None:
    """The first of these formats that a source is in."""
    return next((name for name in names if FORMATS[name].sniff(source)), None)


def detect(source: Source) -> str:
    """The name of the format, or an error that lists what can be read."""
    if (name := recognised(source, FORMATS)) is not None:
        return name
    if len(source.members) == 1 and source.having(".xlsx"):
        return "sheet"  # its reader says what is wrong with it
    if not any(member.size for member in source.members):
        raise RealtalkError("holds empty files and nothing else", where=str(source.path))
    for member in source.members[:3]:
        member.head()  # says so where it is damaged, or out of proportion
    if known := explanation(source):
        raise known
    raise RealtalkError(
        "the format is not recognised",
        where=str(source.path),
        fix=f"name it with --format: {', '.join(FORMATS)}",
    )


def writable() -> tuple[str, ...]:
    """Formats that can be written."""
    return tuple(name for name in FORMATS if FORMATS[name].write is not None)
