"""What a model is asked: within a budget, from the sample alone, by files one can replace; names of
protocols, and what a table made by one must say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from realtalk.encoders.tokens import count_tokens
from realtalk.threads.asking import load_prompts, prompt
from realtalk.threads.sampling import Draw
from realtalk.threads.values import (
    CLEAN,
    LEAKS,
    PROTOCOLS,
    RELEASED,
    SETTINGS,
    TASKS,
    Protocol,
    describe,
    protocol,
)
from refusals import refused
from samples import read_sample
from text_tables import cases
from thread_trees import small_forum


def test_sections_stand_where_the_setting_has_them() -> None:
    samples = Draw("sentiment").samples(small_forum())
    place = next(n for n, target in enumerate(samples.targets) if target.key == "fence/f6")
    both = prompt(samples.of("p-conv")[place])
    assert "theo: Tar it may be" in both and "- Torch it is, thank you" in both
    assert both.index("<history>") < both.index("<discussion>") < both.index("<comment>")
    assert "theo: Fence paint — Which paint for a pine fence" in both
    alone = prompt(samples.of("p-nonconv")[place])
    assert "<discussion>" not in alone and "<history>" in alone
    assert "Tar smells for a year" in alone


def test_the_wording_is_the_same_for_a_stranger() -> None:
    samples = Draw("impact").samples(small_forum())
    own, other = samples.of("p-conv")[-1], samples.of("np-conv")[-1]
    assert own.history != other.history
    assert prompt(own) == prompt(replace(other, history=own.history, setting="p-conv"))


@pytest.mark.parametrize("rules", [protocol(shots=2, with_scores=True), RELEASED])
@pytest.mark.parametrize("task", TASKS)
def test_a_budget_is_kept_and_used(rules: Protocol, task: str) -> None:
    corpus = read_sample("sample-threads")
    samples = Draw(task, rules, limit=4, train_limit=1).samples(corpus)
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
    samples = Draw("sentiment", protocol(shots=1)).samples(corpus)
    long = [each for each in samples.of("p-conv", "test") if len(each.conversation) > 3]
    assert long
    for sample in long:
        small = prompt(sample, 330)
        assert f"\n{sample.conversation[-1].author}: " in small
        for line in small.partition("<examples>")[2].partition("</examples>")[0].splitlines():
            assert not line or line.endswith(("→ positive", "→ negative"))


def test_too_small_a_budget_says_what_is_needed() -> None:
    sample = Draw("impact").samples(small_forum()).of("p-conv")[-1]
    with refused("allow at least") as caught:
        prompt(sample, 20)
    needed = int(str(caught.value).rpartition(" ")[2].replace(",", ""))
    assert count_tokens(prompt(sample, needed)) <= needed


def test_a_folder_replaces_prompts(tmp_path: Path) -> None:
    (tmp_path / "next_text.md").write_text("As {user}: {examples}{history}{conversation}!")
    prompts = load_prompts(tmp_path)
    assert prompts.version.startswith("sha256:") and load_prompts().version == "1"
    sample = Draw("next_text").samples(small_forum()).of("np-nonconv")[0]
    assert prompt(sample, prompts=prompts).startswith("As theo:")
    (tmp_path / "impact.md").write_text("What is it worth?")
    with refused("does not show the examples"):
        load_prompts(tmp_path)


# --- protocols ---


def test_names() -> None:
    assert CLEAN.name == "clean" and RELEASED.name == "released"
    assert [protocol(name) for name in PROTOCOLS] == [CLEAN, RELEASED]
    assert protocol(leaks=("sign-shown",)).name == "clean+sign-shown"
    both = protocol(leaks=("sign-shown", "flat-tree"))
    assert both == protocol(leaks=("flat-tree", "sign-shown"))
    assert protocol(leaks=tuple(LEAKS)).name == "released"


def test_a_table_says_what_was_shown() -> None:
    assert not any("scores" in line for line in describe(CLEAN))
    assert any("later than any cutoff" in line for line in describe(protocol(with_scores=True)))
    assert any("nothing from then or later" in line for line in describe(CLEAN))
    assert not any("nothing from then or later" in line for line in describe(RELEASED))
    assert sum(line.startswith("leak ") for line in describe(RELEASED)) == len(LEAKS)
    assert protocol(with_scores=True).settings["with_scores"] is True
    assert protocol(leaks=("scores-shown",)).shows_scores


@cases("""
    given                    | said
    {"name": "relased"}      | unknown-protocol
    {"leaks": ["sign"]}      | unknown-leak
    {"split": "gobal"}       | unknown-split
    {"chosen": "nearest"}    | unknown-choice
    {"test_share": 1.0}      | protocol
    {"least": 0}             | protocol
    {"shots": -1}            | protocol
    {"conversation": 0}      | protocol
""")
def test_wrong_settings_are_refused(given: dict[str, Any], said: str) -> None:
    with refused(said):
        protocol(**given)
