"""Messages' own database: conversations, tapbacks, answers, edits; and nothing written to disk."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from realtalk.formats.exports.imessage import typed_text
from realtalk.formats.limits import VARIABLE
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from refusals import refused
from shown import check
from written_apple import database, styled

# Times count from 2001; 674501382 is 2022-05-17 17:29:42.
TABLES: dict[str, list[dict[str, Any]]] = json.loads("""{
"handle": [
 {"ROWID": 1, "id": "+15550100"}, {"ROWID": 2, "id": "+15550100"},
 {"ROWID": 3, "id": "theo@example.org"}],
"chat": [
 {"ROWID": 1, "chat_identifier": "+15550100", "display_name": ""},
 {"ROWID": 2, "chat_identifier": "+15550100", "display_name": null},
 {"ROWID": 3, "chat_identifier": "chat77", "display_name": "Drills"}],
"chat_handle_join": [
 {"chat_id": 1, "handle_id": 1}, {"chat_id": 2, "handle_id": 2}, {"chat_id": 3, "handle_id": 1},
 {"chat_id": 3, "handle_id": 3}],
"attachment": [
 {"ROWID": 1, "filename": "~/Library/Messages/Attachments/a/b.heic", "mime_type": "image/heic",
  "transfer_name": "b.heic"}],
"message_attachment_join": [{"message_id": 2, "attachment_id": 1}],
"message": [
 {"text": "did you sleep"},
 {"is_from_me": 1, "handle_id": 0, "thread_originator_guid": "g1"},
 {"associated_message_type": 2000, "associated_message_guid": "p:0/g2"},
 {"associated_message_type": 3000, "associated_message_guid": "p:0/g2"},
 {"associated_message_type": 2006, "associated_message_guid": "bp:g2",
  "associated_message_emoji": "🎉"},
 {"handle_id": 2, "text": "by SMS", "date": 674501388},
 {"handle_id": 3, "text": "in a group", "date_edited": 674501382000000000},
 {"handle_id": 3, "item_type": 2},
 {"handle_id": 3, "date_edited": 674501382000000000},
 {"handle_id": 3},
 {"handle_id": 0, "text": "from whom?"}]
}""")
TABLES["message"][1]["attributedBody"] = styled(f"\ufffclook {'é' * 100}")
TABLES["message"] = [
    {"ROWID": n, "guid": f"g{n}", "handle_id": 1, "date": (674_501_382 + n) * 10**9} | row
    for n, row in enumerate(TABLES["message"], 1)
]
TABLES["chat_message_join"] = [
    {"chat_id": chat, "message_id": number}
    for chat, numbers in ((1, (1, 2, 3, 4, 5, 11)), (2, (6,)), (3, (7, 8, 9, 10)))
    for number in numbers
]


def read(path: Path, **options: Any) -> ReadCorpus:
    opened = open_reading(path, options=ReadOptions(**options))
    assert opened.format == "imessage"
    return opened.reading


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "Messages" / "chat.db"
    path.parent.mkdir()
    path.write_bytes(database(TABLES))
    return path


def test_conversations(kept: Path) -> None:
    check(
        read(kept),
        """
        +15550100 (+15550100, Me)
            {"authors":{"+15550100":"+15550100"},"participants":["+15550100"]}
        session 1, 2022-05-17 17:29:43
        D1:1 2022-05-17 17:29:43 +15550100: did you sleep
            {"id":"g1"}
        D1:2 2022-05-17 17:29:44 Me, to D1:1: look ééééééééééééééééééééééééééééééééééééééééééééé
            ééééééééééééééééééééééééééééééééééééééééééééééééééééééé
            image b.heic ~/Library/Messages/Attachments/a/b.heic
            {"id":"g2","reactions":[{"by":["+15550100"],"count":1,"emoji":"🎉"}]}
        D1:3 2022-05-17 17:29:48 +15550100: by SMS
            {"id":"g6"}
        D1:4 2022-05-17 17:29:53 +15550100: from whom?
            {"id":"g11"}
        Drills (theo@example.org) {"authors":{"theo@example.org":"theo@example.org"},"participan
            ts":["+15550100","theo@example.org"]}
        session 1, 2022-05-17 17:29:49
        D1:1 2022-05-17 17:29:49 theo@example.org, edited: in a group
            {"id":"g7"}
        D1:2 2022-05-17 17:29:51 theo@example.org, deleted:
            {"id":"g9"}
        11 entries = 6 in messages + 4 system + 1 left over
        chat.db, message 10: neither text nor attachment
        """,
    )


def test_an_older_copy_beside_it_undoes_no_reaction(kept: Path) -> None:
    older = [row | {"associated_message_emoji": "🙂"} for row in TABLES["message"]]
    (kept.parent / "older.db").write_bytes(database(TABLES | {"message": older}))
    extras = [m.extra for chat in read(kept.parent).corpus.chats for m in chat.messages]
    assert any("🎉" in extra for extra in extras)


def test_packed_renamed_or_in_a_folder(kept: Path, tmp_path: Path) -> None:
    expected = read(kept).corpus.chats
    with closing(sqlite3.connect(kept)) as made:
        made.execute("PRAGMA journal_mode=WAL")
    packed = tmp_path / "backup.zip"
    with ZipFile(packed, "w") as archive:
        archive.write(kept, "Messages/chat.db")
    renamed = tmp_path / "31bb7ba8914766d4ba40d6dfb6113c8b614be442"
    renamed.write_bytes(kept.read_bytes())
    for path in (packed, renamed, kept.parent):
        assert read(path).corpus.chats == expected


def test_other_databases_are_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE message (ROWID INTEGER PRIMARY KEY, words TEXT)")
        made.commit()
    with refused("unknown-format"):
        open_reading(path)
    with refused("holds no messages of Apple's"):
        open_reading(path, "imessage")


def test_a_table_that_computes_for_ever_is_none(kept: Path) -> None:
    with closing(sqlite3.connect(kept)) as made:
        made.execute("ALTER TABLE chat RENAME TO chats")
        made.execute(
            "CREATE VIEW chat AS WITH RECURSIVE n(ROWID) AS "
            "(SELECT 1 UNION ALL SELECT ROWID + 1 FROM n) SELECT ROWID, 'x' chat_identifier FROM n"
        )
        made.commit()
    assert {chat.id for chat in read(kept).corpus.chats} == {"+15550100", "theo@example.org"}


def test_more_rows_than_a_file_can_hold(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "0.001")  # ten rows: damage can name one page many times
    with refused("more than a file of its size can"):
        open_reading(kept, "imessage")


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 70_000])
def test_styled_text_of_any_length(size: int) -> None:
    blob = styled("a" * size)
    assert typed_text(blob) == "a" * size
    end = blob.rindex(b"\x86\x84\x02iI")
    assert typed_text(blob[: end - 1]) is None


def test_what_is_no_styled_text() -> None:
    for blob in (b"", b"bplist00", b"\x04\x0bstreamtyped", styled("hi").replace(b"NSString", b"x")):
        assert typed_text(blob) is None
