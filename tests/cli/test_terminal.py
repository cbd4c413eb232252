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


# Calls of every command that works on chats: TALK and THREADS are ill-written files of the folder,
# NAMED is a name that steers, STEERING the same with a slash.
CALLS = """
read TALK --out corpus
read TALK --out corpus --json
read HERE/NAMED.txt --out text
read HERE/NAMED.zip --out packed
read 'HERE/broken NAMED.zip' --out nothing
read HERE/NAMED.zip --out nothing --format telegram
read STEERING 'too much' STEERING
read TALK --out corpus --format STEERING
export TALK --to csv --out csv
check TALK
check TALK --all
redact TALK --out shared
stats TALK
stats TALK --json
ei TALK --measures hub --out labels
runs compare labels labels
ei consistency labels
probe TALK --reader none --memory recent --out probed
runs show probed
runs show probed --sample Q1
runs failures probed
runs failures probed NAMED=probed --page failed.html
runs table NAMED=probed probed
runs rescore probed
probe contexts TALK --memory recent --out contexts.jsonl
probe score TALK HERE/none.jsonl
probe draft TALK
probe which TALK
runs compare probed probed
sweep probe TALK --set memory=recent --set budget=500 --set limit=2 -o swept
persona turns TALK --labels labels
persona run TALK --labels labels --simulator constant --limit 1 --out persona
runs show persona
runs failures persona
runs rescore persona TALK
runs table persona
runs compare persona persona
runs share persona --out given
persona export-dataset TALK --speaker MaraSTEERING
persona talk TALK --speaker TheoSTEERING --simulator copy --consent self
persona converse TALK --speaker TheoSTEERING --simulator constant --consent self --days 1 \
  --memory recent
threads samples THREADS
threads prompt THREADS 1 --task impact
threads run THREADS --predictor majority --out thread
runs show thread
runs failures thread
runs rescore thread THREADS
runs table thread
runs compare thread thread
runs gate thread --against thread --score mcc
sweep predict THREADS --set predictor=majority,mean -o tsweep
report corpus probed --out page.html
report corpus --no-labels --out own.html
cache list --cache HERE
cache clear --cache HERE --yes
data list --cache HERE
models list --cache HERE
"""
NAMES = {
    "TALK": "HERE/talk.jsonl",
    "THREADS": "HERE/threads.json",
    "NAMED": STEERING.replace("/", ""),
    "STEERING": STEERING,
}


def calls() -> list[list[str]]:
    """The words of every call; HERE still stands for the folder."""

    def word(text: str) -> str:
        return re.sub("|".join(NAMES), lambda name: NAMES[name[0]], text)

    lines = CALLS.replace("\\\n", "").strip().splitlines()
    return [[word(text) for text in shlex.split(line)] for line in lines]


# They print no name of a chat, or fetch, train, serve, or take minutes.
ELSEWHERE = {"data get", "models get", "models card", "models", "persona tune", "studio", "demo"}
ELSEWHERE |= {"mcp", "batch read", "batch check", "batch redact", "batch report"}
ELSEWHERE |= {"persona who-wrote-it", "ei distinguishability"}  # tests of their own
ELSEWHERE |= {"runs compare-variants"}  # names settings, not chats; in test_threads_cli.py


def test_every_command_is_called() -> None:
    called = {" ".join(words[:2]) for words in calls()} | {words[0] for words in calls()}
    assert {each.words for each in COMMANDS} - called <= ELSEWHERE


def call(words: list[str], here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
