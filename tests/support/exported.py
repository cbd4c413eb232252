"""Files of an export, written into a folder, and what is read from them.

read(tmp_path, {"result.json": {"messages": [...]}}, "telegram")   → ReadCorpus
messages(reading)                                                   → every message of every chat
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realtalk.chat import Corpus, Message
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Source


def write(folder: Path, files: Mapping[str, Any]) -> Path:
    """Writes texts, bytes, or values as JSON; the only file, or the folder of several."""
    for name, content in files.items():
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path if len(files) == 1 else folder


def read(folder: Path, files: Mapping[str, Any], app: str = "", **options: Any) -> ReadCorpus:
    """The reading of these files, which must be recognised as those of the app."""
    opened = open_reading(write(folder, files), options=ReadOptions(**options))
    assert app in ("", opened.format)
    return opened.reading


def opened_as(name: str, path: Path | str, **options: Any) -> ReadCorpus:
    """What the reader of a format makes of a path, whoever else would claim it."""
    return FORMATS[name].read(Source.open(path), ReadOptions(**options))


def written(name: str, corpus: Corpus, place: Path) -> tuple[Path, ...]:
    """The files that the writer of a format makes of a corpus."""
    write = FORMATS[name].write
    assert write is not None
    return write(corpus, place)


def messages(reading: ReadCorpus) -> list[Message]:
    return [message for chat in reading.corpus.chats for message in chat.messages]


def texts(reading: ReadCorpus) -> list[str]:
    return [message.text for message in messages(reading)]
