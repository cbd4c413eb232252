"""Makes every page of results from its rows: `python -m research.results [NAME …]`."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = (
    *("persona", "people", "threads", "memory", "languages", "simulated", "which", "side", "who"),
    *("drawn", "reproduced"),
)

for name in sys.argv[1:] or NAMES:
    import_module(f"research.results.{name}_results").main()
