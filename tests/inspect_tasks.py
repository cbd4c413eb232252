"""An Inspect task, run in this process against a local server, and its log read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judge_server import Call, JudgeServer, Rule

__all__ = ["evaluated"]


def evaluated(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rule: Rule,
    /,
    **arguments: Any,
) -> tuple[Any, list[Call]]:
    """The log of one of our tasks whose model answers by the rule, and every call it got."""
    from inspect_ai import eval
    from inspect_ai.log import read_eval_log
    from inspect_ai.model import get_model

    from realtalk import tasks

    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with JudgeServer(rule) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        (log,) = eval(
            getattr(tasks, name)(**arguments),
            # Not the model of another test: its address is another one.
            model=get_model("openai-api/local/tiny", memoize=False),
            max_retries=0,
            log_dir=str(tmp_path),
            display="none",
            log_realtime=False,
            ctl_server=False,
        )
        return read_eval_log(log.location), server.calls
