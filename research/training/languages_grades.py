"""Scores by language → the grades that stand with labels: good, usable, rough or none.

    python -m research.training.languages_grades --scores rubric.json scores.json
    → src/realtalk_models/ei_multilingual/grades.json
    → docs/model-cards/ei-multilingual.md: the tables between its marks

They are what languages_mix.py and languages_score.py write. The rules are here and nowhere else:

- A measure's grade in a language comes from one figure: rubric labels of turns in dialogue where
  there are any, of public sets and of chats of our own together, weighted by n (the very question
  that the labels answer), else the largest labelled set, else
  agreement with the English encoder on translations (twins). Rubric labels of single lines, which
  were read without what was said before, are a set among the others.
- It is the best grade whose threshold the score reaches while the lower end of its interval
  reaches the threshold of the grade below. "good" takes rubric labels in dialogue: other sets ask
  something else, so they speak for "usable" at most.
- A language's own grade is what at least four of its six measures reach.
- What is not measured is "none". Languages that share a code (Croatian and Serbian, Indonesian and
  Malay, dialects of Arabic) share their figures, weighted by n: they cannot be told apart anyway.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from realtalk.ei.encoder_choice import GRADES
from realtalk.ei.labels import MEASURES
from realtalk.ei.languages import language_name
from research.training.card_tables import put_between
from research.training.identifier_data import SAME

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src" / "realtalk_models" / "ei_multilingual" / "grades.json"
CARD = ROOT / "docs" / "model-cards" / "ei-multilingual.md"
FEWEST = 60  # rows below which a figure says nothing
ENOUGH = 4  # measures that must reach a language's own grade

# Their turns with rubric labels are single lines (languages/README.md).
SINGLE_LINES = frozenset({"es", "pt", "ru", "tr", "ar", "vi", "hi"})
# Where rough, usable and good begin. Of rubric labels usable is what the encoder was asked to reach
# on average, good is .08 below the English encoder's mean on two chats that it had not seen.
RUBRIC = {
    "sentiment": (0.30, 0.50, 0.53),
    "emotion": (0.20, 0.38, 0.44),
    "grounding": (0.25, 0.50, 0.70),
    "reflective": (0.20, 0.35, 0.59),
    "empathy": (0.30, 0.55, 0.72),
    "intimacy": (0.25, 0.45, 0.64),
}
# Public sets: rough and usable. Macro F1; Pearson for MINT.
PUBLIC = {
    "umsab": ("sentiment", 0.45, 0.60),
    "msctd spoken_sentiment": ("sentiment", 0.45, 0.60),
    "meld_zh_de spoken_sentiment": ("sentiment", 0.45, 0.60),
    "cped spoken_sentiment": ("sentiment", 0.45, 0.60),
    "brighter": ("emotion", 0.30, 0.45),
    "xed": ("emotion", 0.28, 0.42),
    "meld_zh_de spoken_mood": ("emotion", 0.25, 0.38),
    "masac spoken_mood": ("emotion", 0.25, 0.38),
    "cped spoken_mood": ("emotion", 0.25, 0.38),
    "mint": ("intimacy", 0.30, 0.45),
}
# Agreement of two encoders that share a teacher is easier than agreement with people.
TWINS = {
    **dict.fromkeys(("sentiment", "emotion", "grounding", "reflective"), (0.35, 0.60)),
    **dict.fromkeys(("empathy", "intimacy"), (0.50, 0.75)),
}
Figure = dict[str, Any]


def graded(figure: Figure, steps: tuple[float, ...]) -> str:
    """The best grade that a figure reaches; its lower end must reach the grade below."""
    reached = "none"
    for at, (grade, step) in enumerate(zip(GRADES[1:], steps, strict=False)):
        below = steps[at - 1] if at else 0.0
        if figure["score"] >= step and figure["low"] >= below:
            reached = grade
    return reached if figure["n"] >= FEWEST else "none"


def pooled(figures: Iterable[Figure]) -> dict[tuple[str, str], Figure]:
    """Figures by task and code; of languages that share a code their mean by n."""
    some: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for each in figures:
        is_language = not each["lang"].startswith(("mean", "in dialogue", "single"))
        if is_language and all(math.isfinite(each[name]) for name in ("score", "low", "high")):
            some[each["task"], SAME.get(each["lang"], each["lang"])].append(each)
    return {key: mean_by_n(key[0], group) for key, group in some.items()}


def mean_by_n(task: str, figures: Iterable[Figure]) -> Figure:
    some = list(figures)
    n = sum(each["n"] for each in some)
    means = {
        name: sum(each[name] * each["n"] for each in some) / n for name in ("score", "low", "high")
    }
    return {"task": task, "n": n, **means}


def chosen(by: Mapping[tuple[str, str], Figure], lang: str, measure: str) -> Figure | None:
    """The figure that decides about a measure in a language, with its grade."""
    own, chats = (by.get((f"{kind} {measure}", lang)) for kind in ("rubric", "chats"))
    in_dialogue = [chats, None if lang in SINGLE_LINES else own]
    if known := [each for each in in_dialogue if each is not None]:
        both = mean_by_n(f"rubric {measure}", known)
        return {**both, "grade": graded(both, RUBRIC[measure])}
    sets = [
        {**figure, "grade": graded(figure, PUBLIC[task][1:])}
        for (task, code), figure in by.items()
        if code == lang and task in PUBLIC and PUBLIC[task][0] == measure
    ]
    if own is not None:
        sets.append({**own, "grade": graded(own, RUBRIC[measure][:2])})
    if sets:
        return max(sets, key=lambda each: each["n"])
    twin = by.get((f"twins {measure}", lang))
    return None if twin is None else {**twin, "grade": graded(twin, TWINS[measure])}


def grades(figures: Iterable[Figure], version: str) -> dict[str, Any]:
    by = pooled(figures)
    languages: dict[str, Any] = {}
    # One that the identifier does not know has no name, and no chat is ever said to be in it.
    told_apart = {code for _, code in by if language_name(code) != code}
    for lang in sorted(told_apart):
        found = {name: chosen(by, lang, name) for name in MEASURES}
        measures = {name: _rounded(each) for name, each in found.items() if each is not None}
        told = [each["grade"] for each in measures.values()]
        reached = sorted([*told, *["none"] * (len(MEASURES) - len(told))], key=GRADES.index)
        grade = reached[len(MEASURES) - ENOUGH]
        languages[lang] = {"grade": grade, "measures": measures}
    rules = {"rubric": RUBRIC, "public": PUBLIC, "twins": TWINS, "fewest": FEWEST}
    return {"version": version, "rules": rules, "languages": languages}


def _rounded(figure: Figure) -> Figure:
    return {name: round(v, 3) if isinstance(v, float) else v for name, v in figure.items()}


def grade_table(made: Mapping[str, Any]) -> str:
    """One row per language: its grade, and each measure's with the figure behind it."""
    head = ["language", "grade", *MEASURES]
    lines = [" | ".join(head), "|".join(["---"] * len(head))]
    order = sorted(
        made["languages"].items(), key=lambda each: (-GRADES.index(each[1]["grade"]), each[0])
    )
    for lang, own in order:
        cells = [_cell(own["measures"].get(name)) for name in MEASURES]
        lines.append(" | ".join([f"{language_name(lang)} ({lang})", own["grade"], *cells]))
    return "\n".join(f"| {line} |" for line in lines)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "none"
    kind = figure["task"].split()[0]
    return f"{figure['grade']} {_short(figure['score'])} ({kind}, n={figure['n']:,})"


def score_tables(figures: Iterable[Figure]) -> str:
    """One table per task: score, interval and n of every language."""
    by: dict[str, list[Figure]] = defaultdict(list)
    for each in figures:
        by[each["task"]].append(each)
    tables = []
    for task, rows in by.items():
        lines = [f"**{task}**", "", "| language | score | 95 % | n |", "|---|---|---|---|"]
        for each in rows:
            ends = f"{_short(each['low'])} to {_short(each['high'])}"
            score = _short(each["score"])
            lines.append(f"| {each['lang']} | {score} | {ends} | {each['n']:,} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, nargs="+", required=True)
    parser.add_argument("--settings", type=Path, default=TARGET.parent / "settings.json")
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--card", type=Path, default=CARD)
    options = parser.parse_args()
    figures = [row for path in options.scores for row in json.loads(path.read_text("utf-8"))]
    version = json.loads(options.settings.read_text("utf-8"))["version"]
    made = grades(figures, str(version))
    options.out.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    counts = [own["grade"] for own in made["languages"].values()]
    print({grade: counts.count(grade) for grade in reversed(GRADES)})
    put_between(options.card, "grades", grade_table(made))
    put_between(options.card, "scores", score_tables(figures))


if __name__ == "__main__":
    main()
