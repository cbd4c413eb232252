"""Commands that name no model reach nothing outside this machine and write where they were told.

Each runs under strace in a home of its own, whose profile asks every library to report.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import OfflineModeIsEnabled

from file_modes import open_to_others
from judge_server import JudgeServer
from paper_chats import write_data
from protocol_lines import OPENING, call
from realtalk.files.offline import SWITCHES, no_hub
from studio_server import entered
from traced import COMMANDS, Done, World, why_not

needs_strace = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    chats = write_data(made.root / "data", chats=3) / "realtalk"
    answers = [{"chat": path.stem, "id": "Q1", "answer": "pears"} for path in chats.iterdir()]
    lines = "\n".join(json.dumps(each) for each in answers)
    (made.root / "data" / "answers.jsonl").write_text(lines, "utf-8")
    return made


def refuse(done: Done) -> None:
    assert done.reached == [], done.said
    assert done.written == [], done.said
    assert done.temporary == [], done.said


CHAINS = {
    "corpora": (
        "read {chats} --out {out}/stored",
        "export {out}/stored --to sheet --out {out}/sheets",
        "export {out}/stored --to jsonl --out {out}/lines.jsonl",
        "check {out}/stored --all",
        "redact {out}/stored --out {out}/shared --key {out}/key.json",
        "stats {out}/stored",
        "cache list",
        "data list",
        "models list",
    ),
    "labels": (
        "ei {chats} --out {out}/labels",
        "runs compare {out}/labels {out}/labels",
        "ei consistency {out}/labels",
        "runs compare {out}/labels sample",
        "persona turns {chats} --labels {out}/labels",
        "persona run {chats} --limit 2 --labels {out}/labels --out {out}/one",
        "persona run {chats} --limit 2 --simulator constant --out {out}/other",
        "runs table {out}/one {out}/other",
        "runs share {out}/one --out {out}/told",
        "report {out} --out {out}/report.html",
        "report {chats} --quick --out {out}/own.html",
    ),
    "memory": (
        "probe {chats}",
        "probe {chats} --budget 50 --out {out}/one",
        "probe {chats} --budget 50 --memory recent --out {out}/other",
        "runs compare {out}/one {out}/other",
        "runs rescore {out}/one {chats}",
        "probe contexts {chats} --memory recent --budget 50 --out {out}/contexts.jsonl",
        "probe score {chats} {data}/answers.jsonl --out {out}/scored",
        "threads samples sample-threads",
        "threads run sample-threads --predictor regression --limit 10 --train-limit 20"
        " --setting p-conv --out {out}/threads",
        "runs table {out}/threads",
    ),
}
LONG = (
    "demo --out {out}/demo",
    "stats {chats} --figures {out}/activity",
    "ei sample --out {out}/labels --figures {out}/pictures",
    "sweep probe {chats} --set memory=recent,retrieved --set budget=20,50 --out {out}/sweep",
    "sweep simulate {chats} --set context_sessions=1,2 --set limit=2 --out {out}/context",
    "runs table {out}/demo/threads/majority --figures {out}/radar",
)


def go(world: World, lines: Sequence[str]) -> None:
    """Runs lines in one process to a good end; nothing is reached or written elsewhere."""
    named = {"out": world.out, "data": world.root / "data", "chats": world.root / "data/realtalk"}
    done = world.run(*(line.format(**named) for line in lines), command=COMMANDS)
    refuse(done)
    assert done.status == 0, done.said
    assert open_to_others(world.out) == {}
    assert open_to_others(world.home) == {}


@needs_strace
@pytest.mark.parametrize(
    "chain",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("labels", "memory")))
        for name in CHAINS
    ],
)
def test_nothing_is_reached_and_nothing_written_elsewhere(world: World, chain: str) -> None:
    go(world, CHAINS[chain])


@needs_strace
@pytest.mark.slow
@pytest.mark.parametrize("chain", [*CHAINS, "long"])
def test_nor_by_any_command_in_a_process_of_its_own(world: World, chain: str) -> None:
    """Among them some that take longer than the nine seconds that ONNX Runtime waits."""
    for line in CHAINS.get(chain, LONG):
        go(world, (line,))


@needs_strace
def test_the_studio_until_its_page_answers(world: World) -> None:
    seen = []

    def visit(line: str) -> None:
        with entered(line.partition("studio: ")[2].strip()) as client:
            for page in ("/", "/chat/1", "/chat/1/search?q=pears", "/chat/1/strips"):
                seen.append(client.get(page).raise_for_status().text)

    done = world.run(
        *("studio", str(world.root / "data" / "realtalk"), "--no-browser", "--annotator", "Ana"),
        *("--annotations", str(world.out / "notes.sqlite")),
        until=visit,
    )
    refuse(done)
    assert "Emi" in seen[0] and "everything was saved" in done.said
    assert open_to_others(world.out) == {}
    assert open_to_others(world.home) == {}


@needs_strace
@pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
def test_an_assistant_that_asks_everything(world: World) -> None:
    chats = str(world.root / "data" / "realtalk")
    questions = (
        call("list_chats"),
        call("search_messages", words="pears"),
        call("search_messages", words="pears", by="meaning"),
        call("recall", question="Who likes pears?"),
        call("chat_statistics"),
        call("feelings", most_turns=5),
    )
    done = world.run("mcp", chats, asked=(*OPENING, *questions))
    refuse(done)
    assert done.status == 0 and done.said.count('"isError":false') == len(questions), done.said
    assert open_to_others(world.home) == {}


@pytest.mark.slow
@needs_strace
def test_a_named_model_is_all_that_is_reached(world: World) -> None:
    """And its answers, which Inspect keeps, are nobody else's to read."""
    words = f"probe {world.root}/data/realtalk --limit 1 --out {world.out}/run --model"
    with JudgeServer(lambda _: "pears") as server:
        done = world.run(*words.split(), "openai-api/local/tiny", "--base-url", server.url)
        assert (done.status, len(server.prompts())) == (0, 1), done.said
    refuse(done)
    assert list((world.home / ".cache" / "realtalk" / "answers").rglob("*"))
    assert open_to_others(world.out) == open_to_others(world.home) == {}


@needs_strace
@pytest.mark.parametrize(
    "first",
    [
        pytest.param("realtalk.tasks", marks=pytest.mark.slow),
        pytest.param("inspect_ai", marks=pytest.mark.slow),
        "realtalk.encoders.pairs",
    ],
)
def test_whatever_is_imported_first(world: World, first: str) -> None:
    code = (
        f"import {first}, subprocess, sys\n"
        "from realtalk.encoders.sentences import SentenceEncoder\n"
        "import onnxruntime\n"
        "SentenceEncoder().embed(['the ferry was late'])\n"
        "subprocess.run([sys.executable, '-c', 'import onnxruntime'], check=True)\n"
    )
    done = world.run(command=(sys.executable, "-W", "error::RuntimeWarning", "-c", code))
    assert done.status == 0, done.said
    refuse(done)


@needs_strace
def test_the_trace_sees_what_it_looks_for(world: World) -> None:
    """A connection, a look-up, a file at home, one left in the temporary folder."""
    code = (
        "import os, pathlib, socket, tempfile\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.53', 53))\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', 9))\n"
        "pathlib.Path.home().joinpath('x').write_text('x'); tempfile.mkstemp()\n"
    )
    done = world.run(command=(sys.executable, "-c", code))
    assert len(done.reached) == 2 and "192.0.2.1" in done.reached[0] and "53" in done.reached[1]
    assert done.written == [str(world.home / "x")] and len(done.temporary) == 1


def test_the_switches_are_set_whatever_was_set() -> None:
    code = "import json, os, realtalk, sys; json.dump(dict(os.environ), sys.stdout)"
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0", "MEM0_TELEMETRY": "True"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert SWITCHES.items() <= json.loads(done.stdout).items()


def test_a_library_that_reports_already_is_told() -> None:
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    code = "import sys; sys.modules['onnxruntime'] = sys; import realtalk"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert b"import realtalk first, or set ORT_DISABLE_TELEMETRY=1" in done.stderr
    environment["ORT_DISABLE_TELEMETRY"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=True
    )
    assert done.stderr == b""


def test_a_folder_is_read_without_the_hub() -> None:
    before = constants.HF_HUB_OFFLINE
    with no_hub(), pytest.raises(OfflineModeIsEnabled):
        HfApi(endpoint="http://127.0.0.1:9").model_info("somebody/model")
    assert before == constants.HF_HUB_OFFLINE
