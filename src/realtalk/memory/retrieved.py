"""Messages found for the question, put back into time order under their days.

    make().build(chat).recall(question, Budget(tokens=1000))
    → Context("[Monday 2 March 2026]\\nMara: did you sleep at all\\n...", ("D1:2", ...), 981, 702,
              ranked=("D4:7", "D1:2", ...))

`way` says what ranks them: `fused` (the shipped encoder, words and priors together), `encoder`
(its vectors alone) or `bm25` (words alone, no model). A chat that is not all in English has an
encoder and weights of its own: there a question finds messages in whatever language they are.
`ranked` holds every message, best first; a budget is filled in that order, passing over a message
that is too long for what is left, as far as what would fill it twice.

Events chosen for the question, with the conversation around them put back.

    Restored(around=2).build(chat).recall(question, Budget(tokens=1000))
    → "[Monday 2 March 2026]
       - Mara: Mara's contract at the archive ends on 31 March.

       [Monday 2 March 2026]
       Theo: how long do you still have there
       Mara: till the 31st, then I'm out
       ..."

Events are cheap but lose what links them. This memory says how much comes back: `around=k`
restores an event's messages with k neighbours on each side, `sessions=n` the n whole sessions
that the best events lead to. `around` below 0 restores no messages: events alone, chosen for
the question. An event's messages are those that it names; where it names none, the ones of its
session that are most like it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

import realtalk_models
from realtalk.chat import Chat, Event, Question
from realtalk.encoders.lexical import Bm25, RankingOf, best_first, with_aliases
from realtalk.encoders.sentences import OTHER_LANGUAGES, EncodedTexts, SentenceEncoder, TextEncoder
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.memory.index import (
    BM25,
    ENCODER,
    FUSED,
    MULTILINGUAL,
    ChatIndex,
    SearchedQuestion,
    Weights,
    again,
    scores,
)
from realtalk.memory.plain import EventLines, check_kinds
from realtalk.memory.values import (
    Budget,
    ConfiguredMemory,
    Context,
    MessageCosts,
    lines_then_messages,
)
from realtalk.metrics.statistics import Array, Whole
from realtalk.registry import at_least, known_name


@dataclass(kw_only=True, eq=False)
class Restored(ConfiguredMemory):
    """`top` events lead; `anchors` messages stand for an event that names none itself.

    `others` shows the events that were not chosen too, as far as the budget has room left.
    `ranking` makes the search over events and messages.
    """

    name = "restored"
    around: int = 2
    sessions: int = 0
    top: int = 10
    anchors: int = 2
    others: bool = True
    kinds: tuple[str, ...] = ("event",)
    ranking: RankingOf = Bm25

    def __post_init__(self) -> None:
        at_least(-1, around=self.around)
        at_least(0, sessions=self.sessions)
        at_least(1, top=self.top, anchors=self.anchors)
        self.kinds = check_kinds(self.kinds)

    def build(self, chat: Chat) -> BuiltRestored:
        return BuiltRestored(chat, self)


class BuiltRestored:
    """A chat's events and messages, searchable, and which messages each event stands for."""

    def __init__(self, chat: Chat, memory: Restored) -> None:
        self._memory = memory
        self._sheet = EventLines(chat, memory.kinds)
        self._costs = MessageCosts(chat)
        self._event_ranking = memory.ranking(self._sheet.lines)
        self._message_ranking = memory.ranking(self._costs.lines)
        self._anchors = [self._anchors_of(event) for event in self._sheet.events]

    def _anchors_of(self, event: Event) -> list[str]:
        """The messages that an event names, else those of its session that are most like it."""
        evidence = [id_ for id_ in event.evidence if id_ in self._costs.place]
        if evidence:
            return evidence
        places = self._costs.in_session(event.session)
        scores = self._message_ranking.scores(event.text)[places]
        best = best_first(scores)[: self._memory.anchors]
        return [self._costs.ids[places[at]] for at in best if scores[at] > 0]

    def recall(self, question: Question, budget: Budget) -> Context:
        """The chosen events, then their messages, then other events while there is room."""
        text = with_aliases(self._costs.chat, question.text)
        order = best_first(self._event_ranking.scores(text))
        leading = order[: self._memory.top]
        restored = tuple(dict.fromkeys(self._restore(text, order, leading)))
        anchors = (anchor for at in order for anchor in self._anchors[at])
        return lines_then_messages(
            self._sheet,
            self._costs,
            leading,
            restored,
            budget,
            others=order if self._memory.others else (),
            ranked=tuple(dict.fromkeys((*anchors, *restored))),
            tells=self._memory.around < 0 and not self._memory.sessions,
        )

    def _restore(self, asked: str, order: list[int], leading: list[int]) -> Iterator[str]:
        """Message ids, the most wanted first."""
        if self._memory.sessions:
            fitting: Array = self._message_ranking.scores(asked)
            sessions = [*dict.fromkeys(self._sheet.events[at].session for at in order)]
            for number in sessions[: self._memory.sessions]:
                places = self._costs.in_session(number)
                yield from (self._costs.ids[places[at]] for at in best_first(fitting[places]))
        for anchor in (anchor for at in leading for anchor in self._anchors[at]):
            near = self._costs.around(anchor, self._memory.around)
            middle = self._costs.at(anchor)  # from the nearest on
            yield from sorted(near, key=lambda id_: abs(self._costs.at(id_) - middle))


Way = Literal["fused", "encoder", "bm25"]

_WEIGHTS: Mapping[str, Weights] = {"fused": FUSED, "encoder": ENCODER, "bm25": BM25}


@dataclass(kw_only=True, eq=False)
class Retrieved(ConfiguredMemory):
    """Retrieval as a memory.

    `window` shows so many messages around each hit; `hops` searches so often again with what
    was found; `top` ends after so many hits (0: as many as the budget holds). `aliases` replaces
    other names of the speakers in the question, `dates` reads the days that it names. `device` is
    where the encoder of English runs, cpu or cuda: its version tells. `multilingual` is the encoder
    of all other chats, which stays on the CPU.
    """

    name = "retrieved"
    recorded = ("way", "window", "hops", "top", "aliases", "dates")

    way: Way = "fused"
    window: int = 0
    hops: int = 0
    top: int = 0
    aliases: bool = True
    dates: bool = True
    device: str = "cpu"
    encoder: TextEncoder | None = None
    multilingual: TextEncoder | None = None
    cache: Path | None = None

    def __post_init__(self) -> None:
        self._known: dict[str, EncodedTexts] = {}  # of the chat before, by session
        at_least(0, window=self.window, hops=self.hops, top=self.top)
        known_name("way", self.way, get_args(Way))
        if self.way == "bm25":
            if self.hops:
                raise RealtalkError("hops need vectors", fix="take way=fused or way=encoder")
            if self.device != "cpu":
                raise RealtalkError(
                    "words alone are searched without an encoder", fix="leave `device=` out"
                )

    def load_encoder(self, *, english: bool = True) -> TextEncoder | None:
        """The encoder, loaded when first needed; None where only words are searched."""
        if self.way == "bm25":
            return None
        if english:
            self.encoder = self.encoder or SentenceEncoder(device=self.device)
            return self.encoder
        place = realtalk_models.path(OTHER_LANGUAGES)
        self.multilingual = self.multilingual or SentenceEncoder(place)
        return self.multilingual

    @property
    def version(self) -> str:
        """Ours, which rises with the other languages' encoder, and that of the English one."""
        encoder = self.load_encoder()
        return "2" if encoder is None else f"4+{encoder.version}"

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltRetrieved:
        encoder = self.load_encoder(english=ChatIndex.around(chat, None).is_english)
        index = ChatIndex.of(chat, encoder, cache=self.cache, known=self._known, progress=progress)
        return BuiltRetrieved(self, index)

    def weights(self, index: ChatIndex) -> Weights:
        """How much each feature counts in a chat."""
        if self.way != "fused" or index.is_english:
            return _WEIGHTS[self.way]
        return MULTILINGUAL


class BuiltRetrieved:
    """One chat, searched."""

    def __init__(self, memory: Retrieved, index: ChatIndex) -> None:
        self._memory = memory
        self.index = index
        self._costs = MessageCosts(index.chat)
        self._ids = np.array(index.ids, dtype=object)
        self._place = np.array([self._costs.place[id_] for id_ in index.ids], np.int64)
        self._last: tuple[Question, tuple[str, ...], Whole] | None = None
        index.prepare(with_words=memory.way != "encoder")

    def scores(self, question: Question) -> Array:
        """One score per message, in the order of `index.ids`."""
        memory, index = self._memory, self.index
        searched = SearchedQuestion.of(
            index.chat,
            question,
            aliases=memory.aliases,
            dates=memory.dates,
            is_english=index.is_english,
        )
        encoder = memory.load_encoder(english=index.is_english)
        values = scores(index, searched, encoder, memory.weights(index))
        for _ in range(memory.hops):
            values = again(index, values)
        return values

    def rank(self, question: Question) -> tuple[str, ...]:
        """Every message, best first; of equals, the earlier one."""
        return self._order(question)[0]

    def _order(self, question: Question) -> tuple[tuple[str, ...], Whole]:
        """The ids best first, and where each stands among the costs."""
        if self._last is None or self._last[0] != question:  # a sweep asks once per budget
            order = np.argsort(-self.scores(question), kind="stable")
            self._last = (question, tuple(self._ids[order].tolist()), self._place[order])
        return self._last[1:]

    def recall(self, question: Question, budget: Budget) -> Context:
        ranked, places = self._order(question)
        hits = ranked[: self._memory.top or self._reach(places, budget)]
        message_ids = self._costs.fit(self._with_neighbours(hits), budget)
        return self._costs.context(message_ids, ranked=ranked)

    def _reach(self, places: Whole, budget: Budget) -> int:
        """How many of the ranked are looked at: as many as would fill the budget twice.

        Behind that, only crumbs would fit, and they are what ranks lowest.
        """
        reach = len(places)
        for costs, most in (
            (self._costs.tokens, budget.tokens),
            (self._costs.words, budget.words),
        ):
            if most is not None:
                sizes = costs[places]
                spent = np.cumsum(np.where(sizes > most, 0, sizes))  # what can never fit costs none
                reach = min(reach, int(np.searchsorted(spent, 2 * most, side="right")) + 1)
        return reach

    def _with_neighbours(self, hits: tuple[str, ...]) -> Iterator[str]:
        """Each hit, then what stands around it, every message once."""
        ids: set[str] = set()
        for hit in hits:
            around = self._costs.around(hit, self._memory.window) if self._memory.window else ()
            for id_ in (hit, *around):
                if id_ not in ids:
                    ids.add(id_)
                    yield id_
