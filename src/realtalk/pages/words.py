"""Messages → the words, emoji, laughter, openings and link domains that people used, counted.

    found = count_words_used(lines, names={"mara", "theo"})
    found.words.items          → ("honestly", "train", …): what sets people or times apart
    found.words.counts         → chat | date | speaker | item | count

Only what can be shown without showing a message is kept: a word must have been used five times
in three sessions (in a small chat three times in two), has no digit in it, and is no speaker's
name; addresses are cut out first. Which words set a person apart is decided by `log_odds`, over
the whole time and over parts of it: the method of Monroe, Colaresi and Quinn (2008, "Fightin'
Words", Political Analysis 16:4). The commonest words of the chat's languages are left out, whoever
said them; "dont" and "don't" are one word; scripts without spaces are cut into words first, and
Korean words lose their particles. What can be looked up is made in `lookup`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import polars as pl

from realtalk.pages.lines import ADDRESS, MessageLines
from realtalk.pages.lookup import WORD, LookUp, look_up
from realtalk.text.folding import fold_word
from realtalk.text.languages import ENGLISH, languages_in
from realtalk.text.segmenting import Segmenter, korean_stem
from realtalk.text.terms import common_words
from realtalk.text.words import letter_words

PRIOR = 500  # words of the whole chat that everybody is taken to have said besides their own
_SMALL = 10_000  # words of a chat, below which fewer uses are enough
_WORDS, _PART_WORDS, _PARTS = 60, 15, 8  # per person: of the whole time, of each part of it
_EMOJI, _DOMAINS, _OPENINGS = 120, 40, 60
_CHAT = "en-chat"  # what English adds in chats: contractions and the like
_ENGLISH = (ENGLISH, "pcm")  # slang passes for Nigerian Pidgin
# Without its apostrophe each is another word: we'll, he'll, she'll, I'll, we're, I'd, we'd, she'd.
_APART = ("well", "hell", "shell", "ill", "were", "id", "wed", "shed")
_MAIL = r"\S+@\S+"
_PICTURE = r"[\p{Extended_Pictographic}--[©®™〰〽㊗㊙‼⁉]]"
EMOJI = (
    r"\p{Regional_Indicator}{2}"
    rf"|{_PICTURE}[\x{{fe0f}}\x{{1f3fb}}-\x{{1f3ff}}]*"
    rf"(?:\x{{200d}}{_PICTURE}[\x{{fe0f}}\x{{1f3fb}}-\x{{1f3ff}}]*)*"
)
_LAUGHED = r"[哈呵嘿嘻]{2,}|[ㅋㅎㅠㅜ]{2,}"  # written to the end of a word, and no part of it
_DOMAIN = r"(?i)(?:https?://|www\.)(?:[^\s/@]*@)?(?:www\.)?([a-z0-9.-]+\.[a-z]{2,})"
_KEY = ("chat", "date", "speaker")


@dataclass(frozen=True)
class WordCounts:
    """Items in the order of how often they were used, and how often by whom on which day."""

    items: tuple[str, ...]
    counts: pl.DataFrame  # chat | date | speaker | item (its number) | count, by first use


@dataclass(frozen=True)
class PortraitWords:
    """What a portrait shows of people's words. `tokens` are all words that could be counted."""

    tokens: pl.DataFrame  # chat | date | speaker | count
    words: WordCounts
    shares: tuple[float, ...]  # of all words, for each of `words.items`
    emoji: WordCounts
    laughter: WordCounts
    openings: WordCounts
    domains: WordCounts
    lookup: LookUp
    least: tuple[int, int]  # uses and sessions from which a word is shown
    languages: tuple[str, ...] = ()  # whose commonest words were left out


def count_words_used(lines: MessageLines, names: Collection[str]) -> PortraitWords:
    """Counts over all messages; `names` are parts of speakers' names in lower case."""
    texts = lines.frame.select(*_KEY, "session", "time", "text")
    clean = pl.col("text").str.replace_all(ADDRESS, " ").str.replace_all(_MAIL, " ")
    # A Turkish İ in lower case is an i with a dot of its own, which nobody writes.
    lower = clean.str.to_lowercase().str.replace_all("i\u0307", "i", literal=True)
    texts = texts.with_columns(lower.alias("clean"))
    left_out = _languages(texts["text"].to_list())
    runs = _tokens(texts)
    spellings = _spellings(runs["item"])
    runs = runs.with_columns(pl.col("item").replace(spellings))
    pieces = _pieces(runs["item"], lines.spaceless, left_out)
    tokens = runs if pieces is None else _in_pieces(runs, pieces, "piece")
    every = tokens.group_by(_KEY).len("count")
    least = (3, 2) if tokens.height < _SMALL else (5, 3)
    allowed = _shareable_words(tokens, names, least, parts=pieces is not None)
    few = _telling(allowed, left_out)
    telling = tokens.join(few, on="item", how="semi")
    typical = _typical(telling, tokens, least[0])
    words = _count(telling.join(typical, on="item", how="semi"))
    total = max(1, tokens.height)
    used = dict(words.counts.group_by("item").agg(pl.col("count").sum()).iter_rows())
    openings = _openings(texts).with_columns(pl.col("item").replace(spellings))
    if pieces is not None:
        first = pieces.with_columns(pl.col("piece").list.head(1))
        openings = _in_pieces(openings, first, "piece")
    return PortraitWords(
        every,
        words,
        tuple(used[item] / total for item in range(len(words.items))),
        _count(_emoji(texts), _EMOJI),
        _count(_laughs(runs if pieces is None else _in_pieces(runs, pieces, "part"))),
        _count(openings.join(few, on="item", how="semi"), _OPENINGS),
        _count(_domains(lines.frame), _DOMAINS),
        look_up(tokens, texts if pieces is None else None, spellings, allowed, few, least),
        least,
        left_out,
    )


def _languages(texts: list[str]) -> tuple[str, ...]:
    """Whose commonest words say nothing of this chat; where little is said, those of English."""
    spoken = languages_in(texts)
    if not spoken or spoken[0] in _ENGLISH:
        return (ENGLISH,)
    return tuple(language for language in spoken if common_words([language]))


def _tokens(texts: pl.DataFrame) -> pl.DataFrame:
    """One row per word used: chat | date | speaker | session | time | item."""
    return (
        texts.select(*_KEY, "session", "time", pl.col("clean").str.extract_all(WORD).alias("item"))
        .explode("item")
        .drop_nulls("item")
        .with_columns(pl.col("item").str.replace_all("’", "'", literal=True))
    )


def _spellings(items: pl.Series) -> dict[str, str]:
    """Every spelling with or without its apostrophe → the more frequent of the two."""
    bare = pl.col("item").str.replace_all("'", "", literal=True)
    uses = items.value_counts(name="n").with_columns(
        pl.when(bare.is_in(_APART)).then("item").otherwise(bare).alias("bare")
    )
    groups = uses.sort("n", "item", descending=[True, False]).group_by("bare").agg("item")
    several = groups.filter(pl.col("item").list.len() > 1)["item"].to_list()
    return {other: first for first, *others in several for other in others}


def _pieces(items: pl.Series, spaceless: bool, languages: Collection[str]) -> pl.DataFrame | None:
    """What is counted of each item: the words of a run, a stem; None where it is the item.

    item | part (without the laughter that is written behind it, and that) | piece
    """
    if not spaceless and "ko" not in languages:
        return None
    import regex

    runs = dict(items.value_counts().sort("item").iter_rows())
    laughed = regex.compile(f"({_LAUGHED})")
    parts_of = {run: [part for part in laughed.split(run) if part] for run in runs}
    if spaceless:
        counts: dict[str, int] = {}
        for run, uses in runs.items():
            for part in parts_of[run]:
                counts[part] = counts.get(part, 0) + uses
        split_words: Callable[[str], list[str]] = Segmenter(counts, common_words(languages)).words
    else:
        split_words = _stem
    pieces = [
        [
            word
            for part in parts_of[run]
            for word in ([part] if laughed.match(part) else split_words(part))
        ]
        for run in runs
    ]
    return pl.DataFrame(
        {"item": list(runs), "part": [parts_of[run] for run in runs], "piece": pieces},
        schema={"item": pl.String, "part": pl.List(pl.String), "piece": pl.List(pl.String)},
    )


def _stem(word: str) -> list[str]:
    return [korean_stem(word)]


def _in_pieces(tokens: pl.DataFrame, pieces: pl.DataFrame, column: str) -> pl.DataFrame:
    return (
        tokens.join(pieces.select("item", column), on="item", maintain_order="left")
        .drop("item")
        .explode(column)
        .drop_nulls(column)
        .rename({column: "item"})
    )


def _telling(allowed: pl.DataFrame, languages: Collection[str]) -> pl.DataFrame:
    """Without the words that say little in these languages."""
    common = common_words((*languages, _CHAT) if ENGLISH in languages else languages)

    def is_common(word: str) -> bool:
        folded = fold_word(word)
        return folded in common or folded.replace("'", "") in common

    return allowed.filter(~pl.col("item").map_elements(is_common, pl.Boolean))


def _shareable_words(
    tokens: pl.DataFrame, names: Collection[str], least: tuple[int, int], *, parts: bool
) -> pl.DataFrame:
    """Words that enough people could have said: none of one evening, and nobody's name.

    With `parts` a word may hold a name that no space parts from it: then it is hidden, too.
    """
    hidden = pl.Series(sorted(names), dtype=pl.String).implode()
    hidden_parts = pl.Series(
        [name for name in sorted(names) if parts and len(name) > 1], dtype=pl.String
    )
    return (
        tokens.group_by("item")
        .agg(pl.len().alias("n"), pl.struct("chat", "session").n_unique().alias("sessions"))
        .filter(
            pl.col("n") >= least[0],
            pl.col("sessions") >= least[1],
            ~pl.col("item").is_in(hidden),
            ~pl.col("item").str.replace(r"'s?$", "").is_in(hidden),
            ~pl.col("item").str.contains_any(hidden_parts.implode()),
        )
        .select("item")
    )


def _typical(telling: pl.DataFrame, tokens: pl.DataFrame, least: int) -> pl.DataFrame:
    """The words that set somebody apart, over the whole time or in a part of it."""
    background = tokens.group_by("item").len("all")
    total = tokens.height
    frames = [_most_typical(telling, tokens, background, total, _WORDS, least)]
    part = _part_numbers(tokens["time"])
    numbered = tokens.with_columns(part.alias("part"))
    allowed = telling.select("item").unique()
    for piece in numbered.drop_nulls("part").partition_by("part"):
        some = piece.join(allowed, on="item", how="semi")
        frames.append(_most_typical(some, piece, background, total, _PART_WORDS, least))
    return pl.concat(frames).unique()


def _part_numbers(times: pl.Series) -> pl.Series:
    """Which of eight equal parts of the whole time each moment is in."""
    stamps = times.cast(pl.Int64)
    since = stamps - stamps.min()
    span = pl.select(pl.lit(since).max().fill_null(0)).item()
    if span == 0:
        return pl.Series([None] * len(times), dtype=pl.Int64)
    part: pl.Series = (since * _PARTS // (span + 1)).cast(pl.Int64)
    return part


def _most_typical(
    telling: pl.DataFrame,
    tokens: pl.DataFrame,
    background: pl.DataFrame,
    total: int,
    most: int,
    least: int,
) -> pl.DataFrame:
    own = telling.group_by("speaker", "item").len("y")
    sizes = tokens.group_by("speaker").len("n")
    everybody = telling.group_by("item").len("together")
    scored = (
        own.join(sizes, on="speaker")
        .join(everybody, on="item")
        .join(background, on="item")
        .with_columns(
            log_odds(
                pl.col("y"),
                pl.col("n"),
                pl.col("together") - pl.col("y"),
                pl.lit(tokens.height) - pl.col("n"),
                pl.col("all") / max(1, total),
            ).alias("z")
        )
        .filter(pl.col("z") > 0, pl.col("y") >= least)
        .sort("z", "item", descending=[True, False])
    )
    return scored.group_by("speaker", maintain_order=True).head(most).select("item")


def log_odds(
    own: pl.Expr, size: pl.Expr, others: pl.Expr, others_size: pl.Expr, share: pl.Expr
) -> pl.Expr:
    """How typical a word is of one person: its count and the size of one side, and of all others.

    The difference of the log-odds of a word between two writers, each first drawn towards the
    word's `share` in the whole chat, in units of its standard error. Values beyond 1.96 are
    unlikely to be chance for one word looked at alone.
    """
    own, others = own + share * PRIOR, others + share * PRIOR
    first, second = (
        (count / (size + PRIOR - count)).log()
        for count, size in ((own, size), (others, others_size))
    )
    return (first - second) / (1 / own + 1 / others).sqrt()


def _emoji(texts: pl.DataFrame) -> pl.DataFrame:
    return (
        texts.select(*_KEY, pl.col("text").str.extract_all(EMOJI).alias("item"))
        .explode("item")
        .drop_nulls("item")
        .with_columns(pl.col("item").str.replace_all("\ufe0f", "", literal=True))
    )


@cache
def _laughter() -> tuple[tuple[str, str], ...]:
    text = files("realtalk.pages").joinpath("laughter.txt").read_text("utf-8")
    lines = (line.split(maxsplit=1) for line in text.splitlines() if line and line[0] != "#")
    return tuple((name, pattern.strip()) for name, pattern in lines)


def _laughs(tokens: pl.DataFrame) -> pl.DataFrame:
    """Words that laugh, by how they do it."""
    kinds = tokens.select("item").unique()
    name = pl.coalesce(
        pl.when(pl.col("item").str.contains(f"^(?:{pattern})$")).then(pl.lit(name))
        for name, pattern in _laughter()
    )
    laughs = kinds.with_columns(name.alias("laugh")).drop_nulls("laugh")
    return tokens.join(laughs, on="item").select(*_KEY, pl.col("laugh").alias("item"))


def _openings(texts: pl.DataFrame) -> pl.DataFrame:
    """The first word that somebody writes on a day, drawn-out letters made short."""
    first = pl.col("clean").str.extract(rf"^\P{{L}}*({WORD})")
    return (
        texts.filter(pl.col("date").is_not_null())
        .unique(list(_KEY), keep="first", maintain_order=True)
        .select(*_KEY, first.str.replace_all("’", "'", literal=True).alias("item"))
        .drop_nulls("item")
        .with_columns(pl.col("item").map_elements(_shorten, return_dtype=pl.String).alias("item"))
    )


def _shorten(word: str) -> str:
    """heyyyy → hey, hiii → hi; a doubled letter in the middle stays."""
    import regex

    return str(regex.sub(r"(.)\1+$", r"\1", regex.sub(r"(.)\1{2,}", r"\1", word)))


def _domains(lines: pl.DataFrame) -> pl.DataFrame:
    return (
        lines.select(*_KEY, pl.col("text").str.extract_all(ADDRESS).alias("item"))
        .explode("item")
        .drop_nulls("item")
        .with_columns(pl.col("item").str.extract(_DOMAIN).str.to_lowercase())
        .drop_nulls("item")
    )


def _count(used: pl.DataFrame, most: int | None = None) -> WordCounts:
    order = used.group_by("item").len("n").sort("n", "item", descending=[True, False])
    items = order["item"].head(most).to_list() if most else order["item"].to_list()
    numbers = pl.DataFrame(
        {"item": items, "number": range(len(items))},
        schema={"item": pl.String, "number": pl.Int64},
    )
    counts = (
        used.join(numbers, on="item", maintain_order="left")
        .group_by(*_KEY, "number", maintain_order=True)
        .len("count")
        .rename({"number": "item"})
    )
    return WordCounts(tuple(items), counts)


def name_parts(names: Iterable[str]) -> frozenset[str]:
    """Words of names as they could be said: none of them is shown as somebody's word."""
    parts: set[str] = set()
    for name in names:
        whole = name.casefold().strip()
        parts |= {whole, name.lower().strip()}
        parts |= set(letter_words(name.lower()))
    return frozenset(part for part in parts if part)
