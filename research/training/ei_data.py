"""Labelled sets and silver labels → one file of token ids and labels that training reads.

    python -m research.training.ei_data --data ../shared/data --model MINILM_FOLDER
    → build/ei.npz: tokens, offsets, and per head the examples that carry its label
    python -m research.training.ei_data --open ...     → build/ei_open.npz: open text alone (ei_open.py)

An example is (what the partner said just before, the turn) with the labels its set gives.
REALTALK's chats 1, 3, 4, 5, 7, 8, 9 and 10 are the test of the paper's Table 7: the builder
refuses to read them. Of the silver labels it keeps which conversation they belong to, so that
training can hold whole conversations out.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import html
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from realtalk.text.words import emoji_in_words
from research.training import ei_heads as h
from research.training.memory_data import read_chat

HERE = Path(__file__).parent
ALLOWED = {"Chat_2_Kevin_Elise", "Chat_6_Vanessa_Nicolas"}
PREVIOUS, TURN = 32, 192  # tokens kept of each; the tail of the one, head and tail of the other


@dataclass
class Example:
    text: str
    previous: str = ""
    set: str = ""
    split: str = "train"
    group: str = ""
    labels: dict[str, Any] = field(default_factory=dict)


def tweet(text: str) -> str:
    """TweetEval's form: names and links masked, escapes undone."""
    text = html.unescape(text.replace("\\u2019", "'").replace("\\u002c", ","))
    text = re.sub(r"(?<!\w)@\w+", "@user", text)
    return re.sub(r"https?://\S+", "http", text)


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            yield json.loads(line)


def rows(data: Path, name: str) -> Iterator[dict[str, Any]]:
    yield from read_rows(data / "ei" / name)


def one(value: str, names: tuple[str, ...]) -> int:
    return names.index(value)


def many(values: list[str], names: tuple[str, ...]) -> list[float]:
    return [float(name in values) for name in names]


def listed(value: Any) -> list[str]:
    return ast.literal_eval(value) if isinstance(value, str) else list(value or [])


def dialogues(
    data: Path, name: str, dialogue: str, turn: str = "turn"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a dialogue set with the text of the row before them in their dialogue."""
    by: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows(data, name):
        by[row[dialogue]].append(row)
    for items in by.values():
        items.sort(key=lambda row: int(row[turn]))
        before = ""
        for row in items:
            yield before, row
            before = str(row["text"])


def public(data: Path) -> Iterator[Example]:
    tweets: dict[str, list[str]] = defaultdict(list)
    for row in rows(data, "semeval2017_sentiment/all.jsonl.gz"):
        if row["split"] == "train" and row["in_tweeteval"] == "train?":
            label = {"tweet_sentiment": one(row["label"], h.SENTIMENTS)}
            yield Example(tweet(row["text"]), set="semeval2017", labels=label)
            tweets[row["label"]].append(tweet(row["text"]))
    for name, texts in tweets.items():  # long turns: two to four tweets of one sentiment
        label = {"tweet_sentiment": one(name, h.SENTIMENTS)}
        for at in range(0, min(len(texts), 9000) - 3, 3):
            text = "\n".join(texts[at : at + 2 + at // 3 % 3])
            yield Example(text, set="semeval2017_joined", labels=label)
    for split, name in (("dev", "val"), ("test", "test")):
        for row in rows(data, f"tweeteval/sentiment_{name}.jsonl.gz"):
            label = {"tweet_sentiment": one(row["label"], h.SENTIMENTS)}
            yield Example(row["text"], set="tweeteval_sentiment", split=split, labels=label)
    for row in rows(data, "semeval2018_ec/all.jsonl.gz"):
        label = {"tweet_emotion": [float(y) for y in listed(row["y"])]}
        yield Example(tweet(row["text"]), set="semeval2018_ec", split=row["split"], labels=label)
    four = ("anger", "joy", "optimism", "sadness")
    for row in rows(data, "tweeteval/emotion_train.jsonl.gz"):
        label = {"four_emotions": one(row["label"], four)}
        yield Example(row["text"], set="tweeteval_emotion", labels=label)
    for row in rows(data, "mint_intimacy/en.jsonl.gz"):
        label = {"tweet_intimacy": (float(row["score"]) - 1) / 4}
        yield Example(tweet(row["text"]), set="mint", split=row["split"], labels=label)
    for row in rows(data, "question_intimacy/all.jsonl.gz"):
        split = "train" if row["split"] == "train" else "other"
        label = {"question_intimacy": (float(row["score"]) + 1) / 2}
        yield Example(row["text"], set="question_intimacy", split=split, labels=label)
    for row in rows(data, "epitome/all.jsonl.gz"):
        label = {
            "epitome_reaction": int(row["emotional_reactions"]),
            "epitome_interpretation": int(row["interpretations"]),
            "epitome_exploration": int(row["explorations"]),
        }
        yield Example(row["text"], row["context"], "epitome", row["split"], labels=label)
    for row in rows(data, "goemotions/all.jsonl.gz"):
        if row["split"] != "test":
            label = {"goemotions": many(listed(row["labels"]), h.GOEMOTIONS)}
            yield Example(row["text"], set="goemotions", labels=label)
    for before, row in dialogues(data, "dailydialog/all.jsonl.gz", "dialogue"):
        if row["split"] == "train":
            label = {"act": one(row["act"], h.ACTS), "feeling": one(row["emotion"], h.FEELINGS)}
            yield Example(row["text"], before, "dailydialog", labels=label)
    names = ("happy", "sad", "angry", "others")
    for row in rows(data, "emocontext/all.jsonl.gz"):
        if row["split"] == "train":
            label = {"emocontext": one(row["label"], names)}
            yield Example(row["text"], listed(row["context"])[-1], "emocontext", labels=label)
    for row in rows(data, "offmychest/all.jsonl.gz"):
        if row["split"] == "train":
            label = {"disclosure": [float(row[name]) for name in h.DISCLOSURES]}
            yield Example(row["text"], set="offmychest", labels=label)
    for row in rows(data, "wassa2024_convt/all.jsonl.gz"):
        if row["split"] == "train" and row["self_disclosure"] is not None:
            values = (row["empathy"], row["emotion_intensity"], row["polarity"])
            label = {
                "wassa": [float(v) / m for v, m in zip(values, (5, 5, 2), strict=True)]
                + [(float(row["self_disclosure"]) - 1) / 3]
            }
            context = listed(row["context"])
            yield Example(row["text"], str(context[-1]) if context else "", "wassa", labels=label)
    for row in rows(data, "esconv/dev_test.jsonl.gz"):
        if row["strategy"] in h.STRATEGIES:
            context = listed(row["context"])
            before = re.sub(r"^\w+: ", "", str(context[-1])) if context else ""
            label = {"strategy": one(row["strategy"], h.STRATEGIES)}
            yield Example(row["text"], before, "esconv", labels=label)
    for before, row in dialogues(data, "annomi/all.jsonl.gz", "dialogue"):
        if row["speaker"] == "therapist" and row["main_behaviour"] in h.BEHAVIOURS:
            label = {"behaviour": one(row["main_behaviour"], h.BEHAVIOURS)}
            yield Example(row["text"], before, "annomi", labels=label)


def silver(
    data: Path,
    names: tuple[str, ...] = ("silver.jsonl", "silver_more.jsonl"),
    is_wanted: Callable[[str], bool] = bool,
) -> Iterator[Example]:
    """Turns labelled under the rubric, with the turn before them in their conversation.

    Nothing is read of a source that is not wanted.
    """
    conversations = Conversations(data)
    rng = np.random.default_rng(0)
    for name in names:
        labelled: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in _labelled(HERE / name):
            if is_wanted(row["source"]):
                labelled[f"{row['source']}|{row['conversation']}"].append(row)
        for group, items in labelled.items():
            before, made = "", []
            for row in items:
                text = conversations.text(row["source"], row["conversation"], row["ids"])
                label = by_rubric(row)
                made.append(Example(text, before, name.split(".")[0], "train", group, label))
                before = text
            yield from made
            yield from joined(made, rng)


def by_rubric(row: dict[str, Any]) -> dict[str, Any]:
    """A turn's labels, as the heads of the rubric learn them."""
    return {
        "reflective": [float(row["reflective"])],
        "grounding": [float(row["grounding"])],
        "sentiment": one(row["sentiment"], h.SENTIMENTS),
        "emotion": one(row["emotion"], h.EMOTIONS),
        "intimacy": (row["intimacy"] - 1) / 4,
        "emotional_reaction": row["emotional_reaction"],
        "interpretation": row["interpretation"],
        "exploration": row["exploration"],
    }


def joined(turns: list[Example], rng: np.random.Generator) -> Iterator[Example]:
    """Longer turns out of two or three that one speaker wrote in a row but for the partner.

    Most labelled turns are short, many turns of real chats are not: a question in the middle
    of a long one must still be found. Yes in a part is yes of the whole and the strongest part
    gives the level; a sentiment or an emotion only where all parts share it.
    """
    at = 0
    while at + 2 < len(turns):
        count = min(int(rng.integers(2, 4)), (len(turns) - at + 1) // 2)
        parts = turns[at : at + 2 * count - 1 : 2]
        at += 2 * count - 1
        label: dict[str, Any] = {}
        for name in ("reflective", "grounding"):
            label[name] = [max(part.labels[name][0] for part in parts)]
        for name in ("emotional_reaction", "interpretation", "exploration"):
            label[name] = max(part.labels[name] for part in parts)
        for name in ("sentiment", "emotion"):
            if len({part.labels[name] for part in parts}) == 1:
                label[name] = parts[0].labels[name]
        text = "\n".join(part.text for part in parts)
        first = parts[0]
        yield Example(text, first.previous, "silver_joined", "train", first.group, label)


_COLUMNS = (
    *("ids", "reflective", "grounding", "emotional_reaction", "interpretation"),
    *("exploration", "sentiment", "emotion", "intimacy"),
)


def _labelled(path: Path) -> Iterator[dict[str, Any]]:
    """One row per turn; the second file has one line per conversation."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if "turns" in row:
            place = {"source": row["source"], "conversation": row["conversation"]}
            for turn in row["turns"]:
                yield place | dict(zip(_COLUMNS, turn, strict=True))
        else:
            row["source"] = f"{row['corpus']}/{row['chat']}"
            row["conversation"], row["ids"] = str(row["session"]), row["message_ids"]
            yield row


class Conversations:
    """Texts by source, conversation and ids; only those that may be trained on."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._texts: dict[str, dict[tuple[str, str], str]] = {}

    def texts(self, source: str) -> list[str]:
        """Every message of a source."""
        return list(self._of(source).values())

    def _of(self, source: str) -> dict[tuple[str, str], str]:
        if source not in self._texts:
            self._texts[source] = dict(self._load(source))
        return self._texts[source]

    def text(self, source: str, conversation: str, ids: list[Any]) -> str:
        texts = self._of(source)
        return "\n".join(texts[conversation, str(id_)].strip() for id_ in ids)

    def _load(self, source: str) -> Iterator[tuple[tuple[str, str], str]]:
        kind, _, chat = source.partition("/")
        if kind in ("realtalk", "locomo"):
            if kind == "realtalk" and chat not in ALLOWED:
                raise SystemExit(f"{chat} is a test chat")
            whole = json.loads((self._data / kind / f"{chat}.json").read_text("utf-8"))
            talk = whole.get("conversation", whole)
            for key, messages in talk.items():
                if (match := re.fullmatch(r"session_(\d+)", key)) and isinstance(messages, list):
                    for m in messages:
                        yield (match[1], m["dia_id"]), m.get("clean_text") or m.get("text") or ""
        elif kind == "emocontext":
            for row in rows(self._data, "emocontext/all.jsonl.gz"):
                for at, text in enumerate([*listed(row["context"]), row["text"]]):
                    yield (str(row["id"]), str(at)), text
        elif kind == "reddit_small":
            yield from self._threads()
        elif kind == "fiction":
            for path in sorted((HERE / "fiction").glob("[FH]*.txt")):
                for number, m in enumerate(read_chat(path)["messages"], 1):
                    yield (f"{path.stem}/{m['session']}", str(number)), m["text"]
        else:
            name, key = {
                "wassa2024_convt": ("wassa2024_convt/all.jsonl.gz", "conv"),
                "persuasion_for_good": (
                    "persuasion_for_good/full_dialogues.jsonl.gz",
                    "dialogue",
                ),
                "esconv_failed": ("esconv/failed.jsonl.gz", "dialogue"),
                "dailydialog": ("dailydialog/all.jsonl.gz", "dialogue"),
            }[kind]
            for row in rows(self._data, name):
                yield (str(row[key]), str(int(row["turn"]))), str(row["text"])

    def _threads(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Root-to-leaf chains, numbered in the order a stack visits them, their messages by place.

        Numbers alone: an id of an author and a time would name a person beside their moods.
        """
        whole = json.loads((self._data / "reddit/persona_like_small.json").read_text("utf-8"))
        for author, posts in enumerate(whole.values()):
            for number, post in enumerate(posts):
                opening = f"{post['title']}\n{(post['content'] or '')[:600]}"
                start = [opening]
                stack = [(comment, start) for comment in post["comments"]]
                visited = 0
                while stack:
                    comment, path = stack.pop()
                    visited += 1
                    here = [*path, comment["body"][:500]]
                    if not comment["replies"]:
                        for place, text in enumerate(here):
                            yield (f"{author}/{number}/{visited}", str(place)), text
                    stack += [(reply, here) for reply in comment["replies"]]


def unlabelled(data: Path, most: int = 60_000) -> Iterator[Example]:
    """Chat-like pairs without labels, for a student to copy its teachers on.

    `most` is how many of Reddit's are taken.
    """
    for path in sorted((data / "locomo").glob("Chat_*.json")):
        talk = json.loads(path.read_text("utf-8"))["conversation"]
        for key, messages in talk.items():
            if re.fullmatch(r"session_\d+", key) and isinstance(messages, list):
                before = ""
                for m in messages:
                    yield Example(m["text"], before, "locomo", "unlabelled")
                    before = m["text"]
    for before, row in dialogues(data, "persuasion_for_good/full_dialogues.jsonl.gz", "dialogue"):
        yield Example(str(row["text"]), before, "persuasion", "unlabelled")
    for before, row in dialogues(data, "esconv/failed.jsonl.gz", "dialogue"):
        yield Example(str(row["text"]), before, "esconv_failed", "unlabelled")
    if not most:
        return
    with gzip.open(data / "reddit/persona_like.json.gz", "rt", encoding="utf-8") as stream:
        threads = json.load(stream)
    taken = 0
    for posts in threads.values():
        for post in posts:
            stack = [(comment, post["title"]) for comment in post["comments"]]
            while stack:
                comment, before = stack.pop()
                text = comment["body"]
                if taken < most and comment["author"] != "[deleted]" and 3 < len(text) < 1000:
                    taken += 1
                    yield Example(text, before, "reddit", "unlabelled")
                stack += [(reply, text) for reply in comment["replies"]]
        if taken >= most:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--model", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--open", action="store_true", help="from open text alone")
    parser.add_argument("--out", type=Path, help="build/ei.npz, or ei_open.npz")
    options = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(options.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if options.open:
        from research.training import ei_open  # which reads through this module

        examples = ei_open.examples(options.data)
    else:
        examples = [*public(options.data), *silver(options.data), *unlabelled(options.data)]
    for example in examples:  # as the encoder will read them
        example.text = emoji_in_words(example.text)
        example.previous = emoji_in_words(example.previous)
    name = "ei_open.npz" if options.open else "ei.npz"
    save(examples, tokenizer, options.out or HERE / "build" / name)


def ids_of(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    return [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]


def cut(previous: list[int], turn: list[int]) -> tuple[list[int], list[int]]:
    """The end of what came before; the beginning and, of a long turn, the end."""
    previous = previous[-PREVIOUS:]
    if len(turn) > TURN:
        head = TURN * 2 // 3
        turn = turn[:head] + turn[head - TURN :]
    return previous, turn


def save(examples: list[Example], tokenizer: Tokenizer, path: Path) -> None:
    before = ids_of(tokenizer, [e.previous for e in examples])
    said = ids_of(tokenizer, [e.text for e in examples])
    flat: list[int] = []
    sizes = np.zeros((len(examples), 2), np.uint16)
    for at, (previous, turn) in enumerate(zip(before, said, strict=True)):
        first, second = cut(previous, turn)
        sizes[at] = len(first), len(second)
        flat += first
        flat += second
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "tokens": np.array(flat, np.uint16),
        "sizes": sizes,
        "set": np.array([e.set for e in examples]),
        "split": np.array([e.split for e in examples]),
        "group": np.array([e.group for e in examples]),
    }
    for name, head in h.HEADS.items():
        where = [at for at, e in enumerate(examples) if name in e.labels]
        kind: type = np.int8 if head.kind == "softmax" else np.float16
        arrays[f"at_{name}"] = np.array(where, np.int32)
        arrays[f"is_{name}"] = np.array([examples[at].labels[name] for at in where], kind)
        print(f"{name:24} {len(where):7,}")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)
    print(f"{len(examples):,} examples, {len(flat):,} tokens, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
