"""Small forums of our own writing, for the tests of threads."""

from __future__ import annotations

from datetime import datetime, timedelta

from realtalk.chat import Chat, Corpus, Message, Session, pack_extra

START = datetime(2026, 3, 2, 8, 0)


def at(minute: float | None) -> datetime | None:
    """Minutes after the forum's first day began."""
    return None if minute is None else START + timedelta(minutes=minute)


def said(
    id: str,
    who: str,
    minute: float | None,
    text: str,
    score: float | str | None = 1,
    to: str | None = None,
) -> Message:
    extra = {} if score is None else {"score": score}
    gone = text in ("[deleted]", "[removed]")
    return Message(id, who, at(minute), text, reply_to=to, deleted=gone, extra=pack_extra(extra))


def thread(id: str, *messages: Message, domain: str = "gardens", title: str = "") -> Chat:
    """The first message is the post."""
    about = {"subreddit": domain, "title": title}
    people = tuple(dict.fromkeys(message.speaker for message in messages))
    time = messages[0].time if messages else None
    return Chat(id, people, (Session(1, time, messages),), extra=pack_extra(about))


def forum(*threads: Chat) -> Corpus:
    return Corpus("forum", "reddit", threads)


def small_forum() -> Corpus:
    """Two threads: mara asks about slugs, theo about a fence; both reply in both.

    In `slugs` juno's s6 comes after everything, and s5 answers mara's s4.
    """
    slugs = thread(
        "slugs",
        said("s1", "mara", 0, "Slugs ate the lot, what now", 12),
        said("s2", "theo", 10, "Beer in a saucer", 4, "s1"),
        said("s3", "mara", 20, "They drink better than I do", 9, "s2"),
        said("s4", "mara", 40, "Tried copper tape as well", -7, "s2"),
        said("s5", "juno", 50, "Copper never worked here", 3, "s4"),
        said("s6", "juno", 90, "Late to this, get a duck", 2, "s1"),
        said("s7", "ines", 15, "Evening rounds with a torch", 5, "s1"),
        said("s8", "mara", 60, "Torch it is, thank you", 2, "s7"),
        title="Slugs again",
    )
    fence = thread(
        "fence",
        said("f1", "theo", 30, "Which paint for a pine fence", 6),
        said("f2", "mara", 35, "Linseed oil and patience", 5, "f1"),
        said("f3", "theo", 45, "Patience I lack", 4, "f2"),
        said("f4", "juno", 55, "Tar, like the boats", -5, "f1"),
        said("f5", "theo", 65, "Tar it may be", -4, "f4"),
        said("f6", "mara", 70, "Tar smells for a year", 1, "f5"),
        said("f7", "juno", 75, "A good smell though", 2, "f6"),
        said("f8", "theo", 80, "I painted it green", 8, "f1"),
        title="Fence paint",
    )
    return forum(slugs, fence)
