"""The extra `train` → its libraries, the device they run on, and batches that fit there.

    library("torch", "BERTScore")    → the module, or an error that says what needs it
    present_device(torch, "auto")    → "cuda", or "cpu" where there is no GPU
    list(batches([3, 9, 4], 12))     → [[1], [2, 0]]

Nothing else is imported: on a rented machine there may be little beside torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from realtalk.errors import MissingExtraError, RealtalkError


def library(name: str, what: str) -> Any:
    """An import that names the extra where it is missing, and what needs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(what, "train") from error


def present_device(torch: Any, device: str) -> str:
    """The device that is meant: of `auto` a GPU, if there is one."""
    has_gpu = bool(torch.cuda.is_available())
    if device == "cuda" and not has_gpu:
        raise RealtalkError("no CUDA device can be used", fix="pass the device cpu or auto")
    return device if device != "auto" else ("cuda" if has_gpu else "cpu")


def batches(lengths: Sequence[int], most: int, texts: int = 256) -> Iterator[list[int]]:
    """Positions of texts, longest first, in batches of at most `most` padded tokens.

    The longest come first so that too large a batch for the memory fails at once.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        if batch and (len(batch) == texts or lengths[batch[0]] * (len(batch) + 1) > most):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
