"""BLEU and METEOR of one text beside another."""

from __future__ import annotations

from typing import Any

import pytest
import sacrebleu

from realtalk.metrics import generation
from realtalk.metrics.generation import Meteor, bleu, meteor_missing


def test_bleu_is_the_reference_implementation() -> None:
    pairs = [
        ("the cat sat on the mat", "the cat sat on the mat"),
        ("the cat sat on a mat", "a cat was on the mat today"),
        ("no", "yes"),
        ("", "words"),
    ]
    for said, real in pairs:
        wanted = sacrebleu.sentence_bleu(said, [real], use_effective_order=True).score / 100
        assert bleu(said, real) == pytest.approx(wanted)
    assert bleu("the cat sat on the mat", "the cat sat on the mat") == pytest.approx(1.0)
    assert bleu("anything", "  ") is None


def test_meteor_without_wordnet_is_unscored_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import nltk

    def absent(*_: Any, **__: Any) -> None:
        raise LookupError

    monkeypatch.setattr(nltk.data, "find", absent)
    generation.meteor_missing.cache_clear()
    try:
        made = Meteor()
        assert "wordnet is not installed" in made.missing
        assert made.score("a cat", "a cat") is None
    finally:
        generation.meteor_missing.cache_clear()


def test_meteor_where_wordnet_is_installed() -> None:
    if meteor_missing():
        pytest.skip("nltk's wordnet is not installed")
    made = Meteor()
    near, far = made.score("a small cat slept", "a little cat slept"), made.score("no", "a cat")
    assert near is not None and far is not None
    assert near > 0.7
    assert far < 0.1
    assert made.score("a cat", "...") is None
