"""A job comes to the same bytes by every engine and after every kind of end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from engine_faults import workers_of
from engine_work import SECRET, heavy, no_work, shouting, tree, write_inputs
from file_modes import open_to_others
from realtalk.api.batch_work import gather_inputs
from realtalk.engine.engines import Inline, Processes, choose
from realtalk.engine.jobs import ONE_THREAD, Job, JobReport, fingerprint, run_job, tasks
from realtalk.files.stores import name_of
from refusals import refused
from text_tables import cases

_DRIVER = """
import sys
from pathlib import Path
from engine_work import shouting
from realtalk.engine.engines import choose
from realtalk.engine.jobs import run_job

inputs, out, marks = map(Path, sys.argv[2:])
if __name__ == "__main__":
    run_job(shouting(tuple(sorted(inputs.iterdir())), out, marks), choose(sys.argv[1]))
"""


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    return tmp_path / "marks"


def expected(inputs: tuple[Path, ...], tmp_path: Path, marks: Path) -> dict[str, bytes]:
    """What a sitting that nothing disturbs makes of the inputs, once every mark is there."""
    run_job(shouting(inputs, tmp_path / "expected", marks), Inline())
    return tree(tmp_path / "expected")


def names(report: JobReport) -> list[str]:
    return [name for name, _ in report.problems]


def test_every_engine_gives_the_same_bytes(tmp_path: Path, marks: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain", "corrupt", "bug", "plain")
    one = run_job(shouting(inputs, tmp_path / "one", marks), Inline())
    two = run_job(shouting(inputs, tmp_path / "two", tmp_path / "more"), Processes(2))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert names(one) == names(two) == ["2.txt", "3.txt"]
    assert (tmp_path / "two" / "4.txt").read_text() == f"PLAIN: {SECRET.upper()} 4"
    assert open_to_others(tmp_path / "two") == {}
    made = [path.read_text() for path in (tmp_path / "more").glob("made-*")]
    assert 1 <= len(made) <= 2
    assert set(made) == {"x"}, "a worker builds its function once"


def test_the_record_names_inputs_and_no_text(tmp_path: Path, marks: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "corrupt", "bug")
    report = run_job(shouting(inputs, tmp_path / "out", marks), Inline())
    frame = pl.read_parquet(tmp_path / "out" / "parts.parquet")
    assert frame["input"].to_list() == ["0.txt", "1.txt", "2.txt"]
    assert (frame["bytes"][0], frame["sha256"][0]) == fingerprint(inputs[0])
    assert dict(report.problems)["1.txt"] == "1.txt: is no text"
    assert dict(report.problems)["2.txt"].startswith("failed (ValueError at engine_work.py, line")
    record = (tmp_path / "out" / "parts.jsonl").read_text() + repr(report)
    assert SECRET not in record
    assert str(tmp_path) not in (tmp_path / "out" / "parts.jsonl").read_text()


def test_a_killed_worker_is_replaced(tmp_path: Path, marks: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "worker", "plain")
    report = run_job(shouting(inputs, tmp_path / "out", marks), Processes(2))
    assert (marks / "worker").exists()
    assert report.problems == ()
    assert tree(tmp_path / "out") == expected(inputs, tmp_path, marks)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found by /proc")
def test_a_worker_that_is_killed_before_it_has_its_function_is_replaced(
    tmp_path: Path, marks: Path
) -> None:
    """The driver once waited for ever: it wrote into a pipe that only it itself could read."""
    inputs = write_inputs(tmp_path / "in", "plain", "plain")
    make = partial(heavy, marks, bytes(1 << 20))
    killed: list[int] = []

    def kill_first() -> None:
        while not killed:
            for worker in workers_of(os.getpid()):
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    thread = threading.Thread(target=kill_first, daemon=True)
    thread.start()
    report = run_job(replace(shouting(inputs, tmp_path / "out", marks), make=make), Processes(1))
    assert (len(killed), report.problems) == (1, ())
    assert tree(tmp_path / "out") == expected(inputs, tmp_path, marks)


def test_an_input_that_kills_every_worker_is_named(tmp_path: Path, marks: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "always", "plain", "plain")
    report = run_job(shouting(inputs, tmp_path / "out", marks), Processes(1))
    assert report.problems == (("0.txt", "its worker ended 3 times (signal 9)"),)
    assert sorted(path.name for path in (tmp_path / "out").glob("?.txt")) == ["1.txt", "2.txt"]
    assert not (tmp_path / "out" / ".unfinished").exists()


@cases("""
    engine    | order
    inline    | worker
    processes | driver
""")
def test_a_killed_driver_goes_on(tmp_path: Path, marks: Path, engine: str, order: str) -> None:
    """In one process worker and driver are the same; else the worker kills its parent."""
    inputs = write_inputs(tmp_path / "in", "plain", "plain", order, "plain")
    script = tmp_path / "driver.py"
    script.write_text(_DRIVER)
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path])
    done = subprocess.run(
        [sys.executable, script, engine, tmp_path / "in", tmp_path / "out", marks],
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    late = time.monotonic() + 60
    while list(tmp_path.glob("out/.unfinished/*/2.txt")) and engine == "processes":
        assert time.monotonic() < late
        time.sleep(0.01)  # a worker that lost its driver ends what it has begun
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("[01].txt")}
    recorded = (tmp_path / "out" / "parts.jsonl").read_bytes().count(b"\n")
    report = run_job(shouting(inputs, tmp_path / "out", marks), Inline())
    assert report.worked == len(inputs) - recorded
    if engine == "inline":
        assert recorded == 2
        assert before == {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in before}
    assert tree(tmp_path / "out") == expected(inputs, tmp_path, marks)
    assert run_job(shouting(inputs, tmp_path / "out", marks), Inline()).worked == 0


@pytest.mark.parametrize("engine", [Inline(), Processes(2)])
def test_a_full_disk_stops_and_goes_on(
    tmp_path: Path, marks: Path, engine: Inline | Processes
) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "full", "plain")
    with refused("the disk is full; make room and run it again"):
        run_job(shouting(inputs, tmp_path / "out", marks), engine)
    assert not (tmp_path / "out" / ".unfinished").exists()
    report = run_job(shouting(inputs, tmp_path / "out", marks), Inline())
    assert report.problems == ()
    assert tree(tmp_path / "out") == expected(inputs, tmp_path, marks)


def test_other_settings_are_refused_and_fresh_starts_anew(tmp_path: Path, marks: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain")
    run_job(shouting(inputs, tmp_path / "out", marks, gap=6), Inline())
    with refused(r"gap is 6 there, 7 now\); name another folder"):
        run_job(shouting(inputs, tmp_path / "out", marks, gap=7), Inline())
    job = shouting(inputs[1:], tmp_path / "out", marks, gap=7)
    assert run_job(job, Inline(), fresh=True).worked == 1
    assert not (tmp_path / "out" / "0.txt").exists(), "a part of the earlier job"


def test_a_changed_input_is_done_again(tmp_path: Path, marks: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain", "plain")
    job = shouting(inputs, tmp_path / "out", marks)
    run_job(job, Inline())
    inputs[0].write_text("other")
    inputs[1].write_text("corrupt: by now")
    (tmp_path / "out" / "2.txt").unlink()
    report = run_job(job, Inline())
    assert report.worked == 3
    assert names(report) == ["1.txt"]
    assert (tmp_path / "out" / "0.txt").read_text() == "OTHER"
    assert not (tmp_path / "out" / "1.txt").exists(), "made of what the input was before"


def test_a_second_driver_is_refused(tmp_path: Path, marks: Path) -> None:
    from realtalk.evals.folder import RunFolder

    inputs = write_inputs(tmp_path / "in", "plain")
    with RunFolder.open(tmp_path / "out", "shouting", {}) as run:
        run.table("parts", ("part",))
        with refused("busy"):
            run_job(shouting(inputs, tmp_path / "out", marks), Inline())


@pytest.mark.parametrize("engine", [Inline(), Processes(2)])
def test_a_function_that_cannot_be_built_ends_the_job(
    tmp_path: Path, engine: Inline | Processes
) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain")
    with refused("the model is missing; get it"):
        run_job(Job("shouting", inputs, no_work, tmp_path / "out", {}), engine)


def test_a_worker_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    from realtalk.files.environment import environment

    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    with environment(ONE_THREAD):
        code = "import polars; print(polars.thread_pool_size())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "POLARS_MAX_THREADS" not in os.environ


def test_parts_never_share_a_name(tmp_path: Path, marks: Path) -> None:
    inputs = [tmp_path / "a" / "Chat.txt", tmp_path / "b" / "chat.zip", tmp_path / "parts.jsonl"]
    found = tasks(shouting(tuple(inputs), tmp_path / "out", marks))
    assert [task.part for task in found] == ["Chat.txt", "chat-2.txt", "parts-2.txt"]


def test_folders_and_patterns_name_inputs(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("b.txt", "a.txt", ".hidden", "c [1].txt", "out/run.json", "export/result.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    found = gather_inputs([str(folder / "b.txt"), str(folder)], folder / "out")
    assert [name_of(path) for path in found] == ["b.txt", "a.txt", "c [1].txt", "export"]
    assert gather_inputs([str(folder / "c [1].txt")], tmp_path) == (folder / "c [1].txt",)
    assert [name_of(path) for path in gather_inputs([str(folder / "*.txt")], tmp_path)] == [
        "a.txt",
        "b.txt",
        "c [1].txt",
    ]
    for path in ("none", "none*"):
        with refused("missing-file"):
            gather_inputs([str(folder / path)], tmp_path)


def test_a_folder_is_known_by_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("tulip")
    before = fingerprint(tmp_path)
    (tmp_path / "one").rename(tmp_path / "two")
    renamed = fingerprint(tmp_path)
    (tmp_path / "two").write_text("roses")
    assert len({before, renamed, fingerprint(tmp_path)}) == 3
    assert before[0] == 5


@cases("""
    options                                  | line
    {"name": "procceses"}                    | did you mean 'processes'
    {"name": "inline", "workers": 2}         | has one worker
    {"name": "processes", "workers": 0}      | `workers=` is 0
    {"name": "processes", "address": "auto"} | `address=` names a Ray cluster
""")
def test_engines_that_do_not_exist_are_refused(options: dict[str, object], line: str) -> None:
    with refused(line):
        choose(**options)  # type: ignore[arg-type]
