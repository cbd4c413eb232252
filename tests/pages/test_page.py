"""The page: nothing breaks out of it, nothing is fetched by it, and its parts are there."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from realtalk.cells import Cell
from realtalk.pages.frame import alone, json_text, within
from realtalk.pages.sections import render, section_ids
from realtalk.pages.values import ChartView, KeyFigure, Section, TableView
from report_runs import HOSTILE
from text_tables import cases

SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
    "usermeta": {"embedOptions": {"actions": True}},
    "mark": "bar",
    "data": {"values": [{"who": HOSTILE, "n": 3}]},
    "encoding": {
        "x": {"field": "who", "type": "nominal"},
        "y": {"field": "n", "type": "quantitative"},
        "tooltip": [
            {"field": "who", "type": "nominal", "title": "name"},
            {"field": "n", "type": "quantitative", "format": ".2f"},
        ],
    },
}


class Reader(HTMLParser):
    """Every element as a browser would see it, and the text of scripts and cells."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br"):
            self._open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def page(**changes: Any) -> str:
    rows: tuple[tuple[Cell, ...], ...] = ((HOSTILE, 0.123456, None), ("b", 2.5, "0.5 [0.4, 0.6]"))
    table = TableView(f"T {HOSTILE}", ("who", f"n {HOSTILE}", "score"), rows, HOSTILE)
    section = Section(
        f"id {HOSTILE}",
        HOSTILE,
        HOSTILE,
        (table,),
        (ChartView(HOSTILE, SPEC, HOSTILE),),
        (HOSTILE,),
    )
    key = KeyFigure(HOSTILE, HOSTILE, HOSTILE, section.id, HOSTILE)
    given: dict[str, Any] = {
        "made": {HOSTILE: HOSTILE},
        "lead": HOSTILE,
        "key_figures": [key],
        **changes,
    }
    return render(HOSTILE, [section, Section("plain", "Plain", depth=1)], **given)


def test_a_hostile_name_stays_text_everywhere() -> None:
    found = Reader(page())
    assert not found.of("img")
    assert len(found.of("script")) == 1
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on")]
    assert found.texts["title"] == [HOSTILE]
    assert HOSTILE in found.texts["th"]
    assert found.texts["h1"] == [HOSTILE]


def test_a_chart_is_drawn_and_says_what_its_marks_are() -> None:
    found = Reader(page())
    # Only the separator of lines is gone, which would end an expression of Vega's.
    tips = [attrs["data-tip"] for attrs in found.of("path") if "data-tip" in attrs]
    assert tips == [f"name: {HOSTILE.replace(chr(0x2028), ' ')}\u241fn: 3.00"]
    assert [attrs["aria-label"] for attrs in found.of("svg")] == [HOSTILE]


def test_charts_share_no_id() -> None:
    chart = ChartView("heat", SPEC | {"mark": {"type": "bar", "clip": True}})
    text = render("T", [Section("a", "A", charts=(chart, chart))], made={})
    ids = [attrs["id"] for _, attrs in Reader(text).tags if "id" in attrs]
    assert len(ids) == len(set(ids)) and text.count("url(#") == 2
    assert {f"url(#{each})" for each in ids} >= set(re.findall(r"url\(#[^)]*\)", text))


def test_json_for_a_script_holds_no_way_out() -> None:
    text = json_text({"a": "</script><!--\u2028\u2029&"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": "</script><!--\u2028\u2029&"}


def test_nothing_is_loaded_from_elsewhere() -> None:
    found = Reader(page())
    for tag, attrs in found.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form")
        assert "src" not in attrs and "style" not in attrs, tag
        assert (attrs.get("href") or "#").startswith("#")
    assert "url(" not in found.texts["style"][0] and "@import" not in found.texts["style"][0]


def test_only_the_pages_own_scripts_and_style_may_run() -> None:
    text = page()
    found = Reader(text)
    policy = next(
        attrs["content"] or ""
        for attrs in found.of("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert "default-src 'none'" in policy and "unsafe" not in policy
    own = [*found.texts["script"], *found.texts["style"]]
    for part in own:
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.count("sha256-") == len(own)
    # The policy stands before anything that it is to judge.
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_the_contents_lead_to_every_section() -> None:
    found = Reader(page())
    anchors = {attrs["id"] for attrs in found.of("section")}
    links = {(attrs.get("href") or "")[1:] for attrs in found.of("a")}
    assert anchors == {*section_ids([f"id {HOSTILE}"]), "s-plain"}
    assert anchors <= links
    assert all(re.fullmatch(r"s-[a-z0-9-]+", anchor or "") for anchor in anchors)


def test_names_in_any_script_have_an_anchor_of_their_own() -> None:
    """Two sections of one anchor: every link would lead to the first."""
    names = ("日本語", "שלום", "a b", "a-b", "👩‍👩‍👧", "a-b-2")
    sections = [Section(f"corpus-{name}", name) for name in names]
    keys = [KeyFigure("1", name, section=f"corpus-{name}") for name in names]
    found = Reader(render("T", sections, made={}, key_figures=keys))
    anchors = [attrs["id"] for attrs in found.of("section")]
    assert len(set(anchors)) == len(names)
    contents = [f"#{anchor}" for anchor in anchors]
    links = [attrs["href"] for attrs in found.of("a")]
    assert [link for link in links if link != "#main"] == contents * 2


def test_a_ragged_table_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells, 1 headings"):
        TableView("t", ("a",), (("x", "y"),))


# --- names from right to left beside numbers ---


DANA, AMINA = "דנה", "أمينة"


@cases("""
    text                 | html
    Mara & Theo (2)      | Mara &amp; Theo (2)
    דנה (2)              | <bdi>דנה (2)</bdi>
    Mara أمينة           | <bdi>Mara أمينة</bdi>
    "turned \\u202eround" | "<bdi>turned \\u202eround</bdi>"
    <b>דנה               | <bdi>&lt;b&gt;דנה</bdi>
""")
def test_a_text_of_its_own(text: str, html: str) -> None:
    assert alone(text) == html


@cases("""
    text                        | html
    12 of 30 hold               | 12 of 30 hold
    between דנה's chats, 2 of 3 | between <bdi>דנה</bdi>&#x27;s chats, 2 of 3
    דנה, أمينة: 3               | <bdi>דנה</bdi>, <bdi>أمينة</bdi>: 3
    דנה כהן-לוי 7               | <bdi>דנה כהן-לוי</bdi> 7
    "\\u2067דנה & 5"            | <bdi>דנה</bdi> &amp; 5
""")
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
