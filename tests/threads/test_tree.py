"""Threads as flat trees."""

from __future__ import annotations

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from realtalk.chat import Chat, Message, Session
from realtalk.threads import Comment, Post, Thread
from refusals import refused
from text_tables import cases


def _chat(*links: tuple[str, str | None]) -> Chat:
    messages = tuple(
        Message(id_, f"by {id_}", datetime(2026, 3, 2), f"text {id_}", reply_to=parent)
        for id_, parent in links
    )
    return Chat("t", tuple(m.speaker for m in messages), (Session(1, None, messages),))


TREE = _chat(("p", None), ("a", "p"), ("b", "a"), ("c", "p"), ("d", "b"), ("e", "a"))


def test_the_tree() -> None:
    thread = Thread.from_chat(TREE)
    assert [node.id for node in thread.walk()] == ["p", "a", "b", "d", "e", "c"]
    assert [node.id for node in thread.children("a")] == ["b", "e"]
    assert thread.children("d") == () and thread.notes == ()
    with refused("message zz"):
        thread.path("zz")


def test_missing_parents_answer_the_post_and_are_noted() -> None:
    thread = Thread.from_chat(_chat(("p", None), ("a", "gone"), ("b", None), ("c", "a")))
    assert [(comment.id, comment.parent) for comment in thread.comments] == [
        ("a", "p"),
        ("b", "p"),
        ("c", "a"),
    ]
    assert thread.notes == ("2 without a parent in the chat answer the post",)
    cut_off = Thread.from_chat(_chat(("a", "gone"), ("b", "a")))
    assert cut_off.post.id == "a"


@cases("""
    links
    [["a", "b"], ["b", "a"]]
    [["p", null], ["a", "b"], ["b", "a"]]
    [["p", null], ["a", "a"]]
    [["p", null], ["a", "p"], ["a", "p"]]
    [["p", null], ["p", "p"]]
    []
""")
def test_circles_repeated_ids_and_nothing_are_errors(links: list[tuple[str, str | None]]) -> None:
    with refused():
        Thread.from_chat(_chat(*links))


def test_a_comment_cannot_answer_nothing() -> None:
    post = Post("p", "mara", None, "", "x")
    with refused("message a"):
        Thread("t", post, (Comment("a", "zz", "theo", None, "y"),))


@given(st.lists(st.integers(0, 10_000), max_size=40))
def test_walk_is_depth_first_and_complete(choices: list[int]) -> None:
    links: list[tuple[str, str | None]] = [("0", None)]
    links += [(str(n), str(pick % n)) for n, pick in enumerate(choices, 1)]
    thread = Thread.from_chat(_chat(*links))
    walked = [node.id for node in thread.walk()]
    assert sorted(walked) == sorted(thread.by_id)
    place = {id_: position for position, id_ in enumerate(walked)}
    for id_, parent in links[1:]:
        assert parent is not None
        assert place[parent] < place[id_]
        assert thread.depth(id_) == thread.depth(parent) + 1 == len(thread.path(id_)) - 1
        between = walked[place[parent] + 1 : place[id_]]
        assert all(parent in [node.id for node in thread.path(other)] for other in between)
