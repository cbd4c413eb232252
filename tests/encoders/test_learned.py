"""What the shipped models learned from is known again by its content."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from realtalk.chat import Corpus
from realtalk.ei.labelling import learned_lines
from realtalk.encoders.shipped import LearnedTexts, fingerprint
from realtalk.formats.opening import open_reading
from short_chats import chat_of

TEXTS = [
    f"the {number}th lighthouse keeper wrote to the harbour master again" for number in range(40)
]


def learned(*texts: str) -> LearnedTexts:
    return LearnedTexts(
        {"Harbour": np.unique(np.array([fingerprint(each) for each in texts], np.uint32))}
    )


@pytest.mark.parametrize(
    "again",
    [
        "THE 3th lighthouse keeper wrote to the harbour master again!",
        "the 3th lighthouse keeper\nwrote to the harbour-master, again",
        "  the 3th lighthouse keeper wrote to the harbour master again  ",
    ],
)
def test_a_text_is_known_by_its_letters(again: str) -> None:
    assert learned(*TEXTS).text(again) == "Harbour"


def test_another_text_is_not_known() -> None:
    assert learned(*TEXTS).text("the 3th lighthouse keeper wrote to the harbour master") is None


def test_short_texts_say_nothing() -> None:
    assert fingerprint("ok see you then") is None
    assert learned(*TEXTS).text("ok thanks") is None


def test_a_chat_is_known_by_a_part_of_it() -> None:
    known = learned(*TEXTS)
    others = [f"nobody has seen message number {number} of this chat yet" for number in range(40)]
    assert known.chat([*TEXTS[:12], *others[:40]]) == "Harbour"
    assert known.chat([*TEXTS[:4], *others[:4]]) is None  # too few to be sure
    assert known.chat([*TEXTS[:6], *others[:40]]) is None  # too small a part
    assert known.chat(TEXTS[:1] * 30) is None  # the same message again is one
    assert known.chat([]) is None


@pytest.mark.parametrize("model", ["memory", "memory_multilingual", "ei", "ei_multilingual"])
@pytest.mark.parametrize("corpus", ["sample", "sample-simulated"])
def test_our_samples_are_new_to_all_models(model: str, corpus: str) -> None:
    known = LearnedTexts.of(model)
    for chat in open_reading(corpus).reading.corpus.chats:
        assert known.chat(message.text for message in chat.messages) is None
        assert not [each for each in chat.questions if known.text(each.text)]


@pytest.mark.slow
def test_published_sets_are_known(data: Path) -> None:
    def sets(model: str, path: str) -> list[str | None]:
        corpus = open_reading(str(data / path)).reading.corpus
        known = LearnedTexts.of(model)
        return [known.chat(message.text for message in chat.messages) for chat in corpus.chats]

    assert set(sets("ei", "locomo/locomo10.json")) == {"LoCoMo"}
    for benchmark in ("locomo/locomo10.json", "longmemeval", "realtalk"):
        assert set(sets("memory", benchmark)) == {None}  # a benchmark is a test
    # Two of REALTALK's chats are among the EI encoder's silver labels, eight are its test.
    assert sum(each is not None for each in sets("ei", "realtalk")) == 2


def test_conversations_in_other_languages_are_known(data: Path) -> None:
    path = data / "multilingual" / "parallel.xpersona.train.jsonl.gz"
    if not path.is_file():
        pytest.skip("no multilingual data here")
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        rows = [json.loads(line) for line in itertools.islice(stream, 4000)]
    texts = [row["text"] for row in rows if row["lang"] in ("fr", "id", "it")][:60]
    assert LearnedTexts.of("ei_multilingual").chat(texts) == "XPersona"
    chat = chat_of(*(f"{'ab'[at % 2]}: {text}" for at, text in enumerate(texts)))
    (line,) = learned_lines(Corpus("x", "csv", (chat,)))
    assert line.startswith("Chat_1: in-sample, the encoder learned from XPersona")
