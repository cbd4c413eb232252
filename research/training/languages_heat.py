"""Temperatures of the multilingual encoder: held-out chats → true probabilities, in settings.json.

    python -m research.training.languages_heat [--model FOLDER]

A probability should be how often such an answer is right. Outputs are divided by the number that
makes the labels of held-out chats likeliest; no answer changes. How far off probabilities are then
is told of other chats, from which nothing was learned.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from realtalk.encoders.pairs import PairEncoder
from research.training.ei_mix import lost, miscalibrated, no_and_yes
from research.training.languages_chats import SHIPPED
from research.training.languages_labels import TEST_CHATS, in_chats, in_marked

STEPS = np.geomspace(0.5, 10, 100)


def choices(outputs: Any) -> Any:
    return no_and_yes(outputs) if outputs.shape[1] == 1 else outputs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    options = parser.parse_args()
    encoder = PairEncoder(options.model)
    held, other = in_marked(held=True), in_chats(TEST_CHATS)
    heard, tested = encoder.outputs(held.pairs), encoder.outputs(other.pairs)
    found: dict[str, float] = encoder.settings["answers"]["temperature"]
    for name in found:
        place = slice(*encoder.settings["places"][name])
        logits, right = choices(heard[:, place]), held.truth(name)
        heat = round(float(min(STEPS, key=lambda t: lost(logits / t, right))), 1)
        off = [miscalibrated(choices(tested[:, place]) / by, other.truth(name)) for by in (1, heat)]
        print(f"{name}: {heat}; {len(right):,} turns; on {len(tested):,} others off by"
              f" {off[1]:.3f} (undivided {off[0]:.3f})")  # fmt: skip
        found[name] = heat
    path = options.model / "settings.json"
    path.write_text(json.dumps(encoder.settings, indent=1) + "\n")


if __name__ == "__main__":
    main()
