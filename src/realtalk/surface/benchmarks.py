"""A corpus and whom to test → a run: memories, simulators, predictors; comparisons.

probe("sample", memory="recent", budget="500")             → Run of memory probing
probe("sample", memory=MyMemory())                         a memory of your own
simulate("sample", speaker="Mara", simulator="retrieve")   → Run of persona simulation
predict("sample-threads", predictor="mean")                → Run of thread tasks
compare(one, other)                                        → ResultTable
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.surface.choices import (
    budgets_of,
    engine_of,
    make_judge,
    make_reader,
    memory_of,
    predictor_of,
    semantics_of,
    settings_named,
    simulator_of,
)
from realtalk.surface.labelling import Labels
from realtalk.surface.runs import Run
from realtalk.surface.sources import Readable, as_corpus
from realtalk.surface.tables import ResultTable

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.memory.values import Memory
    from realtalk.persona.choosing import Choice

_PLACE = "a folder that `realtalk ei PATH --out` wrote, or Labels"


def probe(
    corpus: Readable,
    memory: str | Memory = "retrieved",
    *,
    settings: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    reader: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    judge: str | None = None,
    prompts: str | PathLike[str] | None = None,
    budget: str | int | None = None,
    categories: Sequence[str] = (),
    limit: int | None = None,
    golds: str | PathLike[str] = "published",
    connections: int = 10,
    rate: str | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    device: str = "cpu",
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    progress: Progress = silent,
) -> Run:
    """Asks a corpus's questions of a memory and scores what comes back.

    `memory` is a name (whole, recent, none, events, restored, retrieved, notes, oracle,
    outside, langchain, mem0) with its `settings`, `module:Class`, or any object with `name`,
    `version`, `settings` and `build(chat)`. `reader` is "none" (retrieval only), "extract" (spans
    and dates by rule, the default without a `model`) or "llm" (the model that is named is sent
    what the memory shows). `budget` is written "1000" (tokens), "2000w" (words), "all", or
    several with commas. `judge` names another model that judges answers; "same" lets the model
    judge its own. `golds` are what counts as right: "published" (audited beside it where the
    chats were audited), "audited", "lmeb" (the questions and averages of MTEB's board), or a
    corrected audit that the studio exported. Models are asked `connections` questions at once, and
    no more often than `rate` ("300/min", "5/s") where one is named.
    `device` is where the memory "retrieved" encodes: "cpu" or "cuda".
    With an `engine` ("inline", "processes" or "ray", so many `workers`, a running cluster's
    `address`) chats are probed at once, where no language model is asked; the rows are the same.
    """
    from realtalk.memory.asking import Plan
    from realtalk.memory.benchmark import KIND
    from realtalk.memory.golds import golds_named
    from realtalk.memory.rescoring import probe_and_judge

    place = None if out is None else Path(out)
    spread = engine_of(engine, workers, address)
    chats = as_corpus(corpus)
    folder = None if prompts is None else Path(prompts)
    chosen = make_reader(
        reader,
        model,
        chats,
        base_url=base_url,
        prompts=folder,
        connections=connections,
        rate=rate,
        max_tokens=max_tokens,
        seed=seed,
        judged=judge is not None,
    )
    remembering = memory_of(memory, settings, protocol, device)
    named = memory if isinstance(memory, str) else ""
    written = None if budget is None else str(budget)
    plan = Plan(
        chats,
        remembering,
        chosen,
        budgets_of(named, chosen.name, written),
        tuple(dict.fromkeys(categories)) or None,
        limit,
        golds_named(str(golds)),
    )
    judging = make_judge(
        judge,
        chosen.settings,
        base_url=base_url,
        prompts=folder,
        connections=connections,
        rate=rate,
    )
    if spread is None:
        record = probe_and_judge(plan, place, judge=judging, fresh=fresh, progress=progress)
        return Run(KIND, record)
    from functools import partial

    from realtalk.memory.by_engine import probe_by

    if judging is not None:
        raise RealtalkError("a judge is a language model", fix="judge with `probe rescore`")
    make = partial(memory_of, memory, settings, protocol, device)
    return Run(KIND, probe_by(plan, make, spread, place, fresh=fresh, progress=progress))


def simulate(
    corpus: Readable,
    speaker: str | None = None,
    simulator: str | None = None,
    *,
    model: str | None = None,
    base_url: str | None = None,
    prompts: str | PathLike[str] | None = None,
    connections: int | None = None,
    rate: str | None = None,
    style: bool = False,
    settings: Mapping[str, Any] | None = None,
    labels: Labels | str | PathLike[str] | None = None,
    choice: str = "ei",
    context_sessions: int = 3,
    context_tokens: int = 1500,
    limit: int | None = None,
    bertscore: str | None = None,
    bertscore_layer: int | None = None,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Continues as a speaker at each of their turns in the tested chat, and scores it.

    Without a `speaker`, everybody with two chats is simulated: one chat is learned from, the
    other tested (`choice`: "ei" or "paper"). `simulator` is copy, constant, common, retrieve (the
    default), llm (the default with a `model`), local, tuned or written, with its `settings`.
    `labels` saves labelling; `bertscore` names a hub model for semantic similarity; `limit` takes
    each speaker's first turns.
    """
    from realtalk.evals import refuse_other_folder
    from realtalk.persona.benchmark import KIND, run_persona
    from realtalk.persona.registry import make_simulator
    from realtalk.persona.scoring import TurnScorer
    from realtalk.persona.turns import tasks_of

    place = None if out is None else Path(out)
    if place is not None:
        refuse_other_folder(place)
    name, given = simulator_of(
        simulator,
        settings,
        model=model,
        style=style,
        base_url=base_url,
        connections=connections,
        rate=rate,
        prompts=None if prompts is None else Path(prompts),
    )
    made = make_simulator(name, given)
    semantics = semantics_of(bertscore, bertscore_layer)
    chats, choices = chosen_chats(corpus, labels, choice, speaker, progress)
    tasks = tasks_of(
        chats, choices, context_sessions=context_sessions, context_tokens=context_tokens
    )
    scorer = TurnScorer(chats, bertscore=semantics)
    record = run_persona(
        chats,
        tasks,
        made,
        place,
        scorer=scorer,
        fresh=fresh,
        limit=limit,
        progress=progress,
    )
    return Run(KIND, record)


def predict(
    corpus: Readable,
    task: str = "sentiment",
    setting: str = "p-conv",
    predictor: str | None = None,
    *,
    model: str | None = None,
    base_url: str | None = None,
    connections: int | None = None,
    rate: str | None = None,
    settings: Mapping[str, Any] | None = None,
    budget: int | None = None,
    prompts: str | PathLike[str] | None = None,
    protocol: str = "clean",
    leaks: Sequence[str] = (),
    with_scores: bool = False,
    split: str = "user",
    history: str = "recent",
    shots: int = 0,
    limit: int | None = None,
    train_limit: int | None = None,
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    engine: str | None = None,
    workers: int | None = None,
    address: str | None = None,
    progress: Progress = silent,
) -> Run:
    """Predicts one task of every reply in the test part, and scores it.

    `task` is sentiment, impact or next_text; `setting` is p-conv, p-nonconv, np-conv, np-nonconv,
    several with commas, or "all". `predictor` is majority (the default), parent, mean, nearest,
    regression or llm (the default with a `model`), with its `settings`. `protocol` "clean" shows
    nothing from at or after the reply; "released" is the paper's code.
    With an `engine` ("inline", "processes" or "ray", so many `workers`, a running cluster's
    `address`) texts are encoded at once, before the rest; the rows are the same.
    """
    from realtalk.threads.benchmark import KIND, ThreadTask, run_threads
    from realtalk.threads.drawing import Draw
    from realtalk.threads.registry import make_predictor

    place = None if out is None else Path(out)
    named = settings_named(setting)
    folder = None if prompts is None else Path(prompts)
    asked = {
        "model": model,
        "base_url": base_url,
        "connections": connections,
        "rate": rate,
        "budget": budget,
        "prompts": folder,
        "seed": seed,
    }
    made = make_predictor(*predictor_of(predictor, settings, asked))
    spread = engine_of(engine, workers, address)
    draw = Draw(
        task=task,
        protocol=protocol,
        leaks=tuple(leaks),
        with_scores=with_scores,
        split=split,
        history=history,
        shots=shots,
        limit=limit,
        train_limit=train_limit,
        seed=seed,
    )
    chats = as_corpus(corpus)
    samples = draw.samples(chats, progress)
    drawn = ThreadTask(samples, named, draw.record)
    if spread is None:
        found = run_threads(chats, drawn, made, place, fresh=fresh, progress=progress)
        return Run(KIND, found)
    from realtalk.threads.by_engine import predict_by

    record = predict_by(chats, drawn, made, spread, place, fresh=fresh, progress=progress)
    return Run(KIND, record)


def compare(
    first: Labels | Run | str | PathLike[str],
    second: Labels | Run | str | PathLike[str],
    variant: str | None = None,
) -> ResultTable:
    """Two Labels, two runs of one kind, or the folders of such: paired differences.

    See `Labels.compare` and `Run.compare`; `variant` chooses a budget or a setting of runs.
    """
    one, other = _loaded(first), _loaded(second)
    if isinstance(one, Labels) and isinstance(other, Labels):
        return one.compare(other)
    if isinstance(one, Run) and isinstance(other, Run):
        return one.compare(other, variant)
    what = [each.kind if isinstance(each, Run) else "labels" for each in (one, other)]
    raise RealtalkError(
        f"{what[0]} and {what[1]} cannot be compared", fix="compare two of one kind"
    )


def _loaded(given: Labels | Run | str | PathLike[str]) -> Labels | Run:
    from realtalk.ei.label_files import is_labels

    if isinstance(given, Labels | Run):
        return given
    if not isinstance(given, str) and not hasattr(given, "__fspath__"):
        raise RealtalkError(
            f"{type(given).__name__} cannot be compared", fix="compare labels, runs or folders"
        )
    place = Path(given)
    is_run = (place / "run.json").is_file() and not is_labels(place)
    return Run.load(place) if is_run else Labels.load(place)


def chosen_chats(
    corpus: Readable,
    labels: Labels | str | PathLike[str] | None,
    choice: str,
    speaker: str | None,
    progress: Progress = silent,
) -> tuple[Corpus, list[Choice]]:
    """The corpus, and of each speaker which chat is learned from and which is tested."""
    from realtalk.persona.turns import choices_of

    chats = as_corpus(corpus)
    if isinstance(labels, Run):
        raise RealtalkError("a run is no labels", fix=f"give {_PLACE}")
    known = labels if labels is None or isinstance(labels, Labels) else Labels.load(labels)
    frame = None if known is None else known.frame
    return chats, choices_of(chats, labels=frame, choice=choice, speaker=speaker, progress=progress)
