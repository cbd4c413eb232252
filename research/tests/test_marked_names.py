"""Names that are marked in our own chats: where they are found, and that all of them are."""

from __future__ import annotations

import re

from research.training.names_chats import (
    FICTION,
    JOINED,
    LISTED,
    MARKED,
    SAID,
    Name,
    found,
    listed,
    marked_chats,
)


def names(*lines: tuple[str, str, tuple[int, ...]]) -> list[Name]:
    made = [Name(kind, name, frozenset(numbers)) for kind, name, numbers in lines]
    return sorted(made, key=lambda each: -len(each.name))


def test_a_name_is_a_whole_word_and_the_longer_one_goes_first() -> None:
    told = names(("PER", "Ann", ()), ("PER", "Ann Lee", ()), ("LOC", "Leeds", ()))
    assert found("Ann Lee met Anna and Ann in Leeds", 1, told) == [
        [0, 7, 0],
        [21, 24, 0],
        [28, 33, 1],
    ]


def test_a_name_that_is_a_word_counts_in_its_messages_alone() -> None:
    told = names(("PER", "will", (3,)))
    assert found("will he", 2, told) == []
    assert found("will he", 3, told) == [[0, 4, 0]]


def test_letters_stand_beside_a_name_where_a_script_joins_them() -> None:
    told = names(("PER", "سلمى", ()), ("PER", "민지", ()), ("NOT", "민지하다", ()))
    assert found("وسلمى", 1, told) == [[1, 5, 0]]
    assert found("민지는 민지하다", 1, told) == [[0, 2, 0]]


def test_every_listed_name_is_said_where_it_is_listed() -> None:
    for chat, _, told in listed():
        lines = (FICTION / f"{chat}.txt").read_text("utf-8").splitlines()
        said = {int(match[1]): match[3] for match in map(SAID.match, lines) if match}
        for name in told:
            texts = [said[at] for at in name.numbers] if name.numbers else said.values()
            assert any(re.search(name.pattern, text) for text in texts), (chat, name)


def test_marks_of_other_scripts_are_read_and_a_quarter_is_held_out() -> None:
    chats = list(marked_chats())
    assert {chat.source for chat in chats} == {"chats", "named", "fiction"}
    for source in ("chats", "named", "fiction"):
        held = [chat.held for chat in chats if chat.source == source]
        assert 0.18 < sum(held) / len(held) < 0.26
    for chat in chats:
        for said in chat.messages:
            assert "[[" not in said.text
            assert all(said.text[start:end].strip() for start, end, _ in said.spans)
    assert JOINED.search("ب") and not JOINED.search("б")
    assert len(list(MARKED.glob("*.txt"))) + LISTED.read_text("utf-8").count("# ") > 300
