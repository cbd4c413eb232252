"""WhatsApp's own databases, not encrypted: every chat of a phone or a Mac at once.

    msgstore.db (Android; wa.db beside it has the names), ChatStorage.sqlite (iPhone, Mac)
    → one chat per conversation, "Me" for the owner, others by name or number

One table is made of what the versions of the app store. Everything stays in columns: a million
messages take a few seconds. Times are UTC, or the clock of `timezone=`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from realtalk.chat import pack_extra
from realtalk.files.naming import UniqueNames
from realtalk.formats.exports.assembly import author, reactions, shown_names
from realtalk.formats.exports.databases import (
    DATABASES,
    Database,
    has_tables,
    is_database,
    log_notes,
    open_database,
)
from realtalk.formats.json_input import Fields, word_pairs, zone
from realtalk.formats.limits import check_leftovers
from realtalk.formats.merging import TimedCall, join_overlaps, packed_calls
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import cut_frame
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.formats.tables import MESSAGES, ChatRow, Tables, first_case, message_frame
from realtalk.grouping import grouped
from realtalk.text.wordlists import language_lines
from realtalk.text.written_days import from_epoch

# The tables of WhatsApp's databases, of phones and years, as one: a row per message, in columns.
#
#     message: _id 7, chat_row_id 1, sender_jid_row_id 3, timestamp 1714548600000, text_data "hi"
#     messages: _id 7, key_remote_jid "1555@s.whatsapp.net", key_from_me 0, data "hi"      (to 2021)
#     ZWAMESSAGE: Z_PK 7, ZCHATSESSION 1, ZMESSAGEDATE 736241400.0, ZTEXT "hi"    (iPhone and Mac)
#     → row 7 | chat 1555@s.whatsapp.net | mine false | sender … | stamp 1714548600000 | kind text
#
# `kind` is text, notice, call, deleted, unknown, or that of an attachment. A table or column that a
# version does not have is null.

WANTED = language_lines("realtalk.formats.exports.whatsapp", "tables.txt")
NEW = {"message": "_id chat_row_id from_me timestamp", "jid": "_id", "chat": "_id jid_row_id"}
OLD = {"messages": "_id key_remote_jid key_from_me timestamp"}
APPLE = {"ZWAMESSAGE": "Z_PK ZISFROMME ZMESSAGEDATE ZCHATSESSION", "ZWACHATSESSION": "Z_PK"}

_EPOCH = 978_307_200  # the first second of 2001, where Apple's times begin
# What a message is by its number, on Android / on iPhones. Products, lists and the like are known
# by what they hold.
_KINDS = word_pairs("""
    text     0             / 0 7
    image    1 42          / 1 38
    audio    2 82          / 3
    video    3 13 43 81    / 2 11 39 54
    contact  4 14          / 4
    location 5 16          / 5
    notice   7 11          / 6 10 12
    call     8 10 90       /
    file     9             / 8
    deleted  15 64         / 14
    sticker  20            / 15
    link     24            /
""")
_ANDROID_KINDS, _APPLE_KINDS = (
    {
        int(number): kind
        for kind, numbers in _KINDS.items()
        for number in numbers.split("/")[phone].split()
    }
    for phone in (0, 1)
)
_PHONE_SIGNS = "+0123456789 ()-\u00a0\u200e\u202a\u202c"
_NOTICE = 6  # the status of what the app itself says
_REVOKED = 7  # the version of a message that was taken back


@dataclass(slots=True)
class Stored:
    """What a database tells: messages, and by their rows and people's addresses the rest."""

    messages: pl.DataFrame
    titles: dict[str, str] = field(default_factory=dict)  # of groups
    names: dict[str, str] = field(default_factory=dict)  # of people
    # The row of a message, an emoji, and whose it is ("" for the owner).
    reactions: list[tuple[int, str, str]] = field(default_factory=list)
    calls: list[tuple[str, str, int | None]] = field(default_factory=list)  # chat, caller, when


def read_schema(database: Database) -> Stored | None:
    """The messages of whichever tables hold some."""
    stored = None
    for needed, read in ((NEW, _new), (OLD, _old), (APPLE, _apple)):
        if database.has(needed) and (stored := read(database)).messages.height:
            break
    return stored


def _beside(
    frame: pl.DataFrame, rows: pl.DataFrame, on: str, key: str = "message_row_id"
) -> pl.DataFrame:
    """Each row with the columns of the first of `rows` whose key it has in `on`."""
    once = rows.filter(pl.col(key).is_not_null()).unique(key, keep="first", maintain_order=True)
    return frame.join(once, left_on=on, right_on=key, how="left", maintain_order="left")


def _address_book(database: Database) -> tuple[dict[int, str], dict[str, str]]:
    """People's and groups' addresses by row, hidden ones by the number they stand for; names."""
    jids = {
        row: raw or f"{user or ''}@{server or ''}"
        for row, raw, user, server in database.frame("jid").iter_rows()
        if row is not None
    }
    hidden = database.frame("jid_map").rows()
    jids |= {row: jids[other] for row, other in hidden if row in jids and other in jids}
    shown = database.frame("lid_display_name").rows()
    return jids, {jids[row]: name for row, name in shown if row in jids and name}


def _looked_up(column: str, values: dict[int, str]) -> pl.Expr:
    looked_up = pl.col(column).replace_strict(values, default=None, return_dtype=pl.String)
    return looked_up.replace("", None)


def _kinds(kinds: dict[int, str]) -> pl.Expr:
    """What a message is; a number that is not known is so by its text or its file."""
    kind = pl.col.type.fill_null(0)
    kind = kind.replace_strict(kinds, default=None, return_dtype=pl.String)
    media = pl.col.mime.str.extract("^(image|video|audio)/")
    has_file = pl.col.file.is_not_null() | pl.col.mime.is_not_null()
    has_text = pl.col.text.fill_null("") != ""
    known = pl.coalesce(kind, pl.when(has_file).then(media.fill_null("file")))
    return known.fill_null(first_case({"text": has_text}, pl.lit("unknown")))


def _new(database: Database) -> Stored:
    """Android since about 2021."""
    jids, names = _address_book(database)
    chats = database.frame("chat").rows()
    addresses = {row: jids.get(jid, "") for row, jid, _ in chats if row is not None}
    edited, revoked = (
        pl.col._id.is_in(database.frame(table)["message_row_id"].implode())
        for table in ("message_edit_info", "message_revoked")
    )
    frame = (
        database.frame("message")
        .pipe(_beside, database.frame("message_media"), "_id")
        .pipe(_beside, database.frame("message_quoted").rename({"key_id": "reply"}), "_id")
        .select(
            row="_id",
            chat=_looked_up("chat_row_id", addresses),
            own=pl.col.chat_row_id.fill_null(-1) < 1,  # the app's own first row
            mine=pl.col.from_me == 1,
            sender=_looked_up("sender_jid_row_id", jids),
            stamp="timestamp",
            text=pl.coalesce("text_data", "media_caption"),
            type="message_type",
            status="status",
            key="key_id",
            reply="reply",
            file="file_path",
            mime="mime_type",
            name="media_name",
            edited=edited,
            revoked=revoked,
        )
    )
    marks = database.frame("message_add_on_reaction")
    marks = marks.filter(pl.col.reaction != "")  # one that was taken back is empty
    given = marks.join(
        database.frame("message_add_on"), left_on="message_add_on_row_id", right_on="_id"
    )
    return Stored(
        _android(frame),
        {addresses[row]: subject for row, _, subject in chats if row in addresses and subject},
        names,
        [
            (parent, emoji, "" if mine else jids.get(jid, "") or "?")
            for _, emoji, parent, mine, jid in given.iter_rows()
        ],
        [
            (jids.get(group) or jids.get(jid, ""), "" if mine else jids.get(jid, ""), when)
            for jid, mine, when, group in database.frame("call_log").iter_rows()
        ],
    )


def _android(frame: pl.DataFrame) -> pl.DataFrame:
    """With what every message is."""
    kind = _kinds(_ANDROID_KINDS)
    is_notice = pl.col.own | ((pl.col.status == _NOTICE).fill_null(False) & (kind != "call"))
    return frame.with_columns(
        kind=first_case({"notice": is_notice, "deleted": pl.col.revoked}, kind)
    )


def _old(database: Database) -> Stored:
    """Android before: who and where stand in the message itself."""
    jids, names = _address_book(database)
    quoted = database.frame("messages_quotes").rename({"key_id": "reply"})
    files = database.frame("message_media").select("message_row_id", "file_path")
    frame = (
        database.frame("messages")
        .pipe(_beside, quoted, "quoted_row_id", "_id")
        .pipe(_beside, files, "_id")
        .select(
            row="_id",
            chat="key_remote_jid",
            own=(pl.col.key_remote_jid == "-1").fill_null(False),  # the app's own first row
            mine=pl.col.key_from_me == 1,
            sender=pl.col.remote_resource.replace("", None),
            stamp="timestamp",
            text="data",
            caption="media_caption",
            type="media_wa_type",
            status="status",
            key="key_id",
            reply="reply",
            file=pl.coalesce("file_path", "media_name"),
            mime="media_mime_type",
            name="media_name",
            edited=pl.lit(False),
            revoked=(pl.col.edit_version == _REVOKED).fill_null(False),
        )
    )
    titles = dict(database.frame("chat_list").rows())
    chats = database.frame("chat").rows()
    titles |= {jids[row]: subject for _, row, subject in chats if row in jids and subject}
    # Beside a file `data` holds none of its sender's words.
    is_file = ~pl.col.kind.is_in(["text", "notice", "call", "deleted", "unknown"])
    frame = _android(frame).with_columns(text=pl.when(is_file).then("caption").otherwise("text"))
    return Stored(frame, {jid: name for jid, name in titles.items() if jid and name}, names)


def _apple(database: Database) -> Stored:
    """iPhone and Mac."""
    sessions, members = (
        database.frame(table).rows() for table in ("ZWACHATSESSION", "ZWAGROUPMEMBER")
    )
    addresses = {row: jid for row, jid, _ in sessions if row is not None and jid}
    names = {jid: name for jid, name in database.frame("ZWAPROFILEPUSHNAME").rows() if jid and name}
    names |= {jid: name or first for _, jid, name, first in members if jid and (name or first)}
    titles = {jid: name for _, jid, name in sessions if jid and name}
    names |= {jid: name for jid, name in titles.items() if name.strip(_PHONE_SIGNS)}
    media = database.frame("ZWAMEDIAITEM").with_columns(
        quoted=pl.col.ZMETADATA.map_elements(_quoted, return_dtype=pl.String)
    )
    messages = database.frame("ZWAMESSAGE")
    keys = messages.select(parent="Z_PK", parent_key="ZSTANZAID")
    is_file = pl.col.ZMESSAGETYPE == 8  # there the title is the file's name
    frame = (
        messages.pipe(_beside, media.drop("ZMETADATA"), "Z_PK", "ZMESSAGE")
        .pipe(_beside, keys, "ZPARENTMESSAGE", "parent")
        .select(
            row="Z_PK",
            chat=_looked_up("ZCHATSESSION", addresses),
            mine=pl.col.ZISFROMME == 1,
            sender=_looked_up(
                "ZGROUPMEMBER", {row: jid for row, jid, *_ in members if row and jid}
            ),
            stamp=((pl.col.ZMESSAGEDATE + _EPOCH) * 1000).round().cast(pl.Int64, strict=False),
            text=pl.when(is_file | (pl.col.ZTEXT.fill_null("") != ""))
            .then("ZTEXT")
            .otherwise("ZTITLE"),
            type="ZMESSAGETYPE",
            key="ZSTANZAID",
            reply=pl.coalesce("parent_key", "quoted"),
            file="ZMEDIALOCALPATH",
            mime=pl.col.ZVCARDSTRING.str.extract(r"^(\w+/[\w.+-]+)$"),
            name=pl.when(is_file).then("ZTITLE").otherwise("ZVCARDNAME"),
            edited=pl.lit(False),
        )
        .with_columns(kind=_kinds(_APPLE_KINDS))
    )
    marks = [
        (row, emoji, jid)
        for row, blob in database.frame("ZWAMESSAGEINFO").drop_nulls().iter_rows()
        for emoji, jid in _reactions(blob)
    ]
    return Stored(frame, titles, names, marks)


# Protocol buffers whose definition is not public: every field has a number, and of the kinds of
# values only bytes are wanted.
#
#     b"\x2a\x04AAA1" → (5, b"AAA1"): the id of the message that is answered


def _fields(blob: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that hold bytes; none where the bytes are no fields."""
    from google.protobuf.empty_pb2 import Empty
    from google.protobuf.message import DecodeError
    from google.protobuf.unknown_fields import UnknownFieldSet

    message = Empty()
    with suppress(DecodeError):
        message.ParseFromString(blob)
    for field_ in UnknownFieldSet(message):
        if isinstance(field_.data, bytes):
            yield field_.field_number, field_.data


def _quoted(blob: bytes) -> str | None:
    return next((_text(value) for number, value in _fields(blob) if number == 5), None)


def _reactions(blob: bytes) -> Iterator[tuple[str, str]]:
    """Emoji and by whom ("" for the owner)."""
    for number, value in _fields(blob):
        for inner, mark in _fields(value) if number == 7 else ():
            parts = {field: _text(part) for field, part in _fields(mark)} if inner == 1 else {}
            if parts.get(3):
                yield parts[3], parts.get(2, "")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


_OWNER = "Me"
_NAME = re.compile(r"(?i)(?:^|/)(?:msgstore|ChatStorage)[^/]*$")
_CONTACTS = re.compile(r"(?i)(?:^|/)wa[^/]*\.db$")
_STATUS = "status@broadcast"  # what people showed everybody for a day: no chat
_LATEST = 253_402_300_799_000  # milliseconds: the year 9999
_NO_FILE = ("text", "deleted")
_FILES = MESSAGES["attachments"]
_KEPT = "row chat sender stamp text kind key reply file name edited".split()  # noqa: SIM905


def _is_messages(member: Member) -> bool:
    """Whether a file is such a database; in an archive, by its name."""
    if not is_database(member):
        return False
    if member.path is None:
        return _NAME.search(member.name.removesuffix(".gz")) is not None
    return has_tables(member, WANTED, NEW, OLD, APPLE)


_SOURCES = FormatFiles(DATABASES, _is_messages)


def read(source: Source, options: ReadOptions) -> ReadCorpus:
    """Every chat of every database."""
    members = list(_SOURCES.find(source))
    if not members:
        raise source.error(
            "holds no database of WhatsApp's with messages",
            "give msgstore.db (Android) or ChatStorage.sqlite (iPhone, Mac)",
        )
    names, notes = _contacts(source, members)
    parts: list[_StoredPart] = []
    free = UniqueNames()
    for member in options.in_turn(members):
        notes += log_notes(member)
        with open_database(member, WANTED) as database:
            stored = read_schema(database)
        if stored is not None and stored.messages.height:
            stored.names |= names
            parts.append(_StoredPart(stored, member, options, free))
    if not any(part.rows for part in parts):
        raise source.error("the database holds no message")
    notes += [note for part in parts for note in part.notes]
    tables = Tables(
        source.name,
        "whatsapp-database",
        tuple(row for part in parts for row in part.rows),
        pl.concat([part.messages for part in parts]),
    )
    ledger = Ledger.sum([part.ledger for part in parts])
    reading = ReadCorpus(tables=tables, ledger=ledger, notes=tuple(dict.fromkeys(notes)))
    titles = [pair for part in parts for pair in part.titles.items()]
    return join_overlaps(
        reading, [title for _, title in titles], options.gap, [jid for jid, _ in titles]
    )


def _contacts(source: Source, members: list[Member]) -> tuple[dict[str, str], list[str]]:
    """The names in a wa.db that was given, or lies beside the one file that was."""
    others = [member for member in source.having(".db") if _CONTACTS.search(member.name)]
    alone = members[0].path if len(source.members) == 1 else None
    if alone is not None and (beside := alone.with_name("wa.db")).is_file():
        others = list(Source.open(beside).members)
    names: dict[str, str] = {}
    for member in others:
        if not is_database(member):
            continue
        with open_database(member, {"wa_contacts": WANTED["wa_contacts"]}) as database:
            rows = database.frame("wa_contacts").rows()
        names |= {jid: shown or own for jid, shown, own in rows if jid and (shown or own)}
    return names, ["names are those of wa.db beside it"] if names and alone else []


class _StoredPart:
    """One database: its messages as columns, and what there is about every chat."""

    def __init__(
        self, stored: Stored, member: Member, options: ReadOptions, free: UniqueNames
    ) -> None:
        self._stored = stored
        self._zone = zone(options.timezone)
        frame = self._with_roles(stored.messages)
        stored.messages = stored.messages.clear()  # of a million messages there is one copy
        self.notes: list[str] = []
        if unknown := frame.filter(pl.col.kind == "unknown").height:
            self.notes.append(
                f"messages of a kind that is not known, taken as notices: {unknown:,}"
            )
        self.ledger = self._count(frame, member)
        calls = self._calls(frame)
        frame = frame.filter(pl.col.role == "message").select(_KEPT)
        self._labels = self._people(frame)
        frame = self._in_order(frame, options)
        jids = frame["chat"].unique(maintain_order=True)
        self.titles = {jid: stored.titles.get(jid) or self._name(jid) for jid in jids}
        chat_names = {jid: free.free(title) for jid, title in self.titles.items()}
        self.messages = self._columns(frame, chat_names)
        speakers = self.messages.group_by("chat", maintain_order=True).agg(
            pl.col.speaker.unique(maintain_order=True)
        )
        by_chat = dict(speakers.rows())
        authors = {label: jid for jid, label in self._labels.items() if jid}
        self.rows = []
        for jid, name in chat_names.items():
            people = by_chat[name]
            known = {x: authors[x] for x in people if x in authors}
            extra: Fields = {"id": jid, "authors": known}
            made = ((self._labels.get(who), when) for who, when in calls[jid].values())
            if packed := packed_calls((who, when) for who, when in made if who in people and who):
                extra["calls"] = packed
            self.rows.append(ChatRow(name, tuple(people), extra=pack_extra(extra)))

    def _with_roles(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Adds `role`: message, system, or why a row is left over; `sender` is "" for the owner."""
        chat, kind = pl.col.chat, pl.col.kind
        is_group = chat.str.ends_with("@g.us")
        sender = (
            pl.when(pl.col.mine.fill_null(False))
            .then(pl.lit(""))
            .when(is_group)
            .then("sender")
            .otherwise(pl.coalesce("sender", "chat"))
        )
        silent = (kind == "text") & (pl.col.text.fill_null("") == "")
        is_notice = kind.is_in(["notice", "call", "unknown"]) | (chat == _STATUS).fill_null(False)
        return frame.with_columns(sender=sender).with_columns(
            role=first_case(
                {
                    "system": is_notice,
                    "belongs to no chat": chat.is_null(),
                    "no sender": pl.col.sender.is_null(),
                    "neither text nor attachment": silent,
                },
                pl.lit("message"),
            )
        )

    def _count(self, frame: pl.DataFrame, member: Member) -> Ledger:
        """Rows of messages and of calls; a reaction is a part of its message."""
        messages = frame.filter(pl.col.role == "message").height
        others = frame.filter(~pl.col.role.is_in(["message", "system"])).select("row", "role")
        check_leftovers(others.height, messages, member.where)
        left = [Leftover(f"{member.name}, message {row}", why) for row, why in others.rows()]
        system = frame.height - messages - others.height
        return Ledger.of(messages, left, system + len(self._stored.calls))

    def _calls(self, frame: pl.DataFrame) -> dict[str, dict[Any, TimedCall]]:
        """Who called and when, by chat; a call that the log and the chat both tell is one."""
        told = frame.filter(pl.col.kind == "call").select("chat", "sender", "stamp").rows()
        calls: dict[str, dict[Any, TimedCall]] = defaultdict(dict)
        for chat, who, stamp in (*self._stored.calls, *told):
            when = from_epoch(stamp / 1000, self._zone) if stamp else None
            if chat and who is not None:
                calls[chat].setdefault((who, (stamp or 0) // 60_000), (who, when))
        return calls

    def _people(self, frame: pl.DataFrame) -> dict[str, str]:
        """What everybody is called: one name for a person in all chats."""
        jids = dict.fromkeys(frame["sender"].unique(maintain_order=True))
        jids |= dict.fromkeys(jid for _, _, jid in self._stored.reactions)
        people = [(jid or "me", self._name(jid) if jid else _OWNER, "") for jid in jids]
        names = shown_names(people)
        return {jid: names[author(jid or "me", "")] for jid in jids}

    def _name(self, jid: str) -> str:
        number, _, server = jid.partition("@")
        is_phone = server == "s.whatsapp.net" and number.isdigit()
        return self._stored.names.get(jid) or (f"+{number}" if is_phone else number)

    def _in_order(self, frame: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
        """By chat and time, cut into sessions; a message without a time stays in its place."""
        stamp = pl.col.stamp
        time = pl.when((stamp > 0) & (stamp <= _LATEST)).then(stamp).cast(pl.Datetime("ms"))
        if self._zone is not None:
            clock = time.dt.replace_time_zone("UTC").dt.convert_time_zone(str(self._zone))
            time = clock.dt.replace_time_zone(None)
        frame = frame.with_columns(time=time.cast(pl.Datetime("us"))).sort("row")
        untimed = frame["time"].null_count()
        if untimed:
            self.notes.append(f"messages without a readable time, left in their place: {untimed:,}")
        place = pl.col.time.forward_fill().over("chat")
        frame = frame.with_columns(place=place, first=pl.col.row.first().over("chat"))
        frame = frame.sort("first", "place", "row", nulls_last=False)
        frame = frame.drop("stamp", "place", "first")
        return cut_frame(frame, options.gap, by="chat")

    def _columns(self, frame: pl.DataFrame, chat_names: dict[str, str]) -> pl.DataFrame:
        """The columns that are stored."""
        keys = frame.select("chat", reply="key", reply_to="id").drop_nulls()
        keys = keys.unique(["chat", "reply"], keep="first", maintain_order=True)
        frame = frame.join(keys, on=["chat", "reply"], how="left", maintain_order="left")
        frame = frame.join(self._marks(), on="row", how="left", maintain_order="left")
        kind, file = pl.col.kind, pl.col.file.fill_null("")
        base = file.str.extract(r"([^/\\]+)$")
        part = pl.struct(
            kind=kind,
            name=pl.coalesce(pl.col.name.replace("", None), base, pl.lit("")),
            url=file,
            caption=pl.lit(""),
        )
        is_deleted = kind == "deleted"
        return message_frame(
            frame.with_columns(
                chat=pl.col.chat.replace_strict(chat_names, return_dtype=pl.String),
                speaker=pl.col.sender.replace_strict(self._labels, return_dtype=pl.String),
                text=pl.when(~is_deleted).then("text").fill_null(""),
                attachments=pl.when(kind.is_in(_NO_FILE))
                .then(pl.lit([], dtype=_FILES))
                .otherwise(pl.concat_list(part)),
                edited=pl.col.edited & ~is_deleted,
                deleted=is_deleted,
                extra=pl.col.extra.fill_null(""),
            )
        )

    def _marks(self) -> pl.DataFrame:
        """The reactions of messages, as `extra`."""
        marks = grouped(
            (row, (emoji, [self._labels[jid]] if jid != "?" else [], 1))
            for row, emoji, jid in self._stored.reactions
        )
        extra = [pack_extra(reactions(given)) for given in marks.values()]
        return pl.DataFrame(
            {"row": list(marks), "extra": extra}, schema={"row": pl.Int64, "extra": pl.String}
        )


FORMAT = Format("WhatsApp's own database (msgstore.db, ChatStorage.sqlite)", _SOURCES.sniff, read)
