"""What the shipped file scores: the tables of its model card.

    python -m research.training.ei_card --data ../shared/data --published ../shared/paper/published.json

Everything runs through the package's own loader, so the figures are those a user gets. Public
test parts with bootstrap intervals over examples; thresholds of emotions come from the dev part,
EPITOME's level is the likeliest. The paper's Table 7 by correlation over its sixteen speakers.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, recall_score

import realtalk_models
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import label_frame, turn_inputs
from realtalk.ei.speakers import speakers
from realtalk.encoders.pairs import PairEncoder
from realtalk.formats.opening import open_reading
from research.training import ei_data
from research.training.ei_score import pearson, thresholds

Array = np.ndarray[Any, Any]
Scores = dict[str, float]
SETS = ("tweeteval_sentiment", "semeval2018_ec", "mint", "epitome")
TESTED = (1, 3, 4, 5, 7, 8, 9, 10)  # of REALTALK


def interval(
    score: Callable[[Array, Array], float], truth: Array, guess: Array, times: int = 200
) -> str:
    """A score and its 95 % bootstrap interval over examples."""
    rng, n = np.random.default_rng(0), len(truth)
    drawn = (rng.integers(0, n, n) for _ in range(times))
    low, high = np.quantile([score(truth[i], guess[i]) for i in drawn], [0.025, 0.975])
    return f"{score(truth, guess):.3f} [{low:.3f}, {high:.3f}] (n={n:,})"


def public(data: Path) -> None:
    encoder = PairEncoder(realtalk_models.path("ei"))
    places = encoder.settings["places"]
    examples = [e for e in ei_data.public(data) if e.set in SETS and e.split in ("dev", "test")]
    outputs = encoder.outputs([(e.previous, e.text) for e in examples])

    def part(name: str, split: str, head: str) -> tuple[Array, Array]:
        at = [i for i, e in enumerate(examples) if (e.set, e.split) == (name, split)]
        truth = np.array([examples[i].labels[head] for i in at])
        return truth, outputs[at, slice(*places[head])]

    print("| set | figure | score |\n|---|---|---|")
    truth, logits = part("tweeteval_sentiment", "test", "tweet_sentiment")
    said = interval(macro_recall, truth, logits.argmax(-1), 100)
    print(f"| TweetEval sentiment | macro recall | {said} |")
    labels, scores = part("semeval2018_ec", "dev", "tweet_emotion")
    cuts = thresholds(scores, labels)
    labels, scores = part("semeval2018_ec", "test", "tweet_emotion")
    said = interval(emotions_f1, labels, scores > cuts)
    print(f"| SemEval-2018 E-c | macro F1 | {said} |")
    truth, logits = part("mint", "test", "tweet_intimacy")
    said = interval(pearson, truth.astype(float), logits[:, 0])
    print(f"| MINT (English) | Pearson | {said} |")
    for name in ("reaction", "interpretation", "exploration"):
        truth, logits = part("epitome", "test", f"epitome_{name}")
        guess = logits.argmax(-1)
        print(f"| EPITOME {name} | accuracy | {interval(accuracy, truth, guess)} |")
        print(f"| EPITOME {name} | macro F1 | {interval(macro_f1, truth, guess)} |")


def macro_recall(truth: Array, guess: Array) -> float:
    return float(recall_score(truth, guess, average="macro"))


def emotions_f1(truth: Array, guess: Array) -> float:
    return float(f1_score(truth, guess, average="macro"))


def accuracy(truth: Array, guess: Array) -> float:
    return float(accuracy_score(truth, guess))


def macro_f1(truth: Array, guess: Array) -> float:
    return float(f1_score(truth, guess, average="macro", labels=[0, 1, 2], zero_division=0))


def table7(data: Path, published: Path, protocol: str, model: Path | None = None) -> Scores:
    """Facet → Pearson over the speakers: single messages, as Table 7 was made, or joined turns."""
    table = json.loads(published.read_text("utf-8"))["table7"]
    values = np.array([row["values"] for row in table["rows"]], float)
    corpus = open_reading(str(data / "realtalk")).reading.corpus
    labeller = EmbeddedLabeller(model)
    inputs = turn_inputs(corpus, joined=protocol == "turns")
    inputs = [i for i in inputs if int(i.chat.split("_")[1]) in TESTED]
    frame = label_frame(inputs, labeller.label(inputs), labeller)
    found = {(one.chat, one.speaker): one for one in speakers(frame, protocol)}
    rows = [found[row["chat"], row["speaker"]] for row in table["rows"]]
    reached = {}
    for column, name in enumerate(table["metrics"]):
        facet = name.removesuffix("_e3")
        ours = np.array([row[facet].value for row in rows], float)
        reached[facet] = pearson(ours, values[:, column])
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--published", type=Path, default=Path("../shared/paper/published.json"))
    parser.add_argument("--no-table", action="store_true", help="leave Table 7 out")
    options = parser.parse_args()
    public(options.data)
    if not options.no_table:
        of = [table7(options.data, options.published, each) for each in ("released", "turns")]
        print(
            "\n| facet | Pearson with Table 7 (16 speakers): messages | joined turns |\n|---|---|---|"
        )
        for facet, alone in of[0].items():
            print(f"| {facet} | {alone:.3f} | {of[1][facet]:.3f} |")


if __name__ == "__main__":
    main()
