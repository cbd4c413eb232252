"""Trains the retriever on chats with questions and evidence, on a CPU or an accelerator.

    python -m research.training.memory_train --name held --hold             # scored on chats not seen
    python -m research.training.memory_train --name all1 --seed 1 --save    # on everything
    python -m research.training.memory_train --name mean --hold --mean k1.safetensors k2.safetensors

A step takes one chat, all its messages and some of its questions; every message of the chat is a
candidate. Each evidence message competes with all that is no evidence; `--teacher` also asks for
the order that a larger model gave (`memory_cross.py`). What is drawn anew each time: other names
for the speakers, long messages broken into bubbles, where rows begin. Results go to
OUT/<name>.json, vectors of the chats that were asked for to OUT/<name>.npz. All runs begin with the
same weights, so that the mean of several is a model too (`--mean`: nothing is learned then).
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from realtalk.encoders.sentences import pack, passages
from research.training.memory_data import PASSAGE
from research.training.memory_model import (
    CLS,
    SEP,
    Retriever,
    best_matches,
    load_base,
    padded,
    pooled,
    spread,
    take_step,
)
from research.training.names import NAMES

HERE = Path(__file__).parent
SHARP, SHARP_LATE = 0.05, 0.03  # temperatures


class Chat:
    """One chat of the data file, drawn anew at each step."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.id: str = given["id"]
        self.speakers: list[str] = given["speakers"]
        self.messages: list[dict[str, Any]] = given["messages"]
        self.queries: list[dict[str, Any]] = given["queries"]
        self.taught = torch.empty(0)  # a teacher's scores, [questions, messages]
        for at, query in enumerate(self.queries):
            query["at"] = at

    def whole(self) -> list[str]:
        """Every message with its speaker's name."""
        return [self._shown(m["text"], m["speaker"], self.speakers, True) for m in self.messages]

    def plain(self, named: bool) -> tuple[list[str], list[int], list[int]]:
        """Passages, their sessions, and which message each is of."""
        texts, sessions, owners = [], [], []
        for at, message in enumerate(self.messages):
            for part in passages(message["text"], PASSAGE):
                texts.append(self._shown(part, message["speaker"], self.speakers, named))
                sessions.append(message["session"])
                owners.append(at)
        return texts, sessions, owners

    def drawn(
        self, rng: random.Random, named: bool
    ) -> tuple[list[str], list[int], list[int], dict[str, str]]:
        """As `plain`, with other names and broken into bubbles."""
        names = dict(zip(self.speakers, self.speakers, strict=True))
        if rng.random() < 0.5:
            names = dict(zip(self.speakers, rng.sample(NAMES, len(self.speakers)), strict=True))
        broken = rng.choice([0.0, 0.0, 0.5, 0.9])
        bare = rng.random() < 0.15
        texts, sessions, owners = [], [], []
        new = [names[name] for name in self.speakers]
        for at, message in enumerate(self.messages):
            text = renamed(message["text"], names)
            if bare:
                text = re.sub(r"[.,!?'’]", "", text)
            for part in bubbles(text, rng) if rng.random() < broken else passages(text, PASSAGE):
                texts.append(self._shown(part, message["speaker"], new, named))
                sessions.append(message["session"])
                owners.append(at)
        return texts, sessions, owners, names

    @staticmethod
    def _shown(text: str, speaker: int, names: list[str], named: bool) -> str:
        return f"{names[speaker]}: {text}" if named else text


def is_held(id_: str) -> bool:
    """Whether a chat is for choosing settings and is not trained on meanwhile.

    Every third invented chat, whose questions are nearest to people's, and every fifth other.
    """
    return int(id_[1:]) % (5 if id_.startswith("T") else 3) == 0


def renamed(text: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        if old != new:
            text = text.replace(old, new)
    return text


def bubbles(text: str, rng: random.Random) -> list[str]:
    """A message's sentences, one or two a bubble."""
    found: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if found and rng.random() < 0.35:
            found[-1] += " " + sentence
        else:
            found.append(sentence)
    return found


def tokenised(tokenizer: Tokenizer, texts: list[str], most: int) -> list[list[int]]:
    return [e.ids[:most] for e in tokenizer.encode_batch(texts, add_special_tokens=False)]


class Encoded:
    """A chat's messages and some questions, through the model."""

    def __init__(
        self,
        model: Retriever,
        parts: list[list[int]],
        sessions: list[int],
        asked: list[list[int]],
        most: int,
        device: torch.device,
    ) -> None:
        laid = pack(parts, sessions if most else None, most, CLS, SEP)
        hidden = model(*padded(laid.rows, device))
        self.own = spread(hidden, laid.spans)
        self.messages = pooled(*self.own)
        alone = pack(asked, None, 0, CLS, SEP)
        self.asked = spread(model(*padded(alone.rows, device)), alone.spans)
        self.questions = pooled(*self.asked)


def best_of(scores: Tensor, owners: list[int]) -> Tensor:
    """[questions, passages] → [questions, messages]: the best passage of each message."""
    where = torch.tensor(owners, device=scores.device).expand(len(scores), -1)
    low = torch.finfo(scores.dtype).min
    best = torch.full((len(scores), owners[-1] + 1), low, device=scores.device, dtype=scores.dtype)
    return best.scatter_reduce(1, where, scores, "amax", include_self=False)


def fitted(scores: Tensor, groups: Tensor, mates: Tensor) -> Tensor:
    """Minus the log chance that each evidence message wins against all that is no evidence.

    `groups` [evidence, texts] are the bubbles of one evidence message, `mates` all bubbles that
    are evidence of the same question; `scores` [evidence, texts].
    """
    low = torch.finfo(scores.dtype).min
    right = scores.masked_fill(~groups, low).logsumexp(-1)
    rest = scores.masked_fill(mates, low).logsumexp(-1)
    return nn.functional.softplus(rest - right)


def drawn_queries(
    chat: Chat, options: argparse.Namespace, rng: random.Random
) -> Iterator[list[dict[str, Any]]]:
    """One epoch's questions, some at a time."""
    chosen = [q for q in chat.queries if q["positives"]]
    rng.shuffle(chosen)
    size = math.ceil(len(chosen) / max(1, math.ceil(len(chosen) / options.batch)))
    for start in range(0, len(chosen), max(1, size)):
        yield chosen[start : start + size]


def step_loss(
    model: Retriever,
    tokenizer: Tokenizer,
    chat: Chat,
    queries: list[dict[str, Any]],
    options: argparse.Namespace,
    rng: random.Random,
    device: torch.device,
) -> Tensor:
    names: dict[str, str] = {}
    if options.drawn:
        texts, sessions, owners, names = chat.drawn(rng, options.named)
    else:
        texts, sessions, owners = chat.plain(options.named)
    if options.chunk and rng.random() < 0.5:  # rows begin elsewhere
        cut = rng.randrange(3, 9)
        sessions = [session * 1000 + at // cut for at, session in enumerate(sessions)]
    asked = [renamed(q["text"], names) for q in queries]
    if options.drawn:
        asked = [text.rstrip("?") if rng.random() < 0.15 else text for text in asked]
    parts = tokenised(tokenizer, texts, options.longest)
    questions = tokenised(tokenizer, asked, 64)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        made = Encoded(model, parts, sessions, questions, options.chunk, device)
        late = best_matches(model, made.asked, made.own)
    where = torch.tensor(owners)
    groups, mates, rows, weights = [], [], [], []
    for at, query in enumerate(queries):
        every = torch.isin(where, torch.tensor(query["positives"]))
        for place in query["positives"]:
            groups.append(where == place)
            mates.append(every)
            rows.append(at)
            weights.append(1.0 / len(query["positives"]))
    group, mate = torch.stack(groups).to(device), torch.stack(mates).to(device)
    row = torch.tensor(rows, device=device)
    weight = torch.tensor(weights, device=device)
    dense = (made.questions @ made.messages.T) / SHARP
    loss = fitted(dense[row], group, mate) + options.late * fitted(
        late[row] / SHARP_LATE, group, mate
    )
    total = (loss * weight).sum() / len(queries)
    if not options.teacher:
        return total
    given = torch.stack([chat.taught[query["at"]] for query in queries]).to(device)
    for scores in (dense, late / SHARP_LATE):
        best = best_of(scores, owners).log_softmax(-1)
        apart = nn.functional.kl_div(
            best, (given / options.soft).softmax(-1), reduction="batchmean"
        )
        total = total + options.follow * apart
    return total


def train(
    model: Retriever, chats: list[Chat], options: argparse.Namespace, device: torch.device
) -> None:
    rng = random.Random(options.seed)
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    small = [*model.late.parameters(), *model.weigh.parameters()]
    groups = [
        {"params": list(model.encoder.parameters()), "lr": options.lr},
        {"params": small, "lr": 5e-4},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=device.type == "cuda")
    epochs = []
    for _ in range(options.epochs):
        steps = [(chat, part) for chat in chats for part in drawn_queries(chat, options, rng)]
        rng.shuffle(steps)
        epochs.append(steps)
    total = sum(map(len, epochs))
    warm = max(1, int(0.1 * total))

    def rate(step: int) -> float:
        return min((step + 1) / warm, max(0.0, (total - step) / max(1, total - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    began, done = time.time(), 0
    model.train()
    for epoch, steps in enumerate(epochs):
        lost = torch.zeros((), device=device)
        for chat, queries in steps:
            loss = step_loss(model, tokenizer, chat, queries, options, rng, device)
            lost += take_step(model, loss, optimizer, schedule)
            done += 1
            if options.limit and done >= options.limit:
                return
        took = time.time() - began
        print(
            f"{options.name} {epoch + 1}: {lost.item() / len(steps):.3f} {took:.0f} s", flush=True
        )


@torch.no_grad()
def vectors(
    model: Retriever, chat: Chat, options: argparse.Namespace, device: torch.device
) -> dict[str, np.ndarray[Any, Any]]:
    """Vectors of a chat's questions and passages, and how near and how well matched each message is."""
    model.eval()
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts, sessions, owners = chat.plain(options.named)
    asked = [q["text"] for q in chat.queries]
    parts, questions = tokenised(tokenizer, texts, 256), tokenised(tokenizer, asked, 64)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        made = Encoded(model, parts, sessions, questions, options.chunk, device)
        late = best_matches(model, made.asked, made.own)
    near = made.questions @ made.messages.T
    found = {"passages": made.messages, "questions": made.questions}
    found |= {"near": best_of(near, owners), "late": best_of(late, owners)}
    return {name: value.cpu().numpy().astype(np.float16) for name, value in found.items()}


def scored(scores: np.ndarray[Any, Any], positives: list[list[int]]) -> dict[str, float]:
    """any@5, nDCG@10 and recall@20."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :20]
    gain = 1 / np.log2(np.arange(10) + 2)
    rows = []
    for top, right in zip(order, positives, strict=True):
        hit = np.isin(top, right)
        ideal = gain[: min(10, len(right))].sum()
        rows.append((hit[:5].any(), (hit[:10] * gain).sum() / ideal, hit.sum() / len(right)))
    means = np.mean(rows, axis=0)
    return dict(zip(("any@5", "ndcg@10", "recall@20"), map(float, means.round(4)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--name", required=True)
    add("--data", type=Path, default=HERE / "build" / "memory" / "chats.json")
    add("--base", type=Path, default=HERE / "build" / "minilm")
    add("--tokenizer", type=Path, default=HERE / "build" / "minilm" / "tokenizer.json")
    add("--out", type=Path, default=HERE / "build" / "runs")
    add("--hold", action="store_true", help="train without the held-out chats")
    add("--score", choices=("held", "every"), default="held", help="whose vectors to keep")
    add("--seed", type=int, default=0)
    add("--epochs", type=int, default=8)
    add("--batch", type=int, default=96)
    add("--lr", type=float, default=5e-5)
    add("--chunk", type=int, default=0, help="tokens of neighbours in a row; 0: messages alone")
    add("--longest", type=int, default=128, help="tokens of a message while training")
    add("--named", action="store_true", help="begin every message with its speaker")
    add("--drawn", action="store_true", help="names, bubbles and punctuation drawn anew")
    add("--teacher", type=Path, help="scores of a larger model, one array per chat")
    add("--soft", type=float, default=1.0, help="temperature of the teacher's scores")
    add("--follow", type=float, default=1.0, help="weight of following the teacher")
    add("--late", type=float, default=0.5, help="weight of best matches")
    add("--layers", type=int, default=0, help="keep only the first so many")
    add("--mean", type=Path, nargs="*", help="weights whose mean is scored; nothing is learned")
    add("--save", action="store_true")
    add("--limit", type=int, default=0, help="stop after so many steps (a smoke test)")
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    chats = [Chat(given) for given in json.loads(options.data.read_text("utf-8"))]
    held = [chat for chat in chats if is_held(chat.id)]
    used = [chat for chat in chats if not (options.hold and chat in held)]
    if options.teacher:
        with np.load(options.teacher) as file:
            for chat in used:
                chat.taught = torch.from_numpy(file[chat.id].astype(np.float32))
    torch.manual_seed(0)  # what begins at random begins alike in every run
    model = load_base(options.base)
    torch.manual_seed(options.seed)
    if options.layers:
        model.encoder.encoder.layer = model.encoder.encoder.layer[: options.layers]
    model = model.to(device)
    if options.mean:
        from safetensors.torch import load_file

        parts = [load_file(path) for path in options.mean]
        mean = {name: sum(part[name].float() for part in parts) / len(parts) for name in parts[0]}
        model.load_state_dict(mean)
    else:
        train(model, used, options, device)
    result: dict[str, Any] = {"options": {k: str(v) for k, v in vars(options).items()}}
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    tables: dict[str, list[dict[str, float]]] = {"dense": [], "late": [], "both": []}
    for chat in held if options.score == "held" else chats:
        made = vectors(model, chat, options, device)
        arrays |= {f"{chat.id}.{name}": value for name, value in made.items()}
        if chat not in held:
            continue
        there = [at for at, query in enumerate(chat.queries) if query["positives"]]
        right = [chat.queries[at]["positives"] for at in there]
        dense, late = made["near"].astype(np.float32), made["late"].astype(np.float32)
        both = dense / dense.std() + late / late.std()
        for name, scores in (("dense", dense), ("late", late), ("both", both)):
            tables[name].append(scored(scores[there], right))
    for name, rows in tables.items():
        if rows:
            result[name] = {k: round(float(np.mean([r[k] for r in rows])), 4) for k in rows[0]}
    if arrays:
        np.savez(options.out / f"{options.name}.npz", **arrays)
    if options.save:
        from safetensors.torch import save_file

        weights = {k: v.half().cpu().contiguous() for k, v in model.state_dict().items()}
        save_file(weights, options.out / f"{options.name}.safetensors")
    result["seconds"] = round(time.time() - began, 1)
    (options.out / f"{options.name}.json").write_text(json.dumps(result, indent=1))
    print(options.name, {k: v for k, v in result.items() if k != "options"}, flush=True)


if __name__ == "__main__":
    main()
