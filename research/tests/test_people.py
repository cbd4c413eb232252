"""People of threads: who is let in, and that nothing later is learned from."""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from research.experiments.people import LEAST_LEARNED, LEAST_TESTED, People, read_people
from research.results.people_results import distance, smallest_seen
from research.results.people_rows import shape

BEGIN = datetime(2021, 10, 1, 12)


def comment(author: str, minute: int, body: str, *replies: dict[str, Any]) -> dict[str, Any]:
    time = (BEGIN + timedelta(minutes=minute)).isoformat() + "Z"
    return {"author": author, "timestamp": time, "body": body, "replies": list(replies)}


def post(number: int, *comments: dict[str, Any]) -> dict[str, Any]:
    time = (BEGIN + timedelta(minutes=10 * number)).isoformat() + "Z"
    head = {"author": "asker", "timestamp": time, "title": f"post {number}", "content": "so?"}
    return {**head, "score": 1, "comments": list(comments)}


def threads() -> list[dict[str, Any]]:
    """Forty posts; `ann` writes three comments on each, two of them on one branch, `robo` two alike."""
    made = []
    for number in range(40):
        at = 10 * number
        answer = comment("ann", at + 3, f"and then the {number}th of them left")
        first = comment(
            "ann", at + 1, f"well I saw {number} of them", comment("bo", at + 2, "ok", answer)
        )
        other = comment("ann", at + 4, f"nobody asked of {number} yet")
        robots = [comment("robo", at + 5, f"I am a bot, number {number}") for _ in range(2)]
        made.append(post(number, first, other, *robots))
    # The first thread goes on after all others: what is said there late is not learned from.
    made[0]["comments"].append(comment("ann", 5000, "back here after all these days"))
    return made


@pytest.fixture
def people(tmp_path: Path) -> People:
    path = tmp_path / "threads.json.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        json.dump({"ann": threads(), "bo": threads()[:3]}, stream)  # filed twice, read once
    return read_people(path)


def test_who_writes_enough_and_is_no_bot_is_let_in(people: People) -> None:
    (choice,) = people.choices
    assert choice.turns[choice.learn] >= LEAST_LEARNED
    assert choice.turns[choice.test] >= LEAST_TESTED
    assert people.left_out["a bot, or writes like one"] == 1
    assert "ann" not in {name for chat in people.corpus.chats for name in chat.speakers}


def test_what_is_learned_is_earlier_and_of_other_threads(people: People) -> None:
    learned, tested = people.corpus.chats
    own = people.choices[0].speaker
    times = [
        [message.time for message in chat.messages if message.speaker == own]
        for chat in (learned, tested)
    ]
    assert max(filter(None, times[0])) < min(filter(None, times[1]))
    posts = [{session.messages[0].text for session in chat.sessions} for chat in (learned, tested)]
    assert not posts[0] & posts[1]
    assert all("back here" not in message.text for message in learned.messages)


def test_a_comment_stands_in_one_session(people: People) -> None:
    own = people.choices[0].speaker
    for chat in people.corpus.chats:
        texts = [message.text for message in chat.messages if message.speaker == own]
        assert len(texts) == len(set(texts))


def test_more_people_show_smaller_differences() -> None:
    differences = [[0.0, 0.2, 0.1], [0.3, 0.1, 0.2], [-0.1, 0.1, 0.0]]
    ten, forty = (smallest_seen(differences, people, 20) for people in (10, 40))
    assert ten == pytest.approx(2 * forty)


def test_a_turn_has_a_shape_and_no_word_of_it() -> None:
    assert shape("No, that’s not it. Why? 😀") == {
        **{"words": 6, "question": True, "opening": "no"},
        **{"objects": True, "emoji": True},
    }
    assert shape("Quartz _is_ hard :)") == {
        **{"words": 3, "question": False, "opening": "other"},
        **{"objects": False, "emoji": False},
    }


def test_distance_of_shapes_is_in_bits() -> None:
    assert distance("aabb", "ab") == pytest.approx(0)
    assert distance("aa", "bbb") == pytest.approx(1)
    assert 0 < distance("aab", "abb") < 0.2
