"""`demo`: the software's main jobs on the sample corpora, in about a minute.

Each stage is one function from the opened samples to what it prints and writes; later stages
are added to `STAGES`. Every table is written whole; what is most telling is printed (`_TELLING`),
or with `all` every table.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.cells import Grid
from realtalk.cli.printing import progress, say, show, warn
from realtalk.cli.showing import show_page

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.run import Run
    from realtalk.formats.opening import OpenedSource

_CHAT_PAGE, _RUNS_PAGE = "report.html", "runs.html"
_CHAT = "Chat_1_Mara_Theo"  # whom the page is about
_MOST_ROWS = 24  # of a table; the thread sample has more chats than a screen has lines
# Of the tables that are always printed: columns, and how many rows.
_TELLING: Mapping[str, tuple[tuple[str, ...], int]] = {
    "sample-chats": (("chat", "messages", "sessions", "days", "words", "gap median (min)"), 2),
    "people-simulated": (("facet", "people: mean", "simulated: mean"), 5),
    "probe-2": (("budget", "questions", "all@budget", "recall@budget"), 3),
    "persona-2": (("simulator", "taken for the speaker", "emotion kappa"), 4),
    "threads-gain": (("score", "p-nonconv", "p-conv", "difference"), 5),
}


@dataclass(frozen=True)
class _Demo:
    """The samples, where everything goes, and whether everything is printed."""

    samples: dict[str, OpenedSource]
    out: Path
    all: bool

    def note(self, line: str) -> None:
        """A remark beside a table that only `all` shows."""
        if self.all:
            say(line)

    def table(
        self, name: str, title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> None:
        """Prints the beginning of a table and writes it whole as CSV."""
        from realtalk.files.writing import write_text

        if self.all:
            grid = Grid(list(headings), [list(row) for row in rows]).told_apart()
            show(title, *grid, _MOST_ROWS, f" in {self.out}/tables/{name}.csv")
        elif name in _TELLING:
            columns, most = _TELLING[name]
            places = [list(headings).index(column) for column in columns]
            show("", columns, [[row[at] for at in places] for row in rows[:most]])
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([headings, *rows])
        write_text(self.out / "tables" / f"{name}.csv", buffer.getvalue())

    def tables(self, name: str, runs: Sequence[Run]) -> None:
        """Runs side by side; a table's file is called by what it shows."""
        for number, table in enumerate(runs[0].table(*runs[1:], published=False)):
            self.table(f"{name}-{number + 1}" if number else name, table.title, *table.lines)
            for note in table.notes:
                self.note(note)
        for caution in dict.fromkeys(line for run in runs for line in run.cautions):
            say(caution)


def demo(*, out: str | PathLike[str] = "demo", all: bool = False) -> None:
    """Show the software at work on its fictional sample chats.

    Reads the samples, checks them, describes them, labels every turn's emotional intelligence,
    compares people with simulated speakers, probes a memory, continues as a speaker, predicts
    what becomes of replies, and writes tables (CSV, JSON) and figures (PNG, SVG, interactive
    HTML). It ends with a page about a chat, report.html; with `all` that page shows every table.

    Args:
        out: Folder for tables and figures.
        all: Print every table.

    Example:
        rt.demo()
        rt.demo(all=True)
        rt.demo(out="tour")
    """
    from realtalk.formats.opening import SAMPLES, open_reading
    from realtalk.formats.store import store

    began, shown = time.perf_counter(), _Demo({}, Path(out), all)
    with progress("demo", always=True) as advance:
        for done, name in enumerate(SAMPLES):
            advance(done, len(SAMPLES), f"reading {name}")
            shown.samples[name] = opened = open_reading(name)
            store(opened.reading, shown.out / "corpora" / name, opened.source)
        advance(len(SAMPLES), len(SAMPLES), "samples read and stored")
    for title, run in STAGES.items():
        shown.note("")
        say(f"── {title}")
        run(shown)
    shown.note("")
    say(f"done in {time.perf_counter() - began:.1f} s; everything is in {out}/")
    if not all:
        say(f"all that was measured: {shown.out / _RUNS_PAGE}, or realtalk demo --all")
    say("next: realtalk report YOUR_EXPORT.zip --open · realtalk stats YOUR_EXPORT.zip")


def _check(demo: _Demo) -> None:
    from realtalk.formats.check import RULES, check
    from realtalk.formats.reading import Ledger

    rows = []
    for name, opened in demo.samples.items():
        report = check(opened.reading.corpus, opened.reading.ledger)
        counts = report.counts()
        rows.append((name, "read", opened.reading.ledger.total, str(opened.reading.ledger)))
        rows += [(name, rule, count, RULES[rule][1]) for rule, count in counts.items()]
    demo.table("check", "the samples, checked", ("corpus", "rule", "count", "meaning"), rows)
    if not demo.all:
        whole = Ledger.sum([opened.reading.ledger for opened in demo.samples.values()])
        say(f"{len(demo.samples)} samples read: {whole}")


def _describe(demo: _Demo) -> None:
    from realtalk.describe import chat_rows, corpus_rows, describe
    from realtalk.describe.figures import draw, save_figures
    from realtalk.files.writing import write_json

    for name, opened in demo.samples.items():
        stats = describe(opened.reading.tables)
        write_json(demo.out / "tables" / f"{name}.json", stats.to_json())
        demo.table(f"{name}-chats", f"{name}: every chat", *chat_rows(stats))
        demo.table(f"{name}-corpus", f"{name}: the corpus", *corpus_rows(stats))
        if name == "sample":
            paths = save_figures(draw(stats).charts, demo.out / "figures")
            names = ", ".join(sorted({path.stem for path in paths}))
            demo.note(f"figures: {names} in {demo.out}/figures")


def _feel(demo: _Demo) -> None:
    from realtalk.api.labels import label
    from realtalk.describe.figures import save_figures
    from realtalk.ei.comparison import compare, comparison_rows, finding_rows
    from realtalk.ei.figures import draw_comparison, draw_timelines
    from realtalk.ei.values import speaker_rows

    described = {}
    for name in ("sample", "sample-simulated"):
        with progress(f"labelling {name}") as advance:
            labels = label(name, out=demo.out / "labels" / name, fresh=True, progress=advance)
        for line in labels.cautions:
            warn(line)
        described[name] = speakers = labels.facets().speakers
        demo.table(f"{name}-speakers", f"{name}: the speakers", *speaker_rows(speakers))
        if name == "sample":
            save_figures(draw_timelines(labels.frame, speakers).charts, demo.out / "figures")
    people, simulated = described.values()
    comparison = compare(people, simulated, ("people", "simulated"))
    demo.table("people-simulated", "people beside simulated", *comparison_rows(comparison))
    demo.table("findings", "what holds here", *finding_rows(comparison))
    save_figures(draw_comparison(comparison, people, simulated).charts, demo.out / "figures")
    kinds = "emotions over time, intimacy, people beside simulated"
    demo.note(f"figures: {kinds} in {demo.out}/figures")


def _remember(demo: _Demo) -> None:
    from realtalk.api.benchmarks import probe

    with progress("asking about the sample") as advance:
        run = probe(
            "sample", budget="500,1000,2000", out=demo.out / "probe", fresh=True, progress=advance
        )
    demo.tables("probe", [run])


def _continue(demo: _Demo) -> None:
    from realtalk.api.benchmarks import simulate

    with progress("continuing as Mara") as advance:
        runs = [
            simulate(
                "sample",
                speaker="Mara",
                simulator=name,
                labels=demo.out / "labels" / "sample",
                limit=30,
                out=demo.out / "persona" / name,
                fresh=True,
                progress=advance,
            )
            for name in ("constant", "copy", "retrieve")
        ]
    demo.tables("persona", runs)


def _discuss(demo: _Demo) -> None:
    from realtalk.api.benchmarks import predict

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
                out=demo.out / "threads" / name,
                fresh=True,
                progress=advance,
            )
            for name, settings in predictors.items()
        ]
    demo.tables("threads", runs)
    gain = runs[-1].compare(variant="p-nonconv,p-conv")
    demo.table("threads-gain", "what the conversation is worth", *gain.lines)
    for line in gain.notes:
        demo.note(line)


def _report(demo: _Demo) -> None:
    from realtalk.api.pages import report

    page = demo.out / _CHAT_PAGE
    with progress("report") as advance:
        title = "The sample chats, measured"
        runs_page = page if demo.all else demo.out / _RUNS_PAGE
        shown = report(demo.out, out=runs_page, title=title, progress=advance)
        if not demo.all:
            shown = report("sample", chat=_CHAT, out=page, progress=advance)
    show_page(shown)


STAGES: Mapping[str, Callable[[_Demo], None]] = {
    "Are the corpora sound?": _check,
    "What do they look like?": _describe,
    "How do people feel, and how do they treat each other?": _feel,
    "What can be found again in a long chat?": _remember,
    "Who could have written the next turn?": _continue,
    "What becomes of a reply in a thread?": _discuss,
    "All of it on a page": _report,  # last: it shows what the others left
}
