"""Table 7's rows, the findings about speakers, and counts of the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from paper_chats import invented
from realtalk.chat import Corpus
from realtalk.describe import describe
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import Label, TurnInput, label_frame, turn_inputs
from realtalk.ei.speakers import ResampledFacets
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.files.progress import Progress, silent
from realtalk.formats.reading import Ledger, ReadCorpus
from realtalk.metrics.statistics import Estimate
from research.papers.counts import corpus_rows
from research.papers.guidelines import check_guidelines
from research.papers.labelling import UNITS, label_corpus
from research.papers.published import CHATS, TABLE_7
from research.papers.rule import ResultRow
from research.papers.speakers import (
    PRINTED,
    PRINTED_TURNS,
    Readings,
    figure_2_rows,
    figure_3_rows,
)
from research.papers.table_7 import draw_table_7, table_7_grids, table_7_rows

ALL = ("released", "turns", PRINTED, PRINTED_TURNS)


def readings(change: Mapping[str, float] = {}) -> Readings:
    """Speakers who are as the paper prints them, but for facets that noise is added to."""
    noise = np.random.default_rng(3)
    made = tuple(
        ResampledFacets(
            SpeakerFacets(
                *(chat, speaker, 9, 9, "released", "invented", "1"),
                tuple(
                    Estimate(row[name] / facet.scale + change.get(name, 0.0) * noise.normal(), n=9)
                    for name, facet in FACETS.items()
                ),
            ),
            tuple(np.zeros(4) for _ in FACETS),
        )
        for (chat, speaker), row in TABLE_7.items()
    )
    return Readings(dict.fromkeys(ALL, made))


def facets(found: Iterable[ResultRow]) -> list[ResultRow]:
    return [row for row in found if "partners" not in row.where]


def test_the_papers_own_table_agrees() -> None:
    *found, partners = table_7_rows(readings())
    assert [row.verdict for row in found] == ["agrees"] * len(FACETS)
    assert partners.word == "agrees in order"
    assert partners.ours.text.startswith("84 of 84 as printed")


def test_a_facet_of_noise_differs() -> None:
    found = facets(table_7_rows(readings({"sentiment_diversity": 3.0})))
    assert [row.where for row in found if row.word != "agrees"] == ["Table 7, sentiment diversity"]


def test_who_knows_only_the_chats_agrees_nowhere() -> None:
    """Each chat's printed mean for both partners: no row says that speakers are ordered."""
    rows = {
        key: {name: fmean(TABLE_7[k][name] for k in TABLE_7 if k[0] == key[0]) for name in row}
        for key, row in TABLE_7.items()
    }
    speakers = tuple(
        replace(
            each,
            speaker=replace(
                each.speaker,
                facets=tuple(
                    Estimate(rows[each.speaker.chat, each.speaker.speaker][name] / facet.scale, n=9)
                    for name, facet in FACETS.items()
                ),
            ),
        )
        for each in readings().measured["released"]
    )
    found = [*table_7_rows(Readings(dict.fromkeys(ALL, speakers)))]
    assert {row.word for row in found} == {"differs"}
    assert found[-1].ours.text.startswith("0 of 84")


def test_without_all_its_speakers_nothing_is_compared() -> None:
    some = Readings(dict.fromkeys(ALL, readings().measured["released"][:5]))
    assert {row.word for row in table_7_rows(some)} == {"cannot be compared"}
    assert len(table_7_grids(some)["table-7"].rows) == 5 * len(FACETS)
    # Six of Table 8's ten speakers are in two of Table 7's chats.
    (row,) = figure_3_rows(readings())
    assert row.reason == "6 of its 10 speakers are here"


def test_the_picture_has_every_speaker() -> None:
    chart = draw_table_7(readings()).to_dict()
    assert chart["facet"]["field"] == "facet"
    assert draw_table_7(Readings(dict.fromkeys(ALL, ()))) is None


def test_findings_need_both_corpora() -> None:
    assert {row.reason for row in figure_2_rows(readings(), None)} == {"LoCoMo is not here"}
    *same, drawn = figure_2_rows(readings(), readings())
    assert [row.reason for row in same] == ["not beyond chance here"] * 3
    assert drawn.where == "Figure 6"


def test_a_finding_of_single_messages_alone_does_not_agree() -> None:
    """The word is by both units: REALTALK's bubbles stand beside whole turns of LoCoMo."""
    people, models = (shifted(lift) for lift in (9.0, 0.0))
    simulated = Readings(dict.fromkeys(ALL, models))
    both = figure_2_rows(Readings(dict.fromkeys(ALL, people)), simulated)
    alone = {**dict.fromkeys(ALL, people), "turns": models}
    found = [next(iter(rows)) for rows in (both, figure_2_rows(Readings(alone), simulated))]
    assert [row.word for row in found] == ["agrees", "differs"]


def shifted(lift: float) -> tuple[ResampledFacets, ...]:
    """Every chat a little above the one before, all facets alike."""
    chats = list(dict.fromkeys(chat for chat, _ in TABLE_7))
    return tuple(
        replace(
            each,
            speaker=replace(
                each.speaker,
                facets=tuple(Estimate(lift + chats.index(each.speaker.chat), n=9) for _ in FACETS),
            ),
        )
        for each in readings().measured["released"]
    )


def test_counts_of_the_corpus() -> None:
    corpus = Corpus("realtalk", "realtalk", tuple(invented(name) for name in CHATS))
    tables = ReadCorpus(corpus=corpus, ledger=Ledger("entries", 0, 0)).tables
    days = check_guidelines(corpus).days
    found = {
        row.where: row
        for row in corpus_rows({"REALTALK": describe(tables)}, {"REALTALK": corpus}, days)
    }
    assert "add up to 734" in found["§3.2, A.3"].ours.text
    assert found["Table 5 beside Table 1"].says == "15,943.0 words per chat"
    assert found["§3.1"].word == "differs"
    assert found["§5.1, noise"].reason == "LoCoMo is not here"


class Stops:
    """The shipped labeller, broken off after so many chats, as a killed process is."""

    def __init__(self, left: int) -> None:
        self._real = EmbeddedLabeller()
        self.name, self.version = self._real.name, self._real.version
        self.left = left

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> Sequence[Label]:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return self._real.label(inputs, progress)


def test_labels_go_on_and_are_the_same(tmp_path: Path) -> None:
    corpus = Corpus("realtalk", "realtalk", tuple(invented(name) for name in CHATS[:4]))
    whole = EmbeddedLabeller()
    labeller = Stops(2)
    with pytest.raises(KeyboardInterrupt):
        label_corpus("realtalk", corpus, tmp_path / "a", labeller)
    assert not (tmp_path / "a" / "realtalk-turns" / "labels.parquet").exists()
    labeller.left = 2  # two of four chats are there
    found = label_corpus("realtalk", corpus, tmp_path / "a", labeller)
    labeller.left = 0  # and now all of them are
    assert label_corpus("realtalk", corpus, tmp_path / "a", labeller).keys() == UNITS.keys()
    for unit, joined in UNITS.items():
        inputs = turn_inputs(corpus, joined)
        plain = label_frame(inputs, whole.label(inputs), whole)
        assert found[unit].equals(plain)
