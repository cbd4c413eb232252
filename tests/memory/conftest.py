"""The sentence encoder, loaded once for the tests of memories."""

from __future__ import annotations

import pytest

from realtalk.encoders.sentences import SentenceEncoder


@pytest.fixture(scope="session")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()
