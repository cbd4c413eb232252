"""A run of thread tasks → the texts that it is going to encode, as far as they are known before.

    foreseen_texts(samples, ("p-conv",), Regression())    → {"phew": None, "did you sleep": None, …}

Encoding is what a run spends its time on, and a text's vector depends on the text alone: whoever
encodes these first (by_engine.py) leaves the run the rest. Not foreseen are texts that
only the run's own choices name: the writings of strangers that nearness chooses, and predicted
words. A text that is missing here is encoded by the run itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import encoder_shipped
from realtalk.threads.predictors import Predictor
from realtalk.threads.sampling import Samples
from realtalk.threads.values import PARTS, Case, Part, Setting


@runtime_checkable
class Encoding(Protocol):
    """A predictor that encodes texts."""

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterator[str]:
        """The texts of cases that it will encode, where they are of that part."""


def foreseen_texts(
    samples: Samples,
    settings: Sequence[Setting],
    predictor: Predictor,
    progress: Progress = silent,
) -> dict[str, None]:
    """Each text once, in the order in which it is first needed; those without words are none."""
    found: dict[str, None] = {}
    for setting in settings:
        for part in PARTS:
            progress(0, 0, f"looking for texts of {setting}, {part}")
            near = samples.near_texts(setting, part)
            cases = samples.of(setting, part)
            read = predictor.encodes(cases, part) if isinstance(predictor, Encoding) else ()
            for texts in (near, read):
                found.update((text, None) for text in texts if text.strip())
    if samples.task == "next_text" and encoder_shipped():
        told = (target.text for target in samples.part("test"))
        found.update((text, None) for text in told if text.strip())
    return found
