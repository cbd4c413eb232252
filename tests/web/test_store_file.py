"""The file of annotations: written by a newer version, damaged, or on a full disk."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from realtalk.web.store import Store
from realtalk.web.troubles import SaveError, save_error
from realtalk.web.values import Conflict, StudioItem
from refusals import refused

CHAT = "Chat_1"
EVENT = {"session": 1, "speaker": "Ilse", "text": "Ilse moves.", "date": ""}
QUESTION = {"text": "Where?", "answer": "Porto", "category": "", "evidence": ["D1:1"]}


def sql(path: Path, *statements: tuple[str, tuple[Any, ...]]) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection, connection:
        found = [connection.execute(line, values).fetchall() for line, values in statements]
    connection.close()
    return found[-1]


def stored(path: Path, kind: Any = "event", body: dict[str, Any] = EVENT) -> StudioItem:
    store = Store.open(path)
    item = store.create(CHAT, kind, "Ana", body)
    store.close()
    return item


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notes.sqlite"


def test_a_newer_file_is_called_newer(path: Path) -> None:
    stored(path)
    sql(path, ("PRAGMA user_version = 2", ()))
    with refused("was written by a newer realtalk; update"):
        Store.open(path)


@pytest.mark.parametrize("is_database", [True, False])
def test_another_programs_file_is_not_changed(path: Path, is_database: bool) -> None:
    if is_database:
        sql(path, ("CREATE TABLE theirs (x)", ()))
    else:
        path.write_text("not a database, but long enough to look like something" * 9)
    before = path.read_bytes()
    with refused("not a file of annotations"):
        Store.open(path)
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_version_that_the_file_does_not_know_is_a_conflict(path: Path) -> None:
    item = stored(path)
    store = Store.open(path)
    for version in (7, 0, -1, 2**63 - 1):
        found = store.change(item.id, "Ana", version, {"text": f"typed at {version}"})
        assert isinstance(found, Conflict) and found.copy is not None
        assert found.copy.body == {**EVENT, "text": f"typed at {version}"}
        assert found.copy.conflict_of == item.id
    assert store.item(item.id).body == EVENT
    # What says the same is no conflict.
    assert isinstance(store.change(item.id, "Ana", 9, {"text": "Ilse moves."}), StudioItem)
    store.close()


def test_a_version_at_which_the_item_was_gone_is_a_conflict(path: Path) -> None:
    item = stored(path)
    store = Store.open(path)
    store.remove(item.id, "Ana", 1)
    store.undo(CHAT, "Ana")
    found = store.change(item.id, "Ana", 2, {"text": "typed"})
    assert isinstance(found, Conflict) and found.copy is not None
    assert found.copy.body == {**EVENT, "text": "typed"}
    store.close()


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
    path: Path, kind: Any, body: dict[str, Any]
) -> None:
    store = Store.open(path)
    with refused():
        store.create(CHAT, kind, "Ana", body)
    with refused():
        store.create_all(CHAT, "Ana", [(kind, body, None)])
    with refused():
        store.seed(CHAT, [(kind, body)], "corpus")
    assert store.items(CHAT) == []
    store.close()


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


def failing(path: Path) -> list[tuple[Callable[[], object], int]]:
    def read_only() -> object:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute("DELETE FROM item")
        finally:
            connection.close()

    def busy() -> object:
        holding, other = (sqlite3.connect(path, timeout=0) for _ in range(2))
        try:
            holding.execute("BEGIN IMMEDIATE")
            return other.execute("BEGIN IMMEDIATE")
        finally:
            holding.close()
            other.close()

    return [(read_only, 503), (busy, 503)]


def test_what_the_machine_refuses_may_go_well_later(path: Path) -> None:
    stored(path)
    for fail, status in failing(path):
        with pytest.raises(sqlite3.Error) as caught:
            fail()
        said = save_error(caught.value, path.name)
        assert isinstance(said, SaveError) and said.status == status
