"""`realtalk mcp` as a process: what it writes, what it opens, how it ends, what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assistant_client import assistant
from protocol_lines import OPENING, call
from realtalk.assistant import server
from realtalk.assistant.answers import MOST_CHARACTERS
from realtalk.errors import MissingExtraError
from text_tables import cases

# Vectors are waited for however busy the machine is.
START = """
from realtalk.assistant import server
from realtalk.cli.main import main
server.PATIENCE = 600.0
main()
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", START, "mcp", "sample"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "REALTALK_CACHE": str(tmp_path)},
    ) as process:
        yield process
        process.kill()


def ask(process: subprocess.Popen[str], line: str) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    told: dict[str, Any] = json.loads(process.stdout.readline())
    return told


def assert_no_port(process: subprocess.Popen[str]) -> None:
    """As /proc tells what a process has open."""
    place = Path("/proc") / str(process.pid)
    links = [str(each.readlink()) for each in (place / "fd").iterdir()]
    sockets = {link[8:-1] for link in links if link.startswith("socket:")}
    known = {
        line.split()[9]
        for name in ("tcp", "tcp6", "udp", "udp6")
        for line in (place / "net" / name).read_text().splitlines()[1:]
    }
    assert links and not sockets & known


def test_only_the_protocol_is_written_and_the_end_of_input_is_the_end(
    running: subprocess.Popen[str],
) -> None:
    greeting = ask(running, OPENING[0])
    assert greeting["result"]["serverInfo"]["name"] == "realtalk"
    if sys.platform == "linux":
        assert_no_port(running)
    assert running.stdin is not None
    running.stdin.write(f"{OPENING[1]}\n")
    told = ask(running, call("list_chats"))
    assert not told["result"]["isError"]
    running.stdin.write("no protocol at all\n")  # and it goes on
    assert ask(running, call("search_messages", words="x", chat="nowhere"))["result"]["isError"]
    assert not ask(running, call("list_chats", limit=1))["result"]["isError"]
    # Half of a character, escaped, in any string of a request.
    for words in ("\ud83d", "bicycle \udc00\ud83d", "\ud83d\ud83d\ude00"):
        told = ask(running, call("search_messages", words=words))
        assert "error of ours" not in told["result"]["content"][0]["text"]
    strange = call("search_messages", words="x").replace("search_messages", "\\ud83d")
    assert ask(running, strange)["id"] == 2  # a tool of no such name, told
    rest, errors = running.communicate(timeout=60)  # closes its input
    assert (running.returncode, rest, errors) == (0, "", "")


@pytest.mark.parametrize(
    "given", ["whole \U0001f3fa", r"a backslash \ud83d", "half \ud83d, \udc00\ud83d"]
)
def test_half_of_a_character_is_replaced_and_the_rest_stays(given: str) -> None:
    read = json.loads(server.mend_line(json.dumps(given).encode()))
    assert read == given.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_an_assistant_that_goes_in_the_middle_is_not_kept_waiting(
    running: subprocess.Popen[str],
) -> None:
    """Its question is left behind, vectors half made; nobody is told a traceback."""
    ask(running, OPENING[0])
    assert running.stdin is not None
    running.stdin.write(f"{OPENING[1]}\n{call('recall', question='Who broke the bicycle?')}\n")
    rest, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (0, "")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())


@pytest.mark.slow  # as the test above, and waits as long
def test_whoever_hears_no_progress_is_not_left_without_a_word(
    running: subprocess.Popen[str],
) -> None:
    """A client without a token for progress gets an answer in time, and none by chance words."""
    ask(running, OPENING[0])
    assert running.stdin is not None
    running.stdin.write(f"{OPENING[1]}\n")
    told = ask(running, call("recall", question="Who broke the bicycle?"))
    assert '"searched_by":"meaning"' in told["result"]["content"][0]["text"]


@pytest.mark.slow
def test_a_long_message_is_cut_and_a_long_chat_has_pages(tmp_path: Path) -> None:
    lines = [{"chat": "c", "speaker": "Ida", "text": '"🎈' * 30_000, "time": "2026-03-02 10:00"}]
    lines += [
        {
            "chat": "c",
            "speaker": "Odo",
            "text": f"{at} " + "pear " * 300,
            "time": "2026-03-02 10:01",
        }
        for at in range(60)
    ]
    path = tmp_path / "long.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    with assistant(str(path)) as asked:
        page = asked("read_session", session=1, limit=200)
        assert len(page["messages"]) == 1 and page["messages"][0]["cut"] is True
        assert len(asked.heard[-1]) > MOST_CHARACTERS * 0.8
        texts, offset = [], page.get("next_offset")
        while offset is not None:
            page = asked("read_session", session=1, limit=200, offset=offset)
            texts += [row["text"].split()[0] for row in page["messages"]]
            offset = page.get("next_offset")
        assert texts == [str(at) for at in range(60)]
        found = asked("search_messages", words="pears", limit=200)
        assert found["total"] == 60 and all(row["cut"] for row in found["messages"])
        told = asked("recall", question="pears", budget="5000")
        assert 0 < told["tokens"] <= 5000


@cases("""
    words                   | why
    nowhere                 | no such file
    -                       | standard input is where the assistant asks
    sample --labels nowhere | no labels here
""")
def test_mistakes_are_one_line(run: Any, words: str, why: str) -> None:
    status, out, err = run(f"mcp {words}")
    assert status == 2 and out == ""
    assert why in err and err.count("\n") == 1


def test_a_missing_extra_names_its_cure(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[mcp\]'"):
        server.need_extra()
    status, out, err = run("mcp sample")
    assert (status, out, err.count("\n")) == (2, "", 1)
