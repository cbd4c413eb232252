"""A run's folder: rows survive a kill, other settings are refused, the end is always the same."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import polars as pl
import pytest

from killed_runs import kill_at, started
from realtalk.evals.folder import RunFolder, versions
from realtalk.evals.values import Row
from refusals import refused

KEY = ("chat", "id")
SETTINGS = {"memory": {"name": "whole", "settings": {"reach": 2}}, "seed": 0}


def filled(folder: Path, names: list[str]) -> list[Row]:
    with RunFolder.open(folder, "test", SETTINGS) as run:
        table = run.table("rows", KEY)
        for name in names:
            if table.get(("c", name)) is None:
                table.add({"chat": "c", "id": name, "score": len(name)})
        return table.finish([("c", name) for name in ("one", "two", "three")])


def test_rows_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    first = filled(tmp_path / "a", ["three", "one", "two"])
    second = filled(tmp_path / "b", ["one", "two", "three"])
    assert [row["id"] for row in first] == ["one", "two", "three"]
    assert first == second
    one, other = (tmp_path / name / "rows.parquet" for name in "ab")
    assert one.read_bytes() == other.read_bytes()


def test_a_row_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    filled(tmp_path, ["one", "two"])
    path = tmp_path / "rows.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"chat": "c", "id": "thr')
    rows = filled(tmp_path, ["one", "two", "three"])
    assert [row["id"] for row in rows] == ["one", "two", "three"]
    assert path.read_bytes().startswith(whole)
    assert path.read_bytes().count(b"\n") == 3


def test_a_broken_line_in_the_middle_is_said(tmp_path: Path) -> None:
    filled(tmp_path, ["one"])
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{nothing}\n" + path.read_bytes())
    with refused("line 1: not a row"):
        filled(tmp_path, ["two"])


def test_the_later_row_of_one_key_counts(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path, "test", SETTINGS) as run:
        table = run.table("rows", KEY)
        table.add({"chat": "c", "id": "one", "score": 1})
        table.add({"chat": "c", "id": "one", "score": 2})
        assert [row["score"] for row in table.finish([])] == [2]
    assert RunFolder.load(tmp_path, "test").rows("rows", KEY) == [
        {"chat": "c", "id": "one", "score": 2}
    ]


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    filled(tmp_path, ["one"])
    other = {"memory": {"name": "whole", "settings": {"reach": 3}}, "seed": 0, "limit": 5}
    with refused() as caught:
        RunFolder.open(tmp_path, "test", other)
    assert "memory.settings.reach is 2 there, 3 now" in str(caught.value)
    assert "limit is not set there, 5 now" in str(caught.value)
    assert "`fresh=True`" in str(caught.value)
    with refused("kind is test there"):
        RunFolder.open(tmp_path, "another", SETTINGS)
    with RunFolder.open(tmp_path, "test", other, fresh=True) as run:
        assert not list(run.table("rows", KEY).rows)


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with RunFolder.open(tmp_path, "test", SETTINGS) as run:
        run.table("rows", KEY)
        with (
            refused("another run is writing here"),
            RunFolder.open(tmp_path, "test", SETTINGS) as second,
        ):
            second.table("rows", KEY)


def test_what_made_the_rows_is_kept(tmp_path: Path) -> None:
    filled(tmp_path, ["one"])
    kept = json.loads((tmp_path / "run.json").read_bytes())
    assert kept["settings"] == SETTINGS
    assert kept["versions"] == [versions()]
    assert {"realtalk", "python", "numpy"} <= set(versions())
    kept["versions"] = [{"realtalk": "0.0.1"}]
    (tmp_path / "run.json").write_text(json.dumps(kept), "utf-8")
    filled(tmp_path, ["one"])  # another version goes on, and is noted
    again = json.loads((tmp_path / "run.json").read_bytes())
    assert again["versions"] == [{"realtalk": "0.0.1"}, versions()]


SCRIPT = """
import sys
from pathlib import Path
from realtalk.formats.opening import open_reading
from realtalk.memory.plain import Recent
from realtalk.memory.asking import Plan
from plain_reader import MessageReader
from realtalk.memory.values import Budget
from realtalk.memory.benchmark import run_probe

corpus = open_reading("sample").reading.corpus
plan = Plan(corpus, Recent(), MessageReader(), (Budget(tokens=300), Budget(words=200)))
run_probe(plan, Path(sys.argv[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_run_ends_with_the_same_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # its reader is one of the tests
    steady, killed = tmp_path / "steady", tmp_path / "killed"
    assert started(SCRIPT, steady).wait() == 0
    target = random.randrange(1, 102)  # a different row every time
    path = killed / "rows.jsonl"
    there = kill_at(target, SCRIPT, killed)
    assert there.count(b"\n") == target
    assert not (killed / "rows.parquet").exists()
    assert started(SCRIPT, killed).wait() == 0
    after = path.read_bytes()
    assert after.startswith(there)  # what was there is not asked again
    assert after.count(b"\n") == 102
    rows = pl.read_parquet(killed / "rows.parquet")
    assert rows.height == 102
    assert rows.equals(pl.read_parquet(steady / "rows.parquet"))
    assert (killed / "rows.parquet").read_bytes() == (steady / "rows.parquet").read_bytes()


def test_fresh_spares_files_of_others(tmp_path: Path) -> None:
    filled(tmp_path, ["one"])
    mine = ("messages.parquet", "answers.jsonl")
    for name in mine:
        (tmp_path / name).write_text("mine", "utf-8")
    RunFolder.open(tmp_path, "test", {}, fresh=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*mine, "run.json"])


@pytest.mark.parametrize("name", ["rows.jsonl", "speakers.parquet"])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_folder_that_is_no_runs_is_left_alone(tmp_path: Path, name: str, fresh: bool) -> None:
    (tmp_path / name).write_text("mine", "utf-8")
    with refused(f"holds {name} but no run.json"):
        RunFolder.open(tmp_path, "test", SETTINGS, fresh=fresh)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_table_that_fresh_would_leave_behind_is_refused(tmp_path: Path) -> None:
    with (
        RunFolder.open(tmp_path, "test", SETTINGS) as run,
        pytest.raises(ValueError, match="`fresh=True`"),
    ):
        run.table("forgotten", KEY)
