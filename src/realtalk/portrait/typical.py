"""How typical a word is of one person: log-odds with an informative Dirichlet prior.

    log_odds(own=30, size=1000, others=2, others_size=1000, share=.016)   → 4.6

The method is that of Monroe, Colaresi and Quinn (2008, "Fightin' Words", Political Analysis
16:4): the difference of the log-odds of a word between two writers, each first drawn towards the
word's `share` in the whole chat, in units of its standard error. Values beyond 1.96 are unlikely
to be chance for one word looked at alone.
"""

from __future__ import annotations

import polars as pl

PRIOR = 500  # words of the whole chat that everybody is taken to have said besides their own
TYPICAL = 1.96


def log_odds(
    own: pl.Expr, size: pl.Expr, others: pl.Expr, others_size: pl.Expr, share: pl.Expr
) -> pl.Expr:
    """The z-score of a word: its count and the size of one side, and of all others."""
    prior = share * PRIOR
    first = _log_odds(own + prior, size + PRIOR)
    second = _log_odds(others + prior, others_size + PRIOR)
    return (first - second) / (1 / (own + prior) + 1 / (others + prior)).sqrt()


def _log_odds(count: pl.Expr, size: pl.Expr) -> pl.Expr:
    return (count / (size - count)).log()
