"""Prompts of many people and a model → what it writes as each of them, tuned and untuned.

    python -m research.experiments.people_run --prompts build/people/prompts.jsonl.xz \\
        --pilot build/people/pilot.jsonl.xz --base qwen.gguf --index qwen.json \\
        --tokenizer tokenizer.json --out build/people/run --seconds 560
    → run/chosen.json                 the rate, by held-out turns of the pilot's speakers
      run/adapters/k1/p3fa9c1b2.pt    one per person; n25 and n50 learn from so many turns alone
      run/rows/k1-tuned-greedy.jsonl  as persona_run.py writes them, for persona_rows.py
      run/report.json                 losses, tokens, seconds

What is there already is not made again, so that a call that was stopped goes on, by person and by
way. Twelve people learn at a time (qwen.py). A person's last tenth of turns is held out, and the
adapter is kept that predicts them best after an epoch; after two epochs without a better one the
person is done. Every third time a turn is learned from with the person's nearest own turns before
it, so that one adapter serves both ways of asking. Another person's adapter is that of the next one
by number of turns.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from research.experiments.persona_prompts import SWAPPED, WAYS, Prompts, Way
from research.experiments.qwen import IGNORED, Adapters, Base, Row, Sampling

# Written down before anything was trained; the rate is chosen from these by the pilot.
RATES = (2e-4, 4e-4, 8e-4)
RANK, ALPHA, WARMUP, SEED = 16, 32, 0.1, 0
PER_UPDATE, EPOCHS, LEAST_UPDATES, HELD_OUT = 4, 3, 60, 0.1
# Added after 108 people: none of their adapters would be another one.
PATIENCE = 2
PILOT_TURNS = 60  # of each of the pilot's speakers: about as many as most people have
CURVE, CURVE_FROM = (25, 50), 80  # numbers of turns, for those who have this many
SHOWN_EVERY = 3
PEOPLE = 12  # that learn at a time
PASS_TOKENS = 24_576  # through the model at once, in training
LONGEST = 160
SAMPLINGS = {"greedy": Sampling(), "sampled": Sampling(0.8, 0.95, SEED)}
SYSTEM = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
END = "<|im_end|>"

Facts = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """What is learned from: a prompt and its reply, and the same with own turns shown."""

    plain: list[int]
    shown: list[int]
    reply: list[int]

    def ids(self, time_seen: int) -> tuple[list[int], int]:
        """Prompt and reply, and where the reply begins, at the nth time (from 0)."""
        head = self.shown if self.shown and time_seen % SHOWN_EVERY == 2 else self.plain
        return head + self.reply, len(head)


class People:
    """The file of persona_prepare.py: what is learned from, as token ids, and what is asked."""

    def __init__(self, path: Path, tokenizer: Tokenizer) -> None:
        prompts = Prompts(path)
        self.head = prompts.head
        self.set = next(iter(self.head["sets"]))
        names = prompts.speakers(self.set)
        self.tested = {who: prompts.rows(self.set, "test", who) for who in names}
        self.learned: dict[str, list[Turn]] = {}
        for who in names:
            rows = prompts.rows(self.set, "learn", who)
            plain, shown = (
                encode(tokenizer, [row[field] for row in rows]) for field in ("text", "retrieved")
            )
            said = [row["reply"].strip() + END for row in rows]
            replies = [one.ids for one in tokenizer.encode_batch(said, add_special_tokens=False)]
            self.learned[who] = list(map(Turn, plain, shown, replies))
        self.names = sorted(names, key=lambda who: (len(self.learned[who]), who))


def encode(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """User messages in the model's chat form, as token ids."""
    asked = [
        f"<|im_start|>system\n{SYSTEM}{END}\n<|im_start|>user\n{text}{END}\n<|im_start|>assistant\n"
        for text in texts
    ]
    return [list(one.ids) for one in tokenizer.encode_batch(asked)]


@dataclass
class Learner:
    """One person's way through training."""

    name: str
    learned: list[Turn]
    held: list[Turn]
    rate: float

    @property
    def chunks(self) -> int:
        return -(-len(self.learned) // PER_UPDATE)

    @property
    def epochs(self) -> int:
        return max(EPOCHS, -(-LEAST_UPDATES // self.chunks))

    def updates(self, epoch: int) -> list[list[tuple[list[int], int]]]:
        """An epoch's turns by fours of like length, in an order that all people share by length."""
        noise = random.Random(f"{SEED} {self.name} {epoch}")
        turns = [turn.ids(epoch) for turn in self.learned]
        turns.sort(key=lambda turn: len(turn[0]) * noise.uniform(1, 1.05))
        chunks = [turns[at : at + PER_UPDATE] for at in range(0, len(turns), PER_UPDATE)]
        order = random.Random(f"{SEED} {epoch}")
        keys = [order.random() for _ in range(16)]
        last = max(1, len(chunks) - 1)
        placed = sorted(range(len(chunks)), key=lambda at: (keys[round(15 * at / last)], at))
        return [chunks[at] for at in placed]

    def rate_at(self, update: int) -> float:
        """Cosine down to nought, after a warm-up."""
        whole = self.chunks * self.epochs
        warm = max(1, round(whole * WARMUP))
        if update < warm:
            return self.rate * (update + 1) / warm
        return self.rate * 0.5 * (1 + math.cos(math.pi * (update - warm) / max(1, whole - warm)))


def learner(name: str, turns: Sequence[Turn], rate: float) -> Learner:
    held = max(1, round(len(turns) * HELD_OUT))
    return Learner(name, list(turns[:-held]), list(turns[-held:]), rate)


class Training:
    """Adapters of a group of people, learned together."""

    def __init__(self, base: Base, group: Sequence[Learner]) -> None:
        self.base, self.group = base, group
        self.adapters = Adapters.fresh(base, len(group), RANK, ALPHA, SEED)
        self.means = [torch.zeros_like(tensor) for tensor in self.adapters.tensors]
        self.squares = [torch.zeros_like(tensor) for tensor in self.adapters.tensors]
        self.counts = torch.zeros(len(group), device=base.device)
        self.tokens = self.padded = 0

    def run(self) -> tuple[Adapters, list[Facts]]:
        """The best adapters, and what is to be told of each person."""
        began = time.perf_counter()
        best = self.adapters.copied()
        losses = [self.held_out()]
        lowest = torch.full_like(losses[0], torch.inf)  # an adapter is kept even if none helps
        kept = [0] * len(self.group)
        done = [0] * len(self.group)  # epochs
        while going := [
            at
            for at, one in enumerate(self.group)
            if done[at] < one.epochs and done[at] - kept[at] < PATIENCE
        ]:
            self.epoch(len(losses) - 1, going)
            losses.append(self.held_out())
            better = torch.zeros_like(lowest, dtype=torch.bool)
            better[going] = losses[-1][going] < lowest[going]
            best.keep_better(self.adapters, better)
            lowest = torch.where(better, losses[-1], lowest)
            for at in going:
                done[at] += 1
                kept[at] = done[at] if better[at] else kept[at]
        seconds = time.perf_counter() - began
        facts = [
            {
                "turns": len(one.learned) + len(one.held),
                "rate": one.rate,
                "kept": kept[at],
                "held_out": [round(float(loss[at]), 4) for loss in losses[: done[at] + 1]],
            }
            for at, one in enumerate(self.group)
        ]
        say(
            f"{len(self.group)} people, {self.tokens / seconds:,.0f} tokens/s, "
            f"{self.padded / self.tokens:.2f} with padding; held out "
            f"{float(losses[0].mean()):.3f} → {float(lowest.mean()):.3f}"
        )
        facts[0] |= {"group_tokens": self.tokens, "group_seconds": round(seconds, 1)}
        return best, facts

    def epoch(self, epoch: int, going: Collection[int]) -> None:
        plans = [one.updates(epoch) if at in going else [] for at, one in enumerate(self.group)]
        for at in range(max(map(len, plans))):
            self.update([plan[at] if at < len(plan) else [] for plan in plans])

    def update(self, chunks: Sequence[Sequence[tuple[list[int], int]]]) -> None:
        """One step for everybody who has turns left; each by their own rate."""
        places = [at for at, chunk in enumerate(chunks) if chunk]
        some = [chunks[at] for at in places]
        sizes = [sum(len(ids) - start for ids, start in chunk) for chunk in some]
        weight = torch.tensor([1 / size for size in sizes], device=self.base.device)
        for ids, labels in self.passes(some):
            totals, _ = self.base.losses(ids, labels, self.adapters.rounded().take(places))
            (totals * weight).sum().backward()
        self.step([bool(chunk) for chunk in chunks])

    def passes(
        self, chunks: Sequence[Sequence[tuple[list[int], int]]]
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Rows side by side, as few passes as memory lets."""
        wide = max((len(ids) for chunk in chunks for ids, _ in chunk), default=0)
        rows = max(1, min(PER_UPDATE, PASS_TOKENS // max(1, wide * len(chunks))))
        for start in range(0, PER_UPDATE, rows):
            some = [chunk[start : start + rows] for chunk in chunks]
            if not any(some):
                continue
            width = max(len(ids) for own in some for ids, _ in own)
            shape = (len(chunks), rows, width)
            ids, labels = torch.zeros(shape, dtype=torch.long), torch.full(shape, IGNORED)
            for person, own in enumerate(some):
                for row, (tokens, begins) in enumerate(own):
                    ids[person, row, : len(tokens)] = torch.tensor(tokens)
                    said = torch.tensor(tokens[begins:])
                    labels[person, row, begins - 1 : len(tokens) - 1] = said
                    self.tokens += len(tokens)
            self.padded += ids.numel()
            yield ids.to(self.base.device), labels.to(self.base.device)

    @torch.no_grad()
    def step(self, moving: Sequence[bool]) -> None:
        """Adam, person by person: whoever has nothing left stays as they are."""
        rates = [
            one.rate_at(int(count)) if moves else 0.0
            for one, count, moves in zip(self.group, self.counts.tolist(), moving, strict=True)
        ]
        moves = torch.tensor(moving, device=self.base.device)
        self.counts += moves
        tensors = self.adapters.tensors
        grads = [tensor.grad for tensor in tensors]
        norm = sum(grad.flatten(1).square().sum(1) for grad in grads).sqrt()
        clip = (1.0 / norm.clamp(min=1.0)).view(-1, 1, 1, 1)
        mask = moves.view(-1, 1, 1, 1)
        counts = self.counts.clamp(min=1).view(-1, 1, 1, 1)
        rate = torch.tensor(rates, device=self.base.device).view(-1, 1, 1, 1)
        size = rate / (1 - 0.9**counts)
        for tensor, grad, mean, square in zip(
            tensors, grads, self.means, self.squares, strict=True
        ):
            grad.mul_(clip)
            mean.add_((grad - mean) * (0.1 * mask))
            square.add_((grad.square() - square) * (0.001 * mask))
            tensor.sub_(size * mean / ((square / (1 - 0.999**counts)).sqrt() + 1e-8))
            tensor.grad = None

    @torch.no_grad()
    def held_out(self) -> torch.Tensor:
        """Mean loss per token of each person's held-out turns, asked plainly."""
        rounded = self.adapters.rounded()
        totals = torch.zeros(len(self.group), device=self.base.device)
        counts = torch.zeros(len(self.group), device=self.base.device)
        tokens, padded = self.tokens, self.padded
        turns = [[turn.ids(0) for turn in one.held] for one in self.group]
        for own in turns:
            own.sort(key=lambda turn: -len(turn[0]))
        for at in range(0, max(map(len, turns)), PER_UPDATE):
            for ids, labels in self.passes([own[at : at + PER_UPDATE] for own in turns]):
                total, count = self.base.losses(ids, labels, rounded)
                totals += total
                counts += count
        self.tokens, self.padded = tokens, padded  # what is learned from is counted alone
        return totals / counts


class Run:
    """Everything that is to be made, most wanted first."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.out: Path = given.out
        self.seconds: float = given.seconds
        self.limit: int | None = given.limit
        tokenizer = Tokenizer.from_file(str(given.tokenizer))
        self.stops = [tokenizer.token_to_id(END), tokenizer.token_to_id("<|endoftext|>")]
        self.prompts = People(given.prompts, tokenizer)
        self.pilot = given.pilot
        self.tokenizer = tokenizer
        self.people = self.prompts.names[given.skip :][: given.people]
        say(f"{len(self.people)} people")
        self.base = Base.read(given.base, given.index, given.device)
        say("base is read")
        self.told = self.out / "report.json"
        self.report: Facts = {"trained": {}, "written": {}}
        if self.told.is_file():
            self.report = json.loads(self.told.read_text("utf-8"))

    def late(self) -> bool:
        return time.perf_counter() - BEGAN > self.seconds

    def work(self) -> None:
        rate = self.chosen_rate()
        main = {name: self.prompts.learned[name] for name in self.people}
        self.train(self.prompts.set, main, rate)
        self.write(self.prompts.set, WAYS, list(main))
        for size in CURVE:
            able = {name: own[-size:] for name, own in main.items() if len(own) >= CURVE_FROM}
            self.train(f"n{size}", able, rate)
            if able:
                self.write(f"n{size}", {"tuned": WAYS["tuned"]}, list(able))
        say("done" if not self.late() else "no time to begin more")

    def chosen_rate(self) -> float:
        """The rate whose adapters predict the held-out turns of the pilot's speakers best."""
        path = self.out / "chosen.json"
        if path.is_file():
            return float(json.loads(path.read_text("utf-8"))["chosen"])
        losses: dict[float, list[float]] = {}
        pilot = People(self.pilot, self.tokenizer).learned
        for rate in RATES:
            group = [learner(who, turns[-PILOT_TURNS:], rate) for who, turns in pilot.items()]
            _, facts = Training(self.base, group).run()
            losses[rate] = [min(fact["held_out"][1:]) for fact in facts]
            self.report.setdefault("pilot", {})[str(rate)] = facts
        means = {rate: sum(own) / len(own) for rate, own in losses.items()}
        best = min(means, key=lambda rate: means[rate])
        settings = {
            **{"rank": RANK, "alpha": ALPHA, "per_update": PER_UPDATE, "least_epochs": EPOCHS},
            **{"least_updates": LEAST_UPDATES, "patience": PATIENCE, "held_out": HELD_OUT},
            **{"seed": SEED, "shown_every": SHOWN_EVERY, "rate": best},
        }
        told = {"chosen": best, "held_out": means, "speakers": list(pilot)}
        save(path, json.dumps({**told, "settings": settings}, indent=1))
        self.save_report()
        say(f"rate {best}: {means}")
        return best

    def train(self, name: str, turns: Mapping[str, Sequence[Turn]], rate: float) -> None:
        folder = self.out / "adapters" / name
        folder.mkdir(parents=True, exist_ok=True)
        waiting = [who for who in turns if not (folder / f"{who}.pt").is_file()]
        waiting.sort(key=lambda who: (len(turns[who]), who))  # alike in what they have
        for start in range(0, len(waiting), PEOPLE):
            if self.late():
                return
            some = waiting[start : start + PEOPLE]
            best, facts = Training(
                self.base, [learner(who, turns[who], rate) for who in some]
            ).run()
            for at, (who, fact) in enumerate(zip(some, facts, strict=True)):
                own = best.take([at])
                torch.save({"a": own.a, "b": own.b}, folder / f"{who}.part")
                (folder / f"{who}.part").replace(folder / f"{who}.pt")
                self.report["trained"][f"{name} {who}"] = fact
            self.save_report()

    def bank(self, name: str, people: Sequence[str]) -> Adapters | None:
        """Everybody's adapters side by side; None while somebody's is missing."""
        folder = self.out / "adapters" / name
        if not all((folder / f"{who}.pt").is_file() for who in people):
            return None
        files = [torch.load(folder / f"{who}.pt", map_location=self.base.device) for who in people]
        a, b = (
            {key: torch.cat([file[side][key] for file in files]) for key in files[0][side]}
            for side in ("a", "b")
        )
        return Adapters(a, b, ALPHA / RANK)

    def write(self, name: str, ways: Mapping[str, Way], people: Sequence[str]) -> None:
        bank: Adapters | None = None
        for how, asked in ways.items():
            files = {way: self.out / "rows" / f"{name}-{how}-{way}.jsonl" for way in SAMPLINGS}
            if self.late() or all(file.is_file() for file in files.values()):
                continue
            if asked.tuned and bank is None and (bank := self.bank(name, people)) is None:
                continue
            self.write_way(name, how, asked, bank if asked.tuned else None, people, files)

    def write_way(
        self,
        name: str,
        how: str,
        asked: Way,
        bank: Adapters | None,
        people: Sequence[str],
        files: Mapping[str, Path],
    ) -> None:
        began = time.perf_counter()
        rows, speakers = [], {}
        for at, who in enumerate(people):
            tested = self.prompts.tested[who][: self.limit]
            place = (at + (how == SWAPPED)) % len(people) if asked.tuned else -1
            texts = [row[asked.field] for row in tested]
            for row, ids in zip(tested, encode(self.tokenizer, texts), strict=True):
                rows.append(Row(row["id"], ids, place))
                speakers[row["id"]] = who
        lines: dict[str, list[Facts]] = {way: [] for way in files}
        new = 0
        for way, row, tokens, ended in self.base.write(
            rows, bank, SAMPLINGS, stops=self.stops, longest=LONGEST
        ):
            text = self.tokenizer.decode(tokens, skip_special_tokens=True).strip()
            facts = {"speaker": speakers[row.id], "id": row.id, "text": text, "ended": ended}
            lines[way].append({**facts, "tokens_in": len(row.ids), "tokens_out": len(tokens)})
            new += len(tokens)
        about = self.prompts.head["sets"][self.prompts.set]
        order = {row.id: at for at, row in enumerate(rows)}
        for way, file in files.items():
            sampling = SAMPLINGS[way]
            head = {
                "simulator": asked.simulator + (" sampled" if way == "sampled" else ""),
                "prompt_version": self.prompts.head["prompt_version"],
                "context": about["context"],
                "chats": {who: about["chats"][who] for who in people},
                "settings": {
                    **{"base": "qwen2.5-coder-1.5b-instruct-q4_k_m", "set": name},
                    **(
                        {"examples": self.prompts.head["examples"]}
                        if asked.field == "retrieved"
                        else {}
                    ),
                    **sampling.__dict__,
                    **({"rate": self.chosen_rate()} if asked.tuned else {}),
                },
            }
            done = [head, *sorted(lines[way], key=lambda line: order[line["id"]])]
            file.parent.mkdir(parents=True, exist_ok=True)
            save(file, "".join(json.dumps(line) + "\n" for line in done))
        seconds = time.perf_counter() - began
        read = sum(len(row.ids) for row in rows)
        self.report["written"][f"{name}-{how}"] = {
            **{"turns": len(rows), "tokens_in": read, "tokens_out": new},
            **{"seconds": round(seconds, 1)},
        }
        self.save_report()
        say(f"{name} {how}: {len(rows):,} turns, {read:,} read, {new:,} new, {seconds:.0f} s")

    def save_report(self) -> None:
        save(self.told, json.dumps(self.report, indent=1))


BEGAN = time.perf_counter()


def save(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def say(line: str) -> None:
    sys.stdout.write(f"[{time.perf_counter() - BEGAN:6.1f} s] {line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--pilot", type=Path, help="prompts of the speakers that choose the rate")
    parser.add_argument("--base", type=Path, required=True, help="the GGUF")
    parser.add_argument("--index", type=Path, required=True, help="what qwen.py says of it")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing after")
    parser.add_argument("--people", type=int, help="only so many, with the fewest turns")
    parser.add_argument("--skip", type=int, default=0, help="so many with the fewest turns")
    parser.add_argument("--limit", type=int, help="tested turns of each, to try it out")
    Run(parser.parse_args()).work()


if __name__ == "__main__":
    main()
