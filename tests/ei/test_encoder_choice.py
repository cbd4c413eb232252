"""Which encoder labels a chat, by its language; the same labels every way; what is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
import realtalk_models
from engine_work import tree
from multilingual_chats import CHATS, ENGLISH, corpus_of, needs_multilingual
from realtalk.api.choices import as_reading
from realtalk.chat import Corpus
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.encoder_choice import encoder_by, encoder_for
from realtalk.ei.labelling import labels_for
from realtalk.ei.labels import label_frame, turn_inputs
from realtalk.formats.store import store
from refusals import refused
from text_tables import cases

MIXED = [line for pair in zip(CHATS["es"], ENGLISH, strict=True) for line in pair]
QUOTED = [*ENGLISH, *ENGLISH, CHATS["es"][0]]
BLOCK = 8


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that begin with one chat's encoder and end with another's."""
    monkeypatch.setattr(EmbeddedLabeller, "at_once", 4 * BLOCK)


def several() -> Corpus:
    """Chats in English, Spanish, both, English with a quotation, Japanese."""
    lines = {"en": ENGLISH, "es": CHATS["es"], "both": MIXED, "quoted": QUOTED, "ja": CHATS["ja"]}
    return corpus_of(lines, times=2)


@cases("""
    turns                           | encoder
    {}                              | english
    {"und": 9}                      | english
    {"en": 80, "es": 20, "und": 50} | english
    {"en": 79, "es": 21}            | multilingual
    {"hi-Latn": 10}                 | multilingual
    {"other": 3}                    | multilingual
""")
def test_mostly_english_is_english(turns: dict[str, int], encoder: str) -> None:
    assert encoder_for(turns) == encoder


def test_a_version_says_which_encoder_labelled() -> None:
    assert encoder_by("2") == encoder_by("2 (cuda, fp16)") == "english"
    assert encoder_by("multilingual 1 (cuda, fp16)") == "multilingual"


def test_a_folder_that_was_trained_again_has_its_new_version(tmp_path: Path) -> None:
    shipped = realtalk_models.path("ei")
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(shipped / name)
    settings = json.loads((shipped / "settings.json").read_text("utf-8"))
    for version in ("7", "8"):
        (tmp_path / "settings.json").write_text(json.dumps({**settings, "version": version}))
        assert EmbeddedLabeller(tmp_path).version == version


def test_every_turn_of_a_chat_has_its_encoder() -> None:
    chosen = {each.chat: each.encoder for each in turn_inputs(several())}
    assert chosen == {
        **{"en": "english", "es": "multilingual", "both": "multilingual"},
        **{"quoted": "english", "ja": "multilingual"},
    }
    alone = {each.chat: each.encoder for each in turn_inputs(several(), joined=False)}
    assert alone == chosen  # whatever is labelled of it
    for each in turn_inputs(corpus_of(CHATS)):
        assert each.encoder == "multilingual", each.chat


def test_an_encoder_that_is_not_there_is_said_in_one_line(run: Any) -> None:
    with refused("unknown-encoder"):
        EmbeddedLabeller(encoder="multilingal")
    assert (
        "--encoder is not for --measures hub"
        in run("ei sample --measures hub --encoder english").wrong
    )


def test_the_english_encoder_can_be_had_for_all() -> None:
    corpus = corpus_of({"es": CHATS["es"]})
    labels = rt.label(corpus, encoder="english")
    assert set(labels.frame["version"]) == {EmbeddedLabeller().version}
    (spoken,) = labels.languages
    assert (spoken.encoder, spoken.grade(), spoken.mainly) == ("english", "none", ("es",))
    assert "the English encoder labelled them, whose grade there is none" in labels.cautions[0]


@needs_multilingual
def test_each_chat_is_labelled_by_its_own_encoder() -> None:
    corpus = several()
    labels = rt.label(corpus).frame
    english = EmbeddedLabeller(encoder="english")
    many = EmbeddedLabeller(encoder="multilingual")
    assert english.version != many.version
    for chat, labeller in (("en", english), ("quoted", english), ("es", many), ("both", many)):
        inputs = [each for each in turn_inputs(corpus) if each.chat == chat]
        own = labels.filter(labels["chat"] == chat)
        assert own.equals(label_frame(inputs, labeller.label(inputs), labeller)), chat
        assert set(own["version"]) == {labeller.version}


@needs_multilingual
def test_a_run_names_its_encoders_and_goes_on_with_the_same_ones(tmp_path: Path) -> None:
    corpus = several()
    labels_for(corpus, EmbeddedLabeller(), out=tmp_path / "both")
    solver = json.loads((tmp_path / "both" / "run.json").read_text("utf-8"))["settings"]["solver"]
    assert solver["version"] == f"{EmbeddedLabeller().version}, multilingual 1"
    whole = tree(tmp_path / "both")
    # Stopped in the middle: what is there stays, the rest comes out equal.
    rows = (tmp_path / "both" / "labels.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "both" / "labels.jsonl").write_bytes(b"".join(rows[:13]))
    (tmp_path / "both" / "labels.parquet").unlink()
    labels_for(corpus, EmbeddedLabeller(), out=tmp_path / "both")
    assert tree(tmp_path / "both") == whole
    with refused("version"):
        labels_for(corpus, EmbeddedLabeller(encoder="english"), out=tmp_path / "both")


@needs_multilingual
def test_the_command_says_who_labelled_and_how_good_it_is(run: Any, tmp_path: Path) -> None:
    corpus = corpus_of({"playa": CHATS["es"]})
    store(as_reading(corpus), tmp_path / "corpus")
    _, out, err = run("ei corpus --out labels").done
    assert "(embedded, multilingual 1)" in out
    assert "playa: Spanish in 12 turns, labelled by the multilingual encoder, whose grade" in err
    assert "language, grade" in " ".join(out.split()) or "Spanish" in out
    found = run("ei corpus --json").told
    assert found["version"] == ["multilingual 1"]
    (chat,) = found["languages"]["chats"]
    assert (chat["encoder"], chat["languages"]) == ("multilingual", ["es"])
    assert chat["grade"] in ("none", "rough", "usable", "good")
    facet = found["speakers"][0]["facets"]["empathy"]
    assert facet["grade"] == chat["grades"]["empathy"] and found["speakers"][0]["languages"]
    assert run("ei corpus --encoder english --json").told["version"] == ["2"]
