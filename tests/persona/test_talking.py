"""A talk with a simulated speaker: consent, what is shown, what is kept and how it is marked."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from file_modes import open_to_others
from persona_chats import ines
from realtalk.chat import Corpus, unpack_extra
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.formats.registry import FORMATS
from realtalk.pages.loading import says_simulated
from realtalk.persona.talking import Consent, Talk, obtain_consent, question
from realtalk.persona.values import TurnPrompt
from refusals import refused
from text_tables import cases

COPY = ("persona", "talk", "sample", "-s", "Theo", "--simulator", "copy")
YES = Consent("Ines", "self", "2026-05-04")


class Recorder(PlainSolver):
    """Answers with a number and keeps what it was shown; has nothing to say to "hush"."""

    name = "recorder"

    def __init__(self) -> None:
        self.shown: list[TurnPrompt] = []

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        self.shown += shown
        if shown[0].previous.endswith("hush"):
            return [Answer(None, "empty answer")]
        return [Answer(f"reply {len(self.shown)}")]


def talking(out: Path | None = None, **settings: Any) -> tuple[Talk, Recorder]:
    recorder = Recorder()
    chat = ines().chats[1]
    return Talk(chat, "Ines", "Juno", recorder, YES, out=out, **settings), recorder


def begin(chats: Corpus | None = None, simulator: str = "constant", **given: Any) -> Talk:
    return rt.persona.talk(chats or ines(), speaker="ines", simulator=simulator, **given)


def nobody_asks(asked: str) -> str:
    raise AssertionError(asked)


def test_a_reply_sees_the_chat_and_what_was_said_here() -> None:
    talk, recorder = talking(context_sessions=2, context_tokens=300)
    assert talk.say(" is it dry? ") == "reply 1"
    assert talk.say("good") == "reply 2"
    first, second = recorder.shown
    assert (first.speaker, first.chat, first.previous) == ("Ines", "Boat", "is it dry?")
    assert {turn.session for turn in first.context} == {4, 5}  # of the chat the last, and this one
    said = [(turn.speaker, turn.text) for turn in second.context][-3:]
    assert said == [("Juno", "is it dry?"), ("Ines", "reply 1"), ("Juno", "good")]
    assert first.id != second.id  # what is drawn by chance hangs on it


def test_what_is_simulated_is_marked_wherever_it_goes(tmp_path: Path) -> None:
    talk, _ = talking(tmp_path / "talk")
    talk.say("is it dry?")
    held = open_reading(str(tmp_path / "talk")).reading.corpus
    (chat,) = held.chats
    assert [(m.speaker, m.text) for m in chat.messages] == [
        ("Juno", "is it dry?"),
        ("Ines (simulated)", "reply 1"),
    ]
    assert [m.extra for m in chat.messages] == ["", '{"simulated":"recorder"}']
    about = unpack_extra(chat.extra)["simulated"]
    assert about["consent"] == {
        "speaker": "Ines",
        "answer": "self",
        "day": "2026-05-04",
        "meaning": "Ines does this as themselves.",
    }
    assert about["continues"] == "Boat"
    assert says_simulated(held.name) and says_simulated(chat.id)
    for name in ("jsonl", "csv", "locomo", "convokit"):
        write = FORMATS[name].write
        assert write is not None
        paths = write(held, tmp_path / name)
        written = "".join(path.read_text("utf-8") for path in paths if path.suffix != ".xlsx")
        assert "Ines (simulated)" in written, name
    assert open_to_others(tmp_path / "talk") == {}


def test_a_talk_goes_on_in_its_folder(tmp_path: Path) -> None:
    talking(tmp_path / "talk")[0].say("is it dry?")
    talk, recorder = talking(tmp_path / "talk")
    talk.say("and now?")
    context = [(turn.speaker, turn.text) for turn in recorder.shown[0].context]
    assert context[-3:] == [("Juno", "is it dry?"), ("Ines", "reply 1"), ("Juno", "and now?")]
    held = open_reading(str(tmp_path / "talk")).reading.corpus.chats[0]
    assert [[m.id for m in session.messages] for session in held.sessions] == [
        ["T1:1", "T1:2"],
        ["T2:1", "T2:2"],
    ]
    chat = ines().chats[0]
    with refused("holds no talk of Ines and Tobias"):
        Talk(chat, "Ines", "Tobias", Recorder(), YES, out=tmp_path / "talk")


def test_an_answer_that_is_none_is_said_and_the_question_kept(tmp_path: Path) -> None:
    talk, _ = talking(tmp_path / "talk")
    with refused("no answer \\(empty answer\\)"):
        talk.say("hush")
    assert talk.say("please") == "reply 2"
    assert [m.text for m in talk.corpus.chats[0].messages] == ["hush", "please", "reply 2"]
    with refused("nothing was said"):
        talk.say("  ")


def test_consent_is_asked_once_by_name_and_kept(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(line: str) -> str:
        asked.append(line)
        return " Given "

    talk = begin(consent=answer, out=tmp_path / "talk")
    assert asked == [question("Ines")] and asked[0].count("Ines") == 5
    assert talk.say("is it dry?") == "ok"
    again = begin(consent=nobody_asks, out=tmp_path / "talk")
    assert again.say("well?") == "ok" and again.consent == talk.consent
    about = unpack_extra(again.corpus.chats[0].extra)["simulated"]
    kept = about["consent"]
    assert (kept["answer"], kept["meaning"]) == ("given", talk.consent.meaning)


def test_without_a_yes_nothing_begins(tmp_path: Path) -> None:
    for answer in ("", "no", "maybe"):
        with refused(r"no consent to write as Ines; .*`consent=self`"):
            begin(consent=answer, out=tmp_path / "talk")
    assert not (tmp_path / "talk").exists()


@cases("""
    answer    | meaning
    self      | Ines does this as themselves.
    fictional | Ines is invented.
""")
def test_a_consent_is_kept_with_the_adapter(tmp_path: Path, answer: str, meaning: str) -> None:
    consent = obtain_consent("Ines", answer, tmp_path)
    assert consent.meaning.startswith(meaning)
    assert obtain_consent("Ines", nobody_asks, tmp_path) == consent
    with refused("no consent to write as Juno"):
        obtain_consent("Juno", "", tmp_path)  # another person is asked for again
    # One that was kept before meanings were.
    held = {"speaker": "Ines", "answer": "given", "day": "2026-05-04"}
    (tmp_path / "consent.json").write_text(json.dumps(held), "utf-8")
    assert obtain_consent("Ines", nobody_asks, tmp_path) == Consent("Ines", "given", "2026-05-04")
    (tmp_path / "consent.json").write_text("[]", "utf-8")
    with refused("not a consent"):
        obtain_consent("Ines", "self", tmp_path)


def test_a_mistyped_answer_is_told_the_nearest(run: Any) -> None:
    err = run(*COPY, "--consent", "fiction").wrong
    assert "no consent to write as Theo" in err
    said = " ".join(err.split())
    assert "did you mean 'fictional'?" in said and "of a published study --consent research" in said


def test_who_is_who_in_a_talk() -> None:
    assert begin(consent="self", chat="Oven").partner == "Tobias"
    assert begin(consent="self", chat="Boat", partner="Uma").partner == "Uma"
    oven = ines().chats[0]
    group = Corpus("dock", "jsonl", (replace(oven, speakers=(*oven.speakers, "Juno")),))
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"chat": "Dock"}, "known: Oven, Boat"),
        ({"partner": "Ines"}, "Ines cannot talk to Ines"),
        ({"chats": group}, r"2 others speak in the chat.*`partner=NAME`"),
    ]
    for given, line in wrong:
        with refused(line):
            begin(consent="self", **given)


# The command


def test_lines_of_a_pipe_are_answered(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = (*COPY, "--out", "talks/theo")
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello\n"))
    status, out, err = run(*words)
    assert status == 2 and "no consent to write as Theo" in err and out == ""
    monkeypatch.setattr(sys, "stdin", io.StringIO("hello \x1b[31m\n\nbye\n"))
    _, out, err = run(*words, "--consent", "fictional").done
    assert "Theo is invented." in err
    assert out == "Theo (simulated): hello \\x1b[31m\nTheo (simulated): bye\n"
    assert "you are Mara; Theo is simulated" in err
    assert "2 messages of yours; kept in talks/theo" in err
    held = open_reading(str(tmp_path / "talks" / "theo")).reading.corpus
    assert len(held.chats[0].messages) == 4
    monkeypatch.setattr(sys, "stdin", io.StringIO("again\n"))
    assert run(*words)[0] == 0  # the consent is kept with the talk


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminal")
@pytest.mark.parametrize("end", ["ctrl-d", "ctrl-c"])
def test_a_terminal_asks_and_is_left_cleanly(end: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    words = (*COPY, "--out", "talks/theo")
    child = subprocess.Popen(
        [sys.executable, "-m", "realtalk", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(rt.__file__).parents[1])},
        start_new_session=True,
        # A runner in the background of a shell ignores it, and its children would.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    seen = b""

    def until(text: bytes) -> None:
        nonlocal seen
        while text not in seen:
            ready, _, _ = select.select([ours], [], [], 40)
            assert ready, seen
            seen += os.read(ours, 1 << 12)

    until(b"did Theo agree to it")
    os.write(ours, b"self\n")
    until(b"Mara: ")
    os.write(ours, b"still there?\n")
    until(b"Theo (simulated): still there?")
    seen = seen[seen.index(b"Theo (simulated)") :]
    until(b"Mara: ")
    time.sleep(0.2)
    if end == "ctrl-d":
        os.write(ours, b"\x04")
    else:
        child.send_signal(signal.SIGINT)
    try:
        until(b"1 message of yours; kept in talks/theo")
        assert child.wait(60) == 0
    finally:
        child.kill()
        os.close(ours)
    assert b"Traceback" not in seen
    held = open_reading(str(tmp_path / "talks" / "theo")).reading.corpus
    assert [m.text for m in held.chats[0].messages] == ["still there?", "still there?"]
