"""One's own chats → an adapter that writes as oneself, data for other tools, and a talk.

tune("mara", speaker="Me", out="adapters/me", say=print)             → Tuned
export_dataset("mara", speaker="Me", out="mine.jsonl", say=print)    → TuningSet
talk("mara", speaker="Me", consent="self").say("are you up?")        → "barely"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.local.progress import Progress, silent
from realtalk.surface.benchmarks import chosen_chats
from realtalk.surface.choices import simulator_of
from realtalk.surface.labelling import Labels
from realtalk.surface.sources import Readable, as_corpus

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.persona.datasets import TuningSet
    from realtalk.persona.talking import Talk
    from realtalk.persona.tuning import Tuned
    from realtalk.persona.values import Learning
    from realtalk.studio.talking import TalkRoom


def tune(
    corpus: Readable,
    speaker: str,
    *,
    out: str | PathLike[str],
    base: str = "smollm2",
    labels: Labels | str | PathLike[str] | None = None,
    choice: str = "ei",
    context_sessions: int = 3,
    context_tokens: int = 1500,
    whole: bool = False,
    examples: int = 0,
    epochs: int = 4,
    learning_rate: float = 5e-4,
    per_update: int = 16,
    rank: int = 16,
    dropout: float = 0.0,
    patience: int = 2,
    seed: int = 0,
    batch_tokens: int = 0,
    device: str = "auto",
    cache: str | PathLike[str] | None = None,
    fresh: bool = False,
    say: Callable[[str], Any] | None = None,
    progress: Progress = silent,
) -> Tuned:
    """Trains an adapter on a speaker's turns in one chat, to be tested in their other one.

    The adapter is written into `out`; simulate(…, simulator="tuned", settings={"adapter": out})
    tests it. The chat that is tested on is never read in training; somebody with a single chat is
    learned from all of it, and with `whole` from all chats: then there is nothing to test on.
    `base` is a folder, a .gguf file, smollm2, qwen2.5-0.5b or qwen2.5-1.5b. `examples` shows so
    many of the speaker's other turns in each prompt, those nearest in context, in training and in
    the test. `say` is told what is learned from, and how long it will take, before it begins
    (`print` shows it). Needs the extra train.
    """
    from realtalk.persona.pretrained import load
    from realtalk.persona.tuned import training_set
    from realtalk.persona.tuning import TuneSettings
    from realtalk.persona.tuning import tune as train
    from realtalk.persona.turns import own_learning, tasks_of

    settings = TuneSettings(
        epochs=epochs,
        learning_rate=learning_rate,
        per_update=per_update,
        rank=rank,
        alpha=2 * rank,
        dropout=dropout,
        patience=patience,
        seed=seed,
        batch_tokens=batch_tokens,
    )
    place = None if cache is None else Path(cache)
    loaded = load(base, device=device, cache=place, progress=progress)
    chats = as_corpus(corpus)
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    if (who := _alone(chats, speaker, whole)) is not None:
        learning = own_learning(chats, who, **context)
    else:
        chats, choices = chosen_chats(chats, labels, choice, speaker, progress)
        (task,) = tasks_of(chats, choices, **context)
        learning = task.learning
    learned, about = training_set(base, loaded, learning, examples)
    if say is not None:
        if len(learned) < len(learning.turns):
            say(f"{len(learning.turns) - len(learned):,} turns do not fit into the model")
        say(
            f"learning {learning.speaker} from {len(learned):,} turns of {learning.chat.id} on "
            f"{loaded.device} in {loaded.precision}"
        )
    return train(
        loaded,
        learned,
        Path(out),
        settings,
        about=about,
        fresh=fresh,
        progress=progress,
        say=say,
    )


def export_dataset(
    corpus: Readable,
    speaker: str,
    format: str = "sharegpt",
    *,
    redacted: bool = False,
    names: Sequence[str] = (),
    exchanges: int | None = None,
    out: str | PathLike[str] | None = None,
    say: Callable[[str], Any] | None = None,
) -> TuningSet:
    """A speaker's replies as rows for tools that tune models: WeClone, LLaMA-Factory, Axolotl, TRL.

    The speaker is the assistant, everybody else the user; sessions are conversations. `format` is
    "sharegpt", "alpaca" or "messages". `redacted` replaces names, numbers and links by stand-ins
    first, with more `names` to replace. A row holds at most so many `exchanges` (by default a
    whole session; of alpaca one). `say` is told who is user and who assistant before `out` is
    written (`print` shows it).
    """
    from realtalk.persona.datasets import build_tuning_set
    from realtalk.persona.turns import named_speaker

    chats = as_corpus(corpus)
    who = named_speaker(chats, speaker)
    if redacted:
        from realtalk.redaction.redact import redact
        from realtalk.redaction.sources import name_sources

        clean, _ = redact(chats, names=list(names), sources=name_sources())
        stand_in = _same_place(chats, clean, who)
        if say is not None:
            say(f"{who} is written as {stand_in}")
        chats, who = clean, stand_in
    made = build_tuning_set(chats, who, format, exchanges)
    if say is not None:
        for line in made.lines:
            say(line)
    if out is not None:
        made.write(Path(out))
    return made


def talk(
    corpus: Readable,
    speaker: str,
    simulator: str | None = None,
    *,
    consent: str | Callable[[str], str],
    partner: str | None = None,
    chat: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    prompts: str | PathLike[str] | None = None,
    style: bool = False,
    settings: Mapping[str, Any] | None = None,
    context_sessions: int = 3,
    context_tokens: int = 1500,
    out: str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> Talk:
    """Goes on with a chat, live: `talk.say("are you up?")` is answered as the speaker would.

    `consent` is "self" (it is you), "given" (with that person's yes), "research" (they agreed to a
    study that published the chat, not to this) or "fictional" (nobody real), or a function that is
    asked, by name, where no answer is kept with the adapter or in `out`; `talk.consent` has it.
    `simulator` and its settings are those of `simulate`; an adapter of `tune` brings its own
    contexts. `chat` is the one that goes on (the most recent), `partner` who you are (the other
    one in it). With `out` all that is said is kept as a corpus, marked as simulated; an earlier
    talk there goes on.
    """
    from realtalk.persona.consent import agreed, known
    from realtalk.persona.registry import make_simulator
    from realtalk.persona.talking import Talk, chat_of, partner_of, stored_consent
    from realtalk.persona.turns import named_speaker

    folder = None if prompts is None else Path(prompts)
    name, given = simulator_of(
        simulator, settings, model=model, style=style, base_url=base_url, prompts=folder
    )
    chats = as_corpus(corpus)
    who = named_speaker(chats, speaker)
    goes_on = chat_of(chats, who, chat)
    me = partner_of(goes_on, who, partner)
    place = None if out is None else Path(out)
    context = {"context_sessions": context_sessions, "context_tokens": context_tokens}
    adapter, about = adapter_of(name, given, who)
    yes = known(who, adapter) or stored_consent(place, who) or agreed(who, consent, adapter)
    if about:
        context = {key: int(about[key]) for key in context}
    made = make_simulator(name, given)
    made.prepare(learned_from(chats, who, about.get("chat"), context), progress)
    return Talk(goes_on, who, me, made, yes, out=place, **context)


def talk_room(
    corpus: Readable,
    speaker: str,
    simulator: str | None = None,
    *,
    out: str | PathLike[str] | None = None,
    **given: Any,
) -> TalkRoom:
    """The same talk for the studio, which asks for consent on its page; kept in talks/NAME."""
    from realtalk.local.writing import file_stem
    from realtalk.persona.registry import SIMULATORS
    from realtalk.persona.talking import chat_of, partner_of
    from realtalk.persona.turns import named_speaker
    from realtalk.studio.talking import TalkRoom

    chats = as_corpus(corpus)
    who = named_speaker(chats, speaker)
    me = partner_of(chat_of(chats, who, given.get("chat")), who, given.get("partner"))
    name, _ = simulator_of(simulator, given.get("settings"), model=given.get("model"))
    _ = SIMULATORS[name]  # a name that is wrong is said now, not on the page
    place = Path("talks", file_stem(who.casefold())) if out is None else Path(out)

    def begin(answer: str) -> Talk:
        return talk(chats, who, simulator, consent=answer, out=place, **given)

    return TalkRoom(who, me, begin)


def adapter_of(
    name: str, settings: Mapping[str, Any], speaker: str
) -> tuple[Path | None, dict[str, Any]]:
    """The speaker's adapter, and what it was trained with; nothing for other simulators."""
    if name != "tuned" or "adapter" not in settings:
        return None, {}
    from realtalk.persona.tuned import adapters_in

    for folder, held in adapters_in(Path(settings["adapter"])).items():
        if held["about"].get("speaker") == speaker:
            return folder, dict(held["about"])
    return None, {}


def learned_from(
    corpus: Corpus, speaker: str, chat: str | None, context: Mapping[str, int]
) -> Learning:
    """What a simulator learns from: the chat that its adapter is of, else all of the speaker's."""
    from dataclasses import replace

    from realtalk.persona.turns import own_learning

    only = tuple(each for each in corpus.chats if each.id == chat)
    return own_learning(replace(corpus, chats=only) if only else corpus, speaker, **context)


def _same_place(chats: Corpus, clean: Corpus, speaker: str) -> str:
    """What a speaker is called in the same chats after they were redacted."""
    pairs = zip(chats.chats, clean.chats, strict=True)
    names = (pair for a, b in pairs for pair in zip(a.speakers, b.speakers, strict=True))
    return next(new for old, new in names if old == speaker)


def _alone(corpus: Corpus, speaker: str, whole: bool) -> str | None:
    """The speaker, where all that they wrote is learned from: they have one chat, or it is asked.

    None where one chat is kept to be tested on.
    """
    from realtalk.persona.turns import named_speaker

    name = named_speaker(corpus, speaker)
    chats = sum(name in chat.speakers for chat in corpus.chats)
    return name if whole or chats == 1 else None
