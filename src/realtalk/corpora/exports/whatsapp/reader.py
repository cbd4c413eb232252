"""WhatsApp's "Export chat": a text file, or a zip of it with its media.

    [20.06.19, 15:58:47] Mara: hi            12/07/2017, 22:35 - Mara: hi
    → Message("D1:1", "Mara", datetime(2019, 6, 20, 15, 58, 47), "hi")

Every phone language writes its own headers and its own words for media, deletions and
notices; the modules beside this one know them. A folder or archive may hold
several chats, and several exports of one. Everything stays in columns: a million messages
take a few seconds.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from typing import get_args

import polars as pl

from realtalk.chat import pack_extra
from realtalk.corpora.calls import packed_calls
from realtalk.corpora.exports.whatsapp.chat import ExportedChat, read_chat
from realtalk.corpora.exports.whatsapp.headers import has_header
from realtalk.corpora.exports.whatsapp.text import head
from realtalk.corpora.limits import raised
from realtalk.corpora.overlaps import join_overlaps
from realtalk.corpora.reading import DateOrder, Format, Ledger, Reading, ReadOptions
from realtalk.corpora.sessions import cut_frame
from realtalk.corpora.source import Member, Source, matching
from realtalk.corpora.tables import EVENTS, QUESTIONS, ChatRow, Tables, message_frame
from realtalk.errors import RealtalkError
from realtalk.local.naming import UniqueNames

_HEAD = 1 << 14
_HEAD_LINES = 60
_MOST_CHATS = 500  # each takes some milliseconds, however short it is
_IPHONE = re.compile(r"_chat(?:[ _]*\(\d{1,3}\))?")  # a second one beside it gets a number
_OWN_NAMES = re.compile(rf"(?i)(?:^|/)(?:{_IPHONE.pattern}\.txt|[^/]*whatsapp[^/]*\.txt)$")
# "WhatsApp Chat with Theo", "WhatsApp-Chat mit Theo", "Chat de WhatsApp con Theo", "... - Theo"
_TITLE = re.compile(
    r"(?i)^(?:(?:chat|conversa|conversación|discussion|чат)?[ _]?(?:de |do |no |в |avec )?whatsapp"
    r"[ _-]*(?:chat)?[ _]*(?:with|mit|con|com|avec|met|med|с|-|–)[ _]+)(?P<name>.+)$"
)
# Signal's text export looks like an iPhone's, without seconds.
_SIGNAL_LIKE = re.compile(r"\[\d{4}-\d{2}-\d{2}, \d{2}:\d{2}\] ")
_OWN_WORDS = re.compile("\u200e|(?i:<media omitted>|end-to-end encrypted|whatsapp)")


def sniff(source: Source) -> bool:
    """Whether a text file begins with WhatsApp's headers."""
    # Documents that were sent lie beside the chat, and may be many.
    named = matching(source, (".txt",), _is_chat, named=_OWN_NAMES)
    return any(named) or any(matching(source, (".txt",), _is_chat))


def read(source: Source, options: ReadOptions) -> Reading:
    """Every chat of the source."""
    members = source.having(".txt")
    chosen = _chats(source) if len(members) > 1 else members
    if not chosen:
        raise RealtalkError(
            "holds no WhatsApp chat (a .txt file)",
            where=str(source.path),
            fix="pass the exported .txt or .zip",
        )
    if len(chosen) > raised(_MOST_CHATS):
        raise RealtalkError(
            f"holds {len(chosen):,} WhatsApp chats, more than {_MOST_CHATS:,} at once",
            where=str(source.path),
            fix="read them in parts",
        )
    frames: list[pl.DataFrame] = []
    rows: list[ChatRow] = []
    notes: list[str] = []
    ledgers: list[Ledger] = []
    names = UniqueNames()
    several = len(chosen) > 1
    named = [
        (_chat_name(member, source, alone=not several), _noted(chat, member, several))
        for member, chat in zip(chosen, _all(chosen, options), strict=True)
    ]
    for wanted, chat in named:
        name = names.free(wanted)
        messages = cut_frame(chat.messages, options.gap)
        speakers = messages["speaker"].unique(maintain_order=True).to_list()
        chat_column = pl.repeat(name, messages.height, dtype=pl.String, eager=True)
        frames.append(message_frame({"chat": chat_column, **messages.to_dict(as_series=True)}))
        calls = packed_calls(chat.calls)
        extra = pack_extra({"calls": calls} if calls else {})
        rows.append(ChatRow(name, tuple(speakers), extra=extra))
        ledgers.append(chat.ledger)
        notes += chat.notes
    tables = Tables(
        source.name,
        "whatsapp",
        tuple(rows),
        frames[0] if len(frames) == 1 else pl.concat(frames),
        pl.DataFrame(schema=EVENTS),
        pl.DataFrame(schema=QUESTIONS),
    )
    reading = Reading(tables=tables, ledger=Ledger.sum("lines", ledgers), notes=tuple(notes))
    return join_overlaps(reading, [wanted for wanted, _ in named], options.gap)


def _all(members: tuple[Member, ...], options: ReadOptions) -> list[ExportedChat]:
    """The chats; those that do not show their date order follow those that do."""
    chats: list[ExportedChat] = []
    for done, member in enumerate(members):
        options.progress(done, len(members), member.name)
        chats.append(read_chat(member.read(), options.dates, member.where, member.name))
    proven: dict[str, set[str]] = {}
    for chat in chats:
        if not chat.dates.open:
            proven.setdefault(chat.dates.shape, set()).add(chat.dates.order)
    for place, (member, chat) in enumerate(zip(members, chats, strict=True)):
        orders = proven.get(chat.dates.shape, set()) if chat.dates.open else set()
        for order in get_args(DateOrder):
            if orders == {order}:
                with contextlib.suppress(RealtalkError):
                    again = read_chat(member.read(), order, member.where, member.name)
                    note = f"the dates were read as {order} like those of the other chats here"
                    chats[place] = replace(again, notes=(note, *again.notes))
    options.progress(len(members), len(members), "")
    return chats


def _noted(chat: ExportedChat, member: Member, several: bool) -> ExportedChat:
    """With the file's name before its notes, where there are several files."""
    if not several:
        return chat
    return replace(chat, notes=tuple(f"{member.name}: {note}" for note in chat.notes))


def _is_chat(member: Member) -> bool:
    text = head(member.head(_HEAD))
    lines = [line for line in text.split("\n")[:_HEAD_LINES] if line.strip()]
    headers = [line for line in lines if has_header(line)]
    # A file called as WhatsApp calls its own may begin with a damaged line.
    enough = 1 if _OWN_NAMES.search(member.name) else 3
    if not headers or (lines[0] is not headers[0] and len(headers) < enough):
        return False
    if all(_SIGNAL_LIKE.match(line) for line in headers):
        return bool(_OWN_NAMES.search(member.name) or _OWN_WORDS.search(text))
    return True


def _chats(source: Source) -> tuple[Member, ...]:
    """The chats among text files; a chat that was sent as a document lies beside its own.

    In a folder that somebody filled by hand only the iPhone's `_chat.txt` rules the others out.
    """
    chats = tuple(matching(source, (".txt",), _is_chat, limit=0))
    packed = not source.path.is_dir()

    def rules(member: Member) -> bool:
        return bool(_IPHONE.fullmatch(member.stem)) or (
            packed and _TITLE.match(member.stem) is not None
        )

    ruled = {member.folder for member in chats if rules(member)}
    return tuple(member for member in chats if member.folder not in ruled or rules(member))


def _chat_name(member: Member, source: Source, *, alone: bool) -> str:
    """The other person's or the group's name where the export has it."""
    name = member.stem
    if _IPHONE.fullmatch(name):
        folder = member.folder.rpartition("/")[2]
        name = folder if folder and (not alone or _TITLE.match(folder)) else source.name
    title = _TITLE.match(name)
    return (title["name"] if title else name).strip() or "chat"


FORMAT = Format(title="WhatsApp chat export", sniff=sniff, read=read)
