"""Table 7's parities, Table 8's column, and what the paper's own tables say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from paper_chats import invented
from realtalk.chat import Corpus
from realtalk.corpora.guidelines import check_guidelines
from realtalk.corpora.reading import Ledger, Reading
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import Label, TurnInput, label_frame, turn_inputs
from realtalk.ei.speakers import ResampledFacets
from realtalk.ei.values import FACETS, SpeakerFacets
from realtalk.local.progress import Progress, silent
from realtalk.metrics.statistics import Estimate
from realtalk.paper.labelling import UNITS, label_corpus
from realtalk.paper.published import CHATS, TABLE_7
from realtalk.paper.recorded import KNOWN_FAILURES
from realtalk.paper.speakers import PRINTED, PRINTED_TURNS, Readings, figure_2, figure_3
from realtalk.paper.statements import statements
from realtalk.paper.table_7 import table_7
from realtalk.stats import describe

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


def test_the_papers_own_table_keeps_every_parity() -> None:
    found = table_7(readings())
    assert found.verdict.kind == "holds"
    assert "order holds for 11 of 11 facets, scale for 11, both for 11" in found.verdict.line
    assert {figure.state for figure in found.figures} == {"exact"}
    # All eleven facets are asked, by order and by scale, over all and within circles.
    assert [parity.held for parity in found.parities] == [True] * len(FACETS) * 4
    # Those that are known to fail would be told, and nothing would be broken.
    assert not any(parity.broken for parity in found.parities)
    assert {parity.name for parity in found.parities if parity.mended} == {
        name for name in KNOWN_FAILURES if name.startswith("Table 7, ")
    }


def test_a_parity_can_break() -> None:
    found = table_7(readings({"sentiment_diversity": 3.0}))
    fails = [parity for parity in found.parities if not parity.held]
    assert {parity.name.rsplit(", ", 1)[0] for parity in fails} == {"Table 7, sentiment_diversity"}
    assert [parity.name.rsplit(", ", 1)[1] for parity in fails] == [
        *("order over all", "order within circles", "scale over all", "scale within circles")
    ]
    # Of the four one is recorded as failing; the others are news.
    assert [parity.broken for parity in fails] == [True, True, False, True]
    assert found.verdict.kind == "differs"
    assert "order holds for 10 of 11 facets" in found.verdict.line


def test_without_all_its_speakers_nothing_is_tested() -> None:
    some = readings().measured["released"][:5]
    found = table_7(Readings(dict.fromkeys(ALL, some)))
    assert {parity.held for parity in found.parities} == {None}
    assert found.verdict.kind == "not comparable"
    assert len(found.figures) == 5 * len(FACETS)
    nobody = table_7(Readings(dict.fromkeys(ALL, ())))
    assert nobody.verdict.kind == "not made"


def test_consistency_is_table_8s_column() -> None:
    found = figure_3(readings())
    # Six speakers of Table 7 are in two of its chats.
    assert len(found.figures) == 6
    assert found.verdict.kind == "correlated"
    assert "0.99" in found.verdict.line or "1.00" in found.verdict.line
    assert "with r = 1.00" in found.notes[-1]  # the same by print alone


def test_findings_need_both_corpora() -> None:
    assert figure_2(readings(), None).verdict.kind == "not made"
    same = figure_2(readings(), readings())
    assert same.verdict.kind == "differs"
    assert [parity.held for parity in same.parities] == [False] * 6
    assert [parity.broken for parity in same.parities] == [True] * 3 + [False, False, True]


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
