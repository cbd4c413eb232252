"""WhatsApp's own databases, not encrypted: every chat of a phone or a Mac at once.

    msgstore.db (Android; wa.db beside it has the names), ChatStorage.sqlite (iPhone, Mac)
    → one chat per conversation, "Me" for the owner, others by name or number

`schemas` makes one table of what the versions of the app store. Everything stays in columns: a
million messages take a few seconds. Times are UTC, or the clock of `timezone=`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from typing import Any

import polars as pl

from realtalk.chat import pack_extra
from realtalk.files.naming import UniqueNames
from realtalk.formats.exports.assembly import author, reactions, shown_names
from realtalk.formats.exports.databases import (
    DATABASES,
    has_tables,
    is_database,
    log_notes,
    open_database,
)
from realtalk.formats.exports.whatsapp.schemas import (
    APPLE,
    NEW,
    OLD,
    WANTED,
    Stored,
    contacts,
    read_schema,
)
from realtalk.formats.json_input import Fields, zone
from realtalk.formats.limits import check_leftovers
from realtalk.formats.merging import join_overlaps, packed_calls
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.sessions import cut_frame
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.formats.tables import MESSAGES, ChatRow, Tables, first_case, message_frame
from realtalk.text.written_days import from_epoch

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
    titles = [title for part in parts for title in part.titles]
    return join_overlaps(reading, titles, options.gap, [id_ for part in parts for id_ in part.ids])


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
            names |= contacts(database)
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
        self.ids: list[str] = frame["chat"].unique(maintain_order=True).to_list()
        titles = {jid: stored.titles.get(jid) or self._name(jid) for jid in self.ids}
        self.titles = list(titles.values())
        chat_names = {jid: free.free(title) for jid, title in titles.items()}
        self.messages = self._columns(frame, chat_names)
        speakers = self.messages.group_by("chat", maintain_order=True).agg(
            pl.col.speaker.unique(maintain_order=True)
        )
        by_chat = dict(speakers.rows())
        jids = {label: jid for jid, label in self._labels.items() if jid}
        self.rows = []
        for jid, name in chat_names.items():
            people = by_chat[name]
            extra: Fields = {
                "id": jid,
                "authors": {x: jids[x] for x in people if x in jids},
            }
            made = ((self._labels.get(who), when) for who, when in calls.get(jid, ()))
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
        counts = dict(frame["role"].value_counts().iter_rows())
        messages, system = counts.get("message", 0), counts.get("system", 0)
        check_leftovers(frame.height - messages - system, messages, member.where)
        others = frame.filter(~pl.col.role.is_in(["message", "system"])).select("row", "role")
        left = tuple(Leftover(f"{member.name}, message {row}", why) for row, why in others.rows())
        calls = len(self._stored.calls)
        return Ledger.of(messages, left, system + calls)

    def _calls(self, frame: pl.DataFrame) -> dict[str, list[tuple[str, datetime | None]]]:
        """Who called and when, by chat; a call that the log and the chat both tell is one."""
        told = frame.filter(pl.col.kind == "call").select("chat", "sender", "stamp").rows()
        calls: dict[str, dict[Any, tuple[str, datetime | None]]] = defaultdict(dict)
        for chat, who, stamp in (*self._stored.calls, *told):
            when = from_epoch(stamp / 1000, self._zone) if stamp else None
            if chat and who is not None:
                calls[chat].setdefault((who, (stamp or 0) // 60_000), (who, when))
        return {chat: list(found.values()) for chat, found in calls.items()}

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
        keys = frame.select("chat", "id", reply="key").drop_nulls()
        keys = keys.unique(["chat", "reply"], keep="first", maintain_order=True)
        frame = frame.join(
            keys.rename({"id": "reply_to"}), on=["chat", "reply"], how="left", maintain_order="left"
        )
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
            frame.select(
                pl.col.chat.replace_strict(chat_names, return_dtype=pl.String),
                "session",
                "session_time",
                "id",
                pl.col.sender.replace_strict(self._labels, return_dtype=pl.String).alias("speaker"),
                "time",
                pl.when(is_deleted)
                .then(pl.lit(""))
                .otherwise(pl.col.text.fill_null(""))
                .alias("text"),
                attachments=pl.when(kind.is_in(_NO_FILE))
                .then(pl.lit([], dtype=_FILES))
                .otherwise(pl.concat_list(part)),
                reply_to="reply_to",
                edited=pl.col.edited & ~is_deleted,
                deleted=is_deleted,
                extra=pl.col.extra.fill_null(""),
            ).to_dict(as_series=True)
        )

    def _marks(self) -> pl.DataFrame:
        """The reactions of messages, as `extra`."""
        marks: dict[int, tuple[tuple[str, str], ...]] = defaultdict(tuple)
        for row, emoji, jid in self._stored.reactions:
            marks[row] += ((emoji, jid),)
        packed = {given: self._packed(given) for given in set(marks.values())}  # often the same
        extra = [packed[given] for given in marks.values()]
        return pl.DataFrame(
            {"row": list(marks), "extra": extra}, schema={"row": pl.Int64, "extra": pl.String}
        )

    def _packed(self, given: tuple[tuple[str, str], ...]) -> str:
        people = ((emoji, [self._labels[jid]] if jid != "?" else []) for emoji, jid in given)
        return pack_extra(reactions((emoji, names, 1) for emoji, names in people))


FORMAT = Format("WhatsApp's own database (msgstore.db, ChatStorage.sqlite)", _SOURCES.sniff, read)
