"""What annotators wrote about questions: which messages they named, and of which category.

    resolve(["D5:12;D5:16", "D58"], ids)  → (("D5:12", "D5:16"), ("D58",))
    name_of("locomo", 5)                  → "adversarial"
    number_of("locomo", "adversarial")    → 5
    name_of("longmemeval", "temporal-reasoning") → "temporal_reasoning"

The same number means different things in different corpora, so every lookup names the
format. A number or name that is not known stays as it is: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from realtalk.chat import Question, unpack_extra

# Evidence as annotators typed it into message ids that exist.
#
#     resolve(["D5:12;D5:16", "D 2:18", "23:29", "D12:3-D12:5", "D58"], ids)
#     → (("D5:12", "D5:16", "D2:18", "D23:29", "D12:3", "D12:4", "D12:5"), ("D58",))
#
# Accepted: `;` or `.` for `:`, several ids in one piece, ranges, stray spaces and full
# stops, a missing or lower-case D, leading zeros. What names no message after that is kept
# as unresolved, never guessed: in the published chats most of it are bubbles that held only
# a photo, whose number the publication dropped when it moved the photo to a neighbour.

# Spaces are counted: three unbounded runs side by side take the cube of their length.
_ID = re.compile(r"(?<!\d)[Dd]?\s{0,3}:?\s{0,3}(\d{1,5})\s{0,3}[:;.]\s{0,3}(\d{1,7})(?!\d)")
_RANGE = re.compile(r"\s*[-–—]\s*")
_SHORT_RANGE = re.compile(r"\s*[-–—]\s*(\d{1,7})(?![\d:;.])")
_SEPARATORS = " \t\r\n,;.:/&|[]()'\"-–—"
_LONGEST_RANGE = 1000  # a slip such as D1:1-D1:999999 must not name a million ids
_MOST_NAMED = 2000  # ids that one question's ranges may name; further ranges count by their ends


def split(stated: str) -> tuple[list[tuple[str, str]], list[str]]:
    """One typed piece into (first id, last id) pairs and what could not be read."""
    pairs: list[tuple[str, str]] = []
    junk: list[str] = []
    position = 0
    open_range = False
    for match in _ID.finditer(stated):
        if match.start() < position:
            continue
        between = stated[position : match.start()]
        id_ = f"D{int(match[1])}:{int(match[2])}"
        if pairs and open_range and _RANGE.fullmatch(between):
            pairs[-1] = (pairs[-1][0], id_)
            open_range = False
        else:
            if rest := _words(between):
                junk.append(rest)
            pairs.append((id_, id_))
            open_range = True
        position = match.end()
        if short := _SHORT_RANGE.match(stated, position):
            pairs[-1] = (id_, f"D{int(match[1])}:{int(short[1])}")
            position, open_range = short.end(), False
    if rest := _words(stated[position:]):
        junk.append(rest)
    return pairs, junk


def _words(text: str) -> str:
    """What is left of a text without spaces and separators around it."""
    return " ".join(text.split()).strip(_SEPARATORS)


def resolve(stated: Sequence[str], ids: Container[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(ids that exist, in the order stated and once each; pieces that name none)."""
    resolved: dict[str, None] = {}
    lost: dict[str, None] = {}
    count = 0
    for piece in stated:
        if piece in ids:
            resolved[piece] = None
            continue
        pairs, junk = split(piece)
        lost.update(dict.fromkeys(junk))
        for first, last in pairs:
            between = _between(first, last) if count < _MOST_NAMED else [first, last]
            count += len(between)
            hits = [id_ for id_ in between if id_ in ids]
            resolved.update(dict.fromkeys(hits))
            if not hits:
                lost[first if first == last else f"{first}-{last}"] = None
    return tuple(resolved), tuple(lost)


def _between(first: str, last: str) -> list[str]:
    """The ids of a range; a range over two sessions is only its two ends."""
    day, _, start = first.partition(":")
    last_day, _, stop = last.partition(":")
    low, high = int(start), int(stop)
    if day != last_day or not low <= high < low + _LONGEST_RANGE:
        return list(dict.fromkeys((first, last)))
    return [f"{day}:{number}" for number in range(low, high + 1)]


def annotated_question(
    id_: str,
    text: str,
    answer: str | None,
    category: str,
    stated: tuple[str, ...],
    ids: Container[str],
) -> Question:
    """A question whose evidence is resolved as far as it names messages."""
    evidence, unresolved = resolve(stated, ids)
    return Question(id_, text, answer, category, evidence, unresolved, stated)


# In a question's extra: only sessions with a smaller number had been when it was asked; its
# evidence is whole sessions, so it is scored by session.
BEFORE_SESSION, EVIDENCE_BY = "before_session", "evidence_by"


def first_unseen(question: Question) -> int | None:
    """The number of the first session that a question must not see, where it says so."""
    number = _in_extra(question, BEFORE_SESSION)
    return number if isinstance(number, int) else None


def is_by_session(question: Question) -> bool:
    """Whether the evidence of a question is whole sessions."""
    return _in_extra(question, EVIDENCE_BY) == "session"


def _in_extra(question: Question, key: str) -> object:
    # Most questions have no extra: nothing is parsed for them.
    return unpack_extra(question.extra).get(key) if f'"{key}"' in question.extra else None


CATEGORIES: Mapping[str, Mapping[int, str]] = {
    "realtalk": {1: "multi_hop", 2: "temporal", 3: "commonsense"},
    "locomo": dict(
        enumerate(("multi_hop", "temporal", "open_domain", "single_hop", "adversarial"), 1)
    ),
}
# Formats that publish names instead of numbers.
_NAMES: Mapping[str, frozenset[str]] = {
    "longmemeval": frozenset(
        """
        single_session_user single_session_assistant single_session_preference multi_session
        temporal_reasoning knowledge_update
        """.split()  # noqa: SIM905 - words read better than quotes
    )
}


def name_of(format: str, category: object) -> str:
    """The name of a category given as number, digits or name; "" for none."""
    if category is None:
        return ""
    text = str(category).strip()
    names = CATEGORIES.get(format, {})
    if _is_number(text):
        return names.get(int(text), text)
    return text.replace("-", "_") if format in _NAMES else text


def number_of(format: str, name: str) -> int | None:
    """The number that the format's files use for a name; None where it has none."""
    numbers = {known: number for number, known in CATEGORIES.get(format, {}).items()}
    return numbers.get(name, int(name) if _is_number(name) else None)


def _is_number(text: str) -> bool:
    # "²".isdigit() is true and int("²") is not a number: ASCII digits only.
    return text.isascii() and text.isdigit() and len(text) < 9


def known_categories(format: str) -> frozenset[str]:
    """Every category name of a format; empty where the format has no questions."""
    return frozenset(CATEGORIES.get(format, {}).values()) | _NAMES.get(format, frozenset())
