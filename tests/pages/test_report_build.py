"""From folders of runs to sections: what is found, what is said first, what is left out, and who
wrote the chats."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import report_runs
from facet_labels import label_settings
from plain_reader import MessageReader
from realtalk import __version__
from realtalk.api.choices import as_reading
from realtalk.ei.results import labels_about, read_labels, store_labels
from realtalk.ei.speakers import speakers
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
    writer_of,
)
from realtalk.pages.report import PageReport, make_report, measured_section, write_report
from realtalk.pages.values import Section
from realtalk.pages.values import table as grid
from refusals import refused
from report_runs import write_labels
from text_tables import cases


@pytest.fixture
def runs() -> Path:
    return report_runs.runs()


@pytest.fixture
def report() -> PageReport:
    return report_runs.report()


def section(report: PageReport, start: str) -> Section:
    return next(each for each in report.sections if each.id.startswith(start))


def test_every_kind_of_run_has_its_section(report: PageReport) -> None:
    found = [each.id.partition("-")[0] for each in report.sections if not each.depth]
    assert found == [
        *("corpora", "ei", "consistency", "compared", "memory", "persona", "threads"),
        *("unscored", "measured"),
    ]
    assert len({each.id for each in report.sections}) == len(report.sections)
    kinds = {row[1] for row in section(report, "measured").tables[0].rows}
    runs = {"memory probing", "persona simulation", "thread tasks"}
    assert kinds == {"corpus", "EI labels", *runs}


def test_figures_are_those_of_the_runs(report: PageReport, runs: Path) -> None:
    overview = section(report, "corpora").tables[0]
    row = dict(zip(overview.headings, overview.rows[0], strict=True))
    assert (row["chats"], row["messages"], row["questions"]) == (3, 108, 9)
    frame = pl.read_parquet(runs / "labels" / "ferry" / "labels.parquet")
    whole = speakers(frame)
    shown = section(report, "ei-ferry").tables[0]
    assert [(line[0], line[2]) for line in shown.rows] == [
        (who.speaker, who.turns) for who in whole
    ]
    tables = section(report, "memory-ferry").tables
    shown = next(each for each in tables if each.title == "Evidence in the context")
    found = {
        (str(line[0]).partition(",")[0], line[1]): line[shown.headings.index("recall@budget")]
        for line in shown.rows
    }
    assert str(found["whole", "all"]).startswith("1.000")
    assert str(found["recent", "60t"]).startswith("0.000")


def test_three_things_come_first_each_with_its_interval(report: PageReport) -> None:
    assert [each.topic for each in report.key_figures] == [
        *("Human against simulated", "Memory", "Persona"),
    ]
    anchors = {each.id for each in report.sections}
    for each in report.key_figures:
        assert "95 % interval" in each.range and each.section in anchors
    memory = report.key_figures[1]
    assert memory.figure == "1.00" and "“whole, read by" in memory.says


def test_nothing_is_said_first_where_nothing_has_an_interval(tmp_path: Path) -> None:
    write_labels(tmp_path / "one", {"c": ("Ana", "Bo")}, wide=True)
    assert make_report([tmp_path]).key_figures == ()


def test_unscored_is_counted_with_its_reason(report: PageReport) -> None:
    rows = {(row[0], row[1]): row[2:] for row in section(report, "unscored").tables[0].rows}
    assert rows["ferry, labels", "empathy"] == (1, 480, "no text")


def test_a_broken_run_among_others_is_left_out_and_named(runs: Path, tmp_path: Path) -> None:
    place = tmp_path / "runs"
    shutil.copytree(runs / "memory", place)
    for path in (place / "recent").glob("rows.*"):
        path.unlink()
    found = make_report([place])
    assert section(found, "measured").notes == ("Left out: recent (the run has no rows yet)",)
    with refused("the run has no rows yet"):
        make_report([place / "recent"])


def take(runs: Path, run: str, folder: Path) -> None:
    """A run that will be made odd, beside a whole one."""
    shutil.copytree(runs / run, folder / "odd")
    shutil.copytree(runs / "memory" / "whole", folder / "whole")


@cases("""
    run           | change
    memory/recent | {"corpus": "ferry"}
    memory/recent | {"solver": "recent"}
    memory/recent | {"solver": {"settings": {"memory": {}, "reader": {}}}}
    persona       | {"solver": "constant"}
    threads       | {"protocol": null}
    threads       | {"test": "all"}
""")
def test_settings_of_another_version_cost_no_other_run(
    runs: Path, tmp_path: Path, run: str, change: dict[str, Any]
) -> None:
    take(runs, run, tmp_path)
    place = tmp_path / "odd" / "run.json"
    record = json.loads(place.read_text())
    record["settings"] |= change
    place.write_text(json.dumps(record))
    (note,) = section(make_report([tmp_path]), "measured").notes
    assert note.startswith("Left out: odd (")
    with refused("odd"):
        make_report([tmp_path / "odd"])


@cases("""
    run           | column
    memory/recent | recall@5
    persona       | rouge_1
    threads       | truth
""")
def test_rows_of_another_version_cost_no_other_run(
    runs: Path, tmp_path: Path, run: str, column: str
) -> None:
    take(runs, run, tmp_path)
    (tmp_path / "odd" / "rows.jsonl").unlink()
    place = tmp_path / "odd" / "rows.parquet"
    pl.read_parquet(place).drop(column).write_parquet(place)
    found = load([tmp_path])
    assert [name for name, _ in found.left_out] == ["odd"] and len(found.runs) == 1


def test_a_run_of_another_kind_is_named(runs: Path, tmp_path: Path) -> None:
    place = tmp_path / "runs"
    shutil.copytree(runs / "corpora", place)
    (place / "odd").mkdir()
    (place / "odd" / "run.json").write_text(json.dumps({"kind": "weather", "versions": []}))
    assert load([place]).left_out == (("odd", "a run of weather"),)
    with refused("nothing can be reported of odd"):
        load([place / "odd"])


@pytest.mark.parametrize("text", ["", "{}", '{"kind": 3, "versions": []}', "[1]"])
def test_a_broken_record_is_one_clear_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with refused("is not the record of a run") as caught:
        load([tmp_path])
    assert "\n" not in str(caught.value) and "run.json" in str(caught.value)


def test_no_folder_and_no_run_are_said(tmp_path: Path) -> None:
    with refused("does not exist"):
        load([tmp_path / "nowhere"])
    with refused("no stored run here"):
        load([tmp_path])
    (tmp_path / "file").write_text("x")
    with refused("is not a folder"):
        load([tmp_path / "file"])


def test_very_long_tables_are_cut_and_say_so() -> None:
    made = grid("t", ("a",), [(at,) for at in range(5000)])
    assert len(made.rows) == 400 and "of 5,000 rows" in made.note


def test_the_page_is_small(report: PageReport, tmp_path: Path) -> None:
    assert write_report(report, tmp_path / "report.html").stat().st_size < 700_000


def test_the_command_writes_a_page_and_its_figures(run: Any, runs: Path, tmp_path: Path) -> None:
    _, out, err = run(f"report {runs / 'memory'} --out r.html --title Mine --json").done
    assert (tmp_path / "r.html").stat().st_size > 40_000
    made = json.loads(out)
    assert made["title"] == "Mine" and len(made["key_figures"]) == 1
    assert "wrote r.html" in err and made["key_figures"][0]["figure"] in err
    assert "<title>Mine</title>" in (tmp_path / "r.html").read_text("utf-8")


# --- who wrote the chats ---


@cases("""
    names     | format_  | authors               | simulated | why
    a b       | whatsapp | {"simulated": ["b"]}  | true      | as you said
    locomo    | locomo   | {"human": ["locomo"]} | false     | as you said
    bench     | locomo   | {}                    | true      | by its format, locomo
    llm-club  | whatsapp | {}                    | false     | by its format, whatsapp
    x llm-run | realtalk | {}                    | true      | by its name
    sample-simulated | null | {}                 | true      | by its name
    x LoCoMo  | null     | {}                    | true      | by its name
    locomotive | null    | {}                    | false     | nothing says otherwise
    x         | null     | {"human": ["y"]}      | false     | nothing says otherwise
""")
def test_what_is_surer_comes_first(
    names: str, format_: str | None, authors: dict[str, Any], simulated: bool, why: str
) -> None:
    found = writer_of(tuple(names.split()), format_, AuthorOverrides(**authors))
    assert found == WriterKind(simulated, why)


def labelled(folder: Path, *, wide: bool) -> Path:
    """Three chats of people who are called like the folder."""
    name = folder.name
    chats = {f"{name}_{at}": (f"{name} {at}", f"{name} {at + 9}") for at in range(3)}
    return write_labels(folder, chats, wide=wide)


def writers(found: LoadedRuns) -> set[WriterKind]:
    """Of each of the three kinds of runs that there are."""
    kinds: tuple[tuple[Any, ...], ...] = (found.corpora, found.labels, found.runs)
    assert all(kinds)
    return {each.writer for kind in kinds for each in kind}


def as_written(folder: Path, name: str, format_: str, protocol: str = "paper") -> Path:
    """The same labels, as `realtalk ei` writes them."""
    settings = label_settings(name, format_, protocol)
    store_labels(read_labels(folder), settings, folder, fresh=True)
    return folder


@pytest.mark.slow
def test_the_user_turns_a_comparison_around(tmp_path: Path) -> None:
    labelled(tmp_path / "one", wide=True)
    labelled(tmp_path / "two", wide=False)
    undecided = section(make_report([tmp_path]), "compared")
    assert undecided.title == "one beside two" and "`simulated=NAME`" in undecided.lead
    told = make_report([tmp_path], authors=AuthorOverrides(simulated=("one",)))
    authors = section(told, "compared")
    assert authors.title == "Human against simulated: two and one"
    assert "one written by models (as you said)" in authors.lead
    assert "two is written by people (nothing says otherwise)" in authors.lead


def test_labels_know_their_corpus_and_its_format(tmp_path: Path) -> None:
    as_written(labelled(tmp_path / "a", wide=False), "ten chats", "locomo", "released")
    as_written(labelled(tmp_path / "b", wide=True), "family", "whatsapp", "released")
    about = labels_about(tmp_path / "a")
    assert about is not None and (about["corpus"], about["format"]) == ("ten chats", "locomo")
    found = load([tmp_path])
    assert [each.name for each in found.labels] == ["family", "ten chats"]
    assert {each.protocol for each in found.labels} == {"released"}
    runs, versions = measured_section(found).tables
    assert [row[:2] for row in versions.rows] == [("b", __version__), ("a", __version__)]
    said = {str(row[0]): str(row[3]) for row in runs.rows}
    assert "written by models (by its format, locomo)" in said["a"]
    assert "written by people (by its format, whatsapp)" in said["b"]


def test_labels_are_not_given_to_a_corpus_of_another_name(tmp_path: Path) -> None:
    """Two corpora may both have a Chat_1."""
    report_runs.write_corpus(tmp_path / "ferry")
    place = tmp_path / "labels"
    write_labels(place, report_runs.CHATS, wide=True, corpus="ferry")
    as_said = AuthorOverrides(simulated=("ferry",))
    assert load([tmp_path], authors=as_said).labels[0].writer.is_simulated
    as_written(place, "another", "realtalk")
    (found,) = load([tmp_path], authors=as_said).labels
    assert found.name == "another" and not found.writer.is_simulated


def test_the_corpus_beside_labels_and_runs_tells_their_format(tmp_path: Path) -> None:
    made = replace(report_runs.corpus(), format="locomo")
    store(as_reading(made), tmp_path / "corpus")
    write_labels(tmp_path / "labels", report_runs.CHATS, wide=True, corpus="ferry")
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
    labelled(tmp_path / "runs" / "one", wide=True)
    labelled(tmp_path / "runs" / "two", wide=False)
    err = run(f"report runs {words}").wrong
    assert why in err and not (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_the_command_takes_several_names(run: Any, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        labelled(tmp_path / "runs" / name, wide=name == "one")
    words = "--simulated two --simulated three"
    titles = [each["title"] for each in run(f"report runs {words} --json").told["sections"]]
    assert {each for each in titles if each.startswith("Human")} == {
        "Human against simulated: one and three",
        "Human against simulated: one and two",
    }


def test_a_name_where_nothing_can_be_named() -> None:
    with refused("no corpus and no labels to call 'mine'"):
        AuthorOverrides(simulated=("mine",)).refuse_unknown(())
