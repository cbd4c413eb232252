"""Names and settings as people give them → the parts that do the work, or a line that says why not.

    make_labeller("judge", Model("openai/gpt-4o-mini"))        → JudgeLabeller
    memory_of("retrieved", {"around": "3"})                    → Memory
    memory_of("my_module:MyMemory")                            → one of your own
    make_reader(None, Model(), corpus)                         → NoReader
    questions_of("swapped", corpus, "audited")                 → (Corpus, Golds)
    budgets_of("retrieved", "none", "1000,2000w")              → (Budget(…), Budget(…))
    simulator_of(None, model="openai/gpt-4o-mini", style=True)  → ("llm", {"model": …, …})
    solver_of("guesser", None, "classifier", {}, seed=0)        → ("classifier", {})
    settings_named("p-conv,np-conv")                           → ("p-conv", "np-conv")

The command and Python share these decisions; errors are those that the command prints.

What many functions take alike: chats, how they are read, a model, where work is done.

    as_corpus("sample")     → the same corpus, whether a path, a stored folder or a value is given
    probe("chat.txt", reading=Reading(dates="dmy"), model=Model("openai/gpt-4o", rate="5/s"))
    label("archive", engine=Engine("processes", workers=4))

A plain text is short for each: `model="openai/gpt-4o-mini"` is `Model("openai/gpt-4o-mini")`,
`engine="ray"` is `Engine("ray")`, `reading="whatsapp"` is `Reading(format="whatsapp")`.
The command shows their fields as options of their own, in a panel each. What a reader assumed or
mended ("days before months") is logged by the logger `realtalk`, one line each, and `check` of the
same path lists it: nothing is written into a Chat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, cast

from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.registry import known_name, suggest

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.ei.labels import Labeller
    from realtalk.engine.jobs import Backend
    from realtalk.formats import reading as read_values
    from realtalk.formats.reading import ReadOptions
    from realtalk.formats.store import CorpusStream
    from realtalk.memory.golds import Golds, Judge
    from realtalk.memory.remembering import Reader
    from realtalk.memory.values import Budget, Memory
    from realtalk.models.asking import ModelConfig
    from realtalk.persona.bertscore import BertScore
    from realtalk.text.calendars import DateOrder
    from realtalk.threads.values import Setting


Value = TypeVar("Value")
Readable: TypeAlias = "str | PathLike[str] | Corpus | read_values.ReadCorpus | Callable[[], Corpus]"

_LOG = logging.getLogger("realtalk")


@dataclass(frozen=True)
class Reading:
    """How chats are read where the file does not tell.

    Attributes:
        format: Input format (default: detected).
        gap: Pause between sessions: 6h, 90m, 2d, day.
        dates: Order of ambiguous dates: dmy, mdy or ymd.
        timezone: Clock for exports in UTC, e.g. Europe/Athens.
        columns: Column of a table, e.g. speaker=author.
    """

    format: str | None = None
    gap: str = "6h"
    dates: str | None = None
    timezone: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def read_options(self, progress: Progress | None = None) -> ReadOptions:
        """The same as the readers take it."""
        from typing import get_args

        from realtalk.formats.json_input import zone
        from realtalk.formats.reading import ReadOptions
        from realtalk.formats.sessions import parse_gap
        from realtalk.text.calendars import DateOrder

        if self.dates is not None:
            known_name("date order", self.dates, get_args(DateOrder))
        zone(self.timezone)
        return ReadOptions(
            gap=parse_gap(self.gap),
            dates=cast("DateOrder | None", self.dates),
            timezone=self.timezone,
            columns=tuple(self.columns.items()),
            progress=progress or silent,
        )


@dataclass(frozen=True)
class Model:
    """A language model and how it is asked.

    Attributes:
        name: Model to ask, e.g. openai/gpt-4o-mini.
        base_url: Server address.
        rate: Most requests, e.g. 300/min.
        connections: Concurrent requests.
        max_tokens: Longest answer, in tokens.
    """

    name: str | None = None
    base_url: str | None = None
    rate: str | None = None
    connections: int = 10
    max_tokens: int | None = None

    def overrides(self) -> dict[str, Any]:
        """What differs from the defaults, by the names of a solver's settings."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain = {entry.name: entry.default for entry in fields(self)}
        return {
            "model" if name == "name" else name: value
            for name, value in own.items()
            if value != plain[name]
        }


@dataclass(frozen=True)
class Engine:
    """Where the work is done.

    Attributes:
        name: Backend: inline, processes or ray.
        workers: Number of workers.
        address: Ray cluster to join, e.g. auto.
    """

    name: str | None = None
    workers: int | None = None
    address: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.name, self.workers, self.address))

    def backend(self, device: str = "cpu") -> Backend:
        """The engine that does the work: this process where none is named."""
        from realtalk.engine.engines import choose

        return choose(self.name, self.workers, self.address, device)


def is_path(value: object) -> TypeGuard[str | PathLike[str]]:
    """Whether a value names a place: a text or a path."""
    return isinstance(value, str) or hasattr(value, "__fspath__")


def as_path(place: str | PathLike[str] | None) -> Path | None:
    """The place that the caller named, if any."""
    return None if place is None else Path(place)


def value_object(kind: type[Value], value: Value | str | None) -> Value:
    """A value of this kind; a plain text is its first field, and nothing all its defaults.

    Args:
        kind: Reading, Model or Engine.
        value: A value of this kind, its first field, or None.
    """
    make: Any = kind
    if value is None or isinstance(value, str):
        options: Value = make() if value is None else make(value)
        return options
    if not isinstance(value, kind):
        name = kind.__name__
        raise RealtalkError(
            f"{type(value).__name__} is no {name}", fix=f"give a text or a realtalk {name}"
        )
    return value


def log_notes(notes: Sequence[str]) -> None:
    """Says what was assumed; a command prints it as a note."""
    for note in notes:
        _LOG.warning("%s", note)


def as_corpus(
    source: Readable, reading: Reading | str | None = None, progress: Progress = silent
) -> Corpus:
    """The corpus, however it is given; a function that reads one is called now."""
    return as_reading(source, reading, progress).corpus


def as_reading(
    source: Readable, reading: Reading | str | None = None, progress: Progress = silent
) -> read_values.ReadCorpus:
    """The corpus with what happened when it was read; of a Corpus alone that is not known."""
    from realtalk.chat import Corpus
    from realtalk.formats.opening import open_reading
    from realtalk.formats.reading import Ledger, ReadCorpus

    if isinstance(source, ReadCorpus):
        return source
    if callable(source):
        source = source()
    if isinstance(source, Corpus):
        total = sum(len(chat.messages) for chat in source.chats)
        return ReadCorpus(corpus=source, ledger=Ledger("messages", total, total))
    way = value_object(Reading, reading)
    corpus_reading = open_reading(path_of(source), way.format, way.read_options(progress)).reading
    log_notes(corpus_reading.notes)
    return corpus_reading


def stored_place(source: Readable) -> Path | None:
    """The folder of a stored corpus; None of anything else."""
    from realtalk.formats.store import is_stored

    return Path(source) if is_path(source) and is_stored(Path(source)) else None


def as_stream(source: Readable, option: str | None = None) -> CorpusStream | None:
    """A stored corpus in pieces; None of anything else, unless a parameter needs it."""
    from realtalk.formats.store import open_stream, opened_stream

    if is_path(source):
        path = str(source)
        return open_stream(path) if option is None else opened_stream(path, f"`{option}=`")
    if option is None:
        return None
    raise RealtalkError(
        f"`{option}=` works on stored corpora, part by part",
        fix="store it first, read(…, out=…), and give its path",
    )


def path_of(source: object) -> str:
    """A path or a sample's name as text; anything else is refused by its type."""
    if not is_path(source):
        raise RealtalkError(
            f"{type(source).__name__} holds no chats",
            fix="give a path, a sample's name, a Corpus or a stored folder",
        )
    return str(source)


ASKED = ("reflective", "grounding", "empathy")  # what a judge is asked for
ONE_BUDGET = "1000"
# Without a reader a question costs milliseconds, so that more budgets are looked at.
_BUDGETS = "500w,1000w,2000w,1000,2000,4000"
_READERS = ("none", "llm")
_QUESTIONS = ("own", "swapped")
_WAYS = ("embedded", "hub", "judge")
_ENCODING = "retrieved"  # the memory that encodes messages
_NAME_IT = "name it: `model=openai/gpt-4o-mini`, or realtalk/smollm2 which runs here"


def make_labeller(
    way: str,
    model: Model,
    classifiers: Sequence[str] = (),
    prompts: Path | None = None,
    ask: Sequence[str] = ASKED,
    device: str = "cpu",
    encoder: str = "auto",
    threads: int | None = None,
) -> Labeller:
    """The way of measuring by its name, with what it needs; `threads` are those of a worker."""
    for name, is_set, owner in (
        *((name, True, "judge") for name in model.overrides()),
        ("classifiers", classifiers, "hub"),
        ("prompts", prompts, "judge"),
        ("device", device != "cpu", "embedded"),
        ("encoder", encoder != "auto", "embedded"),
    ):
        if is_set and way in _WAYS and way != owner:
            raise RealtalkError(
                f"`{name}=` is not for `measures={way}`",
                fix=f"give `measures={owner}` too, or leave it out",
            )
    if way == "embedded":
        from realtalk.ei.embedded import EmbeddedLabeller

        return EmbeddedLabeller(threads=threads, device=device, encoder=encoder)
    if way == "hub":
        from realtalk.ei.hub import HubLabeller, parse_models

        return HubLabeller(parse_models(list(classifiers)))
    if way == "judge":
        from realtalk.ei.judge import JudgeLabeller

        if model.name is None:
            raise RealtalkError("the judge needs a model", fix=_NAME_IT)
        return JudgeLabeller(
            model.name,
            measures=list(ask),
            prompts=prompts,
            base_url=model.base_url,
            max_connections=model.connections,
            rate=model.rate,
        )
    raise suggest("way to measure", way, list(_WAYS))


def memory_of(
    memory: str | Memory,
    settings: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    device: str = "cpu",
) -> Memory:
    """The memory of that name, the class at `module:Class`, or the memory itself."""
    from realtalk.memory.registry import make_memory
    from realtalk.memory.remembering import check_memory

    memory_settings = dict(settings or {}) | ({} if protocol is None else {"protocol": protocol})
    if device != "cpu":
        if memory != _ENCODING:
            raise RealtalkError(
                f"`device=` is for the memory {_ENCODING}, which has an encoder",
                fix="leave it out",
            )
        memory_settings["device"] = device
    if isinstance(memory, str):
        return make_memory(memory, memory_settings)
    checked = check_memory(memory)
    if memory_settings:
        raise RealtalkError(
            "`settings=` needs a memory by name", fix="give them to the memory itself"
        )
    return checked


def questions_of(questions: str, corpus: Corpus, golds: str) -> tuple[Corpus, Golds]:
    """The corpus with the questions that are asked, and what they are scored by."""
    from realtalk.memory.golds import golds_named
    from realtalk.memory.rows import swapped

    known_name("set of questions", questions, _QUESTIONS)
    named = golds_named(golds)
    return (corpus, named) if questions == _QUESTIONS[0] else swapped(corpus, named)


def budgets_of(memory: str, reader: str, budget: str | int | None) -> tuple[Budget, ...]:
    """The budgets that are asked for."""
    from realtalk.memory.registry import BUDGETLESS
    from realtalk.memory.values import Budget, parse_budgets

    if memory in BUDGETLESS:
        if budget is not None and parse_budgets(str(budget)) != (Budget(),):
            raise RealtalkError(
                f"the memory {memory} takes no budget",
                fix="leave `budget=` out, or use the memory 'recent'",
            )
        return (Budget(),)
    usual = _BUDGETS if reader == "none" else ONE_BUDGET
    return parse_budgets(usual if budget in (None, "") else str(budget))


def make_reader(
    name: str | None,
    model: Model,
    corpus: Corpus,
    *,
    prompts: Path | None = None,
    seed: int = 0,
    judged: bool = False,
) -> Reader:
    """Who answers: nobody (the default without a model), or the model that is named."""
    from realtalk.memory.remembering import LlmReader, NoReader

    name = name or ("none" if model.name is None else "llm")
    known_name("reader", name, _READERS)
    if name == "llm" and model.name is None:
        raise RealtalkError("the reader llm needs a model", fix=_NAME_IT)
    if name != "llm" and model.name is not None:
        raise RealtalkError(
            f"the reader {name} asks no model", fix="leave `model=` or `reader=` out"
        )
    if name != "llm":
        llm_settings = model.overrides() | ({} if prompts is None else {"prompts": prompts})
        shared = {"rate", "connections", "prompts"} if judged else set()
        if stray := next((setting for setting in llm_settings if setting not in shared), None):
            raise RealtalkError(
                f"`{stray}=` is for a language model, the reader {name} is none",
                fix="name one with `model=`, or leave it out",
            )
        return NoReader()
    from realtalk.memory.remembering import load_wording
    from realtalk.memory.rows import may_abstain

    config = model_config(model, seed=seed)
    return LlmReader(config, load_wording(prompts), abstain=may_abstain(corpus))


def model_config(model: Model, **more: Any) -> ModelConfig:
    """Whom to ask and how; the model is named."""
    from realtalk.models.asking import ModelConfig

    assert model.name is not None
    if model.max_tokens is not None and model.max_tokens < 1:
        raise RealtalkError(f"`max_tokens=` must be 1 or more, not {model.max_tokens}")
    return ModelConfig(
        model.name,
        base_url=model.base_url,
        connections=model.connections,
        rate=model.rate,
        max_tokens=model.max_tokens,
        **more,
    )


def make_judge(
    name: str | None, answering: Mapping[str, Any], model: Model, *, prompts: Path | None = None
) -> Judge | None:
    """The model that judges answers, where one is named; `same` is the one that answers.

    `answering` are the settings of the reader; `model` says how often and where it is asked.
    """
    if name is None:
        return None
    from realtalk.memory.golds import SAME, Judge
    from realtalk.memory.remembering import load_wording

    own = name == SAME
    if own and not answering.get("model"):
        raise RealtalkError(f"no model answers that '{SAME}' could name", fix="name a judge")
    where = (model.base_url or answering.get("base_url")) if own else None
    judge_name = str(answering["model"]) if own else name
    config = model_config(replace(model, name=judge_name, base_url=where, max_tokens=None))
    judge = Judge(config, load_wording(prompts), own=own)
    judge.refuse_own(answering.get("model"))
    return judge


def simulator_of(
    simulator: str | None,
    settings: Mapping[str, Any] | None = None,
    model: Model | str | None = None,
    prompts: str | PathLike[str] | None = None,
    **options: Any,
) -> tuple[str, dict[str, Any]]:
    """The simulator's name and its settings; `options` are those with options of their own."""
    options = {**value_object(Model, model).overrides(), **options, "prompts": as_path(prompts)}
    set_options = {key: value for key, value in options.items() if value not in (None, False)}
    name = simulator or ("llm" if "model" in set_options else "retrieve")
    solver_settings: dict[str, Any] = {**(settings or {}), **set_options}
    if name == "llm" and "model" not in solver_settings:
        raise RealtalkError("the simulator llm needs a model", fix=_NAME_IT)
    return name, solver_settings


def solver_of(
    what: str,
    solver: str | None,
    plain: str,
    settings: Mapping[str, Any] | None,
    model: Model | str | None = None,
    prompts: str | PathLike[str] | None = None,
    **options: Any,
) -> tuple[str, dict[str, Any]]:
    """A solver's name and its settings; without a name the `plain` one, or llm with a model.

    `options` are those of a language model.
    """
    options = {**value_object(Model, model).overrides(), **options, "prompts": as_path(prompts)}
    set_options = {key: value for key, value in options.items() if value is not None}
    name = solver or ("llm" if "model" in set_options else plain)
    solver_settings: dict[str, Any] = dict(settings or {})
    if name == "llm":
        solver_settings |= set_options
    elif stray := next((key for key in set_options if key != "seed"), None):
        raise RealtalkError(
            f"the {what} {name} asks no model",
            fix=f"leave `{stray}=` or `{what}=` out",
        )
    if name == "llm" and "model" not in solver_settings:
        raise RealtalkError(f"the {what} llm needs a model", fix=_NAME_IT)
    return name, solver_settings


def settings_named(text: str) -> tuple[Setting, ...]:
    """The settings that are named, with commas, or all of them."""
    from realtalk.threads.values import SETTINGS, known_setting

    if text.strip() == "all":
        return SETTINGS
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise RealtalkError("no setting is named", fix=f"known: {', '.join(SETTINGS)}, or all")
    return tuple(dict.fromkeys(known_setting(name) for name in names))


def semantics_of(bertscore: str | None, layer: int | None) -> BertScore | None:
    """Another measure of semantic similarity, where one is named."""
    if bertscore is not None:
        from realtalk.persona.bertscore import BertScore

        return BertScore(bertscore, layer=layer)
    if layer is not None:
        raise RealtalkError(
            "`bertscore_layer=` is of no use alone",
            fix="name a model: `bertscore=roberta-large`",
        )
    return None
