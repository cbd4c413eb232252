"""Names in Hebrew and Arabic beside numbers: drawn in their own direction, in nobody else's."""

from __future__ import annotations

import pytest

from realtalk.pages.frame import alone, within
from realtalk.pages.sections import render
from realtalk.pages.values import KeyFigure, Section, TableView

DANA, AMINA = "דנה", "أمينة"


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Mara & Theo (2)", "Mara &amp; Theo (2)"),
        (f"{DANA} (2)", f"<bdi>{DANA} (2)</bdi>"),
        (f"Mara {AMINA}", f"<bdi>Mara {AMINA}</bdi>"),
        ("turned \u202eround", "<bdi>turned \u202eround</bdi>"),
        (f"<b>{DANA}", f"<bdi>&lt;b&gt;{DANA}</bdi>"),
    ],
)
def test_a_text_of_its_own(text: str, html: str) -> None:
    assert alone(text) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("12 of 30 hold", "12 of 30 hold"),
        (f"between {DANA}'s chats, 2 of 3", f"between <bdi>{DANA}</bdi>&#x27;s chats, 2 of 3"),
        (f"{DANA}, {AMINA}: 3", f"<bdi>{DANA}</bdi>, <bdi>{AMINA}</bdi>: 3"),
        (f"{DANA} כהן-לוי 7", f"<bdi>{DANA} כהן-לוי</bdi> 7"),
        (f"\u2067{DANA} & 5", f"<bdi>{DANA}</bdi> &amp; 5"),
    ],
)
def test_inside_a_sentence_of_ours(text: str, html: str) -> None:
    assert within(text) == html


def test_wherever_a_name_may_stand_on_the_page() -> None:
    table = TableView(f"Turns of {DANA}", ("speaker", "turns"), ((f"{DANA} (2)", 12),), "")
    section = Section("s", f"Speakers: {AMINA}", f"{AMINA} wrote 7 turns.", (table,))
    key = KeyFigure("0.5", f"lies between {DANA}'s 2 chats", "n = 2", "s", "Consistency")
    page = render(f"{DANA} 2024", [section], made={"corpus": DANA}, key_figures=[key])
    body = page.partition("<body")[2]
    for html in (
        f"<h1><bdi>{DANA} 2024</bdi></h1>",
        f'<th scope="row"><bdi>{DANA} (2)</bdi></th><td class="num" data-local>12</td>',
        f"<h2>Speakers: <bdi>{AMINA}</bdi></h2>",
        f"<bdi>{AMINA}</bdi> wrote 7 turns.",
        f"lies between <bdi>{DANA}</bdi>&#x27;s 2 chats",
        f"<dd><bdi>{DANA}</bdi></dd>",
        f"<h3>Turns of <bdi>{DANA}</bdi></h3>",
    ):
        assert html in body, html
    # Nothing that people wrote stands bare, but where no markup can stand.
    bare = body.replace("<bdi>", "\0").split("\0")
    assert all(f">{DANA}" not in part.partition("</bdi>")[2] for part in bare)
