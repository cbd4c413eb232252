"""Chats of our own making for tests of portraits: languages, sizes and oddities of many kinds."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from realtalk.api.choices import as_reading
from realtalk.chat import Attachment, Chat, Corpus, Message, Session, pack_extra
from realtalk.formats.reading import ReadCorpus

_SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ENGLISH: list[str] = _SAID["english"]
SPANISH: list[str] = _SAID["spanish"]
JAPANESE: list[str] = _SAID["japanese"]
ARABIC: list[str] = _SAID["arabic"]

# Sentences whose last word is one person's and whose other words are everybody's.
SAID_BY_TWO: dict[str, list[list[str]]] = _SAID["by_two"]


def two_people(language: str, count: int = 600) -> Corpus:
    """One person's words are the first two, the other's the last two; the rest is everybody's."""
    frames, hers, his = SAID_BY_TWO[language]
    draw = random.Random(language)
    begin, sessions = datetime(2025, 3, 1, 9), []
    for number in range(count // 20):
        at = begin + timedelta(days=number)
        said = []
        for place in range(20):
            who = draw.randrange(2)
            words = (hers, his)[who] if draw.random() < 0.9 else (his, hers)[who]
            text = draw.choice(frames).format(draw.choice(words))
            time = at + timedelta(minutes=place)
            said.append(Message(f"{number}:{place}", ("Uma", "Odo")[who], time, text))
        sessions.append(Session(number + 1, at, tuple(said)))
    return corpus(Chat("two", ("Uma", "Odo"), tuple(sessions)))


def chat(
    people: Sequence[str],
    texts: Sequence[str],
    count: int,
    *,
    seed: int = 1,
    start: datetime = datetime(2024, 11, 20, 8, 15),
    days: float = 60,
    seconds: bool = True,
    timed: bool = True,
    chat_id: str = "own",
) -> Chat:
    """Messages at random times; a pause of six hours begins a session."""
    draw = random.Random(seed)
    moments = sorted(draw.random() for _ in range(count))
    sessions: list[list[Message]] = []
    before: datetime | None = None
    for number, share in enumerate(moments):
        # Two messages in three follow soon after the one before.
        moment = start + timedelta(days=days * share)
        if before is not None and draw.random() < 0.66:
            moment = before + timedelta(seconds=draw.choice((0, 5, 40, 70, 400, 3000)))
        if before is not None and moment < before:
            moment = before
        moment = (
            moment.replace(microsecond=0) if seconds else moment.replace(second=0, microsecond=0)
        )
        if before is None or moment - before > timedelta(hours=6):
            sessions.append([])
        before = moment
        person = people[min(int(draw.expovariate(0.7)), len(people) - 1)]
        text = draw.choice(texts)
        marks = [{"by": [draw.choice(people)], "count": 1, "emoji": "👍"}]
        files = (Attachment(draw.choice(("image", "audio", "call", "media")), "x"),)
        sessions[-1].append(
            Message(
                f"m{number}",
                person,
                moment if timed else None,
                "" if draw.random() < 0.03 else text,
                files if draw.random() < 0.08 else (),
                edited=draw.random() < 0.02,
                deleted=draw.random() < 0.02,
                extra=pack_extra({"reactions": marks}) if draw.random() < 0.1 else "",
            )
        )
    return Chat(
        chat_id,
        tuple(people),
        tuple(
            Session(number, said[0].time, tuple(said)) for number, said in enumerate(sessions, 1)
        ),
    )


def corpus(*chats: Chat) -> Corpus:
    return Corpus("own", "made", chats)


def reading(made: Corpus) -> ReadCorpus:
    return as_reading(made)


def english() -> Corpus:
    """Two chats, one of three people and one of two, over a turn of the year."""
    return corpus(
        chat(("Ines", "Tom", "Bo"), ENGLISH, 700, days=90),
        chat(("Ines", "Kim"), ENGLISH, 200, seed=2, days=30, chat_id="second"),
    )


def spanish() -> Corpus:
    """Two people, stamped in minutes, over two years with long pauses."""
    return corpus(chat(("José María", "Lucía"), SPANISH, 500, seed=3, days=700, seconds=False))


def japanese() -> Corpus:
    return corpus(chat(("健太", "さくら"), JAPANESE, 300, seed=4, days=20))


def arabic_group() -> Corpus:
    """Two hundred people, most of whom hardly write."""
    people = [f"عضو {number}" for number in range(200)]
    draw = random.Random(5)
    texts = [f"{text}" for text in ARABIC]
    made = chat(people[:40], texts, 900, seed=6, days=45)
    rest = [
        Message(f"r{number}", name, datetime(2025, 1, 5, 12, number % 60), draw.choice(texts))
        for number, name in enumerate(people[40:])
    ]
    last = Session(len(made.sessions) + 1, rest[0].time, tuple(rest))
    return corpus(Chat("group", tuple(people), (*made.sessions, last)))


ODD = {
    "one person": lambda: corpus(chat(("Solo",), ENGLISH, 60)),
    "one day": lambda: corpus(chat(("Ana", "Ben"), ENGLISH, 40, days=0.2)),
    "three messages": lambda: corpus(chat(("Ana", "Ben"), ENGLISH, 3, days=0.01)),
    "one message": lambda: corpus(chat(("Ana", "Ben"), ENGLISH, 1)),
    "no times": lambda: corpus(chat(("Ana", "Ben"), ENGLISH, 80, timed=False)),
    "right to left": lambda: corpus(chat(("דנה (2)", "أمل"), ARABIC, 120)),
    "emoji names": lambda: corpus(chat(("🦊🔥", "👩🏽‍🚀", " "), ENGLISH, 120)),
    "hostile names": lambda: corpus(
        chat(("<img src=x onerror=hit()>", "</script><b>x", '"quoted" & co'), ENGLISH, 120)
    ),
}
