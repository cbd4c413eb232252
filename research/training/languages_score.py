"""What a multilingual encoder scores in every language: the tables of its model card.

    python -m research.training.languages_score --data ../shared/data --model FOLDER [--json scores.json]

FOLDER holds model.onnx, tokenizer.json and settings.json, as it ships; everything runs through the
package's own loader, so the figures are those a user gets. Where yes begins (BRIGHTER, XED) comes
from dev parts. Agreement with rubric labels is measured by languages_mix.py. Intervals are 95 %
bootstrap intervals over rows.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.encoders.pairs import PairEncoder
from research.training.ei_data import many
from research.training.ei_score import pearson
from research.training.languages_heads import PLUTCHIK
from research.training.languages_measures import Array, cuts_by_language, interval, macro_f1
from research.training.languages_sources import (
    Spoken,
    brighter,
    in_dialogues,
    lines,
    mood,
    sentiment,
    told,
)
from research.training.languages_twins import twins

HERE = Path(__file__).parent
NO_TRAINING = frozenset({"zu", "xh", "id", "jv"})  # BRIGHTER has dev and test only
NAMED = ("es", "pt-BR", "de", "ru", "hi")
SEEN = frozenset({"en", "es", "fr", "it", "pt", "zh"})  # MINT's languages of training
FLOORS = {
    **{"brighter": 0.36, "umsab": 0.60, "mint seen": 0.55, "mint unseen": 0.30},
    **{f"brighter {lang}": 0.45 for lang in NAMED},
    **{"rubric sentiment": 0.50, "rubric emotion": 0.38, "rubric grounding": 0.50},
    **{"rubric reflective": 0.35, "rubric empathy": 0.55, "rubric intimacy": 0.45},
}
Row = dict[str, Any]


class Scored:
    """Examples, the encoder's outputs for them, by head."""

    def __init__(self, encoder: PairEncoder, examples: Iterable[Spoken]) -> None:
        self.examples = list(examples)
        self.langs = np.array([each.lang for each in self.examples])
        self._outputs = encoder.outputs([(e.previous, e.text) for e in self.examples])
        self._places = encoder.settings["places"]

    def logits(self, head: str) -> Array:
        return np.asarray(self._outputs[:, slice(*self._places[head])])

    def labels(self, head: str, absent: Any) -> Array:
        return np.array([each.labels.get(head, absent) for each in self.examples])

    def languages(self) -> list[tuple[str, Array]]:
        """Each language and its rows, most rows first."""
        names, counts = np.unique(self.langs, return_counts=True)
        order = sorted(zip(-counts, names, strict=True))
        return [(str(name), np.flatnonzero(self.langs == name)) for _, name in order]


def figure(task: str, lang: str, rows: Array, score: Callable[[Array], float]) -> Row:
    value, low, high = interval(lambda at: score(rows[at]), len(rows))
    return {"task": task, "lang": lang, "n": len(rows), "score": value, "low": low, "high": high}


def mean_of(task: str, figures: Iterable[Row], chosen: Callable[[str], bool]) -> Row:
    """The mean over languages; its interval as if languages were independent."""
    some = [each for each in figures if chosen(each["lang"])]
    value = float(np.mean([each["score"] for each in some]))
    half = [(each["high"] - each["low"]) / 2 for each in some]
    width = float(np.sqrt(np.square(half).sum()) / len(some))
    n = sum(each["n"] for each in some)
    spread = {"low": value - width, "high": value + width}
    return {"task": task, "lang": f"mean of {len(some)}", "n": n, "score": value, **spread}


def sampled(rows: Iterable[Row], most: int) -> list[Row]:
    """At most so many rows of a language, spread over the file."""
    by: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by[row["lang"]].append(row)
    return [row for some in by.values() for row in some[:: -(-len(some) // most)]]


def multi_label(encoder: PairEncoder, data: Path, name: str, most: int) -> list[Row]:
    """BRIGHTER or XED: any number of emotions per text."""

    def part(split: str) -> Scored:
        rows = sampled(lines(data, f"emotion.{name}.{split}"), most)
        label = brighter if name == "brighter" else xed
        return Scored(encoder, (told(row, name, split, **label(row)) for row in rows))

    dev, test = part("dev"), part("test")
    cuts = cuts_by_language(dev.logits(name), dev.labels(name, None).astype(float), dev.langs)
    logits, labels = test.logits(name), test.labels(name, None).astype(float)
    found = []
    for lang, rows in test.languages():
        said = logits > cuts.get(lang, cuts[""])

        def score(at: Array, said: Array = said) -> float:
            return macro_f1(labels[at], said[at])

        found.append(figure(name, lang, rows, score))
    taught = [each for each in found if each["lang"] not in NO_TRAINING]
    return [*found, mean_of(name, taught, lambda _: True)]


def xed(row: Row) -> dict[str, Any]:
    return {"xed": many(row["labels"], PLUTCHIK)}


def classes(task: str, head: str, test: Scored) -> list[Row]:
    """One class per row: macro F1 by language, and their mean."""
    logits, labels = test.logits(head), test.labels(head, -1)

    def score(at: Array) -> float:
        at = at[labels[at] >= 0]
        return float(f1_score(labels[at], logits[at].argmax(-1), average="macro"))

    some = [(lang, rows[labels[rows] >= 0]) for lang, rows in test.languages()]
    found = [figure(task, lang, rows, score) for lang, rows in some if len(rows) > 1]
    return [*found, mean_of(task, found, lambda _: True)]


def intimacy(encoder: PairEncoder, data: Path) -> list[Row]:
    rows = lines(data, "intimacy.mint.test")
    label = "tweet_intimacy"
    given = (told(row, "mint", tweet_intimacy=float(row["score"])) for row in rows)
    test = Scored(encoder, given)
    values, truth = test.logits(label)[:, 0], test.labels(label, np.nan).astype(float)
    found = [
        figure("mint", lang, at, lambda some: pearson(truth[some], values[some]))
        for lang, at in test.languages()
    ]
    return [
        *found,
        mean_of("mint seen", found, lambda lang: lang in SEEN),
        mean_of("mint unseen", found, lambda lang: lang not in SEEN),
    ]


def dialogues(encoder: PairEncoder, data: Path, most: int) -> list[Row]:
    """Lines of dialogue with the line before: moods and sentiment."""
    found = []
    names = {"emotion.meld_zh_de.test": 1, "emotion.masac.dev": 1, "emotion.cped.test": 8}
    for name, every in names.items():
        pairs = list(in_dialogues(lines(data, name), name))[::every][: most * 10]
        for row, made in pairs:
            label = {f"spoken_{key}": value for key, value in mood(row).items()}
            made.labels = {**label, **sentiment(row, "spoken_sentiment")}
        test = Scored(encoder, (made for _, made in pairs))
        short = name.split(".")[1]
        for head in ("spoken_mood", "spoken_sentiment"):
            if any(head in made.labels for _, made in pairs):
                found += classes(f"{short} {head}", head, test)
    pairs = list(in_dialogues(lines(data, "sentiment.msctd.test"), "msctd"))[::3]
    for row, made in pairs:
        made.labels = sentiment(row, "spoken_sentiment")
    return found + classes(
        "msctd spoken_sentiment", "spoken_sentiment", Scored(encoder, (m for _, m in pairs))
    )


def floors(figures: list[Row]) -> None:
    """Which of what is asked for is reached."""
    found: dict[str, float] = {}
    for each in figures:
        if each["lang"].startswith("mean"):
            found[each["task"]] = each["score"]
        elif each["task"] == "brighter" and each["lang"] in NAMED:
            found[f"brighter {each['lang']}"] = each["score"]
    print("\n| asked | floor | score | |\n|---|---|---|---|")
    for name, floor in FLOORS.items():
        if name in found:
            reached = "reached" if found[name] >= floor else "missed"
            print(f"| {name} | {floor:.2f} | {found[name]:.3f} | {reached} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="brighter,xed,umsab,mint,dialogues,twins")
    parser.add_argument("--most", type=int, default=400, help="XED: rows per language")
    options = parser.parse_args()
    encoder = PairEncoder(options.model)
    figures: list[Row] = []
    for name in options.only.split(","):
        if name in ("brighter", "xed"):
            most = options.most if name == "xed" else 100_000
            figures += multi_label(encoder, options.data, name, most)
        elif name == "umsab":
            rows = lines(options.data, "sentiment.umsab.test")
            label = (told(row, name, **sentiment(row, "tweet_sentiment")) for row in rows)
            figures += classes(name, "tweet_sentiment", Scored(encoder, label))
        elif name == "mint":
            figures += intimacy(encoder, options.data)
        elif name == "dialogues":
            figures += dialogues(encoder, options.data, options.most)
        elif name == "twins":
            figures += twins(EmbeddedLabeller(options.model), options.data)
    print("| task | language | n | score | 95 % |\n|---|---|---|---|---|")
    for each in figures:
        said = f"{each['score']:.3f} | {each['low']:.3f}-{each['high']:.3f}"
        print(f"| {each['task']} | {each['lang']} | {each['n']:,} | {said} |")
    floors(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
