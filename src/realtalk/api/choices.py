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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.options import Model, as_path, value_object
from realtalk.errors import RealtalkError
from realtalk.registry import known_name, suggest

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.ei.labels import Labeller
    from realtalk.memory.golds import Golds
    from realtalk.memory.judging import Judge
    from realtalk.memory.readers import Reader
    from realtalk.memory.values import Budget, Memory
    from realtalk.models.asking import ModelConfig
    from realtalk.persona.bertscore import BertScore
    from realtalk.threads.values import Setting

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
    from realtalk.memory.attribution import swapped
    from realtalk.memory.golds import golds_named

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
    from realtalk.memory.readers import LlmReader, NoReader

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
    from realtalk.memory.readers import load_wording
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
    from realtalk.memory.judging import SAME, Judge
    from realtalk.memory.readers import load_wording

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
