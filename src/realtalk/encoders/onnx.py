"""A model's folder → its settings, its tokenizer and a session that runs it.

    OnnxEncoder(folder).settings["width"]          → 50

On the CPU a session works on one thread, whoever runs it may do so from several at once, and every
row is run alone. On a GPU rows of one length are run together: the model knows no padding.
A file that was loaded stays loaded: the next encoder of the same folder is there at once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from realtalk.encoders.model_folder import LOADED, ModelFolder, kept_file
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

ON_CPU, ON_GPU = "CPUExecutionProvider", "CUDAExecutionProvider"
_TOGETHER = 32_768  # tokens of a batch on a GPU


class OnnxEncoder(ModelFolder):
    """One loaded model. `threads` rows of it are run at once; `provider` is who runs them."""

    def __init__(self, folder: Path, threads: int | None = None, provider: str = ON_CPU) -> None:
        super().__init__(folder)
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._session = _session(*kept_file(folder / "model.onnx"), provider)
        self.numbers = "fp32"  # of what is not in 8 bits
        self.on_gpu = provider == ON_GPU
        if self.on_gpu and self._session.get_providers()[0] != ON_GPU:
            raise RealtalkError(
                "onnxruntime finds no CUDA device that it can use", fix="leave --device out"
            )

    def _together(self, lengths: Sequence[int]) -> list[list[int]]:
        """Which rows are run together: each alone, or on a GPU those of one length."""
        if not self.on_gpu:
            return [[at] for at in range(len(lengths))]
        found: list[list[int]] = []
        for at in sorted(range(len(lengths)), key=lengths.__getitem__):
            last = found[-1] if found else []
            fits = last and lengths[last[0]] == lengths[at]
            if fits and (len(last) + 1) * lengths[at] <= _TOGETHER:
                last.append(at)
            else:
                found.append([at])
        return found


@lru_cache(LOADED)
def _session(path: str, _written: int, provider: str) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(path, options, providers=[provider])
    except Exception as error:  # onnxruntime raises classes of its own C++ side
        raise RealtalkError(
            f"the encoder cannot be loaded ({type(error).__name__})",
            where=path,
            fix="install the package again",
        ) from error
