"""`ei`: emotional-intelligence labels of every turn, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.ei_options import (
    AsLabelled,
    Figures,
    Labellable,
    Labelled,
    Protocol,
    label_corpus,
    label_in_pieces,
    labelled,
    labels_of,
    pieces_of,
    warn_of_languages,
)
from realtalk.cli.options import (
    Address,
    Connections,
    Device,
    EngineName,
    EngineOptions,
    FormatName,
    Fresh,
    Gap,
    Json,
    Out,
    Rate,
    Target,
    Workers,
    apart,
    opened,
    read_options,
)
from realtalk.cli.verbs import Verbs

if TYPE_CHECKING:
    from realtalk.corpora.store import CorpusStream

_LABEL = "label"


class _LabelVerbs(Verbs):
    """`realtalk ei PATH` is `realtalk ei label PATH`."""

    default = _LABEL


app = typer.Typer(
    cls=_LabelVerbs,
    help="Label every turn (reflective, grounding, sentiment, emotion, intimacy, empathy) and "
    "describe speakers by eleven facets.",
    no_args_is_help=True,
)


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
    out: Out = None,
    fresh: Fresh = False,
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
    connections: Connections = 10,
    rate: Rate = None,
    device: Device = "cpu",
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder",
            metavar="NAME",
            help="embedded: auto (by the language of each chat), english or multilingual.",
        ),
    ] = "auto",
    engine: EngineName = None,
    workers: Workers = None,
    address: Address = None,
    protocol: Protocol = "turns",
    figures: Figures = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    json: Json = False,
) -> None:
    """Label every turn of a corpus and print the speakers' facets.

    With --out writes a run: labels.parquet (one row per turn, unscored with the reason) and
    speakers.parquet. By default nothing leaves this machine and nothing is downloaded.
    A run that was stopped goes on where it was; a judge's answers are also kept in the cache.
    Chats that are mostly English are labelled by the English encoder, others by the multilingual
    one; each language has a grade from its own figures: good, usable, rough or none.
    With --engine several processes, or machines, label some hundred turns at a time each.

    Examples:

        realtalk ei sample

        realtalk ei my-chat.zip --out labels --figures pictures

        realtalk ei sample --measures hub --out labels

        realtalk ei archive --out labels --engine processes --workers 4

        realtalk ei sample --measures judge --model openai/gpt-4o-mini --out judged

        realtalk ei sample --measures judge --model openai-api/my/model --base-url URL -o judged
    """
    from realtalk.chat import Corpus
    from realtalk.cli.printing import end_unscored, print_json, say, show, warn
    from realtalk.ei import speaker_rows, speakers_json
    from realtalk.ei.label_files import why_unscored
    from realtalk.ei.label_stream import reasons_in
    from realtalk.ei.protocols import rules_of
    from realtalk.errors import RealtalkError
    from realtalk.surface.choices import make_labeller

    rules_of(protocol)
    labeller = make_labeller(
        measures, model or (), prompts, ask, connections, base_url, rate, device, encoder
    )
    if measures == "judge" and out is None:
        raise RealtalkError("a judged run needs a place for its labels", fix="name it: --out DIR")
    chosen = EngineOptions(engine, workers, address)
    source: Corpus | CorpusStream | None = pieces_of(path, chosen, measures)
    if source is None:
        with opened(path, format_name, read_options(gap)) as found:
            source = found.reading.corpus
    if chosen.given() is None and isinstance(source, Corpus):
        labels = label_corpus(source, labeller, protocol, out, fresh=fresh)
    else:
        models = model or ()
        labels = label_in_pieces(
            source,
            chosen,
            measures,
            models,
            protocol,
            out,
            device=device,
            encoder=encoder,
            fresh=fresh,
        )
    for line in labels.cautions:
        warn(line)
    described = labels.facets().speakers
    if json:
        print_json(speakers_json(described))
    else:
        rows = speaker_rows(described).told_apart()
        version = labels.settings["solver"]["version"]
        show(f"speakers ({labeller.name}, {version})", *rows)
        for measure, reason, count in reasons_in(labels.frames()):
            say(f"unscored: {measure} for {count:,} of {len(labels):,} turns ({reason})")
        if out is not None:
            say(f"wrote labels.parquet and speakers.parquet to {out}")
    if figures is not None:
        from realtalk.stats.figures import save_figures

        written = len(save_figures(labels.figures(), figures))
        say(
            f"wrote {written} files to {figures}"
            if written
            else "nothing to draw: no turn has a score"
        )
    end_unscored(reason for part in labels.frames() for reason in why_unscored(part))


@app.command()
def agree(first: Labelled, second: Labelled, json: Json = False) -> None:
    """How far two labellings of the same turns agree: kappa, QWK, Pearson, with intervals.

    A turn is the same where it joins the same messages of the same chat; others are counted.

    Examples:

        realtalk ei agree judged labels
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.ei.agreement import agreement, agreement_rows
    from realtalk.ei.label_files import read_labels

    found = agreement(read_labels(first), read_labels(second))
    warn_of_languages(*found.languages)
    if json:
        print_json(found.to_json())
    else:
        show(f"{found.first} against {found.second}", *agreement_rows(found).told_apart())
        say(found.coverage)


@app.command()
def consistency(
    labels: Labellable, protocol: AsLabelled = None, figures: Figures = None, json: Json = False
) -> None:
    """How much speakers differ from themselves between their chats, facet by facet.

    Examples:

        realtalk ei consistency sample

        realtalk ei consistency labels --figures pictures
    """
    from realtalk.cli.printing import print_json, say, show, warn
    from realtalk.ei import consistency as measure
    from realtalk.ei import consistency_json, consistency_rows
    from realtalk.ei.consistency import consistency_doubts, consistency_languages

    (side,) = labels_of([labels], protocol)
    found = measure(side.frame, side.protocol)
    warn_of_languages(consistency_languages(found))
    for line in consistency_doubts(found):
        warn(line)
    if json:
        print_json(consistency_json(found))
    else:
        show("the same person in two chats", *consistency_rows(found).told_apart())
        if not found:
            say("no speaker has two chats")
    if figures is not None and found:
        from realtalk.ei.figures import draw_consistency
        from realtalk.stats.figures import save_figures

        say(f"wrote {len(save_figures(draw_consistency(found).charts, figures))} files")


@app.command()
def compare(
    first: Labellable,
    second: Labellable,
    protocol: AsLabelled = None,
    figures: Figures = None,
    json: Json = False,
) -> None:
    """Two corpora facet by facet, and which of the paper's findings hold (people first).

    Also how well turns of the one are told from turns of the other by a classifier that knows
    nobody in their chats, neither as a person nor as "NAME (simulated)": an AUC, .5 where it
    cannot be told. That needs the texts, so corpora, of three chats or more.

    Examples:

        realtalk ei compare sample sample-simulated

        realtalk ei compare human-labels simulated-labels
    """
    from realtalk.cli.printing import print_json, progress, say, show, warn
    from realtalk.ei import compare as measure
    from realtalk.ei import comparison_rows, finding_rows
    from realtalk.ei.told_apart import told_rows
    from realtalk.surface.telling import tell_apart

    sides = labelled([first, second], protocol)
    names = apart(first, second)
    one, two = (labels.facets().speakers for labels, _ in sides)
    found = measure(one, two, names)
    with progress("telling apart") as advance:
        told = tell_apart(sides[0], sides[1], names, progress=advance)
    for line in found.cautions:
        warn(line)
    if json:
        print_json(found.to_json() | {"told_apart": told.to_json()})
    else:
        show("facet by facet", *comparison_rows(found))
        show("what holds", *finding_rows(found))
        show("told apart, turn by turn", *told_rows(told))
    if figures is not None:
        from realtalk.ei.figures import draw_comparison
        from realtalk.stats.figures import save_figures

        say(f"wrote {len(save_figures(draw_comparison(found, one, two).charts, figures))} files")
