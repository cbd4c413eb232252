"""Annotations: versions, conflicts, undo, and what survives; their file."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realtalk.web.store import Store
from realtalk.web.troubles import save_error
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


@pytest.fixture
def item(store: Store) -> StudioItem:
    return make(store)


Edit = Callable[..., StudioItem | Conflict]


@pytest.fixture
def edit(store: Store, item: StudioItem) -> Edit:
    """Ana changes fields of the item, as somebody who last saw a version."""
    return lambda version, **fields: store.change(item.id, "Ana", version, fields)


def changed(found: StudioItem | Conflict) -> StudioItem:
    assert isinstance(found, StudioItem)
    return found


def copied(found: StudioItem | Conflict) -> StudioItem:
    """What a conflict keeps beside the item."""
    assert isinstance(found, Conflict) and found.copy is not None
    return found.copy


def test_two_tabs_that_change_different_fields_are_joined(edit: Edit) -> None:
    edit(1, text="first tab")
    both = changed(edit(1, date="May"))
    assert (both.body["text"], both.body["date"]) == ("first tab", "May")


def test_two_tabs_that_change_one_field_keep_both(
    store: Store, item: StudioItem, edit: Edit
) -> None:
    edit(1, text="first tab")
    copy = copied(edit(1, text="second tab"))
    assert {each.body["text"] for each in store.items(CHAT)} == {"first tab", "second tab"}
    assert copy.conflict_of == item.id


def test_the_same_change_in_two_tabs_is_no_conflict(edit: Edit) -> None:
    edit(1, text="same")
    assert changed(edit(1, text="same")).body["text"] == "same"


@cases("""
    take  | left
    this  | ["second"]
    other | ["first"]
    both  | ["first", "second"]
""")
def test_a_conflict_is_settled(store: Store, edit: Edit, take: str, left: list[str]) -> None:
    edit(1, text="first")
    copy = copied(edit(1, text="second"))
    store.settle(copy.id, "Ana", take)
    items = store.items(CHAT)
    assert [each.body["text"] for each in items] == left
    assert all(each.conflict_of is None for each in items)
    with refused("no conflict"):
        store.settle(copy.id, "Ana", take)


def test_what_was_changed_since_is_not_removed(store: Store, item: StudioItem, edit: Edit) -> None:
    edit(1, text="still needed")
    kept = store.remove(item.id, "Ana", 1)
    assert isinstance(kept, Conflict) and kept.current.body["text"] == "still needed"
    assert len(store.items(CHAT)) == 1


def test_a_change_of_what_another_tab_removed_is_kept(
    store: Store, item: StudioItem, edit: Edit
) -> None:
    store.remove(item.id, "Ana", 1)
    copied(edit(1, text="typed meanwhile"))
    assert [each.body["text"] for each in store.items(CHAT)] == ["typed meanwhile"]


def test_a_request_counts_once(store: Store) -> None:
    first = store.create(CHAT, "event", "Ana", EVENT, request="r-1")
    assert store.create(CHAT, "event", "Ana", EVENT, request="r-1").id == first.id
    store.change(first.id, "Ana", 1, {"text": "x"}, request="r-2")
    assert changed(store.change(first.id, "Ana", 1, {"text": "x"}, request="r-2")).version == 2
    store.change(first.id, "Ana", 2, {"text": "y"})
    for _ in range(2):
        copied(store.change(first.id, "Ana", 2, {"text": "z"}, request="r-3"))
    assert len(store.items(CHAT)) == 2


def test_nobody_changes_what_another_wrote(store: Store, item: StudioItem) -> None:
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


def test_a_new_change_ends_what_can_be_redone(store: Store, edit: Edit) -> None:
    edit(1, text="two")
    (back,) = store.undo(CHAT, "Ana")
    edit(back.version, text="three")
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
    with closing(Store.open(tmp_path_factory.mktemp("undo") / "notes.sqlite")) as store:
        for at, (what, which) in enumerate(steps):
            items = store.items(CHAT)
            if what == 0 or not items:
                make(store, text=f"new {at}")
                continue
            item = items[which % len(items)]
            if what == 3:
                store.remove(item.id, "Ana", item.version)
            else:
                store.change(item.id, "Ana", item.version, {"text": f"changed {what} {which}"})
        end = {each.id: each.body for each in store.items(CHAT)}
        undone = 0
        while store.undo(CHAT, "Ana"):
            undone += 1
        assert store.items(CHAT) == []
        for _ in range(undone):
            store.redo(CHAT, "Ana")
        assert {each.id: each.body for each in store.items(CHAT)} == end


def test_two_programs_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    stores = [Store.open(path) for _ in range(2)]

    def write(store: Store, name: str) -> None:
        for at in range(40):
            store.create(CHAT, "event", name, {**EVENT, "text": f"{name} {at}"})

    with ThreadPoolExecutor() as pool:
        list(pool.map(write, stores, ("Ana", "Bo")))
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
def test_nothing_is_saved_into_a_file_that_is_gone(
    store: Store, edit: Edit, tmp_path: Path
) -> None:
    store.path.rename(tmp_path / "moved.sqlite")
    with refused("moved, removed or replaced"):
        make(store)
    with refused("put the file back"):
        edit(1, text="new")
    (tmp_path / "moved.sqlite").rename(store.path)
    assert changed(edit(1, text="new")).version == 2


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


# --- the file: newer, damaged, or on a full disk ---


QUESTION = {"text": "Where?", "answer": "Porto", "category": "", "evidence": ["D1:1"]}


def sql(path: Path, line: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(line)


def stored(path: Path) -> None:
    with closing(Store.open(path)) as store:
        make(store)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.sqlite"


def test_a_newer_file_is_called_newer(path: Path) -> None:
    stored(path)
    sql(path, "PRAGMA user_version = 2")
    with refused("was written by a newer realtalk; update"):
        Store.open(path)


@pytest.mark.parametrize("is_database", [True, False])
def test_another_programs_file_is_not_changed(path: Path, is_database: bool) -> None:
    if is_database:
        sql(path, "CREATE TABLE theirs (x)")
    else:
        path.write_text("not a database, but long enough to look like something" * 9)
    before = path.read_bytes()
    with refused("not a file of annotations"):
        Store.open(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_version_that_the_file_does_not_know_is_a_conflict(
    store: Store, item: StudioItem, edit: Edit
) -> None:
    for version in (7, 0, -1, 2**63 - 1):
        copy = copied(edit(version, text=f"typed at {version}"))
        assert copy.body == {**EVENT, "text": f"typed at {version}"}
        assert copy.conflict_of == item.id
    assert store.item(item.id).body == EVENT
    # What says the same is no conflict.
    changed(edit(9, text="Ilse moves."))


def test_a_version_at_which_the_item_was_gone_is_a_conflict(
    store: Store, item: StudioItem, edit: Edit
) -> None:
    store.remove(item.id, "Ana", 1)
    store.undo(CHAT, "Ana")
    copy = copied(edit(2, text="typed"))
    assert copy.body == {**EVENT, "text": "typed"}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("event", {"text": "alone"}),
        ("event", {**EVENT, "session": "1"}),
        ("event", {**EVENT, "session": 10**30}),
        ("event", {**EVENT, "text": "half \ud83d"}),
        ("question", {"text": "alone"}),
        ("question", {**QUESTION, "evidence": "D1:1"}),
        ("question", {**QUESTION, "answer": 5}),
        ("question", {**QUESTION, "stated": [1]}),
    ],
)
def test_what_cannot_be_read_back_is_not_stored(
    store: Store, kind: Any, body: dict[str, Any]
) -> None:
    with refused():
        store.create(CHAT, kind, "Ana", body)
    with refused():
        store.create_all(CHAT, "Ana", [(kind, body, None)])
    with refused():
        store.seed(CHAT, [(kind, body)], "corpus")
    assert store.items(CHAT) == []


_FILL = """
import resource, sys
from pathlib import Path
from realtalk.web.store import Store
from realtalk.web.troubles import save_error
import sqlite3

path = Path(sys.argv[1])
store = Store.open(path)
body = {"session": 1, "speaker": "Ilse", "text": "x" * 4000, "date": ""}
first = store.create("c", "event", "Ana", body)
size = max(each.stat().st_size for each in path.parent.iterdir())
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, unlimited[1]))
refused = None
for at in range(200):
    try:
        store.create("c", "event", "Ana", body)
    except sqlite3.Error as error:
        refused = save_error(error, path.name)
        break
assert refused is not None and refused.status == 507, refused
print(refused)
there = len(store.items("c"))  # reading goes on
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
store.create("c", "event", "Ana", body)  # and so does writing, once there is room
assert len(store.items("c")) == there + 1
store.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on sizes of files there")
def test_a_full_disk_is_said_and_writing_goes_on_when_there_is_room(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nothing can be saved" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_every_kind_of_full_is_told_alike() -> None:
    with pytest.raises(OSError) as caught, Path("/dev/full").open("wb", buffering=0) as full:
        full.write(b"x")
    said = save_error(caught.value, "chat.xlsx")
    assert said is not None and said.status == 507 and "full" in str(said)
    assert save_error(OSError(2, os.strerror(2)), "x") is None


def test_what_the_machine_refuses_may_go_well_later(path: Path) -> None:
    stored(path)

    def fail(connection: sqlite3.Connection, line: str) -> None:
        with closing(connection), pytest.raises(sqlite3.Error) as caught:
            connection.execute(line)
        said = save_error(caught.value, path.name)
        assert said is not None and said.status == 503

    fail(sqlite3.connect(f"file:{path}?mode=ro", uri=True), "DELETE FROM item")
    with closing(sqlite3.connect(path)) as holding:
        holding.execute("BEGIN IMMEDIATE")
        fail(sqlite3.connect(path, timeout=0), "BEGIN IMMEDIATE")
