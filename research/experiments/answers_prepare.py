"""A corpus with questions → the prompts of memory probing in one file, for a machine without the
package's libraries.

    python -m research.experiments.answers_prepare ../shared/data/realtalk --audit questions.jsonl
    → build/answers/prompts.jsonl.xz

    {"head": true, "prompt_version": "2", "max_tokens": 64, "sets": {"recent 500w": {…}, …}}
    {"context": 17, "text": "[Monday 2 March 2026]\\nMara: did you sleep at all\\n…"}
    {"set": "retrieved 500w", "chat": "Chat_1", "id": "Q3", "context": 17, "before": "Below is …",
     "after": "… Question: …\\nAnswer:", "tokens": 702, "words": 498, "message_ids": ["D1:2", …]}

A prompt is `before`, its context and `after`: what `realtalk probe` sends for the same memory and
budget, made by the same code. A context that several prompts show is stored once. No answer, no
evidence and no category is in the file. `oracle` shows the evidence alone: with `--audit` the
audited one, without it the published.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus, Question
from realtalk.files.progress import Progress, silent
from realtalk.memory.asking import Plan
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import LlmReader, load_wording
from realtalk.memory.rows import may_abstain
from realtalk.memory.values import (
    Budget,
    ConfiguredMemory,
    Context,
    Memory,
    MessageCosts,
    label,
    parse_budgets,
)
from realtalk.models.asking import ModelConfig
from realtalk.models.replies import sendable

HERE = Path(__file__).parent
Row = dict[str, Any]
# Memories and the budgets that each is asked with.
SETS: Mapping[str, str] = {
    "none": "all",
    "oracle": "all",
    "whole": "all",
    "events": "all,500w,1000w,2000w",
    "retrieved": "125w,250w,500w,1000w,2000w,4000w",
    "recent": "500w,1000w,2000w",
    "restored": "500w,1000w,2000w",
    "langchain": "500w,1000w,2000w",
}
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "langchain": {"factory": f"{HERE / 'answers_outside.py'}:vector_store"}
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--audit", type=Path, help="questions with their audited evidence")
    parser.add_argument("--out", type=Path, default=HERE / "build/answers/prompts.jsonl.xz")
    parser.add_argument("--memories", default=",".join(SETS))
    parser.add_argument("--limit", type=int, help="questions, to try it out")
    given = parser.parse_args()
    from realtalk.formats.opening import open_reading  # not there where only `rows` is wanted

    corpus = open_reading(given.corpus).reading.corpus
    evidence = evidence_of(corpus, given.audit)
    reader = reading(corpus)
    plans = [
        Plan(
            corpus=corpus,
            memory=memory_of(name, evidence),
            reader=reader,
            budgets=parse_budgets(SETS[name]),
            limit=given.limit,
        )
        for name in given.memories.split(",")
    ]
    count, size = write(given.out, head_of(plans, reader), rows(plans, reader))
    sets = f"{sum(len(plan.budgets) for plan in plans)} sets"
    sys.stdout.write(f"{count:,} prompts in {sets}, {size:,} bytes: {given.out}\n")


def head_of(plans: Sequence[Plan], reader: LlmReader) -> Row:
    """What the prompts are of."""
    return {
        "head": True,
        "prompt_version": reader.prompts.version,
        "max_tokens": reader.config.max_tokens,
        "sets": {
            title(plan, budget): {
                "memory": plan.memory.name,
                "budget": label(budget),
                "version": plan.memory.version,
                "settings": portable(plan.memory.settings),
            }
            for plan in plans
            for budget in plan.budgets
        },
    }


def write(out: Path, head: Row, lines: Iterable[Row]) -> tuple[int, int]:
    """Writes the file; returns how many prompts it has, and its bytes."""
    out.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with lzma.open(out, "wt", encoding="utf-8") as stream:
        for row in (head, *lines):
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += "set" in row
    return count, out.stat().st_size


def reading(corpus: Corpus) -> LlmReader:
    """The reader as the command makes it for a model of ours."""
    wording = load_wording(Path("2"))  # what the answers of docs/results/memory.md were asked with
    return LlmReader(ModelConfig("realtalk/any"), wording, abstain=may_abstain(corpus))


def title(plan: Plan, budget: Budget) -> str:
    return f"{plan.memory.name} {label(budget)}"


def portable(settings: Mapping[str, Any]) -> Row:
    """Settings without the folders of this machine."""
    return {
        name: value.replace(f"{HERE}/", "") if isinstance(value, str) else value
        for name, value in settings.items()
    }


def rows(plans: Sequence[Plan], reader: LlmReader) -> Iterator[Row]:
    """Every context before the first prompt that shows it."""
    numbers: dict[str, int] = {}
    for plan in plans:
        solver = plan.solver
        for stage in plan.stages():
            sys.stdout.write(f"{plan.memory.name}: {stage.title}\n")
            solver.prepare(stage.learning())
            for sample in stage.samples:
                item = solver.recall(sample.shown)
                context = sendable(item.context.text)
                before, shown, after = sendable(reader.prompt(item)).partition(context or "\0")
                if shown not in numbers:
                    numbers[shown] = len(numbers)
                    yield {"context": numbers[shown], "text": shown}
                yield {
                    "set": title(plan, sample.shown.budget),
                    "chat": sample.group,
                    "id": sample.id,
                    "context": numbers[shown],
                    "before": before,
                    "after": after,
                    "tokens": item.context.tokens,
                    "words": item.context.words,
                    "message_ids": list(item.context.message_ids),
                }


def evidence_of(corpus: Corpus, audit: Path | None) -> dict[tuple[str, str], tuple[str, ...]]:
    """(chat, question) → the messages that its answer needs, as far as the chat has them."""
    audited: dict[tuple[str, int], list[str]] = {}
    if audit is not None:
        lines = map(json.loads, audit.read_text("utf-8").splitlines())
        audited = {(line["chat"], line["question"]): line["evidence"] for line in lines}
    return {
        (chat.id, question.id): tuple(
            id_ for id_ in audited.get((chat.id, place), question.evidence) if id_ in chat.by_id
        )
        for chat in corpus.chats
        for place, question in enumerate(chat.questions, 1)
    }


def memory_of(name: str, evidence: Mapping[tuple[str, str], tuple[str, ...]]) -> Memory:
    return EvidenceAlone(evidence) if name == "oracle" else make_memory(name, SETTINGS.get(name))


class EvidenceAlone(ConfiguredMemory):
    """The messages that a question needs and no other: what a reader could reach at best."""

    name = "oracle"

    def __init__(self, evidence: Mapping[tuple[str, str], tuple[str, ...]]) -> None:
        self._evidence = evidence

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltEvidence:
        return BuiltEvidence(chat, self._evidence)


class BuiltEvidence:
    """One chat's messages, shown by what each question needs."""

    def __init__(self, chat: Chat, evidence: Mapping[tuple[str, str], tuple[str, ...]]) -> None:
        self._chat = chat.id
        self._costs = MessageCosts(chat)
        self._evidence = evidence

    def recall(self, question: Question, budget: Budget) -> Context:
        needed = self._evidence[(self._chat, question.id)]
        return self._costs.context(self._costs.fit(needed, budget), ranked=needed)


if __name__ == "__main__":
    main()
