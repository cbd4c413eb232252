"""A corpus and whom to test → a run: memories, simulators, predictors; comparisons.

probe("sample", memory="recent", budget="500")             → Run of memory probing
probe("sample", memory=MyMemory())                         a memory of your own
simulate("sample", speaker="Mara", simulator="retrieve")   → Run of persona simulation
predict("sample-threads", predictor="mean")                → Run of thread tasks
compare(one, other)                                        → ResultTable

A chat of one's own → questions about it, and which memory finds what answers them.

draft("mara", model="openai/gpt-4o-mini")    → Drafts, in mara-drafts.jsonl: tick them in the studio
which("mara", figures="pictures")            → MemoryAdvice: two sentences and a picture
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import (
    Engine,
    Model,
    Readable,
    Reading,
    as_corpus,
    as_path,
    budgets_of,
    is_path,
    make_judge,
    make_reader,
    memory_of,
    model_config,
    questions_of,
    semantics_of,
    settings_named,
    simulator_of,
    solver_of,
    value_object,
)
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable
    from realtalk.memory.drafting import DraftedQuestion, Drafts
    from realtalk.memory.values import Memory
    from realtalk.persona.choosing import Choice
    from realtalk.persona.values import PersonaTask


_LOCAL = "qwen2.5-1.5b"  # drafts where no model is named
_COMPARED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "retrieved": ("retrieved", {}),
    "words alone (way=bm25)": ("retrieved", {"way": "bm25"}),
    "the last sessions (recent)": ("recent", {}),
}


def draft(
    corpus: Readable,
    *,
    count: int = 40,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Drafts:
    """Draft questions about a chat of your own, each with its evidence.

    Single facts, dates, several sessions and inferences, as many of each. A draft is dropped where
    its own evidence does not answer it, or where it is answered without. Then `studio` shows them
    as cards to accept, correct or reject. Without a model named the local qwen2.5-1.5b drafts, and
    nothing leaves this machine: of 60 it kept 25, of which few pass when read. Call it again to
    resume, or to draft more.

    Args:
        corpus: Chat, corpus or sample name.
        count: Questions to draft in all.
        out: File for the drafts (default: NAME-drafts.jsonl).
        fresh: Delete the existing drafts and start over.
        model: The model that drafts, which is sent parts of the chat.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        Drafts: `.kept`, `.reasons` why others were dropped, `.of(chat)`.

    Example:
        rt.memory.draft("mara")
        rt.memory.draft("mara", model="openai/gpt-4o-mini", count=60)
        rt.memory.draft("mara", out="drafts.jsonl", fresh=True)
    """
    from realtalk.formats.audit import chat_key
    from realtalk.memory.drafting import Drafter, Drafts, usual_place

    if count < 1:
        raise RealtalkError(f"`count=` must be 1 or more, not {count}")
    drafter = Drafter(model_config(_drafting(value_object(Model, model))))
    chats = as_corpus(corpus, reading, progress)
    file = as_path(out) or usual_place(chats)
    written: dict[str, Sequence[DraftedQuestion]] = {}
    for draft in () if fresh or not file.exists() else Drafts.read(file).all:
        written[draft.chat] = [*written.get(draft.chat, ()), draft]
    for number, chat in enumerate(chats.chats):
        share = (count + len(chats.chats) - 1 - number) // len(chats.chats)
        key = chat_key(chat)

        def keep(drafts: Sequence[DraftedQuestion], key: str = key) -> None:
            written[key] = drafts
            Drafts(tuple(draft for all_ in written.values() for draft in all_)).write(file)

        drafter.draft(chat, share, written.get(key, ()), keep, progress)
    return Drafts.read(file)


def _drafting(model: Model) -> Model:
    """The model that is named, or the one that runs here where it is at hand."""
    from realtalk.models.files import path_of

    if model.name is not None:
        return model
    try:
        path_of(_LOCAL)
    except RealtalkError:
        raise RealtalkError(
            "drafting takes a language model, and none is here",
            fix=f"get one that runs here: realtalk models get {_LOCAL}; or name one: `model=`",
        ) from None
    return replace(model, name=f"realtalk/{_LOCAL}")


@dataclass(frozen=True)
class MemoryAdvice:
    """Which memory to take and how many words, in two sentences; the runs that say so."""

    sentences: tuple[str, str]
    runs: Mapping[str, Run]
    pictures: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def to_json(self) -> dict[str, Any]:
        figures = {name: run.summary().frame.to_dicts() for name, run in self.runs.items()}
        pictures = [*map(str, self.pictures)]
        return {"sentences": [*self.sentences], "pictures": pictures, "figures": figures}


def which(
    corpus: Readable,
    *,
    memories: Sequence[str] = (),
    budget: str = "125w,250w,500w,1000w,2000w,4000w",
    figures: str | Path | None = None,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> MemoryAdvice:
    """Say which memory to take, and how many words are enough.

    `retrieved` is compared with plain words and with the last sessions, and with memories of your
    own. A memory serves where all the evidence of a question is shown; with a model, where its
    answer is right. Intervals and single scores are in `probe run`.

    Args:
        corpus: Stored corpus, chat or sample with questions.
        memories: Other memories to compare, e.g. restored.
        budget: Words to compare, e.g. 250w,1000w.
        figures: Folder for the picture: PNG, SVG and HTML.
        model: The model that answers, which is sent what memories show.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        Two sentences in `.sentences`, and `.runs`.

    Example:
        rt.memory.which("sample")
        rt.memory.which("mara", figures="pictures")
        rt.memory.which("mara", memories=["mine.py:MyMemory"])
    """
    from realtalk.describe.figures import save_figures
    from realtalk.memory.pictures import advise, draw_words
    from realtalk.memory.values import parse_budgets

    if any(each.words is None for each in parse_budgets(budget)):
        raise RealtalkError("words are compared here", fix="write `budget=250w,1000w`")
    chats = as_corpus(corpus, reading, progress)
    compared = {**_COMPARED, **{name: (name, {}) for name in memories}}
    ask = partial(probe, chats, budget=budget, model=model, progress=progress)
    runs = {title: ask(memory=name, settings=own) for title, (name, own) in compared.items()}
    files = save_figures({"which": draw_words(runs)}, figures) if figures else ()
    return MemoryAdvice(advise(runs), runs, tuple(files))


def probe(
    corpus: Readable,
    *,
    memory: str | Memory = "retrieved",
    budget: str | int | None = None,
    settings: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    reader: str | None = None,
    judge: str | None = None,
    prompts: str | PathLike[str] | None = None,
    questions: str = "own",
    categories: Sequence[str] = (),
    limit: int | None = None,
    golds: str | PathLike[str] = "published",
    seed: int = 0,
    device: str = "cpu",
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    model: Model | str | None = None,
    engine: Engine | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Ask a corpus's questions of a memory and score what comes back.

    A memory is a name (whole, recent, none, events, restored, retrieved, notes, oracle, outside,
    langchain, mem0), `module:Class`, or in Python any object with `build(chat)`. Without a model
    the evidence that it finds is scored; with one its answers, too. Call it again to resume. With
    an engine chats are probed in parallel, where no model is asked.

    Args:
        corpus: Chat, corpus or sample name.
        memory: Memory under test.
        budget: Context size, e.g. 1000, 2000w or all.
        settings: Setting of the memory, e.g. around=3.
        protocol: Rules of the memory: clean or paper.
        reader: Who answers: none or llm.
        judge: Model that judges answers; same: the reader.
        prompts: Folder with prompts of your own.
        questions: The corpus's own, or swapped: of another person.
        categories: Only these categories, e.g. temporal,multi_hop.
        limit: Questions to ask.
        golds: Right answers: published, audited, lmeb or a file.
        seed: Random seed.
        device: Where the encoder runs: cpu or cuda.
        out: Folder for the run.
        fresh: Delete the existing run and start over.
        model: The model that answers, which is sent what the memory shows.
        engine: Where the work is done.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        A run: `.summary()`, `.compare(other)`, `.failures()`, `.rows`.

    Example:
        rt.probe("sample")
        rt.probe("sample", memory="recent", budget="1000,2000", out="probe-recent")
        rt.probe("data/realtalk", engine=Engine("processes", workers=4), out="run")
        rt.probe("sample", memory="events", model="openai/gpt-4o-mini", out="answers")
    """
    from realtalk.memory.asking import Plan
    from realtalk.memory.benchmark import probe_and_judge

    place = as_path(out)
    spread, model_options = value_object(Engine, engine), value_object(Model, model)
    chats, right = questions_of(questions, as_corpus(corpus, reading, progress), str(golds))
    folder = as_path(prompts)
    answerer = make_reader(
        reader, model_options, chats, prompts=folder, seed=seed, judged=judge is not None
    )
    remembering = memory_of(memory, settings, protocol, device)
    memory_name = memory if isinstance(memory, str) else ""
    plan = Plan(
        chats,
        remembering,
        answerer,
        budgets_of(memory_name, answerer.name, budget),
        tuple(dict.fromkeys(categories)) or None,
        limit,
        right,
    )
    judging = make_judge(judge, answerer.settings, model_options, prompts=folder)
    if not spread:
        return probe_and_judge(plan, place, judge=judging, fresh=fresh, progress=progress)
    from functools import partial

    from realtalk.memory.by_engine import probe_by

    if judging is not None:
        raise RealtalkError("a judge is a language model", fix="judge with `realtalk runs rescore`")
    make = partial(memory_of, memory, settings, protocol, device)
    return probe_by(plan, make, spread.backend(), place, fresh=fresh, progress=progress)


def simulate(
    corpus: Readable,
    *,
    speaker: str | None = None,
    simulator: str | None = None,
    prompts: str | PathLike[str] | None = None,
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
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Continue as a speaker at each of their turns, and score it.

    Without a speaker, everybody with two chats is simulated: one chat is learned from, the other
    tested. A simulator is copy, constant, common, retrieve (the default), llm (the default with a
    model), local, tuned or written. Call it again to resume.

    Args:
        corpus: Chat, corpus or sample name.
        speaker: Speaker to simulate (default: all with two chats).
        simulator: Simulator under test.
        prompts: Folder with prompts of your own.
        style: Describe the speaker's style to the model.
        settings: Setting of the simulator, e.g. adapter=DIR.
        labels: Labels of the corpus: saves labelling.
        choice: Which chat is tested: ei or paper.
        context_sessions: Sessions shown as context.
        context_tokens: Tokens shown as context.
        limit: First turns of each speaker.
        bertscore: Hub model for semantic similarity.
        bertscore_layer: Layer of that model.
        out: Folder for the run.
        fresh: Delete the existing run and start over.
        model: The model that continues, which is sent the chat.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.simulate("sample", speaker="Mara", out="as-mara")
        rt.simulate("data/realtalk", simulator="constant", out="constant")
        rt.simulate("sample", model="openai/gpt-4o-mini", style=True, out="styled")
    """
    from realtalk.evals.folder import refuse_other_folder
    from realtalk.evals.running import run
    from realtalk.persona.benchmark import PersonaBenchmark
    from realtalk.persona.scoring import TurnScorer
    from realtalk.persona.values import make_simulator

    place = as_path(out)
    if place is not None:
        refuse_other_folder(place)
    name, simulator_settings = simulator_of(simulator, settings, model, prompts, style=style)
    writer = make_simulator(name, simulator_settings)
    semantics = semantics_of(bertscore, bertscore_layer)
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    chats, _, tasks = chosen_tasks(corpus, labels, choice, speaker, context, reading, progress)
    scorer = TurnScorer(chats, bertscore=semantics)
    benchmark = PersonaBenchmark(chats, tasks, scorer, limit)
    return run(benchmark, chats, writer, place, fresh=fresh, progress=progress)


def predict(
    corpus: Readable,
    *,
    task: str = "sentiment",
    setting: str = "p-conv",
    predictor: str | None = None,
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
    model: Model | str | None = None,
    engine: Engine | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Run:
    """Predict one task of every reply in the test part, and score it.

    A predictor is majority (the default), parent, mean, nearest, regression or llm (the default
    with a model). The protocol clean shows nothing from at or after the reply; released is the
    paper's code. Call it again to resume. With an engine texts are encoded in parallel.

    Args:
        corpus: Threads, corpus or sample name.
        task: Task: sentiment, impact or next_text.
        setting: Setting: p-conv, p-nonconv, np-conv, np-nonconv or all.
        predictor: Predictor under test.
        settings: Setting of the predictor, e.g. k=5.
        budget: Prompt size in tokens.
        prompts: Folder with prompts of your own.
        protocol: Rules of the task: clean or released.
        leaks: Leak to let in, for comparison.
        with_scores: Show scores of earlier posts.
        split: What is held out: user or global.
        history: Posts shown: recent or near.
        shots: Examples in the prompt.
        limit: Replies to predict, drawn at random.
        train_limit: Replies to learn from.
        seed: Random seed.
        out: Folder for the run.
        fresh: Delete the existing run and start over.
        model: The model that predicts, which is sent the threads.
        engine: Where the work is done.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.predict("sample-threads")
        rt.predict("sample-threads", task="impact", predictor="mean", out="mean")
        rt.predict("sample-threads", setting="all", out="settings")
        rt.predict("threads.jsonl", model="openai/gpt-4o-mini", limit=100)
    """
    from realtalk.threads.benchmark import ThreadTask, run_threads
    from realtalk.threads.predictors import make_predictor
    from realtalk.threads.sampling import Draw
    from realtalk.threads.values import protocol as protocol_named

    place = as_path(out)
    settings_chosen = settings_named(setting)
    llm_settings = {"budget": budget, "seed": seed}
    named = solver_of("predictor", predictor, "majority", settings, model, prompts, **llm_settings)
    solver = make_predictor(*named)
    spread = value_object(Engine, engine)
    rules = protocol_named(
        protocol,
        leaks=tuple(leaks),
        with_scores=with_scores,
        split=split,
        chosen=history,
        shots=shots,
    )
    draw = Draw(task, rules, limit, train_limit, seed)
    chats = as_corpus(corpus, reading, progress)
    thread_task = ThreadTask(draw.samples(chats, progress), settings_chosen, draw.record)
    workers = spread.backend() if spread else None
    return run_threads(
        chats, thread_task, solver, place, engine=workers, fresh=fresh, progress=progress
    )


def compare(
    first: Labels | Run | str | PathLike[str],
    second: Labels | Run | str | PathLike[str] | None = None,
    *,
    variant: str | None = None,
) -> ResultTable:
    """Compare two runs, two variants of one, or two labellings.

    Runs of one kind are compared by paired differences: whole groups (chats, speakers, users) are
    drawn for the interval and swapped for the test; p is also corrected by Holm. Labels of the same
    turns are compared by their agreement, of different corpora facet by facet (a corpus is labelled
    first).

    Args:
        first: Run or labels, their folder, or a corpus.
        second: The other, of the same kind.
        variant: Budget or setting; of one run two: A,B.

    Example:
        rt.compare("events-run", "retrieved-run", variant="1000t")
        rt.compare("regression", variant="p-nonconv,p-conv")
        rt.compare("labels", "judged")
    """
    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run

    left_side = _load(first)
    if second is None:
        if not isinstance(left_side, Run):
            raise RealtalkError("labels are compared with others", fix="name them")
        return left_side.compare(variant=variant)
    right_side = _load(second)
    if isinstance(left_side, Labels) and isinstance(right_side, Labels):
        return left_side.compare(right_side)
    if isinstance(left_side, Run) and isinstance(right_side, Run):
        return left_side.compare(right_side, variant)
    what = [side.kind if isinstance(side, Run) else "labels" for side in (left_side, right_side)]
    raise RealtalkError(
        f"{what[0]} and {what[1]} cannot be compared", fix="compare two of one kind"
    )


def _load(source: Labels | Run | str | PathLike[str]) -> Labels | Run:
    from realtalk.api.labels import labels_of
    from realtalk.ei.results import Labels, is_labels
    from realtalk.evals.run import Run, join_runs
    from realtalk.files.naming import named_run

    if isinstance(source, Labels | Run):
        return source
    if not is_path(source):
        raise RealtalkError(
            f"{type(source).__name__} cannot be compared", fix="compare labels, runs or folders"
        )
    name, folders = named_run(str(source))
    parts = [folders] if Path(folders).exists() else folders.split(",")
    if not is_labels(Path(folders)) and all((Path(part) / "run.json").is_file() for part in parts):
        runs, title = [Run.load(part) for part in parts], name or folders
        return runs[0].with_name(title) if len(runs) == 1 else join_runs(title, runs)
    return labels_of(source)


def chosen_tasks(
    corpus: Readable,
    labels: Labels | str | PathLike[str] | None,
    choice: str,
    speaker: str | None,
    context: Mapping[str, int],
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> tuple[Corpus, list[Choice], list[PersonaTask]]:
    """The corpus, and of each speaker which chat is learned from and what is tested."""
    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run
    from realtalk.persona.turns import choices_of, tasks_of

    chats = as_corpus(corpus, reading, progress)
    if isinstance(labels, Run):
        raise RealtalkError(
            "expected Labels, got a Run", fix="give Labels, or a folder that `realtalk ei` wrote"
        )
    ei_labels = labels if labels is None or isinstance(labels, Labels) else Labels.load(labels)
    frame = None if ei_labels is None else ei_labels.frame
    choices = choices_of(chats, labels=frame, choice=choice, speaker=speaker, progress=progress)
    return chats, choices, tasks_of(chats, choices, **context)
