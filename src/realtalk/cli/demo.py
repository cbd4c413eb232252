"""`demo`: the software's main jobs on the sample corpora, in under a minute.

Each stage is one function from the opened samples to what it prints and writes; later stages
are added to `STAGES`.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.run import Run
    from realtalk.files.progress import Progress
    from realtalk.formats.opening import OpenedSource

_REPORT = "report.html"
_SHOWN = 24  # rows of a table; the thread sample has more chats than a screen has lines


@dataclass(frozen=True)
class _Stage:
    title: str
    run: Callable[[dict[str, OpenedSource], Path], None]


def demo(*, out: str | PathLike[str] = "demo") -> None:
    """Show the software at work on its fictional sample chats.

    Reads the samples, checks them, describes them, labels every turn's emotional intelligence,
    compares people with simulated speakers, probes a memory, continues as a speaker, predicts
    what becomes of replies, and writes tables (CSV, JSON) and figures (PNG, SVG, interactive
    HTML). It ends with report.html, one page that shows it all.

    Args:
        out: Folder for tables and figures.

    Example:
        rt.demo()
    """
    from realtalk.cli.printing import progress, say

    began, place = time.perf_counter(), Path(out)
    samples: dict[str, OpenedSource] = {}
    with progress("demo", always=True) as advance:
        _read(samples, place, advance)
    for stage in STAGES:
        say("")
        say(f"── {stage.title}")
        stage.run(samples, place)
    say("")
    say(f"done in {time.perf_counter() - began:.1f} s; everything is in {place}/")
    say(f"on one page: {place / _REPORT} (open it in a browser, it needs no network)")
    say("next: realtalk read YOUR_EXPORT.zip · realtalk stats YOUR_EXPORT.zip --figures pictures")


def _read(samples: dict[str, OpenedSource], out: Path, advance: Progress) -> None:
    from realtalk.formats.opening import SAMPLES, open_reading
    from realtalk.formats.store import store

    for done, name in enumerate(SAMPLES):
        advance(done, len(SAMPLES), f"reading {name}")
        samples[name] = open_reading(name)
        store(samples[name].reading, out / "corpora" / name, samples[name].source)
    advance(len(SAMPLES), len(SAMPLES), "samples read and stored")


def _check(samples: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.formats.check import RULES, check

    rows = []
    for name, opened in samples.items():
        report = check(opened.reading.corpus, opened.reading.ledger)
        counts = report.counts()
        rows.append((name, "read", opened.reading.ledger.total, str(opened.reading.ledger)))
        rows += [(name, rule, count, RULES[rule][1]) for rule, count in counts.items()]
    _table(out, "check", "the samples, checked", ("corpus", "rule", "count", "meaning"), rows)


def _describe(samples: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.cli.printing import say
    from realtalk.describe import chat_rows, corpus_rows, describe
    from realtalk.describe.figures import draw, save_figures
    from realtalk.files.writing import write_json

    for name, opened in samples.items():
        stats = describe(opened.reading.tables)
        write_json(out / "tables" / f"{name}.json", stats.to_json())
        _table(out, f"{name}-chats", f"{name}: every chat", *chat_rows(stats))
        _table(out, f"{name}-corpus", f"{name}: the corpus", *corpus_rows(stats))
        if name == "sample":
            paths = save_figures(draw(stats).charts, out / "figures")
            say(f"figures: {', '.join(sorted({path.stem for path in paths}))} in {out}/figures")


def _feel(_: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.api.labels import label
    from realtalk.cli.printing import progress, say, warn
    from realtalk.describe.figures import save_figures
    from realtalk.ei import compare, comparison_rows, finding_rows, speaker_rows
    from realtalk.ei.figures import draw_comparison, draw_timelines

    described = {}
    for name in ("sample", "sample-simulated"):
        with progress(f"labelling {name}") as advance:
            labels = label(name, out=out / "labels" / name, fresh=True, progress=advance)
        for line in labels.cautions:
            warn(line)
        described[name] = speakers = labels.facets().speakers
        _table(out, f"{name}-speakers", f"{name}: the speakers", *speaker_rows(speakers))
        if name == "sample":
            save_figures(draw_timelines(labels.frame, speakers).charts, out / "figures")
    people, simulated = described.values()
    comparison = compare(people, simulated, ("people", "simulated"))
    _table(out, "people-simulated", "people beside simulated", *comparison_rows(comparison))
    _table(out, "findings", "what holds here", *finding_rows(comparison))
    save_figures(draw_comparison(comparison, people, simulated).charts, out / "figures")
    say(f"figures: emotions over time, intimacy, people beside simulated in {out}/figures")


def _remember(_: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.api.benchmarks import probe
    from realtalk.cli.printing import progress

    with progress("asking about the sample") as advance:
        run = probe(
            "sample", budget="500,1000,2000", out=out / "probe", fresh=True, progress=advance
        )
    _tables(out, "probe", [run])


def _continue(_: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.api.benchmarks import simulate
    from realtalk.cli.printing import progress

    with progress("continuing as Mara") as advance:
        runs = [
            simulate(
                "sample",
                speaker="Mara",
                simulator=name,
                labels=out / "labels" / "sample",
                limit=30,
                out=out / "persona" / name,
                fresh=True,
                progress=advance,
            )
            for name in ("constant", "copy", "retrieve")
        ]
    _tables(out, "persona", runs)


def _discuss(_: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.api.benchmarks import predict
    from realtalk.cli.printing import progress, say
    from realtalk.evals.tables import compared_table

    predictors: dict[str, dict[str, Any]] = {
        "majority": {},
        "mean": {},
        "regression": {"texts": False},
    }
    with progress("predicting what becomes of replies") as advance:
        runs = [
            predict(
                "sample-threads",
                setting="all",
                predictor=name,
                settings=settings,
                out=out / "threads" / name,
                fresh=True,
                progress=advance,
            )
            for name, settings in predictors.items()
        ]
    _tables(out, "threads", runs)
    gain = runs[-1].compare_variants("p-nonconv", "p-conv")
    lines = compared_table(gain, runs[-1].scores, samples="replies", groups="users")
    _table(out, "threads-gain", "what the conversation is worth", *lines)
    for line in gain.further["notes"]:
        say(line)


def _report(_: dict[str, OpenedSource], out: Path) -> None:
    from realtalk.api.pages import report
    from realtalk.cli.printing import progress
    from realtalk.cli.showing import show_page

    with progress("report") as advance:
        title = "The sample chats, measured"
        page = report(out, out=out / _REPORT, title=title, progress=advance)
    show_page(page)


STAGES = (
    _Stage("Are the corpora sound?", _check),
    _Stage("What do they look like?", _describe),
    _Stage("How do people feel, and how do they treat each other?", _feel),
    _Stage("What can be found again in a long chat?", _remember),
    _Stage("Who could have written the next turn?", _continue),
    _Stage("What becomes of a reply in a thread?", _discuss),
    _Stage("All of it on one page", _report),  # last: it shows what the others left
)


def _tables(out: Path, name: str, runs: Sequence[Run]) -> None:
    """Runs side by side; a table's file is called by what it shows."""
    from realtalk.cli.printing import say

    for number, table in enumerate(runs[0].table(*runs[1:], published=False)):
        _table(out, f"{name}-{number + 1}" if number else name, table.title, *table.lines)
        for note in table.notes:
            say(note)
    for caution in dict.fromkeys(line for run in runs for line in run.cautions):
        say(caution)


def _table(
    out: Path,
    name: str,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> None:
    """Prints the beginning of a table and writes it whole as CSV."""
    from realtalk.cells import Grid
    from realtalk.cli.printing import show
    from realtalk.files.writing import write_text

    grid = Grid(list(headings), [list(row) for row in rows]).told_apart()
    show(title, *grid, _SHOWN, f" in {out}/tables/{name}.csv")
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([headings, *rows])
    write_text(out / "tables" / f"{name}.csv", buffer.getvalue())
