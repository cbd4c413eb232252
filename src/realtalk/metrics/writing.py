"""Texts → sparse features of how they are written: letters, words and signs.

    made = sparse_features()
    made.fit_transform(["haha no", "Good evening."]).shape     → (2, 41)

TF-IDF of letters within words (one to four) and of words and signs (one and two). A single sign or
an emoji counts as a word: it is style.
"""

from __future__ import annotations

from typing import Any

_SIGNS = r"\w+|[^\w\s]"


def sparse_features() -> Any:
    """A new transformer of texts, which learns from those that it is fitted to."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_union

    return make_union(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4), sublinear_tf=True, min_df=2),
        TfidfVectorizer(token_pattern=_SIGNS, ngram_range=(1, 2), sublinear_tf=True, min_df=2),
    )
