"""How far the shipped encoder agrees with the labels of chats of our own in 18 languages.

    python training/languages_chats.py [--model FOLDER] [--json chats.json]

Nothing is learned from these chats (training/languages/chats, chats.jsonl).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from languages_labels import TEST_CHATS, in_chats
from languages_mix import figures, tell
from realtalk.encoders.pairs import PairEncoder

SHIPPED = Path(__file__).parent.parent / "src" / "realtalk" / "encoders" / "ei_multilingual"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    encoder, given = PairEncoder(options.model), in_chats(TEST_CHATS)
    found = list(figures(encoder.outputs(given.pairs), given, encoder.settings, "chats"))
    tell(found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
