"""What is written is its owner's alone, whatever the umask, from the first byte on."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import realtalk
from file_modes import mode, open_to_others
from realtalk.evals.folder import RunFolder
from realtalk.files.writing import (
    atomic_path,
    owner_only,
    private_folder,
    private_stream,
    whole_folder,
    write_bytes,
    write_json,
    write_parquet,
    write_text,
)
from realtalk.formats.opening import open_reading
from realtalk.formats.store import store
from realtalk.models.asking import ModelConfig, _environment
from realtalk.threads.vectors import VectorStore
from realtalk.web.store import Store
from refusals import refused
from text_tables import rows

ROOT = Path(realtalk.__file__).parent


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=["umask 0", "umask 022", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def test_every_way_of_writing(tmp_path: Path, umask: None) -> None:
    write_text(tmp_path / "a" / "b" / "page.html", "x")
    write_bytes(tmp_path / "a" / "picture.png", b"x")
    write_json(tmp_path / "key.json", {"a": 1})
    write_parquet(tmp_path / "c" / "rows.parquet", pl.DataFrame({"a": [1]}))
    with private_stream(tmp_path / "rows.jsonl") as stream:
        stream.write(b"{}\n")
    with whole_folder(tmp_path / "d" / "adapter") as temporary:
        (temporary / "inner").mkdir(mode=0o755)
        (temporary / "inner" / "weights").write_bytes(b"x")  # as a library would
    assert open_to_others(tmp_path) == {}
    assert (tmp_path / "key.json").read_text("utf-8") == '{\n  "a": 1\n}\n'


def test_half_written_is_private_too(tmp_path: Path, umask: None) -> None:
    with atomic_path(tmp_path / "new" / "key.json") as temporary:
        assert (temporary.read_bytes(), mode(temporary)) == (b"", 0o600)
        assert mode(temporary.parent) == 0o700
    with whole_folder(tmp_path / "corpus") as temporary:
        assert mode(temporary) == 0o700


def test_rooms_write_through_it(tmp_path: Path, umask: None) -> None:
    store(open_reading("sample").reading, tmp_path / "corpora" / "sample")
    with RunFolder.open(tmp_path / "run", "test", {}) as run:
        run.table("rows", ("id",)).add({"id": "a", "said": "x"})
    VectorStore(tmp_path / "vectors" / "vectors-1.sqlite").put(["x"], pl.Series([0.5]).to_numpy())
    kept = Store.open(tmp_path / "annotations" / "mine.sqlite")
    with _environment(ModelConfig("openai/x", cache=tmp_path / "answers")):
        # As Inspect does it: with whatever umask the process has.
        (tmp_path / "answers" / "generate").mkdir()
        (tmp_path / "answers" / "generate" / "0a").write_bytes(b"x")
    assert open_to_others(tmp_path) == {}
    kept.close()
    assert len(list(tmp_path.rglob("*.*"))) >= 7


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path, umask: None) -> None:
    for name in ("shared", "corpus"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o2755)
    write_json(tmp_path / "shared" / "key.json", {})
    private_folder(tmp_path / "shared")
    store(open_reading("sample").reading, tmp_path / "corpus")
    store(open_reading("sample").reading, tmp_path / "corpus")  # and once more over the first
    assert mode(tmp_path / "shared") == mode(tmp_path / "corpus") == 0o2755
    assert {mode(path) for path in tmp_path.rglob("*.*")} == {0o600}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_what_an_older_version_left_readable_is_closed_when_written(
    tmp_path: Path, umask: None
) -> None:
    for name in ("rows.jsonl", "key.json"):
        (tmp_path / name).write_bytes(b"{}\n")
        (tmp_path / name).chmod(0o644)
    private_stream(tmp_path / "rows.jsonl").close()
    write_json(tmp_path / "key.json", {})
    assert open_to_others(tmp_path) == {}
    assert (tmp_path / "rows.jsonl").read_bytes() == b"{}\n"


def test_the_umask_comes_back(tmp_path: Path, umask: None) -> None:
    before = os.umask(0)
    os.umask(before)
    with pytest.raises(ZeroDivisionError), owner_only():
        raise ZeroDivisionError
    assert os.umask(before) == before


def test_a_file_where_a_folder_should_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with refused("cannot be written"):
        write_json(tmp_path / "file" / "below" / "key.json", {})
    assert (tmp_path / "file").read_bytes() == b"x"


_WRITES = {"write_text", "write_bytes", "write_parquet", "write_csv", "mkdir", "touch", "savez"}
_WRITES |= {"makedirs", "copyfile", "copytree", "save_file", "save", "save_pretrained"}
_OPENS = {"open", "fdopen", "ZipFile"}
# Names that stand for a file or folder that `writing` has made, or that is in memory.
_MADE = {"temporary", "stream"}


def own_writes(source: str) -> list[str]:
    """Calls that make or open a file for writing without `files/writing.py`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        named = getattr(node.func, "attr", getattr(node.func, "id", ""))
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        words = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
        opens = named in _OPENS and any(
            isinstance(word, str) and set(word) <= set("rwaxbt+") and set(word) & set("wax+")
            for word in words
        )
        method = named in _WRITES and isinstance(node.func, ast.Attribute)
        if (opens or method) and not names & _MADE:
            found.append(f"line {node.lineno}: {named}")
    return found


# (module, call): what is none of it, and why.
ALLOWED = {
    (name, call): why
    for name, call, why in rows("""
    files/download.py | open        | pooch makes the file, 0600, inside a folder of ours
    files/stores.py   | makedirs    | a folder of hdfs, none of this machine
    models/files.py   | open        | the file is the one that atomic_path made
    web/reviews.py    | write_bytes | inside a temporary folder of its own, 0700
    web/app.py        | fdopen      | mkstemp made it, 0600
    """)
}


def test_nothing_else_makes_files() -> None:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name == "files/writing.py":
            continue
        for each in own_writes(path.read_text("utf-8")):
            if (name, each.partition(": ")[2]) not in ALLOWED:
                found[name] = each
    assert found == {}
