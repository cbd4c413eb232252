"""A model's folder → its settings, its tokenizer and a session that runs it on the CPU.

    OnnxEncoder(folder).settings["width"]          → 46
    shortened([1, 2, 3, 4, 5, 6, 7], most=3)       → [1, 2, 7]

The folder holds model.onnx and settings.json, and tokenizer.json unless its settings name another.
A session works on one thread: whoever runs it may do so from several at once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError

_HEAD = 2 / 3  # of a text that is too long: its beginning, then its end


class OnnxEncoder:
    """One loaded model. `threads` rows of it are run at once."""

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.settings: dict[str, Any] = json.loads((folder / "settings.json").read_text("utf-8"))
        self._threads = threads or min(2, os.cpu_count() or 1)
        name = self.settings.get("tokenizer", "tokenizer.json")
        self._tokenizer = Tokenizer.from_file(str(folder / name))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        path = str(folder / "model.onnx")
        try:
            self._session = onnxruntime.InferenceSession(
                path, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises classes of its own C++ side
            raise RealtalkError(
                f"the encoder cannot be loaded ({type(error).__name__})",
                where=path,
                fix="install the package again",
            ) from error


def shortened(ids: list[int], most: int) -> list[int]:
    """Token ids cut to `most`: the beginning and the end of a text."""
    if len(ids) <= most:
        return ids
    head = int(most * _HEAD)
    return ids[:head] + ids[head - most :]
