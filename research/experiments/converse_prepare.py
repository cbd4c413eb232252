"""A corpus → when its people write, as numbers, for a machine that has no chats.

python -m research.experiments.converse_prepare ../shared/data/realtalk
→ build/converse/pace.json    {"source": "realtalk", "gaps": [60.0, …], …}
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from realtalk.formats.opening import open_reading
from realtalk.persona.cast import pace_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "build/converse/pace.json"
    )
    given = parser.parse_args()
    pace = pace_of(open_reading(given.corpus).reading.corpus)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(pace.to_json()), "utf-8")
    print(f"{len(pace.turns)} sessions, {len(pace.gaps)} gaps, {len(pace.bursts)} turns")


if __name__ == "__main__":
    main()
