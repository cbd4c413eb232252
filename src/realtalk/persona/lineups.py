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

import heapq
import math
import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from realtalk.chat import Chat, Corpus, is_nobody
from realtalk.ei.labels import TurnInput, turn_inputs
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


class LineupReply(NamedTuple):
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


class LineupDraw:
    """Draws line-ups from the turns of a corpus and from what simulators wrote."""

    def __init__(
        self, corpus: Corpus, *, simulated: Mapping[str, SimulatedTexts], seed: int = 0
    ) -> None:
        spoken = (
            replace(turn, text=turn.text.strip())
            for turn in turn_inputs(corpus)
            if turn.text.strip() and not is_nobody(turn.speaker)
        )
        self._spoken = sorted(spoken, key=_length)
        self._simulated = simulated
        self._seed = seed
        self._pools: dict[tuple[str, str, str | None], dict[str, list[TurnInput]]] = {}

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
        used = {plain_text(text) for text in (turn.text, *(line.text for line in shown))}
        simulated = [
            LineupReply(text, "simulated", name)
            for name, texts in self._simulated.items()
            if (text := texts.get((speaker, turn.id), "").strip())
        ]
        chance.shuffle(simulated)
        pools = self._pools_of(test, learn, speaker)
        about = len(turn.text) * math.exp(chance.gauss(0, _SPREAD))

        def draw(origin: Origin) -> LineupReply | None:
            if origin == "simulated":
                fitting = (reply for reply in simulated if plain_text(reply.text) not in used)
                return next(fitting, None)
            size = about * math.exp(chance.gauss(0, _SPREAD))
            if origin == "partner":
                earlier = [line for line in pools["before"] if line.turn < turn.prompt.place]
                near = [*_nearest(earlier, size, used), *_nearest(pools["partner"], size, used)]
                near = sorted(near, key=partial(_distance, size))[:_NEAREST]
            else:
                near = _nearest(pools["other"], size, used)
                near = near or _nearest(pools["learned"], size, used)
            if not near:
                return None
            neighbour = chance.choice(near)
            return LineupReply(neighbour.text, origin, neighbour.speaker)

        replies = [LineupReply(turn.text, "real", speaker)]
        for kind in wanted:
            reply = next(filter(None, map(draw, (kind, *_STAND_IN))), None)
            if reply is None:
                return None
            used.add(plain_text(reply.text))
            replies.append(reply)
        chance.shuffle(replies)
        return TurnLineup(turn, tuple(replies))

    def _pools_of(
        self, test: Chat, learn: str | None, speaker: str
    ) -> Mapping[str, Sequence[TurnInput]]:
        """Who said what, by where it may be taken from; each shortest first."""
        key = (test.id, speaker, learn)
        if key not in self._pools:
            pools = self._pools[key] = defaultdict(list)
            for line in self._spoken:
                inside = line.speaker in test.speakers
                if line.speaker != speaker and inside and line.chat != learn:
                    pools["before" if line.chat == test.id else "partner"].append(line)
                elif not inside and line.chat != test.id:
                    pools["learned" if line.chat == learn else "other"].append(line)
        return self._pools[key]


def _length(said: TurnInput) -> int:
    return len(said.text)


def _distance(size: float, said: TurnInput) -> float:
    return abs(len(said.text) - size)


def _nearest(pool: Sequence[TurnInput], size: float, taken: Collection[str]) -> list[TurnInput]:
    """Those nearest in length of a pool that is sorted by it, each text once."""
    at = bisect_left(pool, size, key=_length)
    near = heapq.merge(pool[at:], reversed(pool[:at]), key=partial(_distance, size))
    texts: dict[str, TurnInput] = {}
    for line in near:
        if (text := plain_text(line.text)) not in taken:
            texts.setdefault(text, line)
        if len(texts) == _NEAREST:
            break
    return list(texts.values())


def plain_text(text: str) -> str:
    """A text as it is compared with others: two alike cannot be told apart."""
    return " ".join(text.split()).casefold()
