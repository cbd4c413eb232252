"""Published sets of questions → research/results/rows/side-by-side.json: memories side by side.

    python -m research.results.side_rows ../shared/data [--sets SET …] [--memories BM25 …]
    → {"set": "REALTALK, audited", "memory": "BM25", "version": "1", "chats": 10, "messages": 8944,
       "any@5": {"value": 0.58, "low": 0.5, "high": 0.63, "n": 721}, …, "recall_ms": 3.1, …}

Nobody answers: what a memory finds is scored. A row that is there and was made by the same
version of the memory (and of the encoder, where it has one) stays as it is, so the same command
goes on after a stop, and after a new encoder makes only what that changed. Seconds are those of
all cores together, since other work may share them; `build_s` is of 1,000 messages, by the first
chat of a set. Needs the extras langchain and mem0.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache, wraps
from itertools import product
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus, Question
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.files.environment import environment
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.golds import golds_named
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import NoReader
from realtalk.memory.values import Budget, Memory, parse_budgets
from realtalk.metrics.statistics import Estimate
from research.experiments.who_said_it import Recorded, mem0_searching
from research.results import ROWS

OUT = ROWS / "side-by-side.json"
EXPERIMENTS = Path(__file__).parents[1] / "experiments"
SETS = {  # where it lies among the data, and its golds
    "REALTALK, published": ("realtalk", "published"),
    "REALTALK, board": ("realtalk", "lmeb"),
    "REALTALK, audited": ("realtalk", "audited"),
    "LoCoMo, published": ("locomo/locomo10.json", "published"),
    "LoCoMo, audited": ("locomo/locomo10.json", "audited"),
    "LongMemEval": ("longmemeval", "published"),
    "BEAM-100K": ("memory_sets/beam/100K", "published"),
    "RealMem": ("memory_sets/realmem/dataset", "published"),
    "LoCoMo-Plus": ("memory_sets/locomo_plus", "published"),
}
MEMORIES: dict[str, tuple[str, dict[str, str]]] = {
    "recent": ("recent", {}),
    "BM25": ("retrieved", {"way": "bm25"}),
    "encoder": ("retrieved", {"way": "encoder"}),
    "retrieved": ("retrieved", {}),
    "LangChain": ("langchain", {"factory": f"{EXPERIMENTS / 'answers_outside.py'}:vector_store"}),
    "mem0": ("mem0", {}),
    "oracle": ("oracle", {}),
}
ENCODING = ("LangChain", "mem0")  # with our encoder, which their own version does not tell
TOLD_MEM0 = ("Chat_1_Emi_Elise", "Chat_4_Emi_Paola")  # a message takes it as long as a session us
SCORES = ("any@5", "ndcg@10", "all@budget", "person@budget")
BUDGET = "2000w"
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS, metavar="SET")
    parser.add_argument("--memories", nargs="*", default=list(MEMORIES), choices=MEMORIES)
    given = parser.parse_args()
    fetched(given.data)
    for name, (place, golds) in SETS.items():
        for memory in given.memories if name in given.sets else ():
            if memory == "mem0" and not name.startswith("REALTALK"):
                continue
            key = {"set": name, "memory": memory, "version": version_of(memory)}
            known = (row for row in stored() if key.items() <= row.items())
            if not any(set(SCORES) <= row.keys() for row in known):
                corpus = chats_for(memory, opened(given.data / place))
                keep({**key, **measured(corpus, golds, memory)})


def keep(row: Row) -> None:
    """Stores a row in the place of an earlier one; another call may have stored others since."""
    rows = {(each["set"], each["memory"]): each for each in (*stored(), row)}
    lines = [json.dumps(rows[key]) for key in product(SETS, MEMORIES) if key in rows]
    OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    sys.stdout.write(f"{json.dumps(row)}\n")
    sys.stdout.flush()


def stored() -> list[Row]:
    return list(json.loads(OUT.read_text("utf-8"))) if OUT.is_file() else []


def fetched(data: Path) -> None:
    """What `realtalk data get` would have fetched: corrections of LoCoMo, and its chats."""
    folder = Path(os.environ.setdefault("REALTALK_CACHE", str(EXPERIMENTS / "build/side/cache")))
    for source, name in (
        ("memory_sets/locomo_audit/errors.json", "locomo-audit"),
        ("locomo/locomo10.json", "locomo"),
    ):
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(data / source, folder / name)


@cache
def opened(path: Path) -> Corpus:
    return open_reading(str(path)).reading.corpus


def chats_for(memory: str, corpus: Corpus) -> Corpus:
    told = tuple(chat for chat in corpus.chats if memory != "mem0" or chat.id in TOLD_MEM0)
    return replace(corpus, chats=told)


@cache
def server() -> Recorded:
    """Our encoder in OpenAI's form, which mem0 asks."""
    found = Recorded({})
    threading.Thread(target=found.serve_forever, daemon=True).start()
    return found


@cache
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


def made(name: str) -> Memory:
    """A memory that nobody has asked yet; mem0 keeps messages as they are, and asks no model."""
    if name == "mem0":
        return mem0_searching(server().url)
    memory, settings = MEMORIES[name]
    return make_memory(memory, settings)


def version_of(name: str) -> str:
    version = made(name).version
    return f"{version}, {encoder().version}" if name in ENCODING else version


def measured(corpus: Corpus, golds: str, name: str) -> Row:
    """What a memory finds and shows, and what it takes."""
    memory, spent = made(name), [0.0]
    memory.build = timed(memory.build, spent)  # type: ignore[method-assign]
    plan = Plan(corpus, memory, NoReader(), parse_budgets(BUDGET), golds=golds_named(golds))
    seconds = None if name == "oracle" else round(building(name, plan.questions[0][0]), 2)
    run = run_probe(plan)
    figures = {score: one for part in run.variants.values() for score, one in part.overall.items()}
    rows = [row for row in run.rows if row["untold"] is None]
    return {
        "chats": len({row["group"] for row in rows}),
        "messages": sum(len(chat.messages) for chat, _ in plan.questions),
        "questions": len(rows),
        **{score: told(figures.get(score)) for score in SCORES},
        "words": round(sum(row["words"] for row in rows) / len(rows)),
        # The oracle is told the evidence: its time says nothing.
        "recall_ms": None if name == "oracle" else round(1000 * spent[0] / len(rows), 2),
        "build_s": seconds,
    }


def building(name: str, chat: Chat) -> float:
    """Seconds for 1,000 messages, where nothing is kept yet."""
    with tempfile.TemporaryDirectory() as empty, environment({"REALTALK_CACHE": empty}):
        memory = made(name)
        _ = memory.version  # loads the encoder, once for all chats
        began = time.process_time()
        memory.build(chat)
        return 1000 * (time.process_time() - began) / len(chat.messages)


def told(one: Estimate | None) -> Row | None:
    if one is None or one.value is None:
        return None
    ends = {
        name: None if end is None else round(end, 4)
        for name, end in (("low", one.low), ("high", one.high))
    }
    return {"value": round(one.value, 4), **ends, "n": one.n}


def timed(build: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    """A memory's building, after which the seconds of recalling are added up."""

    @wraps(build)
    def watched(*words: Any, **named: Any) -> Any:
        return Watched(build(*words, **named), spent)

    return watched


class Watched:
    """What was built, with the seconds of recalling added up."""

    def __init__(self, built: Any, spent: list[float]) -> None:
        self._built, self._spent = built, spent

    def recall(self, question: Question, budget: Budget) -> Any:
        began = time.process_time()
        found = self._built.recall(question, budget)
        self._spent[0] += time.process_time() - began
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._built, name)


if __name__ == "__main__":
    main()
