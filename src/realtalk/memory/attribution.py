"""Who said it: what a memory shows of the person asked about, without a judge.

    people = People(chat)                                  # Ines, whom others call Nessa; Tobias
    people.named("What did Nessa adopt?")                  → ("Ines",)
    people.shown("What did Nessa adopt?", context, gold)
    → {"person@budget": 0.75, "other@budget": 0.0, "named@budget": None, "misnamed@budget": None}

`person@budget`: of the messages shown for a question that names exactly one speaker, those by or
about that speaker; about is what names them. `other@budget`: of the evidence shown, what stands
under another's name: a memory that keeps to one speaker's messages loses it, so it is read beside
the oracle's. Neither says anything of a question about nobody, or about several.

A memory that tells in its own words shows no speakers. Of its lines that hold the whole answer,
`named@budget` are those that name a speaker of the evidence or whom the question names, and
`misnamed@budget` those that name somebody else of the chat only; the rest name nobody.

A speaker is named by the first word of any of their names that nobody else of the chat has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from realtalk.chat import Chat
from realtalk.evals.values import Row
from realtalk.memory.golds import Gold
from realtalk.memory.values import Context
from realtalk.metrics.accepting import holds_gold
from realtalk.text.folding import fold_word, parts
from realtalk.text.terms import is_named

SHOWN_SCORES = ("person@budget", "other@budget", "named@budget", "misnamed@budget")
_DAY = "["  # how the line of a day begins: it holds a date, and nobody said it
_TOLD = "- "  # how a line begins that stands beside messages and is none


class People:
    """The speakers of a chat by their names."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        everybody = Counter(part for who in chat.speakers for part in _parts(chat.names_of(who)))
        self.words: dict[str, str] = {}  # speaker → the words that name nobody else
        for who in chat.speakers:
            names = [_parts([name]) for name in chat.names_of(who)]
            own = [[part for part in name if everybody[part] == 1] for name in names]
            self.words[who] = " ".join(dict.fromkeys(name[0] for name in own if name))
        self._about: dict[tuple[str, str], bool] = {}

    def is_named(self, who: str, text: str) -> bool:
        """Whether a text names a speaker."""
        return is_named(self.words[who], text)

    def named(self, text: str) -> tuple[str, ...]:
        """The speakers that a text names."""
        return tuple(who for who in self.chat.speakers if self.is_named(who, text))

    def is_of(self, who: str, message_id: str) -> bool:
        """Whether a message is by or about a speaker."""
        message = self.chat.by_id[message_id]
        if message.speaker == who:
            return True
        if (who, message_id) not in self._about:
            self._about[who, message_id] = self.is_named(who, message.text)
        return self._about[who, message_id]

    def shown(self, question: str, context: Context, gold: Gold, *, tells: bool = False) -> Row:
        """The scores of what a question was shown; None where there is nothing to be counted."""
        columns: Row = dict.fromkeys(SHOWN_SCORES)
        asked = self.named(question)
        by_id = self.chat.by_id
        shown_ids = [id_ for id_ in context.message_ids if id_ in by_id]
        evidence = [by_id[id_].speaker for id_ in gold.evidence if id_ in by_id]
        if len(asked) == 1:
            found = [by_id[id_].speaker for id_ in gold.evidence if id_ in set(shown_ids)]
            columns["person@budget"] = _share(self.is_of(asked[0], id_) for id_ in shown_ids)
            if gold.answer is not None:  # else what is found is the trap: another's fact
                columns["other@budget"] = _share(speaker != asked[0] for speaker in found)
        answers = [answer for answer in (gold.answer, *gold.accept) if answer]
        lines = [line for line in context.text.splitlines() if not line.startswith(_DAY)]
        told = [line for line in lines if tells or line.startswith(_TOLD)]
        holding = [line for line in told if holds_gold(line, answers, question=question)]
        if holding and evidence:
            right = {*evidence, *asked}
            named = [set(self.named(line)) for line in holding]
            columns["named@budget"] = _share(bool(each & right) for each in named)
            columns["misnamed@budget"] = _share(bool(each) and not each & right for each in named)
        return columns


def _parts(names: Iterable[str]) -> list[str]:
    """The words of names, folded, each once."""
    return list(dict.fromkeys(fold_word(part) for name in names for part in parts(name)))


def _share(marks: Iterable[bool]) -> float | None:
    all_marks = list(marks)
    return sum(all_marks) / len(all_marks) if all_marks else None
