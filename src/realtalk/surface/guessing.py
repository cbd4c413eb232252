"""A corpus, and persona runs where there are any → a run of guesses: who wrote it?

guess("sample", speaker="Mara")                            → Run, with people's replies alone
guess("sample", simulated="as-mara")                       → Run, one reply of four is simulated
guess("sample", simulated=["tuned=a", "tuned=b"])          → the two runs are one simulator
named_runs(["tuned=a", "tuned=b", "base"])                 → {"tuned": [a, b], "retrieve": [base]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from realtalk.errors import RealtalkError
from realtalk.local.naming import named_run
from realtalk.local.progress import Progress, silent
from realtalk.surface.benchmarks import chosen_chats
from realtalk.surface.choices import guesser_of
from realtalk.surface.labelling import Labels
from realtalk.surface.runs import Run
from realtalk.surface.sources import Readable, as_corpus

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.persona.benchmark import SimulatedRun

Simulated: TypeAlias = "Run | str | PathLike[str]"


def guess(
    corpus: Readable,
    guesser: str | None = None,
    *,
    simulated: Simulated | Sequence[Simulated] = (),
    speaker: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    prompts: str | PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    labels: Labels | str | PathLike[str] | None = None,
    choice: str = "ei",
    context_sessions: int = 3,
    context_tokens: int = 1500,
    limit: int | None = None,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Asks of each tested turn which of four replies the speaker wrote there; chance is .25.

    Beside the real one stand a partner's, another speaker's and a simulated one, of about the same
    length and in an order drawn by the `seed`. `simulated` are persona runs (folders, NAME=FOLDER,
    or Runs): the chats and contexts are then theirs. Without one the fourth is another speaker's,
    too, and chats are chosen as `simulate` does. `guesser` is classifier (the default), nearness,
    or llm (the default with a `model`), with its `settings`. `limit` takes each speaker's first.
    """
    from realtalk.evals import refuse_other_folder
    from realtalk.persona.guessing import (
        GUESSES,
        GuessBenchmark,
        run_guess,
        run_tasks,
        simulated_texts,
    )
    from realtalk.persona.registry import make_guesser
    from realtalk.persona.turns import tasks_of

    place = None if out is None else Path(out)
    if place is not None:
        refuse_other_folder(place)
    asked = {
        "model": model,
        "base_url": base_url,
        "prompts": None if prompts is None else Path(prompts),
        "seed": seed,
    }
    made = make_guesser(*guesser_of(guesser, settings, asked))
    runs = named_runs(simulated)
    if runs:
        chats = as_corpus(corpus)
        tasks = run_tasks(chats, [run for several in runs.values() for run in several], speaker)
    else:
        chats, choices = chosen_chats(corpus, labels, choice, speaker, progress)
        tasks = tasks_of(
            chats, choices, context_sessions=context_sessions, context_tokens=context_tokens
        )
    drawn = GuessBenchmark(chats, tasks, simulated=simulated_texts(runs), seed=seed, limit=limit)
    return Run(GUESSES, run_guess(chats, drawn, made, place, fresh=fresh, progress=progress))


def named_runs(given: Simulated | Sequence[Simulated]) -> dict[str, list[SimulatedRun]]:
    """Persona runs by simulator: by the name that is given, else by their own."""
    from realtalk.persona.benchmark import load_persona

    single = isinstance(given, str | Run) or hasattr(given, "__fspath__")
    found: dict[str, list[SimulatedRun]] = {}
    for each in [cast("Simulated", given)] if single else cast("Sequence[Simulated]", given):
        name = ""
        if isinstance(each, Run):
            run = each.record
            if each.kind != "persona simulation":
                raise RealtalkError(
                    f"a run of {each.kind}, not of persona simulation", fix="give a persona run"
                )
        else:
            name, folder = named_run(str(each))
            run = load_persona(Path(folder))
        own = name or run.name
        taken = {who for other in found.get(own, ()) for who in other.speakers}
        if not taken.isdisjoint(run.speakers):
            where = "" if run.folder is None else f" ({run.folder.name})"
            own = f"{own}{where or f' {len(found) + 1}'}"
        found.setdefault(own, []).append(run)
    return found
