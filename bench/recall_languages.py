"""How well questions find their messages, language by language, before and now.

    python bench/recall_languages.py --data ../shared/data
    → one row per set, language, way and question: the rank of the best message that answers it

Set `own`: a chat of 48 messages and twelve questions of our own writing (`bench/recall/LANG.txt`),
the same story in every language, told as people would tell it there; English stands beside them.
Set `paraphrases`: sentences that people called nearly the same (STS, scored 4 or more of 5), one
to be found by the other among all of its language; only ranks are kept of them.
Ways: `encoder` is what every chat got before (the fused ranking with the English encoder), `words`
is BM25 with English words, `now` is the memory `retrieved` as it chooses by itself.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from realtalk.chat import Chat, Message, Question, Session
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.memory.index import BM25, FUSED, ChatIndex, SearchedQuestion, named_text, scores
from realtalk.memory.retrieved import Retrieved
from realtalk.text.folding import fold
from realtalk.text.terms import english_terms

STORIES = Path(__file__).parent / "recall"
SESSIONS = (1, 7, 13, 19, 26, 33, 39, 45)  # the first message of each
EVIDENCE = (
    ("1",),
    ("6",),
    ("7",),
    ("15",),
    ("18", "19"),
    ("21",),
    ("25",),
    ("29",),
    ("32",),
    ("35",),
    ("43",),
    ("47",),
)
ALIKE = 4.0
Row = dict[str, Any]


def read_story(path: Path) -> Chat:
    """A chat and its questions: "# Clara · Ben", "A text", "B text", "? question"."""
    head, *lines = path.read_text("utf-8").splitlines()
    names = tuple(head.removeprefix("# ").split(" · "))
    said = [(names["AB".index(line[0])], line[2:]) for line in lines if line[0] in "AB"]
    asked = [line[2:] for line in lines if line[0] == "?"]
    begin = datetime(2026, 3, 3, 18)
    sessions = []
    for number, first in enumerate(SESSIONS, 1):
        end = (*SESSIONS, len(said) + 1)[number]
        time = begin + timedelta(days=9 * number)
        messages = tuple(Message(str(at), *_said(said[at - 1], time)) for at in range(first, end))
        sessions.append(Session(number, time, messages))
    questions = tuple(
        Question(f"Q{number}", text, None, "", evidence=EVIDENCE[number - 1])
        for number, text in enumerate(asked, 1)
    )
    return Chat(path.stem, names, tuple(sessions), questions=questions)


def _said(line: tuple[str, str], time: datetime) -> tuple[str, datetime, str]:
    return line[0], time, line[1]


def rank(values: np.ndarray, wanted: Sequence[int]) -> int:
    """The place of the best wanted one; of equals, the earlier message stands first."""
    order: list[int] = np.argsort(-values, kind="stable").tolist()
    return 1 + min(order.index(at) for at in wanted)


def ranked_rows(
    kind: str, chat: Chat, memory: Retrieved, encoder: SentenceEncoder
) -> Iterator[Row]:
    """Every way on the questions of one chat."""
    plain = ChatIndex.around(chat, None)
    texts = [named_text(chat.by_id[id_]) for id_ in plain.ids]
    before = ChatIndex.around(chat, encoder.encode(texts, plain.sessions.tolist()))
    vars(before)["read"] = english_terms  # as every chat was read
    now = memory.build(chat)
    for question in chat.questions:
        asked = SearchedQuestion.of(chat, question)
        wanted = [plain.ids.index(id_) for id_ in question.evidence]
        found = {
            "encoder": scores(before, asked, encoder, FUSED),
            "words": scores(before, asked, None, BM25),
            "now": now.scores(question),
        }
        for way, values in found.items():
            yield _row(kind, chat.id, way, question.id, rank(values, wanted))


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


def _row(kind: str, language: str, way: str, question: str, place: int) -> Row:
    return {"set": kind, "language": language, "way": way, "question": question, "rank": place}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--out", type=Path, default=Path("research/results/rows/languages-rows.parquet")
    )
    options = parser.parse_args()
    encoder = SentenceEncoder()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as cache:
        memory = Retrieved(encoder=encoder, cache=Path(cache))
        for path in sorted(STORIES.glob("*.txt")):
            rows += ranked_rows("own", read_story(path), memory, encoder)
        for chat in paraphrases(options.data):
            rows += ranked_rows("paraphrases", chat, memory, encoder)
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
