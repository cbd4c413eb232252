"""Predictions of thread tasks → PersonaConvBench's main table beside them, claim by claim.

    main_table(load_predictions([Path("threads-model-rows.parquet")]))
    → Exhibit("personaconvbench", "differs: 3 of 14 claims hold by clean rules, 5 by the released")

Its data and models are not at hand: figures stand beside each other for orientation, and what is
compared is what its table says, that the conversation helps, and its abstract, that the person's
history does. Each claim is judged by the rules `clean`, beside `released`, which repeat its public
code. Of several predictors the first that is a language model is taken, with as few solved
examples as there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from realtalk.cells import Grid
from realtalk.evals.run import Run
from realtalk.evals.tables import run_tables, share
from realtalk.evals.values import Row
from realtalk.metrics.statistics import Estimate
from realtalk.threads.benchmark import predictions
from realtalk.threads.predictors import BASELINES
from realtalk.threads.published import TABLE
from realtalk.threads.scoring import SCORES, scores_of
from realtalk.threads.values import TASKS, Task, known_task
from research.papers.claims import (
    CLAIMS,
    Changes,
    Claim,
    JudgedClaim,
    Pair,
    gained_more,
    judge_claim,
    printed,
    settings_compared,
)
from research.papers.shared_rows import PredictionKey, Predictions
from research.papers.values import Exhibit, PaperFigure, Verdict

ID = "personaconvbench"
_RULES = ("clean", "released")
_BESIDE = "GPT-4o-mini"  # the smallest of its models
_NO_RUN = "no predictions of threads were given: name them with --threads"
_NOTES = (
    "other threads and another model than the paper's, whose GPT rows are the best of ten answers: "
    "the claims are compared, not the levels",
    "a claim holds where the interval, which draws whole users, and the test, corrected over all "
    "settings and scores of a task, leave no difference out",
    f"figures stand beside the rows of {_BESIDE}, the smallest of its models",
)


def main_table(predictions: Predictions) -> Exhibit:
    """The paper's table and claims beside one predictor's figures."""
    chosen = _chosen(predictions)
    if not chosen:
        return Exhibit(ID, Verdict.not_made(_NO_RUN))
    rows = {place: predictions[key] for place, key in chosen.items()}
    compared = {place: settings_compared(each, place[1]) for place, each in rows.items()}
    judged = {
        rules: [judge_claim(claim, compared.get((rules, claim.task))) for claim in CLAIMS]
        for rules in _RULES
    }
    leaks = {
        (task, pair): gained_more(rows["clean", task], rows["released", task], task, pair)
        for task in TASKS
        for pair in dict.fromkeys(claim.pair for claim in CLAIMS)
        if all(pair in compared.get((rules, task), {}) for rules in _RULES)
    }
    who = next(iter(chosen.values()))
    summaries = {place: _run(place, each, who.predictor) for place, each in rows.items()}
    grids = [("claims", _claims(judged, leaks)), *_tables(summaries)]
    notes = (*_NOTES, f"predicted by {who.predictor}, {_told(chosen)}")
    return Exhibit(ID, _verdict(judged), _figures(summaries), grids, notes)


def _chosen(predictions: Predictions) -> dict[tuple[str, Task], PredictionKey]:
    """By rules and task: one predictor on one corpus, with the fewest examples."""
    keys = [key for key in predictions if key.rules in _RULES]
    models = [key for key in keys if key.predictor.split(maxsplit=1)[0] not in BASELINES]
    if not keys:
        return {}
    first = (models or keys)[0]
    own = [key for key in keys if (key.corpus, key.predictor) == (first.corpus, first.predictor)]
    own.sort(key=lambda key: (key.shots, key.history != "recent"))
    chosen: dict[tuple[str, Task], PredictionKey] = {}
    for key in own:
        chosen.setdefault((key.rules, known_task(key.task)), key)
    order = [(rules, task) for rules in _RULES for task in TASKS]
    return {place: chosen[place] for place in order if place in chosen}


def _told(chosen: Mapping[tuple[str, Task], PredictionKey]) -> str:
    """How, where all is alike; otherwise rules by rules."""
    lines = {
        f"{rules}: {key.shots} examples, {key.history} history"
        for (rules, _), key in chosen.items()
    }
    return "; ".join(sorted(lines))


def _verdict(judged: Mapping[str, Sequence[JudgedClaim]]) -> Verdict:
    made = {
        rules: [each.verdict for each in claims if each.verdict != "not made"]
        for rules, claims in judged.items()
    }
    counted = [
        f"{verdicts.count('holds')} of {len(verdicts)} claims hold by {rules} rules"
        for rules, verdicts in made.items()
        if verdicts
    ]
    if not counted:
        return Verdict.not_made("no two settings of a task that can be compared were given")
    clean = made["clean"]
    holds = bool(clean) and clean.count("holds") == len(clean)
    return Verdict("holds" if holds else "differs", ", ".join(counted))


def _claims(
    judged: Mapping[str, Sequence[JudgedClaim]],
    leaks: Mapping[tuple[Task, Pair], Mapping[str, Estimate]],
) -> Grid:
    rows = []
    for clean, released in zip(judged["clean"], judged["released"], strict=True):
        claim = clean.claim
        more = leaks.get((claim.task, claim.pair), {})
        rows.append(
            {
                "the paper says": claim.says,
                "it prints": printed(claim),
                "clean": _difference(claim, clean.changes),
                "released": _difference(claim, released.changes),
                "by the leaks": _more(claim, more),
                "clean, released": f"{clean.verdict}; {released.verdict}",
            }
        )
    return Grid.of(rows)


def _more(claim: Claim, more: Mapping[str, Estimate]) -> str | None:
    """How much more is gained by released rules; of claims that are one difference."""
    if len(claim.scores) > 1 or claim.gain is not None:
        return None
    (name,) = claim.scores
    return signed(more.get(name), SCORES[name].digits)


def _difference(claim: Claim, changes: Changes) -> str | None:
    """What was measured: one difference, one relative gain, or each score's difference."""
    known = {name: each for name, each in changes.items() if each.difference.value is not None}
    if not known:
        return None
    if claim.gain is not None:
        return share(known[claim.scores[0]].relative) or "no share: 0 or below without"
    if len(claim.scores) == 1:
        return signed(known[claim.scores[0]].difference, SCORES[claim.scores[0]].digits)
    return ", ".join(
        f"{SCORES[name].title} {each.difference.value:+.{SCORES[name].digits}f}"
        for name, each in known.items()
    )


def signed(found: Estimate | None, digits: int = 3) -> str | None:
    """A difference with its interval: "+0.012 [-0.003, +0.027]"."""
    if found is None or found.value is None:
        return None
    if found.low is None or found.high is None:
        return f"{found.value:+.{digits}f}"
    return f"{found.value:+.{digits}f} [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"


def _run(place: tuple[str, Task], rows: Sequence[Row], who: str) -> Run:
    rules, task = place
    return predictions(f"{who}, {rules}", task, rows)


def _tables(summaries: Mapping[tuple[str, Task], Run]) -> list[tuple[str, Grid]]:
    """The columns that the paper prints, ours above its models."""
    grids = []
    for task in TASKS:
        own = [summary for (_, of), summary in summaries.items() if of == task]
        if own:
            lines_of = run_tables({run.name: run for run in own}, groups=False)[0].lines
            headings, lines = lines_of
            titles = [score.title for score in scores_of(task) if score.published]
            places = [headings.index(name) for name in ("predictor", "setting", *titles)]
            kept = [[line[place] for place in places] for line in lines]
            grid = Grid([headings[place] for place in places], kept)
            grids.append((f"{task.replace('_', ' ')}, ours above the paper's", grid))
    return grids


def _figures(summaries: Mapping[tuple[str, Task], Run]) -> list[PaperFigure]:
    figures = []
    for (rules, task), summary in summaries.items():
        if rules != "clean":
            continue
        for setting in (name for name in TABLE[_BESIDE] if name in summary.variants):
            for score in (each for each in scores_of(task) if each.published):
                theirs = TABLE[_BESIDE][setting][score.published]
                ours = summary.variants[setting].overall[score.name]
                figures.append(PaperFigure.of(setting, score.title, theirs, ours, score.digits))
    return figures
