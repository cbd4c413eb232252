"""Labels of turns → eleven facets per speaker, in Goleman's five groups; and what to do with them.

    labelling.labels_for(corpus)      labels of every turn, kept so that a chat is labelled once
    speakers.speakers(labels)         one value per chat and speaker, each facet with its interval
    speakers.consistency(labels)      the same person in two chats
    comparison.compare(human, llm)    two corpora, and which of the paper's findings hold

`formulas` is the arithmetic, `protocols` how the paper is read, `values` what a facet is and how
it is stored and printed; `figures` draws.
"""

from typing import TYPE_CHECKING

from realtalk.registry import offer

if TYPE_CHECKING:
    from realtalk.api.labels import distinguishability, speaker_consistency

__all__ = ["distinguishability", "speaker_consistency"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(
        __name__, {"realtalk.api.labels": "distinguishability speaker_consistency"}
    )
