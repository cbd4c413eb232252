"""The pair encoder: one row per pair, whatever else is asked in the same call."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

import realtalk_models
from realtalk.encoders.pairs import PairEncoder
from refusals import refused

FOLDER = realtalk_models.path("ei")
PAIRS = [
    ("", "hi"),
    ("how was the interview?", "awful. i froze at the second question and they noticed"),
    ("the boiler is out again", "oh no. did the landlord pick up this time?"),
    ("hm", "no " * 400),
    ("x " * 300, "a long story before, a short answer now"),
    ("see you", "🙂"),
] * 3


@pytest.fixture(scope="module")
def encoder() -> PairEncoder:
    return PairEncoder(FOLDER)


def test_a_row_does_not_depend_on_its_batch(encoder: PairEncoder) -> None:
    together = encoder.outputs(PAIRS)
    alone = np.concatenate([encoder.outputs([pair]) for pair in PAIRS])
    assert together.tobytes() == alone.tobytes()


@pytest.mark.slow
def test_a_row_does_not_depend_on_threads(encoder: PairEncoder) -> None:
    assert PairEncoder(FOLDER, threads=1).outputs(PAIRS).tobytes() == (
        encoder.outputs(PAIRS).tobytes()
    )


def test_what_came_before_matters(encoder: PairEncoder) -> None:
    first, second = encoder.outputs([("i won!", "really?"), ("he died", "really?")])
    assert np.abs(first - second).max() > 0.1


def test_of_a_long_turn_before_the_end_is_read(encoder: PairEncoder) -> None:
    filler = "and then we waited " * 20  # more words than are read
    heads = [(f"{head} {filler}", "really?") for head in ("i won!", "he died")]
    tails = [(f"{filler} {tail}", "really?") for tail in ("i won!", "he died")]
    first, second = encoder.outputs(heads)
    assert first.tobytes() == second.tobytes()
    first, second = encoder.outputs(tails)
    assert np.abs(first - second).max() > 0.1


def test_of_a_long_turn_the_beginning_and_the_end_are_read(encoder: PairEncoder) -> None:
    filler = "and then we waited " * 60
    halves = [f"{filler} {word} {filler}" for word in ("joyful", "dreadful")]
    first, second = encoder.outputs([("", text) for text in halves])
    assert first.tobytes() == second.tobytes()
    for form in ("{word} {filler}", "{filler} {word}"):
        pair = [form.format(word=word, filler=filler * 2) for word in ("joyful", "dreadful")]
        first, second = encoder.outputs([("", text) for text in pair])
        assert first.tobytes() != second.tobytes(), form


def test_no_pairs(encoder: PairEncoder) -> None:
    assert encoder.outputs([]).shape == (0, encoder.settings["width"])


def test_a_broken_model_is_one_clear_error(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "settings.json"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with refused("encoder cannot be loaded"):
        PairEncoder(tmp_path)


def test_marks_before_an_unknown_word_are_not_read(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "model.onnx"):
        (tmp_path / name).symlink_to(FOLDER / name)
    settings = json.loads((FOLDER / "settings.json").read_text("utf-8"))
    mark = Tokenizer.from_file(str(FOLDER / "tokenizer.json")).token_to_id("-")
    for silent, is_read in (([], True), ([mark], False)):
        (tmp_path / "settings.json").write_text(json.dumps({**settings, "silent": silent}))
        assert PairEncoder(tmp_path).reads(["- \ua66e", "- hi"]) == [is_read, True]
