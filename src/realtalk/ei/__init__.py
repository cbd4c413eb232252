"""Labels of turns → eleven facets per speaker, in Goleman's five groups; and what to do with them.

    labels_for(corpus)      labels of every turn, kept so that a chat is labelled once
    speakers(labels)        one value per chat and speaker, each facet with its interval
    consistency(labels)     the same person in two chats
    compare(human, llm)     two corpora, and which of the paper's findings hold

`formulas` is the arithmetic, `protocols` how the paper is read, `values` what a facet is and how
it is stored and printed; `figures` and `timelines` draw.
"""

from typing import TYPE_CHECKING

from realtalk.ei.comparison import (
    CorpusComparison,
    PaperFinding,
    compare,
    comparison_rows,
    finding_rows,
)
from realtalk.ei.consistency import (
    SpeakerConsistency,
    consistency,
    consistency_json,
    consistency_rows,
)
from realtalk.ei.labelling import labels_for
from realtalk.ei.protocols import PROTOCOLS, Rules
from realtalk.ei.speakers import speakers
from realtalk.ei.values import (
    FACETS,
    GROUPS,
    SPEAKERS,
    Facet,
    SpeakerFacets,
    from_frame,
    speaker_rows,
    speakers_frame,
    speakers_json,
)
from realtalk.registry import offer

__all__ = [
    "FACETS",
    "GROUPS",
    "PROTOCOLS",
    "SPEAKERS",
    "CorpusComparison",
    "Facet",
    "PaperFinding",
    "Rules",
    "SpeakerConsistency",
    "SpeakerFacets",
    "compare",
    "comparison_rows",
    "consistency",
    "consistency_json",
    "consistency_rows",
    "distinguishability",
    "finding_rows",
    "from_frame",
    "labels_for",
    "speaker_consistency",
    "speaker_rows",
    "speakers",
    "speakers_frame",
    "speakers_json",
]

if TYPE_CHECKING:
    from realtalk.api.labels import distinguishability, speaker_consistency
else:
    __getattr__, __dir__ = offer(
        __name__,
        {
            "realtalk.api.labels": "distinguishability speaker_consistency",
        },
    )
