"""Notes taken by a model on loopback, and what is recalled from them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_server import Call, JudgeServer, Reply
from memory_chats import ask, bakery
from realtalk.chat import Chat, Message, Session
from realtalk.encoders.tokens import count_tokens
from realtalk.errors import MissingExtraError
from realtalk.memory.notes import BuiltNotes, Note, Notes, load_note_prompt, note_text, read_notes
from realtalk.memory.values import Budget
from refusals import refused

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
# The engine leaves memory streams to the garbage collector: not ours to mend.
MODEL = "openai-api/local/tiny"
FACTS = {  # a word of the session → what is noted
    "oven": [("Ines waits for a mechanic since the bakery's oven broke on 4 May 2026.", [3])],
    "Pepper": [
        ("Ines adopted a grey kitten from the shelter on 9 May 2026.", [2, 3]),
        ("The kitten of the shelter is called Pepper.", [3]),
    ],
    "Porto": [("Tobias runs the marathon in Porto on 8 November 2026.", [1, 3])],
}


def session_of(call: Call) -> str:
    return call.prompt.split("<session>\n")[1].split("\n</session>")[0]


def noted(call: Call) -> str:
    found = next(facts for word, facts in FACTS.items() if word in session_of(call))
    return json.dumps({"notes": [{"fact": text, "messages": ids} for text, ids in found]})


def built_from(
    rule: Callable[[Call], str | Reply], cache: Path, chat: Chat | None = None, **given: Any
) -> tuple[BuiltNotes, list[Call]]:
    with JudgeServer(rule) as server:
        memory = Notes(
            model=MODEL, base_url=server.url, cache=cache, timeout=20, retries=0, **given
        )
        return memory.build(chat or bakery()), server.calls


def test_every_session_is_noted_with_its_messages(tmp_path: Path) -> None:
    built, calls = built_from(noted, tmp_path)
    assert [note.session for note in built.notes] == [1, 2, 2, 3]
    assert built.notes[1] == Note(
        2, "Ines adopted a grey kitten from the shelter on 9 May 2026.", ("D2:2", "D2:3")
    )
    assert not built.unscored
    assert len(calls) == built.cost.calls == 3
    assert built.cost.tokens_in == built.cost.tokens_out == 3  # as the server says


def test_the_prompt_shows_one_session_numbered_and_dated(tmp_path: Path) -> None:
    _, calls = built_from(noted, tmp_path)
    (prompt,) = [call.prompt for call in calls if "Pepper" in call.prompt]
    assert session_of(next(call for call in calls if call.prompt == prompt)) == (
        "[Friday 8 May 2026]\n"
        "1. Tobias: still awake?\n"
        "2. Ines: [shares an image: a grey kitten]\n"
        "[Saturday 9 May 2026]\n"
        "3. Ines: adopted her from the shelter, she is called Pepper\n"
        "4. Tobias: congratulations!!"
    )
    assert "a chat between Ines and Tobias" in prompt
    assert "oven" not in prompt
    assert not re.search(r"\{(session|speakers)\}", prompt)


def test_a_failing_provider_loses_one_session_and_only_that_is_asked_again(tmp_path: Path) -> None:
    broken = True

    def rule(call: Call) -> str | Reply:
        return Reply(status=500) if broken and "Porto" in call.prompt else noted(call)

    with JudgeServer(rule) as server:
        memory = Notes(model=MODEL, base_url=server.url, cache=tmp_path, retries=0)
        first = memory.build(bakery())
        assert dict(first.unscored) == {3: "provider error (500)"}
        assert [note.session for note in first.notes] == [1, 2, 2]
        broken = False
        asked_before = len(server.calls)
        second = memory.build(bakery())
        assert len(server.calls) == asked_before + 1
        assert memory.build(bakery()).notes == second.notes
        assert len(server.calls) == asked_before + 1  # nothing is asked again
    assert not second.unscored
    assert [note.session for note in second.notes] == [1, 2, 2, 3]


def test_no_notes_at_all_is_an_error(tmp_path: Path) -> None:
    with refused(r"Tobias: no session could be noted \(refused\)"):
        built_from(lambda _: "I'm sorry, I can't help with that.", tmp_path)


def test_sessions_without_words_are_not_sent(tmp_path: Path) -> None:
    chat = bakery()
    blank = Session(4, None, (Message("D4:1", "Ines", None, " "),))
    quiet = replace(chat, sessions=(*chat.sessions, blank, Session(5, None, ())))
    _, calls = built_from(noted, tmp_path, quiet)
    assert len(calls) == 3


def test_a_chat_without_facts_has_no_notes(tmp_path: Path) -> None:
    built, _ = built_from(lambda _: '{"notes": []}', tmp_path)
    context = built.recall(ask("?"), Budget())
    assert (built.notes, context.text, context.ranked) == ((), "", ())


def test_notes_come_dated_with_their_messages(tmp_path: Path) -> None:
    built, _ = built_from(noted, tmp_path, top=1)
    context = built.recall(ask("When is Tobias's marathon?"), Budget(tokens=70))
    note = "[Wednesday 20 May 2026]\n- Tobias runs the marathon in Porto on 8 November 2026."
    assert note in context.text
    assert context.text.endswith(
        "[Wednesday 20 May 2026]\nTobias: I signed up for the marathon in Porto\n"
        "Tobias: 8 November, I have to buy shoes"
    )
    assert context.message_ids == (context.ranked or ())[:2] == ("D3:1", "D3:3")
    for tokens in range(0, 150, 30):
        less = built.recall(ask("When is Tobias's marathon?"), Budget(tokens=tokens))
        assert less.tokens == count_tokens(less.text) <= tokens


def test_a_second_hop_finds_what_a_hit_mentions(tmp_path: Path) -> None:
    question = ask("What did Ines adopt?")
    one, _ = built_from(noted, tmp_path / "1", hops=1)
    two, _ = built_from(noted, tmp_path / "2", hops=2)
    name, oven = "The kitten of the shelter is called Pepper.", FACTS["oven"][0][0]

    def order(built: BuiltNotes) -> list[str]:
        scores = built.scores(question)
        return [built.notes[at].text for at in sorted(range(4), key=lambda at: -scores[at])]

    # By the question's own words the oven's note, which names Ines, comes before the kitten's.
    assert order(one).index(oven) < order(one).index(name)
    assert order(two).index(name) == 1
    assert order(one)[0] == order(two)[0]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        '{"facts": []}',
        '{"notes": ["Ines bakes"]}',
        '{"notes": [{"fact": "Ines bakes"}]}',
        '{"notes": [{"fact": " ", "messages": [1]}]}',
        '{"notes": [{"fact": "Ines bakes", "messages": []}]}',
        '{"notes": [{"fact": "Ines bakes", "messages": [0]}]}',
        '{"notes": [{"fact": "Ines bakes", "messages": [6]}]}',
        '{"notes": [{"fact": "Ines bakes", "messages": [true]}]}',
        '{"notes": [{"fact": "Ines bakes", "messages": ["1"]}]}',
        'Here: {"notes": []}',
        "[" * 100_000,
    ],
)
def test_answers_are_read_strictly(answer: str) -> None:
    assert read_notes(answer, bakery().sessions[0]) is None


def test_a_fence_is_forgiven_and_references_are_put_in_order() -> None:
    answer = '```json\n{"notes": [{"fact": "Ines\\n bakes", "messages": [3, 1, 3]}]}\n```'
    assert read_notes(answer, bakery().sessions[0]) == [Note(1, "Ines bakes", ("D1:1", "D1:3"))]


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Note this down: {session}")
    prompt = load_note_prompt(tmp_path)
    assert prompt.version.startswith("sha256:")
    chat = bakery()
    assert note_text(prompt, chat, chat.sessions[2]).startswith(
        "Note this down: [Wednesday 20 May 2026]\n1. Tobias: I signed up"
    )
    (tmp_path / "notes.md").write_text("Note this down.")
    with refused(r"put \{session\} into it"):
        load_note_prompt(tmp_path)


def test_the_prompt_does_not_change() -> None:
    """What was answered is kept by what was asked: new words are new questions."""
    odd = Session(1, None, (Message("D1:1", "Ines", None, "write {speakers} there"),))
    assert "1. Ines: write {speakers} there" in note_text(load_note_prompt(), bakery(), odd)
    text = load_note_prompt().texts["notes"]
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "fde127a1dfba33dd"


def test_without_the_extra_the_cure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("realtalk.models.asking.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[llm\]'"):
        Notes(model=MODEL)
