"""Nothing from at or after the cutoff reaches a prompt under `clean`, whatever the trees.

Every post and comment carries a word and a score that nothing else carries, so that a prompt
tells by itself what went into it. Times are few, so that many are equal; some are missing, and
comments may be older than what they answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realtalk.chat import Corpus, Message
from realtalk.errors import RealtalkError
from realtalk.threads.asking import prompt
from realtalk.threads.forest import ticks
from realtalk.threads.sampling import make_samples
from realtalk.threads.values import SETTINGS, TASKS, Case, Protocol, protocol
from thread_trees import forum, said, thread
from tries import tries

WORD = re.compile(r"\bq[a-z]+q\b")
SCORE = re.compile(r"(?<!\d)[1-9]\d{6}(?!\d)")
PEOPLE = (*("mara", "theo", "juno", "ines", "otto", "lale") * 2, "[deleted]", "")


def word(number: int) -> str:
    letters = ""
    while True:
        number, rest = divmod(number, 20)
        letters += "abcdefghijklmnoprstu"[rest]
        if not number:
            return f"q{letters}q"


@dataclass(frozen=True)
class Marked:
    """A corpus, and what each of its words and scores belongs to."""

    corpus: Corpus
    words: dict[str, tuple[str, Message]]  # → thread, message
    scores: dict[str, tuple[str, Message]]


@st.composite
def marked(draw: st.DrawFn) -> Marked:
    words: dict[str, tuple[str, Message]] = {}
    scores: dict[str, tuple[str, Message]] = {}
    threads = []
    number = 0
    for place in range(draw(st.integers(2, 5))):
        messages: list[Message] = []
        title = f"title {word(number)}"
        for at in range(draw(st.integers(3, 14))):
            minute = draw(st.sampled_from((None, *range(3 * at, 3 * at + 12))))
            parent = f"c{draw(st.integers(0, at - 1))}" if at else None
            if at:
                number += 1
            value = 1_000_000 + number
            sign = draw(st.sampled_from((1, -1)))
            who = draw(st.sampled_from(PEOPLE))
            made = said(f"c{at}", who, minute, f"says {word(number)}", sign * value, parent)
            words[word(number)] = scores[str(value)] = (f"t{place}", made)
            messages.append(made)
        number += 1
        threads.append(thread(f"t{place}", *messages, domain="peas", title=title))
    return Marked(forum(*threads), words, scores)


def breaches(found: Marked, sample: Case) -> list[str]:
    """Words and scores in the prompt that it must not hold."""
    text = prompt(sample)
    target = sample.target
    wrong = []
    for mark, known in [
        *((mark, found.words) for mark in WORD.findall(text)),
        *((mark, found.scores) for mark in SCORE.findall(text)),
    ]:
        place, message = known[mark]
        if f"{place}/{message.id}" == target.key:
            if known is found.scores or sample.text is None:
                wrong.append(f"the target's own {mark}")
        elif message.time is None or ticks(message.time) >= ticks(target.time):
            wrong.append(f"{mark} of {place}/{message.id}")
    return wrong


def checked(found: Marked, rules: Protocol) -> list[str]:
    wrong = []
    for task in TASKS:
        try:
            samples = make_samples(found.corpus, task, protocol=rules)
        except RealtalkError as error:
            assert "no reply can be asked about" in str(error)
            continue
        for setting in SETTINGS:
            for sample in samples.of(setting):
                wrong += breaches(found, sample)
                people = {each.author for each in sample.history}
                assert all(each.thread != sample.target.thread for each in sample.history)
                if setting.startswith("p-"):
                    assert people <= {sample.target.user}
                else:
                    assert sample.target.user not in people
                if not rules.shows_scores:
                    solved = {str(abs(int(e.score))) for e in sample.examples if e.score}
                    assert {*SCORE.findall(prompt(sample))} <= solved
    return wrong


@settings(max_examples=tries(60), suppress_health_check=[HealthCheck.too_slow])
@given(
    marked(),
    st.booleans(),
    st.sampled_from(("user", "global")),
    st.integers(0, 2),
    st.integers(1, 3),
)
def test_no_text_or_score_from_the_cutoff_on(
    found: Marked, with_scores: bool, split: str, shots: int, least: int
) -> None:
    rules = protocol(with_scores=with_scores, split=split, shots=shots, least=least)
    assert checked(found, rules) == []
