"""How many examples a property-based test tries.

@settings(max_examples=tries(60))    10 of them, and all 60 by `make slow`
"""

from __future__ import annotations

import os


def tries(most: int) -> int:
    return most if os.environ.get("REALTALK_TRIES") == "all" else max(10, most // 8)
