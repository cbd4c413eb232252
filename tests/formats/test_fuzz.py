"""Damaged exports of every format: each is read or refused in one line, and what is read is whole.

Files of our own writing are cut, doubled, shuffled, spliced into each other, and their JSON values
exchanged for others of a wrong type or size. Every input has a number: the same number is the same
input, so that what fails can be tried again.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Alias
from realtalk.errors import RealtalkError
from realtalk.formats.opening import open_reading
from realtalk.formats.published.realtalk import learn
from realtalk.formats.store import load, store
from said import Said, json_lines, put
from written_chats import FORMS

SAID = [
    Said("Mara", 0, "did you sleep at all"),
    Said("Theo Lund", 75, "barely 😴 the neighbours drilled, again", reply=0),
    Said("Mara", 140, "where is the\nsecond line?"),
    Said("王小明", 90_000, "https://example.org/a?b=1 ok", reply=2),
    Said("Theo Lund", 90_060, '‎see you <3 & "bye", 100%'),
    Said("Mara", 400_000, "another chat", chat="d"),
]
PUBLISHED = ("convokit", "locomo", "longmemeval", "reddit")  # one entry is one message
ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 10**30, -(2**63), 1e308, float("nan"), float("inf"), "", " ", "\x00"),
    *("\ud83d", "\u202e", "9999-99-99T99:99:99", "0001-01-01", "[", "<", "NaN", "1e999"),
    *([], {}, [None], [[[]]], {"text": []}, {"": 0}, "x" * 2000),
)


def _bytes(data: bytes, draw: random.Random, other: bytes) -> bytes:
    at, end = sorted(draw.randrange(len(data) + 1) for _ in range(2))
    if end - at > 2000:
        end = at + draw.randrange(2000)
    piece = data[at:end]
    return draw.choice(
        (
            data[:at] + data[end:],
            data[:end] + piece + data[end:],
            data[:at],
            data[at:],
            data[:at] + bytes(draw.randrange(256) for _ in range(draw.randrange(1, 9))) + data[at:],
            data[:at] + bytes(b ^ (1 << draw.randrange(8)) for b in piece[:40]) + data[at + 40 :],
            data[:at] + other[at : at + draw.randrange(1, 400)] + data[end:],
            b"\n".join(draw.sample(lines, len(lines))) if (lines := data.split(b"\n")) else data,
            data.replace(draw.choice((b":", b",", b'"', b"\n", b"}", b"0", b"/")), b"", 3),
            draw.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b"\r")) + data,
        )
    )


def _places(value: Any, found: list[tuple[Any, Any]]) -> None:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inside:
        found.append((value, key))
        if isinstance(each, dict | list):
            _places(each, found)


def _json(data: bytes, draw: random.Random, other: bytes) -> bytes:
    value = json.loads(data)
    for _ in range(draw.randrange(1, 4)):
        found: list[tuple[Any, Any]] = []
        _places(value, found)
        if not found:
            break
        inside, key = draw.choice(found)
        how = draw.randrange(4)
        if how == 0 and isinstance(inside, dict):
            del inside[key]
        elif how == 1 and isinstance(inside, list):
            inside.insert(0, inside[key])
        else:
            # A copy: what is put in may itself be changed by the next draw.
            inside[key] = copy.deepcopy(draw.choice(ODD))
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _lines(data: bytes, draw: random.Random, other: bytes) -> bytes:
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    try:
        lines[at] = _json(lines[at], draw, other)
    except (ValueError, TypeError, AttributeError):
        return _bytes(data, draw, other)
    return b"\n".join(lines)


def damaged(number: int) -> tuple[str, dict[str, bytes]]:
    """The form and the files of one input."""
    draw = random.Random(number)
    names = sorted(FORMS)
    form = names[number % len(names)]
    files = dict(FORMS[form].write(SAID))
    others = list(FORMS[draw.choice(names)].write(SAID).values())
    for _ in range(draw.choice((1, 1, 2, 4))):
        name = draw.choice(sorted(files))
        change: Callable[[bytes, random.Random, bytes], bytes] = _bytes
        if draw.random() < 0.6:
            change = _json if name.endswith(".json") else _lines
        try:
            files[name] = change(files[name], draw, draw.choice(others))
        except (ValueError, TypeError, AttributeError):
            files[name] = _bytes(files[name], draw, draw.choice(others))
    return form, files


def read_damaged(number: int, folder: Path) -> bool:
    """Reads one input as its format and as what it is found to be; True where it was read."""
    form, files = damaged(number)
    place = folder / str(number)
    put(place, files)
    source = place / next(iter(files)) if len(files) == 1 else place
    read = False
    for format_name in (FORMS[form].format, None):
        try:
            found = open_reading(source, format_name)
            corpus = found.reading.corpus
            kept = store(found.reading, folder / f"{number}-kept", found.source)
            assert load(kept).corpus == corpus, f"input {number}: stored is not what was read"
            if form in PUBLISHED:
                counted = found.reading.ledger.in_messages
                assert counted == found.reading.tables.messages.height, f"input {number}: counts"
            read = True
        except RealtalkError as error:
            assert "\n" not in str(error), f"input {number}: an error of several lines"
            assert "drilled" not in str(error), f"input {number}: an error quotes a message"
        except Exception as error:
            raise AssertionError(
                f"input {number}, {form} as {format_name}: {type(error).__name__}"
            ) from error
    return read


def _tried(numbers: range, folder: Path) -> None:
    read = sum(read_damaged(number, folder) for number in numbers)
    # Neither is everything refused nor does the damage miss.
    assert len(numbers) * 0.1 < read < len(numbers)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    _tried(range(60), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_many_damaged_files_are_read_or_refused(part: int, tmp_path: Path) -> None:
    _tried(range(60 + 1000 * part, 60 + 1000 * (part + 1)), tmp_path)


def test_a_blank_name_has_no_first_part() -> None:
    assert learn((" ", "Mara Lund"), ()) == (Alias("Mara", "Mara Lund", "name"),)


# --- text of another type than text ---


ZEBRAS = [
    Said("Ann" if place % 2 else "Ben", 60 * place, f"zebra number {place} here", id=f"10{place}")
    for place in range(6)
]
TARGET = ZEBRAS[3].text
ODD_TEXTS: list[Any] = [{"text": "hidden"}, {"a": {"b": 1}}, [["b"], {"c": []}], True]


def _spells(value: Any) -> bool:
    """Whether a value is the text, plainly or in Telegram's pieces."""
    if isinstance(value, list) and all(isinstance(each, str | dict) for each in value):
        pieces = [each if isinstance(each, str) else str(each.get("text")) for each in value]
        return "".join(pieces) == TARGET
    return bool(value == TARGET)


def _with(value: Any, odd: Any) -> Any:
    """The same with something else where the text was."""
    if _spells(value):
        return odd
    if isinstance(value, list):
        return [_with(each, odd) for each in value]
    if isinstance(value, dict):
        return {key: _with(each, odd) for key, each in value.items()}
    return value


def _in_lines(data: bytes) -> list[Any] | None:
    try:
        return [json.loads(data)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in data.splitlines()]
    except ValueError:
        return None


def _written(name: str, odd: Any, folder: Path) -> bool:
    """Writes an export in which one text is odd; whether there was one to change."""
    changed = False
    for file, data in FORMS[name].write(ZEBRAS).items():
        values = _in_lines(data) if TARGET.encode()[:5] in data else None
        if values is not None:
            again = [_with(value, odd) for value in values]
            changed = changed or again != values
            data = json_lines(again)
        put(folder, {file: data})
    return changed


IN_JSON = [
    name for name in sorted(FORMS) if any(map(_in_lines, FORMS[name].write(ZEBRAS).values()))
]


@pytest.mark.parametrize("odd", ODD_TEXTS, ids=["object", "deep object", "list", "true"])
@pytest.mark.parametrize("name", IN_JSON)
def test_text_that_is_no_text(name: str, odd: Any, tmp_path: Path) -> None:
    assert _written(name, odd, tmp_path)
    reading = open_reading(tmp_path, FORMS[name].format).reading
    texts = reading.tables.messages["text"].to_list()
    assert sorted(texts) == sorted(one.text for one in ZEBRAS if one.text != TARGET)
    left = {left.reason for left in reading.ledger.leftovers}
    assert len(left) in (1, 2)  # LoCoMo tells the same words once more, as an event


def test_numbers_are_text(tmp_path: Path) -> None:
    assert _written("convokit", 17, tmp_path)
    reading = open_reading(tmp_path, "convokit").reading
    assert "17" in reading.tables.messages["text"].to_list()
