"""What words say by themselves: a table of pieces and of neighbouring pairs, beside the layers.

    words = WordTable(vocabulary=65_000, columns=23)
    words.summed(tokens, own)    → [batch, 23]
    words.place = …              # for each of the heads' outputs, which column is added to it
    words(tokens, own)           → [batch, 117], nothing where no column belongs

Six small layers lose which word it was; a sum over words cannot. Each piece of the turn, and each
with the one before it (by a hash), has a row with one number per column; rows are added up and
divided by the root of how many tokens there are.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from realtalk.encoders.torch_session import PAIR_FACTOR, PAIR_ROWS


class WordTable(nn.Module):
    def __init__(self, vocabulary: int, columns: int, width: int = 0) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary + PAIR_ROWS, columns)
        nn.init.zeros_(self.table.weight)
        self.register_buffer("place", torch.full((width,), columns))  # the column of zeros

    def summed(self, tokens: Tensor, own: Tensor) -> Tensor:
        """One number per column; `own` says which tokens are the turn's."""
        tokens = tokens.long()
        before = torch.cat([tokens[:, :1], tokens[:, :-1]], dim=1)
        first = self.table.num_embeddings - PAIR_ROWS
        pairs = (before * PAIR_FACTOR + tokens) % PAIR_ROWS + first
        chosen = own.to(self.table.weight.dtype).unsqueeze(-1)
        rows = (self.table(tokens) + self.table(pairs)) * chosen
        return rows.sum(1) / chosen.sum(1).clamp(min=1).sqrt()

    def forward(self, tokens: Tensor, own: Tensor) -> Tensor:
        said = self.summed(tokens, own)
        return torch.cat([said, torch.zeros_like(said[:, :1])], dim=1).index_select(1, self.place)


def restored(stored: Mapping[str, Tensor]) -> WordTable:
    """The table of a file that languages_words.py wrote."""
    values = stored["whole"].float() * stored["scale"][:, None]
    words = WordTable(len(values) - PAIR_ROWS, values.shape[1], len(stored["place"]))
    words.table.weight.data, words.place = values, stored["place"]
    return words
