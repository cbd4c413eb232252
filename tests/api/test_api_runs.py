"""Runs in Python: figures, failures, comparisons, files; of all three benchmarks alike."""

from __future__ import annotations

import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from refusals import refused

pytest_plugins = ["surface_runs"]

FIGURE = ["variant", "score", "estimate", "low", "high", "n", "unscored"]
CHANGE = [
    *("variant", "score", "first", "second", "difference", "low", "high"),
    *("p", "p_holm", "n", "groups"),
]


@pytest.fixture
def whole() -> rt.Run:
    return rt.probe("sample", memory="whole", limit=12)


@pytest.fixture(scope="module")
def persona() -> rt.Run:
    return rt.simulate("sample", speaker="Mara", simulator="copy", limit=6)


@pytest.mark.parametrize(
    "name", ["recent", "majority", pytest.param("persona", marks=pytest.mark.slow)]
)
def test_every_run_has_one_shape(name: str, request: pytest.FixtureRequest) -> None:
    run: rt.Run = request.getfixturevalue(name)
    assert len(run.rows) == run.frame.height == len(run)
    found = run.summary()
    assert found.frame.columns == FIGURE
    assert found.frame["estimate"].null_count() < found.frame.height
    assert (found.frame["n"] <= len(run)).all()
    deep = run.summary(groups=True).frame
    assert deep.height > found.frame.height
    assert deep.filter(group="").drop("group").equals(found.frame)
    assert run.to_json()
    assert "summary" in run.figures()
    for shown in (repr(run), run._repr_html_(), repr(found)):
        for row in run.rows:
            for column in ("question", "gold", "answer", "truth_text", "simulated"):
                text = row.get(column)
                assert not text or len(str(text)) < 12 or str(text) not in shown


def test_nothing_stays_on_disk_without_a_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    run = rt.probe("sample", memory="none", limit=2)
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in str(run.to_json()) + repr(run)


def test_a_saved_run_is_the_commands_run(recent: rt.Run, tmp_path: Path, run: Any) -> None:
    place = recent.save(tmp_path / "saved")
    assert stat.S_IMODE((place / "rows.parquet").stat().st_mode) == 0o600
    assert rt.Run.load(place).rows == recent.rows
    assert rt.Run.load(place).save(tmp_path / "copy") == tmp_path / "copy"
    with refused("has a run already"):
        recent.save(place)
    status, _, _ = run(f"runs compare {place} {tmp_path / 'copy'}")
    assert status == 0
    # It goes on where it was: nothing is asked again.
    again = rt.probe("sample", memory="recent", budget=300, limit=12, out=place)
    assert again.rows == recent.rows


def test_comparisons_have_one_shape(recent: rt.Run, whole: rt.Run, majority: rt.Run) -> None:
    with refused("cannot be compared"):
        recent.compare(majority)
    other = rt.probe("sample", memory="recent", budget=600, limit=12)
    with refused("no rows with the budget"):
        recent.compare(other, "600")
    found = rt.compare(recent, whole)
    assert found.frame.columns == CHANGE
    row = found.frame.filter(score="recall@budget").row(0, named=True)
    assert row["second"] == 1.0  # the whole chat shows all evidence
    assert row["difference"] == pytest.approx(row["second"] - row["first"])
    assert (row["groups"], row["p"]) == (2, None)  # two chats cannot tell
    assert "(needs 5 chats)" in repr(found)
    mean = rt.predict("sample-threads", setting="p-conv", predictor="mean", limit=60)
    threads = majority.compare(mean)
    headings, lines = threads.lines
    assert headings[:5] == ("score", "replies", "users", "majority", "mean")
    assert headings[5:] == ("difference", "relative", "p", "p (Holm)", "better")
    assert len(lines) == len(threads) and all(len(line) == len(headings) for line in lines)
    assert threads.frame["variant"].unique().to_list() == ["p-conv"]
    assert threads.frame["p"].null_count() == 0


def test_failures_are_the_worst_first(recent: rt.Run, majority: rt.Run, persona: rt.Run) -> None:
    found = recent.failures()
    assert found.height
    assert found["recall@budget"].is_sorted()
    assert recent.failures(1).height == 1
    wrong = majority.failures(1000)
    expected = sum((row["truth"] > 0) != (row["predicted"] > 0) for row in majority.rows)
    assert wrong.height == expected
    assert {"truth", "answer"} <= set(persona.failures().columns)
    perfect = rt.predict("sample-threads", limit=3)
    assert perfect.failures(0).height == 0


def test_what_is_wrong_with_a_memory_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "half_memory.py").write_text(
        "class Nameless:\n    version = '1'\n\nclass Broken:\n"
        "    name, version, settings = 'broken', '1', {}\n"
        "    def build(self, chat, progress=None):\n        return {}['nothing']\n",
        "utf-8",
    )
    for memory, reason in (
        ("half_memory:Gone", "no 'Gone' in it"),
        ("no_such_module:Gone", "no module 'no_such_module'"),
        ("half_memory:Nameless", "Nameless is not a memory, it has no 'build'"),
        (object(), "object is not a memory"),
    ):
        with refused(reason):
            rt.probe("sample", memory=memory)  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="nothing"):  # the user's own traceback
        rt.probe("sample", memory="half_memory:Broken", limit=1)
    with refused("`settings=` needs a memory by name"):
        rt.probe(
            "sample", memory=sys.modules["half_memory"].Broken(), settings={"around": 3}, limit=1
        )


def test_a_folder_that_holds_no_run(tmp_path: Path) -> None:
    with refused("no run here"):
        rt.Run.load(tmp_path)
    (tmp_path / "run.json").write_text('{"kind": "astrology", "settings": {}, "versions": []}')
    with refused("a run of 'astrology' is not known"):
        rt.Run.load(tmp_path)


@pytest.mark.parametrize(
    ("hits", "drop", "verdict"),
    [
        ("1111111111", 0.0, "passed"),
        ("0000000000", 0.02, "failed"),
        ("0000000000", 1.0, "passed"),  # as much as was allowed
        ("0111111111", 0.02, "within chance"),
    ],
)
def test_a_gate_fails_where_a_drop_is_large_and_beyond_chance(
    tmp_path: Path, hits: str, drop: float, verdict: str
) -> None:
    base, new = (_hitting(tmp_path / name, some) for name, some in (("a", "1" * 10), ("b", hits)))
    gate = rt.runs.gate(new, against=base, score="any@10", drop=drop)
    assert (gate.verdict("all"), gate.passed) == (verdict, verdict != "failed")
    assert gate.lines[0].startswith(f"{verdict}: any@10 at all 1.000 → 0.") or verdict == "passed"
    told = gate.to_json()
    assert (told["passed"], told["variants"]["all"]["verdict"]) == (gate.passed, verdict)


def _hitting(folder: Path, hits: str) -> Path:
    """A run over ten chats of one question, whose evidence is ranked where there is a 1."""
    from dataclasses import replace

    corpus = rt.read("sample")
    chat = corpus.chats[0]
    question = chat.questions[0]
    chats = (replace(chat, id=f"{at}", questions=(question,)) for at in range(len(hits)))

    class Knowing:
        name, version, settings = "knowing", hits, {}  # type: ignore[var-annotated]

        def build(self, chat: Any) -> None:
            self.chat = chat

        def recall(self, _question: Any, _budget: Any) -> list[str]:
            others = [
                message.id for message in self.chat.messages if message.id not in question.evidence
            ]
            return list(question.evidence) if hits[int(self.chat.id)] == "1" else others

    rt.probe(replace(corpus, chats=tuple(chats)), memory=Knowing(), budget="all", out=folder)  # type: ignore[arg-type]
    return folder


def test_enough_chats_are_tested_as_chats(tmp_path: Path) -> None:
    none, every = (rt.Run.load(_hitting(tmp_path / hits, hits)) for hits in ("00000", "11111"))
    found = rt.compare(none, every)
    row = found.frame.filter(score="any@5").row(0, named=True)
    assert (row["groups"], row["p"]) == (5, 2 / 2**5)
    assert "5 chats cannot give a p below 0.062" in repr(found)


def test_a_gate_says_what_it_cannot_hold(recent: rt.Run, majority: rt.Run) -> None:
    for given, line in (
        ({"against": recent, "score": "any5"}, "any@5"),
        ({"against": recent, "score": "any@5", "drop": -1.0}, "must be 0 or more"),
        ({"against": majority, "score": "mcc"}, "memory probing"),
    ):
        with pytest.raises(rt.RealtalkError, match=line):
            rt.runs.gate(recent, **given)  # type: ignore[arg-type]
