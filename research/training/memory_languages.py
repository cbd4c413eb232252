"""The English retriever → one for many languages, taught to give a text its English twin's vector.

    python -m research.training.memory_languages --teacher first.safetensors --seconds 200 --save A
    python -m research.training.memory_languages --start A --freeze-rows --teacher all.safetensors --save B
    → B/open_table.npz, B/layers.safetensors, B/report.json: the table, the layers, what is found

The student has three layers of the teacher over a table of few columns (memory_languages_data.py).
A step takes lines with their neighbours in a row, as a chat is read, and each line once more
alone, in whatever language there is, as a question is: all their vectors shall be the teacher's of
the English twins, and best matches of tokens shall rank lines as the teacher's do. Every second
step takes a chat with questions, too: evidence shall win as in memory_train.py, and scores be those
that the teacher gives in English. Chats of other languages have evidence alone; every third of
these is held out, and so are lines of the split `dev`. The name tagger learns over the first run's
rows, so the second, with a better teacher, leaves them as they are.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import lzma
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from realtalk.encoders.sentences import pack
from research.training import memory_model as model
from research.training.memory_data import HERE, is_held
from research.training.memory_model import OpenRetriever, Retriever, best_matches, pooled

BUILD = HERE / "build" / "memory"
FIRST, LAST = 2, 3  # marks around a text of pieces
LAYERS = (0, 2, 5)  # of the teacher's, that the student begins with
ROW = 128  # tokens of neighbours in a row
HEATS = (0.05, 0.03)  # temperatures of vectors and of best matches
ROUNDED_FROM = 0.5  # of the time
SIZE = 0.1  # about the size of the table's numbers
OFTEN = {
    "xpersona": 2.0,
    "bcontrast_de": 0.7,
    "english": 0.4,
    "cldr_tts": 0.15,
    "cldr_default": 0.1,
}
ASKED = "ar de es fr hi hi-Latn id it ja ko pt ru th tr vi zh".split()  # noqa: SIM905 - twice as often
OTHER_CHATS = 0.03  # of steps with a chat: one of another language
Array = np.ndarray[Any, Any]
Ids = list[list[int]]
States = tuple[Tensor, Tensor]


class Laid(NamedTuple):
    """Texts in padded rows, and where each one's tokens are."""

    tokens: Tensor
    mask: Tensor
    at: Tensor
    inside: Tensor


class Batch(NamedTuple):
    """Texts of the same meaning in both vocabularies."""

    student: Laid
    teacher: Laid


class Asked(NamedTuple):
    """A chat's messages and some of its questions."""

    messages: Batch
    questions: Batch
    positives: list[list[int]]
    has_teacher: bool


def laid(texts: Ids, groups: Sequence[int] | None, most: int, first: int, last: int) -> Laid:
    made = pack(texts, groups, most, first, last)
    tokens, mask = model.padded(made.rows, torch.device("cpu"))
    return Laid(tokens, mask, *model.places(made.spans, tokens.shape))


def packed(pieces: Ids, words: Ids, groups: Sequence[int] | None) -> Batch:
    return Batch(
        laid(pieces, groups, ROW, FIRST, LAST),
        laid(words, groups, 2 * ROW, model.CLS, model.SEP),
    )


class Lines:
    """The packed pairs and chats; what is drawn of them."""

    def __init__(self, path: Path) -> None:
        with lzma.open(path) as stream, np.load(io.BytesIO(stream.read())) as stored:
            file = {name: stored[name] for name in stored.files}
        extra = json.loads(file["chats"].tobytes())
        self.chats, self.names, self.colon = (extra[n] for n in ("chats", "names", "colon"))
        self.pieces, self.words = (
            [part.tolist() for part in np.split(file[tokens], file[sizes].astype(int).sum(1).cumsum()[:-1])]
            for tokens, sizes in (("tokens", "sizes"), ("twin_tokens", "twin_sizes"))
        )  # fmt: skip
        self.twin = file["twin"]
        self.lang, self.set, split = (file[f"{n}_names"][file[n]] for n in ("lang", "set", "split"))
        self.is_dev = split == "dev"
        order = np.argsort(self.twin, kind="stable")
        borders = np.searchsorted(self.twin[order], np.arange(1, len(self.words)))
        self.of_twin = np.split(order, borders)
        weight = np.array([OFTEN.get(name, 1.0) for name in self.set])
        weight *= np.where(np.isin(self.lang, ASKED), 2.0, 1.0) * ~self.is_dev
        self.chance = np.cumsum(weight) / weight.sum()

    def drawn(self, count: int, rng: random.Random) -> tuple[Batch, Batch]:
        """Neighbours in rows, some with their speakers; and each line alone, in some language."""
        rows, groups, who = [], [], []
        while len(rows) < count:
            at = int(np.searchsorted(self.chance, rng.random()))
            size, names = 0, rng.sample(range(len(self.names[0])), 2)
            named = rng.random() < 0.6
            for place in range(at, min(at + rng.randint(1, 8), len(self.twin))):
                size += len(self.pieces[place]) + 5
                other = (self.set[place], self.lang[place]) != (self.set[at], self.lang[at])
                if other or (size > ROW and place > at) or self.is_dev[place]:
                    break
                rows.append(place)
                groups.append(at)
                who.append(names[len(rows) % 2] if named else -1)
        both = [[self.pieces[row] for row in rows], [self.words[self.twin[row]] for row in rows]]
        shown = [
            [self._said(ids, which, name) for ids, name in zip(texts, who, strict=True)]
            for which, texts in enumerate(both)
        ]
        alone = [self.pieces[rng.choice(self.of_twin[self.twin[row]])] for row in rows]
        return packed(*shown, groups), packed(alone, both[1], None)

    def _said(self, ids: list[int], which: int, name: int) -> list[int]:
        ids = ids[: ROW - 8]
        return ids if name < 0 else [*self.names[which][name], *self.colon[which], *ids]

    def asked(self, chat: dict[str, Any], most: int, rng: random.Random | None = None) -> Asked:
        """Names, the language of what is translated, and questions are drawn; or all as it is."""
        speakers, texts = chat["speakers"], [list(some) for some in chat["messages"]]
        places = list(range(len(chat["positives"])))
        if rng:
            rng.shuffle(places)
            if rng.random() < 0.4 and len(speakers[0]) < len(self.names[0]):
                chosen = rng.sample(range(len(self.names[0])), len(speakers[0]))
                speakers = [[self.names[which][at] for at in chosen] for which in (0, 1)]
            if chat["in"] and rng.random() < 0.8:
                for at, ids in chat["in"][rng.choice(sorted(chat["in"]))]:
                    texts[0][at] = ids
        messages = [
            [
                [*speakers[which][who], *self.colon[which], *ids[: ROW - 16]]
                for who, ids in zip(chat["by"], texts[which], strict=True)
            ]
            for which in (0, 1)
        ]
        questions = [[chat["questions"][which][at] for at in places[:most]] for which in (0, 1)]
        right = [chat["positives"][at] for at in places[:most]]
        is_english = not chat["id"].startswith("L")
        return Asked(
            packed(*messages, chat["sessions"]), packed(*questions, None), right, is_english
        )


class Steps(IterableDataset[tuple[tuple[Batch, Batch], Asked | None]]):
    """What every step takes, made ahead in several processes: one alone is slower than a GPU."""

    def __init__(self, lines: Lines, options: argparse.Namespace) -> None:
        self.lines, self.options = lines, options

    def __iter__(self) -> Iterator[tuple[tuple[Batch, Batch], Asked | None]]:
        lines, options, worker = self.lines, self.options, get_worker_info()
        rng = random.Random(options.seed * 1000 + (worker.id if worker else 0))
        taught = [chat for chat in lines.chats if chat["positives"] and not is_held(chat["id"])]
        kinds = [[c for c in taught if c["id"].startswith("L") == other] for other in (False, True)]
        while True:
            yield lines.drawn(options.lines, rng), None
            chat = rng.choice(kinds[rng.random() < OTHER_CHATS])
            yield lines.drawn(options.lines, rng), lines.asked(chat, options.questions, rng)


def states(of: Retriever, texts: Laid, device: torch.device) -> States:
    tokens, mask, at, inside = (each.to(device, non_blocking=True) for each in texts)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return model.taken(of(tokens, mask).float(), at), inside


def followed(own: Tensor, given: Tensor, heat: float) -> Tensor:
    """How far one set of scores is from the order of another."""
    return nn.functional.kl_div(
        (own / heat).log_softmax(-1), (given / heat).softmax(-1), reduction="batchmean"
    )


class Trainer:
    def __init__(self, student: OpenRetriever, teacher: Retriever, late: int) -> None:
        self.student, self.teacher, self.late = student, teacher, late
        self.device = next(teacher.parameters()).device

    def both(self, batch: Batch) -> tuple[States, States]:
        with torch.no_grad():
            given = states(self.teacher, batch.teacher, self.device)
        return states(self.student, batch.student, self.device), given

    def of_lines(self, rows: Batch, alone: Batch) -> Tensor:
        (own, given), (own_alone, given_alone) = self.both(rows), self.both(alone)
        targets, total = pooled(*given), torch.zeros((), device=self.device)
        for vectors, wanted in (
            (pooled(*own), targets),
            (pooled(*own_alone), pooled(*given_alone)),
        ):
            total = total + 4 * (1 - (vectors * wanted).sum(-1)).mean()
            total = total + followed(vectors @ targets.T, wanted @ targets.T, HEATS[0])
        few = [(some[0][: self.late], some[1][: self.late]) for some in (own_alone, own)]
        with torch.no_grad():
            few_given = [(s[0][: self.late], s[1][: self.late]) for s in (given_alone, given)]
            late = best_matches(self.teacher, *few_given)
        return total + followed(best_matches(self.student, *few), late, HEATS[1])

    def scores(self, of: Retriever, which: int, chat: Asked) -> tuple[Tensor, Tensor]:
        """By vectors and by best matches: [questions, messages]."""
        asked, own = (
            states(of, part[which], self.device) for part in (chat.questions, chat.messages)
        )
        return pooled(*asked) @ pooled(*own).T, best_matches(of, asked, own)

    def of_chat(self, chat: Asked) -> Tensor:
        scores = self.scores(self.student, 0, chat)
        right = torch.zeros_like(scores[0], dtype=torch.bool)
        for row, places in enumerate(chat.positives):
            right[row, places] = True
        share, total = right / right.sum(-1, keepdim=True), torch.zeros((), device=self.device)
        for values, heat in zip(scores, HEATS, strict=True):
            low = torch.finfo(values.dtype).min
            rest = (values / heat).masked_fill(right, low).logsumexp(-1, keepdim=True)
            total = total + (nn.functional.softplus(rest - values / heat) * share).sum(-1).mean()
        if chat.has_teacher:
            with torch.no_grad():
                given = self.scores(self.teacher, 1, chat)
            for values, wanted, heat in zip(scores, given, HEATS, strict=True):
                total = total + followed(values, wanted, heat)
        return total

    @torch.no_grad()
    def any5(self, lines: Lines, chat: dict[str, Any]) -> dict[str, float]:
        """The share of a chat's questions with evidence among five, by way."""
        whole = lines.asked(chat, len(chat["positives"]))
        dense, late = self.scores(self.student, 0, whole)
        ways = {"dense": dense, "late": late, "both": dense / dense.std() + late / late.std()}
        found = {}
        for way, values in ways.items():
            pairs = zip(values.topk(5).indices.tolist(), whole.positives, strict=True)
            found[way] = float(np.mean([bool(set(top) & set(right)) for top, right in pairs]))
        return found

    @torch.no_grad()
    def twins(self, lines: Lines, lang: str) -> float:
        """The share of held-out lines whose English twin is nearest among all held-out ones."""
        english = np.flatnonzero(lines.is_dev & (lines.set == "english"))
        rows = np.flatnonzero(
            lines.is_dev & (lines.lang == lang) & np.isin(lines.twin, lines.twin[english])
        )
        vectors = []
        for part in np.array_split([*english, *rows], 8):
            alone = laid([lines.pieces[row] for row in part], None, ROW, FIRST, LAST)
            vectors.append(pooled(*states(self.student, alone, self.device)))
        found = torch.cat(vectors)
        best = (found[len(english) :] @ found[: len(english)].T).argmax(-1).cpu().numpy()
        return float(np.mean(lines.twin[english][best] == lines.twin[rows]))


def begun(teacher: Retriever, table: Path, layers: Path | None) -> OpenRetriever:
    """Layers of an earlier run, or some of the teacher's, over a table; heads are the teacher's."""
    config = copy.deepcopy(teacher.encoder.config)
    config.vocab_size, config.num_hidden_layers = 1, len(LAYERS)
    with np.load(table) as file:
        rows, scales, projection = (
            torch.from_numpy(file[name]).float() for name in ("rows", "scales", "projection")
        )
    rows *= scales[:, None]
    size = 1.0 if layers else rows.square().mean().sqrt() / SIZE
    student = OpenRetriever(config, teacher.late.out_features, rows / size, projection * size)
    given = {n: v for n, v in teacher.state_dict().items() if "word_embeddings" not in n}
    kept = {name: value for name, value in given.items() if ".layer." not in name}
    for new, old in enumerate(LAYERS):
        own, theirs = (f"encoder.encoder.layer.{at}." for at in (new, old))
        kept |= {n.replace(theirs, own): v for n, v in given.items() if n.startswith(theirs)}
    if layers:
        kept |= {n: v for n, v in load_file(layers).items() if n.startswith("encoder.")}
    missing, unexpected = student.load_state_dict(kept, strict=False)
    assert not unexpected and len(missing) == 3, (missing, unexpected)  # the table, a word's row
    return student


def save(student: OpenRetriever, folder: Path, report: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = student.rows.weight.detach().cpu()
    scales = (rows.abs().amax(-1) / model.STEPS).clamp(min=1e-12)
    whole = (rows / scales[:, None]).round().to(torch.int8).numpy()
    projection = student.projection.detach().cpu().numpy()
    np.savez(folder / "open_table.npz", rows=whole, scales=scales.numpy(), projection=projection)
    outside = ("rows.", "projection", "encoder.embeddings.word_embeddings")
    kept = {n: v for n, v in student.state_dict().items() if not n.startswith(outside)}
    halves = {name: value.half().cpu().contiguous() for name, value in kept.items()}
    save_file(halves, folder / "layers.safetensors")
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")


def load_teacher(weights: Path, base: Path) -> Retriever:
    """A trained retriever, or the base itself where its folder is given."""
    teacher = model.load_base(base)
    if weights.is_file():
        given = {name: value.float() for name, value in load_file(weights).items()}
        teacher.load_state_dict({name: given[name] for name in teacher.state_dict()})
    return teacher.eval()


def train(trainer: Trainer, lines: Lines, options: argparse.Namespace) -> int:
    """Steps down the gradient until the time is over; how many they were."""
    student = trainer.student.train()
    student.rows.requires_grad_(not options.freeze_rows)
    rest = [value for name, value in student.named_parameters() if name != "rows.weight"]
    groups = [
        {"params": [student.rows.weight], "lr": options.table_lr, "weight_decay": 0.0},
        {"params": rest, "lr": options.lr},
    ][options.freeze_rows :]
    on_gpu = trainer.device.type == "cuda"
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=on_gpu)
    rates = [group["lr"] for group in optimizer.param_groups]
    start, told, done = time.time(), 0.0, 0
    lost = torch.zeros((), device=trainer.device)
    torch.multiprocessing.set_sharing_strategy("file_system")  # more tensors than open files
    for drawn, chat in DataLoader(
        Steps(lines, options), batch_size=None, num_workers=options.workers, pin_memory=on_gpu
    ):
        part = (time.time() - start) / options.seconds
        if part >= 1:
            break
        student.is_rounded = part > ROUNDED_FROM or options.freeze_rows
        factor = min(1.0, (done + 1) / 200) * 0.5 * (1 + math.cos(math.pi * part))
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * factor
        loss = trainer.of_lines(*drawn)
        if chat is not None:
            loss = loss + trainer.of_chat(chat)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        lost += loss.detach()
        done += 1
        if time.time() - told > 20:
            print(f"{part:.2f} {done} steps, loss {float(lost) / done:.3f}", flush=True)
            told = time.time()
    student.eval()
    student.is_rounded = True
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--teacher", type=Path, required=True, help="the English retriever's weights, or the base")
    add("--base", type=Path, default=HERE / "build" / "minilm", help="MiniLM's folder")
    add("--start", type=Path, help="a folder of an earlier run to go on from")
    add("--freeze-rows", action="store_true", help="the table's rows stay as they are")
    add("--data", type=Path, default=BUILD / "languages.npz.xz")
    add("--table", type=Path, default=BUILD / "open_table_init.npz")
    add("--save", type=Path, required=True)
    add("--seconds", type=float, default=160, help="of training; loading and scoring come to it")
    add("--seed", type=int, default=1)
    add("--lines", type=int, default=768, help="of a step, in rows and again alone")
    add("--late", type=int, default=192, help="lines whose best matches are compared")
    add("--questions", type=int, default=48, help="of a chat in one step")
    add("--workers", type=int, default=8, help="processes that make steps")
    add("--lr", type=float, default=3e-4)
    add("--table-lr", type=float, default=1e-3)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    teacher = load_teacher(options.teacher, options.base)
    before = options.start
    table = before / "open_table.npz" if before else options.table
    student = begun(teacher, table, before and before / "layers.safetensors").to(device)
    lines = Lines(options.data)
    trainer = Trainer(student, teacher.to(device), options.late)
    done = train(trainer, lines, options)
    others = [chat for chat in lines.chats if chat["id"].startswith("L")]
    found = {chat["id"]: trainer.any5(lines, chat) for chat in others}
    report = {"steps": done, "any@5": found, "twins": {n: trainer.twins(lines, n) for n in ASKED}}
    report["held"] = [name for name in found if is_held(name)]
    print(json.dumps(report, indent=1))
    save(student, options.save, report)


if __name__ == "__main__":
    main()
