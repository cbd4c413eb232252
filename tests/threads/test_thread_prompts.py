"""What a model is asked: within a budget, from the sample alone, by files one can replace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from realtalk.encoders.tokens import count_tokens
from realtalk.threads.asking import load_prompts, prompt
from realtalk.threads.sampling import make_samples
from realtalk.threads.values import RELEASED, SETTINGS, TASKS, Protocol, protocol
from refusals import refused
from samples import read_sample
from thread_trees import small_forum


def test_sections_stand_where_the_setting_has_them() -> None:
    samples = make_samples(small_forum(), "sentiment")
    place = next(n for n, target in enumerate(samples.targets) if target.key == "fence/f6")
    both = prompt(samples.of("p-conv")[place])
    assert "theo: Tar it may be" in both and "- Torch it is, thank you" in both
    assert both.index("<history>") < both.index("<discussion>") < both.index("<comment>")
    assert "theo: Fence paint — Which paint for a pine fence" in both
    alone = prompt(samples.of("p-nonconv")[place])
    assert "<discussion>" not in alone and "<history>" in alone
    assert "Tar smells for a year" in alone


def test_the_wording_is_the_same_for_a_stranger() -> None:
    samples = make_samples(small_forum(), "impact")
    own, other = samples.of("p-conv")[-1], samples.of("np-conv")[-1]
    assert own.history != other.history
    assert prompt(own) == prompt(replace(other, history=own.history, setting="p-conv"))


@pytest.mark.parametrize("rules", [protocol(shots=2, with_scores=True), RELEASED])
@pytest.mark.parametrize("task", TASKS)
def test_a_budget_is_kept_and_used(rules: Protocol, task: str) -> None:
    corpus = read_sample("sample-threads")
    samples = make_samples(corpus, task, protocol=rules, limit=4, train_limit=1)
    for setting in SETTINGS:
        for sample in samples.of(setting):
            whole = prompt(sample)
            for budget in (300, 600, 10**6):
                fitted = prompt(sample, budget)
                assert count_tokens(fitted) <= budget
            assert fitted == whole
            if count_tokens(whole) > 900:
                assert count_tokens(prompt(sample, 600)) > 450


def test_the_parent_and_the_answer_of_an_example_stay_longest() -> None:
    corpus = read_sample("sample-threads")
    samples = make_samples(corpus, "sentiment", protocol=protocol(shots=1))
    long = [each for each in samples.of("p-conv", "test") if len(each.conversation) > 3]
    assert long
    for sample in long:
        small = prompt(sample, 330)
        assert f"\n{sample.conversation[-1].author}: " in small
        for line in small.partition("<examples>")[2].partition("</examples>")[0].splitlines():
            assert not line or line.endswith(("→ positive", "→ negative"))


def test_too_small_a_budget_says_what_is_needed() -> None:
    sample = make_samples(small_forum(), "impact").of("p-conv")[-1]
    with refused("allow at least") as caught:
        prompt(sample, 20)
    needed = int(str(caught.value).rpartition(" ")[2].replace(",", ""))
    assert count_tokens(prompt(sample, needed)) <= needed


def test_a_folder_replaces_prompts(tmp_path: Path) -> None:
    (tmp_path / "next_text.md").write_text("As {user}: {examples}{history}{conversation}!")
    prompts = load_prompts(tmp_path)
    assert prompts.version.startswith("sha256:") and load_prompts().version == "1"
    sample = make_samples(small_forum(), "next_text").of("np-nonconv")[0]
    assert prompt(sample, prompts=prompts).startswith("As theo:")
    (tmp_path / "impact.md").write_text("What is it worth?")
    with refused("does not show the examples"):
        load_prompts(tmp_path)
