"""`persona guess`: which of four replies did this person write here?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli import options, verbs
from realtalk.cli import persona_options as persona

if TYPE_CHECKING:
    from realtalk.evals.summaries import Summary
    from realtalk.persona.guessing import GuessRun

app = typer.Typer(
    cls=verbs.Verbs,
    help="Who wrote it: which of four replies did this person write here? Chance is .25. "
    "`realtalk persona guess PATH` is `realtalk persona guess run PATH`.",
    no_args_is_help=True,
)

Guesser = Annotated[
    str | None,
    typer.Option(
        "--guesser",
        "-g",
        metavar="NAME",
        help="classifier: by how the speaker writes; nearness: by what is meant (--set "
        "to=context|speaker|both); llm: the model named.",
        show_default="classifier, or llm with a model",
    ),
]
SimulatedRuns = Annotated[
    list[str] | None,
    typer.Option(
        "--simulated",
        metavar="RUN",
        help="A folder that `persona run` wrote, or NAME=RUN; may be repeated. Its chats and "
        "contexts are taken. Without one the fourth reply is another speaker's, too.",
    ),
]
PromptsFolder = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="DIR", help="llm: a prompt of your own, guess.md."),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of the guesser; may be repeated."),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Draws the other replies and their order.")
]
RunsNamed = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...",
        help="Folders that `persona guess` or the studio wrote; NAME=RUN gives a name.",
    ),
]


def register(persona_app: typer.Typer) -> None:
    """Adds the commands to `persona`."""
    persona_app.add_typer(app, name="guess")


@app.command(verbs.RUN)
def run(
    path: options.Target,
    guesser: Guesser = None,
    simulated: SimulatedRuns = None,
    speaker: persona.Speaker = None,
    model: persona.ModelName = None,
    base_url: options.BaseUrl = None,
    prompts: PromptsFolder = None,
    settings: Set = None,
    labels: persona.Labels = None,
    choice: persona.Choosing = "ei",
    context_sessions: persona.ContextSessions = 3,
    context_tokens: persona.ContextTokens = 1500,
    limit: persona.Limit = None,
    seed: Seed = 0,
    out: options.Out = None,
    fresh: options.Fresh = False,
    prices: options.PricesFile = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """Ask of each tested turn which of four replies the speaker wrote there.

    Beside the real one stand one of the partner's, one of another speaker and one that a simulator
    wrote in this place, of about the same length where there is a choice. Writes run.json and
    rows.parquet, one row per turn. A run that was stopped goes on where it was: call it again.

    Examples:

        realtalk persona guess sample --speaker Mara

        realtalk persona guess sample --simulated as-mara --guesser nearness --out near

        realtalk persona guess data/realtalk --simulated tuned --model openai/gpt-4o-mini --out llm
    """
    from realtalk.cli.printing import print_json
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.guessing import guess

    known = verbs.load_prices(prices)
    with options.reading(path, format_name, gap, "guessing") as (corpus, advance):
        found = guess(
            corpus,
            guesser,
            simulated=simulated or (),
            speaker=speaker,
            model=model,
            base_url=base_url,
            prompts=prompts,
            settings=parse_settings(settings or []),
            labels=labels,
            choice=choice,
            context_sessions=context_sessions,
            context_tokens=context_tokens,
            limit=limit,
            seed=seed,
            out=out,
            fresh=fresh,
            progress=advance,
        )
    if json:
        print_json([found.to_json() | verbs.costs_json(found, known)])
    else:
        _show([found.record.summary], speakers=True)
        verbs.show_costs(found.usage, known)
    _notes([found.record.summary])
    verbs.end_run(found, out)


@app.command()
def table(
    runs: RunsNamed,
    speakers: Annotated[bool, typer.Option("--speakers", help="Also every speaker.")] = False,
    json: options.Json = False,
) -> None:
    """Runs side by side: accuracy beside chance, and whose replies were taken for real.

    Of people's guesses, which the studio keeps, also how often each simulator was taken for the
    person, by people who know the chat and by others, and how far the judges agree.

    Examples:

        realtalk persona guess table near llm --speakers

        realtalk persona guess table people=sample-guesses --json
    """
    from dataclasses import replace

    from realtalk.cli.printing import print_json, show, warn
    from realtalk.persona.guess_people import people_figures
    from realtalk.persona.guess_tables import people_tables
    from realtalk.persona.guessing import drawn_apart

    loaded = _load_named(runs)
    if line := drawn_apart([each for _, each in loaded]):
        warn(line)
    summaries = [replace(each.summary, name=name) for name, each in loaded]
    people = [(name, people_figures(each.rows)) for name, each in loaded if each.by_people]
    if json:
        judged = {name: figures.to_json() for name, figures in people}
        print_json(
            [
                each.to_json() | ({"people": judged[each.name]} if each.name in judged else {})
                for each in summaries
            ]
        )
    else:
        _show(summaries, speakers=speakers)
        for name, figures in people:
            for title, lines in people_tables(figures).items():
                show(f"{name}: {title}", *lines)
    _notes(summaries)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="RUN", help="A folder of guesses, or NAME=RUN.")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="Another on the same turns.")],
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="NAME", help="Of people's guesses, whose.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Two runs on the same turns: the difference in accuracy with its interval, and a test.

    Intervals draw whole speakers, the test swaps whole speakers (of fewer than five their turns).

    Examples:

        realtalk persona guess compare near llm
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.evals.comparing import comparison_notes
    from realtalk.evals.tables import compared_table
    from realtalk.persona.guess_rows import GUESS_SCORES
    from realtalk.persona.guessing import compare_guesses, drawn_apart

    (one, a), (other, b) = _load_named([first, second])
    if line := drawn_apart([a, b]):
        warn(line)
    found = compare_guesses(a, b, judge, (one, other))
    if json:
        print_json(found.to_json())
        return
    show(
        f"{other} against {one}, on the same turns",
        *compared_table(found, GUESS_SCORES, samples="turns", groups="speakers"),
    )
    for line in comparison_notes(found, "speakers"):
        say(line)


def _load_named(named: Sequence[str]) -> list[tuple[str, GuessRun]]:
    """Runs by name, in the order given; a name that comes twice gets its folder's beside it."""
    from realtalk.persona.guessing import load_guess

    found: list[tuple[str, GuessRun]] = []
    for text in named:
        name, folder = options.named_run(text)
        made = load_guess(Path(folder))
        label = name or made.name
        if any(label == known for known, _ in found):
            label = f"{label} ({Path(folder).name})"
        found.append((label, made))
    return found


def _show(summaries: Sequence[Summary], *, speakers: bool) -> None:
    from realtalk.cli.printing import say, show
    from realtalk.persona.guess_tables import READING, guess_table, speaker_table

    show("who wrote it", *guess_table(summaries))
    for summary in summaries if speakers else ():
        for judge in summary.variants:
            title = f"{summary.name}, {judge}" if judge else summary.name
            show(f"{title}: every speaker", *speaker_table(summary, judge))
    say(READING)


def _notes(summaries: Sequence[Summary]) -> None:
    from realtalk.cli.printing import say
    from realtalk.evals.tables import unscored_lines

    for summary in summaries:
        for line in (*summary.notes, *unscored_lines(summary)):
            say(f"{summary.name}: {line}" if line in summary.notes else line)


verbs.add_sweep(
    app,
    "guess",
    "realtalk persona guess sweep sample --set to=context,speaker --set guesser=nearness --out by",
    "realtalk persona guess sweep sample --set seed=0,1,2 --set limit=20 --out seeds",
)
verbs.add_stored_runs(app, "who wrote it")
