"""Options that the commands of `ei` share, what they stand for, and labels made on the way."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import opened, read_options

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus
    from realtalk.ei.labels import Labeller
    from realtalk.ei.languages import Languages

__all__ = [
    "AsLabelled",
    "Figures",
    "Labellable",
    "Labelled",
    "Protocol",
    "label_corpus",
    "labels_of",
    "make_labeller",
    "one_protocol",
    "warn_of_languages",
]

_PROTOCOLS = (
    "turns: consecutive messages of a speaker joined. paper: the same, and alignment divided by "
    "all turns, as its §4.3 writes. released: as its code does it, and as its Table 7 was made: "
    "every message alone, stability within sessions."
)
Protocol = Annotated[str, typer.Option("--protocol", metavar="NAME", help=_PROTOCOLS)]
AsLabelled = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        metavar="NAME",
        help=_PROTOCOLS,
        show_default="as the labels were made, else turns",
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


def label_corpus(
    corpus: Corpus, labeller: Labeller, protocol: str, out: Path | None = None
) -> pl.DataFrame:
    """Labels of a corpus, made now."""
    from realtalk.cli.printing import progress
    from realtalk.ei.label_files import refuse_other_labels
    from realtalk.ei.labels import label_frame, turn_inputs
    from realtalk.ei.protocols import rules_of

    inputs = turn_inputs(corpus, rules_of(protocol).joined)
    if out is not None:
        turns = [(given.chat, len(given.ids)) for given in inputs]
        refuse_other_labels(out, labeller.name, labeller.version, turns)
    with progress(f"labelling by {labeller.name}") as advance:
        labels = labeller.label(inputs, advance)
    return label_frame(inputs, labels, labeller.name, labeller.version)


def warn_of_languages(*sides: Iterable[Languages]) -> None:
    """Says which chats are not in the language that their labels are for."""
    from realtalk.cli.printing import warn
    from realtalk.ei.languages import language_notes

    for line in dict.fromkeys(line for side in sides for line in language_notes(side)):
        warn(line)


def warn_of_learned(corpus: Corpus) -> None:
    """Says which chats the shipped encoder learned from: its labels of others are worse."""
    from realtalk.cli.printing import warn
    from realtalk.surface.labelling import learned_lines

    for line in learned_lines(corpus):
        warn(line)


def make_labeller(
    way: str,
    models: list[str],
    prompts: Path | None,
    ask: str,
    connections: int,
    base_url: str | None = None,
) -> Labeller:
    """The way of measuring by its name, with what it needs."""
    from realtalk.surface import choices

    return choices.make_labeller(way, models, prompts, ask, connections, base_url)


def one_protocol(targets: Iterable[str], asked: str | None) -> str:
    """The protocol asked for, else the one that the labels remember; "turns" for a corpus."""
    from realtalk.ei.label_files import labels_about
    from realtalk.ei.protocols import rules_of
    from realtalk.errors import RealtalkError

    if asked is not None:
        return rules_of(asked).name
    kept = {}
    for target in targets:
        about = labels_about(Path(target)) if _has_labels(target) else None
        if about is not None:
            kept[about.protocol] = target
    if len(kept) > 1:
        (one, first), (other, second), *_ = kept.items()
        raise RealtalkError(
            f"{first} was made with the protocol '{one}', {second} with '{other}'",
            fix="say which is meant: --protocol NAME",
        )
    return rules_of(next(iter(kept), "turns")).name


def _has_labels(target: str) -> bool:
    path = Path(target)
    return (path / "labels.parquet").is_file() or path.suffix == ".parquet"


def labels_of(target: str, protocol: str) -> pl.DataFrame:
    """Labels that are there, or those of a corpus, made now by the embedded encoder."""
    from realtalk.ei.label_files import of_messages, read_labels
    from realtalk.ei.protocols import rules_of
    from realtalk.errors import RealtalkError

    if not _has_labels(target):
        with opened(target, None, read_options("6h")) as found:
            labeller = make_labeller("embedded", [], None, "", 1)
            return label_corpus(found.reading.corpus, labeller, protocol)
    frame = read_labels(Path(target))
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
