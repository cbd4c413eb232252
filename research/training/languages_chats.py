"""How far the shipped encoder agrees with rubric labels: of chats of our own, of public sets.

    python -m research.training.languages_chats [--model FOLDER] [--data ../shared/data --json rubric.json]

Nothing is learned from the chats (languages/chats, chats.jsonl: 18 languages). Turns of
public sets (labels.jsonl) fitted the last map of the weights that the shipped encoder went on from.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from realtalk.encoders.pairs import PairEncoder
from research.training.languages_labels import TEST, TEST_CHATS, in_chats, in_sets
from research.training.languages_mix import figures, tell
from research.training.languages_score import floors

SHIPPED = Path(__file__).parents[2] / "src" / "realtalk_models" / "ei_multilingual"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--data", type=Path, help="where the public sets are")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    encoder, given = PairEncoder(options.model), in_chats(TEST_CHATS)
    found = list(figures(encoder.outputs(given.pairs), given, encoder.settings, "chats"))
    if options.data:
        given = in_sets(options.data, TEST)
        found += figures(encoder.outputs(given.pairs), given, encoder.settings)
    tell(found)
    floors(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
