"""A running Ray cluster: one node or four, one that goes away, a full object store; same bytes.

Each case is a program of its own: it starts several raylets on this machine, and ends them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from engine_work import SECRET, shouting, tree, write_inputs
from realtalk.engine.engines import Inline
from realtalk.engine.jobs import run_job
from text_tables import cases

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed (extra 'ray')"),
]

_CLUSTER = """
import json, shutil, sys
from pathlib import Path
import ray
from ray.cluster_utils import Cluster

case, folder, nodes = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
config = {"automatic_object_spilling_enabled": False} if case == "full" else {}
head = {
    "num_cpus": 1, "num_gpus": int(case == "gpu"), "object_store_memory": 80 << 20,
    "include_dashboard": False,
    "_system_config": {"object_store_full_delay_ms": 50, **config},
}
more = {"num_cpus": 1, "object_store_memory": 80 << 20}

def patient(start):
    for tries in range(6):
        try:
            return start()
        except Exception as error:  # Ray gives a raylet 30 seconds, and a busy machine takes them
            if "timed out during startup" not in str(error) or tries == 5:
                raise

cluster = patient(lambda: Cluster(initialize_head=True, head_node_args=dict(head)))
others = [patient(lambda: cluster.add_node(**more)) for _ in range(nodes - 1)]
cluster.wait_for_nodes()
place = cluster.head_node.get_session_dir_path()
told = {"logs": [], "full": False}

def logs():
    return sorted(
        path.name for path in Path(place).rglob("*")
        if path.is_file() and b"tulips are behind the shed" in path.read_bytes()
    )

def end():
    cluster.shutdown()
    shutil.rmtree(place, ignore_errors=True)
    print(json.dumps(told))
"""
_JOB = """
from engine_work import shouting
from realtalk.engine.engines import OnRay
from realtalk.engine.jobs import run_job
from realtalk.errors import RealtalkError

held = []

def disturb(done, total, what):
    if done != 1:
        return
    if case == "lost":
        cluster.remove_node(others[0])
    if case == "full":
        import numpy as np
        try:
            for _ in range(20):  # more than it holds: the rest is refused, or goes to a disk
                held.append(ray.put(np.ones(10 << 20, np.uint8)))
        except ray.exceptions.ObjectStoreFullError:
            pass
        told["full"] = len(held) >= 7

job = shouting(tuple(sorted((folder / "in").iterdir())), folder / "out", folder / "marks")
engine = OnRay(nodes, cluster.address, gpus=int("gpu" in case))
try:
    report = run_job(job, engine, progress=disturb)
    told |= {"logs": logs(), "problems": report.problems}
except RealtalkError as error:
    told |= {"logs": logs(), "refused": str(error)}
end()
"""


def on_cluster(script: str, case: str, folder: Path, nodes: int, *more: str) -> dict[str, Any]:
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", _CLUSTER + script, case, str(folder), str(nodes), *more],
        env={**os.environ, "PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["logs"] == [], "a log repeats what somebody wrote"
    return found


@cases("""
    case  | nodes
    plain | 1
    plain | 4
    lost  | 2
    full  | 1
""")
def test_every_cluster_gives_the_same_bytes(tmp_path: Path, case: str, nodes: int) -> None:
    orders = ["slow", "bug", "slow", "plain", "slow", "corrupt", "slow", "slow"]
    inputs = write_inputs(tmp_path / "in", *orders)
    found = on_cluster(_JOB, case, tmp_path, nodes)
    assert [name for name, _ in found["problems"]] == ["1.txt", "5.txt"]
    assert found["full"] == (case == "full")
    run_job(shouting(inputs, tmp_path / "one", tmp_path / "marks"), Inline())
    assert tree(tmp_path / "out") == tree(tmp_path / "one")
    assert not any(SECRET in problem for _, problem in found["problems"])


def test_a_worker_has_a_gpu_of_its_own(tmp_path: Path) -> None:
    write_inputs(tmp_path / "in", "gpu", "gpu")
    found = on_cluster(_JOB, "gpu", tmp_path, 1)
    assert found["problems"] == []
    assert [(tmp_path / "out" / f"{at}.txt").read_text() for at in range(2)] == ["0", "0"]


def test_a_cluster_without_a_gpu_is_told(tmp_path: Path) -> None:
    write_inputs(tmp_path / "in", "gpu")
    found = on_cluster(_JOB, "no gpu", tmp_path, 1)
    assert found["refused"].startswith("no machine of the Ray cluster has a GPU; leave --device")
