"""`ei`: emotional-intelligence labels of every turn, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from realtalk.cli.options import FormatName, Gap, Json, Target, apart, opened, read_options

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus
    from realtalk.measures.labels import Labeller, TurnInput

__all__ = ["app"]

_LABEL = "label"
_WAYS = ("embedded", "hub", "judge")


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
    typer.Option(
        "--protocol",
        metavar="NAME",
        help="paper: turns are joined messages. released: as its code does it, and as its "
        "Table 7 was made: every message alone, stability within sessions.",
    ),
]
Figures = Annotated[
    Path | None, typer.Option("--figures", metavar="DIR", help="Also draw: PNG, SVG and HTML.")
]
Labelled = Annotated[
    Path, typer.Argument(metavar="LABELS", help="A folder that `realtalk ei PATH` wrote.")
]
Labellable = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A folder that `realtalk ei PATH` wrote, or a corpus, which is labelled first.",
    ),
]


@app.command(_LABEL)
def label(
    path: Target,
    measures: Annotated[
        str,
        typer.Option(
            "--measures",
            metavar="WAY",
            help="embedded: the encoder in this package; hub: classifiers run here (extra "
            "train); judge: a language model that you name, which is sent the chat (extra llm).",
        ),
    ] = "embedded",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")
    ] = None,
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
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url", metavar="URL", help="judge: the address of a server of your own."
        ),
    ] = None,
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

    With --out writes labels.parquet (a row a turn, unscored with the reason) and
    speakers.parquet. By default nothing leaves this machine and nothing is downloaded.
    A judged run that was stopped goes on where it was: answers are kept in the cache.

    Examples:

        realtalk ei sample

        realtalk ei my-chat.zip --out labels --figures pictures

        realtalk ei sample --measures hub --out labels

        realtalk ei sample --measures judge --model openai/gpt-4o-mini --out judged

        realtalk ei sample --measures judge --model openai-api/my/model --base-url URL -o judged
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.corpora.writing import write_parquet
    from realtalk.errors import RealtalkError
    from realtalk.facets import speaker_rows, speakers, speakers_frame, speakers_json
    from realtalk.facets.values import rules_of
    from realtalk.measures.label_files import write_labels

    rules_of(protocol)
    labeller = _labeller(measures, model or [], prompts, ask, connections, base_url)
    if measures == "judge" and out is None:
        raise RealtalkError("a judged run needs a place for its labels", fix="name it: --out DIR")
    with opened(path, format_name, read_options(gap)) as found:
        corpus = found.reading.corpus
        frame = _label(corpus, labeller, protocol, out)
    described = speakers(frame, protocol)
    if out is not None:
        write_labels(frame, out, corpus, protocol)
        write_parquet(out / "speakers.parquet", speakers_frame(described))
    if json:
        print_json(speakers_json(described))
    else:
        rows = speaker_rows(described).told_apart()
        show(f"speakers ({labeller.name}, {labeller.version})", *rows)
        _say_unscored(frame)
        if out is not None:
            say(f"wrote labels.parquet and speakers.parquet to {out}")
    if figures is not None:
        from realtalk.facets.timelines import draw_timelines
        from realtalk.stats.figures import save_figures

        drawn = draw_timelines(frame, described)
        written = len(save_figures(drawn.charts, figures))
        say(
            f"wrote {written} files to {figures}"
            if written
            else "nothing to draw: no turn has a score"
        )


def _label(
    corpus: Corpus, labeller: Labeller, protocol: str, out: Path | None = None
) -> pl.DataFrame:
    from realtalk.cli.printing import progress
    from realtalk.facets.values import rules_of
    from realtalk.measures.label_files import refuse_other_labels
    from realtalk.measures.labels import label_frame, turn_inputs

    inputs = turn_inputs(corpus, rules_of(protocol).joined)
    if out is not None:
        turns = [(given.chat, len(given.ids)) for given in inputs]
        refuse_other_labels(out, labeller.name, labeller.version, turns)
    _warn_foreign(labeller, inputs)
    with progress(f"labelling by {labeller.name}") as advance:
        labels = labeller.label(inputs, advance)
    return label_frame(inputs, labels, labeller.name, labeller.version)


def _warn_foreign(labeller: Labeller, inputs: Sequence[TurnInput]) -> None:
    from realtalk.cli.printing import warn
    from realtalk.measures.embedded import EmbeddedLabeller

    if not isinstance(labeller, EmbeddedLabeller):
        return
    for chat, turns in labeller.foreign_chats(inputs).items():
        warn(
            f"{chat}: hardly any English in {turns:,} turns; the encoder learned English, and "
            "what it says here is not to be trusted. A language model may do better: "
            "--measures judge"
        )


def _labeller(
    way: str,
    models: list[str],
    prompts: Path | None,
    ask: str,
    connections: int,
    base_url: str | None = None,
) -> Labeller:
    from realtalk.errors import RealtalkError
    from realtalk.registry import suggest

    for option, given, ways in (
        ("--model", models, ("hub", "judge")),
        ("--prompts", prompts, ("judge",)),
        ("--base-url", base_url, ("judge",)),
    ):
        if given and way in _WAYS and way not in ways:
            raise RealtalkError(
                f"{option} is not for --measures {way}",
                fix=f"add --measures {' or '.join(ways)}, or leave it out",
            )
    if way == "embedded":
        from realtalk.measures.embedded import EmbeddedLabeller

        return EmbeddedLabeller()
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
            models[0],
            measures=wanted,
            prompts=prompts,
            base_url=base_url,
            max_connections=connections,
        )
    raise suggest("way to measure", way, list(_WAYS))


def _say_unscored(frame: pl.DataFrame) -> None:
    from realtalk.cli.printing import say
    from realtalk.measures.label_files import unscored_reasons

    for measure, reason, count in unscored_reasons(frame):
        say(f"unscored: {measure} for {count:,} of {frame.height:,} turns ({reason})")


def _labels_of(target: str, protocol: str) -> pl.DataFrame:
    """Labels that are there, or those of a corpus, made now by the embedded encoder."""
    from realtalk.errors import RealtalkError
    from realtalk.facets.values import rules_of
    from realtalk.measures.label_files import of_messages, read_labels

    path = Path(target)
    if not (path / "labels.parquet").is_file() and path.suffix != ".parquet":
        with opened(target, None, read_options("6h")) as found:
            return _label(found.reading.corpus, _labeller("embedded", [], None, "", 1), protocol)
    frame = read_labels(path)
    if not rules_of(protocol).joined and (frame["message_ids"].list.len() > 1).any():
        raise RealtalkError(
            f"these labels are of joined turns, '{protocol}' wants them of messages",
            where=target,
            fix=f"make them with: realtalk ei PATH --protocol {protocol} --out DIR",
        )
    if rules_of(protocol).joined and of_messages(frame):
        raise RealtalkError(
            f"these labels are of single messages, '{protocol}' wants them of joined turns",
            where=target,
            fix="add --protocol released, or label again without it",
        )
    return frame


@app.command()
def agree(first: Labelled, second: Labelled, json: Json = False) -> None:
    """How far two labellings of the same turns agree: kappa, QWK, Pearson, with intervals.

    A turn is the same where it joins the same messages of the same chat; others are counted.

    Examples:

        realtalk ei agree judged labels
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.facets.agreement import agreement, agreement_rows
    from realtalk.measures.label_files import read_labels

    found = agreement(read_labels(first), read_labels(second))
    if json:
        print_json(found.to_json())
    else:
        show(f"{found.first} against {found.second}", *agreement_rows(found).told_apart())
        say(
            f"{found.turns:,} turns are in both, {found.only_first:,} in the first only, "
            f"{found.only_second:,} in the second only"
        )


@app.command()
def consistency(
    labels: Labellable, protocol: Protocol = "paper", figures: Figures = None, json: Json = False
) -> None:
    """How much speakers differ from themselves between their chats, facet by facet.

    Examples:

        realtalk ei consistency sample

        realtalk ei consistency labels --figures pictures
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.facets import consistency as measure
    from realtalk.facets import consistency_json, consistency_rows

    found = measure(_labels_of(labels, protocol), protocol)
    if json:
        print_json(consistency_json(found))
    else:
        show("the same person in two chats", *consistency_rows(found).told_apart())
        if not found:
            say("no speaker has two chats")
    if figures is not None and found:
        from realtalk.facets.figures import draw_consistency
        from realtalk.stats.figures import save_figures

        say(f"wrote {len(save_figures(draw_consistency(found).charts, figures))} files")


@app.command()
def compare(
    first: Labellable,
    second: Labellable,
    protocol: Protocol = "paper",
    figures: Figures = None,
    json: Json = False,
) -> None:
    """Two corpora facet by facet, and which of the paper's findings hold (people first).

    Examples:

        realtalk ei compare sample sample-simulated

        realtalk ei compare human-labels simulated-labels
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.facets import compare as measure
    from realtalk.facets import comparison_rows, finding_rows, speakers

    one, two = (speakers(_labels_of(target, protocol), protocol) for target in (first, second))
    ways = [sorted({f"{who.measure} {who.version}" for who in side}) for side in (one, two)]
    if one and two and ways[0] != ways[1]:
        warn(
            f"labelled by {', '.join(ways[0])} and by {', '.join(ways[1])}: what differs may be "
            "the labellers and not the speakers"
        )
    found = measure(one, two, apart(first, second))
    if json:
        print_json(found.to_json())
    else:
        show("facet by facet", *comparison_rows(found))
        show("what holds", *finding_rows(found))
    if figures is not None:
        from realtalk.facets.figures import draw_comparison
        from realtalk.stats.figures import save_figures

        say(f"wrote {len(save_figures(draw_comparison(found, one, two).charts, figures))} files")
