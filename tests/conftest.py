"""Where tests find the research data, and how they say that it is not here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# On a CI machine the property-based tests try the same examples every time: a red run must
# mean a change, not luck. At home they go on looking for new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def data_folder() -> Path | None:
    """`REALTALK_DATA`, else the `shared/data` folder beside the checkout."""
    named = os.environ.get("REALTALK_DATA")
    path = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return path if path.is_dir() else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The research data, or a skip with the reason."""
    folder = data_folder()
    if folder is None:
        pytest.skip("research data not at hand (set REALTALK_DATA to its folder)")
    return folder
