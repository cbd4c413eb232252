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
from collections.abc import Collection, Mapping, Sequence
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
        taken = {plain_text(each.text) for each in shown} | {plain_text(turn.text)}
        written = [
            LineupReply(text, "simulated", name)
            for name, texts in self._simulated.items()
            if (text := texts.get((speaker, turn.id), "").strip())
        ]
        chance.shuffle(written)
        place = int(turn.id.rpartition("#")[2])
        pools = self._pools_of(test, learn, speaker)
        about = len(turn.text) * math.exp(chance.gauss(0, _SPREAD))
        replies = [LineupReply(turn.text, "real", speaker)]
        for kind in wanted:
            for origin in (kind, *_STAND_IN):
                if origin == "simulated":
                    fitting = (each for each in written if plain_text(each.text) not in taken)
                    found = next(fitting, None)
                else:
                    size = about * math.exp(chance.gauss(0, _SPREAD))
                    near = _near(origin, pools, place, size, taken)
                    found = None
                    if near:
                        said = chance.choice(near)
                        found = LineupReply(said.text, origin, said.speaker)
                if found is not None:
                    taken.add(plain_text(found.text))
                    replies.append(found)
                    break
            else:
                return None
        chance.shuffle(replies)
        return TurnLineup(turn, tuple(replies))

    def _pools_of(
        self, test: Chat, learn: str | None, speaker: str
    ) -> dict[str, list[_KnownReply]]:
        """Who said what, by where it may be taken from; each shortest first."""
        key = (f"{test.id}\0{speaker}", learn)
        if key not in self._pools:
            inside = set(test.speakers)
            pools: dict[str, list[_KnownReply]] = {
                name: [] for name in ("before", "partner", "other", "learned")
            }
            for said in self._said:
                partner = said.speaker in inside and said.speaker != speaker
                if said.chat == test.id:
                    name = "before" if partner else ""
                elif said.chat == learn:
                    name = "" if said.speaker in inside else "learned"
                else:
                    name = "partner" if partner else "" if said.speaker in inside else "other"
                if name:
                    pools[name].append(said)
            self._pools[key] = pools
        return self._pools[key]


def _near(
    origin: Origin,
    pools: Mapping[str, list[_KnownReply]],
    place: int,
    size: float,
    taken: Collection[str],
) -> list[_KnownReply]:
    """Replies of about that length, from where those of this origin may be taken."""
    if origin != "partner":
        return _nearest(pools["other"], size, taken) or _nearest(pools["learned"], size, taken)
    earlier = [said for said in pools["before"] if said.place < place]
    near = _nearest(earlier, size, taken) + _nearest(pools["partner"], size, taken)
    return sorted(near, key=lambda said: abs(len(said.text) - size))[:_NEAREST]


def _nearest(pool: Sequence[_KnownReply], size: float, taken: Collection[str]) -> list[_KnownReply]:
    """Those nearest in length of a pool that is sorted by it, each text once."""
    after = bisect_left(pool, size, key=lambda said: len(said.text))
    before = after - 1
    near: list[_KnownReply] = []
    seen = set(taken)
    while len(near) < _NEAREST and (before >= 0 or after < len(pool)):
        below = size - len(pool[before].text) if before >= 0 else None
        above = len(pool[after].text) - size if after < len(pool) else None
        if above is None or (below is not None and below < above):
            said, before = pool[before], before - 1
        else:
            said, after = pool[after], after + 1
        if (text := plain_text(said.text)) not in seen:
            seen.add(text)
            near.append(said)
    return near


def plain_text(text: str) -> str:
    """A text as it is compared with others: two alike cannot be told apart."""
    return " ".join(text.split()).casefold()
