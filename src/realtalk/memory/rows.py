"""One question asked of one memory with one budget, as a row of a run.

    {"sample": "Q3", "group": "Chat_1", "variant": "1000t", "answer": "3 March 2026",
     "unscored": None, …, "category": "temporal", "question": "When did …?", "gold": "03.03.2026",
     "tokens": 981, "words": 702, "message_ids": ["D1:2", …], "evidence": ["D2:9"],
     "learned": None,
     "ranks": [4], "any@5": 1.0, …, "ndcg@10": 0.43, "recall@budget": 1.0, …,
     "f1": 0.67, "exact": 0.0, "rouge_l_stemmed": 0.67, "date_f1": 1.0, "accepted": 1.0,
     "calls": 0,
     "ranked": ["D1:4", …], "verdict": "ok", "audit_evidence": ["D2:9", "D2:11"], …}

The sample is a question, its group the chat, its variant the budget. `unscored` says why there is
no answer where one was asked for. `learned` names the published set
from which a shipped part of the run learned this question; None where it is new. `unresolved`
counts pieces of the published evidence that name no message: what is found is scored on the
others. `ranks` are the places of the evidence in the memory's own order, from 1, None where it
has none. `ranked` are the first fifty of that order: with them, a row can be scored again by other
golds (`by_audit`). `verdict` and `audit_…` are what the audit says of the question, None where it
does not know it; `accept` are answers that the golds in use accept beside `gold`; `names` are
aliases that an answer may use. Nothing here depends on the machine or the moment: times stand in a
table of their own, so that the same run gives the same rows.

Where the evidence of a question is whole sessions, `evidence` and `ranked` are sessions ("D12"),
each where the first of its messages stands; one is shown where any of its messages is.

A question whose right answer is that the chat does not tell is LoCoMo's `adversarial` category.
LongMemEval marks such questions within its categories: in rows they are `abstention`. Ours, asked
of the wrong person, are `swapped`. Of all these `declined` says whether the answer does, in any
words. `of_another` are answers that are right of another person, whom the words `another` name:
`misattributed` is an answer that says one of them, does not decline and does not name that person.

Who said it: what a memory shows of the person asked about, without a judge.

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

Questions asked of the wrong person, made by rule from those of a corpus.

    swapped(corpus, golds_named("audited"))
    → (Corpus with "What did Tobias adopt?", where it was Ines; Golds("swapped from audited"))

The right answer is that the chat does not tell. One who answers "a kitten" puts what Ines did into
Tobias's mouth. A question is made where all of this holds; it rather makes none than a wrong one:

- the golds have an answer and evidence, and all of the evidence is by the one speaker named;
- it wants more than yes or no, has no he or she, and the answer names nobody of the chat;
- the evidence says no "we" or "both", does not name the other person, and the next thing that
  they say is no "me too";
- the other person's answer is not known: no message by or about them, and no question about
  them, has a word of the answer, or half of the words of the question. Words are stems, without
  those that only join; a picture's caption counts as text.

In a chat of more people it is asked of the first of whom this holds. The evidence stays: it tells
whether the tempting fact was shown, as in LoCoMo's adversarial questions, which are asked as they
are. All other questions are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from realtalk.chat import Chat, Corpus, Question, pack_extra, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.evals.values import COUNTS, Row, Score
from realtalk.formats.audit import AuditedQuestion
from realtalk.formats.questions import known_categories
from realtalk.memory.golds import AUDITED, PUBLISHED, Gold, Golds, audited_gold
from realtalk.memory.index import document_text
from realtalk.memory.values import Context, RecalledAnswer
from realtalk.metrics.answers import (
    ABSTAINING,
    SWAPPED,
    content,
    date_f1,
    holds_gold,
    is_abstention,
    is_polar,
    matches_gold,
    question_words,
    score_answer,
)
from realtalk.metrics.retrieval import MESSAGES, NDCG_AT, found_among, score_ranking
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


_GENDERED = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
_SHARED = re.compile(r"\b(?:we|us|our|ours|both|together)\b", re.IGNORECASE)
_ALSO = re.compile(
    r"\b(?:me (?:too|neither|either)|same|likewise|so (?:do|did|am|was|have) i|i (?:also|too))\b",
    re.IGNORECASE,
)
_OF_ANOTHER, _ANOTHER, _LOCOMO = "of_another", "another", "adversarial_answer"


def swapped(corpus: Corpus, golds: Golds) -> tuple[Corpus, Golds]:
    """The corpus with such questions alone, and the golds that they are scored by."""
    chats = tuple(replace(chat, questions=tuple(_questions(chat, golds))) for chat in corpus.chats)
    if not any(chat.questions for chat in chats):
        raise RealtalkError(
            "no question here can be asked of another person",
            where=corpus.name,
            fix="it takes questions with evidence that name one speaker",
        )
    name = SWAPPED if golds.name == PUBLISHED else f"{SWAPPED} from {golds.name}"
    return replace(corpus, chats=chats), Golds(name)


def of_another(people: People, question: Question) -> tuple[list[str], str]:
    """The answers that are right of another person, and the words that name that person."""
    if not any(key in question.extra for key in (_OF_ANOTHER, _LOCOMO)):
        return [], ""
    extra = unpack_extra(question.extra)
    if _OF_ANOTHER in extra:
        return list(extra[_OF_ANOTHER]), str(extra[_ANOTHER])
    asked = people.named(question.text)
    others = " ".join(people.words[who] for who in people.chat.speakers if who not in asked)
    return ([str(extra[_LOCOMO])] if extra.get(_LOCOMO) else []), others


def _questions(chat: Chat, golds: Golds) -> Iterator[Question]:
    people = People(chat)
    scored_by = golds.of(chat)
    for question in chat.questions:
        if question.category in ABSTAINING:
            if of_another(people, question)[0]:
                yield question
        elif question.id in scored_by:
            yield from _asked_of_another(people, question, scored_by[question.id])


def _asked_of_another(people: People, question: Question, gold: Gold) -> Iterator[Question]:
    chat, text = people.chat, question.text
    evidence = [chat.by_id[id_] for id_ in gold.evidence if id_ in chat.by_id]
    speakers = {message.speaker for message in evidence}
    asked = people.named(text)
    if (
        not gold.answer
        or len(asked) != 1
        or speakers != set(asked)
        or gold.unresolved
        or is_polar(text)
        or _GENDERED.search(text)
        or people.named(gold.answer)
        or any(_SHARED.search(message.text) for message in evidence)
    ):
        return
    (person,) = asked
    for other in chat.speakers:
        renamed = _rename(people, text, person, other)
        if people.named(renamed) != (other,) or _may_know(people, other, text, gold):
            continue
        extra = {_OF_ANOTHER: [gold.answer, *gold.accept], _ANOTHER: people.words[person]}
        id_, asked_on = f"{question.id}-{SWAPPED}", question.asked
        new = Question(id_, renamed, None, SWAPPED, gold.evidence, asked=asked_on)
        yield replace(new, extra=pack_extra(extra))
        return


def _rename(people: People, text: str, person: str, other: str) -> str:
    names = [*people.chat.names_of(person), *people.words[person].split()]
    longest = sorted(filter(None, names), key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)"
    return re.sub(pattern, lambda _: other, text, flags=re.IGNORECASE)


def _may_know(people: People, who: str, text: str, gold: Gold) -> bool:
    """Whether something in the chat might answer the question for another person, too."""
    names = frozenset(word for words in people.words.values() for word in question_words(words, ()))
    asked = question_words(text, ()) - names
    answered = content(gold.answer or "", question=asked).words
    texts = [each.text for each in people.chat.questions if people.is_named(who, each.text)]
    messages = people.chat.messages
    for at, message in enumerate(messages):
        if message.id in gold.evidence:
            reply = next((each.text for each in messages[at:] if each.speaker == who), "")
            if people.is_of(who, message.id) or _ALSO.search(reply):
                return True
        elif people.is_of(who, message.id):
            texts.append(document_text(message))
    known = (content(each).words for each in texts)
    return any(words & answered or 2 * len(words & asked) >= len(asked) for words in known)


# 2: both ends of a date range count; LongMemEval's abstentions are scored as such.
# 3: `accepted`, and what another set of golds needs to score the row.
# 4: ROUGE-L says in its name that it stems; the formula is the same.
SCORING_VERSION = "4"
_ABSTENTION = "abstention"
RIGHT = 0.5  # of date-aware F1: what is below is worth reading
EMPTY = "empty answer"
NO_TRUTH = "the question has no true answer"

ANSWER_SCORES = ("f1", "exact", "rouge_l_stemmed", "date_f1", "accepted")
RANK_SCORES = (
    *(f"{what}@{k}" for k in MESSAGES for what in ("any", "all", "recall")),
    f"ndcg@{NDCG_AT}",
)
BUDGET_SCORES = ("any@budget", "all@budget", "recall@budget")
ASKED_SCORES = ("declined", "misattributed")
AUDIT_COLUMNS = ("verdict", "audit_answer", "audit_accept", "audit_evidence", "audit_why")
_KEPT = max(MESSAGES)  # of a ranking: no score looks further
_IN_ORDER = "evidence in the memory's own order"
_IN_CONTEXT = "evidence in the context"
_SHOWN = frozenset(
    {
        *("any@5", "all@5", "recall@5", "recall@10", "recall@20", "all@20", "recall@50", "ndcg@10"),
        *("all@budget", "recall@budget", *ANSWER_SCORES),
    }
)
_TESTED = frozenset(
    {*ANSWER_SCORES, "any@5", "recall@20", "ndcg@10", "recall@budget", "all@budget"}
)


def _score(name: str, table: str) -> Score:
    # A mean of 0 or 1 over a few questions is as uncertain as any other: all are proportions.
    is_shown, tested = name in _SHOWN, name in _TESTED
    return Score(name, name, proportion=True, table=table, shown=is_shown, tested=tested)


_BY_GOLDS = (
    *(_score(name, _IN_ORDER) for name in RANK_SCORES),
    *(_score(name, _IN_CONTEXT) for name in BUDGET_SCORES),
    *(_score(name, "answers") for name in ANSWER_SCORES),
)
_AUDITED = {name: f"{name}, {AUDITED}" for name in (score.name for score in _BY_GOLDS)}
# The same answers and rankings by the audited golds; Holm's correction is for each golds apart.
AUDITED_SCORES = tuple(
    replace(score, name=_AUDITED[score.name], title=_AUDITED[score.name], family=AUDITED)
    for score in _BY_GOLDS
)
_BETTER: Mapping[str, Literal[-1, 0, 1]] = {
    "other@budget": 0,
    "misnamed@budget": -1,
    "misattributed": -1,
}
# Who said it: Holm's correction is apart, so that no other p moves.
_WHO = {"who said it": SHOWN_SCORES, "asked of the wrong person": ASKED_SCORES}
SCORES = (
    *_BY_GOLDS,
    *(
        Score(name, name, _BETTER.get(name, 1), proportion=True, family=table, table=table)
        for table, names in _WHO.items()
        for name in names
    ),
)


def category_of(question: Question) -> str:
    """The category that a question is scored by."""
    # Most questions have no extra: nothing is parsed for them.
    marked = "abstention" in question.extra and unpack_extra(question.extra).get("abstention")
    return _ABSTENTION if marked is True else question.category


def may_abstain(corpus: Corpus) -> bool:
    """Whether some question wants no answer: then a reader of all of them must be told."""
    return any(category_of(q) in ABSTAINING for chat in corpus.chats for q in chat.questions)


def row_columns(
    question: Question,
    recalled: RecalledAnswer,
    reason: str,
    gold: Gold,
    audited: AuditedQuestion | None,
    *,
    names: Sequence[str],
    learned: str | None,
    people: People,
    sessions: Mapping[str, str] | None = None,
) -> Row:
    """The columns of a row: the question, what was shown, and how that and the answer score.

    `reason` says why there is no answer. With neither, nobody was asked for one. `sessions` are
    those of the messages, where the evidence is sessions.
    """
    context = recalled.context
    ranked, found = context.ranked, context.message_ids
    if sessions is not None:
        ranked = None if ranked is None else _sessions(ranked, sessions)
        found = _sessions(found, sessions)
        gold = replace(gold, evidence=_sessions(gold.evidence, sessions))
    # Events and notes tell what was said without showing a message: nothing to be found there.
    # A memory that shows messages and had no room for one has found none, which does count.
    own_words = bool(context.text) and not context.message_ids and ranked is None
    tells = context.tells or own_words
    answers, another = of_another(people, question)
    row = {
        "answer": None,
        "unscored": None,
        "category": category_of(question),
        "question": question.text,
        "tokens": context.tokens,
        "words": context.words,
        "message_ids": list(context.message_ids),
        "learned": learned,
        "ranked": None if ranked is None else list(dict.fromkeys(ranked))[:_KEPT],
        "tells": tells,
        "names": list(names),
        "of_another": answers,
        "another": another,
        **people.shown(question.text, context, gold, tells=tells),
        **audit_columns(audited),
        **{f"memory_{name}": getattr(context.cost, name) for name in COUNTS},
    }
    return _score_row(row, gold, ranked, found, recalled.text, reason or None)


def session_names(chat: Chat) -> dict[str, str]:
    """Message ids → what their sessions are called in rows."""
    return {m.id: f"D{session.number}" for session in chat.sessions for m in session.messages}


def _sessions(ids: Sequence[str], sessions: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sessions[id_] for id_ in ids if id_ in sessions))


def _score_row(
    row: Row,
    gold: Gold,
    ranked: Sequence[str] | None,
    shown: Collection[str],
    answer: str | None,
    reason: str | None,
) -> Row:
    """A row by a gold, without scores where that is none; `ranked` is the memory's whole order."""
    wanted = set(gold.evidence)
    scored: Row = {
        **row,
        "gold": gold.answer,
        "accept": list(gold.accept),
        "evidence": list(gold.evidence),
        "unresolved": gold.unresolved,
        **dict.fromkeys((*RANK_SCORES, *BUDGET_SCORES)),
        "ranks": [None] * len(gold.evidence),
        "left_out": [],
        **dict.fromkeys((*ANSWER_SCORES, *ASKED_SCORES)),
    }
    if wanted and ranked is not None:
        place = {id_: rank for rank, id_ in reversed([*enumerate(ranked, 1)])}
        scored |= score_ranking(ranked, wanted)
        scored["ranks"] = [place.get(id_) for id_ in gold.evidence]
    if wanted and not row["tells"]:
        scored |= found_among("budget", len(wanted.intersection(shown)), len(wanted))
    if answer is not None or reason:
        scored |= answered_columns(answer, scored, reason)
    if gold.left_out:
        scored |= {"left_out": [gold.left_out], **dict.fromkeys(ANSWER_SCORES)}
    return scored


def audit_columns(audited: AuditedQuestion | None) -> Row:
    """What the audit says of a question, None where it does not know it."""
    if audited is None:
        return dict.fromkeys(AUDIT_COLUMNS)
    lists = [*audited.accept], [*audited.evidence]
    values = (audited.verdict, audited.answer, *lists, audited.why)
    return dict(zip(AUDIT_COLUMNS, values, strict=True))


def by_audit(row: Row) -> Row:
    """A row as the audit's golds score it; the answer and the ranking are the same."""
    audited = None
    verdict, answer, accept, evidence, why = (row[name] for name in AUDIT_COLUMNS)
    if verdict is not None:
        audited = AuditedQuestion(verdict, answer, tuple(accept), tuple(evidence), why=why)
    gold = audited_gold(row["gold"], audited)
    # A run that is shared has no answers.
    return _score_row(row, gold, row["ranked"], row["message_ids"], row.get("answer"), None)


def audited_columns(row: Row) -> Row:
    """The scores of a row by the audit's golds, each under its own name."""
    audited = by_audit(row)
    return {title: audited[name] for name, title in _AUDITED.items()}


def answered_columns(answer: str | None, row: Row, reason: str | None = None) -> Row:
    """An answer, its scores, and why it has none; `reason` is what is known against it already.

    `row` has the question and the golds.
    """
    if answer is not None and not answer.strip():
        answer, reason = None, reason or EMPTY
    gold, category = row["gold"], row["category"]
    scores: Row = {} if answer is None else dict(score_answer(answer, gold, category))
    if scores:
        is_accepted = matches_gold(
            answer or "",
            gold,
            row["accept"],
            question=row["question"],
            names=row["names"],
            category=category,
        )
        scores["accepted"] = float(is_accepted)
    left_out = [] if answer is None or scores else [NO_TRUTH]
    asked = dict(zip(ASKED_SCORES, _asked_scores(answer, row), strict=True))
    columns = {"answer": answer, "unscored": reason, "left_out": left_out}
    return {**columns, **dict.fromkeys(ANSWER_SCORES), **scores, **asked}


def _asked_scores(answer: str | None, row: Row) -> tuple[float | None, float | None]:
    """Whether an answer declines, and whether it tells another person's fact instead."""
    if answer is None or row["category"] not in ABSTAINING:
        return None, None
    declined = is_abstention(answer, SWAPPED)
    others = row.get("of_another")
    if not others:
        return float(declined), None
    alike = any(date_f1(answer, other, "") >= RIGHT for other in others)
    told = alike or holds_gold(answer, others, question=row["question"])
    names = is_named(row["another"] or "", answer)
    return float(declined), float(told and not declined and not names)


def rescored_columns(row: Row, answer: str | None) -> Row:
    """The columns of a stored row that the present formulas give; what was retrieved stays."""
    category = row["category"]
    if row["sample"].endswith("_abs") and category in known_categories("longmemeval"):
        category = _ABSTENTION
    scored: Row = {}
    if answer is not None and row["left_out"] in ([], [NO_TRUTH]):
        scored = answered_columns(answer, row | {"category": category})
    return {"category": category, **scored}


# What runs of earlier versions lack.
WHO_COLUMNS: Mapping[str, Any] = {"of_another": list[str], "another": str} | dict.fromkeys(
    (*SHOWN_SCORES, *ASKED_SCORES), float
)
# The columns of a question beyond those of every run.
COLUMNS: Mapping[str, Any] = {
    **dict.fromkeys(("category", "question", "gold"), str),
    **dict.fromkeys(("tokens", "words"), int),
    **dict.fromkeys(("message_ids", "evidence", "accept"), list[str]),
    "unresolved": int,
    "learned": str,
    "ranks": list[int],
    **dict.fromkeys(("ranked", "names"), list[str]),
    "tells": bool,
    **dict.fromkeys(("verdict", "audit_answer", "audit_why"), str),
    **dict.fromkeys(("audit_accept", "audit_evidence"), list[str]),
    **dict.fromkeys((*RANK_SCORES, *BUDGET_SCORES, *ANSWER_SCORES), float),
    **WHO_COLUMNS,
    **dict.fromkeys((f"memory_{name}" for name in COUNTS), int),
}
