"""The shards of a run in a folder → the run that they make together.

for number in range(1, 17):                                  # on sixteen machines
    probe("chats", model=…, out="/shared/run", shard=f"{number}/16")
merge("/shared/run")                                         → Run of memory probing
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from realtalk.errors import RealtalkError
from realtalk.surface.run_kinds import KINDS
from realtalk.surface.runs import Run

if TYPE_CHECKING:
    from os import PathLike


def merge(folder: str | PathLike[str], *, kind: str | None = None, fresh: bool = False) -> Run:
    """Joins the shards that `probe`, `simulate` or `predict` left below a folder.

    The run is written into the folder itself, equal to one that was made in one piece. What is
    missing, unfinished, doubled or made with other settings is an error that names the shard. A
    folder that has its run already is joined anew only with `fresh`. Of another `kind` than is
    wanted it is an error too.
    """
    from realtalk.evals.merging import kind_of_shards
    from realtalk.evals.merging import merge as join
    from realtalk.evals.rows import KEY
    from realtalk.memory.benchmark import KIND as PROBING
    from realtalk.memory.judging import JUDGED_KEY, judgement_schema

    place = Path(folder)
    name = kind or kind_of_shards(place)
    if name not in KINDS:
        raise RealtalkError(f"a run of '{name}' is not known", where=str(place))
    further = {"judgements": (JUDGED_KEY, judgement_schema())} if name == PROBING else {}
    join(place, name, {"rows": (KEY, KINDS[name].schema()), **further}, fresh=fresh)
    return Run.load(place)
