"""Text of another type than text, in every format of JSON: left over, never an empty message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from realtalk.formats.json_input import NOT_TEXT
from realtalk.formats.opening import open_reading
from said import Said, as_json, json_lines, put
from written_chats import FORMS

SAID = [
    Said("Ann" if place % 2 else "Ben", 60 * place, f"zebra number {place} here", id=f"10{place}")
    for place in range(6)
]
TARGET = SAID[3].text
ODD: list[Any] = [{"text": "hidden"}, {"a": {"b": 1}}, [["b"], {"c": []}], True]


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


def _lines(data: bytes) -> list[Any] | None:
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
    for file, data in FORMS[name].write(SAID).items():
        values = _lines(data) if TARGET.encode()[:5] in data else None
        if values is not None:
            again = [_with(value, odd) for value in values]
            changed = changed or again != values
            data = json_lines(again)
        put(folder, {file: data})
    return changed


IN_JSON = [name for name in sorted(FORMS) if any(map(_lines, FORMS[name].write(SAID).values()))]


@pytest.mark.parametrize("odd", ODD, ids=["object", "deep object", "list", "true"])
@pytest.mark.parametrize("name", IN_JSON)
def test_text_that_is_no_text(name: str, odd: Any, tmp_path: Path) -> None:
    assert _written(name, odd, tmp_path)
    reading = open_reading(tmp_path, FORMS[name].format).reading
    texts = reading.tables.messages["text"].to_list()
    assert sorted(texts) == sorted(one.text for one in SAID if one.text != TARGET)
    left = {left.reason for left in reading.ledger.leftovers}
    assert len(left) in (1, 2)  # LoCoMo tells the same words once more, as an event


def _slack(odd: Any) -> dict[str, Any]:
    file = {"name": "bed.jpg", "mimetype": "image/jpeg", "url_private": "https://x.org/bed.jpg"}
    return {
        "type": "message",
        "user": "U1",
        "ts": "1714548600.000100",
        "text": odd,
        "files": [file],
    }


@pytest.mark.parametrize("odd", ODD)
def test_beside_a_file_too(tmp_path: Path, odd: Any) -> None:
    """A picture whose words are not known is no picture without words."""
    said = [_slack("the bed") | {"ts": "1714548500.0"}, _slack(odd)]
    files = {
        "channels.json": [{"id": "C1", "name": "garden", "members": []}],
        "users.json": [{"id": "U1", "name": "ann", "profile": {}}],
        "garden/2024-05-01.json": said,
    }
    put(tmp_path, {name: as_json(value) for name, value in files.items()})
    reading = open_reading(tmp_path, "slack").reading
    assert reading.tables.messages["text"].to_list() == ["the bed"]
    [left] = reading.ledger.leftovers
    assert left.reason == f"{NOT_TEXT} (message 1714548600.000100)"


def test_numbers_are_text(tmp_path: Path) -> None:
    assert _written("convokit", 17, tmp_path)
    reading = open_reading(tmp_path, "convokit").reading
    assert "17" in reading.tables.messages["text"].to_list()
