"""What every way of measuring is given and gives back: turns in, one table of labels out.

    inputs = turn_inputs(corpus)  → [TurnInput("Chat_1", 1, 0, "Mara", ("D1:1",), ..., "hey")]
    label_frame(inputs, labels, labeller)
    → chat | session | turn | speaker | message_ids | reflective | reflective_p | ...

A label that could not be made is null and its reason stands in `unscored`, never zero or
neutral. `reflective` … `empathy` are the answers, the `_p` columns the probability of the
answer given (null where the way of measuring has none). The three components of empathy add up
to it: they are expected levels where a way of measuring has probabilities, and the `_level`
columns hold the likeliest level of each. `language` is the turn's (see `text.languages`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeAlias

import polars as pl

from realtalk.chat import Chat, Corpus, Message, Turn
from realtalk.ei.encoder_choice import ENGLISH_ENCODER, EncoderName, encoder_for
from realtalk.files.progress import Progress, silent
from realtalk.text.languages import turn_languages

_Kinds: TypeAlias = dict[str, pl.DataType | type[pl.DataType]]
EMOTIONS = (
    "anger",
    "anticipation",
    "disgust",
    "fear",
    "joy",
    "love",
    "optimism",
    "pessimism",
    "sadness",
    "surprise",
    "trust",
)
SENTIMENTS = ("negative", "neutral", "positive")


@dataclass(frozen=True, slots=True)
class TurnMeasure:
    """Something that is measured of every turn: yes or no, one of some words, or a score.

    `words` are those of a measure in words. A score is from 0 to `most`; where two labellings
    are compared by steps, a whole of it has so many `steps`. `parts` are scores that add up to
    it, each with its likeliest level beside it.
    """

    name: str
    words: tuple[str, ...] = ()
    most: float | None = None
    steps: int = 1
    parts: tuple[str, ...] = ()

    @property
    def is_score(self) -> bool:
        return self.most is not None

    @property
    def columns(self) -> _Kinds:
        """Its columns in a table of labels."""
        if self.is_score:
            return {
                **dict.fromkeys((*self.parts, self.name), pl.Float32),
                **{f"{part}_level": pl.Int8 for part in self.parts},
            }
        return {self.name: pl.String if self.words else pl.Boolean, f"{self.name}_p": pl.Float32}


# All that is measured. Who adds one adds a field to `Label`, and to labellers that know it.
MEASURED = (
    TurnMeasure("reflective"),
    TurnMeasure("grounding"),
    TurnMeasure("sentiment", SENTIMENTS),
    TurnMeasure("emotion", EMOTIONS),
    TurnMeasure("intimacy", most=1.0, steps=4),
    TurnMeasure("empathy", most=6.0, parts=("emotional_reaction", "interpretation", "exploration")),
)
MEASURES = tuple(measure.name for measure in MEASURED)
WORDS = {measure.name: measure.words for measure in MEASURED if measure.words}
COMPONENTS = tuple(part for measure in MEASURED for part in measure.parts)
NOT_ASKED, NO_TEXT = "not asked", "no text"
LASTING = frozenset({NOT_ASKED, NO_TEXT})  # reasons that asking again does not change

_LABELS: _Kinds = {
    "chat": pl.String,
    "session": pl.Int32,
    "turn": pl.Int32,  # 0, 1, 2 ... within the chat
    "speaker": pl.String,
    "time": pl.Datetime("us"),
    "message_ids": pl.List(pl.String),
    "language": pl.String,  # "en", "es", "other", "und" …; null where nobody looked
    **{name: kind for measure in MEASURED for name, kind in measure.columns.items()},
    "measure": pl.String,  # how it was measured ...
    "version": pl.String,  # ... and by which version
    "unscored": pl.List(pl.Struct({"measure": pl.String, "reason": pl.String})),
}
LABELS = pl.Schema(_LABELS)


class Past(Sequence[tuple[str, str]]):
    """The first entries of a list that grows: what was said before a turn.

    A copy for every turn would fill the memory: 20,000 turns without a pause are 1.6 GB of them.
    """

    def __init__(self, said: list[tuple[str, str]]) -> None:
        self._said = said
        self._places = range(len(said))

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, at: Any) -> Any:
        return self._said[self._places[at]]


@dataclass(frozen=True, slots=True)
class TurnInput:
    """One turn with what was said before it. Nothing later is ever shown."""

    chat: str
    session: int
    turn: int
    speaker: str
    ids: tuple[str, ...]
    time: datetime | None
    text: str  # the turn's messages, one line each
    previous: str  # the last by somebody else in the session, "" where nobody spoke
    # (speaker, text) of the session so far, oldest first
    history: Sequence[tuple[str, str]] = field(default=(), compare=False)
    encoder: EncoderName = ENGLISH_ENCODER  # the shipped one that its chat's language calls for


@dataclass(frozen=True, slots=True)
class Label:
    """What one way of measuring says about one turn; None is unscored."""

    reflective: bool | None = None
    reflective_p: float | None = None
    grounding: bool | None = None
    grounding_p: float | None = None
    sentiment: str | None = None
    sentiment_p: float | None = None
    emotion: str | None = None
    emotion_p: float | None = None
    intimacy: float | None = None
    emotional_reaction: float | None = None
    interpretation: float | None = None
    exploration: float | None = None
    empathy: float | None = None
    emotional_reaction_level: int | None = None
    interpretation_level: int | None = None
    exploration_level: int | None = None
    unscored: Mapping[str, str] = field(default_factory=dict)  # measure → reason


ANSWERS = tuple(name for name in Label.__slots__ if name != "unscored")


def answers(label: Label) -> dict[str, Any]:
    """A label as columns of the table; `label_of` is the way back."""
    reasons = [{"measure": name, "reason": why} for name, why in label.unscored.items()]
    return {**{name: getattr(label, name) for name in ANSWERS}, "unscored": reasons}


def label_of(row: Mapping[str, Any]) -> Label:
    """The label that a row of the table holds."""
    reasons = {entry["measure"]: entry["reason"] for entry in row["unscored"] or ()}
    return Label(**{name: row[name] for name in ANSWERS}, unscored=reasons)


class Labeller(Protocol):
    """A way of measuring. `label` answers in the order of its inputs, one label each.

    Labels are kept under its name, version and settings, so other labels need another version.
    Four optional attributes: `settings` are what its labels depend on beside its version,
    `at_once` is how many turns are handed over together (all, where it does not say), `asks`
    says that something is asked which may fail: what failed is asked again by the next run, and
    `version_of(encoder)` is its version for turns of one encoder or the other.
    """

    name: str
    version: str

    def label(
        self, inputs: Sequence[TurnInput], progress: Progress = silent
    ) -> Sequence[Label]: ...


def version_for(labeller: Labeller, encoder: EncoderName) -> str:
    """The version that labels a turn of that encoder; most labellers have one for all."""
    version_of = getattr(labeller, "version_of", None)
    return labeller.version if version_of is None else str(version_of(encoder))


def versions_of(labeller: Labeller, encoders: Iterable[EncoderName]) -> str:
    """All versions that label turns of these encoders: "2", or "2, multilingual 1"."""
    return ", ".join(
        dict.fromkeys(version_for(labeller, encoder) for encoder in sorted({*encoders}))
        or [labeller.version]
    )


def turn_inputs(corpus: Corpus, joined: bool = True) -> list[TurnInput]:
    """Every turn of a corpus, in order, with the session so far.

    Not `joined`, every message that says something stands alone, as the paper's released code has
    it.
    """
    inputs = []
    for chat in corpus.chats:
        encoder = chat_encoder(chat)
        units: Sequence[Turn] = chat.turns
        if not joined:
            pairs = ((part.number, message) for part in chat.sessions for message in part.messages)
            said = ((number, message) for number, message in pairs if _message_text(message))
            units = [Turn(number, message.speaker, (message,)) for number, message in said]
        session = -1
        history: list[tuple[str, str]] = []
        for index, turn in enumerate(units):
            if turn.session != session:
                session, history = turn.session, []
            text = turn_text(turn)
            others = (line for who, line in reversed(history) if who != turn.speaker)
            inputs.append(
                TurnInput(
                    chat=chat.id,
                    session=session,
                    turn=index,
                    speaker=turn.speaker,
                    ids=tuple(message.id for message in turn.messages),
                    time=turn.time,
                    text=text,
                    previous=next(others, ""),
                    history=Past(history),
                    encoder=encoder,
                )
            )
            history.append((turn.speaker, text))
    return inputs


def chat_encoder(chat: Chat) -> EncoderName:
    """The shipped encoder for a chat, by its joined turns, whatever is labelled of it."""
    spoken = turn_languages((chat.id, turn.speaker, turn_text(turn)) for turn in chat.turns)
    return encoder_for(Counter(spoken))


def turn_text(turn: Turn) -> str:
    return "\n".join(filter(None, map(_message_text, turn.messages)))


def _message_text(message: Message) -> str:
    """A message's words, or what a wordless one shows.

    Beside words, captions are not what the speaker said.
    """
    if message.text.strip():
        return message.text
    return " ".join(f"[{a.caption}]" for a in message.attachments if a.caption)


def label_row(
    turn: TurnInput, label: Label, language: str | None, labeller: Labeller
) -> dict[str, Any]:
    """One turn and its label as a row of the table."""
    return {
        **{name: getattr(turn, name) for name in ("chat", "session", "turn", "speaker", "time")},
        "message_ids": list(turn.ids),
        "language": language,
        **answers(label),
        "measure": labeller.name,
        "version": version_for(labeller, turn.encoder),
    }


def input_languages(inputs: Iterable[TurnInput]) -> list[str]:
    """The language of every turn, by all that its speaker says in the chat."""
    return turn_languages((turn.chat, turn.speaker, turn.text) for turn in inputs)


def label_frame(
    inputs: Sequence[TurnInput], labels: Sequence[Label], labeller: Labeller
) -> pl.DataFrame:
    """Inputs and their labels as one table, one row per turn."""
    triples = zip(inputs, labels, input_languages(inputs), strict=True)
    return pl.DataFrame([label_row(*triple, labeller) for triple in triples], schema=LABELS)


def label_sums(labels: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """One row per group: `turns`, how many of them have no label at all, and every measure.

    Of a measure in words all its words, in order; of any other its sum, and in `empathy_n` over
    how many turns. What could not be measured counts for nothing.
    """
    answers: list[pl.Expr] = []
    for measure in MEASURED:
        value = pl.col(measure.name)
        if measure.words:
            answers.append(value.drop_nulls())
        else:
            numbers = value.cast(pl.Float64).fill_nan(None)
            answers += [numbers.count().alias(f"{measure.name}_n"), numbers.sum()]
    unscored = pl.all_horizontal(pl.col(name).is_null() for name in MEASURES)
    return labels.group_by(*by, maintain_order=True).agg(
        pl.len().alias("turns"), unscored.sum().alias("unscored"), *answers
    )
