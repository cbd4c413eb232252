"""Runs of any benchmark → sections of the page: tables, charts and cautions, corpus by corpus.

    groups = groups_of(loaded.runs)       runs of one benchmark on the very same chats
    run_sections(groups)                  → [Section("memory", …), Section("memory-sample-…", …)]
    failures_page({"recent": run, "retrieved": run}, most=50)    what failed, side by side
    key_figures(groups)                   the best of each benchmark, with its interval

Nothing here knows a benchmark: what it is called, how it is read, which score to look at first
and what it draws are its own words (`evals.values.Benchmark`).

Altair charts → SVG for the page; and figures with intervals, side by side.

    view(draw(stats).charts["runs"])   → ChartView("Messages in a row", spec, "n = 812 turns; …")
    interval_panels([Panel("Empathy", "mean score", [("Mara", Estimate(2.1, 1.8, 2.4)), …])])
    svg_text(view, "chart-1")          → '<svg …><path data-tip="name: Mara␟mean: 2.1" …/></svg>'

The charts of the page are those that rooms save as files, drawn when the page is made: it needs no
chart library, opens at once, and shows them without scripts. The page sets title and note itself,
in its own type.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

import orjson

from realtalk.chat import Corpus
from realtalk.evals.run import Run, join_runs
from realtalk.evals.tables import run_tables
from realtalk.evals.values import Benchmark, Row, Score
from realtalk.grouping import grouped
from realtalk.metrics.statistics import Estimate
from realtalk.notebook import counted, plural
from realtalk.pages.loading import StoredRun, told_apart
from realtalk.pages.values import ChartView, KeyFigure, Section, TableView, table
from realtalk.pages.wording import asset

MOST_POINTS = 60  # names of a panel that can still be read
_STEP = 21  # of a name
_SVG = "http://www.w3.org/2000/svg"
# What only a program that reads charts aloud needs (the page names a whole chart), or what the
# page gives itself.
_DROPPED = frozenset({"role", "font-family", "pointer-events", "style", "href"})
_DIGITS = re.compile(r"(\d+\.\d)\d+")
_ID = re.compile(r"(url\(#)")
_TIP, _BREAK = "\u241e", "\u241f"  # before what is shown at a mark, and between its lines


class Panel(NamedTuple):
    """One figure with the names it is of; whoever has no value is not drawn."""

    title: str
    unit: str
    points: Sequence[tuple[str, Estimate]]


def capital(text: str) -> str:
    """The same with a capital first."""
    return text[:1].upper() + text[1:]


def score_panel(score: Score, points: Sequence[tuple[str, Estimate]]) -> Panel:
    """A score, with which way is better."""
    better = "less is better" if score.better < 0 else "more is better"
    return Panel(capital(score.title), better, points)


def view(chart: Any, of: str = "") -> ChartView:
    """A chart with its data inside. `of` is set before the title: "sample: Response gaps"."""
    spec = chart.to_dict(validate=False)  # the room that drew it has tests of its own
    title_spec = spec.get("title", "")
    title = title_spec.get("text", "") if isinstance(title_spec, dict) else title_spec
    lines = title_spec.get("subtitle", ()) if isinstance(title_spec, dict) else ()
    note = ". ".join(line.rstrip(".") for line in ([lines] if isinstance(lines, str) else lines))
    return ChartView(f"{of}: {title}" if of else title, spec, f"{note}." if note else "")


def svg_text(view: ChartView, id_: str) -> str:
    """The chart, drawn: shapes and text alone, with what to show at a mark as its `data-tip`.

    Vega reads a name that is sorted by as part of an expression, where two separators of Unicode
    end a line and with it the chart. In a name they say nothing: a space stands for them.
    """
    import vl_convert

    text = orjson.dumps(view.spec).decode().replace("\u2028", " ").replace("\u2029", " ")
    spec = {**_with_tips(orjson.loads(text)), "background": "transparent", "padding": 2}
    spec.pop("title", None)
    ElementTree.register_namespace("", _SVG)
    drawing = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))  # noqa: S314 - our own
    for element in drawing.iter():
        tip = element.get("aria-label", "")
        attributes = {
            # Two charts of a page may not share an id.
            name: _ID.sub(rf"\1{id_}-", _DIGITS.sub(r"\1", value))
            for name, value in element.items()
            if name not in _DROPPED and not name.startswith("aria-")
        }
        element.attrib.clear()
        element.attrib |= attributes
        if "id" in attributes:
            element.set("id", f"{id_}-{attributes['id']}")
        if tip.startswith(_TIP):
            element.set("data-tip", tip.removeprefix(_TIP))
    drawing.set("role", "img")
    drawing.set("aria-label", view.title)
    return ElementTree.tostring(drawing, encoding="unicode")


def _with_tips(spec: Any) -> Any:
    """The same with what a chart shows at a mark written into its drawing.

    A picture has no tooltips, but it keeps what a mark is described as.
    """
    if isinstance(spec, list):
        return [_with_tips(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    tips = spec.get("tooltip")
    if isinstance(tips, list):
        lines = (f"{orjson.dumps(f'{_title(tip)}: ').decode()} + {_value(tip)}" for tip in tips)
        text = f" + {orjson.dumps(_BREAK).decode()} + ".join(lines)
        return spec | {"description": {"value": {"expr": f"'{_TIP}' + {text}"}}}
    return {
        name: part if name in ("data", "datasets") else _with_tips(part)
        for name, part in spec.items()
    }


def _title(tip: Mapping[str, Any]) -> str:
    return str(tip.get("title") or tip["field"])


def _value(tip: Mapping[str, Any]) -> str:
    """An expression of Vega's for a field as a reader is shown it."""
    field = f"datum[{orjson.dumps(tip['field']).decode()}]"
    if tip["type"] == "quantitative":
        return f"format({field}, {orjson.dumps(tip.get('format', '')).decode()})"
    return f"({field} == null ? '–' : {field})"


def interval_panels(title: str, lines: Sequence[str], panels: Sequence[Panel]) -> ChartView:
    """A dot and its interval for everybody, one panel per figure that somebody has.

    Written as Vega-Lite, not through Altair, which copies every panel many times; what all have in
    common is in assets/intervals.json.
    """
    rows = [(panel, _rows(panel)) for panel in panels]
    filled = [(panel, points) for panel, points in rows if points]
    names = list(dict.fromkeys(row["name"] for _, points in filled for row in points))
    spec = orjson.loads(asset("intervals.json"))["chart"]
    spec["title"] = {"text": title, "subtitle": list(lines)}
    spec["concat"] = [
        _panel(panel, points, names, at % spec["columns"] == 0)
        for at, (panel, points) in enumerate(filled)
    ]
    return ChartView(title, spec, f"{'. '.join(lines)}.")


def _rows(panel: Panel) -> list[dict[str, Any]]:
    rows = []
    for name, point in panel.points:
        low, high, interval = point.value, point.value, "none"
        if point.low is not None and point.high is not None:
            low, high = point.low, point.high
            interval = f"{low:.3g} … {high:.3g}"
        row = {"name": name, "value": point.value, "low": low, "high": high}
        rows.append(row | {"interval": interval, "n": point.n})
    return [row for row in rows if row["value"] is not None]


def _panel(
    panel: Panel, rows: Sequence[Mapping[str, Any]], names: Sequence[str], labels: bool
) -> dict[str, Any]:
    spec: dict[str, Any] = orjson.loads(asset("intervals.json"))["panel"]
    spec["title"]["text"] = panel.title
    spec["height"] = max(2, len(names)) * _STEP
    spec["data"] = {"values": rows}
    y = spec["encoding"]["y"]
    y |= {"sort": names, "scale": {"domain": names}}
    y["axis"]["labels"] = labels
    for layer in spec["layer"]:
        layer["encoding"]["x"]["title"] = panel.unit
    layer["encoding"]["tooltip"][1]["title"] = panel.title.lower()  # of the dots, which come last
    return spec


_MOST_CHARTS = 3  # that a benchmark draws itself
_MOST_PANELS = 6
_NEARLY = 0.9  # of the best: as much as most would pay for


class RunGroup(NamedTuple):
    """Runs that can stand in one table, by names that tell them apart."""

    benchmark: type[Benchmark[Any, Any, Any]]
    corpus: str
    sha: str
    part: str  # a task
    runs: Mapping[str, Run]
    by_models: bool  # whether models wrote the chats

    @property
    def title(self) -> str:
        return self.benchmark.title or self.benchmark.name.capitalize()

    @property
    def anchor(self) -> str:
        parts = (_slug(self.title), self.part, self.corpus, self.sha[:6])
        return "-".join(part for part in parts if part)

    @property
    def rows(self) -> int:
        return sum(len(run) for run in self.runs.values())


def _slug(title: str) -> str:
    return re.sub(r"\W+", "-", title.casefold())


def groups_of(stored: Sequence[StoredRun]) -> list[RunGroup]:
    """By benchmark in the order of the runs, then by corpus and task."""
    by_key: dict[tuple[str, str, str, str], list[StoredRun]] = {}
    for run in stored:
        settings = run.run.settings
        name, sha = (str(settings["corpus"][about]) for about in ("name", "sha256"))
        part = run.run.benchmark.part_of(settings)
        by_key.setdefault((run.run.kind, name, sha, part), []).append(run)
    kinds = list(dict.fromkeys(kind for kind, *_ in by_key))
    return [
        RunGroup(
            several[0].run.benchmark,
            *(name, sha, part),
            _join_runs(several),
            any(run.writer.is_simulated for run in several),
        )
        for (_, name, sha, part), several in sorted(
            by_key.items(), key=lambda item: kinds.index(item[0][0])
        )
    ]


def _join_runs(stored: Sequence[StoredRun]) -> dict[str, Run]:
    """Runs by names that tell them apart; those of one solver over different groups joined."""
    parts: list[list[StoredRun]] = []
    for run in stored:
        for several in parts:
            first = several[0].run
            # The same speaker twice: another setting of the simulator, so another run.
            taken = {name for earlier in several for name in earlier.run.groups}
            same = first.name == run.run.name and taken.isdisjoint(run.run.groups)
            if run.run.benchmark.joins and same:
                several.append(run)
                break
        else:
            parts.append([run])
    own = [several[0].run.name for several in parts]
    names = told_apart(own, [several[0].folder.name for several in parts])
    joined = zip(names, parts, strict=True)
    return {name: join_runs(name, [part.run for part in several]) for name, several in joined}


def run_sections(groups: Sequence[RunGroup]) -> list[Section]:
    """A section per benchmark, and one below it for every group of runs."""
    sections: list[Section] = []
    for kind in dict.fromkeys(group.benchmark.name for group in groups):
        own = [group for group in groups if group.benchmark.name == kind]
        runs = sum(len(group.runs) for group in own)
        rows = sum(group.rows for group in own)
        lead = f"{counted(runs, 'run')}, {rows:,} {own[0].benchmark.sample} rows in all."
        lead = f"{lead} {own[0].benchmark.lead}".strip()
        sections += [Section(_slug(own[0].title), own[0].title, lead), *map(_section, own)]
    return sections


def _section(group: RunGroup) -> Section:
    runs, benchmark = group.runs, group.benchmark
    samples = len({(row["group"], row["sample"]) for run in runs.values() for row in run.rows})
    groups = len({name for run in runs.values() for name in run.groups})
    lead = (
        f"{counted(samples, benchmark.sample)} of {counted(groups, benchmark.group)}, "
        f"{counted(len(runs), 'run')}."
    )
    tables = [
        table(capital(result.title), *result.lines, note=" ".join(result.notes))
        for result in run_tables(runs, published=False)
    ]
    points = sum(len(run.variants) for run in runs.values())
    charts_by_name = benchmark.charts(runs) if points > 1 else {}
    charts = [view(chart) for chart in list(charts_by_name.values())[:_MOST_CHARTS]]
    if points > 1:
        charts.insert(0, _chart(group))
    notes = tuple(f"{name}: {line}" for name, run in runs.items() for line in run.cautions)
    title = f"{group.corpus}, {group.part.replace('_', ' ')}" if group.part else group.corpus
    return Section(group.anchor, title, lead, tuple(tables), tuple(charts), notes, depth=1)


def _chart(group: RunGroup) -> ChartView:
    """A panel per score, those of the headline's table first; a dot per run and variant."""
    scores = {score.name: score for run in group.runs.values() for score in run.scores}
    first = next((name for run in group.runs.values() if (name := run.headline)), None)
    kind = None if first is None else scores[first].table
    scores_shown = [score for score in scores.values() if score.shown and score.better]
    scores_shown.sort(key=lambda score: (score.name != first, score.table != kind))
    panels = [score_panel(score, _points(group, score)) for score in scores_shown[:_MOST_PANELS]]
    lines = [
        f"{group.corpus}: dots with 95 % intervals, drawing whole {plural(group.benchmark.group)}"
    ]
    return interval_panels(f"Every {group.benchmark.solver} beside the others", lines, panels)


def _points(group: RunGroup, score: Score) -> list[tuple[str, Estimate]]:
    return [
        (f"{name}, {variant}" if variant else name, variant_scores.overall[score.name])
        for name, run in group.runs.items()
        for variant, variant_scores in run.variants.items()
        if score.name in variant_scores.overall
    ]


def key_figures(groups: Sequence[RunGroup]) -> Iterator[KeyFigure | None]:
    """Of every benchmark the best of its headline, in people's chats before models'."""
    for kind in dict.fromkeys(group.benchmark.name for group in groups):
        own = [group for group in groups if group.benchmark.name == kind]
        own.sort(key=lambda group: (group.by_models, -max(map(len, group.runs.values()))))
        yield next((figure for group in own if (figure := _key_figure(group)) is not None), None)


def _key_figure(group: RunGroup) -> KeyFigure | None:
    """The best run by its headline; the cheapest that is nearly as good, where runs have a cost."""
    benchmark = group.benchmark
    points = [
        (estimate.value, estimate, name, variant, run.price(variant))
        for name, run in group.runs.items()
        for variant, variant_scores in run.variants.items()
        if (estimate := variant_scores.overall.get(run.headline)) is not None
        and estimate.value is not None
        and estimate.low is not None
        and estimate.high is not None
    ]
    if not points:
        return None
    headline = next(run.headline for run in group.runs.values() if run.headline)
    scores = (score for run in group.runs.values() for score in run.scores)
    score = next(score for score in scores if score.name == headline)
    pick = best = max(points, key=lambda point: score.better * point[0])
    if benchmark.price:
        near = (point for point in points if point[0] >= _NEARLY * best[0])
        pick = min(near, key=lambda point: (point[4] or 0.0, point[0]))
    value, estimate, name, variant, price = pick
    low, high = estimate.low or 0.0, estimate.high or 0.0
    texts = [_plain(point[0]) for point in points]
    says = f"is the {score.title} of “{name}”"
    says += f" at {variant}" if variant else ""
    says += f" on {group.corpus}" + (f" ({group.part.replace('_', ' ')})" if group.part else "")
    if price is not None:
        says += f", for {price:,.0f} {benchmark.price} per {benchmark.sample}"
    if pick is not best:
        says += f"; the most here is {_plain(best[0])}, by “{best[2]}”"
    elif texts.count(_plain(value)) < 2 <= len(texts):
        says += f", the best of {len(texts)}"
    chance = benchmark.chance.get(headline)
    if chance is not None and chance >= low:
        says += "; the interval holds chance" if chance <= high else "; below chance"
    run = group.runs[name]
    of = benchmark.group if estimate.n == len(run.groups) > 1 else benchmark.sample
    extent = f"95 % interval {low:.2f} … {high:.2f}, n = {counted(estimate.n, of)}"
    extent += "; see the caution below" if run.cautions else ""
    return KeyFigure(_plain(value), f"{says}.", extent, group.anchor, group.title)


def failures_page(
    runs: Mapping[str, Run], *, most: int, corpus: Corpus | None = None
) -> list[Section]:
    """Runs on the same samples: of every slice the `most` samples that most runs got wrong.

    With the corpus also what it says about them.
    """
    benchmark = next(iter(runs.values())).benchmark
    rows_of = {name: {_key(row): row for row in run.rows} for name, run in runs.items()}
    wrong: dict[tuple[str, str, str], dict[str, str]] = {}
    for name, run in runs.items():
        for row in run.failing_rows:
            wrong.setdefault(_key(row), {})[name] = row["why"]
    first = {key: next(rows[key] for rows in rows_of.values() if key in rows) for key in wrong}
    own = {"group", "sample", "variant", "answer", "unscored", benchmark.slices}
    own |= {score.name for run in runs.values() for score in run.scores}
    sample_columns = [name for name in benchmark.failing if name not in own]
    headings = [
        *sample_columns,
        *(f"{name}: {what}" for name in runs for what in ("answer", "why")),
        *(["what the corpus says"] if corpus is not None else []),
        *(benchmark.group, benchmark.sample, benchmark.variant),
    ]
    some = f"{counted(len(wrong), benchmark.sample)} that at least one run got wrong."
    lead = f"{some if wrong else 'No run got anything wrong.'} {benchmark.reading}".strip()
    sections = [Section("why", "Why", lead, (_reasons(runs, wrong),) if wrong else ())]
    by_part = grouped((row.get(benchmark.slices, ""), key) for key, row in first.items())
    for part, keys in by_part.items():
        keys.sort(key=lambda key: -len(wrong[key]))
        lines = []
        for key in keys[:most]:
            line: list[Any] = [_cell(first[key].get(name)) for name in sample_columns]
            for name, rows in rows_of.items():
                row = rows.get(key, {})
                line.append(row.get("answer") or row.get("unscored"))
                line.append(wrong[key].get(name, "right") if row else "not asked")
            if corpus is not None:
                line.append(" / ".join(benchmark.evidence(first[key], corpus)) or None)
            lines.append([*line, *key])
        several = ", those that most runs got wrong first" if len(runs) > 1 else ""
        note = f"{len(lines):,} of {len(keys):,} that failed{several}."
        title = f"{part or '(none)'}: failures side by side"
        view_of = table(title, headings, lines, note=note, find=True)
        sections.append(Section(part or "none", part or "(none)", "", (view_of,)))
    return sections


def _key(row: Row) -> tuple[str, str, str]:
    return row["group"], row["sample"], row["variant"]


def _cell(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def _reasons(runs: Mapping[str, Any], wrong: Mapping[Any, Mapping[str, str]]) -> TableView:
    counts = {name: Counter(whys[name] for whys in wrong.values() if name in whys) for name in runs}
    reasons = dict.fromkeys(why for own in counts.values() for why, _ in own.most_common())
    rows = [(why, *(counts[name][why] for name in runs)) for why in reasons]
    return table("Reasons", ("why", *runs), rows)


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
