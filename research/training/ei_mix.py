"""How the shipped heads become answers: chosen on the conversations that folds A and B held out.

    python -m research.training.ei_mix [student]    what a tweet head adds, where yes begins, how sure to be

Only silver conversations of REALTALK chats 2 and 6 are looked at, each by the student that
never saw it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from research.training.ei_heads import ANSWERS, HEADS, PLACES
from research.training.ei_score import pearson, softmax

HERE = Path(__file__).parent
RUNS = HERE / "build" / "runs"


def main() -> None:
    student = sys.argv[1] if len(sys.argv) > 1 else "s"
    file = np.load(HERE / "build" / "ei.npz")
    parts = [np.load(RUNS / f"{name}-held.npz") for name in (f"{student}A", f"{student}B")]
    rows = np.concatenate([part["rows"] for part in parts])
    fold = np.repeat([0, 1], [len(part["rows"]) for part in parts])
    outputs = np.concatenate([part["outputs"] for part in parts])
    out = {name: outputs[:, place] for name, place in PLACES.items()}
    truth: dict[str, Any] = {}
    for name in HEADS:
        where = file[f"at_{name}"]
        if name in ("reflective", "grounding", "sentiment", "emotion", "intimacy"):
            place = {int(at): i for i, at in enumerate(where)}
            truth[name] = file[f"is_{name}"][[place[int(row)] for row in rows]].squeeze()

    def kappas(name: str, guess: np.ndarray[Any, Any]) -> list[float]:
        """Per fold, then over both: a setting must serve both kinds of chat."""
        return [cohen_kappa_score(truth[name][fold == f], guess[fold == f]) for f in (0, 1)]

    def excess(name: str, guess: np.ndarray[Any, Any]) -> list[float]:
        """Per fold, how much more often yes is said than the rubric says it."""
        return [float((guess - truth[name])[fold == f].mean()) for f in (0, 1)]

    chosen: dict[str, Any] = {}
    for name in ("reflective", "grounding"):
        # The facets are frequencies: yes begins where it is said as often as the rubric says it,
        # each fold counting alike. (Where kappa is best is noise: it is flat for two units.)
        cuts = np.linspace(-2, 4, 61)
        bias = [abs(float(np.mean(excess(name, out[name][:, 0] > cut)))) for cut in cuts]
        best = cuts[int(np.argmin(bias))]
        chosen[f"{name}_cut"] = round(float(best), 2)
        print(name, best, kappas(name, out[name][:, 0] > best), kappas(name, out[name][:, 0] > 0))
    for name in ("sentiment", "emotion"):
        for share in (0.0, 0.15, 0.3, 0.5, 1.0, 2.0, 1e3):  # the last: tweets alone
            guess = (out[name] + share * out[f"tweet_{name}"]).argmax(-1)
            print(name, share, [round(k, 4) for k in kappas(name, guess)])
    for share in (0.0, 0.2, 0.4, 0.7, 1.0):
        mix = out["intimacy"][:, 0] + share * out["tweet_intimacy"][:, 0]
        scores = [
            pearson(truth["intimacy"][fold == f].astype(float), mix[fold == f]) for f in (0, 1)
        ]
        print("intimacy", share, [round(s, 4) for s in scores])
    for name, heat in ANSWERS["temperature"].items():
        logits, right = answered(name, out), truth[name].astype(int)
        places = [np.flatnonzero(fold == f) for f in (0, 1)]
        steps = np.geomspace(0.5, 10, 100)
        # On one fold, then used on the other; the last is over both alike.
        alone = [min(steps, key=lambda t: lost(logits[at] / t, right[at])) for at in places]
        best = min(steps, key=lambda t: sum(lost(logits[at] / t, right[at]) for at in places))
        for said, heats in (("1", (1, 1)), ("crossed", alone[::-1]), ("shipped", (heat, heat))):
            pairs = zip(places, heats, strict=True)
            errors = [miscalibrated(logits[at] / t, right[at]) for at, t in pairs]
            print(name, "temperature", said, "off by", [round(e, 3) for e in errors])
        chosen[f"{name}_temperature"] = round(float(best), 1)
    print(chosen)


def answered(name: str, out: dict[str, Any]) -> np.ndarray[Any, Any]:
    """A measure's logits as it answers: of a yes or no, those of no (0) and yes."""
    if name in ("reflective", "grounding"):
        return no_and_yes(out[name] - ANSWERS[f"{name}_cut"])
    own, tweets = ANSWERS[name]
    return np.asarray(own * out[name] + tweets * out[f"tweet_{name}"])


def no_and_yes(outputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One output of a yes or no as two."""
    return np.pad(outputs, ((0, 0), (1, 0)))


def lost(logits: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    given = softmax(logits)[np.arange(len(right)), right]
    return float(-np.log(np.maximum(given, 1e-9)).mean())


def miscalibrated(logits: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> float:
    """How far the given probability is from the share that is right, in tenths (ECE)."""
    given, hit = softmax(logits).max(-1), logits.argmax(-1) == right
    part = np.minimum((given * 10).astype(int), 9)
    there = [part == n for n in range(10) if (part == n).any()]
    return float(sum(abs(given[at].mean() - hit[at].mean()) * at.mean() for at in there))


if __name__ == "__main__":
    main()
