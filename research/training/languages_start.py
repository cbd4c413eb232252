"""The English encoder → a multilingual one to begin with, and what English says of every twin.

    teacher = english_encoder(folder)                  the shipped file, as a model to run
    model = multilingual(teacher, rows)                the same body over new rows of embeddings
    rows = first_rows(data, teacher, extra)            each piece: the mean of what it translates

Translations come from the pairs themselves: which English tokens go with which piece is counted,
then weighed by expectation (IBM model 1), on the device. Pieces that are English words begin as
these; pieces that a multilingual sentence encoder knows begin near its vector, mapped here
(languages_use.py); the others as their longest beginning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from research.training.ei_heads import HEADS as ENGLISH
from research.training.ei_heads import PLACES
from research.training.ei_model import CLS, SEP, EiModel
from research.training.languages_heads import ENGLISH_WIDTH, WIDTH
from research.training.languages_rows import LanguageData
from research.training.languages_weights import WORDS, shipped

LONGEST = 40  # tokens of a pair that is counted
ROUNDS = 5
SMALLEST = 0.03  # of a piece's probabilities that still count
KNOWN = 20.0  # times that a piece must be seen in pairs to count as much as a mapped vector


def english_encoder(folder: Path, base: Path) -> EiModel:
    """The shipped encoder, its 8-bit weights restored."""
    from transformers import BertConfig

    config = BertConfig.from_json_file(str(base))
    config._attn_implementation = "sdpa"
    model = EiModel(config)
    model.load_state_dict(shipped(folder))
    return model


def multilingual(teacher: EiModel, vocabulary: int) -> EiModel:
    """The same body and heads; new rows of embeddings and of heads are random."""
    import copy

    config = copy.deepcopy(teacher.encoder.config)
    config.vocab_size = vocabulary
    config._attn_implementation = "sdpa"
    model = EiModel(config, width=WIDTH)
    given, own = teacher.state_dict(), model.state_dict()
    for name, values in given.items():
        if name == WORDS:
            continue
        if name.startswith("heads."):
            own[name][:ENGLISH_WIDTH] = values
        else:
            own[name] = values
    model.load_state_dict(own)
    return model


@torch.no_grad()
def of_twins(
    teacher: EiModel, data: LanguageData, precision: Any, at_once: int = 1024
) -> tuple[Tensor, Tensor]:
    """The pooled vectors of all twins, and what the shipped heads say of them (else nan)."""
    rows, device = data.twins, data.tokens.device
    teacher.eval()
    count = len(rows.lengths)
    vectors = torch.empty(count, 3 * teacher.encoder.config.hidden_size, dtype=torch.float16)
    said = torch.full((count, WIDTH), torch.nan, dtype=torch.float16)
    vectors, said = vectors.to(device), said.to(device)
    shipped = np.concatenate(
        [np.arange(WIDTH)[PLACES[name]] for name, head in ENGLISH.items() if head.shipped]
    )
    columns = torch.from_numpy(shipped).to(device)
    order = np.argsort(rows.lengths, kind="stable")
    for start in range(0, count, at_once):
        part = order[start : start + at_once]
        index = torch.from_numpy(part).to(device)
        with precision():
            pooled = teacher.pooled(*rows.batch(index, rows.width(part)))
            logits = teacher.heads(pooled)
        vectors[index] = pooled.half()
        said[index[:, None], columns] = logits[:, columns].half()
    return vectors, said


def cells(data: LanguageData, at_once: int = 20_000) -> tuple[Tensor, Tensor, Tensor]:
    """Of every pair each (English token, piece) that may belong together.

    Returns which token of which pair a cell is about, its piece (0: none), its English token.
    """
    rows = torch.nonzero(data.twin >= 0).flatten()
    foreign = torch.from_numpy(data.lang != "en").to(rows.device)
    rows = rows[foreign[rows]]
    about, pieces, words = [], [], []
    place = torch.arange(LONGEST, device=rows.device)
    counted = 0

    def turns(of: Any, index: Tensor) -> tuple[Tensor, Tensor]:
        """The turns' own tokens, and which of them there are."""
        start, end = of.borders[index].long(), of.ends[index].long() - 1
        at = (start[:, None] + place).clamp(max=of.tokens.shape[1] - 1)
        there = place < (end - start)[:, None]
        return of.tokens[index[:, None], at].long() & 0xFFFF, there

    for some in rows.split(at_once):
        said, is_said = turns(data, some)
        meant, is_meant = turns(data.twins, data.twin[some])
        said = torch.cat([torch.zeros_like(said[:, :1]), said], 1)  # a word may come from nowhere
        is_said = torch.cat([torch.ones_like(is_said[:, :1]), is_said], 1)
        both = is_meant[:, :, None] & is_said[:, None, :]
        at = both.nonzero()
        about.append(at[:, 0] * LONGEST + at[:, 1] + counted)
        pieces.append(said[at[:, 0], at[:, 2]])
        words.append(meant[at[:, 0], at[:, 1]])
        counted += len(some) * LONGEST
    return torch.cat(about), torch.cat(pieces), torch.cat(words)


def translated(data: LanguageData, table: Tensor) -> tuple[Tensor, Tensor]:
    """Per piece the mean of the English rows that it translates, and how often it was seen."""
    about, pieces, words = cells(data)
    keys, place = torch.unique(pieces * len(table) + words, return_inverse=True)
    piece, word = keys // len(table), keys % len(table)
    chance = torch.ones(len(keys), device=table.device)
    spoken = int(about.max()) + 1 if len(about) else 1
    for _ in range(ROUNDS):
        weight = chance[place]
        whole = torch.zeros(spoken, device=table.device).index_add_(0, about, weight)
        expected = torch.zeros_like(chance).index_add_(0, place, weight / whole[about])
        sums = torch.zeros(data.vocabulary, device=table.device).index_add_(0, piece, expected)
        chance = expected / sums[piece].clamp(min=1e-9)
    strong = chance >= SMALLEST
    piece, word, chance = piece[strong], word[strong], chance[strong]
    total = torch.zeros(data.vocabulary, table.shape[1], device=table.device)
    lengths = torch.zeros(data.vocabulary, device=table.device)
    weights = torch.zeros(data.vocabulary, device=table.device)
    norms = table.norm(dim=1)
    for at in torch.arange(len(piece), device=table.device).split(1_000_000):
        p, w, c = piece[at], word[at], chance[at]
        total.index_add_(0, p, table[w] * c[:, None])
        lengths.index_add_(0, p, norms[w] * c)
        weights.index_add_(0, p, c)
    mean = total / weights.clamp(min=1e-9)[:, None]
    # A mean of many rows is short: it gets the length that they have on average.
    scale = lengths / weights.clamp(min=1e-9) / mean.norm(dim=1).clamp(min=1e-6)
    return mean * scale.clamp(max=4.0)[:, None], sums


def first_rows(data: LanguageData, teacher: EiModel, extra: dict[str, Any] | None) -> Tensor:
    """Where every piece's embedding begins."""
    device = data.tokens.device
    table = teacher.state_dict()[WORDS].to(device).float()
    rows, seen = translated(data, table)
    weight = seen.clone()
    if extra is not None:  # mapped from a multilingual sentence encoder
        mapped = torch.from_numpy(extra["rows"]).to(device).float()
        mapped *= torch.from_numpy(extra["scales"]).to(device).float()[:, None]
        known = torch.from_numpy(extra["known"]).to(device).float() * KNOWN
        rows = rows * seen[:, None] + mapped * known[:, None]
        weight = seen + known
        rows = rows / weight.clamp(min=1e-9)[:, None]
    is_english = torch.from_numpy(data.lang == "en").to(device)
    counts = torch.zeros(2, data.vocabulary, device=device)
    for at in torch.arange(len(data.tokens), device=device).split(100_000):
        tokens = data.tokens[at].long() & 0xFFFF
        for which in (0, 1):
            found = tokens[is_english[at] == bool(which)].flatten()
            counts[which] += torch.bincount(found, minlength=data.vocabulary)[: data.vocabulary]
    matches = torch.from_numpy(data.matches).to(device).long()
    share = counts[1] / counts.sum(0).clamp(min=1)
    share = torch.where(weight > 0, share, 1.0) * (matches >= 0)
    rows = share[:, None] * table[matches.clamp(min=0)] + (1 - share)[:, None] * rows
    begun = (weight > 0) | (matches >= 0)
    kin = torch.from_numpy(data.kin).to(device).long()
    for _ in range(3):  # beginnings of beginnings
        lent = ~begun & (kin >= 0) & begun[kin.clamp(min=0)]
        rows[lent] = rows[kin[lent]]
        begun = begun | lent
    rest = nn.functional.normalize(torch.randn_like(rows), dim=1) * table.norm(dim=1).mean()
    rows = torch.where(begun[:, None], rows, 0.3 * rest + table.mean(0))
    for ours, theirs in ((0, 0), (data.unknown, 100), (data.first, CLS), (data.last, SEP)):
        rows[ours] = table[theirs]
    kinds = {"begun": begun, "English": matches >= 0, "translated": seen > 0}
    print({name: int(of.sum()) for name, of in kinds.items()}, flush=True)
    return rows
