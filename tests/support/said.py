"""A message as tests write it down, and what the writers of all formats share."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

START = datetime(2024, 5, 1, 7, 30)
EPOCH = datetime(1970, 1, 1)
Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Said:
    """One message: `seconds` after the start, `reply` the place of another in the list."""

    who: str
    seconds: int
    text: str
    reply: int | None = None
    id: str = ""
    chat: str = "c"

    @property
    def time(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    @property
    def epoch(self) -> int:
        return int((self.time - EPOCH).total_seconds())


@dataclass(frozen=True)
class Form:
    format: str
    write: Callable[[list[Said]], Files]


def put(folder: Path, files: Files) -> Path:
    """The files in a folder, with the folders that their names ask for."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def json_lines(values: Iterable[Any]) -> bytes:
    return b"".join(as_json(value) + b"\n" for value in values)


def by_chat(said: list[Said]) -> dict[str, list[tuple[int, Said]]]:
    found: dict[str, list[tuple[int, Said]]] = {}
    for place, one in enumerate(said):
        found.setdefault(one.chat, []).append((place, one))
    return found


def given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def table(head: list[str], rows: Iterable[list[Any]]) -> bytes:
    out = io.StringIO(newline="")
    table = csv.writer(out)
    table.writerow(head)
    table.writerows(rows)
    return out.getvalue().encode("utf-8", "replace")


def texts(name: str, head: str, line: Callable[[Said], str]) -> Callable[[list[Said]], Files]:
    """Writes one text file per chat: a head, and what each message looks like."""
    return lambda said: {
        name.format(place): "".join((head, *(line(one) for _, one in chat))).encode(
            "utf-8", "replace"
        )
        for place, chat in enumerate(by_chat(said).values())
    }
