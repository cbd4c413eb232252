"""How well questions find their messages, language by language.

    python bench/recall_languages.py --data ../shared/data
    → one row per set, language, way and question: the rank of the best message that answers it

Set `own`: chats and questions of our own writing that nothing was learned from or chosen on
(research/training/fiction/M*.txt, questions_languages_test.jsonl), four stories in each of sixteen
languages, two in nine more; `across` are questions in English about them.
Set `paraphrases`: sentences that people called nearly the same (STS, scored 4 or more of 5), one
to be found by the other among all of its language; only ranks are kept of them.
Ways: `words` is BM25 with English words, `priors` does not read the question but for whom it names
(messages by that person, long ones, none that ask), `english` is the fused ranking of English
chats, `now` is the memory `retrieved` as it chooses by itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from realtalk.chat import Chat, Message, Question, Session
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.memory.index import BM25, FUSED, ChatIndex, SearchedQuestion, scores
from realtalk.memory.retrieved import Retrieved
from realtalk.text.folding import fold
from realtalk.text.terms import english_terms
from research.training.memory_data import TESTS, read_chat
from research.training.memory_fit import chat_of

TRAINING = Path(__file__).parents[1] / "research" / "training"
ALIKE = 4.0
PRIORS = {"speaker": 1.54, "asking": -1.38, "length": 1.04}  # as they were fitted without meaning
Row = dict[str, Any]


def stories() -> Iterator[tuple[str, Chat]]:
    """Every test chat with its questions, and its language."""
    lines = (TRAINING / TESTS).read_text("utf-8").splitlines()
    asked: dict[str, list[dict[str, Any]]] = {}
    for row in map(json.loads, lines):
        asked.setdefault(row["chat"], []).append(row)
    for id_, rows in asked.items():
        chat = chat_of(read_chat(TRAINING / "fiction" / f"{id_}.txt"))
        questions = tuple(
            Question(
                f"{id_}/{number}",
                row["question"],
                None,
                row["kind"],
                evidence=tuple(str(place - 1) for place in row["evidence"]),
            )
            for number, row in enumerate(rows, 1)
        )
        yield rows[0]["language"], replace(chat, questions=questions)


def rank(values: np.ndarray, wanted: Sequence[int]) -> int:
    """The place of the best wanted one; of equals, the earlier message stands first."""
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return 1 + min(order.index(at) for at in wanted)


def ranked_rows(
    kind: str, language: str, chat: Chat, memory: Retrieved, encoder: SentenceEncoder
) -> Iterator[Row]:
    """Every way on the questions of one chat."""
    plain = ChatIndex.around(chat, None)
    english = ChatIndex.of(chat, encoder, cache=memory.cache)
    vars(english)["read"] = english_terms
    now = memory.build(chat)
    for question in chat.questions:
        asked = SearchedQuestion.of(chat, question, is_english=plain.is_english)
        wanted = [plain.ids.index(id_) for id_ in question.evidence]
        found = {
            "priors": scores(plain, asked, None, PRIORS),
            "english": scores(english, asked, encoder, FUSED),
            "words": scores(english, asked, None, BM25),
            "now": now.scores(question),
        }
        for way, values in found.items():
            set_ = "across" if question.category == "across" else kind
            yield {
                "set": set_,
                "language": language,
                "way": way,
                "question": question.id,
                "rank": rank(values, wanted),
            }


def paraphrases(data: Path) -> Iterator[Chat]:
    """The second sentences of all pairs, each said alone, asked for by the first ones."""
    pairs: dict[str, list[dict[str, Any]]] = {}
    with gzip.open(data / "multilingual" / "sts.multi.test.jsonl.gz", "rt", encoding="utf-8") as f:
        for row in map(json.loads, f):
            pairs.setdefault(row["lang"], []).append(row)
    for language, rows in sorted(pairs.items()):
        texts = list(dict.fromkeys(row["text2"] for row in rows))
        sessions = tuple(
            Session(number, None, (Message(str(number), "Kim", None, text),))
            for number, text in enumerate(texts, 1)
        )
        # A pair has its number in every language: its searches can be drawn together.
        alike = [
            (number, row)
            for number, row in enumerate(rows, 1)
            if row["score"] >= ALIKE and fold(row["text"]) != fold(row["text2"])
        ]
        numbers = {row["text"]: number for number, row in reversed(alike)}
        asked = {row["text"]: str(1 + texts.index(row["text2"])) for _, row in alike}
        questions = tuple(
            Question(f"S{numbers[text]}", text, None, "", evidence=(id_,))
            for text, id_ in asked.items()
        )
        yield Chat(language, ("Kim",), sessions, questions=questions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--out", type=Path, default=Path("research/results/rows/languages-rows.parquet")
    )
    parser.add_argument("--only", choices=("own", "paraphrases"), help="the other rows stay")
    options = parser.parse_args()
    encoder = SentenceEncoder()
    rows: list[Row] = []
    if options.only:
        is_other = (pl.col("set") == "paraphrases") == (options.only == "own")
        rows = pl.read_parquet(options.out).filter(is_other).to_dicts()
    with tempfile.TemporaryDirectory() as cache:
        memory = Retrieved(encoder=encoder, cache=Path(cache))
        for language, chat in stories() if options.only != "paraphrases" else ():
            rows += ranked_rows("own", language, chat, memory, encoder)
        for chat in paraphrases(options.data) if options.only != "own" else ():
            rows += ranked_rows("paraphrases", chat.id, chat, memory, encoder)
    frame = pl.DataFrame(rows, schema_overrides={"rank": pl.Int32})
    frame.write_parquet(options.out)
    found = pl.col("rank")
    with pl.Config(tbl_rows=-1):
        print(
            frame.group_by("set", "language", "way")
            .agg(
                pl.len().alias("n"),
                (found == 1).mean().alias("any@1"),
                (found <= 5).mean().alias("any@5"),
                (1 / found).mean().alias("MRR"),
            )
            .sort("set", "language", "way")
        )


if __name__ == "__main__":
    main()
