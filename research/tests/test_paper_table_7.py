"""Table 7 by the shipped encoder: every facet that is recorded as holding holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import label_frame, turn_inputs
from realtalk.ei.speakers import measure_speakers
from realtalk.ei.values import FACETS
from realtalk.formats.opening import open_reading
from research.papers.intimacy import as_printed
from research.papers.published import TABLE_7
from research.papers.speakers import PRINTED, PRINTED_TURNS, Readings
from research.papers.table_7 import table_7


@pytest.mark.slow
def test_the_papers_speaker_table(data: Path) -> None:
    """Sixteen speakers of the eight chats that training never saw, every message alone.

    By order and scale beside a dummy; what is recorded as failing may fail.
    """
    labeller = EmbeddedLabeller()
    corpus = open_reading(str(data / "realtalk")).reading.corpus
    chats = {chat for chat, _ in TABLE_7}
    inputs = [each for each in turn_inputs(corpus, joined=False) if each.chat in chats]
    frame = label_frame(inputs, labeller.label(inputs), labeller)
    described = tuple(measure_speakers(as_printed(frame), "released"))
    found = table_7(Readings(dict.fromkeys((PRINTED, PRINTED_TURNS), described)))
    assert len(found.parities) == 4 * len(FACETS)
    assert not [(each.name, each.reached) for each in found.parities if each.broken]
