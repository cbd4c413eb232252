"""Turns → line-ups: what the person wrote, among replies that somebody else wrote or a model made.

    draw = LineupDraw(corpus, simulated={"tuned": {("Mara", "Chat_2#14"): "lol no"}}, seed=0)
    draw.lineup(turn, test=chat, learn="Chat_1", wanted=("partner", "other", "simulated"))
    → TurnLineup(turn, (LineupReply("haha no", "real", "Mara"), LineupReply("Indeed.", …), …))
    that.shown     → Lineup(prompt, ("haha no", "Indeed.", …)), which is all that a solver sees

The others' replies are real turns of about the same length in characters, drawn by the seed, as
is their order; the real one is as often the longest of them as any other. A partner's comes from
earlier in the tested chat, beyond what is shown of it, or from their other chats; never from
later, where it may answer the very turn. Another speaker's comes from people outside the tested
chat, from the chat that is learned from only where there is no other. Where a kind is lacking, the
next one stands in; a turn without enough replies has no line-up.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from realtalk.chat import Chat, Corpus, is_nobody
from realtalk.ei.labels import turn_inputs
from realtalk.persona.values import PersonaTurn, TurnPrompt

LINEUPS_VERSION = "1"
Origin = Literal["real", "partner", "other", "simulated"]
FOUR: tuple[Origin, ...] = ("partner", "other", "simulated")  # beside the real one
SimulatedTexts: TypeAlias = Mapping[tuple[str, str], str]  # (speaker, turn id) → what was written
LETTERS = "ABCD"
_STAND_IN: tuple[Origin, ...] = ("other", "partner")
_NEAREST = 4  # replies of about the length that is wanted, of which one is drawn
# How far lengths spread, as a share. All four are drawn around one length that nobody sees: were
# the others drawn around the real one, it would stand in their middle.
_SPREAD = 0.15


@dataclass(frozen=True, slots=True)
class Lineup:
    """A place in a chat, and replies of which one was written there."""

    prompt: TurnPrompt
    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineupReply:
    """One of the replies. `writer` is a person's or a simulator's name."""

    text: str
    origin: Origin
    writer: str


@dataclass(frozen=True, slots=True)
class TurnLineup:
    """A turn with its replies in the order in which they are shown."""

    turn: PersonaTurn
    replies: tuple[LineupReply, ...]

    @property
    def shown(self) -> Lineup:
        return Lineup(self.turn.prompt, tuple(reply.text for reply in self.replies))

    @property
    def place(self) -> int:
        """Where the real one stands."""
        return next(at for at, reply in enumerate(self.replies) if reply.origin == "real")


@dataclass(frozen=True, slots=True)
class _KnownReply:
    chat: str
    place: int
    speaker: str
    text: str


class LineupDraw:
    """Draws line-ups from the turns of a corpus and from what simulators wrote."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        simulated: Mapping[str, SimulatedTexts] | None = None,
        seed: int = 0,
    ) -> None:
        self._said = sorted(
            (
                _KnownReply(each.chat, each.turn, each.speaker, each.text.strip())
                for each in turn_inputs(corpus)
                if each.text.strip() and not is_nobody(each.speaker)
            ),
            key=lambda each: len(each.text),
        )
        self._simulated = dict(simulated or {})
        self._seed = seed
        self._pools: dict[tuple[str, str | None], dict[str, list[_KnownReply]]] = {}

    def lineup(
        self,
        turn: PersonaTurn,
        *,
        test: Chat,
        learn: str | None,
        wanted: Sequence[Origin],
        context: int | None = None,
    ) -> TurnLineup | None:
        """The turn among as many replies as are wanted; None where they cannot be found.

        `learn` is the chat that is learned from. `context` says how many of the last turns are
        shown, where that is not all of the prompt's context.
        """
        if not turn.text.strip():
            return None
        speaker = turn.prompt.speaker
        chance = random.Random(f"{self._seed}/{speaker}/{turn.id}")
        shown = turn.prompt.context if context is None else turn.prompt.context[-context:]
        taken = {_plain(each.text) for each in shown} | {_plain(turn.text)}
        waiting = self._written(speaker, turn.id, chance)
        place = int(turn.id.rpartition("#")[2])
        pools = self._pools_of(test, learn, speaker)
        about = len(turn.text) * math.exp(chance.gauss(0, _SPREAD))
        replies = [LineupReply(turn.text, "real", speaker)]
        for kind in wanted:
            for origin in (kind, *_STAND_IN):
                found = (
                    self._next_written(waiting, taken)
                    if origin == "simulated"
                    else self._next_said(origin, pools, place, about, taken, chance)
                )
                if found is not None:
                    taken.add(_plain(found.text))
                    replies.append(found)
                    break
            else:
                return None
        chance.shuffle(replies)
        return TurnLineup(turn, tuple(replies))

    def _written(self, speaker: str, id_: str, chance: random.Random) -> list[LineupReply]:
        """What simulators wrote in this place, in an order of chance."""
        found = [
            LineupReply(texts[speaker, id_].strip(), "simulated", name)
            for name, texts in self._simulated.items()
            if texts.get((speaker, id_), "").strip()
        ]
        chance.shuffle(found)
        return found

    def _next_written(
        self, waiting: list[LineupReply], taken: Collection[str]
    ) -> LineupReply | None:
        while waiting:
            reply = waiting.pop(0)
            if _plain(reply.text) not in taken:  # two alike cannot be told apart
                return reply
        return None

    def _next_said(
        self,
        origin: Origin,
        pools: Mapping[str, list[_KnownReply]],
        place: int,
        about: float,
        taken: Collection[str],
        chance: random.Random,
    ) -> LineupReply | None:
        def fits(said: _KnownReply) -> bool:
            return _plain(said.text) not in taken

        size = about * math.exp(chance.gauss(0, _SPREAD))
        if origin == "partner":
            earlier = [said for said in pools["before"] if said.place < place]
            near = _nearest(earlier, size, fits) + _nearest(pools["partner"], size, fits)
            near = sorted(near, key=lambda said: abs(len(said.text) - size))[:_NEAREST]
        else:
            near = _nearest(pools["other"], size, fits) or _nearest(pools["learned"], size, fits)
        if not near:
            return None
        said = chance.choice(near)
        return LineupReply(said.text, origin, said.speaker)

    def _pools_of(
        self, test: Chat, learn: str | None, speaker: str
    ) -> dict[str, list[_KnownReply]]:
        """Who said what, by where it may be taken from; each shortest first."""
        partners = set(test.speakers) - {speaker}
        key = (f"{test.id}\0{speaker}", learn)
        if key not in self._pools:
            elsewhere = [said for said in self._said if said.chat not in (test.id, learn)]
            outside = set(test.speakers)
            self._pools[key] = {
                "before": _of(self._said, lambda s: s.chat == test.id and s.speaker in partners),
                "partner": _of(elsewhere, lambda s: s.speaker in partners),
                "other": _of(elsewhere, lambda s: s.speaker not in outside),
                "learned": _of(self._said, lambda s: s.chat == learn and s.speaker not in outside),
            }
        return self._pools[key]


def _of(said: Iterable[_KnownReply], belongs: Callable[[_KnownReply], bool]) -> list[_KnownReply]:
    return [each for each in said if belongs(each)]


def _nearest(
    pool: Sequence[_KnownReply], size: float, fits: Callable[[_KnownReply], bool]
) -> list[_KnownReply]:
    """Those nearest in length of a pool that is sorted by it, each text once."""
    after = bisect_left(pool, size, key=lambda said: len(said.text))
    before = after - 1
    near: list[_KnownReply] = []
    seen: set[str] = set()
    while len(near) < _NEAREST and (before >= 0 or after < len(pool)):
        below = size - len(pool[before].text) if before >= 0 else None
        above = len(pool[after].text) - size if after < len(pool) else None
        if above is None or (below is not None and below < above):
            said, before = pool[before], before - 1
        else:
            said, after = pool[after], after + 1
        if fits(said) and _plain(said.text) not in seen:
            seen.add(_plain(said.text))
            near.append(said)
    return near


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
