"""Runs and labels that cost nothing, for the tests of the Python interface."""

from __future__ import annotations

import pytest

import realtalk as rt
from surface_labels import ByLength, majority_run, recent_run


@pytest.fixture
def by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("realtalk.api.labels.make_labeller", lambda *given: ByLength())


@pytest.fixture
def recent() -> rt.Run:
    return recent_run()


@pytest.fixture
def majority() -> rt.Run:
    return majority_run()
