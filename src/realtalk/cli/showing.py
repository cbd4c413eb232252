"""What a function returns → tables, remarks or JSON, and the command's exit status.

    show_stats(stats, json=True)       prints one JSON document
    show_findings(found, fail_on="warning")    → 1 where something that grave was found

The keyword parameters are options that only commands have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.cli.printing import (
    cell,
    end_unscored,
    notes,
    print_json,
    print_text,
    say,
    show,
    warn,
)

if TYPE_CHECKING:
    from realtalk.api.batch import BatchResult
    from realtalk.api.chats import ExportResult, Findings, Redaction
    from realtalk.api.drafting import MemoryAdvice
    from realtalk.api.pages import Page
    from realtalk.api.runs import RunsView
    from realtalk.api.sweeping import Sweep
    from realtalk.api.threads import ReplyPrompt, SampleCounts
    from realtalk.chat import Corpus
    from realtalk.describe.values import CorpusStats
    from realtalk.ei.results import Labels
    from realtalk.evals.comparing import Gate
    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable
    from realtalk.memory.drafting import Drafts
    from realtalk.persona.datasets import TuningSet
    from realtalk.persona.tuning import TuningResult


def show_corpus(corpus: Corpus, *, out: Any = None, into: Any = None, json: bool = False) -> None:
    """Prints one row per chat: who speaks, and how much there is of it.

    Args:
        json: Print JSON.
    """
    rows = [
        (
            chat.id,
            ", ".join(chat.speakers[:4])
            + (f" +{len(chat.speakers) - 4}" if len(chat.speakers) > 4 else ""),
            len(chat.sessions),
            len(chat.messages),
        )
        for chat in corpus.chats
    ]
    columns = ("chat", "speakers", "sessions", "messages")
    if json:
        place = into or out
        chats = [dict(zip(columns, row, strict=True)) for row in rows]
        about = {"name": corpus.name, "format": corpus.format, "chats": chats, "notes": [*notes]}
        total = sum(row[-1] for row in rows)
        print_json({"folder": None if place is None else str(place), "messages": total} | about)
        return
    show(f"{corpus.name} ({corpus.format})", columns, rows, 20)
    if out is None and into is None:
        say("nothing was stored: --out DIR stores it")


def show_stats(described: CorpusStats, *, json: bool = False) -> None:
    """Prints every chat, then the corpus.

    Args:
        json: Print JSON.
    """
    from realtalk.describe import chat_rows, corpus_rows

    if json:
        print_json(described.to_json())
        return
    headings, rows = chat_rows(described)
    show(f"{described.name}: every chat", headings, rows, 50, "; --json has them all")
    figures = [
        (figure, value, None if low is None else f"[{cell(low)}, {cell(high)}]", f"{n:,} {of}")
        for figure, value, low, high, n, of in corpus_rows(described).rows
    ]
    show(f"{described.name}: the corpus", ("figure", "value", "95 % interval", "n"), figures)


def show_findings(
    findings: Findings, *, fail_on: str = "warning", all: bool = False, json: bool = False
) -> int:
    """Prints what is odd, the first of each kind.

    Args:
        fail_on: Exit with 1 from: error, warning, note, never.
        all: List every finding.
        json: Print JSON.
    """
    from realtalk.formats.check import RULES
    from realtalk.registry import suggest

    levels = ("error", "warning", "note", "never")
    if fail_on not in levels:
        raise suggest("level", fail_on, list(levels))
    if json:
        print_json(findings.to_json())
        return int(findings.reaches(fail_on))
    say(str(findings.ledger))
    if all:
        rows = [(f.severity, f.rule, f.chat, f.where, f.detail) for f in findings.findings]
        show("findings", ("level", "rule", "chat", "where", "detail"), rows)
    elif findings.findings:
        first = {finding.rule: finding for finding in reversed(findings.findings)}
        summary = []
        for rule, count in findings.counts().items():
            example = first[rule]
            place = " ".join(part for part in (example.chat, example.where) if part)
            text = f"{place}: {example.detail}" if example.detail else place
            summary.append((rule, RULES[rule][0], count, RULES[rule][1], text))
        show("findings", ("rule", "level", "count", "meaning", "first"), summary)
    else:
        say("nothing odd found")
    return int(findings.reaches(fail_on))


def show_exported(result: ExportResult, *, json: bool = False) -> None:
    """Says what was written, and what the format could not keep.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(result.to_json())
        return
    count = len(result.files)
    say(f"wrote {count:,} file{'s' if count != 1 else ''} to {result.folder}")
    if result.lost:
        lost = ", ".join(f"{name} {count:,}" for name, count in result.lost.items())
        warn(f"{result.format} could not keep: {lost} (jsonl keeps everything)")


def show_redaction(
    redaction: Redaction, *, out: Any = None, key: Any = None, json: bool = False
) -> None:
    """Says how many of each kind were replaced, never what they stood for.

    Args:
        json: Print JSON.
    """
    if redaction.table is not None:
        more = (
            f", then {redaction.doubtful:,} doubtful that would stay" if redaction.doubtful else ""
        )
        say(f"{redaction.sure:,} names and the like{more}: {redaction.table} (keep it private)")
        again = "run the same command again" + ("" if out else " with --out DIR")
        say(f"nothing else was written: change decisions there, then {again}")
        return
    if redaction.key is None or redaction.corpus is None:
        return
    counts = redaction.key.counts()
    total = sum(len(chat.messages) for chat in redaction.corpus.chats)
    folder = None if out is None else str(Path(out))
    if json:
        place = None if key is None else str(key)
        print_json({"folder": folder, "messages": total, "key": place, "found": counts})
        return
    if key is not None:
        say(f"who is who: {key} (keep it private)")
    for kind, count in counts.items():
        say(f"{kind}: {count:,}")
    if redaction.key.left:
        say(f"speakers' names that stand like ordinary words, left: {redaction.key.left:,}")
    if folder is None:
        say("nothing was stored: --out DIR stores it")
    else:
        say(f"stored in {folder}; read it once before you share it")


def show_table(table: ResultTable, *, json: bool = False) -> None:
    """Prints a table of figures with its notes.

    Args:
        json: Print JSON.
    """
    from realtalk.cells import size

    if json:
        print_json(table.to_json())
    else:
        columns, rows = table.lines
        if "bytes" in columns:
            at = columns.index("bytes")
            columns = (*columns[:at], "size", *columns[at + 1 :])
            rows = [(*row[:at], size(row[at]), *row[at + 1 :]) for row in rows]
        if rows or not table.notes:  # else a note says why there is nothing
            show(table.title, columns, rows)
    for note in table.notes:
        warn(note)


def show_gate(gate: Gate, *, json: bool = False) -> int:
    """Says whether a run may take another's place; 1 where it may not.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(gate.to_json())
    else:
        print_text("\n".join(gate.lines) + "\n")
    return int(not gate.passed)


def show_cleared(table: ResultTable, *, json: bool = False) -> int:
    """Says how much was removed, and what had to stay.

    Args:
        json: Print JSON.
    """
    from realtalk.cells import size
    from realtalk.notebook import counted

    (row,) = table.frame.to_dicts()
    if json:
        print_json(table.to_json())
    for note in table.notes:
        warn(note)
    freed = f"removed {counted(row['files'], 'file')}, {size(row['bytes'])} freed"
    say(freed if row["files"] else "nothing removed")
    return int(bool(row["left"]))


def show_stored(view: RunsView, *, prices: str | None = None, json: bool = False) -> None:
    """Prints a run, and what it cost.

    Args:
        prices: JSON file of prices per million tokens.
        json: Print JSON.
    """
    (run,) = view.runs
    if view.rows is None:
        _print_run(run, view.tables, prices, json)
    else:
        show_runs(view, json=json)


def show_runs(view: RunsView, *, json: bool = False) -> None:
    """Prints tables, or rows one below the other, then what has to be said of them.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(view.to_json())
        return
    for table in view.tables:
        show(table.title, *table.lines)
    for at, row in enumerate(view.rows or ()):
        filled = {name: value for name, value in row.items() if value not in (None, "", [])}
        lines = [
            f"{name}: {'; '.join(map(str, value)) if isinstance(value, list) else value}"
            for name, value in filled.items()
        ]
        print_text("\n".join([*lines, *(view.evidence[at] if view.evidence else ())]) + "\n")
    if view.rows == []:
        say("nothing failed")
    for line in filter(None, view.notes):
        warn(line)


def show_run(
    run: Run,
    *,
    out: Any = None,
    groups: bool = False,
    prices: str | None = None,
    json: bool = False,
) -> int:
    """Prints the figures of a run.

    Args:
        groups: Also by category, speaker or domain.
        prices: JSON file of prices per million tokens.
        json: Print JSON.
    """
    _print_run(run, run.table(groups=groups), prices, json)
    if out is not None:
        say(f"the run is in {out}")
    status = end_unscored(row["unscored"] or row.get("untold") for row in run.rows)
    if not status and run.judgements:  # a judge that judged nothing is no success
        status = end_unscored(row["unscored"] for row in run.judgements)
    return status


def _print_run(run: Run, tables: Sequence[ResultTable], prices: str | None, json: bool) -> None:
    from realtalk.api.runs import RunsView
    from realtalk.evals.prices import cost_json, cost_table, read_prices

    price_list = None if prices is None else read_prices(prices)
    if json:
        costs = {} if price_list is None else {"costs": cost_json(run.usage, price_list)}
        print_json(run.to_json() | costs)
        return
    show_runs(RunsView([run], tables))
    if price_list is not None and run.usage:
        show("what it cost", *cost_table(run.usage, price_list))
    elif price_list is not None:
        say("no model was asked: nothing to pay")


def show_drafts(drafts: Drafts, *, json: bool = False) -> int:
    """Says how many questions of each kind there are, and why others were dropped.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(drafts.to_json())
        return int(not drafts.kept)
    kinds = Counter(draft.question.category for draft in drafts.all)
    kept = Counter(draft.question.category for draft in drafts.kept)
    rows = [(kind, count, kept[kind]) for kind, count in kinds.items()]
    show("drafted questions", ("kind", "drafted", "kept"), rows)
    for reason, count in drafts.reasons.items():
        say(f"dropped: {count:,}, which each {reason}" if count > 1 else f"dropped: 1 {reason}")
    say(f"{len(drafts.kept):,} questions are in {drafts.file}; realtalk studio shows them to tick")
    return int(not drafts.kept)


def show_advice(advice: MemoryAdvice, *, json: bool = False) -> None:
    """Prints which memory to take, and how many words.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(advice.to_json())
        return
    print_text("\n".join(advice.sentences) + "\n")
    for path in advice.pictures[:1]:
        say(f"wrote the picture to {path.parent}")


def show_sweep(sweep: Sweep, *, out: Any = None, json: bool = False) -> int:
    """Prints one line per run and variant.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(sweep.to_json())
    else:
        show("one run per combination", *sweep.table())
    for line in sweep.summary().notes:
        say(line)
    if out is not None:
        say(f"the runs are in {out}")
    reasons = (row["unscored"] for run in sweep.runs.values() for row in run.rows)
    return end_unscored(reasons)


def show_labels(labels: Labels, *, out: Any = None, figures: Any = None, json: bool = False) -> int:
    """Prints the speakers' facets, and what could not be labelled.

    Args:
        json: Print JSON.
    """
    from realtalk.ei import speaker_rows, speakers_json
    from realtalk.ei.label_files import unscored_reasons, why_unscored

    for line in labels.cautions:
        warn(line)
    described = labels.facets().speakers
    if json:
        print_json(speakers_json(described))
    else:
        version = labels.settings["solver"]["version"]
        show(f"speakers ({labels.measure}, {version})", *speaker_rows(described).told_apart())
        for measure, reason, count in unscored_reasons(labels.frames()):
            say(f"unscored: {measure} for {count:,} of {len(labels):,} turns ({reason})")
    if out is not None:
        say(f"wrote labels.parquet and speakers.parquet to {out}")
    if figures is not None:
        has_charts = any(Path(figures).glob("*"))
        say(f"wrote charts to {figures}" if has_charts else "nothing to draw: no turn has a score")
    rows = (row for part in labels.frames() for row in part.iter_rows(named=True))
    return end_unscored(map(why_unscored, rows))


def show_page(page: Page, *, json: bool = False) -> None:
    """Prints what is worth knowing first, and where the page is.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(page.to_json())
    for sentence in page.sentences:
        say(f"· {sentence}")
    size = page.path.stat().st_size / 1e6
    say(f"wrote {page.path} ({size:.1f} MB); open it in a browser")


def show_batch(result: BatchResult, *, fail_on: str = "warning", json: bool = False) -> int:
    """Prints one row per input; 1 where one could not be done, or has findings that count.

    Args:
        fail_on: Exit with 1 from: error, warning, note, never.
        json: Print JSON.
    """
    report = result.report
    whole = [row for row in report.rows if not row["problem"]]
    if json:
        counts = {"done": len(whole), "failed": len(report.problems), "worked": report.worked}
        print_json({"folder": str(report.out), **counts, "parts": list(report.rows)})
    else:
        figure_names = ("format", "chats", "messages", "errors", "warnings", "remarks")
        columns = [name for name in figure_names if whole and name in whole[0]["figures"]]
        rows = [(row["part"], *(row["figures"][name] for name in columns)) for row in whole]
        show(str(report.out), ("part", *columns), rows, 20, "; parts.parquet lists them all")
        for line in dict.fromkeys(
            f"{row['input']}: {note}" for row in whole for note in row["figures"].get("notes", ())
        ):
            warn(line)
    for name, problem in report.problems:
        warn(problem if problem.startswith(name) else f"{name}: {problem}")
    before = len(report.rows) - report.worked
    there = f" ({before:,} were there)" if before else ""
    say(f"{len(whole):,} of {len(report.rows):,} in {report.out}{there}")
    levels = {"error": ("errors",), "warning": ("errors", "warnings"), "never": ()}
    names = levels.get(fail_on, ("errors", "warnings", "remarks"))
    grave = any(row["figures"].get(name) for row in whole for name in names)
    return int(bool(report.problems) or grave)


def show_samples(samples: SampleCounts, *, json: bool = False) -> None:
    """Prints the counts and the rules.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(samples.to_json())
        return
    for title, headings, rows in samples.tables():
        show(title, headings, rows)
    for line in samples.rules:
        say(line)


def show_tuned(tuned: TuningResult, *, json: bool = False) -> None:
    """Prints the loss of every epoch.

    Args:
        json: Print JSON.
    """
    if json:
        print_json(tuned.to_json())
        return
    rows: list[tuple[int, float | None, float | None, bool]] = [(0, None, tuned.untuned, False)]
    rows += [
        (epoch.number, epoch.loss, epoch.held_out, epoch.number == tuned.kept)
        for epoch in tuned.epochs
    ]
    show("loss per token of the replies", ("epoch", "learned", "held out", "kept"), rows)
    say(
        f"{tuned.tokens:,} tokens in {tuned.seconds:,.1f} s: {tuned.tokens_per_second:,.0f} a "
        f"second, {tuned.padding:.1%} of the work was padding"
    )
    if tuned.helps is False:
        warn(
            "held-out turns are less likely with this adapter than without it; try more turns, or "
            "`learning_rate=` at a tenth"
        )


def show_dataset(dataset: TuningSet, *, out: Any = None, json: bool = False) -> None:
    """Says how many rows there are, and what was left out.

    Args:
        json: Print JSON.
    """
    about = dataset.to_json()
    if json:
        print_json({**about, "file": None if out is None else str(out)})
        return
    for what, count in dataset.left_out.items():
        if count:
            say(f"left out: {count:,} {what}")
    where = f"wrote {out}" if out is not None else "nothing is written without --out"
    say(f"{about['replies']:,} replies in {about['rows']:,} rows; {where}")


def show_nothing(_: None) -> None:
    """What was to be said was said while it ran."""


def show_value(value: Any, *, json: bool = False) -> None:
    """Prints a text or a path, which a script can read.

    Args:
        json: Print JSON.
    """
    if value is None:
        return
    if json:
        print_json([str(part) for part in value] if isinstance(value, tuple) else str(value))
    elif isinstance(value, tuple):
        print_text("\n".join(map(str, value)))
    else:
        print_text(str(value))


def show_prompt(prompt: ReplyPrompt, *, json: bool = False) -> None:
    """Prints the text that a model is asked with.

    Args:
        json: Print JSON.
    """
    if json:
        print_json({"key": prompt.key, "setting": prompt.setting, "prompt": str(prompt)})
    else:
        print_text(prompt)


def show_conversations(corpus: Corpus, *, out: Any = None, json: bool = False) -> None:
    """Prints one row per simulated chat, and whose yes was given.

    Args:
        json: Print JSON.
    """
    from realtalk.chat import unpack_extra

    rows = [
        {
            "chat": chat.id,
            "days": len({message.time.date() for message in chat.messages if message.time}),
            "sessions": len(chat.sessions),
            "turns": len(chat.turns),
            "messages": len(chat.messages),
            "unanswered": len(unpack_extra(chat.extra)["simulated"]["silent"]),
        }
        for chat in corpus.chats
    ]
    if json:
        folder = None if out is None else str(out)
        print_json({"name": corpus.name, "folder": folder, "chats": rows})
        return
    for agreement in unpack_extra(corpus.chats[0].extra)["simulated"]["consent"]:
        say(agreement["meaning"])
    show("simulated chats", list(rows[0]), [list(row.values()) for row in rows])
    where = "nothing was stored: --out DIR stores it" if out is None else f"wrote {out}"
    say(f"{where}; every message is marked as simulated")
