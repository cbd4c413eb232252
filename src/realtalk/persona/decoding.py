"""A model that has read its prompts → the tokens it writes, step by step on buffers of fixed size.

    with one_token_attention(model):
        Steps(model, found.past_key_values, mask, positions, first, choose, 160, begin).run(ends)
    → tokens [rows, steps written]

A small model spends its time on a GPU in starting kernels, not in running them. With buffers that
neither move nor grow, a step is recorded once as a CUDA graph and then replayed: no Python, no
waiting. Prompts are padded on the left, so all rows write their next key and value into the same
column. Keys and values are shared by groups of heads without being copied for each. On a CPU,
and where recording fails, the same steps run one by one and give the same tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from realtalk.persona.pretrained import library

__all__ = ["FixedCache", "Steps", "one_token_attention", "suits"]

_ATTENTION = "realtalk_one_token"
# Models whose layers are plain attention over one cache, tried in the tests.
_KINDS = frozenset({"llama", "mistral", "qwen2", "qwen3"})
_ROTATIONS = frozenset({None, "default", "linear", "llama3"})  # others look at values on the host
_LOOK_EVERY = 16  # steps: looking whether all rows have ended makes the device wait
_WARM_UP = 2  # steps before recording: libraries allocate on first use

Choose = Callable[[Any, Any], Any]  # logits [rows, words] and the step [1] → tokens [rows]


def suits(model: Any) -> bool:
    """Whether a model's steps can run on fixed buffers: plain attention, plain rotations."""
    config = model.config
    if getattr(config, "model_type", None) not in _KINDS:
        return False
    layers = getattr(config, "layer_types", None) or ["full_attention"]
    if set(layers) != {"full_attention"}:
        return False
    window = getattr(config, "sliding_window", None)
    if window is not None and getattr(config, "use_sliding_window", True):
        return False
    rotation = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
    return (rotation or {}).get("rope_type") in _ROTATIONS


class FixedCache:
    """Keys and values of every layer, with room for the steps to come.

    Stands where transformers expects a cache: a layer hands in one new column and gets all.
    """

    def __init__(self, read: Any, length: int, at: Any) -> None:
        self.at = at  # [1], on the device: the column that comes next
        self._seen = 0
        self._layers: list[tuple[Any, Any]] = []
        for layer in read.layers:
            rows, heads, self._seen, width = layer.keys.shape
            kept = []
            for given in (layer.keys, layer.values):
                buffer = given.new_zeros(rows, heads, length, width)
                buffer[:, :, : self._seen] = given
                kept.append(buffer)
            self._layers.append((kept[0], kept[1]))
            layer.keys = layer.values = None  # two copies of all layers would not fit

    def update(self, keys: Any, values: Any, layer: int, *_: Any, **__: Any) -> tuple[Any, Any]:
        all_keys, all_values = self._layers[layer]
        all_keys.index_copy_(2, self.at, keys)
        all_values.index_copy_(2, self.at, values)
        return all_keys, all_values

    def get_seq_length(self, _layer: int = 0) -> int:
        return self._seen  # positions are always given: nothing depends on it


class Steps:
    """The state of a batch that is being written.

    `first` are the tokens chosen already; `begin` hears of them when the steps start (again).
    """

    def __init__(
        self,
        model: Any,
        read: Any,
        mask: Any,
        positions: Any,
        first: Any,
        choose: Choose,
        most: int,
        begin: Callable[[Any], None],
    ) -> None:
        torch = library("torch")
        self._model, self._choose, self._most, self._also = model, choose, most, begin
        self._width = mask.shape[1]
        self._first, self._positions = first, positions
        length = -(-(self._width + most) // 16) * 16
        self._at = torch.zeros(1, dtype=torch.long, device=mask.device)
        self._step = torch.zeros_like(self._at)
        self._cache = FixedCache(read, length, self._at)
        rows = len(mask)
        dtype = next(model.parameters()).dtype
        self._nothing = torch.finfo(dtype).min
        self._bias = torch.zeros(rows, 1, 1, length, dtype=dtype, device=mask.device)
        self._padding = mask[:, None, None, :] == 0
        self._ids = torch.zeros(rows, 1, dtype=torch.long, device=mask.device)
        self._where = torch.zeros_like(self._ids)
        self.tokens = torch.zeros(rows, most, dtype=torch.long, device=mask.device)
        self._begin()

    def _begin(self) -> None:
        """Back to the end of the prompts: what a try wrote lies in columns that count no more."""
        self._at.fill_(self._width)
        self._step.fill_(1)
        self._bias.fill_(self._nothing)
        self._bias[..., : self._width].masked_fill_(~self._padding, 0.0)
        self._ids.copy_(self._first[:, None])
        self._where.copy_(self._positions)
        self.tokens.zero_()
        self.tokens[:, 0] = self._first
        self._also(self._first)

    def _advance(self) -> None:
        """One step. Everything happens on the device and in place, so it can be recorded."""
        self._bias.index_fill_(3, self._at, 0.0)
        found = self._model(
            input_ids=self._ids,
            attention_mask=self._bias,
            position_ids=self._where,
            past_key_values=self._cache,
            use_cache=True,
            logits_to_keep=1,
        )
        token = self._choose(found.logits[:, -1].float(), self._step)
        self.tokens.index_copy_(1, self._step, token[:, None])
        self._ids.copy_(token[:, None])
        for each in (self._where, self._at, self._step):
            each.add_(1)

    def run(self, ends: Any) -> Any:
        """All tokens, up to where every row has had one of `ends`."""
        torch = library("torch")
        go = self._recorded() if self.tokens.is_cuda else self._advance
        for step in range(1, self._most):
            go()
            if step % _LOOK_EVERY == 0:
                upto = self.tokens[:, : step + 1]
                if bool(torch.isin(upto, ends).any(1).all()):
                    return upto
        return self.tokens

    def _recorded(self) -> Callable[[], None]:
        """The step as a CUDA graph. Where it cannot be recorded it runs as it is, only slower."""
        torch = library("torch")
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(min(_WARM_UP, self._most - 1)):
                self._advance()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self._advance()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            self._begin()
            return self._advance
        self._begin()
        replay: Callable[[], None] = graph.replay
        return replay


@contextmanager
def one_token_attention(model: Any) -> Iterator[None]:
    """The model attends by `_attend` inside, as before outside."""
    transformers = library("transformers")
    transformers.AttentionInterface.register(_ATTENTION, _attend)
    before = model.config._attn_implementation
    model.set_attn_implementation(_ATTENTION)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def _attend(
    _module: Any, query: Any, keys: Any, values: Any, bias: Any, scaling: float, **_: Any
) -> tuple[Any, None]:
    """Attention of one new token a row. Heads that share keys are rows of one product."""
    torch = library("torch")
    rows, heads, _one, width = query.shape
    groups = keys.shape[1]
    grouped = query.reshape(rows, groups, heads // groups, width)
    scores = torch.matmul(grouped, keys.transpose(2, 3)) * scaling + bias
    shares = torch.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    mixed = torch.matmul(shares, values)
    return mixed.reshape(rows, 1, heads, width), None
