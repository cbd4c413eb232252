"""Several exports of one chat in one folder or archive, joined: what stands in two is taken once.

    "WhatsApp Chat with Mara.txt"      messages of January and February
    "WhatsApp Chat with Mara (1).txt"  messages of February and March
    → one chat "Mara" of three months

Files belong together where their names are alike and they agree on the time that both cover:
a greeting sent to two people in one minute makes no one chat of two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from realtalk.corpora.joining import is_cut, join, recut
from realtalk.corpora.matching import align, span
from realtalk.corpora.merging import by_chat, common_name, joined_row, taken_once
from realtalk.corpora.reading import Reading
from realtalk.corpora.sessions import Gap
from realtalk.corpora.tables import ChatRow, Tables
from realtalk.local.naming import UniqueNames

_SAME = ["speaker", "time", "text"]
_LIKELY = 5  # chats that share most messages with one
_MOST = 500  # chats that share messages: nobody exports one so often, and each takes some time


def join_overlaps(
    reading: Reading, wanted: Sequence[str], gap: Gap, ids: Sequence[str] = ()
) -> Reading:
    """The reading with chats of one name joined where they agree.

    `wanted` are the names that its chats have in their files, before two of one were told apart,
    and `ids` what the app itself calls them: chats that it tells apart stay apart.
    """
    keys = [
        (common_name(name), id_)
        for name, id_ in zip(wanted, ids or [""] * len(wanted), strict=True)
    ]
    counts = Counter(keys)
    if all(count == 1 for count in counts.values()):
        return reading
    chats = [row.id for row in reading.tables.chats]
    names = dict(zip(chats, wanted, strict=True))
    sharing = _sharing(reading.tables.messages, dict(zip(chats, keys, strict=True)))
    if not sharing or len(sharing) > _MOST:
        return reading
    tables, notes = _joined(reading.tables, names, sharing, gap)
    if not notes:
        return reading
    return Reading(tables=tables, ledger=reading.ledger, notes=(*reading.notes, *notes))


def _joined(
    tables: Tables, names: dict[str, str], sharing: Mapping[str, Sequence[str]], gap: Gap
) -> tuple[Tables, list[str]]:
    frames = by_chat(tables)
    rows = {row.id: row for row in tables.chats}
    into: dict[str, str] = {}  # a chat → the one that it was put into
    notes: list[str] = []
    for chat, others in sharing.items():
        for home in dict.fromkeys(into.get(other, other) for other in others):
            merged = _merged(rows[home], frames[home], rows[chat], frames[chat], gap)
            if merged is not None:
                frames[home], rows[home], shared = merged
                into[chat] = home
                names[home] = common_name(names[home])
                notes.append(taken_once(shared))
                break
    free = UniqueNames()
    kept = {name: free.free(names[name]) for name in rows if name not in into}
    messages = [frames[name].with_columns(chat=pl.lit(new)) for name, new in kept.items()]
    chats = tuple(replace(rows[name], id=new) for name, new in kept.items())
    return replace(tables, chats=chats, messages=pl.concat(messages)), notes


def _sharing(messages: pl.DataFrame, keys: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    """Chats, and those of their name before them that have messages of theirs, most first."""
    counts = Counter(keys.values())
    alike = [chat for chat, key in keys.items() if counts[key] > 1]
    common = {chat: "\0".join(key) for chat, key in keys.items()}
    said = messages.filter(pl.col("chat").is_in(alike)).select("chat", *_SAME)
    said = said.unique(maintain_order=True).with_columns(
        name=pl.col("chat").replace_strict(common, return_dtype=pl.String)
    )
    said = said.with_columns(first=pl.col("chat").first().over("name", *_SAME))
    pairs = said.filter(pl.col("first") != pl.col("chat")).group_by("chat", "first").len()
    shared: dict[str, list[tuple[int, str]]] = {}
    for chat, first, count in pairs.rows():
        shared.setdefault(chat, []).append((-count, first))
    return {
        chat: [first for _, first in sorted(shared[chat])[:_LIKELY]]
        for chat in alike
        if chat in shared
    }


def _merged(
    home: ChatRow, known: pl.DataFrame, row: ChatRow, new: pl.DataFrame, gap: Gap
) -> tuple[pl.DataFrame, ChatRow, int] | None:
    """Both as one chat, or None where they disagree."""
    alignment = align(known, new)
    if alignment is None or alignment.offset or alignment.others():
        return None
    spans = span(known["time"]), span(new["time"])
    if spans[0] and spans[1] and spans[1][1] < spans[0][1]:
        known, new = new, known  # what was exported first stays as it was
    new = new.with_columns(chat=pl.lit(home.id))
    known = known.with_columns(chat=pl.lit(home.id))
    whole, counts = join(known, new, gap)
    if is_cut(known, gap):
        whole = recut(whole, gap)
    return whole, joined_row(home, row, {}, whole), counts.joined
