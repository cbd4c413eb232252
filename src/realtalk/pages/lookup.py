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
_PIECE = rf"{WORD}|[^\s\p{{L}}\p{{M}}]"
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
    parts = [words.with_columns(kind=pl.when(tells).then(0).otherwise(2))]
    if texts is not None:
        phrases = _phrases(texts, spellings, allowed["item"], telling["item"], least)
        parts.append(phrases.with_columns(kind=pl.lit(1)))
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
        .agg(pl.col("count").sum(), entries=pl.len())
        .sort("kind", "count", "item", descending=[False, True, False])
        .filter((pl.col("kind") != 1) | (pl.int_range(pl.len()).over("kind") < _PHRASES))
        .filter(pl.col("entries").cum_sum() <= _ENTRIES)
        .with_columns(number=pl.int_range(pl.len()))
    )
    placed = counts.join(order.select("item", "number"), on="item")
    kinds = order["kind"].to_list()
    return LookUp(
        tuple(order["item"]),
        kinds.count(0),
        kinds.count(1),
        placed.select(*_KEY, "count", item="number"),
    )


def _phrases(
    texts: pl.DataFrame,
    spellings: Mapping[str, str],
    allowed: pl.Series,
    telling: pl.Series,
    least: tuple[int, int],
) -> pl.DataFrame:
    """One row per use of a phrase: chat | date | speaker | item."""
    word = pl.col("item").str.replace_all("’", "'", literal=True).replace(spellings)
    words = (
        texts.with_row_index("message")
        .select(*_KEY, "session", "message", item=pl.col("clean").str.extract_all(_PIECE))
        .explode("item")
        .with_columns(word.cast(pl.Enum(allowed), strict=False))  # signs and other words: none
    )
    uses = dict(words.drop_nulls("item").group_by("item").len().iter_rows())
    tells = words["item"].is_in(telling.cast(pl.Enum(allowed)).implode())
    found: list[pl.DataFrame] = []
    longer: dict[tuple[str, str], int] = {}  # uses of two words within three
    for size in (3, 2):
        names = [f"w{at}" for at in range(size)]
        runs = words.with_columns(
            pl.col("item").shift(-at).alias(name) for at, name in enumerate(names)
        ).filter(
            pl.col("message").shift(1 - size) == pl.col("message"),
            tells.shift(1 - size),
            tells | (size > 2),
            pl.all_horizontal(pl.col(names).is_not_null()),
        )
        kept = (
            runs.group_by(names)
            .agg(n=pl.len(), sessions=pl.struct("chat", "session").n_unique())
            .filter(pl.col("n") >= least[0], pl.col("sessions") >= least[1])
        )
        phrases = [(tuple(row), n) for *row, n, _ in kept.iter_rows()]
        chosen = [
            " ".join(row)
            for row, n in phrases
            if n * _STUCK >= uses[row[-1]] and n * 0.8 > longer.get(row, 0)
        ]
        for row, n in phrases:
            for pair in (row[:2], row[-2:]):
                longer[pair] = max(longer.get(pair, 0), n)
        phrase = pl.concat_str(names, separator=" ")
        found.append(runs.select(*_KEY, item=phrase).filter(pl.col("item").is_in(chosen)))
    return pl.concat(found)
