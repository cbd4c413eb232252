"""What is kept in the cache: all of it declared, none of it removed that is not ours."""

from __future__ import annotations

import fcntl
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import realtalk
from realtalk.files.caches import (
    INDEXES,
    KINDS,
    LIMIT,
    CacheItem,
    Kind,
    cache_limit,
    keep_within,
    remove,
    survey,
)
from realtalk.files.download import DATASETS
from realtalk.files.writing import atomic_path, whole_folder
from realtalk.models.files import MODELS
from refusals import refused
from text_tables import cases, lines

ROOT = Path(realtalk.__file__).parent
LABELS = KINDS["labels"]
HOME = "realtalk.files.download"  # where the cache folder is found
READERS = {"realtalk.api.data", "realtalk.files.caches"}  # name it, write nothing there
HOUR = 3600
READERS |= {"realtalk.formats.published.memory_sets", "realtalk.memory.golds"}  # what was fetched


def module_name(path: Path) -> str:
    return ".".join(("realtalk", *path.relative_to(ROOT).with_suffix("").parts))


def asked_folders(source: str) -> list[str]:
    """The folder behind each use of `cache_folder`, "" where the code does not tell."""
    code = re.sub(r"^(?:from|import) .*", "", source, flags=re.MULTILINE)
    return re.findall(r'\bcache_folder\b(?:\([^()]*\) / "(\w+)")?', code)


def undeclared(module: str, source: str) -> list[str]:
    """Folders below the cache that a module asks for without being their declared writer."""
    if module in READERS or module == HOME:
        return []
    mine = {folder for kind in KINDS.values() if module in kind.writers for folder in kind.folders}
    return [folder for folder in asked_folders(source) if folder not in mine]


def test_no_writer_is_undeclared() -> None:
    for path in sorted(ROOT.rglob("*.py")):
        module, source = module_name(path), path.read_text("utf-8")
        assert not undeclared(module, source), f"{module} keeps files that caches.py does not name"
        goes_round = re.search(r'"REALTALK_CACHE"|user_cache_dir|cache_folder as', source)
        assert module == HOME or not goes_round, f"{module} must ask cache_folder()"
    assert set(KINDS["corpora"].folders) == set(DATASETS)


def test_every_folder_is_of_one_kind() -> None:
    folders = [folder for kind in KINDS.values() for folder in kind.folders]
    assert len(folders) == len(set(folders))
    # What `cache clear --from-chats` leaves.
    assert [kind.name for kind in KINDS.values() if not kind.from_chats] == ["corpora", "models"]


def put(path: Path, size: int = 10, hours_ago: float = 2.0) -> Path:
    """A file last used some hours ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - hours_ago * HOUR
    os.utime(path, (then, then))
    return path


def index(root: Path, number: int, size: int = 10, hours_ago: float = 2.0) -> Path:
    return put(root / "memory" / f"{number:032x}.npz", size, hours_ago)


def filled(root: Path) -> dict[str, list[Path]]:
    """Files of every kind as they are named on disk."""
    answer = "generate/openai/gpt-4o-mini/" + "0a" * 16
    models = [model.file_name for model in MODELS.values()]
    named = {
        "corpora": [f"{each.name}/{one.name}" for each in DATASETS.values() for one in each.files],
        "models": [
            *(f"models/{model}" for model in models),
            *(
                f"models/{Path(model).stem}-bf16/{name}"
                for model in models
                for name in ("a.json", "b.safetensors")
            ),
        ],
        "answers": [f"answers/{answer}"],
        "judge": [f"judge/{answer}"],
        "indexes": [f"memory/{7:032x}.npz"],
        "vectors": ["threads/vectors-3.sqlite"],
        "labels": [f"labels/{9:032x}.parquet"],
        "mem0": ["mem0/config.json", "mem0/history.db", "mem0/migrations_qdrant/meta.json"],
    }  # fmt: skip
    return {kind: [put(root / name) for name in names] for kind, names in named.items()}


def test_all_kinds_are_found_and_removed(tmp_path: Path) -> None:
    made = filled(tmp_path)
    found = survey(tmp_path)
    for kind in KINDS:
        listed = [path for item in found if item.kind.name == kind for path in item.files]
        assert sorted(listed) == sorted(made[kind]), kind
    total = sum(map(len, made.values()))
    gone = remove(found)
    assert (gone.files, gone.size, gone.left) == (total, 10 * total, ())
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_lies_in_one_unit_goes_as_one(tmp_path: Path) -> None:
    filled(tmp_path)
    put(tmp_path / "threads" / "vectors-3.sqlite-journal")
    sizes = {
        item.files[0].name: len(item.files)
        for item in survey(tmp_path)
        if item.kind.name == "vectors"
    }
    assert sizes == {"vectors-3.sqlite": 2}, "a database without its journal would be broken"


STRANGE = """
    notes.txt
    memory/mine.npz
    memory/sub/00000000000000000000000000000001.npz
    models/other.gguf
    models/SmolLM2-135M-Instruct.Q4_1-bf16
    realtalk/Chat_11_mine.json
    realtalk/tmpfile.json
    studio/mine/run.json
    threads/corpus.sqlite
    answers/logs/a.eval
    mem0/setup.py
    memory/.notes.0123abcd.txt
"""


@pytest.mark.parametrize("name", lines(STRANGE))
def test_what_is_not_ours_stays(tmp_path: Path, name: str) -> None:
    strange = put(tmp_path / name)
    filled(tmp_path / "other")  # a cache inside is not this cache
    found = survey(tmp_path)
    assert found == ()
    remove(found)
    assert strange.is_file()


def test_links_are_never_followed(tmp_path: Path) -> None:
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    real = index(outside, 1)
    cache.mkdir()
    (cache / "memory").symlink_to(outside / "memory")
    (cache / "answers" / "generate").mkdir(parents=True)
    (cache / "answers" / "generate" / "m").symlink_to(put(outside / "m" / ("0a" * 16)).parent)
    (cache / "realtalk").mkdir()
    (cache / "realtalk" / "tmpabcd1234").symlink_to(real)
    (cache / "realtalk" / "Chat_1_Emi_Elise.json").symlink_to(real)
    found = survey(cache)
    assert found == ()


def only(root: Path) -> CacheItem:
    (item,) = survey(root)
    return item


def reason(item: CacheItem) -> str:
    gone = remove([item])
    assert (gone.files == 0) == bool(gone.left) == item.files[0].exists()
    return gone.left[0][1] if gone.left else ""


def test_a_file_being_written_is_left(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "memory" / f"{1:032x}.npz") as half:
        half.write_bytes(b"half")
        assert reason(only(tmp_path)) == "being written"
    assert reason(only(tmp_path)) == ""

    rows = put(tmp_path / "labels" / f"{1:032x}.parquet")
    with rows.open("ab") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        assert reason(only(tmp_path)) == "being written"
    assert reason(only(tmp_path)) == ""


@pytest.mark.parametrize("kind", [INDEXES, LABELS, KINDS["models"]])
def test_what_a_killed_run_left_unfinished_is_ours_after_an_hour(
    tmp_path: Path, kind: Kind
) -> None:
    filled(tmp_path)
    made = next(item for item in survey(tmp_path) if item.kind is kind)
    with atomic_path(made.files[0]) as name:
        name.write_bytes(b"")
    left = put(name, hours_ago=0.5)
    item = next(each for each in survey(tmp_path) if left in each.files)
    assert item.is_temporary and reason(item) == "being written"
    put(left, hours_ago=1.5)
    assert reason(next(each for each in survey(tmp_path) if left in each.files)) == ""


def test_a_download_and_a_conversion_that_were_cut_off_are_ours(tmp_path: Path) -> None:
    put(tmp_path / "locomo" / "tmpab12_cd3")
    stem = Path(next(iter(MODELS.values())).file_name).stem
    with whole_folder(tmp_path / "models" / f"{stem}-bf16") as temporary:
        name = temporary
    put(name / "model.safetensors")
    found = survey(tmp_path)
    assert [item.is_temporary for item in found] == [True, True]


def test_two_that_clear_at_once_remove_each_file_once(tmp_path: Path) -> None:
    for number in range(300):
        index(tmp_path, number)
    items = survey(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        gone = list(pool.map(remove, [items] * 4))
    assert sum(each.files for each in gone) == 300
    assert not any(each.left for each in gone) and survey(tmp_path) == ()


def test_what_cannot_be_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index(tmp_path, 1)

    def refused(path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    assert reason(only(tmp_path)) == "cannot be removed (Permission denied)"


def test_the_oldest_go_until_the_rest_fits(tmp_path: Path) -> None:
    paths = [index(tmp_path, number, 100, hours_ago=9 - number) for number in range(6)]
    strange = put(tmp_path / "memory" / "mine.npz", 10_000, hours_ago=99)
    os.utime(paths[0])  # read a moment ago: no longer the oldest
    keep_within(INDEXES, tmp_path / "memory", 600, paths[1])
    assert all(path.exists() for path in paths)
    keep_within(INDEXES, tmp_path / "memory", 350, paths[1])
    left = [number for number, path in enumerate(paths) if path.exists()]
    assert left == [0, 1, 5] and strange.exists()
    # What was just written stays, even alone too large.
    keep_within(INDEXES, tmp_path / "memory", 1, paths[1])
    assert [path.exists() for path in (paths[0], paths[1], paths[5])] == [False, True, False]


@cases("""
    given  | size
    ""     | 2e9
    500MB  | 5e8
    1.5 gb | 15e8
    0B     | 0
    7kB    | 7000
""")
def test_the_limit_is_read(monkeypatch: pytest.MonkeyPatch, given: str, size: float) -> None:
    monkeypatch.setenv(LIMIT, given)
    assert cache_limit() == size


def test_a_cache_that_is_a_file_is_one_line(tmp_path: Path) -> None:
    with refused("cannot be read"):
        survey(put(tmp_path / "file"))
    assert survey(tmp_path / "nowhere") == ()
