"""One question asked of one memory with one budget, as a row of a run.

    {"sample": "Q3", "group": "Chat_1", "variant": "1000t", "answer": "3 March 2026",
     "unscored": None, …, "category": "temporal", "question": "When did …?", "gold": "03.03.2026",
     "tokens": 981, "words": 702, "message_ids": ["D1:2", …], "evidence": ["D2:9"],
     "learned": None,
     "ranks": [4], "any@5": 1.0, …, "ndcg@10": 0.43, "recall@budget": 1.0, …,
     "f1": 0.67, "exact": 0.0, "rouge_l": 0.67, "date_f1": 1.0, "calls": 0, …}

The sample is a question, its group the chat, its variant the budget. `unscored` says why there is
no answer where one was asked for. `learned` names the published set
from which a shipped part of the run learned this question; None where it is new. `unresolved`
counts pieces of the published evidence that name no message: what is found is scored on the
others. `ranks` are the places of the evidence in the memory's own order, from 1, None where it
has none. Nothing here depends on the machine or the moment: times stand in a table of their own,
so that the same run gives the same rows.

A question whose right answer is that the chat does not tell is LoCoMo's `adversarial` category.
LongMemEval marks such questions within its categories: in rows they are `abstention`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.chat import Corpus, Question, unpack_extra
from realtalk.corpora.categories import known
from realtalk.evals.values import Row, Score
from realtalk.memory.values import Context, RecalledAnswer
from realtalk.metrics.answers import ABSTAINING, score_answer
from realtalk.metrics.retrieval import MESSAGES, NDCG_AT, score_ranking

if TYPE_CHECKING:
    import polars as pl

# 2: both ends of a date range count; LongMemEval's abstentions are scored as such.
SCORING_VERSION = "2"
_ABSTENTION = "abstention"
EMPTY = "empty answer"
NO_TRUTH = "the question has no true answer"

ANSWER_SCORES = ("f1", "exact", "rouge_l", "date_f1")
RANK_SCORES = (
    *(f"{what}@{k}" for k in MESSAGES for what in ("any", "all", "recall")),
    f"ndcg@{NDCG_AT}",
)
BUDGET_SCORES = ("any@budget", "all@budget", "recall@budget")
_COSTS = ("calls", "tokens_in", "tokens_out")
# A mean of 0 or 1 over a few questions is as uncertain as any other: all are proportions.
SCORES = tuple(
    Score(name, name, proportion=True) for name in (*ANSWER_SCORES, *RANK_SCORES, *BUDGET_SCORES)
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
    question: Question, recalled: RecalledAnswer, reason: str, learned: str | None = None
) -> Row:
    """The columns of a row: the question, what was shown, and how that and the answer score.

    `reason` says why there is no answer. With neither, nobody was asked for one.
    """
    context = recalled.context
    category = category_of(question)
    row: Row = {
        "answer": None,
        "unscored": None,
        "category": category,
        "question": question.text,
        "gold": question.answer,
        "tokens": context.tokens,
        "words": context.words,
        "message_ids": list(context.message_ids),
        "evidence": list(question.evidence),
        "unresolved": len(question.unresolved),
        "learned": learned,
        **_retrieval(question.evidence, context),
        **dict.fromkeys(ANSWER_SCORES),
        **{f"memory_{name}": getattr(context.cost, name) for name in _COSTS},
    }
    if recalled.text is not None or reason:
        row |= answered_columns(recalled.text, question.answer, category, reason or None)
    return row


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
    left_out = [NO_TRUTH] if answer is not None and scores["f1"] is None else []
    return {"answer": answer, "unscored": reason, "left_out": left_out, **scores}


def rescored_columns(row: Row, answer: str | None) -> Row:
    """The columns of a stored row that the present formulas give; what was retrieved stays."""
    category = row["category"]
    if row["sample"].endswith("_abs") and category in known("longmemeval"):
        category = _ABSTENTION
    scored = {} if answer is None else answered_columns(answer, row["gold"], category)
    return {"category": category, **scored}


def earlier_key(row: Row) -> Row:
    """A row of any table of version 0.1.0 with the key of today."""
    renamed = {"id": "sample", "chat": "group", "budget": "variant"}
    return {renamed.get(name, name): value for name, value in row.items()}


def earlier_row(row: Row) -> Row:
    """A row of version 0.1.0 as it would be written today."""
    if "sample" in row:
        return row
    today = earlier_key(row)
    untrue = today.get("unscored") == NO_TRUTH
    left_out = {"left_out": [NO_TRUTH], "unscored": None} if untrue else {"left_out": []}
    return {"untold": None, "unresolved": 0, **today, **left_out}


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


def columns() -> dict[str, pl.DataType | type[pl.DataType]]:
    """The columns of a question beyond those of every run."""
    import polars as pl

    return {
        **dict.fromkeys(("category", "question", "gold"), pl.String),
        **dict.fromkeys(("tokens", "words"), pl.Int64),
        **dict.fromkeys(("message_ids", "evidence"), pl.List(pl.String)),
        "unresolved": pl.Int64,
        "learned": pl.String,
        "ranks": pl.List(pl.Int64),
        **dict.fromkeys((*RANK_SCORES, *BUDGET_SCORES, *ANSWER_SCORES), pl.Float64),
        **dict.fromkeys((f"memory_{name}" for name in _COSTS), pl.Int64),
    }
