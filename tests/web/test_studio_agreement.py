"""Two annotators: what is paired, and the figures about it."""

from __future__ import annotations

from typing import Any

import pytest

from realtalk.web.library import ChatLibrary, OpenChat
from realtalk.web.reviewing_routes import AnnotatorComparison, compare
from realtalk.web.values import StudioItem
from studio_server import small_corpus


@pytest.fixture
def open_chat() -> OpenChat:
    return ChatLibrary(small_corpus())[0]


def question(id_: str, text: str, evidence: list[str], category: str = "temporal") -> StudioItem:
    body = {"text": text, "answer": "Sunday", "category": category, "evidence": evidence}
    return StudioItem(id_, "c", "question", "Ana", 1, body)


def event(id_: str, session: int, speaker: str, text: str) -> StudioItem:
    return StudioItem(
        id_, "c", "event", "Ana", 1, {"session": session, "speaker": speaker, "text": text}
    )


def figures(found: AnnotatorComparison) -> dict[str, Any]:
    return {figure.title: figure.estimate for figure in found.figures}


def test_the_same_annotations_agree_wholly(open_chat: OpenChat) -> None:
    items = [
        question("q1", "When did Ilse move?", ["D1:1"]),
        question("q2", "Who carried the kettle?", ["D2:2"], "multi_hop"),
        event("e1", 1, "Ilse", "Ilse moves to the harbour."),
        event("e2", 2, "Omar", "Omar asks about a kettle."),
    ]
    found = compare(open_chat, items, items)
    assert all(m.first and m.second and m.first.id == m.second.id for m in found.questions)
    for title, estimate in figures(found).items():
        assert estimate.value == pytest.approx(1.0), title
        assert estimate.n > 0
    assert figures(found)["messages that are evidence"].low is not None


def test_items_are_paired_by_words_and_evidence(open_chat: OpenChat) -> None:
    one = [
        question("a1", "When did Ilse move?", ["D1:1"]),
        question("a2", "What does the café smell of?", ["D1:4"]),
    ]
    two = [
        question("b1", "The café smells of which spice?", ["D1:4"]),
        question("b2", "On which day did Ilse move flats?", ["D1:1", "D1:2"]),
        question("b3", "Who is Noor?", ["D2:2"]),
    ]
    found = compare(open_chat, one, two)
    pairs = {(m.first and m.first.id, m.second and m.second.id) for m in found.questions}
    assert pairs == {("a1", "b2"), ("a2", "b1"), (None, "b3")}
    estimates = figures(found)
    assert estimates["questions that both have"].value == pytest.approx(0.8)
    assert estimates["evidence of paired questions"].value == pytest.approx(0.75)
    assert 0 < estimates["messages that are evidence"].value < 1
    assert estimates["messages that are evidence"].n == 7


def test_events_of_other_sessions_or_speakers_are_never_paired(open_chat: OpenChat) -> None:
    one = [event("a", 1, "Ilse", "Ilse moves to the harbour.")]
    for other in (
        event("b", 2, "Ilse", "Ilse moves to the harbour."),
        event("b", 1, "Omar", "Ilse moves to the harbour."),
    ):
        found = compare(open_chat, one, [other])
        assert [bool(m.first and m.second) for m in found.events] == [False, False]
        assert figures(found)["events that both have"].value == 0


def test_who_noted_everything_has_no_kappa(open_chat: OpenChat) -> None:
    cells = [(1, "Ilse"), (1, "Omar"), (2, "Ilse"), (2, "Omar")]
    everywhere = [event(f"e{at}", *cell, "Something.") for at, cell in enumerate(cells)]
    found = figures(compare(open_chat, everywhere, everywhere[:2]))
    assert found["cells with an event (session and speaker)"].value is None
    assert found["events that both have"].value == pytest.approx(2 / 3)


def test_who_noted_nothing_is_unscored_not_zero(open_chat: OpenChat) -> None:
    found = compare(open_chat, [question("q", "When?", ["D1:1"])], [])
    for estimate in figures(found).values():
        assert estimate.value is None and estimate.unscored
