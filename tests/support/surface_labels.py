"""What tests of the surface share: a labeller without a model, small runs, a secret text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import realtalk as rt
from realtalk.ei.labels import Label, TurnInput
from realtalk.files.progress import Progress, silent

SECRET = "the key is under the mat"


class ByLength:
    """A labeller without a model: long turns are reflective, the rest follows from the length."""

    name = "by length"
    version = "1"

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> Sequence[Label]:
        return [
            Label(
                reflective=len(given.text) > 40,
                grounding=given.text.endswith("?"),
                sentiment=("negative", "neutral", "positive")[len(given.text) % 3],
                emotion=("joy", "trust")[len(given.text) % 2],
                intimacy=min(1.0, len(given.text) / 100),
                emotional_reaction=1.0,
                interpretation=0.0,
                exploration=float(given.text.endswith("?")),
                empathy=1.0 + given.text.endswith("?"),
            )
            for given in inputs
        ]


@cache
def recent_run() -> rt.Run:
    """A run that needs no encoder."""
    return rt.probe("sample", memory="recent", budget=300, limit=12)


@cache
def majority_run() -> rt.Run:
    return rt.predict("sample-threads", setting="p-conv,np-conv", limit=60)
