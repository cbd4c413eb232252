"""Words in their order → what can be looked up: words and phrases with their uses over time.

    found = look_up(tokens, texts, spellings, allowed, telling, least=(5, 3))
    found.items                → ("train", "honestly", …, "on my way", …, "the", "and", …)
    found.words, found.phrases → 812, 31: how many of the items are telling words, then phrases
    found.counts               → chat | date | speaker | item (its number) | count

A date is the first of a week or, from half a year on, of a month, so a page stays small however
long a chat is; of more than `_ENTRIES` such counts the words that were used most are kept. A
phrase is two or three words that follow one another with no sign between them. It ends with a
telling word, and of two words both tell something; it is a good part of all uses of its last
word. It is shown from as many uses and sessions on as a word is, and each of its words must be
one that may be shown, so that no name is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import polars as pl

_ENTRIES = 40_000  # some 300 kB of a page
_PHRASES = 200
_STUCK = 5  # one in five uses of the last word is in the phrase
_LONG = timedelta(days=182)
_LETTERS = r"\p{L}[\p{L}\p{M}]*"  # a mark alone, such as the one behind ❤️, is no word
WORD = rf"{_LETTERS}(?:['’]{_LETTERS})*"
_SIGN = r"[^\s\p{L}\p{M}]"
_KEY = ("chat", "date", "speaker")


@dataclass(frozen=True)
class LookUp:
    """Telling words, then phrases, then all other words, each by how often they were used."""

    items: tuple[str, ...]
    words: int
    phrases: int
    counts: pl.DataFrame


def look_up(
    tokens: pl.DataFrame,
    texts: pl.DataFrame | None,
    spellings: Mapping[str, str],
    allowed: pl.DataFrame,
    telling: pl.DataFrame,
    least: tuple[int, int],
) -> LookUp:
    """`allowed` are words that may be shown, `telling` some of them; no `texts`, no phrases."""
    words = tokens.join(allowed, on="item", how="semi").select(*_KEY, "item")
    tells = pl.col("item").is_in(telling["item"].implode())
    parts = [words.with_columns(pl.when(tells).then(0).otherwise(2).alias("kind"))]
    if texts is not None:
        phrases = _phrases(texts, spellings, allowed.with_columns(tells.alias("tells")), least)
        parts.append(phrases.with_columns(pl.lit(1).alias("kind")))
    first, last = tokens["date"].min(), tokens["date"].max()
    is_long = first is not None and last - first > _LONG  # type: ignore[operator]
    counts = (
        pl.concat(parts, how="vertical_relaxed")
        .with_columns(pl.col("date").dt.truncate("1mo" if is_long else "1w"))
        .group_by(*_KEY, "kind", "item")
        .len("count")
        # A week may begin before the chat does, and a page counts its days from there.
        .with_columns(
            pl.when(pl.col("date").is_not_null()).then(pl.max_horizontal("date", pl.lit(first)))
        )
    )
    order = (
        counts.group_by("kind", "item")
        .agg(pl.col("count").sum(), pl.len().alias("entries"))
        .sort("kind", "count", "item", descending=[False, True, False])
        .filter((pl.col("kind") != 1) | (pl.int_range(pl.len()).over("kind") < _PHRASES))
        .filter(pl.col("entries").cum_sum() <= _ENTRIES)
        .with_row_index("number")
    )
    placed = counts.join(order.select("item", "number"), on="item")
    kinds = order["kind"].to_list()
    return LookUp(
        tuple(order["item"]),
        kinds.count(0),
        kinds.count(1),
        placed.select(*_KEY, pl.col("number").cast(pl.Int64).alias("item"), "count"),
    )


def _phrases(
    texts: pl.DataFrame,
    spellings: Mapping[str, str],
    allowed: pl.DataFrame,
    least: tuple[int, int],
) -> pl.DataFrame:
    """One row per use of a phrase: chat | date | speaker | item."""
    pieces = pl.col("clean").str.extract_all(f"{WORD}|{_SIGN}").alias("item")
    words = (
        texts.with_row_index("message")
        .select(*_KEY, "session", "message", pieces)
        .explode("item")
        .with_columns(pl.col("item").str.replace_all("’", "'", literal=True).replace(spellings))
        .join(allowed.with_row_index("word"), on="item", how="left", maintain_order="left")
    )
    uses = dict(words.drop_nulls("word").group_by("word").len().iter_rows())
    found: list[pl.DataFrame] = []
    longer: dict[tuple[int, int], int] = {}  # uses of two words within three
    for size in (3, 2):
        names = [f"w{at}" for at in range(size)]
        runs = words.with_columns(
            *(pl.col("word").shift(-at).alias(name) for at, name in enumerate(names)),
            pl.col("tells").shift(1 - size).alias("last"),
            (pl.col("message").shift(1 - size) == pl.col("message")).alias("one"),
        ).filter(
            pl.col("one"),
            pl.col("last"),
            pl.lit(value=True) if size > 2 else pl.col("tells"),
            *(pl.col(name).is_not_null() for name in names),
        )
        kept = (
            runs.group_by(names)
            .agg(pl.len().alias("n"), pl.struct("chat", "session").n_unique().alias("sessions"))
            .filter(pl.col("n") >= least[0], pl.col("sessions") >= least[1])
        )
        rows = [
            row
            for *row, n, _ in kept.iter_rows()
            if n * _STUCK >= uses[row[-1]] and n * 0.8 > longer.get(tuple(row), 0)
        ]
        for *row, n, _ in kept.iter_rows():
            for pair in ((row[0], row[1]), (row[-2], row[-1])):
                longer[pair] = max(longer.get(pair, 0), n)
        schema = dict.fromkeys(names, pl.UInt32)
        chosen = pl.DataFrame(rows, schema=schema, orient="row")
        found.append(runs.join(chosen, on=names).select(*_KEY, *names))
    spelled = allowed.with_row_index("word").select("word", "item")
    parts = []
    for runs in found:
        words_of = (
            pl.col(name).replace_strict(spelled["word"], spelled["item"], return_dtype=pl.String)
            for name in runs.columns[len(_KEY) :]
        )
        parts.append(runs.select(*_KEY, pl.concat_str(*words_of, separator=" ").alias("item")))
    return pl.concat(parts)
