"""The model's rows → what the page of threads says of them, word by word.

model_words(ModelRows())["claims"]    → a Markdown table
model_words(ModelRows())["answers"]   → "60,128"
"""

from __future__ import annotations

from typing import Any

from realtalk.evals.tables import share
from realtalk.threads.values import SETTINGS, TASKS, Task
from research.papers.claims import CLAIMS
from research.results.page_words import told
from research.results.threads_model import (
    ITSELF,
    MODEL,
    Asked,
    ModelRows,
    claims,
    differences,
    elsewhere,
    leaks,
    levels,
    mean,
    tokens,
    unread,
    way_changes,
    ways,
)


def model_words(model: ModelRows) -> dict[str, str]:
    about = model.about
    sets = about["sets"].values()
    counts = about["counts"]
    released = counts["persona_like released sentiment"]
    skipped = released["skipped"]
    named = released["comments"] - sum(
        count for reason, count in skipped.items() if not reason.startswith("leak ")
    )
    one = named - skipped["leak target-by-outcome"]
    return {
        "model": MODEL,
        "sha256": about["sha256"][:12],
        "precision": about["precision"],
        "machine": about["device"],
        "transformers": about["transformers"],
        "answers": f"{sum(each['prompts'] for each in sets):,}",
        "read_tokens": f"{sum(each['tokens_in'] for each in sets) / 1e6:.1f}",
        "seconds": f"{about['seconds']:,.0f}",
        "model_replies": f"{counts['persona_like clean sentiment']['test']:,}",
        "model_users": f"{people(model, 'sentiment'):,}",
        "named": f"{named:,}",
        "one_a_thread": f"{one:,}",
        "halved": f"{one - skipped['leak positives-halved']:,}",
        "released_train": f"{released['train']:,}",
        "released_test": f"{released['test']:,}",
        "judged": f"{about['authors']['persona_like clean']['judged']:,}",
        "unjudged": f"{about['authors']['persona_like clean']['too little']:,}",
        **held(model),
        **single(model),
        "claims": claims(model),
        "model_leaks": leaks(model),
        "model_differences": differences(model),
        "ways": ways(model),
        "tokens": tokens(model),
        "unread": unread(model),
        "elsewhere": elsewhere(model),
        **{f"levels_{task}": levels(model, task) for task in TASKS},
        **{
            f"released_{task}": levels(model, task, Asked(task, "released"))
            for task in TASKS
            if model.has(Asked(task, "released"))
        },
    }


def held(model: ModelRows) -> dict[str, str]:
    """How many claims hold, by rules."""
    found = {}
    for rules in ("clean", "released"):
        verdicts = [model.judged(claim, rules).verdict for claim in CLAIMS]
        made = [verdict for verdict in verdicts if verdict != "not made"]
        found[f"held_{rules}"] = f"{made.count('holds')} of {len(made)}"
    return found


def single(model: ModelRows) -> dict[str, str]:
    """Single figures of the sentences."""

    def figure(task: Task, name: str, setting: str = "p-conv", **how: Any) -> str:
        who = how.pop("who", MODEL)
        return told(model.figures(Asked(task, **how), who, setting)[name])

    said = model.setting(Asked("sentiment"), MODEL, "p-conv")
    released = {
        setting: model.setting(Asked("sentiment", "released"), MODEL, setting)
        for setting in ("p-conv", "p-nonconv")
    }
    near = {
        row["sample"]: row["tokens_in"]
        for row in model.setting(Asked("sentiment", history="near"), MODEL, "p-conv")
    }
    same = sum(row["tokens_in"] == near[row["sample"]] for row in said)
    guessed = model.setting(Asked("impact"), MODEL, "p-conv")
    cost = {
        setting: mean(model.setting(Asked("sentiment"), MODEL, setting), "tokens_in")
        for setting in SETTINGS
    }
    three = mean(model.setting(Asked("sentiment", shots=3), MODEL, "p-conv"), "tokens_in")
    way = way_changes(model, "impact")["three examples against none", "mae_log"]
    gain = model.compared(Asked("sentiment"))["p-nonconv", "p-conv"]["mcc"].relative
    return {
        "model_gain": share(gain) or "",
        "said_yes": f"{mean(said, 'predicted'):.0%}",
        "yes_conv": f"{mean(released['p-conv'], 'predicted'):.0%}",
        "yes_nonconv": f"{mean(released['p-nonconv'], 'predicted'):.0%}",
        "same_prompts": f"{same:,}",
        "minus_one": f"{sum(row['predicted'] == -1 for row in guessed) / len(guessed):.0%}",
        "mcc": figure("sentiment", "mcc"),
        "auc": figure("sentiment", "auc"),
        "regression_mcc": figure("sentiment", "mcc", who="regression"),
        "mean_mcc": figure("sentiment", "mcc", who="mean"),
        "rank": figure("impact", "spearman"),
        "regression_rank": figure("impact", "spearman", who="regression"),
        "rmse_conv": figure("impact", "rmse", rules="released"),
        "rmse_nonconv": figure("impact", "rmse", "p-nonconv", rules="released"),
        "rmse_median": figure("impact", "rmse", rules="released", who="majority"),
        "rouge": figure("next_text", "rouge_1"),
        "rouge_parent": figure("next_text", "rouge_1", who="parent"),
        "rouge_nearest": figure("next_text", "rouge_1", who="nearest"),
        "taken": figure("next_text", "taken"),
        "taken_self": figure("next_text", "taken", who=ITSELF),
        "taken_nearest": figure("next_text", "taken", who="nearest"),
        "taken_parent": figure("next_text", "taken", who="parent"),
        "talk_tokens": f"{cost['p-conv'] / cost['p-nonconv'] - 1:.0%}",
        "three_tokens": f"{three / cost['p-conv'] - 1:.0%}",
        "three_errors": told(way.difference),
    }


def people(model: ModelRows, task: Task) -> int:
    return len({row["group"] for row in model.setting(Asked(task), MODEL, SETTINGS[0])})
