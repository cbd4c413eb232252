"""A Qwen2 GGUF on an accelerator, read and written by many people's adapters at once.

    base = Base.read(Path("qwen.gguf"), Path("qwen.json"), "cuda")    # qwen.json: from `describe`
    adapters = Adapters.fresh(base, people=12, rank=16, seed=0)
    loss = base.losses(ids, labels, adapters)      # ids [12, 8, T]: eight turns of each person
    base.write(rows, bank, samplings)              # a row names its person's place in the bank

    python -m research.experiments.qwen qwen.gguf qwen.json      → where each tensor lies, the shape

One base stays as it is; of each linear layer every person has an own A and B of rank 16, which a
batched product applies to that person's rows alone. So twelve people are trained in the time of
one, and replies of all people share a batch. Only torch is needed where this runs; the GGUF is
read by its index, since the machine with the accelerator has no reader of such files.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

NAMES = {  # ours, and the GGUF's
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "o": "attn_output",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
LIKELIEST = 256  # tokens that a sampled one is drawn from: nearly always more than top-p leaves
ROOM, AT_ONCE = 1_400_000, 1024  # tokens that a cache may hold (29 KB each), and its rows
TOGETHER = 8  # rows of one person that an adapter is applied to at once
IGNORED = -100


@dataclass(frozen=True)
class Shape:
    """What a file says of its layers."""

    layers: int
    width: int
    inner: int
    heads: int
    key_heads: int
    head: int
    words: int
    eps: float
    theta: float

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """In and out of each linear layer."""
        keys = self.key_heads * self.head
        return {
            "q": (self.width, self.heads * self.head),
            "k": (self.width, keys),
            "v": (self.width, keys),
            "o": (self.heads * self.head, self.width),
            "gate": (self.width, self.inner),
            "up": (self.width, self.inner),
            "down": (self.inner, self.width),
        }


@dataclass
class Adapters:
    """A and B of every linear layer, for several people: A [people, layers, in, rank]."""

    a: dict[str, Tensor]
    b: dict[str, Tensor]
    scale: float

    @classmethod
    def fresh(cls, base: Base, people: int, rank: int, alpha: int, seed: int) -> Adapters:
        """As peft begins: A uniform within 1 / sqrt(in), B nought; the same for everybody."""
        generator = torch.Generator(base.device).manual_seed(seed)
        a, b, layers = {}, {}, base.shape.layers
        for name, (into, out) in base.shape.sizes.items():
            one = torch.rand(layers, into, rank, generator=generator, device=base.device)
            a[name] = ((one * 2 - 1) / into**0.5).repeat(people, 1, 1, 1).requires_grad_()
            zeros = torch.zeros(people, layers, rank, out, device=base.device)
            b[name] = zeros.requires_grad_()
        return cls(a, b, alpha / rank)

    @property
    def tensors(self) -> list[Tensor]:
        return [*self.a.values(), *self.b.values()]

    def rounded(self) -> Adapters:
        """For one pass: in the base's 16 bits."""
        return Adapters(
            {name: value.bfloat16() for name, value in self.a.items()},
            {name: value.bfloat16() for name, value in self.b.items()},
            self.scale,
        )

    def copied(self) -> Adapters:
        return Adapters(
            {name: value.detach().bfloat16() for name, value in self.a.items()},
            {name: value.detach().bfloat16() for name, value in self.b.items()},
            self.scale,
        )

    def take(self, places: Sequence[int]) -> Adapters:
        """Those of these places, in this order; a place may come several times."""
        chosen = torch.tensor(places, device=next(iter(self.a.values())).device)
        return Adapters(
            {name: value.index_select(0, chosen) for name, value in self.a.items()},
            {name: value.index_select(0, chosen) for name, value in self.b.items()},
            self.scale,
        )

    def keep_better(self, other: Adapters, better: Tensor) -> None:
        """Takes over from the other those people for whom it is better."""
        for own, others in ((self.a, other.a), (self.b, other.b)):
            for name, value in own.items():
                value[better] = others[name].detach()[better].to(value.dtype)


@dataclass(frozen=True)
class Sampling:
    """How the next token is chosen; temperature 0 takes the likeliest."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class Row:
    """A prompt to go on from; `person` is a place in the bank of adapters, -1 is none."""

    id: str
    ids: Sequence[int]
    person: int = -1


class Base:
    """Frozen weights, and the passes through them."""

    def __init__(self, shape: Shape, weights: Mapping[str, Tensor], device: str) -> None:
        self.shape, self.w, self.device = shape, weights, device

    @classmethod
    def read(cls, path: Path, index: Path, device: str) -> Base:
        """Weights of a GGUF in 16 bits, unpacked on the device."""
        described = json.loads(index.read_text("utf-8"))
        weights = {}
        with path.open("rb") as stream:
            for name, (kind, shape, offset, size) in described["tensors"].items():
                stream.seek(offset)
                packed = torch.frombuffer(bytearray(stream.read(size)), dtype=torch.uint8)
                weights[name] = unpacked(packed.to(device), kind, shape).bfloat16()
        return cls(Shape(**described["shape"]), weights, device)

    @classmethod
    def random(cls, shape: Shape, device: str) -> Base:
        """Weights of no model, to measure how fast it runs."""
        generator = torch.Generator(device).manual_seed(0)

        def make(*size: int) -> Tensor:
            return torch.randn(*size, generator=generator, device=device).mul_(0.02).bfloat16()

        weights = {"token_embd.weight": make(shape.words, shape.width)}
        weights["output.weight"] = make(shape.words, shape.width)
        weights["output_norm.weight"] = make(shape.width) + 1
        for at in range(shape.layers):
            for name, (into, out) in shape.sizes.items():
                weights[f"blk.{at}.{NAMES[name]}.weight"] = make(out, into)
                if name in "qkv":
                    weights[f"blk.{at}.{NAMES[name]}.bias"] = make(out)
            for norm in ("attn_norm", "ffn_norm"):
                weights[f"blk.{at}.{norm}.weight"] = make(shape.width) + 1
        return cls(shape, weights, device)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return F.rms_norm(x, (self.shape.width,), self.w[name], self.shape.eps)

    def _linear(self, x: Tensor, at: int, name: str, adapters: Adapters | None) -> Tensor:
        """x [people, rows and tokens, in]."""
        place = f"blk.{at}.{NAMES[name]}"
        out = F.linear(x, self.w[f"{place}.weight"], self.w.get(f"{place}.bias"))
        if adapters is None:
            return out
        low = torch.bmm(x, adapters.a[name][:, at])
        return torch.baddbmm(out, low, adapters.b[name][:, at], alpha=adapters.scale)

    def _turned(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        """Rotary places; x [rows, heads, tokens, head]."""
        one, two = x.chunk(2, -1)
        return x * cos + torch.cat((-two, one), -1) * sin

    def _angles(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin for places [..., tokens], with room for the heads."""
        steps = torch.arange(0, self.shape.head, 2, device=self.device, dtype=torch.float32)
        angle = places.float()[..., None] / self.shape.theta ** (steps / self.shape.head)
        angle = torch.cat((angle, angle), -1)
        return angle.cos().bfloat16(), angle.sin().bfloat16()

    def _heads(self, x: Tensor, rows: int, count: int) -> Tensor:
        return x.view(rows, -1, count, self.shape.head).transpose(1, 2)

    def _layer(
        self,
        x: Tensor,
        at: int,
        rows: int,
        angles: tuple[Tensor, Tensor],
        adapters: Adapters | None,
        cache: Cache | None = None,
    ) -> Tensor:
        """x [people, rows of each and tokens, width] → the same after a layer."""
        shape = self.shape
        near = self._norm(x, f"blk.{at}.attn_norm.weight")
        q = self._heads(self._linear(near, at, "q", adapters), rows, shape.heads)
        k = self._heads(self._linear(near, at, "k", adapters), rows, shape.key_heads)
        v = self._heads(self._linear(near, at, "v", adapters), rows, shape.key_heads)
        q, k = self._turned(q, *angles), self._turned(k, *angles)
        if cache is None or cache.filling is not None:
            if cache is not None:
                cache.fill(at, k, v)
            if cache is None or not cache.shared:
                seen = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            else:
                seen = cache.attend_after(at, q)
        else:
            seen = cache.attend(at, q, k, v)
        seen = seen.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)
        x = x + self._linear(seen, at, "o", adapters)
        near = self._norm(x, f"blk.{at}.ffn_norm.weight")
        gate = F.silu(self._linear(near, at, "gate", adapters))
        return x + self._linear(gate * self._linear(near, at, "up", adapters), at, "down", adapters)

    def _whole(self, ids: Tensor, adapters: Adapters | None, cache: Cache | None = None) -> Tensor:
        """ids [people, rows, tokens], padded on the right → hidden values of the last layer."""
        people, count, tokens = ids.shape
        x = F.embedding(ids.view(people, -1), self.w["token_embd.weight"])
        begins = 0 if cache is None else cache.shared
        angles = self._angles(torch.arange(begins, begins + tokens, device=self.device))
        for at in range(self.shape.layers):
            x = self._layer(x, at, people * count, angles, adapters, cache)
        return self._norm(x, "output_norm.weight")

    def _logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.w["output.weight"])

    def losses(
        self, ids: Tensor, labels: Tensor, adapters: Adapters | None
    ) -> tuple[Tensor, Tensor]:
        """Of each person the sum over tokens of their replies, and how many these are.

        `labels` [people, rows, tokens] say what comes next, and IGNORED where nobody asks.
        """
        hidden = self._whole(ids, adapters)
        asked = (labels != IGNORED).view(labels.shape[0], -1)
        logits = self._logits(hidden[asked])
        loss = F.cross_entropy(logits.float(), labels.view_as(asked)[asked], reduction="none")
        person = torch.arange(len(asked), device=self.device)[:, None].expand_as(asked)[asked]
        total = torch.zeros(len(asked), device=self.device).index_add(0, person, loss)
        return total, asked.sum(1)

    @torch.inference_mode()
    def write(
        self,
        rows: Sequence[Row],
        bank: Adapters | None,
        samplings: Mapping[str, Sampling],
        *,
        stops: Sequence[int],
        longest: int,
        read_at_once: int = 65_536,
    ) -> Iterator[tuple[str, Row, list[int], bool]]:
        """(way, row, new tokens, whether it ended) of every row in every way, as they come.

        Prompts of like length share a batch; a prompt is read once for all ways.
        """
        for batch in batches(rows, longest):
            flat = [row for block in batch for row in block]
            adapters = None
            if bank is not None:
                adapters = bank.take([block[0].person for block in batch])
            lengths = torch.tensor([len(row.ids) for row in flat], device=self.device)
            cache = Cache(self, len(flat), max(len(row.ids) for row in flat) + longest)
            first = self._read(flat, adapters, cache, read_at_once)
            for way, sampling in samplings.items():
                written, ended = self._go_on(
                    flat, adapters, cache, lengths.clone(), first, sampling, stops, longest
                )
                for row, tokens, end in zip(flat, written, ended, strict=True):
                    if row.id:  # others fill a block
                        yield way, row, tokens, end

    @torch.inference_mode()
    def answer(
        self, shared: Sequence[int], rows: Sequence[Row], *, stops: Sequence[int], longest: int
    ) -> Iterator[tuple[Row, list[int], bool]]:
        """The likeliest replies to prompts that begin with the same tokens, which are read once."""
        rest = [Row(row.id, row.ids[len(shared) :]) for row in rows]
        whole = torch.tensor(shared, device=self.device).view(1, 1, -1)
        before = Cache(self, 1, len(shared))
        before.filling = 0
        self._whole(whole, None, before)
        for batch in batches(rest, longest, len(shared)):
            flat = [row for block in batch for row in block]
            width = max(len(row.ids) for row in flat)
            cache = Cache(self, len(flat), len(shared) + width + longest)
            cache.shared = len(shared)
            for own, first in ((cache.k, before.k), (cache.v, before.v)):
                own[:, :, :, : len(shared)] = first[:, :, :, : len(shared)]
            first = self._read(flat, None, cache, TOGETHER * width * 4)
            lengths = torch.tensor([len(shared) + len(row.ids) for row in flat], device=self.device)
            written, ended = self._go_on(
                flat, None, cache, lengths, first, Sampling(), stops, longest
            )
            yield from (
                (row, tokens, end)
                for row, tokens, end in zip(flat, written, ended, strict=True)
                if row.id
            )

    def _read(
        self, rows: Sequence[Row], adapters: Adapters | None, cache: Cache, at_once: int
    ) -> Tensor:
        """Fills the cache block by block; hidden values of each prompt's last token."""
        last = []
        width = max(len(row.ids) for row in rows)
        blocks = max(1, at_once // (width * TOGETHER))
        for start in range(0, len(rows) // TOGETHER, blocks):
            some = rows[start * TOGETHER : (start + blocks) * TOGETHER]
            places = list(range(start, start + len(some) // TOGETHER))
            own = None if adapters is None else adapters.take(places)
            wide = max(len(row.ids) for row in some)
            ids = torch.tensor([[*row.ids, *[0] * (wide - len(row.ids))] for row in some])
            ids = ids.view(-1, TOGETHER, wide).to(self.device)
            cache.filling = start * TOGETHER
            hidden = self._whole(ids, own, cache).view(len(some), wide, -1)
            ends = torch.tensor([len(row.ids) - 1 for row in some], device=self.device)
            last.append(hidden[torch.arange(len(some), device=self.device), ends])
        cache.filling = None
        return torch.cat(last)

    def _go_on(
        self,
        rows: Sequence[Row],
        adapters: Adapters | None,
        cache: Cache,
        lengths: Tensor,
        first: Tensor,
        sampling: Sampling,
        stops: Sequence[int],
        longest: int,
    ) -> tuple[list[list[int]], list[bool]]:
        chances = chances_of(rows, sampling, longest).to(self.device)
        ends = torch.tensor(sorted(stops), device=self.device)
        hidden = first
        done = torch.tensor([not row.id for row in rows], device=self.device)
        written = torch.full((len(rows), longest), -1, dtype=torch.long, device=self.device)
        for step in range(longest):
            token = chosen(self._logits(hidden), sampling, chances[:, step])
            written[:, step] = torch.where(done, -1, token)
            done = done | torch.isin(token, ends)
            if step + 1 == longest or (step % 8 == 7 and bool(done.all())):
                break
            cache.places = lengths
            x = F.embedding(token, self.w["token_embd.weight"]).view(-1, TOGETHER, self.shape.width)
            angles = self._angles(lengths[:, None, None])
            for at in range(self.shape.layers):
                x = self._layer(x, at, len(rows), angles, adapters, cache)
            hidden = self._norm(x, "output_norm.weight").view(len(rows), -1)
            lengths = lengths + 1
        replies, ended = [], []
        for tokens in written.tolist():
            new = [token for token in tokens if token >= 0]
            end = bool(new) and new[-1] in stops
            replies.append(new[:-1] if end else new)
            ended.append(end)
        return replies, ended


class Cache:
    """Keys and values of every row, the prompt's first, then one place more with each step."""

    def __init__(self, base: Base, rows: int, width: int) -> None:
        shape = base.shape
        width = -(-width // 16) * 16  # what fast attention wants
        size = (shape.layers, rows, shape.key_heads, width, shape.head)
        self.k = torch.zeros(size, dtype=torch.bfloat16, device=base.device)
        self.v = torch.zeros(size, dtype=torch.bfloat16, device=base.device)
        self.filling: int | None = None  # the row from which prompts are read
        self.shared = 0  # tokens that are there already, the same for all rows
        self.places = torch.zeros(rows, dtype=torch.long, device=base.device)
        self._steps = torch.arange(width, device=base.device)
        self._rows = torch.arange(rows, device=base.device)

    def fill(self, at: int, k: Tensor, v: Tensor) -> None:
        assert self.filling is not None
        rows = slice(self.filling, self.filling + len(k))
        steps = slice(self.shared, self.shared + k.shape[2])
        self.k[at, rows, :, steps] = k
        self.v[at, rows, :, steps] = v

    def attend_after(self, at: int, q: Tensor) -> Tensor:
        """Tokens of prompts that follow on what is shared: they see it, and what is theirs."""
        assert self.filling is not None
        rows, heads, tokens, head = q.shape
        some, upto = slice(self.filling, self.filling + rows), self.shared + tokens
        k, v = self.k[at, some, :, :upto], self.v[at, some, :, :upto]
        places = torch.arange(self.shared, upto, device=q.device)
        seen = self._steps[:upto] <= places[:, None]
        each = heads // k.shape[1]
        grouped = q.reshape(rows, k.shape[1], each * tokens, head)
        found = F.scaled_dot_product_attention(grouped, k, v, attn_mask=seen.repeat(each, 1))
        return found.reshape(rows, heads, tokens, head)

    def attend(self, at: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """One new token of every row, which sees what stands before it."""
        own_k, own_v = self.k[at], self.v[at]
        own_k[self._rows, :, self.places] = k[:, :, 0]
        own_v[self._rows, :, self.places] = v[:, :, 0]
        rows, heads, _, head = q.shape
        # Query heads that share a key head stand as several queries: keys are read once.
        grouped = q.view(rows, own_k.shape[1], heads // own_k.shape[1], head)
        seen = (self._steps <= self.places[:, None])[:, None, None]
        seen = seen.expand(rows, 1, grouped.shape[2], len(self._steps))
        found = F.scaled_dot_product_attention(grouped, own_k, own_v, attn_mask=seen)
        return found.reshape(rows, heads, 1, head)


def batches(rows: Sequence[Row], longest: int, shared: int = 0) -> Iterator[list[list[Row]]]:
    """Blocks of rows of one person, filled up with rows that count for nothing; longest first."""
    by_person: dict[int, list[Row]] = {}
    for row in sorted(rows, key=lambda row: -len(row.ids)):
        by_person.setdefault(row.person, []).append(row)
    blocks = []
    for own in by_person.values():
        for start in range(0, len(own), TOGETHER):
            block = own[start : start + TOGETHER]
            filler = Row("", block[-1].ids[:1], block[0].person)
            blocks.append(block + [filler] * (TOGETHER - len(block)))
    blocks.sort(key=lambda block: -len(block[0].ids))
    start = 0
    while start < len(blocks):
        room = ROOM // (shared + len(blocks[start][0].ids) + longest)
        count = max(1, min(AT_ONCE, room) // TOGETHER)
        yield blocks[start : start + count]
        start += count


def chosen(logits: Tensor, sampling: Sampling, chances: Tensor) -> Tensor:
    """The likeliest token, or that on whose share of the whole the row's chance falls."""
    if sampling.temperature == 0:
        return logits.argmax(-1)
    logits = logits.float() / sampling.temperature
    best, order = logits.topk(LIKELIEST, -1)
    shares = (best - logits.logsumexp(-1, keepdim=True)).exp()
    before = shares.cumsum(-1) - shares
    shares = shares.masked_fill(before >= sampling.top_p, 0.0)
    upto = shares.cumsum(-1)
    place = (upto < chances[:, None] * upto[:, -1:]).sum(-1, keepdim=True)
    place = torch.minimum(place, (shares > 0).sum(-1, keepdim=True) - 1)
    return order.gather(-1, place)[:, 0]


def chances_of(rows: Sequence[Row], sampling: Sampling, longest: int) -> Tensor:
    """A number from 0 to 1 for every token to come, from the seed and the prompt's id alone."""
    if sampling.temperature == 0:
        return torch.zeros(len(rows), longest)
    drawn = []
    for row in rows:
        name = hashlib.sha256(f"{sampling.seed} {row.id}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(name[:8], "big") >> 1)
        drawn.append(torch.rand(longest, generator=generator))
    return torch.stack(drawn)


def unpacked(data: Tensor, kind: str, shape: Sequence[int]) -> Tensor:
    """A tensor of a GGUF as numbers: F32, or the four- and six-bit blocks of 256."""
    if kind == "F32":
        return data.view(torch.float32).view(*shape).clone()
    if kind == "Q4_K":
        return _four_bits(data.view(-1, 144)).view(*shape)
    if kind == "Q6_K":
        return _six_bits(data.view(-1, 210)).view(*shape)
    raise ValueError(f"no reader for {kind}")


def _halves(data: Tensor) -> Tensor:
    return data.contiguous().view(torch.float16).float()


def _four_bits(blocks: Tensor) -> Tensor:
    d, least = _halves(blocks[:, 0:2]), _halves(blocks[:, 2:4])
    s = blocks[:, 4:16].int()
    low, mid, high = s[:, 0:4], s[:, 4:8], s[:, 8:12]
    scales = torch.cat((low & 63, (high & 15) | (low >> 6 << 4)), 1)
    mins = torch.cat((mid & 63, (high >> 4) | (mid >> 6 << 4)), 1)
    quants = blocks[:, 16:].view(-1, 4, 1, 32)
    quants = torch.cat((quants & 15, quants >> 4), 2).view(-1, 8, 32).float()
    return quants * (d * scales)[:, :, None] - (least * mins)[:, :, None]


def _six_bits(blocks: Tensor) -> Tensor:
    low, high = blocks[:, :128].view(-1, 2, 2, 32), blocks[:, 128:192].view(-1, 2, 1, 32)
    scales = blocks[:, 192:208].contiguous().view(torch.int8).float()
    d = _halves(blocks[:, 208:210])
    nibbles = torch.cat((low & 15, low >> 4), 2)  # quarters 1, 2, 3, 4 of a half
    tops = torch.cat([high >> shift & 3 for shift in (0, 2, 4, 6)], 2)
    quants = (nibbles | tops << 4).float() - 32
    return quants.view(-1, 16, 16) * (d * scales)[:, :, None]


def describe(path: Path) -> dict[str, Any]:
    """Where the tensors of a GGUF lie, and its shape; needs the package gguf."""
    from gguf import GGUFReader

    reader = GGUFReader(path)

    def number(name: str) -> Any:
        return reader.fields[f"qwen2.{name}"].contents()

    tensors = {
        tensor.name: (
            tensor.tensor_type.name,
            [int(size) for size in reversed(tensor.shape)],
            int(tensor.data_offset),
            int(tensor.n_bytes),
        )
        for tensor in reader.tensors
    }
    shape = Shape(
        layers=number("block_count"),
        width=number("embedding_length"),
        inner=number("feed_forward_length"),
        heads=number("attention.head_count"),
        key_heads=number("attention.head_count_kv"),
        head=number("embedding_length") // number("attention.head_count"),
        words=tensors["token_embd.weight"][1][0],
        eps=number("attention.layer_norm_rms_epsilon"),
        theta=number("rope.freq_base"),
    )
    return {"shape": shape.__dict__, "tensors": tensors}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(describe(Path(sys.argv[1]))), "utf-8")
