"""Pairs of texts → rows of outputs, in torch: many rows at once, on a GPU.

    encoder = TorchPairs(folder, "cuda", "fp16")
    encoder.outputs([("how was it?", "awful lol")])      → float32 [1, 50], as `encoders.pairs`

A part of the pairs is cut into tokens on a thread of its own while the GPU works on the one before.
One transfer takes a part's tokens there (every text once: what was said before a turn is most
often a turn itself) with five numbers per row that say what it is made of; rows are put together
on the GPU, run in batches by length, and one transfer brings all outputs back. Nothing in between
waits for the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from realtalk.encoders.flat_texts import Batch, FlatTexts, Small, Whole, batches
from realtalk.encoders.gpu_failures import gpu_failures
from realtalk.encoders.model_folder import HEAD, ModelFolder
from realtalk.encoders.onnx_weights import read_weights
from realtalk.encoders.stages import StageClock, Untimed
from realtalk.encoders.torch_bert import BATCH_TOKENS, Numbers, TorchBert
from realtalk.encoders.torch_transfer import Parcel, Sent
from realtalk.local.progress import Progress, silent
from realtalk.text.emoji import in_words

if TYPE_CHECKING:
    import torch

_PART = 16_384  # pairs under way at once: bounds memory on the host
_OUTSIDE = -1e4  # never the largest
_MARKS = 3  # [CLS], and two [SEP]
# Rows of the table of words that pairs of neighbours share, and the factor of the hash that chooses
# one: odd, and near the golden section of 2¹⁶, so that neighbours fall far apart.
PAIR_ROWS, PAIR_FACTOR = 1 << 16, 40_503


@dataclass(frozen=True, slots=True)
class PairRows:
    """Pairs as numbers, longest row first; `order` says which pair a row is."""

    packed: Small  # five numbers per row, then the tokens of all texts
    order: Whole
    batches: list[Batch]


class TorchPairs(ModelFolder):
    """A model of pairs, loaded from its folder onto a device."""

    def __init__(
        self,
        folder: Path,
        device: str,
        numbers: Numbers,
        *,
        rounded: bool = True,
        clock: StageClock | None = None,
    ) -> None:
        super().__init__(folder)
        self.numbers = numbers
        self.clock: StageClock = clock or Untimed()
        weights = read_weights(folder / "model.onnx")
        kept = weights.pop("keep").astype(np.int64)
        for name in ("heads.weight", "heads.bias", "words.place"):
            if name in weights:
                weights[name] = weights[name][kept]
        self._bert = TorchBert(weights, device, numbers, rounded=rounded)
        self._room = BATCH_TOKENS[self._bert.device.type]
        self._head = int(int(self.settings["turn"]) * HEAD)

    def outputs(
        self, pairs: Sequence[tuple[str, str]], progress: Progress = silent
    ) -> npt.NDArray[np.float32]:
        """One row per pair, in order."""
        found = np.empty((len(pairs), int(self.settings["width"])), np.float32)
        parts = [slice(at, at + _PART) for at in range(0, len(pairs), _PART)]
        sent: list[tuple[slice, PairRows, Sent]] = []
        with ThreadPoolExecutor(1) as ahead:
            made = [ahead.submit(self.rows, pairs[part]) for part in parts[:1]]
            for number, part in enumerate(parts):
                rows = made.pop().result()
                made += [ahead.submit(self.rows, pairs[each]) for each in parts[number + 1 :][:1]]
                with gpu_failures(self._bert.device):
                    sent.append((part, rows, self._send(rows)))
                if number:  # the GPU has the next part by now
                    self._fetch(found, sent.pop(0), progress)
            for each in sent:
                self._fetch(found, each, progress)
        progress(len(pairs), len(pairs), "")
        return found

    def reads(self, texts: Sequence[str]) -> list[bool]:
        """Whether there is a token for anything of each text, beside the one for the unknown."""
        encoded = self._tokenizer.encode_batch_fast(self._plain(texts), add_special_tokens=False)
        return self._are_read(encoded)

    def rows(self, pairs: Sequence[tuple[str, str]]) -> PairRows:
        """Token ids of all texts, and of each row `[CLS] before [SEP] now [SEP]` what it takes."""
        with self.clock.host("preparing text"):
            places: dict[str, int] = {}
            number = [places.setdefault(text, len(places)) for pair in pairs for text in pair]
            plain = self._plain(list(places))
        with self.clock.host("tokenizing"):
            flat = FlatTexts.of(self._tokenizer, plain)
        with self.clock.host("preparing text"):
            which = np.array(number, np.int64).reshape(-1, 2)
            starts, lengths = flat.starts[which], flat.lengths[which]
            before = np.minimum(lengths[:, 0], int(self.settings["previous"]))
            now = np.minimum(lengths[:, 1], int(self.settings["turn"]))
            order, found = batches(before + now + _MARKS, self._room)
            skipped = lengths[:, 1] - now  # between the beginning and the end of a long turn
            first = starts[:, 0] + lengths[:, 0] - before
            columns = np.stack([first, before, starts[:, 1], now, skipped], axis=1)[order]
            packed = np.concatenate([columns.ravel().astype(np.int32), flat.tokens])
        return PairRows(packed, order, found)

    def _plain(self, texts: Sequence[str]) -> list[str]:
        if not self.settings.get("emoji_in_words"):
            return list(texts)
        return [text if text.isascii() else in_words(text) for text in texts]

    def _send(self, rows: PairRows) -> Sent:
        import torch

        parcel = Parcel(self._bert.device, self.clock)
        packed = parcel.take(rows.packed)
        border = 5 * len(rows.order)
        columns, tokens = packed[:border].view(-1, 5), packed[border:]
        with torch.inference_mode(), self.clock.device("compute"):
            found = torch.empty(len(columns), int(self.settings["width"]), device=packed.device)
            for batch in rows.batches:
                given = self._put_together(columns[batch.start : batch.stop], tokens, batch.length)
                found[batch.start : batch.stop] = self._run(*given)
        return parcel.bring(found)

    def _put_together(self, columns: Any, tokens: Any, length: int) -> tuple[Any, Any, Any]:
        """Tokens, types and mask of a batch, from what its rows are made of."""
        import torch

        first, before, start, now, skipped = columns.split(1, dim=1)
        place = torch.arange(length, device=tokens.device, dtype=torch.int32)[None, :]
        inside = place - (before + 2)  # the token's place in the turn, once that has begun
        is_before = (place >= 1) & (place <= before)
        is_now = (inside >= 0) & (inside < now)
        later = start + inside + (inside >= self._head) * skipped
        source = torch.where(is_before, first + place - 1, later)
        # An empty corpus of tokens is none: a turn without any is not asked about.
        taken = tokens[source.clamp(0, tokens.shape[0] - 1)]
        ids = torch.where(is_before | is_now, taken, int(self.settings["sep"]))
        ids[:, 0] = int(self.settings["cls"])
        mask = place < before + now + _MARKS
        return ids, (inside >= 0) & mask, mask

    def _run(self, tokens: torch.Tensor, own: torch.Tensor, mask: torch.Tensor) -> Any:
        """The mean over the turn, the mean over all, the maximum over the turn; then the heads."""
        import torch

        states = self._bert.states(tokens, own, mask)
        chosen = torch.stack([own, mask], dim=1).float()
        means = torch.bmm(chosen / chosen.sum(-1, keepdim=True), states)
        most = states.masked_fill_(~own[..., None], _OUTSIDE).amax(1)
        pooled = torch.cat([means.flatten(1), most], dim=1)
        weights = self._bert.weights
        said = torch.nn.functional.linear(pooled, weights["heads.weight"], weights["heads.bias"])
        return said + self._by_words(tokens, own) if "words.place" in weights else said

    def _by_words(self, tokens: torch.Tensor, own: torch.Tensor) -> Any:
        """What the turn's pieces and neighbouring pairs say (research/training/word_table.py)."""
        import torch

        table, place = (self._bert.weights[f"words.{name}"] for name in ("table.weight", "place"))
        before = torch.cat([tokens[:, :1], tokens[:, :-1]], dim=1).long()
        pairs = (before * PAIR_FACTOR + tokens) % PAIR_ROWS + len(table) - PAIR_ROWS
        rows = (table[tokens] + table[pairs]).masked_fill_(~own[..., None], 0)
        found = rows.sum(1) / own.sum(1, keepdim=True).sqrt()
        return torch.nn.functional.pad(found, (0, 1))[:, place.long()]

    def _fetch(
        self,
        found: npt.NDArray[np.float32],
        sent: tuple[slice, PairRows, Sent],
        progress: Progress,
    ) -> None:
        part, rows, waiting = sent
        with gpu_failures(self._bert.device):
            found[part][rows.order] = waiting.wait()
        progress(min(part.stop, len(found)), len(found), "")
