"""`persona sweep`: one simulator under several settings, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from realtalk.cli import options
from realtalk.cli import persona_options as persona
from realtalk.cli.ei_options import warn_of_languages
from realtalk.cli.verbs import costs_json, end_sweep, load_prices

_SESSIONS = "1,2,3,5,10"
_KEY = "context_sessions"


def register(app: typer.Typer) -> None:
    """Adds the command to `persona`."""
    app.command()(sweep)


def sweep(
    path: options.Target,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
    speaker: persona.Speaker = None,
    sessions: Annotated[
        str | None,
        typer.Option(
            "--sessions",
            metavar="K,…",
            help="Numbers of context sessions.",
            show_default=f"{_SESSIONS}, unless --set has several values",
        ),
    ] = None,
    simulator: persona.SimulatorName = None,
    model: persona.ModelName = None,
    base_url: options.BaseUrl = None,
    prompts: persona.PromptsFolder = None,
    style: persona.Style = False,
    settings: options.Swept = None,
    labels: persona.Labels = None,
    choice: persona.Choosing = "ei",
    context_tokens: Annotated[
        int, typer.Option("--context-tokens", metavar="N", help="At most so many tokens.")
    ] = 6000,
    limit: persona.Limit = None,
    bertscore: persona.BertModel = None,
    bertscore_layer: persona.BertLayer = None,
    fresh: options.Fresh = False,
    prices: options.PricesFile = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """The same turns with more and more context, as in the paper's Figure 7, or by other settings.

    Every combination's run is kept in a folder of its own below DIR; called again, it goes on. A
    setting may say {k} where the number of sessions belongs: --set adapter=adapters/{k}.

    Examples:

        realtalk persona sweep sample --simulator retrieve --sessions 1,3 --out more-context

        realtalk persona sweep sample --set simulator=copy,retrieve --set limit=10 --out simulators

        realtalk persona sweep data/realtalk -s Akib --model openai/gpt-4o-mini --out akib
    """
    from realtalk.cli.printing import print_json, show
    from realtalk.persona.tables import sweep as sessions_table
    from realtalk.surface.benchmarks import simulate
    from realtalk.surface.sweeping import parse_axes
    from realtalk.surface.sweeping import sweep as carry_out

    known = load_prices(prices)
    axes: dict[str, Any] = dict(
        parse_axes([pair.replace("{k}", f"{{{_KEY}}}") for pair in settings or []])
    )
    others = any(len(values) > 1 for values in axes.values())
    if sessions is not None or not others:
        axes = {_KEY: persona.numbers_of(sessions or _SESSIONS), **axes}
    alone = not others  # the numbers of sessions are all that differs
    with options.reading(path, format_name, gap, "simulating") as (corpus, advance):
        found = carry_out(
            simulate,
            corpus,
            axes,
            out=out,
            fresh=fresh,
            progress=advance,
            names=(lambda chosen: str(chosen[_KEY])) if alone else None,
            speaker=speaker,
            simulator=simulator,
            model=model,
            base_url=base_url,
            prompts=prompts,
            style=style,
            labels=labels,
            choice=choice,
            context_tokens=context_tokens,
            limit=limit,
            bertscore=bertscore,
            bertscore_layer=bertscore_layer,
        )
    simulations = {name: run.record.simulation for name, run in found.runs.items()}
    if alone and json:
        print_json(
            {name: run.to_json() | costs_json(run, known) for name, run in found.runs.items()}
        )
    elif alone:
        numbered = {int(name): simulation for name, simulation in simulations.items()}
        show("context sessions", *sessions_table(numbered))
    if alone:
        warn_of_languages(*(simulation.languages for simulation in simulations.values()))
    end_sweep(found, out, known, json=json, shown=alone)
