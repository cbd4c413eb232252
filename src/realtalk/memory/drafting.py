"""A chat of one's own → questions with evidence that a model drafted, those that rules discard set
apart, for people to tick.

    Drafter(ModelConfig("openai/gpt-4o-mini")).draft(chat, 40, keep=store)
    → store([DraftedQuestion("9c1f…", Question("draft-3f2a91", "What is the kitten called?",
             "Pepper", "single_hop", ("D2:3",)), "openai/gpt-4o-mini", dropped=""), …])
    Drafts.read(Path("mara-drafts.jsonl")).of(chat)    → those of this chat that may stay

The model is shown a few messages of one session, or of two sessions that share words, and drafts
one question of one kind: a single fact, a date, several sessions, an inference. It never sees other
questions, nor what came later in the chat. A draft that the rules let pass is then
answered twice by the same model: from its evidence alone, which must give the answer, and from
nothing, which must not. What the model answered is kept, and a run that was killed asks for the
rest alone. The file has every draft with the rule that discards it, and is its owner's only.

A drafted question → why it is discarded, or nothing: rules that need no model.

    flaw_of(question, chat)             → "names its own answer"
    flaw_of(question, chat, others)     → "was asked already"
    reading_flaw(question, "a kiln", "It is not mentioned.")    → "": answered by its evidence alone
    reading_flaw(question, "a kiln", "probably a kiln")         → "is answered without the chat"

A question must be one that its own evidence answers and that nobody answers without it. The first
rule reads what a model drafted, the second what the same model answers when it is shown only the
evidence, and when it is shown nothing. Dates must be those that the evidence names, or counts from
its own day ("next Friday"). Answers are compared as scores compare them (metrics/answers.py).
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from realtalk.chat import Chat, Corpus, Message, Question, Session
from realtalk.ei.judge import strip_fence, unreadable
from realtalk.encoders.lexical import Bm25, best_first
from realtalk.encoders.tokens import count_words
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import join_names, load_prompts
from realtalk.evals.values import Answer
from realtalk.files.json_objects import read_objects
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path, check_holder, file_stem
from realtalk.formats.audit import chat_key, question_key
from realtalk.memory.notes import number_lines
from realtalk.memory.remembering import Item, LlmReader, load_wording
from realtalk.memory.rows import RIGHT
from realtalk.memory.values import Context, MessageCosts, message_line
from realtalk.metrics.answers import (
    around_dates,
    content,
    date_f1,
    holds_gold,
    is_abstention,
    is_polar,
    matches_gold,
    question_words,
    token_f1,
)
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask
from realtalk.text.dates import PartialDate, days_of
from realtalk.text.relative_dates import resolve
from realtalk.text.words import one_line

SINGLE, TEMPORAL, SEVERAL, INFERRED = "single_hop", "temporal", "multi_hop", "commonsense"
KINDS: Mapping[str, str] = {
    SINGLE: "one fact that somebody tells of their life: what they did, own, like or plan, "
    "whom they met, where they were, how much or how many.",
    TEMPORAL: 'the day on which something happened or is to happen: "When did …?". The answer '
    "is a calendar date such as 3 March 2026. The lines in square brackets say on which day "
    'messages were sent; "yesterday" or "next Friday" is counted from there.',
    SEVERAL: "something that only both parts together tell, which are of different days: what "
    "changed, what came of a plan, what was added, what two things have in common. "
    '"messages" has at least one number of each part.',
    INFERRED: "something that is not said but follows from what is said, with what everybody "
    "knows: a likely reason, trait, profession, season or place.",
}
_WORDS, _FEWEST = 150, 25  # of a part that a model is shown
_LONGEST_REPLY = 200  # tokens of a draft, where the model does not stop by itself
_TRIES = 3  # parts that are tried for each question that is wanted
_SEED = 0  # draws the parts
_UNCHECKED = "could not be checked"  # the model failed: it is drafted and checked again
_MARK = "draft-"  # begins the id of a question that was drafted
_FIELDS = ("id", "text", "answer", "category", "evidence")
_REMINDERS = (
    '\n\nThe answer must be one JSON object with the keys "question", "answer" and "messages", '
    "numbers that stand before the messages, without any other text.",
)


@dataclass(frozen=True, slots=True)
class DraftedQuestion:
    """A drafted question. `dropped` is the rule that discards it; `read` and `unread` are what the
    model answered from the evidence alone, and from nothing, where it came to that."""

    chat: str  # what `chat_key` says: the chat may be called otherwise by then
    question: Question
    model: str
    dropped: str = ""
    read: str | None = field(default=None, repr=False)
    unread: str | None = field(default=None, repr=False)

    def line(self) -> dict[str, Any]:
        """As a line of the file."""
        return asdict(self) | {"question": {n: getattr(self.question, n) for n in _FIELDS}}


@dataclass(frozen=True)
class Drafts:
    """What was drafted of one chat or several, and the file that holds it."""

    all: tuple[DraftedQuestion, ...] = ()
    file: Path | None = None

    @classmethod
    def read(cls, path: Path) -> Drafts:
        """The drafts in a file that `write` made."""
        drafts = []
        for where, entry in read_objects(path):
            try:
                text, answer, category, evidence = (entry["question"][n] for n in _FIELDS[1:])
                question = drafted(text, answer, category, tuple(evidence))
                drafts.append(DraftedQuestion(**entry | {"question": question}))
            except (LookupError, TypeError, AttributeError) as error:
                raise RealtalkError(
                    "not a drafted question", where=where, fix="draft anew with `fresh=True`"
                ) from error
        return cls(tuple(drafts), path)

    def write(self, path: Path) -> Drafts:
        """Writes one line per draft, for the owner only."""
        with atomic_path(check_holder(path)) as temporary:
            temporary.write_bytes(b"".join(orjson.dumps(d.line()) + b"\n" for d in self.all))
        return replace(self, file=path)

    @property
    def kept(self) -> tuple[DraftedQuestion, ...]:
        """Those that no rule discards."""
        return tuple(draft for draft in self.all if not draft.dropped)

    @property
    def reasons(self) -> dict[str, int]:
        """Why the others were discarded, and how many for it."""
        return dict(Counter(draft.dropped for draft in self.all if draft.dropped).most_common())

    def to_json(self) -> dict[str, Any]:
        """Counts, and the questions that may stay."""
        counts = {"drafted": len(self.all), "kept": len(self.kept), "dropped": self.reasons}
        questions = [draft.line()["question"] for draft in self.kept]
        return {"file": self.file and str(self.file), **counts, "questions": questions}

    def of(self, chat: Chat) -> tuple[Question, ...]:
        """The questions about a chat that no rule discards, known by what its messages say."""
        key = chat_key(chat)
        return tuple(draft.question for draft in self.kept if draft.chat == key)


def drafted(text: str, answer: str, category: str, evidence: tuple[str, ...]) -> Question:
    """A question with an id that says it was drafted, the same for the same words."""
    question = Question("", text, answer, category, evidence, stated=evidence)
    return replace(question, id=f"{_MARK}{question_key(question)[:8]}")


def is_drafted(question_id: str) -> bool:
    """Whether a question of a corpus was drafted, by its id."""
    return question_id.startswith(_MARK)


def usual_place(corpus: Corpus) -> Path:
    """Where the drafts of a corpus are, unless somebody names another file."""
    return Path(f"{file_stem(corpus.name)}-drafts.jsonl")


class _Task(NamedTuple):
    """What a model is shown to draft from: a part of a session, or of two."""

    kind: str
    parts: tuple[Session, ...]

    def show(self) -> str:
        firsts = accumulate((len(part.messages) for part in self.parts), initial=1)
        return "\n\n".join(map(number_lines, self.parts, firsts))

    def read(self, text: str) -> Question | None:
        """What the answer says, strictly; None where it is malformed."""
        try:
            reply = json.loads(strip_fence(text))
        except (ValueError, RecursionError):
            return None
        ids = [message.id for part in self.parts for message in part.messages]
        match reply:
            case {"question": str(asked), "answer": str() | int() | float() as answer, **more}:
                cited = more.get("messages") if asked.strip() else []
                numbers = range(1, len(ids) + 1)
                if isinstance(cited, list) and all(type(n) is int and n in numbers for n in cited):
                    evidence = tuple(ids[number - 1] for number in sorted(set(cited)))
                    return drafted(one_line(asked), one_line(str(answer)), self.kind, evidence)
        return None

    def flaw(self, text: str) -> str:
        return unreadable(text) if self.read(text) is None else ""


class Drafter:
    """Drafts by one model, which also reads its own drafts. Nothing is sent before `draft`."""

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        needed = {"draft": ("kind", "messages")}
        self._prompts = load_prompts("realtalk.memory", "1", needed, ("speakers",))
        self._reader = LlmReader(config, load_wording(), abstain=True)
        self._failures = Counter[str]()

    def draft(
        self,
        chat: Chat,
        count: int,
        earlier: Sequence[DraftedQuestion] = (),
        keep: Callable[[Sequence[DraftedQuestion]], object] = list,
        progress: Progress = silent,
    ) -> None:
        """Drafts until `count` may stay or parts run out, `earlier` ones counted in.

        `keep` is handed all of them after each round.
        """
        drafts = [draft for draft in earlier if not draft.dropped.startswith(_UNCHECKED)]
        keep(drafts)
        waiting = _tasks(chat, count)
        while (missing := count - sum(not draft.dropped for draft in drafts)) > 0:
            kinds = Counter(draft.question.category for draft in drafts if not draft.dropped)
            if not (tasks := _next(waiting, kinds, missing)):
                break
            drafts += self._round(chat, tasks, drafts, progress)
            keep(drafts)
        if not drafts and self._failures:
            raise RealtalkError(
                f"no question could be drafted ({', '.join(self._failures)})",
                where=chat.id,
                fix="try another model, or look at the provider",
            )

    def _round(
        self,
        chat: Chat,
        tasks: Sequence[_Task],
        before: Sequence[DraftedQuestion],
        progress: Progress,
    ) -> list[DraftedQuestion]:
        known = {draft.question.id for draft in before}
        drafts: list[DraftedQuestion] = []
        asked = [*chat.questions, *(draft.question for draft in before if not draft.dropped)]
        for question in self._ask(chat, tasks, progress):
            if question.text and question.id not in known:
                known.add(question.id)
                flaw = flaw_of(question, chat, asked)
                drafts.append(DraftedQuestion(chat_key(chat), question, self._config.model, flaw))
                asked += [] if flaw else [question]
        return self._read(chat, drafts, progress)

    def _ask(self, chat: Chat, tasks: Sequence[_Task], progress: Progress) -> list[Question]:
        fill = partial(self._prompts.fill, "draft", speakers=join_names(chat.speakers))
        prompts = [
            Prompt(
                str(place),
                partial(fill, kind=KINDS[task.kind], messages=task.show()),
                task.flaw,
                _REMINDERS,
            )
            for place, task in enumerate(tasks)
        ]
        replies: dict[str, Reply] = {}
        longest = self._config.max_tokens or _LONGEST_REPLY
        ask(prompts, replace(self._config, max_tokens=longest), replies.__setitem__, progress)
        self._failures.update(filter(None, (reply.reason for reply in replies.values())))
        read = [task.read(replies[str(place)].text or "") for place, task in enumerate(tasks)]
        return [question for question in read if question is not None]

    def _read(
        self, chat: Chat, drafts: Sequence[DraftedQuestion], progress: Progress
    ) -> list[DraftedQuestion]:
        """Drafts with what their model answers from their evidence, and from nothing."""
        costs = MessageCosts(chat)
        passing = [draft.question for draft in drafts if not draft.dropped]
        shown = [Item(chat, question, costs.context(question.evidence)) for question in passing]
        nothing = [replace(item, context=Context("")) for item in shown]
        answers = self._reader.solve([*shown, *nothing], progress)
        pairs = zip(answers[: len(passing)], answers[len(passing) :], strict=True)
        return [draft if draft.dropped else _checked(draft, *next(pairs)) for draft in drafts]


def _checked(draft: DraftedQuestion, read: Answer[str], unread: Answer[str]) -> DraftedQuestion:
    failed = read.unscored or unread.unscored
    flaw = reading_flaw(draft.question, read.value or "", unread.value or "")
    flaw = f"{_UNCHECKED}: {failed}" if failed else flaw
    return replace(draft, dropped=flaw, read=read.value, unread=unread.value)


def _tasks(chat: Chat, count: int) -> dict[str, list[_Task]]:
    """Parts of the chat for each kind, drawn without looking at what they say."""
    parts, drawn = [*_parts(chat)], random.Random(_SEED)
    single = [(part,) for part in parts]
    shown = dict.fromkeys(KINDS, single) | {SEVERAL: _pairs(parts)}
    shown[TEMPORAL] = [(part,) for part in parts if part.time is not None]
    most = _TRIES * -(-count // len(KINDS))
    return {
        kind: [_Task(kind, each) for each in drawn.sample(all_, min(most, len(all_)))]
        for kind, all_ in shown.items()
    }


def _next(waiting: dict[str, list[_Task]], have: Counter[str], most: int) -> list[_Task]:
    """The next tasks, of the kind that has fewest first; they are waiting no more."""
    counts = have.copy()
    tasks: list[_Task] = []
    while len(tasks) < most and (open_kinds := [kind for kind, left in waiting.items() if left]):
        kind = min(open_kinds, key=counts.__getitem__)
        tasks.append(waiting[kind].pop(0))
        counts[kind] += 1
    return tasks


def _parts(chat: Chat) -> Iterator[Session]:
    """Sessions cut where enough was said; what has too few words to ask about is left out."""
    for session in chat.sessions:
        messages, words = [], 0
        for at, message in enumerate(session.messages, 1):
            messages.append(message)
            words += count_words(message.text)
            if words >= _WORDS or at == len(session.messages):
                if words >= _FEWEST:
                    yield replace(session, messages=tuple(messages))
                messages, words = [], 0


def _pairs(parts: Sequence[Session]) -> list[tuple[Session, ...]]:
    """Every part with the one of an earlier session that shares most words with it."""
    texts = ["\n".join(message.text for message in part.messages) for part in parts]
    ranking = Bm25(texts)
    pairs: list[tuple[Session, ...]] = []
    for at, part in enumerate(parts):
        scores = ranking.scores(texts[at])
        scores[[each.number >= part.number for each in parts]] = 0.0
        best = best_first(scores)[0]
        if scores[best] > 0:
            pairs.append((parts[best], part))
    return pairs


_LONGEST_QUESTION, _LONGEST_ANSWER = 40, 25  # words
_GROUNDED = 0.5  # of an answer's words, what its evidence must say
_ALIKE, _ALIKE_ANSWERED = 0.85, 0.7  # F1 of two questions; where their answers are alike, too
# Said to somebody in the chat, or about the text instead of the people.
_INSIDE = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|ours|you|your|yours|the (?:message|messages|text|chat|speaker)"
    r"|(?:this|that|the above) (?:message|chat|conversation|person))\b",
    re.IGNORECASE,
)
# A message's own day answers it, whatever the message says.
_TELLING = re.compile(
    r"\bwhen (?:did|was|were)\b.*\b(?:say|said|tell|told|mention(?:ed)?|ask(?:ed)?|shared?"
    r"|text(?:ed)?|discuss(?:ed)?|talk(?:ed)?|messaged?|replied|reply|suggest(?:ed)?|recommend(?:ed)?)\b",
    re.IGNORECASE,
)


def flaw_of(question: Question, chat: Chat, others: Iterable[Question] = ()) -> str:
    """Why a draft is discarded, in words that go on from "the question"; "" where it may stay."""
    answer = (question.answer or "").strip()
    evidence = [chat.by_id[id_] for id_ in question.evidence if id_ in chat.by_id]
    if not evidence or len(evidence) < len(question.evidence):
        return "names no message as evidence"
    if not answer or is_abstention(answer, "abstention"):
        return "has no answer"
    if is_polar(question.text) or answer.casefold().strip(" .!") in ("yes", "no"):
        return "can be guessed: yes or no"
    sizes = len(question.text.split()), len(answer.split())
    if not _asks(question.text) or sizes[0] > _LONGEST_QUESTION or sizes[1] > _LONGEST_ANSWER:
        return "is no short question with a short answer"
    if _INSIDE.search(question.text):
        return "cannot be understood outside the chat"
    if _names_answer(question.text, answer):
        return "names its own answer"
    if question.category == TEMPORAL and _TELLING.search(question.text):
        return "asks when something was said"
    if question.category == SEVERAL and len(sessions_of(chat, question.evidence)) < 2:
        return "rests on one session alone"
    if not _is_said(question, answer, evidence, chat):
        return "has an answer that its evidence does not say"
    return "was asked already" if any(_same(question, other) for other in others) else ""


def reading_flaw(question: Question, read: str, unread: str) -> str:
    """The same by what was answered from the evidence alone, and from nothing."""
    if not is_right(question, read):
        return "is not answered by its own evidence"
    return "is answered without the chat" if is_right(question, unread) else ""


def is_right(question: Question, text: str) -> bool:
    """Whether a text gives the answer, in any words that scores would take for it."""
    gold = question.answer or ""
    if is_abstention(text, "abstention"):
        return False
    return (
        matches_gold(text, gold, question=question.text)
        or holds_gold(text, [gold], question=question.text)
        or date_f1(text, gold, question.category) >= RIGHT
    )


def sessions_of(chat: Chat, ids: Iterable[str]) -> set[int]:
    """The numbers of the sessions that messages are in."""
    wanted = set(ids)
    return {
        session.number
        for session in chat.sessions
        if any(message.id in wanted for message in session.messages)
    }


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "\uff1f", "\u061f", "\u037e"))


def _names_answer(question: str, answer: str) -> bool:
    """Whether all that an answer says stands in its question."""
    said = content(answer)
    if said.dates:
        return holds_gold(question, [answer], question="")
    return said.words <= question_words(question, ())


def _is_said(question: Question, answer: str, evidence: list[Message], chat: Chat) -> bool:
    """Whether the evidence tells the answer; what is inferred is never said."""
    if question.category == INFERRED:
        return True
    if question.category == TEMPORAL:
        stated = around_dates(answer)[1]
        days = [*_days(evidence, chat)]
        return bool(stated) and all(_touches(part, days) for part in stated)
    known = question_words(question.text, ())
    wanted = content(answer, question=known).words
    said = content(" ".join(map(message_line, evidence))).words
    return not wanted or len(wanted & said) >= _GROUNDED * len(wanted)


def _days(evidence: Iterable[Message], chat: Chat) -> Iterator[tuple[date, date]]:
    """The days that messages were sent on, name, or count from their own."""
    starts = {message.id: s.time for s in chat.sessions for message in s.messages}
    for message in evidence:
        sent = message.time or starts[message.id]
        if sent is not None:
            yield sent.date(), sent.date()
            for found in resolve(message.text, sent):
                yield found.first, found.last


def _touches(stated: PartialDate, days: Iterable[tuple[date, date]]) -> bool:
    span = days_of(stated)
    return span is not None and any(span[0] <= last and first <= span[1] for first, last in days)


def _same(question: Question, other: Question) -> bool:
    alike = token_f1(question.text, other.text)
    if alike >= _ALIKE:
        return True
    answered = is_right(question, other.answer or "") and is_right(other, question.answer or "")
    shared = bool(set(question.evidence) & set(other.evidence))
    return answered and (shared or alike >= _ALIKE_ANSWERED)
