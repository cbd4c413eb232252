"""Prompts → replies by one model, many at a time, each step of writing recorded as a CUDA graph.

    slots = Slots(load("qwen2.5-1.5b"), rows=16, length=12_288)
    slots.begin(Request((151644, 8948, …), max_new_tokens=500, stops=frozenset({151645})))
    while slots.busy:
        for request in slots.step():
            request.written, request.ended

A row is taken by a prompt as soon as the reply before it has ended, so that a long reply holds up
nobody. `transformers` launches some four hundred kernels per token, which takes the host longer
than the card; a recorded step is launched at once. Knows the models of the Llama and Qwen2 kind.
The likeliest token is taken, or one is drawn by temperature and top-p. Without a GPU the same step
runs unrecorded, which is how it is tested against `transformers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from realtalk.persona.pretrained import Pretrained, library

LOOK_EVERY = 8  # steps between looks at what was written: a look waits for the device
KEPT_BEGINNINGS = 4
AT_ONCE = 65_536  # tokens of several prompts that are read together
WORTH_KEEPING = 1024  # tokens that two prompts have in common


@dataclass(eq=False)
class Request:
    """A prompt, and what was written after it."""

    prompt: tuple[int, ...]
    max_new_tokens: int
    stops: frozenset[int]
    temperature: float = 0.0
    top_p: float = 1.0
    written: list[int] = field(default_factory=list)
    ended: bool = False


class Slots:
    """Rows of a batch, each with a request or free."""

    def __init__(self, base: Pretrained, rows: int, length: int, seed: int = 0) -> None:
        torch = library("torch")
        self._torch = torch
        self._model = _Layers(base.model, length)
        self._body = base.model.model
        self._device = base.model.device
        self._rows = rows
        self.length = length
        shape = (len(self._model.layers), rows, self._model.kv_heads, length, self._model.width)
        dtype = base.model.dtype
        self._keys = torch.zeros(shape, dtype=dtype, device=self._device)
        self._values = torch.zeros(shape, dtype=dtype, device=self._device)
        self._ids = torch.zeros(rows, dtype=torch.long, device=self._device)
        self._places = torch.zeros(rows, dtype=torch.long, device=self._device)
        self._warmth = torch.zeros(rows, device=self._device)
        self._nucleus = torch.ones(rows, device=self._device)
        self._ring = torch.zeros(LOOK_EVERY, rows, dtype=torch.long, device=self._device)
        self._at = torch.zeros(1, dtype=torch.long, device=self._device)
        self._requests: list[Request | None] = [None] * rows
        self._beginnings: list[tuple[tuple[int, ...], Any, Any]] = []
        self._last: tuple[int, ...] = ()
        torch.manual_seed(seed)
        self._graphs: dict[bool, Any] = {}

    @property
    def busy(self) -> bool:
        return any(request is not None for request in self._requests)

    @property
    def free(self) -> int:
        return sum(request is None for request in self._requests)

    def begin(self, request: Request) -> None:
        """Reads a prompt into a free row; its first token is drawn with the next step."""
        row = self._requests.index(None)
        if len(request.prompt) + request.max_new_tokens > self.length:
            raise ValueError(f"{len(request.prompt)} tokens do not fit")
        self._requests[row] = request
        known = self._fill(row, request.prompt)
        # All but the last token: that one is what the next step reads.
        with self._torch.inference_mode():
            self._read(row, request.prompt[known:-1], known)
            self._ids[row] = request.prompt[-1]
            self._places[row] = len(request.prompt) - 1
            self._warmth[row] = request.temperature
            self._nucleus[row] = request.top_p
        self._keep(row, request.prompt)

    def begin_all(self, requests: Sequence[Request], at_once: int = AT_ONCE) -> None:
        """Reads prompts that have little in common into free rows, so many tokens at a time."""
        ordered = sorted(requests, key=lambda request: len(request.prompt))
        while ordered:
            width = len(ordered[-1].prompt)
            count = max(1, min(len(ordered), at_once // width))
            self._begin_batch(ordered[-count:], width)
            del ordered[-count:]

    def _begin_batch(self, requests: Sequence[Request], width: int) -> None:
        torch = self._torch
        if width + max(request.max_new_tokens for request in requests) > self.length:
            raise ValueError(f"{width} tokens do not fit")
        free = [row for row, request in enumerate(self._requests) if request is None]
        places = free[: len(requests)]
        prompts = [request.prompt for request in requests]
        with torch.inference_mode():
            # Padded behind: what comes later is not seen, and is written over step by step.
            ids = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids in prompts])
            rows = torch.tensor(places, device=self._device)
            read = self._body(input_ids=ids.to(self._device), use_cache=True).past_key_values
            for number, layer in enumerate(read.layers):
                self._keys[number, rows, :, :width] = layer.keys
                self._values[number, rows, :, :width] = layer.values
            device = self._device
            self._ids[rows] = torch.tensor([ids[-1] for ids in prompts], device=device)
            self._places[rows] = torch.tensor([len(ids) - 1 for ids in prompts], device=device)
            warmth = [request.temperature for request in requests]
            self._warmth[rows] = torch.tensor(warmth, device=device)
            nucleus = [request.top_p for request in requests]
            self._nucleus[rows] = torch.tensor(nucleus, device=device)
        for row, request in zip(places, requests, strict=True):
            self._requests[row] = request

    def step(self) -> list[Request]:
        """Some steps of all rows; returns the requests that have ended."""
        with self._torch.inference_mode():
            self._at.zero_()
            drawn = any(request is not None and request.temperature for request in self._requests)
            for _ in range(LOOK_EVERY):
                self._advance(drawn)
            columns = self._ring.t().tolist()
        done = []
        for row, request in enumerate(self._requests):
            if request is None:
                continue
            for token in columns[row]:
                if token in request.stops:
                    request.ended = True
                    break
                request.written.append(token)
                if len(request.written) == request.max_new_tokens:
                    break
            else:
                continue
            self._requests[row] = None
            done.append(request)
        return done

    def _advance(self, drawn: bool) -> None:
        if self._device.type != "cuda":
            self._one(drawn)
            return
        if drawn not in self._graphs:
            self._record(drawn)
        self._graphs[drawn].replay()

    def _record(self, drawn: bool) -> None:
        """Runs a step a few times on a side stream and records it; what it wrote is put back."""
        torch = self._torch
        kept = [tensor.clone() for tensor in (self._ids, self._places, self._at)]

        def back() -> None:
            for tensor, old in zip((self._ids, self._places, self._at), kept, strict=True):
                tensor.copy_(old)

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self._one(drawn)
                back()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._one(drawn)
        back()
        self._graphs[drawn] = graph

    def _one(self, drawn: bool) -> None:
        torch = self._torch
        logits = self._model.step(self._ids, self._places, self._keys, self._values)
        ids = logits.argmax(-1)
        if drawn:
            ids = torch.where(self._warmth > 0, self._draw(logits), ids)
        self._ring.scatter_(0, self._at.expand(1, self._rows).clamp(max=LOOK_EVERY - 1), ids[None])
        self._ids.copy_(ids)
        # A free row writes on at its place, at the end of its room at most.
        self._places.add_(1).clamp_(max=self.length - 1)
        self._at.add_(1)

    def _draw(self, logits: Any) -> Any:
        torch = self._torch
        shares = torch.softmax(logits.float() / self._warmth.clamp(min=1e-4)[:, None], -1)
        ordered, places = shares.sort(-1, descending=True)
        before = ordered.cumsum(-1) - ordered
        ordered = ordered.masked_fill(before >= self._nucleus[:, None], 0.0)
        # Gumbel's way of drawing: no host is asked, so that it can be recorded.
        noise = torch.empty_like(ordered).exponential_()
        return places.gather(-1, (ordered / noise).argmax(-1, keepdim=True))[:, 0]

    def _fill(self, row: int, prompt: tuple[int, ...]) -> int:
        """Copies a known beginning into a row; returns how many tokens it has."""
        if not self._beginnings:
            return 0
        ids, keys, values = max(self._beginnings, key=lambda kept: _common(kept[0], prompt))
        known = min(_common(ids, prompt), len(prompt) - 1)
        if known < WORTH_KEEPING:
            return 0
        with self._torch.inference_mode():
            self._keys[:, row, :, :known] = keys[:, :, :known]
            self._values[:, row, :, :known] = values[:, :, :known]
        return known

    def _keep(self, row: int, prompt: tuple[int, ...]) -> None:
        """Keeps the beginning that two prompts in succession have in common."""
        length = _common(self._last, prompt)
        self._last = prompt
        known = max((_common(kept[0], prompt) for kept in self._beginnings), default=0)
        if length < WORTH_KEEPING or known >= length:
            return
        keys = self._keys[:, row, :, :length].clone()
        values = self._values[:, row, :, :length].clone()
        self._beginnings = [
            *self._beginnings[1 - KEPT_BEGINNINGS :],
            (prompt[:length], keys, values),
        ]

    def _read(self, row: int, ids: Sequence[int], start: int) -> None:
        if ids:
            given = self._torch.tensor(ids, device=self._device)
            self._model.read(given, start, self._keys[:, row], self._values[:, row])


class _Layers:
    """The weights of a `transformers` model, computed with keys and values at fixed places."""

    def __init__(self, model: Any, length: int) -> None:
        self._torch = library("torch")
        config = model.config
        self.layers = list(model.model.layers)
        self._embed = model.model.embed_tokens
        self._norm = model.model.norm
        self._head = model.lm_head
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.width = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        positions = self._torch.arange(length, device=model.device)[None]
        self._positions = positions[0]
        cos, sin = model.model.rotary_emb(self._embed.weight[:1, None], positions)
        self._cos, self._sin = cos[0], sin[0]

    def step(self, ids: Any, places: Any, keys: Any, values: Any) -> Any:
        """One token per row [rows] → logits [rows, words]."""
        rows = ids.shape[0]
        torch = self._torch
        cos, sin = self._cos[places][:, None], self._sin[places][:, None]  # [rows, 1, width]
        seen = (self._positions[None] <= places[:, None])[:, None, None]  # [rows, 1, 1, length]
        every = torch.arange(rows, device=ids.device)
        hidden = self._embed(ids)
        for number, layer in enumerate(self.layers):
            query, key, value = self._projected(layer, layer.input_layernorm(hidden))
            keys[number][every, :, places] = _turned(key, cos, sin)
            values[number][every, :, places] = value
            mixed = torch.nn.functional.scaled_dot_product_attention(
                _turned(query, cos, sin).view(rows, self.kv_heads, -1, self.width),
                keys[number],
                values[number],
                attn_mask=seen,
            )
            hidden = hidden + layer.self_attn.o_proj(mixed.reshape(rows, -1))
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))
        return self._head(self._norm(hidden))

    def read(self, ids: Any, start: int, keys: Any, values: Any) -> None:
        """Tokens [count] of one row, after `start` that are there; fills in keys and values."""
        torch = self._torch
        end = start + ids.shape[0]
        cos, sin = self._cos[start:end][:, None], self._sin[start:end][:, None]
        hidden = self._embed(ids)
        seen = None
        if start:
            seen = self._positions[None, :end] <= self._positions[start:end, None]
        for number, layer in enumerate(self.layers):
            query, key, value = self._projected(layer, layer.input_layernorm(hidden))
            keys[number, :, start:end] = _turned(key, cos, sin).transpose(0, 1)
            values[number, :, start:end] = value.transpose(0, 1)
            mixed = torch.nn.functional.scaled_dot_product_attention(
                _turned(query, cos, sin).transpose(0, 1)[None],
                keys[number, :, :end][None],
                values[number, :, :end][None],
                attn_mask=seen,
                is_causal=seen is None,
                enable_gqa=True,
            )
            mixed = mixed[0].transpose(0, 1).reshape(end - start, -1)
            hidden = hidden + layer.self_attn.o_proj(mixed)
            hidden = hidden + layer.mlp(layer.post_attention_layernorm(hidden))

    def _projected(self, layer: Any, hidden: Any) -> tuple[Any, Any, Any]:
        attention, count = layer.self_attn, hidden.shape[0]
        return (
            attention.q_proj(hidden).view(count, self.heads, self.width),
            attention.k_proj(hidden).view(count, self.kv_heads, self.width),
            attention.v_proj(hidden).view(count, self.kv_heads, self.width),
        )


def _turned(states: Any, cos: Any, sin: Any) -> Any:
    """Rotary positions, as `transformers` writes them."""
    half = states.shape[-1] // 2
    turned = library("torch").cat((-states[..., half:], states[..., :half]), -1)
    return states * cos + turned * sin


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
