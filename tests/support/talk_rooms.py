"""A studio in which somebody talks to Ines, whom a simulator writes word by word."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from persona_chats import ines
from realtalk.evals.values import Answer, PlainSolver, Settings
from realtalk.files.progress import Progress, silent
from realtalk.persona.talking import Show, Talk, obtain_consent
from realtalk.persona.values import TurnPrompt
from realtalk.web.guessing import TalkRoom
from realtalk.web.library import ChatLibrary
from realtalk.web.session import StudioSession
from realtalk.web.store import Store


class Piecemeal(PlainSolver):
    """Writes word by word; "wait" waits for a sign, "hush" is answered by nothing."""

    name = "piecemeal"

    def __init__(self) -> None:
        self.go_on = threading.Event()

    @property
    def settings(self) -> Settings:
        return {}

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        raise AssertionError("it is shown as it is written")

    def stream(self, prompt: TurnPrompt, show: Show) -> Answer[str]:
        if prompt.previous == "hush":
            return Answer(None, "empty answer")
        if prompt.previous == "wait":
            self.go_on.wait(60)
        for piece in ("you said ", prompt.previous):
            show(piece)
        return Answer(f"you said {prompt.previous}")


def talk_studio(folder: Path, solver: Piecemeal) -> StudioSession:
    chat = ines().chats[1]

    def begin(answer: str) -> Talk:
        return Talk(
            chat, "Ines", "Juno", solver, obtain_consent("Ines", answer), out=folder / "talk"
        )

    room = TalkRoom("Ines", "Juno", begin)
    return StudioSession(
        ChatLibrary(ines()), Store.open(folder / "n.sqlite"), "Ana", labels={}, talk=room
    )
