"""Which lines begin a message, and the pieces of their headers.

    "[20.06.19, 15:58:47] Mara: hi"     → a=20 b=6 c=19 hour=15 minute=58 second=47
    "6/8/16, 3:07 p. m. - Theo: hi"     → a=6 b=8 c=16 hour=15 minute=7
    "24/3/14, 13:59:59: Theo: hi"       → the same of an iPhone before 2018
    "and then he said: well"            → no header

The exporting phone's language decides the shape, so there are hundreds. One general
pattern knows them all; it is slow, so it looks at a sample only. The shape most seen
there becomes an exact pattern for the whole file, and the general one is tried again on
the few lines that the exact one leaves and that begin with a number.
Which number is the day is not decided here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import polars as pl

from realtalk.grouping import grouped
from realtalk.text.calendars import AFTER, BEFORE, hour_of_day, month_number

MARKS = "\u200e\u200f\u061c\u200b\u202a-\u202e\u2066-\u2069\ufeff"
_M = f"[{MARKS}]*"
_S = "[ \u00a0\u202f\u2009\t]"
# Words between date and time: "um", "kl.", "klo", "at", "à", "às", "a las", "в", "о"...
_BETWEEN = (
    r"(?:(?i:um|kl\.?|klo|at|à|às|alle|a las|la|om|lúc|в|о|об|u|o|ob|στις|saat|jam|pukul)\b\.?)?"
)
_SEP = rf"(?:[./\-‐‑–]{_S}?|{_S}|年|月|년{_S}?|월{_S}?)"
_REST = "(?P<rest>.*)$"
_CLOSE = rf"(?:\]{_S}?|{_S}+[-–—]{_S})"
_DATE_TO_MINUTE = (
    rf"{_M}(?P<a>\d{{1,4}}){_M}(?P<s1>{_SEP}){_M}(?P<b>\d{{1,2}}){_M}{_SEP}{_M}"
    rf"(?P<c>\d{{1,4}}){_M}"
    rf"(?P<mid>(?:\.|日|일)?(?:{_S}?г\.?)?{_M}[,،、]?{_M}{_S}*{_BETWEEN}{_S}*){_M}"
    rf"(?P<pre>(?:{BEFORE}{_S}*)?){_M}(?P<h>\d{{1,2}}){_M}(?P<ts>{_S}?[:.hH：∶]{_S}?){_M}"
    rf"(?P<m>\d{{2}}){_M}"
)
_GENERAL = (
    rf"^{_M}(?P<open>\[?){_DATE_TO_MINUTE}"
    rf"(?:(?P<ss>[:.：∶]|{_S}?min{_S}?){_M}(?P<s>\d{{2}})(?:{_S}?s\b)?)?"
    rf"(?:{_S}?ч\.?)?{_M}(?P<post>(?:{_S}*{AFTER})?){_M}(?P<close>{_CLOSE}){_REST}"
)
# "24/3/14, 13:59:59: ": iPhones before 2018. Always with seconds, which tells it from text.
_COLON = (
    rf"^{_M}(?P<open>){_DATE_TO_MINUTE}(?P<ss>[:.]){_M}(?P<s>\d{{2}}){_M}"
    rf"(?P<post>(?:{_S}*{AFTER})?){_M}(?P<close>:{_S}){_REST}"
)
# "22:35, 12/07/2017 - ": Vietnamese phones, among others, put the time first.
_TIME_FIRST = (
    rf"^{_M}(?P<open>\[?){_M}(?P<pre>(?:{BEFORE}{_S}*)?){_M}(?P<h>\d{{1,2}}){_M}"
    rf"(?P<ts>[:.hH：∶]){_M}(?P<m>\d{{2}}){_M}(?:(?P<ss>[:.：∶]){_M}(?P<s>\d{{2}}))?{_M}"
    rf"(?P<post>(?:{_S}*{AFTER})?){_M}(?P<mid>[,،、]?{_S}+){_M}(?P<a>\d{{1,4}}){_M}"
    rf"(?P<s1>{_SEP}){_M}(?P<b>\d{{1,2}}){_M}{_SEP}{_M}(?P<c>\d{{1,4}})\.?{_M}"
    rf"(?P<close>{_CLOSE}){_REST}"
)
# "[07012023, 135335] ": some tools take the punctuation out.
_BARE = (
    rf"^{_M}(?P<open>\[){_M}(?:(?P<a4>(?:19|20)[0-9]{{2}})(?P<b4>0[1-9]|1[0-2])(?P<c4>[0-3][0-9])"
    r"|(?P<a>[0-9]{2})(?P<b>[0-9]{2})(?P<c>[0-9]{4}|[0-9]{2})),? "
    rf"(?P<h>[0-9]{{2}}):?(?P<m>[0-9]{{2}}):?(?P<s>[0-9]{{2}})?(?P<close>\]{_S}?){_REST}"
)
# Python's engine tries every way to part a run of marks or spaces between the pieces.
_LONGEST_HEADER = 200
_RUN = re.compile(rf"[{MARKS}]{{6}}|{_S}{{6}}")
_KINDS = (_GENERAL, _COLON, _TIME_FIRST, _BARE)
_IN_PYTHON = tuple(map(re.compile, _KINDS))
_NUMBER_FIRST = (
    rf"^[{MARKS}\s]*\[?[{MARKS}]*(?:\d|\p{{L}}{{3,12}}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b)"
)
_ZEROS = "٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐᧐０"
_DIGITS = {chr(ord(zero) + n): str(n) for zero in _ZEROS for n in range(10)}
_FROM_OTHER_DIGITS = str.maketrans(_DIGITS)
_NUMBERS = list("abchms")
_ANY_WORD = "\ue000"
_WHEN = "a b c hour minute second".split()  # noqa: SIM905
_FIELDS = ("row", *_WHEN, "wide", "half", "family", "open", "rest")
_SCHEMA = pl.Schema(
    {
        "row": pl.get_index_type(),
        **dict.fromkeys(_WHEN, pl.Int32()),
        "wide": pl.String(),
        "half": pl.Boolean(),
        **dict.fromkeys(("family", "open", "rest", "sender", "text"), pl.String()),
    }
)
_BLOCK = 50_000  # lines that are worked on at once, beside other blocks
_Parted = tuple[pl.DataFrame, pl.DataFrame]  # lines that fit, and the others
_SAMPLE = 100  # lines of each stretch that is looked at
# Dates with the month's name, as older phones wrote them: "12 Jan 2024", "[Jan 12, 2024".
_OPEN = rf"^([{MARKS}]*\[?)"
_DAY = r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th|\.|º)?"
_MONTH = r"(?P<m>\p{L}{3,20})\.?"
_YEAR = r"(?P<y>[0-9]{4})\b"
_NAMED_MONTHS = (
    rf"{_OPEN}{_DAY}[ \-/](?:de |of )?{_MONTH},?[ \-/](?:de )?{_YEAR}",
    rf"{_OPEN}{_MONTH} {_DAY},? {_YEAR}",
)
_IN_LINE = [re.compile(pattern.replace(r"\p{L}", r"[^\W\d_]")) for pattern in _NAMED_MONTHS]


def _in_numbers(line: str) -> str:
    """A line that begins with a month's name with its date as 2024-01-12; others as they are."""
    for pattern in _IN_LINE:
        match = pattern.match(line)
        if match and (month := month_number(match["m"])):
            return f"{match[1]}{match['y']}-{month:02}-{match['d']}{line[match.end() :]}"
    return line


def _all_in_numbers(lines: pl.Series) -> pl.Series:
    """The same for a column."""
    first, second = (lines.str.contains(pattern) for pattern in _NAMED_MONTHS)
    places = (first | second).arg_true()
    return lines.clone().scatter(places, [_in_numbers(line) for line in lines.gather(places)])


def has_header(line: str) -> bool:
    """Whether a line begins like a message of an export."""
    return _header(_in_numbers(line[:_LONGEST_HEADER]), _IN_PYTHON) is not None


def _header(line: str, patterns: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    """The header of a line, if it has one: one that opens with a bracket closes with one."""
    start = line[:_LONGEST_HEADER]
    matches = () if _RUN.search(start) else (pattern.match(start) for pattern in patterns)
    paired = (
        match for match in matches if match and bool(match["open"]) == (match["close"][0] == "]")
    )
    return next(paired, None)


class _Shape(NamedTuple):
    """The header that a file uses most: an exact pattern that captures only what varies."""

    pattern: str
    family: str
    open: str
    wide: str
    half: bool
    fixed: int  # characters of the header outside the captured groups
    ascii_only: bool  # no digits but ours


def find(lines: pl.Series) -> pl.DataFrame:
    """The header lines of a file, in order.

    Columns: row (0-based line), a b c (the date's numbers as they stand), wide ("a", "c" or
    "": which of them has four digits), hour minute second, half (12-hour clock), family
    (header shape), open, sender and text, and rest where no ": " parts the two.
    """
    shape = _most_used(_sample(lines))
    if shape is None:
        lines = _all_in_numbers(lines)
        shape = _most_used(_sample(lines))
    rows = pl.DataFrame({"line": lines}).with_row_index("row")
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        scanned = list(pool.map(partial(_scan, shape=shape), rows.iter_slices(_BLOCK)))
    scanned = scanned or [_scan(rows, None)]
    exact = pl.concat([frame for frame, _ in scanned])
    others = _general_headers(pl.concat([rest for _, rest in scanned]))
    return pl.concat([exact, others]).sort("row") if others.height else exact


def _sample(lines: pl.Series) -> list[str]:
    # The start of each of at most 16 stretches of the file.
    step = max(_SAMPLE, len(lines) // 16)
    starts = range(0, len(lines), step)
    return [line for start in starts for line in lines.slice(start, _SAMPLE)]


def _most_used(sample: list[str]) -> _Shape | None:
    matches = filter(None, (_header(line, _IN_PYTHON[:2]) for line in sample))
    alike = grouped((_pattern(match), match) for match in matches)
    if not alike:
        return None
    pattern, most = max(alike.items(), key=lambda entry: len(entry[1]))
    match, words = most[0], {match["pre"] or match["post"] for match in most}
    word = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    pattern = pattern.replace(_ANY_WORD, word)
    header = match[0][: match.start("rest")]
    exact = re.fullmatch(pattern, header)
    if exact is None:
        return None
    half, wide = bool(match["pre"] or match["post"]), _wide(match)
    family = _family(match["open"], match["s1"], wide, match["mid"], half, match["ts"], match["ss"])
    fixed = len(header) - sum(map(len, exact.groups()))
    return _Shape(pattern, family, match["open"], wide, half, fixed, _is_ascii(header))


def _pattern(match: re.Match[str]) -> str:
    """The exact pattern of headers like this one: only the numbers differ, and a word beside the
    time, for which _ANY_WORD stands.
    """
    line, start = match[0], match.start("rest")
    digit = "[0-9]" if _is_ascii(line[:start]) else r"\d"
    widths = dict.fromkeys("abch", "{1,2}") | dict.fromkeys("ms", "{2}") | {_wide(match): "{4}"}
    pattern, end = f"^(?P<lead>{_M})", len(line) - len(re.sub(f"^{_M}", "", line))
    for name in (*"abc", "pre", *"hms", "post"):
        if match[name]:
            varies = digit + widths[name] if name in widths else _ANY_WORD
            pattern += f"{re.escape(line[end : match.start(name)])}(?P<{name}>{varies})"
            end = match.end(name)
    return pattern + re.escape(line[end:start])


def _is_ascii(header: str) -> bool:
    """Whether all digits are ours."""
    return header == header.translate(_FROM_OTHER_DIGITS)


def _wide(match: re.Match[str]) -> str:
    return "a" if len(match["a"]) == 4 else "c" if len(match["c"]) == 4 else ""


def _family(open_: str, s1: str, wide: str, mid: str, half: bool, ts: str, ss: str | None) -> str:
    comma = "," if any(c in mid for c in ",،、") else ""
    return f"{open_}|{s1.strip()}|{wide}|{comma}|{12 if half else 24}|{ts.strip()}|{ss is not None}"


def _scan(lines: pl.DataFrame, shape: _Shape | None) -> _Parted:
    """The headers of the usual shape, and the lines that may have another."""
    frame, rest = (pl.DataFrame(schema=_SCHEMA), lines) if shape is None else _exact(lines, shape)
    return frame, rest.filter(pl.col.line.str.contains(_NUMBER_FIRST))


def _general_headers(lines: pl.DataFrame) -> pl.DataFrame:
    if not lines.height:
        return pl.DataFrame(schema=_SCHEMA)
    rest = lines.with_columns(_all_in_numbers(lines["line"]))
    frames = []
    for pattern in _KINDS:
        hits, rest = _match(rest, pattern)
        frames.append(_general(hits, bare=pattern is _BARE))
    return _split_sender(pl.concat(frames).sort("row"))


def _exact(lines: pl.DataFrame, shape: _Shape) -> _Parted:
    groups = lines.select(pl.col.line.str.extract_groups(shape.pattern)).to_series()
    fields = groups.struct.unnest().hstack(lines)
    hit = fields["a"].is_not_null()
    rest = lines.filter(~hit)
    fields = fields.filter(hit) if rest.height else fields
    names = [name for name in fields.columns if name not in ("row", "line")]
    length = pl.sum_horizontal(pl.col(names).str.len_chars()) + shape.fixed
    numbers = fields
    if not shape.ascii_only:
        some = [name for name in _NUMBERS if name in names]
        numbers = fields.with_columns(pl.col(some).str.replace_many(_DIGITS))
    frame = _numbers(numbers).with_columns(
        wide=pl.lit(shape.wide),
        half=pl.lit(shape.half),
        family=pl.lit(shape.family),
        open=pl.lit(shape.open),
        rest=fields.select(pl.col.line.str.slice(length)).to_series(),
    )
    return _split_sender(frame.select(_FIELDS)), rest


def _match(lines: pl.DataFrame, pattern: str) -> _Parted:
    """Lines that fit, with the pattern's groups as columns, and those that do not.

    Only the start of a line is searched: megabytes of marks between two numbers are no header.
    """
    start = pl.col.line.str.slice(0, _LONGEST_HEADER)
    likely = lines.filter(start.str.contains(pattern.removesuffix(_REST)))
    groups = likely.select(pl.col.line.str.extract_groups(pattern)).to_series()
    frame = groups.struct.unnest().with_columns(row=likely["row"])
    hits = frame.filter(frame["close"].is_not_null())
    return hits, lines.join(hits, on="row", how="anti", maintain_order="left")


def _general(frame: pl.DataFrame, *, bare: bool) -> pl.DataFrame:
    if bare:
        frame = frame.with_columns(pl.coalesce(f"{name}4", name).alias(name) for name in "abc")
    in_a, in_c = (pl.when(pl.col(name).str.len_chars() == 4) for name in "ac")
    wide = in_a.then(pl.lit("a")).otherwise(in_c.then(pl.lit("c")).otherwise(pl.lit("")))
    plain = frame.with_columns(pl.col(_NUMBERS).str.replace_many(_DIGITS), wide=wide)
    paired = (pl.col.open == "[") == pl.col.close.str.starts_with("]")
    numbers = _numbers(plain).filter(paired)
    if bare:
        return numbers.with_columns(half=pl.lit(False), family=pl.lit("[|bare")).select(_FIELDS)
    numbers = numbers.with_columns(half=(pl.col.pre != "") | (pl.col.post != ""))
    pieces = "open s1 wide mid half ts ss".split()  # noqa: SIM905
    kinds = numbers.select(pieces).unique()
    names = [_family(*kind) for kind in kinds.iter_rows()]
    kinds = kinds.with_columns(pl.Series("family", names, dtype=pl.String))
    heads = numbers.join(kinds, on=pieces, how="left", nulls_equal=True, maintain_order="left")
    return heads.select(_FIELDS)


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Captured digits to numbers, and the 12-hour clock to hours of the day."""
    if "s" not in frame.columns:
        frame = frame.with_columns(s=pl.lit("0"))
    frame = frame.with_columns(pl.col(_NUMBERS).cast(pl.Int32, strict=False)).with_columns(
        hour=pl.col.h, minute=pl.col.m, second=pl.col.s.fill_null(0)
    )
    clock = ["hour", *(name for name in ("pre", "post") if name in frame.columns)]
    if len(clock) == 1:
        return frame
    clocks = frame.select(clock).unique().drop_nulls()
    hours = [hour_of_day(hour, *words) for hour, *words in clocks.iter_rows()]
    clocks = clocks.with_columns(turned=pl.Series(hours, dtype=pl.Int32))
    frame = frame.join(clocks, on=clock, how="left", maintain_order="left")
    return frame.with_columns(hour="turned")


def _split_sender(frame: pl.DataFrame) -> pl.DataFrame:
    """Sender and text apart; `rest` is kept for the lines that have no sender."""
    parts = frame.select(pl.col.rest.str.splitn(": ", 2)).to_series().struct.unnest()
    sender, text = parts.get_columns()
    has_text = text.is_not_null()
    return frame.with_columns(
        rest=pl.when(~has_text).then(pl.col.rest),
        sender=pl.when(has_text).then(sender),
        text=text,
    )
