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
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from realtalk.corpora.opening import Opened
    from realtalk.corpora.reading import Progress

__all__ = ["register"]

_SHOWN = 24  # rows of a table; the thread sample has more chats than a screen has lines


def register(app: typer.Typer) -> None:
    app.command()(demo)


@dataclass(frozen=True)
class _Stage:
    title: str
    run: Callable[[dict[str, Opened], Path], None]


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where tables and figures go.")
    ] = Path("demo"),
) -> None:
    """Show the software at work on its fictional sample chats.

    Reads the samples, checks them, describes them, and writes tables (CSV, JSON) and figures
    (PNG, SVG, interactive HTML) into demo/.
    """
    from realtalk.cli.printing import progress, say

    began = time.perf_counter()
    samples: dict[str, Opened] = {}
    with progress("demo", always=True) as advance:
        _read(samples, out, advance)
    for stage in STAGES:
        say(f"\n── {stage.title}")
        stage.run(samples, out)
    say(f"\ndone in {time.perf_counter() - began:.1f} s; everything is in {out}/")
    say("next: realtalk read YOUR_EXPORT.zip · realtalk stats YOUR_EXPORT.zip --figures pictures")


def _read(samples: dict[str, Opened], out: Path, advance: Progress) -> None:
    from realtalk.corpora.opening import SAMPLES, open_reading
    from realtalk.corpora.store import store

    for done, name in enumerate(SAMPLES):
        advance(done, len(SAMPLES), f"reading {name}")
        samples[name] = open_reading(name)
        store(samples[name].reading, out / "corpora" / name, samples[name].source)
    advance(len(SAMPLES), len(SAMPLES), "samples read and stored")


def _check(samples: dict[str, Opened], out: Path) -> None:
    from realtalk.corpora.check import RULES, check

    rows = []
    for name, found in samples.items():
        report = check(found.reading.corpus, found.reading.ledger)
        counts = report.counts()
        rows.append((name, "read", found.reading.ledger.total, str(found.reading.ledger)))
        rows += [(name, rule, count, RULES[rule][1]) for rule, count in counts.items()]
    _table(out, "check", "the samples, checked", ("corpus", "rule", "count", "meaning"), rows)


def _describe(samples: dict[str, Opened], out: Path) -> None:
    from realtalk.cli.printing import say
    from realtalk.corpora.writing import write_json
    from realtalk.stats import chat_rows, corpus_rows, describe
    from realtalk.stats.figures import draw, save_figures

    for name, found in samples.items():
        stats = describe(found.reading.tables)
        write_json(out / "tables" / f"{name}.json", stats.to_json())
        _table(out, f"{name}-chats", f"{name}: every chat", *chat_rows(stats))
        _table(out, f"{name}-corpus", f"{name}: the corpus", *corpus_rows(stats))
        if name == "sample":
            paths = save_figures(draw(stats).charts, out / "figures")
            say(f"figures: {', '.join(sorted({path.stem for path in paths}))} in {out}/figures")


STAGES = (
    _Stage("Are the corpora sound?", _check),
    _Stage("What do they look like?", _describe),
)


def _table(
    out: Path,
    name: str,
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> None:
    """Prints the beginning of a table and writes it whole as CSV."""
    from realtalk.cli.printing import show
    from realtalk.corpora.writing import write_text

    show(title, headings, rows, _SHOWN, f" in {out}/tables/{name}.csv")
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([headings, *rows])
    write_text(out / "tables" / f"{name}.csv", buffer.getvalue())
