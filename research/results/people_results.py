"""research/results/rows/people → docs/results/people.md and its picture.

    python -m research.results.people_results

A language model that was tuned on each of many people (people_run.py, scored by persona_rows.py):
whether its own adapter matters, what of the paper holds, for whom, how many turns are enough, and
what its turns lack. The people were run in two parts, those with the fewest turns first; their rows
are read as one.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, product
from pathlib import Path
from statistics import fmean, median, variance
from typing import Any

import polars as pl
from scipy.spatial.distance import jensenshannon
from scipy.stats import norm, rankdata

from realtalk.evals.comparing import Average, RunComparison, average
from realtalk.evals.run import Run
from realtalk.metrics.statistics import Change, Estimate, holm, pearson
from realtalk.persona.choosing import TABLE_2
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_columns, draw_estimates
from research.results.page_words import digits, holm_p, told
from research.results.people_rows import REAL
from research.results.persona_claims import CONTENT, ENOUGH, SIX
from research.results.persona_tables import compare, fact_average, score_of, speaker_score, title_of

FOLDER = ROWS / "people" / "qwen2.5-1.5b"
SHOWN = (*CONTENT, *SIX, "js_emotion", "js_sentiment", "taken_for")
WAYS = ("greedy", "sampled")
HOWS = ("untuned", "styled", "retrieved", "swapped", "tuned", "tuned+retrieved")
CALLED = {
    "constant": '"ok"',
    "copy": "repeats the last turn",
    "common": "one own turn, always the same",
    "retrieve": "nearest own turn",
    "untuned": "untuned",
    "styled": "untuned, told their style",
    "retrieved": "untuned, shown own turns",
    "swapped": "tuned on another person",
    "tuned": "tuned on the person",
    "tuned+retrieved": "tuned, shown own turns",
}
LENGTHS = (0, 5, 10, 20, 40, 80)  # a turn of six to ten words stands between 5 and 10
SHAPED = {
    **{"words": "length", "question": "questions", "opening": "openings"},
    **{"objects": "disagreement", "emoji": "emoji"},
}
BEYOND = (
    *("kappa_reflective", "kappa_grounding", "kappa_sentiment", "kappa_emotion"),
    *("js_emotion", "js_sentiment", "taken_for", "length_ratio"),
)
SIZES = (10, 50, 100, 200)
GAINS = ("semantic", "taken_for", "emotion")  # wording, style, EI
LEARNED = {"25": "n25", "50": "n50", "all": "tuned"}  # turns, and what the runs are called
POWER = 0.8
Runs = Mapping[str, Run]
Tests = Mapping[str, RunComparison]  # by way of writing
Corrected = Mapping[tuple[str, str], float | None]


def main() -> None:
    runs = read_runs(FOLDER)
    shapes = pl.concat(map(pl.read_parquet, sorted(FOLDER.glob("*/shapes.parquet"))))
    pairs = {
        "own": against(runs, "swapped", "tuned"),
        "alike": against(runs, "swapped-matched", "tuned-matched"),
        "paper": against(runs, "untuned", "tuned"),
        "shown": against(runs, "tuned", "tuned+retrieved"),
        "rules": {way: compare(runs["copy"], runs[f"tuned+retrieved-{way}"]) for way in WAYS},
        "matched": against(runs, "untuned-matched", "tuned+retrieved-matched"),
    }
    p = {name: corrected(tests) for name, tests in pairs.items()}
    facts = runs["copy"].facts
    learned = [fact["learned_turns"] for fact in facts]
    tested = Counter(row["group"] for row in runs["copy"].rows)
    page = (Path(__file__).parent / "people_page.md").read_text("utf-8")
    text = page.format(
        **{f"{name}_table": changes(pairs[name], p[name]) for name in ("own", "paper")},
        **{f"{name}_count": counted(tests, p[name]) for name, tests in pairs.items()},
        **sentences(pairs),
        ceiling=told(fact_average(runs["copy"], "ceiling")),
        all=written(runs, (*CONTENT, *SIX)),
        beyond=written(runs, BEYOND),
        six=six(pairs["paper"], p["paper"]),
        dummies=ok_is_better(runs),
        shapes=shapes_table(shapes, runs),
        means=means_table(shapes),
        enough=enough(runs),
        able=len(runs["n25-greedy"].groups),
        whom=whom(runs),
        power=power(runs, round(median(tested.values()))),
        people=len(facts),
        turns=round(median(tested.values())),
        tested=f"{tested.total():,}",
        least=min(learned),
        most=max(learned),
        learned=f"{sum(learned):,}",
        tests=len(WAYS) * len(SHOWN),
        **settings(FOLDER),
    )
    (PAGES / "people.md").write_text(text, "utf-8")
    draw(runs)
    draw_enough(runs)
    sys.stdout.write(f"wrote {PAGES / 'people.md'}\n")


def read_runs(folder: Path) -> dict[str, Run]:
    """Runs by name, each with the people of all parts that have it."""
    parts: dict[str, list[Run]] = defaultdict(list)
    for file in sorted(folder.glob("*/*/run.json")):
        parts[file.parent.name].append(Run.load(file.parent))
    return {
        name: replace(
            some[0],
            rows=list(chain.from_iterable(run.rows for run in some)),
            facts=list(chain.from_iterable(run.facts for run in some)),
        )
        for name, some in parts.items()
    }


def against(runs: Runs, first: str, second: str) -> Tests:
    return {way: compare(runs[f"{first}-{way}"], runs[f"{second}-{way}"]) for way in WAYS}


def corrected(tests: Tests) -> Corrected:
    """By Holm, over all scores of both ways of writing."""
    places = list(product(tests, SHOWN))
    values = holm([tests[way].changes[score].p for way, score in places])
    return dict(zip(places, values, strict=True))


def direction(change: Change, score: str, p: float | None) -> int:
    """1 where the second side is better beyond chance, -1 where it is worse."""
    if p is None or p >= ENOUGH:
        return 0
    gain = (change.second or 0.0) - (change.first or 0.0)
    return 1 if gain * score_of(score).better > 0 else -1


def changes(tests: Tests, p: Corrected) -> str:
    """One line per score: the paper's change where it has one, and ours in both ways."""
    before, after = TABLE_2["without fine-tuning"].mean, TABLE_2["with fine-tuning"].mean
    rows = []
    for score in SHOWN:
        kind = score_of(score)
        paper = "–"
        if kind.published:
            paper = f"{after[kind.published] - before[kind.published]:+.2f}"
        cells = []
        for way, comparison in tests.items():
            change = comparison.changes[score]
            sides = " → ".join(digits(value or 0.0) for value in (change.first, change.second))
            verdict = {1: "better", 0: "–", -1: "worse"}[direction(change, score, p[way, score])]
            cells += [f"{sides}, {told(change.difference)}", f"{holm_p(p[way, score])} {verdict}"]
        rows.append((title_of(score), paper, *cells))
    headings = [cell for way in tests for cell in (f"{way}: change [95 %]", "p (Holm)")]
    return markdown(("score", "paper", *headings), rows)


def counted(tests: Tests, p: Corrected) -> str:
    """How many scores are better and worse beyond chance, by way of writing."""
    parts = []
    for way, comparison in tests.items():
        verdicts = Counter(
            direction(comparison.changes[score], score, p[way, score]) for score in SHOWN
        )
        parts.append(f"{way} {verdicts[1]} better, {verdicts[-1]} worse")
    return f"{'; '.join(parts)} (of {len(SHOWN)})"


def sentences(pairs: Mapping[str, Tests]) -> dict[str, str]:
    """The figures of the page's first sentences: both sides, greedy, and for how many."""
    figures: dict[str, str] = {}
    wanted = product(("own", "alike", "rules"), ("semantic", "taken_for"))
    for name, score in wanted:
        change = pairs[name]["greedy"].changes[score]
        better, _ = pairs[name]["greedy"].further["better"][score]
        figures |= {
            f"{name}_{score}_first": digits(change.first or 0.0),
            f"{name}_{score}_second": digits(change.second or 0.0),
            f"{name}_{score}_for": f"{better} of {change.groups}",
        }
    return figures


def six(tests: Tests, p: Corrected) -> str:
    """The EI scores that are better, and those that are worse, by way of writing."""
    parts = []
    for way, comparison in tests.items():
        verdicts: dict[int, list[str]] = defaultdict(list)
        for score in SIX:
            verdict = direction(comparison.changes[score], score, p[way, score])
            verdicts[verdict].append(title_of(score))
        better, worse = verdicts[1], verdicts[-1]
        parts.append(
            f"{way} {len(better)} better ({', '.join(better) or 'none'}) and "
            f"{len(worse)} worse ({', '.join(worse) or 'none'})"
        )
    return "; ".join(parts)


def ok_is_better(runs: Runs) -> str:
    """How many of the six EI scores "ok" wins against every way of writing with a model."""
    won = 0
    for score in SIX:
        sign = score_of(score).better
        values = [
            sign * (runs[f"{how}-{way}"].variants[""].overall[score].value or 0.0)
            for how, way in product(HOWS, WAYS)
        ]
        won += sign * (runs["constant"].variants[""].overall[score].value or 0.0) > max(values)
    return f"{won} of the six"


def written(runs: Runs, scores: Sequence[str]) -> str:
    """Every way of writing, with and without a model."""
    names = [name for name in CALLED if name in runs]
    names += [f"{how}-{way}" for how in HOWS for way in WAYS]
    rows = []
    for name in names:
        how, _, way = name.partition("-")
        overall = runs[name].variants[""].overall
        title = CALLED[how] + (f", {way}" if way else "")
        rows.append((title, *(told(overall[score]) for score in scores)))
    return markdown(("written by", *map(title_of, scores)), rows)


def category(name: str) -> Callable[[Any], Any]:
    if name != "words":
        return str
    return lambda words: sum(words > least for least in LENGTHS)


def distance(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Jensen–Shannon divergence in bits of two samples of categories."""
    one, two = Counter(first), Counter(second)
    order = [*dict.fromkeys((*one, *two))]
    return float(jensenshannon([one[it] for it in order], [two[it] for it in order], base=2) ** 2)


def shapes_table(shapes: pl.DataFrame, runs: Runs) -> str:
    """How far the turns written are from the person's, by what they are like."""
    by_run: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for row in shapes.iter_rows(named=True):
        by_run[row["run"]][row["group"]].append(row)
    names = [*(rule for rule in CALLED if rule in runs), *(f"{how}-sampled" for how in HOWS)]
    rows = []
    for name in names:
        cells = []
        for shape in SHAPED:
            kind = category(shape)
            cells.append(
                told(
                    average(
                        distance(
                            [kind(row[shape]) for row in real],
                            [kind(row[shape]) for row in by_run[name][who]],
                        )
                        for who, real in by_run[REAL].items()
                        if by_run[name][who]
                    )
                )
            )
        scores = runs[name].variants[""].overall
        cells += [told(scores[score]) for score in ("js_sentiment", "js_emotion")]
        rows.append((CALLED[name.removesuffix("-sampled")], *cells))
    headings = ("written by", *SHAPED.values(), "sentiment", "emotion")
    return markdown(headings, rows)


def means_table(shapes: pl.DataFrame) -> str:
    """What the people's turns hold, and those written for them: means over people."""
    rows = []
    names = [REAL, *(f"{how}-{way}" for how in HOWS for way in WAYS)]
    kinds = ("question", "objects", "emoji")
    of_people = shapes.group_by("run", "group").agg(
        pl.col("words").median(), *(pl.col(kind).mean() for kind in kinds)
    )
    of_people = of_people.sort("run", "group")  # an interval depends on the order
    for name in names:
        own = of_people.filter(pl.col("run") == name)
        how, _, way = name.partition("-")
        title = "the people" if name == REAL else f"{CALLED[how]}, {way}"
        shares = [told(average(own[kind].to_list())) for kind in kinds]
        rows.append((title, told(average(own["words"].to_list())), *shares))
    headings = ("written by", "words (median)", "with a question", "disagrees", "with emoji")
    return markdown(headings, rows)


def whom(runs: Runs) -> str:
    """Whether who gains has more turns, or is easier to tell from others: rank correlations."""
    facts = {fact["group"]: fact for fact in runs["copy"].facts}
    rows = []
    for first, second in (("untuned", "tuned"), ("swapped", "tuned")):
        for score, way in product(("semantic", "taken_for"), WAYS):
            before, after = runs[f"{first}-{way}"], runs[f"{second}-{way}"]
            gains = {who: gain(before, after, who, score) for who in facts}
            known = [who for who, value in gains.items() if value is not None]
            ranks = rankdata([gains[who] for who in known])
            cells = []
            for fact in ("learned_turns", "ceiling"):
                values = [of(facts[who][fact]) for who in known]
                cells.append(told(pearson(list(ranks), list(rankdata(values)))))
            lost = sum((gains[who] or 0.0) <= 0 for who in known)
            called = f"{CALLED[first]} → {CALLED[second]}, {way}"
            rows.append((called, title_of(score), f"{lost} of {len(known)}", *cells))
    headings = ("from → to", "score", "gain nothing", "with more turns", "with being told apart")
    return markdown(headings, rows)


def of(fact: Any) -> float:
    value = fact["value"] if isinstance(fact, Mapping) else fact
    return float(value or 0.0)


def gain(before: Run, after: Run, who: str, score: str) -> float | None:
    sides: list[Estimate] = [speaker_score(run, who, score) for run in (before, after)]
    if sides[0].value is None or sides[1].value is None:
        return None
    return sides[1].value - sides[0].value


def power(runs: Runs, turns: int) -> str:
    """What a test of so many people finds four times in five: own against another's adapter."""
    before, after = (
        {(row["group"], row["sample"]): row for row in runs[name].rows}
        for name in ("swapped-greedy", "tuned-greedy")
    )
    rows = []
    for score in (*CONTENT, *SIX, "taken_for"):
        by_person: dict[str, list[float]] = defaultdict(list)
        for key, row in after.items():
            if key in before and before[key][score] is not None and row[score] is not None:
                by_person[key[0]].append(row[score] - before[key][score])
        differences = [own for own in by_person.values() if len(own) > 1]
        seen = fmean(map(fmean, differences))
        least = (digits(smallest_seen(differences, people, turns)) for people in SIZES)
        rows.append((title_of(score), f"{seen:+.3f}", *least))
    return markdown(("score", "seen", *(f"{people} people" for people in SIZES)), rows)


def smallest_seen(differences: Sequence[Sequence[float]], people: int, turns: int) -> float:
    """The true difference that a test of so many people, with so many turns each, mostly finds.

    From differences turn by turn of some people: how much people vary beyond what their turns
    explain, and how much turns vary within a person.
    """
    within = fmean(map(variance, differences))
    means = [fmean(own) for own in differences]
    chance = fmean(variance(own) / len(own) for own in differences)
    between = max(0.0, variance(means) - chance)
    spread = ((between + within / turns) / people) ** 0.5
    alpha = ENOUGH / (len(WAYS) * len(SHOWN))
    return float((norm.ppf(1 - alpha / 2) + norm.ppf(POWER)) * spread)


def settings(folder: Path) -> dict[str, str]:
    """What was chosen, and what the accelerator was busy with."""
    chosen = json.loads((folder / "fewest" / "chosen.json").read_text("utf-8"))
    reports = [json.loads(path.read_text("utf-8")) for path in folder.glob("*/report.json")]
    trained = [
        one
        for report in reports
        for name, one in report["trained"].items()
        if name.startswith("k1 ")
    ]
    losses = ", ".join(f"{rate}: {loss:.4f}" for rate, loss in chosen["held_out"].items())
    busy = {
        "training": [one.get("group_seconds", 0) for r in reports for one in r["trained"].values()],
        "writing": [one["seconds"] for r in reports for one in r["written"].values()],
    }
    return {
        "rate": str(chosen["chosen"]),
        "losses": losses,
        "before": f"{fmean(one['held_out'][0] for one in trained):.3f}",
        "after": f"{fmean(min(one['held_out'][1:]) for one in trained):.3f}",
        **{what: f"{sum(seconds) / 60:.0f}" for what, seconds in busy.items()},
    }


def enough(runs: Runs) -> str:
    """What is gained over untuned with 25, 50 and all turns, by people who have all of these."""
    people = runs["n25-greedy"].groups
    rows = []
    for (turns, name), way in product(LEARNED.items(), WAYS):
        before, after = runs[f"untuned-{way}"], runs[f"{name}-{way}"]
        rows.append((turns, way, *(told(gained(before, after, people, it)) for it in GAINS)))
    return markdown(("turns learned", "written", *map(title_of, GAINS)), rows)


def gained(before: Run, after: Run, people: Collection[str], score: str) -> Average:
    """The mean over people of what each gains; a score of which less is better is turned round."""
    sign = score_of(score).better
    return average(
        sign * value
        for value in (gain(before, after, who, score) for who in people)
        if value is not None
    )


def draw_enough(runs: Runs) -> None:
    """Gains over untuned by turns learned, by turns there are, and by how plain it is who writes."""
    facts = {fact["group"]: fact for fact in runs["copy"].facts}
    amounts = {who: of(fact["learned_turns"]) for who, fact in facts.items()}
    known = {who: 100 * of(fact["ceiling"]) for who, fact in facts.items()}
    able = runs["n25-greedy"].groups
    groups = [
        *((f"turns learned ({len(able)} people)", *size, able) for size in LEARNED.items()),
        *(("turns they have", part, "tuned", who) for part, who in quarters(amounts)),
        *(("real turns known, %", part, "tuned", who) for part, who in quarters(known)),
    ]
    points = []
    for score, (column, place, name, who), way in product(GAINS, groups, WAYS):
        gains = gained(runs[f"untuned-{way}"], runs[f"{name}-{way}"], who, score)
        points.append((title_of(score), column, place, way, gains))
    notes = ["gain of tuned over untuned; bars are 95 % intervals that draw people"]
    draw_columns(
        PAGES / "people-enough.svg", "How many turns are enough, and for whom", points, notes
    )


def quarters(values: Mapping[str, float]) -> list[tuple[str, list[str]]]:
    """People in four parts by a value, each called by its range."""
    order = sorted(values, key=lambda who: (values[who], who))
    cuts = [round(part * len(order) / 4) for part in range(5)]
    return [
        ("–".join(f"{values[who]:.0f}" for who in (own[0], own[-1])), own)
        for own in (order[first:last] for first, last in pairwise(cuts))
    ]


def draw(runs: Runs) -> None:
    points = []
    for name, title in CALLED.items():
        if name in runs:
            points.append((title, "no model", runs[name].variants[""].overall["semantic"]))
        else:
            points += [
                (title, way, runs[f"{name}-{way}"].variants[""].overall["semantic"]) for way in WAYS
            ]
    notes = [f"mean over {len(runs['copy'].groups)} people; 95 % intervals draw people"]
    draw_estimates(PAGES / "people.svg", "Nearness in content (token matching F1)", points, notes)


if __name__ == "__main__":
    main()
