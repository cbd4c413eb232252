"""The grammar that the benchmarks share: the default verb, old spellings, stored runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("words", "samples"),
    [
        (("probe", "sample", "--memory", "recent", "--limit", "4"), 4),
        pytest.param(
            ("persona", "sample", "-s", "Mara", "--simulator", "copy", "--limit", "3"),
            3,
            marks=pytest.mark.slow,
        ),
        (("threads", "sample-threads", "--setting", "p-conv", "--limit", "12"), 12),
    ],
)
def test_a_path_is_run_and_the_run_can_be_looked_into(
    run: Any, tmp_path: Path, words: tuple[str, ...], samples: int
) -> None:
    group = words[0]
    status, _, err = run(*words, "--out", "kept")
    assert status == 0, err
    assert (tmp_path / "kept" / "rows.parquet").is_file()
    status, out, err = run(group, "show", "kept")
    assert status == 0, err
    assert "figure" in out and "unscored" in out
    figures = json.loads(run(group, "show", "kept", "--json")[1])
    assert max(row["n"] + row["unscored"] for row in figures) == samples
    status, out, err = run(group, "failures", "kept", "-n", "2")
    assert status == 0, err
    rows = json.loads(run(group, "failures", "kept", "-n", "2", "--json")[1])
    assert len(rows) <= 2 and out.count("\n\n") == len(rows)
    other = "threads" if group == "probe" else "probe"
    status, _, err = run(other, "show", "kept")
    assert status == 2 and "a run of" in err


@pytest.mark.parametrize("group", ["probe", "persona", "threads"])
def test_help_shows_the_default_verb(run: Any, group: str) -> None:
    status, out, _ = run(group, "--help")
    assert status == 0
    assert f"`realtalk {group} run PATH`" in " ".join(out.split())
