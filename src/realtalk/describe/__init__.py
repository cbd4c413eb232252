"""What a corpus looks like: counts, gaps, runs and activity, and their pictures.

    describe(reading.tables).messages_per_chat → 14.5

`describe` counts, `values` are the results, `figures` draws them.
"""

from realtalk.cells import WEEKDAYS, Grid
from realtalk.describe.counting import describe
from realtalk.describe.values import (
    Bin,
    ChatStats,
    CorpusStats,
    Distribution,
    SpeakerStats,
    chat_rows,
    corpus_rows,
)

__all__ = [
    "WEEKDAYS",
    "Bin",
    "ChatStats",
    "CorpusStats",
    "Distribution",
    "Grid",
    "SpeakerStats",
    "chat_rows",
    "corpus_rows",
    "describe",
]
