"""The sentence encoder: the same bytes whatever is asked beside a text, and likeness that holds."""

from __future__ import annotations

import numpy as np
import pytest

import realtalk_models
from realtalk.encoders.model import shorten
from realtalk.encoders.sentences import OTHER_LANGUAGES, SentenceEncoder, pack

TEXTS = [
    "Mara: the ferry to the island leaves at nine",
    "ok",
    "",
    "🙂",
    "Theo: my sister moved to Lisbon last spring, she teaches the cello there now",
    "no " * 700,
    "Where does Theo's sister live?",
] * 3


@pytest.fixture(scope="module", params=["memory", OTHER_LANGUAGES])
def encoder(request: pytest.FixtureRequest) -> SentenceEncoder:
    return SentenceEncoder(realtalk_models.path(request.param))


def test_a_vector_does_not_depend_on_its_batch(encoder: SentenceEncoder) -> None:
    together = encoder.encode(TEXTS)
    for at, text in enumerate(TEXTS):
        alone = encoder.encode([text])
        own = slice(together.offsets[at], together.offsets[at + 1])
        assert alone.vectors[0].tobytes() == together.vectors[at].tobytes()
        assert alone.tokens.tobytes() == together.tokens[own].tobytes()
        assert alone.weights.tobytes() == together.weights[own].tobytes()


def test_vectors_have_length_one_and_tell_texts_apart(encoder: SentenceEncoder) -> None:
    vectors = encoder.embed(TEXTS[:7])
    assert vectors.shape == (7, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    asked = vectors[6]
    assert vectors[4] @ asked > vectors[0] @ asked + 0.2


def test_neighbours_of_a_group_are_seen_and_others_are_not(encoder: SentenceEncoder) -> None:
    texts = ["Mara: where did you grow up?", "Theo: in Bergen", "Mara: goodnight"]
    alone = encoder.embed(texts)
    grouped = encoder.encode(texts, groups=[1, 1, 2]).vectors
    assert np.abs(grouped[1] - alone[1]).max() > 0.01
    assert grouped[2].tobytes() == alone[2].tobytes()
    asked = encoder.embed(["Where did Theo grow up?"])[0]
    assert grouped[1] @ asked > alone[1] @ asked


def test_token_vectors_are_one_a_token(encoder: SentenceEncoder) -> None:
    short, empty = encoder.token_vectors(["the ferry leaves", ""])
    pieces = encoder._tokenizer.encode("the ferry leaves", add_special_tokens=False)
    assert short.shape == (len(pieces.ids), 384)
    assert np.allclose(np.linalg.norm(short, axis=1), 1, atol=1e-5)
    assert empty.shape == (0, 384)


def test_no_texts(encoder: SentenceEncoder) -> None:
    made = encoder.encode([])
    assert made.vectors.shape == (0, 384)
    assert made.offsets.tolist() == [0]


def test_progress_ends_at_the_total(encoder: SentenceEncoder) -> None:
    told: list[tuple[int, int]] = []
    encoder.embed(TEXTS, lambda done, total, text: told.append((done, total)))
    assert told[-1] == (len(TEXTS), len(TEXTS))
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_rows_hold_neighbours_up_to_their_size() -> None:
    made = pack([[7, 7], [8], [9, 9, 9], [5]], [1, 1, 1, 2], 7, 101, 102)
    assert made.rows == [[101, 7, 7, 102, 8, 102], [101, 9, 9, 9, 102], [101, 5, 102]]
    assert made.spans == [(0, 1, 3), (0, 4, 2), (1, 1, 4), (2, 1, 2)]


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    assert shorten(list(range(10)), 6) == [0, 1, 2, 3, 8, 9]
    assert shorten([1, 2], 6) == [1, 2]
