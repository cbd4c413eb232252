"""A name and its options → an engine: this process, several of this machine, or Ray.

    choose("inline")                      → Inline()
    choose("processes", workers=2)        → Processes(2)
    choose("ray", address="auto")         → OnRay(workers, "auto")
    choose("ray", device="cuda")          → OnRay(workers, gpus=1): a GPU for every worker
    Processes(2).results(make, tasks)     → PartResults as they are ready

A pool of processes breaks as a whole when one of them is killed (by the system, for want of
memory), and does not say which input that one had. Those that were under way are then tried
again one by one, each alone in a pool of one: so the guilty one is known, and the others go on.
The function travels in a file: loky would write it into a pipe whose other end the driver holds
as well, and wait for ever where the new process is killed meanwhile.

Tasks on Ray: one actor per worker, on this machine or on a running cluster.

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
import re
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk import __version__
from realtalk.engine.jobs import ONE_THREAD, TRIES, Backend, PartResult, Task, Work, carry_out, fail
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.files.environment import environment
from realtalk.files.writing import temporary_folder, write_bytes
from realtalk.registry import known_name

if TYPE_CHECKING:
    from loky import ProcessPoolExecutor


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
            yield from _ray_results(
                ray, remote(RayWorker), workers, pickle.dumps(make), deque(tasks)
            )


def _ray_results(
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


_GLANCE = 0.5  # seconds between two looks of a worker whether its driver is there
ENGINES = ("inline", "processes", "ray")


def choose(
    name: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    device: str = "cpu",
) -> Backend:
    """The engine of that name, `inline` without one; by default one worker per processor."""
    name = name or ENGINES[0]
    known_name("engine", name, ENGINES)
    if address is not None and name != "ray":
        raise RealtalkError("`address=` names a Ray cluster", fix="give `engine=ray` too")
    if workers is not None and workers < 1:
        raise RealtalkError(f"`workers=` is {workers}", fix="give 1 or more")
    if name == "inline":
        if workers not in (None, 1):
            raise RealtalkError(
                "`engine=inline` has one worker", fix="give `engine=processes` or ray"
            )
        return Inline()
    workers = workers or os.cpu_count() or 1
    if name == "processes":
        return Processes(workers)

    return OnRay(workers, address, gpus=int(device == "cuda"))


@dataclass(frozen=True)
class Inline:
    """Tasks one after the other in this process: what kills a worker kills the whole."""

    threads: None = None

    def results(self, make: Callable[[], Work], tasks: Sequence[Task]) -> Iterator[PartResult]:
        work = make()
        for task in tasks:
            yield carry_out(work, task)


@dataclass(frozen=True)
class Processes:
    """So many processes, of one thread each and one task at a time."""

    workers: int
    threads: int = 1

    def results(self, make: Callable[[], Work], tasks: Sequence[Task]) -> Iterator[PartResult]:
        import cloudpickle  # a function of the user's own script travels, too

        waiting = deque(tasks)
        with temporary_folder("realtalk-work-") as folder:
            packed = write_bytes(folder / "function", cloudpickle.dumps(make))
            while waiting:
                suspects: list[Task] = []
                yield from _results(packed, waiting, min(self.workers, len(waiting)), suspects)
                for task in suspects:
                    yield _alone(packed, task)


def _results(
    packed: Path, waiting: deque[Task], workers: int, suspects: list[Task]
) -> Iterator[PartResult]:
    """Takes tasks until none waits, or the pool breaks: those under way are then suspects."""
    pool = _pool(packed, workers)
    under_way: dict[Any, Task] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < workers and not suspects:
                task = waiting.popleft()
                try:
                    under_way[pool.submit(_serve, task)] = task
                except BrokenExecutor:
                    suspects.append(task)
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                task = under_way.pop(future)
                try:
                    yield _check(future.result())
                except BrokenExecutor:
                    suspects.append(task)
            if suspects and not under_way:
                return
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _alone(packed: Path, task: Task) -> PartResult:
    """A task whose worker may have been killed by it, tried again with nobody beside it."""
    losses, failed_starts = 1, 0
    while True:
        pool = _pool(packed, 1)
        is_ready = False
        try:
            pool.submit(_serve, None).result()
            is_ready = True
            return _check(pool.submit(_serve, task).result())
        except BrokenExecutor as error:
            losses, failed_starts = losses + is_ready, failed_starts + (not is_ready)
            if losses >= TRIES:
                return fail(task, _ending(error))
            if failed_starts >= TRIES:
                raise RealtalkError(
                    f"workers end before they are ready ({_ending(error)})",
                    fix="see why with `engine=inline`",
                ) from None
        finally:
            pool.shutdown(wait=True, kill_workers=True)


def _pool(packed: Path, workers: int) -> ProcessPoolExecutor:
    from loky import ProcessPoolExecutor

    return ProcessPoolExecutor(
        workers, initializer=_begin, initargs=(os.getpid(), packed), env=ONE_THREAD
    )


def _ending(error: BrokenExecutor) -> str:
    """How workers ended: "signal 9" of "… The exit codes of the workers are {SIGKILL(-9)}"."""
    codes = re.findall(r"\((-?\d+)\)", str(error).rpartition("exit codes")[2]) or ["1"]
    code = int(codes[0])
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def _check(message: PartResult | str) -> PartResult:
    """What a worker sent; a text says that its function cannot be built, here or there."""
    if isinstance(message, str):
        raise RealtalkError(message)
    return message


class _Worker:
    """What a worker process knows; the driver has none."""

    busy = threading.Lock()
    packed: Path
    work: Work | None = None


def _begin(driver: int, packed: Path) -> None:
    """The first thing in a worker. Ctrl-C is the driver's to answer, who ends the others."""
    _Worker.packed = packed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow, args=(driver,), daemon=True).start()


def _follow(driver: int) -> None:
    """Ends a worker whose driver was killed, after what it has begun: it would wait for ever."""
    while os.getppid() == driver:
        time.sleep(_GLANCE)
    with _Worker.busy:
        os._exit(1)


def _serve(task: Task | None) -> PartResult | str | None:
    """One task in a worker, whose function is built for the first."""
    with _Worker.busy:
        if _Worker.work is None:
            try:
                _Worker.work = pickle.loads(_Worker.packed.read_bytes())()  # noqa: S301  (ours)
            except RealtalkError as error:
                return str(error)
        return None if task is None else carry_out(_Worker.work, task)
