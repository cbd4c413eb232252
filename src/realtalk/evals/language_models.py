"""Any language model as a solver: a benchmark says how to ask and how to read the answer.

    class Asker(LanguageModel[Question, str]):
        def prompt(self, shown: Question) -> str: ...
        def parse(self, text: str, shown: Question) -> Answer[str]: ...

    Asker(ModelConfig("openai/gpt-4o-mini"), prompts).solve(questions)   → [Answer("in March"), …]

Each sample is asked once, at temperature 0. What was answered once is kept (models/asking.py); an
answer that cannot be read, a refusal and a fault are unscored with their reason and asked again
by the next run.

Prompts as text files in versions, which a user's folder may replace one by one.

    prompts = load_prompts("realtalk.persona", "1", {"continue": ("context",)}, ("speaker",))
    prompts.fill("continue", speaker="Mara", context="Theo: hey")    → "You are Mara, …"
    load_prompts(…, folder=Path("my-prompts")).version               → "sha256:3f2a9c1b04d2"

Ours stand in for what the folder does not hold; it may hold prompts for the other uses of the
same package, too. The hash is over all as used, so that it says what was asked; without a folder
the version is our own.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask
from realtalk.registry import suggest

_QUOTES = (('"', '"'), ("\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}"))


@dataclass(frozen=True, slots=True)
class Prompts:
    """One text per use, and the version that names them all."""

    version: str
    texts: Mapping[str, str]
    placeholders: re.Pattern[str] = re.compile(r"\{(\w+)\}")

    def fill(self, name: str, **values: str) -> str:
        """The text with its placeholders filled in one pass: a chat about {text} stays so."""
        return self.placeholders.sub(lambda found: values.get(found[1], ""), self.texts[name])


def load_prompts(
    package: str,
    version: str,
    needed: Mapping[str, Sequence[str]],
    optional: Sequence[str] = (),
    folder: Path | None = None,
    *,
    strip: bool = True,
) -> Prompts:
    """Our prompts, those in `folder` replaced by the user's own.

    `needed` says what each text must show, `optional` what any of them may. Not to `strip` a
    text sends it with the line end of its file.
    """
    ours = files(package).joinpath("prompts", version)
    texts = {name: ours.joinpath(f"{name}.md").read_text("utf-8") for name in needed}
    if folder is not None:
        texts |= _replacements(folder, package, needed)
        digest = hashlib.sha256()
        for name, text in texts.items():
            digest.update(f"{name}\0{text}\0".encode())
        version = f"sha256:{digest.hexdigest()[:12]}"
    if strip:
        texts = {name: text.strip() for name, text in texts.items()}
    names = dict.fromkeys((*(name for words in needed.values() for name in words), *optional))
    placeholders = re.compile(rf"\{{({'|'.join(names)})\}}")
    return Prompts(version, texts, placeholders)


def _replacements(
    folder: Path, package: str, needed: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    names = ", ".join(f"{name}.md" for name in needed)
    if not folder.is_dir():
        raise RealtalkError(
            "no such folder of prompts", where=str(folder), fix=f"it holds any of {names}"
        )
    versions = list(files(package).joinpath("prompts").iterdir())
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.md")):
        if path.stem not in needed:
            if path.stem.lower() == "readme" or any(
                version.joinpath(path.name).is_file() for version in versions
            ):
                continue
            raise suggest("prompt", path.stem, list(needed))
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RealtalkError(
                "the prompt cannot be read", where=str(path), fix="save it as UTF-8 text"
            ) from error
        if lacking := [
            placeholder for placeholder in needed[path.stem] if f"{{{placeholder}}}" not in text
        ]:
            raise RealtalkError(
                f"the prompt does not show the {lacking[0]}",
                where=str(path),
                fix=f"put {{{lacking[0]}}} into it",
            )
        texts[path.stem] = text
    if not texts:
        raise RealtalkError("no prompt in the folder", where=str(folder), fix=f"name it: {names}")
    return texts


def join_names(names: Sequence[str]) -> str:
    """Mara, Theo and Juno."""
    *first, last = names or ("",)
    return f"{', '.join(first)} and {last}" if first else last


@lru_cache(4096)
def written_day(moment: date) -> str:
    """Monday 2 March 2026, with the weekday, which "last Friday" is counted from."""
    from babel.dates import format_date

    # English whatever the machine's language: strftime would follow the locale.
    return format_date(moment, "EEEE d MMMM y", locale="en")


def strip_quotes(text: str) -> str:
    """A text without the quotes around it, where they are around it as a whole."""
    for opening, closing in _QUOTES:
        inner = text[1:-1]
        if len(text) > 1 and text[0] == opening and text[-1] == closing and opening not in inner:
            text = inner.strip()
    return text


ShownT = TypeVar("ShownT")
ValueT = TypeVar("ValueT")


def reply_cost(reply: Reply) -> Cost:
    """What a reply took."""
    return Cost(reply.calls, reply.tokens_in, reply.tokens_out, reply.seconds)


class LanguageModel(ABC, Generic[ShownT, ValueT]):
    """Asks the model named. Subclasses say what it is shown and what its answers mean."""

    name = "llm"
    at_once = 32  # rows are kept after so many: an answer costs money
    asks = True

    def __init__(self, config: ModelConfig, prompts: Prompts) -> None:
        self.config = config
        self.prompts = prompts

    @property
    def version(self) -> str:
        return f"prompts {self.prompts.version}"

    @property
    def settings(self) -> dict[str, Any]:
        """What the answers depend on."""
        settings: dict[str, Any] = {
            "model": self.config.model,
            "max_tokens": self.config.max_tokens,
            "seed": self.config.seed,
        }
        if self.config.address is not None:
            settings["base_url"] = self.config.address
        return settings

    @abstractmethod
    def prompt(self, shown: ShownT) -> str:
        """What the model is asked."""

    @abstractmethod
    def parse(self, text: str, shown: ShownT) -> Answer[ValueT]:
        """What an answer means, or why it means nothing."""

    def most_tokens(self, shown: ShownT) -> int | None:  # noqa: ARG002
        """The longest answer."""
        return self.config.max_tokens

    def prepare(self, learning: Any, progress: Progress = silent) -> None:
        """Nothing is learned, unless a subclass does."""

    def solve(self, shown: Sequence[ShownT], progress: Progress = silent) -> list[Answer[ValueT]]:
        if not shown:
            return []
        answers: dict[int, Answer[ValueT]] = {}

        def keep(key: str, reply: Reply) -> None:
            answers[int(key)] = self._answer(reply, shown[int(key)])

        prompts = [
            Prompt(str(place), partial(self.prompt, sample), partial(self._flaw, sample))
            for place, sample in enumerate(shown)
        ]
        ask(prompts, replace(self.config, max_tokens=self.most_tokens(shown[0])), keep, progress)
        return [answers[place] for place in range(len(shown))]

    def _flaw(self, shown: ShownT, text: str) -> str:
        return self.parse(text, shown).unscored

    def _answer(self, reply: Reply, shown: ShownT) -> Answer[ValueT]:
        cost = reply_cost(reply)
        if reply.text is None or reply.reason:
            return Answer(None, reply.reason or "no reason", cost)
        return replace(self.parse(reply.text, shown), cost=cost)
