"""Text → how many tokens and words it has.

    count_tokens("did you sleep at all")     → 5
    count_words("did you sleep at all")      → 5

Tokens are counted with the WordPiece vocabulary that ships with the package, so that a budget
means the same everywhere. It never joins words over a line's end: the tokens of a text are
exactly the sum of its lines'.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import realtalk_models
from realtalk.encoders.model import load_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def count_words(text: str) -> int:
    """Words as the corpus statistics count them: what white space separates."""
    return len(text.split())


def count_tokens(text: str) -> int:
    """WordPiece tokens, without the marks that a model would put around them."""
    return count_each([text])[0]


def count_each(texts: Sequence[str]) -> list[int]:
    """The tokens of every text."""
    encoded = _tokenizer().encode_batch_fast(list(texts), add_special_tokens=False)
    return [len(encoding) for encoding in encoded]


@cache
def _tokenizer() -> Tokenizer:
    return load_tokenizer(realtalk_models.path("ei") / "tokenizer.json")
