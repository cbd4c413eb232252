"""A chat of one's own → questions about it, and which memory finds what answers them.

draft("mara", model="openai/gpt-4o-mini")    → Drafts, in mara-drafts.jsonl: tick them in the studio
which("mara", figures="pictures")            → MemoryAdvice: two sentences and a picture
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import model_config
from realtalk.api.options import Model, Readable, Reading, as_corpus, as_path, value_object
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.evals.run import Run
    from realtalk.memory.drafting import DraftedQuestion, Drafts

_LOCAL = "qwen2.5-1.5b"  # drafts where no model is named
_COMPARED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "retrieved": ("retrieved", {}),
    "words alone (way=bm25)": ("retrieved", {"way": "bm25"}),
    "the last sessions (recent)": ("recent", {}),
}


def draft(
    corpus: Readable,
    *,
    count: int = 40,
    out: str | PathLike[str] | None = None,
    fresh: bool = False,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Drafts:
    """Draft questions about a chat of your own, each with its evidence.

    Single facts, dates, several sessions and inferences, as many of each. A draft is dropped where
    its own evidence does not answer it, or where it is answered without. Then `studio` shows them
    as cards to accept, correct or reject. Without a model named the local qwen2.5-1.5b drafts, and
    nothing leaves this machine: of 60 it kept 25, of which few pass when read. Call it again to
    resume, or to draft more.

    Args:
        corpus: Chat, corpus or sample name.
        count: Questions to draft in all.
        out: File for the drafts (default: NAME-drafts.jsonl).
        fresh: Delete the existing drafts and start over.
        model: The model that drafts, which is sent parts of the chat.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        Drafts: `.kept`, `.reasons` why others were dropped, `.of(chat)`.

    Example:
        rt.memory.draft("mara")
        rt.memory.draft("mara", model="openai/gpt-4o-mini", count=60)
        rt.memory.draft("mara", out="drafts.jsonl", fresh=True)
    """
    from realtalk.formats.audit import chat_key
    from realtalk.memory.drafting import Drafter, Drafts, usual_place

    if count < 1:
        raise RealtalkError(f"`count=` must be 1 or more, not {count}")
    drafter = Drafter(model_config(_drafting(value_object(Model, model))))
    chats = as_corpus(corpus, reading, progress)
    file = as_path(out) or usual_place(chats)
    written: dict[str, Sequence[DraftedQuestion]] = {}
    for draft in () if fresh or not file.exists() else Drafts.read(file).all:
        written[draft.chat] = [*written.get(draft.chat, ()), draft]
    for number, chat in enumerate(chats.chats):
        share = (count + len(chats.chats) - 1 - number) // len(chats.chats)
        key = chat_key(chat)

        def keep(drafts: Sequence[DraftedQuestion], key: str = key) -> None:
            written[key] = drafts
            Drafts(tuple(draft for all_ in written.values() for draft in all_)).write(file)

        drafter.draft(chat, share, written.get(key, ()), keep, progress)
    return Drafts.read(file)


def _drafting(model: Model) -> Model:
    """The model that is named, or the one that runs here where it is at hand."""
    from realtalk.models.files import path_of

    if model.name is not None:
        return model
    try:
        path_of(_LOCAL)
    except RealtalkError:
        raise RealtalkError(
            "drafting takes a language model, and none is here",
            fix=f"get one that runs here: realtalk models get {_LOCAL}; or name one: `model=`",
        ) from None
    return replace(model, name=f"realtalk/{_LOCAL}")


@dataclass(frozen=True)
class MemoryAdvice:
    """Which memory to take and how many words, in two sentences; the runs that say so."""

    sentences: tuple[str, str]
    runs: Mapping[str, Run]
    pictures: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def to_json(self) -> dict[str, Any]:
        figures = {name: run.summary().frame.to_dicts() for name, run in self.runs.items()}
        pictures = [*map(str, self.pictures)]
        return {"sentences": [*self.sentences], "pictures": pictures, "figures": figures}


def which(
    corpus: Readable,
    *,
    memories: Sequence[str] = (),
    budget: str = "125w,250w,500w,1000w,2000w,4000w",
    figures: str | Path | None = None,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> MemoryAdvice:
    """Say which memory to take, and how many words are enough.

    `retrieved` is compared with plain words and with the last sessions, and with memories of your
    own. A memory serves where all the evidence of a question is shown; with a model, where its
    answer is right. Intervals and single scores are in `probe run`.

    Args:
        corpus: Stored corpus, chat or sample with questions.
        memories: Other memories to compare, e.g. restored.
        budget: Words to compare, e.g. 250w,1000w.
        figures: Folder for the picture: PNG, SVG and HTML.
        model: The model that answers, which is sent what memories show.
        reading: Format, dates and clock, where the file does not tell.

    Returns:
        Two sentences in `.sentences`, and `.runs`.

    Example:
        rt.memory.which("sample")
        rt.memory.which("mara", figures="pictures")
        rt.memory.which("mara", memories=["mine.py:MyMemory"])
    """
    from realtalk.api.benchmarks import probe
    from realtalk.describe.figures import save_figures
    from realtalk.memory.pictures import advise, draw_words
    from realtalk.memory.values import parse_budgets

    if any(each.words is None for each in parse_budgets(budget)):
        raise RealtalkError("words are compared here", fix="write `budget=250w,1000w`")
    chats = as_corpus(corpus, reading, progress)
    compared = {**_COMPARED, **{name: (name, {}) for name in memories}}
    ask = partial(probe, chats, budget=budget, model=model, progress=progress)
    runs = {title: ask(memory=name, settings=own) for title, (name, own) in compared.items()}
    files = save_figures({"which": draw_words(runs)}, figures) if figures else ()
    return MemoryAdvice(advise(runs), runs, tuple(files))
