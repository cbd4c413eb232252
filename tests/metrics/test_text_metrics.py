"""BLEU and METEOR of one text beside another."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import sacrebleu

from realtalk.metrics.texts import Meteor, bleu, meteor_missing
from text_tables import cases


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


_ASK = """
import sys, nltk
nltk.data.path[:] = [sys.argv[1]]
from realtalk.metrics.texts import Meteor
made = Meteor()
print([made.missing, made.version, made.score("a cat", "a cat")])
"""


def reason(folder: Path) -> str:
    """Why METEOR is unscored with nltk's data there: in a process of its own, for nltk keeps it."""
    words = [sys.executable, "-W", "error::UserWarning", "-c", _ASK, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found, version, score = ast.literal_eval(done.stdout)
    assert (version, score) == ("none", None)
    assert not done.stderr
    assert str(folder) not in found
    return str(found)


@pytest.mark.slow
def test_meteor_without_wordnet_is_unscored_with_the_reason(tmp_path: Path) -> None:
    assert reason(tmp_path / "none") == (
        "WordNet is not installed (python -m nltk.downloader wordnet)"
    )


@pytest.fixture(scope="module")
def meteor() -> Meteor:
    if meteor_missing():
        pytest.skip(meteor_missing())
    return Meteor()


# Published in nltk's own documentation and tests.
@cases("""
    real | said | score
    It is a guide to action that ensures that the military will forever heed Party commands | It is a guide to action which ensures that the military always obeys the commands of the party | 0.6944
    this is a cat                | non matching hypothesis                         | 0.0
    The cat sat on the mat       | on the mat sat the cat                          | 0.5
    The cat sat on the mat       | The cat was sat on the mat                      | 0.9654
    The cat sat on the mat       | The cat sat on the mat                          | 0.9977
    create or update a vm set    | creates or updates a virtual machine scale set  | 0.7806
""")  # noqa: E501
def test_meteor_has_the_published_values(
    meteor: Meteor, real: str, said: str, score: float
) -> None:
    assert meteor.score(said, real) == pytest.approx(score, abs=5e-5)


def test_meteor_where_wordnet_is_installed(meteor: Meteor) -> None:
    near, far = (meteor.score(said, "the child slept") for said in ("the children slept", "no"))
    assert near == pytest.approx(0.9815, abs=5e-5)  # two words and WordNet's third, in one run
    assert far == 0.0
    assert meteor.score("a cat", "...") is None
    assert meteor.score("...", "a cat") == 0.0
    assert meteor.version.startswith("nltk, wordnet 3")
