"""Lists of names that the tagger's chances are read beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from realtalk.encoders.tag_spans import NameWords, SpanDecoder, hash_of

LISTS = NameWords.of(
    {"ingrid", "mark", "ريم", "小明", "王小明", "रोहन", "new harbour"},
    {"mark": 40, "kettle": 9, "小明": 2},
)


def rows(text: str, *words: str) -> list[list[float]]:
    places = [(text.index(word), text.index(word) + len(word)) for word in words]
    return [[float(cell) for cell in row] for row in LISTS.features_of(text, places)]


def test_words_are_listed_or_plain_whatever_their_case() -> None:
    text = "ask INGRID or mark, the kettle is Odd"
    assert rows(text, "INGRID", "mark", "kettle", "Odd") == [
        [1, 0, 0],
        [1, 6, 0],
        [0, 0, 4],
        [0, 0, 0],
    ]


def test_marks_belong_to_their_letters_and_little_words_may_stand_before() -> None:
    assert rows("रोहन कहाँ है", "रोहन") == [[1, 0, 0]]
    assert rows("سلمي لريم وريم", "لريم", "وريم") == [[1, 0, 0], [1, 0, 0]]
    assert rows("حريم", "حريم") == [[0, 0, 0]]  # another word, which ends alike


def test_signs_in_a_row_are_looked_up_and_the_longest_counts() -> None:
    text = "我和王小明去"
    assert rows(text, "王", "小", "明") == [[1, 0, 0]] * 3
    assert rows(text, "和", "去") == [[0, 0, 0]] * 2
    assert rows("小明呢", "小") == [[1, 2, 0]]


def test_names_of_several_words_are_found_in_a_row() -> None:
    text = "off to New Harbour, a new town"
    assert rows(text, "New", "Harbour", "town") == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert rows("new. harbour", "new", "harbour") == [[0, 0, 0], [0, 0, 0]]


def test_what_is_stored_is_what_is_loaded(tmp_path: Path) -> None:
    LISTS.save(tmp_path / "words.npz")
    assert NameWords.load(tmp_path / "words.npz") == LISTS
    assert b"ingrid" not in (tmp_path / "words.npz").read_bytes()
    assert hash_of("É") == hash_of("e\u0301")


def test_a_listed_word_is_found_where_the_tagger_sees_little() -> None:
    thresholds = {"person": [0.5, 0.9]}
    chances = np.array([[0.97, 0.03, 0.0], [0.97, 0.03, 0.0]], np.float32)
    weights = [-2.0, *[0.0] * 9, 4.0, *[0.0] * 5]
    decoder = SpanDecoder(["person"], thresholds, weights, LISTS)
    (found,) = decoder.spans(decoder.weigh("ask ingrid", [(0, 3), (4, 10)], chances))
    assert (found.start, found.end, found.kind) == (4, 10, "person") and found.score >= 0.5
    alone = SpanDecoder(["person"], thresholds)
    assert alone.weigh("ask ingrid", [(0, 3), (4, 10)], chances) is None
