"""A model's folder → its settings and its tokenizer, whatever runs it.

    ModelFolder(folder).settings["width"]          → 50
    shortened([1, 2, 3, 4, 5, 6, 7], most=3)       → [1, 2, 7]

The folder holds model.onnx and settings.json, and tokenizer.json unless its settings name another.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HEAD = 2 / 3  # of a text that is too long: its beginning, then its end
LOADED = 4  # files of a kind that stay loaded: as many as ship


class ModelFolder:
    """What the encoders have in common."""

    def __init__(self, folder: Path) -> None:
        self.settings: dict[str, Any] = json.loads((folder / "settings.json").read_text("utf-8"))
        name = self.settings.get("tokenizer", "tokenizer.json")
        self._tokenizer = _tokenizer(*kept_file(folder / name))
        # The token for the unknown, and marks that stand before it: a word's beginning.
        unknown = self._tokenizer.token_to_id("[UNK]")
        self._empty = frozenset([unknown, *self.settings.get("silent", ())])

    def _are_read(self, encoded: Sequence[Any]) -> list[bool]:
        """Whether there is a token for anything of each text."""
        return [any(token not in self._empty for token in each.ids) for each in encoded]


def kept_file(path: Path) -> tuple[str, int]:
    """What a loaded file is remembered by: its place and when it was written."""
    path = path.resolve()  # two encoders name the tokenizer of another
    return str(path), path.stat().st_mtime_ns if path.exists() else 0


@lru_cache(LOADED)
def _tokenizer(path: str, _written: int) -> Tokenizer:
    from tokenizers import Tokenizer

    found = Tokenizer.from_file(path)
    found.no_truncation()
    found.no_padding()
    return found


def shortened(ids: list[int], most: int) -> list[int]:
    """Token ids cut to `most`: the beginning and the end of a text."""
    if len(ids) <= most:
        return ids
    head = int(most * HEAD)
    return ids[:head] + ids[head - most :]
