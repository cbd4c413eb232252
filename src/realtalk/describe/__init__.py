"""What a corpus looks like: counts, gaps, runs and activity, and their pictures.

    describe(reading.tables).messages_per_chat → 14.5

`describe` counts, `values` are the results, `figures` draws them.
"""

from realtalk.describe.counting import describe
from realtalk.describe.values import CorpusStats, chat_rows, corpus_rows

__all__ = ["CorpusStats", "chat_rows", "corpus_rows", "describe"]
