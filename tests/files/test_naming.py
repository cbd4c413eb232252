"""Names made unique, of chats, people and files, and in every format's own form."""

from __future__ import annotations

from pathlib import Path

from exported import written
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.files.naming import UniqueNames
from realtalk.files.writing import file_stem, file_stems
from realtalk.formats.exports.assembly import plain_name, shown_names
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadOptions
from realtalk.formats.registry import FORMATS
from realtalk.formats.source import Source
from text_tables import cases
from work_done import lines_run


def test_the_first_keeps_its_name_and_no_number_is_given_twice() -> None:
    names = UniqueNames()
    given = [
        names.free(name) for name in ("Family", "Family (2)", "Family", "Family", "Family (2)")
    ]
    assert given == ["Family", "Family (2)", "Family (3)", "Family (4)", "Family (2) (2)"]
    other = UniqueNames("{}~{}", taken=("{}",))
    assert [other.free("{}"), other.free("{}")] == ["{}~2", "{}~3"]


def test_case_counts_for_people_and_not_for_files() -> None:
    assert [UniqueNames(taken=("Ann",)).free(name) for name in ("ann", "Ann ")] == ["ann", "Ann "]
    files = UniqueNames("{}-{}", is_file=True)
    assert [files.free(name) for name in ("Ann", "ann", "ANN")] == ["Ann", "ann-2", "ANN-3"]
    assert [files.free(name) for name in ("Zo\u00eb", "Zoe\u0308")] == ["Zo\u00eb", "Zoe\u0308-2"]


def test_many_equal_names_do_not_take_long() -> None:
    def work(count: int) -> int:
        names = UniqueNames()
        return lines_run(lambda: [names.free("Ann") for _ in range(count)])

    assert work(4000) < 5 * work(1000)


@cases(r"""
    name                    | plain
    " Ann\u00a0 Lee\u200f " | Ann Lee
    "\u2068דנה\u2069"       | דנה
    "می\u200cنا"            | "می\u200cنا"
    "👩\u200d🌾"            | "👩\u200d🌾"
    ㅤ                      | ""
    "\u200e ⠀"              | ""
    Zoë                     | Zoë
""")
def test_what_cannot_be_seen_is_no_part_of_a_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_people_of_one_name_are_told_apart_by_what_the_app_has() -> None:
    people = [
        ("1", "Ann", ""),
        ("2", "Ann ", ""),
        ("3", "ann", ""),
        ("", "Ben", ""),
        ("4", "Ben", ""),
    ]
    assert list(shown_names(people).values()) == ["Ann (1)", "Ann (2)", "ann", "Ben", "Ben"]
    called = [("1", "Mod", "x"), ("2", "Mod\u200e", "y"), ("3", "Mod", "y"), ("4", "\u3164", "z")]
    assert list(shown_names(called).values()) == ["x", "Mod (2)", "Mod (3)", "z"]
    # A made name must not be somebody else's own.
    taken = [("1", "Ann", ""), ("2", "Ann", ""), ("3", "Ann (1)", "")]
    assert len(set(shown_names(taken).values())) == 3


def corpus(*ids: str) -> Corpus:
    def chat(name: str) -> Chat:
        said = Message("D1:1", "Ann", None, f"hello from {name}")
        return Chat(name, ("Ann", "Ben"), (Session(1, None, (said,)),))

    return Corpus("made", "jsonl", tuple(map(chat, ids)))


def test_files_of_chats_whose_names_become_one_are_not_written_over(tmp_path: Path) -> None:
    ids = ("a/b", "a:b", "Family", "family")
    assert file_stems(corpus(*ids)) == ("a_b", "a_b-2", "Family", "family-2")
    for name, suffix in (("realtalk", "json"), ("sheet", "xlsx"), ("locomo", "json")):
        paths = written(name, corpus(*ids), tmp_path / name)
        assert len({path.name.casefold() for path in paths}) == 4, name
        assert len(list((tmp_path / name).glob(f"*.{suffix}"))) == 4, name


def test_a_file_name_is_never_too_long(tmp_path: Path) -> None:
    stem = file_stem("👪" * 140 + " .")
    assert len(stem.encode()) <= 200 and stem == "👪" * 50
    (tmp_path / f"{stem}-2.jsonl").touch()
    assert file_stem("a" * 149 + ". b") == "a" * 149


def test_files_of_one_name_in_two_folders_are_two_chats(tmp_path: Path) -> None:
    for name in ("realtalk", "sheet", "locomo"):
        for folder in ("one", "two", "three"):
            written(name, corpus("Family"), tmp_path / name / folder)
        reading = FORMATS[name].read(Source.open(tmp_path / name), ReadOptions())
        found = [chat.id for chat in reading.corpus.chats]
        assert len(set(found)) == len(found), name
        if name != "locomo":  # which leaves equal samples out
            assert found == ["Family", "Family-2", "Family-3"]


def test_an_unknown_contact_who_is_called_like_a_contact_is_another_person(tmp_path: Path) -> None:
    path = tmp_path / "_chat.txt"
    path.write_text(
        "[20.06.19, 15:58:47] Ann: hi\n"
        "[20.06.19, 15:58:48] ~\u202fAnn: ho\n"
        "[20.06.19, 15:58:49] ~ Ann: hm\n"
        "[20.06.19, 15:58:50] ~\u202fBea: me too\n"
    )
    chat = open_reading(path).reading.corpus.chats[0]
    assert [m.speaker for m in chat.messages] == ["Ann", "Ann (2)", "Ann (2)", "Bea"]
