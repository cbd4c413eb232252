"""What people get wrong on the command line of `threads`, and broken runs: one clear line."""

from __future__ import annotations

from typing import Any

SAMPLE = "sample-threads"


def one_line(found: tuple[int, str, str], *words: str) -> None:
    status, out, err = found
    assert status == 2
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.strip().splitlines()) == 1
    assert all(word in err for word in words)


def test_a_budget_of_nothing_is_refused(run: Any) -> None:
    one_line(run(f"threads prompt {SAMPLE} 1 --budget 0"), "budget of 0")


def test_a_number_that_no_file_can_hold_is_refused(run: Any) -> None:
    one_line(run("threads", "run", SAMPLE, "--seed", "9" * 20), "too large")


def test_comparing_with_a_setting_where_nothing_was_predicted(run: Any) -> None:
    """`parent` knows nothing without the conversation: strict scores are 0 there, not a crash."""
    words = "-t next_text -p parent --setting all --limit 15"
    assert run(f"threads run {SAMPLE} {words} --out parent")[0] == 0
    (found,) = run("runs compare-variants parent p-nonconv p-conv --json").told["details"].values()
    assert found["strict"]["rouge_1"]["first"] == 0.0
    assert found["strict"]["rouge_1"]["second"] > 0
    assert found["strict"]["rouge_1"]["n"] == 15
    assert found["changes"] == {}  # no reply has a score on both sides


def test_settings_that_cannot_be_compared(run: Any) -> None:
    assert run(f"threads run {SAMPLE} --setting all --limit 20 --out made")[0] == 0
    one_line(run("runs compare-variants made p-conv p-conv"), "not two settings")
    one_line(run("runs compare made"), "compared with another", "--variant A,B")
    two = "runs compare made made"
    one_line(run(f"{two} --variant p-conv,np-conv"), "no rows with the setting p-conv,np-conv")
    assert run(two)[0] == 0
    of_one = run("runs compare made --variant np-conv,p-conv")
    assert of_one == run("runs compare-variants made np-conv p-conv")
    assert of_one[0] == 0
