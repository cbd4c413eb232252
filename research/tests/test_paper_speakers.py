"""Table 7's parities, Table 8's column, and what the paper's own tables say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from research.papers.guidelines import check_guidelines
from research.papers.labelling import UNITS, label_corpus
from research.papers.published import CHATS, TABLE_7
from research.papers.recorded import KNOWN_FAILURES
from research.papers.speakers import PRINTED, PRINTED_TURNS, Readings, figure_2, figure_3
from research.papers.statements import statements
from research.papers.table_7 import table_7

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
    said = "order of speakers holds for 11 of 11 facets, scale for 11, both for 11"
    assert said in found.verdict.line
    assert "is as printed in 84 of 84 cases" in found.verdict.line
    assert {figure.state for figure in found.figures} == {"exact"}
    # All eleven facets are asked, by order and by scale, over all and within chats.
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
        *("order of speakers over all", "order of speakers within chats"),
        *("scale over all", "scale within chats"),
    ]
    # Of the four one is recorded as failing; the others are news.
    assert [parity.broken for parity in fails] == [True, True, False, True]
    assert found.verdict.kind == "differs"
    assert "order of speakers holds for 10 of 11 facets" in found.verdict.line


def test_who_knows_only_the_chats_is_told_so() -> None:
    """Each chat's printed mean for both partners: no parity says that speakers are ordered."""
    rows = {
        key: {name: fmean(TABLE_7[k][name] for k in TABLE_7 if k[0] == key[0]) for name in row}
        for key, row in TABLE_7.items()
    }
    made = tuple(
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
    found = table_7(Readings(dict.fromkeys(ALL, made)))
    assert {parity.held for parity in found.parities} == {False}
    assert "order of speakers holds for 0 of 11 facets" in found.verdict.line
    assert "as printed in 0 of 84 cases" in found.verdict.line
    assert any("r is 1.00 to 1.00" in note and "chats" in note for note in found.notes)


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
    assert [parity.broken for parity in same.parities] == [
        "finding 2, messages" in parity.name or "finding 3, turns" in parity.name
        for parity in same.parities
    ]
    assert same.verdict.line.startswith(
        "0 of 3 findings of §5.2 from joined turns, the paper's unit"
    )


def test_a_finding_of_single_messages_alone_does_not_hold() -> None:
    """The verdict is by both units: REALTALK's bubbles stand beside whole turns of LoCoMo."""
    people, models = (shifted(lift) for lift in (9.0, 0.0))
    apart = {"released": people, "turns": models}
    found = figure_2(
        Readings({**dict.fromkeys(ALL, people), **apart}), Readings(dict.fromkeys(ALL, models))
    )
    held = {parity.name: parity.held for parity in found.parities}
    assert held["Figure 2, finding 1, messages"] and not held["Figure 2, finding 1, turns"]
    assert found.verdict.kind == "differs"
    assert "0 of 3 findings of §5.2 from joined turns" in found.verdict.line
    assert "1 (finding 1) from single messages, 0 from both" in found.verdict.line


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


def test_the_paper_beside_its_own_tables() -> None:
    corpus = Corpus("realtalk", "realtalk", tuple(invented(name) for name in CHATS))
    tables = ReadCorpus(corpus=corpus, ledger=Ledger("entries", 0, 0)).tables
    said = {
        each.where: each
        for each in statements(describe(tables), check_guidelines(corpus).days, readings())
    }
    assert "add up to 734" in said["§3.2, A.3"].found
    assert "15,943.0" in said["Table 5"].says
    assert said["Table 2"].agrees
    assert "not so for emotion" in said["Table 2, caption"].found
    # Both readings of one sentence: the level says no, the gain by fine-tuning yes.
    level, gain = (said[name] for name in said if name.startswith("E.2, read as"))
    assert (level.agrees, gain.agrees) == (False, True)
    assert "without r = 0.83" in level.found and "the gain r = -0.80" in gain.found
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
        plain = label_frame(inputs, whole.label(inputs), whole)
        assert found[unit].equals(plain)
