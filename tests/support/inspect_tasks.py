"""An Inspect task, run in this process against a local server, and its log read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge_server import Call, JudgeServer, Rule


def evaluated(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: Rule,
    /,
    **arguments: Any,
) -> tuple[Any, list[Call]]:
    """The log of one of our tasks whose model answers by the rule, and every call it got."""
    from realtalk import tasks

    return evaluated_task(getattr(tasks, name)(**arguments), tmp_path, monkeypatch, rule)


def evaluated_task(
    task: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: Rule,
    limit: int | None = None,
) -> tuple[Any, list[Call]]:
    """The same of any task."""
    from inspect_ai import eval
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import get_model

    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with JudgeServer(rule) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        (log,) = eval(
            task,
            limit=limit,
            # Not the model of another test: its address is another one.
            model=get_model("openai-api/local/tiny", memoize=False),
            max_retries=0,
            log_dir=str(tmp_path),
            display="log",  # "none" makes all that it does not show, for half a second
            log_realtime=False,
            ctl_server=False,
        )
        return read_eval_log(log.location), server.calls
