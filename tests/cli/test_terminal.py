"""Whatever people, chats, files and archive members are called, it only shows in a terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shlex
import sys
import threading
import zipfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from realtalk.chat import Chat, Corpus
from realtalk.cli import main as command
from realtalk.cli.commands import COMMANDS
from realtalk.formats.opening import open_reading
from realtalk.formats.registry import FORMATS

# A window's title, a link, a blinking background, C1's own escape, backspaces, a line of its own,
# an override and an isolate that turn the line around, and what rich takes for markup or emoji.
STEERING = (
    "\x1b]0;owned\x07\x1b]8;;http://evil.example\x1b\\\x1b[41;5m\x9b41;5m\x08\x08\rforged\n"
    "\u202e\u2066[blink][link=http://evil.example]:bomb:"
)
FORBIDDEN = ("\x1b]", "\x1b[41;5m", "\x9b", "\x08", "\x07", "\u202e", "\u2066", "💣")
ONCE = "--labels labels --simulator constant --limit 1"
OWN = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")  # the colours and bars of our own tables


def hostile(corpus: Corpus) -> Corpus:
    """A corpus in which every name and every text tries."""

    def renamed(chat: Chat) -> Chat:
        names = {name: f"{name}{STEERING}" for name in chat.speakers}
        return replace(
            chat,
            id=f"{chat.id}{STEERING}",
            speakers=tuple(names.values()),
            sessions=tuple(
                replace(
                    session,
                    messages=tuple(
                        replace(m, speaker=names[m.speaker], text=f"{m.text} {STEERING}")
                        for m in session.messages
                    ),
                )
                for session in chat.sessions
            ),
            events=tuple(
                replace(e, speaker=names.get(e.speaker or ""), text=f"{e.text}{STEERING}")
                for e in chat.events
            ),
            questions=tuple(
                replace(q, category=f"{q.category}{STEERING}", unresolved=(STEERING,))
                for q in chat.questions[:6]
            ),
            aliases=tuple(
                replace(a, name=STEERING, speaker=names[a.speaker]) for a in chat.aliases
            ),
        )

    return replace(corpus, name=STEERING, chats=tuple(map(renamed, corpus.chats)))


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a hostile chat, hostile threads and a damaged archive, all ill named."""
    folder = tmp_path_factory.mktemp("terminal")
    write = FORMATS["jsonl"].write
    assert write is not None
    talk = open_reading("sample").reading.corpus
    short = tuple(replace(chat, sessions=chat.sessions[:5]) for chat in talk.chats)
    write(hostile(replace(talk, chats=short)), folder / "talk.jsonl")
    threads = json.loads(
        (files("realtalk.formats") / "samples/sample-threads/threads.json").read_text("utf-8")
    )
    spelled = json.dumps(threads)
    for author in list(threads)[:20]:
        spelled = spelled.replace(json.dumps(author), json.dumps(f"{author}{STEERING}"))
    (folder / "threads.json").write_text(spelled, "utf-8")
    named = STEERING.replace("/", "")
    chat = "12/01/2024, 22:07 - Mara: hi\n13/01/2024, 22:07 - Theo: x\nno header\n"
    (folder / f"{named}.txt").write_text(f"12/01/2024\n{chat}", "utf-8")
    with zipfile.ZipFile(folder / f"{named}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in (1, 2):
            archive.writestr(f"{number}{named}.txt", f"odd\n{chat * 50}")
    broken = bytearray((folder / f"{named}.zip").read_bytes())
    at = broken.index(named.encode()[-12:]) + 20
    broken[at : at + 9] = b"\xff" * 9
    (folder / f"broken {named}.zip").write_bytes(bytes(broken))
    return folder


def calls() -> list[tuple[str, ...]]:
    """Calls of every command that works on chats; HERE stands for the folder."""
    named = STEERING.replace("/", "")
    talk, threads = "HERE/talk.jsonl", "HERE/threads.json"
    return [
        ("read", talk, "--out", "corpus"),
        ("read", talk, "--out", "corpus", "--json"),
        ("read", f"HERE/{named}.txt", "--out", "text"),
        ("read", f"HERE/{named}.zip", "--out", "packed"),
        ("read", f"HERE/broken {named}.zip", "--out", "nothing"),
        ("read", f"HERE/{named}.zip", "--out", "nothing", "--format", "telegram"),
        ("read", STEERING, "too much", STEERING),
        ("read", talk, "--out", "corpus", "--format", STEERING),
        ("export", talk, "--to", "csv", "--out", "csv"),
        ("check", talk),
        ("check", talk, "--all"),
        ("redact", talk, "--out", "shared"),
        ("stats", talk),
        ("stats", talk, "--json"),
        ("ei", talk, "--measures", "hub", "--out", "labels"),
        ("runs", "compare", "labels", "labels"),
        ("ei", "consistency", "labels"),
        ("runs", "compare", "labels", "labels"),
        ("probe", talk, "--reader", "none", "--memory", "recent", "--out", "probed"),
        ("runs", "show", "probed"),
        ("runs", "show", "probed", "--sample", "Q1"),
        ("runs", "failures", "probed"),
        ("runs", "failures", "probed", f"{named}=probed", "--page", "failed.html"),
        ("runs", "table", f"{named}=probed", "probed"),
        ("runs", "rescore", "probed"),
        ("probe", "contexts", talk, "--memory", "recent", "--out", "contexts.jsonl"),
        ("probe", "score", talk, "HERE/none.jsonl"),
        ("runs", "compare", "probed", "probed"),
        (
            "sweep",
            "probe",
            talk,
            *shlex.split("--set memory=recent --set budget=500 --set limit=2 -o swept"),
        ),
        ("persona", "turns", talk, "--labels", "labels"),
        ("persona", "run", talk, *shlex.split(f"{ONCE} --out persona")),
        ("runs", "show", "persona"),
        ("runs", "failures", "persona"),
        ("runs", "rescore", "persona", talk),
        ("runs", "table", "persona"),
        ("runs", "compare", "persona", "persona"),
        ("runs", "share", "persona", "--out", "given"),
        ("persona", "export-dataset", talk, "--speaker", f"Mara{STEERING}"),
        (
            "persona",
            "talk",
            talk,
            "--speaker",
            f"Theo{STEERING}",
            *shlex.split("--simulator copy --consent self"),
        ),
        (
            "persona",
            "converse",
            talk,
            "--speaker",
            f"Theo{STEERING}",
            *shlex.split("--simulator constant --consent self --days 1 --memory recent"),
        ),
        ("threads", "samples", threads),
        ("threads", "prompt", threads, "1", "--task", "impact"),
        ("threads", "run", threads, *shlex.split("--predictor majority --out thread")),
        ("runs", "show", "thread"),
        ("runs", "failures", "thread"),
        ("runs", "rescore", "thread", threads),
        ("runs", "table", "thread"),
        ("runs", "compare", "thread", "thread"),
        ("sweep", "predict", threads, *shlex.split("--set predictor=majority,mean -o tsweep")),
        ("report", "corpus", "probed", "--out", "page.html"),
        ("report", "corpus", "--no-labels", "--out", "own.html"),
        ("cache", "list", "--cache", "HERE"),
        ("cache", "clear", "--cache", "HERE", "--yes"),
        ("data", "list", "--cache", "HERE"),
        ("models", "list", "--cache", "HERE"),
    ]


# They print no name of a chat, or fetch, train, serve, or take minutes.
ELSEWHERE = {"data get", "models get", "models card", "models", "persona tune", "studio", "demo"}
ELSEWHERE |= {"mcp", "batch read", "batch check", "batch redact", "batch report"}
ELSEWHERE |= {"persona who-wrote-it", "ei distinguishability"}  # tests of their own
ELSEWHERE |= {"runs compare-variants"}  # names settings, not chats; in test_threads_cli.py


def test_every_command_is_called() -> None:
    called = {" ".join(words[:2]) for words in calls()} | {words[0] for words in calls()}
    assert {each.words for each in COMMANDS} - called <= ELSEWHERE


def call(words: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = [word.replace("HERE", str(here)) for word in words]
    monkeypatch.setattr(sys, "argv", ["realtalk", *named])
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"hello {STEERING}\n"))
    try:
        command.main()
    except SystemExit as stop:
        assert stop.code in (0, 1, 2, None)


def told(output: str, *, terminal: bool) -> None:
    plain = OWN.sub("", output.replace("\x1b[41;5m", "HIT")) if terminal else output
    for sign in (*FORBIDDEN, *(() if terminal else ("\r", "\x1b"))):
        assert sign not in output, f"{sign!r} reached it"
    assert "\x1b" not in plain
    assert "HIT" not in plain


@pytest.mark.slow
def test_a_pipe_gets_no_control_character(
    places: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(places)
    seen = ""
    for words in calls():
        call(words, places, monkeypatch)
        caught = capsys.readouterr()
        assert "Traceback" not in caught.err, words
        told(caught.out + caught.err, terminal=False)
        seen += caught.out + caught.err
    # They are shown as what they are, and nothing of them is markup.
    assert "\\x1b]0;owned\\x07" in seen
    assert "\\u202e" in seen
    assert "[blink]" in seen


@pytest.mark.slow
def test_a_terminal_gets_no_control_character(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same through a pseudo-terminal, where there are colours and progress bars.

    In the same folder: the longer runs are resumed.
    """
    monkeypatch.chdir(places)
    monkeypatch.setenv("TERM", "xterm-256color")
    ours, theirs = pty.openpty()
    pieces: list[bytes] = []

    def listen() -> None:
        try:
            while piece := os.read(ours, 1 << 16):
                pieces.append(piece)
        except OSError:
            pass  # the other end is closed

    listener = threading.Thread(target=listen)
    listener.start()
    with open(theirs, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as screen:
        monkeypatch.setattr(sys, "stdout", screen)
        monkeypatch.setattr(sys, "stderr", screen)
        for words in calls():
            call(words, places, monkeypatch)
        screen.flush()
    os.close(theirs)
    listener.join(20)
    os.close(ours)
    output = b"".join(pieces).decode("utf-8", "replace").replace("\r\n", "\n")
    assert "\x1b[" in output  # it was taken for a terminal
    told(output, terminal=True)
    assert "\\x1b]0;owned" in output
