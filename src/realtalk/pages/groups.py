"""Messages of groups → who answers whom, and who is mentioned by whom, one row per message.

    answers(frame)             → chat | date | speaker | other: Mara answered Theo
    mentions(frame, speakers)  → chat | date | speaker | other: Mara wrote "@Theo" or "theo"

A chat is a group from three writers on. Whoever quotes a message answers its writer; otherwise the
first message of a turn answers whoever wrote before it in the same session. A name is a mention by
any of its words that no other speaker has and that is no ordinary word of the chat; behind an "@"
it is always one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import polars as pl
import regex

from realtalk.text.ordinary import ordinary_words
from realtalk.text.words import letter_words

_KEY = ("chat", "date", "speaker")
_SHORTEST = 3  # letters of a part of a name
_SAMPLE = 2_000  # texts that tell the chat's language


def _in_groups(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("speaker").n_unique().over("chat") > 2)


def answers(frame: pl.DataFrame) -> pl.DataFrame:
    """Who answered whom; nobody answers themselves."""
    groups = _in_groups(frame)
    quoted = groups.select("chat", reply_to="id", other="speaker").unique(["chat", "reply_to"])
    before = pl.when(pl.col("turn") & ~pl.col("starts")).then(pl.col("speaker").shift(1))
    return (
        groups.with_columns(before=before)
        .join(quoted, on=["chat", "reply_to"], how="left")
        .select(*_KEY, other=pl.coalesce("other", "before"))
        .filter(pl.col("other") != pl.col("speaker"))
    )


def mentions(frame: pl.DataFrame, speakers: Iterable[str]) -> pl.DataFrame:
    """Who wrote whose name; nobody mentions themselves."""
    groups = _in_groups(frame)
    names = sorted(speakers) if groups.height else []
    words = {name: set(letter_words(name.lower())) for name in names}
    shared = Counter(word for parts in words.values() for word in parts)
    sample = groups["text"].gather_every(max(1, groups.height // _SAMPLE)).to_list()
    ordinary = ordinary_words(sample)
    found = [groups.head(0).select(*_KEY, other=pl.lit(""))]
    for name in names:
        own = {word for word in words[name] if shared[word] == 1 and len(word) >= _SHORTEST}
        plain = [regex.escape(word) for word in own if not ordinary.has(word, word)]
        marked = [f"@{regex.escape(word)}" for word in own]
        if not marked:
            continue
        pattern = rf"(?i)(?:^|[^\p{{L}}])(?:{'|'.join(sorted([*plain, *marked]))})(?:[^\p{{L}}]|$)"
        is_mention = pl.col("text").str.contains(pattern) & (pl.col("speaker") != name)
        found.append(groups.filter(is_mention).select(*_KEY, other=pl.lit(name)))
    return pl.concat(found)
