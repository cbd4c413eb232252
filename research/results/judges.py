"""Judges → how far they can be believed: planted answers, and answers that were graded.

    rows = planted(corpus, limit=60)       answers known to be right, wrong or vague
    graded = read_graded(path, corpus)     [{"sample": "Q3", "answer": …, "grade": 0.5, …}]
    verdicts = rule_verdicts(rows)         {"accepted": [1.0, 0.0, …], "f1 ≥ 0.5": …}
    false_positives(rows, verdicts)        → table: of what is wrong, how much is called right
    agreement(graded, verdicts)            → table: kappa with the grades, drawn by question

A wrong answer is the gold of another question of the same chat and category, one that neither
equals nor contains the right one: of it the rules `accepted` and `contains the gold` call hardly
any right by construction. A vague one fits any question of its kind. What has to be chosen (the
cut of F1) is chosen on questions at odd places of their chat, and every agreement is reported on
those at even places alone.

    python -m research.results.judges data/realtalk --graded graded.jsonl --judge openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from realtalk.api.choices import Model, make_judge
from realtalk.chat import Chat, Corpus, Question
from realtalk.cli.printing import print_json, progress, say, show
from realtalk.errors import RealtalkError
from realtalk.evals.tables import figure
from realtalk.evals.values import Lines, Row
from realtalk.files.json_objects import read_objects
from realtalk.formats.audit import AuditedQuestion
from realtalk.formats.opening import open_reading
from realtalk.memory.asking import Plan
from realtalk.memory.golds import Golds, audited_gold, golds_named, names_in
from realtalk.memory.plain import Nothing
from realtalk.memory.remembering import NoReader
from realtalk.memory.rows import category_of
from realtalk.memory.values import Budget
from realtalk.metrics.answers import (
    ABSTAINING,
    content,
    is_polar,
    matches_gold,
    polarity,
    question_words,
    score_answer,
)
from realtalk.metrics.statistics import Array, Estimate, grouped_estimates, wilson
from research.command import call

Verdicts: TypeAlias = Mapping[str, Sequence[float | None]]  # judge → one verdict per row
PLANTED = ("right", "wrong", "vague")
GRADED = "graded"
RIGHT_FROM = 1.0  # grade: half right is not right
_CUTS = tuple(round(cut / 20, 2) for cut in range(1, 21))
_WHOLE = 0.5
_VAGUE = {
    "temporal": "Some time ago, as they mentioned in the chat.",
    "": "Several things that they talked about.",
}
_UNAUDITED = Golds()


def contained(
    answer: str, gold: str | None, *, question: str = "", names: Sequence[str] = ()
) -> bool:
    """Whether an answer says all that the gold says; it may say more."""
    if gold is None:
        return False
    if is_polar(question) and (said := polarity(answer)) is not None:
        return said == polarity(gold)
    known = question_words(question, tuple(names))
    said_here, wanted = (
        content(text, question=known, names=tuple(names)) for text in (answer, gold)
    )
    return bool(wanted) and said_here.contains(wanted)


def planted(corpus: Corpus, limit: int | None = None, audit: Golds = _UNAUDITED) -> list[Row]:
    """Three answers to every question: its gold, another's gold, and words that say nothing."""
    plan = Plan(corpus, Nothing(), NoReader(), (Budget(),), limit=limit)
    rows = []
    for chat, questions in plan.questions:
        known = audit.audit_of(chat)
        for question in questions:
            if question.answer is None or category_of(question) in ABSTAINING:
                continue
            wrong = _another(chat, question)
            vague = _VAGUE.get(category_of(question), _VAGUE[""])
            for kind, answer in zip(PLANTED, (question.answer, wrong, vague), strict=True):
                if answer is not None:
                    rows.append(_row(chat, question, kind, answer, known))
    if not rows:
        raise RealtalkError("no question here has an answer", where=corpus.name)
    return rows


def _another(chat: Chat, question: Question) -> str | None:
    """The next gold of its category that does not also say what is right."""
    at = chat.questions.index(question)
    for other in (*chat.questions[at + 1 :], *chat.questions[:at]):
        if other.category != question.category or other.answer is None:
            continue
        said = polarity(other.answer)
        if is_polar(question.text) and said is not None and said == polarity(question.answer or ""):
            continue  # another yes is also a right one
        same = matches_gold(other.answer, question.answer) or contained(
            other.answer, question.answer
        )
        if not same and not contained(question.answer or "", other.answer):
            return other.answer
    return None


def _row(
    chat: Chat,
    question: Question,
    variant: str,
    answer: str,
    known: Mapping[str, AuditedQuestion],
) -> Row:
    """A row as a judge takes it; `also` is what the audit accepts, where it knows the question."""
    found = known.get(question.id)
    gold = audited_gold(question.answer, found)
    also = {} if found is None else {"also": [gold.answer or "", *gold.accept]}
    return {
        **also,
        "sample": question.id,
        "group": chat.id,
        "variant": variant,
        "category": category_of(question),
        "question": question.text,
        "gold": question.answer,
        "answer": answer,
        "left_out": [],
        "names": list(names_in(chat, question.text, question.answer or "", answer)),
        "place": chat.questions.index(question) + 1,
    }


def read_graded(path: Path, corpus: Corpus, audit: Golds) -> list[Row]:
    """Graded answers as JSONL: chat, question (its place, from 1), answer, verdict, and memory."""
    chats = {chat.id: chat for chat in corpus.chats}
    known = {chat.id: audit.audit_of(chat) for chat in corpus.chats}
    rows = []
    for number, (where, entry) in enumerate(read_objects(path), 1):
        try:
            chat = chats[entry["chat"]]
            question = chat.questions[int(entry["question"]) - 1]
            grade, answer = float(entry["verdict"]), str(entry["answer"])
        except (ValueError, KeyError, TypeError, IndexError):
            raise RealtalkError(
                "not a graded answer of this corpus",
                where=where,
                fix='write {"chat": "…", "question": 3, "answer": "…", "verdict": 1}',
            ) from None
        variant = f"{GRADED} {entry.get('memory', number)}"
        rows.append(_row(chat, question, variant, answer, known[chat.id]) | {"grade": grade})
    if not rows:
        raise RealtalkError("holds no graded answer", where=str(path))
    return rows


def held_out(row: Row) -> bool:
    """Whether a row is reported on: the others are what a rule may be chosen by."""
    return int(row["place"]) % 2 == 0


def rule_verdicts(rows: Sequence[Row]) -> dict[str, list[float | None]]:
    """What rules say of the rows. The cut of F1 is chosen on graded rows that are not held out."""
    f1 = [score_answer(row["answer"], row["gold"], row["category"]).get("f1", 0.0) for row in rows]
    cut = _best_cut(rows, f1)
    verdicts: dict[str, list[float | None]] = {
        "accepted": [float(_accepted(row)) for row in rows],
        "contains the gold": [
            float(
                contained(row["answer"], row["gold"], question=row["question"], names=row["names"])
            )
            for row in rows
        ],
        f"F1 from {cut:.2f}": [float(value >= cut) for value in f1],
        "says anything": [1.0 for _ in rows],
    }
    if any("also" in row for row in rows):
        beside = [float(_accepted(row, row.get("also", ()))) for row in rows]
        verdicts["accepted, audited golds"] = list(beside)
    return verdicts


def _accepted(row: Row, accept: Sequence[str] = ()) -> bool:
    return matches_gold(
        row["answer"],
        row["gold"],
        accept,
        question=row["question"],
        names=row["names"],
        category=row["category"],
    )


def _best_cut(rows: Sequence[Row], f1: Sequence[float]) -> float:
    """The cut with the highest kappa; one half where nothing was graded."""
    chosen = [
        (row["grade"] >= RIGHT_FROM, value)
        for row, value in zip(rows, f1, strict=True)
        if "grade" in row and not held_out(row)
    ]
    if not chosen:
        return _WHOLE

    def kappa(cut: float) -> float:
        tables = [_cell(right, value >= cut) for right, value in chosen]
        found = float(_kappa(np.sum(tables, axis=0)))
        return -1.0 if np.isnan(found) else found

    return max(_CUTS, key=kappa)


def false_positives(rows: Sequence[Row], verdicts: Verdicts) -> Lines:
    """Of planted answers, how many each judge calls right: all of the right, none of the others."""
    headings = ("judge", *(f"{kind}, called right" for kind in PLANTED), "n of each", "unscored")
    lines: list[tuple[Any, ...]] = []
    for judge, said in verdicts.items():
        known = [(row["variant"], each) for row, each in zip(rows, said, strict=True)]
        cells, counts = [], []
        for kind in PLANTED:
            values = [each for variant, each in known if variant == kind and each is not None]
            low, high = wilson(values)
            mean = sum(values) / len(values) if values else None
            cells.append(figure(Estimate(mean, low, high)))
            counts.append(len(values))
        planted_rows = [each for variant, each in known if variant in PLANTED]
        unscored = sum(each is None for each in planted_rows)
        lines.append((judge, *cells, ", ".join(map(str, counts)), unscored))
    return headings, lines


def agreement(rows: Sequence[Row], verdicts: Verdicts) -> Lines:
    """Each judge against the grades, on held-out questions; whole questions are drawn."""
    headings = (
        "judge",
        "kappa",
        "same",
        "of its yes right",
        "of the right found",
        "n",
        "questions",
    )
    lines: list[tuple[Any, ...]] = []
    for judge, said in verdicts.items():
        kept = [
            (row, each)
            for row, each in zip(rows, said, strict=True)
            if "grade" in row and held_out(row) and each is not None
        ]
        if not kept:
            continue
        parts = np.array([_cell(row["grade"] >= RIGHT_FROM, each >= _WHOLE) for row, each in kept])
        questions = [f"{row['group']}:{row['sample']}" for row, _ in kept]
        found = grouped_estimates(parts, questions, _FIGURES)
        cells = (figure(found[name]) for name in _FIGURES)
        lines.append((judge, *cells, len(kept), len(set(questions))))
    return headings, lines


def _cell(right: bool, said: bool) -> Array:
    """One answer in the table of grade × verdict: both, only said, only right, neither."""
    cell = np.zeros(4)
    cell[(0 if right else 1) if said else (2 if right else 3)] = 1
    return cell


def _share(above: Iterable[int], below: Iterable[int]) -> Any:
    up, down = list(above), list(below)

    def share(sums: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Array = sums[..., up].sum(axis=-1) / sums[..., down].sum(axis=-1)
        return found

    return share


def _kappa(sums: Array) -> Array:
    """Cohen's kappa of a two by two table."""
    total = sums.sum(axis=-1)
    same = (sums[..., 0] + sums[..., 3]) / total
    said, right = sums[..., 0] + sums[..., 1], sums[..., 0] + sums[..., 2]
    chance = (said * right + (total - said) * (total - right)) / total**2
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa: Array = (same - chance) / (1 - chance)
    return kappa


_FIGURES = {
    "kappa": _kappa,
    "same": _share((0, 3), (0, 1, 2, 3)),
    "precision": _share((0,), (0, 1)),
    "recall": _share((0,), (0, 2)),
}


def main(words: Sequence[str] | None = None) -> None:
    """Measures rules, and a judge if one is named; exit 1 where that judge could not judge."""
    parser = argparse.ArgumentParser(prog="python -m research.results.judges")
    add = parser.add_argument
    add("path", help="a corpus with questions")
    add("--judge", metavar="MODEL", help="provider/model; without it rules alone")
    add(
        "--graded",
        type=Path,
        metavar="FILE",
        help="JSONL of graded answers: chat, question (its place), answer, verdict (0 to 1)",
    )
    add("--limit", type=int, default=60, metavar="N", help="planted questions")
    add("--prompts", type=Path, metavar="DIR", help="wordings of your own")
    add("--connections", type=int, default=10, metavar="N", help="calls at a time")
    add("--rate", metavar="N/min", help="requests at most: 300/min, 5/s, 1000/h")
    add("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(words)
    corpus = open_reading(chosen.path).reading.corpus
    audit = golds_named()
    rows = planted(corpus, chosen.limit, audit)
    if chosen.graded is not None:
        rows += read_graded(chosen.graded, corpus, audit)
    verdicts = rule_verdicts(rows)
    unscored: list[str | None] = []
    if chosen.judge is not None:
        unscored = _judge(chosen, rows, verdicts)
    tables = {"planted": false_positives(rows, verdicts), "graded": agreement(rows, verdicts)}
    if chosen.json:
        print_json(
            {
                name: [dict(zip(headings, line, strict=True)) for line in lines]
                for name, (headings, lines) in tables.items()
            }
        )
    else:
        show(
            "planted answers: wrong and vague ones should be called right by nobody",
            *tables["planted"],
        )
        if tables["graded"][1]:
            show("agreement with graded answers, held-out questions", *tables["graded"])
    for reason in dict.fromkeys(filter(None, unscored)):
        say(f"unscored: {unscored.count(reason):,} judgements ({reason})")
    if unscored and None not in unscored:
        sys.exit("error: nothing was scored")


def _judge(
    chosen: argparse.Namespace, rows: list[Row], verdicts: dict[str, list[float | None]]
) -> list[str | None]:
    """Adds the judge's verdicts, by wording; returns why a row has none, None of others."""
    asked = Model(rate=chosen.rate, connections=chosen.connections)
    judge = make_judge(chosen.judge, {}, asked, prompts=chosen.prompts)
    assert judge is not None
    right: dict[tuple[str, str, str, str], float | None] = {}
    unscored: list[str | None] = []

    def keep(row: Row) -> None:
        right[row["wording"], row["group"], row["sample"], row["variant"]] = row["right"]
        unscored.append(row["unscored"])

    with progress("judging") as advance:
        judge.judge(rows, keep, progress=advance)
    for wording in judge.wordings:
        verdicts[f"{wording}, {chosen.judge}"] = [
            right.get((wording, row["group"], row["sample"], row["variant"])) for row in rows
        ]
    return unscored


if __name__ == "__main__":
    call(main)
