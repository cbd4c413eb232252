"""A model's folder → its settings and its tokenizer, whatever runs it.

    ModelFolder(folder).settings["width"]          → 50
    shortened([1, 2, 3, 4, 5, 6, 7], most=3)       → [1, 2, 7]

The folder holds model.onnx and settings.json, and tokenizer.json unless its settings name another.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HEAD = 2 / 3  # of a text that is too long: its beginning, then its end


class ModelFolder:
    """What the encoders have in common."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self.settings: dict[str, Any] = json.loads((folder / "settings.json").read_text("utf-8"))
        name = self.settings.get("tokenizer", "tokenizer.json")
        self._tokenizer = Tokenizer.from_file(str(folder / name))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # The token for the unknown, and marks that stand before it: a word's beginning.
        unknown = self._tokenizer.token_to_id("[UNK]")
        self._empty = frozenset([unknown, *self.settings.get("silent", ())])

    def _are_read(self, encoded: Sequence[Any]) -> list[bool]:
        """Whether there is a token for anything of each text."""
        return [any(token not in self._empty for token in each.ids) for each in encoded]


def shortened(ids: list[int], most: int) -> list[int]:
    """Token ids cut to `most`: the beginning and the end of a text."""
    if len(ids) <= most:
        return ids
    head = int(most * HEAD)
    return ids[:head] + ids[head - most :]
