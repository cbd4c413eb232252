"""Tasks on Ray: one actor per worker, on this machine or on a running cluster.

    OnRay(workers=4).results(make, tasks)                     # a Ray of our own, ended afterwards
    OnRay(workers=64, address="auto").results(make, tasks)    # one that is running
    OnRay(workers=8, address="auto", gpus=1).results(…)         # a GPU for every worker

A Ray of our own listens on the loopback address alone, asks for a token that nobody else has,
has no dashboard, and keeps its logs in a temporary folder of the owner that goes with it. Ray
replaces 127.0.0.1 by the address of the network card wherever it is given, so the loopback is
chosen by the switch that Ray has for systems without clusters, and looked at afterwards.
Only paths and figures travel: an actor catches what goes wrong, so that no log repeats a chat.
"""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import socket
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from realtalk import __version__
from realtalk.engine.jobs import ONE_THREAD, TRIES, PartResult, Task, Work, carry_out, fail
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.files.environment import environment
from realtalk.files.writing import temporary_folder

_FAILED_STARTS = 3
_PATIENCE = 10.0  # seconds for a cluster to answer
_OBJECTS = 100 << 20  # bytes; Ray would take a third of the memory for objects that we do not have
# Ray adds "/session_<moment>_<number>/sockets/plasma_store" and a socket's path has 103 letters.
_LONGEST_FOLDER = 40
_PREFIX = "rt-ray-"
_LOCAL = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # the loopback address, on every system
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),  # of this process; Ray reads it once
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # as it will be; else a warning on every start
}


class RayWorker:
    """What an actor is: a function that is built once, and one task after the other."""

    def __init__(self, packed: bytes) -> None:
        os.environ.update(ONE_THREAD)
        self._packed = packed
        self._work: Work | None = None

    def begin(self) -> tuple[str, str | None]:
        """Builds the function: the version of this package here, and what is in the way."""
        try:
            self._work = pickle.loads(self._packed)()  # noqa: S301  (from our own driver)
        except RealtalkError as error:
            return __version__, str(error)
        return __version__, None

    def carry_out(self, task: Task) -> PartResult:
        assert self._work is not None
        return carry_out(self._work, task)


@dataclass(frozen=True)
class OnRay:
    """So many actors, of one processor each; a cluster gives as many at once as it has.

    With `gpus` each has so many GPUs of its own, and sees no others.
    """

    workers: int
    address: str | None = None
    threads: int = 1
    gpus: int = 0

    def results(self, make: Callable[[], Work], tasks: Sequence[Task]) -> Iterator[PartResult]:
        if not tasks:
            return  # nothing to start a Ray for
        workers = min(self.workers, len(tasks))
        with _cluster(self.address, workers, self.gpus) as ray:
            remote = ray.remote(num_cpus=1, num_gpus=self.gpus, max_restarts=0, max_task_retries=0)
            yield from _results(ray, remote(RayWorker), workers, pickle.dumps(make), deque(tasks))


def _results(
    ray: Any, actor: Any, workers: int, packed: bytes, waiting: deque[Task]
) -> Iterator[PartResult]:
    # What is under way: who does it, and on which task; none while the function is built.
    under_way: dict[Any, tuple[Any, Task | None]] = {}
    failed_starts = 0
    losses: Counter[str] = Counter()  # by part
    try:
        while True:
            busy = sum(task is not None for _, task in under_way.values())
            if not busy and not waiting:
                return
            while len(under_way) < min(workers, busy + len(waiting)):
                worker = actor.remote(packed)
                under_way[worker.begin.remote()] = (worker, None)
            (ready,), _ = ray.wait(list(under_way), num_returns=1)
            worker, task = under_way.pop(ready)
            try:
                message = ray.get(ready)
            except ray.exceptions.RayError as error:
                ray.kill(worker)  # it may only have been out of reach
                if task is not None:
                    losses[task.part] += 1
                    if losses[task.part] < TRIES:
                        waiting.append(task)
                    else:
                        yield fail(task, type(error).__name__)
                    continue
                failed_starts += 1
                if failed_starts >= _FAILED_STARTS:
                    raise RealtalkError(
                        f"Ray's workers end before they are ready ({type(error).__name__})",
                        fix=f"install realtalk {__version__} on every node",
                    ) from None
                continue
            failed_starts = 0
            if task is None:
                _refuse_start(*message)
            if not waiting:
                ray.kill(worker)
            else:
                following = waiting.popleft()
                under_way[worker.carry_out.remote(following)] = (worker, following)
            if task is not None:
                yield message
    finally:
        for worker, _ in under_way.values():
            with suppress(Exception):
                ray.kill(worker)


def _refuse_start(version: str, problem: str | None) -> None:
    """Raises where a worker cannot begin, or would make other bytes."""
    if version != __version__:
        raise RealtalkError(
            f"a node of the cluster has realtalk {version}, this machine {__version__}",
            fix="install the same version on every node",
        )
    if problem is not None:
        raise RealtalkError(problem)


@contextmanager
def _cluster(address: str | None, workers: int, gpus: int = 0) -> Iterator[Any]:
    """Ray, connected; one of our own ends with the block and leaves nothing behind."""
    with environment(_LOCAL if address is None else {}):
        ray = _closed_ray() if address is None else _import_ray()
        if ray.is_initialized():
            raise RealtalkError("Ray is in use in this program", fix="call ray.shutdown() first")
        with nullcontext() if address else _temporary() as folder, _quiet(ray):
            try:
                _connect(ray, address, workers, folder, gpus)
                if gpus and ray.cluster_resources().get("GPU", 0) < gpus:
                    raise RealtalkError(
                        "no machine of the Ray cluster has a GPU", fix="leave `device=cuda` out"
                    )
                yield ray
            finally:
                ray.shutdown()


@cache
def _closed_ray() -> Any:
    """Ray, imported under the switches of our own; it reads them then and never again."""
    if "ray" in sys.modules:
        raise _open_ray()
    return _import_ray()


def _import_ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingExtraError("`engine=ray`", "ray") from error
    return ray


@contextmanager
def _quiet(ray: Any) -> Iterator[None]:
    """Keeps what Ray says of lost workers off standard output, where our results go.

    `log_to_driver` does not stop it (Ray 2.60), and we name the input that was lost.
    """
    worker = ray._private.worker
    before = getattr(worker, "print_to_stdstream", None)
    if before is None:
        yield
        return
    worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        worker.print_to_stdstream = before


def _connect(ray: Any, address: str | None, workers: int, folder: Path | None, gpus: int) -> None:
    options: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "namespace": f"realtalk-{secrets.token_hex(4)}",
    }
    if folder is not None:
        options |= {
            "num_cpus": workers,
            "num_gpus": None if gpus else 0,  # as many as there are
            "include_dashboard": False,
            "object_store_memory": _OBJECTS,
            "_temp_dir": str(folder),
        }
    else:
        _refuse_silence(str(address))
    try:
        with environment(ONE_THREAD):
            ray.init(address=address or "local", **options)
    except Exception as error:  # of no class of its own where a node is slow to start
        raise RealtalkError(
            f"Ray could not be {'reached' if address else 'started'} ({type(error).__name__})",
            where=address,
            fix="check `address=`" if address else "see that memory and disk have room",
        ) from error
    if address is None:
        _refuse_open_address(ray)


def _refuse_silence(address: str) -> None:
    """Raises where nobody listens at HOST:PORT: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        return  # "auto" and the like, which Ray finds by itself
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise RealtalkError(
            "no Ray cluster answers", where=address, fix="check `address=`, or see `ray status`"
        ) from error


def _refuse_open_address(ray: Any) -> None:
    """Raises where our own Ray listens to the network after all."""
    if not all(ip_address(node["NodeManagerAddress"]).is_loopback for node in ray.nodes()):
        raise _open_ray()


def _open_ray() -> RealtalkError:
    return RealtalkError(
        "Ray was imported before and would listen to the network",
        fix="start a new Python, or name a cluster with `address=`",
    )


def _temporary() -> AbstractContextManager[Path]:
    """A folder of the owner alone, whose name is short enough for the sockets in it."""
    base = tempfile.gettempdir()
    if len(base) > _LONGEST_FOLDER - len("/rt-ray-12345678") and sys.platform != "win32":
        base = "/tmp"  # noqa: S108  (mkdtemp makes a folder that is ours alone)
    return temporary_folder(_PREFIX, base)
