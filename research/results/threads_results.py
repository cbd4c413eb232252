"""research/results/rows/threads-rows.parquet, threads-model-rows.parquet → docs/results/threads.md.

    python -m research.results.threads_results

Every figure of the page is made from the committed rows (research/results/threads_rows.py makes those of
predictors without a language model, research/results/threads_answers.py those of one), so that page and rows
cannot disagree.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from realtalk.evals.comparing import RunComparison, VariantScores
from realtalk.evals.run import Run
from realtalk.evals.values import Row
from realtalk.threads.benchmark import predictions
from realtalk.threads.published import published_gain
from realtalk.threads.scoring import SCORES
from realtalk.threads.values import LEAKS, SETTINGS, known_task
from research.papers.markdown import table as markdown
from research.papers.shared_rows import load_predictions
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.page_words import digits, holm_p, share, told, wrapped_page
from research.results.threads_model import MODEL, Asked, ModelRows
from research.results.threads_model_words import model_words

SENTIMENT = ("accuracy", "positive_f1", "balanced_accuracy", "macro_f1", "mcc")
IMPACT = ("rmse", "mae", "rmse_log", "mae_log", "spearman")
COUNTS = "regression (counts only)"


class Stored:
    """The committed rows, by rules, task and predictor."""

    def __init__(self) -> None:
        self._rows = load_predictions([ROWS / "threads-rows.parquet"])
        self._keys = {(key.rules, key.task, key.predictor): key for key in self._rows}
        self._summaries: dict[tuple[str, str, str], Run] = {}
        self.counts = json.loads((ROWS / "threads-counts.json").read_text("utf-8"))

    def rows(self, rules: str, task: str, predictor: str) -> Sequence[Row]:
        return self._rows[self._keys[rules, task, predictor]]

    def scores(self, rules: str, task: str, predictor: str, setting: str) -> VariantScores:
        place = (rules, task, predictor)
        if place not in self._summaries:
            rows = self.rows(rules, task, predictor)
            self._summaries[place] = predictions(predictor, known_task(task), rows)
        return self._summaries[place].variants[setting]

    def against(self, task: str, first: str, second: str) -> RunComparison:
        """The second predictor against the first, clean, p-conv."""
        sides = [self.rows("clean", task, name) for name in (first, second)]
        one, other = (predictions("", known_task(task), rows) for rows in sides)
        return one.changes(other, names=(first, second))["p-conv"]

    def by_setting(self, task: str, predictor: str, first: str, second: str) -> RunComparison:
        rows = self.rows("clean", task, predictor)
        return predictions(first, known_task(task), rows).compare_variants(first, second)


def change(found: RunComparison, name: str) -> str:
    each = found.changes[name]
    p = holm_p(each.p_holm)
    return f"{told(each.difference)} (Holm p {p if p.startswith('<') else f'= {p}'})"


def predictors(stored: Stored, task: str, names: Sequence[str]) -> str:
    wanted: list[tuple[str, str, str]] = [("majority", "p-conv", "any")]
    if task == "sentiment":
        wanted += [("mean", s, s) for s in ("p-conv", "np-conv")]
    else:
        wanted += [("mean", "p-conv", "p-conv"), ("mean (raw)", "p-conv", "p-conv"),
                   ("mean (median)", "p-conv", "p-conv")]  # fmt: skip
    wanted += [(who, s, s) for who in (COUNTS, "regression") for s in SETTINGS]
    rows = []
    for who, setting, shown in wanted:
        overall = stored.scores("clean", task, who, setting).overall
        rows.append((who, shown, *(told(overall[name]) for name in names)))
    return markdown(("predictor", "setting", *(SCORES[name].title for name in names)), rows)


def leaks(stored: Stored) -> str:
    rows = []
    for rules in ("clean", *LEAKS, "released"):
        setting = "p-nonconv" if rules == "post-always-shown" else "p-conv"
        impact = stored.scores(rules, "impact", COUNTS, setting)
        cells = [f"{impact.scored:,}", digits(cast(float, impact.facts["positive"] or 0))]
        if rules == "sign-shown":
            cells += ["not in its prompt", "–"]
        else:
            always = stored.scores(
                rules, "sentiment", "majority", setting if rules != "clean" else "p-conv"
            ).overall
            mine = stored.scores(rules, "sentiment", COUNTS, setting).overall
            cells += [
                f"{told(always['accuracy'])}, {told(always['positive_f1'])}",
                told(mine["mcc"]),
            ]
        cells += [told(impact.overall["mae_log"]), told(impact.overall["spearman"])]
        rows.append((rules if setting == "p-conv" else f"{rules}, {setting}", *cells))
        if rules == "post-always-shown":
            without = stored.scores("clean", "impact", COUNTS, setting)
            mcc = stored.scores("clean", "sentiment", COUNTS, setting).overall["mcc"]
            rows.append((f"clean, {setting}", f"{without.scored:,}", digits(cast(float, without.facts["positive"] or 0)), "as clean",
                         told(mcc), told(without.overall["mae_log"]), told(without.overall["spearman"])))  # fmt: skip
    return markdown(
        (
            "rules",
            "replies",
            "positive",
            "sentiment: “always yes” accuracy, F1",
            "MCC",
            "impact: MAE (log)",
            "Spearman",
        ),
        rows,
    )


def differences(stored: Stored) -> str:
    pairs = [
        ("sentiment", "mcc", "majority", "regression"),
        ("sentiment", "mcc", "mean", "regression"),
        ("sentiment", "mcc", COUNTS, "regression"),
        ("impact", "mae_log", "mean", "regression"),
        ("impact", "mae_log", "mean (median)", "regression"),
        ("impact", "spearman", COUNTS, "regression"),
    ]
    rows = [
        (
            task,
            SCORES[score].title,
            f"{second} against {first}",
            change(stored.against(task, first, second), score),
        )
        for task, score, first, second in pairs
    ]
    settings = [
        ("sentiment", "mcc", "regression", "p-nonconv", "p-conv"),
        ("sentiment", "mcc", COUNTS, "p-nonconv", "p-conv"),
        ("impact", "spearman", "regression", "p-nonconv", "p-conv"),
        ("impact", "mae_log", "regression", "np-conv", "p-conv"),
        ("sentiment", "mcc", "mean", "np-conv", "p-conv"),
    ]
    rows += [
        (task, SCORES[score].title, f"{who}: {second} against {first}",
         change(stored.by_setting(task, who, first, second), score))
        for task, score, who, first, second in settings
    ]  # fmt: skip
    return markdown(("task", "score", "which", "difference"), rows)


def page(stored: Stored, model: ModelRows) -> str:
    counts = stored.counts["clean, sentiment"]
    always = stored.scores("clean", "sentiment", "majority", "p-conv")
    gain = (
        stored.by_setting("sentiment", "regression", "p-nonconv", "p-conv").changes["mcc"].relative
    )
    plain = stored.by_setting("sentiment", COUNTS, "p-nonconv", "p-conv").changes["mcc"].relative
    impact = (
        stored.by_setting("impact", "regression", "p-nonconv", "p-conv")
        .changes["spearman"]
        .relative
    )
    parent = [
        stored.scores("with-scores", task, "parent", "p-conv").overall
        for task in ("sentiment", "impact")
    ]
    released = stored.scores("released", "impact", "majority", "p-conv").overall["mae_log"]
    text = (Path(__file__).parent / "threads_page.md").read_text("utf-8")
    filled = text.format(
        **model_words(model),
        test=f"{counts['test']:,}",
        train=f"{counts['train']:,}",
        users=f"{always.groups:,}",
        positive=f"{always.facts['positive']:.1%}",
        accuracy=told(always.overall["accuracy"]),
        f1=told(always.overall["positive_f1"]),
        sentiment=predictors(stored, "sentiment", SENTIMENT),
        impact=predictors(stored, "impact", IMPACT),
        differences=differences(stored),
        paper=f"{published_gain('GPT-4.1', 'mcc'):.0%}",
        gain=share(gain),
        plain=share(plain),
        impact_gain=share(impact),
        leaks=leaks(stored),
        parent_mcc=told(parent[0]["mcc"]),
        parent_mae=told(parent[1]["mae_log"]),
        released=told(released),
    )
    return wrapped_page(filled)


def draw(model: ModelRows) -> None:
    """ROUGE-1 of the next text, by the model in every setting and by rules."""
    asked = Asked("next_text")
    points = [
        (f"1.5B model, {setting}", "", model.figures(asked, MODEL, setting)["rouge_1"])
        for setting in model.settings(asked)
    ]
    for who, label in (("nearest", "nearest own writing"), ("parent", "repeats what is answered")):
        points.append((label, "", model.figures(asked, who, "p-conv")["rouge_1"]))
    notes = [
        "conv: the conversation is shown; p: the person's own history",
        "95 % intervals by user",
    ]
    draw_estimates(PAGES / "threads-next-text.svg", "ROUGE-1 of the next text", points, notes)


def main() -> None:
    model = ModelRows()
    (PAGES / "threads.md").write_text(page(Stored(), model), "utf-8")
    draw(model)
    sys.stdout.write(f"wrote {PAGES / 'threads.md'}\n")


if __name__ == "__main__":
    main()
