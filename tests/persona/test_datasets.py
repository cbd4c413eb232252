"""Rows for tuning tools: who is who, what is left out, and what each tool's documents ask for."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.json
import pytest

import realtalk as rt
from file_modes import mode
from persona_chats import ines, with_picture
from realtalk.chat import Corpus, Message
from realtalk.persona.datasets import FORMS, TuningRow, build_tuning_set
from refusals import refused
from short_chats import chat_of, said
from text_tables import cases

BEGIN = datetime(2026, 5, 4, 9, 0)


def corpus_of(*lines: str) -> Corpus:
    """One chat of one session."""
    return Corpus("dock", "jsonl", (chat_of(said(1, BEGIN, *lines)),))


def group() -> Corpus:
    return corpus_of(
        "Ines: anybody there?",
        "Tobias: yes",
        "Juno: me too\nsince nine",
        "Ines: good",
        "Ines: bring rope",
        "Tobias: how long?",
    )


def conversation(row: TuningRow) -> list[tuple[str, str]]:
    return [(each["from"], each["value"]) for each in row["conversations"]]


def test_the_speaker_is_the_assistant_and_a_session_one_conversation() -> None:
    made = build_tuning_set(ines(sessions=2), "Ines")
    assert [(each.chat, each.assistant, each.user, each.replies) for each in made.roles] == [
        ("Oven", "Ines", ("Tobias",), 6),
        ("Boat", "Ines", ("Juno",), 6),
    ]
    assert len(made.rows) == 4
    assert conversation(made.rows[0])[:2] == [
        ("human", "how is the bakery today? ovenx1x1"),
        ("gpt", "haha the oven broke again ovenx1x2"),
    ]
    other = build_tuning_set(ines(sessions=2), "tobias")
    assert [each.assistant for each in other.roles] == ["Tobias"]
    assert conversation(other.rows[0])[0] == ("human", "haha the oven broke again ovenx1x2")


def test_names_stay_in_a_group_and_edges_are_counted() -> None:
    made = build_tuning_set(group(), "Ines")
    assert [conversation(row) for row in made.rows] == [
        [("human", "Tobias: yes\nJuno: me too\nsince nine"), ("gpt", "good\nbring rope")]
    ]
    assert made.left_out == {
        "deleted or nobody's messages": 0,
        "own turns that answer nothing": 1,
        "turns of others without a reply": 1,
    }
    assert made.rows[0]["system"] == "You are Ines, chatting with Tobias and Juno."
    hopeless = corpus_of("Ines: hello?", "Juno: hm")
    for form, exchanges, line in (
        ("sharegpt", None, "Ines replies to nobody"),
        ("chatml", None, "known: sharegpt, alpaca, messages"),
        ("sharegpt", 0, "1 or more exchanges"),
    ):
        with refused(line):
            build_tuning_set(hopeless, "Ines", form, exchanges)


def test_deleted_messages_and_nobody_are_left_out() -> None:
    given = group()
    (chat,) = given.chats
    (session,) = chat.sessions
    first, second, *rest = session.messages
    nobody = Message("D1:9", "[deleted]", BEGIN, "gone")
    kept = (first, replace(second, deleted=True, text="this was deleted"), nobody, *rest)
    changed = replace(given, chats=(replace(chat, sessions=(replace(session, messages=kept),)),))
    made = build_tuning_set(changed, "Ines")
    assert made.left_out["deleted or nobody's messages"] == 2
    assert "deleted" not in json.dumps(made.rows) and "gone" not in json.dumps(made.rows)
    assert made.roles[0].user == ("Juno", "Tobias")


def test_a_wordless_picture_splits_nobody_and_a_caption_is_text() -> None:
    made = build_tuning_set(Corpus("pictures", "jsonl", (with_picture(),)), "Ines")
    assert [conversation(row) for row in made.rows] == [
        [("human", "look"), ("gpt", "[a red boat]\nnice\nwhere is it?")]
    ]


def test_rows_hold_as_many_exchanges_as_allowed() -> None:
    chats = corpus_of(*(f"{who}: {who} {at}" for at in range(3) for who in ("Juno", "Ines")))
    parts = build_tuning_set(chats, "Ines", exchanges=2).rows
    assert [len(row["conversations"]) for row in parts] == [4, 2]
    alone = build_tuning_set(chats, "Ines", "alpaca").rows
    assert [row["history"] for row in alone] == [[], [], []]
    with_history = build_tuning_set(chats, "Ines", "alpaca", exchanges=2).rows
    assert [row["history"] for row in with_history] == [
        [],
        [["Juno 0", "Ines 0"]],
        [["Juno 1", "Ines 1"]],
    ]


# As LLaMA-Factory and Axolotl document it, and as TRL and WeClone do, in our words
# (docs/build/datasets.md names them).
@cases("""
    form     | column        | role | text    | sides
    sharegpt | conversations | from | value   | ["human", "gpt"]
    messages | messages      | role | content | ["user", "assistant"]
""")
def test_conversations_are_as_the_tools_document_them(
    form: str, column: str, role: str, text: str, sides: list[str]
) -> None:
    """A list of objects with exactly a role and a text; user and assistant in turn, user first."""
    for chats in (ines(), group(), rt.read("sample")):
        for row in build_tuning_set(chats, chats.speakers[0], form).rows:
            said = row.pop(column)
            if form == "messages":  # TRL and LLaMA-Factory take it as the first message
                assert said[0][role] == "system" and said.pop(0)[text]
            assert [each[role] for each in said] == [*sides] * (len(said) // 2) and said
            assert all(set(each) == {role, text} and each[text].strip() for each in said)
            assert set(row) <= {"system"} and all(isinstance(each, str) for each in row.values())


def test_alpaca_is_as_the_tools_document_it() -> None:
    """Texts under instruction, input and output; history pairs of texts, system a text."""
    for chats in (ines(), group(), rt.read("sample")):
        for row in build_tuning_set(chats, chats.speakers[0], "alpaca", exchanges=3).rows:
            assert list(row) == ["instruction", "input", "output", "system", "history"]
            assert row["instruction"].strip() and row["output"].strip()
            texts = [text for pair in row.pop("history") for text in pair]
            assert len(texts) % 2 == 0
            assert all(isinstance(text, str) for text in (*texts, *row.values()))


@pytest.mark.parametrize("form", FORMS)
def test_every_reply_is_written_once_and_the_file_is_one_table(form: str, tmp_path: Path) -> None:
    made = rt.persona.export_dataset("sample", speaker="Mara", to=form, out=tmp_path / "made.jsonl")
    data = (tmp_path / "made.jsonl").read_bytes()
    rows = [json.loads(line) for line in data.splitlines()]
    assert rows == list(made.rows)
    replies = sum(
        1 if form == "alpaca" else len(row.get("conversations") or row["messages"][1:]) // 2
        for row in rows
    )
    assert replies == made.to_json()["replies"] > 200
    # The `datasets` library, with which these tools read JSON lines, reads them by pyarrow.
    assert pyarrow.json.read_json(io.BytesIO(data)).num_rows == len(rows)
    assert mode(tmp_path / "made.jsonl") == 0o600


def test_the_command_shows_and_writes(run: Any, pears: str, tmp_path: Path) -> None:
    _, out, err = run("persona export-dataset sample --speaker Mara").done
    assert out == ""
    assert "assistant Mara (118 replies), user Theo" in err
    assert "nothing is written without --out" in err
    words = f"persona export-dataset {pears} -s Mara --to alpaca"
    _, out, err = run(f"{words} --redacted --out m.jsonl --json").done
    told = json.loads(out)
    assert told["file"] == "m.jsonl" and told["replies"] == told["rows"] > 0
    assert told["roles"][0]["assistant"] == told["speaker"] == "Person1"
    assert "Mara is written as Person1" in err
    text = (tmp_path / "m.jsonl").read_text("utf-8")
    assert len(text.splitlines()) == told["rows"] and not re.search("Mara|Theo", text)
    assert "You are Person1, chatting with Person2" in text
