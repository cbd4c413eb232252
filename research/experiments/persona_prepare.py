"""A corpus → the prompts of persona simulation in one file, for a machine without the package's
libraries.

    python -m research.experiments.persona_prepare ../shared/data/realtalk --choice paper --examples 8 \\
        --curve 25,50,100,200,400
    → build/persona/prompts.jsonl.xz

    {"head": true, "prompt_version": "1", "examples": 8,
     "sets": {"k3": {"context": {…}, "chats": {…}}, "n25": {…, "of": "curve", "turns": 25}, …}}
    {"set": "k3", "part": "learn", "speaker": "Mara", "id": "…#14", "text": "…", "reply": "…",
     "retrieved": "…"}
    {"set": "k3", "part": "test", "speaker": "Mara", "id": "…#9", "text": "…", "styled": "…",
     "retrieved": "…"}

Only the part `learn` has replies: what is to be written is not in the file. `k3` holds every
speaker with contexts of three sessions; the sweep adds sets for one speaker with other numbers
of sessions, and with room for all of them. `retrieved` is the prompt with the speaker's nearest own
turns. The curve adds one set of prompts with short contexts, and for every number of turns a set
that learns from so many of them, the last ones, for those speakers who wrote as many.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.ei.labels import Label, TurnInput
from realtalk.files.progress import Progress, silent
from realtalk.persona.prompting import PROMPT_VERSION, text_of
from realtalk.persona.simulators import Guide, OwnTurns
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, TurnPrompt
from research.experiments.people import open_choices

HERE = Path(__file__).parent
CURVE = "curve"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--out", type=Path, default=HERE / "build/persona/prompts.jsonl.xz")
    parser.add_argument("--sessions", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=1500)
    parser.add_argument(
        "--choice", default="ei", help="ei; paper: as in its Table 8; earlier: people.py"
    )
    parser.add_argument("--labels", type=Path, help="what `realtalk ei` wrote: saves labelling")
    parser.add_argument("--sweep", metavar="SPEAKER", help="whose contexts are also varied")
    parser.add_argument("--sweep-sessions", default="1,2,3,5,10")
    parser.add_argument("--sweep-tokens", type=int, default=5500)
    parser.add_argument("--examples", type=int, default=0, help="own turns to show; 0: no such way")
    parser.add_argument("--curve", help="numbers of own turns to learn from: 25,50,100")
    parser.add_argument("--curve-tokens", type=int, default=500)
    given = parser.parse_args()
    corpus, choices = open_choices(given.corpus, given.choice, given.labels)
    known = None
    if given.labels is not None:
        known = Known(pl.read_parquet(given.labels / "labels.parquet"))
    sets = {
        f"k{given.sessions}": tasks_of(
            corpus, choices, context_sessions=given.sessions, context_tokens=given.tokens
        )
    }
    if given.sweep:
        one = [choice for choice in choices if choice.speaker.casefold() == given.sweep.casefold()]
        for sessions in map(int, given.sweep_sessions.split(",")):
            sets[f"sweep{sessions}"] = tasks_of(
                corpus, one, context_sessions=sessions, context_tokens=given.sweep_tokens
            )
    if given.curve:
        sets[CURVE] = tasks_of(
            corpus, choices, context_sessions=given.sessions, context_tokens=given.curve_tokens
        )
    head = {
        "head": True,
        "prompt_version": PROMPT_VERSION,
        "examples": given.examples,
        "sets": {name: about(tasks) for name, tasks in sets.items()},
    }
    if given.curve:
        head["sets"] |= smaller(sets[CURVE], [int(size) for size in given.curve.split(",")])
    given.out.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with lzma.open(given.out, "wt", encoding="utf-8") as stream:
        stream.write(json.dumps(head, ensure_ascii=False) + "\n")
        for name, tasks in sets.items():
            main = not name.startswith("sweep") and name != CURVE
            shown = given.examples if main else 0
            for row in rows(name, tasks, styled=main, examples=shown, labeller=known):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    size = given.out.stat().st_size
    sys.stdout.write(f"{count:,} prompts in {len(sets)} sets, {size:,} bytes: {given.out}\n")


def about(tasks: list[PersonaTask]) -> dict[str, Any]:
    return {
        "context": dict(tasks[0].learning.settings),
        "chats": {task.speaker: [task.learning.chat.id, task.test.id] for task in tasks},
    }


def smaller(tasks: list[PersonaTask], sizes: list[int]) -> dict[str, Any]:
    """A set for every number of turns that somebody has, learned from the last so many."""
    made: dict[str, Any] = {}
    for size in sizes:
        able = [task for task in tasks if len(task.learning.turns) >= size]
        if able:
            made[f"n{size}"] = {**about(able), "of": CURVE, "turns": size}
    return made


class Known:
    """Labels that are there already."""

    def __init__(self, labels: pl.DataFrame) -> None:
        self.name, self.version = labels["measure"][0], labels["version"][0]
        names = [each.name for each in fields(Label) if each.name != "unscored"]
        self._labels = {
            (row["chat"], tuple(row["message_ids"])): Label(**{name: row[name] for name in names})
            for row in labels.iter_rows(named=True)
        }

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        progress(len(inputs), len(inputs), "labelled before")
        return [self._labels[given.chat, given.ids] for given in inputs]


def rows(
    name: str,
    tasks: list[PersonaTask],
    *,
    styled: bool,
    examples: int,
    labeller: Known | None,
) -> Iterator[dict[str, str]]:
    for task in tasks:
        own = OwnTurns(task.learning) if examples or styled else None
        guide = None
        if examples:
            guide = Guide(task.learning, described=False, examples=examples, own=own)
        near = texts(guide, [turn.prompt for turn in task.learning.turns])
        for turn, retrieved in zip(task.learning.turns, near, strict=True):
            row = {"set": name, "part": "learn", "speaker": task.speaker, "id": turn.id}
            row |= {"text": text_of(turn.prompt), "reply": turn.text}
            yield row | ({"retrieved": text_of(turn.prompt, retrieved)} if examples else {})
        described = Guide(task.learning, own=own, labeller=labeller) if styled else None
        styles, near = texts(described, task.prompts), texts(guide, task.prompts)
        for prompt, style, retrieved in zip(task.prompts, styles, near, strict=True):
            row = {"set": name, "part": "test", "speaker": task.speaker, "id": prompt.id}
            row["text"] = text_of(prompt)
            if style:
                row["styled"] = text_of(prompt, style)
            if examples:
                row["retrieved"] = text_of(prompt, retrieved)
            yield row


def texts(guide: Guide | None, prompts: Sequence[TurnPrompt]) -> list[str]:
    return guide.texts(prompts) if guide else [""] * len(prompts)


if __name__ == "__main__":
    main()
