"""research/results/rows/people → docs/results/people.md and its picture.

    python -m research.results.people_results

Rules that need no model, for many people (people_rows.py): what they reach, how much of it is the
person's own, and what differences so many people can show (`smallest_seen`).
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median, variance

from scipy.stats import norm

from realtalk.evals.run import Run
from realtalk.evals.tables import figure
from realtalk.evals.values import Score
from realtalk.metrics.grouped import Change
from realtalk.metrics.statistics import holm
from realtalk.persona.scoring import SCORES, WHOLE
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.page_words import digits, holm_p, told
from research.results.people_rows import OF_ANOTHER, OUT
from research.results.persona_claims import CONTENT, ENOUGH, SIX
from research.results.persona_round import CLAIMED
from research.results.persona_tables import compare, title_of

TEN = ROWS / "persona" / "qwen2.5-1.5b"
BEFORE, AFTER = "untuned-greedy", "tuned+retrieved-greedy"
SHOWN = (*CONTENT, *SIX, "js_emotion", "js_sentiment", "taken_for")
SIZES = (10, 50, 100, 200)
POWER = 0.8
CALLED = {
    **{"constant": "ok", "common-other": "common, another's", "common": "common, own"},
    **{"retrieve-other": "retrieve, another's", "retrieve": "retrieve, own", "copy": "copy"},
}
Changes = Mapping[str, Change]
Corrected = Mapping[tuple[str, str], float | None]


def main() -> None:
    runs = {path.name: Run.load(path) for path in sorted(OUT.iterdir()) if path.is_dir()}
    pairs = {name: compare(runs[f"{name}-other"], runs[name]).changes for name in OF_ANOTHER}
    places = [(name, score) for name in pairs for score in SHOWN]
    values = holm([pairs[name][score].p for name, score in places])
    corrected = dict(zip(places, values, strict=True))
    tested = Counter(row["group"] for row in runs["retrieve"].rows)
    learned = [fact["learned_turns"] for fact in runs["retrieve"].facts]
    turns = round(median(tested.values()))
    page = (Path(__file__).parent / "people_page.md").read_text("utf-8")
    text = page.format(
        people=len(tested),
        findings=findings(runs, pairs, corrected),
        own=own_table(pairs, corrected),
        rules=rules_table(runs),
        tests=len(CLAIMED) + 1,
        power=power_table(turns),
        turns=turns,
        tested=f"{tested.total():,}",
        learned=f"{sum(learned):,}",
        learned_median=round(median(learned)),
    )
    (PAGES / "people.md").write_text(text, "utf-8")
    draw(runs)
    sys.stdout.write(f"wrote {PAGES / 'people.md'}\n")


def findings(runs: Mapping[str, Run], pairs: Mapping[str, Changes], p: Corrected) -> str:
    """Three sentences, each of them read off the tables below."""
    own = {
        name: [score for score in SHOWN if is_better(pairs[name][score], score, p[name, score])]
        for name in pairs
    }
    retrieve = pairs["retrieve"]
    near, taken = retrieve["semantic"], retrieve["taken_for"]
    copied = figure(runs["copy"].variants[""].overall["semantic"], 3)
    return (
        f"A turn of one's own from a like place has a token matching F1 of {digits(near.second or 0)}, another person's "
        f"{digits(near.first or 0)} (difference {told(near.difference)}, {near.groups} people); the one is taken for the person "
        f"{digits(taken.second or 0)} of the time, the other {digits(taken.first or 0)}. "
        f"Own turns beat another's beyond chance in {len(own['retrieve'])} of {len(SHOWN)} scores where the nearest turn is taken "
        f"({', '.join(map(title_of, own['retrieve'])) or 'none'}) and in {len(own['common'])} where one turn is always written. "
        f"Repeating what was just said has a token matching F1 of {copied}."
    )


def is_better(change: Change, score: str, p: float | None) -> bool:
    gain = (change.second or 0.0) - (change.first or 0.0)
    return p is not None and p < ENOUGH and gain * every_score(score).better > 0


def every_score(name: str) -> Score:
    return SCORES.get(name) or WHOLE[name]


def own_table(pairs: Mapping[str, Changes], p: Corrected) -> str:
    rows = []
    for name, changes in pairs.items():
        for score in SHOWN:
            change = changes[score]
            sides = (digits(value or 0.0) for value in (change.first, change.second))
            tests = (holm_p(change.p), holm_p(p[name, score]))
            rows.append((name, title_of(score), *sides, told(change.difference), *tests))
    headings = ("rule", "score", "another's", "own", "difference", "p", "p (Holm)")
    return markdown(headings, rows)


def rules_table(runs: Mapping[str, Run]) -> str:
    rows = [
        (CALLED[name], *(told(runs[name].variants[""].overall[score]) for score in SHOWN))
        for name in CALLED
    ]
    return markdown(("rule", *map(title_of, SHOWN)), rows)


def power_table(turns: int) -> str:
    before, after = (
        {(row["group"], row["sample"]): row for row in Run.load(TEN / name).rows}
        for name in (BEFORE, AFTER)
    )
    rows = []
    for score in (*CONTENT, *SIX, "taken_for"):
        by_person: dict[str, list[float]] = defaultdict(list)
        for key, row in after.items():
            if key in before and before[key][score] is not None and row[score] is not None:
                by_person[key[0]].append(row[score] - before[key][score])
        differences = list(by_person.values())
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
    alpha = ENOUGH / (len(CLAIMED) + 1)
    return float((norm.ppf(1 - alpha / 2) + norm.ppf(POWER)) * spread)


def draw(runs: Mapping[str, Run]) -> None:
    points = [
        (title, "", runs[name].variants[""].overall["semantic"]) for name, title in CALLED.items()
    ]
    notes = [f"mean over {len(runs['copy'].groups)} people; 95 % intervals draw people"]
    draw_estimates(PAGES / "people.svg", "Nearness in content (token matching F1)", points, notes)


if __name__ == "__main__":
    main()
