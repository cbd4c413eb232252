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
Korean words lose their particles.

    found = look_up(tokens, texts, spellings, allowed, telling, least=(5, 3))
    found.items                → ("train", "honestly", …, "on my way", …, "the", "and", …)
    found.words, found.phrases → 812, 31: how many of the items are telling words, then phrases
    found.counts               → chat | date | speaker | item (its number) | count

Of what can be looked up a date is the first of a week or, from half a year on, of a month, so a
page stays small however long a chat is; of more than `_ENTRIES` such counts the words that were
used most are kept. A phrase is two or three words that follow one another with no sign between
them. It ends with a telling word, and of two words both tell something; it is a good part of all
uses of its last word. It is shown from as many uses and sessions on as a word is, and each of its
words must be one that may be shown, so that no name is in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import polars as pl

from realtalk.pages.lines import ADDRESS, MessageLines
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
_ENTRIES = 40_000  # some 300 kB of a page
_PHRASES = 200
_STUCK = 5  # one in five uses of the last word is in the phrase
_LONG = timedelta(days=182)
_LETTERS = r"\p{L}[\p{L}\p{M}]*"  # a mark alone, such as the one behind ❤️, is no word
WORD = rf"{_LETTERS}(?:['’]{_LETTERS})*"
_PIECE = rf"{WORD}|[^\s\p{{L}}\p{{M}}]"
_KEY = ("chat", "date", "speaker")


class PortraitWords(NamedTuple):
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
        _used_often(tokens, ["item"], least)
        .filter(
            ~pl.col("item").is_in(hidden),
            ~pl.col("item").str.replace(r"'s?$", "").is_in(hidden),
            ~pl.col("item").str.contains_any(hidden_parts.implode()),
        )
        .select("item")
    )


def _used_often(uses: pl.DataFrame, by: list[str], least: tuple[int, int]) -> pl.DataFrame:
    """What was used so many times, in so many sessions: one row each, with `n` and `sessions`."""
    return (
        uses.group_by(by)
        .agg(n=pl.len(), sessions=pl.struct("chat", "session").n_unique())
        .filter(pl.col("n") >= least[0], pl.col("sessions") >= least[1])
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


class LookUp(NamedTuple):
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
        kept = _used_often(runs, names, least)
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
