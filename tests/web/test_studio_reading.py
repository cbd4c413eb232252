"""Chats by place, search, strips, and what an item may hold."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from facet_labels import label_table
from realtalk.chat import Attachment, Chat, Corpus, Message, Session
from realtalk.ei.encoder_choice import is_shipped
from realtalk.ei.labels import Label, turn_inputs
from realtalk.web import pages
from realtalk.web.library import PIECE, ChatLibrary, MessageIndex
from realtalk.web.pages import render
from realtalk.web.turn_labels import TurnLabels, read_turn_labels
from realtalk.web.values import (
    checked_name,
    clean_fields,
    merge_fields,
)
from refusals import refused
from studio_server import SCRIPT, small_chat, small_corpus
from text_tables import cases

CATEGORIES = ("multi_hop", "temporal", "commonsense")


def texts(*said: str) -> list[Message]:
    return [Message(f"D1:{at}", "Ilse", None, text) for at, text in enumerate(said, 1)]


def long_chat(messages: int) -> Chat:
    made = [
        Session(
            number + 1,
            datetime(2026, 1, 1),
            tuple(Message(f"D{number + 1}:{at}", "Ilse", None, f"word{at}") for at in range(1, 41)),
        )
        for number in range(messages // 40)
    ]
    empty = Session(len(made) + 1, None, ())
    return Chat("long", ("Ilse", "Omar"), (*made, empty))


def test_every_part_of_a_long_chat_is_found_in_its_place() -> None:
    """Messages go into the index twenty thousand at a time."""
    said = [f"number{at}" for at in range(20_003)]
    index = MessageIndex(texts(*said, 'a "quoted" \\ back\u2028slash \x1f'))
    for at in (0, 19_999, 20_000, 20_002):
        assert index.search(f"number{at}", 5).rows[0].place == at
    assert index.search("quoted back", 5).rows[0].place == 20_003
    assert index.search("n", 5).total == 20_003


def test_pieces_are_the_whole_chat_in_order() -> None:
    open_chat = ChatLibrary(Corpus("c", "realtalk", (long_chat(400),)))[0]
    rows = [row for number in range(open_chat.pieces) for row in open_chat.piece(number)]
    assert [row.message for row in rows] == list(open_chat.chat.messages)
    assert [row.place for row in rows] == list(range(400))
    assert [row.place for row in rows if row.opens] == list(range(0, 400, 40))
    assert not rows[40].follows and rows[41].follows
    assert open_chat.piece(open_chat.pieces) == []
    assert len(open_chat.piece(0)) == PIECE
    assert all(row.message in row.session.messages for row in rows)
    assert open_chat.place["D3:1"] == 80


def test_a_shelf_needs_messages() -> None:
    with refused("no message"):
        ChatLibrary(Corpus("empty", "realtalk", (Chat("c", ("Ilse",), (Session(1, None, ()),)),)))
    with refused("no such chat"):
        ChatLibrary(small_corpus())[7]


def test_a_chat_is_told_at_a_glance_as_on_its_page() -> None:
    from realtalk.api.choices import as_reading
    from realtalk.pages.chat_page import PortraitOptions, make_portrait

    corpus = small_corpus()
    open_chat = ChatLibrary(corpus)[0]
    whole = make_portrait(as_reading(corpus), PortraitOptions(labels=False, chat=open_chat.chat.id))
    assert open_chat.glance == whole.sentences
    html = render("glance.html", sentences=open_chat.glance)
    assert f"<strong>{len(open_chat.messages)}</strong> messages" in html
    assert render("glance.html", sentences=()).strip() == ""


def test_search_finds_beginnings_accents_and_captions() -> None:
    open_chat = ChatLibrary(small_corpus())[0]
    assert [hit.place for hit in open_chat.search("CAFE").rows] == [3]
    assert [hit.place for hit in open_chat.search("sist noo").rows] == [5]
    assert [hit.place for hit in open_chat.search("dented").rows] == [6]
    assert open_chat.search("kettle").total == 2
    assert open_chat.search("").total == open_chat.search("   ").total == 0
    assert open_chat.search("zeppelin").total == 0


def test_search_takes_what_is_typed_as_words() -> None:
    index = MessageIndex(texts('she said "no" AND left', "NEAR the sea", "100 % sure", "a* b-c"))
    assert index.search('"no" AND', 9).total == 1
    assert index.search("NEAR(", 9).total == 1
    assert index.search("%", 9).total == 1
    assert index.search("b-c", 9).total == 1
    assert index.search("'; DROP TABLE message; --", 9).total == 0
    assert index.search("sea", 9).total == 1


def test_search_finds_parts_of_scripts_without_spaces() -> None:
    index = MessageIndex(texts("昨日港の近くに引っ越した", "วันนี้อากาศดี"))
    assert index.search("港の", 9).rows[0].place == 0
    assert index.search("อากาศ", 9).rows[0].place == 1


@cases(r"""
    query   | said                | marked
    雨      | 今日は雨ですね      | "今日は\u0002雨\u0003ですね"
    電車 雨 | 雨で電車が遅れた    | "\u0002雨\u0003で\u0002電車\u0003が遅れた"
    بيت     | أنا في البَيت الآن   | "أنا في ال\u0002بَيت\u0003 الآن"
    ספר     | הספר אצלי           | "ה\u0002ספר\u0003 אצלי"
    हिन्दी   | मैं हिन्दी बोलता हूँ | "मैं \u0002हिन्दी\u0003 बोलता हूँ"
    기차    | KTX기차를 탔어      | "KTX\u0002기차\u0003를 탔어"
""")
def test_search_looks_into_words_of_other_scripts(query: str, said: str, marked: str) -> None:
    """Also where another message begins with the word, and without the points of vowels."""
    index = MessageIndex(texts(f"{query.split(maxsplit=1)[0]} x", "हन्दी न", said))
    wanted = [2] if " " in query else [0, 2]
    assert index.places(query) == wanted
    hits = index.search(query, 9)
    assert [hit.place for hit in hits.rows] == wanted and hits.total == len(wanted)
    assert hits.rows[-1].excerpt == marked


def test_hits_are_marked_and_bounded() -> None:
    index = MessageIndex(texts("x " * 500 + "needle" + " y" * 500, "\x02not a mark\x03 needle"))
    found = index.search("needle", 1)
    assert (found.total, len(found.rows)) == (2, 1)
    assert "\x02needle\x03" in found.rows[0].excerpt
    assert len(found.rows[0].excerpt) < 250
    second = index.search("needle", 2).rows[1].excerpt
    assert second == "not a mark \x02needle\x03"


def test_strips_are_made_once_and_kept(tmp_path: Path) -> None:
    chat = small_chat()
    strips = TurnLabels.background(chat, tmp_path)
    late = time.monotonic() + 300
    while strips.done < strips.total and not strips.note and time.monotonic() < late:
        time.sleep(0.05)
    assert strips.progress == (len(chat.turns), len(chat.turns), "")
    first = strips.of("D1:2")
    assert first is not None and first.sentiment in ("negative", "neutral", "positive")
    assert strips.of("D1:3") is first  # one turn, one label
    (kept,) = (tmp_path / "labels").iterdir()
    rows = str(pl.read_parquet(kept).to_dicts())
    assert "harbour" not in rows and SCRIPT not in rows
    before = kept.stat().st_mtime_ns
    again = TurnLabels.background(chat, tmp_path)
    while again.done < again.total and time.monotonic() < late:
        time.sleep(0.05)
    assert again.of("D1:2") == first
    assert kept.stat().st_mtime_ns == before  # nothing was labelled twice


def test_labels_from_a_folder(tmp_path: Path) -> None:
    inputs = turn_inputs(small_corpus())
    labels = [Label(sentiment="positive", unscored={"emotion": "judge said nothing"})] * len(inputs)
    label_table(inputs, labels, "test").write_parquet(tmp_path / "labels.parquet")
    found = read_turn_labels(tmp_path)["Chat_1_Ilse_Omar"].of("D1:3")
    assert found is not None
    assert (found.sentiment, found.emotion) == ("positive", None)
    assert found.unscored == {"emotion": "judge said nothing"}
    with refused("no labels"):
        read_turn_labels(tmp_path / "elsewhere")
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "labels.parquet")
    with refused("other columns"):
        read_turn_labels(tmp_path)


def test_a_chat_that_is_not_english_is_doubted_in_its_strips(tmp_path: Path) -> None:
    lines = ("gestern waren wir mit den Kindern am See", "war schön, das Wasser noch etwas kalt")
    said = tuple(Message(f"D1:{at}", "IO"[at % 2], None, lines[at % 2]) for at in range(8))
    chat = Chat("see: im Mai", ("I", "O"), (Session(1, None, said),))
    corpus = Corpus("see", "csv", (chat,))
    inputs = turn_inputs(corpus)
    frame = label_table(inputs, [Label(sentiment="positive")] * 8)
    frame.write_parquet(tmp_path / "labels.parquet")
    strips = read_turn_labels(tmp_path)[chat.id]
    assert strips.doubt.startswith("hardly any English in 8 turns; the English encoder ")
    shown = render("strip.html", strip=strips.of("D1:1"), strips=strips, same=False)
    assert "hardly any English in 8 turns" in shown
    assert TurnLabels.background(small_chat(), tmp_path).doubt == ""
    if is_shipped("multilingual"):
        made = TurnLabels.background(chat, tmp_path)
        assert made.doubt.startswith("German in 8 turns, labelled by the multilingual encoder")


@cases("""
    kind     | fields                 | why
    event    | {"session": 9}         | no such session
    event    | {"session": true}      | no proper session
    event    | {"speaker": "Nobody"}  | no such speaker
    event    | {"text": 3}            | no proper text
    event    | {"evidence": []}       | no field
    question | {"evidence": ["D9:9"]} | names no message
    question | {"evidence": "D1:1"}   | no proper evidence
    question | {"category": "riddle"} | no such category
    question | {"text": "LONG"}       | longer than
""")
def test_what_does_not_fit_is_refused(kind: Any, fields: dict[str, Any], why: str) -> None:
    given = {name: "x" * 4001 if value == "LONG" else value for name, value in fields.items()}
    with refused(why) as caught:
        clean_fields(kind, given, small_chat(), CATEGORIES)
    assert "xxxx" not in str(caught.value)


def test_new_evidence_voids_what_the_file_stated() -> None:
    body = {"evidence": ["D1:1"], "stated": ["D1;1"], "unresolved": ["D9"], "text": "q"}
    assert merge_fields(body, {"text": "r"})["stated"] == ["D1;1"]
    assert set(merge_fields(body, {"evidence": ["D1:2"]})) == {"evidence", "text"}


@pytest.mark.parametrize("name", ["", "  ", "final", "Corpus", "x" * 61, "a\x07b"])
def test_names_that_are_no_annotators(name: str) -> None:
    with refused():
        checked_name(name)


# --- names and texts from right to left ---


DANA = "דנה (2)"


class NoStrips:
    progress = (0, 0)

    def of(self, _: str) -> None:
        return None


def test_messages_and_their_names() -> None:
    time = datetime(2026, 3, 2, 18, 4)
    said = Message("D1:1", DANA, time, "שלום 3", (Attachment("image", "תמונה 1.jpg"),))
    chat = Chat("שיחה 1", (DANA, "Theo"), (Session(1, time, (said,)),))
    open_chat = ChatLibrary(Corpus("c", "jsonl", (chat,))).open_chats[0]
    html = pages.render(
        "messages.html", rows=open_chat.piece(0), strips=NoStrips(), **pages.context(open_chat)
    )
    assert f'<span class="who"><bdi>{DANA}</bdi></span>' in html
    assert '<p class="text" dir="auto">שלום 3</p>' in html
    assert "<figcaption><bdi>תמונה 1.jpg</bdi>" in html
    assert '<bdi class="id">D1:1</bdi>' in html


def test_names_in_a_row_do_not_change_places() -> None:
    made = pages._people((DANA, "<b>", "Theo"))
    assert made == f"<bdi>{DANA}</bdi> · <bdi>&lt;b&gt;</bdi> · <bdi>Theo</bdi>"


def test_where_no_markup_can_stand_a_name_is_set_apart_by_marks() -> None:
    assert pages._apart("Theo (2)") == "Theo (2)"
    assert pages._apart(DANA) == f"\u2068{DANA}\u2069"
