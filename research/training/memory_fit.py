"""Vectors of held-out chats → the weights of the ranking, and what they score on those chats.

    python -m research.training.memory_fit --name k1
    → chats not seen: any@5 .95 …; weights for `realtalk.memory.index.FUSED`

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

from realtalk.chat import Chat, Message, Question, Session
from realtalk.encoders.sentences import EncodedTexts
from realtalk.memory.index import FEATURES as NAMES
from realtalk.memory.index import ChatIndex, SearchedQuestion, features, scale
from research.training.memory_data import PASSAGE

HERE = Path(__file__).parent
SHARE = 0.117  # of a chat's words: what 2,000 words are of a REALTALK chat
FOLDS = 5
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

    def __init__(self, given: dict[str, Any], stored: dict[str, Array]) -> None:
        chat = chat_of(given)
        index = indexed(chat, stored["passages"])
        asked = [(at, query) for at, query in enumerate(given["queries"]) if query["positives"]]
        self.kinds = [query["kind"] for _, query in asked]
        self.right = [query["positives"] for _, query in asked]
        self.words = np.array([len(text.split()) for text in index.texts])
        rows = []
        for at, query in asked:
            one = SearchedQuestion.of(chat, Question("", query["text"], None, query["kind"]))
            vector = stored["questions"][at : at + 1].astype(np.float32)
            nothing = np.zeros((1, 1), np.int8)
            alone = EncodedTexts(vector, nothing, np.array([0, 1]), np.ones(1, np.float32))
            found = features(index, one, alone)
            found["tokens"] = scale(stored["late"][at].astype(np.float64))
            rows.append(np.stack([found[name] for name in NAMES]))
        self.features = np.stack(rows).astype(np.float32)

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
    total, gradient, count = 0.0, np.zeros(len(NAMES)), 0.0
    for table in tables:
        scores = table.scores(full)
        for row, right in enumerate(table.right):
            one = scores[row].astype(np.float64)
            rest = one.copy()
            rest[right] = -np.inf
            top = rest.max()
            raised = np.exp(rest - top)
            level = top + np.log(raised.sum())
            mean = table.features[row] @ (raised / raised.sum()).astype(np.float32)
            gap = level - one[right]
            chance = 1 / (1 + np.exp(-gap)) / len(right)
            total += float(np.logaddexp(0, gap).mean())
            gradient += chance.sum() * mean - table.features[row][:, right] @ chance
            count += 1
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
    parser.add_argument("--name", required=True, help="the run's name")
    parser.add_argument("--without", default="", help="features to leave out")
    options = parser.parse_args()
    stored = held_out(options.runs / f"{options.name}.npz")
    chats = json.loads(options.data.read_text("utf-8"))
    tables = [Table(chat, stored[chat["id"]]) for chat in chats if chat["id"] in stored]
    without = options.without.split(",")
    used = np.array([at for at, name in enumerate(NAMES) if name not in without])
    for one in ("vectors", "tokens"):
        alone = np.array([float(name == one) for name in NAMES])
        rows = [row for table in tables for row in judged(table, table.scores(alone))]
        print(f"{one} alone: {told(rows)}")
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
