"""Exports, corpora and jobs in a store, against an S3 server on loopback."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
from engine_work import SECRET, shouting, tree, write_inputs
from file_modes import open_to_others
from loopback import QuietHandler, serving
from realtalk.api.batch_work import gather_inputs
from realtalk.engine.engines import Inline, Processes
from realtalk.engine.jobs import run_job
from realtalk.files.environment import environment
from realtalk.files.stores import (
    children,
    fetch,
    kind_of,
    local_copy,
    place_of,
    put,
    read_bytes,
    remove,
    stamp,
)
from refusals import refused
from store_server import BUCKET, s3_server

CHAT = """[04.05.26, 09:00:00] Ines: the oven broke, I am waiting for the mechanic
[04.05.26, 09:01:00] Tobias: mine took two weeks
[04.05.26, 09:02:10] Ines: at least the sourdough starter is alive
"""
STORE = f"s3://{BUCKET}"


@pytest.fixture
def bucket() -> Iterator[str]:
    with s3_server():
        yield STORE


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
    there = gather_inputs([f"s3://{BUCKET}/in"], tmp_path)
    assert gather_inputs([f"s3://{BUCKET}/in/*.txt"], tmp_path) == there
    out = f"{bucket}/out"
    marks = tmp_path / "marks"
    one = run_job(shouting(there, Path(f"s3://{BUCKET}/out"), marks), Inline())
    assert one.out == out
    two = run_job(shouting(there, tmp_path / "local", marks), Inline())
    three = run_job(shouting(there, f"{bucket}/three", marks), Processes(2))
    assert one.rows == two.rows == three.rows
    assert dict(one.problems)["1.txt"] == "1.txt: is no text"
    assert under(out) == tree(tmp_path / "local") == under(f"{bucket}/three")
    # The parts are those of local inputs; only the stamps of inputs differ.
    run_job(shouting(inputs, tmp_path / "plain", marks), Inline())
    for name in ("0.txt", "3.txt"):
        assert under(out)[name] == (tmp_path / "plain" / name).read_bytes()
    assert SECRET not in under(out)["parts.jsonl"].decode()
    # Run again it does what is missing: a new input, and one that changed.
    assert run_job(shouting(there, out, marks), Inline()).worked == 2  # the two problems
    (tmp_path / "in" / "0.txt").write_text("plain: other words")
    put(tmp_path / "in" / "0.txt", f"{bucket}/in/0.txt")
    again = gather_inputs([f"s3://{BUCKET}/in"], tmp_path)
    assert run_job(shouting(again, out, marks), Inline()).worked == 3
    assert under(out)["0.txt"] == b"PLAIN: OTHER WORDS"
    with refused("other-settings"):
        run_job(shouting(again, out, marks, more=1), Inline())
    assert run_job(shouting(again, out, marks, more=1), Inline(), fresh=True).worked == 4


_DRIVER = """
import os, signal, sys
from pathlib import Path
from file_modes import open_to_others
from engine_work import shouting
from realtalk.engine.engines import Inline
from realtalk.engine import jobs
from realtalk.api.batch_work import gather_inputs

note, noted = jobs._note, []

def noting(*given):
    note(*given)
    noted.append(1)
    if len(noted) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

jobs._note = noting
source, out, marks = sys.argv[1:]
jobs.run_job(shouting(gather_inputs([source], Path("none")), Path(out), Path(marks)), Inline())
"""


@pytest.mark.slow  # killed drivers of local jobs are tried in test_many_files.py
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_driver_goes_on(bucket: str, tmp_path: Path) -> None:
    write_inputs(tmp_path / "in", "plain", "plain", "plain")
    put(tmp_path / "in", f"{bucket}/in")
    source, marks = f"s3://{BUCKET}/in", tmp_path / "marks"
    script = [sys.executable, "-c", _DRIVER, source, f"s3://{BUCKET}/out", str(marks)]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with environment({"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(temporary)}):
        assert subprocess.run(script, check=False).returncode == -signal.SIGKILL
        assert list(temporary.iterdir()), "it was killed with its record open"
        done = [sys.executable, "-c", _DRIVER.replace("== 2", "== 9"), *script[3:]]
        assert subprocess.run(done, check=False).returncode == 0
        assert not list(temporary.iterdir()), "what a killed driver left goes"
    out = f"{bucket}/out"
    there = gather_inputs([source], tmp_path)
    assert run_job(shouting(there, out, marks), Inline()).worked == 0
    run_job(shouting(there, tmp_path / "local", marks), Inline())
    assert under(out) == tree(tmp_path / "local")


def test_exports_are_read_from_a_store_into_one(bucket: str, tmp_path: Path, run: Any) -> None:
    (tmp_path / "in").mkdir()
    for name in ("Oven", "Boat"):
        (tmp_path / "in" / f"{name}.txt").write_text(CHAT)
    put(tmp_path / "in", f"{bucket}/in")
    stored = f"s3://{BUCKET}/corpora"
    err = run(f"batch read s3://{BUCKET}/in --out {stored}").done.err
    assert f"2 of 2 in {stored}" in err
    assert not (tmp_path / "s3:").exists(), "a local folder of that name"
    frame = pl.read_parquet(local_copy(f"{stored}/Oven") / "messages.parquet")
    assert frame.height == 3
    status, _, err = run(f"stats {stored}/Oven --json")
    assert status == 0, err
    # What a job wrote in a store stands for its parts, and for one corpus of them all.
    status, _, err = run(f"batch check {stored} --out checks")
    assert "2 of 2 in checks" in err
    assert rt.read(stored).frame.height == 6
    assert rt.read(f"{stored}/Boat").chats[0].speakers == ("Ines", "Tobias")
    assert len(rt.label(f"{stored}/Boat")) == 3
    status, _, err = run(f"read {stored}/none")
    assert (
        status == 2
        and err.strip() == f"error: {stored}/none: no such file or folder; check the path"
    )
    put(tmp_path / "in" / "Oven.txt", f"{bucket}/letters/a.txt")
    assert (
        "holds a.txt but no run.json"
        in run(f"batch read s3://{BUCKET}/in --out s3://{BUCKET}/letters").wrong
    )


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
    for words in (
        ("read", "sample", "--out", "s3://chats/mine"),
        ("probe", "sample", "--reader", "none", "--limit", "2", "--out", "s3://chats/mine"),
    ):
        err = run(*words).wrong
        assert err.startswith("error: s3://chats: this writes on this machine alone; name")
    assert not (tmp_path / "s3:").exists()


def test_nothing_is_asked_where_no_store_is_named(tmp_path: Path) -> None:
    """The file systems are not even loaded."""
    (tmp_path / "a.txt").write_text(CHAT)
    code = "import sys, realtalk as rt; rt.read(sys.argv[1]); print('fsspec' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.txt")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
