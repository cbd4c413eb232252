"""A corpus → labels of its turns for a portrait, kept so that the next page is made at once.

    made = PortraitLabels.make(corpus, quick=True)
    made.frame          one row per labelled turn
    made.sampled        → "1,600 of 12,034 turns were labelled, spread evenly over time."
    made.cautions       → ("Chat_1: Spanish in 412 turns, labelled by the multilingual …",)
    made.claims         → whether a sentence about feelings may be made of them

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
from realtalk.ei.grades import is_usable
from realtalk.ei.labelling import label_cautions, label_turns, settings_for, spread
from realtalk.ei.labels import TurnInput, turn_inputs
from realtalk.ei.languages import chat_languages
from realtalk.evals.corpus_records import corpus_record
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
        labeller = EmbeddedLabeller()
        turns = turn_inputs(corpus)
        chosen = spread(turns, QUICK) if quick and len(turns) > QUICK else turns
        is_sample = chosen is not turns
        record = corpus_record(corpus)
        settings = settings_for(labeller, chosen, record, "turns")
        if is_sample:
            settings["sampled"] = len(chosen)
        part = str(QUICK) if is_sample else "all"
        version = settings["solver"]["version"].replace(", ", "-").replace(" ", "-")
        unit = f"{record['sha256']}-{version}-{part}"
        place = cache_folder(cache) / "portraits" / unit
        if not (place / "labels.parquet").is_file():
            _announce(labeller, chosen, say)
        run = label_turns(chosen, settings, labeller, place, progress=progress)
        sampled = (
            f"{len(chosen):,} of {len(turns):,} turns were labelled, spread evenly over time."
            if is_sample
            else ""
        )
        spoken = chat_languages(run.frame)
        claims = all(is_usable(each.grade("sentiment")) for each in spoken)
        return cls(run.frame, sampled, label_cautions(run.frame, corpus), claims)


def _announce(
    labeller: EmbeddedLabeller, turns: list[TurnInput], say: Callable[[str], None]
) -> None:
    """Says how long labelling takes, from the time that a few turns take; nothing where short."""
    total = len(turns)
    if total <= 10 * _TRIED:
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
