"""Vectors of held-out chats → the weights of the ranking, and what they score on those chats.

    python -m research.training.memory_fit --name k1
    → chats not seen: any@5 .95 …; weights for `realtalk.memory.index.FUSED`
    python -m research.training.memory_fit --others
    → the same of the four chats in other languages (L) that the multilingual encoder has not
      learned from, for `MULTILINGUAL`

The chats are those that `memory_train.py --hold` left out. The weights maximise the chance that
each evidence message beats all that is no evidence; figures are for chats that neither the model
nor the weights have seen.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

import realtalk_models
from realtalk.chat import Chat, Message, Question, Session
from realtalk.encoders.sentences import OTHER_LANGUAGES, EncodedTexts, SentenceEncoder
from realtalk.memory.index import FEATURES as NAMES
from realtalk.memory.index import ChatIndex, SearchedQuestion, features, scale
from research.training.memory_data import PASSAGE, in_other_languages, is_earlier, is_held

HERE = Path(__file__).parent
SHARE = 0.117  # of a chat's words: what 2,000 words are of a REALTALK chat
FOLDS = 5
OFTEN = 10  # how often the first L chats' questions count: those after them are 15 times as many
Array = np.ndarray[Any, Any]


def chat_of(given: dict[str, Any]) -> Chat:
    """A chat of the data file as the package has it."""
    sessions = []
    numbered = enumerate(given["messages"])
    for number, said in groupby(numbered, key=lambda each: each[1]["session"]):
        some = list(said)
        day = datetime.fromisoformat(some[0][1]["date"])
        messages = tuple(
            Message(str(at), given["speakers"][one["speaker"]], day, one["text"])
            for at, one in some
        )
        sessions.append(Session(number, day, messages))
    return Chat(given["id"], tuple(given["speakers"]), tuple(sessions))


class Table:
    """One chat's questions: features [question, feature, message], evidence, words."""

    def __init__(self, given: dict[str, Any], stored: dict[str, Array] | SentenceEncoder) -> None:
        """Of what training kept; or encoded now, and searched as the package does."""
        self.times = OFTEN if is_earlier(given["id"]) else 1
        chat = chat_of(given)
        is_kept = isinstance(stored, dict)
        self.index = indexed(chat, stored["passages"]) if is_kept else ChatIndex.of(chat, stored)
        asked = [(at, query) for at, query in enumerate(given["queries"]) if query["positives"]]
        self.kinds = [query["kind"] for _, query in asked]
        self.right = [query["positives"] for _, query in asked]
        self.words = np.array([len(text.split()) for text in self.index.texts])
        rows = []
        for at, query in asked:
            question = Question("", query["text"], None, query["kind"])
            one = SearchedQuestion.of(chat, question, is_english=self.index.is_english)
            if is_kept:
                vector = stored["questions"][at : at + 1].astype(np.float32)
                nothing = np.zeros((1, 1), np.int8)
                alone = EncodedTexts(vector, nothing, np.array([0, 1]), np.ones(1, np.float32))
                found = features(self.index, one, alone)
                found["tokens"] = scale(stored["late"][at].astype(np.float64))
                found["session_tokens"] = scale(self.index.of_sessions(found["tokens"]))
            else:
                found = features(self.index, one, stored.encode([one.text]))
            rows.append(np.stack([found[name] for name in NAMES]))
        self.features = np.stack(rows).astype(np.float32)
        self.share = np.zeros((len(rows), len(self.words)))  # of a question's evidence
        for row, right in enumerate(self.right):
            self.share[row, right] = 1 / len(set(right))

    def scores(self, weights: Array) -> Array:
        return np.einsum("f,qfm->qm", weights.astype(np.float32), self.features)


def indexed(chat: Chat, vectors: Array) -> ChatIndex:
    """The index of a chat around vectors that are there already."""
    count = len(vectors)
    empty = np.zeros((count, 1), np.int8)
    encoded = EncodedTexts(
        vectors.astype(np.float32), empty, np.arange(count + 1), np.empty(0, np.float32)
    )
    return replace(ChatIndex.around(chat, encoded), passage=PASSAGE)


def lost(weights: Array, tables: Sequence[Table], used: Array, firm: float) -> tuple[float, Array]:
    """Mean minus log chance and its gradient, with a pull towards 0."""
    full = np.zeros(len(NAMES))
    full[used] = weights
    total, gradient, count = 0.0, np.zeros(len(NAMES)), 0
    for table in tables:
        scores = table.scores(full).astype(np.float64)
        rest = np.where(table.share > 0, -np.inf, scores)
        level = logsumexp(rest, axis=1, keepdims=True)
        total += table.times * float((np.logaddexp(0, level - scores) * table.share).sum())
        chance = table.share * expit(level - scores)
        slope = chance.sum(1, keepdims=True) * np.exp(rest - level) - chance
        moved = np.einsum("qfm,qm->f", table.features, slope.astype(np.float32))
        gradient += table.times * moved
        count += table.times * len(scores)
    total = total / count + firm * float(weights @ weights)
    return total, gradient[used] / count + 2 * firm * weights


def fit(tables: Sequence[Table], used: Array, firm: float = 1e-4) -> Array:
    start = np.full(len(used), 0.2)
    made = minimize(
        lost, start, (tables, used, firm), jac=True, method="L-BFGS-B", options={"maxiter": 60}
    )
    full = np.zeros(len(NAMES))
    full[used] = made.x
    return full


def judged(table: Table, scores: Array) -> list[tuple[float, ...]]:
    """any@5, nDCG@10, recall@20, recall and all at the budget, for every question."""
    gain = 1 / np.log2(np.arange(10) + 2)
    order = np.argsort(-scores, axis=1, kind="stable")
    rows = []
    for top, right in zip(order, table.right, strict=True):
        hit = np.isin(top, right)
        size = len(set(right))
        inside = np.cumsum(table.words[top]) <= SHARE * table.words.sum()
        kept = (hit & inside).sum()
        rows.append(
            (
                float(hit[:5].any()),
                float((hit[:10] * gain).sum() / gain[: min(10, size)].sum()),
                hit[:20].sum() / size,
                kept / size,
                float(kept == size),
            )
        )
    return rows


def told(rows: Sequence[tuple[float, ...]]) -> str:
    names = ("any@5", "ndcg@10", "recall@20", "recall@12%", "all@12%")
    means = np.mean(rows, axis=0)
    return " ".join(f"{name} {mean:.4f}" for name, mean in zip(names, means, strict=True))


def held_out(path: Path) -> dict[str, dict[str, Array]]:
    """Chat id → its arrays."""
    found: dict[str, dict[str, Array]] = {}
    with np.load(path) as file:
        for key in file.files:
            chat, _, what = key.rpartition(".")
            found.setdefault(chat, {})[what] = file[key]
    return found


def crossed(tables: Sequence[Table], used: Array) -> list[list[tuple[float, ...]]]:
    """Each chat's questions scored with weights from the other chats."""
    found: list[list[tuple[float, ...]]] = [[] for _ in tables]
    for fold in range(FOLDS):
        others = [table for at, table in enumerate(tables) if at % FOLDS != fold]
        weights = fit(others, used)
        for at in range(fold, len(tables), FOLDS):
            found[at] = judged(tables[at], tables[at].scores(weights))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE / "build" / "memory" / "chats.json")
    parser.add_argument("--runs", type=Path, default=HERE / "build" / "memory" / "runs")
    parser.add_argument("--name", help="the run's name")
    parser.add_argument("--others", action="store_true", help="chats in other languages, instead")
    parser.add_argument("--without", default="", help="features to leave out")
    options = parser.parse_args()
    without = options.without.split(",")
    if options.others:
        encoder = SentenceEncoder(realtalk_models.path(OTHER_LANGUAGES))
        unseen = [chat for chat in in_other_languages() if is_held(chat["id"])]
        report([Table(chat, encoder) for chat in unseen], without)
        return
    stored = held_out(options.runs / f"{options.name}.npz")
    chats = json.loads(options.data.read_text("utf-8"))
    tables = [Table(chat, stored[chat["id"]]) for chat in chats if chat["id"] in stored]
    for one in ("vectors", "tokens"):
        alone = np.array([float(name == one) for name in NAMES])
        rows = [row for table in tables for row in judged(table, table.scores(alone))]
        print(f"{one} alone: {told(rows)}")
    report(tables, without)


def report(tables: Sequence[Table], without: Sequence[str]) -> None:
    """What weights score on chats that they have not seen; then those of all chats."""
    used = np.array([at for at, name in enumerate(NAMES) if name not in without])
    rows = [row for part in crossed(tables, used) for row in part]
    print(f"fused, chats not seen: {told(rows)}")
    kinds = [kind for table in tables for kind in table.kinds]
    for kind in dict.fromkeys(kinds):
        some = [row for row, its in zip(rows, kinds, strict=True) if its == kind]
        print(f"  {kind} ({len(some)}): {told(some)}")
    weights = fit(tables, used)
    print(json.dumps({n: round(float(w), 3) for n, w in zip(NAMES, weights, strict=True)}))


if __name__ == "__main__":
    main()
