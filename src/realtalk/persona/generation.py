"""Prompts as token ids → replies, many at once, greedy or sampled.

    generate(load("smollm2"), [Asked("Chat_2#14", (1, 4093, …))], Sampling(max_new_tokens=128))
    → [Written("Chat_2#14", (2045, 11, …), ended=True)]

Prompts of similar length share a batch, padded on the left, with a key-value cache. On a CPU rows
that have ended leave the batch; on a GPU, where starting a step costs more than its work, steps
are recorded and replayed (persona/decoding.py). A sampled reply depends on the seed and the
prompt's id, not on what else is in the batch (but for rounding: in bf16 a batch of another size
may choose another token where two are nearly as likely).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.persona.decoding import Steps, one_token_attention, suits
from realtalk.persona.pretrained import Pretrained, library
from realtalk.persona.tuning_data import micro_batches

__all__ = ["Asked", "Sampling", "Written", "generate"]

_BATCH_TOKENS = {"cuda": 262_144, "cpu": 8_192}
_LOOK_EVERY = 8  # steps: looking whether rows have ended makes a GPU wait


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen; temperature 0 takes the likeliest.

    `repetition_penalty` above 1 makes the tokens that a reply has used already less likely, which
    small models need lest they go round in circles; tokens of the prompt are not touched.
    """

    max_new_tokens: int = 128
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise RealtalkError(f"max_new_tokens must be 1 or more, not {self.max_new_tokens}")
        if self.temperature < 0:
            raise RealtalkError(f"temperature must be 0 or more, not {self.temperature}")
        if not 0 < self.top_p <= 1:
            raise RealtalkError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if not 1 <= self.repetition_penalty <= 10:
            raise RealtalkError(
                f"repetition_penalty must be from 1 to 10, not {self.repetition_penalty}"
            )


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt as token ids."""

    id: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The reply's token ids without the end of turn; `ended` is False where it was cut off."""

    id: str
    ids: tuple[int, ...]
    ended: bool


def generate(
    base: Pretrained,
    prompts: Sequence[Asked],
    stops: Collection[int],
    sampling: Sampling | None = None,
    *,
    batch_tokens: int = 0,
    recorded: bool | None = None,
    progress: Progress = silent,
) -> list[Written]:
    """A reply a prompt, in order. `batch_tokens` 0 is what suits the device.

    `recorded` says whether steps run on fixed buffers; by default where that pays, on a GPU.
    """
    torch = library("torch")
    sampling = sampling or Sampling()
    room = base.window - sampling.max_new_tokens
    for each in prompts:
        if not 0 < len(each.ids) <= room:
            raise RealtalkError(
                f"a prompt of {len(each.ids):,} tokens, where 1 to {room:,} fit", where=each.id
            )
    written: dict[int, Written] = {}
    longest = [len(each.ids) + sampling.max_new_tokens for each in prompts]
    most = batch_tokens or _BATCH_TOKENS[base.device]
    base.model.eval()
    if recorded is None:
        recorded = base.device == "cuda"
    batch_of = _batch_recorded if recorded and suits(base.model) else _batch
    for places in micro_batches(longest, most):
        batch = [prompts[place] for place in places]
        try:
            with torch.inference_mode():
                found = batch_of(base, batch, frozenset(stops), sampling)
        except torch.OutOfMemoryError as error:
            raise RealtalkError(
                f"{most:,} tokens at once do not fit into the device's memory",
                fix="generate with fewer batch_tokens",
            ) from error
        written |= dict(zip(places, found, strict=True))
        progress(len(written), len(prompts), f"writing with {base.title}")
    return [written[place] for place in range(len(prompts))]


def _batch(
    base: Pretrained, batch: Sequence[Asked], stops: frozenset[int], sampling: Sampling
) -> list[Written]:
    torch = library("torch")
    ids, mask, positions, chances = _prepared(base, batch, sampling)
    ends = torch.tensor(sorted(stops), device=ids.device)
    cache: Any = None
    used = _Used(len(batch), sampling)
    rows = list(range(len(batch)))  # which of the batch are still being written
    chosen: list[list[int]] = [[] for _ in batch]
    pending: list[Any] = []  # tokens of the steps since the last look
    done = torch.zeros(len(batch), dtype=torch.bool, device=ids.device)
    for step in range(sampling.max_new_tokens):
        found = _read(base, ids, mask, positions, cache)
        cache = found.past_key_values
        logits = used.less_likely(found.logits[:, -1].float())
        token = _choose(logits, chances[:, step], sampling, torch)
        used.add(token)
        pending.append(token)
        done = done | torch.isin(token, ends)
        if len(pending) == _LOOK_EVERY or step + 1 == sampling.max_new_tokens:
            for row, new in zip(rows, torch.stack(pending, dim=1).tolist(), strict=True):
                chosen[row] += new
            pending = []
            left = torch.nonzero(~done).flatten()
            if not len(left):
                break
            if len(left) < len(rows):
                cache.batch_select_indices(left)
                rows = [rows[at] for at in left.tolist()]
                token, mask, positions = token[left], mask[left], positions[left]
                chances, done = chances[left], done[left]
                used.keep(left)
        ids = token[:, None]
        mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
        positions = positions[:, -1:] + 1
    return [_written(each.id, new, stops) for each, new in zip(batch, chosen, strict=True)]


def _batch_recorded(
    base: Pretrained, batch: Sequence[Asked], stops: frozenset[int], sampling: Sampling
) -> list[Written]:
    """As `_batch`, with the steps after the prompts on fixed buffers."""
    torch = library("torch")
    ids, mask, positions, chances = _prepared(base, batch, sampling)
    found = _read(base, ids, mask, positions, None)
    logits = found.logits[:, -1].float()
    first = _choose(logits, chances[:, 0], sampling, torch)
    used = _Used(len(batch), sampling)
    used.less_likely(logits)
    used.add(first)

    def choose(logits: Any, step: Any) -> Any:
        chance = chances.index_select(1, step)[:, 0]
        token = _choose(used.less_likely(logits), chance, sampling, torch)
        used.add(token)
        return token

    with one_token_attention(base.model):
        steps = Steps(
            *(base.model, found.past_key_values, mask, positions[:, -1:] + 1, first),
            *(choose, sampling.max_new_tokens, used.begin),
        )
        tokens = steps.run(torch.tensor(sorted(stops), device=ids.device)).tolist()
    return [_written(each.id, new, stops) for each, new in zip(batch, tokens, strict=True)]


def _prepared(
    base: Pretrained, batch: Sequence[Asked], sampling: Sampling
) -> tuple[Any, Any, Any, Any]:
    """Token ids, which of them count, their positions, and every row's chances."""
    torch, device = library("torch"), base.model.device
    ids, mask = _left_padded(batch, torch)
    mask = mask.to(device)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    return ids.to(device), mask, positions, _chances(batch, sampling, torch).to(device)


def _read(base: Pretrained, ids: Any, mask: Any, positions: Any, cache: Any) -> Any:
    return base.model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=1,
    )


class _Used:
    """The tokens that every reply has used, where they are to become less likely."""

    def __init__(self, rows: int, sampling: Sampling) -> None:
        self._rows, self._penalty = rows, sampling.repetition_penalty
        self._seen: Any = None

    def less_likely(self, logits: Any) -> Any:
        if self._penalty == 1:
            return logits
        torch = library("torch")
        if self._seen is None:
            self._seen = torch.zeros_like(logits, dtype=torch.bool)
        rarer = torch.where(logits > 0, logits / self._penalty, logits * self._penalty)
        return torch.where(self._seen, rarer, logits)

    def add(self, token: Any) -> None:
        if self._seen is not None:
            self._seen.scatter_(1, token[:, None], True)

    def begin(self, first: Any) -> None:
        """Only the first tokens have been used: the steps start again."""
        if self._seen is not None:
            self._seen.zero_()
            self.add(first)

    def keep(self, rows: Any) -> None:
        if self._seen is not None:
            self._seen = self._seen[rows]


def _left_padded(batch: Sequence[Asked], torch: Any) -> tuple[Any, Any]:
    width = max(len(each.ids) for each in batch)
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, each in enumerate(batch):
        ids[row, width - len(each.ids) :] = torch.tensor(each.ids)
        mask[row, width - len(each.ids) :] = 1
    return ids, mask


def _chances(batch: Sequence[Asked], sampling: Sampling, torch: Any) -> Any:
    """A number from 0 to 1 for every token to come, from the seed and the prompt's id alone."""
    drawn = []
    for each in batch:
        name = hashlib.sha256(f"{sampling.seed} {each.id}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(name[:8]) >> 1)
        drawn.append(torch.rand(sampling.max_new_tokens, generator=generator))
    return torch.stack(drawn)


def _choose(logits: Any, chances: Any, sampling: Sampling, torch: Any) -> Any:
    """The next token of every row: the likeliest, or where its chance falls among the likely."""
    if sampling.temperature == 0:
        return logits.argmax(-1)
    shares, order = torch.softmax(logits / sampling.temperature, dim=-1).sort(
        dim=-1, descending=True, stable=True
    )
    upto = shares.cumsum(-1)
    # As many of the likeliest as reach top_p together; the first one always counts.
    counts = upto - shares < sampling.top_p
    total = (shares * counts).sum(-1)
    place = (upto < (chances * total)[:, None]).sum(-1)
    place = place.clamp(max=counts.sum(-1) - 1)
    return order.gather(-1, place[:, None])[:, 0]


def _written(id_: str, tokens: Sequence[int], stops: frozenset[int]) -> Written:
    for place, token in enumerate(tokens):
        if token in stops:
            return Written(id_, tuple(tokens[:place]), ended=True)
    return Written(id_, tuple(tokens), ended=False)
