"""Which formats there are, and which one a path is in.

    detect(Source.open("export.zip")) → "whatsapp"

The order is from the most to the least particular: every `sniff` answers for its own
marks only, and the catch-alls (JSONL, CSV) come last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

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
# One table: a name, the first bytes or a key, what has them, and what to do instead. Only names and
# heads are looked at, after every reader has declined.

_TAR_MARK = slice(257, 262)
_LOOKED_AT = 20  # files of a folder
_NAMED = 2_000  # of which the names are looked at
_EXPORT_CHAT = "export the chat from the app itself (docs/guide.md says how for each)"
_AS_TEXT = "copy its text into a .txt file, or export the chat from the app itself"
_AS_TABLE = "turn it into CSV or JSONL with the columns speaker, text and time"
_WHATSAPP = "open the chat in WhatsApp → more → export chat"
_SIGNAL = "use signal-export, or the plaintext export of Signal Desktop"
_WECHAT = "use an exporter that writes ChatLab's format (JSON or JSONL)"
_MAILBOX = "export the mailbox as .mbox (Thunderbird does, and so does readpst)"
_VIBER = "in Viber choose settings → account → Viber backup → e-mail message history"
_UNPACK = "unpack it and give the folder, or the messages.json in it"


@dataclass(frozen=True, slots=True)
class _Known:
    """What a file is, by its name, its first bytes, keys of its JSON, or several of them."""

    title: str
    fix: str
    name: str = ""  # a pattern
    head: bytes = b""  # a pattern
    keys: frozenset[str] = frozenset()

    def fits(self, member: Member, head: bytes, keys: frozenset[str]) -> bool:
        return (
            (not self.name or re.search(self.name, f"/{member.name}", re.I) is not None)
            and (not self.head or re.match(self.head, head, re.S) is not None)
            and self.keys <= keys
        )


_SQLITE = rb"SQLite format 3\x00"
_OFFICE = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKED = rb"\xfd7zXZ|BZh\d|\x28\xb5\x2f\xfd"
_OF_WECHAT = r"/(EnMicroMsg|MicroMsg|MSG\d*|message_\d+|MM)\.(db|sqlite)"
_OF_SIGNAL = r"/sql/db\.sqlite$|signal[^/]*\.sqlite$"
_KNOWN = (
    _Known("WhatsApp's encrypted backup", _WHATSAPP, r"\.crypt\d{1,2}$"),
    _Known("WhatsApp's database", _WHATSAPP, r"/(msgstore|wa|ChatStorage)[^/]*$", _SQLITE),
    _Known("Signal's encrypted backup", _SIGNAL, r"/signal[^/]*\.backup$"),
    _Known("Signal Desktop's encrypted database", _SIGNAL, _OF_SIGNAL),
    _Known(
        "Telegram Desktop's own storage (tdata)",
        "in Telegram Desktop choose the chat → export chat history → JSON",
        head=rb"TDF\$",
    ),
    _Known("WeChat's database", _WECHAT, _OF_WECHAT),
    _Known("QQ's database", _WECHAT, r"/nt_msg\.db"),
    _Known(
        "Viber's database", "in Viber send the message history by e-mail", r"/viber\.db$", _SQLITE
    ),
    _Known("an SQLite database of an app that is not recognised", _EXPORT_CHAT, head=_SQLITE),
    _Known(
        "a transcript of Apple's Messages (.ichat)",
        "give a copy of ~/Library/Messages/chat.db, or what imessage-exporter writes",
        r"\.ichat$",
    ),
    _Known("an Outlook mailbox", _MAILBOX, head=rb"!BDN"),
    _Known("an Outlook message", "save it as .eml", r"\.msg$", _OFFICE),
    _Known("an old Office document", _AS_TEXT, head=_OFFICE),
    _Known("a Word document", _AS_TEXT, r"/word/document\.xml$"),
    _Known("an OpenDocument text", _AS_TEXT, r"/content\.xml$", rb".{0,200}office:document"),
    _Known("a presentation", _AS_TEXT, r"/ppt/presentation\.xml$"),
    _Known("a document in rich text", _AS_TEXT, head=rb"\{\\rtf"),
    _Known("a PDF document", _AS_TEXT, head=rb"%PDF-"),
    _Known(
        "a picture",
        f"words in a screenshot are not read: {_EXPORT_CHAT}",
        head=rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF.{4}WEBP|.{4}ftyp(heic|heix|mif1|avif)|BM.{4}\0\0\0\0",
    ),
    _Known(
        "a sound or a video",
        f"what is said in it is not read: {_EXPORT_CHAT}",
        head=rb".{4}ftyp|OggS|ID3|\xff[\xfb\xf3\xf2]|#!AMR|RIFF.{4}(WAVE|AVI )|\x1aE\xdf\xa3",
    ),
    _Known("an archive packed by 7-Zip", _UNPACK, head=rb"7z\xbc\xaf'\x1c"),
    _Known("an archive packed by RAR", _UNPACK, head=rb"Rar!\x1a\x07"),
    _Known("an archive packed by xz, bzip2 or zstd", _UNPACK, head=_PACKED),
    _Known(
        "Snapchat's download",
        _AS_TABLE,
        keys=frozenset({"From", "Media Type", "Created"}),
    ),
    _Known(
        "Google Hangouts' download",
        "Google Chat's download is read; Google Takeout offers it as Google Chat",
        keys=frozenset({"conversations", "conversation_id", "participant_data"}),
    ),
    _Known("X's archive of direct messages", _AS_TABLE, head=rb"\s*window\.YTD\.direct_messages"),
    _Known("a backup of SMS messages in XML", _AS_TABLE, head=rb".{0,2000}<smses\b"),
    _Known("contacts (vCard)", _EXPORT_CHAT, head=rb"\s*BEGIN:VCARD"),
    _Known("a calendar", _EXPORT_CHAT, head=rb"\s*BEGIN:VCALENDAR"),
    _Known(
        "a page of a viewer of Slack exports",
        "give the workspace export as it was downloaded (.zip with JSON)",
        r"\.html?$",
        rb".{0,4000}(?i:slack[ -]export|slackdump|slack archive)",
    ),
    _Known("a web page of no exporter that is known", _EXPORT_CHAT, r"\.html?$"),
)
# A single page tells nothing about the files around it.
_BY_NAME = [known for known in _KNOWN[:-1] if known.name and not known.head and not known.keys]
_TAR = _Known("a tar archive, as Skype and Teams export", _UNPACK)


def explanation(source: Source) -> RealtalkError | None:
    """What a source is, where every file that is looked at is of one known sort."""
    members = _telling(source.members)
    sorts = {_sort(member) for member in members}
    known = next(iter(sorts)) if len(sorts) == 1 else None
    if known is None:
        return None
    title, fix = known
    return RealtalkError(f"is {title}, which is not read", where=str(source.path), fix=fix)


def _telling(members: tuple[Member, ...]) -> Iterable[Member]:
    """The one file that tells what an archive is, or the first of them."""
    for member in members[:_NAMED]:
        if any(known.fits(member, b"", frozenset()) for known in _BY_NAME):
            return [member]
    return members[:_LOOKED_AT]


def _sort(member: Member) -> tuple[str, str] | None:
    try:
        head, keys = member.head(8192), head_keys(member)
    except (RealtalkError, OSError, ValueError):
        return None
    known = next((known for known in _KNOWN if known.fits(member, head, keys)), None)
    if known is None and head[_TAR_MARK] == b"ustar":
        known = _TAR
    return (known.title, known.fix) if known else None


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
        fix=f"name it with `format=`: {', '.join(FORMATS)}",
    )


def writable() -> tuple[str, ...]:
    """Formats that can be written."""
    return tuple(name for name in FORMATS if FORMATS[name].write is not None)
