"""Mentions from any source, the table to tick, nicknames and slips, scripts, and the way back."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from realtalk.files.writing import write_json
from realtalk.formats.opening import open_reading
from realtalk.redaction.candidates import misspelt, person_called
from realtalk.redaction.redact import find_candidates, kept_without, redact
from realtalk.redaction.review import NameDecision, read_review, write_review
from realtalk.redaction.rewriting import store_redacted, store_restored
from redacted_chats import Listed, corpus_of, texts_of
from refusals import refused
from samples import read_sample
from text_tables import cases


def test_a_name_found_once_goes_everywhere_in_all_its_forms() -> None:
    source = Listed(
        ("Ingrid Berg", "person", 0.9),
        ("New Aldham", "place", 0.9),
        ("Kestrel", "organisation", 0.9),
        ("Tove", "person", 0.3),
        once=True,
    )
    corpus = corpus_of(
        "Ingrid Berg works at Kestrel in New Aldham",
        "INGRID's bus, Bergs house, new aldham again, Kestrels",
        "a new idea. Tove",
    )
    assert texts_of(corpus, sources=[source]) == [
        "Person3 works at <organisation-1> in <place-1>",
        "Person3's bus, Person3 house, <place-1> again, <organisation-1>",
        "a new idea. Tove",
    ]
    kept = texts_of(corpus, sources=[source], keep=frozenset({"places", "organisations"}))
    assert kept[0] == "Person3 works at Kestrel in New Aldham"


def test_small_letters_go_where_they_were_found_so() -> None:
    source = Listed(("ingrid", "person", 0.9), ("rose", "person", 0.9), once=True)
    corpus = corpus_of("ask ingrid", "and ingrid says", "rose came", "she rose, he rose, we rose")
    assert texts_of(corpus, sources=[source])[:2] == ["ask Person3", "and Person3 says"]
    assert texts_of(corpus, sources=[source])[3] == "she rose, he rose, we rose"


def test_titles_birthdays_and_german_nouns() -> None:
    corpus = corpus_of(
        "ich war mit dem Hund und der Tasche bei Frau Sommerfeld, das ist nicht weit",
        "wir haben den Hund und die Tasche und ich bin geb. am 12.03.1990, am 4.5.2024 Kino",
    )
    assert texts_of(corpus) == [
        "ich war mit dem Hund und der Tasche bei Frau Person3, das ist nicht weit",
        "wir haben den Hund und die Tasche und ich bin geb. am <birthday-1>, am 4.5.2024 Kino",
    ]


@cases("""
    text                          | date
    my dob is 12/03/1990 ok       | 12/03/1990
    born March 12, 1990 in spring | March 12, 1990
    родилась 5 ноября 1987        | 5 ноября 1987
    生日是1990年3月12日           | 1990年3月12日
    nacido el 3 de mayo de 1991   | 3 de mayo de 1991
    12.03.1990 doğumlu            | 12.03.1990
""")
def test_dates_of_birth_in_many_languages(text: str, date: str) -> None:
    assert texts_of(corpus_of(text)) == [text.replace(date, "<birthday-1>")]


def test_a_nickname_or_a_slip_joins_the_one_person_it_can_mean() -> None:
    corpus = corpus_of(
        "so Sasha came", "then Alexadner left", "Bob?", speakers=("Alexander Quill", "Theo")
    )
    assert texts_of(corpus) == ["so Person1 came", "then Person1 left", "Bob?"]
    two = corpus_of("so Sasha came", speakers=("Alexander", "Aleksandra"))
    assert texts_of(two) == ["so Sasha came"]
    assert person_called("Саша", {"александр": "Person1", "мария": "Person2"}) == "Person1"
    assert list(misspelt(["Martina", "Katherin"], ["martin", "martinez", "katherine"])) == []


def test_the_table_is_ticked_and_applied(tmp_path: Path) -> None:
    corpus = corpus_of(
        "I told Ingrid, and then Gorm", "so Ingrid came with Gorm", "=1+1 said my boss Ulf"
    )
    path = tmp_path / "names.csv"
    assert write_review(path, find_candidates(corpus)) == 3
    assert path.stat().st_mode & 0o077 == 0
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    ingrid = next(row for row in rows if row["form"] == "Ingrid")
    assert (ingrid["decision"], ingrid["count"], ingrid["where"]) == ("replace", "2", "D1:1 D1:2")
    assert ingrid["context"] == "I told [Ingrid], and then Gorm"
    assert not any(text.startswith("=") for row in rows for text in row.values())
    changed = path.read_text("utf-8-sig").replace("replace,Gorm,person,", "keep,Gorm,person,")
    changed = changed.replace("replace,Ulf,person,", "replace,Ulf,person,Mara Lund")
    path.write_text(changed + "replace,fun fair,place,,,,,,\n", "utf-8")
    assert texts_of(corpus, decisions=read_review(path)) == [
        "I told Person3, and then Gorm",
        "so Person3 came with Gorm",
        "=1+1 said my boss Person1",
    ]


def test_a_row_that_is_added_counts_in_small_letters_too() -> None:
    made = texts_of(
        corpus_of("at the fun fair"), decisions=[NameDecision("Fun Fair", "place", True)]
    )
    assert made == ["at the <place-1>"]


def test_only_some_kinds() -> None:
    kept = kept_without(["phones"])
    assert "emails" in kept and "phones" not in kept and not {"files", "extra"} & kept
    text = "Mara: +49 170 1234567, a@b.co"
    assert texts_of(corpus_of(text), keep=kept) == ["Person1: <phone-1>, a@b.co"]
    with refused("unknown-kind"):
        kept_without(["phone"])


def test_stand_ins_are_of_the_chats_script_and_gender() -> None:
    corpus = corpus_of(
        "Маша пришла домой, а Олег уже спал, и было совсем тихо",
        "потом Саша сказала, что завтра поедем на дачу все вместе",
        speakers=("Маша", "Олег", "Саша"),
    )
    made, key = redact(corpus)
    assert made.chats[0].speakers == ("Персона1", "Человек2", "Персона3")
    assert texts_of(corpus)[0].startswith("Персона1 пришла домой, а Человек2 уже")
    assert redact(made)[0] == made
    assert key.counts() == {"person": 3}


def test_the_key_restores_byte_for_byte(tmp_path: Path) -> None:
    corpus = read_sample()
    made, key = redact(corpus)
    assert made != corpus and key.restore(made) == corpus
    store_redacted(made, tmp_path / "shared")
    write_json(tmp_path / "key.json", key.to_file())
    shared = open_reading(str(tmp_path / "shared")).reading.corpus
    total = store_restored(shared, tmp_path / "key.json", tmp_path / "again")
    store_redacted(corpus, tmp_path / "first")
    assert total == sum(len(chat.messages) for chat in corpus.chats)
    for path in (tmp_path / "first").rglob("*.parquet"):
        again = tmp_path / "again" / path.relative_to(tmp_path / "first")
        assert again.read_bytes() == path.read_bytes()
    with refused("not the corpus"):
        key.restore(corpus)
