"""A job comes to the same bytes by every engine, in a folder or a store, and after every kind of
end; exports and corpora in a store, against an S3 server on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
from engine_faults import workers_of
from engine_work import SECRET, heavy, no_work, shouting, tree, write_inputs
from file_modes import open_to_others
from loopback import QuietHandler, serving
from realtalk.api.batch_work import gather_inputs
from realtalk.engine.engines import Inline, Processes, choose
from realtalk.engine.jobs import ONE_THREAD, Job, JobReport, fingerprint, run_job, tasks
from realtalk.files.environment import environment
from realtalk.files.stores import (
    children,
    fetch,
    kind_of,
    local_copy,
    name_of,
    place_of,
    put,
    read_bytes,
    remove,
    stamp,
)
from refusals import refused
from store_server import BUCKET, s3_server
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


ALONE, SEVERAL = Inline(), Processes(2)
by_both = pytest.mark.parametrize("engine", [ALONE, SEVERAL])


def work(
    inputs: tuple[Path, ...], engine: Inline | Processes = ALONE, out: str = "out", **settings: Any
) -> JobReport:
    """The job into a folder beside that of its inputs."""
    home = inputs[0].parents[1]
    return run_job(shouting(inputs, home / out, home / "marks", **settings), engine)


def expected(inputs: tuple[Path, ...]) -> dict[str, bytes]:
    """What a sitting that nothing disturbs makes of the inputs, once every mark is there."""
    return tree(Path(work(inputs, out="expected").out))


def names(report: JobReport) -> list[str]:
    return [name for name, _ in report.problems]


def test_every_engine_gives_the_same_bytes(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain", "corrupt", "bug", "plain")
    two = work(inputs, SEVERAL, "two")
    made = [path.read_text() for path in (tmp_path / "marks").glob("made-*")]
    assert made in (["x"], ["x", "x"]), "a worker builds its function once"
    one = work(inputs, out="one")
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert names(one) == names(two) == ["2.txt", "3.txt"]
    assert (tmp_path / "two" / "4.txt").read_text() == f"PLAIN: {SECRET.upper()} 4"
    assert open_to_others(tmp_path / "two") == {}


def test_the_record_names_inputs_and_no_text(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "corrupt", "bug")
    report = work(inputs)
    frame = pl.read_parquet(tmp_path / "out" / "parts.parquet")
    assert frame["input"].to_list() == ["0.txt", "1.txt", "2.txt"]
    assert (frame["bytes"][0], frame["sha256"][0]) == fingerprint(inputs[0])
    assert dict(report.problems)["1.txt"] == "1.txt: is no text"
    assert dict(report.problems)["2.txt"].startswith("failed (ValueError at engine_work.py, line")
    record = (tmp_path / "out" / "parts.jsonl").read_text()
    assert SECRET not in record + repr(report) and str(tmp_path) not in record


def test_a_killed_worker_is_replaced(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "worker", "plain")
    report = work(inputs, SEVERAL)
    assert (tmp_path / "marks" / "worker").exists() and report.problems == ()
    assert tree(tmp_path / "out") == expected(inputs)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found by /proc")
def test_a_worker_that_is_killed_before_it_has_its_function_is_replaced(
    tmp_path: Path,
) -> None:
    """The driver once waited for ever: it wrote into a pipe that only it itself could read."""
    inputs = write_inputs(tmp_path / "in", "plain", "plain")
    marks = tmp_path / "marks"
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
    assert tree(tmp_path / "out") == expected(inputs)


def test_an_input_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "always", "plain", "plain")
    report = work(inputs, Processes(1))
    assert report.problems == (("0.txt", "its worker ended 3 times (signal 9)"),)
    assert sorted(path.name for path in (tmp_path / "out").glob("?.txt")) == ["1.txt", "2.txt"]
    assert not (tmp_path / "out" / ".unfinished").exists()


@cases("""
    engine    | order
    inline    | worker
    processes | driver
""")
def test_a_killed_driver_goes_on(tmp_path: Path, engine: str, order: str) -> None:
    """In one process worker and driver are the same; else the worker kills its parent."""
    inputs = write_inputs(tmp_path / "in", "plain", "plain", order, "plain")
    script = tmp_path / "driver.py"
    script.write_text(_DRIVER)
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path])
    done = subprocess.run(
        [sys.executable, script, engine, *(tmp_path / name for name in ("in", "out", "marks"))],
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
    assert work(inputs).worked == len(inputs) - recorded
    if engine == "inline":
        assert recorded == 2
        assert before == {name: (tmp_path / "out" / name).stat().st_mtime_ns for name in before}
    assert tree(tmp_path / "out") == expected(inputs)


@by_both
def test_a_full_disk_stops_and_goes_on(tmp_path: Path, engine: Inline | Processes) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "full", "plain")
    with refused("the disk is full; make room and run it again"):
        work(inputs, engine)
    assert not (tmp_path / "out" / ".unfinished").exists()
    assert work(inputs).problems == ()
    assert tree(tmp_path / "out") == expected(inputs)


def test_other_settings_are_refused_and_fresh_starts_anew(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain")
    work(inputs, gap=6)
    with refused(r"gap is 6 there, 7 now\); name another folder"):
        work(inputs, gap=7)
    job = shouting(inputs[1:], tmp_path / "out", tmp_path / "marks", gap=7)
    assert run_job(job, ALONE, fresh=True).worked == 1
    assert not (tmp_path / "out" / "0.txt").exists(), "a part of the earlier job"


def test_a_changed_input_is_done_again(tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain", "plain")
    work(inputs)
    inputs[0].write_text("other")
    inputs[1].write_text("corrupt: by now")
    (tmp_path / "out" / "2.txt").unlink()
    report = work(inputs)
    assert (report.worked, names(report)) == (3, ["1.txt"])
    assert (tmp_path / "out" / "0.txt").read_text() == "OTHER"
    assert not (tmp_path / "out" / "1.txt").exists(), "made of what the input was before"


@by_both
def test_a_function_that_cannot_be_built_ends_the_job(
    tmp_path: Path, engine: Inline | Processes
) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "plain")
    with refused("the model is missing; get it"):
        run_job(Job("shouting", inputs, no_work, tmp_path / "out", {}), engine)


def test_a_worker_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    with environment(ONE_THREAD):
        code = "import polars; print(polars.thread_pool_size())"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"1"
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "POLARS_MAX_THREADS" not in os.environ


def test_parts_never_share_a_name(tmp_path: Path) -> None:
    inputs = [tmp_path / name for name in ("a/Chat.txt", "b/chat.zip", "parts.jsonl")]
    found = tasks(shouting(inputs, tmp_path / "out", tmp_path))
    assert [task.part for task in found] == ["Chat.txt", "chat-2.txt", "parts-2.txt"]


def test_folders_and_patterns_name_inputs(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("b.txt", "a.txt", ".hidden", "c [1].txt", "out/run.json", "export/result.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)

    def found(*asked: str) -> list[str]:
        places = gather_inputs([str(folder / each) for each in asked], folder / "out")
        return [name_of(place) for place in places]

    assert found("b.txt", "") == ["b.txt", "a.txt", "c [1].txt", "export"]
    assert found("c [1].txt") == ["c [1].txt"]
    assert found("*.txt") == ["a.txt", "b.txt", "c [1].txt"]
    for path in ("none", "none*"):
        with refused("missing-file"):
            found(path)


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


# --- in a store ---


CHAT = """[04.05.26, 09:00:00] Ines: the oven broke, I am waiting for the mechanic
[04.05.26, 09:01:00] Tobias: mine took two weeks
[04.05.26, 09:02:10] Ines: at least the sourdough starter is alive
"""


@pytest.fixture
def bucket() -> Iterator[str]:
    with s3_server():
        yield f"s3://{BUCKET}"


def under(address: str) -> dict[str, bytes]:
    """Every file below an address."""
    found: dict[str, bytes] = {}
    for place in map(str, children(address)):
        name = place.removeprefix(f"{address}/")
        if kind_of(place) == "file":
            found[name] = read_bytes(place)
        else:
            found |= {f"{name}/{below}": data for below, data in under(place).items()}
    return found


def test_an_address_is_told_from_a_path() -> None:
    assert place_of("s3://chats/exports/a.txt") == "s3://chats/exports/a.txt"
    assert place_of(Path("s3://chats/exports/")) == "s3://chats/exports"
    assert place_of("hdfs://node:8020/data") == "hdfs://node:8020/data"
    for path in ("exports/a.txt", "C:/exports"):
        assert place_of(path) == Path(path)
    with refused("hdfs:///data: names no host"):
        place_of("hdfs:///data")


def test_files_and_folders_come_and_go_whole(bucket: str, tmp_path: Path) -> None:
    made = tmp_path / "corpus"
    (made / "messages").mkdir(parents=True)
    (made / "messages" / "part-0.parquet").write_bytes(b"x" * (6 << 20))
    (made / "corpus.json").write_text("{}")
    place = f"{bucket}/corpora/mine"
    assert kind_of(place) is None
    put(made, place)
    assert under(place) == tree(made)
    assert children(place) == [f"{place}/corpus.json", f"{place}/messages"]
    assert tree(fetch(place, tmp_path / "back")) == tree(made)
    assert open_to_others(tmp_path / "back") == {}
    (made / "messages" / "part-0.parquet").unlink()
    (made / "events.parquet").write_bytes(b"e")
    put(made, place)
    assert under(place) == tree(made)
    size, known = stamp(place)
    assert size == 3 and len(known) == 64
    remove(place)
    assert kind_of(place) is None
    with refused("missing-file"):
        fetch(f"{bucket}/none", tmp_path / "none")


def test_a_job_in_a_store_comes_to_the_same_bytes(bucket: str, tmp_path: Path) -> None:
    inputs = write_inputs(tmp_path / "in", "plain", "corrupt", "bug", "plain")
    put(tmp_path / "in", f"{bucket}/in")
    there = gather_inputs([f"{bucket}/in"], tmp_path)
    assert gather_inputs([f"{bucket}/in/*.txt"], tmp_path) == there
    out = f"{bucket}/out"
    marks = tmp_path / "marks"
    one = run_job(shouting(there, Path(out), marks), ALONE)
    assert one.out == out
    two = run_job(shouting(there, tmp_path / "local", marks), ALONE)
    three = run_job(shouting(there, f"{bucket}/three", marks), SEVERAL)
    assert one.rows == two.rows == three.rows
    assert dict(one.problems)["1.txt"] == "1.txt: is no text"
    assert under(out) == tree(tmp_path / "local") == under(f"{bucket}/three")
    # The parts are those of local inputs; only the stamps of inputs differ.
    work(inputs, out="plain")
    for name in ("0.txt", "3.txt"):
        assert under(out)[name] == (tmp_path / "plain" / name).read_bytes()
    # Run again it does what is missing: a new input, and one that changed.
    assert run_job(shouting(there, out, marks), ALONE).worked == 2  # the two problems
    (tmp_path / "in" / "0.txt").write_text("plain: other words")
    put(tmp_path / "in" / "0.txt", f"{bucket}/in/0.txt")
    again = gather_inputs([f"{bucket}/in"], tmp_path)
    assert run_job(shouting(again, out, marks), ALONE).worked == 3
    assert under(out)["0.txt"] == b"PLAIN: OTHER WORDS"
    assert run_job(shouting(again, out, marks, more=1), ALONE, fresh=True).worked == 4


def test_exports_are_read_from_a_store_into_one(bucket: str, tmp_path: Path, run: Any) -> None:
    (tmp_path / "in").mkdir()
    for name in ("Oven", "Boat"):
        (tmp_path / "in" / f"{name}.txt").write_text(CHAT)
    put(tmp_path / "in", f"{bucket}/in")
    stored = f"{bucket}/corpora"
    err = run(f"batch read {bucket}/in --out {stored}").done.err
    assert f"2 of 2 in {stored}" in err
    assert not (tmp_path / "s3:").exists(), "a local folder of that name"
    frame = pl.read_parquet(local_copy(f"{stored}/Oven") / "messages.parquet")
    assert frame.height == 3
    assert run(f"stats {stored}/Oven --json").done
    # What a job wrote in a store stands for its parts, and for one corpus of them all.
    assert "2 of 2 in checks" in run(f"batch check {stored} --out checks").err
    assert rt.read(stored).frame.height == 6
    assert rt.read(f"{stored}/Boat").chats[0].speakers == ("Ines", "Tobias")
    assert len(rt.label(f"{stored}/Boat")) == 3
    missing = f"error: {stored}/none: no such file or folder; check the path"
    assert run(f"read {stored}/none").wrong.strip() == missing
    put(tmp_path / "in" / "Oven.txt", f"{bucket}/letters/a.txt")
    wrong = run(f"batch read {bucket}/in --out {bucket}/letters").wrong
    assert "holds a.txt but no run.json" in wrong


def test_a_store_that_denies_is_one_line() -> None:
    class Denying(QuietHandler):
        def _deny(self) -> None:
            body = b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = _deny

    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_REGION": "eu-west-1"}
    with (
        serving(Denying) as url,
        environment({**keys, "AWS_ENDPOINT_URL": url}),
        refused(r"^s3://chats/a: the store denies access"),
    ):
        rt.read("s3://chats/a")


def test_what_works_on_this_machine_alone_says_so(run: Any, tmp_path: Path) -> None:
    for words in ("read sample", "probe sample --reader none --limit 2"):
        err = run(f"{words} --out s3://chats/mine").wrong
        assert err.startswith("error: s3://chats: this writes on this machine alone; name")
    assert not (tmp_path / "s3:").exists()


def test_nothing_is_asked_where_no_store_is_named(tmp_path: Path) -> None:
    """The file systems are not even loaded."""
    (tmp_path / "a.txt").write_text(CHAT)
    code = "import sys, realtalk as rt; rt.read(sys.argv[1]); print('fsspec' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "a.txt"], capture_output=True, check=True
    )
    assert done.stdout.strip() == b"False"
