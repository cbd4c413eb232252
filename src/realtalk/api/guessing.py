"""A corpus, and persona runs where there are any → a run of guesses: who wrote it?

who_wrote_it("sample", speaker="Mara")               → Run, with people's replies alone
who_wrote_it("sample", simulated="as-mara")          → Run, one reply of four is simulated
who_wrote_it("sample", simulated=["tuned=a", "tuned=b"])  → the two runs are one simulator
named_runs(["tuned=a", "tuned=b", "base"])                 → {"tuned": [a, b], "retrieve": [base]}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from realtalk.api.benchmarks import chosen_tasks
from realtalk.api.choices import solver_of
from realtalk.api.options import Model, Readable, Reading, as_corpus, as_path, is_path, value_object
from realtalk.errors import RealtalkError
from realtalk.files.naming import named_run
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run

Simulated: TypeAlias = "Run | str | PathLike[str]"

_PERSONA = "persona simulation"


def who_wrote_it(
    corpus: Readable,
    *,
    guesser: str | None = None,
    simulated: Simulated | Sequence[Simulated] = (),
    speaker: str | None = None,
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
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Guess which of four replies a speaker really wrote.

    Beside the real reply stand one of the partner's, one of another speaker and one that a
    simulator wrote in this place, of about the same length where there is a choice. A guesser is
    classifier (the default), nearness or llm (the default with a model). Call it again to resume.

    Args:
        corpus: Chat, corpus or sample name.
        guesser: Guesser under test.
        simulated: Persona run whose replies stand among them.
        speaker: Speaker to guess (default: all with two chats).
        prompts: Folder with prompts of your own.
        settings: Setting of the guesser, e.g. to=speaker.
        labels: Labels of the corpus: saves labelling.
        choice: Which chat is tested: ei or paper.
        context_sessions: Sessions shown as context.
        context_tokens: Tokens shown as context.
        limit: First turns of each speaker.
        seed: Random seed.
        out: Folder for the run.
        fresh: Delete the existing run and start over.
        model: The model that guesses, which is sent the chat.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.persona.who_wrote_it("sample")
        rt.persona.who_wrote_it("sample", speaker="Mara", guesser="nearness")
        rt.persona.who_wrote_it("sample", simulated=["as-mara"], out="guesses")
    """
    from realtalk.evals import refuse_other_folder
    from realtalk.evals.running import run
    from realtalk.persona.guessing import GuessBenchmark, run_tasks, simulated_texts
    from realtalk.persona.values import make_guesser

    place = as_path(out)
    if place is not None:
        refuse_other_folder(place)
    folder = as_path(prompts)
    llm_settings = {**value_object(Model, model).overrides(), "prompts": folder, "seed": seed}
    solver = make_guesser(*solver_of("guesser", guesser, "classifier", settings, llm_settings))
    runs = named_runs(simulated)
    if runs:
        chats = as_corpus(corpus, reading, progress)
        tasks = run_tasks(chats, [run for several in runs.values() for run in several], speaker)
    else:
        context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
        chats, _, tasks = chosen_tasks(corpus, labels, choice, speaker, context, reading, progress)
    benchmark = GuessBenchmark(
        chats, tasks, simulated=simulated_texts(runs), seed=seed, limit=limit
    )
    return run(benchmark, chats, solver, place, fresh=fresh, progress=progress)


def named_runs(runs: Simulated | Sequence[Simulated]) -> dict[str, list[Run]]:
    """Persona runs by simulator: by the name that is given, else by their own."""
    from realtalk.evals.run import Run

    single = is_path(runs) or isinstance(runs, Run)
    runs_by_name: dict[str, list[Run]] = {}
    for entry in [cast("Simulated", runs)] if single else cast("Sequence[Simulated]", runs):
        name = ""
        if isinstance(entry, Run):
            run = entry
            if run.kind != _PERSONA:
                raise RealtalkError(
                    f"a run of {run.kind}, not of {_PERSONA}", fix="give a persona run"
                )
        else:
            name, folder = named_run(str(entry))
            run = Run.load(folder, _PERSONA)
        own = name or run.name
        speakers = {who for same_run in runs_by_name.get(own, ()) for who in same_run.groups}
        if not speakers.isdisjoint(run.groups):
            where = "" if run.folder is None else f" ({run.folder.name})"
            own = f"{own}{where or f' {len(runs_by_name) + 1}'}"
        runs_by_name.setdefault(own, []).append(run)
    return runs_by_name
