"""The command as a person meets it: help, errors, exit statuses, JSON, and the demo."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from realtalk.cli.demo import _Demo
from realtalk.evals import running
from realtalk.formats.opening import open_reading
from research.results.command_reference import reference
from text_tables import cases

REPO = Path(__file__).parents[2]


def test_reference_is_fresh() -> None:
    written = (REPO / "docs" / "reference.md").read_text("utf-8")
    assert written == reference(), "run `make docs`"


def test_version_and_no_arguments(run: Any) -> None:
    assert run("--version")[1].startswith("realtalk 0.")
    _, out, err = run()
    assert "read" in out + err
    assert "realtalk demo" in run("--help")[1]


@cases(r"""
    words                                    | line
    stats nowhere.zip                        | "error: nowhere.zip: no such file or folder; check the path\n"
    stats ''                                 | the path is empty
    stats sample --gap soon                  | write --gap 6h
    stats sample --timezone Mars/Base        | unknown time zone
    read sample --column speaker             | write --column KEY=VALUE
    ei sample --measures judge --out x       | the judge needs a model
    ei sample --model openai/gpt-4o-mini     | --model is not for --measures embedded
    ei sample --measures hub --prompts x     | --prompts is not for --measures hub
    ei consistency other.parquet             | has other columns than labels
    probe sample --memory recent --reader llm | needs a model
    probe sample --reader none --model a/b   | asks no model
    probe sample --memory whole --budget 1000 | the memory whole takes no budget
    probe contexts sample -m recent -o .     | is a folder
    probe score sample empty.jsonl           | holds no answer
    probe sample --memory recent --prompts x | --prompts is for a language
    probe sample --memory recent --max-tokens 9 | --max-tokens is for a language
    probe sample --model a/b --max-tokens 0  | --max-tokens must be 1 or more
    probe sample --rate 5/s                  | --rate is for a language model
    probe which sample --budget 1000         | --budget 250w,1000w
    ei sample --rate 5/s                     | --rate is not for --measures embedded
    threads sample-threads --rate 5/s        | leave --rate or --predictor out
    threads run sample-threads --task sentimant | did you mean 'sentiment'
    threads run sample-threads --setting ,   | no setting is named
    threads run sample-threads -p llm        | needs a model
    threads run sample-threads -p mean --model a/b | asks no model
    threads run sample-threads -p mean --base-url http://x | leave --base-url or --predictor out
    sweep predict sample-threads --out s --set limit | 'limit' is not KEY=VALUE
    sweep predict sample-threads --out s --set limit=1,x | 'x' is no whole number
    sweep predict sample-threads --out s --set out=a,b | 'out' is not to be swept
    sweep predict sample-threads --out s --set limit=1 --set limit=2 | 'limit' is set twice
    sweep predict sample-threads --out s --set predictor=mean --set scales=raw,log | unknown setting of the predictor
    sweep predict sample-threads --out s     | --set
""")  # noqa: E501
def test_a_wrong_call_is_one_line(run: Any, tmp_path: Path, words: str, line: str) -> None:
    (tmp_path / "empty.jsonl").write_text("\n", "utf-8")
    pl.DataFrame({"chat": [1]}).write_parquet(tmp_path / "other.parquet")
    found = run(words)
    assert line in found.wrong and found.out == ""


def test_anything_else_is_a_bug(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("realtalk.formats.opening.open_reading", broken)
    with pytest.raises(ZeroDivisionError):
        run("stats sample")


def test_an_interruption_is_one_line(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("realtalk.formats.store._provenance", interrupted)
    status, _, err = run("read sample --out stored")
    assert status == 130 and err.endswith("\ninterrupted; nothing was left half written\n")
    assert not list(tmp_path.iterdir())


def test_an_interruption_says_how_much_is_kept(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = running._Sitting.solve
    stages: list[Any] = []

    def interrupted(sitting: Any, stage: Any) -> None:
        if stages:
            raise KeyboardInterrupt
        stages.append(stage)
        solve(sitting, stage)

    monkeypatch.setattr(running._Sitting, "solve", interrupted)
    words = ("probe", "sample", "--memory", "recent", "--out", "run")
    for more, advice in (((), ""), (("--fresh",), " without --fresh")):
        stages.clear()
        status, _, err = run(*words, *more)
        rows = len(Path("run/rows.jsonl").read_text("utf-8").splitlines())
        line = f"interrupted: {rows} rows kept in run; run the same command{advice} to continue"
        assert (status, err.splitlines()[-1]) == (130, line) and rows > 5
    monkeypatch.setattr(running._Sitting, "solve", solve)
    assert run(*words)[0] == 0
    assert len(Path("run/rows.jsonl").read_text("utf-8").splitlines()) > rows


def test_read_stores_and_says_where(run: Any, tmp_path: Path) -> None:
    _, out, err = run("read sample").done
    assert not list(tmp_path.iterdir())
    assert "Chat_2_Mara_Juno" in out
    assert "649 entries = 649 in messages + 0 system + 0 left over" in err
    assert "nothing was stored" in err
    about = run("read sample --json --out stored").told
    assert about["messages"] == 649 and about["format"] == "realtalk"
    assert about["folder"] == "stored"
    assert run("stats stored --json")[1] == run("stats sample --json")[1]


def test_check_status(run: Any, tmp_path: Path) -> None:
    assert run("check sample")[0] == 0
    assert run("check sample --fail-on note")[0] == 1
    data = run("check sample --json").told
    assert data["counts"] == {"alias": 1}
    bad = {
        "name": {"speaker_1": "A", "speaker_2": "B"},
        "session_1": [{"clean_text": "x", "speaker": "A", "dia_id": "D1:1", "date_time": ""}] * 2,
        "qa": [{"question": "?", "answer": "x", "evidence": ["D9:9"], "category": 1}],
    }
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    status, out, _ = run("check bad.json --all")
    assert status == 1
    assert "duplicate-id" in out and "D9:9" in out
    assert run("check bad.json --fail-on never")[0] == 0


def test_redact_waits_for_a_ticked_table_and_restores(run: Any, pears: str, tmp_path: Path) -> None:
    words = f"redact {pears} --out shared --key key.json --review names.csv"
    assert "nothing else was written" in run(words).done.err
    assert not (tmp_path / "shared").exists() and not (tmp_path / "key.json").exists()
    assert (tmp_path / "names.csv").stat().st_mode & 0o077 == 0
    table = tmp_path / "names.csv"
    table.write_text(table.read_text("utf-8").replace("replace,Bex,", "keep,Bex,"), "utf-8")
    _, out, err = run(words).done
    assert not any(name in out + err for name in ("Bex", "Juno", "Mara"))
    messages = open_reading(tmp_path / "shared").reading.corpus.chats[0].messages
    assert messages[1].text.startswith("Bex took ") and "Juno" not in messages[1].text
    assert run("redact shared --restore key.json --out again")[0] == 0
    assert "Mara" in (tmp_path / "again" / "corpus.json").read_text("utf-8")


def test_the_table_needs_no_folder_and_a_missing_key_is_said_to_be_missing(
    run: Any, pears: str
) -> None:
    assert (
        "run the same command again with --out DIR"
        in run(f"redact {pears} --review names.csv").done.err
    )
    assert (
        "nothing was stored: --out DIR stores it"
        in run(f"redact {pears} --review names.csv").done.err
    )
    assert run(f"redact {pears} --out shared --key key.json")[0] == 0
    err = run("redact shared --restore keys.json --out again").wrong
    assert err == "error: keys.json: there is no such key file\n"
    assert "is no key that restores" in run("redact shared --restore names.csv --out again").wrong


def test_export_says_what_the_format_cannot_keep(run: Any) -> None:
    status, out, err = run("export sample --to csv --out csv")
    assert (status, out) == (0, "")
    assert "csv could not keep: " in err and "events 68, questions 51" in err
    assert "could not keep" not in run("export sample --to jsonl --out all")[2]
    told = run("export sample --to csv --out csv --json").told
    assert (told["folder"], told["format"]) == ("csv", "csv")
    assert told["lost"]["events"] == 68 and len(told["files"]) == 1


def test_redact_as_json_tells_counts_and_no_names(run: Any, pears: str, tmp_path: Path) -> None:
    status, out, err = run(f"redact {pears} --out shared --key key.json --json")
    told = json.loads(out)
    assert status == 0 and told["messages"] == 4
    assert told["found"]["person"] >= 3 and "Mara" not in out + err
    assert (tmp_path / "key.json").stat().st_mode & 0o077 == 0


def test_the_key_is_never_open_to_others(
    run: Any, pears: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    replace = Path.replace

    def seen(path: Path, target: Path) -> Path:
        if target.name == "key.json":
            modes.append(path.stat().st_mode & 0o777)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", seen)
    before = os.umask(0)
    try:
        assert run(f"redact {pears} --out shared --key key.json")[0] == 0
    finally:
        os.umask(before)
    assert modes == [0o600]  # before it has its name, not only after
    assert (tmp_path / "key.json").stat().st_mode & 0o777 == 0o600


def test_a_chat_through_a_pipe(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = "12/01/2024, 22:07 - Mara: hi\n13/01/2024, 22:07 - Theo: x\n"
    for said in (chat, ""):
        reading, writing = os.pipe()
        os.write(writing, said.encode())
        os.close(writing)
        with os.fdopen(reading) as pipe:
            monkeypatch.setattr(sys, "stdin", pipe)
            status, out, err = run("stats - --json")
        if said:
            assert json.loads(out)["format"] == "whatsapp"
    assert (status, err) == (2, "error: standard input: nothing came through the pipe\n")


@pytest.mark.slow  # half a minute; `bench/figures.py` compares its tables too
def test_demo(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, out, err = run("demo").done
    assert (out + err).count("\n") <= 60
    assert "Chat_1_Mara_Theo" in out and "everything is in demo/" in err
    for name in ("sample", "sample-simulated", "sample-threads"):
        assert (tmp_path / "demo" / "tables" / f"{name}-corpus.csv").stat().st_size > 100
        assert (tmp_path / "demo" / "corpora" / name / "messages.parquet").exists()
    assert (tmp_path / "demo" / "figures" / "response_gaps.png").stat().st_size > 10_000
    page = (tmp_path / "demo" / "report.html").read_text("utf-8")
    assert '<body class="chat">' in page and "Theo" in page and "Juno" not in page
    assert (tmp_path / "demo" / "runs.html").stat().st_size < 6_000_000


@pytest.mark.parametrize("all_tables", [False, True])
def test_the_demo_prints_what_is_most_telling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], all_tables: bool
) -> None:
    demo = _Demo({}, tmp_path, all=all_tables)
    demo.table("findings", "what holds here", ("finding", "verdict"), [("a", "holds")])
    headings = ("score", "users", "p-nonconv", "p-conv", "difference")
    rows = [(f"score {number}", 18, 0.1, 0.2, 0.1) for number in range(9)]
    demo.table("threads-gain", "what it is worth", headings, rows)
    out = capsys.readouterr().out
    assert ("what holds here" in out, "users" in out, "score 8" in out) == (all_tables,) * 3
    assert "score 4" in out and len((tmp_path / "tables/threads-gain.csv").read_text("utf-8")) > 99


def test_published_figures(run: Any, data: Path) -> None:
    """§5.1 and Table 1, to the paper's digits, by the command a user would type."""
    stats = run(f"stats {data / 'realtalk'} --json").told
    assert stats["chats"] == 10
    assert round(stats["messages_per_chat"], 1) == 894.4
    assert round(stats["sessions_per_chat"], 1) == 21.9
    assert round(stats["words_per_chat"], 1) == 17109.8
    assert stats["turns"] == 3874
    gap = stats["response_gap_minutes"]
    assert (round(gap["mean"], 2), round(gap["median"], 2)) == (20.98, 2.22)
    assert round(gap["max"] / 60, 2) == 27.90
    runs = stats["consecutive_messages"]
    assert (round(runs["mean"], 2), runs["median"], runs["max"]) == (2.31, 2, 68)
    questions = stats["questions"]
    assert questions["total"] == 728
    assert [questions[k] for k in ("multi_hop", "temporal", "commonsense")] == [301, 319, 108]
