"""Labels of turns → what a portrait counts of feelings, one row per chat, day and speaker.

    feeling_lines(labels.frame)
    → chat | date | speaker | sentiment | emotion | intimacy | empathy | low

`low` says of a turn that answers somebody within a session whether that somebody's turn was
negative; it is missing where nobody was answered or the turn before was not labelled.
"""

from __future__ import annotations

import polars as pl

_VALUES = ("intimacy", "empathy")


def feeling_lines(labels: pl.DataFrame) -> pl.DataFrame:
    """One row per labelled turn."""
    turns = labels.sort("chat", "turn")
    before = [pl.col(name).shift(1) for name in ("chat", "session", "turn", "speaker", "sentiment")]
    chat, session, turn, speaker, sentiment = before
    answers = (
        (pl.col("chat") == chat)
        & (pl.col("session") == session)
        & (pl.col("turn") == turn + 1)
        & (pl.col("speaker") != speaker)
    )
    return turns.select(
        "chat",
        pl.col("time").dt.date().alias("date"),
        "speaker",
        "sentiment",
        "emotion",
        *(pl.col(name).cast(pl.Float64).fill_nan(None) for name in _VALUES),
        pl.when(answers).then(sentiment == "negative").alias("low"),
    )


def feeling_sums(lines: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Counts and sums that every share and mean of feelings is made from."""
    positive = pl.col("sentiment") == "positive"
    empathy = pl.col("empathy")
    low = pl.col("low").fill_null(value=False)
    other = pl.col("low").not_().fill_null(value=False)
    return lines.group_by(*by).agg(
        pl.col("sentiment").count().alias("felt"),
        positive.sum().alias("positive"),
        (pl.col("sentiment") == "negative").sum().alias("negative"),
        pl.col("intimacy").count().alias("intimacy_n"),
        pl.col("intimacy").sum().round(4),
        empathy.count().alias("empathy_n"),
        empathy.sum().round(4),
        empathy.filter(low).count().alias("low_n"),
        empathy.filter(low).sum().round(4).alias("low_empathy"),
        empathy.filter(other).count().alias("other_n"),
        empathy.filter(other).sum().round(4).alias("other_empathy"),
    )
