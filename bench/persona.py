"""How fast a speaker is learned and simulated, beside a plain training loop, on one device.

    python bench/persona.py --base path/to/model           # some minutes on a GPU
    python bench/persona.py --random                       # SmolLM2-135M's shape, random weights
    python bench/persona.py --tiny                         # a random two-layer model, anywhere
    → a table of tokens per second; exit status 1 where the promise is broken (on a GPU)

Both sides train the same adapter (LoRA, the same layers and rank) on the same turns with the
same model in the same precision, in one process, after a warm-up; tokens are those of the turns,
padding not counted. The plain loop is what one writes first: one turn per step, all logits, the
adapter as `peft` makes it. Ours is `realtalk.persona.tuning` as it is used, on transformers'
Trainer, and writing is `realtalk.persona.generation`, on its `generate`. The promise: at least 5
times the plain loop's tokens per second on a GPU. Rates are set against what the device does in a
square matrix product of the same precision, measured in the same run; the work is counted as
multiplications that training an adapter needs, not as those that were done.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import torch

from realtalk.persona.generation import (
    EncodedPrompt,
    GeneratedReply,
    PretrainedModel,
    Sampling,
    TrainingExample,
    generate,
    load,
)
from realtalk.persona.tuning import TuneSettings, tune

FASTER = 5.0
TINY: dict[str, Any] = {
    "vocab_size": 1000,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
}
SMOLLM2: dict[str, Any] = {
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--base", type=Path, help="a Hugging Face folder of a causal model")
    parser.add_argument("--random", action="store_true", help="random weights, SmolLM2's shape")
    parser.add_argument("--tiny", action="store_true", help="a random two-layer model instead")
    parser.add_argument("--turns", type=int, default=192)
    parser.add_argument("--tokens", type=int, default=1800, help="of a prompt, the longest")
    parser.add_argument("--reply", type=int, default=60, help="tokens of a reply, on average")
    parser.add_argument("--plain", type=int, default=64, help="turns that the plain loop takes")
    parser.add_argument("--new", type=int, default=128, help="tokens to write for every turn")
    parser.add_argument("--batch-tokens", type=int, default=0)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if given.base is None and not (given.tiny or given.random):
            parser.error("name a model with --base, or pass --random or --tiny")
        shape = SMOLLM2 if given.random else TINY
        folder = given.base or random_model(Path(temporary) / "random", shape)
        found = measure(folder, given, Path(temporary))
    show(found)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    return 1 if found["device"] != "cpu" and found["times"] < FASTER else 0


def measure(folder: Path, given: argparse.Namespace, temporary: Path) -> dict[str, Any]:
    base = load(folder, device=given.device)
    turns = made_up(base, given.turns, given.tokens, given.reply)
    peak = matrix_rate(base)
    # Interleaved halves of the plain loop around ours: a device that warms up favours neither.
    plain_turns = random.Random(1).sample(turns, min(given.plain, len(turns)))
    half = len(plain_turns) // 2
    seconds = plain(load(folder, device=given.device), plain_turns[:half])
    settings = TuneSettings(epochs=2, held_out=0.0, batch_tokens=given.batch_tokens)
    tune(load(folder, device=given.device), turns[:32], temporary / "warm-up", settings)
    ours = tune(load(folder, device=given.device), turns, temporary / "adapter", settings)
    seconds += plain(load(folder, device=given.device), plain_turns[half:])
    plain_rate = sum(map(len, plain_turns)) / seconds
    asked = [EncodedPrompt(turn.id, turn.prompt) for turn in turns]
    sampling = Sampling(given.new)
    generate(base, asked[:2], (), Sampling(2))
    # Only the prompts read, then with what follows them, greedily and by chance.
    reading, _ = timed(base, lambda: generate(base, asked, (), Sampling(1)))
    writing, written = timed(base, lambda: generate(base, asked, (), sampling))
    chance = replace(sampling, temperature=0.8, top_p=0.95, repetition_penalty=1.2)
    by_chance, _ = timed(base, lambda: generate(base, asked, (), chance))
    new = sum(len(each.ids) for each in written)
    train_work = statistics.fmean(training_work(base, len(t), len(t.reply)) for t in turns)
    a_token = train_work / statistics.fmean(map(len, turns))
    return {
        "device": base.device,
        "name": torch.cuda.get_device_name() if base.device == "cuda" else "cpu",
        "precision": base.precision,
        "model": base.title,
        "parameters": sum(p.numel() for p in base.model.parameters()),
        "turns": len(turns),
        "tokens_a_turn": statistics.fmean(map(len, turns)),
        "matrix_tflops": peak / 1e12,
        "plain_tokens_per_second": plain_rate,
        "plain_share": plain_rate * a_token / peak,
        "ours_tokens_per_second": ours.tokens_per_second,
        "ours_share": ours.tokens_per_second * a_token / peak,
        "ours_padding": ours.padding,
        "times": ours.tokens_per_second / plain_rate,
        "new_tokens_per_second": new / writing,
        "read_and_new_tokens_per_second": (new + sum(len(a.ids) for a in asked)) / writing,
        "sampled_new_tokens_per_second": new / by_chance,
        "reading_share": reading / writing,
        "written_turns_per_second": len(written) / writing,
        "peak_memory_gb": torch.cuda.max_memory_allocated() / 1e9 if base.device == "cuda" else 0,
    }


def random_model(folder: Path, shape: dict[str, Any]) -> Path:
    """A model with random weights and a tokenizer of a few words."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = {word: number for number, word in enumerate(["<end>", *map(str, range(999))])}
    plain_words = Tokenizer(models.WordLevel(words, unk_token="<end>"))
    plain_words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain_words, eos_token="<end>")
    torch.manual_seed(0)
    config = LlamaConfig(**shape)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def made_up(base: PretrainedModel, count: int, longest: int, reply: int) -> list[TrainingExample]:
    """Random tokens in the lengths of real turns: most contexts fill the budget, some do not."""
    rng = random.Random(0)
    top = base.model.config.vocab_size

    def tokens(length: int) -> tuple[int, ...]:
        return tuple(rng.randrange(3, top) for _ in range(length))

    made = []
    for number in range(count):
        length = round(longest * (rng.uniform(0.9, 1) if rng.random() < 0.85 else rng.random()))
        answer = max(1, round(rng.expovariate(1 / reply)))
        made.append(
            TrainingExample(f"#{number}", tokens(max(8, length)), tokens(min(answer, 6 * reply)))
        )
    return made


def now(base: PretrainedModel) -> float:
    if base.device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def timed(
    base: PretrainedModel, work: Callable[[], list[GeneratedReply]]
) -> tuple[float, list[GeneratedReply]]:
    began = now(base)
    found = work()
    return now(base) - began, found


def plain(base: PretrainedModel, turns: Sequence[TrainingExample]) -> float:
    """Seconds of the loop that one writes first, after two steps that do not count."""
    import peft

    torch.manual_seed(0)
    config = peft.LoraConfig(
        r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    model = peft.get_peft_model(base.model, config)
    model.train()
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=5e-4)
    half = torch.autocast(base.device, torch.bfloat16, enabled=base.precision == "bf16")
    began = 0.0
    for number, turn in enumerate((*turns[:2], *turns)):
        if number == 2:
            began = now(base)
        ids = torch.tensor([(*turn.prompt, *turn.reply)], device=base.device)
        labels = ids.clone()
        labels[:, : len(turn.prompt)] = -100
        with half:
            loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
    return now(base) - began


def matrix_rate(base: PretrainedModel) -> float:
    """Operations a second in a square matrix product, the best of several."""
    side = 8192 if base.device == "cuda" else 1024
    kind = torch.bfloat16 if base.precision == "bf16" else torch.float32
    one, two = (torch.randn(side, side, device=base.device, dtype=kind) for _ in range(2))
    repeat = 20 if base.device == "cuda" else 3

    def pass_() -> float:
        began = now(base)
        for _ in range(repeat):
            one @ two
        return now(base) - began

    pass_()
    return float(2 * side**3 * repeat / min(pass_() for _ in range(5)))


def training_work(base: PretrainedModel, length: int, targets: int) -> float:
    """Operations that training an adapter needs for one turn.

    Forward and the gradient of every activation: twice two a weight and token. The frozen
    weights need no gradient of their own. The last layer works at the reply's tokens only.
    """
    config = base.model.config
    head = base.model.get_output_embeddings().weight.numel()
    embedded = base.model.get_input_embeddings().weight.numel()
    everything = sum(p.numel() for p in base.model.parameters())
    tied = bool(getattr(config, "tie_word_embeddings", False))
    inner = everything - embedded - (0 if tied else head)
    width = int(config.hidden_size)
    attention = 2 * 2 * config.num_hidden_layers * width * length * length / 2  # causal: half
    return float(4 * inner * length + 4 * head * targets + 3.5 * attention)


def show(found: dict[str, Any]) -> None:
    rows: list[tuple[str, Callable[[], str]]] = [
        ("model", lambda: f"{found['model']}, {found['parameters'] / 1e6:,.1f}M parameters"),
        ("device", lambda: f"{found['name']}, {found['precision']}"),
        ("matrix product", lambda: f"{found['matrix_tflops']:,.1f} TFLOP/s"),
        ("plain loop", lambda: rate("plain")),
        ("ours", lambda: f"{rate('ours')}, {found['ours_padding']:.1%} padding"),
        ("times as fast", lambda: f"{found['times']:.1f}"),
        ("writing", lambda: f"{found['new_tokens_per_second']:,.0f} new tokens/s"),
        ("", lambda: f"{found['sampled_new_tokens_per_second']:,.0f} sampled, with a penalty"),
        ("", lambda: f"{found['reading_share']:.0%} of the time to read the prompts"),
        ("", lambda: f"{found['written_turns_per_second']:,.1f} turns/s"),
    ]

    def rate(side: str) -> str:
        share = found[f"{side}_share"]
        return f"{found[f'{side}_tokens_per_second']:,.0f} tokens/s, {share:.1%} of the matrix rate"

    for name, text in rows:
        print(f"{name:<16}{text()}")


if __name__ == "__main__":
    sys.exit(main())
