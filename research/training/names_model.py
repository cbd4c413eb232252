"""The name tagger: layers of its own over an open table of pieces, which stays as it is.

    model = NameTagger(rows, projection, body, layers=4, own=16)
    model(tokens, case, mask)  → [batch, length, 13]: O, then begin and go on of six kinds

A piece's word is its row of the table (rank R, shared with the encoder of other languages) and some
numbers of the tagger's own, brought to the layers' width by a projection. The vocabulary is in
small letters: how a word is written comes in beside, as one of six cases.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from realtalk.encoders.tag_spans import CASES
from research.training.names_data import KINDS

TAGS = 1 + 2 * len(KINDS)
LONGEST = 96  # pieces of a row with its marks
UNKNOWN = 0.15  # of pieces whose own numbers are not seen in a step: rare ones have none


class NameTagger(nn.Module):
    """`body` is a BertModel whose first layers, places and normalisation it begins with."""

    rows: Tensor

    def __init__(self, rows: Tensor, projection: Tensor, body: Any, layers: int, own: int) -> None:
        super().__init__()
        width = body.config.hidden_size
        self.register_buffer("rows", rows, persistent=False)
        self.own = nn.Embedding(len(rows), own)
        self.projection = nn.Linear(rows.shape[1] + own, width, bias=False)
        parts = body.embeddings
        places = parts.position_embeddings.weight[:LONGEST] + parts.token_type_embeddings.weight[0]
        self.places = nn.Parameter(places.detach().clone())
        self.norm = copy.deepcopy(parts.LayerNorm)
        self.upper = nn.ModuleList(copy.deepcopy(layer) for layer in body.encoder.layer[:layers])
        self.case = nn.Embedding(CASES, width)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, TAGS)
        nn.init.zeros_(self.own.weight)
        nn.init.normal_(self.case.weight, std=0.02)
        nn.init.normal_(self.projection.weight, std=0.02)
        with torch.no_grad():
            self.projection.weight[:, : rows.shape[1]] = projection.T

    def forward(self, tokens: Tensor, case: Tensor, mask: Tensor) -> Tensor:
        own = self.own(tokens)
        if self.training:
            own = own * (torch.rand(tokens.shape, device=own.device) >= UNKNOWN)[..., None]
        words = torch.cat([self.rows[tokens].to(own.dtype), own], -1)
        wide = (1.0 - mask[:, None, None, :].to(words.dtype)) * -1e4
        return self.read(words, case, wide)

    def read(self, words: Tensor, case: Tensor, wide: Tensor | None = None) -> Tensor:
        """Chances of tags, from the numbers of pieces."""
        states = self.projection(words) + self.places[: words.shape[1]]
        states = self.dropout(self.norm(states) + self.case(case))
        for layer in self.upper:
            states = _only(layer(states, wide))
        return self.head(self.dropout(states))  # type: ignore[no-any-return]


def _only(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found
