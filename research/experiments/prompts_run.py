"""A file of prompts → a model's likeliest replies, many at once, on an accelerator.

    python -m research.experiments.prompts_run build/who/prompts.jsonl.xz --base qwen.gguf \\
        --index qwen.json --tokenizer tokenizer.json --out answers.jsonl
    {"set": "questions", "chat": "", "id": "3f9c", "context": 0, "before": "", "after": ""}
    → {"set": "questions", "chat": "", "id": "3f9c", "answer": "…", "ended": true, …}

Prompts and answers are as answers_run.py has them, which runs any model and reads every prompt
whole. Here each is one user message in Qwen's chat form, and what thousands of tokens long prompts
begin with alike, a whole chat say, is read once (qwen.py). Answers are added to the file as they
come, and a prompt that is answered there is not asked again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from tokenizers import Tokenizer

from research.experiments.people_run import END, encode
from research.experiments.prompt_files import key, lines, named, prompt_text, read
from research.experiments.qwen import Base, Row, Sampling

LEAST_SHARED = 4096  # tokens: below that reading them again costs less than a batch of its own
MOST = 32_000  # tokens of a prompt that leave room for a reply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    began = time.perf_counter()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    stops = [tokenizer.token_to_id(END), tokenizer.token_to_id("<|endoftext|>")]
    known = {key(row) for row in lines(given.out)} if given.out.is_file() else set()
    prompts = [row for row in read(given.prompts)[1] if key(row) not in known]
    by_length = defaultdict(list)
    ids = encode(tokenizer, [prompt_text(prompt) for prompt in prompts])
    for at, (prompt, tokens) in enumerate(zip(prompts, ids, strict=True)):
        if len(tokens) <= MOST:
            by_length[prompt["max_tokens"]].append(Row(str(at), tokens))
    base = Base.read(given.base, given.index, given.device)
    count = new = 0
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("a", encoding="utf-8") as stream:
        for longest, rows in by_length.items():
            for row, tokens, ended in answers(base, rows, stops, longest):
                prompt = prompts[int(row.id)]
                line = {
                    **named(prompt),
                    "answer": tokenizer.decode(tokens, skip_special_tokens=True).strip(),
                    **{"ended": ended, "tokens_in": len(row.ids), "tokens_out": len(tokens)},
                }
                stream.write(json.dumps(line, ensure_ascii=False) + "\n")
                count, new = count + 1, new + len(tokens)
            stream.flush()
    seconds = time.perf_counter() - began
    sys.stdout.write(
        f"{count:,} answers, {len(prompts) - count:,} too long, {sum(map(len, ids)):,} tokens read, "
        f"{new:,} new, {seconds:.0f} s\n"
    )


def answers(
    base: Base, rows: Sequence[Row], stops: Sequence[int], longest: int
) -> Iterator[tuple[Row, list[int], bool]]:
    alone: list[Row] = []
    for shared, group in groups(rows):
        if shared:
            yield from base.answer(shared, group, stops=stops, longest=longest)
        else:
            alone += group
    for _, row, tokens, ended in base.write(
        alone, None, {"greedy": Sampling()}, stops=stops, longest=longest
    ):
        yield row, tokens, ended


def groups(rows: Sequence[Row]) -> Iterator[tuple[Sequence[int], list[Row]]]:
    """Rows that begin alike, and with what; nothing where it is short."""
    ordered = sorted(rows, key=lambda row: list(row.ids))
    while ordered:
        group = [ordered.pop()]
        shared: Sequence[int] = group[0].ids[:-1]
        while ordered:
            common = alike(shared, ordered[-1].ids[:-1])
            if common < LEAST_SHARED:
                break
            shared = shared[:common]
            group.append(ordered.pop())
        yield (shared if len(group) > 1 else (), group)


def alike(one: Sequence[int], two: Sequence[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False)))


if __name__ == "__main__":
    main()
