"""`read`, `check`, `redact` and `report` in batches: every input by itself, by every engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
from engine_work import tree, write_exports
from file_modes import open_to_others
from realtalk.formats.opening import open_reading
from refusals import refused

CHAT = """a line of nobody
13/02/2024, 10:0{0} - Mara: the tulips came up {0}
13/02/2024, 10:1{0} - Theo: show me, mara
13/02/2024, 10:2{0} - Mara: later
13/02/2024, 10:3{0} - Theo: good
"""
# One worker: that several come to the same is held by the tests of the engine.
ELSEWHERE = ("--engine", "processes", "--workers", "1")


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    chats = {f"WhatsApp Chat with Mara {number}.txt": CHAT.format(number) for number in range(3)}
    return write_exports(tmp_path / "exports", chats)


def by_both(run: Any, tmp_path: Path, words: Sequence[str]) -> tuple[str, str]:
    """The command in this process and in another; what the first printed. Both write the same."""
    first = run(*words, "--out", "one")
    second = run(*words, "--out", "two", *ELSEWHERE)
    assert first[0] == second[0] == 1  # one input is broken
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert open_to_others(tmp_path / "two") == {}
    assert "note: broken.zip: the zip cannot be opened" in first[2]
    assert "tulips" not in "".join(map(str, first + second))
    return first[1], first[2]


def test_reports_and_all_findings_in_a_table(run: Any, tmp_path: Path, exports: Path) -> None:
    out, error = by_both(run, tmp_path, ("batch", "check", str(exports), "--fail-on", "never"))
    assert "warnings" in out and "3 of 4 in one" in error
    told = json.loads((tmp_path / "one" / "WhatsApp Chat with Mara 1.json").read_text())
    alone = run(f"check '{exports}/WhatsApp Chat with Mara 1.txt' --json")
    assert told == json.loads(alone[1]), "the report that the command prints of one"
    findings = pl.read_parquet(tmp_path / "one" / "findings.parquet")
    assert findings.columns[:2] == ["part", "input"]
    assert set(findings["input"]) == {f"WhatsApp Chat with Mara {n}.txt" for n in range(3)}
    assert "left-over" in set(findings["rule"])
    figures = pl.read_parquet(tmp_path / "one" / "parts.parquet")["figures"].struct.unnest()
    assert figures["warnings"].drop_nulls().to_list() == [1, 1, 1]


def test_the_status_says_whether_something_was_found(run: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "odd.txt").write_text(CHAT.format(1), "utf-8")
    words = "batch check in --out checks --json"
    status, out, _ = run(words)
    assert (status, json.loads(out)["done"], json.loads(out)["failed"]) == (1, 1, 0)
    assert run(f"{words} --fail-on error")[0] == 0


def test_what_a_job_wrote_can_be_given_on(run: Any, tmp_path: Path, exports: Path) -> None:
    run(f"batch read {exports} --out corpora")
    status, out, error = run("batch check corpora --out checks --json")
    parts = json.loads(out)["parts"]
    assert (status, len(parts)) == (1, 3) and "3 of 3" in error
    assert parts[0]["figures"]["format"] == "whatsapp"
    # One stored corpus is one input, and a pattern may name the job's folder, too.
    assert run("batch check 'corpora/WhatsApp Chat with Mara 1' --out alone")[0] == 1
    assert len(list((tmp_path / "alone").glob("WhatsApp*.json"))) == 1
    assert run("batch check 'corp*' --out again")[0] == 1
    assert tree(tmp_path / "again") == tree(tmp_path / "checks")
    assert "nothing to read" in run("batch check checks --out checks").wrong


def test_redacted_corpora_name_nobody(run: Any, tmp_path: Path, exports: Path) -> None:
    words = ("batch", "redact", str(exports), "--names", "Aunt Fay")
    _, error = by_both(run, tmp_path, words)
    assert "3 of 4 in one" in error
    places = sorted(path.name for path in (tmp_path / "one").iterdir() if path.is_dir())
    assert places == ["corpus-1", "corpus-2", "corpus-3"], "exports are named after people"
    for place in places:
        files = tree(tmp_path / "one" / place)
        assert not any(b"Mara" in data or b"Theo" in data for data in files.values())
        message = open_reading(tmp_path / "one" / place).reading.corpus.chats[0].messages[1]
        assert (message.speaker, message.text) == ("Person2", "show me, Person1")


def test_keys_lie_apart_from_what_is_shared(run: Any, tmp_path: Path, exports: Path) -> None:
    words = f"batch redact {exports / '*.txt'} --out shared"
    assert "name a folder outside of --out" in run(f"{words} --key shared/keys").wrong
    assert "3 of 3 in shared" in run(f"{words} --key keys").done.err
    keys = {path.name: json.loads(path.read_text()) for path in (tmp_path / "keys").iterdir()}
    assert sorted(keys) == [f"corpus-{number}.json" for number in (1, 2, 3)]
    assert keys["corpus-2.json"]["Person1"] == ["Mara", "mara"]
    assert open_to_others(tmp_path / "keys") == {}
    (tmp_path / "keys" / "corpus-2.json").unlink()
    assert (
        "keys: has no key of corpus-2; name the earlier folder" in run(f"{words} --key keys").wrong
    )
    assert run(words)[0] == 2, "other settings"


def test_one_page_per_input(run: Any, tmp_path: Path, exports: Path) -> None:
    words = ("batch", "report", str(exports), "--no-labels", "--anonymous")
    _, error = by_both(run, tmp_path, words)
    assert "3 of 4 in one" in error
    page = (tmp_path / "one" / "WhatsApp Chat with Mara 1.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "tulips came up" not in page


def test_the_same_in_python(tmp_path: Path, exports: Path) -> None:
    corpora = rt.batch(rt.read, exports, out=tmp_path / "corpora", reading=rt.Reading(gap="day"))
    assert (len(corpora), [name for name, _ in corpora.problems]) == (3, ["broken.zip"])
    assert repr(corpora) == f"<BatchResult in {tmp_path / 'corpora'}: 3 of 4 inputs>"
    assert corpora.report.worked == 4
    checks = rt.batch(
        rt.check,
        [corpora.folder],
        out=tmp_path / "checks",
        engine=rt.Engine("processes", workers=1),
    )
    assert checks.frame["input"].to_list() == [path.name for path in corpora.paths]
    with refused("unknown-function"):
        rt.batch("stats", exports, out="x")
    with refused("unknown-option"):
        rt.batch(rt.check, exports, out="x", guideline=True)
    with refused("names is one text"):
        rt.batch(rt.redact, exports, out="x", names="Fay")


# --- `batch read`: run again, and without Ray ---


def test_run_again_it_does_what_is_missing(run: Any, exports: Path) -> None:
    words = f"batch read {exports / '*.txt'} --out corpora --json"
    assert run(words).told["worked"] == 3
    (exports / "WhatsApp Chat with Mara 3.txt").write_text(CHAT.format(3), "utf-8")
    status, out, error = run(words)
    report = json.loads(out)
    assert (status, report["done"], report["failed"], report["worked"]) == (0, 4, 0, 1)
    assert report["parts"][3]["figures"]["messages"] == 4
    assert "4 of 4 in corpora (3 were there)" in error
    error = run(f"{words} --gap day").wrong
    assert "corpora: made with other settings (gap is 21600.0 there, day now)" in error
    assert run(f"{words} --gap day --fresh")[0] == 0


@pytest.mark.skipif(find_spec("ray") is not None, reason="ray is installed here")
def test_without_ray_its_cure_is_named(run: Any, exports: Path) -> None:
    error = run(f"batch read {exports} --out x --engine ray").wrong
    assert "--engine ray needs the extra 'ray'; install it with: " in error
    assert "[ray]" in error
