"""Threads of Reddit → a corpus of people with enough text to tell: what each wrote earlier, and later.

    people = read_people(Path("persona_like.json.gz"))
    people.corpus.chats[0].id      → "p3fa9c1b2 earlier": a session per branch that the person wrote in
    people.choices[0]              → Choice("p3fa9c1b2", learn="p3fa9c1b2 earlier", test="p3fa9c1b2 later", …)
    python -m research.experiments.people DATA/reddit/persona_like.json.gz    → counts, by rule

The rule, written down before any person was simulated:

- A usable comment has 3 to 150 words and is not deleted. A person has at least 60 of them, in 10
  threads or more; nobody whose account is gone; no bot: nobody who says so, nor begins a fifth of
  the comments with the same four words, nor repeats a fifth of them.
- A person's threads stand in the order of their first comment there. The last threads that hold 30 %
  of the comments are tested, what was written before the first of them is learned from: never from a
  tested thread, and nothing later than the first tested comment.
- The last 200 comments before that are learned from, the first 40 after it are tested; whoever is
  left with fewer than 40 and 15 is left out.
- A session is a branch: the post, the comments on the way, the person's own. A comment belongs to
  one session; of two branches that share a comment of the person's the one with fewer is left out.

Names are hashed. What a person posted themselves stands under "NAME (post)": it is read, not tested.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.formats.opening import open_reading
from realtalk.formats.published.reddit import NOBODY
from realtalk.metrics.statistics import Estimate
from realtalk.persona.choosing import Choice
from realtalk.persona.turns import choices_of

SHORTEST, LONGEST = 3, 150  # words of a usable comment
FEWEST, FEWEST_THREADS = 60, 10
TESTED = 0.3
MOST_LEARNED, MOST_TESTED = 200, 40
LEAST_LEARNED, LEAST_TESTED = 40, 15
ALIKE = 0.2  # of a bot's comments begin alike, or are repeated
_BOT = re.compile(r"\b(?:I am|I'm|this is) a bot\b|\bthis bot\b|\bbot, and this action\b", re.I)
_LINK = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment with what stands above it, from the post down."""

    author: str
    time: datetime
    text: str
    thread: int
    above: Comment | None

    @property
    def is_usable(self) -> bool:
        return SHORTEST <= len(self.text.split()) <= LONGEST

    @property
    def path(self) -> list[Comment]:
        path: list[Comment] = [self]
        while (above := path[-1].above) is not None:
            path.append(above)
        return path[::-1]


@dataclass(frozen=True, slots=True)
class People:
    corpus: Corpus
    choices: list[Choice]
    left_out: Counter[str]


def open_choices(
    corpus: str, choice: str, labels: Path | None = None
) -> tuple[Corpus, list[Choice]]:
    """A corpus and who is tested on which chat: by EI, by the paper, or by this rule ("earlier")."""
    if choice == "earlier":
        people = read_people(Path(corpus))
        return people.corpus, people.choices
    read = open_reading(corpus).reading.corpus
    frame = None if labels is None else pl.read_parquet(labels / "labels.parquet")
    return read, choices_of(read, labels=frame, choice=choice)


def read_people(path: Path) -> People:
    """Everybody whom the rule lets in, in the order of their hashed names."""
    by_author: dict[str, list[Comment]] = defaultdict(list)
    for comment in _comments(path):
        by_author[comment.author].append(comment)
    chats, choices, left_out = [], [], Counter[str]()
    for author in sorted(by_author, key=_hashed):
        comments = by_author[author]
        if reason := _unfit(author, comments):
            left_out[reason] += 1
            continue
        learned, tested = _divided(comments)
        name = _hashed(author)
        both = [
            _chat(f"{name} earlier", author, learned[-MOST_LEARNED:]),
            _chat(f"{name} later", author, tested[:MOST_TESTED]),
        ]
        counts = {chat.id: sum(turn.speaker == name for turn in chat.turns) for chat in both}
        learn, test = (chat.id for chat in both)
        if counts[learn] < LEAST_LEARNED or counts[test] < LEAST_TESTED:
            left_out["too little on one side"] += 1
            continue
        chats += both
        unknown = dict.fromkeys(counts, math.nan)  # EI chooses nothing here
        choices.append(
            Choice(name, learn, test, unknown, counts, 1.0, (), Estimate(None, None, None, 0))
        )
    return People(Corpus("people", "reddit", tuple(chats)), choices, left_out)


def _unfit(author: str, comments: Sequence[Comment]) -> str:
    usable = [comment for comment in comments if comment.is_usable]
    threads = {comment.thread for comment in usable}
    if author == NOBODY or len(usable) < FEWEST:
        return "fewer than 60 usable comments"
    if len(threads) < FEWEST_THREADS:
        return "fewer than 10 threads"
    texts = [comment.text for comment in comments]
    heads = Counter(" ".join(text.split()[:4]).casefold() for text in texts)
    repeated = 1 - len(set(texts)) / len(texts)
    alike = max(heads.values()) / len(texts)
    if max(alike, repeated) > ALIKE or any(_BOT.search(text) for text in texts):
        return "a bot, or writes like one"
    return ""


def _divided(comments: Sequence[Comment]) -> tuple[list[Comment], list[Comment]]:
    """What is learned from and what is tested, each in order of time."""
    threads: dict[int, list[Comment]] = defaultdict(list)
    for comment in sorted(comments, key=lambda comment: comment.time):
        if comment.is_usable:
            threads[comment.thread].append(comment)  # threads by their first comment
    wanted = TESTED * sum(map(len, threads.values()))
    tested: set[int] = set()
    held = 0
    for thread in reversed(threads):
        if held >= wanted:
            break
        tested.add(thread)
        held += len(threads[thread])
    begins = min(threads[thread][0].time for thread in tested)
    learned = [
        comment
        for thread, own in threads.items()
        if thread not in tested
        for comment in own
        if comment.time < begins
    ]
    later = [comment for thread in tested for comment in threads[thread]]
    return sorted(learned, key=_moment), sorted(later, key=_moment)


def _chat(name: str, author: str, comments: Sequence[Comment]) -> Chat:
    """Sessions of branches: the one with most comments of the person first, then what is left."""
    wanted = {id(comment) for comment in comments}
    told: set[int] = set()
    branches: list[list[Comment]] = []
    for comment in sorted(comments, key=lambda comment: -len(comment.path)):
        path = comment.path
        own = {id(each) for each in path if each.author == author and each.above is not None}
        if not own & told and own <= wanted:
            branches.append(path)
            told |= own
    branches.sort(key=lambda path: path[-1].time)
    sessions, speakers = [], dict[str, None]()
    for number, path in enumerate(branches, 1):
        messages = tuple(
            Message(f"D{number}:{at}", _speaker(comment), comment.time, comment.text)
            for at, comment in enumerate(path, 1)
        )
        speakers |= dict.fromkeys(message.speaker for message in messages)
        sessions.append(Session(number, messages[-1].time, messages))
    return Chat(name, tuple(speakers), tuple(sessions))


def _speaker(comment: Comment) -> str:
    name = NOBODY if comment.author == NOBODY else _hashed(comment.author)
    return f"{name} (post)" if comment.above is None else name


def _moment(comment: Comment) -> datetime:
    return comment.time


def _hashed(author: str) -> str:
    return "p" + hashlib.sha256(f"people:{author}".encode()).hexdigest()[:8]


def _comments(path: Path) -> Iterator[Comment]:
    """Every comment of every post; a post may be filed under several authors."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        filed: dict[str, list[dict[str, Any]]] = json.load(stream)
    seen: set[tuple[str, str, str]] = set()
    for post in (post for posts in filed.values() for post in posts):
        key = post["author"], post["timestamp"], post["title"]
        if key in seen:
            continue
        seen.add(key)
        text = "\n".join(filter(None, (post["title"].strip(), post["content"].strip())))
        top = Comment(post["author"], _time(post), _clean(text), len(seen), None)
        waiting = [(child, top) for child in post["comments"]]
        while waiting:
            child, above = waiting.pop()
            comment = Comment(
                child["author"], _time(child), _clean(child["body"]), len(seen), above
            )
            yield comment
            waiting += [(reply, comment) for reply in child["replies"]]


def _time(entry: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(entry["timestamp"]).replace(tzinfo=None)


def _clean(text: str) -> str:
    return _LINK.sub("[link]", text).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("threads", type=Path)
    people = read_people(parser.parse_args().threads)
    for title, side in (("learned from", "learn"), ("tested", "test")):
        counts = sorted(choice.turns[getattr(choice, side)] for choice in people.choices)
        middle = counts[len(counts) // 2]
        sys.stdout.write(
            f"{title}: {sum(counts):,} turns, {counts[0]} to {counts[-1]}, median {middle}\n"
        )
    sys.stdout.write(f"{len(people.choices)} people; left out: {dict(people.left_out)}\n")


if __name__ == "__main__":
    main()
