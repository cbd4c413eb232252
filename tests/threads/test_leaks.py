"""Each habit of the released code, by its name: on alone over `clean`, and what it lets through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from realtalk.chat import Chat, is_nobody, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.formats.opening import open_reading
from realtalk.threads.asking import prompt
from realtalk.threads.sampling import Samples, make_samples
from realtalk.threads.values import LEAKS, RELEASED, Case, protocol
from thread_trees import forum, said, small_forum, thread


def asked(task: str, *leaks: str, **settings: Any) -> Samples:
    return make_samples(small_forum(), task, protocol=protocol(leaks=leaks, **settings))


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
            found = make_samples(forum(chat), "sentiment", protocol=rules).targets
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
    whole = make_samples(corpus, "sentiment").of("p-conv")[-1]
    assert ids(whole.conversation) == ["p", "c0", "c1", "c2", "c3", "c4"]
    rules = protocol(leaks=("flat-tree",))
    flat = make_samples(corpus, "sentiment", protocol=rules).of("p-conv")[-1]
    assert [(each.id, len(each.text)) for each in flat.conversation] == [("p", 503), ("c4", 103)]
    # The third task does send its tree.
    tree = make_samples(corpus, "next_text", protocol=rules).of("p-conv")[-1]
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
    samples = make_samples(small_forum(), "impact", protocol=RELEASED)
    assert [target.key for target in samples.targets] == ["slugs/s3"]
    found = prompt(samples.of("p-conv")[0])
    assert "expected to be positive" in found and "→ -7" in found and "(score 12)" in found


def chosen_as_released(chat: Chat) -> tuple[str, float] | None:
    """The released rules once more, naively: the reply that is asked about, and its score."""
    post, *replies = chat.messages
    own = [each for each in replies if each.speaker == post.speaker and not each.deleted]
    # Ours also wants the parent to be older, as any target of ours.
    fit = []
    for at, each in enumerate(own):
        parent, score = chat.by_id[each.reply_to or ""], unpack_extra(each.extra)["score"]
        if parent.time and each.time and parent.time < each.time and not parent.deleted:
            fit.append((abs(score), each.time, at, each.id, score))
    if is_nobody(post.speaker) or len(chat.speakers) < 4 or len(own) < 3 or not fit:
        return None
    size, *_, id_, score = max(fit)
    return (id_, score) if size > 3 else None


def test_released_targets_are_those_of_the_rules_on_real_threads(data: Path) -> None:
    corpus = open_reading(data / "reddit" / "persona_like_small.json").reading.corpus
    chosen = {chat.id: chosen_as_released(chat) for chat in corpus.chats}
    expected = {id_: found for id_, found in chosen.items() if found}
    rules = protocol(leaks=("target-by-outcome",), least=1)
    found = make_samples(corpus, "sentiment", protocol=rules).targets
    assert len(expected) > 15
    assert {t.thread: (t.comment, t.score) for t in found} == expected
    positive = sum(score > 0 for _, score in expected.values())
    halved = make_samples(corpus, "sentiment", protocol=RELEASED).targets
    assert len(halved) == len(expected) - positive // 2
