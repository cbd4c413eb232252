"""Chats → an adapter that writes as somebody, data for other tools, a talk, and guesses.

tune("mara", speaker="Me", out="adapters/me")                        → TuningResult
export_dataset("mara", speaker="Me", out="mine.jsonl")               → TuningSet
talk("mara", speaker="Me", consent="self").say("are you up?")        → "barely"
who_wrote_it("sample", speaker="Mara")               → Run, with people's replies alone
who_wrote_it("sample", simulated="as-mara")          → Run, one reply of four is simulated
who_wrote_it("sample", simulated=["tuned=a", "tuned=b"])  → the two runs are one simulator
named_runs(["tuned=a", "tuned=b", "base"])                 → {"tuned": [a, b], "retrieve": [base]}
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from realtalk.api.benchmarks import chosen_tasks
from realtalk.api.choices import (
    Model,
    Readable,
    Reading,
    as_corpus,
    as_path,
    is_path,
    simulator_of,
    solver_of,
)
from realtalk.errors import RealtalkError
from realtalk.files.naming import named_run
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable
    from realtalk.persona.datasets import TuningSet
    from realtalk.persona.talking import Talk
    from realtalk.persona.tuning import TuningResult
    from realtalk.persona.values import Learning
    from realtalk.web.guessing import TalkRoom

_LOG = logging.getLogger("realtalk")


def tune(
    corpus: Readable,
    *,
    speaker: str,
    out: str | PathLike[str] | None = None,
    base: str = "smollm2",
    labels: Labels | str | PathLike[str] | None = None,
    choice: str = "ei",
    context_sessions: int = 3,
    context_tokens: int = 1500,
    whole: bool = False,
    examples: int = 0,
    epochs: int = 4,
    learning_rate: float = 5e-4,
    per_update: int = 16,
    rank: int = 16,
    dropout: float = 0.0,
    patience: int = 2,
    seed: int = 0,
    batch_tokens: int = 0,
    device: str = "auto",
    cache: str | PathLike[str] | None = None,
    fresh: bool = False,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> TuningResult:
    """Train an adapter on a speaker's turns in one chat.

    The adapter is tested in the speaker's other chat, which is never read in training; somebody
    with a single chat is learned from all of it. The last tenth of the turns is held out, and the
    epoch with the lowest held-out loss is kept. How long it takes is said before it begins. Call it
    again to resume. Needs the extra train.

    Args:
        corpus: Chat, corpus or sample name.
        speaker: Speaker to train on.
        out: Folder for the adapter (default: adapters/NAME).
        base: Base model: folder, .gguf file or name.
        labels: Labels of the corpus: saves labelling.
        choice: Which chat is tested: ei or paper.
        context_sessions: Sessions shown as context.
        context_tokens: Tokens shown as context.
        whole: Learn from all chats; nothing to test on.
        examples: Similar turns of the speaker in each prompt.
        epochs: Passes over the turns.
        learning_rate: Peak learning rate.
        per_update: Turns per update.
        rank: LoRA rank.
        dropout: LoRA dropout.
        patience: Epochs without improvement before it stops.
        seed: Random seed.
        batch_tokens: Tokens per batch; 0: measured.
        device: Device: auto, cpu or cuda.
        cache: Cache folder.
        fresh: Delete the existing adapter and start over.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.persona.tune("sample", speaker="Theo", base="qwen2.5-0.5b")
        rt.persona.tune("sample", speaker="Mara", out="adapters/mara")
        rt.persona.tune("sample", speaker="Mara", whole=True)
    """
    from realtalk.persona.generation import load
    from realtalk.persona.tuned import training_set
    from realtalk.persona.tuning import TuneSettings
    from realtalk.persona.tuning import tune as train
    from realtalk.persona.turns import named_speaker, own_learning

    settings = TuneSettings(
        epochs=epochs,
        learning_rate=learning_rate,
        per_update=per_update,
        rank=rank,
        alpha=2 * rank,
        dropout=dropout,
        patience=patience,
        seed=seed,
        batch_tokens=batch_tokens,
    )
    loaded = load(base, device=device, cache=as_path(cache), progress=progress)
    chats = as_corpus(corpus, reading, progress)
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    who = named_speaker(chats, speaker)
    if whole or sum(who in chat.speakers for chat in chats.chats) == 1:  # nothing to test on
        learning = own_learning(chats, who, **context)
    else:
        *_, (task,) = chosen_tasks(chats, labels, choice, speaker, context, progress=progress)
        learning = task.learning
    learned, about = training_set(base, loaded, learning, examples)
    if len(learned) < len(learning.turns):
        _LOG.info("%d turns do not fit into the model", len(learning.turns) - len(learned))
    _LOG.info(
        "learning %s from %d turns of %s on %s in %s",
        learning.speaker,
        len(learned),
        learning.chat.id,
        loaded.device,
        loaded.precision,
    )
    folder = adapter_folder(learning.speaker) if out is None else Path(out)
    return train(
        loaded,
        learned,
        folder,
        settings,
        about=about,
        fresh=fresh,
        progress=progress,
        say=_LOG.info,
    )


def adapter_folder(speaker: str) -> Path:
    """Where an adapter is written, and found again, where no folder is named."""
    from realtalk.files.writing import file_stem

    return Path("adapters", file_stem(speaker.casefold()))


def export_dataset(
    corpus: Readable,
    *,
    speaker: str,
    to: str = "sharegpt",
    redacted: bool = False,
    names: Sequence[str] = (),
    exchanges: int | None = None,
    out: str | PathLike[str] | None = None,
    reading: Reading | str | None = None,
) -> TuningSet:
    """Write a speaker's replies as JSONL, to tune models on.

    The speaker is the assistant, everybody else the user: who is who is said before anything is
    written. A session is a conversation that begins with the user and ends with the assistant.
    The file holds what people wrote: read it before you pass it on, redacted too.

    Args:
        corpus: Chat, corpus or sample name.
        speaker: Speaker whose replies are learned.
        to: Output format: sharegpt, alpaca or messages.
        redacted: Replace names, numbers and links first.
        names: More names to replace.
        exchanges: Most exchanges per row (default: a session).
        out: File to write; without it nothing is written.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.persona.export_dataset("sample", speaker="Mara")
        rt.persona.export_dataset("sample", speaker="Mara", out="mara.jsonl")
        rt.persona.export_dataset("mara", speaker="Mara", redacted=True, out="m.jsonl")
    """
    from realtalk.persona.datasets import build_tuning_set
    from realtalk.persona.turns import named_speaker

    chats = as_corpus(corpus, reading)
    who = named_speaker(chats, speaker)
    if redacted:
        from realtalk.redaction.redact import redact
        from realtalk.redaction.sources import name_sources

        clean, _ = redact(chats, names=list(names), sources=name_sources())
        pairs = zip(chats.chats, clean.chats, strict=True)
        names_of = (pair for a, b in pairs for pair in zip(a.speakers, b.speakers, strict=True))
        stand_in = dict(names_of)[who]
        _LOG.info("%s is written as %s", who, stand_in)
        chats, who = clean, stand_in
    tuning_set = build_tuning_set(chats, who, to, exchanges)
    for line in tuning_set.lines:
        _LOG.info("%s", line)
    if out is not None:
        tuning_set.write(Path(out))
    return tuning_set


def talk(
    corpus: Readable,
    *,
    speaker: str,
    simulator: str | None = None,
    consent: str | Callable[[str], str] = "",
    partner: str | None = None,
    chat: str | None = None,
    prompts: str | PathLike[str] | None = None,
    style: bool = False,
    settings: Mapping[str, Any] | None = None,
    context_sessions: int = 3,
    context_tokens: int = 1500,
    out: str | PathLike[str] | None = None,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Talk:
    """Go on with a chat: a simulated speaker answers you.

    Without a model the answers are sentences of the chat itself. Consent is self (it is you), given
    (with that person's yes), research (they agreed to a study that published the chat, not to this)
    or fictional (nobody real); it is kept with the adapter and with the talk. With `out` all that
    is said is kept as a corpus, marked as simulated; an earlier talk there goes on. In Python,
    `talk.say("are you up?")` is answered.

    Args:
        corpus: Chat, corpus or sample name.
        speaker: Speaker who is simulated.
        simulator: Simulator, as for `persona run`.
        consent: Whose yes: self, given, research or fictional.
        partner: Who you are (default: the other one).
        chat: Chat that goes on (default: the latest).
        prompts: Folder with prompts of your own.
        style: Describe the speaker's style to the model.
        settings: Setting of the simulator, e.g. adapter=DIR.
        context_sessions: Sessions shown as context.
        context_tokens: Tokens shown as context.
        out: Folder to keep the talk in.
        model: The model that answers, which is sent the chat.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.persona.talk("sample", speaker="Theo", consent="fictional")
        rt.persona.talk("sample", speaker="Theo", model="realtalk/smollm2", style=True)
        rt.persona.talk("mara", speaker="Mara", consent="given", out="talk")
    """
    from realtalk.persona.talking import Talk, chat_of, obtain_consent, partner_of
    from realtalk.persona.turns import named_speaker
    from realtalk.persona.values import make_simulator

    name, simulator_settings = simulator_of(simulator, settings, model, prompts, style=style)
    chats = as_corpus(corpus, reading, progress)
    who = named_speaker(chats, speaker)
    goes_on = chat_of(chats, who, chat)
    me = partner_of(goes_on, who, partner)
    place = as_path(out)
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    adapter, about = adapter_of(name, simulator_settings, who)
    yes = obtain_consent(who, consent, adapter, place)
    if about:
        context = {key: int(about[key]) for key in context}
    writer = make_simulator(name, simulator_settings)
    writer.prepare(learned_from(chats, who, about.get("chat"), context), progress)
    return Talk(goes_on, who, me, writer, yes, out=place, **context)


def talk_room(
    corpus: Readable,
    speaker: str,
    simulator: str | None = None,
    *,
    out: str | PathLike[str] | None = None,
    **options: Any,
) -> TalkRoom:
    """The same talk for the studio, which asks for consent on its page; kept in talks/NAME."""
    from realtalk.files.writing import file_stem
    from realtalk.persona.talking import chat_of, partner_of
    from realtalk.persona.turns import named_speaker
    from realtalk.persona.values import SIMULATORS
    from realtalk.web.guessing import TalkRoom

    chats = as_corpus(corpus)
    who = named_speaker(chats, speaker)
    me = partner_of(chat_of(chats, who, options.get("chat")), who, options.get("partner"))
    name, _ = simulator_of(simulator, options.get("settings"), options.get("model"))
    _ = SIMULATORS[name]  # a name that is wrong is said now, not on the page
    place = Path("talks", file_stem(who.casefold())) if out is None else Path(out)

    def begin(answer: str) -> Talk:
        return talk(chats, speaker=who, simulator=simulator, consent=answer, out=place, **options)

    return TalkRoom(who, me, begin)


def adapter_of(
    name: str, settings: Mapping[str, Any], speaker: str
) -> tuple[Path | None, dict[str, Any]]:
    """The speaker's adapter, and what it was trained with; nothing for other simulators."""
    if name != "tuned" or "adapter" not in settings:
        return None, {}
    from realtalk.persona.tuned import adapters_in

    for folder, card in adapters_in(Path(settings["adapter"])).items():
        if card["about"].get("speaker") == speaker:
            return folder, dict(card["about"])
    return None, {}


def learned_from(
    corpus: Corpus, speaker: str, chat: str | None, context: Mapping[str, int]
) -> Learning:
    """What a simulator learns from: the chat that its adapter is of, else all of the speaker's."""
    from dataclasses import replace

    from realtalk.persona.turns import own_learning

    only = tuple(candidate for candidate in corpus.chats if candidate.id == chat)
    return own_learning(replace(corpus, chats=only) if only else corpus, speaker, **context)


def tested_turns(
    corpus: Readable,
    *,
    speaker: str | None = None,
    labels: Labels | str | PathLike[str] | None = None,
    choice: str = "ei",
    context_sessions: int = 3,
    context_tokens: int = 1500,
    out: str | PathLike[str] | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> ResultTable:
    """Show what is learned from and what is tested.

    One row per speaker. With `out` writes one line per tested turn: speaker, id, and the text that
    a model is asked with, for models elsewhere. What the person really wrote is not in it.

    Args:
        corpus: Chat, corpus or sample name.
        speaker: Speaker to show (default: all with two chats).
        labels: Labels of the corpus: saves labelling.
        choice: Which chat is tested: ei or paper.
        context_sessions: Sessions shown as context.
        context_tokens: Tokens shown as context.
        out: JSONL file for the prompts.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.persona.tested_turns("sample")
        rt.persona.tested_turns("sample", speaker="Mara")
        rt.persona.tested_turns("data/realtalk", labels="labels", out="turns.jsonl")
    """
    import polars as pl

    from realtalk.evals.tables import ResultTable
    from realtalk.files.json_objects import write_objects
    from realtalk.persona.choosing import choice_rows, difference
    from realtalk.persona.prompting import text_of

    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    _, choices, tasks = chosen_tasks(corpus, labels, choice, speaker, context, reading, progress)
    total = sum(len(task.turns) for task in tasks)
    first = sum(chosen_turns.turns[chosen_turns.test] for chosen_turns in choices) - total
    learning = sum(len(task.learning.turns) for task in tasks)
    notes = [
        f"{total:,} turns to simulate; {first} left out, the first of a chat, which has no "
        f"context; {learning:,} to learn from",
        *(line for chosen_turns in choices if (line := difference(chosen_turns))),
    ]
    if out is not None:
        prompts = ((task.speaker, prompt) for task in tasks for prompt in task.prompts)
        rows = ({"speaker": who, "id": it.id, "prompt": text_of(it)} for who, it in prompts)
        write_objects(Path(out), rows)
        notes.append(f"wrote {total:,} prompts to {out}")
    frame = pl.DataFrame(choice_rows(choices), infer_schema_length=None)
    details = {"turns": total, "learning_turns": learning, "left_out": first}
    return ResultTable("what is learned from and tested", frame, notes, details)


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
    from realtalk.evals.folder import refuse_other_folder
    from realtalk.evals.running import run
    from realtalk.persona.guessing import GuessBenchmark, run_tasks, simulated_texts
    from realtalk.persona.values import make_guesser

    place = as_path(out)
    if place is not None:
        refuse_other_folder(place)
    named = solver_of("guesser", guesser, "classifier", settings, model, prompts, seed=seed)
    solver = make_guesser(*named)
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
