"""Writing with a model in this process: batches, chance, ends, and the two simulators."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from realtalk.persona.generation import (
    EncodedPrompt,
    GeneratedReply,
    PretrainedModel,
    Sampling,
    Writer,
    find,
    generate,
    load,
)
from realtalk.persona.prompting import messages
from realtalk.persona.tuned import adapters_in, encode_prompt, training_set
from realtalk.persona.tuning import TuneSettings, tune
from realtalk.persona.turns import speaker_turns
from realtalk.persona.values import Learning, TurnPrompt, make_simulator
from refusals import refused
from samples import read_sample
from tiny_models import needs_torch, save_tiny_model

WORDS = Sampling(max_new_tokens=12)


@pytest.fixture(scope="session")
def learning() -> Learning:
    chat = read_sample().chats[0]
    turns = speaker_turns(chat, "Mara", 1, 20)[:24]
    return Learning("Mara", chat, turns, {"context_sessions": 1, "context_tokens": 20})


@pytest.fixture(scope="session")
def prompts() -> list[TurnPrompt]:
    chat = read_sample().chats[1]
    return [turn.prompt for turn in speaker_turns(chat, "Mara", 1, 20)[:6]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, learning: Learning) -> Path:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    texts = [messages(turn.prompt)[0]["content"] for turn in learning.turns]
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", texts)


@pytest.fixture(scope="session")
def base(folder: Path) -> PretrainedModel:
    return load(folder, device="cpu")


@pytest.fixture(scope="session")
def asked(base: PretrainedModel) -> list[EncodedPrompt]:
    writer = Writer(base.tokenizer)
    texts = ["hi", "the ferry was late and then the rain came", "no", "so what did you say then"]
    return [
        EncodedPrompt(f"Chat_1#{number}", writer.prompt([{"role": "user", "content": text}]))
        for number, text in enumerate(texts)
    ]


@pytest.fixture(scope="session")
def adapter(tmp_path_factory: pytest.TempPathFactory, folder: Path, learning: Learning) -> Path:
    out = tmp_path_factory.mktemp("adapters") / "mara"
    own = load(folder, device="cpu")
    examples, about = training_set(str(folder), own, learning)
    tune(own, examples, out, TuneSettings(epochs=1, learning_rate=1e-2, rank=2), about=about)
    return out


def slowly(
    base: PretrainedModel, prompt: Sequence[int], stops: frozenset[int], most: int
) -> list[int]:
    """The likeliest tokens one by one, without cache, batch or padding."""
    import torch

    ids = list(prompt)
    for _ in range(most):
        with torch.no_grad():
            token = int(base.model(torch.tensor([ids])).logits[0, -1].argmax())
        if token in stops:
            break
        ids.append(token)
    return ids[len(prompt) :]


def as_dict(found: Sequence[GeneratedReply]) -> dict[str, tuple[int, ...]]:
    return {each.id: each.ids for each in found}


@needs_torch
def test_rows_end_each_at_their_own_place(
    base: PretrainedModel, asked: list[EncodedPrompt]
) -> None:
    """Stops are chosen so that rows end at different steps, before and after a look."""
    most = 30
    free = [slowly(base, each.ids, frozenset(), most) for each in asked]
    stops = frozenset({free[0][2], free[1][20]})
    found = generate(base, asked, stops, Sampling(most))
    for tokens, each in zip(free, found, strict=True):
        at = next((n for n, token in enumerate(tokens) if token in stops), None)
        assert list(each.ids) == tokens[:at]
        assert each.ended == (at is not None)
    assert len({len(each.ids) for each in found}) > 1


@needs_torch
def test_chance_is_the_prompts_own(base: PretrainedModel, asked: list[EncodedPrompt]) -> None:
    warm = replace(WORDS, temperature=1.5, seed=4)
    together = as_dict(generate(base, asked, (), warm))
    alone = as_dict([generate(base, [each], (), warm)[0] for each in reversed(asked)])
    small = as_dict(generate(base, asked, (), warm, batch_tokens=1))
    assert together == alone == small
    assert together != as_dict(generate(base, asked, (), replace(warm, seed=5)))
    greedy = as_dict(generate(base, asked, (), WORDS))
    narrow = replace(WORDS, temperature=1.0, top_p=1e-6)  # leaves the unlikely out
    assert together != greedy == as_dict(generate(base, asked, (), narrow))


def random_model(kind: str, more: dict[str, Any]) -> PretrainedModel:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    sizes = {"vocab_size": 97, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    torch.manual_seed(7)
    config = AutoConfig.for_model(kind, **{**sizes, "max_position_embeddings": 128, **more})
    model = AutoModelForCausalLM.from_config(config).float().eval()
    model.generation_config = GenerationConfig()  # as `load` does
    return PretrainedModel(model, None, kind, "", "cpu", "fp32", 128)


@needs_torch
@pytest.mark.parametrize("device", ["cpu", "cuda"])  # the second also with room for all steps
@pytest.mark.parametrize("kind", ["gpt2", "mistral", "qwen3"])
def test_models_of_other_kinds_write(kind: str, device: str) -> None:
    more: dict[str, dict[str, Any]] = {
        "gpt2": {"bos_token_id": None, "eos_token_id": None},
        "mistral": {"num_key_value_heads": 2, "sliding_window": 16},
        "qwen3": {"num_key_value_heads": 2},
    }
    other = replace(random_model(kind, more[kind]), device=device)
    prompts = [EncodedPrompt(f"#{n}", tuple(range(3, 3 + n))) for n in (1, 17, 40)]
    found = generate(other, prompts, (), Sampling(8))
    for prompt, each in zip(prompts, found, strict=True):
        assert list(each.ids) == slowly(other, prompt.ids, frozenset(), 8)


@needs_torch
def test_a_batch_that_does_not_fit_is_halved(
    base: PretrainedModel, asked: list[EncodedPrompt], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    whole = generate(base, asked, (), WORDS)
    real, sizes = base.model.generate, []

    def full(rows: int) -> Callable[..., Any]:
        def write(**given: Any) -> Any:
            sizes.append(len(given["input_ids"]))
            if sizes[-1] > rows:
                raise torch.OutOfMemoryError
            return real(**given)

        return write

    monkeypatch.setattr(base.model, "generate", full(1))
    assert generate(base, asked, (), WORDS) == whole
    assert sizes == [4, 2, 1, 1, 2, 1, 1]
    monkeypatch.setattr(base.model, "generate", full(0))
    with refused("memory"):
        generate(base, asked, (), WORDS)


@needs_torch
def test_what_a_folder_recommends_does_not_count(
    folder: Path, base: PretrainedModel, asked: list[EncodedPrompt], tmp_path: Path
) -> None:
    place = tmp_path / "tiny"
    shutil.copytree(folder, place)
    wild = {"do_sample": True, "temperature": 3.0, "repetition_penalty": 5.0, "max_length": 3}
    (place / "generation_config.json").write_text(json.dumps(wild), "utf-8")
    other = load(place, device="cpu")
    assert generate(other, asked, (), WORDS) == generate(base, asked, (), WORDS)


def test_sampling_that_makes_no_sense_is_refused() -> None:
    for wrong in ({"max_new_tokens": 0}, {"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.1}):
        with refused():
            Sampling(**wrong)


@needs_torch
def test_what_does_not_fit_is_said(base: PretrainedModel, prompts: list[TurnPrompt]) -> None:
    with refused("Chat_1#0"):
        generate(base, [EncodedPrompt("Chat_1#0", (5,) * 1020)], (), WORDS)
    writer = Writer(base.tokenizer)
    long = max(prompts, key=lambda prompt: len(prompt.context))
    long = replace(long, context=long.context * 30)
    whole = encode_prompt(writer, long, 1 << 20)
    cut = encode_prompt(writer, long, 700)
    assert 350 < len(cut) <= 700 < len(whole)
    # The end is what is kept, and the prompt is one that could have been written.
    assert cut[-60:] == whole[-60:]
    shorter = (replace(long, context=long.context[at:]) for at in range(len(long.context)))
    assert any(writer.prompt(messages(each)) == cut for each in shorter)
    assert encode_prompt(writer, long, 20) == ()


@needs_torch
def test_prompts_end_where_the_reply_begins(base: PretrainedModel) -> None:
    writer = Writer(base.tokenizer)
    asked = [{"role": "user", "content": "You are Mara."}]
    example = writer.example("Chat_1#1", asked, "lol no")
    shown = base.tokenizer.decode((*example.prompt, *example.reply))
    whole = [*asked, {"role": "assistant", "content": "lol no"}]
    assert base.tokenizer.apply_chat_template(whole, tokenize=False) == shown + "\n"
    assert example.prompt == writer.prompt(asked)
    assert example.reply[-1] in writer.stops
    assert writer.text(example.reply) == "lol no"


@needs_torch
def test_a_mark_that_was_only_added_ends_a_turn_too(tmp_path: Path) -> None:
    place = save_tiny_model(tmp_path / "added", ["You are Mara. lol no"])
    tokenizer = load(place, device="cpu").tokenizer
    ended = tokenizer.convert_tokens_to_ids("<|im_end|>")
    # As made from a GGUF: the end of text is its only special token by name.
    tokenizer.eos_token = "<|endoftext|>"
    tokenizer.extra_special_tokens = []
    assert ended not in tokenizer.all_special_ids
    assert ended in Writer(tokenizer).stops


@needs_torch
def test_a_tokenizer_without_a_template_writes_plain_text(tmp_path: Path) -> None:
    place = save_tiny_model(tmp_path / "plain", ["You are Mara. Reply: lol no"], template=False)
    plain = load(place, device="cpu")
    writer = Writer(plain.tokenizer)
    assert writer.way == "plain"
    example = writer.example("Chat_1#1", [{"role": "user", "content": "You are Mara."}], "lol no")
    shown = plain.tokenizer.decode((*example.prompt, *example.reply))
    assert shown == "You are Mara.\n\nReply: lol no<|endoftext|>"


@needs_torch
def test_models_that_are_not_there_are_named(tmp_path: Path) -> None:
    with refused(r"no such model.*smollm2"):
        find("nowhere")
    with refused("realtalk models get smollm2"):
        find("smollm2", tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with refused("safetensors"):
        load(tmp_path)


@needs_torch
def test_the_local_simulator_answers_every_prompt(
    folder: Path, learning: Learning, prompts: list[TurnPrompt]
) -> None:
    simulator = make_simulator("local", {"base": str(folder), "max_tokens": "8", "device": "cpu"})
    simulator.prepare(learning)
    found = simulator.solve(prompts)
    assert len(found) == len(prompts)
    for each in found:
        assert (each.value is None) == (each.unscored == "empty answer")
        assert each.cost.tokens_in > 0
        assert 0 <= each.cost.tokens_out <= 8
    assert simulator.solve(prompts[2:4]) == found[2:4]
    assert simulator.settings["base"] == "tiny"
    assert simulator.settings["precision"] == "fp32"


@needs_torch
def test_an_adapter_is_used_only_for_what_it_learned(
    tmp_path: Path, adapter: Path, learning: Learning
) -> None:
    tuned = make_simulator("tuned", {"adapter": adapter, "device": "cpu"})
    other = read_sample().chats[1]
    for wrong, said in (
        (replace(learning, speaker="Theo"), r"no adapter for Theo.*Mara"),
        (replace(learning, chat=other), "trained with chat Chat_1_Mara_Theo"),
        (replace(learning, settings={"context_sessions": 3}), "context_sessions 1, not 3"),
    ):
        with refused(said):
            tuned.prepare(wrong)
    texts = ["another model"]
    elsewhere = save_tiny_model(tmp_path / "other", texts, seed=8)
    tuned = make_simulator("tuned", {"adapter": adapter, "base": str(elsewhere), "device": "cpu"})
    with refused(r"another model.*tiny"):
        tuned.prepare(learning)
    with refused("no finished adapter"):
        adapters_in(tmp_path)
