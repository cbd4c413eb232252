"""Today's English EI encoder and a trial from open text, measure by measure: may the trial ship?

    python -m research.training.ei_compare --model FOLDER     # exported by ei_export --out FOLDER
    → tables, and for each measure whether the trial is within .05 of today's

The trial answers by the rubric's heads alone: where yes begins and how sure it is are settled here,
on every fourth of our own English chats, and written into the folder's settings. Then it is scored
once, on chats that it never saw: REALTALK's 2 and 6 against rubric labels, beside what today's recipe
reached on them when it had not seen them (its card), and Table 7, over REALTALK's other eight chats.
Those two decide. For orientation: every fourth own chat, which neither learned from.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import realtalk_models
from realtalk.encoders.pairs import PairEncoder, answer_columns
from research.training.chats import HELD_CHATS
from research.training.ei_card import table7
from research.training.ei_data import silver
from research.training.ei_heads import ANSWERS
from research.training.ei_mix import lost, no_and_yes
from research.training.ei_score import COMPONENTS, pearson
from research.training.languages_labels import in_marked
from research.training.languages_mix import kappa

Array = np.ndarray[Any, Any]
Pairs = list[tuple[str, str]]
NEAR = 0.05
YES = ("reflective", "grounding")
MEASURES = (*YES, "sentiment", "emotion", "empathy", "intimacy")
# Of the card: the recipe trained again without the chat.
TODAY = {
    "realtalk/Chat_6_Vanessa_Nicolas": (0.608, 0.753, 0.592, 0.469, 0.743, 0.694),
    "realtalk/Chat_2_Kevin_Elise": (0.739, 0.799, 0.623, 0.572, 0.858, 0.738),
}


def own_turns() -> tuple[Pairs, dict[str, Array]]:
    """The English chats of ours that are not learned from, and their labels."""
    given = in_marked(held=True)
    given = given.only(given.langs == "en")
    heads = (*YES, "sentiment", "emotion", "intimacy", *COMPONENTS)
    return given.pairs, {name: given.truth(name) for name in heads}


def realtalk_turns(data: Path, chat: str) -> tuple[Pairs, dict[str, Array]]:
    """The labelled turns of one REALTALK chat."""
    turns = [e for e in silver(data, ("silver.jsonl",), chat.__eq__) if e.set == "silver"]
    truth = {head: np.array([e.labels[head] for e in turns]).squeeze() for head in turns[0].labels}
    return [(e.previous, e.text) for e in turns], truth


def agreement(said: dict[str, Array], truth: dict[str, Array]) -> list[float]:
    """Kappa; Pearson for empathy and intimacy."""
    found = [kappa(truth[name].astype(int), said[name].astype(int)) for name in MEASURES[:4]]
    empathy = np.sum([truth[name] for name in COMPONENTS], axis=0).astype(float)
    found.append(pearson(empathy, said["empathy"].astype(float)))
    return [*found, pearson(truth["intimacy"].astype(float), said["intimacy"].astype(float))]


def is_near(was: float, now: float) -> bool:
    return round(was - now, 3) <= NEAR  # of what is not a number never


def as_often(scores: Array, truth: Array) -> float:
    """Where yes begins so that it is said as often as it is true."""
    cuts = np.linspace(-3, 4, 141)
    return float(cuts[np.argmin([abs((scores > cut).mean() - truth.mean()) for cut in cuts])])


def settle(folder: Path) -> None:
    """Answers of a model without tweets' heads → its settings."""
    pairs, truth = own_turns()
    encoder = PairEncoder(folder)
    outputs = encoder.outputs(pairs)
    head = {name: outputs[:, slice(*at)] for name, at in encoder.settings["places"].items()}
    answers: dict[str, Any] = {f"{n}_cut": round(as_often(head[n][:, 0], truth[n]), 2) for n in YES}
    logits = {n: no_and_yes(head[n] - answers[f"{n}_cut"]) for n in YES}
    logits |= {n: head[n] for n in ("sentiment", "emotion")}
    steps = np.geomspace(0.5, 10, 100)
    heat = {n: min(steps, key=lambda t: lost(logits[n] / t, truth[n])) for n in logits}
    answers |= dict.fromkeys(("sentiment", "emotion", "intimacy"), (1.0, 0.0))
    answers["temperature"] = {n: round(float(t), 1) for n, t in heat.items()}
    assert answers.keys() == ANSWERS.keys()
    settings = {**encoder.settings, "version": "open 1", "answers": answers}
    (folder / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    print(f"settled on {len(pairs)} turns of every {HELD_CHATS}th own chat: {answers}")


def told(title: str, row: list[float] | tuple[float, ...]) -> None:
    print(f"| {title} | {' | '.join(f'{value:.3f}' for value in row)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--published", type=Path, default=Path("../shared/paper/published.json"))
    options = parser.parse_args()
    settle(options.model)
    trial, today = PairEncoder(options.model), PairEncoder(realtalk_models.path("ei"))

    def said(encoder: PairEncoder, pairs: Pairs, **answers: float) -> dict[str, Array]:
        settings = encoder.settings
        settings = {**settings, "answers": {**settings["answers"], **answers}}
        return answer_columns(encoder.outputs(pairs), settings)

    print(f"\n| | {' | '.join(MEASURES)} |\n|---|{'---|' * len(MEASURES)}")
    short: list[str] = []
    for chat, figures in TODAY.items():
        pairs, truth = realtalk_turns(options.data, chat)
        told(f"today's recipe, {chat}", figures)
        reached = agreement(said(trial, pairs), truth)
        told(f"trial, {len(pairs)} turns", reached)
        loss = zip(MEASURES, figures, reached, strict=True)
        short += [f"{name} of {chat}" for name, was, now in loss if not is_near(was, now)]
        outputs, at = trial.outputs(pairs), trial.settings["places"]
        cuts = {f"{n}_cut": as_often(outputs[:, at[n][0]], truth[n]) for n in YES}
        told("trial, yes as often as there", agreement(said(trial, pairs, **cuts), truth))
    pairs, truth = own_turns()
    for name, encoder in (("today's", today), ("trial", trial)):
        told(f"{name}, own chats ({len(pairs)} turns)", agreement(said(encoder, pairs), truth))
    print("\n| facet | Pearson with Table 7 (messages): today's | trial |\n|---|---|---|")
    models = (None, options.model)
    of = [table7(options.data, options.published, "released", each) for each in models]
    for facet, was in of[0].items():
        told(facet, (was, of[1][facet]))
        if not is_near(was, of[1][facet]):
            short.append(f"Table 7 {facet}")
    print("\nmore than .05 below:", ", ".join(short) or "nothing: it may ship")


if __name__ == "__main__":
    main()
