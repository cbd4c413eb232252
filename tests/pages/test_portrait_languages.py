"""A page of a chat in another language: its encoder, its grade, no sentence below usable."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from multilingual_chats import CHATS, ENGLISH, corpus_of, needs_multilingual
from portrait_chats import reading
from realtalk.ei import encoder_choice
from realtalk.formats.reading import ReadCorpus
from realtalk.pages.chat_page import PortraitOptions, make_portrait, render


def spoken(lines: Any) -> ReadCorpus:
    return reading(corpus_of({"playa": lines}, times=12))


def graded(monkeypatch: pytest.MonkeyPatch, grade: str) -> None:
    own = {"grade": grade, "measures": {"sentiment": {"grade": grade}}}
    monkeypatch.setattr(encoder_choice, "_grade_file", lambda: {"languages": {"es": own}})


@needs_multilingual
@pytest.mark.parametrize(("grade", "claimed"), [("rough", False), ("usable", True)])
def test_the_mood_is_said_from_usable_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grade: str, claimed: bool
) -> None:
    graded(monkeypatch, grade)
    made = make_portrait(spoken(CHATS["es"]), PortraitOptions(language="en"), cache=tmp_path)
    assert ("mood" in {each.id for each in made.sentences}) == claimed
    page = render(made)
    held = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert held is not None and json.loads(held[1])["claims"] is claimed
    (line,) = made.notes
    assert line.startswith("playa: Spanish in 48 turns, labelled by the multilingual encoder")
    assert f"whose grade there is {grade}" in line and "whose grade there is" in page


def test_an_english_page_says_what_it_said(tmp_path: Path) -> None:
    made = make_portrait(spoken(ENGLISH), cache=tmp_path)
    assert made.claims and not made.notes
    assert "mood" in {each.id for each in made.sentences}
