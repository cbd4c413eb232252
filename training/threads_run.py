"""The real run of the thread tasks: prompts and a model → its answers, on an accelerator.

    python training/threads_run.py --prompts training/build/threads/prompts.jsonl.xz \\
        --base qwen2.5-coder-1.5b-instruct-q4_k_m.gguf --out training/build/threads/run
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
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from answers_run import device_name, say
from decoding import Request, Slots
from realtalk.persona.chat_tokens import Writer
from realtalk.persona.pretrained import Pretrained, library, load, quiet

Row = dict[str, Any]
LABELS = ("positive", "negative")
SHORT = 64  # an answer of so many tokens is written in step with its neighbours
LOOK_EVERY = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="a model's folder, or a .gguf")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--done", type=Path, help="answers.jsonl of an earlier call")
    parser.add_argument("--sets", help="only sets whose name has one of these in it")
    parser.add_argument("--limit", type=int, help="prompts per set, to try it out")
    parser.add_argument("--batch-tokens", type=int, default=131_072, help="at once")
    parser.add_argument("--rows", type=int, default=192, help="long answers at once")
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

    def __init__(self, base: Pretrained, given: argparse.Namespace, began: float) -> None:
        self._base = base
        self._given = given
        self._began = began
        self._writer = Writer(base.tokenizer)
        self._slots: Slots | None = None
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
            ids = list(pool.map(self._encoded, rows))
        if not rows:
            return
        if rows[0]["max_tokens"] > SHORT:
            yield from self._long(rows, ids)
            return
        order = sorted(range(len(rows)), key=lambda at: len(ids[at]))
        while order and not self._late():
            batch = [order.pop()]
            width = len(ids[batch[0]]) + SHORT
            while order and width * (len(batch) + 1) <= self._given.batch_tokens:
                batch.append(order.pop())
            yield self._short([rows[at] for at in batch], [ids[at] for at in batch])

    def _encoded(self, row: Row) -> tuple[int, ...]:
        return self._writer.prompt([{"role": "user", "content": row["prompt"]}])

    def _late(self) -> bool:
        return time.perf_counter() - self._began > self._given.seconds

    def _short(self, rows: Sequence[Row], ids: Sequence[tuple[int, ...]]) -> list[Row]:
        torch = library("torch")
        model, device = self._base.model, self._base.model.device
        width, stops = max(map(len, ids)), torch.tensor(sorted(self._writer.stops), device=device)
        pads = torch.tensor([width - len(each) for each in ids])
        given = torch.tensor([[0] * (width - len(each)) + list(each) for each in ids])
        mask = (torch.arange(width)[None] >= pads[:, None]).long().to(device)
        given, cache = given.to(device), None
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        ended = torch.zeros(len(rows), dtype=torch.bool, device=device)
        written, shares = [], None
        most = rows[0]["max_tokens"]
        with torch.inference_mode(), quiet():
            for step in range(most):
                out = model(
                    input_ids=given,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                cache, logits = out.past_key_values, out.logits[:, -1].float()
                if shares is None:
                    shares = self._shares(logits)
                given = logits.argmax(-1, keepdim=True)
                written.append(given)
                ended |= torch.isin(given[:, 0], stops)
                mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
                positions = positions[:, -1:] + 1
                if step % LOOK_EVERY == LOOK_EVERY - 1 and bool(ended.all()):
                    break
            columns = torch.cat(written, dim=1).tolist()
            told = shares.tolist()
        return [
            self._row(row, each, new, round(share, 5))
            for row, each, new, share in zip(rows, ids, columns, told, strict=True)
        ]

    def _shares(self, logits: Any) -> Any:
        """How likely the first label is beside the second, as the first word."""
        yes, no = (logits[:, firsts].logsumexp(-1) for firsts in self._firsts)
        return (yes - no).sigmoid()

    def _long(self, rows: Sequence[Row], ids: Sequence[tuple[int, ...]]) -> Iterator[list[Row]]:
        most = rows[0]["max_tokens"]
        length = 512 * -(-(max(map(len, ids)) + most) // 512)
        if self._slots is None or self._slots.length < length:
            self._slots = None  # its room first
            self._slots = Slots(self._base, self._given.rows, length)
        slots, stops = self._slots, self._writer.stops
        waiting = [(row, Request(each, most, stops)) for row, each in zip(rows, ids, strict=True)]
        rows_of = {request: row for row, request in waiting}
        while (waiting and not self._late()) or slots.busy:
            if slots.free >= min(len(waiting), self._given.rows // 4) and not self._late():
                begun = [waiting.pop()[1] for _ in range(min(slots.free, len(waiting)))]
                slots.begin_all(begun)
            done = [
                self._row(rows_of[each], each.prompt, [*each.written, *sorted(stops)[: each.ended]])
                for each in slots.step()
            ]
            if done:
                yield done

    def _row(
        self, row: Row, ids: Sequence[int], new: Sequence[int], share: float | None = None
    ) -> Row:
        places = (at for at, token in enumerate(new) if token in self._writer.stops)
        end = next(places, None)
        kept = list(new[:end])
        made = {
            "set": row["set"],
            "id": row["id"],
            "answer": self._writer.text(kept),
            "ended": end is not None,
            "tokens_in": len(ids),
            "tokens_out": len(kept),
        }
        return made if share is None else {**made, "positive": share}


if __name__ == "__main__":
    main()
