"""Annotations: versions, conflicts, undo, and what survives."""

from __future__ import annotations

import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realtalk.web.store import Store
from realtalk.web.values import Conflict, StudioItem
from refusals import refused
from text_tables import cases
from tries import tries

CHAT = "Chat_1"
EVENT = {"session": 1, "speaker": "Ilse", "text": "Ilse moves.", "date": ""}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(tmp_path / "notes.sqlite")
    yield made
    made.close()


def make(store: Store, **fields: object) -> StudioItem:
    return store.create(CHAT, "event", "Ana", {**EVENT, **fields})


def changed(found: StudioItem | Conflict) -> StudioItem:
    assert isinstance(found, StudioItem)
    return found


def clash(found: StudioItem | Conflict) -> Conflict:
    assert isinstance(found, Conflict)
    return found


def test_two_tabs_that_change_different_fields_are_joined(store: Store) -> None:
    item = make(store)
    store.change(item.id, "Ana", 1, {"text": "first tab"})
    both = changed(store.change(item.id, "Ana", 1, {"date": "May"}))
    assert (both.body["text"], both.body["date"]) == ("first tab", "May")


def test_two_tabs_that_change_one_field_keep_both(store: Store) -> None:
    item = make(store)
    store.change(item.id, "Ana", 1, {"text": "first tab"})
    found = clash(store.change(item.id, "Ana", 1, {"text": "second tab"}))
    assert found.copy is not None
    assert {each.body["text"] for each in store.items(CHAT)} == {"first tab", "second tab"}
    assert found.copy.conflict_of == item.id


def test_the_same_change_in_two_tabs_is_no_conflict(store: Store) -> None:
    item = make(store)
    store.change(item.id, "Ana", 1, {"text": "same"})
    assert changed(store.change(item.id, "Ana", 1, {"text": "same"})).body["text"] == "same"


@cases("""
    take  | left
    this  | ["second"]
    other | ["first"]
    both  | ["first", "second"]
""")
def test_a_conflict_is_settled(store: Store, take: str, left: list[str]) -> None:
    item = make(store)
    store.change(item.id, "Ana", 1, {"text": "first"})
    found = clash(store.change(item.id, "Ana", 1, {"text": "second"}))
    assert found.copy is not None
    store.settle(found.copy.id, "Ana", take)
    items = store.items(CHAT)
    assert [each.body["text"] for each in items] == left
    assert all(each.conflict_of is None for each in items)
    with refused("no conflict"):
        store.settle(found.copy.id, "Ana", take)


def test_what_was_changed_since_is_not_removed(store: Store) -> None:
    item = make(store)
    store.change(item.id, "Ana", 1, {"text": "still needed"})
    assert clash(store.remove(item.id, "Ana", 1)).current.body["text"] == "still needed"
    assert len(store.items(CHAT)) == 1


def test_a_change_of_what_another_tab_removed_is_kept(store: Store) -> None:
    item = make(store)
    store.remove(item.id, "Ana", 1)
    found = clash(store.change(item.id, "Ana", 1, {"text": "typed meanwhile"}))
    assert found.copy is not None
    assert [each.body["text"] for each in store.items(CHAT)] == ["typed meanwhile"]


def test_a_request_counts_once(store: Store) -> None:
    first = store.create(CHAT, "event", "Ana", EVENT, request="r-1")
    assert store.create(CHAT, "event", "Ana", EVENT, request="r-1").id == first.id
    store.change(first.id, "Ana", 1, {"text": "x"}, request="r-2")
    assert changed(store.change(first.id, "Ana", 1, {"text": "x"}, request="r-2")).version == 2
    store.change(first.id, "Ana", 2, {"text": "y"})
    again = clash(store.change(first.id, "Ana", 2, {"text": "z"}, request="r-3"))
    repeated = clash(store.change(first.id, "Ana", 2, {"text": "z"}, request="r-3"))
    assert again.copy is not None and repeated.copy is not None
    assert again.copy.id == repeated.copy.id
    assert len(store.items(CHAT)) == 2


def test_nobody_changes_what_another_wrote(store: Store) -> None:
    item = make(store)
    with refused("another annotator"):
        store.change(item.id, "Bo", 1, {"text": "mine now"})
    with refused("another annotator"):
        store.remove(item.id, "Bo", 1)


def test_typing_is_undone_at_once_but_not_with_other_fields(store: Store) -> None:
    item = make(store, text="")
    for version, text in enumerate(("T", "Th", "The"), 1):
        store.change(item.id, "Ana", version, {"text": text})
    store.change(item.id, "Ana", 4, {"date": "May"})
    (back,) = store.undo(CHAT, "Ana")
    assert (back.body["text"], back.body["date"]) == ("The", "")
    assert store.undo(CHAT, "Ana")[-1].body["text"] == ""
    assert store.redo(CHAT, "Ana")[-1].body["text"] == "The"


def test_a_new_change_ends_what_can_be_redone(store: Store) -> None:
    item = make(store)
    store.change(item.id, "Ana", 1, {"text": "two"})
    (back,) = store.undo(CHAT, "Ana")
    store.change(item.id, "Ana", back.version, {"text": "three"})
    assert store.redo(CHAT, "Ana") == []
    assert store.items(CHAT)[0].body["text"] == "three"


def test_undo_is_each_annotators_own_and_seeds_stay(store: Store) -> None:
    store.seed(CHAT, [("event", EVENT)], "corpus")
    store.seed(CHAT, [("event", EVENT)], "corpus")  # once is enough
    make(store)
    store.create(CHAT, "event", "Bo", EVENT)
    store.undo(CHAT, "Bo")
    assert store.undo(CHAT, "Bo") == []
    assert store.undo(CHAT, "corpus") == []
    assert store.authors(CHAT) == {"corpus": 1, "Ana": 1}


def test_many_copies_are_one_step(store: Store) -> None:
    bodies = [("event", {**EVENT, "text": str(at)}, None) for at in range(5)]
    assert len(store.create_all(CHAT, "Ana", [*bodies[:4], bodies[0]])) == 5  # type: ignore[list-item]
    assert store.create_all(CHAT, "Ana", bodies[:2]) == []  # type: ignore[arg-type]
    assert len(store.undo(CHAT, "Ana")) == 5
    assert store.items(CHAT) == []
    store.redo(CHAT, "Ana")
    assert len(store.items(CHAT)) == 5


@settings(
    max_examples=tries(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=14))
def test_undoing_all_and_redoing_all_come_back(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int]]
) -> None:
    store = Store.open(tmp_path_factory.mktemp("undo") / "notes.sqlite")
    try:
        made = 0
        for what, which in steps:
            items = store.items(CHAT)
            if what == 0 or not items:
                make(store, text=f"new {made}")
                made += 1
            elif what == 3:
                item = items[which % len(items)]
                store.remove(item.id, "Ana", item.version)
            else:
                item = items[which % len(items)]
                store.change(item.id, "Ana", item.version, {"text": f"changed {what} {which}"})
        end = {each.id: each.body for each in store.items(CHAT)}
        undone = 0
        while store.undo(CHAT, "Ana"):
            undone += 1
        assert store.items(CHAT) == []
        for _ in range(undone):
            store.redo(CHAT, "Ana")
        assert {each.id: each.body for each in store.items(CHAT)} == end
    finally:
        store.close()


def test_two_programs_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    stores = [Store.open(path) for _ in range(2)]

    def write(store: Store, name: str) -> None:
        for at in range(40):
            store.create(CHAT, "event", name, {**EVENT, "text": f"{name} {at}"})

    threads = [
        threading.Thread(target=write, args=pair)
        for pair in zip(stores, ("Ana", "Bo"), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores[0].authors(CHAT) == stores[1].authors(CHAT)
    assert sum(stores[0].authors(CHAT).values()) == 80
    for store in stores:
        store.close()


def test_acknowledged_means_synced_and_private(store: Store) -> None:
    assert store.connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert store.connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
    if sys.platform != "win32":
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
def test_nothing_is_saved_into_a_file_that_is_gone(store: Store, tmp_path: Path) -> None:
    item = make(store)
    store.path.rename(tmp_path / "moved.sqlite")
    with refused("moved, removed or replaced"):
        make(store)
    with refused("put the file back"):
        store.change(item.id, "Ana", 1, {"text": "new"})
    (tmp_path / "moved.sqlite").rename(store.path)
    assert changed(store.change(item.id, "Ana", 1, {"text": "new"})).version == 2


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be moved there")
def test_another_file_of_the_same_name_is_not_the_one(store: Store, tmp_path: Path) -> None:
    store.path.rename(tmp_path / "moved.sqlite")
    Store.open(store.path).close()
    with refused("nothing can be saved"):
        make(store)


def test_a_new_card_and_the_typing_into_it_are_one_step(store: Store) -> None:
    body = {"text": "W", "answer": "", "category": "", "evidence": []}
    item = store.create(CHAT, "question", "Ana", body, request="request-1")
    store.change(item.id, "Ana", 1, {"text": "Why?"})
    store.change(item.id, "Ana", 2, {"answer": "So."})
    store.undo(CHAT, "Ana")
    assert (store.item(item.id).body["text"], store.item(item.id).body["answer"]) == ("Why?", "")
    store.undo(CHAT, "Ana")
    assert store.items(CHAT) == []


def test_typing_into_a_copy_does_not_undo_the_copying(store: Store) -> None:
    (item,) = store.create_all(CHAT, "Ana", [("event", EVENT, None)])
    store.change(item.id, "Ana", 1, {"text": "mine"})
    store.undo(CHAT, "Ana")
    assert store.item(item.id).body == EVENT and not store.item(item.id).deleted
