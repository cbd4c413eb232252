"""Google Chat as Takeout writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import exported
from exported import messages
from shown import check
from text_tables import records

IDA = {"name": "Ida Holm", "email": "Ida@example.org", "user_type": "Human"}
BEN = {"name": "Ben Roy", "email": "ben@example.org", "user_type": "Human"}
BOT = {"name": "Polly", "user_type": "Bot"}


def said(number: int, creator: Any, text: str = "", **more: Any) -> dict[str, Any]:
    stamp = f"Wednesday, May 1, 2024 at 7:{30 + number}:05\u202fAM UTC"
    return {
        "creator": creator,
        "created_date": stamp,
        "text": text,
        "topic_id": f"t{number}",
        "message_id": f"abc/t{number}/m{number}",
    } | more


PEOPLE = {"ida": IDA, "ben": BEN, "bot": BOT, "nobody": {}}
ITEMS: list[Any] = [
    said(number, PEOPLE[row["who"]], row["text"], **row["more"])
    for number, row in enumerate(
        records("""
        who    | text                      | more
        ida    | did the seeds come?       | {}
        ben    | look                      | {"attached_files": [{"original_name": "Seeds.PNG", "export_name": "File-s.png"}]}
        ida    | lovely!                   | {"topic_id": "t1", "updated_date": "Wednesday, May 1, 2024 at 7:40:00 AM UTC"}
        ben    | agreed                    | {"quoted_message_metadata": {"message_id": "abc/t0/m0", "text": "x"}}
        ida    | see https://example.org/a | {"annotations": [{"url_metadata": {"title": "Beans", "url": "https://example.org/a"}}], "reactions": [{"emoji": {"unicode": "🌱"}, "reactor_emails": ["BEN@example.org"]}]}
        ben    | ""                        | {"annotations": [{"video_call_metadata": {"meeting_space": {"meeting_url": "m"}}}]}
        ben    | ""                        | {"message_state": "DELETED"}
        bot    | poll: who waters?         | {}
        nobody | nobody                    | {}
        """)  # noqa: E501
    )
]
ITEMS.append("broken")
FILES: dict[str, Any] = {
    "Takeout/Google Chat/Groups/DM abc/messages.json": {"messages": ITEMS},
    "Takeout/Google Chat/Groups/DM abc/group_info.json": {"members": [IDA, BEN]},
    "Takeout/Google Chat/Groups/Space xyz/messages.json": {"messages": [said(0, BEN, "hello all")]},
    "Takeout/Google Chat/Groups/Space xyz/group_info.json": {"name": "Allotment", "members": [BEN]},
    "Takeout/Google Chat/Users/User 9/user_info.json": {"user": BEN},
}


def test_a_takeout(tmp_path: Path) -> None:
    check(
        exported.read(tmp_path, FILES, "google-chat"),
        """
        Ida Holm (Ida Holm, Ben Roy, Polly) {"authors":{"Ben Roy":"ben@example.org","Ida
            Holm":"ida@example.org"},"calls":{"Ben
            Roy":["2024-05-01T07:35:05"]},"id":"abc","kind":"DM","members":["Ida Holm","Ben
            Roy"]}
        session 1, 2024-05-01 07:30:05
        D1:1 2024-05-01 07:30:05 Ida Holm: did the seeds come?
            {"id":"abc/t0/m0"}
        D1:2 2024-05-01 07:31:05 Ben Roy: look
            image Seeds.PNG File-s.png
            {"id":"abc/t1/m1"}
        D1:3 2024-05-01 07:32:05 Ida Holm, to D1:2, edited: lovely!
            {"id":"abc/t2/m2"}
        D1:4 2024-05-01 07:33:05 Ben Roy, to D1:1: agreed
            {"id":"abc/t3/m3"}
        D1:5 2024-05-01 07:34:05 Ida Holm: see https://example.org/a
            link Beans https://example.org/a
            {"id":"abc/t4/m4","reactions":[{"by":["Ben Roy"],"count":1,"emoji":"🌱"}]}
        D1:6 2024-05-01 07:36:05 Ben Roy, deleted:
            {"id":"abc/t6/m6"}
        D1:7 2024-05-01 07:37:05 Polly: poll: who waters?
            {"bot":true,"id":"abc/t7/m7"}
        Allotment (Ben Roy) {"authors":{"Ben
            Roy":"ben@example.org"},"id":"xyz","kind":"Space","members":["Ben Roy"]}
        session 1, 2024-05-01 07:30:05
        D1:1 2024-05-01 07:30:05 Ben Roy: hello all
            {"id":"abc/t0/m0"}
        11 entries = 8 in messages + 1 system + 2 left over
        Takeout/Google Chat/Groups/DM abc/messages.json, messages[8]: no sender
        Takeout/Google Chat/Groups/DM abc/messages.json, messages[9]: not an object
        """,
    )


def test_one_file_alone_and_a_time_zone(tmp_path: Path) -> None:
    german = said(0, IDA, "hallo") | {"created_date": "Mittwoch, 1. Mai 2024 um 07:30:05 UTC"}
    files = {"messages.json": {"messages": [german, said(1, BEN, "hi")]}}
    found = exported.read(tmp_path, files, "google-chat", timezone="Europe/Berlin")
    times = [str(message.time) for message in messages(found)]
    assert times == ["2024-05-01 09:30:05", "2024-05-01 09:31:05"]


def test_two_downloads_of_one_conversation_are_joined(tmp_path: Path) -> None:
    place = "Google Chat/Groups/DM abc/messages.json"
    parts = {"may": ITEMS[:2], "june": ITEMS[1:5]}
    files = {f"{day}/{place}": {"messages": items} for day, items in parts.items()}
    found = exported.read(tmp_path, files)
    assert len(found.corpus.chats) == 1 and len(messages(found)) == 5
    assert [left.reason for left in found.ledger.leftovers] == ["repeats message abc/t1/m1"]
