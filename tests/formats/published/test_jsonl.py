"""JSON Lines: our own layout without loss, others' by their keys."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import exported
from exported import opened_as
from realtalk.chat import Chat, Corpus, Message, Session
from refusals import refused
from shown import check

FOREIGN: list[dict[str, Any]] = json.loads(r"""[
 {"Sender": "Mara", "sent_at": "2026-03-02 18:03", "Body": "hey", "likes": 2},
 {"Sender": "Theo", "sent_at": "2026-03-02T18:04:30", "Body": "hi\nthere", "likes": null},
 {"Sender": "Mara", "sent_at": "2026-03-03 09:00", "Body": ""}]""")


def _saved(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_one_message_a_line_with_all_fields(tmp_path: Path) -> None:
    message = Message("D1:1", "Mara", datetime(2026, 3, 2, 18, 3), "hey")
    corpus = Corpus("family", "whatsapp", (Chat("c", ("Mara",), (Session(1, None, (message,)),)),))
    (path,) = exported.written("jsonl", corpus, tmp_path)
    assert path.name == "family.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["corpus", "chat", "session", "message"]
    assert lines[3] == json.loads("""{"type": "message", "chat": "c", "session": 1, "id": "D1:1",
        "speaker": "Mara", "time": "2026-03-02T18:03:00", "text": "hey", "attachments": [],
        "reply_to": null, "edited": false, "deleted": false, "extra": ""}""")
    reading = opened_as("jsonl", path)
    assert reading.corpus == corpus
    assert (reading.ledger.total, reading.ledger.in_messages, reading.ledger.system) == (4, 1, 3)


def test_a_damaged_line_of_ours_is_left_over(tmp_path: Path) -> None:
    head = [
        {"type": "corpus", "realtalk": 1, "name": "n", "format": "f"},
        {"type": "chat", "id": "c", "speakers": ["a"]},
    ]
    good = {"type": "message", "chat": "c", "session": 2, "id": "m", "speaker": "a", "text": "x"}
    bad: list[Any] = [
        {**good, "time": None, "session": 2**40},
        {**good, "time": "noon"},
        {**good, "time": None, "chat": "other"},
        {**good, "time": None, "extra": "[]"},
        {"type": "dance"},
        7,
    ]
    path = _saved(tmp_path / "x.jsonl", [*head, {**good, "time": None}, *bad])
    reading = opened_as("jsonl", path)
    assert reading.ledger.in_messages == 1
    assert [left.where for left in reading.ledger.leftovers] == [
        f"x.jsonl:{number}" for number in range(4, 10)
    ]
    assert reading.corpus.chats[0].sessions[0].number == 2


def test_a_later_layout_is_refused(tmp_path: Path) -> None:
    path = _saved(tmp_path / "x.jsonl", [{"type": "corpus", "realtalk": 2}])
    with refused("later version"):
        opened_as("jsonl", path)


def test_common_keys_are_recognised(tmp_path: Path) -> None:
    reading = opened_as("jsonl", _saved(tmp_path / "family.jsonl", FOREIGN))
    assert reading.corpus.format == "jsonl"
    check(
        reading,
        """
        family (Mara, Theo)
        session 1, 2026-03-02 18:03:00
        D1:1 2026-03-02 18:03:00 Mara: hey
            {"likes":2}
        D1:2 2026-03-02 18:04:30 Theo: hi⏎there
        session 2, 2026-03-03 09:00:00
        D2:1 2026-03-03 09:00:00 Mara:
        3 lines = 3 in messages + 0 system + 0 left over
        """,
    )
    (wide,) = opened_as("jsonl", tmp_path / "family.jsonl", gap=timedelta(days=2)).corpus.chats
    assert len(wide.sessions) == 1


def test_named_and_nested_keys(tmp_path: Path) -> None:
    rows = json.loads("""[
     {"who": {"n": "Mara"}, "what": "b", "t": 1772474460, "room": "x", "ref": "m1", "id": "m2"},
     {"who": {"n": "Theo"}, "what": "a", "t": 1772474400000, "room": "x", "id": "m1"},
     {"who": {"n": "Theo"}, "what": "c", "t": "?", "room": "y", "id": "m1"}]""")
    path = _saved(tmp_path / "x.jsonl", rows)
    columns = (("speaker", "who.n"), ("text", "what"), ("time", "t"), ("reply_to", "ref"))
    check(
        opened_as("jsonl", path, columns=columns),
        """
        x (Theo, Mara)
        session 1, 2026-03-02 18:00:00
        m1 2026-03-02 18:00:00 Theo: a
        m2 2026-03-02 18:01:00 Mara, to m1: b
        y (Theo)
        session 1, None
        m1 None Theo: c
        3 lines = 3 in messages + 0 system + 0 left over
        1 time stamps could not be read; those messages have none
        """,
    )


def test_sessions_of_the_file_are_kept(tmp_path: Path) -> None:
    rows = json.loads("""[
     {"speaker": "a", "text": "x", "session": 7},
     {"speaker": "b", "text": "y", "session": 3},
     {"speaker": "a", "text": "z", "session": 7}]""")
    check(
        opened_as("jsonl", _saved(tmp_path / "x.jsonl", rows)),
        """
        x (b, a)
        session 3, None
        D3:1 None b: y
        session 7, None
        D7:1 None a: x
        D7:2 None a: z
        3 lines = 3 in messages + 0 system + 0 left over
        """,
    )


def test_unknown_keys_are_listed_in_the_error(tmp_path: Path) -> None:
    path = _saved(tmp_path / "x.jsonl", [{"qui": "Mara", "quoi": "secret"}])
    with refused("found: qui, quoi") as caught:
        opened_as("jsonl", path)
    assert "`columns=speaker=" in str(caught.value)
    assert "secret" not in str(caught.value)
    with refused("it has: qui, quoi"):
        opened_as("jsonl", path, columns=(("text", "que"),))
    with refused("unknown-column"):
        opened_as("jsonl", path, columns=(("speakr", "qui"),))


def test_lines_that_are_no_message(tmp_path: Path) -> None:
    path = _saved(tmp_path / "x.jsonl", [*FOREIGN, 5, {"Body": "who?"}])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes() + b"\n{broken\n")
    ledger = opened_as("jsonl", path).ledger
    assert (ledger.total, ledger.in_messages, ledger.system) == (7, 3, 1)
    assert " ".join(left.where for left in ledger.leftovers) == "x.jsonl:4 x.jsonl:5 x.jsonl:7"
