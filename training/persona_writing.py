"""Prompts and ways to draw tokens → replies: by `generate`, or by recorded steps on a GPU.

    replies(base, asked, stops, {"greedy": Sampling(160), "sampled": Sampling(160, 0.8, 0.95)}, 128)
    → {"greedy": [Written("Chat_2#14", (2045, 11, …), ended=True), …], "sampled": […]}

With recorded steps (decoding.py) all ways of one prompt are written side by side, so that it is
read once. What they draw depends on the seed and on the order of the prompts; `generate` draws by
the seed and a prompt's id. A penalty on repetition is known to `generate` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from decoding import Request, Slots
from realtalk.persona.generation import EncodedPrompt, Sampling, Written, generate
from realtalk.persona.pretrained import Pretrained

_EVEN = 64  # tokens that a row's room is rounded up to


def replies(
    base: Pretrained,
    asked: Sequence[EncodedPrompt],
    stops: frozenset[int],
    samplings: Mapping[str, Sampling],
    rows: int = 0,
    batch_tokens: int = 0,
) -> dict[str, list[Written]]:
    """Every prompt's reply in every way; `rows` 0 is `generate`."""
    if not asked or not samplings:
        return {way: [] for way in samplings}
    if rows and all(each.repetition_penalty == 1 for each in samplings.values()):
        return _recorded(base, asked, stops, samplings, rows)
    return {
        way: generate(base, asked, stops, sampling, batch_tokens=batch_tokens)
        for way, sampling in samplings.items()
    }


def _recorded(
    base: Pretrained,
    asked: Sequence[EncodedPrompt],
    stops: frozenset[int],
    samplings: Mapping[str, Sampling],
    rows: int,
) -> dict[str, list[Written]]:
    most = max(len(each.ids) for each in asked) + max(s.max_new_tokens for s in samplings.values())
    seed = next(iter(samplings.values())).seed
    slots = _Twins(base, rows, -(-most // _EVEN) * _EVEN, seed)
    made = {
        (way, each.id): Request(
            each.ids, sampling.max_new_tokens, stops, sampling.temperature, sampling.top_p
        )
        for each in asked
        for way, sampling in samplings.items()
    }
    waiting = list(reversed(made.values()))
    while waiting or slots.busy:
        while waiting and slots.free:
            slots.begin(waiting.pop())
        slots.step()
    return {
        way: [
            Written(each.id, tuple(request.written), request.ended)
            for each in asked
            for request in (made[way, each.id],)
        ]
        for way in samplings
    }


class _Twins(Slots):
    """Rows that copy what another row has read of the same prompt."""

    def _fill(self, row: int, prompt: tuple[int, ...]) -> int:
        for other, request in enumerate(self._requests):
            if other != row and request is not None and request.prompt == prompt:
                # Up to its last token a row holds the prompt alone, however far it has written.
                known = len(prompt) - 1
                with self._torch.inference_mode():
                    self._keys[:, row, :, :known] = self._keys[:, other, :, :known]
                    self._values[:, row, :, :known] = self._values[:, other, :, :known]
                return known
        return super()._fill(row, prompt)

    def _keep(self, row: int, prompt: tuple[int, ...]) -> None:
        if prompt != self._last:  # a twin has nothing new
            super()._keep(row, prompt)
