"""The retriever: MiniLM over a few messages at a time, one vector per message.

    model = load_base(folder)
    hidden = model(tokens, mask)                   # [rows, length, 384]
    pooled(hidden, spans)                          # [messages, 384], length 1

A row holds `[CLS] Mara: hey [SEP] Theo: hello you [SEP]`; a message's vector is the mean over
its own tokens, which have seen their neighbours. `late` keeps one small vector per token for
scoring by each question token's best match.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

CLS, SEP = 101, 102
STEPS = 15  # of the open table's numbers, to each side of 0


class Retriever(nn.Module):
    def __init__(self, config: Any, late: int) -> None:
        super().__init__()
        from transformers import BertModel

        self.encoder = BertModel(config, add_pooling_layer=False)
        self.late = nn.Linear(config.hidden_size, late)
        self.weigh = nn.Linear(config.hidden_size, 1)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state  # type: ignore[no-any-return]


class OpenRetriever(Retriever):
    """The same over pieces of all languages, whose rows are few columns wide."""

    def __init__(self, config: Any, late: int, rows: Tensor, projection: Tensor) -> None:
        super().__init__(config, late)
        self.rows = nn.Embedding.from_pretrained(rows, freeze=False)
        self.projection = nn.Parameter(projection)
        self.is_rounded = False

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        rows = self.rows(tokens)
        if self.is_rounded:  # as it will ship; the gradient passes through
            rows = rows + (stepped(rows) - rows).detach()
        words = rows @ self.projection
        return self.encoder(inputs_embeds=words, attention_mask=mask).last_hidden_state  # type: ignore[no-any-return]


def stepped(rows: Tensor) -> Tensor:
    """Rows in whole steps of a scale of their own."""
    scale = (rows.abs().amax(-1, keepdim=True) / STEPS).clamp(min=1e-12)
    return (rows / scale).round() * scale


def padded(rows: list[list[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    lengths = torch.tensor([len(row) for row in rows])
    mask = torch.arange(-(-int(lengths.max()) // 8) * 8) < lengths[:, None]
    tokens = torch.zeros(mask.shape, dtype=torch.int64)
    tokens[mask] = torch.tensor([token for row in rows for token in row])
    return tokens.to(device, non_blocking=True), mask.long().to(device, non_blocking=True)


def spread(hidden: Tensor, spans: list[tuple[int, int, int]]) -> tuple[Tensor, Tensor]:
    """Each message's own token states, padded: [messages, longest, 384], and which are real."""
    at, inside = (each.to(hidden.device) for each in places(spans, hidden.shape))
    return taken(hidden, at), inside


def places(spans: list[tuple[int, int, int]], shape: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Where the tokens of every message are among all of some rows, and which are real."""
    where = torch.tensor(spans)
    inside = torch.arange(int(where[:, 2].max()))[None, :]
    at = where[:, :1] * shape[1] + where[:, 1:2] + inside
    return at.clamp(max=shape[0] * shape[1] - 1), inside < where[:, 2:3]


def taken(hidden: Tensor, at: Tensor) -> Tensor:
    return hidden.reshape(-1, hidden.shape[-1])[at.flatten()].view(*at.shape, -1)


def pooled(own: Tensor, inside: Tensor) -> Tensor:
    weight = inside.to(own.dtype).unsqueeze(-1)
    mean = (own * weight).sum(1) / weight.sum(1).clamp(min=1)
    return nn.functional.normalize(mean.float(), dim=-1)


def best_matches(
    model: Retriever, asked: tuple[Tensor, Tensor], own: tuple[Tensor, Tensor]
) -> Tensor:
    """[questions, messages]: the weighted mean over question tokens of their best match."""
    query = nn.functional.normalize(model.late(asked[0]), dim=-1)
    document = nn.functional.normalize(model.late(own[0]), dim=-1)
    weight = model.weigh(asked[0]).float().squeeze(-1).sigmoid() * asked[1]
    weight = weight / weight.sum(-1, keepdim=True)
    found = []
    for start in range(0, len(query), 16):
        alike = torch.einsum("qid,mjd->qimj", query[start : start + 16], document)
        alike = alike.masked_fill(~own[1][None, None].bool(), -1.0).amax(-1)
        found.append((alike.float() * weight[start : start + 16, :, None]).sum(1))
    return torch.cat(found)


def take_step(
    model: nn.Module,
    loss: Tensor,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> Tensor:
    """One step down the gradient, clipped; the loss without its graph."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    return loss.detach()


def load_base(folder: Path, late: int = 96) -> Retriever:
    """MiniLM's weights with fresh small layers."""
    from safetensors.torch import load_file
    from transformers import BertConfig

    config = BertConfig.from_json_file(str(folder / "config.json"))
    config._attn_implementation = "sdpa"
    model = Retriever(config, late)
    weights = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    wanted = model.encoder.state_dict()
    model.encoder.load_state_dict({k: v for k, v in weights.items() if k in wanted}, strict=True)
    nn.init.orthogonal_(model.late.weight)
    nn.init.zeros_(model.late.bias)
    nn.init.zeros_(model.weigh.weight)
    nn.init.zeros_(model.weigh.bias)
    return model
