"""Two invented chats of Ines, with different people and manners, for the tests of personas."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from realtalk.chat import Attachment, Chat, Corpus, Message, Session
from realtalk.ei.labelling import labels_for
from realtalk.ei.labels import EMOTIONS, SENTIMENTS, Label, TurnInput
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity
from realtalk.metrics.statistics import Estimate
from realtalk.persona.choosing import Choice
from realtalk.persona.scoring import TurnScorer
from samples import read_sample
from text_tables import spoken

_OVEN = spoken("""
    Tobias: how is the bakery today?
    Ines: haha the oven broke again
    Tobias: oh no, did you call the mechanic?
    Ines: haha yes, he comes on monday
    Tobias: and the bread until then?
    Ines: haha no bread, only tea
""")
_BOAT = spoken("""
    Juno: The boat needs new paint before the regatta.
    Ines: haha paint it yellow
    Juno: Yellow is not in the rules, I am afraid.
    Ines: haha rules, who reads them
    Juno: I do. I read all of them, twice.
    Ines: haha of course you do
""")


def chat(
    id_: str,
    script: tuple[tuple[str, str], ...],
    sessions: int,
    first: datetime,
    marks: bool = True,
) -> Chat:
    """The script once a session; every text carries its own mark, so that none is like another."""
    made = []
    for number in range(1, sessions + 1):
        begin = first + timedelta(days=number)
        messages = tuple(
            Message(
                f"D{number}:{at}",
                speaker,
                begin + timedelta(minutes=at),
                f"{text} {id_.lower()}x{number}x{at}" if marks else text,
            )
            for at, (speaker, text) in enumerate(script, 1)
        )
        made.append(Session(number, begin, messages))
    return Chat(id_, tuple(dict.fromkeys(who for who, _ in script)), tuple(made))


def ines(sessions: int = 4) -> Corpus:
    """Ines with Tobias about an oven, and with Juno about a boat."""
    first = datetime(2026, 5, 4, 9, 0)
    return Corpus(
        "bakery",
        "realtalk",
        (chat("Oven", _OVEN, sessions, first), chat("Boat", _BOAT, sessions, first)),
    )


def ines_choice(turns: int = 12) -> Choice:
    """The oven is learned from, the boat is tested."""
    return Choice(
        speaker="Ines",
        learn="Oven",
        test="Boat",
        overall={"Oven": 0.4, "Boat": -0.1},
        turns={"Oven": turns, "Boat": turns},
        sure=0.9,
        leading=("empathy",),
        consistency=Estimate(0.2),
    )


def with_picture() -> Chat:
    """A turn that is only a picture, and one of two bubbles."""
    when = datetime(2026, 5, 4, 9, 0)
    messages = (
        Message("D1:1", "Juno", when, "look"),
        Message("D1:2", "Ines", when, "", (Attachment("image", "1.jpg", "", "a red boat"),)),
        Message("D1:3", "Juno", when, "", (Attachment("image", "2.jpg"),)),
        Message("D1:4", "Ines", when, "nice"),
        Message("D1:5", "Ines", when, "where is it?"),
    )
    return Chat("Pictures", ("Juno", "Ines"), (Session(1, when, messages),))


class RuleLabeller:
    """Labels by rules that a test can follow; a text with "?" gets none."""

    name = "rule"
    version = "1"

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        return [self._one(given.text) for given in inputs]

    def _one(self, text: str) -> Label:
        if "?" in text:
            return Label(unscored={"emotion": "a question"})
        size = len(text)
        return Label(
            reflective="I " in text,
            grounding="haha" in text,
            sentiment=SENTIMENTS[size % 3],
            emotion=EMOTIONS[size % 11],
            intimacy=min(1.0, size / 100),
            empathy=size / 20,
        )


class WordEncoder:
    """One fixed random vector per word; a text's is their mean."""

    version = "words"

    def embed(self, texts: Sequence[str], progress: Progress = silent) -> npt.NDArray[np.float32]:
        means = np.array([tokens.sum(axis=0) for tokens in self.token_vectors(texts)], np.float32)
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)

    def token_vectors(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        return [
            np.array([self._vector(word) for word in text.lower().split()], np.float32)
            for text in texts
        ]

    def _vector(self, word: str) -> npt.NDArray[np.float32]:
        made = np.random.default_rng(zlib.crc32(word.encode())).normal(size=16)
        return (made / np.linalg.norm(made)).astype(np.float32)


def light_scorer(corpus: Corpus | None = None) -> TurnScorer:
    """Scores without any model file."""
    return TurnScorer(corpus or ines(), RuleLabeller(), Similarity(WordEncoder()))


@cache
def sample_labels() -> pl.DataFrame:
    """Labels of the sample by rule: the encoder would take seconds."""
    return labels_for(read_sample(), RuleLabeller()).frame
