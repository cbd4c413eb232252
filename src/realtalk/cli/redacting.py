"""`redact`: a corpus without the people in it, what was found to be ticked, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from realtalk.cli.each import EachRequest, redact_each
from realtalk.cli.options import (
    Address,
    Columns,
    Dates,
    Each,
    EngineName,
    EngineOptions,
    FormatName,
    Fresh,
    Gap,
    Json,
    SeveralTargets,
    Timezone,
    Workers,
    opened,
    read_options,
)


def redact(
    paths: SeveralTargets,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to write; not needed while --review writes its table.",
        ),
    ] = None,
    names: Annotated[
        str, typer.Option("--names", metavar="A,B", help="More names to replace, comma-separated.")
    ] = "",
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="KINDS",
            help="What to leave as it is, comma-separated: people, places, organisations, "
            "birthdays, handles, phones, emails, links, addresses, numbers, files, extra.",
        ),
    ] = "",
    kinds: Annotated[
        str,
        typer.Option(
            "--kinds",
            metavar="KINDS",
            help="Replace only these kinds in texts, and speakers; as --keep names them.",
        ),
    ] = "",
    review: Annotated[
        Path | None,
        typer.Option(
            "--review",
            metavar="FILE",
            help="A table (CSV) of what was found, one row per name, to tick. Where there is none "
            "it is written, and nothing else; where there is one it is applied.",
        ),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option(
            "--restore",
            metavar="KEY",
            help="Put the names back into a redacted corpus, by the key that was written with it.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Also write who is who, as JSON. Keep it private. With --each a folder, for one "
            "file per corpus.",
        ),
    ] = None,
    each: Each = False,
    engine: EngineName = None,
    workers: Workers = None,
    address: Address = None,
    fresh: Fresh = False,
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Replace names, handles, phones, e-mails, links, streets and numbers by stable stand-ins.

    Works offline. People who are only spoken of, places, organisations and the like are found by
    a small model that ships with the package, and by rules, in many languages. They miss some:
    tick what was found with --review, read the result before you share it, and add what is
    missing with --names.

    With --each every input becomes a corpus of its own, named by a number. Stand-ins are given
    anew in each: redact several chats as one corpus where the same person has to stay the same.

    Examples:

        realtalk redact mara --out mara-shared --names "Aunt Fay,Willow Street"

        realtalk redact mara --review names.csv       # then with --out mara-shared

        realtalk redact mara-shared --restore key.json --out mara-again

        realtalk redact corpora/ --each --out shared --key keys --engine processes --workers 2
    """
    from realtalk.cli.printing import print_json, say, warn
    from realtalk.errors import RealtalkError
    from realtalk.local.writing import write_json
    from realtalk.redaction.redact import find_candidates, kept_without
    from realtalk.redaction.redact import redact as rewrite
    from realtalk.redaction.review import DOUBTFUL, read_review, review_rows, write_review
    from realtalk.redaction.sources import name_sources
    from realtalk.redaction.storing import store_redacted, store_restored

    options = read_options(gap, dates, timezone, column)
    chosen = EngineOptions(engine, workers, address)
    request = EachRequest(paths, out, format_name, options, chosen, fresh, json)
    kept = frozenset(_listed(keep)) | (kept_without(_listed(kinds)) if kinds else frozenset())
    if each:
        if alone := "--review" if review is not None else "--restore" if restore else None:
            raise RealtalkError(f"{alone} is for one corpus", fix="leave --each out")
        redact_each(request, _listed(names), kept, key)
        return
    path = request.single()
    lists = review is not None and not review.exists() and restore is None
    if out is None and not lists:
        raise RealtalkError("nowhere to write", fix="name a folder with --out")
    with opened(path, format_name, options) as found:
        if restore is not None:
            assert out is not None
            total = store_restored(found.reading.corpus, restore, out)
            say(f"{total:,} messages with their names again: {out} (keep it private)")
            return
        if review is not None and lists:
            candidates = find_candidates(
                found.reading.corpus, names=_listed(names), keep=kept, sources=name_sources()
            )
            write_review(review, candidates)
            doubtful = [bool(row[DOUBTFUL]) for row in review_rows(candidates)]
            told = f", then {sum(doubtful):,} doubtful that would stay" if any(doubtful) else ""
            say(f"{doubtful.count(False):,} names and the like{told}: {review} (keep it private)")
            again = "run the same command again" + ("" if out else " with --out DIR")
            say(f"nothing else was written: change decisions there, then {again}")
            return
        corpus, mapping = rewrite(
            found.reading.corpus,
            names=_listed(names),
            keep=kept,
            sources=name_sources(),
            decisions=read_review(review) if review is not None else (),
        )
    assert out is not None
    total = store_redacted(corpus, out)
    if key is not None:
        write_json(key, mapping.to_file())
    if mapping.is_named_in(out.name):
        warn("the folder's name names a speaker: rename it before you share it")
    for note in mapping.notes:
        warn(f"{review}: {note}")
    if json:
        # How many of each kind, and nothing that they stood for.
        place = str(key) if key is not None else None
        print_json({"folder": str(out), "messages": total, "key": place, "found": mapping.counts()})
        return
    if key is not None:
        say(f"who is who: {key} (keep it private)")
    for kind, count in mapping.counts().items():
        say(f"{kind}: {count:,}")
    if mapping.left:
        say(f"speakers' names that stand like ordinary words, left: {mapping.left:,}")
    say(f"stored in {out}; read it once before you share it")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
