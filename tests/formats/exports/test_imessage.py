"""iMessage as imessage-exporter writes it, in text and in HTML, and as Messages keeps it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import exported
from exported import messages
from realtalk.formats.exports.imessage import typed_text
from realtalk.formats.limits import VARIABLE
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from refusals import refused
from shown import check
from written_apple import database, styled

TEXT = """May 17, 2022  5:29:42 PM (Read by you after 5 seconds)
Mara
did you sleep

at all?
Tapbacks:
Loved by Me
🎉 by Theo
Sticker from Theo: attachments/1/s.heic from Theo

    May 17, 2022  5:31:00 PM
    Me
    no
not a minute

May 17, 2022  5:30:00 PM Mara renamed the conversation to Drills

May 17, 2022  5:31:00 PM
Me
no
not a minute
This message responded to an earlier message.

May 17, 2022 12:32:00 AM
Me
May 17, 2022 12:32:00 AM the neighbors
Edited 5 seconds later: the neighbours
Edited 1 minute later: the other neighbours

May 17, 2022  5:33:00 PM
Theo
attachments/12/3.heic
look
/Users/me/Library/Messages/Attachments/1/voice.caf
Transcription: hear this
Sent with Confetti

May 17, 2022  5:34:00 PM
Theo
They unsent this message part 5 seconds after sending!

May 17, 2022  5:35:00 PM
Theo
Started sharing location!

"""

PAGE = """<html>
<head><meta charset="UTF-8"><style>.received {{}}</style></head><body>
{}
<div class ="announcement"><p><span class="timestamp">May 17, 2022  5:30:00 PM</span> Mara left.</p></div>
</body></html>"""  # noqa: E501


def bubble(guid: str, clock: str, sender: str, *parts: str, after: str = "") -> str:
    inside = "".join(f'<hr><div class="message_part">\n{part}\n</div>\n' for part in parts)
    link = f'<a title="Reveal in Messages app" href="sms://open?message-guid={guid}">'
    kind = "sent iMessage" if sender == "Me" else "received"
    return (
        f'<div class="message">\n<div class="{kind}">\n<p><span class="timestamp">{link}'
        f"May 17, 2022 {clock}</a> (Read by you after 5 seconds)</span>\n"
        f'<span class="sender">{sender}</span></p>\n{inside}{after}</div>\n</div>\n'
    )


def said(text: str) -> str:
    return f'<span class="bubble">{text}</span>'


def read(folder: Path, name: str, text: str) -> ReadCorpus:
    return exported.read(folder, {name: text}, "imessage")


def test_text(tmp_path: Path) -> None:
    check(
        read(tmp_path, "+15550100.txt", TEXT),
        """
        +15550100 (Me, Mara, Theo)
        session 1, 2022-05-17 00:32:00
        D1:1 2022-05-17 00:32:00 Me, edited: the other neighbours
        session 2, 2022-05-17 17:29:42
        D2:1 2022-05-17 17:29:42 Mara: did you sleep⏎⏎at all?
            {"id":"1","reactions":[{"by":["Me"],"count":1,"emoji":"❤️"},{"by":["Theo"],"count":1
            ,"emoji":"🎉"},{"by":["Theo"],"count":1,"emoji":"sticker"}]}
        D2:2 2022-05-17 17:31:00 Me, to D2:1: no⏎not a minute
        D2:3 2022-05-17 17:33:00 Theo: look
            image 3.heic attachments/12/3.heic
            audio voice.caf /Users/me/Library/Messages/Attachments/1/voice.caf hear this
        D2:4 2022-05-17 17:34:00 Theo, deleted:
        45 lines = 30 in messages + 15 system + 0 left over
        """,
    )


def test_an_answer_that_stands_in_a_thread_only_is_a_message(tmp_path: Path) -> None:
    alone = TEXT.replace("May 17, 2022  5:31:00 PM\nMe\nno\nnot a minute\nThis", "x\nThis")
    found = messages(read(tmp_path, "a.txt", alone.replace("\nx\nThis", "\nThis")))
    assert [m.text for m in found if m.reply_to] == ["no\nnot a minute"]


@pytest.mark.parametrize("indent", ["", "    "])
def test_the_end_of_a_long_answer_is_not_of_what_it_answers(tmp_path: Path, indent: str) -> None:
    first, second = (f"{each}not a minute\n\n{each}not one" for each in (indent, ""))
    text = TEXT.replace("not a minute", first, 1)
    text = text.replace("Me\nno\nnot a minute", f"Me\nno\n{second}")
    found = messages(read(tmp_path, "a.txt", text))
    assert [m.text for m in found[1:3]] == [
        "did you sleep\n\nat all?",
        "no\nnot a minute\n\nnot one",
    ]
    assert found[2].reply_to == found[1].id


def test_a_time_without_a_name_begins_nothing(tmp_path: Path) -> None:
    reading = read(tmp_path, "a.txt", TEXT + "May 17, 2022  5:36:00 PM\n\nTheo\n")
    assert reading.ledger.total == 48
    assert messages(reading)[-1].text.endswith("\n\nMay 17, 2022  5:36:00 PM\n\nTheo")


def test_html(tmp_path: Path) -> None:
    tapbacks = (
        '<div class="tapbacks"><hr><p>Tapbacks:</p>\n<div class="tapback"><span class="tapback">'
        '<b>Loved</b> by Me</span></div>\n<div class="tapback"><img src="s.heic"> '
        '<div class="sticker_tapback">&nbsp;by Theo</div></div>\n</div>\n'
    )
    answer = bubble("B-2", " 5:31:00 PM", "Me", said("not a minute"))
    thread = f'<div class="replies">\n<div class="reply" id="B-2">{answer}</div>\n</div>\n'
    edited = (
        '<div class="edited"><table><tr><td></td><td>the neighbors</td></tr><tr><td><span '
        'class="timestamp">Edited 5 seconds later</span></td><td>the neighbours</td></tr></table>'
        "</div>"
    )
    app = (
        '<div class="app"><a href="https://example.org"><div class="app_header"><img src="p.png">'
        '<div class="name">example.org</div></div><div class="app_footer"><div class="caption">'
        "Drills</div></div></a></div>"
    )
    unsent = '<span class="unsent"><span class="unsent">x</span></span>'
    first = said("did <b>you</b>\nsleep &lt;3")
    page = PAGE.format(
        bubble("A-1", " 5:29:42 PM", "Mara", first, after=tapbacks + thread)
        + answer
        + bubble("C-3", "10:32:00 PM", "Me", edited)
        + bubble(
            "D-4",
            "10:33:00 PM",
            "Theo",
            '<div class="attachment"><img src="attachments/1.heic" loading="lazy"></div>',
            '<div class="attachment"><audio controls src="a.caf" type="audio/x" </audio></div>'
            '<span class="transcription">Transcription: hear this</span>',
            '<div class="attachment"><a href="b.pdf">Click to download b.pdf (3 kB)</a></div>',
            '<div class="sticker"><img src="s.heic"></div>',
            '<span class="attachment_error">Attachment does not exist!</span>',
            said("look"),
        )
        + bubble("E-5", "10:34:00 PM", "Theo", app)
        + bubble("F-6", "10:35:00 PM", "Theo", unsent)
        + bubble("G-7", "10:36:00 PM", "Theo", after='<span class="shareplay">Ended</span>')
    )
    check(
        read(tmp_path, "Drills.html", page),
        """
        Drills (Mara, Me, Theo)
        session 1, 2022-05-17 17:29:42
        D1:1 2022-05-17 17:29:42 Mara: did you⏎sleep <3
            {"id":"A-1","reactions":[{"by":["Me"],"count":1,"emoji":"❤️"},{"by":["Theo"],"count"
            :1,"emoji":"sticker"}]}
        D1:2 2022-05-17 17:31:00 Me, to D1:1: not a minute
            {"id":"B-2"}
        D1:3 2022-05-17 22:32:00 Me, edited: the neighbours
            {"id":"C-3"}
        D1:4 2022-05-17 22:33:00 Theo: look
            image 1.heic attachments/1.heic
            audio a.caf a.caf hear this
            file b.pdf b.pdf
            sticker s.heic s.heic
            media
            {"id":"D-4"}
        D1:5 2022-05-17 22:34:00 Theo: https://example.org
            link example.org https://example.org Drills
            {"id":"E-5"}
        D1:6 2022-05-17 22:35:00 Theo, deleted:
            {"id":"F-6"}
        9 entries = 6 in messages + 3 system + 0 left over
        """,
    )


@pytest.mark.parametrize("ending", ["txt", "html"])
def test_one_chat_per_file(tmp_path: Path, ending: str) -> None:
    page = PAGE.format(bubble("A", " 5:29:42 PM", "Mara", said("hi")))
    files = {f"{stem}.{ending}": TEXT if ending == "txt" else page for stem in ("Mara", "Theo")}
    reading = exported.read(tmp_path, files | {"attachments/notes.txt": "May 17, 2022\n"})
    assert [chat.id for chat in reading.corpus.chats] == ["Mara", "Theo"]


# --- Messages' own database; nothing is written to disk ---


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
    for chat, numbers in enumerate(("1 2 3 4 5 11", "6", "7 8 9 10"), 1)
    for number in map(int, numbers.split())
]


def read_database(path: Path, **options: Any) -> ReadCorpus:
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
        read_database(kept),
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
    extras = [m.extra for chat in read_database(kept.parent).corpus.chats for m in chat.messages]
    assert any("🎉" in extra for extra in extras)


def test_packed_renamed_or_in_a_folder(kept: Path, tmp_path: Path) -> None:
    expected = read_database(kept).corpus.chats
    with closing(sqlite3.connect(kept)) as made:
        made.execute("PRAGMA journal_mode=WAL")
    packed = tmp_path / "backup.zip"
    with ZipFile(packed, "w") as archive:
        archive.write(kept, "Messages/chat.db")
    renamed = tmp_path / "31bb7ba8914766d4ba40d6dfb6113c8b614be442"
    renamed.write_bytes(kept.read_bytes())
    for path in (packed, renamed, kept.parent):
        assert read_database(path).corpus.chats == expected


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
    assert {chat.id for chat in read_database(kept).corpus.chats} == {
        "+15550100",
        "theo@example.org",
    }


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
