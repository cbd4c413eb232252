"""Nearness of token vectors by hand, and equal texts that are equally near."""

from __future__ import annotations

import numpy as np
import pytest

from realtalk.metrics.similarity import cosines


@pytest.mark.parametrize("size", range(1, 40))
def test_equal_rows_are_equally_near(size: int) -> None:
    rng = np.random.default_rng(size)
    row, asked = rng.normal(size=(2, 384)).astype(np.float32)
    found = cosines(np.tile(row, (size, 1)), asked)
    assert found == pytest.approx(float(row.astype(float) @ asked.astype(float)), rel=1e-4)
    assert set(found.tolist()) == {found[0].item()}
