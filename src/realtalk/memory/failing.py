"""Why a question went wrong, as far as its row tells.

    why_failed(row)               → "not retrieved"
    failed(rows)                  → the rows that went wrong, worst first
    find_question(rows, "Q3")     → the rows of one question, a row per budget

The first that holds: nobody answered (and why), the gold is doubtful (by the audit), no message
of the evidence was shown, only a part was, or all of it was and the answer is wrong all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from realtalk.errors import RealtalkError
from realtalk.evals.values import Row

UNSCORED = "no answer"
DOUBTFUL = "gold doubtful"
NOT_RETRIEVED = "not retrieved"
PARTLY = "partly retrieved"
NOT_READ = "retrieved and not read"
UNKNOWN = "shows no message"
_RIGHT = 0.5  # of date-aware F1: what is below is worth reading


def badness(row: Row, asked: bool) -> float | None:
    """How bad a row is, lower is worse; None where nothing is wrong. `asked`: somebody answered."""
    if row["unscored"] is not None:
        return -1.0
    if not asked:
        found = row["recall@budget"]
        return None if found is None or found >= 1 else float(found)
    score = row["date_f1"]
    if score is None or score >= _RIGHT or row.get("accepted") == 1:
        return None
    return float(score)


def why_failed(row: Row, *, published: bool = True) -> str:
    """Why a row that went wrong did. The audit doubts `published` golds, not its own."""
    if row["unscored"] is not None:
        return UNSCORED
    if published and row.get("verdict") not in (None, "ok"):
        return f"{DOUBTFUL} ({row['verdict']})"
    found = row["recall@budget"]
    if found is None:
        return UNKNOWN
    if found <= 0:
        return NOT_RETRIEVED
    return PARTLY if found < 1 else NOT_READ


def failed(rows: Sequence[Row], *, published: bool = True) -> list[Row]:
    """The rows that went wrong with `why`, worst first, in their order where they are alike."""
    asked = any(row["answer"] is not None for row in rows)
    kept = [(bad, row) for row in rows if (bad := badness(row, asked)) is not None]
    kept.sort(key=lambda pair: pair[0])
    return [row | {"why": why_failed(row, published=published)} for _, row in kept]


def find_question(rows: Sequence[Row], name: str, where: str) -> list[Row]:
    """The rows of the question `Q3`, or `Chat_1:Q3` where several chats have one."""
    chat, colon, id_ = name.rpartition(":")
    found = [row for row in rows if row["sample"] == name]
    if colon and not found:
        found = [row for row in rows if row["sample"] == id_ and row["group"] == chat]
    if not found:
        raise RealtalkError(f"no question '{name}'", where=where, fix="name it as Q3 or CHAT:Q3")
    chats = list(dict.fromkeys(row["group"] for row in found))
    if len(chats) > 1:
        raise RealtalkError(
            f"'{name}' is in {len(chats)} chats",
            where=where,
            fix=f"name the chat too: {chats[0]}:{found[0]['sample']}",
        )
    return found
