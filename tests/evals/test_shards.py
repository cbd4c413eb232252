"""Runs in pieces: joined they are the undivided run; what is missing or doubled is named."""

from __future__ import annotations

import errno
import gc
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from judge_server import Call, JudgeServer
from killed_runs import kill_at, started
from persona_chats import chat, ines_choice, light_scorer
from realtalk.errors import RealtalkError
from realtalk.evals import RunFolder
from realtalk.evals.shards import Shard
from realtalk.persona.benchmark import run_persona
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import tasks_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]
PIECES = 3


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    yield
    gc.collect()


def probed(out: Path, **given: Any) -> rt.Run:
    settings = {"memory": "recent", "budget": "200,100w", "reader": "none"}
    return rt.probe("sample", **{**settings, "out": out, **given})


def simulated(out: Path, shard: str | None = None) -> rt.Run:
    """Two people who know each other from two places: each is a stage of its own."""
    script = (("Ines", "haha the oven broke"), ("Tobias", "oh no, again?"))
    first = datetime(2026, 5, 4, 9, 0)
    chats = tuple(chat(name, script, 3, first) for name in ("Oven", "Boat"))
    corpus = rt.Corpus("bakery", "realtalk", chats)
    choices = [replace(ines_choice(3), speaker=name) for name in ("Ines", "Tobias")]
    piece = None if shard is None else Shard.parse(shard)
    record = run_persona(
        corpus,
        tasks_of(corpus, choices),
        Constant(),
        out,
        scorer=light_scorer(corpus),
        shard=piece,
    )
    return rt.Run("persona simulation", record)


def predicted(out: Path, **given: Any) -> rt.Run:
    return rt.predict("sample-threads", setting="all", predictor="mean", out=out, **given)


def sharded(make: Any, out: Path, of: int = PIECES, **given: Any) -> list[rt.Run]:
    return [make(out, shard=f"{number}/{of}", **given) for number in range(1, of + 1)]


def differing(one: Path, other: Path) -> list[str]:
    """Files of two runs that differ, but for the times, which are the machine's."""
    paths = [path for folder in (one, other) for path in folder.iterdir() if path.is_file()]
    names = sorted({path.name for path in paths if "timings" not in path.name})
    return [
        name
        for name in names
        if not all((folder / name).is_file() for folder in (one, other))
        or (one / name).read_bytes() != (other / name).read_bytes()
    ]


@pytest.mark.parametrize("make", [probed, simulated, predicted])
def test_shards_joined_are_the_undivided_run(make: Any, tmp_path: Path) -> None:
    whole = make(tmp_path / "whole")
    pieces = sharded(make, tmp_path / "pieces")
    assert sum(map(len, pieces)) == len(whole)
    assert sum(len(piece) > 0 for piece in pieces) > 1
    joined = rt.merge(tmp_path / "pieces")
    assert differing(tmp_path / "pieces", tmp_path / "whole") == []
    assert joined.summary().frame.equals(whole.summary().frame)
    assert joined.kind == whole.kind and joined.rows == whole.rows


def test_samples_are_shared_out_evenly_and_in_order() -> None:
    sizes = [[32, 32, 8], [40], [32, 1], [5]]
    for of in (1, 2, 3, 7, 16, 100):
        places = [Shard(number, of).share(sizes) for number in range(1, of + 1)]
        assert [place for share in places for place in share] == list(range(150))
        assert max(map(len, places)) <= 150 / of + 40
    assert Shard.parse(" 3/16 ") == Shard(3, 16)
    assert Shard(3, 16).folder(Path("out")) == Path("out/shards/03-of-16")


@pytest.mark.parametrize("text", ["0/4", "5/4", "3", "3/0", "a/b", "-1/2", "1/2/3", ""])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(RealtalkError, match="is no shard; write --shard 3/16"):
        Shard.parse(text)


def test_a_shard_needs_the_folder_of_all() -> None:
    with pytest.raises(RealtalkError, match="--out FOLDER"):
        rt.probe("sample", shard="1/2")


def answer(call: Call) -> str:
    if "VERDICT" in call.prompt.upper() or "CORRECT" in call.prompt.upper():
        return "CORRECT" if len(call.prompt) % 2 else "WRONG"
    return f"on day {len(call.prompt) % 28 + 1}"


@pytest.mark.slow
def test_a_model_and_a_judge_are_asked_as_often_as_in_one_piece(tmp_path: Path) -> None:
    """The questions of one chat are shared out too: the whole conversation costs nothing."""
    given = {"memory": "whole", "budget": None, "reader": None, "limit": 40}
    with JudgeServer(answer) as server:
        given |= {"model": "openai-api/tiny/one", "base_url": server.url}

        def run(place: str, shard: str | None, cache: str) -> rt.Run:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("REALTALK_CACHE", str(tmp_path / cache))
                return probed(tmp_path / place, judge="same", shard=shard, **given)

        whole = run("whole", None, "a")
        asked = len(server.calls)
        assert asked == 3 * 40
        pieces = [run("pieces", f"{number}/2", f"b{number}") for number in (1, 2)]
        assert len(server.calls) == 2 * asked
    assert sum(map(len, pieces)) == 40
    joined = rt.merge(tmp_path / "pieces")
    # Judgements are kept as they come; their table is in order.
    assert differing(tmp_path / "pieces", tmp_path / "whole") in ([], ["judgements.jsonl"])
    assert joined.record.judgements == whole.record.judgements
    assert joined.summary().frame.equals(whole.summary().frame)


@pytest.mark.slow
def test_replies_of_one_setting_are_shared_out(tmp_path: Path) -> None:
    given: dict[str, Any] = {"predictor": None, "setting": "p-conv", "limit": 100}
    with JudgeServer(lambda call: "positive") as server:
        given |= {"model": "openai-api/tiny/one", "base_url": server.url}
        given |= {"task": "sentiment"}
        pieces = [
            rt.predict("sample-threads", out=tmp_path, shard=f"{n}/2", **given) for n in (1, 2)
        ]
    sizes = list(map(len, pieces))
    assert min(sizes) > 0 and max(sizes) - min(sizes) <= 32
    assert len(rt.merge(tmp_path)) == sum(sizes)


@pytest.mark.slow
def test_a_missing_and_an_unfinished_shard_are_named(tmp_path: Path) -> None:
    sharded(probed, tmp_path, 16)
    shutil.rmtree(tmp_path / "shards" / "07-of-16")
    with pytest.raises(RealtalkError) as caught:
        rt.merge(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: shard 7 of 16 is missing; run again with --shard 7/16"
    )
    about = tmp_path / "shards" / "03-of-16" / "run.json"
    about.write_text(about.read_text("utf-8").replace("true", "false"), "utf-8")
    shutil.rmtree(tmp_path / "shards" / "16-of-16")
    with pytest.raises(RealtalkError, match=r"shards 7 and 16 of 16 are missing, shard 3 of 16 is"):
        rt.merge(tmp_path)
    assert not (tmp_path / "run.json").exists()
    for number in (3, 7, 16):
        probed(tmp_path, shard=f"{number}/16")
    assert len(rt.merge(tmp_path)) == 102


def test_a_doubled_shard_is_named(tmp_path: Path) -> None:
    sharded(probed, tmp_path, 2)
    shards = tmp_path / "shards"
    shutil.copytree(shards / "1-of-2", shards / "copy")
    with pytest.raises(RealtalkError, match=r"shard 1 of 2 is there twice \(1-of-2 and copy\)"):
        rt.merge(tmp_path)
    shutil.rmtree(shards / "copy")
    # Rows that came in by hand.
    rows = [(shards / name / "rows.jsonl") for name in ("1-of-2", "2-of-2")]
    lines = [path.read_text("utf-8").splitlines(keepends=True) for path in rows]
    rows[1].write_text("".join([lines[0][0], *lines[1][1:]]), "utf-8")
    with pytest.raises(RealtalkError, match="2-of-2: has a row of rows that is in an earlier"):
        rt.merge(tmp_path)
    rows[1].write_text("".join(lines[1][1:]), "utf-8")
    with pytest.raises(RealtalkError, match=r"has \d+ rows, not \d+; run again with --shard 2/2"):
        rt.merge(tmp_path)


def test_shards_of_other_settings_are_refused(tmp_path: Path) -> None:
    probed(tmp_path, shard="1/2")
    probed(tmp_path, shard="2/2", budget="300")
    with pytest.raises(RealtalkError, match=r"2-of-2: made with other settings \(budgets is \['3"):
        rt.merge(tmp_path)
    probed(tmp_path, shard="2/2", fresh=True)
    probed(tmp_path, shard="3/3")
    with pytest.raises(RealtalkError, match=r"3-of-3: .*shards is 3 there, 2 in 1-of-2"):
        rt.merge(tmp_path)
    shutil.rmtree(tmp_path / "shards" / "3-of-3")
    with pytest.raises(RealtalkError, match="shards of memory probing, not of thread tasks"):
        rt.merge(tmp_path, kind="thread tasks")
    rt.merge(tmp_path)
    with pytest.raises(RealtalkError, match="has its run already; join the shards anew"):
        rt.merge(tmp_path)
    assert len(rt.merge(tmp_path, fresh=True)) == 102


def test_no_shards_and_other_folders(tmp_path: Path) -> None:
    with pytest.raises(RealtalkError, match="no shards here"):
        rt.merge(tmp_path)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(RealtalkError, match=r"holds letter\.txt but no run\.json"):
        probed(tmp_path, shard="1/2")
    (tmp_path / "shards" / "1-of-2").mkdir(parents=True)
    (tmp_path / "shards" / "1-of-2" / "run.json").write_text("{}")
    with pytest.raises(RealtalkError, match="not a run's settings"):
        rt.merge(tmp_path)


SCRIPT = """
import sys
from pathlib import Path
import realtalk as rt

out = Path(sys.argv[1]).parents[1]
rt.probe("sample", "recent", budget="200,100w", reader="none", out=out, shard="2/2")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_shard_goes_on(tmp_path: Path) -> None:
    probed(tmp_path / "whole")
    out = tmp_path / "pieces"
    probed(out, shard="1/2")
    place = out / "shards" / "2-of-2"
    there = kill_at(5, SCRIPT, place)
    with pytest.raises(RealtalkError, match="shard 2 of 2 is not finished"):
        rt.merge(out)
    assert started(SCRIPT, place).wait() == 0
    assert (place / "rows.jsonl").read_bytes().startswith(there)  # nothing is asked again
    rt.merge(out)
    assert differing(out, tmp_path / "whole") == []


def test_a_file_system_without_locks_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with RunFolder.open(tmp_path, "test", {}) as run:
        run.table("rows", ("sample",)).add({"sample": "one"})
    assert (tmp_path / "rows.jsonl").read_bytes() == b'{"sample":"one"}\n'


def test_more_shards_than_speakers_leave_some_empty(tmp_path: Path) -> None:
    simulated(tmp_path / "whole")
    pieces = sharded(simulated, tmp_path / "pieces", 5)
    assert [len(piece) for piece in pieces].count(0) == 3
    rt.merge(tmp_path / "pieces")
    assert differing(tmp_path / "pieces", tmp_path / "whole") == []


def test_the_command(run: Any, tmp_path: Path) -> None:
    words = ("threads", "sample-threads", "--limit", "20", "--setting", "p-conv,np-conv")
    for number in (1, 2):
        status, out, err = run(*words, "--out", "all", "--shard", f"{number}/2", "--json")
        assert status == 0
        assert json.loads(out)["finished"] is True
        assert f"shard {number} of 2" in err and "realtalk threads merge all" in err
    status, out, _ = run("threads", "merge", "all")
    assert status == 0 and "p-conv" in out
    status, _, err = run("probe", "merge", "all", "--fresh")
    assert (
        status == 2 and err.strip() == "error: all: shards of thread tasks, not of memory probing"
    )
    assert (tmp_path / "all" / "rows.parquet").is_file()
