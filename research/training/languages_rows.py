"""The packed file as tensors on one device, and which rows an epoch takes, in which batches.

    data = LanguageData(load(path), device)
    for rows in data.batches(data.chosen(rng), budget=8192, rng=rng): data.batch(index, width)

Batches are filled by tokens: as many rows as fit at the width of the longest, always the same
number for one width, so that a step of each is recorded once (`stepping.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from research.training.ei_rows import Rows, dense_labels
from research.training.languages_heads import HEADS

Array = np.ndarray[Any, Any]

# Times that an epoch takes a row. Sets that are scored, and the rubric's, are small; pairs and
# English are many, and a part of them each time is enough.
TIMES = {
    **{"rubric": 4.0, "silver": 4.0, "silver_more": 4.0, "silver_joined": 2.0},
    **{"brighter": 3.0, "posts": 3.0, "umsab": 3.0, "mint": 4.0},
    **{"semeval18ec": 2.0, "semeval2018_ec": 1.0},
    **{"xpersona": 2.0, "meld": 2.0, "masac": 2.0, "bsd_ja": 2.0, "epitome": 1.0},
    **{"semeval2017": 0.5, "goemotions": 0.5, "dailydialog": 0.5, "emocontext": 0.3},
    **{"offmychest": 0.5, "reddit": 0.5, "nus_sms_en": 0.5, "persuasion": 0.5, "locomo": 0.5},
    **{"afrisenti": 0.7, "goemotions_mt": 0.5, "smsa_id": 0.5, "wisesight_th": 0.7},
}
WIDTHS = 8  # widths are multiples of it
PARTS = 3  # a teacher that is one of these has not seen its part of the labels


class LanguageData(Rows):
    """Rows in many languages, what is known of them, and their English twins."""

    def __init__(self, file: dict[str, Array], device: torch.device) -> None:
        self.first, self.last, self.unknown = (int(mark) for mark in file["marks"])
        super().__init__(file["tokens"], file["sizes"], device, self.first, self.last)
        self.lang, self.set, self.split = (
            file[f"{name}_names"][file[name]] for name in ("lang", "set", "split")
        )
        self.part = file["group"] % PARTS
        self.labels = dense_labels(file, HEADS, len(self.lengths))
        self.twin = torch.from_numpy(file["twin"].astype(np.int64)).to(device)
        self.twins = Rows(file["twin_tokens"], file["twin_sizes"], device)
        self.matches, self.kin = file["matches"], file["kin"]
        self.vocabulary = len(self.matches)

    def without(self, part: int) -> None:
        """Forgets the labels of a part, for a teacher that shall be asked about it."""
        gone = self.part == part
        for name in self.labels:
            self._forget(name, gone)

    def only_labels(self, heads: Sequence[str]) -> None:
        """Forgets what is to be learned of all other heads."""
        train = self.split == "train"
        for name in self.labels.keys() - heads:
            self._forget(name, train)

    def _forget(self, name: str, rows: Array) -> None:
        self.labels[name][rows] = -1 if HEADS[name].kind == "softmax" else np.nan

    def chosen(self, rng: np.random.Generator) -> Array:
        """The rows of one epoch: some several times, of some a part."""
        times = np.ones(len(self.lengths))
        for name, often in TIMES.items():
            times[self.set == name] = often
        times[self.split != "train"] = 0
        whole = np.floor(times).astype(int)
        whole += rng.random(len(times)) < times - whole
        return np.repeat(np.arange(len(times)), whole)

    def batches(
        self, rows: Array, budget: int, rng: np.random.Generator
    ) -> Iterator[tuple[Array, int]]:
        """Shuffled batches of like length, and their width; the few rows left over wait."""
        rows = rng.permutation(rows)
        wide = np.minimum(-(-self.lengths[rows] // WIDTHS) * WIDTHS, self.tokens.shape[1])
        found = []
        for width in np.unique(wide):
            size = max(1, budget // int(width))
            here = rows[wide == width]
            full = len(here) // size
            found += [(here[at * size : (at + 1) * size], int(width)) for at in range(full)]
        for at in rng.permutation(len(found)):
            yield found[at]
