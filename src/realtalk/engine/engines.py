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
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.engine.jobs import ONE_THREAD, TRIES, Backend, PartResult, Task, Work, carry_out, fail
from realtalk.errors import RealtalkError
from realtalk.files.writing import temporary_folder, write_bytes
from realtalk.registry import known_name

if TYPE_CHECKING:
    from loky import ProcessPoolExecutor

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
    from realtalk.engine.on_ray import OnRay

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
