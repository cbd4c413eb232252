"""Reddit trees, streamed into columns."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import exported
from exported import opened_as
from realtalk.formats.published.reddit import FORMAT
from realtalk.formats.source import Source
from shown import check

POST: dict[str, Any] = json.loads("""{"title": "Is it me?", "content": "Nobody waters the plants.",
    "score": 12, "author": "mara", "timestamp": "2021-11-03T07:37:48Z", "__sub__": "plants",
    "comments": [
        {"body": "no", "author": "theo", "replies": [
            {"body": "phew", "author": "mara", "score": 1, "timestamp": 1635925068}],
         "score": "-3", "timestamp": "2021-11-03T08:00:00Z"},
        {"body": "[removed]", "author": null, "score": null, "timestamp": "", "replies": null}]}""")
BARE = {"title": "Only a title", "content": "", "score": 0, "comments": []}


def test_a_post_is_a_chat_in_document_order(tmp_path: Path) -> None:
    check(
        opened_as("reddit", exported.write(tmp_path, {"threads.json": {"mara": [POST]}})),
        """
        post-000001 (mara, theo, [deleted])
            {"author":"mara","score":12,"subreddit":"plants","title":"Is it me?"}
        session 1, 2021-11-03 07:37:48
        D1:1 2021-11-03 07:37:48 mara: Nobody waters the plants.
            {"score":12}
        D1:2 2021-11-03 08:00:00 theo, to D1:1: no
            {"score":-3}
        D1:3 2021-11-03 07:37:48 mara, to D1:2: phew
            {"score":1}
        D1:4 None [deleted], to D1:1, deleted: [removed]
        4 entries = 4 in messages + 0 system + 0 left over
        1 time stamps could not be read; those messages have none
        """,
    )


def test_all_layouts_say_the_same(tmp_path: Path) -> None:
    posts = [POST, {**BARE, "author": "theo"}]
    listed = opened_as("reddit", exported.write(tmp_path, {"list.json": posts})).corpus.chats
    lines = "".join(json.dumps(post) + "\n" for post in posts).encode()
    packed = tmp_path / "lines.jsonl.gz"
    packed.write_bytes(gzip.compress(lines))
    assert FORMAT.sniff(Source.open(packed))
    assert opened_as("reddit", packed).corpus.chats == listed
    marked = tmp_path / "marked.json"
    marked.write_bytes(b"\xef\xbb\xbf" + json.dumps(posts).encode())
    assert opened_as("reddit", marked).corpus.chats == listed
    people = {"mara": [POST], "theo": posts[1:]}
    filed = opened_as("reddit", exported.write(tmp_path, {"filed.json": people})).corpus
    assert [chat.sessions for chat in filed.chats] == [chat.sessions for chat in listed]


@pytest.mark.parametrize("at_once", [1, 3, 6])
def test_entries_are_put_away_on_the_way(
    tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a large file does not wait in memory to become columns."""
    posts = [POST, {**BARE, "author": "theo"}, {}, {**POST, "id": "t3_x"}, POST]
    path = exported.write(tmp_path, {"threads.json": posts})
    whole = opened_as("reddit", path)
    monkeypatch.setattr("realtalk.formats.published.reddit._AT_ONCE", at_once)
    some = opened_as("reddit", path)
    assert some.tables.messages.equals(whole.tables.messages)
    assert some.tables.messages.n_chunks() == 1
    assert (some.tables.chats, some.ledger) == (whole.tables.chats, whole.ledger)


def test_a_post_without_text_or_author(tmp_path: Path) -> None:
    check(
        opened_as("reddit", exported.write(tmp_path, {"x.json": {"juno": [BARE]}})),
        """
        post-000001 (juno) {"author":"juno","score":0,"title":"Only a title"}
        session 1, None
        D1:1 None juno: Only a title
            {"score":0}
        1 entries = 1 in messages + 0 system + 0 left over
        """,
    )


def test_given_ids_are_kept_and_made_unique(tmp_path: Path) -> None:
    comments = json.loads("""[{"id": "c", "body": "a"}, {"id": "c", "body": "b"},
        {"body": "d", "extra": [1]}]""")
    post = {**POST, "id": "t3_x", "comments": comments, "gilded": True}
    check(
        opened_as("reddit", exported.write(tmp_path, {"x.json": [post, post]})),
        """
        t3_x (mara, [deleted]) {"gilded":true,"score":12,"subreddit":"plants","title":"Is it
            me?"}
        session 1, 2021-11-03 07:37:48
        t3_x 2021-11-03 07:37:48 mara: Nobody waters the plants.
            {"score":12}
        c None [deleted], to t3_x: a
        c~2 None [deleted], to t3_x: b
        D1:4 None [deleted], to t3_x: d
        t3_x~2 (mara, [deleted]) {"gilded":true,"score":12,"subreddit":"plants","title":"Is it
            me?"}
        session 1, 2021-11-03 07:37:48
        t3_x 2021-11-03 07:37:48 mara: Nobody waters the plants.
            {"score":12}
        c None [deleted], to t3_x: a
        c~2 None [deleted], to t3_x: b
        D1:4 None [deleted], to t3_x: d
        8 entries = 8 in messages + 0 system + 0 left over
        """,
    )


def test_what_is_no_comment_is_left_over(tmp_path: Path) -> None:
    comments = ["t1_a", {}, [], {"replies": [{"body": "kept", "author": "theo"}]}]
    check(
        opened_as(
            "reddit", exported.write(tmp_path, {"x.json": [{**POST, "comments": comments}, {}, 5]})
        ),
        """
        post-000001 (mara, [deleted], theo) {"score":12,"subreddit":"plants","title":"Is it
            me?"}
        session 1, 2021-11-03 07:37:48
        D1:1 2021-11-03 07:37:48 mara: Nobody waters the plants.
            {"score":12}
        D1:2 None [deleted], to D1:1, deleted:
        D1:3 None theo, to D1:2: kept
        8 entries = 3 in messages + 0 system + 5 left over
        x.json: post 1: a bare value where a comment belongs
        x.json: post 1: has no text, author or time
        x.json: post 1: a list where a comment belongs
        x.json: post 2: has no text, author or time
        x.json: post 3: a bare value where a post belongs
        """,
    )


def test_the_clock_of_a_time_zone(tmp_path: Path) -> None:
    path = exported.write(tmp_path, {"x.json": [POST]})
    (chat,) = opened_as("reddit", path, timezone="Asia/Tokyo").corpus.chats
    assert chat.by_id["D1:1"].time == datetime(2021, 11, 3, 16, 37, 48)
    assert chat.by_id["D1:3"].time == datetime(2021, 11, 3, 16, 37, 48)


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_replies(tmp_path: Path) -> None:
    depth = 100_000
    path = tmp_path / "deep.json"
    head = '[{"title":"t","score":1,"author":"a","comments":'
    chain = '[{"body":"x","author":"b","replies":' * depth + "[]" + "}]" * depth
    path.write_text(f"{head}{chain}}}]")
    assert FORMAT.sniff(Source.open(path))
    reading = opened_as("reddit", path)
    (chat,) = reading.corpus.chats
    messages = list(chat.messages)
    assert len(messages) == depth + 1
    assert messages[-1].reply_to == messages[-2].id
    assert reading.ledger.in_messages == depth + 1


def test_the_small_collection(data: Path) -> None:
    reading = opened_as("reddit", data / "reddit" / "persona_like_small.json")
    assert len(reading.tables.chats) == 299
    assert reading.ledger.total == reading.ledger.in_messages == 299 + 4193
    assert reading.tables.messages["time"].null_count() == 0
