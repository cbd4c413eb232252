"""Dialogues of public sets → long chats with days, about which questions are written.

    python -m research.training.questions_chats --data ../shared/data
    → build/questions/chats.json: [{"id": "T001", "speakers": ["Mara", "Theo"], "messages":
       [{"speaker": 0, "session": 1, "date": "2024-03-02", "text": "hey", "set": "esconv"}, ...]}]
      build/questions/T001.txt: the same to read, messages numbered from 1

No benchmark's conversation is read: not REALTALK, LoCoMo or LongMemEval. A chat has two people
and some fifteen sessions, each one or two dialogues of one set; every tenth chat is a group, made
of threads. The seed fixes every draw, so that `questions.jsonl` can name messages by their number.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from research.training.names import NAMES

HERE = Path(__file__).parent
CHATS, GROUPS, SEED = 100, 10, 17
MIX = {"xpersona": 4, "dailydialog": 7, "wassa": 2, "esconv": 2}  # dialogues in a chat of two
Dialogue = list[tuple[str, str]]  # who, what


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def grouped(path: Path, key: str) -> list[Dialogue]:
    found: dict[str, Dialogue] = defaultdict(list)
    for row in rows(path):
        found[str(row[key])].append((str(row["speaker"]), row["text"]))
    return list(found.values())


def personas(folder: Path) -> list[Dialogue]:
    """Each English dialogue once, its longest side; the speakers alternate."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for part in ("train", "test"):
        for row in rows(folder / f"parallel.xpersona.{part}.jsonl.gz"):
            found[row["dlg"], row["lang"]].append(closed_up(row["en"]))
    longest: dict[str, list[str]] = {}
    for (name, _), lines in sorted(found.items()):
        if len(lines) > len(longest.get(name, [])):
            longest[name] = lines
    return [[(str(at % 2), one) for at, one in enumerate(lines)] for lines in longest.values()]


def closed_up(text: str) -> str:
    """XPersona has a space before every mark."""
    return re.sub(r"\s+([.,!?'])", r"\1", text)


def supported(path: Path) -> list[Dialogue]:
    """Told turn by turn, each with the few turns before it: joined where they overlap."""
    whole: list[list[str]] = []
    for row in rows(path):
        if not whole or row["context"][0] not in whole[-1]:
            whole.append([])
        told = whole[-1]
        told += [line for line in row["context"] if line not in told[-8:]]
        told.append(f"supporter: {row['text']}")
    parted = [[line.partition(": ") for line in told] for told in whole]
    return [[(who, said) for who, _, said in lines] for lines in parted]


def dialogues(data: Path) -> dict[str, list[Dialogue]]:
    return {
        "xpersona": personas(data / "multilingual"),
        "dailydialog": grouped(data / "ei" / "dailydialog" / "all.jsonl.gz", "dialogue"),
        "wassa": grouped(data / "ei" / "wassa2024_convt" / "all.jsonl.gz", "conv"),
        "esconv": supported(data / "ei" / "esconv" / "dev_test.jsonl.gz"),
    }


def dated(rng: random.Random) -> Iterator[date]:
    day = date(rng.choice([2022, 2023, 2024, 2025]), rng.randint(1, 12), rng.randint(1, 28))
    while True:
        yield day
        day += timedelta(days=rng.choice([1, 1, 1, 2, 2, 3, 5, 9]))


def of_two(id_: str, drawn: dict[str, Iterator[Dialogue]], rng: random.Random) -> dict[str, Any]:
    speakers = rng.sample(NAMES, 2)
    chosen = [(name, next(drawn[name])) for name, count in MIX.items() for _ in range(count)]
    rng.shuffle(chosen)
    days, messages, session, today = dated(rng), [], 0, date.min
    for name, dialogue in chosen:
        if not session or rng.random() > 0.25:
            session, today = session + 1, next(days)
        first = dialogue[0][0]
        start = rng.randrange(2)
        for who, text in dialogue:
            side = start if who == first else 1 - start
            message = {"speaker": side, "session": session, "date": today.isoformat()}
            messages.append({**message, "text": " ".join(text.split()), "set": name})
    return {"id": id_, "speakers": speakers, "messages": messages}


def comments(found: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for one in found:
        yield one["author"], one["body"]
        yield from comments(one["replies"])


def of_group(id_: str, threads: Iterator[Dialogue], rng: random.Random) -> dict[str, Any]:
    names = iter(rng.sample(NAMES, len(NAMES)))
    speakers: dict[str, str] = {}
    messages: list[dict[str, Any]] = []
    days, session = dated(rng), 0
    while len(messages) < 220:
        thread = next(threads)
        people = {who for who, _ in thread} - set(speakers)
        if len(speakers) + len(people) > len(NAMES):
            break
        session, today = session + 1, next(days)
        for who, text in thread:
            if who not in speakers:
                speakers[who] = next(names)
            message = {"speaker": list(speakers).index(who), "session": session}
            messages.append({**message, "date": today.isoformat(), "text": text, "set": "reddit"})
    return {"id": id_, "speakers": list(speakers.values()), "messages": messages}


def threads(data: Path, rng: random.Random) -> Iterator[Dialogue]:
    with gzip.open(data / "reddit" / "persona_like.json.gz", "rt", encoding="utf-8") as file:
        posts = [post for one in json.load(file).values() for post in one]
    rng.shuffle(posts)
    for post in posts:
        said = [(post["author"], f"{post['title']} {post['content']}"), *comments(post["comments"])]
        kept = [(who, " ".join(text.split())) for who, text in said]
        kept = [(who, text) for who, text in kept if 3 < len(text.split()) < 110][:24]
        if len(kept) >= 12 and len({who for who, _ in kept}) <= 9:
            yield kept


def build(data: Path) -> list[dict[str, Any]]:
    rng = random.Random(SEED)
    pools = dialogues(data)
    drawn: dict[str, Iterator[Dialogue]] = {}
    for name, found in pools.items():
        kept = [one for one in found if 8 <= len(one) <= 40]
        rng.shuffle(kept)
        print(f"{name}: {len(kept)} dialogues")
        drawn[name] = iter(kept)
    posts = threads(data, rng)
    pairs = [of_two(f"T{at:03}", drawn, rng) for at in range(1, CHATS - GROUPS + 1)]
    return pairs + [of_group(f"G{at:02}", posts, rng) for at in range(1, GROUPS + 1)]


def listing(chat: dict[str, Any]) -> str:
    lines, session = [f"{chat['id']}: {', '.join(chat['speakers'])}"], 0
    for number, message in enumerate(chat["messages"], 1):
        if message["session"] != session:
            session = message["session"]
            day = date.fromisoformat(message["date"])
            lines.append(f"\n== session {session}, {day:%A %-d %B %Y}")
        lines.append(f"{number} {chat['speakers'][message['speaker']]}: {message['text']}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the sets")
    parser.add_argument("--out", type=Path, default=HERE / "build" / "questions")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    chats = build(options.data)
    (options.out / "chats.json").write_text(json.dumps(chats), encoding="utf-8")
    for chat in chats:
        (options.out / f"{chat['id']}.txt").write_text(listing(chat), encoding="utf-8")
    print(f"{len(chats)} chats, {sum(len(chat['messages']) for chat in chats)} messages")


if __name__ == "__main__":
    main()
