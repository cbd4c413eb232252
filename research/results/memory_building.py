"""A corpus → research/results/rows/memory-building.json: what memories take before the first question.

    python -m research.results.memory_building ../shared/data/realtalk
    → {"langchain": {"chats": 2, "messages": 1790, "seconds": 19.1, "cpu_seconds": 33.0,
                     "recall_ms": 40.2}, …}

Built from nothing, one memory after the other, for the first two chats: seconds on the clock, and
of all cores together. Then every question of these chats recalls 1,000 words. Needs the extra
langchain. No language model is called by any of these memories.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from realtalk.formats.opening import open_reading
from realtalk.memory.asking import bare
from realtalk.memory.registry import make_memory
from realtalk.memory.values import Budget
from research.results import ROWS

FACTORY = Path(__file__).parents[1] / "experiments" / "answers_outside.py"
MEMORIES = {
    "recent": {},
    "events": {},
    "restored": {},
    "retrieved": {},
    "langchain": {"factory": f"{FACTORY}:vector_store"},
}
CHATS = 2
WORDS = 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    chats = open_reading(parser.parse_args().corpus).reading.corpus.chats[:CHATS]
    taken = {}
    for name, settings in MEMORIES.items():
        # An empty cache: a kept index would make building look free.
        with tempfile.TemporaryDirectory() as cache:
            os.environ["REALTALK_CACHE"] = cache
            memory = make_memory(name, settings)
            began, cores = time.perf_counter(), time.process_time()
            built = [memory.build(chat) for chat in chats]
            seconds, busy = time.perf_counter() - began, time.process_time() - cores
            asked = [
                (memory_of, bare(question))
                for memory_of, chat in zip(built, chats, strict=True)
                for question in chat.questions
            ]
            began = time.perf_counter()
            for memory_of, question in asked:
                memory_of.recall(question, Budget(words=WORDS))
            recalled = time.perf_counter() - began
        taken[name] = {
            "chats": len(chats),
            "messages": sum(len(chat.messages) for chat in chats),
            "seconds": round(seconds, 2),
            "cpu_seconds": round(busy, 2),
            "recall_ms": round(1000 * recalled / len(asked), 2),
        }
        sys.stdout.write(f"{name}: {taken[name]}\n")
        sys.stdout.flush()
    (ROWS / "memory-building.json").write_text(json.dumps(taken, indent=1) + "\n")


if __name__ == "__main__":
    main()
