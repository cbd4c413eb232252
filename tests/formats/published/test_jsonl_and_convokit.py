"""JSON Lines: our own layout without loss, others' by their keys; ConvoKit, there and back."""

from __future__ import annotations

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import opened_as
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.formats.published.convokit import FORMAT
from realtalk.formats.source import Source
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


# --- ConvoKit ---


UTTERANCES: list[dict[str, Any]] = json.loads("""[
    {"id": "u1", "conversation_id": "u1", "speaker": "mara", "text": "anyone up?",
     "reply-to": null, "timestamp": 1772474400, "meta": {"score": 3}, "vectors": []},
    {"id": "u2", "conversation_id": "u1", "speaker": "theo", "text": "yes",
     "reply-to": "u1", "timestamp": "1772474460.5", "meta": {}, "vectors": ["bert"]},
    {"id": "u3", "conversation_id": "u1", "speaker": "mara", "text": "still?",
     "reply-to": "u2", "timestamp": 1772560800, "meta": {}},
    {"id": "v1", "conversation_id": "v1", "speaker": "juno", "text": "hm", "timestamp": null}]""")
OLD = json.loads("""[
    {"id": "a", "root": "a", "user": "mara", "text": "hey", "reply_to": null, "timestamp": 0},
    {"id": "b", "root": "a", "user": "theo", "text": "ho", "reply_to": "a", "timestamp": 0}]""")


def _folder(path: Path, utterances: list[Any], **files: Any) -> Path:
    path.mkdir(parents=True)
    lines = "".join(json.dumps(entry) + "\n" for entry in utterances)
    (path / "utterances.jsonl").write_text(lines)
    for name, value in files.items():
        (path / f"{name}.json").write_text(json.dumps(value))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    about = json.loads("""{
        "speakers": {"mara": {"meta": {"age": 31}, "vectors": []}, "theo": {"meta": {}}},
        "conversations": {"u1": {"meta": {"title": "night"}, "vectors": []}, "v1": {"meta": {}}},
        "corpus": {"made by": "nobody"}, "index": {"utterances-index": {}, "version": 1}}""")
    return _folder(tmp_path / "small-corpus", UTTERANCES, **about)


def _written(corpus: Corpus, path: Path) -> Path:
    assert len(exported.written("convokit", corpus, path)) == 5
    return path


def test_one_chat_a_conversation_with_its_own_ids_and_meta(folder: Path) -> None:
    reading = opened_as("convokit", folder)
    assert (reading.corpus.name, reading.corpus.format) == ("small-corpus", "convokit")
    check(
        reading,
        """
        u1 (mara, theo) {"convokit":{"corpus":{"made
            by":"nobody"},"speakers":{"mara":{"meta":{"age":31},"vectors":[]}}},"title":"night"}
        session 1, 2026-03-02 18:00:00
        u1 2026-03-02 18:00:00 mara: anyone up?
            {"score":3}
        u2 2026-03-02 18:01:00.500000 theo, to u1: yes
            {"convokit":{"vectors":["bert"]}}
        session 2, 2026-03-03 18:00:00
        u3 2026-03-03 18:00:00 mara, to u2: still?
        v1 (juno)
        session 1, None
        v1 None juno: hm
        4 entries = 4 in messages + 0 system + 0 left over
        """,
    )
    wide = opened_as("convokit", folder, gap=timedelta(days=3)).corpus.chats[0]
    assert [len(session.messages) for session in wide.sessions] == [3]


def test_the_way_back_is_plain_convokit(folder: Path, tmp_path: Path) -> None:
    corpus = opened_as("convokit", folder).corpus
    out = _written(corpus, tmp_path / "out" / "small-corpus")
    assert opened_as("convokit", out).corpus == corpus
    lines = [json.loads(line) for line in (out / "utterances.jsonl").read_text().splitlines()]
    assert "realtalk" not in (out / "utterances.jsonl").read_text()
    needed = {"id", "conversation_id", "text", "speaker", "meta", "reply-to", "timestamp"}
    assert all(needed <= set(line) for line in lines)
    assert [line["timestamp"] for line in lines] == [1772474400, 1772474460.5, 1772560800, None]
    speakers = json.loads((out / "speakers.json").read_text())
    assert speakers["mara"] == {"meta": {"age": 31}, "vectors": []}
    assert set(speakers) == {"mara", "theo", "juno"}
    index = json.loads((out / "index.json").read_text())
    assert index["utterances-index"] == {"score": ["<class 'int'>"]}
    assert index["speakers-index"] == {"age": ["<class 'int'>"]}
    assert json.loads((out / "corpus.json").read_text()) == {"made by": "nobody"}


def test_the_older_names(tmp_path: Path) -> None:
    path = _folder(tmp_path / "old", OLD, users={"mara": {"age": 31}})
    assert FORMAT.sniff(Source.open(path))
    check(
        opened_as("convokit", path),
        """
        a (mara, theo) {"convokit":{"speakers":{"mara":{"age":31}}}}
        session 1, 1970-01-01 00:00:00
        a 1970-01-01 00:00:00 mara: hey
        b 1970-01-01 00:00:00 theo, to a: ho
        2 entries = 2 in messages + 0 system + 0 left over
        """,
    )
    corpus = opened_as("convokit", path).corpus
    assert opened_as("convokit", _written(corpus, tmp_path / "new" / "old")).corpus == corpus


def test_zip_and_nested_folder(folder: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", folder.parent, folder.name)
    assert FORMAT.sniff(Source.open(archive))
    packed = opened_as("convokit", archive).corpus
    assert packed.chats == opened_as("convokit", folder).corpus.chats


def test_ids_shared_by_chats_become_unique_for_convokit(tmp_path: Path) -> None:
    first = Message("D1:1", "Mara", datetime(2026, 3, 2), "a")
    reply = Message("D1:2", "Theo", datetime(2026, 3, 3), "b", reply_to="D1:3")
    last = Message("D1:3", "Theo", datetime(2026, 3, 1), "c")
    session = Session(4, None, (first, reply, last))
    chats = tuple(Chat(id_, ("Mara", "Theo"), (session,)) for id_ in ("x", "y"))
    corpus = Corpus("family", "whatsapp", chats)
    out = _written(corpus, tmp_path / "out")
    lines = [json.loads(line) for line in (out / "utterances.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines[:3]] == ["x/D1:1", "x/D1:2", "x/D1:3"]
    assert lines[1]["reply-to"] == "x/D1:3"
    assert len({line["id"] for line in lines}) == 6
    assert opened_as("convokit", out).corpus == corpus


def test_odd_lines_are_left_over(tmp_path: Path) -> None:
    twice = {**UTTERANCES[0], "timestamp": "noon"}
    path = _folder(tmp_path / "odd", [UTTERANCES[0], twice, {"id": "x"}, 7])
    with (path / "utterances.jsonl").open("a") as file:
        file.write('\n{"broken\n')
    check(
        opened_as("convokit", path),
        """
        u1 (mara)
        session 1, 2026-03-02 18:00:00
        u1 2026-03-02 18:00:00 mara: anyone up?
            {"score":3}
        u1~2 None mara: anyone up?
            {"score":3}
        5 entries = 2 in messages + 0 system + 3 left over
        utterances.jsonl:3: has no id or no speaker
        utterances.jsonl:4: has no id or no speaker
        utterances.jsonl:6: has no id or no speaker
        1 time stamps could not be read; those messages have none
        1 utterances repeat an id and got a new one
        """,
    )


def test_a_folder_without_utterances_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.mkdir()
    (path / "speakers.json").write_text("{}")
    (path / "index.json").write_text("{}")
    assert not FORMAT.sniff(Source.open(path))
    with refused("utterances"):
        opened_as("convokit", path)
