"""A studio in which people guess: Ines's turns among those of two simulators."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from guess_chats import guessable, persona_run
from realtalk.chat import Chat
from realtalk.evals.run import Run
from realtalk.web.guessing import GuessRoom
from realtalk.web.library import ChatLibrary
from realtalk.web.session import StudioSession
from realtalk.web.store import Store

BOAT: Chat = guessable().chats[1]
SECRET = "simulator of the third kind"  # must not be seen by anybody who guesses


@cache
def simulated() -> dict[str, list[Run]]:
    return {SECRET: [persona_run(None)], "echo": [persona_run(None, "haha maybe next week")]}


def guess_room(folder: Path, *, replies: int = 4, seed: int = 0) -> GuessRoom:
    return GuessRoom(guessable(), folder=folder, runs=simulated(), replies=replies, seed=seed)


def guess_studio(folder: Path) -> StudioSession:
    room = guess_room(folder / "notes.guesses")
    return StudioSession(
        ChatLibrary(guessable()),
        Store.open(folder / "notes.sqlite"),
        "Ana",
        labels={},
        guesses=room,
    )


def take(room: GuessRoom, judge: str, origins: list[str]) -> None:
    """Picks, round by round, the first reply of each origin."""
    for lineup, origin in zip(room.rounds(BOAT), origins, strict=False):
        kinds = [reply.origin for reply in lineup.replies]
        chosen = kinds.index(origin) if origin in kinds else lineup.place
        room.pick(BOAT, lineup.turn.prompt.place, judge, room.order(lineup, judge).index(chosen))
