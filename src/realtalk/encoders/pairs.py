"""Pairs of texts → rows of outputs, with an ONNX encoder on the CPU.

    encoder = PairEncoder(folder)                  # model.onnx, tokenizer.json, settings.json
    encoder.outputs([("how was it?", "awful lol")]) → float32 [1, 46]

A pair is what was said before and what is said now. Every row is run alone, so its result cannot
depend on what else is asked, on any processor: kernels that take rows of a product two at a time
add up in another order where a row has an odd length and a neighbour. Two threads share one
session, one core each.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from realtalk.encoders.model_folder import shortened
from realtalk.encoders.onnx import OnnxEncoder
from realtalk.local.progress import Progress, silent
from realtalk.text.emoji import in_words

_CHUNK = 4096  # pairs tokenised at once: bounds memory on long chats


class PairEncoder(OnnxEncoder):
    """A model of pairs, loaded from its folder."""

    def outputs(
        self, pairs: Sequence[tuple[str, str]], progress: Progress = silent
    ) -> npt.NDArray[np.float32]:
        """One row per pair, in order."""
        parts = []
        for start in range(0, len(pairs), _CHUNK):
            parts.append(self._chunk(pairs[start : start + _CHUNK], start, len(pairs), progress))
        progress(len(pairs), len(pairs), "")
        if not parts:
            return np.empty((0, int(self.settings["width"])), np.float32)
        return np.concatenate(parts)

    def reads(self, texts: Sequence[str]) -> list[bool]:
        """Whether there is a token for anything of each text, beside the one for the unknown."""
        return self._are_read(self._encoded(texts))

    def _chunk(
        self, pairs: Sequence[tuple[str, str]], before: int, total: int, progress: Progress
    ) -> npt.NDArray[np.float32]:
        rows = self._rows(pairs)
        vectors = np.empty((len(pairs), int(self.settings["width"])), np.float32)

        def run(some: list[int]) -> int:
            tokens = np.array([rows[at][0] for at in some], np.int64)
            borders = np.array([rows[at][1] for at in some], np.int64)
            types = (np.arange(tokens.shape[1]) >= borders[:, None]).astype(np.int64)
            vectors[some] = self._session.run(None, {"tokens": tokens, "types": types})[0]
            return len(some)

        done = before
        with ThreadPoolExecutor(self._threads) as pool:
            for count in pool.map(run, self._together([len(ids) for ids, _ in rows])):
                done += count
                progress(done, total, "")
        return vectors

    def _encoded(self, texts: Sequence[str]) -> list[Any]:
        # As it was trained: the vocabulary has hardly any emoji, but their names in words.
        named = bool(self.settings.get("emoji_in_words"))
        plain = [in_words(text) for text in texts] if named else list(texts)
        return list(self._tokenizer.encode_batch_fast(plain, add_special_tokens=False))

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], int]]:
        """Token ids of `[CLS] before [SEP] now [SEP]`, and where the second part begins."""
        texts = [text for pair in pairs for text in pair]
        encoded = self._encoded(texts)
        first, last = int(self.settings["cls"]), int(self.settings["sep"])
        rows = []
        for at in range(0, len(texts), 2):
            before = encoded[at].ids[-int(self.settings["previous"]) :]
            now = shortened(encoded[at + 1].ids, int(self.settings["turn"]))
            rows.append(([first, *before, last, *now, last], len(before) + 2))
        return rows
