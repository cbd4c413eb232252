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

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat, Event, Question
from realtalk.encoders.lexical import Bm25, Ranking, RankingOf, best_first, with_aliases
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.memory.plain import EventLines, check_kinds
from realtalk.memory.showing import Filling, Lines, MessageCosts, Size
from realtalk.memory.values import Budget, ConfiguredMemory, Context


class Restored(ConfiguredMemory):
    """`top` events lead; `anchors` messages stand for an event that names none itself.

    `others` shows the events that were not chosen too, as far as the budget has room left.
    `ranking` makes the search over events and messages.
    """

    name = "restored"
    setting_names = ("around", "sessions", "top", "anchors", "others", "kinds", "ranking")

    def __init__(
        self,
        *,
        around: int = 2,
        sessions: int = 0,
        top: int = 10,
        anchors: int = 2,
        others: bool = True,
        kinds: tuple[str, ...] = ("event",),
        ranking: RankingOf = Bm25,
    ) -> None:
        for setting, value, least in (
            ("around", around, -1),
            ("sessions", sessions, 0),
            ("top", top, 1),
            ("anchors", anchors, 1),
        ):
            if value < least:
                raise RealtalkError(f"{setting} must be {least} or more, not {value}")
        self.around = around
        self.sessions = sessions
        self.top = top
        self.anchors = anchors
        self.others = others
        self.kinds = check_kinds(kinds)
        self.ranking = ranking

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltRestored:  # noqa: ARG002
        return BuiltRestored(chat, self)


class BuiltRestored:
    """A chat's events and messages, searchable, and which messages each event stands for."""

    def __init__(self, chat: Chat, memory: Restored) -> None:
        self._chat = chat
        self._memory = memory
        self._events = EventLines(chat, memory.kinds)
        self._costs = MessageCosts(chat)
        self._event_ranking = memory.ranking(self._events.lines)
        self._message_ranking = memory.ranking(self._costs.lines)
        self._anchors = [
            _anchors(event, self._costs, self._message_ranking, memory.anchors)
            for event in self._events.events
        ]

    def recall(self, question: Question, budget: Budget) -> Context:
        """The chosen events, then their messages, then other events while there is room."""
        asked = with_aliases(self._chat, question.text)
        scores = self._event_ranking.scores(asked)
        order = best_first(scores)
        leading = order[: self._memory.top]
        restored = list(dict.fromkeys(self._restored(asked, scores, leading)))

        return lines_then_messages(
            self._events.sheet,
            self._costs,
            leading,
            restored,
            budget,
            others=order if self._memory.others else (),
            ranked=self._ranked(order, restored),
            tells=self._memory.around < 0 and not self._memory.sessions,
        )

    def _restored(
        self, asked: str, scores: npt.NDArray[np.float64], leading: Sequence[int]
    ) -> Iterable[str]:
        """Message ids, the most wanted first."""
        if self._memory.sessions:
            fitting = self._message_ranking.scores(asked)
            for number in _best_sessions(self._events.events, scores, self._memory.sessions):
                ids = self._costs.in_session(number)
                places = np.array([self._costs.at(id_) for id_ in ids], np.int64)
                yield from (ids[at] for at in best_first(fitting[places]))
        if self._memory.around >= 0:
            for at in leading:
                for anchor in self._anchors[at]:
                    yield from _outwards(self._costs.around(anchor, self._memory.around), anchor)

    def _ranked(self, order: Sequence[int], restored: Iterable[str]) -> tuple[str, ...]:
        """Messages that events stand for, the best event's first, then what was restored."""
        anchors = (anchor for at in order for anchor in self._anchors[at])
        return tuple(dict.fromkeys((*anchors, *restored)))


def lines_then_messages(
    sheet: Lines,
    costs: MessageCosts,
    leading: Sequence[int],
    messages: Sequence[str],
    budget: Budget,
    *,
    others: Sequence[int] = (),
    ranked: Sequence[str] | None = None,
    tells: bool = False,
) -> Context:
    """Leading lines, then messages, then other lines: each while the budget lasts."""
    size = Size(budget)
    lines, shown = Filling(sheet, size), Filling(costs.sheet, size)
    for at in leading:
        lines.add(at)
    for id_ in messages:
        shown.add(costs.at(id_))
    for at in others:
        lines.add(at)
    ids = [costs.ids[at] for at in shown.taken]
    return costs.context(ids, before=sheet.text(lines.taken), ranked=ranked, tells=tells)


def _anchors(event: Event, costs: MessageCosts, ranking: Ranking, count: int) -> tuple[str, ...]:
    named = tuple(id_ for id_ in event.evidence if id_ in costs.place)
    if named:
        return named
    ids = costs.in_session(event.session)
    if not ids:
        return ()
    places = np.array([costs.at(id_) for id_ in ids], np.int64)
    scores = ranking.scores(event.text)[places]
    return tuple(ids[at] for at in best_first(scores)[:count] if scores[at] > 0)


def _best_sessions(
    events: Sequence[Event], scores: npt.NDArray[np.float64], count: int
) -> list[int]:
    """The sessions of the best events, the best first."""
    best: dict[int, None] = {}
    for at in best_first(scores):
        best.setdefault(events[at].session)
        if len(best) == count:
            break
    return list(best)


def _outwards(ids: Sequence[str], centre: str) -> list[str]:
    """The centre, then its neighbours from the nearest on."""
    middle = ids.index(centre)
    return sorted(ids, key=lambda id_: abs(ids.index(id_) - middle))
