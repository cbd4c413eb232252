"""Errands in several processes of this machine, each with one thread and one errand at a time.

    Processes(workers=4).results(make, errands)   → PartResults as they are ready

A pool of the standard library breaks as a whole, or waits for ever, when one process is killed
(by the system, for want of memory). Here every worker has a pipe of its own, so it is known which
input it had: that one is tried again on a new worker, twice, and the others go on. A worker whose
driver is gone finds its pipe closed and ends.

The function travels by that pipe, too, when the worker says that it listens. As an argument of a
new process it would be written while the driver itself holds the other end of that pipe: of one
that is killed meanwhile, the driver would wait for ever.
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from realtalk.engine.jobs import Errand, PartResult, Waiting, Work
from realtalk.engine.working import ONE_THREAD, carry_out
from realtalk.errors import RealtalkError
from realtalk.local.environment import environment

_FAILED_STARTS = 3
_PATIENCE = 5.0  # seconds for a worker to end by itself
_LISTENING = True  # a worker's first word


@dataclass
class _Worker:
    process: SpawnProcess
    is_ready: bool = False  # whether it has built its function
    errand: Errand | None = None


@dataclass(frozen=True)
class Processes:
    """So many processes, fewer where there are fewer errands."""

    workers: int
    threads: int = 1

    def results(self, make: Callable[[], Work], errands: Sequence[Errand]) -> Iterator[PartResult]:
        waiting = Waiting(errands)
        packed = pickle.dumps(make)
        crew: dict[Connection, _Worker] = {}
        failed_starts = 0
        try:
            while True:
                busy = sum(worker.errand is not None for worker in crew.values())
                while len(crew) < min(self.workers, busy + len(waiting)):
                    _start(crew)
                if not busy and not waiting:
                    return  # whoever is still building its function has nothing to wait for
                for pipe in wait(list(crew)):
                    assert isinstance(pipe, Connection)
                    worker = crew[pipe]
                    try:
                        message = pipe.recv()
                    except (EOFError, OSError, pickle.UnpicklingError):
                        how = _end(crew, pipe)
                        if worker.errand is not None:
                            result = waiting.lost(worker.errand, how)
                            if result is not None:
                                yield result
                        elif not worker.is_ready:
                            failed_starts += 1
                            if failed_starts >= _FAILED_STARTS:
                                raise RealtalkError(
                                    f"workers end before they are ready ({how})",
                                    fix="see why with --engine inline",
                                ) from None
                        continue
                    if message is _LISTENING:
                        with suppress(OSError):  # as below
                            pipe.send_bytes(packed)
                        continue
                    if isinstance(message, str):
                        raise RealtalkError(message)  # its function cannot be built, here or there
                    worker.is_ready, failed_starts = True, 0
                    # The next errand goes out first, so that nobody waits for the result's reader.
                    worker.errand = waiting.take()
                    if worker.errand is None:
                        _end(crew, pipe)
                    else:
                        with suppress(OSError):  # it died in between, which the pipe tells next
                            pipe.send(worker.errand)
                    if message is not None:
                        yield message
        finally:
            for worker in crew.values():
                worker.process.kill()
            for pipe in list(crew):
                _end(crew, pipe)


def _start(crew: dict[Connection, _Worker]) -> None:
    """A new process; it says when it listens."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    with environment(ONE_THREAD), _deaf_to_interrupts():
        process.start()
    theirs.close()  # or its end would not be noticed
    crew[ours] = _Worker(process)


def _end(crew: dict[Connection, _Worker], pipe: Connection) -> str:
    """Closes a worker's pipe and waits for its end; how it ended."""
    process = crew.pop(pipe).process
    pipe.close()
    process.join(_PATIENCE)
    if process.exitcode is None:
        process.kill()
        process.join()
    code = process.exitcode or 0
    process.close()
    return f"signal {-code}" if code < 0 else f"exit status {code}"


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; the driver alone answers, and ends the others."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def serve(pipe: Connection) -> None:
    """The whole life of a worker: builds its function, then one errand after the other."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the driver is gone
        pipe.send(_LISTENING)
        packed = pipe.recv_bytes()
        try:
            work: Work = pickle.loads(packed)()  # noqa: S301  (from our own driver)
        except RealtalkError as error:
            pipe.send(str(error))
            return
        pipe.send(None)
        while True:
            pipe.send(carry_out(work, pipe.recv()))
