"""Chats → what mem0 remembers of them with a model of ours, as prompts of memory probing.

    python training/answers_mem0.py save DATA/realtalk --out training/build/answers/chats.pickle
    python training/answers_mem0.py tell training/build/answers/chats.pickle \\
        --base qwen2.5-coder-1.5b-instruct-q4_k_m.gguf --out training/build/answers/mem0
    → mem0/prompts.jsonl.xz      as answers_prepare.py writes them; answers_run.py answers them
      mem0/building.json         for each chat: calls, tokens, seconds, facts; and for the server

mem0 extracts facts (`infer=true`) by the model that answers afterwards and finds them by the
shipped encoder. Its prompts, its settings and its search are its own. Chats are told side by side,
each to a mem0 of its own; seconds are therefore those of a busy server. `tell` needs torch,
transformers, mem0ai and onnxruntime.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from answers_prepare import head_of, reading, rows, write
from answers_run import say
from realtalk.chat import Chat, Corpus
from realtalk.local.progress import Progress, silent
from realtalk.memory.asking import Plan
from realtalk.memory.budgets import parse_budgets
from realtalk.memory.outside_mem0 import mem0_memory
from realtalk.persona.pretrained import load
from serving import Served

Row = dict[str, Any]
BUDGETS = "500w,1000w,2000w"
DIMENSIONS = 384


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    save = verbs.add_parser("save")
    save.add_argument("corpus")
    save.add_argument("--out", type=Path, required=True)
    tell = verbs.add_parser("tell")
    tell.add_argument("chats", type=Path)
    tell.add_argument("--base", type=Path, required=True)
    tell.add_argument("--out", type=Path, required=True)
    tell.add_argument("--only", help="only these chats")
    tell.add_argument("--length", type=int, default=16_384, help="tokens, the answer's included")
    tell.add_argument("--max-tokens", type=int, default=2000, help="of an answer; mem0's default")
    tell.add_argument("--seconds", type=float, help="then chats that are not told are left out")
    tell.add_argument("--sessions", type=int, help="of each chat, to try it out")
    given = parser.parse_args()
    if given.verb == "save":
        save_chats(given.corpus, given.out)
    else:
        tell_chats(given)


def save_chats(corpus: str, out: Path) -> None:
    """The chats without the libraries that read them; a file of our own, never anybody else's."""
    from realtalk.corpora.opening import open_reading

    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(pickle.dumps(open_reading(corpus).reading.corpus))


def tell_chats(given: argparse.Namespace) -> None:
    os.environ["MEM0_TELEMETRY"] = "False"
    given.out.mkdir(parents=True, exist_ok=True)
    os.environ["REALTALK_CACHE"] = str(given.out / "cache")
    corpus: Corpus = pickle.loads(given.chats.read_bytes())
    chats = [
        replace(chat, sessions=chat.sessions[: given.sessions]) if given.sessions else chat
        for chat in corpus.chats
        if given.only is None or chat.id in given.only.split(",")
    ]
    corpus = replace(corpus, chats=tuple(chats))
    began = time.perf_counter()
    base = load(given.base)
    with Served(base, rows=max(2, len(chats)), length=given.length) as server:
        say(began, f"{base.title} on {base.device} at {server.url}")
        pool = ThreadPoolExecutor(len(chats))
        jobs = [pool.submit(one_chat, chat, corpus, server, given, began) for chat in chats]
        done, left = wait(jobs, given.seconds)
        told = [job.result() for job in jobs if job in done]
        usage = dict(server.usage)
    heads, parts, building = zip(*told, strict=True)
    count, _ = write(given.out / "prompts.jsonl.xz", heads[0], joined(parts))
    text = json.dumps({"chats": building, "server": usage}, indent=1)
    (given.out / "building.json").write_text(text + "\n")
    say(began, f"{count:,} prompts, {len(left)} chats left; {usage}")
    sys.stdout.flush()
    os._exit(0)  # a chat that is still being told would be waited for


def one_chat(
    chat: Chat, corpus: Corpus, server: Any, given: argparse.Namespace, began: float
) -> tuple[Row, list[Row], Row]:
    """Tells mem0 a chat and asks it every question of it."""
    key = {"api_key": "none", "openai_base_url": server.url}
    embedder = {"model": "shipped", "embedding_dims": DIMENSIONS, **key}
    llm = {"model": "reader", "temperature": 0.0, "max_tokens": given.max_tokens, **key}
    memory = Told(
        mem0_memory(
            {
                "embedder": {"provider": "openai", "config": embedder},
                "llm": {"provider": "openai", "config": llm},
            },
            infer=True,
            label="the shipped encoder and the reader itself",
        ),
        lambda line: say(began, f"{chat.id}: {line}"),
    )
    reader = reading(corpus)
    plan = Plan(
        corpus=replace(corpus, chats=(chat,)),
        memory=memory,
        reader=reader,
        budgets=parse_budgets(BUDGETS),
    )
    lines = list(rows([plan], reader))
    building = {"chat": chat.id, "messages": len(chat.messages), **memory.taken}
    return head_of([plan], reader), lines, building


class Told:
    """A memory that says how far it is and notes what building took."""

    def __init__(self, memory: Any, note: Callable[[str], None]) -> None:
        self._memory = memory
        self._note = note
        self.taken: Row = {}
        self.name, self.version, self.settings = memory.name, memory.version, memory.settings

    def build(self, chat: Chat, progress: Progress = silent) -> Any:  # noqa: ARG002
        began = time.perf_counter()

        def tell(done: int, total: int, _: str) -> None:
            if done % 5 == 0 or done == total:
                self._note(f"{done} of {total} sessions")

        built = self._memory.build(chat, tell)
        system = built.system
        facts = system._memory.get_all(filters={"user_id": system._user}, top_k=100_000)["results"]
        self.taken = {
            "seconds": round(time.perf_counter() - began, 1),
            "calls": built.cost.calls,
            "tokens_in": built.cost.tokens_in,
            "tokens_out": built.cost.tokens_out,
            "facts": len(facts),
        }
        self._note(f"{len(facts)} facts")
        return built


def joined(parts: Sequence[Sequence[Row]]) -> Iterator[Row]:
    """The rows of all chats; contexts are counted through."""
    before = 0
    for part in parts:
        yield from ({**row, "context": row["context"] + before} for row in part)
        before += sum("text" in row for row in part)


if __name__ == "__main__":
    main()
