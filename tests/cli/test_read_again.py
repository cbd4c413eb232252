"""`read` with several files and into a stored corpus, as the command shows it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from text_tables import cases


def lines(*days: int, name: str = "Anna") -> str:
    return "".join(
        f"{day:02}/01/2024, 22:0{n} - {name if n % 2 else 'Theo'}: day {day}, the story {n}\n"
        for day in days
        for n in range(8)
    )


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    (tmp_path / "first.txt").write_text(lines(12, 13), "utf-8")
    (tmp_path / "second.txt").write_text(lines(13, 14), "utf-8")
    (tmp_path / "hers.txt").write_text(lines(13, 14, name="Mum"), "utf-8")
    return tmp_path


def test_again_next_month(run: Any, exports: Path) -> None:
    assert run("read first.txt --out anna")[0] == 0
    _, out, err = run("read second.txt --into anna").done
    assert "joined 8, new 8, edited 0, deleted 0\nstored in anna\n" in err
    assert "24" in out
    before = {path.name: path.read_bytes() for path in (exports / "anna").iterdir()}
    err = run("read second.txt first.txt --into anna").done.err
    assert "joined 32, new 0, edited 0, deleted 0\nnothing new: anna is as it was" in err
    assert before == {path.name: path.read_bytes() for path in (exports / "anna").iterdir()}
    _, out, err = run("read second.txt --into anna --json")
    about = json.loads(out)
    assert (about["folder"], about["messages"]) == ("anna", 24)
    assert "joined 16, new 0" in err


def test_two_people_two_files(run: Any, exports: Path) -> None:
    err = run("read first.txt hers.txt --out both").wrong
    assert err == (
        "error: chat 'first': 'Mum' is called 'Anna' in the other file; "
        'if that is so, say --same "Mum=Anna"\n'
    )
    assert not (exports / "both").exists()
    for order in (("first.txt", "hers.txt"), ("hers.txt", "first.txt")):
        _, out, err = run("read", *order, "--same", "Mum=Anna", "--out", "both").done
        assert "taken once: 8" in err
        assert "32 lines = 32 in messages + 0 system + 0 left over" in err
        assert "Theo, Anna" in out
    assert "joined 16, new 0" in run("read hers.txt --into both").done.err


def test_a_name_is_remembered_where_nothing_is_new(run: Any, exports: Path) -> None:
    run("read first.txt second.txt --out anna")
    assert run("read hers.txt --into anna")[0] == 2
    assert "new 0" in run("read hers.txt --into anna --same Mum=Anna")[2]
    before = (exports / "anna" / "corpus.json").read_bytes()
    for more in ((), ("--same", "Mum=Anna")):
        assert "nothing new" in run("read", "hers.txt", "--into", "anna", *more)[2]
    assert (exports / "anna" / "corpus.json").read_bytes() == before


def test_somebody_at_the_terminal_is_asked(
    run: Any, exports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(question: str) -> bool:
        asked.append(question)
        return len(asked) > 1

    monkeypatch.setattr("realtalk.cli.showing._yes", answer)
    terminal = SimpleNamespace(isatty=lambda: True)
    streams = SimpleNamespace(stdin=terminal, stderr=terminal)
    monkeypatch.setattr("realtalk.cli.showing.sys", streams)  # `run` has streams of its own
    run("read first.txt --out anna")
    assert '--same "Mum=Anna"' in run("read hers.txt --into anna").wrong
    assert "joined 8, new 8" in run("read hers.txt --into anna").done.err
    assert asked == ["Is Mum the same person as Anna?"] * 2


@cases("""
    arguments                | line
    --same Mum=Anna          | --same names people of two exports; name both files
    hers.txt --same Mom=Anna | unknown name 'Mom'; known: Mum, Theo, Anna
    --same Mum               | 'Mum' is not KEY=VALUE; write --same KEY=VALUE
    --into nowhere           | nowhere: holds no stored corpus to add to; make one by
    --into a --out b         | --out stores a new corpus, --into adds to a stored one
    --chat x                 | --chat names a chat of a stored corpus; give --into too
""")
def test_one_line_says_what_is_wrong(run: Any, exports: Path, arguments: str, line: str) -> None:
    assert run(f"read first.txt {arguments}").wrong.startswith(f"error: {line}")


def test_a_corpus_that_is_replaced_says_how_to_add_to_one(run: Any, exports: Path) -> None:
    assert "--into" not in run("read first.txt --out anna")[2]
    _, _, err = run("read second.txt --out anna")
    assert err.endswith(
        "stored in anna\nin place of the corpus that was there; --into anna adds to one\n"
    )
