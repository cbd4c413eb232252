"""Corpora in Python: read, described, checked, redacted; whatever they are given as."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from realtalk.api.choices import as_corpus
from realtalk.formats.opening import open_reading
from refusals import refused
from surface_labels import SECRET


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A WhatsApp export whose dates could be read in two ways."""
    path = tmp_path / "WhatsApp Chat with Mara.txt"
    said = (("Mara", SECRET), ("Theo", "which mat?"))
    path.write_text("".join(f"02/01/2024, 18:00 - {who}: {text}\n" for who, text in said), "utf-8")
    return path


def test_a_corpus_is_taken_however_it_is_given(tmp_path: Path) -> None:
    corpus = rt.read("sample", out=tmp_path / "stored")
    assert repr(corpus) == "<Corpus sample (realtalk): 2 chats, 3 speakers, 649 messages>"
    given: list[Any] = ["sample", corpus, open_reading("sample").reading, tmp_path / "stored"]
    for source in (*given, str(tmp_path / "stored")):
        assert as_corpus(source) == corpus
        assert rt.stats(source).total("messages") == 649
    assert corpus.frame.height == 649
    assert len(corpus.chats[0].messages[:3]) == 3


@pytest.mark.parametrize("wrong", [7, None, ["sample"]])
def test_what_holds_no_chats_is_refused(wrong: Any) -> None:
    with refused("holds no chats; give a path"):
        rt.stats(wrong)
    with refused("the list of paths is empty"):
        rt.read([])


def test_what_was_assumed_is_logged_and_listed(
    export: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "realtalk"):
        corpus = rt.read(export)
    found = rt.check(export)
    assert found.notes
    assert caplog.messages[: len(found.notes)] == list(found.notes)
    assert SECRET not in caplog.text
    assert rt.check(corpus).notes == ()  # of values nobody knows how they were read


def test_findings_are_a_frame_and_tell_no_text(export: Path) -> None:
    found = rt.check("sample")
    assert found.counts() == {"alias": 1}
    assert (found.severity, len(found)) == ("note", 1)
    assert found.frame.columns == ["severity", "rule", "chat", "where", "detail"]
    assert found.to_json()["ledger"]["total"] == 649
    assert repr(found).startswith("<Findings of sample: 1 note; 649 entries = 649 in messages")
    assert "a speaker goes by another name" in found._repr_html_()
    odd = rt.check(export)
    assert SECRET not in repr(odd) + odd._repr_html_() + str(odd.to_json())


def test_stats_are_a_value_with_a_frame(quick_charts: None, tmp_path: Path) -> None:
    made = rt.stats("sample")
    assert made.frame.height == 2
    assert made.frame["messages"].to_list() == [348, 301]
    assert "messages per chat" in repr(made)
    assert made._repr_html_().startswith("<table><caption>sample: the corpus</caption>")
    assert set(made.figures(tmp_path)) == {"response_gaps", "runs", "activity"}
    assert len(list(tmp_path.glob("*.png"))) == 3


def test_empty_stats_have_typed_columns() -> None:
    frame = rt.stats(rt.Corpus("none", "jsonl")).frame
    assert frame.height == 0
    assert str(frame["first"].dtype) == "Datetime(time_unit='us', time_zone=None)"


def test_redacting_gives_a_corpus_and_its_key(tmp_path: Path) -> None:
    whole = rt.read("sample")
    few = replace(whole, chats=(replace(whole.chats[0], sessions=whole.chats[0].sessions[:2]),))
    corpus, key = rt.redact(few, out=tmp_path / "shared")
    assert all(speaker.startswith("Person") for speaker in corpus.speakers)
    assert "Mara" in key.to_json()["Person1"]
    assert "Mara" not in repr(key)
    assert as_corpus(tmp_path / "shared") == corpus
    kept, _ = rt.redact(few, keep=["people", "files"])
    assert kept.chats[0].messages[0].attachments == few.chats[0].messages[0].attachments
    with refused("unknown-kind"):
        rt.redact("sample", keep=["phone"])
