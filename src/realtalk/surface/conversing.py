"""Two simulators → chats of some days, as a corpus that is marked as simulated.

converse(model="realtalk/smollm2", days=7, chats=5, like="mychat", out="simulated")   → Corpus
converse("tuned", corpus="mychat", speaker="Mara", settings={"adapter": "adapters"},
         consent="given", other={"model": "realtalk/smollm2"})
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.chat import Chat
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.surface.choices import memory_of, simulator_of
from realtalk.surface.own_chats import adapter_of, learned_from
from realtalk.surface.sources import Readable, as_corpus

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.persona.consent import Consent
    from realtalk.persona.pace import ChatPace
    from realtalk.persona.values import Learning, Simulator

BEGINS = "2025-01-06"  # a Monday
_ASKED = ("model", "base_url", "style")  # settings with options of their own
_LEARNING = ("retrieve", "common", "tuned", "written", "matched")
_OTHER = ("simulator", "speaker", "settings", "consent", *_ASKED)


@dataclass
class _Writer:
    """One side as it is asked for."""

    name: str
    settings: dict[str, Any]
    speaker: str | None
    consent: str | Callable[[str], str]
    corpus: Corpus | None
    yes: Consent | None = None

    def learning(self) -> Learning:
        """What the simulator learns from; of an invented person nothing is known before."""
        from realtalk.persona.values import Learning

        if self.speaker is None or self.corpus is None:
            return Learning("", Chat("", (), ()), ())
        _, about = adapter_of(self.name, self.settings, self.speaker)
        context = {key: int(about.get(key, value)) for key, value in _CONTEXT.items()}
        return learned_from(self.corpus, self.speaker, about.get("chat"), context)


_CONTEXT = {"context_sessions": 3, "context_tokens": 1500}


def converse(
    simulator: str | None = None,
    *,
    corpus: Readable | None = None,
    speaker: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    style: bool = False,
    settings: Mapping[str, Any] | None = None,
    consent: str | Callable[[str], str] | None = None,
    other: Mapping[str, Any] | None = None,
    like: Readable | None = None,
    personas: str | PathLike[str] | None = None,
    days: int = 7,
    chats: int = 1,
    begins: str = BEGINS,
    memory: str = "retrieved",
    memory_settings: Mapping[str, Any] | None = None,
    budget: str | int = "300w",
    seed: int = 0,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Corpus:
    """Lets two simulators talk to each other for some days; the chats are marked as simulated.

    `simulator` with its `model` and `settings` is that of `simulate`; `other` are the same words
    for the second side, where it is another ({"simulator": "retrieve", "speaker": "Theo"}). With a
    `speaker` of `corpus` a side writes as that person, which needs their `consent` as in `talk`;
    without one it is an invented person, drawn by the seed from our personas or those in the TOML
    file `personas`, to whom things happen. Sessions, gaps and messages in a row are drawn from
    what the chats of `like` show, or else from what the REALTALK paper prints. Each side has the
    session in mind, and of earlier ones what the `memory` recalls within the `budget` of words. A
    call that was stopped goes on in `out`, to the same chats; `fresh` starts anew there.
    """
    from realtalk.evals.running import solver_record
    from realtalk.memory.cues import reminder
    from realtalk.persona.cast import draw_roles, load_cast
    from realtalk.persona.conversation import SimulatedChat
    from realtalk.persona.conversing import SimulatedChats, refuse_others
    from realtalk.persona.conversing import converse as write
    from realtalk.persona.pace import draw_turns, pace_of

    first_day = _day(begins)
    _refuse_counts(days=days, chats=chats)
    words = _word_budget(budget)
    remembering = memory_of(memory, memory_settings, None, "cpu")
    people = None if corpus is None else as_corpus(corpus)
    place = None if out is None else Path(out)
    if place is not None:
        refuse_others(place)
    asked = {"model": model, "base_url": base_url, "style": style}
    own = {"simulator": simulator, "speaker": speaker, "settings": settings, "consent": consent}
    first = _writer({**own, **asked}, people)
    second = _writer({**own, "speaker": None, **asked, **_checked(other or {})}, people)
    if first.speaker is not None and first.speaker == second.speaker:
        raise RealtalkError(f"{first.speaker} cannot talk to {first.speaker}")
    for writer in (first, second):
        _ask_consent(writer, place)
    cast = load_cast(None if personas is None else Path(personas))
    pace = printed() if like is None else pace_of(as_corpus(like))
    roles = draw_roles(cast, days=days, begins=first_day, chats=chats, seed=seed)
    simulators = _prepared(first, second, progress)
    remember = reminder(remembering, words)
    made = []
    for number, pair in enumerate(roles, 1):
        sides = (_side(first, pair[0]), _side(second, pair[1]))
        id_ = f"Chat_simulated_{number}_{sides[0].name}_{sides[1].name}"
        planned = draw_turns(pace, days=days, begins=first_day, seed=f"{seed}/{number}")
        made.append(SimulatedChat(id_, sides, planned, remember))
    record = {
        "simulator": [solver_record(simulator) for simulator in simulators],
        "speakers": [first.speaker, second.speaker],
        "pace": [pace.source, _digest(pace.to_json())],
        "personas": _digest([cast.events, [each.text for each in cast.personas]]),
        "memory": solver_record(remembering),
        "budget": words.words,
        "days": days,
        "begins": begins,
        "chats": chats,
        "seed": seed,
    }
    yes = [writer.yes for writer in (first, second) if writer.yes is not None]
    by = (simulators[0].name, simulators[1].name)
    conversations = SimulatedChats(made, by, record, yes)
    return write(conversations, simulators, out=place, fresh=fresh, progress=progress)


def printed() -> ChatPace:
    """When people write by the figures that the REALTALK paper prints of its chats.

    Response gaps and messages in a row are §5.1's, messages and sessions per chat Table 1's, days
    per chat Table 5's.
    """
    from realtalk.persona.pace import printed_pace

    messages, sessions, days, bursts = 894.4, 21.9, 20, 2.31  # per chat; messages in a row
    return printed_pace(
        "REALTALK (arXiv:2502.13270): Table 1, Table 5, §5.1",
        gap_median=60 * 2.22,
        gap_mean=60 * 20.98,
        gap_longest=3600 * 27.90,
        burst_mean=bursts,
        burst_most=68,
        turns_mean=messages / sessions / bursts,
        sessions_a_day=sessions / days,
    )


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise RealtalkError(f"'{text}' is no day", fix=f"write it as {BEGINS}") from None


def _refuse_counts(**counts: int) -> None:
    for name, value in counts.items():
        if value < 1:
            raise RealtalkError(f"{name} must be 1 or more, not {value}")


def _word_budget(given: str | int) -> Any:
    from realtalk.memory.budgets import parse_budgets

    budgets = parse_budgets(str(given), words=True)
    if len(budgets) > 1 or budgets[0].words is None:
        raise RealtalkError(f"'{given}' is no budget of words", fix="write 300w")
    return budgets[0]


def _checked(other: Mapping[str, Any]) -> dict[str, Any]:
    from realtalk.registry import suggest

    for name in other:
        if name not in _OTHER:
            raise suggest("word for the other side", name, list(_OTHER))
    found = dict(other)
    if found.get("simulator") is not None or found.get("model") is not None:
        # Another simulator has settings of its own.
        found = {"simulator": None, "settings": None, **dict.fromkeys(_ASKED), **found}
    return {**found, "consent": found.get("consent", "")} if "speaker" in found else found


def _writer(given: Mapping[str, Any], corpus: Corpus | None) -> _Writer:
    from realtalk.persona.turns import named_speaker

    asked = {name: given.get(name) for name in _ASKED}
    name, settings = simulator_of(given.get("simulator"), given.get("settings"), **asked)
    speaker = given.get("speaker")
    if speaker is not None:
        if corpus is None:
            raise RealtalkError(f"no chats of {speaker} are given", fix="name their corpus")
        speaker = named_speaker(corpus, speaker)
    elif name in _LEARNING or settings.get("style"):
        what = "a style" if settings.get("style") else f"the simulator {name}"
        raise RealtalkError(
            f"{what} is learned from somebody",
            fix="name a speaker of a corpus, or a model that writes as an invented person",
        )
    return _Writer(name, settings, speaker, given.get("consent") or "", corpus)


def _ask_consent(writer: _Writer, out: Path | None) -> None:
    """A person's yes, as for a talk: kept with the adapter, kept in the folder, or asked."""
    from realtalk.persona.consent import agreed, known
    from realtalk.persona.talking import stored_consent

    if (who := writer.speaker) is None:
        return
    adapter, _ = adapter_of(writer.name, writer.settings, who)
    kept = known(who, adapter) or stored_consent(out, who)
    writer.yes = kept or agreed(who, writer.consent, adapter)


def _prepared(first: _Writer, second: _Writer, progress: Progress) -> tuple[Simulator, Simulator]:
    """Both simulators, ready; two invented people of one kind share one."""
    from realtalk.persona.registry import make_simulator

    one = make_simulator(first.name, first.settings)
    one.prepare(first.learning(), progress)
    invented = first.speaker is None and second.speaker is None
    if invented and (first.name, first.settings) == (second.name, second.settings):
        return one, one
    two = make_simulator(second.name, second.settings)
    two.prepare(second.learning(), progress)
    return one, two


def _side(writer: _Writer, role: Any) -> Any:
    from realtalk.persona.conversation import Side

    if writer.speaker is not None:
        return Side(writer.speaker)
    return Side(role.persona.name, role)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
