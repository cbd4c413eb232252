"""The real run of the thread tasks: prompts and a model → its answers, on an accelerator.

    python -m research.experiments.threads_run --prompts build/threads/prompts.jsonl.xz \\
        --base qwen2.5-coder-1.5b-instruct-q4_k_m.gguf --out build/threads/run
    → run/answers.jsonl   {"set": "persona_like clean 0 recent sentiment p-conv", "id": "…",
                           "answer": "positive", "ended": true, "positive": 0.83,
                           "tokens_in": 702, "tokens_out": 1}
      run/report.json     for each set: prompts, tokens, seconds

Needs torch, transformers and orjson (gguf for a GGUF), and `src` on the path. The
likeliest token is taken. `positive` is the probability of the word positive against negative as
the first word of the answer. With `--done` answers of an earlier call are not made again, and
`--seconds` ends a call before somebody else does.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from realtalk.persona.generation import (
    EncodedPrompt,
    PretrainedModel,
    Sampling,
    Writer,
    generate,
    library,
    load,
    quiet,
)
from research.experiments.answers_run import device_name, say

Row = dict[str, Any]
LABELS = ("positive", "negative")
SHORT = 64  # tokens: an answer of at most so many is a word, which has a probability


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="a model's folder, or a .gguf")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--done", type=Path, help="answers.jsonl of an earlier call")
    parser.add_argument("--sets", help="only sets whose name has one of these in it")
    parser.add_argument("--limit", type=int, help="prompts per set, to try it out")
    parser.add_argument("--batch-tokens", type=int, default=131_072, help="at once")
    parser.add_argument("--seconds", type=float, default=540, help="then no new batch is begun")
    given = parser.parse_args()
    began = time.perf_counter()
    given.out.mkdir(parents=True, exist_ok=True)
    prompts = read(given)
    base = load(given.base)
    say(began, f"{base.title} on {base.device}, {sum(map(len, prompts.values())):,} prompts")
    report: Row = {
        "base": base.title,
        "sha256": base.sha256,
        "precision": base.precision,
        "device": device_name(library("torch"), base.device),
        "torch": library("torch").__version__,
        "transformers": library("transformers").__version__,
        "sets": {},
    }
    run = Run(base, given, began)
    left = 0
    with (given.out / "answers.jsonl").open("a", encoding="utf-8") as stream:
        for title, rows in prompts.items():
            start, made = time.perf_counter(), []
            for answers in run.answers(rows):
                stream.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in answers))
                made += answers
            stream.flush()
            left += len(rows) - len(made)
            told = {
                "prompts": len(made),
                "tokens_in": sum(row["tokens_in"] for row in made),
                "tokens_out": sum(row["tokens_out"] for row in made),
                "seconds": round(time.perf_counter() - start, 2),
            }
            report["sets"][title] = told
            say(began, f"{title}: {told}")
            (given.out / "report.json").write_text(json.dumps({**report, "left": left}, indent=1))
    say(began, f"done, {left:,} prompts left")


def read(given: argparse.Namespace) -> dict[str, list[Row]]:
    """The prompts that are to be answered, by set."""
    done = set()
    if given.done is not None:
        with given.done.open(encoding="utf-8") as stream:
            done = {(row["set"], row["id"]) for row in map(json.loads, stream)}
    found: dict[str, list[Row]] = {}
    with lzma.open(given.prompts, "rt", encoding="utf-8") as stream:
        next(stream)
        for row in map(json.loads, stream):
            wanted = given.sets is None or any(part in row["set"] for part in given.sets.split(","))
            rows = found.setdefault(row["set"], []) if wanted else []
            room = given.limit is None or len(rows) < given.limit
            if wanted and room and (row["set"], row["id"]) not in done:
                rows.append(row)
    return found


class Run:
    """Answers prompts of one set after the other."""

    def __init__(self, base: PretrainedModel, given: argparse.Namespace, began: float) -> None:
        self._base = base
        self._given = given
        self._began = began
        self._writer = Writer(base.tokenizer)
        encode = base.tokenizer
        # How an answer may begin: the word alone, capitalised, or after a space.
        yes, no = (
            {encode(form, add_special_tokens=False)["input_ids"][0] for form in forms}
            for forms in ((word, word.capitalize(), f" {word}") for word in LABELS)
        )
        self._firsts = (sorted(yes - no), sorted(no - yes))

    def answers(self, rows: Sequence[Row]) -> Iterator[list[Row]]:
        """Answers as they come; fewer than rows where time is over."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the tokenizer works outside of Python
            prompts = list(pool.map(self._encoded, rows))
        order = sorted(range(len(rows)), key=lambda at: len(prompts[at].ids))
        while order and time.perf_counter() - self._began <= self._given.seconds:
            batch = [order.pop()]
            width = len(prompts[batch[0]].ids) + rows[0]["max_tokens"]
            while order and width * (len(batch) + 1) <= self._given.batch_tokens:
                batch.append(order.pop())
            yield self._batch([rows[at] for at in batch], [prompts[at] for at in batch])

    def _encoded(self, row: Row) -> EncodedPrompt:
        ids = self._writer.prompt([{"role": "user", "content": row["prompt"]}])
        return EncodedPrompt(row["id"], ids)

    def _batch(self, rows: Sequence[Row], prompts: Sequence[EncodedPrompt]) -> list[Row]:
        most = rows[0]["max_tokens"]
        written = generate(self._base, prompts, self._writer.stops, Sampling(most))
        shares = self._shares(prompts) if most <= SHORT else [None] * len(rows)
        return [
            {
                "set": row["set"],
                "id": row["id"],
                "answer": self._writer.text(reply.ids),
                "ended": reply.ended,
                "tokens_in": len(prompt.ids),
                "tokens_out": len(reply.ids),
                **({} if share is None else {"positive": round(share, 5)}),
            }
            for row, prompt, reply, share in zip(rows, prompts, written, shares, strict=True)
        ]

    def _shares(self, prompts: Sequence[EncodedPrompt]) -> list[float]:
        """How likely the first label is beside the second, as the first word of each answer."""
        torch, device = library("torch"), self._base.model.device
        width = max(len(prompt.ids) for prompt in prompts)
        pads = [width - len(prompt.ids) for prompt in prompts]
        pairs = zip(pads, prompts, strict=True)
        ids = torch.tensor([[0] * pad + list(prompt.ids) for pad, prompt in pairs])
        mask = (torch.arange(width)[None] >= torch.tensor(pads)[:, None]).long()
        with torch.inference_mode(), quiet():
            logits = (
                self._base.model(
                    input_ids=ids.to(device),
                    attention_mask=mask.to(device),
                    position_ids=(mask.cumsum(-1) - 1).clamp(min=0).to(device),
                    logits_to_keep=1,
                )
                .logits[:, -1]
                .float()
            )
        yes, no = (logits[:, firsts].logsumexp(-1) for firsts in self._firsts)
        shares: list[float] = (yes - no).sigmoid().tolist()
        return shares


if __name__ == "__main__":
    main()
