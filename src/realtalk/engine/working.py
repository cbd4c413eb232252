"""One errand inside a worker → a part that is whole or absent, and what came of it.

    carry_out(work, Errand(a.txt, "a", corpora))   → PartResult(size, sha256, figures)
    carry_out(work, Errand(broken.zip, …))         → PartResult(problem="broken.zip: cannot be …")

A part is made in corpora/.unfinished and moved to its name when it is whole. Whoever is killed
leaves something there and nowhere else; the next sitting removes it. A problem names the input
and never what is in it: a fault of our own is told by its type and place alone.
"""

from __future__ import annotations

import errno
import os
import traceback
from pathlib import Path

from realtalk.engine.inputs import fingerprint
from realtalk.engine.jobs import Errand, PartResult, Work
from realtalk.engine.places import at_hand, home_of
from realtalk.errors import RealtalkError

# A worker shares the machine with others: more threads than one would only be in their way.
# Libraries read these when they are imported.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
_FULL = (errno.ENOSPC, errno.EDQUOT)


def carry_out(work: Work, errand: Errand) -> PartResult:
    """Makes the part. Nothing that an input brings about is raised."""
    home, source = home_of(errand.out), errand.source
    try:
        size, sha256 = fingerprint(source)
    except RealtalkError as error:  # of a store
        return PartResult(errand, problem=_problem(error, errand, source))
    except OSError as error:
        return PartResult(errand, problem=f"cannot be read ({error.strerror})")
    try:
        with home.scratch() as scratch:
            source = at_hand(errand.source, scratch)
            place = scratch / errand.part
            figures = dict(work(source, place))
            home.put(place, errand.part, scratch)
    except Exception as error:
        problem = _problem(error, errand, source)
        return PartResult(errand, size, sha256, problem=problem, stops_all=_is_full(error))
    return PartResult(errand, size, sha256, figures)


def _problem(error: Exception, errand: Errand, source: Path) -> str:
    """One line without the folders of this machine, so that every engine says the same."""
    if isinstance(error, RealtalkError):
        name = errand.source.name
        return str(error).replace(str(source), name).replace(str(errand.source), name)
    if isinstance(error, OSError) and error.strerror:
        return f"failed ({error.strerror})"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"failed ({type(error).__name__} at {Path(last.filename).name}, line {last.lineno})"


def _is_full(error: BaseException | None) -> bool:
    """Whether a full disk is at the bottom of it; libraries wrap what the system says."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if os.strerror(errno.ENOSPC) in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
