"""`realtalk cache`: what is kept is shown, and removed only by those who mean it."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from text_tables import cases

DAY = 86_400
ANSWER = "answers/generate/openai/gpt-4o-mini/" + "0a" * 16
INDEX = "memory/" + "0b" * 16 + ".npz"
CORPUS = "locomo/locomo10.json"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with an answer, an index, a published corpus, and a file that is somebody's own."""
    root = tmp_path / "kept"
    for name, days in ((ANSWER, 1), (INDEX, 40), (CORPUS, 90), ("memory/mine.txt", 90)):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1000)
        os.utime(path, (time.time() - days * DAY,) * 2)
    monkeypatch.setenv("REALTALK_CACHE", str(root))
    return root


def held(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


ALL = {ANSWER, INDEX, CORPUS, "memory/mine.txt"}


def test_list_tells_what_is_there_and_what_it_holds(run: Any, cache: Path) -> None:
    told = run("cache list --json").told
    assert told["folder"] == str(cache)
    kinds = {each["kind"]: each for each in told["rows"]}
    assert (kinds["answers"]["files"], kinds["answers"]["bytes"]) == (1, 1000)
    assert (kinds["answers"]["holds"], kinds["indexes"]["holds"]) == ("words", "vectors")
    assert (kinds["judge"]["files"], kinds["judge"]["last_used"]) == (0, None)
    assert kinds["indexes"]["last_used"] < kinds["answers"]["last_used"]
    _, out, err = run("cache list").done
    assert "what models answered" in out and "1.0 kB" in out
    assert str(cache) in err


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("", {"memory/mine.txt"}),
        ("indexes", ALL - {INDEX}),
        ("--from-chats", {CORPUS, "memory/mine.txt"}),
        ("--older-than 30", {ANSWER, "memory/mine.txt"}),
        ("corpora --from-chats", ALL),
    ],
)
def test_clear_removes_what_was_named(run: Any, cache: Path, words: str, left: set[str]) -> None:
    status, out, err = run(f"cache clear {words} --yes")
    gone = len(ALL) - len(left)
    assert (status, out, held(cache)) == (0, "", left)
    freed = f"{gone} file{'s' if gone > 1 else ''}, {gone}.0 kB freed"
    assert (freed if gone else "nothing removed") in err


def test_clear_as_json(run: Any, cache: Path) -> None:
    told = run("cache clear --yes --json").told
    assert (told["folder"], told["files"], told["bytes"]) == (str(cache), 3, 3000)
    assert told["left"] == []


def test_what_must_stay_is_named_and_the_status_says_so(run: Any, cache: Path) -> None:
    with (cache / INDEX).open("ab") as locked:
        fcntl.flock(locked, fcntl.LOCK_EX)
        status, _, err = run("cache clear --yes")
    assert status == 1 and held(cache) == {INDEX, "memory/mine.txt"}
    assert f"{INDEX} stays: being written" in err


@cases("""
    words                       | line
    clear indxes --yes          | unknown kind of cache 'indxes'; did you mean 'indexes'?
    clear --older-than -1 --yes | --older-than must be 0 days or more
    clear                       | nothing was removed, for there is nobody to ask; add --yes
    clear --cache file --yes    | cannot be read
""")
def test_a_wrong_call_removes_nothing(
    run: Any, cache: Path, words: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cache.parent / "file").write_text("", "utf-8")
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        status, _, err = run(f"cache {words}")
    assert status == 2 and line in err and err.count("\n") == 1
    assert held(cache) == ALL


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_a_person_is_asked(
    run: Any, cache: Path, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pty

    master, terminal = pty.openpty()
    os.write(master, f"{answer}\n".encode())
    with os.fdopen(terminal) as typed:
        monkeypatch.setattr(sys, "stdin", typed)
        status, out, err = run("cache clear answers")
    os.close(master)
    assert f"Remove 1 file (answers) from {cache}? [y/N]:" in err
    assert (held(cache) == ALL) == (answer != "y")
    assert (status, out) == (0, "")
