"""The EI encoder: MiniLM over (previous turn, turn), means and a maximum as pooling, linear heads.

    model = EiModel(config)
    model(tokens, types, mask) → [batch, 117]; PLACES["sentiment"] says which three are sentiment

Pooling joins the mean over the turn's own tokens, their maximum, and the mean over everything:
most heads ask about the turn, grounding and empathy also about what it answers, and one question
in a long turn must not drown in the mean. A table of words (word_table.py) may stand beside the
layers: what it says is added to the heads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from research.training.ei_heads import WIDTH
from research.training.word_table import WordTable

CLS, SEP = 101, 102


class EiModel(nn.Module):
    def __init__(self, config: Any, dropout: float = 0.1, width: int = WIDTH) -> None:
        super().__init__()
        from transformers import BertModel

        self.encoder = BertModel(config, add_pooling_layer=False)
        self.dropout = nn.Dropout(dropout)
        self.heads = nn.Linear(3 * config.hidden_size, width)
        self.words: WordTable | None = None

    def pooled(self, tokens: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        # In its final form: asked to make it, the encoder looks whether all rows are full, for
        # which a GPU must wait.
        plain = self.encoder.config._attn_implementation == "eager"
        seen = mask if plain else mask.bool()[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
        hidden = self.encoder(
            input_ids=tokens, token_type_ids=types, attention_mask=seen
        ).last_hidden_state
        own = types * mask
        means = [_mean(hidden, own), _mean(hidden, mask)]
        return torch.cat([*means, _most(hidden, own)], dim=-1)

    def forward(self, tokens: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        said: Tensor = self.heads(self.dropout(self.pooled(tokens, types, mask)))
        return said if self.words is None else said + self.words(tokens, types * mask)


def _mean(hidden: Tensor, chosen: Tensor) -> Tensor:
    weight = chosen.to(hidden.dtype).unsqueeze(-1)
    return (hidden * weight).sum(1) / weight.sum(1).clamp(min=1)


def _most(hidden: Tensor, chosen: Tensor) -> Tensor:
    outside = (1 - chosen.to(hidden.dtype)).unsqueeze(-1) * 1e4
    return (hidden - outside).amax(1)


def load_base(folder: Path) -> EiModel:
    """The encoder with MiniLM's weights and fresh heads."""
    from safetensors.torch import load_file
    from transformers import BertConfig

    config = BertConfig.from_json_file(str(folder / "config.json"))
    config._attn_implementation = "sdpa"
    model = EiModel(config)
    weights = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    wanted = model.encoder.state_dict()
    model.encoder.load_state_dict({k: v for k, v in weights.items() if k in wanted}, strict=True)
    return model
