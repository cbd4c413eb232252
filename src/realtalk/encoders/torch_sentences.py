"""Texts → vectors, in torch: many rows at once, on a GPU.

    encoder = TorchSentences("cuda", "fp16")
    encoder.encode(texts, groups=[1, 1, 2])      → Encoded, as `encoders.sentences` gives it

Rows are packed as on the CPU. What is kept of a text (its mean, its tokens' small vectors in whole
numbers, their weights) is made on the device, so that one transfer brings back a tenth of the
states. A text's tokens stand side by side in its row, behind the row's first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import realtalk_models
from realtalk.encoders.flat_texts import Batch, FlatTexts, Small, Whole, batches, spans
from realtalk.encoders.gpu_failures import gpu_failures
from realtalk.encoders.model_folder import ModelFolder, shortened
from realtalk.encoders.onnx_weights import read_weights
from realtalk.encoders.sentences import STEPS, Encoded, Packed, Rows, pack
from realtalk.encoders.stages import StageClock, Untimed
from realtalk.encoders.torch_bert import BATCH_TOKENS, Numbers, TorchBert
from realtalk.encoders.torch_transfer import Parcel
from realtalk.local.progress import Progress, silent

_PART = 16_384  # rows on the device at once
_LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class SentenceRows:
    """Some rows as numbers, longest first, and which texts and tokens come back in what order."""

    packed: Small  # start and length per row, tokens per text, where tokens stand, the tokens
    batches: list[Batch]
    own: Whole  # tokens of texts before each row, and behind the last
    texts: Whole  # texts before each row, and behind the last
    order: Whole  # which text comes back at each place


class TorchSentences(ModelFolder):
    """The model of texts that ships with the package, or another of its make, on a device."""

    def __init__(
        self,
        device: str,
        numbers: Numbers,
        folder: Path | None = None,
        *,
        clock: StageClock | None = None,
    ) -> None:
        place = folder or realtalk_models.path("memory")
        super().__init__(place)
        self._bert = TorchBert(read_weights(place / "model.onnx"), device, numbers)
        self.numbers = numbers
        self.clock: StageClock = clock or Untimed()
        # Vectors are kept under the version: those of another type of number are others.
        self.version = f"{self.settings['version']} ({device}, {numbers})"
        self._room = BATCH_TOKENS[self._bert.device.type]

    def embed(self, texts: Sequence[str], progress: Progress = silent) -> Rows:
        """One vector of length 1 per text, each encoded alone."""
        return self.encode(texts, progress=progress).vectors

    def encode(
        self,
        texts: Sequence[str],
        groups: Sequence[int] | None = None,
        progress: Progress = silent,
    ) -> Encoded:
        """Vectors and small token vectors; texts of one group are seen with their neighbours."""
        packed = self._packed(texts, groups)
        places = np.array(packed.spans, np.int64).reshape(-1, 3)
        made = Encoded.empty(packed, int(self.settings["width"]), int(self.settings["late"]))
        for first in range(0, len(packed.rows), _PART):
            last = min(first + _PART, len(packed.rows))
            rows = self._rows(packed.rows[first:last], places, first)
            with gpu_failures(self._bert.device):
                means, late, weighed = self._run(rows)
            made.vectors[rows.order] = means
            at = spans(made.offsets[rows.order], places[rows.order, 2])
            made.tokens[at] = late
            made.weights[at] = weighed
            progress(last * len(texts) // len(packed.rows), len(texts), "")
        progress(len(texts), len(texts), "")
        return made

    def _packed(self, texts: Sequence[str], groups: Sequence[int] | None) -> Packed:
        flat = FlatTexts.of(self._tokenizer, texts)
        ends = (flat.starts + flat.lengths).tolist()
        every = flat.tokens.tolist()
        longest = int(self.settings["longest"])
        ids = [
            shortened(every[start:end], longest)
            for start, end in zip(flat.starts.tolist(), ends, strict=True)
        ]
        row = int(self.settings["row"])
        return pack(ids, groups, row, int(self.settings["cls"]), int(self.settings["sep"]))

    def _rows(self, rows: Sequence[list[int]], places: Whole, first: int) -> SentenceRows:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        order, found = batches(lengths, self._room)
        rank = np.empty(len(rows), np.int64)
        rank[order] = np.arange(len(rows))
        mine = np.flatnonzero((places[:, 0] >= first) & (places[:, 0] < first + len(rows)))
        ranks = rank[places[mine, 0] - first]
        by_row = np.argsort(ranks, kind="stable")
        texts = mine[by_row]
        counts = np.bincount(ranks, minlength=len(rows))
        lengths = lengths[order]
        starts = np.cumsum(lengths) - lengths
        # A token's place among the states of its batch, padding counted.
        width = np.repeat([b.length for b in found], [b.stop - b.start for b in found])
        within = np.concatenate([np.arange(b.stop - b.start) for b in found])
        states = spans(within * width + 1, lengths - 1)
        tokens = [token for at in order.tolist() for token in rows[at]]
        columns = np.stack([starts, lengths], axis=1).ravel()
        packed = np.concatenate([columns, places[texts, 2], states, np.array(tokens, np.int64)])
        own = np.concatenate([[0], np.cumsum(lengths - 1)])
        before = np.concatenate([[0], np.cumsum(counts)])
        return SentenceRows(packed.astype(np.int32), found, own, before, texts)

    def _run(self, rows: SentenceRows) -> tuple[Rows, Any, Rows]:
        """Means of texts, small vectors and weights of their tokens, in the order of `rows`."""
        import torch

        count, total = len(rows.order), int(rows.own[-1])
        width, small = int(self.settings["width"]), int(self.settings["late"])
        parcel = Parcel(self._bert.device, self.clock)
        packed = parcel.take(rows.packed)
        sizes = [2 * (len(rows.own) - 1), count, total]
        columns, sizes_of, states_of, tokens = packed.tensor_split(np.cumsum(sizes).tolist())
        borders = np.cumsum([4 * count * width, 4 * total]).tolist()
        with torch.inference_mode(), self.clock.device("compute"):
            room = torch.empty(
                borders[1] + total * small, dtype=torch.uint8, device=self._bert.device
            )
            means = room[: borders[0]].view(torch.float32).view(count, width)
            weights = room[borders[0] : borders[1]].view(torch.float32)
            late = room[borders[1] :].view(torch.int8).view(total, small)
            for batch in rows.batches:
                given = columns.view(-1, 2)[batch.start : batch.stop]
                own = slice(int(rows.own[batch.start]), int(rows.own[batch.stop]))
                texts = slice(int(rows.texts[batch.start]), int(rows.texts[batch.stop]))
                states = self._states(given, tokens, batch.length)[states_of[own].long()]
                weights[own] = self._bert.product(states, "weigh").float().sigmoid()[:, 0]
                near = self._bert.product(states, "late").float()
                near = torch.nn.functional.normalize(near, dim=-1)
                late[own] = near.mul_(STEPS).round_().to(torch.int8)
                mean = torch.segment_reduce(
                    states, "mean", lengths=sizes_of[texts].long(), unsafe=True
                )
                means[texts] = torch.nn.functional.normalize(mean, dim=-1, eps=_LEAST)
        back = parcel.bring(room).wait()
        found = np.split(back, borders)
        return (
            found[0].view(np.float32).reshape(count, width),
            found[2].view(np.int8).reshape(total, small),
            found[1].view(np.float32),
        )

    def _states(self, columns: Any, tokens: Any, length: int) -> Any:
        """The states of a batch's tokens, padding too, behind one another."""
        import torch

        start, size = columns.split(1, dim=1)
        place = torch.arange(length, device=tokens.device, dtype=torch.int32)[None, :]
        mask = place < size
        ids = tokens[(start + place).clamp(max=tokens.shape[0] - 1)]
        return self._bert.states(ids, torch.zeros_like(mask), mask).flatten(0, 1)
