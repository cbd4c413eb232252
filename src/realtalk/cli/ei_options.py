"""Options that the commands of `ei` share, what they stand for, and labels made on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import EngineOptions, opened, read_options

if TYPE_CHECKING:
    from realtalk.chat import Corpus
    from realtalk.corpora.store import CorpusStream
    from realtalk.ei.labels import Labeller
    from realtalk.ei.languages import Languages
    from realtalk.surface.labelling import Labels

_PROTOCOLS = (
    "turns: consecutive messages of a speaker joined. paper: the same, and alignment divided by "
    "all turns, as its §4.3 writes. released: as its code does it, and as its Table 7 was made: "
    "every message alone, stability within sessions, alignment with the message directly before."
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
    corpus: Corpus,
    labeller: Labeller,
    protocol: str,
    out: Path | None = None,
    *,
    fresh: bool = False,
) -> Labels:
    """Labels of a corpus, made now, with a bar."""
    from realtalk.cli.printing import progress
    from realtalk.surface.labelling import label_by

    with progress(f"labelling by {labeller.name}") as advance:
        return label_by(labeller, corpus, protocol, out, fresh=fresh, progress=advance)


def pieces_of(path: str, chosen: EngineOptions, measures: str) -> CorpusStream | None:
    """A stored corpus that is labelled part by part: it has several, or an engine is asked for."""
    from realtalk.corpora.store import open_stream

    stream = open_stream(path)
    if stream is None or chosen.given() is not None:
        return stream
    return stream if len(stream.pieces) > 1 and measures != "judge" else None


def label_in_pieces(
    source: Corpus | CorpusStream,
    chosen: EngineOptions,
    measures: str,
    models: Sequence[str],
    protocol: str,
    out: Path | None,
    *,
    device: str = "cpu",
    encoder: str = "auto",
    fresh: bool = False,
) -> Labels:
    """Labels by an engine, with a bar."""
    from realtalk.cli.printing import progress, warn
    from realtalk.corpora.store import CorpusStream
    from realtalk.surface.choices import labeller_recipe
    from realtalk.surface.label_pieces import label_pieces

    engine = chosen.engine(device)
    build = labeller_recipe(
        measures, models, threads=engine.threads, device=device, encoder=encoder
    )
    with progress(f"labelling by {measures}") as advance:
        labels = label_pieces(source, build, engine, protocol, out, fresh=fresh, progress=advance)
    for note in source.notes if isinstance(source, CorpusStream) else ():
        warn(note)
    return labels


def labels_of(targets: Sequence[str], protocol: str | None) -> list[Labels]:
    """Labels that are there, or those of corpora, made now by the embedded encoder."""
    return [labels for labels, _ in labelled(targets, protocol)]


def labelled(targets: Sequence[str], protocol: str | None) -> list[tuple[Labels, Corpus | None]]:
    """The same, each with its corpus where it was one."""
    from realtalk.ei.label_files import is_labels, one_protocol
    from realtalk.surface.choices import make_labeller
    from realtalk.surface.labelling import Labels

    name = one_protocol(targets, protocol)
    found: list[tuple[Labels, Corpus | None]] = []
    for target in targets:
        if is_labels(Path(target)):
            found.append((Labels.load(target, name), None))
        else:
            with opened(target, None, read_options("6h")) as read:
                corpus = read.reading.corpus
                found.append((label_corpus(corpus, make_labeller("embedded"), name), corpus))
    return found


def warn_of_languages(*sides: Iterable[Languages]) -> None:
    """Says which chats are not in English, who labelled them, and with which grade."""
    from realtalk.cli.printing import warn
    from realtalk.ei.languages import language_notes

    for line in dict.fromkeys(line for side in sides for line in language_notes(side)):
        warn(line)
