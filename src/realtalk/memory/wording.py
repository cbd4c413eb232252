"""The prompts of memory probing: text files with placeholders, in versions.

    wording = load_wording()                      → version "3", ours
    wording = load_wording(Path("1"))             → version "1", as we asked before
    wording = load_wording(Path("my-prompts"))    → version "sha256:3f2a9c1b04d2"
    wording.fill("answer", speakers="Mara and Theo", context="…", question="…")

`answer` is what a reader is asked, `answer_or_abstain` where a corpus also has questions that
the chat does not tell; `judge_lenient` and `judge_strict` are what a judge is asked. A user's
folder may hold any of them; ours stand in for the rest. The hash is over all as used.

Version 2 differs from 1 in `answer_or_abstain` alone: it also speaks of questions that take for
granted what was never said, as LongMemEval's do. Version 3 lets a reader use what everybody knows:
commonsense questions cannot be answered otherwise (REALTALK, §3.2). Every question is asked so: a
prompt for one category would tell a reader what kind of answer is wanted. What a judge is asked
is the same in all. A run that began with an earlier version goes on with it (`--prompts 2`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from realtalk.errors import RealtalkError
from realtalk.evals.prompts import Prompts, load_prompts

WORDING_VERSION = "3"
_EARLIER = ("1", "2")
_ANSWERING = ("context", "question")
_JUDGING = ("question", "gold", "answer")
_NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "answer": _ANSWERING,
        "answer_or_abstain": _ANSWERING,
        "judge_lenient": _JUDGING,
        "judge_strict": _JUDGING,
    }
)


def load_wording(folder: Path | None = None) -> Prompts:
    """Our prompts, those in `folder` replaced by the user's own; or an earlier version of ours."""
    ours = WORDING_VERSION
    if folder is not None and str(folder) in (*_EARLIER, ours) and not folder.is_dir():
        ours, folder = str(folder), None
    prompts = load_prompts("realtalk.memory", ours, _NEEDED, ("speakers",), folder)
    for name, text in prompts.texts.items():
        unknown = set(prompts.placeholders.findall(text)) - {*_NEEDED[name], "speakers"}
        if unknown or (name.startswith("judge") and "{speakers}" in text):
            raise RealtalkError(
                "the prompt has a placeholder of another one", where=str(folder and folder / name)
            )
    return prompts
