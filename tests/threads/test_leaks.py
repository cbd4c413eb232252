"""Each habit of the released code, by its name: on alone over `clean`, and what it lets through;
and nothing from at or after the cutoff reaches a prompt under `clean`, whatever the trees.

For that every post and comment carries a word and a score that nothing else carries, so that a
prompt tells by itself what went into it. Times are few, so that many are equal; some are missing,
and comments may be older than what they answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from realtalk.chat import Corpus, Message
from realtalk.errors import RealtalkError
from realtalk.threads.asking import prompt
from realtalk.threads.forest import ticks
from realtalk.threads.sampling import Draw, Samples
from realtalk.threads.values import LEAKS, RELEASED, SETTINGS, TASKS, Case, Protocol, protocol
from thread_trees import forum, said, small_forum, thread
from tries import tries


def asked(task: str, *leaks: str, **settings: Any) -> Samples:
    return Draw(task, protocol(leaks=leaks, **settings)).samples(small_forum())


def one(task: str, setting: str, key: str, *leaks: str) -> Case:
    return next(case for case in asked(task, *leaks).of(setting) if case.key == key)


def ids(shown: Any) -> list[str]:
    return [each.id for each in shown]


def test_target_by_outcome() -> None:
    assert len(asked("impact").targets) == 13
    chosen = asked("impact", "target-by-outcome")
    # The post's author alone, and of theirs the largest absolute score: 9 of -7, 2 and 9; -4 of
    # 4, -4 and 8 is not it. Fence has only three people, so the code passes it over.
    assert [target.key for target in chosen.targets] == ["slugs/s3"]
    # Of generated text there is no outcome: the author's last reply.
    last = asked("next_text", "target-by-outcome")
    assert [target.key for target in last.targets] == ["slugs/s8", "fence/f8"]


def test_target_by_outcome_takes_the_latest_of_equals_and_nothing_small() -> None:
    def with_scores(*scores: int) -> list[str]:
        replies = [
            said(f"r{n}", "mara", 10 + n, "reply", score, "o") for n, score in enumerate(scores)
        ]
        chat = thread(
            "t",
            *(said("p", "mara", 0, "post"), said("o", "theo", 1, "hm", 1, "p")),
            *(said("x", "juno", 2, "hm", 1, "p"), said("y", "ines", 3, "hm", 1, "p"), *replies),
        )
        rules = protocol(leaks=("target-by-outcome",), least=1)
        try:
            found = Draw("sentiment", rules).samples(forum(chat)).targets
        except RealtalkError as error:
            assert "no reply can be asked about" in str(error)
            return []
        return [target.comment for target in found]

    assert with_scores(4, -9, 9, 2) == ["r2"]
    assert with_scores(4, -9, 8, 2) == ["r1"]
    assert with_scores(3, -3, 1) == []  # none above 3
    assert with_scores(9, 9) == []  # only two replies


def test_positives_halved() -> None:
    before = [t.score for t in asked("sentiment").targets if t.score is not None]
    after = [t.score for t in asked("sentiment", "positives-halved").targets if t.score is not None]
    assert sorted(score for score in before if score > 0) == [1, 2, 2, 2, 3, 4, 4, 5, 8, 9]
    assert sorted(score for score in after if score > 0) == [4, 4, 5, 8, 9]
    assert sorted(score for score in after if score < 0) == [-7, -5, -4]
    assert len(asked("next_text", "positives-halved").targets) == 13


def test_flat_tree() -> None:
    talk = [said("p", "mara", 0, "x" * 900)]
    for n in range(6):
        who = ("theo", "mara")[n % 2]
        talk.append(said(f"c{n}", who, n + 1, f"{n}" * 300, 1, f"c{n - 1}" if n else "p"))
    corpus = forum(thread("t", *talk))
    whole = Draw("sentiment").samples(corpus).of("p-conv")[-1]
    assert ids(whole.conversation) == ["p", "c0", "c1", "c2", "c3", "c4"]
    rules = protocol(leaks=("flat-tree",))
    flat = Draw("sentiment", rules).samples(corpus).of("p-conv")[-1]
    assert [(each.id, len(each.text)) for each in flat.conversation] == [("p", 503), ("c4", 103)]
    # The third task does send its tree.
    tree = Draw("next_text", rules).samples(corpus).of("p-conv")[-1]
    assert ids(tree.conversation) == ids(whole.conversation)


def test_post_always_shown() -> None:
    leaky = one("sentiment", "p-nonconv", "fence/f6", "post-always-shown")
    assert ids(leaky.conversation) == ["f1"]
    assert one("sentiment", "p-nonconv", "fence/f6").conversation == ()
    text = one("next_text", "np-nonconv", "fence/f6", "post-always-shown")
    assert ids(text.conversation) == ["f1", "f5"]


def test_sign_shown() -> None:
    for key, sign in (("slugs/s4", "negative"), ("slugs/s3", "positive")):
        line = f"expected to be {sign}"
        for setting in ("p-conv", "np-nonconv"):
            assert line in prompt(one("impact", setting, key, "sign-shown"))
            assert "expected to be" not in prompt(one("impact", setting, key))
            assert "expected to be" not in prompt(one("sentiment", setting, key, "sign-shown"))


def test_later_comments() -> None:
    clean = one("sentiment", "p-conv", "slugs/s4")
    leaky = one("sentiment", "p-conv", "slugs/s4", "later-comments")
    assert ids(clean.conversation) == ["s1", "s2"]
    # s6, s8 are later; s5 answers the target and is not shown; the parent stands last.
    assert ids(leaky.conversation) == ["s1", "s3", "s6", "s7", "s8", "s2"]
    assert "get a duck" in prompt(leaky) and "Copper never worked" not in prompt(leaky)


def test_later_history() -> None:
    assert ids(one("sentiment", "p-conv", "slugs/s4").history) == ["f2"]
    leaky = one("sentiment", "p-conv", "slugs/s4", "later-history")
    assert ids(leaky.history) == ["f2", "f6"]


def test_own_thread_only() -> None:
    assert ids(one("sentiment", "p-conv", "slugs/s8").history) == ["f2"]
    leaky = one("sentiment", "p-conv", "slugs/s8", "own-thread-only")
    assert ids(leaky.history) == ["s3", "s4"]
    assert one("sentiment", "p-nonconv", "slugs/s8", "own-thread-only").history == ()
    # Without conversation the third task alone takes other posts, and no comments.
    other = one("next_text", "p-nonconv", "slugs/s8", "own-thread-only", "later-history")
    assert ids(other.history) == []
    theo = one("next_text", "p-nonconv", "slugs/s2", "own-thread-only", "later-history")
    assert ids(theo.history) == ["f1"]


def test_example_by_outcome() -> None:
    clean = one("impact", "p-conv", "slugs/s3")
    leaky = one("impact", "p-conv", "slugs/s3", "example-by-outcome")
    assert clean.examples == ()
    # The next largest score of the thread, written after the target, and its score told.
    assert [(each.key, each.score) for each in leaky.examples] == [("slugs/s4", -7)]
    assert one("impact", "p-nonconv", "slugs/s3", "example-by-outcome").examples == ()
    other = one("impact", "np-conv", "slugs/s3", "example-by-outcome").examples
    assert other and not other[0].key.startswith("slugs/")


def test_scores_shown() -> None:
    assert "score 4" not in prompt(one("impact", "p-conv", "slugs/s3"))
    leaky = one("impact", "p-conv", "slugs/s3", "scores-shown")
    assert [each.score for each in leaky.conversation] == [12, 4]
    assert "(score 4)" in prompt(leaky)


def test_released_is_all_of_them() -> None:
    assert set(RELEASED.leaks) == set(LEAKS) and RELEASED.name == "released"
    samples = Draw("impact", RELEASED).samples(small_forum())
    assert [target.key for target in samples.targets] == ["slugs/s3"]
    found = prompt(samples.of("p-conv")[0])
    assert "expected to be positive" in found and "→ -7" in found and "(score 12)" in found


# --- nothing from the cutoff on, whatever the trees ---


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
            samples = Draw(task, rules).samples(found.corpus)
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
