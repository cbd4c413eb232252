"""No name of a speaker survives: in any script, in any shape, in nothing that is written.

The comparison is the tests' own (`names_in_scripts.folded`): what may not be left is looked for
as a substring of everything that came out, case, width, accents and unseen signs aside.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

from names_in_scripts import SCRIPTS, Written, folded, parts_of
from realtalk.chat import Alias, Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.redaction.redact import Key, redact
from realtalk.redaction.standins import STAND_IN
from realtalk.text.folding import TOKEN, is_plain
from redacted_chats import NOON, corpus_of, texts_of
from text_tables import cases
from tries import tries

OTHER = "Zzyx Qwv"
ALL = [entry for entries in SCRIPTS.values() for entry in entries]
# Everyday words in small letters stay where no name stands; what does is tried separately.
EVERYDAY = {"will", "may"}


def planted(entry: Written, *texts: str, title: str = "Chat_1") -> Corpus:
    """A corpus that holds the texts in every place where a text can be."""
    messages = tuple(
        Message(
            f"{text}-{number}",
            (entry.name, OTHER)[number % 2],
            NOON,
            f"> {text}\n{text}",
            (
                Attachment(
                    "image", f"{text}.{entry.name.split()[0]}", f"https://x.example/{text}", text
                ),
            ),
            f"{text}-{number - 1}" if number > 1 else None,
            extra=json.dumps({text: [text, {"a": text}]}),
        )
        for number, text in enumerate(texts, 1)
    )
    ids = tuple(message.id for message in messages)
    chat = Chat(
        title,
        (entry.name, OTHER),
        (Session(1, NOON, messages),),
        tuple(Event(1, entry.name, text, date=text, evidence=ids[:1]) for text in texts),
        tuple(
            Question(f"{text}-Q{n}", text, text, text, ids[:1], (text,), (text,), extra=f'"{text}"')
            for n, text in enumerate(texts)
        ),
        (Alias((entry.name, *entry.forms)[-1], entry.name, ids[0]),),
        json.dumps({"title": texts}),
    )
    return Corpus(texts[0], "realtalk", (chat,))


def strings(value: Any, field: str = "") -> list[str]:
    """Every string in a value, but for the schema's own words."""
    if isinstance(value, dict):
        return [s for key, each in value.items() for s in (*strings(key), *strings(each, key))]
    if isinstance(value, list | tuple):
        return [s for each in value for s in strings(each)]
    return [value] if isinstance(value, str) and field not in ("format", "kind") else []


def written(corpus: Corpus) -> list[str]:
    fields = set(asdict(corpus)) | {
        *asdict(corpus.chats[0]),
        *("number", "time", "messages", "id", "speaker", "text", "attachments", "reply_to"),
        *("edited", "deleted", "extra", "kind", "name", "url", "caption", "session", "date"),
        *("evidence", "answer", "category", "unresolved", "stated", "asked", "source"),
    }
    return [text for text in strings(asdict(corpus)) if text not in fields]


def left_of(entry: Written, texts: list[str]) -> list[tuple[str, str]]:
    gone = [folded(part) for part in (*parts_of(entry.name), *entry.gone)]
    gone = [part for part in gone if part not in EVERYDAY]
    return [(part, text) for text in texts for part in gone if part in folded(text)]


def wide(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


def joined(text: str) -> str:
    """With a joiner after the first letter, where one can be."""
    cut = next((at for at, sign in enumerate(text) if sign.isalpha()), -1) + 1
    return f"{text[:cut]}\u200d{text[cut:]}"


DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "upper": str.upper,
    "lower": str.lower,
    "title": str.title,
    "NFC": lambda text: unicodedata.normalize("NFC", text),
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "full-width": wide,
    "joiner": joined,
    "quoted": lambda text: f"“{text}”, ok?",
    "isolated": lambda text: f"@\u2068{text}\u2069",
    "tag": lambda text: f"so #{text.replace(' ', '')} it is",
    "handle": lambda text: f"ask @{text.replace(' ', '_')} now",
    "mail": lambda text: f"to {text.replace(' ', '.')}@post.example, please",
    "file": lambda text: f"IMG_{text.replace(' ', '_')}_2024.jpg",
    "link": lambda text: f"https://x.example/{text.replace(' ', '-')}/1",
    "markup": lambda text: f"*{text}* _{text}_ ~{text}~",
    "line": lambda text: f"{text}: joined the group\n{text} left",
}
KEPT = st.sets(st.sampled_from(["handles", "phones", "emails", "links", "files", "extra"]))


@given(
    entry=st.sampled_from(ALL),
    number=st.integers(0, 20),
    disguises=st.lists(st.sampled_from(sorted(DISGUISES)), min_size=1, max_size=3),
    keep=KEPT,
)
@settings(max_examples=tries(250))
def test_no_name_survives_in_any_script_or_shape(
    entry: Written, number: int, disguises: list[str], keep: set[str]
) -> None:
    forms = (entry.name, *entry.forms)
    texts = [DISGUISES[each](forms[number % len(forms)]) for each in disguises]
    corpus = planted(entry, *texts, title=texts[0])
    made, key = redact(corpus, keep=frozenset(keep))
    assert left_of(entry, written(made)) == []
    assert redact(made, keep=frozenset(keep))[0] == made
    check_key(made, key)


def check_key(made: Corpus, key: Key) -> None:
    """The key knows every stand-in, and a stand-in is nobody's name."""
    known = key.to_json()
    for text in written(made):
        for found in STAND_IN.finditer(text):
            assert found[0].lstrip("@") in known or found[0] in known or f"<{found[0]}>" in known
    assert len(set(made.chats[0].speakers)) == 2


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_form_of_every_script(script: str) -> None:
    for entry in SCRIPTS[script]:
        forms = (entry.name, *entry.forms)
        shapes = ("as it is", "upper", "lower", "NFD", "NFC", "quoted", "joiner")
        texts = [DISGUISES[each](form) for form in forms for each in shapes]
        made, _ = redact(planted(entry, *texts))
        assert left_of(entry, written(made)) == [], entry.name


def test_the_fast_way_finds_the_same_words() -> None:
    """Texts that `re` reads instead of `regex` hold no sign on which the two differ."""
    word = re.compile(r"[^\W\d_]")
    plain = [chr(at) for at in (*range(0xD800), *range(0xE000, 0x20000)) if is_plain(chr(at))]
    assert [sign for sign in plain if bool(word.match(sign)) != bool(TOKEN.match(sign))] == []
    assert len(plain) > 2_000 and {"a", "é", "’", "😀"} <= set(plain)


@pytest.mark.slow
def test_no_export_holds_a_name(run: Any, tmp_path: Path) -> None:
    """Through the command: read, redact, export in every format, read every byte."""
    from realtalk.formats.registry import writable

    lines = []
    for chat, entry in enumerate(ALL):
        for number, form in enumerate((entry.name, *entry.forms)):
            speaker = (entry.name, OTHER)[number % 2]
            row = {"chat": f"{chat} with {entry.name}", "speaker": speaker, "text": form}
            lines.append(row | {"time": f"2026-03-02T12:{number:02}:00"})
    source = tmp_path / "chats.jsonl"
    source.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    assert run("redact chats.jsonl --out shared --key key.json")[0] == 0
    told = [(tmp_path / "shared" / "corpus.json").read_text("utf-8")]
    for name in ("messages", "events", "questions"):
        told += map(str, pl.read_parquet(tmp_path / "shared" / f"{name}.parquet").rows())
    for to in writable():
        assert run(f"export shared --to {to} --out out-{to}")[0] == 0
        for path in (tmp_path / f"out-{to}").rglob("*"):
            told.append(path.name)
            if path.suffix == ".xlsx":
                sheets = load_workbook(path).worksheets
                told += [str(cell.value) for sheet in sheets for row in sheet for cell in row]
            elif path.is_file():
                told.append(path.read_text("utf-8"))
    text = folded("\n".join(told))
    # Words of the formats themselves, and of the stand-ins, which are not X_1 here.
    short = {
        *("li", "bo", "son", "art", "link", "rose"),
        *("hope", "will", "may", "perso", "anna", "4711"),
    }
    for entry in ALL:
        for part in map(folded, (*parts_of(entry.name), *entry.gone)):
            if part not in short and len(part) > 2:
                assert part not in text, part


@cases("""
    speakers             | text | expected
    # A name inside another word is another word.
    Ann, Sam             | annual Annual anniversary same Same | null
    Theo, Mara           | The theory, they marvel at the marathon | null
    Alexander            | an all-alpine Ale | null
    # Whole names before parts that two people share.
    Anna Lund, Anna Berg | Anna Berg, Anna | Person2, Person1
    # An everyday word is a name where a name stands.
    Will                 | will you? hey will | will you? hey Person1
    Will                 | it will, will. Will's | it will, Person1. Person1's
    Will                 | Will's and will's | Person1's and Person1's
    Rose                 | a rose, roses | a Person1, Person1
    Mom                  | my mom. Mom! hi mom | my mom. Person1! hi Person1
    # One grapheme: the whole word only.
    A, B                 | A day. Ask A or B, AB | A day. Ask Person1 or Person2, AB
    李                   | 李 says 李子 is 李先生's | Person1 says 李子 is Person1's
    "1, 42"              | 1 of 42 at 12:42 | 1 of Person3 at 12:42
    user_31955, user_12  | user_12, user_31955, a user | Person2, Person1, a user
    # Small words and titles inside a name are none.
    Anna de Vries        | Anna de Vries, de dag | Person1, de dag
    Dr. Ida              | Dr. Ida saw Dr. No | Person1 saw Dr. No
    阿may, Bo            | 问阿may是不是还单身, may I | 问Person1是不是还单身, may I
    Mara L.              | Mara L. and Mara | Person1 and Person1
    [deleted], Mara      | deleted by Mara | deleted by Person2
    Mara                 | "Mara² Mara❶ Ma\\u00adra" | Person1 Person1 Person1
    ...                  | wait... ... ok | wait... Person1 ok
""")
def test_where_a_name_ends_and_a_word_begins(
    speakers: str, text: str, expected: str | None
) -> None:
    corpus = corpus_of(text, speakers=tuple(speakers.split(", ")))
    assert texts_of(corpus, keep=frozenset({"people"})) == [expected or text]


def test_everyday_words_that_stay_are_counted() -> None:
    corpus = corpus_of("will you? I will. Will will, hey will", speakers=("Will", OTHER))
    assert redact(corpus)[1].left == 2


@cases("""
    name
    Person
    Link
    Son
    Handle
    Phone
    file
    mail
""")
def test_no_stand_in_holds_a_name(name: str) -> None:
    text = f"{name}! a@b.example https://x.example +49 170 1234567 @zed 14 Willow Street"
    made, key = redact(planted(Written(name), text))
    assert left_of(Written(name), written(made)) == []
    assert redact(made)[0] == made
    for stand_in in key.to_json():
        assert folded(name) not in folded(stand_in)


def test_ids_with_a_name_change_everywhere_alike() -> None:
    made, _ = redact(planted(Written("Mara"), "mara", "Mara"))
    chat = made.chats[0]
    first, second = chat.messages
    assert (first.id, second.id, second.reply_to) == ("Person1-1", "Person1-2", "Person1-1")
    assert chat.events[0].evidence == chat.questions[0].evidence == ("Person1-1",)


def test_a_given_name_is_one_person_with_its_whole_name() -> None:
    entry = Written("王小明", ("小明",))
    made, key = redact(planted(entry, "王小明, 小明"))
    assert made.chats[0].messages[0].text.endswith("\nPerson1, Person1")
    assert {"王小明", "小明"} <= set(key.to_json()["Person1"])


def test_names_do_not_reach_the_terminal_or_the_folder_unnoticed(run: Any, pears: str) -> None:
    _, out, err = run(f"redact {pears} --out mara-shared").done
    assert re.search("the folder's name names a speaker", out + err)
    assert "Mara" not in out + err
