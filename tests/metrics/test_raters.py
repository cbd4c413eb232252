"""Agreement of several raters."""

from __future__ import annotations

import pytest

from realtalk.metrics.grouped import krippendorff_alpha

# Krippendorff's own example: four raters, twelve units, some not rated by all.
RATED = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
UNITS = [
    [said for said in unit if said != "."]
    for unit in zip(*(line.split() for line in RATED), strict=True)
]


def test_alpha_is_as_its_author_computes_it() -> None:
    found = krippendorff_alpha(UNITS)
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert (found.n, found.left_out) == (11, 1)
    assert found.low is not None and found.high is not None
    assert found.low < 0.743 < found.high


def test_what_has_no_alpha_says_why() -> None:
    assert krippendorff_alpha([["a"], []]).unscored == "no unit has two raters"
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]).unscored == "only one value is given"
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]).value == 1.0
