"""`persona`: continue a chat as one of its speakers, and how near that comes to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli import (
    options,
    persona_converse,
    persona_dataset,
    persona_guess,
    persona_sweep,
    persona_talk,
    persona_tune,
    verbs,
)
from realtalk.cli import persona_options as persona
from realtalk.cli.ei_options import warn_of_languages

if TYPE_CHECKING:
    from realtalk.persona.choosing import Choice
    from realtalk.persona.summaries import Simulation


app = typer.Typer(
    cls=verbs.Verbs,
    help="Continue a chat as one of its speakers, and score content and emotional intelligence "
    "against what they really wrote. `realtalk persona PATH` is `realtalk persona run PATH`.",
    no_args_is_help=True,
)


@app.command()
def turns(
    path: options.Target,
    speaker: persona.Speaker = None,
    labels: persona.Labels = None,
    choice: persona.Choosing = "ei",
    context_sessions: persona.ContextSessions = 3,
    context_tokens: persona.ContextTokens = 1500,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Also write every turn's prompt as JSONL."
        ),
    ] = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """Show what is learned from and what is tested, speaker by speaker.

    With --out writes one line per tested turn: speaker, id, and the text that a model is asked
    with, for models elsewhere. What the person really wrote is not in it.

    Examples:

        realtalk persona turns sample

        realtalk persona turns data/realtalk --labels labels --out turns.jsonl
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.persona.choosing import choice_rows, difference
    from realtalk.persona.turns import tasks_of
    from realtalk.surface.benchmarks import chosen_chats

    with options.reading(path, format_name, gap, "labelling") as (corpus, advance):
        chats, choices = chosen_chats(corpus, labels, choice, speaker, advance)
    made = tasks_of(
        chats, choices, context_sessions=context_sessions, context_tokens=context_tokens
    )
    if json:
        print_json([_task_json(task, each) for task, each in zip(made, choices, strict=True)])
    else:
        show("what is learned from and tested", *choice_rows(choices))
        left = sum(each.turns[each.test] for each in choices) - sum(len(t.turns) for t in made)
        say(
            f"{sum(len(task.turns) for task in made):,} turns to simulate; {left} left out, the "
            f"first of a chat, which has no context; {sum(len(t.learning.turns) for t in made):,} "
            "to learn from"
        )
    for each in choices:
        if line := difference(each):
            warn(line)
    if out is not None:
        _write_prompts(out, made)
        say(f"wrote {sum(len(task.turns) for task in made):,} prompts to {out}")


@app.command(verbs.RUN)
def run(
    path: options.Target,
    speaker: persona.Speaker = None,
    simulator: persona.SimulatorName = None,
    model: persona.ModelName = None,
    base_url: options.BaseUrl = None,
    connections: options.LlmConnections = None,
    rate: options.Rate = None,
    prompts: persona.PromptsFolder = None,
    style: persona.Style = False,
    settings: persona.Set = None,
    labels: persona.Labels = None,
    choice: persona.Choosing = "ei",
    context_sessions: persona.ContextSessions = 3,
    context_tokens: persona.ContextTokens = 1500,
    limit: persona.Limit = None,
    bertscore: persona.BertModel = None,
    bertscore_layer: persona.BertLayer = None,
    out: options.Out = None,
    fresh: options.Fresh = False,
    prices: options.PricesFile = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """Continue as a speaker at each of their turns in the tested chat, and score it.

    Writes run.json, rows.parquet (one row per turn with every score) and groups.parquet (one row
    per speaker). A run that was stopped goes on where it was: call it again.

    Examples:

        realtalk persona run sample --speaker Mara --out as-mara

        realtalk persona run data/realtalk --simulator constant --out constant

        realtalk persona run data/realtalk -s Akib --model openai/gpt-4o-mini --style --out llm
    """
    from realtalk.cli.printing import print_json
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.benchmarks import simulate

    known = verbs.load_prices(prices)
    with options.reading(path, format_name, gap, "simulating") as (corpus, advance):
        found = simulate(
            corpus,
            speaker,
            simulator,
            model=model,
            base_url=base_url,
            connections=connections,
            rate=rate,
            prompts=prompts,
            style=style,
            settings=parse_settings(settings or []),
            labels=labels,
            choice=choice,
            context_sessions=context_sessions,
            context_tokens=context_tokens,
            limit=limit,
            bertscore=bertscore,
            bertscore_layer=bertscore_layer,
            out=out,
            fresh=fresh,
            progress=advance,
        )
    published = persona.are_published([found.record])
    if json:
        print_json([found.to_json() | verbs.costs_json(found, known)])
    else:
        _show([found.record.simulation], published=published, detailed=True)
        verbs.show_costs(found.usage, known)
    _remarks([found.record.simulation])
    verbs.end_run(found, out)


@app.command()
def rescore(
    run: verbs.StoredRun,
    corpus: verbs.StoredCorpus = None,
    bertscore: persona.BertModel = None,
    bertscore_layer: persona.BertLayer = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """Score a stored run's turns again by the present formulas; nobody is simulated again.

    Says what changed. Turns that are no longer in the corpus keep the scores they have.

    Examples:

        realtalk persona rescore as-mara

        realtalk persona rescore constant data/realtalk
    """
    from realtalk.cli.printing import print_json, say
    from realtalk.persona.benchmark import rescore_persona
    from realtalk.persona.scoring import TurnScorer
    from realtalk.surface.choices import semantics_of
    from realtalk.surface.runs import Run

    path = verbs.corpus_of(run, corpus, "persona")
    semantics = semantics_of(bertscore, bertscore_layer)
    with options.reading(path, format_name, gap, "scoring") as (read, advance):
        chats = read()
        scorer = TurnScorer(chats, bertscore=semantics)
        changes = rescore_persona(run, chats, scorer=scorer, progress=advance)
    for line in changes.lines:
        say(line)
    found = Run.load(run)
    if json:
        print_json([found.to_json()])
    else:
        published = persona.are_published([found.record])
        _show([found.record.simulation], published=published, detailed=True)
    _remarks([found.record.simulation])
    verbs.end_run(found, run)


@app.command()
def table(
    runs: persona.RunsNamed,
    speakers: Annotated[
        bool, typer.Option("--speakers", help="Also every speaker, in the form of Table 8.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Runs side by side in the form of the paper's Table 2, its own rows below.

    Runs of one name are joined: an adapter is for one speaker, so ten runs make one row.

    Examples:

        realtalk persona table constant retrieve

        realtalk persona table untuned=base tuned=mara-run tuned=theo-run --speakers
    """
    from realtalk.cli.printing import print_json, warn

    loaded = persona.load_runs(list(map(options.named_run, runs)))
    for line in persona.measured_apart(loaded):
        warn(line)
    simulations = [each.simulation for each in loaded]
    if json:
        print_json([simulation.to_json() for simulation in simulations])
    else:
        published = persona.are_published([run for each in loaded for run in each.runs])
        _show(simulations, published=published, detailed=speakers)
    _remarks(simulations)


@app.command()
def compare(first: persona.RunNamed, second: persona.RunNamed, json: options.Json = False) -> None:
    """Two runs on the same turns: differences with intervals, and a test.

    Intervals draw whole speakers, the test swaps whole speakers (of fewer than five their turns),
    Holm's correction is within content, EI, and beyond. Give several runs of one side with
    commas: untuned tuned-mara,tuned-theo.

    Examples:

        realtalk persona compare constant retrieve
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.persona.comparing import compare as test
    from realtalk.persona.tables import compared, gain_line

    sides = []
    for text in (first, second):
        name, folders = options.named_run(text)
        parts = [folders] if Path(folders).exists() else folders.split(",")
        sides.append(persona.load_runs([(name or folders, part) for part in parts if part])[0])
    a, b = sides
    for line in persona.measured_apart(sides):
        warn(line)
    found = test(a.rows, a.simulation, b.rows, b.simulation)
    warn_of_languages(*found.languages)
    if json:
        print_json(found.to_json())
    else:
        show(f"{found.names[1]} against {found.names[0]}, on the same turns", *compared(found))
        say(gain_line(found))


@app.command()
def share(
    runs: persona.RunsNamed,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
) -> None:
    """Copy runs without a word of what was written: settings, versions and scores alone.

    Each becomes a folder below DIR that `table` and `compare` read like any other run.

    Examples:

        realtalk persona share tuned untuned=base --out results/persona
    """
    from realtalk.cli.printing import say
    from realtalk.persona.benchmark import share as copy

    for text in runs:
        name, folder = options.named_run(text)
        made = copy(Path(folder), out / (name or Path(folder).name))
        say(f"{len(made.rows):,} rows without texts in {made.folder}")


def _task_json(task: Any, choice: Choice) -> dict[str, Any]:
    from realtalk.persona.choosing import difference

    return {
        "speaker": task.speaker,
        "learn": choice.learn,
        "test": choice.test,
        "overall_ei": dict(choice.overall),
        "sure": choice.sure,
        "consistency": choice.consistency.to_json(),
        "learning_turns": len(task.learning.turns),
        "turns": len(task.turns),
        "context_turns": sum(len(turn.prompt.context) for turn in task.turns)
        / max(1, len(task.turns)),
        "differs_from_table_8": difference(choice),
    }


def _write_prompts(out: Path, tasks: list[Any]) -> None:
    import orjson

    from realtalk.local.writing import atomic_path, check_holder
    from realtalk.persona.prompting import text_of

    with atomic_path(check_holder(out)) as temporary, temporary.open("wb") as stream:
        for task in tasks:
            for prompt in task.prompts:
                row = {"speaker": task.speaker, "id": prompt.id, "prompt": text_of(prompt)}
                stream.write(orjson.dumps(row) + b"\n")


def _show(simulations: list[Simulation], *, published: bool, detailed: bool) -> None:
    from realtalk.cli.printing import say, show
    from realtalk.persona.tables import READING, beyond, table_2, table_8

    for simulation in simulations if detailed else ():
        show(f"{simulation.name}: every speaker", *table_8(simulation, published=published))
    show("averages over speakers", *table_2(simulations, published=published))
    show("what raw agreement does not show", *beyond(simulations))
    say(READING)


def _remarks(simulations: list[Simulation]) -> None:
    from realtalk.cli.printing import say
    from realtalk.persona.tables import unscored_lines

    for simulation in simulations:
        for line in unscored_lines(simulation):
            say(line)
    warn_of_languages(*(simulation.languages for simulation in simulations))


persona_sweep.register(app)
persona_tune.register(app)
persona_dataset.register(app)
persona_guess.register(app)
persona_talk.register(app)
persona_converse.register(app)
verbs.add_stored_runs(app, "persona simulation")
