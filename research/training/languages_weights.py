"""Trained weights ↔ a few files of at most 15 MB each, as they travel from one machine to another.

    save(model.state_dict(), folder)      → weights.0, weights.1, …: 47 MB instead of 143
    load(folder)                          → the same state, as the shipped file will have it

The table of embeddings goes as whole numbers with one scale per row, exactly as it will ship
(compact.py rounds it the same way, and rounding twice changes nothing); the rest in 16 bits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from realtalk.encoders.weights import read_weights

WORDS = "encoder.embeddings.word_embeddings.weight"
PART = 15_000_000  # bytes of a file
STEPS = 127


def save(state: dict[str, Tensor], folder: Path, name: str = "weights") -> list[Path]:
    from safetensors.torch import save as to_bytes

    table = state[WORDS].float().cpu()
    scale = (table.abs().amax(1) / STEPS).clamp(min=1e-12)
    whole = (table / scale[:, None]).round().clamp(-STEPS, STEPS).to(torch.int8)
    rest = {n: v.half().cpu().contiguous() for n, v in state.items() if n != WORDS}
    data = to_bytes({**rest, f"{WORDS}_q": whole, f"{WORDS}_s": scale})
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for at in range(0, len(data), PART):
        path = folder / f"{name}.{at // PART}"
        path.write_bytes(data[at : at + PART])
        paths.append(path)
    return paths


def load(folder: Path) -> dict[str, Tensor]:
    from safetensors.torch import load as from_bytes

    parts = sorted(folder.glob("*.[0-9]"))
    state: dict[str, Any] = from_bytes(b"".join(path.read_bytes() for path in parts))
    whole, scale = state.pop(f"{WORDS}_q"), state.pop(f"{WORDS}_s")
    state[WORDS] = whole.float() * scale[:, None]
    return {each: values.float() for each, values in state.items()}


def mean(states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Of runs that went on from the same weights, what lies between them, as it would travel."""
    means = {name: torch.stack([each[name] for each in states]).mean(0) for name in states[0]}
    return {name: v if name == WORDS else v.half().float() for name, v in means.items()}


def shipped(folder: Path) -> dict[str, Tensor]:
    """An exported encoder's 8-bit weights, restored, without the table of words."""
    stored = read_weights(folder / "model.onnx")
    del stored["keep"]  # of the heads all are there
    return {n: torch.tensor(v) for n, v in stored.items() if not n.startswith("words.")}


def smallest_numbers(values: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """Rows of a table as whole numbers, and their scales."""
    scale = np.maximum(np.abs(values).max(axis=1) / STEPS, 1e-12).astype(np.float32)
    return np.rint(values / scale[:, None]).astype(np.int8), scale
