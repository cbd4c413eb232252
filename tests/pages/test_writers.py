"""Who wrote the chats: what the user says, then what the format knows, and names last."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import report_runs
from facet_labels import label_settings
from plain_reader import MessageReader
from realtalk import __version__
from realtalk.api.options import as_reading
from realtalk.ei.label_files import labels_about, read_labels, store_labels
from realtalk.formats.store import store
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import run_probe
from realtalk.memory.plain import Recent
from realtalk.memory.values import Budget
from realtalk.pages.loading import (
    AuthorOverrides,
    LoadedRuns,
    WriterKind,
    load,
    says_simulated,
    writer_of,
)
from realtalk.pages.report import PageReport, make_report
from realtalk.pages.values import Section
from refusals import refused
from text_tables import cases


def compare_labels(report: PageReport) -> list[Section]:
    return [each for each in report.sections if each.id.startswith("compared")]


@cases("""
    name             | is_simulated
    sample-simulated | true
    LoCoMo           | true
    realtalk         | false
    locomotive       | false
""")
def test_a_name_says_who_wrote(name: str, is_simulated: bool) -> None:
    assert says_simulated(name) == is_simulated


@cases("""
    names     | format_  | authors               | simulated | why
    a b       | whatsapp | {"simulated": ["b"]}  | true      | as you said
    locomo    | locomo   | {"human": ["locomo"]} | false     | as you said
    bench     | locomo   | {}                    | true      | by its format, locomo
    llm-club  | whatsapp | {}                    | false     | by its format, whatsapp
    x llm-run | realtalk | {}                    | true      | by its name
    x         | null     | {"human": ["y"]}      | false     | nothing says otherwise
""")
def test_what_is_surer_comes_first(
    names: str, format_: str | None, authors: dict[str, Any], simulated: bool, why: str
) -> None:
    found = writer_of(tuple(names.split()), format_, AuthorOverrides(**authors))
    assert found == WriterKind(simulated, why)


def labels(folder: Path, start: str, *, wide: bool) -> Path:
    chats = {f"{start}_{at}": (f"{start} {at}", f"{start} {at + 9}") for at in range(3)}
    return report_runs.write_labels(folder, chats, wide=wide)


def writers(found: LoadedRuns) -> set[WriterKind]:
    """Of each of the three kinds of runs that there are."""
    assert found.corpora and found.labels and found.runs
    return {
        *(each.writer for each in found.corpora),
        *(each.writer for each in found.labels),
        *(each.writer for each in found.runs),
    }


def as_written(folder: Path, name: str, format_: str, protocol: str = "paper") -> Path:
    """The same labels, as `realtalk ei` writes them."""
    settings = label_settings(name, format_, protocol)
    store_labels(read_labels(folder), settings, folder, fresh=True)
    return folder


@pytest.mark.slow
def test_the_user_turns_a_comparison_around(tmp_path: Path) -> None:
    labels(tmp_path / "one", "one", wide=True)
    labels(tmp_path / "two", "two", wide=False)
    (undecided,) = compare_labels(make_report([tmp_path]))
    assert undecided.title == "one beside two" and "`simulated=NAME`" in undecided.lead
    (authors,) = compare_labels(
        make_report([tmp_path], authors=AuthorOverrides(simulated=("one",)))
    )
    assert authors.title == "Human against simulated: two and one"
    assert "one written by models (as you said)" in authors.lead
    assert "two is written by people (nothing says otherwise)" in authors.lead


def test_labels_know_their_corpus_and_its_format(tmp_path: Path) -> None:
    as_written(labels(tmp_path / "a", "a", wide=False), "ten chats", "locomo", "released")
    as_written(labels(tmp_path / "b", "b", wide=True), "family", "whatsapp", "released")
    about = labels_about(tmp_path / "a")
    assert about is not None and (about["corpus"], about["format"]) == ("ten chats", "locomo")
    found = load([tmp_path])
    assert [each.name for each in found.labels] == ["family", "ten chats"]
    assert {each.protocol for each in found.labels} == {"released"}
    report = make_report([tmp_path])
    (section,) = compare_labels(report)
    assert "ten chats written by models (by its format, locomo)" in section.lead
    runs, versions = next(each for each in report.sections if each.id == "measured").tables
    assert [row[:2] for row in versions.rows] == [("b", __version__), ("a", __version__)]
    said = {str(row[0]): str(row[3]) for row in runs.rows}
    assert "written by models (by its format, locomo)" in said["a"]
    assert "written by people (by its format, whatsapp)" in said["b"]


def test_labels_are_not_given_to_a_corpus_of_another_name(tmp_path: Path) -> None:
    """Two corpora may both have a Chat_1."""
    report_runs.write_corpus(tmp_path / "ferry")
    labels = tmp_path / "labels"
    report_runs.write_labels(labels, report_runs.CHATS, wide=True, corpus="ferry")
    as_said = AuthorOverrides(simulated=("ferry",))
    assert load([tmp_path], authors=as_said).labels[0].writer.is_simulated
    as_written(labels, "another", "realtalk")
    (found,) = load([tmp_path], authors=as_said).labels
    assert found.name == "another" and not found.writer.is_simulated


def test_the_corpus_beside_labels_and_runs_tells_their_format(tmp_path: Path) -> None:
    made = replace(report_runs.corpus(), format="locomo")
    store(as_reading(made), tmp_path / "corpus")
    report_runs.write_labels(tmp_path / "labels", report_runs.CHATS, wide=True, corpus="ferry")
    run_probe(Plan(made, Recent(), MessageReader(), (Budget(tokens=60),)), tmp_path / "probe")
    found = load([tmp_path])
    by = WriterKind(True, "by its format, locomo")
    assert writers(found) == {by}
    people = load([tmp_path], authors=AuthorOverrides(human=("ferry",)))
    assert writers(people) == {WriterKind(False, "as you said")}


def test_a_run_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    plan = Plan(report_runs.corpus(), Recent(), MessageReader(), (Budget(tokens=60),))
    run_probe(plan, tmp_path)
    record = tmp_path / "run.json"
    authors = json.loads(record.read_text())
    del authors["settings"]["corpus"]["format"]
    record.write_text(json.dumps(authors))
    before = (tmp_path / "rows.jsonl").read_bytes()
    run_probe(plan, tmp_path)
    assert (tmp_path / "rows.jsonl").read_bytes() == before
    assert json.loads(record.read_text())["settings"]["corpus"]["format"] == "realtalk"


@cases("""
    words                       | why
    --simulated ona             | unknown corpus or run 'ona'; did you mean 'one'?
    --human three               | unknown corpus or run 'three'
    --simulated one --human one | named as simulated and as human
""")
def test_a_mistyped_name_is_one_line(run: Any, tmp_path: Path, words: str, why: str) -> None:
    labels(tmp_path / "runs" / "one", "one", wide=True)
    labels(tmp_path / "runs" / "two", "two", wide=False)
    err = run(f"report runs {words}").wrong
    assert why in err and not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_the_command_takes_several_names(run: Any, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        labels(tmp_path / "runs" / name, name, wide=name == "one")
    words = "--simulated two --simulated three"
    titles = [each["title"] for each in run(f"report runs {words} --json").told["sections"]]
    assert {each for each in titles if each.startswith("Human")} == {
        "Human against simulated: one and three",
        "Human against simulated: one and two",
    }


def test_a_name_where_nothing_can_be_named() -> None:
    with refused("no corpus and no labels to call 'mine'"):
        AuthorOverrides(simulated=("mine",)).refuse_unknown(())
