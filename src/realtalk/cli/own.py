"""A benchmark of one's own → its command: `run`, and all that is done with stored runs.

if __name__ == "__main__":
    command(NextSpeaker(), {"same-again": SameAgain, "llm": LanguageModel})

python next_speaker.py run sample --solver same-again --out same
python next_speaker.py table same other
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api import runs
from realtalk.api.choices import Readable, Reading, as_corpus
from realtalk.cli import showing
from realtalk.cli.building import Command
from realtalk.cli.main import run_commands
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.run import Run
    from realtalk.evals.values import Benchmark, Solver


def command(
    benchmark: Benchmark[Any, Any, Any],
    solvers: Mapping[str, Callable[..., Solver[Any, Any]]],
    words: Sequence[str] | None = None,
) -> int:
    """Runs the command of a benchmark; `solvers` are made by name, one that asks a model with it.

    Without `words`, those of the command line, and the process ends with its status.
    """

    def solve(
        corpus: Readable,
        *,
        solver: str,
        model: str | None = None,
        out: str | PathLike[str] | None = None,
        fresh: bool = False,
        reading: Reading | str | None = None,
        progress: Progress = silent,
    ) -> Run:
        """Test a solver on a corpus. Call it again to resume.

        Args:
            corpus: Chat, corpus or sample name.
            solver: Who is tested.
            model: Model to ask, for a solver that asks one.
            out: Folder for the run.
            fresh: Delete the existing run and start over.
            reading: Format, dates and clock, where the file does not tell.
        """
        from realtalk.evals.running import run
        from realtalk.registry import known_name

        answerer = solvers[known_name("solver", solver, solvers)](
            *([] if model is None else [model])
        )
        chats = as_corpus(corpus, reading, progress)
        place = None if out is None else Path(out)
        return run(benchmark, chats, answerer, place, fresh=fresh, progress=progress)

    commands = (
        Command("run", solve, showing.show_run),
        Command("show", runs.show, showing.show_stored),
        Command("table", runs.table, showing.show_runs),
        Command("compare", runs.compare, showing.show_table),
        Command("failures", runs.failures, showing.show_runs),
    )
    status = run_commands(commands, {}, sys.argv[1:] if words is None else words)
    if words is None:
        sys.exit(status)
    return status
