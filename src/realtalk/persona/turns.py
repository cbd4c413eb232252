"""A corpus → for every speaker with two chats, the turns to learn from and those to be tested on.

    (task, *others) = tasks_of(corpus, choices_of(corpus))
    task.speaker, task.learning.chat.id       → "Mara", "Chat_1_Mara_Theo"
    task.turns[0].prompt.context              → (ContextTurn(1, …, "Juno", "did you hear"), …)

A turn is the speaker's consecutive messages joined, captions of wordless pictures as text. Its
context is what was said before it in the last sessions, newest first while a budget of tokens
lasts, and never anything later. The sessions counted are those in which something was said
before the turn, so that a session's first turn has a context too; the first turn of a chat has
none and is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import polars as pl

from realtalk.chat import Chat, Corpus, is_nobody
from realtalk.ei.labelling import labels_for
from realtalk.ei.labels import turn_inputs
from realtalk.encoders.tokens import count_each
from realtalk.errors import RealtalkError
from realtalk.evals.values import Settings
from realtalk.files.progress import Progress, silent, within
from realtalk.persona.choosing import Choice, as_published, choose
from realtalk.persona.values import ContextTurn, Learning, PersonaTask, PersonaTurn, TurnPrompt
from realtalk.registry import known_name, suggest

CONTEXT_SESSIONS = 3
CONTEXT_TOKENS = 1500
CHOICES = ("ei", "paper")  # by our labels, or Table 8's where it has the speaker
_NEEDED = "one is needed to learn from and another to be tested on"
_WORD = re.compile(r"\s*\S+")


def choices_of(
    corpus: Corpus,
    *,
    labels: pl.DataFrame | None = None,
    choice: str = "ei",
    speaker: str | None = None,
    progress: Progress = silent,
) -> list[Choice]:
    """Which chats are learned from and tested on; `labels` saves labelling the corpus again."""
    known_name("choice of chats", choice, CHOICES)
    _refuse_single_chats(corpus, speaker)
    if labels is None:
        total = sum(len(chat.turns) for chat in corpus.chats)
        advance = within(progress, 0, total, f"labelling {corpus.name}")
        frame = labels_for(corpus, progress=advance).frame
    else:
        frame = _own(corpus, labels)
    choices = choose(frame)
    if choice == "paper":
        choices = as_published(choices)
    if speaker is not None:
        choices = [choice for choice in choices if choice.speaker.casefold() == speaker.casefold()]
    if not choices:
        raise RealtalkError(
            f"{speaker} has no two chats with turns that could be labelled",
            where=corpus.name,
            fix=_NEEDED,
        )
    return choices


def _own(corpus: Corpus, labels: pl.DataFrame) -> pl.DataFrame:
    """The labels of the corpus's turns, where these are they: other chats may stand beside them."""
    chat_ids = [chat.id for chat in corpus.chats]
    frame = labels.filter(pl.col("chat").is_in(chat_ids))
    there = set(frame.select("chat", pl.col("message_ids").list.join("\0")).rows())
    turn_ids = {(turn.chat, "\0".join(turn.ids)) for turn in turn_inputs(corpus)}
    if there == turn_ids and len(there) == frame.height:
        return frame
    what = "the labels are not of this corpus"
    if there and {chat for chat, _ in there} == set(chat_ids):
        what = "the labels are of other turns than this corpus has"
    raise RealtalkError(
        what,
        where=corpus.name,
        fix="label it, in joined turns and with the same `gap=`: realtalk ei PATH `out=DIR`",
    )


def named_speaker(corpus: Corpus, name: str) -> str:
    """The speaker of that name as the corpus spells it, small or capital letters aside."""
    if name in corpus.speakers:
        return name
    near = [candidate for candidate in corpus.speakers if candidate.casefold() == name.casefold()]
    if not near:
        raise suggest("speaker", name, list(corpus.speakers))
    return near[0]


def _refuse_single_chats(corpus: Corpus, speaker: str | None) -> None:
    """Before anything is labelled, which may take minutes."""
    chats = Counter(
        name
        for chat in corpus.chats
        for name in {who.casefold() for who in chat.speakers if not is_nobody(who)}
    )
    most = max(chats.values(), default=0) if speaker is None else chats[speaker.casefold()]
    if speaker is not None and not most:
        raise suggest("speaker", speaker, list(corpus.speakers))
    if most < 2:
        what = "no speaker has two chats" if speaker is None else f"{speaker} has only one chat"
        raise RealtalkError(what, where=corpus.name, fix=_NEEDED)


def tasks_of(
    corpus: Corpus,
    choices: Sequence[Choice],
    *,
    context_sessions: int = CONTEXT_SESSIONS,
    context_tokens: int = CONTEXT_TOKENS,
) -> list[PersonaTask]:
    """A task for every speaker of the choices."""
    context = _context_settings(context_sessions, context_tokens)
    chats = {chat.id: chat for chat in corpus.chats}
    return [
        _task(
            choice.speaker,
            chats[choice.learn],
            chats[choice.test],
            context,
            choice.consistency.value,
        )
        for choice in choices
    ]


def _context_settings(sessions: int, tokens: int) -> Settings:
    for option, value in (("sessions", sessions), ("tokens", tokens)):
        if value < 1:
            raise RealtalkError(f"a context must be 1 or more {option}, not {value}")
    return {"context_sessions": sessions, "context_tokens": tokens}


def tasks_record(tasks: Collection[PersonaTask]) -> dict[str, Any]:
    """What a run's settings tell of its tasks; `stored_tasks` is the way back."""
    chats = {task.speaker: [task.learning.chat.id, task.test.id] for task in tasks}
    return {"context": dict(next(iter(tasks)).learning.settings), "chats": chats}


def stored_tasks(
    corpus: Corpus, settings: Mapping[str, Any], facts: Sequence[Mapping[str, Any]]
) -> list[PersonaTask]:
    """The tasks of a stored run, from its settings: nothing is labelled or chosen again.

    Those whose chats are not in the corpus are left out.
    """
    chats = {chat.id: chat for chat in corpus.chats}
    consistency = {fact["group"]: fact.get("consistency") for fact in facts}
    return [
        _task(speaker, chats[learn], chats[test], settings["context"], consistency.get(speaker))
        for speaker, (learn, test) in settings["chats"].items()
        if learn in chats and test in chats
    ]


def _task(
    speaker: str, learn: Chat, test: Chat, context: Settings, consistency: float | None
) -> PersonaTask:
    sessions, tokens = int(context["context_sessions"]), int(context["context_tokens"])
    learned, tested = (speaker_turns(chat, speaker, sessions, tokens) for chat in (learn, test))
    spoken = tuple(turn for turn in learned if turn.text)
    learning = Learning(speaker, learn, spoken, dict(context))
    return PersonaTask(speaker, learning, test, tested, consistency)


def own_learning(
    corpus: Corpus,
    speaker: str,
    *,
    context_sessions: int = CONTEXT_SESSIONS,
    context_tokens: int = CONTEXT_TOKENS,
) -> Learning:
    """Every turn of a speaker, of all their chats in order of time; no chat is left to be tested.

    Of several chats the learning's is a joined one, named "Oven + Boat".
    """
    settings = _context_settings(context_sessions, context_tokens)
    chats = [chat for chat in corpus.chats if speaker in chat.speakers]
    turns = [
        turn
        for chat in chats
        for turn in speaker_turns(chat, speaker, context_sessions, context_tokens)
        if turn.text
    ]
    if all(turn.prompt.time is not None for turn in turns):
        turns.sort(key=lambda turn: turn.prompt.time or datetime.min)
    learned = chats[0]
    if len(chats) > 1:
        sessions = (session for chat in chats for session in chat.sessions)
        learned = Chat(
            " + ".join(chat.id for chat in chats),
            tuple(dict.fromkeys(name for chat in chats for name in chat.speakers)),
            tuple(replace(session, number=number) for number, session in enumerate(sessions, 1)),
        )
    return Learning(speaker, learned, tuple(turns), settings)


def speaker_turns(
    chat: Chat, speaker: str, context_sessions: int, context_tokens: int
) -> tuple[PersonaTurn, ...]:
    """A speaker's turns in a chat, each with its context; those without any are left out."""
    inputs = turn_inputs(Corpus(chat.id, "", (chat,)))
    began = {session.number: session.time for session in reversed(chat.sessions)}
    said = [
        ContextTurn(turn.session, turn.time or began[turn.session], turn.speaker, turn.text)
        for turn in inputs
    ]
    costs = count_each([f"{turn.speaker}: {turn.text}" for turn in said])
    heads = count_each([turn.session_head for turn in said])
    own_turns = []
    for at, turn in enumerate(inputs):
        if turn.speaker != speaker:
            continue
        if context := _context(said, costs, heads, at, context_sessions, context_tokens):
            prompt = TurnPrompt(
                f"{chat.id}#{at}", chat.id, turn.session, speaker, turn.time, context
            )
            own_turns.append(PersonaTurn(prompt, turn.ids, turn.text.strip()))
    return tuple(own_turns)


def _context(
    said: Sequence[ContextTurn],
    costs: Sequence[int],
    heads: Sequence[int],
    at: int,
    sessions: int,
    tokens: int,
) -> tuple[ContextTurn, ...]:
    """The turns before `at`, oldest first, as far as sessions and tokens allow."""
    context: list[ContextTurn] = []
    sessions_shown: list[int] = []
    tokens_left, head = tokens, 0
    for place in range(at - 1, -1, -1):
        turn = said[place]
        if not turn.text.strip():
            continue
        if turn.session not in sessions_shown:
            if len(sessions_shown) == sessions:
                break
            # The head over the session before is paid for; this one's is its earliest turn's.
            tokens_left, head = tokens_left - head, 0
            sessions_shown.append(turn.session)
        if costs[place] + heads[place] > tokens_left:
            if not context and (ending := _end(turn, tokens_left - heads[place])) is not None:
                context.append(ending)
            break
        context.append(turn)
        tokens_left, head = tokens_left - costs[place], heads[place]
    return tuple(reversed(context))


def _end(turn: ContextTurn, tokens: int) -> ContextTurn | None:
    """The last words of a turn that is longer than the whole budget."""
    words = _WORD.findall(turn.text)
    counts = count_each([f"{turn.speaker}: ", *words])
    tokens_left, start = tokens - counts[0], len(words)
    while start and counts[start] <= tokens_left:
        tokens_left -= counts[start]
        start -= 1
    text = "".join(words[start:]).strip()
    return ContextTurn(turn.session, turn.time, turn.speaker, text) if text else None
