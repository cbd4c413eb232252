"""The name tagger: a branch of the multilingual EI encoder.

    model = NameTagger(encoder)
    model(tokens, case, mask)  → [batch, length, 13]: O, then begin and go on of six kinds

The embeddings are the encoder's and stay as they are, so that a package with the encoder needs only
the branch: layers that begin as copies of the encoder's first ones. The vocabulary is in small
letters: how a word is written comes in beside, as one of six cases.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from realtalk.encoders.tag_spans import CASES
from research.training.names_data import KINDS

TAGS = 1 + 2 * len(KINDS)


class NameTagger(nn.Module):
    def __init__(self, encoder: Any, dropout: float = 0.1, layers: int | None = None) -> None:
        super().__init__()
        width = encoder.config.hidden_size
        self.embeddings = encoder.embeddings
        self.upper = nn.ModuleList(copy.deepcopy(layer) for layer in encoder.encoder.layer[:layers])
        self.case = nn.Embedding(CASES, width)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, TAGS)
        nn.init.normal_(self.case.weight, std=0.02)
        self.embeddings.requires_grad_(False)

    def branch(self) -> dict[str, Tensor]:
        """The weights that are the tagger's own."""
        own = ("upper.", "case.", "head.")
        return {name: value for name, value in self.state_dict().items() if name.startswith(own)}

    def forward(self, tokens: Tensor, case: Tensor, mask: Tensor) -> Tensor:
        # Turns of the EI encoder have type 1; a message to tag is one.
        with torch.no_grad():
            states = self.embeddings(input_ids=tokens, token_type_ids=torch.ones_like(tokens))
        wide = (1.0 - mask[:, None, None, :].to(states.dtype)) * -1e4
        states = states + self.case(case)
        for layer in self.upper:
            states = _only(layer(states, wide))
        return self.head(self.dropout(states))  # type: ignore[no-any-return]


def _only(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found
