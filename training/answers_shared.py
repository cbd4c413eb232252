"""Prompts with one beginning → replies, the beginning read once.

    shared = SharedBeginning.read(load("qwen.gguf"), (151644, 8948, …))       # a whole chat
    shared.generate([EncodedPrompt("Chat_1 Q3", (374, 1602, …))], stops, 64)  # what comes after it
    → [Written("Chat_1 Q3", (17, 5470), ended=True)]

Seventy questions about one chat of 26,000 tokens have all but their last hundred tokens in common.
Keys and values of the beginning are kept once, for all rows of a batch; every row has its own for
what comes after. Attention is one softmax over both, the scores in fp32: the same sum as without
sharing, but for the order of its terms.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from realtalk.persona.generation import EncodedPrompt, Written
from realtalk.persona.pretrained import Pretrained, library, quiet

NAME = "shared_beginning"
MOST_SCORES = 1 << 29  # at a time: 2 GiB of fp32
LOOK_EVERY = 8  # steps between looks at whether all rows have ended: a look waits for the device


def common_beginning(prompts: Sequence[Sequence[int]]) -> int:
    """How many first tokens all prompts have in common; at least one is left to each."""
    first, last = min(prompts), max(prompts)
    most = min(len(each) for each in prompts) - 1
    same = (at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return min(next(same, most), most)


class SharedBeginning:
    """A beginning that was read: keys and values of each layer, [heads, tokens, width]."""

    def __init__(self, base: Pretrained, layers: list[tuple[Any, Any]], length: int) -> None:
        self._base = base
        self._layers = layers
        self._length = length

    @classmethod
    def read(cls, base: Pretrained, ids: Sequence[int]) -> SharedBeginning:
        torch, transformers = library("torch"), library("transformers")
        cache = transformers.DynamicCache(config=base.model.config)
        base.model.set_attn_implementation("sdpa")
        with torch.inference_mode(), quiet():
            base.model(
                input_ids=torch.tensor([list(ids)], device=base.model.device),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        return cls(base, [(each.keys[0], each.values[0]) for each in cache.layers], len(ids))

    def generate(
        self, endings: Sequence[EncodedPrompt], stops: Collection[int], max_new_tokens: int
    ) -> list[Written]:
        """The likeliest reply to the beginning with each ending, all of them at once."""
        torch, transformers = library("torch"), library("transformers")
        transformers.AttentionInterface.register(NAME, _attend)
        model = self._base.model
        model.set_attn_implementation(NAME)
        try:
            with torch.inference_mode(), quiet():
                rows = self._rows(model, endings, stops, max_new_tokens)
        finally:
            model.set_attn_implementation("sdpa")
        return [_written(each.id, new, stops) for each, new in zip(endings, rows, strict=True)]

    def _rows(
        self,
        model: Any,
        endings: Sequence[EncodedPrompt],
        stops: Collection[int],
        max_new_tokens: int,
    ) -> list[list[int]]:
        torch, transformers = library("torch"), library("transformers")
        device = model.device
        width = max(len(each.ids) for each in endings)
        pads = torch.tensor([width - len(each.ids) for each in endings], device=device)
        ids = torch.tensor(
            [[0] * (width - len(each.ids)) + list(each.ids) for each in endings], device=device
        )
        ends = torch.tensor(sorted(stops), device=device)
        ended = torch.zeros(len(endings), dtype=torch.bool, device=device)
        cache = transformers.DynamicCache(config=model.config)
        written: list[Any] = []
        for step in range(max_new_tokens):
            past = width + step - 1 if step else 0
            places = torch.arange(past, past + ids.shape[1], device=device)
            keys = torch.arange(past + ids.shape[1], device=device)
            seen = (keys[None, None, :] >= pads[:, None, None]) & (
                keys[None, None, :] <= places[None, :, None]
            )
            positions = (self._length + places[None, :] - pads[:, None]).clamp(min=0)
            logits = model(
                input_ids=ids,
                attention_mask=seen[:, None],
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
                beginning=self._layers,
            ).logits
            ids = logits[:, -1].argmax(-1, keepdim=True)
            written.append(ids)
            ended |= torch.isin(ids[:, 0], ends)
            if step % LOOK_EVERY == LOOK_EVERY - 1 and bool(ended.all()):
                break
        rows: list[list[int]] = torch.cat(written, dim=1).tolist()
        return rows


def _attend(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float,
    beginning: Sequence[tuple[Any, Any]] = (),
    **_: Any,
) -> tuple[Any, None]:
    """Attention of rows' own tokens over the beginning and over themselves."""
    torch = library("torch")
    keys, values = beginning[module.layer_idx]
    heads, length, _width = keys.shape
    rows, all_heads, queries, width = query.shape
    each = max(1, MOST_SCORES // (all_heads * queries * length))
    parts = []
    for at in range(0, rows, each):
        # Query heads that share a head of keys stand side by side.
        asked = query[at : at + each].reshape(-1, heads, all_heads // heads * queries, width)
        count = asked.shape[0]
        flat = asked.transpose(0, 1).reshape(heads, -1, width)
        far = flat.float() @ keys.float().transpose(1, 2)
        far = far.reshape(heads, count, -1, length).transpose(0, 1)
        near = asked.float() @ key[at : at + each].float().transpose(2, 3)
        hidden = ~attention_mask[at : at + each, :, None]
        near = near.reshape(count, heads, -1, queries, near.shape[-1])
        near = near.masked_fill(hidden, -torch.inf).reshape(count, heads, -1, near.shape[-1])
        weights = torch.softmax(torch.cat([far, near], dim=-1) * scaling, dim=-1).to(query.dtype)
        there = weights[..., :length].transpose(0, 1).reshape(heads, -1, length) @ values
        there = there.reshape(heads, count, -1, width).transpose(0, 1)
        here = weights[..., length:] @ value[at : at + each]
        parts.append((there + here).reshape(count, all_heads, queries, width))
    return torch.cat(parts).transpose(1, 2), None


def _written(id_: str, tokens: Sequence[int], stops: Collection[int]) -> Written:
    for place, token in enumerate(tokens):
        if token in stops:
            return Written(id_, tuple(tokens[:place]), ended=True)
    return Written(id_, tuple(tokens), ended=False)
