"""What follows the sender's name: words, media, a deleted message, or a system notice.

    "IMG-20190620-WA0001.jpg (file attached)\\nlook"  → text "look", image of that name
    "\\u200eimage omitted"                            → text "", an image without name
    "see you <This message was edited>"              → text "see you", edited
    "\\u200eMara added Theo"                          → system

Few messages hold such things. One cheap test over all texts picks the candidates; the
rules then run on those only, as column expressions.
"""

from __future__ import annotations

import polars as pl

from realtalk.corpora.exports.whatsapp.wording import (
    AS_WRITTEN,
    ATTACHED,
    CALLED,
    CALLS,
    DELETED,
    EDITED,
    ENCRYPTED,
    GROUP_EVENTS,
    LOCATION,
    OMITTED,
    UNSENT,
    VIEW_ONCE,
)
from realtalk.corpora.tables import MESSAGES

__all__ = ["classify"]

_MARK = "\u200e"
_MARKS = "[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
_WA_NAME = r"(?i)^(?:(?:IMG|VID|PTT|AUD|STK|DOC)-[0-9]{8}-WA[0-9]+|[0-9]{8}-)"
_ATTACHED_IN_ANGLES = rf"({_MARK})?<([^<>:\n]{{2,40}}): ?([^<>\n]+\.\w{{1,8}})>"
_ATTACHED_BEFORE_WORDS = rf"^{_MARKS}*([^\n]+?\.\w{{1,8}}) \(([^()\n]{{2,40}})\)(?:\n|$)"
_EDITED_AT_END = rf"({_MARK})?<([^<>:\n]{{4,80}})>{_MARKS}*$"
_PAGES = rf"^{_MARKS}*([^\n]+\.\w{{1,8}}) • [^\n]*?(?:\n|$)"
_MAP_LINK = (
    rf"^{_MARKS}*([^\n:]{{2,40}}): (https?://(?:maps\.(?:google|apple)\.com|www\.google\.com/maps|"
    r"maps\.app\.goo\.gl|goo\.gl/maps|foursquare\.com)[^\s]*)$"
)
_KINDS = {
    "contact": r"(?i)\.vcf$",
    "sticker": r"(?i)^STK-|-STICKER[-.]",
    "image": r"(?i)^IMG-|-PHOTO[-.]|-GIF[-.]|\.(?:jpe?g|png|gif|heic|webp|bmp)$",
    "video": r"(?i)^VID-|-VIDEO[-.]|\.(?:mp4|3gp|mov|avi|mkv|webm)$",
    "audio": r"(?i)^PTT-|^AUD-|-AUDIO[-.]|\.(?:opus|mp3|m4a|ogg|oga|aac|amr|wav)$",
}
_ATTACHMENT = MESSAGES["attachments"]
# How often an unknown wording must recur to be taken for the app's: so often, or with two people.
_REPEATED = 3
# Several words, or one of a script that writes no spaces; "<grin>" and "<br>" are a person's.
_WORDS = (
    r"[\p{L}\p{M}]\S* \S*[\p{L}\p{M}]|"
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]{3}"
)


def _whole_lines() -> list[str]:
    """Lines that are candidates by their words alone, as phones write their first letter."""
    phrases = {*CALLED, *DELETED, *OMITTED, *UNSENT}
    spellings = phrases | {phrase[:1].upper() + phrase[1:] for phrase in phrases} | AS_WRITTEN
    spellings |= {phrase.replace("gif", "GIF", 1) for phrase in phrases if phrase.startswith("gif")}
    return sorted(spellings | {f"{phrase}." for phrase in spellings})


_LINES = pl.Series(_whole_lines(), dtype=pl.String)


def classify(messages: pl.DataFrame, *, bracketed: bool) -> pl.DataFrame:
    """Adds system, edited, deleted and attachments; takes their wording off the text.

    `bracketed` marks the iPhone's exports, in which a left-to-right mark begins whatever
    the app itself wrote.
    """
    text = pl.col("text")
    candidate = (
        text.str.contains(rf"{_MARK}|\)\n|/maps|//maps|foursquare\.com/|^\u200f")
        | text.str.starts_with("<")
        | text.str.ends_with(">")
        | text.str.ends_with(")")
        | text.is_in(_LINES.implode())
    )
    messages = messages.with_row_index("place")
    some = messages.filter(candidate).select("place", "text", "speaker")
    nothing = pl.lit([], dtype=_ATTACHMENT)
    if not some.height:
        no = pl.lit(False)
        return messages.drop("place").with_columns(
            system=no, edited=no, deleted=no, attachments=nothing
        )
    judged = _judge(some, bracketed=bracketed)
    return (
        messages.join(judged, on="place", how="left", maintain_order="left")
        .with_columns(
            pl.coalesce("said", "text").alias("text"),
            pl.col("system", "edited", "deleted").fill_null(False),
            pl.col("attachments").fill_null(nothing),
        )
        .drop("place", "said")
    )


def _phrase(expr: pl.Expr) -> pl.Expr:
    """In the form in which wordings are listed."""
    return (
        expr.str.replace_all(_MARKS, "")
        .str.strip_chars()
        .str.to_lowercase()
        .str.strip_chars_end(".。")
    )


def _recurs(name: str) -> pl.Expr:
    people = pl.col("speaker").n_unique().over(name)
    return (pl.len().over(name) >= _REPEATED) | (people > 1)


def _judge(some: pl.DataFrame, *, bracketed: bool) -> pl.DataFrame:
    text = pl.col("text")
    first = text.str.split("\n").list.first()
    angles = text.str.extract_groups(_ATTACHED_IN_ANGLES)
    words = text.str.extract_groups(_ATTACHED_BEFORE_WORDS)
    tail = text.str.extract_groups(_EDITED_AT_END)
    place = text.str.extract_groups(_MAP_LINK)
    some = some.with_columns(
        first=first,
        marked=text.str.contains(rf"^{_MARKS}*{_MARK}"),
        a_mark=angles.struct[0],
        a_word=_phrase(angles.struct[1]),
        a_name=angles.struct[2],
        w_name=words.struct[0],
        w_word=_phrase(words.struct[1]),
        t_mark=tail.struct[0],
        t_word=_phrase(tail.struct[1]),
        p_word=_phrase(place.struct[0]),
        url=place.struct[1],
        pages=text.str.extract(_PAGES),
        alone=text.str.contains(rf"^{_MARKS}*<[^<>]*>{_MARKS}*$"),
        whole=_phrase(text),
        line=_phrase(first),
    ).with_columns(
        # The last piece behind a mark: "caption ‎image omitted".
        piece=_phrase(pl.col("first").str.extract(rf"{_MARK}([^{_MARK}]+)$")),
        often=_recurs("first"),
        t_often=_recurs("t_word") & pl.col("t_word").str.contains(_WORDS),
        w_often=_recurs("w_word") & (pl.col("w_name").n_unique().over("w_word") > 1),
    )
    by_angles = pl.col("a_name").is_not_null() & (
        pl.col("a_mark").is_not_null()
        | pl.col("a_word").is_in(sorted(ATTACHED))
        | pl.col("a_name").str.contains(_WA_NAME)
    )
    by_words = pl.col("w_name").is_not_null() & (
        pl.col("marked")
        | pl.col("w_word").is_in(sorted(ATTACHED))
        | pl.col("w_name").str.contains(_WA_NAME)
        | (pl.col("w_often") & (_kind(pl.col("w_name")) != "file"))
    )
    line = pl.col("line")
    bare = (
        pl.when(line.str.contains(r"^<[^<>]+>$"))
        .then(line.str.slice(1).str.strip_suffix(">"))
        .otherwise(line)
    )
    bare = bare.str.strip_chars_end(".")
    some = some.with_columns(
        by_angles=by_angles,
        by_words=by_words & ~by_angles,
        omitted=_lookup(bare),
        trailing=_lookup(pl.col("piece")),
        edited=pl.col("t_word").is_not_null()
        & ~by_angles
        & (
            pl.col("t_word").is_in(sorted(EDITED))
            | ((pl.col("t_mark").is_not_null() | pl.col("t_often")) & ~pl.col("alone"))
        ),
        deleted=pl.col("whole").is_in(sorted(DELETED))
        | pl.col("whole").str.contains("^this message was deleted by admin "),
        located=pl.col("url").is_not_null()
        & (pl.col("marked") | pl.col("p_word").is_in(sorted(LOCATION))),
        poll=pl.col("marked")
        & pl.col("first").str.contains(rf"^{_MARKS}*[\p{{L}} ]{{2,24}}[:：]{_MARKS}*$")
        & text.str.contains("\n", literal=True),
        placeholder=(pl.col("alone") & pl.col("marked"))
        | pl.col("often")
        & (
            (
                pl.col("first").str.contains(rf"^{_MARKS}*<[^<>/=\"]{{2,80}}>{_MARKS}*$")
                & pl.col("first").str.contains(_WORDS)
            )
            | (
                pl.col("marked")
                & line.str.contains(r"^[\p{L}\p{M}]+(?: [\p{L}\p{M}]+){0,4}$")
                & ~line.str.contains(CALLS)
                & ~line.str.contains(ENCRYPTED)
                & ~line.str.contains(GROUP_EVENTS)
            )
        ),
        once=pl.col("marked") & pl.col("whole").str.contains(VIEW_ONCE),
    )
    some = some.with_columns(
        kind=pl.when(pl.col("deleted"))
        .then(None)
        .when(pl.col("by_angles"))
        .then(_kind(pl.col("a_name")))
        .when(pl.col("by_words"))
        .then(_kind(pl.col("w_name")))
        .when(pl.col("omitted").is_not_null())
        .then(pl.col("omitted"))
        .when(pl.col("trailing").is_not_null())
        .then(pl.col("trailing"))
        .when(pl.col("located"))
        .then(pl.lit("location"))
        .when((pl.col("placeholder") & ~pl.col("edited")) | pl.col("once"))
        .then(pl.lit("media")),
        name=pl.when(pl.col("by_angles"))
        .then(pl.coalesce("pages", "a_name"))
        .when(pl.col("by_words"))
        .then(pl.col("w_name"))
        .when(pl.col("trailing").is_not_null())
        .then(pl.col("pages"))
        .fill_null(""),
    )
    some = some.with_columns(
        system=pl.col("kind").is_null()
        & ~pl.col("deleted")
        & (
            pl.col("whole").is_in(sorted(UNSENT | CALLED))
            | (pl.lit(bracketed) & pl.col("marked") & ~pl.col("poll") & ~pl.col("edited"))
        )
    )
    return some.select("place", "system", "edited", "deleted", _attachments(), said=_said())


def _lookup(phrase: pl.Expr) -> pl.Expr:
    return phrase.replace_strict(
        list(OMITTED), list(OMITTED.values()), default=None, return_dtype=pl.String
    )


def _kind(name: pl.Expr) -> pl.Expr:
    kind_of_name = pl.lit("file")
    for kind, pattern in reversed(_KINDS.items()):
        kind_of_name = (
            pl.when(name.str.contains(pattern)).then(pl.lit(kind)).otherwise(kind_of_name)
        )
    return kind_of_name


def _attachments() -> pl.Expr:
    one = pl.struct(
        kind=pl.col("kind"),
        name=pl.col("name"),
        url=pl.when(pl.col("kind") == "location").then(pl.col("url")).fill_null(""),
        caption=pl.lit(""),
    )
    return (
        pl.when(pl.col("kind").is_not_null())
        .then(pl.concat_list(one))
        .otherwise(pl.lit([], dtype=_ATTACHMENT))
        .alias("attachments")
    )


def _said() -> pl.Expr:
    """The text without the app's own words."""
    text = pl.col("text")
    after_first = text.str.replace(r"^[^\n]*\n?", "")
    angles = text.str.replace(rf"[ \n]?{_ATTACHED_IN_ANGLES}", "")
    angles = (
        pl.when(pl.col("pages").is_not_null())
        .then(angles.str.replace(_PAGES, ""))
        .otherwise(angles)
    )
    trailing = (
        pl.when(pl.col("pages").is_not_null())
        .then(after_first)
        .otherwise(text.str.replace(rf" ?{_MARK}[^{_MARK}\n]+(?:\n|$)", ""))
    )
    cleaned = (
        pl.when(pl.col("deleted") | pl.col("located") | pl.col("once"))
        .then(pl.lit(""))
        .when(pl.col("by_angles"))
        .then(angles)
        .when(pl.col("by_words") | pl.col("omitted").is_not_null() | pl.col("placeholder"))
        .then(after_first)
        .when(pl.col("trailing").is_not_null())
        .then(trailing)
        .otherwise(text)
    )
    cleaned = (
        pl.when(pl.col("edited"))
        .then(cleaned.str.replace(rf"[ \n]?{_EDITED_AT_END}", ""))
        .otherwise(cleaned)
    )
    own = pl.col("kind").is_not_null() | pl.col("edited") | pl.col("marked")
    return (
        pl.when(own)
        .then(cleaned.str.replace_all(f"[{_MARK}]", "").str.strip_chars("\n"))
        .otherwise(cleaned)
    )
