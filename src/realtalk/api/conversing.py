"""Two simulators → chats of some days, as a corpus that is marked as simulated.

converse(model="realtalk/smollm2", days=7, chats=5, like="mychat", out="simulated")   → Corpus
converse("mychat", simulator="tuned", speaker="Mara", settings={"adapter": "adapters"},
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

from realtalk.api.choices import (
    Model,
    Readable,
    as_corpus,
    as_path,
    memory_of,
    simulator_of,
    value_object,
)
from realtalk.api.persona import adapter_of, learned_from
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.persona.talking import Consent
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
        from realtalk.chat import Chat
        from realtalk.persona.values import Learning

        if self.speaker is None or self.corpus is None:
            return Learning("", Chat("", (), ()), ())
        _, about = adapter_of(self.name, self.settings, self.speaker)
        context = {key: int(about.get(key, value)) for key, value in _CONTEXT.items()}
        return learned_from(self.corpus, self.speaker, about.get("chat"), context)


_CONTEXT = {"context_sessions": 3, "context_tokens": 1500}


def converse(
    corpus: Readable | None = None,
    *,
    simulator: str | None = None,
    speaker: str | None = None,
    style: bool = False,
    settings: Mapping[str, Any] | None = None,
    consent: str | Callable[[str], str] = "",
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
    model: Model | str | None = None,
    progress: Progress = silent,
) -> Corpus:
    """Let two simulators talk to each other for some days.

    The chats are marked as simulated. A model writes as invented people, to whom things happen; or
    a side writes as a speaker of the corpus, with that person's yes as for `talk`. The second side
    is like the first unless `other` says otherwise. The rhythm of sessions and messages is drawn
    from the chats of `like`, or else from what the REALTALK paper prints. Each side knows the
    session and recalls earlier ones through a memory. Call it again to resume.

    Args:
        corpus: Chats of the speakers, where real ones write.
        simulator: Simulator of the first side.
        speaker: Speaker of the first side (default: invented).
        style: Describe the speaker's style to the model.
        settings: Setting of the simulator, e.g. adapter=DIR.
        consent: Whose yes: self, given, research or fictional.
        other: The second side, e.g. speaker=Theo.
        like: Chats whose rhythm is drawn from.
        personas: TOML file of invented people and events.
        days: Days of a chat.
        chats: Number of chats.
        begins: First day.
        memory: Memory that recalls earlier sessions.
        memory_settings: Setting of the memory, e.g. around=3.
        budget: Words recalled.
        seed: Random seed.
        out: Folder for the chats.
        fresh: Delete the existing chats and start over.
        model: The model that writes.

    Example:
        rt.persona.converse(model="realtalk/smollm2", out="chats")
        rt.persona.converse(model="realtalk/smollm2", days=3, chats=5)
        rt.persona.converse("sample", speaker="Mara", other={"speaker": "Theo"})
    """
    from realtalk.evals.running import solver_record
    from realtalk.memory.remembering import reminder
    from realtalk.persona.cast import draw_roles, draw_turns, load_cast, pace_of, printed_pace
    from realtalk.persona.conversation import SimulatedChat, refuse_others
    from realtalk.persona.conversation import converse as write

    first_day = _day(begins)
    _refuse_counts(days=days, chats=chats)
    words = _word_budget(budget)
    remembering = memory_of(memory, memory_settings, None, "cpu")
    people = None if corpus is None else as_corpus(corpus)
    place = as_path(out)
    if place is not None:
        refuse_others(place)
    way = value_object(Model, model)
    model_settings = {"model": way.name, "base_url": way.base_url, "style": style}
    own = {"simulator": simulator, "speaker": speaker, "settings": settings, "consent": consent}
    first = _writer({**own, **model_settings}, people)
    second = _writer(
        {**own, "speaker": None, **model_settings, **_check_options(other or {})}, people
    )
    if first.speaker is not None and first.speaker == second.speaker:
        raise RealtalkError(f"{first.speaker} cannot talk to {first.speaker}")
    for writer in (first, second):
        _ask_consent(writer, place)
    cast = load_cast(as_path(personas))
    pace = printed_pace() if like is None else pace_of(as_corpus(like))
    roles = draw_roles(cast, days=days, begins=first_day, chats=chats, seed=seed)
    simulators = _prepare(first, second, progress)
    remember = reminder(remembering, words)
    simulated_chats = []
    for number, pair in enumerate(roles, 1):
        sides = (_side(first, pair[0]), _side(second, pair[1]))
        id_ = f"Chat_simulated_{number}_{sides[0].name}_{sides[1].name}"
        planned = draw_turns(pace, days=days, begins=first_day, seed=f"{seed}/{number}")
        simulated_chats.append(SimulatedChat(id_, sides, planned, remember))
    record = {
        "simulator": [solver_record(simulator) for simulator in simulators],
        "speakers": [first.speaker, second.speaker],
        "pace": [pace.source, _digest(pace.to_json())],
        "personas": _digest([cast.events, [persona.text for persona in cast.personas]]),
        "memory": solver_record(remembering),
        "budget": words.words,
        "days": days,
        "begins": begins,
        "chats": chats,
        "seed": seed,
    }
    yes = [writer.yes for writer in (first, second) if writer.yes is not None]
    return write(
        simulated_chats, simulators, record, yes, out=place, fresh=fresh, progress=progress
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


def _word_budget(budget: str | int) -> Any:
    from realtalk.memory.values import parse_budgets

    budgets = parse_budgets(str(budget), words=True)
    if len(budgets) > 1 or budgets[0].words is None:
        raise RealtalkError(f"'{budget}' is no budget of words", fix="write 300w")
    return budgets[0]


def _check_options(side: Mapping[str, Any]) -> dict[str, Any]:
    from realtalk.registry import known_name

    for name in side:
        known_name("word for the other side", name, _OTHER)
    options = dict(side)
    if options.get("simulator") is not None or options.get("model") is not None:
        # Another simulator has settings of its own.
        options = {"simulator": None, "settings": None, **dict.fromkeys(_ASKED), **options}
    return {**options, "consent": options.get("consent", "")} if "speaker" in options else options


def _writer(side: Mapping[str, Any], corpus: Corpus | None) -> _Writer:
    from realtalk.persona.turns import named_speaker

    model_settings = {name: side.get(name) for name in _ASKED}
    name, settings = simulator_of(side.get("simulator"), side.get("settings"), **model_settings)
    speaker = side.get("speaker")
    if speaker is not None:
        if corpus is None:
            raise RealtalkError(f"no chats of {speaker} are given", fix="name their corpus")
        speaker = named_speaker(corpus, speaker)
    elif name in _LEARNING or settings.get("style"):
        what = "a style" if settings.get("style") else f"the simulator {name}"
        raise RealtalkError(
            f"{what} is learned from somebody",
            fix="give a corpus and `speaker=NAME`, or `model=realtalk/smollm2`",
        )
    return _Writer(name, settings, speaker, side.get("consent") or "", corpus)


def _ask_consent(writer: _Writer, out: Path | None) -> None:
    """A person's yes, as for a talk: kept with the adapter, kept in the folder, or asked."""
    from realtalk.persona.talking import obtain_consent

    if (who := writer.speaker) is None:
        return
    adapter, _ = adapter_of(writer.name, writer.settings, who)
    writer.yes = obtain_consent(who, writer.consent, adapter, out)


def _prepare(first: _Writer, second: _Writer, progress: Progress) -> tuple[Simulator, Simulator]:
    """Both simulators, ready; two invented people of one kind share one."""
    from realtalk.persona.values import make_simulator

    first_simulator = make_simulator(first.name, first.settings)
    first_simulator.prepare(first.learning(), progress)
    invented = first.speaker is None and second.speaker is None
    if invented and (first.name, first.settings) == (second.name, second.settings):
        return first_simulator, first_simulator
    two = make_simulator(second.name, second.settings)
    two.prepare(second.learning(), progress)
    return first_simulator, two


def _side(writer: _Writer, role: Any) -> Any:
    from realtalk.persona.conversation import Side

    if writer.speaker is not None:
        return Side(writer.speaker)
    return Side(role.persona.name, role)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
