"""The real run of memory probing: prompts and a model → its answers, on an accelerator.

    python -m research.experiments.answers_run --prompts build/answers/prompts.jsonl.xz \\
        --base qwen2.5-coder-1.5b-instruct-q4_k_m.gguf --out build/answers/run
    → run/answers.jsonl   {"set": "whole all", "chat": "Chat_1", "id": "Q3", "answer": "…",
                           "ended": true, "tokens_in": 26011, "tokens_out": 6}
      run/report.json     for each set: tokens, seconds, tokens per second

Needs torch, transformers and orjson (gguf for a GGUF), and `src` on the path. Each
prompt is the one user message that `realtalk probe` sends, in the model's chat template; the
likeliest token is taken, up to as many as the command allows. Prompts are batched by length.
Answers are written as they come; with `--done` those of an earlier call are not made again, and
`--seconds` ends a call before somebody else does.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TextIO

from realtalk.persona.generation import (
    EncodedPrompt,
    GeneratedReply,
    PretrainedModel,
    Sampling,
    Writer,
    generate,
    library,
    load,
)
from research.experiments.prompt_files import Row, key, lines, named, prompt_text, read

TOO_LONG = "too long for the model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="a model's folder, or a .gguf")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--done", type=Path, help="answers.jsonl of an earlier call")
    parser.add_argument("--sets", help="only these sets (whole all,retrieved 500w)")
    parser.add_argument("--chats", help="only these chats")
    parser.add_argument("--limit", type=int, help="prompts a set and chat, to try it out")
    parser.add_argument("--batch-tokens", type=int, default=393_216, help="at once")
    parser.add_argument("--seconds", type=float, default=540, help="then no new batch is begun")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args()
    began = time.perf_counter()
    given.out.mkdir(parents=True, exist_ok=True)
    head, rows = read(given.prompts)
    done = {key(row) for row in lines(given.done)} if given.done else set()
    chosen = [
        row
        for row in first(given.limit, (row for row in rows if wanted(given, row)))
        if key(row) not in done
    ]
    base = load(given.base, device=given.device)
    library("torch").set_float32_matmul_precision("high")  # of bf16 values it loses nothing
    say(began, f"{base.title} on {base.device} in {base.precision}; {len(chosen):,} prompts")
    with (given.out / "answers.jsonl").open("a", encoding="utf-8") as stream:
        Run(given, base, head, began, stream).all(chosen)


class Run:
    """All prompts of a call, set by set."""

    def __init__(
        self,
        given: argparse.Namespace,
        base: PretrainedModel,
        head: Row,
        began: float,
        stream: TextIO,
    ) -> None:
        self.given = given
        self.base = base
        self.began = began
        self.stream = stream
        self.writer = Writer(base.tokenizer)
        torch, transformers = library("torch"), library("transformers")
        self.report: Row = {
            "base": base.title,
            "sha256": base.sha256,
            "precision": base.precision,
            "device": device_name(torch, base.device),
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "max_tokens": head["max_tokens"],
            "sets": {},
        }

    def all(self, rows: Sequence[Row]) -> None:
        left = 0
        for title in dict.fromkeys(row["set"] for row in rows):
            those = [row for row in rows if row["set"] == title]
            left += self.one_set(title, those)
            self.save_report()
        self.report["left"] = left
        self.save_report()
        self.say(f"done, {left:,} prompts left")

    def one_set(self, title: str, rows: Sequence[Row]) -> int:
        """Answers a set; returns how many prompts there was no time for."""
        self.sampling = Sampling(int(rows[0]["max_tokens"]))
        start = time.perf_counter()
        encoded = self.encoded(rows)
        reading = time.perf_counter()
        told: Row = {"prompts": 0, "too_long": 0, "tokens_in": 0, "tokens_out": 0}
        waiting = dict(enumerate(rows))
        for place, each in enumerate(encoded):
            if len(each.ids) > self.base.window - self.sampling.max_new_tokens:
                self.keep([{**named(waiting.pop(place)), "unscored": TOO_LONG}])
                told["too_long"] += 1
        for places, found in self.batches(encoded, list(waiting)):
            made = []
            for place, written in zip(places, found, strict=True):
                tokens = {"tokens_in": len(encoded[place].ids), "tokens_out": len(written.ids)}
                answer = {"answer": self.writer.text(written.ids), "ended": written.ended}
                made.append({**named(waiting.pop(place)), **answer, **tokens})
                told["prompts"] += 1
                for name, value in tokens.items():
                    told[name] += value
            self.keep(made)
        seconds = time.perf_counter() - reading
        told |= {"encoding_seconds": round(reading - start, 3), "seconds": round(seconds, 3)}
        told["tokens_per_second"] = round((told["tokens_in"] + told["tokens_out"]) / seconds)
        self.report["sets"][title] = told
        self.say(
            f"{title}: {told['prompts']} answers, {told['tokens_in']:,} tokens, "
            f"{told['tokens_per_second']:,} tokens/s"
            + (f", {told['too_long']} too long" if told["too_long"] else "")
        )
        return len(waiting)

    def encoded(self, rows: Sequence[Row]) -> list[EncodedPrompt]:
        def one(row: Row) -> EncodedPrompt:
            return EncodedPrompt(" ".join(key(row)), self.writer.prompt([user(prompt_text(row))]))

        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the tokenizer works outside of Python
            return list(pool.map(one, rows))

    def batches(
        self, encoded: Sequence[EncodedPrompt], waiting: Iterable[int]
    ) -> Iterator[tuple[list[int], list[GeneratedReply]]]:
        """Places and their replies, prompts of similar length together, until time is over."""
        places = sorted(waiting, key=lambda place: len(encoded[place].ids))
        room = self.sampling.max_new_tokens
        while places and not self.late():
            batch = [places.pop()]
            width = len(encoded[batch[0]].ids) + room
            while places and width * (len(batch) + 1) <= self.given.batch_tokens:
                batch.append(places.pop())
            yield (
                batch,
                generate(
                    self.base,
                    [encoded[place] for place in batch],
                    self.writer.stops,
                    self.sampling,
                    batch_tokens=self.given.batch_tokens,
                ),
            )

    def late(self) -> bool:
        return time.perf_counter() - self.began > self.given.seconds

    def keep(self, made: Iterable[Row]) -> None:
        self.stream.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made))
        self.stream.flush()

    def save_report(self) -> None:
        path: Path = self.given.out / "report.json"
        path.write_text(json.dumps(self.report, indent=1), "utf-8")

    def say(self, line: str) -> None:
        say(self.began, line)


def wanted(given: argparse.Namespace, row: Row) -> bool:
    return (given.sets is None or row["set"] in given.sets.split(",")) and (
        given.chats is None or row["chat"] in given.chats.split(",")
    )


def first(limit: int | None, rows: Iterable[Row]) -> list[Row]:
    """The first rows of every set and chat, all without a limit."""
    counts: Counter[tuple[str, str]] = Counter()
    chosen = []
    for row in rows:
        counts[row["set"], row["chat"]] += 1
        if limit is None or counts[row["set"], row["chat"]] <= limit:
            chosen.append(row)
    return chosen


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def device_name(torch: Any, device: str) -> str:
    return str(torch.cuda.get_device_name()) if device == "cuda" else platform.machine()


def say(began: float, line: str) -> None:
    sys.stdout.write(f"[{time.perf_counter() - began:6.1f} s] {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
