"""Events chosen for the question, with the conversation around them put back.

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

from collections.abc import Iterator
from dataclasses import dataclass

from realtalk.chat import Chat, Event, Question
from realtalk.encoders.lexical import Bm25, RankingOf, best_first, with_aliases
from realtalk.memory.plain import EventLines, check_kinds
from realtalk.memory.showing import MessageCosts, lines_then_messages
from realtalk.memory.values import Budget, ConfiguredMemory, Context
from realtalk.metrics.statistics import Array
from realtalk.registry import at_least


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
