"""research/results/rows/threads-model-rows.parquet → the tables of docs/results/threads.md about the model.

    model = ModelRows()
    model.figures(Asked("sentiment"), MODEL, "p-conv")["auc"]    → Estimate(0.58, 0.52, 0.64, …)
    claims(model)                                                → a Markdown table

What is judged first was fixed before any answer was read: clean rules, no solved example, recent
history, `persona_like`. Tests swap whole users; Holm's correction is over everything that a table
tests of a task.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from realtalk.evals.comparing import compare, estimate
from realtalk.evals.tables import share
from realtalk.evals.values import Row, by_column
from realtalk.metrics.statistics import Change, Estimate, holm
from realtalk.threads.values import SETTINGS, TASKS, Task
from research.papers.claims import (
    CLAIMS,
    PAIRS,
    Changes,
    Claim,
    JudgedClaim,
    Pair,
    gained_more,
    judge_claim,
    printed,
    settings_compared,
)
from research.papers.markdown import table as markdown
from research.papers.shared_rows import SHARED_SCORES, PredictionKey, load_predictions
from research.results import ROWS
from research.results.page_words import digits, holm_p, told

MODEL = "Qwen2.5-Coder-1.5B"
ITSELF = "the reply itself"
LEVELS: Mapping[Task, tuple[str, ...]] = {
    "sentiment": ("accuracy", "positive_f1", "mcc", "auc"),
    "impact": ("rmse", "mae", "mae_log", "spearman"),
    "next_text": ("rouge_1", "rouge_l", "meteor", "bleu", "cosine", "taken"),
}
# What is looked at first: no score that a constant does well on.
HEADLINES: Mapping[Task, tuple[str, ...]] = {
    "sentiment": ("mcc", "auc"),
    "impact": ("mae_log", "spearman"),
    "next_text": ("rouge_l", "cosine", "taken"),
}
_OUTCOMES = (
    ("clean", "majority", "p-conv"),
    ("with-scores", "parent", "p-conv"),
    ("clean", "mean", "p-conv"),
    ("clean", "nearest", "p-conv"),
    ("clean", "regression", "p-conv"),
    ("clean", "regression", "np-nonconv"),
)
BESIDE: Mapping[Task, tuple[tuple[str, str, str], ...]] = {  # rules, predictor, setting
    "sentiment": _OUTCOMES,
    "impact": _OUTCOMES,
    "next_text": (
        ("clean", "majority", "p-conv"),
        ("clean", "parent", "p-conv"),
        ("clean", "nearest", "p-conv"),
        ("clean", "nearest", "np-conv"),
        ("clean", ITSELF, "p-conv"),
    ),
}
ANY = ("majority", "mean", "nearest", ITSELF)  # who knows no conversation of an outcome


@dataclass(frozen=True)
class Asked:
    """Which replies were asked about, and by which rules."""

    task: Task
    rules: str = "clean"
    shots: int = 0
    history: str = "recent"
    corpus: str = "persona_like"

    def key(self, predictor: str = MODEL) -> PredictionKey:
        return PredictionKey(
            self.corpus, self.rules, self.shots, self.history, self.task, predictor
        )


class ModelRows:
    """The committed rows of the model and of those beside it, with what was reported."""

    def __init__(self) -> None:
        self._predictions = load_predictions([ROWS / "threads-model-rows.parquet"])
        self.about: dict[str, Any] = json.loads((ROWS / "threads-model.json").read_text("utf-8"))
        self._compared: dict[Asked, dict[Pair, Changes]] = {}
        self._by_setting: dict[PredictionKey, dict[str, list[Row]]] = {}

    def has(self, asked: Asked, predictor: str = MODEL) -> bool:
        return asked.key(predictor) in self._predictions

    def rows(self, asked: Asked, predictor: str = MODEL) -> Sequence[Row]:
        return self._predictions[asked.key(predictor)]

    def setting(self, asked: Asked, predictor: str, setting: str) -> list[Row]:
        return self._settings(asked, predictor)[setting]

    def _settings(self, asked: Asked, predictor: str) -> dict[str, list[Row]]:
        key = asked.key(predictor)
        if key not in self._by_setting:
            self._by_setting[key] = by_column(self._predictions[key], "variant", SETTINGS)
        return self._by_setting[key]

    def settings(self, asked: Asked, predictor: str = MODEL) -> tuple[str, ...]:
        """The settings that were answered, in their order; none where nothing was."""
        return tuple(self._settings(asked, predictor)) if self.has(asked, predictor) else ()

    def figures(self, asked: Asked, predictor: str, setting: str) -> dict[str, Estimate]:
        rows = [row for row in self.setting(asked, predictor, setting) if row["untold"] is None]
        return estimate(rows, SHARED_SCORES[asked.task])

    def compared(self, asked: Asked) -> dict[Pair, Changes]:
        if asked not in self._compared:
            self._compared[asked] = settings_compared(self.rows(asked), asked.task)
        return self._compared[asked]

    def judged(self, claim: Claim, rules: str) -> JudgedClaim:
        asked = Asked(claim.task, rules)
        return judge_claim(claim, self.compared(asked) if self.has(asked) else None)


def title_of(task: Task, name: str) -> str:
    return next(score.title for score in SHARED_SCORES[task] if score.name == name)


def change_cell(change: Change) -> str:
    """A difference with its interval and its corrected p."""
    if change.difference.value is None:
        return "–"
    return f"{told(change.difference)}, p {holm_p(change.p_holm)}"


def claims(model: ModelRows) -> str:
    """One line per claim: what is printed, what is here, and the verdict by clean rules."""
    rows = []
    for claim in CLAIMS:
        found = model.judged(claim, "clean")
        rows.append((claim.says, printed(claim), claimed(found), f"**{found.verdict}**"))
    return markdown(("the paper says", "it prints", "here, clean", "verdict"), rows)


def claimed(found: JudgedClaim) -> str:
    """What a claim is judged by."""
    if not found.changes:
        return "–"
    if found.claim.gain is not None:
        (change,) = found.changes.values()
        return share(change.relative) or "no share: not above 0 without it"
    if len(found.changes) == 1:
        return change_cell(next(iter(found.changes.values())))
    return ", ".join(
        f"{title_of(found.claim.task, name)} {digits(each.difference.value or 0)}"
        for name, each in found.changes.items()
    )


def leaks(model: ModelRows) -> str:
    """The same claims by released rules, and how much more is gained there than by clean ones."""
    rows = []
    for claim in CLAIMS:
        found = model.judged(claim, "released")
        more = "–"
        if len(found.changes) == 1 and claim.gain is None:
            sides = [model.rows(Asked(claim.task, rules)) for rules in ("clean", "released")]
            more = told(gained_more(sides[0], sides[1], claim.task, claim.pair)[claim.scores[0]])
        rows.append((claim.says, claimed(found), more, f"**{found.verdict}**"))
    return markdown(("the paper says", "here, released", "more than clean", "verdict"), rows)


def levels(model: ModelRows, task: Task, asked: Asked | None = None) -> str:
    """The model in every setting, and those without one on the very same replies."""
    asked = asked or Asked(task)
    names = LEVELS[task]
    rows = []
    for setting in model.settings(asked):
        found = model.figures(asked, MODEL, setting)
        n = len(model.setting(asked, MODEL, setting))
        short = n < len(model.setting(asked, MODEL, "p-conv"))
        shown = f"{setting}, {n} replies" if short else setting
        rows.append(("the model", shown, *(told(found[name]) for name in names)))
    for rules, who, setting in BESIDE[task]:
        beside = replace(asked, rules=rules if asked.rules == "clean" else asked.rules)
        # The released prompt hides the score of most parents: a parent's row would be of a few.
        if not model.has(beside, who) or (who == "parent" and asked.rules == "released"):
            continue
        found = model.figures(beside, who, setting)
        shown = "any" if who in ANY and (task, who) != ("next_text", "nearest") else setting
        shown = {"mean": "own", "nearest": "own"}.get(who, shown) if task != "next_text" else shown
        rows.append((who, shown, *(told(found[name]) for name in names)))
    return markdown(("who", "setting", *(title_of(task, name) for name in names)), rows)


def differences(model: ModelRows) -> str:
    """What the conversation and the person's own history are worth, each in both other settings."""
    rows = []
    for task in TASKS:
        compared = model.compared(Asked(task))
        for name in HEADLINES[task]:
            for pair in (each for each in PAIRS if each in compared):
                which = f"{pair[1]} against {pair[0]}"
                rows.append((title_of(task, name), which, change_cell(compared[pair][name])))
    return markdown(("score", "settings", "difference"), rows)


WAYS = (
    ("three examples against none", Asked("sentiment"), Asked("sentiment", shots=3)),
    ("near history against recent", Asked("sentiment"), Asked("sentiment", history="near")),
    (
        "both against neither",
        Asked("sentiment"),
        Asked("sentiment", shots=3, history="near"),
    ),
)


def way_changes(model: ModelRows, task: Task) -> dict[tuple[str, str], Change]:
    """Other ways of asking, p-conv, by way and score; Holm over all of them."""
    found: dict[tuple[str, str], Change] = {}
    for title, first, second in WAYS:
        if not model.has(replace(second, task=task)):
            continue
        sides = [
            model.setting(replace(each, task=task), MODEL, "p-conv") for each in (first, second)
        ]
        changes = compare(sides[0], sides[1], SHARED_SCORES[task], what="reply").changes
        found |= {(title, name): change for name, change in changes.items()}
    corrected = holm([change.p for change in found.values()])
    return {
        place: replace(change, p_holm=p)
        for (place, change), p in zip(found.items(), corrected, strict=True)
    }


def ways(model: ModelRows) -> str:
    """Zero against three examples, recent against near history."""
    rows = []
    for task in TASKS:
        changes = way_changes(model, task)
        for name in HEADLINES[task] if changes else ():
            cells = (change_cell(changes[title, name]) for title, _, _ in WAYS)
            rows.append((title_of(task, name), *cells))
    return markdown(("score (p-conv)", *(title for title, _, _ in WAYS)), rows)


def tokens(model: ModelRows) -> str:
    """Tokens of the model per reply: what each setting shows, and what is answered."""
    asked = {
        "clean": ("clean", 0, "recent"),
        "3 examples": ("clean", 3, "recent"),
        "near": ("clean", 0, "near"),
        "released": ("released", 0, "recent"),
    }
    rows = []
    for task in TASKS:
        for setting in SETTINGS:
            cells = []
            written = 0.0
            for rules, shots, history in asked.values():
                which = Asked(task, rules, shots, history)
                if setting not in model.settings(which):
                    cells.append("–")
                    continue
                part = model.setting(which, MODEL, setting)
                cells.append(f"{mean(part, 'tokens_in'):,.0f}")
                if (rules, shots, history) == ("clean", 0, "recent"):
                    written = mean(part, "tokens_out")
            if any(cell != "–" for cell in cells):
                rows.append((task.replace("_", " "), setting, *cells, f"{written:,.0f}"))
    return markdown(("task", "setting", *asked, "out, clean"), rows)


def mean(rows: Sequence[Row], column: str) -> float:
    return float(sum(row[column] for row in rows) / len(rows))


def unread(model: ModelRows) -> str:
    """Answers that mean nothing to the package, by task and rules, with their reasons."""
    rows = []
    for task in TASKS:
        for rules in ("clean 0", "clean 3", "released 0"):
            titles = [
                title
                for title in model.about["unread"]
                if f" {rules} " in title and f" {task} " in title
            ]
            if not titles:
                continue
            reasons: Counter[str] = Counter()
            for title in titles:
                reasons.update(model.about["unread"][title])
            cut = sum(model.about["cut"][title] for title in titles)
            asked = sum(model.about["sets"][title]["prompts"] for title in titles)
            listed = ", ".join(f"{reason}: {count:,}" for reason, count in reasons.most_common())
            name = (
                f"{task.replace('_', ' ')}, {rules.replace(' 0', '').replace(' 3', ', 3 examples')}"
            )
            rows.append((name, f"{asked:,}", f"{reasons.total():,}", listed or "–", f"{cut:,}"))
    return markdown(("asked", "answers", "unread", "why", "cut off"), rows)


def elsewhere(model: ModelRows) -> str:
    """The other subreddits, as far as they go."""
    rows = []
    for task in TASKS:
        asked = Asked(task, corpus="rumoureval")
        for setting in model.settings(asked):
            part = model.setting(asked, MODEL, setting)
            found = model.figures(asked, MODEL, setting)
            users = len({row["group"] for row in part})
            cells = (f"{title_of(task, name)} {told(found[name])}" for name in HEADLINES[task][:2])
            rows.append((task.replace("_", " "), setting, f"{len(part)} of {users}", *cells))
    return markdown(("task", "setting", "replies, people", "", ""), rows)
