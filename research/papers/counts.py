"""Statistics of the corpora → rows of Table 1, §3, §5.1, Tables 5 and 6.

    corpus_rows({"REALTALK": stats, "LoCoMo": stats}, corpora, days)[0].word    → "agrees"

No model is involved: these come out exactly or the reader of the corpus is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from realtalk.chat import Chat, Corpus
from realtalk.describe.values import CorpusStats
from realtalk.evals.tables import p_value
from realtalk.text.words import words_and_emoji
from research.papers.guidelines import MESSAGES_A_DAY, Day
from research.papers.published import (
    ABBREVIATIONS,
    CHATS,
    SECTION_5_1,
    TABLE_1,
    TABLE_5,
    TABLE_6,
    TEXT_QUESTIONS,
    TEXT_TOTAL,
)
from research.papers.rule import (
    ALPHA,
    Effect,
    ResultRow,
    compare_numbers,
    compare_sentence,
    count_row,
    not_comparable,
    still_dummy,
)

_LOCOMO = 10  # chats that are published
_TARGET = 16_000  # words per chat, Appendix A.2
_COLUMNS = {"turns": "messages", "sessions": "sessions", "tokens": "words"}  # Table 1's: ours


def is_whole(stats: CorpusStats) -> bool:
    """Whether all ten published chats are there: figures over the corpus need them all."""
    return {chat.id for chat in stats.per_chat} == set(CHATS)


def corpus_rows(
    stats: Mapping[str, CorpusStats], corpora: Mapping[str, Corpus], days: Sequence[Day]
) -> list[ResultRow]:
    """Every result of the corpus itself; by the names of Table 1."""
    here = stats["REALTALK"]
    if not is_whole(here):
        known = sum(chat.id in CHATS for chat in here.per_chat)
        reason = f"{known} of the paper's {len(CHATS)} chats are here"
        return [not_comparable("Tables 1, 5, 6, §3, §5.1", "figures of ten chats", reason)]
    return [
        *_table_1(stats),
        *_section_5_1(here),
        _noise(corpora),
        *_section_3(here, days),
        *_table_5(here),
        *_table_6(here),
        *(
            not_comparable(
                where, what, "drawn without numbers; `realtalk stats --figures` has ours"
            )
            for where, what in (
                ("Figure 4", "gaps between speakers"),
                ("Figure 5", "messages in a row"),
            )
        ),
        not_comparable("Table 4", "who took part", "not in the published files"),
    ]


def _table_1(stats: Mapping[str, CorpusStats]) -> Iterator[ResultRow]:
    for name, other in (("REALTALK", "LoCoMo"), ("LoCoMo", "REALTALK")):
        printed, theirs = ([*TABLE_1[key].values()] for key in (name, other))
        where, says = f"Table 1, {name}", _per_chat(printed)
        own = stats.get(name)
        if own is None or (name == "LoCoMo" and len(own.per_chat) != _LOCOMO):
            yield not_comparable(where, says, "its chats are not here whole")
            continue
        means = [own.mean(column) or 0.0 for column in _COLUMNS.values()]
        ours = compare_numbers(printed, means, 1, _per_chat(means))
        yield ResultRow(where, says, ours, compare_numbers(printed, theirs, 1, _per_chat(theirs)))
    yield not_comparable("Table 1, the rest", "eight other corpora", "not read here, or in part")


def _per_chat(numbers: Sequence[float]) -> str:
    messages, sessions, words = numbers
    return f"{messages:,.1f} messages, {sessions:.1f} sessions, {words:,.1f} words per chat"


def _section_5_1(stats: CorpusStats) -> Iterator[ResultRow]:
    gaps, runs = stats.response_gaps, stats.runs
    longest = None if gaps.max is None else gaps.max / 60
    for title, names, values in (
        ("answers", [*SECTION_5_1][:3], (gaps.mean, gaps.median, longest)),
        ("messages in a row", [*SECTION_5_1][3:], (runs.mean, runs.median, runs.max)),
    ):
        printed = [SECTION_5_1[name][0] for name in names]
        text = _three(values) if all(value is not None for value in values) else ""
        ours = compare_numbers(printed, values, 2, text)
        unit = " (minutes, minutes, hours)" if title == "answers" else ""
        yield ResultRow(f"§5.1, {title}", f"{_three(printed)}{unit}", ours)
    days = [chat.days or 0 for chat in stats.per_chat]
    printed_days = [row["days"] for row in TABLE_5.values()]
    ends, ours_ends = ((min(some), max(some)) for some in (printed_days, days))
    text = f"{ours_ends[0]} to {ours_ends[1]} days have a message"
    yield ResultRow(
        "§5.1, days", f"{ends[0]} to {ends[1]}", compare_numbers(ends, ours_ends, None, text)
    )


def _three(values: Sequence[float | None]) -> str:
    mean, middle, most = (value or 0.0 for value in values)
    return f"mean {mean:.2f}, median {middle:.2f}, most {most:.4g}"


def _noise(corpora: Mapping[str, Corpus]) -> ResultRow:
    """Abbreviations of chat per hundred words, people's chats beside LoCoMo's."""
    from scipy import stats

    where, says = "§5.1, noise", "people write typos, abbreviations, slang; models do not"
    if "LoCoMo" not in corpora:
        return not_comparable(where, says, "LoCoMo is not here")
    people, models = (
        [_short_words(chat) for chat in corpora[name].chats] for name in ("REALTALK", "LoCoMo")
    )
    p = float(stats.mannwhitneyu(people, models).pvalue)
    text = (
        f"{fmean(people):.2f} abbreviations in 100 words, LoCoMo {fmean(models):.2f} (p "
        f"{p_value(p)}); typos are not measured"
    )
    effect = Effect(fmean(people) - fmean(models), clear=p < ALPHA)
    return ResultRow(where, says, compare_sentence([effect], text), still_dummy())


def _short_words(chat: Chat) -> float:
    words = [
        word.casefold()
        for message in chat.messages
        for word in words_and_emoji(message.text)
        if word[0].isalnum()
    ]
    return 100 * sum(word in ABBREVIATIONS for word in words) / max(len(words), 1)


def _section_3(stats: CorpusStats, days: Sequence[Day]) -> Iterator[ResultRow]:
    sent = [count for day in days for count in day.messages.values()]
    enough = sum(count >= MESSAGES_A_DAY for count in sent)
    text = f"on {enough} of {len(sent)} days of a speaker; the median day has {median(sent):g}"
    yield ResultRow(
        "§3.1",
        f"at least {MESSAGES_A_DAY} messages by each speaker each day",
        compare_numbers([len(sent)], [enough], None, text),
    )
    here = dict(stats.questions)
    printed = [*TEXT_QUESTIONS.values()]
    ours = [here.get(name, 0) for name in TEXT_QUESTIONS]
    yield ResultRow(
        "§3.2, A.3",
        f"{_sum(printed)} questions, {TEXT_TOTAL} in all",
        compare_numbers(
            printed, ours, None, f"{_sum(ours)}; the printed three add up to {sum(printed)}"
        ),
    )
    reached = sum(chat.words >= _TARGET for chat in stats.per_chat)
    text = f"{reached} of {len(stats.per_chat)}"
    yield ResultRow(
        "A.2",
        f"8 of 10 chats have {_TARGET:,} words",
        compare_numbers([8], [reached], None, text),
    )


def _sum(counts: Sequence[int]) -> str:
    return f"{' + '.join(map(str, counts))} = {sum(counts)}"


def _table_5(stats: CorpusStats) -> Iterator[ResultRow]:
    """Days are those with a message; images those that the published files hold."""
    chats = {chat.id: chat for chat in stats.per_chat}
    for column, ours in {
        "days": [chats[name].days or 0 for name in CHATS],
        "words": [chats[name].words for name in CHATS],
        "words per day": [round(chats[name].words_per_day or 0.0) for name in CHATS],
        "images": [chats[name].images or 0 for name in CHATS],
    }.items():
        printed = [TABLE_5[name][column] for name in CHATS]
        yield count_row(f"Table 5, {column}", _range(printed), printed, ours)
    yield not_comparable("Table 5, topics", "6 to 8", "people counted them; not in the files")
    mean, tokens = fmean(row["words"] for row in TABLE_5.values()), TABLE_1["REALTALK"]["tokens"]
    text = f"Table 1 has {tokens:,.1f}, and so have the files"
    yield ResultRow(
        "Table 5 beside Table 1",
        f"{mean:,.1f} words per chat",
        compare_numbers([mean], [tokens], 1, text),
    )


def _table_6(stats: CorpusStats) -> Iterator[ResultRow]:
    """Events include those whose text is empty, as the table does."""
    chats = {chat.id: dict(chat.questions) | {"events": chat.events} for chat in stats.per_chat}
    for column in TABLE_6[CHATS[0]]:
        printed = [TABLE_6[name][column] for name in CHATS]
        ours = [chats[name].get(column, 0) for name in CHATS]
        yield count_row(f"Table 6, {column.replace('_', '-')}", _range(printed), printed, ours)


def _range(printed: Sequence[int]) -> str:
    return f"{min(printed):,} to {max(printed):,} in {len(printed)} chats"
