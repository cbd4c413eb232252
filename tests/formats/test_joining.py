"""Joining two exports of one chat: nothing is lost, nothing is doubled, nothing known changes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import polars as pl
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from joined_chats import GAP, Bubble, frame, wholes
from realtalk.chat import pack_extra
from realtalk.formats.joining import JoinCounts, is_cut, join, match, recut
from realtalk.formats.tables import MESSAGES
from text_tables import rows
from tries import tries
from work_done import lines_run

SAID = ["speaker", "time", "text"]


def counted(messages: pl.DataFrame) -> Counter[tuple[object, ...]]:
    return Counter(messages.select(SAID).rows())


def shown(messages: pl.DataFrame, *columns: str) -> list[tuple[str, ...]]:
    return [tuple(map(str, row)) for row in messages.select(columns).rows()]


def texts(messages: pl.DataFrame) -> list[str]:
    return messages["text"].to_list()


@given(wholes())
def test_the_same_file_again_adds_nothing(said: list[Bubble]) -> None:
    known = frame(said)
    after, counts = join(known, frame(said), GAP)
    assert counts == JoinCounts(joined=len(said))
    assert after.equals(known)


@st.composite
def halves(draw: st.DrawFn) -> tuple[list[Bubble], list[Bubble], list[Bubble]]:
    """A chat and two exports of it that overlap anyhow.

    Equal messages of one minute are whole in one of the two: else nobody can count them.
    """
    whole = draw(wholes())
    end = draw(st.integers(0, len(whole)))
    start = draw(st.integers(0, end))
    first, second = whole[:end], whole[start:]
    most = Counter(first) | Counter(second)
    assume(first and second and most == Counter(whole))
    return whole, first, second


@settings(max_examples=tries(80))
@given(halves())
def test_two_parts_give_the_whole_back(parts: tuple[list[Bubble], ...]) -> None:
    whole, first, second = parts
    expected = frame(whole)
    after, counts = join(frame(first), frame(second), GAP)
    assert counts.new == len(whole) - len(first)
    assert after.equals(expected)
    backwards, _ = join(frame(second), frame(first), GAP)
    columns = ["session", *SAID]  # of one minute, nobody can tell what came first
    assert sorted(recut(backwards, GAP).select(columns).rows()) == sorted(
        expected.select(columns).rows()
    )


@settings(max_examples=tries(60))
@given(wholes(), st.data())
def test_nothing_is_lost_and_what_is_known_stays_as_it_was(
    whole: list[Bubble], data: st.DataObject
) -> None:
    picks = st.lists(st.booleans(), min_size=len(whole), max_size=len(whole))
    one, other = (
        [said for said, keep in zip(whole, data.draw(picks), strict=True) if keep] for _ in "12"
    )
    assume(one and other)
    after, counts = join(frame(one), frame(other), GAP)
    assert counted(after) == counted(frame(one)) | counted(frame(other))
    back, _ = join(frame(other), frame(one), GAP)
    assert counted(back) == counted(after)
    again, none = join(after, frame(other), GAP)
    assert again.equals(after) and none.new == 0
    assert counts.joined + counts.new == len(other)
    known = frame(one)
    assert after["id"].is_unique().all()
    assert after.filter(pl.col("id").is_in(known["id"].implode())).equals(known)
    assert after["time"].is_sorted()
    assert after.schema == MESSAGES
    for (session,), part in after.group_by("session"):
        assert part["session_time"].n_unique() == 1, session


def test_sessions_go_on_and_keep_their_numbers() -> None:
    hours = 3600
    known = frame([Bubble("Mara", 100 * hours, "a"), Bubble("Theo", 110 * hours, "b")])
    said = [(1, "old"), (98, "near a"), (100, "a"), (103, "after a"), (110, "b"), (112, "after b")]
    new = frame(
        [Bubble("Mara" if t != "b" else "Theo", at * hours, t) for at, t in said]
        + [Bubble("Mara", 130 * hours, "next"), Bubble("Theo", 131 * hours, "next too")]
    )
    after, counts = join(known, new, GAP)
    assert (counts.joined, counts.new) == (2, 6)
    assert shown(after, "text", "session", "id") == rows("""
        old      | 3 | D3:1
        near a   | 1 | D1:2
        a        | 1 | D1:1
        after a  | 1 | D1:3
        b        | 2 | D2:1
        after b  | 2 | D2:2
        next     | 4 | D4:1
        next too | 4 | D4:2
    """)
    assert not is_cut(after, GAP)
    assert is_cut(recut(after, GAP), GAP)


def test_replies_follow_their_messages() -> None:
    said = [Bubble("Mara", 0, "a"), Bubble("Theo", 60, "b"), Bubble("Mara", 120, "c", reply="D1:1")]
    older = [Bubble("Theo", -3000, "before"), *said, Bubble("Theo", 180, "d", reply="D1:4")]
    older[3] = replace(older[3], reply="D1:2")
    after, _ = join(frame(said), frame(older), GAP)
    assert shown(after, "text", "id", "reply_to") == rows("""
        before | D1:4 | None
        a      | D1:1 | None
        b      | D1:2 | None
        c      | D1:3 | D1:1
        d      | D1:5 | D1:3
    """)
    assert shown(recut(after, GAP), "text", "id", "reply_to")[3:] == rows("""
        c | D1:4 | D1:2
        d | D1:5 | D1:4
    """)


def test_edits_and_deletions_are_counted_and_taken_where_asked() -> None:
    said = [Bubble("Mara" if n % 2 else "Theo", 120 * n, f"words {n}") for n in range(8)]
    changed = list(said)
    changed[2] = replace(said[2], text="better words", edited=True)
    changed[5] = replace(said[5], text="", deleted=True)
    del changed[4]
    known, later = frame(said), frame([*changed, Bubble("Theo", 1000, "more")])
    after, counts = join(known, later, GAP)
    assert counts == JoinCounts(joined=7, new=1, edited=1, deleted=1, gone=1)
    assert str(counts) == "joined 7, new 1, edited 1, deleted 1, gone 1"
    assert after.head(8).equals(known)
    after, counts = join(known, later, GAP, take_edits=True)
    assert (counts.edited, counts.deleted) == (1, 1)
    columns = after.select("id", "text", "edited", "deleted")
    assert columns.row(2) == ("D1:3", "better words", True, False)
    assert columns.row(5) == ("D1:6", "", False, True)
    again, none = join(after, later, GAP, take_edits=True)
    assert again.equals(after) and none.new == none.changes == 0


def with_ids(said: list[Bubble], first: int = 0) -> pl.DataFrame:
    return frame([replace(one, extra=f'{{"id":"{at}"}}') for at, one in enumerate(said, first)])


def test_the_apps_ids_decide() -> None:
    """A text that changed is the same message, and an equal one of another id is another."""
    said = [Bubble("Mara", 60 * n, "ok") for n in range(4)]
    known = with_ids(said)
    changed = [*said[:2], replace(said[2], text="okay"), said[3], said[3]]
    after, counts = join(known, with_ids(changed), GAP)
    assert (counts.joined, counts.new, counts.edited) == (4, 1, 1)
    assert texts(after) == ["ok"] * 5
    # Two accounts count their messages apart from each other: then the texts decide.
    _, counts = join(known, with_ids(said, first=7000), GAP)
    assert (counts.joined, counts.new) == (4, 0)


def test_reactions_that_came_later() -> None:
    def marked(count: int) -> str:
        return pack_extra({"id": "7", "reactions": [{"emoji": "❤", "count": count, "by": []}]})

    said = [
        Bubble("Mara", 0, "a", extra=marked(1)),
        Bubble("Theo", 60, "b"),
        Bubble("Mara", 90, "c"),
    ]
    later = [replace(said[0], extra=marked(2)), said[1], replace(said[2], extra='{"id":"8"}')]
    known = frame(said)
    after, counts = join(known, frame(later), GAP)
    assert after.equals(known)
    assert str(counts) == "joined 3, new 0, edited 0, deleted 0, reacted 1"
    after, counts = join(known, frame(later), GAP, take_edits=True)
    assert after["extra"].to_list() == [marked(2), "", ""]
    assert join(after, frame(later), GAP)[1].reacted == 0


def test_reactions_of_an_older_export_bring_no_older_text_back() -> None:
    reacted = pack_extra({"reactions": [{"emoji": "❤", "count": 1, "by": []}]})
    said = [Bubble("Mara", 0, "a"), Bubble("Theo", 60, "helo"), Bubble("Mara", 120, "c")]
    newest = [said[0], replace(said[1], text="hello", edited=True, extra=reacted), said[2]]
    after, counts = join(frame(newest), frame(said), GAP, take_edits=True)
    assert counts == JoinCounts(joined=3, reacted=1)
    assert after.row(1, named=True)["text"] == "hello"
    assert after["edited"].to_list() == [False, True, False]
    damaged = [replace(one, extra='{"reactions":') for one in said]
    assert join(frame(damaged), frame(said), GAP)[1].joined == 3


def test_ids_of_a_file_stay_and_never_meet() -> None:
    def named(said: list[Bubble], *ids: str) -> pl.DataFrame:
        return frame(said).with_columns(pl.Series("id", ids))

    said = [Bubble("Mara", 0, "a"), Bubble("Theo", 60, "b"), Bubble("Theo", 90, "c")]
    known = named(said[:2], "m1", "m2")
    after, _ = join(known, named(said[1:], "m2", "m3"), GAP)
    assert after["id"].to_list() == ["m1", "m2", "m3"]
    after, _ = join(known, named(said[2:], "m1"), GAP)
    assert after["id"].to_list() == ["m1", "m2", "m1~2"]


def test_clocks_some_seconds_apart() -> None:
    said = [Bubble("Mara" if n % 2 else "Theo", 40 * n, f"words {n % 7}") for n in range(40)]
    other = [replace(one, seconds=one.seconds + 1 + n % 4) for n, one in enumerate(said)]
    for new in (other, [replace(one, seconds=one.seconds // 60 * 60) for one in other]):
        after, counts = join(frame(said), frame([*new, Bubble("Mara", 9000, "new")]), GAP)
        assert (counts.joined, counts.new) == (40, 1)
        assert after.head(40).equals(frame(said))


def test_marks_that_nobody_sees_make_no_other_text() -> None:
    said = [Bubble("Mara", 0, "caf\u00e9"), Bubble("Theo", 0, "\u200eyes ")]
    other = [Bubble("Mara", 0, "cafe\u0301"), Bubble("Theo", 0, "yes")]
    assert match(frame(said), frame(other))[0] == [(0, 0, "same"), (1, 1, "same")]


def test_messages_without_time_are_told_by_their_text() -> None:
    untimed, more = (
        frame([Bubble("Mara", n, text) for n, text in enumerate(letters)]).with_columns(
            pl.lit(None, MESSAGES["time"]).alias("time")
        )
        for letters in ("aab", "aaxabc")
    )
    after, counts = join(untimed, more, GAP)
    assert counts.new == 3
    assert sorted(texts(after)) == ["a", "a", "a", "b", "c", "x"]
    assert texts(after)[-1] == "c"
    assert join(after, more, GAP)[0].equals(after)


def test_one_word_said_all_day_is_no_trouble() -> None:
    """The work grows with the messages, not with their square."""

    def work(count: int) -> int:
        said = [Bubble("Mara", 30 * n, "ok") for n in range(count)]
        later = [replace(one, seconds=one.seconds + 1) for one in said]
        known, new = frame(said[:-10]), frame(later)
        return lines_run(lambda: join(known, new, GAP))

    assert work(4000) < 3 * work(2000)


def test_gaps_by_the_day() -> None:
    known = frame([Bubble("Mara", 0, "a")])
    after, _ = join(
        known, frame([Bubble("Mara", 16 * 3600, "b"), Bubble("Theo", 17 * 3600, "c")]), "day"
    )
    assert shown(after, "session", "id") == [("1", "D1:1"), ("1", "D1:2"), ("2", "D2:1")]
