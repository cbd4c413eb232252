"""One's own chats → what tuning tools read.

export_dataset("mara", speaker="Me", out="mine.jsonl", say=print)    → TuningSet
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.surface.sources import Readable, as_corpus

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.persona.datasets import TuningSet


def export_dataset(
    corpus: Readable,
    speaker: str,
    format: str = "sharegpt",
    *,
    redacted: bool = False,
    names: Sequence[str] = (),
    exchanges: int | None = None,
    out: str | PathLike[str] | None = None,
    say: Callable[[str], Any] | None = None,
) -> TuningSet:
    """A speaker's replies as rows for tools that tune models: WeClone, LLaMA-Factory, Axolotl, TRL.

    The speaker is the assistant, everybody else the user; sessions are conversations. `format` is
    "sharegpt", "alpaca" or "messages". `redacted` replaces names, numbers and links by stand-ins
    first, with more `names` to replace. A row holds at most so many `exchanges` (by default a
    whole session; of alpaca one). `say` is told who is user and who assistant before `out` is
    written (`print` shows it).
    """
    from realtalk.persona.datasets import build_tuning_set
    from realtalk.persona.turns import named_speaker

    chats = as_corpus(corpus)
    who = named_speaker(chats, speaker)
    if redacted:
        from realtalk.corpora.redaction.redact import redact

        clean, _ = redact(chats, names=list(names))
        stand_in = _same_place(chats, clean, who)
        if say is not None:
            say(f"{who} is written as {stand_in}")
        chats, who = clean, stand_in
    made = build_tuning_set(chats, who, format, exchanges)
    if say is not None:
        for line in made.lines:
            say(line)
    if out is not None:
        made.write(Path(out))
    return made


def _same_place(chats: Corpus, clean: Corpus, speaker: str) -> str:
    """What a speaker is called in the same chats after they were redacted."""
    pairs = zip(chats.chats, clean.chats, strict=True)
    names = (pair for a, b in pairs for pair in zip(a.speakers, b.speakers, strict=True))
    return next(new for old, new in names if old == speaker)
