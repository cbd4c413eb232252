"""A chat that goes on, live: a person writes, a simulator answers as one of the chat's speakers.

    talk = Talk(chat, "Mara", "Theo", simulator, consent)
    talk.say("are you up?", show)       → "barely"; show("bare") and show("ly") as it comes
    talk.corpus.chats[0].messages[-1]   → <Message 'T1:2' 'Mara (simulated)' …>

What a simulator is shown is built as for the benchmark: the last sessions of the chat and what was
said here, within a budget. What it wrote is marked three times, so that no export loses it: by
the speaker's name, in the message's `extra`, and in the names of chat and corpus.

By whose leave a model writes as somebody: asked once, by name, and kept with its meaning.

    question("Mara")                          → "A model will write as Mara. Are you Mara (self), …"
    obtain_consent("Mara", "given", Path("mara"))     → Consent("Mara", "given", "2026-05-04")
    obtain_consent("Mara", "", Path("mara"))          → the same, from mara/consent.json

The answer is kept in the adapter's folder, and with what was said. It is of one name: an adapter
of somebody else in the same folder asks again.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from realtalk.chat import MARK, Chat, Corpus, Message, Session, is_nobody, pack_extra, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import write_json
from realtalk.formats.reading import Ledger, ReadCorpus
from realtalk.formats.store import is_stored, load, store
from realtalk.persona.turns import CONTEXT_SESSIONS, CONTEXT_TOKENS, speaker_turns
from realtalk.persona.values import Simulator, TurnPrompt
from realtalk.registry import known_name

# What each answer says of the person.
MEANINGS = {
    "self": "{0} does this as themselves.",
    "given": "{0} agreed that a model writes as them.",
    "research": (
        "{0} agreed to a study that published the chat, not to a model that writes as them: "
        "for research alone."
    ),
    "fictional": "{0} is invented.",
}
_FIX = (
    "where you are {0} pass `consent=self`, with their yes `consent=given`, of a published study "
    "`consent=research`, of an invented person `consent=fictional`"
)
_FILE = "consent.json"


class NoConsent(RealtalkError):
    """Nobody said by whose leave somebody is written as."""


@dataclass(frozen=True, slots=True)
class Consent:
    """For whom, in what way, and on which day it was said; `meaning` says it in a sentence."""

    speaker: str
    answer: str  # one of MEANINGS
    day: str
    meaning: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "meaning", MEANINGS[self.answer].format(self.speaker))


def question(speaker: str) -> str:
    """What is asked, by name."""
    return (
        f"A model will write as {speaker}. Are you {speaker} (self), did {speaker} agree to it "
        f"(given), did {speaker} agree to a study but not to this (research), or is {speaker} "
        "invented (fictional)? "
    )


def obtain_consent(
    speaker: str,
    answer: str | Callable[[str], str],
    adapter: Path | None = None,
    out: Path | None = None,
) -> Consent:
    """The consent that was kept with the adapter or with an earlier talk in `out`, else the answer.

    A function is asked, by name, and returns the answer, which is kept in the adapter's folder;
    anything but an answer is refused.
    """
    for entry in (*_with_adapter(adapter), *_with_talk(out)):
        if entry["speaker"] == speaker and entry["answer"] in MEANINGS:
            return Consent(speaker, entry["answer"], entry["day"])
    text = (answer if isinstance(answer, str) else answer(question(speaker))).strip().casefold()
    if text not in MEANINGS:
        near = difflib.get_close_matches(text, MEANINGS, n=1, cutoff=0.5)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise NoConsent(f"no consent to write as {speaker}", fix=hint + _FIX.format(speaker))
    consent = Consent(speaker, text, f"{datetime.now():%Y-%m-%d}")
    if adapter is not None:
        write_json(adapter / _FILE, asdict(consent))
    return consent


def _with_adapter(folder: Path | None) -> Iterator[Mapping[str, str]]:
    if folder is None or not (path := folder / _FILE).is_file():
        return
    try:
        content = json.loads(path.read_text("utf-8"))
        yield {name: str(content[name]) for name in ("speaker", "answer", "day")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError(
            "is not a consent that was kept", where=str(path), fix="remove it"
        ) from error


def _with_talk(folder: Path | None) -> Iterator[Mapping[str, str]]:
    if folder is not None and is_stored(folder):
        for chat in load(folder).corpus.chats:
            entries = unpack_extra(chat.extra).get("simulated", {}).get("consent", [])
            # A list, where both are simulated.
            yield from entries if isinstance(entries, list) else [entries]


Show: TypeAlias = Callable[[str], Any]  # is handed a reply piece by piece


def chat_of(corpus: Corpus, speaker: str, chat: str | None = None) -> Chat:
    """The chat that is gone on with: the one named, else the speaker's most recent one."""
    own = [other for other in corpus.chats if speaker in other.speakers and other.messages]
    if chat is None and own:
        return max(own, key=lambda other: other.messages[-1].time or datetime.min)
    if chat is None:
        raise RealtalkError(f"{speaker} wrote nothing", where=corpus.name)
    by_id = {other.id: other for other in own}
    return by_id[known_name(f"chat of {speaker}", chat, by_id)]


def partner_of(chat: Chat, speaker: str, partner: str | None = None) -> str:
    """Who the person is: as named, else the only other speaker."""
    if partner is not None:
        return partner
    others = [name for name in chat.speakers if name != speaker and not is_nobody(name)]
    if len(others) != 1:
        raise RealtalkError(
            f"{len(others)} others speak in the chat",
            where=chat.id,
            fix="say who you are: `partner=NAME`",
        )
    return others[0]


def keep_corpus(corpus: Corpus, folder: Path) -> None:
    """Stores what was said, all of which was read."""
    total = sum(len(chat.messages) for chat in corpus.chats)
    store(ReadCorpus(corpus=corpus, ledger=Ledger("messages", total, total)), folder)


@runtime_checkable
class Streaming(Protocol):
    """A simulator that shows a reply while it is written."""

    def stream(self, prompt: TurnPrompt, show: Show) -> Answer[str]: ...


class Talk:
    """One conversation with a simulated speaker; `out` keeps it as a stored corpus.

    A folder that holds an earlier talk of the same two is gone on with.
    """

    def __init__(
        self,
        chat: Chat,
        speaker: str,
        partner: str,
        simulator: Simulator,
        consent: Consent,
        *,
        context_sessions: int = CONTEXT_SESSIONS,
        context_tokens: int = CONTEXT_TOKENS,
        out: Path | None = None,
    ) -> None:
        if partner == speaker:
            raise RealtalkError(
                f"{speaker} cannot talk to {speaker}", fix="name yourself: `partner=NAME`"
            )
        self.speaker, self.partner, self.consent = speaker, partner, consent
        self._chat, self._simulator, self._out = chat, simulator, out
        self._context = (context_sessions, context_tokens)
        self._id = f"Talk_simulated_{speaker}_{partner}"
        self._earlier = self._load_earlier()
        self._said: list[Message] = []

    @property
    def quotes(self) -> bool:
        """Whether the simulator only repeats what the speaker once wrote."""
        return self._simulator.name == "retrieve"

    def say(self, text: str, show: Show | None = None, *, progress: Progress = silent) -> str:
        """What the simulator answers. What the person said is kept before it is asked."""
        if not text.strip():
            raise RealtalkError("nothing was said")
        self._add(self.partner, text.strip())
        prompt = self._prompt()
        if show is not None and isinstance(self._simulator, Streaming):
            answer = self._simulator.stream(prompt, show)
        else:
            (answer,) = self._simulator.solve([prompt], progress)
            if show is not None and answer.value is not None:
                show(answer.value)
        if answer.value is None:
            raise RealtalkError(
                f"no answer ({answer.unscored or 'no reason'})", fix="say it once more"
            )
        self._add(self.speaker + MARK, answer.value)
        return answer.value

    @property
    def corpus(self) -> Corpus:
        """All that was said here and in earlier talks of this folder, marked as simulated."""
        about = {
            "by": self._simulator.name,
            "speaker": self.speaker,
            "consent": asdict(self.consent),
            "continues": self._chat.id,
        }
        names = (self.partner, self.speaker + MARK)
        chat = Chat(self._id, names, self._sessions(), extra=pack_extra({"simulated": about}))
        return Corpus(f"talk-simulated-{self.speaker}", "jsonl", (chat,))

    def _sessions(self) -> tuple[Session, ...]:
        if not self._said:
            return self._earlier
        number = len(self._earlier) + 1
        return (*self._earlier, Session(number, self._said[0].time, tuple(self._said)))

    def _add(self, speaker: str, text: str) -> None:
        session, place = len(self._earlier) + 1, len(self._said) + 1
        simulated = speaker.endswith(MARK)
        extra = pack_extra({"simulated": self._simulator.name}) if simulated else ""
        now = datetime.now().replace(microsecond=0)
        self._said.append(Message(f"T{session}:{place}", speaker, now, text, extra=extra))
        if self._out is not None:
            keep_corpus(self.corpus, self._out)

    def _prompt(self) -> TurnPrompt:
        """What stands before the next reply; the unwritten one holds its place."""
        number = max((session.number for session in self._chat.sessions), default=0)
        *past, present = self._sessions()
        open_turn = Message("T:open", self.speaker, present.messages[-1].time, "…")
        present = replace(present, messages=(*present.messages, open_turn))
        here = (
            replace(session, number=at, messages=tuple(map(unmark, session.messages)))
            for at, session in enumerate((*past, present), number + 1)
        )
        sessions, tokens = self._context
        chat = replace(
            self._chat, sessions=(*self._chat.sessions[-sessions:], *here), events=(), questions=()
        )
        return speaker_turns(chat, self.speaker, sessions, tokens)[-1].prompt

    def _load_earlier(self) -> tuple[Session, ...]:
        if self._out is None or not self._out.exists():
            return ()
        stored_chats = load(self._out).corpus.chats if is_stored(self._out) else ()
        if [chat.id for chat in stored_chats] != [self._id]:
            raise RealtalkError(
                f"holds no talk of {self.speaker} and {self.partner}",
                where=str(self._out),
                fix="name another folder with `out=`",
            )
        return stored_chats[0].sessions


def unmark(message: Message) -> Message:
    """A message without the marks, as simulators are shown it."""
    return replace(message, speaker=message.speaker.removesuffix(MARK), extra="")
