"""`read`, `export` and `check`: corpora in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.each import EachRequest, check_each
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
    Target,
    Timezone,
    Workers,
    opened,
    read_options,
)
from realtalk.cli.reading import read
from realtalk.cli.redacting import redact

if TYPE_CHECKING:
    pass


def register(app: typer.Typer) -> None:
    app.command()(read)
    app.command()(export)
    app.command()(check)
    app.command()(redact)


def export(
    path: Target,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            "-t",
            metavar="FORMAT",
            help="realtalk, sheet (XLSX), locomo, convokit, jsonl or csv.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Write chats in another format, and say what that format cannot keep.

    jsonl, locomo and convokit keep everything; realtalk, sheet and csv are read back and
    compared.

    Examples:

        realtalk export mara --to sheet --out annotate    # an annotation sheet from any chat

        realtalk export locomo10.json --to convokit --out locomo-convokit
    """
    from realtalk.cli.printing import print_json, say, warn
    from realtalk.corpora.formats import FORMATS, writable
    from realtalk.corpora.losses import not_kept
    from realtalk.local.writing import check_holder
    from realtalk.registry import suggest

    write = FORMATS[to].write if to in writable() else None
    if write is None:
        raise suggest("format to write", to, list(writable()))
    check_holder(out)
    with opened(path, format_name, read_options(gap, dates, timezone, column)) as found:
        paths = write(found.reading.corpus, out)
        lost = not_kept(found.reading.corpus, to, paths)
    if json:
        files = [str(path) for path in paths]
        print_json({"folder": str(out), "format": to, "files": files, "lost": lost})
        return
    say(f"wrote {len(paths):,} file{'s' if len(paths) != 1 else ''} to {out}")
    if lost:
        told = ", ".join(f"{name} {count:,}" for name, count in lost.items())
        warn(f"{to} could not keep: {told} (jsonl keeps everything)")


def check(
    paths: SeveralTargets,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="With --each: where to write.")
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
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on", metavar="LEVEL", help="Exit with 1 from: error, warning, note, never."
        ),
    ] = "warning",
    everything: Annotated[
        bool, typer.Option("--all", help="List every finding, not the first of each kind.")
    ] = False,
    json: Json = False,
) -> None:
    """Report everything odd about a corpus: evidence, order, ids, answers, leftovers.

    Exits with 1 if something of the level --fail-on or graver was found.

    With --each every input gets a report of its own, DIR/findings.parquet has one row per finding
    of all of them, and one that cannot be read is named and makes the status 1, too.

    Examples:

        realtalk check sample

        realtalk check data/realtalk --all

        realtalk check chat.zip --json --fail-on error

        realtalk check corpora/ --each --out checks --engine processes --workers 2
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.corpora.check import RULES
    from realtalk.corpora.check import check as examine
    from realtalk.errors import RealtalkError
    from realtalk.registry import suggest
    from realtalk.surface.each import report_json

    levels = ["error", "warning", "note"]
    if fail_on not in (*levels, "never"):
        raise suggest("level", fail_on, [*levels, "never"])
    options = read_options(gap, dates, timezone, column)
    chosen = EngineOptions(engine, workers, address)
    request = EachRequest(paths, out, format_name, options, chosen, fresh, json)
    if each:
        check_each(request, lambda gravest: _fails(gravest, fail_on, levels))
        return
    path = request.single()
    if out is not None:
        raise RealtalkError("--out is for many reports", fix="give --each too, or take --json")
    with opened(path, format_name, options) as found:
        report = examine(found.reading.corpus, found.reading.ledger)
    if json:
        print_json(report_json(report, found))
    else:
        say(str(found.reading.ledger))
        if everything:
            rows = [(f.severity, f.rule, f.chat, f.where, f.detail) for f in report.findings]
            show("findings", ("level", "rule", "chat", "where", "detail"), rows)
        elif report.findings:
            first = {f.rule: f for f in reversed(report.findings)}
            summary = [
                (rule, RULES[rule][0], count, RULES[rule][1], _example(first[rule]))
                for rule, count in report.counts().items()
            ]
            show("findings", ("rule", "level", "count", "meaning", "first"), summary)
        else:
            say("nothing odd found")
    if _fails(report.severity(), fail_on, levels):
        raise typer.Exit(1)


def _fails(gravest: str | None, fail_on: str, levels: list[str]) -> bool:
    if gravest is None or fail_on == "never":
        return False
    return levels.index(gravest) <= levels.index(fail_on)


def _example(finding: object) -> str:
    from realtalk.corpora.check import CheckFinding

    assert isinstance(finding, CheckFinding)
    place = " ".join(part for part in (finding.chat, finding.where) if part)
    return f"{place}: {finding.detail}" if finding.detail else place
