"""Retrieval on a corpus with evidence, and what it costs: the promises of memory probing.

    python bench/memory.py ../shared/data/realtalk [--way fused] [--json figures.json]
    → {"any@5": .78, "ndcg@10": .60, ..., "by_category": {...}, "index_seconds": 48.1,
       "question_ms": 8.4, "seconds": 55.0, "promises": {"any@5": {"kept": true, ...}, ...}}

Indexes are made in an empty folder, so that the time is that of a first use; the second pass
reads them back and must rank alike. `@2000w` counts the words of the messages and stops at the
first that does not fit; `@context2000w` is what a reader is really shown for 2,000 words, names
and days counted too. The exit status is 0 where every promise is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import Any, get_args

from realtalk.chat import Corpus
from realtalk.evals.comparing import estimate
from realtalk.evals.values import Row, Score
from realtalk.formats.opening import open_reading
from realtalk.memory.retrieved import Retrieved, Way
from realtalk.memory.values import Budget
from realtalk.metrics.retrieval import found_among, score_ranking

LEAST = {
    "any@5": 0.76,
    "ndcg@10": 0.58,
    "recall@20": 0.75,
    "recall@2000w": 0.87,
    "all@2000w": 0.76,
}
MOST = {"seconds": 60.0, "question_ms": 10.0}
BUDGET = Budget(words=2000)
BUDGETS = (500, 1000, 2000)  # words
BUSY = 1.0  # processes running beside this one: the figures will be off


def asked(corpus: Corpus, memory: Retrieved) -> dict[str, Any]:
    """Every question of a corpus once: rankings by question, and the time that it took."""
    began, worked = time.perf_counter(), time.process_time()
    memory.version  # noqa: B018 - loads the encoder
    loaded = time.perf_counter()
    built = [(chat, memory.build(chat)) for chat in corpus.chats if chat.questions]
    indexed = time.perf_counter()
    ranked: dict[tuple[str, str], tuple[str, ...]] = {}
    kept, times = [], []
    for chat, one in built:
        for question in chat.questions:
            start = time.perf_counter()
            context = one.recall(question, BUDGET)
            times.append(time.perf_counter() - start)
            ranked[chat.id, question.id] = context.ranked or ()
            if wanted := set(question.evidence):
                kept.append(len(wanted & set(context.message_ids)) / len(wanted))
    times.sort()
    return {
        "ranked": ranked,
        "recall@context2000w": sum(kept) / max(1, len(kept)),
        "all@context2000w": sum(share == 1 for share in kept) / max(1, len(kept)),
        "cpu_seconds": time.process_time() - worked,
        "load_seconds": loaded - began,
        "index_seconds": indexed - loaded,
        "seconds": time.perf_counter() - began,
        "question_ms": 1000 * sum(times) / max(1, len(times)),
        "question_ms_median": 1000 * times[len(times) // 2] if times else 0.0,
    }


def scored(corpus: Corpus, ranked: dict[tuple[str, str], tuple[str, ...]]) -> dict[str, Any]:
    rows = []
    for chat in corpus.chats:
        words = {id_: len(message.text.split()) for id_, message in chat.by_id.items()}
        for question in chat.questions:
            order = ranked[chat.id, question.id]
            found = score_ranking(order, question.evidence) or {}
            places = [at for at, id_ in enumerate(order) if id_ in question.evidence]
            spent = list(accumulate(words[id_] for id_ in order))
            for budget in BUDGETS if found else ():
                fitting = sum(cost <= budget for cost in spent)
                hits = sum(place < fitting for place in places)
                found |= found_among(f"{budget}w", hits, len(set(question.evidence)))
            rows.append((chat.id, question.category, found))
    names = next(scores for *_, scores in rows if scores)
    measures = [Score(name, name, proportion=True) for name in names]
    lines = [
        {"group": chat, "category": category, **dict.fromkeys(names), **scores}
        for chat, category, scores in rows
    ]
    kinds = dict.fromkeys(category for _, category, _ in rows)
    parts = {kind: [line for line in lines if line["category"] == kind] for kind in kinds}
    return {
        **_figures(lines, measures),
        "by_category": {kind: _figures(part, measures) for kind, part in parts.items()},
    }


def _figures(rows: list[Row], scores: list[Score]) -> dict[str, Any]:
    found = estimate(rows, scores)
    known = {name: each for name, each in found.items() if each.value is not None}
    n = max((each.n for each in known.values()), default=0)
    means = {name: each.value for name, each in known.items()}
    intervals = {name: [each.low, each.high] for name, each in known.items()}
    return {"n": n, "unscored": len(rows) - n, **means, "intervals": intervals}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", help="anything with questions that `realtalk` can open")
    parser.add_argument("--way", choices=get_args(Way), default="fused")
    parser.add_argument("--window", type=int, default=0)
    parser.add_argument("--hops", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > BUSY:
        print(f"the machine is busy (load {load:.1f}): the times will be off", file=sys.stderr)
    corpus = open_reading(options.corpus).reading.corpus
    with tempfile.TemporaryDirectory() as folder:
        settings = {"way": options.way, "window": options.window, "hops": options.hops}
        first = asked(corpus, Retrieved(cache=Path(folder), **settings))
        second = asked(corpus, Retrieved(cache=Path(folder), **settings))
    found = scored(corpus, first["ranked"])
    found |= {name: round(value, 4) for name, value in first.items() if name != "ranked"}
    found["index_seconds_stored"] = round(second["index_seconds"], 3)
    found["questions"] = len(first["ranked"])
    found["load"] = load
    found["machine"] = platform.platform()
    promises = {
        name: {"kept": found[name] >= least, "value": found[name], "at_least": least}
        for name, least in LEAST.items()
    }
    promises |= {
        name: {"kept": found[name] < most, "value": found[name], "below": most}
        for name, most in MOST.items()
    }
    same = first["ranked"] == second["ranked"]
    promises["stored_index_ranks_alike"] = {"kept": same, "value": same}
    found["promises"] = promises
    text = json.dumps(found, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0 if all(promise["kept"] for promise in promises.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
