"""Predictions of thread tasks → rows of PersonaConvBench's main table and abstract.

    thread_rows(load_predictions([Path("threads-model-rows.parquet")]))[0].word    → "differs"

Its data and models are not at hand, so levels are not compared. What is compared is what its table
says, that the conversation helps, and its abstract, that the person's history does: by the rules
`clean` and `released`, which repeat its public code. Of several predictors the first that is a
language model is taken, with as few solved examples as there are. The dummies of next texts copy:
the message that is answered where the conversation is shown (the commonest reply where it is not),
or the nearest entry of whoever's history is shown. That of the other tasks gives one answer to
everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from realtalk.evals.tables import better_side, share
from realtalk.evals.values import Row
from realtalk.metrics.statistics import Estimate
from realtalk.threads.predictors import BASELINES
from realtalk.threads.scoring import SCORES
from realtalk.threads.values import Task
from research.papers.claims import (
    CLAIMS,
    PERSON,
    TALK,
    Changes,
    Claim,
    Pair,
    printed,
    settings_compared,
)
from research.papers.rule import (
    Effect,
    Outcome,
    ResultRow,
    compare_sentence,
    not_comparable,
    still_dummy,
)
from research.papers.shared_rows import PredictionKey, Predictions

_RULES = ("clean", "released")
_COPY, _COMMONEST, _NEAREST = "parent", "majority", "nearest"  # baselines of `threads`
Compared = Mapping[Pair, Changes]


def thread_rows(predictions: Predictions) -> Iterator[ResultRow]:
    """Every claim of the paper beside one predictor's figures."""
    rows = _first_model(predictions)
    compared = {place: settings_compared(some, place[1]) for place, some in rows.items()}
    dummies = _copying(predictions)
    for claim in CLAIMS:
        where, says = _titles(claim)
        sides = {rules: compared.get((rules, claim.task)) for rules in _RULES}
        known = {rules: side for rules, side in sides.items() if side and side.get(claim.pair)}
        if not known:
            yield not_comparable(where, says, "no predictions of its settings are here")
            continue
        trivial = {rules: dummies[rules] for rules in known if claim.pair in dummies.get(rules, {})}
        dummy = still_dummy("one answer to everything")
        if trivial and claim.task == "next_text":
            dummy = _judge(claim, trivial)
        yield ResultRow(where, says, _judge(claim, known), dummy)
    reason = "other threads and a model of 1.5B here, not its data and models"
    yield not_comparable("Main table, levels", "five models, two settings", reason)
    reason = "eight forums for students here, not its ten domains"
    yield not_comparable("By domain", "figures of ten domains", reason)


def _titles(claim: Claim) -> tuple[str, str]:
    task = claim.task.replace("_", " ").capitalize()
    if claim.pair != TALK:
        return f"{task}, own history", f"the person's own history helps: {printed(claim)}"
    score = SCORES[claim.scores[0]].title + (", size" if claim.gain is not None else "")
    return f"{task}, {score}", f"better with the conversation: {printed(claim)}"


def _first_model(predictions: Predictions) -> dict[tuple[str, Task], Sequence[Row]]:
    """By rules and task: one predictor on one corpus, with the fewest examples."""
    keys = [key for key in predictions if key.rules in _RULES]
    models = [key for key in keys if key.predictor.split(maxsplit=1)[0] not in BASELINES]
    if not keys:
        return {}
    first = (models or keys)[0]
    own = [key for key in keys if (key.corpus, key.predictor) == (first.corpus, first.predictor)]
    own.sort(key=lambda key: (key.shots, key.history != "recent"))
    rows: dict[tuple[str, Task], Sequence[Row]] = {}
    for key in own:
        rows.setdefault((key.rules, _task(key)), predictions[key])
    return rows


def _task(key: PredictionKey) -> Task:
    return next(claim.task for claim in CLAIMS if claim.task == key.task)


def _copying(predictions: Predictions) -> dict[str, Compared]:
    """The dummies of next texts, by rules: they copy what the one setting shows."""
    sides: dict[str, dict[str, Sequence[Row]]] = {}
    for key, rows in predictions.items():
        if key.task == "next_text" and key.rules in _RULES:
            sides.setdefault(key.rules, {}).setdefault(key.predictor, rows)
    found: dict[str, Compared] = {}
    for rules, by_name in sides.items():
        both = zip(TALK, (_COMMONEST, _COPY), strict=True)
        talk = [row | {"variant": name} for name, who in both for row in by_name.get(who, ())]
        person = [row for row in by_name.get(_NEAREST, ()) if row["variant"] in PERSON]
        found[rules] = {
            **settings_compared(talk, "next_text"),
            **settings_compared(person, "next_text"),
        }
    return found


def _judge(claim: Claim, compared: Mapping[str, Compared]) -> Outcome:
    """Every score that the claim names, by every set of rules."""
    effects, parts = [], []
    for rules, side in compared.items():
        changes = {
            name: side[claim.pair][name] for name in claim.scores if name in side[claim.pair]
        }
        for name, change in changes.items():
            score = SCORES[name]
            clear = better_side(score, change, claim.pair) is not None
            high = change.relative.high
            fits = claim.gain is None or (high is not None and high >= claim.gain)
            effects.append(Effect(score.better * (change.difference.value or 0.0), clear, fits))
        parts.append(f"{rules}: {_text(claim, changes)}")
    return compare_sentence(effects, "; ".join(parts))


def _text(claim: Claim, changes: Changes) -> str:
    if claim.gain is not None:
        return share(changes[claim.scores[0]].relative) or "no share: 0 or below without"
    return ", ".join(
        f"{SCORES[name].title} {_signed(change.difference, SCORES[name].digits)}"
        if len(changes) > 1
        else _signed(change.difference, SCORES[name].digits)
        for name, change in changes.items()
    )


def _signed(difference: Estimate, digits: int) -> str:
    """ "+0.012 [-0.003, +0.027]"."""
    if difference.value is None:
        return "–"
    text = f"{difference.value:+.{digits}f}"
    if difference.low is None or difference.high is None:
        return text
    return f"{text} [{difference.low:+.{digits}f}, {difference.high:+.{digits}f}]"
