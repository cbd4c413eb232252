"""Questions of a corpus, its own and those of the wrong person, and a model's recorded answers →
scores of who said it, by memory.

    python -m research.experiments.who_said_it ../shared/data/realtalk --chats Chat_1,Chat_6
    → build/who/prompts.jsonl.xz   what is to be answered, for research/experiments/answers_run.py
      build/who/rows.jsonl         {"memory": "notes", "questions": "swapped", "chat": "Chat_1", …}

A server on this machine stands in for the model: it answers a prompt from `--answers`, as
answers_run.py writes them, and writes down what it cannot answer. So the first call writes the
prompts, any machine answers them, and the next call scores, or writes what only these answers made
known: notes are taken before questions about them are asked. Every question may be declined, the
corpus's own too: one who always declines is right of all swapped ones. Needs the extras llm,
langchain and mem0. Texts stay in build/; rows have none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

from realtalk.api.choices import questions_of
from realtalk.chat import Corpus
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.golds import Golds, golds_named
from realtalk.memory.outside import mem0_memory
from realtalk.memory.registry import BUDGETLESS, make_memory
from realtalk.memory.remembering import Item, LlmReader, load_wording
from realtalk.memory.rows import ASKED_SCORES, BUDGET_SCORES, SHOWN_SCORES
from realtalk.memory.values import Memory, parse_budgets
from realtalk.metrics.answers import is_abstention
from realtalk.models.asking import ModelConfig
from research.experiments.answers_prepare import HERE, SETTINGS, write

MODEL = "openai-api/recorded/reader"
MEMORIES = ("none", "recent", "whole", "retrieved", "langchain", "mem0", "notes", "oracle")
KEPT = ("f1", "date_f1", "accepted", "unscored", *BUDGET_SCORES, *SHOWN_SCORES, *ASKED_SCORES)
DRAWS = 20
NOT_YET = "(no answer is recorded yet)"
ANSWERED = ("declines", "f1", "date_f1", "accepted", *ASKED_SCORES)
HEAD = {"head": True, "max_tokens": 64, "sets": {"notes": {"max_tokens": 1000}}}
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--answers", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=HERE / "build/who")
    parser.add_argument("--memories", default=",".join(MEMORIES))
    parser.add_argument("--questions", default="own,swapped")
    parser.add_argument("--chats", help="only these, by a part of their ids")
    parser.add_argument("--budget", default="500w")
    parser.add_argument("--golds", default="audited")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    corpus = open_reading(given.corpus).reading.corpus
    rows: list[Row] = []
    with recorded(given.answers) as server, tempfile.TemporaryDirectory() as cache:
        config = ModelConfig(
            MODEL, cache=Path(cache), base_url=server.url, connections=4, max_tokens=64, retries=0
        )
        for name in given.memories.split(","):
            for questions in given.questions.split(","):
                asked, golds = questions_of(questions, corpus, given.golds)
                asked = part_of(asked, given.chats)
                reader = LlmReader(config, load_wording(), abstain=True)
                budgets = parse_budgets("all" if name in BUDGETLESS else given.budget)
                plan = Plan(asked, memory_of(name, config), reader, budgets, golds=golds)
                rows += [told(name, questions, row) for row in run_probe(plan).rows]
                sys.stdout.write(
                    f"{name}, {questions}: {len(rows)} rows, {len(server.asked)} asked\n"
                )
                sys.stdout.flush()
    swapped, _ = questions_of("swapped", corpus, given.golds)
    rows += by_chance(part_of(swapped, given.chats), corpus, golds_named(given.golds))
    write(given.out / "prompts.jsonl.xz", HEAD, server.prompts())
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (given.out / "rows.jsonl").write_text(lines, "utf-8")


def by_chance(asked: Corpus, corpus: Corpus, golds: Golds) -> list[Row]:
    """What one gets who answers a swapped question by the right answer to any other of its chat."""
    answers = {
        chat.id: sorted({gold.answer for gold in golds.of(chat).values() if gold.answer})
        for chat in corpus.chats
    }
    draws = []
    for draw in range(DRAWS):
        plan = Plan(asked, make_memory("none"), AnyAnswer(answers, draw), parse_budgets("all"))
        draws.append([told("random", "swapped", row) for row in run_probe(plan).rows])
    names = ("declines", *ASKED_SCORES)
    return [
        {**same[0], **{name: fmean(row[name] for row in same) for name in names}}
        for same in zip(*draws, strict=True)
    ]


class AnyAnswer(PlainSolver):
    """A reader that draws its answers."""

    name = "drawn"

    def __init__(self, answers: dict[str, list[str]], draw: int) -> None:
        self._answers, self._chance = answers, Random(draw)

    def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:
        return [Answer(self._chance.choice(self._answers[item.chat.id])) for item in shown]


def part_of(corpus: Corpus, names: str | None) -> Corpus:
    """The chats that are named and have questions."""
    wanted = [f"{name}_" for name in names.split(",")] if names else [""]
    chats = [c for c in corpus.chats if c.questions and any(name in f"{c.id}_" for name in wanted)]
    return replace(corpus, chats=tuple(chats))


def memory_of(name: str, config: ModelConfig) -> Memory:
    if name == "mem0":
        return mem0_searching(config.base_url or "")
    if name == "notes":
        notes = {"model": MODEL, "base_url": config.base_url, "cache": config.cache, "retries": 0}
        return make_memory(name, notes)
    return make_memory(name, SETTINGS.get(name))


def mem0_searching(url: str) -> Memory:
    """mem0 with messages as they are: its search, by the shipped encoder at an address."""
    address = {"openai_base_url": url, "api_key": "none"}
    about = {**address, "model": "shipped", "embedding_dims": 384}
    return mem0_memory(config={"embedder": {"provider": "openai", "config": about}})


def told(memory: str, questions: str, row: Row) -> Row:
    """A row without any text, with whether the answer declines."""
    about = {"memory": memory, "questions": questions, "chat": row["group"], "id": row["sample"]}
    declines = None if row["answer"] is None else float(is_abstention(row["answer"]))
    scores = {"declines": declines, **{name: row[name] for name in KEPT}}
    if row["answer"] == NOT_YET:
        scores |= dict.fromkeys(ANSWERED)
    return {**about, "category": row["category"], "words": row["words"], **scores}


class Recorded(ThreadingHTTPServer):
    """Answers by prompt; what has none is `asked`."""

    daemon_threads = True

    @cached_property
    def _encoder(self) -> SentenceEncoder:
        return SentenceEncoder()

    def __init__(self, answers: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.asked: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def vectors(self, given: str | list[str]) -> list[Row]:
        texts = [given] if isinstance(given, str) else given
        with self._lock:
            rows = self._encoder.embed(texts)
        return [
            {"object": "embedding", "index": place, "embedding": [float(value) for value in row]}
            for place, row in enumerate(rows)
        ]

    def answer(self, body: Row) -> str:
        text = body["messages"][-1]["content"]
        key = hashlib.sha256(text.encode()).hexdigest()[:24]
        if key in self.answers:
            return self.answers[key]
        room = body.get("max_tokens") or body.get("max_completion_tokens")
        self.asked[key] = "questions" if room else "notes", text
        return NOT_YET

    def prompts(self) -> Iterator[Row]:
        """What was asked in vain, as answers_run.py reads it."""
        for place, (key, (title, text)) in enumerate(self.asked.items()):
            yield {"context": place, "text": text}
            about = {"set": title, "chat": "", "id": key, "context": place}
            yield {**about, "before": "", "after": ""}


class Handler(BaseHTTPRequestHandler):
    """OpenAI's form of chat completions and of embeddings."""

    server: Recorded

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), 0)
        about: Row = {"id": "recorded", "created": 0, "model": "reader", "usage": usage}
        if self.path.endswith("/embeddings"):
            about |= {"object": "list", "data": self.server.vectors(body["input"])}
        else:
            message = {"role": "assistant", "content": self.server.answer(body)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            about |= {"object": "chat.completion", "choices": [choice]}
        data = json.dumps(about).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing is said of requests, which hold chats."""


@contextmanager
def recorded(paths: list[Path]) -> Iterator[Recorded]:
    """A server for as long as it is needed."""
    rows = [json.loads(line) for path in paths for line in path.open(encoding="utf-8")]
    server = Recorded({row["id"]: row["answer"] for row in rows if row.get("answer")})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    main()
