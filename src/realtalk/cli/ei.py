"""`ei`: emotional-intelligence labels of every turn, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from realtalk.cli.options import FormatName, Gap, Json, Target, opened, read_options

if TYPE_CHECKING:
    import polars as pl

    from realtalk.measures.labels import Labeller

__all__ = ["app"]

_LABEL = "label"


class _Group(TyperGroup):
    """`realtalk ei PATH` is `realtalk ei label PATH`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [_LABEL, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    help="Label every turn (reflective, grounding, sentiment, emotion, intimacy, empathy) and "
    "describe speakers by eleven facets.",
    no_args_is_help=True,
)

Protocol = Annotated[
    str,
    typer.Option("--protocol", metavar="NAME", help="paper, or released: as its code does it."),
]
Figures = Annotated[
    Path | None, typer.Option("--figures", metavar="DIR", help="Also draw: PNG, SVG and HTML.")
]
Labelled = Annotated[
    Path, typer.Argument(metavar="LABELS", help="A folder that `realtalk ei PATH` wrote.")
]


@app.command(_LABEL)
def label(
    path: Target,
    measures: Annotated[
        str,
        typer.Option(
            "--measures",
            metavar="WAY",
            help="hub: classifiers run here (extra train); judge: a language model that you "
            "name, which is sent the chat (extra llm).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="judge: provider/model. hub: measure=name or folder; may be repeated.",
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option("--prompts", metavar="DIR", help="judge: rubrics of your own."),
    ] = None,
    ask: Annotated[
        str,
        typer.Option("--ask", metavar="A,B", help="judge: which measures to ask for."),
    ] = "reflective,grounding,empathy",
    connections: Annotated[
        int, typer.Option("--connections", help="judge: questions under way at once.")
    ] = 10,
    protocol: Protocol = "paper",
    figures: Figures = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Label every turn of a corpus and print the speakers' facets.

    Writes labels.parquet (a row a turn, unscored with the reason) and speakers.parquet.
    A judged run that was stopped goes on where it was: answers are kept in the cache.

    Examples:

        realtalk ei sample --measures hub --out labels

        realtalk ei sample --measures judge --model openai/gpt-4o-mini --out judged
    """
    from realtalk.cli.printing import print_json, progress, say, show
    from realtalk.facets import speaker_rows, speakers, speakers_frame, speakers_json
    from realtalk.facets.values import rules_of
    from realtalk.measures.labels import label_frame, turn_inputs

    rules_of(protocol)
    labeller = _labeller(measures, model or [], prompts, ask, connections)
    with opened(path, format_name, read_options(gap)) as found:
        inputs = turn_inputs(found.reading.corpus)
    with progress(f"labelling by {labeller.name}") as advance:
        frame = label_frame(
            inputs, labeller.label(inputs, advance), labeller.name, labeller.version
        )
    described = speakers(frame, protocol)
    _write_parquet(frame, out / "labels.parquet")
    _write_parquet(speakers_frame(described), out / "speakers.parquet")
    if json:
        print_json(speakers_json(described))
    else:
        show(f"speakers ({labeller.name}, {labeller.version})", *speaker_rows(described))
        _say_unscored(frame)
        say(f"wrote labels.parquet and speakers.parquet to {out}")
    if figures is not None:
        from realtalk.facets.timelines import draw_timelines
        from realtalk.stats.figures import save_figures

        drawn = draw_timelines(frame, described)
        say(f"wrote {len(save_figures(drawn.charts, figures))} files to {figures}")


def _labeller(
    way: str, models: list[str], prompts: Path | None, ask: str, connections: int
) -> Labeller:
    from realtalk.errors import RealtalkError
    from realtalk.registry import suggest

    if way == "hub":
        from realtalk.measures.hub import HubLabeller
        from realtalk.measures.hub_models import parse_models

        return HubLabeller(parse_models(models))
    if way == "judge":
        from realtalk.measures.judge import JudgeLabeller

        if len(models) != 1:
            raise RealtalkError(
                "the judge needs one model", fix="name it: --model openai/gpt-4o-mini"
            )
        wanted = [part.strip() for part in ask.split(",") if part.strip()]
        return JudgeLabeller(
            models[0], measures=wanted, prompts=prompts, max_connections=connections
        )
    raise suggest("way to measure", way, ["hub", "judge"])


def _say_unscored(frame: pl.DataFrame) -> None:
    import polars as pl

    from realtalk.cli.printing import say

    reasons = (
        frame.explode("unscored")
        .unnest("unscored", separator="_")
        .drop_nulls("unscored_measure")
        .group_by("unscored_measure", "unscored_reason")
        .agg(pl.len().alias("n"))
        .sort("unscored_measure", "unscored_reason")
    )
    for measure, reason, count in reasons.iter_rows():
        say(f"unscored: {measure} for {count:,} of {frame.height:,} turns ({reason})")


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    from realtalk.corpora.writing import atomic_path

    with atomic_path(path) as temporary:
        frame.write_parquet(temporary, compression="zstd", compression_level=1)


def _labels(folder: Path) -> pl.DataFrame:
    """The labels of a folder, or of the file itself."""
    import polars as pl

    from realtalk.errors import RealtalkError
    from realtalk.measures.labels import LABELS

    path = folder / "labels.parquet" if folder.is_dir() else folder
    fix = "make them with: realtalk ei PATH --measures … --out DIR"
    if not path.is_file():
        raise RealtalkError("no labels here", where=str(path), fix=fix)
    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(path), fix=fix) from error
    if frame.schema != LABELS:
        raise RealtalkError("has other columns than labels", where=str(path), fix=fix)
    return frame


@app.command()
def agree(first: Labelled, second: Labelled, json: Json = False) -> None:
    """How far two labellings of the same turns agree: kappa, QWK, Pearson, with intervals.

    Examples:

        realtalk ei agree judged labels
    """
    from realtalk.cli.printing import print_json, show
    from realtalk.facets.agreement import agreement, agreement_rows

    found = agreement(_labels(first), _labels(second))
    if json:
        print_json(found.to_json())
    else:
        show("agreement", *agreement_rows(found))


@app.command()
def consistency(
    labels: Labelled, protocol: Protocol = "paper", figures: Figures = None, json: Json = False
) -> None:
    """How much speakers differ from themselves between their chats, facet by facet.

    Examples:

        realtalk ei consistency labels --figures pictures
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.facets import consistency as measure
    from realtalk.facets import consistency_json, consistency_rows

    found = measure(_labels(labels), protocol)
    if json:
        print_json(consistency_json(found))
    else:
        show("the same person in two chats", *consistency_rows(found))
        if not found:
            say("no speaker has two chats")
    if figures is not None and found:
        from realtalk.facets.figures import draw_consistency
        from realtalk.stats.figures import save_figures

        say(f"wrote {len(save_figures(draw_consistency(found).charts, figures))} files")


@app.command()
def compare(
    first: Labelled,
    second: Labelled,
    protocol: Protocol = "paper",
    figures: Figures = None,
    json: Json = False,
) -> None:
    """Two corpora facet by facet, and which of the paper's findings hold (people first).

    Examples:

        realtalk ei compare human-labels simulated-labels
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.facets import compare as measure
    from realtalk.facets import comparison_rows, finding_rows, speakers

    one, two = (speakers(_labels(folder), protocol) for folder in (first, second))
    found = measure(one, two, (first.stem, second.stem))
    if json:
        print_json(found.to_json())
    else:
        show("facet by facet", *comparison_rows(found))
        show("what holds", *finding_rows(found))
    if figures is not None:
        from realtalk.facets.figures import draw_comparison
        from realtalk.stats.figures import save_figures

        say(f"wrote {len(save_figures(draw_comparison(found, one, two).charts, figures))} files")
