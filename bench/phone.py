"""How fast WhatsApp's own database is read: a million messages of an Android phone.

    python bench/phone.py --messages 1000000
    → seconds, those of the processor, and peak memory of reading it; exit status 1 where a promise
      is broken

The database is written first, in the newer layout: 200 chats, a tenth of the messages with a file,
a tenth with a reaction and a tenth as answers. The promises: under 15 seconds of processor, which
others at work on the machine do not lengthen, and 1 GB.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

MOST_SECONDS, MOST_GB = 15.0, 1.0
_SCHEMA = """
CREATE TABLE jid (_id INTEGER PRIMARY KEY, raw_string TEXT);
CREATE TABLE chat (_id INTEGER PRIMARY KEY, jid_row_id INTEGER, subject TEXT);
CREATE TABLE message (_id INTEGER PRIMARY KEY, chat_row_id INTEGER, from_me INTEGER, key_id TEXT,
  sender_jid_row_id INTEGER, timestamp INTEGER, message_type INTEGER, text_data TEXT,
  status INTEGER);
CREATE TABLE message_media (message_row_id INTEGER PRIMARY KEY, file_path TEXT, mime_type TEXT);
CREATE TABLE message_quoted (message_row_id INTEGER PRIMARY KEY, key_id TEXT);
CREATE TABLE message_add_on (_id INTEGER PRIMARY KEY, parent_message_row_id INTEGER,
  from_me INTEGER, sender_jid_row_id INTEGER);
CREATE TABLE message_add_on_reaction (message_add_on_row_id INTEGER PRIMARY KEY, reaction TEXT);
"""
_CHATS, _PEOPLE, _EVERY = 200, 300, 10
_WORDS = "the of and to in you that was for are with they this have from one had".split()  # noqa: SIM905
_READ = """
import json, resource, sys, time
from realtalk.formats.opening import open_reading
start = time.perf_counter()
reading = open_reading(sys.argv[1]).reading
count = reading.tables.messages.height
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak *= 1 if sys.platform == "darwin" else 1024
used = time.process_time()
print(json.dumps([time.perf_counter() - start, used, peak / 1e9, count]))
"""


def write(path: Path, messages: int) -> None:
    """A phone's database of our own words."""
    draw = random.Random(1)
    rows = range(1, messages + 1)
    with closing(sqlite3.connect(path)) as made:
        made.executescript(_SCHEMA)
        people = [(row, f"4917{row:07}@s.whatsapp.net") for row in range(1, _PEOPLE + 1)]
        groups = [(_PEOPLE + row, f"4917-{row}@g.us") for row in range(1, _CHATS + 1)]
        made.executemany("INSERT INTO jid VALUES (?, ?)", [*people, *groups])
        chats = [(row, _PEOPLE + row, f"Group {row}") for row in range(1, _CHATS + 1)]
        made.executemany("INSERT INTO chat VALUES (?, ?, ?)", chats)
        made.executemany(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                (
                    *(row, 1 + int(_CHATS * draw.random() ** 3), row % 2, f"3EB0{row:016X}"),
                    *(draw.randint(1, _PEOPLE), 1_500_000_000_000 + row * 60_000),
                    *(
                        int(row % _EVERY == 0),
                        " ".join(draw.choices(_WORDS, k=draw.randint(1, 15))),
                    ),
                )
                for row in rows
            ),
        )
        some = rows[_EVERY - 1 :: _EVERY]
        files = ((row, f"Media/{row}.jpg", "image/jpeg") for row in some)
        made.executemany("INSERT INTO message_media VALUES (?, ?, ?)", files)
        quotes = ((row, f"3EB0{row - 1:016X}") for row in some)
        made.executemany("INSERT INTO message_quoted VALUES (?, ?)", quotes)
        marks = ((row, row, 0, 1 + row % _PEOPLE) for row in some)
        made.executemany("INSERT INTO message_add_on VALUES (?, ?, ?, ?)", marks)
        emoji = ((row, draw.choice("❤😂👍")) for row in some)
        made.executemany("INSERT INTO message_add_on_reaction VALUES (?, ?)", emoji)
        made.commit()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1_000_000)
    messages = parser.parse_args().messages
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "msgstore.db"
        write(path, messages)
        command = [sys.executable, "-c", _READ, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, used, size, count = json.loads(done.stdout)
    print(f"{count:,} messages: {seconds:.1f} s ({used:.1f} s of processor), {size:.2f} GB")
    return int(count != messages or used > MOST_SECONDS or size > MOST_GB)


if __name__ == "__main__":
    sys.exit(main())
