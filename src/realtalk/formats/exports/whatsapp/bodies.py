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

from realtalk.formats.tables import MESSAGES
from realtalk.text.wordlists import phrases, sections

# What WhatsApp itself writes into an export, in the languages known to us.
#
#     DELETED       "diese nachricht wurde gelöscht" ...   the whole text of a message
#     EDITED        "this message was edited" ...          inside <> at the end of one
#     ATTACHED      "file attached" ...                    after a file's name, in () or <>
#     OMITTED       "image omitted" → "image" ...          for what was left out of the export
#     IN_ANGLES     "medija praleista" ...                 the same, but only inside <>
#     ENCRYPTED, GROUP_EVENTS ...                          patterns of system lines
#
# The words are in `wording.txt`. Phrases are compared in lower case and without a full stop at the
# end. None of this is needed where the structure decides (marks, file names): it is for lines that
# only their words distinguish.

WORDING = sections("realtalk.formats.exports.whatsapp", "wording.txt")
_LISTS = {
    name: phrases(WORDING[name])
    for name in "deleted edited attached unsent called location".split()  # noqa: SIM905
}
AS_WRITTEN = frozenset(phrase for listed in _LISTS.values() for phrase in listed)
DELETED, EDITED, ATTACHED, UNSENT, CALLED, LOCATION = (
    frozenset(phrase.lower() for phrase in listed) for listed in _LISTS.values()
)
CALLS, VIEW_ONCE, ENCRYPTED, GROUP_EVENTS = (
    "(?i)" + WORDING[name].replace("\n", "")
    for name in ("calls", "view once", "encrypted", "group events")
)


def _omitted_files() -> dict[str, str]:
    """What stands for a file that was left out, in lower case, and which kind of file it was."""
    kinds = "image video audio sticker media file contact".split()  # noqa: SIM905
    omitted = {
        "live location shared": "location",
        "view once voice message omitted": "audio",
        "view once message omitted": "media",
    }
    for language in WORDING["left out"].split("\n\n"):
        names, _, verbs = language.partition("=")
        for kind, group in zip(kinds, names.split(";"), strict=True):
            for name in phrases(group):
                for verb in phrases(verbs):
                    omitted.setdefault(f"{name} {verb}", "image" if name == "gif" else kind)
    for kind in kinds:
        for phrase in phrases(WORDING[f"left out {kind}"]):
            omitted.setdefault(phrase, kind)
    return omitted


OMITTED = _omitted_files()
IN_ANGLES = frozenset(phrase.lower() for phrase in phrases(WORDING["left out in angles"]))

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
    words = {*CALLED, *DELETED, *OMITTED, *UNSENT}
    spellings = words | {phrase[:1].upper() + phrase[1:] for phrase in words} | AS_WRITTEN
    spellings |= {phrase.replace("gif", "GIF", 1) for phrase in words if phrase.startswith("gif")}
    return sorted(spellings | {f"{phrase}." for phrase in spellings})


_LINES = pl.Series(_whole_lines(), dtype=pl.String)


def classify(messages: pl.DataFrame, *, bracketed: bool) -> pl.DataFrame:
    """Adds system, call, edited, deleted and attachments; takes their wording off the text.

    `bracketed` marks the iPhone's exports, in which a left-to-right mark begins whatever
    the app itself wrote.
    """
    text = pl.col.text
    candidate = (
        text.str.contains(rf"{_MARK}|\)\n|/maps|//maps|foursquare\.com/|^\u200f")
        | text.str.starts_with("<")
        | text.str.ends_with(">")
        | text.str.ends_with(")")
        | text.is_in(_LINES.implode())
    )
    messages = messages.with_row_index("place")
    ordinary = messages.filter(~text.str.contains(rf"^{_MARKS}*{_MARK}"))["speaker"]
    judged = _judge(
        messages.filter(candidate).select("place", "text", "speaker"),
        ordinary.drop_nulls().unique(),
        bracketed=bracketed,
    )
    return (
        messages.join(judged, on="place", how="left", maintain_order="left")
        .with_columns(
            pl.col("system", "call", "edited", "deleted").fill_null(False),
            pl.col.attachments.fill_null(pl.lit([], dtype=_ATTACHMENT)),
            text=pl.coalesce("said", "text"),
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
    people = pl.col.speaker.n_unique().over(name)
    return (pl.len().over(name) >= _REPEATED) | (people > 1)


def _is_one_thing(people: pl.Series) -> pl.Expr:
    """Whether a marked line names something that was sent: "image left out", not "Ann left".

    So it begins in small letters, in scripts that have them, and not with anybody's name, and
    is of somebody who also writes: a group's name, under which notices stand, does not.
    """
    names = people.str.to_lowercase().str.split(" ").list.first().unique()
    line = pl.col.line
    small = pl.col.first.str.contains(rf"^{_MARKS}*\p{{Ll}}") & line.str.contains(
        r"^[\p{L}\p{M}]+(?: [\p{L}\p{M}]+){1,3}$"
    )
    begins_with_name = line.str.split(" ").list.first().is_in(names.implode())
    return pl.col.marked & small & ~begins_with_name & pl.col.speaker.is_in(people.implode())


def _judge(some: pl.DataFrame, people: pl.Series, *, bracketed: bool) -> pl.DataFrame:
    col, text = pl.col, pl.col.text
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
        piece=_phrase(col.first.str.extract(rf"{_MARK}([^{_MARK}]+)$")),
        often=_recurs("first"),
        t_often=_recurs("t_word") & col.t_word.str.contains(_WORDS),
        w_often=_recurs("w_word") & (col.w_name.n_unique().over("w_word") > 1),
    )
    by_angles = col.a_name.is_not_null() & (
        col.a_mark.is_not_null()
        | _is_one_of("a_word", ATTACHED)
        | col.a_name.str.contains(_WA_NAME)
    )
    by_words = col.w_name.is_not_null() & (
        col.marked
        | _is_one_of("w_word", ATTACHED)
        | col.w_name.str.contains(_WA_NAME)
        | (col.w_often & (_kind(col.w_name) != "file"))
    )
    line = col.line
    in_angles = line.str.contains(r"^<[^<>]+>$")
    bare = pl.when(in_angles).then(line.str.slice(1).str.strip_suffix(">")).otherwise(line)
    added = (col.t_mark.is_not_null() | col.t_often) & ~col.alone
    in_brackets = col.first.str.contains(rf"^{_MARKS}*<[^<>/=\"]{{2,80}}>{_MARKS}*$")
    few_words = col.marked & line.str.contains(r"^[\p{L}\p{M}]+(?: [\p{L}\p{M}]+){0,4}$")
    notices = (CALLS, ENCRYPTED, GROUP_EVENTS)
    is_notice = pl.any_horizontal(line.str.contains(pattern) for pattern in notices)
    in_words = in_brackets & col.first.str.contains(_WORDS)
    app_words = in_words | (few_words & ~is_notice)
    # A phone writes one wording for whatever it left out; people who write so vary.
    alone_here = in_words & (col.first.filter(in_words).n_unique() == 1)
    again = alone_here & (pl.len().over("first") > 1)
    one_thing = _is_one_thing(people) & ~is_notice
    heading = col.first.str.contains(rf"^{_MARKS}*[\p{{L}} ]{{2,24}}[:：]{_MARKS}*$")
    by_admin = col.whole.str.contains("^this message was deleted by admin ")
    some = some.with_columns(
        by_angles=by_angles,
        by_words=by_words & ~by_angles,
        omitted=pl.when(in_angles & bare.str.strip_chars().is_in(sorted(IN_ANGLES)))
        .then(pl.lit("media"))
        .otherwise(_lookup(bare.str.strip_chars_end("."))),
        trailing=_lookup(col.piece),
        edited=col.t_word.is_not_null() & ~by_angles & (_is_one_of("t_word", EDITED) | added),
        deleted=_is_one_of("whole", DELETED) | by_admin,
        located=col.url.is_not_null() & (col.marked | _is_one_of("p_word", LOCATION)),
        poll=col.marked & heading & text.str.contains("\n", literal=True),
        placeholder=(col.alone & col.marked) | (col.often & app_words) | again | one_thing,
        once=col.marked & col.whole.str.contains(VIEW_ONCE),
    )
    some = some.with_columns(
        kind=pl.when(~col.deleted).then(
            pl.coalesce(
                pl.when(col.by_angles).then(_kind(col.a_name)),
                pl.when(col.by_words).then(_kind(col.w_name)),
                "omitted",
                "trailing",
                pl.when(col.located).then(pl.lit("location")),
                pl.when((col.placeholder & ~col.edited) | col.once).then(pl.lit("media")),
            )
        ),
        name=pl.when(col.by_angles)
        .then(pl.coalesce("pages", "a_name"))
        .when(col.by_words)
        .then(col.w_name)
        .when(col.trailing.is_not_null())
        .then(col.pages)
        .fill_null(""),
    )
    by_mark = pl.lit(bracketed) & col.marked & ~col.poll & ~col.edited
    system = ~col.deleted & (_is_one_of("whole", UNSENT | CALLED) | by_mark)
    system &= col.kind.is_null()
    call = system & (_is_one_of("whole", CALLED) | line.str.contains(CALLS))
    return some.select(
        *("place", "edited", "deleted"),
        attachments=_attachments(),
        system=system,
        call=call,
        said=_own_text(),
    )


def _is_one_of(name: str, listed: frozenset[str]) -> pl.Expr:
    return pl.col(name).is_in(sorted(listed))


def _lookup(phrase: pl.Expr) -> pl.Expr:
    return phrase.replace_strict(OMITTED, default=None, return_dtype=pl.String)


def _kind(name: pl.Expr) -> pl.Expr:
    kinds = (
        pl.when(name.str.contains(pattern)).then(pl.lit(kind)) for kind, pattern in _KINDS.items()
    )
    return pl.coalesce(*kinds, pl.lit("file"))


def _attachments() -> pl.Expr:
    kind = pl.col.kind
    url = pl.when(kind == "location").then(pl.col.url).fill_null("")
    file = pl.struct(kind=kind, name=pl.col.name, url=url, caption=pl.lit(""))
    nothing = pl.lit([], dtype=_ATTACHMENT)
    return pl.when(kind.is_not_null()).then(pl.concat_list(file)).otherwise(nothing)


def _own_text() -> pl.Expr:
    """The text without the app's own words."""
    col, text = pl.col, pl.col.text
    with_pages = pl.when(col.pages.is_not_null())
    after_first = text.str.replace(r"^[^\n]*\n?", "")
    angles = text.str.replace(rf"[ \n]?{_ATTACHED_IN_ANGLES}", "")
    trailing = text.str.replace(rf" ?{_MARK}[^{_MARK}\n]+(?:\n|$)", "")
    cleaned = (
        pl.when(col.deleted | col.located | col.once)
        .then(pl.lit(""))
        .when(col.by_angles)
        .then(with_pages.then(angles.str.replace(_PAGES, "")).otherwise(angles))
        .when(col.by_words | col.omitted.is_not_null() | col.placeholder)
        .then(after_first)
        .when(col.trailing.is_not_null())
        .then(with_pages.then(after_first).otherwise(trailing))
        .otherwise(text)
    )
    without_end = cleaned.str.replace(rf"[ \n]?{_EDITED_AT_END}", "")
    cleaned = pl.when(col.edited).then(without_end).otherwise(cleaned)
    own = col.kind.is_not_null() | col.edited | col.marked
    bare = cleaned.str.replace_all(f"[{_MARK}]", "").str.strip_chars("\n")
    return pl.when(own).then(bare).otherwise(cleaned)
