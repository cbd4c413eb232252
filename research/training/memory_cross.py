"""A larger model that reads question and message together → scores that the retriever follows.

    python -m research.training.memory_cross --first held1.npz --name teacher
    → build/memory/teacher.npz: chat id → [questions, messages], higher is better

Candidates of a question are the best by a first retriever, and its evidence. Chats are parted in
`--folds`; each part is scored by a model that did not learn from it, the held-out chats by the
mean of all. The base is all-mpnet-base-v2 (Apache-2.0); only its scores go on.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from research.training.memory_model import take_step
from research.training.memory_train import Chat, is_held, scored

HERE = Path(__file__).parent
BEGIN, END, PAD = 0, 2, 1
CANDIDATES, NEGATIVES = 48, 14
LONGEST = 240  # tokens of a message
Pair = tuple[int, int, int]  # chat, question, message


class Cross(nn.Module):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        from safetensors.torch import load_file
        from transformers import MPNetConfig, MPNetModel

        config = MPNetConfig.from_json_file(str(folder / "config.json"))
        self.encoder = MPNetModel(config, add_pooling_layer=False)
        given = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
        wanted = self.encoder.state_dict()
        self.encoder.load_state_dict({k: v for k, v in given.items() if k in wanted}, strict=False)
        self.head = nn.Linear(config.hidden_size, 1)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        mask = (tokens != PAD).long()
        states = self.encoder(input_ids=tokens, attention_mask=mask).last_hidden_state
        return self.head(states[:, 0]).squeeze(-1)  # type: ignore[no-any-return]


class Texts:
    """Token ids of every question and of every message with what stands around it."""

    def __init__(self, chats: list[Chat], path: Path) -> None:
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.no_truncation()

        def ids(texts: list[str]) -> list[list[int]]:
            return [one.ids for one in tokenizer.encode_batch(texts, add_special_tokens=False)]

        self.questions = [[q[:40] for q in ids([q["text"] for q in c.queries])] for c in chats]
        self.messages = [self._around(chat, ids(chat.whole())) for chat in chats]

    @staticmethod
    def _around(chat: Chat, said: list[list[int]]) -> list[list[int]]:
        found = []
        for at, own in enumerate(said):
            near = [
                said[other][:24]
                for other in (at - 2, at - 1, at + 1)
                if 0 <= other < len(said)
                and chat.messages[other]["session"] == chat.messages[at]["session"]
            ]
            found.append([*own[:LONGEST], END, *(token for part in near for token in part)])
        return found

    def pair(self, one: Pair) -> list[int]:
        chat, question, message = one
        asked, said = self.questions[chat][question], self.messages[chat][message]
        return [BEGIN, *asked, END, END, *said, END]


def batch(rows: list[list[int]], device: torch.device) -> Tensor:
    width = -(-max(map(len, rows)) // 8) * 8
    tokens = np.full((len(rows), width), PAD, np.int64)
    for at, row in enumerate(rows):
        tokens[at, : len(row)] = row
    return torch.from_numpy(tokens).to(device, non_blocking=True)


def by_length(
    model: Cross, rows: list[list[int]], size: Callable[[int], int], device: torch.device
) -> Tensor:
    """One score per row; rows of like length run together, so that little is padded.

    `size` is how many run at once, by the length of the shortest of them.
    """
    order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
    found, start = [], 0
    while start < len(order):
        part = [rows[at] for at in order[start : start + size(len(rows[order[start]]))]]
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            found.append(model(batch(part, device)).float())
        start += len(part)
    back = torch.empty(len(order), dtype=torch.int64)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(found)[back.to(device)]


def drawn(
    query: dict[str, Any], order: np.ndarray[Any, Any], rng: random.Random
) -> tuple[list[int], list[int]]:
    """Evidence (at most four) and negatives: near the top, around the evidence, anywhere."""
    right = query["positives"]
    inside = set(right)
    hard = [int(m) for m in order[:40] if int(m) not in inside]
    around = [m + step for m in right for step in (-2, -1, 1, 2)]
    around = [m for m in around if 0 <= m < len(order) and m not in inside]
    rest = [m for m in range(len(order)) if m not in inside]
    chosen = rng.sample(hard, min(8, len(hard))) + rng.sample(around, min(3, len(around)))
    chosen = list(dict.fromkeys(chosen))
    more = [m for m in rest if m not in set(chosen)]
    chosen += rng.sample(more, min(NEGATIVES - len(chosen), len(more)))
    return rng.sample(right, min(4, len(right))), chosen


def train(
    model: Cross,
    chats: list[Chat],
    used: list[int],
    texts: Texts,
    orders: list[np.ndarray[Any, Any]],
    options: argparse.Namespace,
    device: torch.device,
) -> None:
    rng = random.Random(options.seed)
    asked = [(c, q) for c in used for q, one in enumerate(chats[c].queries) if one["positives"]]
    steps = options.epochs * -(-len(asked) // options.batch)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=options.lr, weight_decay=0.01, fused=device.type == "cuda"
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.lr, total_steps=steps, pct_start=0.1, anneal_strategy="linear"
    )
    model.train()
    began = time.time()
    for epoch in range(options.epochs):
        rng.shuffle(asked)
        lost, count = torch.zeros((), device=device), 0
        for start in range(0, len(asked), options.batch):
            rows: list[list[int]] = []
            spans: list[tuple[int, int, int]] = []  # where, evidence, negatives
            for chat, question in asked[start : start + options.batch]:
                right, wrong = drawn(chats[chat].queries[question], orders[chat][question], rng)
                spans.append((len(rows), len(right), len(wrong)))
                rows += [texts.pair((chat, question, message)) for message in [*right, *wrong]]
            quarter = -(-len(rows) // 4)
            scores = by_length(model, rows, lambda _, most=quarter: most, device)
            losses = []
            for at, yes, no in spans:
                level = scores[at + yes : at + yes + no].logsumexp(0)
                losses.append(nn.functional.softplus(level - scores[at : at + yes]).mean())
            loss = torch.stack(losses).mean()
            lost += take_step(model, loss, optimizer, schedule)
            count += 1
            if options.limit and count >= options.limit:
                break
        print(
            f"epoch {epoch + 1}: {lost.item() / count:.3f} {time.time() - began:.0f} s", flush=True
        )


@torch.no_grad()
def score(
    model: Cross, pairs: list[Pair], texts: Texts, device: torch.device
) -> np.ndarray[Any, Any]:
    model.eval()
    rows = [texts.pair(pair) for pair in pairs]
    found = by_length(model, rows, lambda length: max(1, 65536 // (length + 8)), device)
    return found.cpu().numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--name", default="teacher")
    add("--first", type=Path, required=True, help="vectors of a first retriever, of every chat")
    add("--data", type=Path, default=HERE / "build" / "memory" / "chats.json")
    add("--base", type=Path, default=HERE / "build" / "mpnet")
    add("--out", type=Path, default=HERE / "build" / "memory")
    add("--folds", type=int, default=3)
    add("--epochs", type=int, default=3)
    add("--batch", type=int, default=16)
    add("--lr", type=float, default=2e-5)
    add("--seed", type=int, default=1)
    add("--limit", type=int, default=0, help="steps of an epoch (a smoke test)")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(options.seed)
    chats = [Chat(given) for given in json.loads(options.data.read_text("utf-8"))]
    texts = Texts(chats, options.base / "tokenizer.json")
    orders, pairs = [], []
    with np.load(options.first) as first:
        for at, chat in enumerate(chats):
            dense = first[f"{chat.id}.near"].astype(np.float32)
            late = first[f"{chat.id}.late"].astype(np.float32)
            orders.append(np.argsort(-(dense / dense.std() + late / late.std()), axis=1))
            for q, query in enumerate(chat.queries):
                chosen = {*map(int, orders[at][q, :CANDIDATES]), *query["positives"]}
                pairs.append([(at, q, message) for message in sorted(chosen)])
    learned = [at for at, chat in enumerate(chats) if not is_held(chat.id)]
    sums = [np.zeros(order.shape, np.float32) for order in orders]
    times = [0] * len(chats)
    for fold in range(options.folds):
        out = set(learned[fold :: options.folds])
        model = Cross(options.base).to(device)
        used = [at for at in learned if at not in out]
        train(model, chats, used, texts, orders, options, device)
        wanted = [part for part in pairs if part[0][0] in out or is_held(chats[part[0][0]].id)]
        made = score(model, [pair for part in wanted for pair in part], texts, device)
        at = 0
        for part in wanted:
            chat, question = part[0][:2]
            row = made[at : at + len(part)]
            at += len(part)
            whole = np.full(orders[chat].shape[1], row.min() - 1.0, np.float32)
            whole[[message for _, _, message in part]] = row
            sums[chat][question] += whole
        for chat in {part[0][0] for part in wanted}:
            times[chat] += 1
    taught = {c.id: s / t for c, s, t in zip(chats, sums, times, strict=True)}
    np.savez_compressed(
        options.out / f"{options.name}.npz", **{k: v.astype(np.float16) for k, v in taught.items()}
    )
    for title, some in (
        ("learned from", learned),
        ("held out", set(range(len(chats))) - set(learned)),
    ):
        rows = []
        for one in some:
            there = [at for at, q in enumerate(chats[one].queries) if q["positives"]]
            right = [chats[one].queries[at]["positives"] for at in there]
            if there:
                rows.append(scored(taught[chats[one].id][there], right))
        means = {k: round(float(np.mean([r[k] for r in rows])), 4) for k in rows[0]}
        print(f"{options.name}, {title} (by folds): {means}", flush=True)


if __name__ == "__main__":
    main()
