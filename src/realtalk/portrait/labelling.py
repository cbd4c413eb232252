"""A corpus → labels of its turns for a portrait, kept so that the next page is made at once.

    made = PortraitLabels.make(corpus, quick=True)
    made.frame          one row per labelled turn
    made.sampled        → "1,600 of 12,034 turns were labelled, spread evenly over time."
    made.cautions       → ("Chat_1: hardly any English in 412 turns; …",)

Labels are kept as a run in the user's cache: ids and labels, no text. Labelling that was stopped
goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labelling import label_corpus, spread
from realtalk.ei.labels import TurnInput, turn_inputs
from realtalk.ei.languages import chat_languages, language_notes
from realtalk.evals.corpus_records import content_hash
from realtalk.local.download import cache_folder
from realtalk.local.progress import Progress, silent

QUICK = 1600  # turns: half a minute on a slow machine
_TRIED = 48  # turns labelled to see how long all will take
_WORTH_SAYING = 8.0  # seconds


@dataclass(frozen=True)
class PortraitLabels:
    """Labels and what has to be said beside them."""

    frame: pl.DataFrame
    sampled: str
    cautions: tuple[str, ...]

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
        labeller = EmbeddedLabeller()
        turns = turn_inputs(corpus)
        most = QUICK if quick and len(turns) > QUICK else None
        place = _place(corpus, labeller.version, most, cache)
        if not (place / "labels.parquet").is_file():
            _announce(labeller, turns, most, say)
        run = label_corpus(corpus, labeller, out=place, most=most, progress=progress)
        sampled = (
            f"{run.frame.height:,} of {len(turns):,} turns were labelled, spread evenly over time."
            if most
            else ""
        )
        return cls(run.frame, sampled, tuple(language_notes(chat_languages(run.frame))))


def _place(corpus: Corpus, version: str, most: int | None, cache: Path | None) -> Path:
    part = "all" if most is None else str(most)
    return cache_folder(cache) / "portraits" / f"{content_hash(corpus)}-{version}-{part}"


def _announce(
    labeller: EmbeddedLabeller, turns: list[TurnInput], most: int | None, say: Callable[[str], None]
) -> None:
    """Says how long labelling takes, from the time that a few turns take; nothing where short."""
    total = len(turns) if most is None else most
    if len(turns) <= 10 * _TRIED:
        return
    labeller.label(turns[:2])  # the first call also loads the model
    began = time.perf_counter()
    labeller.label(spread(turns, _TRIED))
    seconds = (time.perf_counter() - began) / _TRIED * total
    if seconds > _WORTH_SAYING:
        hint = f"; --quick labels {QUICK:,} of them" if total > QUICK else ""
        say(
            f"labelling {total:,} turns takes about {_span(seconds)}; they are kept, so the next "
            f"page is made at once{hint}"
        )


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{max(10, round(seconds / 10) * 10)} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
