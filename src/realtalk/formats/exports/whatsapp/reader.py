"""WhatsApp's "Export chat": a text file, or a zip of it with its media.

    [20.06.19, 15:58:47] Mara: hi            12/07/2017, 22:35 - Mara: hi
    → Message("D1:1", "Mara", datetime(2019, 6, 20, 15, 58, 47), "hi")

Every phone language writes its own headers and its own words for media, deletions and
notices; the modules beside this one know them. A folder or archive may hold
several chats, and several exports of one. Everything stays in columns: a million messages
take a few seconds.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import re
from collections import defaultdict
from datetime import datetime
from functools import partial
from typing import NamedTuple, get_args

import polars as pl

from realtalk.chat import pack_extra
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.exports.whatsapp.bodies import ENCRYPTED, GROUP_EVENTS, classify
from realtalk.formats.exports.whatsapp.headers import MARKS, find, has_header
from realtalk.formats.exports.whatsapp.timeline import Timeline, timeline
from realtalk.formats.json_input import decode, drop_empty
from realtalk.formats.limits import scale
from realtalk.formats.merging import join_overlaps, packed_calls
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import cut_frame
from realtalk.formats.source import Member, Source, matching, utf16
from realtalk.formats.tables import ChatRow, Tables, first_case, message_frame
from realtalk.text.calendars import DateOrder

# The bytes of an export as a column of lines, whatever its encoding and line ends.
#
#     read_lines(b"\xef\xbb\xbf12/07/2017, 22:35 - Mara: hi\r\nthere")
#     → ExportLines(["12/07/2017, 22:35 - Mara: hi", "there"], repaired=0)
#
# Only LF, CRLF and (where there is no LF at all) CR end a line: people paste U+2028, form
# feeds and the like into messages. Text in UTF-8 never becomes one Python string, which would take
# four bytes per character as soon as there is an emoji.

_PIECE = 1 << 20  # letters that are a Python string at a time
_REPLACED = "\ufffd".encode()


class ExportLines(NamedTuple):
    """The lines of a file, and what was wrong with its encoding."""

    lines: pl.Series
    repaired: int  # bytes that were no valid text and became U+FFFD
    guessed: bool = False  # no UTF-8 at all: read as Windows-1252


def head_of(data: bytes) -> str:
    """The start of a file as text with plain line ends, for telling formats apart."""
    text = decode(data).replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


def read_lines(data: bytes) -> ExportLines:
    """Every line of the file, without its end."""
    repaired, guessed = 0, False
    if wide := utf16(data):
        text = data.decode(wide, "replace")
        repaired = text.count("\ufffd")
        data = text.encode("utf-8", "replace")
        del text
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\n" not in data:
            data = data.replace(b"\r", b"\n")
    data = data.removesuffix(b"\n")
    if not data:
        return ExportLines(pl.Series(dtype=pl.String), repaired)
    try:
        column = pl.Series([data]).cast(pl.String)
    except pl.exceptions.PolarsError:  # not UTF-8
        # Where not one character of it is, an editor has saved it in the old way.
        guessed = data.decode("utf-8", "ignore").isascii()
        valid = _repair(data, "cp1252" if guessed else "utf-8")
        repaired += 0 if guessed else valid.count(_REPLACED) - data.count(_REPLACED)
        column = pl.Series([valid]).cast(pl.String)
    return ExportLines(column.str.split("\n").explode(), repaired, guessed)


def _repair(data: bytes, encoding: str) -> bytes:
    """The same as valid UTF-8, piece by piece."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding, "replace", newline="")
    return b"".join(piece.encode() for piece in iter(partial(stream.read, _PIECE), ""))


# One exported chat: its bytes to dated messages, with every line accounted for.
#
#     12/07/2017, 22:35 - Mara created group "Trip"       → a system line
#     12/07/2017, 22:36 - Mara: who is in?                ┐ one message of two lines
#     I have a car                                        ┘
#
# Lines without a header go with the line before them: to its message, its system notice,
# or the leftovers.

_EARLY = "a line before the first message"
_NAMELESS = "a message without a sender's name"
_EMPTY = "a message whose content is not in the export"
_AGAIN = "a message that stands in the file twice"
_CUT = "the export ends in the middle of this line"
_LONGEST_NAME = 100
_DATE_AND_MORE = 6  # signs of a header in which every number is one sign
_LOOKED_AT = 200  # headers; those of both halves of the day are among them
_QUOTES = '["“”„‟«»「」『』]'


class ExportedChat(NamedTuple):
    """Messages in time order (speaker, time, text, attachments, edited, deleted)."""

    messages: pl.DataFrame
    ledger: Ledger
    notes: tuple[str, ...]
    dates: Timeline  # without its headers: how the dates were read
    calls: tuple[tuple[str, datetime], ...] = ()  # who called, and when


def read_chat(data: bytes, dates: DateOrder | None, where: str, name: str) -> ExportedChat:
    """Read one text file of an export; `name` is how leftovers call the file."""
    text = read_lines(data)
    every = text.lines
    ended = data.endswith((b"\n", b"\n\0", b"\r"))
    del data
    heads = find(every)
    is_cut_off = not ended and _is_cut(heads, every)
    if is_cut_off:
        every = every.head(-1)
    dated = timeline(heads, dates, where)
    heads = dated.heads
    if not heads.height:
        raise RealtalkError(
            "no WhatsApp message was found",
            where=where,
            fix="export the chat again without changing the file",
        )
    notes = list(dated.notes)
    if text.repaired:
        notes.append(f"{where}: {text.repaired:,} invalid bytes were replaced")
    if text.guessed:
        notes.append(f"{name} is not UTF-8; it was read as Windows-1252")
    bracketed = str(heads["open"][0]) == "["
    heads = heads.select("row", "time", "sender", "text", "rest", "part")
    heads = _with_speakers(_join_lines(heads, every))
    heads = _once(_roles(classify(heads, bracketed=bracketed)))
    ledger = _ledger(heads, len(every), name, is_cut_off=is_cut_off)
    messages = heads.filter(pl.col.role == "message")
    if not messages.height:
        raise RealtalkError("the file holds no message", where=where)
    if not messages["time"].is_sorted():
        messages = messages.sort("time", maintain_order=True)
    # The calls that notices tell, by people who also wrote; of a second export none.
    own = (pl.col.role == "system") & (pl.col.part == 0)
    spoke = pl.col.speaker.is_in(messages["speaker"].unique().implode())
    return ExportedChat(
        messages.select("speaker", "time", "text", "attachments", "edited", "deleted"),
        ledger,
        tuple(notes),
        dated._replace(heads=dated.heads.head(0)),
        tuple(heads.filter(own, "call", spoke).select("speaker", "time").rows()),
    )


def _is_cut(heads: pl.DataFrame, lines: pl.Series) -> bool:
    """Whether the last line begins like the headers of the file and ends before they do."""
    if not heads.height or int(heads["row"][-1]) == len(lines) - 1:
        return False

    def shape(line: str) -> str:
        return re.sub(r"\d+", "0", re.sub(f"[{MARKS}]", "", line)).rstrip()

    last = shape(lines[-1])
    if len(last) < _DATE_AND_MORE or not last.lstrip("[").startswith("0"):
        return False
    first = lines.gather(heads["row"].head(_LOOKED_AT))
    return any(shape(line).startswith(last) for line in first)


def _join_lines(heads: pl.DataFrame, lines: pl.Series) -> pl.DataFrame:
    """Adds `length` (lines of the message) and the following lines to its text."""
    row, length = pl.col.row, pl.col.length
    end = row.shift(-1, fill_value=len(lines))
    heads = heads.with_columns(length=(end - row).cast(pl.Int64))
    more = heads.filter(length > 1)
    if not more.height:
        return heads
    below = more.select("row", line=pl.int_ranges(row + 1, row + length)).explode("line")
    below = below.with_columns(following=lines.gather(below["line"]))
    following = below.group_by("row", maintain_order=True).agg(pl.col.following.str.join("\n"))
    text = pl.concat_str(pl.col.text.fill_null(""), following["following"], separator="\n")
    longer = more.select("row", longer=text.str.replace(r"\s*\n\s*$", ""))
    heads = heads.join(longer, on="row", how="left", maintain_order="left")
    return heads.with_columns(text=pl.coalesce("longer", "text")).drop("longer")


def _with_speakers(heads: pl.DataFrame) -> pl.DataFrame:
    """Adds `speaker` (marks and the ~ of unknown contacts taken off) and `odd` (no name at all)."""
    sender = pl.col.sender
    plain = (
        sender.str.replace_all(f"[{MARKS}]", "")
        .str.replace_all("[\u00a0\u202f\u2009]", " ")
        .str.strip_chars()
    )
    # A notice with ": " inside a quoted group name is cut inside the quotes.
    quotes = sender.str.count_matches(_QUOTES)
    notice = (quotes % 2 == 1) & sender.str.contains(GROUP_EVENTS)
    names = heads.select("sender").unique(maintain_order=True)
    names = names.with_columns(
        speaker=plain.map_batches(_people, return_dtype=pl.String),
        odd=(notice | (sender.str.len_chars() > _LONGEST_NAME)).fill_null(False),
    )
    return heads.join(names, on="sender", how="left", nulls_equal=True, maintain_order="left")


def _people(senders: pl.Series) -> pl.Series:
    """Unknown contacts without their ~; one who is called like a contact gets a number.

    A phone writes the ~ before everybody whom it did not know when the chat was exported, so
    "Ann" and "~ Ann" in one file are two people.
    """
    contacts = {name for name in senders if name and not name.startswith("~")}
    names = UniqueNames(taken=contacts)
    labels: dict[str, str] = {}
    for name in senders.drop_nulls().unique(maintain_order=True):
        own = name.removeprefix("~").strip()
        if name.startswith("~") and own:
            labels[name] = labels.get(f"~{own}") or labels.get(f"~ {own}") or names.free(own)
        else:
            labels[name] = own
    return pl.Series([None if name is None else labels[name] for name in senders], dtype=pl.String)


def _roles(heads: pl.DataFrame) -> pl.DataFrame:
    """Adds `role`: message, system, or why a line is left over."""
    rest, speaker, text = pl.col.rest, pl.col.speaker, pl.col.text
    speakers = heads["speaker"].drop_nulls().unique()
    # Editors cut the space off "Mara: " where the text begins on the next line.
    is_empty = rest.str.ends_with(":") & rest.str.strip_suffix(":").is_in(speakers.implode())
    heads = heads.with_columns(
        speaker=pl.when(is_empty).then(rest.str.strip_suffix(":")).otherwise(speaker),
        text=pl.when(is_empty & text.is_null()).then(pl.lit("")).otherwise(text),
    ).with_columns(
        role=first_case(
            {
                _NAMELESS: (speaker == "") | rest.str.contains(r"^\s*:"),
                _EMPTY: rest.str.contains(r"^[^:]{1,100}:\.$"),
                "system": speaker.is_null() | pl.col.odd | pl.col.system,
            },
            pl.lit("message"),
        )
    )
    # The notice of encryption opens a chat; later on, somebody quotes it.
    opens = pl.int_range(pl.len()) < 3
    notice = opens & text.str.contains(ENCRYPTED) & (text.str.len_chars() > 60)
    is_message = pl.col.role == "message"
    system = pl.when(is_message & notice).then(pl.lit("system"))
    heads = heads.with_columns(role=system.otherwise("role"))
    of_group = is_message & speaker.eq_missing(pl.lit(_group_name(heads)))
    return heads.with_columns(role=pl.when(of_group).then(pl.lit("system")).otherwise("role"))


def _once(heads: pl.DataFrame) -> pl.DataFrame:
    """Leaves over what a second export in the file says again; exports differ in seconds."""
    if not (heads["part"] == 1).any():
        return heads
    same = ["speaker", "text", "minute", "nth"]
    heads = heads.with_columns(minute=pl.col.time.dt.truncate("1m")).with_columns(
        nth=pl.int_range(pl.len()).over("part", "speaker", "text", "minute")
    )
    messages = heads.filter(pl.col.role == "message")
    first, second = (messages.filter(pl.col.part == part) for part in (0, 1))
    again = pl.col.row.is_in(second.join(first, on=same, how="semi")["row"].implode())
    return heads.with_columns(role=pl.when(again).then(pl.lit(_AGAIN)).otherwise("role"))


def _group_name(heads: pl.DataFrame) -> str | None:
    """The group's own name where the first line is its notice and notices keep coming from it."""
    first = heads.row(0, named=True)
    name = first["speaker"]
    if first["role"] != "system" or not name:
        return None
    own = heads.filter(pl.col.speaker == name)
    notices = own.filter(pl.col.role == "system")
    about_group = notices["text"].str.contains(GROUP_EVENTS).any()
    return str(name) if about_group and notices.height * 5 >= own.height else None


def _ledger(heads: pl.DataFrame, total: int, name: str, *, is_cut_off: bool) -> Ledger:
    places = [(row, _EARLY) for row in range(heads["row"][0])]
    others = heads.filter(~pl.col.role.is_in(["message", "system"]))
    for row, length, role in others.select("row", "length", "role").iter_rows():
        places += [(row + step, role) for step in range(length)]
    places += [(total, _CUT)] * is_cut_off
    leftovers = tuple(Leftover(f"{name}:{row + 1}", reason) for row, reason in places)
    sums = dict(heads.group_by("role").agg(pl.col.length.sum()).iter_rows())
    in_messages, system = sums.get("message", 0), sums.get("system", 0)
    return Ledger("lines", total + is_cut_off, in_messages, system, leftovers)


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
    by_name = matching(source, (".txt",), _is_chat, name=_OWN_NAMES)
    return any(by_name) or any(matching(source, (".txt",), _is_chat))


def read(source: Source, options: ReadOptions) -> ReadCorpus:
    """Every chat of the source."""
    members = source.having(".txt")
    chat_files = _chats(source) if len(members) > 1 else members
    if not chat_files:
        raise source.error("holds no WhatsApp chat (a .txt file)", "pass the exported .txt or .zip")
    if len(chat_files) > scale(_MOST_CHATS):
        raise source.error(
            f"holds {len(chat_files):,} WhatsApp chats, more than {_MOST_CHATS:,} at once",
            "read them in parts",
        )
    frames: list[pl.DataFrame] = []
    rows: list[ChatRow] = []
    notes: list[str] = []
    titles: list[str] = []
    names = UniqueNames()
    several = len(chat_files) > 1
    chats = _all(chat_files, options)
    for member, chat in zip(chat_files, chats, strict=True):
        titles.append(_chat_name(member, source, alone=not several))
        name = names.free(titles[-1])
        messages = cut_frame(chat.messages, options.gap)
        speakers = messages["speaker"].unique(maintain_order=True)
        frames.append(message_frame(messages.with_columns(chat=pl.lit(name))))
        extra = pack_extra(drop_empty({"calls": packed_calls(chat.calls)}))
        rows.append(ChatRow(name, tuple(speakers), extra=extra))
        notes += [f"{member.name}: {note}" if several else note for note in chat.notes]
    tables = Tables(source.name, "whatsapp", tuple(rows), pl.concat(frames))
    ledger = Ledger.sum([chat.ledger for chat in chats], "lines")
    reading = ReadCorpus(tables=tables, ledger=ledger, notes=tuple(notes))
    return join_overlaps(reading, titles, options.gap)


def _all(members: tuple[Member, ...], options: ReadOptions) -> list[ExportedChat]:
    """The chats; those that do not show their date order follow those that do."""
    chats = [
        read_chat(member.read(), options.dates, member.where, member.name)
        for member in options.in_turn(members)
    ]
    proven: dict[str, set[str]] = defaultdict(set)
    for chat in chats:
        if not chat.dates.open:
            proven[chat.dates.shape].add(chat.dates.order)
    for place, (member, chat) in enumerate(zip(members, chats, strict=True)):
        for order in get_args(DateOrder) if chat.dates.open else ():
            if proven[chat.dates.shape] == {order}:
                with contextlib.suppress(RealtalkError):
                    again = read_chat(member.read(), order, member.where, member.name)
                    note = f"the dates were read as {order} like those of the other chats here"
                    chats[place] = again._replace(notes=(note, *again.notes))
    return chats


def _is_chat(member: Member) -> bool:
    text = head_of(member.head(_HEAD))
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


FORMAT = Format("WhatsApp chat export", sniff, read)
