"""One question asked of one memory with one budget, as a row of a run.

    {"chat": "Chat_1", "id": "Q3", "budget": "1000t", "category": "temporal",
     "question": "When did …?", "gold": "03.03.2026", "answer": "3 March 2026", "unscored": None,
     "tokens": 981, "words": 702, "message_ids": ["D1:2", …], "evidence": ["D2:9"],
     "learned": None,
     "ranks": [4], "any@5": 1.0, …, "ndcg@10": 0.43, "recall@budget": 1.0, …,
     "f1": 0.67, "exact": 0.0, "rouge_l": 0.67, "date_f1": 1.0, "calls": 0, …}

`unscored` says why there is no answer where one was asked for. `learned` names the published set
from which a shipped part of the run learned this question; None where it is new. `unresolved`
counts pieces of the published evidence that name no message: what is found is scored on the
others. `ranks` are the places of the evidence in the memory's own order, from 1, None where it
has none. Nothing here
depends on the machine or the moment: times stand in rows of their own, so that the same run gives
the same rows.

A question whose right answer is that the chat does not tell is LoCoMo's `adversarial` category.
LongMemEval marks such questions within its categories: in rows they are `abstention`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from realtalk.chat import Chat, Corpus, Question, unpack_extra
from realtalk.corpora.categories import known
from realtalk.memory.budgets import label
from realtalk.memory.values import Budget, Context, Cost
from realtalk.metrics.answers import ABSTAINING, score_answer
from realtalk.metrics.retrieval import MESSAGES, NDCG_AT, score_ranking

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "ANSWER_SCORES",
    "BUDGET_SCORES",
    "EMPTY",
    "KEY",
    "NO_TRUTH",
    "RANK_SCORES",
    "SCORING_VERSION",
    "Row",
    "answer_scores",
    "answered_columns",
    "category_of",
    "empty_row",
    "may_abstain",
    "rescored",
    "row_key",
    "row_schema",
    "timing_schema",
]

Row: TypeAlias = dict[str, Any]

# 2: both ends of a date range count; LongMemEval's abstentions are scored as such.
SCORING_VERSION = "2"
_ABSTENTION = "abstention"
EMPTY = "empty answer"
NO_TRUTH = "the question has no true answer"

KEY = ("chat", "id", "budget")
ANSWER_SCORES = ("f1", "exact", "rouge_l", "date_f1")
RANK_SCORES = (
    *(f"{what}@{k}" for k in MESSAGES for what in ("any", "all", "recall")),
    f"ndcg@{NDCG_AT}",
)
BUDGET_SCORES = ("any@budget", "all@budget", "recall@budget")
_TEXTS = ("category", "question", "gold", "answer", "unscored")
_COSTS = ("calls", "tokens_in", "tokens_out")


def category_of(question: Question) -> str:
    """The category that a question is scored by."""
    # Most questions have no extra: nothing is parsed for them.
    marked = "abstention" in question.extra and unpack_extra(question.extra).get("abstention")
    return _ABSTENTION if marked is True else question.category


def may_abstain(corpus: Corpus) -> bool:
    """Whether some question wants no answer: then a reader of all of them must be told."""
    return any(category_of(q) in ABSTAINING for chat in corpus.chats for q in chat.questions)


def row_key(chat: Chat, question: Question, budget: Budget) -> tuple[str, str, str]:
    return (chat.id, question.id, label(budget))


def empty_row(
    chat: Chat,
    question: Question,
    budget: Budget,
    context: Context,
    learned: str | None = None,
) -> Row:
    """What is known before anybody answers: the question, the context, and its retrieval."""
    return {
        **dict(zip(KEY, row_key(chat, question, budget), strict=True)),
        "category": category_of(question),
        "question": question.text,
        "gold": question.answer,
        "answer": None,
        "unscored": None,
        "tokens": context.tokens,
        "words": context.words,
        "message_ids": list(context.message_ids),
        "evidence": list(question.evidence),
        "unresolved": len(question.unresolved),
        "learned": learned,
        **_retrieval(question.evidence, context),
        **dict.fromkeys(ANSWER_SCORES),
        **dict.fromkeys(_COSTS, 0),
        **_costs("memory_", context.cost),
    }


def answer_scores(answer: str | None, gold: str | None, category: str) -> Mapping[str, Any]:
    """The scores of an answer as columns; None where it has none."""
    found = score_answer(answer, gold, category).to_json()
    return {name: found[name] for name in ANSWER_SCORES}


def answered_columns(
    answer: str | None, gold: str | None, category: str, reason: str | None = None
) -> Row:
    """An answer, its scores, and why it has none; `reason` is what is known against it already."""
    if answer is not None and not answer.strip():
        answer, reason = None, reason or EMPTY
    scores = answer_scores(answer, gold, category)
    if answer is not None and scores["f1"] is None:
        reason = reason or NO_TRUTH
    return {"answer": answer, "unscored": reason, **scores}


def rescored(row: Row) -> Row:
    """A stored row as the present formulas score its answer; what was retrieved stays."""
    category = row["category"]
    if row["id"].endswith("_abs") and category in known("longmemeval"):
        category = _ABSTENTION
    made = row | {"category": category}
    if row["answer"] is not None:
        made |= answered_columns(row["answer"], row["gold"], category)
    return made


def _costs(prefix: str, cost: Cost) -> dict[str, int]:
    return {f"{prefix}{name}": getattr(cost, name) for name in _COSTS}


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
    # Events and notes tell what was said without showing a message: nothing to be found there.
    # A memory that shows messages and had no room for one has found none, which does count.
    own_words = context.text and not context.message_ids and context.ranked is None
    if wanted and not (context.tells or own_words):
        hits = len(wanted.intersection(context.message_ids))
        shown = {
            "any@budget": float(hits > 0),
            "all@budget": float(hits == len(wanted)),
            "recall@budget": hits / len(wanted),
        }
    return {"ranks": ranks, **ranked, **shown}


def row_schema() -> pl.Schema:
    """The columns of rows.parquet."""
    import polars as pl

    return pl.Schema(
        {
            **dict.fromkeys(
                (*KEY, "category", "question", "gold", "answer", "unscored"), pl.String()
            ),
            **dict.fromkeys(("tokens", "words"), pl.Int64()),
            **dict.fromkeys(("message_ids", "evidence"), pl.List(pl.String())),
            "unresolved": pl.Int64(),
            "learned": pl.String(),
            "ranks": pl.List(pl.Int64()),
            **dict.fromkeys((*RANK_SCORES, *BUDGET_SCORES, *ANSWER_SCORES), pl.Float64()),
            **dict.fromkeys((*_COSTS, *(f"memory_{name}" for name in _COSTS)), pl.Int64()),
        }
    )


def timing_schema() -> pl.Schema:
    """The columns of timings.parquet."""
    import polars as pl

    return pl.Schema(
        {
            **dict.fromkeys(KEY, pl.String()),
            **dict.fromkeys(("recall_ms", "reader_seconds"), pl.Float64()),
        }
    )
