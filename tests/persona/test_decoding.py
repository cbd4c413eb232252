"""The scripts' own way of writing with a model: the same tokens as transformers, also served."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from realtalk.persona.pretrained import Pretrained, load
from tiny_models import save_tiny_model

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers")),
    reason="torch and transformers are not installed (the extra 'train')",
)
ROOT = Path(__file__).parents[2]
TEXTS = ["did you sleep at all", "the radio works again", "no, the kettle does", "see you at six"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    import torch

    torch.set_num_threads(1)
    return load(save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", TEXTS))


@pytest.fixture
def decoding(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "training"))
    import decoding  # type: ignore[import-not-found]

    yield decoding
    for name in ("decoding", "serving"):
        sys.modules.pop(name, None)


def prompts() -> list[tuple[int, ...]]:
    """Of several lengths; the later half begins alike."""
    plain = [tuple((7 * row + 3 * at) % 250 + 5 for at in range(3 + 4 * row)) for row in range(6)]
    shared = tuple((11 * at) % 250 + 5 for at in range(24))
    return [*plain, *((*shared, 40 + row, 9) for row in range(6))]


def greedy(base: Pretrained, prompt: tuple[int, ...], most: int, stop: int) -> list[int]:
    import torch

    ids = torch.tensor([prompt])
    found = base.model.generate(
        ids, max_new_tokens=most, do_sample=False, eos_token_id=stop, pad_token_id=0
    )
    new: list[int] = found[0, len(prompt) :].tolist()
    return new[: new.index(stop)] if stop in new else new


def write_all(slots: Any, requests: list[Any]) -> None:
    waiting = list(requests)
    while waiting or slots.busy:
        while waiting and slots.free:
            slots.begin(waiting.pop(0))
        slots.step()


def test_rows_are_written_as_transformers_would(
    base: Pretrained, decoding: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "WORTH_KEEPING", 8)
    wanted = [greedy(base, prompt, 19, stop=2) for prompt in prompts()]
    stop = wanted[0][3]  # a token that one of them does write
    wanted = [greedy(base, prompt, 19, stop) for prompt in prompts()]
    requests = [decoding.Request(prompt, 19, frozenset({stop})) for prompt in prompts()]
    slots = decoding.Slots(base, rows=3, length=64)
    write_all(slots, requests)
    assert [request.written for request in requests] == wanted
    assert [request.ended for request in requests] == [len(new) < 19 for new in wanted]
    assert any(request.ended for request in requests)
    assert len(slots._beginnings) == 1  # what the later half has in common was read once


def test_prompts_that_are_read_together_are_written_as_alone(
    base: Pretrained, decoding: Any
) -> None:
    wanted = [greedy(base, prompt, 15, stop=-1) for prompt in prompts()]
    requests = [decoding.Request(prompt, 15, frozenset()) for prompt in prompts()]
    slots = decoding.Slots(base, rows=7, length=64)
    slots.begin_all(requests[:5], at_once=40)  # in several batches
    slots.step()
    slots.begin_all(requests[5:7])  # beside others that are being written
    while slots.busy:
        slots.step()
    slots.begin_all(requests[7:])  # into rows that were used before
    while slots.busy:
        slots.step()
    assert [request.written for request in requests] == wanted
    with pytest.raises(ValueError, match="do not fit"):
        slots.begin_all([decoding.Request(tuple(range(5, 60)), 15, frozenset())])


def test_chance_is_by_seed_and_a_small_nucleus_is_greedy(base: Pretrained, decoding: Any) -> None:
    def drawn(top_p: float, seed: int) -> list[list[int]]:
        requests = [
            decoding.Request(prompt, 12, frozenset(), 1.5, top_p) for prompt in prompts()[:4]
        ]
        write_all(decoding.Slots(base, rows=4, length=64, seed=seed), requests)
        return [request.written for request in requests]

    assert drawn(1.0, 1) == drawn(1.0, 1)
    assert drawn(1.0, 1) != drawn(1.0, 2)
    assert drawn(1e-6, 1) == [greedy(base, prompt, 12, stop=-1) for prompt in prompts()[:4]]


def test_a_prompt_that_does_not_fit_is_refused(base: Pretrained, decoding: Any) -> None:
    slots = decoding.Slots(base, rows=1, length=16)
    with pytest.raises(ValueError, match="do not fit"):
        slots.begin(decoding.Request(tuple(range(5, 20)), 8, frozenset()))


def test_served_in_openai_form(base: Pretrained, decoding: Any) -> None:
    from serving import Served  # type: ignore[import-not-found]

    def asked(url: str, path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{url}/{path}", data, {"Content-Type": "text/json"})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)

    message = {"role": "user", "content": "did you sleep"}
    with Served(base, rows=2, length=256) as server:
        chat = {"messages": [message], "max_tokens": 6, "model": "any"}
        told = asked(server.url, "chat/completions", chat)
        vectors = asked(server.url, "embeddings", {"input": TEXTS[:2], "model": "any"})
        from realtalk.persona.chat_tokens import Writer

        writer = Writer(base.tokenizer)
        prompt = writer.prompt([message])
        stop = next(iter(writer.stops))
        wanted = writer.text(greedy(base, prompt, 6, stop))
        assert told["choices"][0]["message"]["content"] == wanted
        assert told["usage"]["prompt_tokens"] == len(prompt)
        assert [len(row["embedding"]) for row in vectors["data"]] == [384, 384]
        long = {**chat, "messages": [{"role": "user", "content": "sleep " * 400}]}
        with pytest.raises(urllib.error.HTTPError):
            asked(server.url, "chat/completions", long)
        assert server.usage["too_long"] == 1
