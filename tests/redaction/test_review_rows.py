"""The table of names: one row per name, keep wins, likely ones first, with a sentence each."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Corpus
from realtalk.redaction.redact import find_candidates, redact
from realtalk.redaction.review import NameDecision, read_review, review_rows, write_review
from realtalk.redaction.sources import TaggedNames
from redacted_chats import Listed, WordTagger, corpus_of, texts_of
from refusals import refused
from text_tables import cases


def rows_of(corpus: Corpus, *known: tuple[str, str, float]) -> list[dict[str, str]]:
    return review_rows(find_candidates(corpus, sources=[Listed(*known)]))


def test_all_forms_of_a_name_are_one_row() -> None:
    corpus = corpus_of(
        "we met Ingrid Berg", "INGRID said hi. Ingrids bus", "so Ingrid", "ingrid", "Bill, William"
    )
    rows = rows_of(
        corpus,
        ("Ingrid Berg", "person", 0.9),
        ("INGRID", "person", 0.6),
        ("Ingrids", "person", 0.4),
        ("Ingrid", "person", 0.9),
        ("ingrid", "person", 0.9),
        ("William", "person", 0.9),
        ("Bill", "person", 0.6),
    )
    assert [(row["decision"], row["form"], row["count"]) for row in rows] == [
        ("replace", "Ingrid Berg", "5"),
        ("replace", "William", "2"),
    ]
    assert set(rows[0]["forms"].split(" | ")) == {
        "Ingrid Berg",
        "Ingrid",
        "INGRID",
        "Ingrids",
        "ingrid",
    }
    assert rows[1]["forms"] == "William | Bill"


def test_a_word_in_small_letters_is_no_form_of_a_name_that_goes() -> None:
    corpus = corpus_of("we met Hope", "I hope we hope they hope", "so Hope left")
    known = (("Hope", "person", 0.9), ("hope", "person", 0.3))
    (row,) = rows_of(corpus, *known)
    assert (row["decision"], row["forms"]) == ("replace", "Hope")
    made = texts_of(corpus, sources=[Listed(*known)])
    assert made == ["we met Person3", "I hope we hope they hope", "so Person3 left"]


def test_a_table_that_nobody_changed_changes_nothing(tmp_path: Path) -> None:
    corpus = corpus_of(
        "we met Hope Berg at Kestrel",
        "I hope so, rose",
        "mara and Hope. Bergs kestrel",
        "Theos bus",
    )
    sources = [
        Listed(("Hope Berg", "person", 0.9), ("hope", "person", 0.3), ("Kestrel", "place", 0.6))
    ]
    path = tmp_path / "t.csv"
    write_review(path, find_candidates(corpus, sources=sources))
    plain = texts_of(corpus, sources=sources)
    assert texts_of(corpus, sources=sources, decisions=read_review(path)) == plain


@pytest.mark.parametrize("kept", ["Gorm", "gorm", "GORM"])
def test_keep_wins_over_other_cases_and_other_rows(kept: str) -> None:
    corpus = corpus_of("I told Gorm and GORM", "so gorm said, Gorm Lund is here")
    sources = [Listed(("Gorm", "person", 0.9), ("GORM", "person", 0.9), ("gorm", "person", 0.9))]
    decisions = [
        NameDecision("Gorm", "person", True),
        NameDecision(kept, "person", False),
        NameDecision("GORM", "person", True),
        NameDecision("Gorm Berg", "person", True),  # of which Gorm is a part
    ]
    made, key = redact(corpus, sources=sources, decisions=decisions)
    texts = [message.text for message in made.chats[0].messages]
    assert texts == ["I told Gorm and GORM", "so gorm said, Gorm Person1 is here"]
    assert key.notes == ("forms in a row to keep and in one to replace: 1, kept",)
    assert redact(corpus, sources=sources, decisions=decisions[1:2])[1].notes == ()


def test_likely_names_come_first_and_doubtful_ones_last() -> None:
    corpus = corpus_of(
        "Ada, Ada, Ada and Bea", "tea tea tea tea", "so Bea, Bea, Bea, Bea", "to Cora Cora", "Dan"
    )
    rows = rows_of(
        corpus,
        ("tea", "place", 0.3),
        ("Cora", "person", 0.6),
        ("Ada", "person", 0.9),
        ("Bea", "person", 0.9),
        ("Dan", "person", 0.9),
    )
    assert [(row["form"], row["sure"], row["decision"]) for row in rows] == [
        ("Bea", "yes", "replace"),
        ("Ada", "yes", "replace"),
        ("Dan", "yes", "replace"),
        ("Cora", "no", "replace"),
        ("tea", "no", "keep"),
    ]
    added = review_rows([], [NameDecision("fair", "place", True)])
    assert [(row["form"], row["forms"], row["doubtful"]) for row in added] == [("fair", "fair", "")]


@cases("""
    speaker    | text                           | form | kept
    Rose Marsh | hey rose, ask Rose about Rosie | rose | hey rose, ask Person1 about
    Sole       | ciao sole, c'è Sole?           | sole | ciao sole, c'è Person1?
    आशा वर्मा   | आशा है कि आशा वर्मा आए          | आशा  | "आशा है कि "
    王小明     | 我和小明去, 王小明说           | 小明 | "我和小明去, "
""")
def test_forms_of_speakers_have_rows_and_stay_where_they_are_unticked(
    tmp_path: Path, speaker: str, text: str, form: str, kept: str
) -> None:
    corpus = corpus_of("ok", text, speakers=(speaker, "Theo"))
    found = find_candidates(corpus, sources=())
    row = next(row for row in review_rows(found) if form in row["forms"].split(" | "))
    assert (row["decision"], row["same_as"], row["sure"]) == ("replace", speaker, "no")
    assert f"[{form}]" in row["context"]
    assert speaker not in [row["form"] for row in review_rows(found)]
    path = tmp_path / "t.csv"
    write_review(path, found)
    path.write_text(path.read_text("utf-8").replace(f"replace,{form},", f"keep,{form},"), "utf-8")
    made, key = redact(corpus, sources=(), decisions=read_review(path))
    said = made.chats[0].messages[1].text
    assert said.startswith(kept)
    assert speaker not in said and key.restore(made) == corpus
    assert form not in key.to_json()[made.chats[0].speakers[0]]


def test_a_speakers_name_as_such_goes_whatever_a_table_says() -> None:
    corpus = corpus_of("ok", "Theo! theo?")
    made, key = redact(corpus, sources=(), decisions=[NameDecision("Theo", "person", False)])
    assert made.chats[0].messages[1].text == "Person2! theo?"
    assert key.notes == ("speakers' own names to keep: 1; these are always replaced",)


def test_every_row_has_the_sentence_in_which_the_name_stands(tmp_path: Path) -> None:
    corpus = corpus_of(
        "Nice. =Then we met Ingrid\tat the pier, with Mara! And off.\nBye",
        "=1 Gorm is here " + "and so on " * 30,
    )
    rows = rows_of(corpus, ("Ingrid", "person", 0.9), ("Gorm", "person", 0.9))
    context = {row["form"]: row["context"] for row in rows}
    assert context["Ingrid"] == "=Then we met [Ingrid] at the pier, with Mara!"
    assert context["Gorm"].startswith("=1 [Gorm] is here and so on") and len(context["Gorm"]) < 130
    path = tmp_path / "t.csv"
    found = find_candidates(corpus, sources=[Listed(("Ingrid", "person", 0.9))])
    write_review(path, found)
    cells = [cell for row in csv.reader(io.StringIO(path.read_text("utf-8-sig"))) for cell in row]
    assert "'=Then we met [Ingrid] at the pier, with Mara!" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


@cases(r"""
    text                                                            | said
    ""                                                              | no column decision
    "decision,form,kind\nperhaps,Gorm,person\n"                     | line 2
    "decision,form\nkeep,x\n"                                       | no column kind
    "decision,form,kind,same_as,sure,count\nkeep,x,person,,yes,1\n" | older version
""")
def test_a_table_of_another_shape_is_refused_in_one_line(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8")
    with refused(said) as caught:
        read_review(path)
    assert "\n" not in str(caught.value)


@cases("""
    text                          | form | kind | lists | state
    we met Ingrid there           | Ingrid | person | {} | sure
    Jeez, no way                  | Jeez | person | {"common": 4} | unsure
    Keyring is lost               | Keyring | person | {} | unsure
    es VERDE, no                  | VERDE | person | {"listed": true} | unsure
    ask ingrid now                | ingrid | person | {"listed": true} | sure
    in hindsight yes              | hindsight | place | {} | unsure
    my prompts are                | prompts | person | {"common": 4} | kept
    a burger please               | burger | person | {"listed": true, "common": 8} | unsure
    問題は東だ                    | 東 | place | {} | unsure
    for ages 18-19 only           | 18-19 | birthday | {} | nothing
    open 10.00-16.00 then         | 10.00-16.00 | birthday | {} | nothing
    it was 3.4.1990 then          | 3.4.1990 | birthday | {} | sure
    he lifts 286 kg / 630 lbs now | 286 kg / 630 lbs | address | {} | kept
    a 24/7 monitor here           | 24/7 monitor | address | {} | kept
    at 12 Elm by noon             | 12 Elm | address | {} | unsure
    at Elm Rise 12 by noon        | Elm Rise 12 | address | {} | sure
""")
def test_what_is_sure_and_what_stays(
    text: str, form: str, kind: str, lists: dict[str, Any], state: str
) -> None:
    tagger = WordTagger((form, kind, 0.85), **lists)
    found = find_candidates(corpus_of(text), sources=[TaggedNames(tagger)])
    rows = [row for row in review_rows(found) if row["form"] == form]
    states = [
        "kept" if row["decision"] == "keep" else "sure" if row["sure"] == "yes" else "unsure"
        for row in rows
    ]
    assert states == ([] if state == "nothing" else [state])


def test_a_name_ends_where_the_sentence_does() -> None:
    corpus = corpus_of("ask Ulf. Ingrid knows", "and Ulf")
    tagger = WordTagger(("Ulf. Ingrid", "person", 0.85))
    made = texts_of(corpus, sources=[TaggedNames(tagger)])
    assert made == ["ask Person3. Person4 knows", "and Person3"]


def test_an_address_does_not_swallow_the_space_after_it() -> None:
    corpus = corpus_of("Calle Luna 4 Madrid 28013", "Calle Luna 4 y luego", "Gartenstr. 12 a, Ulm")
    source = Listed(("Madrid", "address", 0.9))
    assert texts_of(corpus, sources=[source]) == [
        "<address-1> <address-3> <number-1>",
        "<address-1> y luego",
        "<address-2>, Ulm",
    ]
