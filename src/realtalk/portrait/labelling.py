"""A corpus → labels of its turns for a portrait, kept so that the next page is made at once.

    made = PortraitLabels.make(corpus, quick=True)
    made.frame          one row per labelled turn
    made.sampled        → "1,600 of 12,034 turns were labelled, spread evenly over time."
    made.cautions       → ("Chat_1: Spanish in 412 turns, labelled by the multilingual …",)
    made.claims         → whether a sentence about feelings may be made of them

Labels come from the one place that makes and keeps them (`ei.labelling`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.grades import is_usable
from realtalk.ei.labelling import label_cautions, labels_for
from realtalk.ei.languages import chat_languages
from realtalk.files.progress import Progress, silent

QUICK = 1600  # turns: half a minute on a slow machine
_TRIED = 48  # turns whose time tells how long all will take
_WORTH_SAYING = 8.0  # seconds


@dataclass(frozen=True)
class PortraitLabels:
    """Labels and what has to be said beside them."""

    frame: pl.DataFrame
    sampled: str
    cautions: tuple[str, ...]
    claims: bool = True

    @classmethod
    def make(
        cls,
        corpus: Corpus,
        *,
        quick: bool = False,
        cache: Path | None = None,
        say: Callable[[str], None] = lambda _: None,
        progress: Progress = silent,
    ) -> PortraitLabels:
        """Labels all turns, or with `quick` some of them; `say` is told how long it will take."""
        advance = _announcing(progress, say)
        labels = labels_for(corpus, None, cache, most=QUICK if quick else None, progress=advance)
        count, total = labels.frame.height, sum(len(chat.turns) for chat in corpus.chats)
        sampled = (
            f"{count:,} of {total:,} turns were labelled, spread evenly over time."
            if count < total
            else ""
        )
        spoken = chat_languages(labels.frame)
        claims = all(is_usable(each.grade("sentiment")) for each in spoken)
        return cls(labels.frame, sampled, label_cautions(labels.frame, corpus), claims)


def _announcing(progress: Progress, say: Callable[[str], None]) -> Progress:
    """Progress that says once how long labelling takes, from the time that a few turns take."""
    start: tuple[int, float] | None = None
    is_said = False

    def advance(done: int, total: int, what: str) -> None:
        nonlocal start, is_said
        progress(done, total, what)
        if start is None:  # the model is loaded by now
            start = done, time.perf_counter()
        elif not is_said and done - start[0] >= _TRIED and total > 10 * _TRIED:
            is_said = True
            seconds = (time.perf_counter() - start[1]) / (done - start[0]) * (total - start[0])
            if seconds > _WORTH_SAYING:
                hint = f"; `quick=True` labels {QUICK:,} of them" if total > QUICK else ""
                say(
                    f"labelling {total:,} turns takes about {_span(seconds)}; they are kept, so "
                    f"the next page is made at once{hint}"
                )

    return advance


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(10, round(seconds / 10) * 10)} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
