"""Table 7 by correlation, Table 8's column, and what the paper's own tables say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from paper_chats import invented
from realtalk.chat import Corpus
from realtalk.corpora.guidelines import check_guidelines
from realtalk.corpora.reading import Ledger, Progress, Reading, silent
from realtalk.facets.speakers import Measured
from realtalk.facets.values import FACETS, SpeakerFacets
from realtalk.measures.embedded import EmbeddedLabeller
from realtalk.measures.labels import Label, TurnInput, label_frame, turn_inputs
from realtalk.metrics.statistics import Estimate
from realtalk.reproduce.labelling import UNITS, label_corpus
from realtalk.reproduce.published import CHATS, TABLE_7
from realtalk.reproduce.speakers import AT_LEAST, Readings, figure_2, figure_3, table_7
from realtalk.reproduce.statements import statements
from realtalk.stats import describe


def readings(change: Mapping[str, float] = {}) -> Readings:
    """Speakers who are as the paper prints them, but for facets that are multiplied by noise."""
    noise = np.random.default_rng(3)
    made = tuple(
        Measured(
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
    return Readings({"released": made, "paper": made})


def test_the_papers_own_table_keeps_every_parity() -> None:
    found = table_7(readings())
    assert found.verdict.kind == "correlated"
    assert {figure.state for figure in found.figures} == {"exact"}
    assert [parity.held for parity in found.parities] == [True] * len(AT_LEAST)


def test_a_parity_can_break() -> None:
    found = table_7(readings({"empathy": 30.0}))
    broken = [parity.name for parity in found.parities if not parity.held]
    assert broken == ["Table 7, empathy"]


def test_without_all_its_speakers_nothing_is_tested() -> None:
    some = readings().measured["released"][:5]
    found = table_7(Readings({"released": some, "paper": some}))
    assert {parity.held for parity in found.parities} == {None}
    assert len(found.figures) == 5 * len(FACETS)
    nobody = table_7(Readings({"released": (), "paper": ()}))
    assert nobody.verdict.kind == "not made"


def test_consistency_is_table_8s_column() -> None:
    found = figure_3(readings())
    # Six speakers of Table 7 are in two of its chats.
    assert len(found.figures) == 6
    assert found.verdict.kind == "correlated"
    assert "0.99" in found.verdict.line or "1.00" in found.verdict.line


def test_findings_need_both_corpora() -> None:
    assert figure_2(readings(), None).verdict.kind == "not made"
    same = figure_2(readings(), readings())
    assert same.verdict.kind == "differs"
    assert [parity.held for parity in same.parities] == [False] * 3


def test_the_paper_beside_its_own_tables() -> None:
    corpus = Corpus("realtalk", "realtalk", tuple(invented(name) for name in CHATS))
    tables = Reading(corpus=corpus, ledger=Ledger("entries", 0, 0)).tables
    said = {
        each.where: each
        for each in statements(describe(tables), check_guidelines(corpus).days, readings())
    }
    assert "add up to 734" in said["§3.2, A.3"].found
    assert "15,943.0" in said["Table 5"].says
    assert said["Table 2"].agrees
    assert "not so for emotion" in said["Table 2, caption"].found
    assert not said["E.2"].agrees
    assert said["§6.2"].agrees
    assert not said["§3.1"].agrees
    # Equal readings: nothing says that single messages are nearer.
    assert said["§4.1"].agrees


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
        plain = label_frame(inputs, whole.label(inputs), whole.name, whole.version)
        assert found[unit].equals(plain)
