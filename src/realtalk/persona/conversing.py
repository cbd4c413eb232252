"""Chats in the making and who writes them → a corpus marked as simulated, kept as it grows.

    corpus = converse(conversations, (first, second), settings, out=Path("simulated"))
    corpus.chats[0].speakers               → ("Noor (simulated)", "Piet (simulated)")

All chats go on side by side: the turns that wait for one simulator are handed to it together. What
was said is stored every few seconds, and when it ends; the same call goes on where it was, to
the same chats, if the simulators answer the same. Another one's folder is refused. The marks are
those of a talk: in every speaker's name, each message's `extra`, and the names of chats and corpus.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from realtalk.chat import Chat, Corpus, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent, within
from realtalk.files.writing import refuse_strangers
from realtalk.formats.reading import Ledger, Reading
from realtalk.formats.store import is_stored, load, load_about, store
from realtalk.persona.consent import Consent
from realtalk.persona.conversation import SimulatedChat, marked_chat, plain_chat
from realtalk.persona.values import Simulator

_EVERY = 5.0  # seconds between stores
NAME = "conversations-simulated"


class SimulatedChats:
    """Chats in the making, and the corpus that they are."""

    def __init__(
        self,
        conversations: Sequence[SimulatedChat],
        by: tuple[str, str],
        settings: Mapping[str, Any],
        consents: Sequence[Consent] = (),
    ) -> None:
        self.each = tuple(conversations)
        self._by = by  # what each side writes with
        # As JSON has it, so that what was stored can be compared.
        self._settings = json.loads(json.dumps(settings, default=str))
        self._consents = [asdict(consent) for consent in consents]

    @property
    def corpus(self) -> Corpus:
        return Corpus(NAME, "jsonl", tuple(self._marked(each) for each in self.each))

    @property
    def done(self) -> int:
        return sum(each.at for each in self.each)

    @property
    def total(self) -> int:
        return sum(each.total for each in self.each)

    def restore(self, folder: Path) -> None:
        """Takes over what an earlier call has stored, if it was to make the same chats."""
        held = {chat.id: chat for chat in load(folder).corpus.chats}
        if list(held) != [each.id for each in self.each]:
            raise RealtalkError("holds other chats", where=str(folder), fix=_ELSEWHERE)
        for each in self.each:
            about = unpack_extra(held[each.id].extra).get("simulated", {})
            if different := _different(about.get("settings", {}), self._settings):
                raise RealtalkError(
                    f"was made with another {different}", where=str(folder), fix=_ELSEWHERE
                )
            quiet = {int(turn): reason for turn, reason in about["silent"].items()}
            each.restore(plain_chat(held[each.id]), int(about["turns"]), quiet)

    def store(self, folder: Path) -> None:
        corpus = self.corpus
        total = sum(len(chat.messages) for chat in corpus.chats)
        store(Reading(corpus=corpus, ledger=Ledger("messages", total, total)), folder)

    def _marked(self, each: SimulatedChat) -> Chat:
        about = {
            "by": list(self._by),
            "settings": self._settings,
            "consent": self._consents,
            "turns": each.at,
            "silent": {str(turn): reason for turn, reason in each.silent.items()},
        }
        return marked_chat(each.chat, self._by, about)


_ELSEWHERE = "name another folder with `out=`, or start anew with `fresh=True`"


def _different(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    names = {**there, **here}
    return next((name for name in names if there.get(name) != here.get(name)), "")


def converse(
    chats: SimulatedChats,
    simulators: tuple[Simulator, Simulator],
    *,
    out: Path | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Lets everybody write until all chats are done."""
    if out is not None and is_stored(out) and not fresh:
        chats.restore(out)
    stored = time.monotonic()
    progress(chats.done, chats.total, "turns")
    try:
        while waiting := [each for each in chats.each if not each.done]:
            for simulator, some in _by_simulator(waiting, simulators):
                telling = within(progress, chats.done, chats.total, "turns")
                answers = simulator.solve([each.prompt() for each in some], telling)
                for each, answer in zip(some, answers, strict=True):
                    each.add(answer)
            progress(chats.done, chats.total, "turns")
            if out is not None and time.monotonic() - stored > _EVERY:
                chats.store(out)
                stored = time.monotonic()
    finally:  # what was said before something failed is kept, too
        if out is not None and chats.done:
            chats.store(out)
    return chats.corpus


def refuse_others(folder: Path) -> None:
    """Raises where a folder holds anything but simulated conversations: it would be lost."""
    if not (is_stored(folder) and load_about(folder).name == NAME):
        refuse_strangers(folder, "simulated chats", "corpus.json")


def _by_simulator(
    waiting: Sequence[SimulatedChat], simulators: tuple[Simulator, Simulator]
) -> Iterator[tuple[Simulator, list[SimulatedChat]]]:
    """Whoever waits for the same simulator, together; each conversation once."""
    groups: dict[int, list[SimulatedChat]] = {}
    for each in waiting:
        groups.setdefault(id(simulators[each.side]), []).append(each)
    for simulator in dict.fromkeys(map(id, simulators)):
        if simulator in groups:
            made = next(each for each in simulators if id(each) == simulator)
            yield made, groups[simulator]
