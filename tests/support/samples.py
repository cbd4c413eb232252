"""The corpora that come with the package, read once."""

from __future__ import annotations

from functools import cache

from realtalk.chat import Corpus
from realtalk.formats.opening import open_reading


@cache
def read_sample(name: str = "sample") -> Corpus:
    return open_reading(name).reading.corpus
