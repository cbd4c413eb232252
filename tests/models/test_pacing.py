"""How many questions are under way at a server, and how often it is asked, by its own count."""

from __future__ import annotations

import threading
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from judge_server import Call, JudgeServer, Reply
from realtalk.models import asking
from realtalk.models.asking import ModelConfig, Pace, Prompt, ask, per_minute
from refusals import refused

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_heard", set())


class Counting:
    """What a server saw: the most requests at once, and when each came."""

    def __init__(self, together: int = 1, refusals: tuple[int, ...] = ()) -> None:
        self.most = 0
        self._refusals = list(refusals)  # the statuses of the first replies
        self.came: list[float] = []
        self.together = together
        self._here = 0
        self._lock = threading.Condition()

    def __call__(self, call: Call) -> Reply:
        with self._lock:
            self.came.append(time.monotonic())
            self._here += 1
            self.most = max(self.most, self._here)
            self._lock.notify_all()
            # Nobody is answered before as many as should be were here at once.
            self._lock.wait_for(lambda: self.most >= self.together, timeout=30)
            self._here -= 1
            status = self._refusals.pop(0) if self._refusals else 200
        soon = {"Retry-After-Ms": "1"}  # as a hurried server asks for
        return Reply("positive", status=status, headers=soon)


def asked_all(url: str, cache: Path, count: int, **options: Any) -> dict[str, asking.Reply]:
    given: dict[str, Any] = {"timeout": 60, "retries": 2, "wait": 0.0, **options}
    asked = ModelConfig("openai-api/local/tiny", base_url=url, cache=cache, **given)
    found: dict[str, asking.Reply] = {}
    prompts = [Prompt(str(n), partial(str, f"question {n}")) for n in range(count)]
    ask(prompts, asked, found.__setitem__)
    return found


@pytest.mark.parametrize("connections", [1, 4])
def test_as_many_are_under_way_as_are_allowed(connections: int, tmp_path: Path) -> None:
    seen = Counting(together=connections)
    with JudgeServer(seen) as server:
        found = asked_all(server.url, tmp_path, 4 * connections, connections=connections)
    assert all(reply.text == "positive" for reply in found.values())
    assert seen.most == connections and len(seen.came) == 4 * connections


def early(came: list[float], began: float, apart: float) -> list[int]:
    """Requests that came before their turn: each can only come later, on however busy a machine."""
    return [place for place, at in enumerate(sorted(came)) if at < began + place * apart]


def test_a_server_is_not_asked_more_often_than_the_rate(tmp_path: Path) -> None:
    """The second call goes on where the first was."""
    seen = Counting()
    with JudgeServer(seen) as server:
        began = time.monotonic()
        asked_all(server.url, tmp_path / "a", 5, connections=5, rate="10/s")
        asked_all(server.url, tmp_path / "b", 3, connections=5, rate="10/s")
    assert len(seen.came) == 8 and not early(seen.came, began, 0.1)


def test_repetitions_wait_for_their_turn(tmp_path: Path) -> None:
    """Also those that the provider's client would send by itself, at once."""
    refusals = (429, 500, 429, 503)
    seen = Counting(refusals=refusals)
    with JudgeServer(seen) as server:
        began = time.monotonic()
        found = asked_all(
            server.url, tmp_path, 3, connections=3, rate="10/s", retries=len(refusals)
        )
    assert [reply.text for reply in found.values()] == ["positive"] * 3
    assert len(seen.came) == 3 + len(refusals)
    assert not early(seen.came, began, 0.1)


def test_moments_are_as_far_apart_as_the_rate_says() -> None:
    pace = Pace()
    at = [pace.moment(now, 300) for now in (10.0, 10.0, 10.0, 10.05, 12.0, 12.0)]
    assert at == pytest.approx([10.0, 10.2, 10.4, 10.6, 12.0, 12.2])
    assert [round(b - a, 6) for a, b in pairwise([pace.moment(0, 6) for _ in range(3)])] == [10, 10]


def test_rates_are_read() -> None:
    rates = {"300/min": 300, "5/s": 300, " 90 / h ": 1.5, "0.5/s": 30}
    assert {text: per_minute(text) for text in rates} == pytest.approx(rates)
    for text in ("", "300", "0/min", "-1/s", "5/day", "a/min", "5/s/s"):
        with refused("is no rate; write `rate=300/min`"):
            ModelConfig("openai/x", rate=text)


def test_where_no_model_is_asked_a_rate_is_refused() -> None:
    with refused("rate"):
        rt.simulate("sample", simulator="copy", model=rt.Model(rate="5/s"))
