"""Two simulators that run a model in this process: as it comes, and with a speaker's adapter.

    LocalSimulator(base="smollm2", style=True)     # no training, like `llm`
    TunedSimulator(adapter=Path("adapters"))       # adapters/mara, adapters/theo, …, or one adapter
    simulator.prepare(task.learning)
    simulator.solve(task.prompts)                  → [Answer("lol no"), …]

Both write the prompt of persona/prompting.py, the same that adapters are trained with; `examples`
shows so many of the speaker's own turns in it, an adapter's as many as it learned with. Where it
does not fit into the model the oldest turns of its context are left out. An adapter is refused
that learned from another chat than the one at hand, or with other prompts or contexts.
Need the extra `train`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost, Settings
from realtalk.files.progress import Progress, silent
from realtalk.persona.generation import (
    EncodedPrompt,
    PretrainedModel,
    Sampling,
    TrainingExample,
    Writer,
    find,
    folder_hash,
    generate,
    load,
    settle,
    with_adapter,
)
from realtalk.persona.prompting import PROMPT_VERSION, clean_message, messages, read_message
from realtalk.persona.tuning import ADAPTER, SETTINGS, read_settings
from realtalk.persona.values import Learning, TurnPrompt

if TYPE_CHECKING:
    from realtalk.persona.simulators import Guide

_AT_ONCE = {"cuda": 1024, "cpu": 32}


@dataclass(kw_only=True)
class _InProcess:
    """How a model in this process writes."""

    version: ClassVar[str] = f"prompts {PROMPT_VERSION}"
    max_tokens: int = 160  # as for language models that are asked
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    repetition_penalty: float = 1.0
    device: str = "auto"
    batch_tokens: int = 0
    cache: Path | None = None

    def __post_init__(self) -> None:
        self.device, self._precision = settle(self.device)
        self.at_once = _AT_ONCE[self.device]
        self._sampling = Sampling(
            self.max_tokens, self.temperature, self.top_p, self.seed, self.repetition_penalty
        )
        self._loaded: PretrainedModel | None = None
        self._guide: Guide | None = None

    def _writing(self) -> Settings:
        chances = asdict(self._sampling)
        size = chances.pop("max_new_tokens")
        return {"max_tokens": size, **chances, "precision": self._precision}

    def stream(self, prompt: TurnPrompt, show: Callable[[str], Any]) -> Answer[str]:
        """As `solve`, one prompt; `show` is handed the message piece by piece as it is written."""
        written = ""
        longest = max(len(turn.speaker) for turn in prompt.context) + 2

        def advance(text: str) -> None:
            nonlocal written
            message = clean_message(text, prompt)
            # A name before the message, or half a letter, is not shown; so a little is held back.
            is_whole = len(text) > longest and not message.endswith("\ufffd")
            if is_whole and message.startswith(written):
                show(message[len(written) :])
                written = message

        (answer,) = self.solve([prompt], advance=advance)
        if answer.value is not None and answer.value.startswith(written):
            show(answer.value[len(written) :])
        return answer

    def solve(
        self,
        shown: Sequence[TurnPrompt],
        progress: Progress = silent,
        advance: Callable[[str], None] | None = None,
    ) -> list[Answer[str]]:
        """One answer per prompt; `advance` is handed what is written of a single one so far."""
        base = self._loaded
        assert base is not None, "prepare comes first"
        styles = self._guide.texts(shown) if self._guide else [""] * len(shown)
        writer = Writer(base.tokenizer)
        room = base.window - self.max_tokens
        prompts = [
            EncodedPrompt(prompt.id, encode_prompt(writer, prompt, room, style))
            for prompt, style in zip(shown, styles, strict=True)
        ]
        replies = generate(
            base,
            [prompt for prompt in prompts if prompt.ids],
            writer.stops,
            self._sampling,
            batch_tokens=self.batch_tokens,
            progress=progress,
            show=None if advance is None else lambda ids: advance(writer.text(ids)),
        )
        waiting = iter(replies)
        answers: list[Answer[str]] = []
        for prompt, encoded in zip(shown, prompts, strict=True):
            if not encoded.ids:
                answers.append(Answer(None, "the prompt does not fit into the model"))
                continue
            reply = next(waiting).ids
            cost = Cost(tokens_in=len(encoded.ids), tokens_out=len(reply))
            answers.append(replace(read_message(writer.text(reply), prompt), cost=cost))
        return answers


@dataclass(kw_only=True)
class LocalSimulator(_InProcess):
    """A model as it comes, told who it is; `style` and `examples` tell how they write."""

    name: ClassVar[str] = "local"
    base: str = "smollm2"
    style: bool = False
    examples: int | None = None  # None: five beside a style, else none
    by: str = "encoder"

    @property
    def settings(self) -> Settings:
        folder = find(self.base, self.cache)
        shown: Settings = {"base": folder.resolve().name, "base_sha256": folder_hash(folder)}
        shown["style"] = self.style
        if self.examples is not None:
            shown |= {"examples": self.examples, "by": self.by}
        return {**shown, **self._writing()}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self._guide = _guide(learning, self.examples, self.by, progress, style=self.style)
        if self._loaded is None:
            self._loaded = load(self.base, device=self.device, cache=self.cache, progress=progress)


@dataclass(kw_only=True)
class TunedSimulator(_InProcess):
    """A model with the adapter that learned from the speaker's other chat.

    `adapter` is the folder of one, or a folder of such folders: the speaker's is found. `base`
    says where the model lies, where that is not the one named in training; `examples` refuses an
    adapter that learned with another number of the speaker's own turns in its prompts.
    """

    name: ClassVar[str] = "tuned"
    adapter: Path
    base: str | None = None
    examples: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._adapters = adapters_in(Path(self.adapter))

    @property
    def settings(self) -> Settings:
        digest = hashlib.sha256()
        for folder in self._adapters:
            digest.update(hashlib.sha256((folder / ADAPTER).read_bytes()).digest())
        bases = {str(adapter["base"]["sha256"]) for adapter in self._adapters.values()}
        examples = max(_examples(adapter["about"]) for adapter in self._adapters.values())
        return {
            **({"examples": examples} if examples else {}),
            "adapters": len(self._adapters),
            "adapters_sha256": digest.hexdigest(),
            "base_sha256": " ".join(sorted(bases)),
            **self._writing(),
        }

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        speakers = {str(record["about"].get("speaker")): f for f, record in self._adapters.items()}
        if (folder := speakers.get(learning.speaker)) is None:
            raise RealtalkError(
                f"no adapter for {learning.speaker}",
                fix=f"there are some for {', '.join(sorted(speakers))}; train one: "
                "realtalk persona tune",
            )
        about, trained_on = (self._adapters[folder][part] for part in ("about", "base"))
        requirements = about_learning(learning)
        if self.examples is not None:
            requirements["examples"] = self.examples
        for what, value in requirements.items():
            if ({"examples": 0} | about).get(what) != value:
                raise RealtalkError(
                    f"the adapter was trained with {what} {about.get(what)}, not {value}",
                    where=str(folder),
                    fix="train one for this: realtalk persona tune",
                )
        name = self.base or str(about["base"])
        base = load(name, device=self.device, cache=self.cache, progress=progress)
        if base.sha256 != trained_on["sha256"]:
            raise RealtalkError(
                "the adapter was trained on another model",
                where=str(folder),
                fix=f"name the right one as base; it was called {trained_on['title']}",
            )
        self._guide = _guide(learning, _examples(about), str(about.get("by", "encoder")), progress)
        self._loaded = with_adapter(base, folder)


def _examples(about: Mapping[str, Any]) -> int:
    """How many of the speaker's own turns an adapter's prompts have."""
    return int(about.get("examples", 0))


def _guide(
    learning: Learning, examples: int | None, by: str, progress: Progress, *, style: bool = False
) -> Guide | None:
    """Imported late: a machine that only writes prompts made elsewhere has no encoder."""
    if not style and not examples:
        return None
    from realtalk.persona.simulators import Guide, example_count

    count = example_count(style, examples)
    return Guide(learning, described=style, examples=count, by=by, progress=progress)


def about_learning(learning: Learning) -> dict[str, Any]:
    """What an adapter must have been trained with to be tested on the same terms."""
    about = {"speaker": learning.speaker, "chat": learning.chat.id}
    return {**about, "prompt_version": PROMPT_VERSION, **learning.settings}


def adapters_in(folder: Path) -> dict[Path, dict[str, Any]]:
    """The finished adapters of a folder with their settings: itself, or those inside it."""
    places = [folder] if (folder / SETTINGS).is_file() else sorted(folder.glob("*/"))
    finished = {
        place: settings
        for place in places
        if (place / SETTINGS).is_file()
        and (place / ADAPTER).is_file()
        and "result" in (settings := read_settings(place))
    }
    if not finished:
        raise RealtalkError(
            "no finished adapter here",
            where=str(folder),
            fix="make one: realtalk persona tune PATH `speaker=NAME` `base=MODEL` `out=DIR`",
        )
    return finished


def encode_prompt(
    writer: Writer, prompt: TurnPrompt, room: int, style: str = ""
) -> tuple[int, ...]:
    """The prompt as token ids, without as many of its oldest turns as it takes to fit.

    Empty where not even the last turn fits.
    """
    while len(ids := writer.prompt(messages(prompt, style=style))) > room:
        if len(prompt.context) <= 1:
            return ()
        # In proportion to what is too much, one turn at least: a few rounds instead of hundreds.
        excess = (len(ids) - room) / len(ids)
        drop = max(1, int(len(prompt.context) * excess / 2))
        prompt = replace(prompt, context=prompt.context[drop:])
    return ids


def training_set(
    base: str, loaded: PretrainedModel, learning: Learning, examples: int = 0, by: str = "encoder"
) -> tuple[list[TrainingExample], dict[str, Any]]:
    """What an adapter is trained on, and what is written down of it; `base` as it was named.

    The prompts are those of testing, `examples` of the speaker's other turns in each; turns that
    do not fit are left out.
    """
    writer = Writer(loaded.tokenizer)
    about = {**about_learning(learning), "base": base, "template": writer.way}
    if examples:
        about |= {"examples": examples, "by": by}
    guide = _guide(learning, examples, by, silent)
    prompts = [turn.prompt for turn in learning.turns]
    styles = guide.texts(prompts) if guide else [""] * len(prompts)
    learned = []
    for turn, style in zip(learning.turns, styles, strict=True):
        reply = writer.reply(turn.text)
        if ids := encode_prompt(writer, turn.prompt, loaded.window - len(reply), style):
            learned.append(TrainingExample(turn.id, ids, reply))
    return learned, about
