"""A model's folder → its settings, its tokenizer and a session that runs it on some device.

    LoadedModel(folder).settings["width"]          → 50
    LoadedModel(folder, device="cuda").numbers     → "fp16"
    shorten([1, 2, 3, 4, 5, 6, 7], most=3)       → [1, 2, 7]

The folder holds model.onnx, settings.json, and tokenizer.json unless its settings name another. On
the CPU a session works on one thread, whoever runs it may do so from several at once, and every row
is run alone. On a GPU rows of one length are run together: the model knows no padding. There torch
comes first: its labels were compared with the CPU's. onnxruntime's own CUDA, which was not
compared, runs the file where torch has no GPU. A file that was loaded stays loaded: the next
encoder of the same folder is there at once.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.registry import known_name
from realtalk.text.words import emoji_in_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEVICES = ("cpu", "cuda")
# Of products on a GPU, rounded to 8 bits before: of the four ways that bench/gpu.py was run in
# (fp16 and fp32, rounded and not) the one with 99.5 % of the CPU's labels in every measure.
NUMBERS: Final = "fp16"
_TRIAL = "cpu-torch"  # what runs on a GPU, tried out without one
_ON_CPU, _ON_GPU = "CPUExecutionProvider", "CUDAExecutionProvider"
_TOGETHER = 32_768  # tokens of a batch on a GPU
_HEAD = 2 / 3  # of a text that is too long: its beginning, then its end
_LOADED = 5  # files of a kind that stay loaded: as many as ship


class LoadedModel:
    """One loaded model. `threads` batches of it are run at once, on `device`."""

    def __init__(self, folder: Path, threads: int | None = None, device: str = "cpu") -> None:
        self.settings: dict[str, Any] = json.loads((folder / "settings.json").read_text("utf-8"))
        name = self.settings.get("tokenizer", "tokenizer.json")
        self._tokenizer = load_tokenizer(folder / name)
        # The token for the unknown, and marks that stand before it: a word's beginning.
        unknown = self._tokenizer.token_to_id("[UNK]")
        self._empty = frozenset([unknown, *self.settings.get("silent", ())])
        self._threads = threads or min(2, os.cpu_count() or 1)
        self._runs_together = device != "cpu"
        self.numbers, self._session = _load(folder / "model.onnx", device)

    def _encode(self, texts: Sequence[str]) -> list[Any]:
        # As it was trained: the vocabulary has hardly any emoji, but their names in words.
        plain = map(emoji_in_words, texts) if self.settings.get("emoji_in_words") else texts
        return list(self._tokenizer.encode_batch_fast(list(plain), add_special_tokens=False))

    def reads(self, texts: Sequence[str]) -> list[bool]:
        """Whether there is a token for anything of each text, beside the one for the unknown."""
        return [not self._empty.issuperset(encoding.ids) for encoding in self._encode(texts)]

    def _run_rows(
        self,
        lengths: Sequence[int],
        run: Callable[[list[int]], None],
        advance: Callable[[int], None],
    ) -> None:
        """Hands all rows to `run`, from several threads; `advance` hears how many are done."""
        batches = self._together(lengths)
        if len(batches) == 1:  # a question: no pool for one row
            run(batches[0])
            return
        done = 0
        with ThreadPoolExecutor(self._threads) as pool:
            for batch, _ in zip(batches, pool.map(run, batches), strict=True):
                done += len(batch)
                advance(done)

    def _together(self, lengths: Sequence[int]) -> list[list[int]]:
        """Which rows are run together: each alone, or on a GPU those of one length."""
        if not self._runs_together:
            return [[at] for at in range(len(lengths))]
        batches: list[list[int]] = []
        for at in sorted(range(len(lengths)), key=lengths.__getitem__):
            last = batches[-1] if batches else []
            fits = last and lengths[last[0]] == lengths[at]
            if fits and (len(last) + 1) * lengths[at] <= _TOGETHER:
                last.append(at)
            else:
                batches.append([at])
        return batches


def shorten(ids: list[int], most: int) -> list[int]:
    """Token ids cut to `most`: the beginning and the end of a text."""
    if len(ids) <= most:
        return ids
    head = int(most * _HEAD)
    return ids[:head] + ids[head - most :]


def _load(path: Path, device: str) -> tuple[str, Any]:
    """The type of number that products are in, and what runs the model on a device."""
    if device == "cpu":
        return "fp32", _onnx_session(*_kept_file(path), _ON_CPU)
    if device == _TRIAL:
        from realtalk.encoders.torch_session import TorchSession

        return "fp32", TorchSession(path, "cpu", "fp32")
    known_name("device", device, DEVICES)
    torch = _torch()
    if torch is not None and _has_torch_cuda(torch):
        from realtalk.encoders.torch_session import TorchSession

        return NUMBERS, TorchSession(path, "cuda", NUMBERS)
    if _has_onnx_cuda():
        session = _onnx_session(*_kept_file(path), _ON_GPU)
        if session.get_providers()[0] == _ON_GPU:
            return "fp32", session
    if torch is None:
        raise MissingExtraError("`device=cuda`", "train")
    raise RealtalkError(
        "no CUDA device can be used",
        fix="leave `device=` out, or install a torch that is made for this machine's GPU",
    )


def _torch() -> Any:
    if find_spec("torch") is None:
        return None
    try:
        import torch
    except (ImportError, OSError) as error:  # a library of the GPU's that it was made with
        raise RealtalkError(
            f"torch is installed but cannot be loaded ({type(error).__name__})",
            fix="install it again for this machine's GPU, or leave `device=` out",
        ) from error
    return torch


def _has_torch_cuda(torch: Any) -> bool:
    with warnings.catch_warnings():  # of a driver that is too old: the error's line says enough
        warnings.simplefilter("ignore")
        return bool(torch.cuda.is_available())


def _has_onnx_cuda() -> bool:
    import onnxruntime

    return _ON_GPU in onnxruntime.get_available_providers()


def _kept_file(path: Path) -> tuple[str, int]:
    """What a loaded file is remembered by: its place and when it was written."""
    path = path.resolve()  # two encoders name the tokenizer of another
    return str(path), path.stat().st_mtime_ns if path.exists() else 0


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer of a file, which neither cuts nor pads."""
    return _tokenizer(*_kept_file(path))


@lru_cache(_LOADED)
def _tokenizer(path: str, _written: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(_LOADED)
def _onnx_session(path: str, _written: int, provider: str) -> Any:
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
