"""The same bytes on Ray, which keeps to itself and leaves nothing behind.

Each job runs in a program of its own: Ray reads its switches when it is imported, and answers
signals in the place of whoever imported it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine_work import SECRET, shouting, tree, write_inputs
from realtalk.engine.engines import Inline
from realtalk.engine.jobs import run_job

pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra 'ray')"),
    pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="who listens is told by /proc"),
]

# While the job runs: the addresses that a process of this Ray listens on, and what its logs repeat.
_DRIVER = """
import json, os, sys
from pathlib import Path
from engine_work import SECRET, shouting
from realtalk.engine.engines import OnRay
from realtalk.engine.jobs import run_job

def family():
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[path.parent.name] = fields[1]
    own = {str(os.getpid())}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return own

def listening():
    sockets = set()
    for process in family():
        try:
            links = [os.readlink(each) for each in Path(f"/proc/{process}/fd").iterdir()]
        except OSError:
            continue
        sockets |= {link[8:-1] for link in links if link.startswith("socket:[")}
    found = set()
    for table in ("tcp", "tcp6"):
        path = Path("/proc/net") / table
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                found.add(fields[1].partition(":")[0])
    return found

seen, folders, repeated, pages = set(), set(), set(), set()

def look(done, total, what):
    ray = sys.modules.get("ray")  # importing it here would be too early
    if ray is None or not ray.is_initialized():
        return
    seen.update(listening())
    folder = Path(ray._private.worker._global_node.get_temp_dir_path())
    folders.add(str(folder))
    pages.add(str(ray._private.worker._global_node.webui_url or ""))
    for path in folder.rglob("*"):
        if path.is_file() and SECRET.encode() in path.read_bytes():
            repeated.add(path.name)

inputs, out, marks = map(Path, sys.argv[1:])
job = shouting(tuple(sorted(inputs.iterdir())), out, marks)
report = run_job(job, OnRay(2), progress=look)
print(json.dumps({
    "problems": report.problems, "seen": sorted(seen), "folders": sorted(folders),
    "repeated": sorted(repeated), "pages": sorted(pages),
    "kept": os.environ.get("RAY_AUTH_TOKEN", ""),
}))
"""


def _environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path])
    return {**os.environ, "PYTHONPATH": path}


def on_ray(tmp_path: Path, marks: Path) -> dict[str, Any]:
    home = tmp_path / "home"
    home.mkdir()
    folders = [str(each) for each in (tmp_path / "in", tmp_path / "out", marks)]
    command = [sys.executable, "-c", _DRIVER, *folders]
    environment = {**_environment(), "HOME": str(home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stderr
    assert list(home.iterdir()) == []
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_ray_gives_the_same_bytes_and_keeps_to_itself(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    inputs = write_inputs(tmp_path / "in", "plain", "worker", "corrupt", "bug", "always", "plain")
    left = Path(tempfile.mkdtemp(prefix="rt-ray-"))
    (left / "in-use").touch()  # by a driver that is no more
    found = on_ray(tmp_path, marks)
    assert not left.exists()
    problems = dict(found["problems"])
    assert list(problems) == ["2.txt", "3.txt", "4.txt"]
    assert problems["4.txt"] == "its worker ended 3 times (ActorDiedError)"
    assert found["seen"]
    # As /proc writes them: 127.0.0.1, ::ffff:127.0.0.1 and ::1, and nothing else.
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000"}
    assert set(found["seen"]) <= loopback
    assert found["repeated"] == []
    assert found["pages"] == [""], "a dashboard"
    assert found["kept"] == ""
    (folder,) = found["folders"]
    assert Path(folder).name.startswith("rt-ray-")
    assert not Path(folder).exists()
    assert (marks / "worker").exists()
    kept = [inputs[at] for at in (0, 1, 2, 3, 5)]
    run_job(shouting(tuple(kept), tmp_path / "expected", marks), Inline())
    names = [f"{path.stem}.txt" for path in kept if path.stem not in "23"]
    made, expected = tree(tmp_path / "out"), tree(tmp_path / "expected")
    assert {name: made[name] for name in names} == {name: expected[name] for name in names}
    assert sorted(made) == sorted(expected)


def test_a_ray_that_was_imported_before_is_refused(tmp_path: Path) -> None:
    """It read its switches without ours, and would listen to the network."""
    write_inputs(tmp_path / "in", "plain")
    folders = [str(tmp_path / each) for each in ("in", "out", "marks")]
    command = [sys.executable, "-c", f"import ray\n{_DRIVER}", *folders]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    assert "Ray was imported before and would listen to the network; start a new" in done.stderr


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    write_inputs(tmp_path / "in", "plain")
    with socket.create_server(("127.0.0.1", 0)) as held:
        address = f"127.0.0.1:{held.getsockname()[1]}"
    words = ["batch", "read", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    command = [sys.executable, "-m", "realtalk", *words, "--engine", "ray", "--address", address]
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"error: {address}: no Ray cluster answers; check --address" in done.stderr
