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

A question whose right answer is that the chat does not tell is LoCoMo's `adversarial` category.
LongMemEval marks such questions within its categories: in rows they are `abstention`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from realtalk.chat import Corpus, Question, unpack_extra
from realtalk.evals.values import Row, Score
from realtalk.formats.audit import AuditedQuestion
from realtalk.formats.questions import known_categories
from realtalk.memory.golds import AUDITED, Gold, audited_gold, published_gold
from realtalk.memory.values import Context, RecalledAnswer
from realtalk.metrics.accepting import accepted
from realtalk.metrics.answers import ABSTAINING, score_answer
from realtalk.metrics.retrieval import MESSAGES, NDCG_AT, score_ranking

# 2: both ends of a date range count; LongMemEval's abstentions are scored as such.
# 3: `accepted`, and what another set of golds needs to score the row.
# 4: ROUGE-L says in its name that it stems; the formula is the same.
SCORING_VERSION = "4"
_ABSTENTION = "abstention"
EMPTY = "empty answer"
NO_TRUTH = "the question has no true answer"

ANSWER_SCORES = ("f1", "exact", "rouge_l_stemmed", "date_f1", "accepted")
RANK_SCORES = (
    *(f"{what}@{k}" for k in MESSAGES for what in ("any", "all", "recall")),
    f"ndcg@{NDCG_AT}",
)
BUDGET_SCORES = ("any@budget", "all@budget", "recall@budget")
COSTS = ("calls", "tokens_in", "tokens_out")
_AUDIT = ("answer", "accept", "evidence", "why")  # of an audited question
AUDIT_COLUMNS = ("verdict", *(f"audit_{name}" for name in _AUDIT))
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
    shown, tested = name in _SHOWN, name in _TESTED
    return Score(name, name, proportion=True, table=table, shown=shown, tested=tested)


SCORES = (
    *(_score(name, _IN_ORDER) for name in RANK_SCORES),
    *(_score(name, _IN_CONTEXT) for name in BUDGET_SCORES),
    *(_score(name, "answers") for name in ANSWER_SCORES),
)
_AUDITED = {name: f"{name}, {AUDITED}" for name in (score.name for score in SCORES)}
# The same answers and rankings by the audited golds; Holm's correction is for each golds apart.
AUDITED_SCORES = tuple(
    replace(score, name=_AUDITED[score.name], title=_AUDITED[score.name], family=AUDITED)
    for score in SCORES
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
    *,
    names: Sequence[str] = (),
    learned: str | None = None,
    gold: Gold | None = None,
    audited: AuditedQuestion | None = None,
) -> Row:
    """The columns of a row: the question, what was shown, and how that and the answer score.

    `reason` says why there is no answer. With neither, nobody was asked for one. Without a
    `gold`, the published one is scored by.
    """
    context = recalled.context
    true = published_gold(question) if gold is None else gold
    ranked = context.ranked
    row: Row = {
        "answer": None,
        "unscored": None,
        "left_out": [],
        "category": category_of(question),
        "question": question.text,
        "tokens": context.tokens,
        "words": context.words,
        "message_ids": list(context.message_ids),
        "learned": learned,
        "ranked": None if ranked is None else list(dict.fromkeys(ranked))[:_KEPT],
        "tells": _only_tells(context),
        "names": list(names),
        **audit_columns(audited),
        **_gold_columns(true),
        **_retrieval(true.evidence, context),
        **dict.fromkeys(ANSWER_SCORES),
        **{f"memory_{name}": getattr(context.cost, name) for name in COSTS},
    }
    if recalled.text is not None or reason:
        row |= answered_columns(recalled.text, row, reason or None)
    return _set_aside(row, true)


def _set_aside(row: Row, gold: Gold) -> Row:
    """A row without scores where its gold is none, with the reason."""
    if not gold.left_out:
        return row
    return row | {"left_out": [gold.left_out], **dict.fromkeys(ANSWER_SCORES)}


def audit_columns(audited: AuditedQuestion | None) -> Row:
    """What the audit says of a question, None where it does not know it."""
    return {
        "verdict": None if audited is None else audited.verdict,
        **{f"audit_{name}": _plain(getattr(audited, name, None)) for name in _AUDIT},
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _gold_columns(gold: Gold) -> Row:
    return {
        "gold": gold.answer,
        "accept": list(gold.accept),
        "evidence": list(gold.evidence),
        "unresolved": gold.unresolved,
    }


def by_audit(row: Row) -> Row:
    """A row as the audit's golds score it; the answer and the ranking are the same."""
    known = None
    if row.get("verdict") is not None:
        values = {name: row[f"audit_{name}"] for name in _AUDIT}
        values |= {name: tuple(values[name]) for name in ("accept", "evidence")}
        known = AuditedQuestion(row["verdict"], **values)
    gold = audited_gold(row["gold"], known)
    ranked = row.get("ranked")
    context = Context(
        "",
        tuple(row["message_ids"]),
        row["tokens"],
        row["words"],
        None if ranked is None else tuple(ranked),
        tells=bool(row.get("tells")),
    )
    made: Row = row | _gold_columns(gold) | _retrieval(gold.evidence, context)
    made |= {"left_out": [], **dict.fromkeys(ANSWER_SCORES)}
    if row["answer"] is not None:
        made |= answered_columns(row["answer"], made)
    return _set_aside(made, gold)


def audited_columns(row: Row) -> Row:
    """The scores of a row by the audit's golds, each under its own name."""
    audited = by_audit(row)
    return {title: audited[name] for name, title in _AUDITED.items()}


def answer_scores(answer: str | None, row: Row) -> Mapping[str, Any]:
    """The scores of an answer as columns; None where it has none. `row` has question and golds."""
    gold, category = row["gold"], row["category"]
    found: Row = dict(score_answer(answer, gold, category).to_json())
    found["accepted"] = None
    if answer is not None and found["f1"] is not None:
        found["accepted"] = float(
            accepted(
                answer,
                gold,
                row.get("accept") or (),
                question=row["question"],
                names=row.get("names") or (),
                category=category,
            )
        )
    return {name: found[name] for name in ANSWER_SCORES}


def answered_columns(answer: str | None, row: Row, reason: str | None = None) -> Row:
    """An answer, its scores, and why it has none; `reason` is what is known against it already."""
    if answer is not None and not answer.strip():
        answer, reason = None, reason or EMPTY
    scores = answer_scores(answer, row)
    left_out = [NO_TRUTH] if answer is not None and scores["f1"] is None else []
    return {"answer": answer, "unscored": reason, "left_out": left_out, **scores}


def rescored_columns(row: Row, answer: str | None) -> Row:
    """The columns of a stored row that the present formulas give; what was retrieved stays."""
    category = row["category"]
    if row["sample"].endswith("_abs") and category in known_categories("longmemeval"):
        category = _ABSTENTION
    scored: Row = {}
    if answer is not None and row["left_out"] in ([], [NO_TRUTH]):
        scored = answered_columns(answer, row | {"category": category})
    return {"category": category, **scored}


def _retrieval(evidence: Sequence[str], context: Context) -> dict[str, Any]:
    wanted = set(evidence)
    ranked: dict[str, float | None] = dict.fromkeys(RANK_SCORES)
    shown: dict[str, float | None] = dict.fromkeys(BUDGET_SCORES)
    ranks: list[int | None] = [None] * len(evidence)
    if wanted and context.ranked is not None:
        found = score_ranking(context.ranked, wanted) or {}
        ranked |= {name: found[name] for name in RANK_SCORES}
        place = {id_: rank for rank, id_ in reversed([*enumerate(context.ranked, 1)])}
        ranks = [place.get(id_) for id_ in evidence]
    if wanted and not _only_tells(context):
        hits = len(wanted.intersection(context.message_ids))
        shown = {
            "any@budget": float(hits > 0),
            "all@budget": float(hits == len(wanted)),
            "recall@budget": hits / len(wanted),
        }
    return {"ranks": ranks, **ranked, **shown}


def _only_tells(context: Context) -> bool:
    """Whether a context shows no message because its memory never does.

    Events and notes tell what was said without showing a message: nothing to be found there.
    A memory that shows messages and had no room for one has found none, which does count.
    """
    own_words = bool(context.text) and not context.message_ids and context.ranked is None
    return context.tells or own_words


# The columns of a question beyond those of every run.
COLUMNS: Mapping[str, Any] = MappingProxyType(
    {
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
        **dict.fromkeys((f"memory_{name}" for name in COSTS), int),
    }
)
