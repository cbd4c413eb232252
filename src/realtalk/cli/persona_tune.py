"""`persona tune`: an adapter that writes like one of a corpus's speakers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli import options
from realtalk.cli import persona_options as persona


def register(app: typer.Typer) -> None:
    """Adds the command to `persona`."""
    app.command()(tune)


def tune(
    path: options.Target,
    speaker: Annotated[str, typer.Option("--speaker", metavar="NAME", help="Whom to learn.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Where to write.", show_default="adapters/NAME"
        ),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base",
            metavar="MODEL",
            help="A Hugging Face folder of a causal model, a .gguf file, or a name: smollm2, "
            "qwen2.5-0.5b, qwen2.5-1.5b (see `realtalk models get`).",
        ),
    ] = "smollm2",
    labels: persona.Labels = None,
    choice: persona.Choosing = "ei",
    context_sessions: persona.ContextSessions = 3,
    context_tokens: persona.ContextTokens = 1500,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Learn from all of their chats; none is left to test on."),
    ] = False,
    examples: Annotated[
        int,
        typer.Option(
            "--examples",
            metavar="N",
            help="Of the speaker's other turns, the N nearest in context stand in each prompt.",
        ),
    ] = 0,
    epochs: Annotated[int, typer.Option("--epochs", help="At most so often over all turns.")] = 4,
    learning_rate: Annotated[float, typer.Option("--learning-rate", help="At its peak.")] = 5e-4,
    per_update: Annotated[int, typer.Option("--per-update", help="Turns per weight update.")] = 16,
    rank: Annotated[int, typer.Option("--rank", help="Of the adapter's matrices.")] = 16,
    dropout: Annotated[float, typer.Option("--dropout", help="Of the adapter's input.")] = 0.0,
    patience: Annotated[
        int, typer.Option("--patience", help="Epochs without progress on held-out turns.")
    ] = 2,
    seed: Annotated[int, typer.Option("--seed", help="Of the adapter and the order.")] = 0,
    batch_tokens: Annotated[
        int, typer.Option("--batch-tokens", help="At once through the model; 0 suits the device.")
    ] = 0,
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", help="auto, cpu or cuda.")
    ] = "auto",
    fresh: options.Fresh = False,
    cache: options.Cache = None,
    format_name: options.FormatName = None,
    gap: options.Gap = "6h",
    json: options.Json = False,
) -> None:
    """Train an adapter on a speaker's turns in one chat, to be tested in their other one.

    The chat that is tested on is never read in training; who has only one chat is learned from
    all of it, and there is nothing to test on. The last tenth of the turns is held out; the
    adapter of the epoch that foretells them best is kept. How long it takes is measured and said
    before it begins. A training that was stopped goes on where it was: run the same command
    again. Needs the extra train.

    Examples:

        realtalk persona tune sample --speaker Theo --base qwen2.5-0.5b

        realtalk persona tune sample --speaker Mara --base smollm2 --out adapters/mara

        realtalk persona run sample --speaker Mara --simulator tuned --set adapter=adapters
    """
    from dataclasses import asdict

    from realtalk.cli.printing import print_json, say, show
    from realtalk.local.writing import file_stem
    from realtalk.surface.own_chats import tune as train

    place = out or Path("adapters", file_stem(speaker.casefold()))
    with options.reading(path, format_name, gap, "training", always=True) as (corpus, advance):
        tuned = train(
            corpus,
            speaker,
            out=place,
            base=base,
            labels=labels,
            choice=choice,
            context_sessions=context_sessions,
            context_tokens=context_tokens,
            whole=whole,
            examples=examples,
            epochs=epochs,
            learning_rate=learning_rate,
            per_update=per_update,
            rank=rank,
            dropout=dropout,
            patience=patience,
            seed=seed,
            batch_tokens=batch_tokens,
            device=device,
            cache=cache,
            fresh=fresh,
            say=say,
            progress=advance,
        )
    if json:
        print_json({**asdict(tuned), "folder": str(place)})
        return
    rows: list[tuple[int, float | None, float | None, bool]] = [
        (0, None, _rounded(tuned.untuned), False)
    ]
    rows += [
        (each.number, round(each.loss, 4), _rounded(each.held_out), each.number == tuned.kept)
        for each in tuned.epochs
    ]
    show("loss per token of the replies", ("epoch", "learned", "held out", "kept"), rows)
    say(
        f"{tuned.tokens:,} tokens in {tuned.seconds:,.1f} s: {tuned.tokens_per_second:,.0f} a "
        f"second, {tuned.padding:.1%} of the work was padding; wrote {place}"
    )
    if tuned.helps is False:
        say(
            "warning: held-out turns are less likely with this adapter than without it; "
            "try more turns, or --learning-rate at a tenth"
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
