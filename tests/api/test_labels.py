"""Labels in Python: frames, facets, comparisons, files; the cautions stay with them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import realtalk as rt
from refusals import refused

pytest_plugins = ["surface_runs"]


@pytest.fixture
def labels(by_length: None) -> rt.Labels:
    return rt.label("sample")


def test_one_row_per_turn(labels: rt.Labels) -> None:
    corpus = rt.read("sample")
    assert labels.frame.height == len(labels) == sum(len(chat.turns) for chat in corpus.chats)
    assert repr(labels) == "<Labels of sample: 487 turns in 2 chats, by by length>"
    page = labels._repr_html_()
    assert "<td>reflective</td><td>487</td><td>0</td>" in page
    assert corpus.chats[0].messages[0].text not in page


def test_facets_have_a_frame_and_a_table(labels: rt.Labels) -> None:
    facets = labels.facets()
    assert facets.frame.height == len(facets) == 4
    assert set(facets.frame["speaker"]) == {"Mara", "Theo", "Juno"}
    assert facets.frame["empathy_low"].null_count() == 0
    assert "Reflective frequency" in repr(facets)
    assert "Reflective frequency" in facets._repr_html_()
    assert len(facets.to_json()["speakers"]) == 4


def test_other_chats_are_compared_by_facet(labels: rt.Labels) -> None:
    found = labels.compare(rt.label("sample-simulated"))
    assert found.frame.columns[0] == "facet"
    assert found.frame.height == 11
    assert "sample (first) beside sample-simulated (second)" in repr(found)
    assert found.to_json()["findings"]


def test_the_same_turns_are_compared_by_agreement(labels: rt.Labels) -> None:
    found = rt.compare(labels, rt.label("sample"))
    kappa = found.frame.filter(score="kappa")
    assert set(kappa["measure"]) == {"reflective", "grounding", "sentiment", "emotion"}
    assert set(kappa["estimate"]) == {1.0}
    assert "487 turns are in both" in repr(found)


def test_labels_survive_the_disk_and_are_private(labels: rt.Labels, tmp_path: Path) -> None:
    place = labels.save(tmp_path / "labels")
    assert stat.S_IMODE((place / "labels.parquet").stat().st_mode) == 0o600
    again = rt.Labels.load(place)
    assert again.frame.equals(labels.frame)
    assert (again.corpus, again.protocol) == ("sample", "turns")
    other = rt.label("sample-simulated")
    with refused(r"corpus\.name is sample there, sample-s"):
        other.save(place)
    assert rt.label("sample", out=tmp_path / "more").frame.equals(labels.frame)
    assert (tmp_path / "more" / "speakers.parquet").is_file()


def test_cautions_stay_with_the_labels(tmp_path: Path) -> None:
    """Of a German chat every table says who labelled it, and with which grade."""
    path = tmp_path / "chat.jsonl"
    said = ["Hast du heute schon mit deiner Mutter gesprochen?", "Nein, ich habe keine Zeit dafür."]
    path.write_text(
        "".join(
            f'{{"chat": "c", "session": 1, "id": "m{n}", "speaker": "{who}", "text": "{text}"}}\n'
            for n, (who, text) in enumerate([("Mara", said[0]), ("Theo", said[1])] * 8)
        ),
        "utf-8",
    )
    labels = rt.label(path)
    (line,) = labels.cautions
    assert "whose grade there is" in line
    for shown in (repr(labels.facets()), labels.facets()._repr_html_(), labels._repr_html_()):
        assert "whose grade there is" in shown
    assert "German: " in repr(labels.facets())
    assert labels.to_json()["cautions"] == [line]
    assert labels.compare(labels).notes[1:] == (line,)


def test_names_are_escaped(by_length: None) -> None:
    import dataclasses

    corpus = rt.read("sample")
    chat = corpus.chats[0]
    bad = "<img src=x onerror=alert(1)>"
    sessions = tuple(
        dataclasses.replace(
            session,
            messages=tuple(
                dataclasses.replace(m, speaker=bad if m.speaker == "Mara" else m.speaker)
                for m in session.messages
            ),
        )
        for session in chat.sessions
    )
    named = dataclasses.replace(chat, id=bad, speakers=(bad, "Theo"), sessions=sessions)
    odd = rt.Corpus(bad, "realtalk", (named,))
    labels = rt.label(odd)
    for value in (odd, labels, labels.facets(), rt.stats(odd), rt.check(odd)):
        assert "<img" not in value._repr_html_()


def test_labels_and_runs_are_told_apart(labels: rt.Labels, recent: rt.Run) -> None:
    with refused("labels and memory probing cannot be compared"):
        rt.compare(labels, recent)
    with refused("int cannot be compared"):
        rt.compare(labels, 7)  # type: ignore[arg-type]
