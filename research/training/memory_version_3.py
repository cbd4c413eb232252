"""Version 3 of the retriever, which does not ship, with its own ranking → what it scores.

    python -m research.training.memory_version_3 held
    → the held-out chats with an assistant: weights of both versions, with and without who is meant,
      differences with intervals over chats
    python -m research.training.memory_version_3 look ../shared/data/memory_sets/beam/100K
    → one look at a benchmark: count it in LOG.md

Vectors of `held` are version 2's, which has seen none of these chats (A01 to A12), of passages as
version 3 reads them: version 3 knows their questions by heart.

In a chat of a person and an assistant nobody is named in a question: "I" is the person and "you"
the assistant. Which comes first tells whose messages are asked for: "What did I tell you …" the
person's, "Which list did you give me …" the assistant's.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import realtalk as rt
from realtalk.chat import Chat, Question
from realtalk.encoders.sentences import SentenceEncoder, TextEncoder
from realtalk.files.progress import Progress, silent
from realtalk.memory.index import (
    FUSED,
    MULTILINGUAL,
    ChatIndex,
    Floats,
    SearchedQuestion,
    Weights,
    features,
    scores,
    weigh,
)
from realtalk.memory.retrieved import BuiltRetrieved, Retrieved
from research.training.memory_data import HERE, PASSAGE, read_chat, read_questions
from research.training.memory_fit import chat_of, judged

SHIPPED = HERE.parents[1] / "src" / "realtalk_models"
VERSION_3: Weights = {
    "vectors": 0.57, "tokens": 0.84, "window": 0.17, "answers": 0.27, "words": -0.05, "window_words": 0.07,
    "session_words": 0.19, "session_tokens": 0.35, "speaker": 1.17, "asking": -0.40, "length": -0.01, "day": 2.07,
}  # fmt: skip
# "Can you remind me …" means nobody yet.
_POLITE = re.compile(
    r"(?:please\s+)?(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?(?:(?:tell|give|remind|show)\s+me\b)?",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"\b(I|my|mine|me|myself|we|our|ours|us)\b|\b(?:you|your|yours)\b", re.IGNORECASE
)


def assistant_of(index: ChatIndex) -> str | None:
    """Of two who write, the one whose messages are mostly longer than a passage and twice the other's."""
    if len(index.chat.speakers) != 2:
        return None
    sizes = np.array([len(text) for text in index.texts])
    middle = {who: np.median(sizes[index.who == who]) for who in {*index.speakers}}
    if len(middle) != 2:
        return None
    short, long = sorted(middle, key=middle.__getitem__)
    return long if middle[long] > max(PASSAGE, 2 * middle[short]) else None


def with_meant(index: ChatIndex, asked: SearchedQuestion) -> SearchedQuestion:
    """The question with the speaker who is meant by "I" or "you", where it names none."""
    assistant = assistant_of(index)
    start = _POLITE.match(asked.text)
    found = _MEANT.search(asked.text, start.end() if start else 0)
    if assistant is None or asked.speakers or found is None:
        return asked
    person = next(who for who in index.chat.speakers if who != assistant)
    return replace(asked, speakers=(person if found[1] else assistant,))


class Version3(Retrieved):
    """Retrieval with that encoder, its weights, and who is meant."""

    def weights(self, index: ChatIndex) -> Weights:
        return VERSION_3 if index.is_english else MULTILINGUAL

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltRetrieved:
        return Built(self, super().build(chat, progress).index)


class Built(BuiltRetrieved):
    def scores(self, question: Question) -> Floats:
        memory, index = self._memory, self.index
        asked = SearchedQuestion.of(index.chat, question, is_english=index.is_english)
        encoder = memory.load_encoder(english=index.is_english)
        return scores(index, with_meant(index, asked), encoder, memory.weights(index))


def version_3() -> TextEncoder:
    """The encoder, with the tokenizer where it is."""
    folder = HERE / "weights" / "memory_3"
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    settings["tokenizer"] = str(SHIPPED / "ei" / "tokenizer.json")
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "settings.json").write_text(json.dumps(settings))
        (Path(place) / "model.onnx").symlink_to(folder / "model.onnx")
        return SentenceEncoder(Path(place))


def look(path: str, golds: str) -> None:
    run = rt.probe(
        path, memory=Version3(encoder=version_3()), reader="none", budget="2000w", golds=golds
    )
    for row in run.summary().to_dicts():
        print(json.dumps(row, default=str))


def held() -> None:
    encoder = SentenceEncoder()
    encoder.passage = PASSAGE
    asked = read_questions([HERE / "questions_hard_more.jsonl"])
    ways: dict[str, tuple[Weights, bool]] = {
        "version 2's weights": (FUSED, False),
        "version 3's weights": (VERSION_3, False),
        "version 2's, and who is meant": (FUSED, True),
        "version 3's, and who is meant": (VERSION_3, True),
    }
    rows: dict[str, list[Any]] = {way: [] for way in ways}
    for path in sorted((HERE / "fiction").glob("A*.txt")):
        chat = chat_of(read_chat(path))
        index = ChatIndex.of(chat, encoder)
        queries = [query for query in asked[chat.id] if query["positives"]]
        for way, (weights, meant) in ways.items():
            found = [ranked(index, query, encoder, weights, meant) for query in queries]
            rows[way].append(np.array(judged(Asked(index, queries), np.stack(found))))
    base = rows["version 3's weights"]
    for way, its in rows.items():
        away = [one - other for one, other in zip(its, base, strict=True)]
        print(f"{way}: {with_interval(its)}; against version 3's alone {with_interval(away)}")


class Asked:
    """What `judged` reads of a chat."""

    def __init__(self, index: ChatIndex, queries: list[dict[str, Any]]) -> None:
        self.right = [query["positives"] for query in queries]
        self.words = np.array([len(text.split()) for text in index.texts])


def ranked(
    index: ChatIndex, query: Mapping[str, Any], encoder: TextEncoder, weights: Weights, meant: bool
) -> Floats:
    one = SearchedQuestion.of(index.chat, Question("", query["text"], None, query["kind"]))
    found = features(index, with_meant(index, one) if meant else one, encoder.encode([one.text]))
    return weigh(found, weights)


def with_interval(parts: list[Any]) -> str:
    """any@5, nDCG@10 and all in 12 % of the words, with 95 % intervals over chats."""
    sums, counts = (
        np.array([part.sum(0) for part in parts]),
        np.array([len(part) for part in parts]),
    )
    drawn = np.random.default_rng(0).integers(0, len(parts), (5000, len(parts)))
    low, high = np.percentile(
        sums[drawn].sum(1) / counts[drawn].sum(1)[:, None], [2.5, 97.5], axis=0
    )
    mean = sums.sum(0) / counts.sum()
    names = {"any@5": 0, "nDCG@10": 1, "all@12%": 4}
    return ", ".join(
        f"{n} {mean[at]:.3f} [{low[at]:.3f}, {high[at]:.3f}]" for n, at in names.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("held", "look"))
    parser.add_argument("path", nargs="?", help="the benchmark, for a look")
    parser.add_argument("--golds", default="published")
    options = parser.parse_args()
    if options.what == "held":
        held()
    else:
        look(options.path, options.golds)


if __name__ == "__main__":
    main()
