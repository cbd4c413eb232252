"""A name and its options → an engine.

choose("inline")                      → Inline()
choose("processes", workers=2)        → Processes(2)
choose("ray", address="auto")         → OnRay(workers, "auto")
choose("ray", device="cuda")          → OnRay(workers, gpus=1): a GPU for every worker
"""

from __future__ import annotations

import os

from realtalk.engine.jobs import Engine
from realtalk.errors import RealtalkError
from realtalk.registry import suggest

ENGINES = ("inline", "processes", "ray")


def choose(
    name: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    device: str = "cpu",
) -> Engine:
    """The engine of that name, `inline` without one; by default one worker per processor."""
    name = name or ENGINES[0]
    if name not in ENGINES:
        raise suggest("engine", name, list(ENGINES))
    if address is not None and name != "ray":
        raise RealtalkError("--address names a Ray cluster", fix="give --engine ray too")
    if workers is not None and workers < 1:
        raise RealtalkError(f"--workers is {workers}", fix="give 1 or more")
    if name == "inline":
        if workers not in (None, 1):
            raise RealtalkError(
                "--engine inline has one worker", fix="give --engine processes or ray"
            )
        from realtalk.engine.inline import Inline

        return Inline()
    workers = workers or os.cpu_count() or 1
    if name == "processes":
        from realtalk.engine.processes import Processes

        return Processes(workers)
    from realtalk.engine.on_ray import OnRay

    return OnRay(workers, address, gpus=int(device == "cuda"))
