"""`read`, `export`, `check` and `redact`: corpora in and out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from realtalk.cli.options import (
    Columns,
    Dates,
    FormatName,
    Gap,
    Json,
    Target,
    Timezone,
    opened,
    read_options,
)
from realtalk.cli.reading import read

if TYPE_CHECKING:
    from realtalk.chat import Corpus


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
    from realtalk.registry import suggest

    write = FORMATS[to].write if to in writable() else None
    if write is None:
        raise suggest("format to write", to, list(writable()))
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
    path: Target,
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
    guidelines: Annotated[
        bool,
        typer.Option(
            "--guidelines",
            help="Instead hold the chats against REALTALK's guidelines for participants "
            "(Appendix B.1): 50 messages a day, images, references to time.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Report everything odd about a corpus: evidence, order, ids, answers, leftovers.

    Exits with 1 if something of the level --fail-on or graver was found.

    Examples:

        realtalk check sample

        realtalk check data/realtalk --all

        realtalk check chat.zip --json --fail-on error

        realtalk check sample --guidelines
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.corpora.check import RULES
    from realtalk.corpora.check import check as examine
    from realtalk.registry import suggest

    levels = ["error", "warning", "note"]
    if fail_on not in (*levels, "never"):
        raise suggest("level", fail_on, [*levels, "never"])
    with opened(path, format_name, read_options(gap, dates, timezone, column)) as found:
        if guidelines:
            gravest = _guidelines(found.reading.corpus, json, everything)
            _exit(gravest, fail_on, levels)
            return
        report = examine(found.reading.corpus, found.reading.ledger)
    if json:
        ledger = found.reading.ledger
        print_json(
            report.to_json()
            | {
                "name": found.reading.tables.name,
                "format": found.format,
                "ledger": {
                    "unit": ledger.unit,
                    "total": ledger.total,
                    "in_messages": ledger.in_messages,
                    "system": ledger.system,
                    "left_over": len(ledger.leftovers),
                },
            }
        )
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
    _exit(report.severity(), fail_on, levels)


def _exit(gravest: str | None, fail_on: str, levels: list[str]) -> None:
    if gravest and fail_on != "never" and levels.index(gravest) <= levels.index(fail_on):
        raise typer.Exit(1)


def _guidelines(corpus: Corpus, json: bool, everything: bool) -> str | None:
    """Prints how a corpus keeps the participants' guidelines; the gravest breach."""
    from realtalk.cli.printing import print_json, say, show
    from realtalk.corpora.guidelines import GUIDELINES, UNTOLD, check_guidelines

    report = check_guidelines(corpus)
    if json:
        print_json(report.to_json())
        return report.severity()
    first = {each.rule: each for each in reversed(report.findings)}
    rows = [
        (rule, GUIDELINES[rule][0], count, GUIDELINES[rule][1], _example(first[rule]))
        if count
        else (rule, "kept", 0, GUIDELINES[rule][1], None)
        for rule, count in report.counts().items()
    ]
    show("the guidelines", ("rule", "level", "count", "meaning", "first"), rows)
    if everything:
        found = [(f.severity, f.rule, f.chat, f.where, f.detail) for f in report.findings]
        show("findings", ("level", "rule", "chat", "where", "detail"), found)
    days = [
        (
            day.chat,
            day.day.isoformat(),
            ", ".join(f"{name} {count}" for name, count in day.messages.items()),
            day.images,
            day.time_references,
        )
        for day in report.days
    ]
    show(
        "day by day",
        ("chat", "day", "messages", "images", "references to time"),
        days,
        None if everything else 20,
        "; --all shows them",
    )
    for rule, reason in UNTOLD.items():
        say(f"not checked: {rule} ({reason})")
    return report.severity()


def _example(finding: object) -> str:
    from realtalk.corpora.check import CheckFinding

    assert isinstance(finding, CheckFinding)
    place = " ".join(part for part in (finding.chat, finding.where) if part)
    return f"{place}: {finding.detail}" if finding.detail else place


def redact(
    path: Target,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")],
    names: Annotated[
        str, typer.Option("--names", metavar="A,B", help="More names to replace, comma-separated.")
    ] = "",
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="KINDS",
            help="What to leave as it is, comma-separated: people, handles, phones, emails, "
            "links, addresses, numbers, files, extra.",
        ),
    ] = "",
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="Also write who is who, as JSON. Keep it private."
        ),
    ] = None,
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Replace names, handles, phones, e-mails, links, streets and numbers by stable stand-ins.

    Works offline. Names of people who are only spoken of are found by a cautious rule:
    read the result before you share it, and add what it missed with --names.

    Examples:

        realtalk redact mara --out mara-shared --names "Aunt Fay,Willow Street"
    """
    from realtalk.cli.printing import print_json, say, warn
    from realtalk.corpora.reading import Ledger, Reading
    from realtalk.corpora.redaction.redact import redact as rewrite
    from realtalk.corpora.store import store
    from realtalk.local.writing import write_json

    with opened(path, format_name, read_options(gap, dates, timezone, column)) as found:
        corpus, mapping = rewrite(
            found.reading.corpus, names=_listed(names), keep=frozenset(_listed(keep))
        )
    total = sum(len(chat.messages) for chat in corpus.chats)
    # Notes and leftovers name files of the original: they stay behind.
    clean = Reading(corpus=corpus, ledger=Ledger("entries", total, total))
    store(clean, out)
    if key is not None:
        write_json(key, mapping.to_json())
    if mapping.is_named_in(out.name):
        warn("the folder's name names a speaker: rename it before you share it")
    if json:
        # How many of each kind, and nothing that they stood for.
        told = str(key) if key is not None else None
        print_json({"folder": str(out), "messages": total, "key": told, "found": mapping.counts()})
        return
    if key is not None:
        say(f"who is who: {key} (keep it private)")
    for kind, count in mapping.counts().items():
        say(f"{kind}: {count:,}")
    if mapping.left:
        say(f"everyday words in small letters that are speakers' names too, left: {mapping.left:,}")
    say(f"stored in {out}; read it once before you share it")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
