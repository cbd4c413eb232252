"""One question asked of one memory with one budget, as a row of a run.

    {"sample": "Q3", "group": "Chat_1", "variant": "1000t", "answer": "3 March 2026",
     "unscored": None, …, "category": "temporal", "question": "When did …?", "gold": "03.03.2026",
     "tokens": 981, "words": 702, "message_ids": ["D1:2", …], "evidence": ["D2:9"],
     "learned": None,
     "ranks": [4], "any@5": 1.0, …, "ndcg@10": 0.43, "recall@budget": 1.0, …,
     "f1": 0.67, "exact": 0.0, "rouge_l_stemmed": 0.67, "date_f1": 1.0, "accepted": 1.0,
     "calls": 0,
     "ranked": ["D1:4", …], "verdict": "ok", "audit_evidence": ["D2:9", "D2:11"], …}

The sample is a question, its group the chat, its variant the budget. `unscored` says why there is
no answer where one was asked for. `learned` names the published set
from which a shipped part of the run learned this question; None where it is new. `unresolved`
counts pieces of the published evidence that name no message: what is found is scored on the
others. `ranks` are the places of the evidence in the memory's own order, from 1, None where it
has none. `ranked` are the first fifty of that order: with them, a row can be scored again by other
golds (`by_audit`). `verdict` and `audit_…` are what the audit says of the question, None where it
does not know it; `accept` are answers that the golds in use accept beside `gold`; `names` are
aliases that an answer may use. Nothing here depends on the machine or the moment: times stand in a
table of their own, so that the same run gives the same rows.

Where the evidence of a question is whole sessions, `evidence` and `ranked` are sessions ("D12"),
each where the first of its messages stands; one is shown where any of its messages is.

A question whose right answer is that the chat does not tell is LoCoMo's `adversarial` category.
LongMemEval marks such questions within its categories: in rows they are `abstention`. Ours, asked
of the wrong person, are `swapped`. Of all these `declined` says whether the answer does, in any
words. `of_another` are answers that are right of another person, whom the words `another` name:
`misattributed` is an answer that says one of them, does not decline and does not name that person.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from realtalk.chat import Chat, Corpus, Question, unpack_extra
from realtalk.evals.values import COUNTS, Row, Score
from realtalk.formats.audit import AuditedQuestion
from realtalk.formats.questions import known_categories
from realtalk.memory.attribution import SHOWN_SCORES, People, of_another
from realtalk.memory.golds import AUDITED, Gold, audited_gold
from realtalk.memory.values import RecalledAnswer
from realtalk.metrics.accepting import holds_gold, matches_gold
from realtalk.metrics.answers import ABSTAINING, SWAPPED, date_f1, is_abstention, score_answer
from realtalk.metrics.retrieval import MESSAGES, NDCG_AT, found_among, score_ranking
from realtalk.text.terms import is_named

# 2: both ends of a date range count; LongMemEval's abstentions are scored as such.
# 3: `accepted`, and what another set of golds needs to score the row.
# 4: ROUGE-L says in its name that it stems; the formula is the same.
SCORING_VERSION = "4"
_ABSTENTION = "abstention"
RIGHT = 0.5  # of date-aware F1: what is below is worth reading
EMPTY = "empty answer"
NO_TRUTH = "the question has no true answer"

ANSWER_SCORES = ("f1", "exact", "rouge_l_stemmed", "date_f1", "accepted")
RANK_SCORES = (
    *(f"{what}@{k}" for k in MESSAGES for what in ("any", "all", "recall")),
    f"ndcg@{NDCG_AT}",
)
BUDGET_SCORES = ("any@budget", "all@budget", "recall@budget")
ASKED_SCORES = ("declined", "misattributed")
AUDIT_COLUMNS = ("verdict", "audit_answer", "audit_accept", "audit_evidence", "audit_why")
_KEPT = max(MESSAGES)  # of a ranking: no score looks further
_IN_ORDER = "evidence in the memory's own order"
_IN_CONTEXT = "evidence in the context"
_SHOWN = frozenset(
    {
        *("any@5", "all@5", "recall@5", "recall@10", "recall@20", "all@20", "recall@50", "ndcg@10"),
        *("all@budget", "recall@budget", *ANSWER_SCORES),
    }
)
_TESTED = frozenset(
    {*ANSWER_SCORES, "any@5", "recall@20", "ndcg@10", "recall@budget", "all@budget"}
)


def _score(name: str, table: str) -> Score:
    # A mean of 0 or 1 over a few questions is as uncertain as any other: all are proportions.
    is_shown, tested = name in _SHOWN, name in _TESTED
    return Score(name, name, proportion=True, table=table, shown=is_shown, tested=tested)


_BY_GOLDS = (
    *(_score(name, _IN_ORDER) for name in RANK_SCORES),
    *(_score(name, _IN_CONTEXT) for name in BUDGET_SCORES),
    *(_score(name, "answers") for name in ANSWER_SCORES),
)
_AUDITED = {name: f"{name}, {AUDITED}" for name in (score.name for score in _BY_GOLDS)}
# The same answers and rankings by the audited golds; Holm's correction is for each golds apart.
AUDITED_SCORES = tuple(
    replace(score, name=_AUDITED[score.name], title=_AUDITED[score.name], family=AUDITED)
    for score in _BY_GOLDS
)
_BETTER: Mapping[str, Literal[-1, 0, 1]] = {
    "other@budget": 0,
    "misnamed@budget": -1,
    "misattributed": -1,
}
# Who said it: Holm's correction is apart, so that no other p moves.
_WHO = {"who said it": SHOWN_SCORES, "asked of the wrong person": ASKED_SCORES}
SCORES = (
    *_BY_GOLDS,
    *(
        Score(name, name, _BETTER.get(name, 1), proportion=True, family=table, table=table)
        for table, names in _WHO.items()
        for name in names
    ),
)


def category_of(question: Question) -> str:
    """The category that a question is scored by."""
    # Most questions have no extra: nothing is parsed for them.
    marked = "abstention" in question.extra and unpack_extra(question.extra).get("abstention")
    return _ABSTENTION if marked is True else question.category


def may_abstain(corpus: Corpus) -> bool:
    """Whether some question wants no answer: then a reader of all of them must be told."""
    return any(category_of(q) in ABSTAINING for chat in corpus.chats for q in chat.questions)


def row_columns(
    question: Question,
    recalled: RecalledAnswer,
    reason: str,
    gold: Gold,
    audited: AuditedQuestion | None,
    *,
    names: Sequence[str],
    learned: str | None,
    people: People,
    sessions: Mapping[str, str] | None = None,
) -> Row:
    """The columns of a row: the question, what was shown, and how that and the answer score.

    `reason` says why there is no answer. With neither, nobody was asked for one. `sessions` are
    those of the messages, where the evidence is sessions.
    """
    context = recalled.context
    ranked, found = context.ranked, context.message_ids
    if sessions is not None:
        ranked = None if ranked is None else _sessions(ranked, sessions)
        found = _sessions(found, sessions)
        gold = replace(gold, evidence=_sessions(gold.evidence, sessions))
    # Events and notes tell what was said without showing a message: nothing to be found there.
    # A memory that shows messages and had no room for one has found none, which does count.
    own_words = bool(context.text) and not context.message_ids and ranked is None
    tells = context.tells or own_words
    answers, another = of_another(people, question)
    row = {
        "answer": None,
        "unscored": None,
        "category": category_of(question),
        "question": question.text,
        "tokens": context.tokens,
        "words": context.words,
        "message_ids": list(context.message_ids),
        "learned": learned,
        "ranked": None if ranked is None else list(dict.fromkeys(ranked))[:_KEPT],
        "tells": tells,
        "names": list(names),
        "of_another": answers,
        "another": another,
        **people.shown(question.text, context, gold, tells=tells),
        **audit_columns(audited),
        **{f"memory_{name}": getattr(context.cost, name) for name in COUNTS},
    }
    return _score_row(row, gold, ranked, found, recalled.text, reason or None)


def session_names(chat: Chat) -> dict[str, str]:
    """Message ids → what their sessions are called in rows."""
    return {m.id: f"D{session.number}" for session in chat.sessions for m in session.messages}


def _sessions(ids: Sequence[str], sessions: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sessions[id_] for id_ in ids if id_ in sessions))


def _score_row(
    row: Row,
    gold: Gold,
    ranked: Sequence[str] | None,
    shown: Collection[str],
    answer: str | None,
    reason: str | None,
) -> Row:
    """A row by a gold, without scores where that is none; `ranked` is the memory's whole order."""
    scored: Row = {
        **row,
        "gold": gold.answer,
        "accept": list(gold.accept),
        "evidence": list(gold.evidence),
        "unresolved": gold.unresolved,
        **_retrieval(gold.evidence, ranked, None if row["tells"] else shown),
        "left_out": [],
        **dict.fromkeys((*ANSWER_SCORES, *ASKED_SCORES)),
    }
    if answer is not None or reason:
        scored |= answered_columns(answer, scored, reason)
    if gold.left_out:
        scored |= {"left_out": [gold.left_out], **dict.fromkeys(ANSWER_SCORES)}
    return scored


def audit_columns(audited: AuditedQuestion | None) -> Row:
    """What the audit says of a question, None where it does not know it."""
    if audited is None:
        return dict.fromkeys(AUDIT_COLUMNS)
    lists = [*audited.accept], [*audited.evidence]
    values = (audited.verdict, audited.answer, *lists, audited.why)
    return dict(zip(AUDIT_COLUMNS, values, strict=True))


def by_audit(row: Row) -> Row:
    """A row as the audit's golds score it; the answer and the ranking are the same."""
    audited = None
    verdict, answer, accept, evidence, why = (row[name] for name in AUDIT_COLUMNS)
    if verdict is not None:
        audited = AuditedQuestion(verdict, answer, tuple(accept), tuple(evidence), why=why)
    gold = audited_gold(row["gold"], audited)
    # A run that is shared has no answers.
    return _score_row(row, gold, row["ranked"], row["message_ids"], row.get("answer"), None)


def audited_columns(row: Row) -> Row:
    """The scores of a row by the audit's golds, each under its own name."""
    audited = by_audit(row)
    return {title: audited[name] for name, title in _AUDITED.items()}


def answered_columns(answer: str | None, row: Row, reason: str | None = None) -> Row:
    """An answer, its scores, and why it has none; `reason` is what is known against it already.

    `row` has the question and the golds.
    """
    if answer is not None and not answer.strip():
        answer, reason = None, reason or EMPTY
    gold, category = row["gold"], row["category"]
    scores: Row = {} if answer is None else dict(score_answer(answer, gold, category))
    if scores:
        is_accepted = matches_gold(
            answer or "",
            gold,
            row["accept"],
            question=row["question"],
            names=row["names"],
            category=category,
        )
        scores["accepted"] = float(is_accepted)
    left_out = [] if answer is None or scores else [NO_TRUTH]
    asked = dict(zip(ASKED_SCORES, _asked_scores(answer, row), strict=True))
    columns = {"answer": answer, "unscored": reason, "left_out": left_out}
    return {**columns, **dict.fromkeys(ANSWER_SCORES), **scores, **asked}


def _asked_scores(answer: str | None, row: Row) -> tuple[float | None, float | None]:
    """Whether an answer declines, and whether it tells another person's fact instead."""
    if answer is None or row["category"] not in ABSTAINING:
        return None, None
    declined = is_abstention(answer, SWAPPED)
    others = row.get("of_another")
    if not others:
        return float(declined), None
    alike = any(date_f1(answer, other, "") >= RIGHT for other in others)
    told = alike or holds_gold(answer, others, question=row["question"])
    names = is_named(row["another"] or "", answer)
    return float(declined), float(told and not declined and not names)


def rescored_columns(row: Row, answer: str | None) -> Row:
    """The columns of a stored row that the present formulas give; what was retrieved stays."""
    category = row["category"]
    if row["sample"].endswith("_abs") and category in known_categories("longmemeval"):
        category = _ABSTENTION
    scored: Row = {}
    if answer is not None and row["left_out"] in ([], [NO_TRUTH]):
        scored = answered_columns(answer, row | {"category": category})
    return {"category": category, **scored}


def _retrieval(
    evidence: Sequence[str], ranked: Sequence[str] | None, shown: Collection[str] | None
) -> Row:
    """Where the evidence stands in the memory's order, and how much of it was shown."""
    wanted = set(evidence)
    columns: Row = dict.fromkeys((*RANK_SCORES, *BUDGET_SCORES))
    columns["ranks"] = [None] * len(evidence)
    if wanted and ranked is not None:
        place = {id_: rank for rank, id_ in reversed([*enumerate(ranked, 1)])}
        ranks = [place.get(id_) for id_ in evidence]
        columns |= {**score_ranking(ranked, wanted), "ranks": ranks}
    if wanted and shown is not None:
        columns |= found_among("budget", len(wanted.intersection(shown)), len(wanted))
    return columns


# What runs of earlier versions lack.
WHO_COLUMNS: Mapping[str, Any] = {"of_another": list[str], "another": str} | dict.fromkeys(
    (*SHOWN_SCORES, *ASKED_SCORES), float
)
# The columns of a question beyond those of every run.
COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("category", "question", "gold"), str),
    **dict.fromkeys(("tokens", "words"), int),
    **dict.fromkeys(("message_ids", "evidence", "accept"), list[str]),
    "unresolved": int,
    "learned": str,
    "ranks": list[int],
    **dict.fromkeys(("ranked", "names"), list[str]),
    "tells": bool,
    **dict.fromkeys(("verdict", "audit_answer", "audit_why"), str),
    **dict.fromkeys(("audit_accept", "audit_evidence"), list[str]),
    **dict.fromkeys((*RANK_SCORES, *BUDGET_SCORES, *ANSWER_SCORES), float),
    **WHO_COLUMNS,
    **dict.fromkeys((f"memory_{name}" for name in COUNTS), int),
}
