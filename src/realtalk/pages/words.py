"""Messages → the words, emoji, laughter, openings and link domains that people used, counted.

    found = count_words_used(lines, names={"mara", "theo"})
    found.words                → chat | date | speaker | item, one row per use of "honestly", …:
                                 what sets people or times apart

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
class PortraitWords:
    """What a portrait shows of people's words: chat | date | speaker | item, a row per use."""

    tokens: pl.DataFrame  # chat | date | speaker | count, of all words that could be counted
    words: pl.DataFrame
    emoji: pl.DataFrame
    laughter: pl.DataFrame
    openings: pl.DataFrame
    domains: pl.DataFrame
    lookup: LookUp
    least: tuple[int, int]  # uses and sessions from which a word is shown
    languages: tuple[str, ...] = ()  # whose commonest words were left out


def count_words_used(lines: MessageLines, names: Collection[str]) -> PortraitWords:
    """Counts over all messages; `names` are parts of speakers' names in lower case."""
    clean = pl.col("text").str.replace_all(ADDRESS, " ").str.replace_all(_MAIL, " ")
    # A Turkish İ in lower case is an i with a dot of its own, which nobody writes.
    lower = clean.str.to_lowercase().str.replace_all("i\u0307", "i", literal=True)
    texts = lines.frame.select(*_KEY, "session", "time", "text", clean=lower)
    left_out = _languages(texts["text"].to_list())
    runs = _found(texts, pl.col("clean").str.extract_all(WORD), "session", "time")
    runs = runs.with_columns(pl.col("item").str.replace_all("’", "'", literal=True))
    spellings = _spellings(runs["item"])
    runs = runs.with_columns(pl.col("item").replace(spellings))
    openings = _openings(texts).with_columns(pl.col("item").replace(spellings))
    pieces = _pieces(runs["item"], lines.spaceless, left_out)
    tokens = parts = runs
    if pieces is not None:
        tokens, parts = _in_pieces(runs, pieces, "piece"), _in_pieces(runs, pieces, "part")
        first = pieces.with_columns(pl.col("piece").list.head(1))
        openings = _in_pieces(openings, first, "piece")
    least = (3, 2) if tokens.height < _SMALL else (5, 3)
    allowed = _shareable_words(tokens, names, least, parts=pieces is not None)
    few = _telling(allowed, left_out)
    emoji = _found(texts, pl.col("text").str.extract_all(EMOJI))
    domain = pl.col("item").str.extract(_DOMAIN).str.to_lowercase()
    return PortraitWords(
        tokens.group_by(_KEY).len("count"),
        _typical(tokens, few, least[0]),
        emoji.with_columns(pl.col("item").str.replace_all("\ufe0f", "", literal=True)),
        _laughs(parts),
        openings.join(few, on="item", how="semi"),
        _found(texts, pl.col("text").str.extract_all(ADDRESS))
        .with_columns(domain)
        .drop_nulls("item"),
        look_up(tokens, texts if pieces is None else None, spellings, allowed, few, least),
        least,
        left_out,
    )


def _found(texts: pl.DataFrame, items: pl.Expr, *columns: str) -> pl.DataFrame:
    """One row for each item that is found in a text: chat | date | speaker | columns | item."""
    return texts.select(*_KEY, *columns, item=items).explode("item").drop_nulls("item")


def _languages(texts: list[str]) -> tuple[str, ...]:
    """Whose commonest words say nothing of this chat; where little is said, those of English."""
    spoken = languages_in(texts)
    if not spoken or spoken[0] in _ENGLISH:
        return (ENGLISH,)
    return tuple(language for language in spoken if common_words([language]))


def _spellings(items: pl.Series) -> dict[str, str]:
    """Every spelling with or without its apostrophe → the more frequent of the two."""
    bare = pl.col("item").str.replace_all("'", "", literal=True)
    uses = items.value_counts(name="n").with_columns(
        bare=pl.when(bare.is_in(_APART)).then("item").otherwise(bare)
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
        .agg(n=pl.len(), sessions=pl.struct("chat", "session").n_unique())
        .filter(
            pl.col("n") >= least[0],
            pl.col("sessions") >= least[1],
            ~pl.col("item").is_in(hidden),
            ~pl.col("item").str.replace(r"'s?$", "").is_in(hidden),
            ~pl.col("item").str.contains_any(hidden_parts.implode()),
        )
        .select("item")
    )


def _typical(tokens: pl.DataFrame, few: pl.DataFrame, least: int) -> pl.DataFrame:
    """The uses of words that set somebody apart, over the whole time (part -1) or a part of it."""
    stamps = pl.col("time").cast(pl.Int64)
    since, span = stamps - stamps.min(), stamps.max() - stamps.min()
    part = pl.when(span > 0).then(since * _PARTS // (span + 1))
    parts = tokens.select("speaker", "item", part=part).drop_nulls("part")
    used = pl.concat([tokens.select("speaker", "item", part=pl.lit(-1, pl.Int64)), parts])
    own = used.join(few, on="item", how="semi").group_by("part", "speaker", "item").len("y")
    together, all_words = pl.col("y").sum().over("part", "item"), pl.col("n").sum().over("part")
    sizes = used.group_by("part", "speaker").len("n").with_columns(size=all_words)
    scored = (
        own.with_columns(together=together)
        .join(sizes, on=["part", "speaker"])
        .join(tokens.group_by("item").len("all"), on="item")
        .with_columns(
            z=log_odds(
                pl.col("y"),
                pl.col("n"),
                pl.col("together") - pl.col("y"),
                pl.col("size") - pl.col("n"),
                pl.col("all") / max(1, tokens.height),
            )
        )
        .filter(pl.col("z") > 0, pl.col("y") >= least)
        .sort("z", "item", descending=[True, False])
    )
    most = pl.when(pl.col("part") < 0).then(_WORDS).otherwise(_PART_WORDS)
    typical = scored.filter(pl.int_range(pl.len()).over("part", "speaker") < most)
    return tokens.join(typical, on="item", how="semi").select(*_KEY, "item")


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
    laughs = kinds.with_columns(laugh=name).drop_nulls("laugh")
    return tokens.join(laughs, on="item").select(*_KEY, item="laugh")


def _openings(texts: pl.DataFrame) -> pl.DataFrame:
    """The first word that somebody writes on a day, drawn-out letters made short."""
    first = pl.col("clean").str.extract(rf"^\P{{L}}*({WORD})")
    return (
        texts.drop_nulls("date")
        .unique(list(_KEY), keep="first", maintain_order=True)
        .select(*_KEY, item=first.str.replace_all("’", "'", literal=True))
        .drop_nulls("item")
        .with_columns(pl.col("item").map_elements(_shorten, return_dtype=pl.String))
    )


def _shorten(word: str) -> str:
    """heyyyy → hey, hiii → hi; a doubled letter in the middle stays."""
    import regex

    return str(regex.sub(r"(.)\1+$", r"\1", regex.sub(r"(.)\1{2,}", r"\1", word)))


def name_parts(names: Iterable[str]) -> frozenset[str]:
    """Words of names as they could be said: none of them is shown as somebody's word."""
    parts: set[str] = set()
    for name in names:
        whole = name.casefold().strip()
        parts |= {whole, name.lower().strip()}
        parts |= set(letter_words(name.lower()))
    return frozenset(part for part in parts if part)
