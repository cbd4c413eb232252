"""Three invented chats for who wrote it: Ines is learned from one and tested in another."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path

from persona_chats import chat, ines, ines_choice, light_scorer
from realtalk.chat import Corpus
from realtalk.evals import running
from realtalk.evals.run import Run
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, make_simulator
from text_tables import spoken

_HARBOUR = spoken("""
    Pavel: Good evening. The crane stands still again.
    Juno: I saw it from the pier this morning.
    Pavel: They wait for a part from the north.
    Juno: Then it will stand there until June.
    Pavel: That is what I fear, yes.
""")


@cache
def guessable(sessions: int = 4) -> Corpus:
    """Beside the oven and the boat, Juno talks with Pavel about a crane."""
    first = datetime(2026, 5, 4, 9, 0)
    return Corpus(
        "bakery",
        "realtalk",
        (*ines(sessions).chats, chat("Harbour", _HARBOUR, sessions, first)),
    )


def guess_task(sessions: int = 4) -> PersonaTask:
    return tasks_of(guessable(sessions), [ines_choice()], context_sessions=1)[0]


def persona_run(folder: Path | None, says: str = "haha yes, the boat") -> Run:
    """What a constant wrote at Ines's turns."""
    corpus = guessable()
    simulator = make_simulator("constant", {"says": says})
    benchmark = PersonaBenchmark(corpus, [guess_task()], light_scorer(corpus))
    return running.run(benchmark, corpus, simulator, folder)
