"""What a function returns → tables, remarks or JSON, and the command's exit status.

    show_stats(stats)       prints two tables, or with --json one document
    show_findings(found, fail_on="warning")    → 1 where something that grave was found

Keyword parameters that are explained are options that only commands have; others are arguments of
the function. With --json `as_json` prints, and `show` and `print_text` do nothing.

A talk in the terminal: lines in, replies out, and who is asked for consent.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.cells import Cell, Grid, size
from realtalk.cli.printing import (
    as_json,
    cell,
    end_unscored,
    notes,
    print_text,
    printable,
    say,
    show,
    warn,
    warn_of_trouble,
)
from realtalk.errors import RealtalkError
from realtalk.notebook import counted
from realtalk.registry import known_name

if TYPE_CHECKING:
    from realtalk.api.batch_work import BatchResult
    from realtalk.api.benchmarks import MemoryAdvice
    from realtalk.api.chats import ExportResult, Findings, Redaction
    from realtalk.api.pages import Page
    from realtalk.api.runs import RunsView
    from realtalk.api.sweeping import Sweep
    from realtalk.api.threads import SampleCounts
    from realtalk.chat import Corpus
    from realtalk.describe.values import CorpusStats
    from realtalk.ei.results import Labels
    from realtalk.evals.comparing import Gate
    from realtalk.evals.run import Run
    from realtalk.evals.tables import ResultTable
    from realtalk.memory.drafting import Drafts
    from realtalk.persona.datasets import TuningSet
    from realtalk.persona.talking import Talk
    from realtalk.persona.tuning import TuningResult


def show_talk(talking: Talk, *, out: Any = None) -> None:
    """Goes on with the chat until the person leaves: Ctrl-D or Ctrl-C."""
    say(talking.consent.meaning)
    say(f"you are {talking.partner}; {talking.speaker} is simulated. Ctrl-D ends it.")
    if talking.quotes:
        say(f"the answers are sentences that {talking.speaker} wrote; `model=NAME` writes new ones")
    count = _converse(talking)
    place = f"; kept in {out}" if count and out is not None else ""
    say(f"{counted(count, 'message')} of yours{place}")


def show_link(url: str, annotations: Path) -> None:
    """The studio's link, on a line that a script waits for."""
    say(f"annotations are kept in {annotations}; Ctrl-C ends the studio")
    sys.stdout.write(f"studio: {url}\n")
    sys.stdout.flush()


def confirm(question: str) -> bool:
    """A yes on the terminal; where nobody can be asked, an error."""
    if not sys.stdin.isatty():
        raise RealtalkError("nothing was removed, for there is nobody to ask", fix="add --yes")
    return _yes(question)


def _yes(question: str) -> bool:
    sys.stderr.write(f"{question} [y/N]: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def ask_people(error: RealtalkError) -> dict[str, dict[str, str]] | None:
    """Which names are one person's, where they seem to be and somebody can be asked."""
    from realtalk.formats.merging import SamePersonError

    if not isinstance(error, SamePersonError) or not error.proposed:
        return None
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    for name, candidate in error.proposed.items():
        if not _yes(f"Is {printable(name)} the same person as {printable(candidate)}?"):
            return None
    return {"same": dict(error.proposed)}


def ask(question: str) -> str:
    """The person's own answer; where nobody can be asked, none."""
    if not sys.stdin.isatty():
        return ""
    try:
        return _line(question)
    except (EOFError, KeyboardInterrupt):
        return ""


def _line(prompt: str) -> str:
    """A line of the terminal, which Ctrl-C interrupts at once."""
    if hasattr(signal, "siginterrupt"):
        # polars' own handler lets the terminal read on after Ctrl-C, up to the next line.
        signal.siginterrupt(signal.SIGINT, True)
    return input(prompt)


def _converse(talking: Talk) -> int:
    """Lines in, replies out, until the person leaves: how many lines there were."""
    at_terminal = sys.stdin.isatty()
    count = 0

    def listen() -> str:
        if at_terminal:
            return _line(f"{printable(talking.partner)}: ")
        if not (line := sys.stdin.readline()):
            raise EOFError
        return line

    def show(piece: str) -> None:
        sys.stdout.write(printable(piece, lines=True))
        sys.stdout.flush()

    try:
        while True:
            if not (line := listen()).strip():
                continue
            count += 1
            show(printable(f"{talking.speaker} (simulated): "))
            try:
                talking.say(line, show, progress=warn_of_trouble)
            except RealtalkError as error:
                warn(str(error))
            show("\n")
    except (EOFError, KeyboardInterrupt):
        show("\n" if at_terminal else "")
    return count


_UNSTORED = "nothing was stored: --out DIR stores it"


def show_corpus(corpus: Corpus, *, out: Any = None, into: Any = None) -> None:
    """Prints one row per chat: who speaks, and how much there is of it."""
    chats: list[dict[str, Cell]] = [
        {
            "chat": chat.id,
            "speakers": ", ".join(chat.speakers[:4])
            + (f" +{len(chat.speakers) - 4}" if len(chat.speakers) > 4 else ""),
            "sessions": len(chat.sessions),
            "messages": len(chat.messages),
        }
        for chat in corpus.chats
    ]
    place = into or out
    as_json(
        {
            "folder": None if place is None else str(place),
            "messages": sum(len(chat.messages) for chat in corpus.chats),
            "name": corpus.name,
            "format": corpus.format,
            "chats": chats,
            "notes": notes,
        }
    )
    show(f"{corpus.name} ({corpus.format})", *Grid.of(chats), 20)
    if place is None:
        say(_UNSTORED)


def show_stats(described: CorpusStats) -> None:
    """Prints every chat, then the corpus."""
    from realtalk.describe import chat_rows, corpus_rows

    as_json(described.to_json)
    show(f"{described.name}: every chat", *chat_rows(described), 50, "; --json has them all")
    figures = [
        (figure, value, None if low is None else f"[{cell(low)}, {cell(high)}]", f"{n:,} {of}")
        for figure, value, low, high, n, of in corpus_rows(described).rows
    ]
    show(f"{described.name}: the corpus", ("figure", "value", "95 % interval", "n"), figures)


def show_findings(findings: Findings, *, fail_on: str = "warning", all: bool = False) -> int:
    """Prints what is odd, the first of each kind.

    Args:
        fail_on: Exit with 1 from: error, warning, note, never.
        all: List every finding.
    """
    from realtalk.formats.check import RULES

    levels = ("error", "warning", "note", "never")
    known_name("level", fail_on, levels)
    as_json(findings.to_json)
    say(str(findings.ledger))
    if all:
        rows = [(f.severity, f.rule, f.chat, f.where, f.detail) for f in findings.findings]
        show("findings", ("level", "rule", "chat", "where", "detail"), rows)
    elif findings.findings:
        first = {finding.rule: finding for finding in reversed(findings.findings)}
        summary = []
        for rule, count in findings.counts().items():
            example = first[rule]
            place = " ".join(filter(None, (example.chat, example.where)))
            text = ": ".join(filter(None, (place, example.detail)))
            summary.append((rule, RULES[rule][0], count, RULES[rule][1], text))
        show("findings", ("rule", "level", "count", "meaning", "first"), summary)
    else:
        say("nothing odd found")
    return int(findings.reaches(fail_on))


def show_exported(result: ExportResult) -> None:
    """Says what was written, and what the format could not keep."""
    as_json(result.to_json)
    say(f"wrote {counted(len(result.files), 'file')} to {result.folder}")
    if result.lost:
        lost = ", ".join(f"{name} {count:,}" for name, count in result.lost.items())
        warn(f"{result.format} could not keep: {lost} (jsonl keeps everything)")


def show_redaction(redaction: Redaction, *, out: Any = None, key: Any = None) -> None:
    """Says how many of each kind were replaced, never what they stood for."""
    if redaction.table is not None:
        more = (
            f", then {redaction.doubtful:,} doubtful that would stay" if redaction.doubtful else ""
        )
        say(f"{redaction.sure:,} names and the like{more}: {redaction.table} (keep it private)")
        again = "run the same command again" + ("" if out else " with --out DIR")
        say(f"nothing else was written: change decisions there, then {again}")
    if redaction.key is None or redaction.corpus is None:
        return
    counts = redaction.key.counts()
    folder = None if out is None else str(Path(out))
    as_json(
        {
            "folder": folder,
            "messages": sum(len(chat.messages) for chat in redaction.corpus.chats),
            "key": None if key is None else str(key),
            "found": counts,
        }
    )
    if key is not None:
        say(f"who is who: {key} (keep it private)")
    for kind, count in counts.items():
        say(f"{kind}: {count:,}")
    if redaction.key.left:
        say(f"speakers' names that stand like ordinary words, left: {redaction.key.left:,}")
    say(_UNSTORED if folder is None else f"stored in {folder}; read it once before you share it")


def show_table(table: ResultTable) -> None:
    """Prints a table of figures with its notes."""
    as_json(table.to_json)
    columns, rows = table.lines
    if "bytes" in columns:
        at = columns.index("bytes")
        columns = (*columns[:at], "size", *columns[at + 1 :])
        rows = [(*row[:at], size(row[at]), *row[at + 1 :]) for row in rows]
    if rows or not table.notes:  # else a note says why there is nothing
        show(table.title, columns, rows)
    for note in table.notes:
        warn(note)


def show_gate(gate: Gate) -> int:
    """Says whether a run may take another's place; 1 where it may not."""
    as_json(gate.to_json)
    print_text("\n".join(gate.lines) + "\n")
    return int(not gate.passed)


def show_cleared(table: ResultTable) -> int:
    """Says how much was removed, and what had to stay."""
    as_json(table.to_json)
    (row,) = table.frame.to_dicts()
    for note in table.notes:
        warn(note)
    freed = f"removed {counted(row['files'], 'file')}, {size(row['bytes'])} freed"
    say(freed if row["files"] else "nothing removed")
    return int(bool(row["left"]))


def show_stored(view: RunsView, *, prices: str | None = None) -> None:
    """Prints a run, and what it cost.

    Args:
        prices: JSON file of prices per million tokens.
    """
    if view.rows is None:
        _print_run(view, prices)
    else:
        show_runs(view)


def show_runs(view: RunsView) -> None:
    """Prints tables, or rows one below the other, then what has to be said of them."""
    if as_json(view.to_json):
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


def show_run(run: Run, *, out: Any = None, groups: bool = False, prices: str | None = None) -> int:
    """Prints the figures of a run.

    Args:
        groups: Also by category, speaker or domain.
        prices: JSON file of prices per million tokens.
    """
    from realtalk.api.runs import RunsView

    _print_run(RunsView([run], run.table(groups=groups)), prices)
    if out is not None:
        say(f"the run is in {out}")
    status = end_unscored(row["unscored"] or row.get("untold") for row in run.rows)
    if not status and run.judgements:  # a judge that judged nothing is no success
        status = end_unscored(row["unscored"] for row in run.judgements)
    return status


def _print_run(view: RunsView, prices: str | None) -> None:
    from realtalk.evals.prices import cost_json, cost_table, read_prices

    (run,) = view.runs
    price_list = None if prices is None else read_prices(prices)
    costs = {} if price_list is None else {"costs": cost_json(run.usage, price_list)}
    if as_json(lambda: run.to_json() | costs):
        return
    show_runs(view)
    if price_list is not None and run.usage:
        show("what it cost", *cost_table(run.usage, price_list))
    elif price_list is not None:
        say("no model was asked: nothing to pay")


def show_drafts(drafts: Drafts) -> int:
    """Says how many questions of each kind there are, and why others were dropped."""
    as_json(drafts.to_json)
    kinds = Counter(draft.question.category for draft in drafts.all)
    kept = Counter(draft.question.category for draft in drafts.kept)
    rows = [(kind, count, kept[kind]) for kind, count in kinds.items()]
    show("drafted questions", ("kind", "drafted", "kept"), rows)
    for reason, count in drafts.reasons.items():
        say(f"dropped: {count:,}, which each {reason}" if count > 1 else f"dropped: 1 {reason}")
    say(f"{len(drafts.kept):,} questions are in {drafts.file}; realtalk studio shows them to tick")
    return int(not drafts.kept)


def show_advice(advice: MemoryAdvice) -> None:
    """Prints which memory to take, and how many words."""
    as_json(advice.to_json)
    print_text("\n".join(advice.sentences) + "\n")
    for path in advice.pictures[:1]:
        say(f"wrote the picture to {path.parent}")


def show_sweep(sweep: Sweep, *, out: Any = None) -> int:
    """Prints one line per run and variant."""
    as_json(sweep.to_json)
    show("one run per combination", *sweep.table())
    for line in sweep.summary().notes:
        say(line)
    if out is not None:
        say(f"the runs are in {out}")
    return end_unscored(row["unscored"] for run in sweep.runs.values() for row in run.rows)


def show_labels(labels: Labels, *, out: Any = None, figures: Any = None) -> int:
    """Prints the speakers' facets, and what could not be labelled."""
    from realtalk.ei.results import unscored_reasons, why_unscored
    from realtalk.ei.values import speaker_rows, speakers_json

    for line in labels.cautions:
        warn(line)
    described = labels.facets().speakers
    as_json(partial(speakers_json, described))
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


def show_page(page: Page) -> None:
    """Prints what is worth knowing first, and where the page is."""
    as_json(page.to_json)
    for sentence in page.sentences:
        say(f"· {sentence}")
    say(f"wrote {page.path} ({size(page.path.stat().st_size)}); open it in a browser")


def show_batch(result: BatchResult, *, fail_on: str = "warning") -> int:
    """Prints one row per input; 1 where one could not be done, or has findings that count.

    Args:
        fail_on: Exit with 1 from: error, warning, note, never.
    """
    as_json(result.to_json)
    whole = [row for row in result.rows if not row["problem"]]
    figure_names = ("format", "chats", "messages", "errors", "warnings", "remarks")
    columns = [name for name in figure_names if whole and name in whole[0]["figures"]]
    rows = [(row["part"], *(row["figures"][name] for name in columns)) for row in whole]
    show(str(result.out), ("part", *columns), rows, 20, "; parts.parquet lists them all")
    remarks = [
        f"{row['input']}: {note}" for row in whole for note in row["figures"].get("notes", ())
    ]
    remarks += [
        problem if problem.startswith(name) else f"{name}: {problem}"
        for name, problem in result.problems
    ]
    for line in dict.fromkeys(remarks):
        warn(line)
    before = len(result.rows) - result.worked
    there = f" ({before:,} were there)" if before else ""
    say(f"{len(whole):,} of {len(result.rows):,} in {result.out}{there}")
    levels = {"error": ("errors",), "warning": ("errors", "warnings"), "never": ()}
    names = levels.get(fail_on, ("errors", "warnings", "remarks"))
    grave = any(row["figures"].get(name) for row in whole for name in names)
    return int(bool(result.problems) or grave)


def show_samples(samples: SampleCounts) -> None:
    """Prints the counts and the rules."""
    as_json(samples.to_json)
    for table in samples.tables():
        show(*table)
    for line in samples.rules:
        say(line)


def show_tuned(tuned: TuningResult) -> None:
    """Prints the loss of every epoch."""
    as_json(tuned.to_json)
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


def show_dataset(dataset: TuningSet, *, out: Any = None) -> None:
    """Says how many rows there are, and what was left out."""
    about = dataset.to_json()
    as_json({**about, "file": None if out is None else str(out)})
    for what, count in dataset.left_out.items():
        if count:
            say(f"left out: {count:,} {what}")
    where = f"wrote {out}" if out is not None else "nothing is written without --out"
    say(f"{about['replies']:,} replies in {about['rows']:,} rows; {where}")


def show_value(value: Any) -> None:
    """Prints a text or paths, which a script can read."""
    several = isinstance(value, tuple)
    texts = [str(part) for part in (value if several else (value,))]
    as_json(getattr(value, "to_json", texts if several else texts[0]))
    print_text("\n".join(texts))


def show_conversations(corpus: Corpus, *, out: Any = None) -> None:
    """Prints one row per simulated chat, and whose yes was given."""
    from realtalk.chat import unpack_extra

    rows: list[dict[str, Cell]] = [
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
    as_json({"name": corpus.name, "folder": None if out is None else str(out), "chats": rows})
    for agreement in unpack_extra(corpus.chats[0].extra)["simulated"]["consent"]:
        say(agreement["meaning"])
    show("simulated chats", *Grid.of(rows))
    say(f"{_UNSTORED if out is None else f'wrote {out}'}; every message is marked as simulated")
