"""From folders of runs to sections: what is found, what is said first, what is left out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import report_runs
from realtalk.ei import speakers
from realtalk.pages.loading import load
from realtalk.pages.report import PageReport, make_report, write_report
from realtalk.pages.values import Section
from realtalk.pages.values import table as grid
from refusals import refused
from report_runs import HOSTILE, write_labels
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
    shutil.copytree(runs / run, tmp_path / "odd")
    shutil.copytree(runs / "memory" / "whole", tmp_path / "whole")
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
    shutil.copytree(runs / run, tmp_path / "odd")
    shutil.copytree(runs / "memory" / "whole", tmp_path / "whole")
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


def test_the_page_is_small_and_holds_the_names_as_text(report: PageReport, tmp_path: Path) -> None:
    path = write_report(report, tmp_path / "report.html")
    text = path.read_text("utf-8")
    assert path.stat().st_size < 700_000
    assert "window.hit" in text and "<script>window.hit" not in text and HOSTILE not in text


def test_the_command_writes_a_page_and_its_figures(run: Any, runs: Path, tmp_path: Path) -> None:
    _, out, err = run(f"report {runs / 'memory'} --out r.html --title Mine --json").done
    assert (tmp_path / "r.html").stat().st_size > 40_000
    made = json.loads(out)
    assert made["title"] == "Mine" and len(made["key_figures"]) == 1
    assert "wrote r.html" in err and made["key_figures"][0]["figure"] in err
    assert "<title>Mine</title>" in (tmp_path / "r.html").read_text("utf-8")
