"""Whatever a provider sends costs its own prompt, nothing bad is kept, and troubles are told; how
many questions are under way, and how often a server is asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

import realtalk as rt
from judge_server import Call, JudgeServer, Reply
from model_faults import FAULTS, PAGE, raw_answer
from realtalk.files.progress import Progress, Trouble, silent
from realtalk.models import asking
from realtalk.models.asking import ModelConfig, Pace, Prompt, ask, per_minute
from realtalk.models.replies import is_blank, readable
from refusals import refused
from text_tables import cases

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_heard", set())


def asked(server: JudgeServer, cache: Path, **options: Any) -> ModelConfig:
    given: dict[str, Any] = {"timeout": 20, "retries": 0, "connections": 1}
    return ModelConfig(
        "openai-api/local/tiny", base_url=server.url, cache=cache, **(given | options)
    )


def replies(
    server: JudgeServer, cache: Path, *texts: str, progress: Progress = silent, **options: Any
) -> dict[str, Any]:
    found: dict[str, asking.Reply] = {}
    ask(prompts_of(*texts), asked(server, cache, **options), found.__setitem__, progress)
    assert set(found) == set(texts)
    return found


def prompts_of(*texts: str) -> list[Prompt]:
    return [Prompt(text, partial(str, text)) for text in texts]


def good(call: Call) -> str:
    return f"an answer to {call.prompt}"


@pytest.mark.parametrize(
    "name",
    # Every third of many here, all of them by `make slow`.
    [pytest.param(name, marks=[pytest.mark.slow] * (at % 3 > 0)) for at, name in enumerate(FAULTS)],
)
def test_a_fault_costs_its_own_prompt(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]

    def rule(call: Call) -> str | Reply:
        return fault.rule(call) if call.prompt == "second" else good(call)

    slow = {"hang", "drip"}
    with JudgeServer(rule) as server:
        # Only what is to time out has little time: a busy machine must not cost the others.
        found = replies(server, tmp_path, "first", "third")
        found |= replies(server, tmp_path, "second", timeout=1 if name in slow else 20)
        assert found["first"].text == "an answer to first"
        assert found["third"].text == "an answer to third"
        hit = found["second"]
        assert hit.reason == (fault.reason or "")
        assert (hit.text is None) == (fault.reason is not None)
        orjson.dumps([hit.text, hit.reason, hit.tokens_in, hit.tokens_out])  # every file holds it
        kept = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert len(kept) == 2 + (fault.reason is None)
        sent = len(server.calls)
        # Nothing bad was kept: the same question is asked again, of a server that is well.
        server.rule = good
        again = replies(server, tmp_path, "first", "second", "third")
    assert len(server.calls) == sent + (fault.reason is not None)
    wanted = hit.text if fault.reason is None else "an answer to second"
    assert (again["second"].text, again["second"].reason) == (wanted, "")


def test_a_page_of_a_captive_portal_is_waited_for(tmp_path: Path) -> None:
    def rule(call: Call) -> str | Reply:
        return Reply(raw=PAGE, content_type="text/html") if call.times < 2 else good(call)

    with JudgeServer(rule) as server:
        assert replies(server, tmp_path, "one")["one"].text == "an answer to one"
        assert len(server.calls) == 3


@cases("""
    fault | timeout | retries | reason
    drip  | 1       | 5       | timeout  # takes its whole limit: two more attempts, not five
    500   | 20      | 2       | provider error (500)  # the client library repeats none by itself
""")
def test_retries_are_bounded(
    fault: object, timeout: int, retries: int, reason: str, tmp_path: Path
) -> None:
    with JudgeServer(FAULTS[str(fault)].rule) as server:
        found = replies(server, tmp_path, "one", timeout=timeout, retries=retries)["one"]
    assert (found.text, found.reason) == (None, reason)
    # On a busy machine the time may be over before a request arrives.
    assert 1 <= len(server.calls) <= 3


def test_what_was_kept_is_used_unless_it_is_bad(tmp_path: Path) -> None:
    """Somebody may have left it to Inspect to keep whatever came, without a look at it."""
    from inspect_ai.model import CachePolicy

    def rule(call: Call) -> str | Reply:
        return raw_answer({"empty": "", "cut": "a \ud83d"}.get(call.prompt, "kept"))

    async def keep_all(server: JudgeServer) -> None:
        policy = CachePolicy(
            expiry=None, per_epoch=False, scopes={"task": "realtalk", "arguments": "{}"}
        )
        model = asking._model(asked(server, tmp_path))
        for text in ("good", "empty", "cut"):
            await model.generate(text, cache=policy)
        await model.api.aclose()

    with JudgeServer(rule) as server:
        with asking._environment(asked(server, tmp_path)):
            asyncio.run(keep_all(server))
        server.rule = good
        found = replies(server, tmp_path, "good", "empty", "cut")
        assert [call.prompt for call in server.calls[3:]] == ["empty"]
        again = replies(server, tmp_path, "empty")
        assert (again["empty"].text, len(server.calls)) == (found["empty"].text, 4)  # is kept, too
    assert found["good"].text == "kept"
    assert found["cut"].text == "a \N{REPLACEMENT CHARACTER}"
    assert found["empty"].text == "an answer to empty"


def test_an_answer_after_a_reminder_is_kept_too(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    prompt = Prompt(
        "one", lambda: "one", lambda text: "" if "yes" in text else "malformed", (" please",)
    )
    with JudgeServer(lambda call: "yes" if "please" in call.prompt else "perhaps") as server:
        for _ in range(2):
            ask([prompt], asked(server, tmp_path), found.__setitem__)
            assert found["one"].text == "yes"
        assert len(server.calls) == 2


def test_one_refused_request_is_not_a_wrong_key(tmp_path: Path) -> None:
    """Nothing was answered yet, and different things go wrong: none of them is the setup."""
    statuses = {"a": 401, "b": 404, "c": 403, "d": 401, "e": 404}

    def rule(call: Call) -> str | Reply:
        return Reply(status=statuses[call.prompt]) if call.prompt in statuses else good(call)

    with JudgeServer(rule) as server:
        found = replies(server, tmp_path, *statuses, "f")
        assert found["f"].text == "an answer to f"
        assert found["a"].reason == "key not accepted (401)"
        kept: list[str] = []
        server.rule = lambda _: Reply(status=401)
        asking._heard.clear()
        with refused("does not accept the key"):
            ask(prompts_of(*"ghij"), asked(server, tmp_path), lambda key, _: kept.append(key))
        assert not kept
        # Of a server that has answered, three such refusals are three failures.
        server.rule = rule
        replies(server, tmp_path, "k")
        server.rule = lambda _: Reply(status=401)
        assert {each.text for each in replies(server, tmp_path, *"lmno").values()} == {None}


def test_the_environment_sets_how_patient_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TIMEOUT", "7"), ("RETRIES", "1"), ("RETRY_WAIT", "0.5")):
        monkeypatch.setenv(f"REALTALK_{name}", value)
    made = ModelConfig("openai/gpt-4o-mini")
    assert (made.timeout, made.retries, made.wait) == (7, 1, 0.5)
    monkeypatch.setenv("REALTALK_RETRIES", "many")
    with refused("REALTALK_RETRIES: 'many' is not a number"):
        ModelConfig("openai/gpt-4o-mini")


def test_texts_that_every_file_holds(tmp_path: Path) -> None:
    with JudgeServer(lambda _: "fine") as server:
        assert replies(server, tmp_path, "so \ud83d")["so \ud83d"].text == "fine"
        assert server.prompts() == ["so \N{REPLACEMENT CHARACTER}"]
    assert readable("a\ud83d\ude00b") == "a\N{GRINNING FACE}b"  # two halves are one character
    assert readable("tab\tand\nend\r\n") == "tab\tand\nend\r\n"
    assert is_blank(readable("\ud83d \u200b\x00")) and not is_blank("\N{GRINNING FACE}")


# Whoever waits is told, not too often


def failing(times: int, reply: Reply) -> Any:
    """Every prompt fails so often, then it is answered."""
    return lambda call: reply if call.times < times else "1 May"


def troubles(rule: Any, cache: Path, prompts: int = 1, **options: Any) -> list[str]:
    told: list[str] = []

    def progress(done: int, total: int, what: str) -> None:
        if isinstance(what, Trouble):
            told.append(what)

    given: dict[str, Any] = {"retries": 3, "wait": 0.001, "connections": 4, **options}
    with JudgeServer(rule) as server:
        replies(server, cache, *map(str, range(prompts)), progress=progress, **given)
        told.append(f"{len(server.calls)} calls")
    return told


def test_a_hang_and_the_pause_that_a_server_asks_for_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "_LONGEST", 1.0)
    soon = Reply(status=429, headers={"Retry-After": "60"})
    told = troubles(failing(1, soon), tmp_path)
    assert told[0] == "the server answers 429 (too many requests), trying again (1 of 3) in 1 s"
    monkeypatch.setattr(asking, "_SLOW", 0.2)
    told = troubles(failing(1, Reply("late", delay=60)), tmp_path / "other", timeout=1)
    assert told[:2] == [
        "the server has not answered for 0 s, still waiting",
        "the server does not answer in time, trying again (1 of 2)",
    ]


def test_many_that_fail_alike_are_told_once(tmp_path: Path) -> None:
    told = troubles(failing(2, Reply(status=500)), tmp_path, prompts=12)
    assert sorted(told[:-1]) == [
        f"the server answers 500, trying again ({at} of 3)" for at in (1, 2)
    ]
    assert told[-1] == "36 calls"
    assert troubles(lambda _: "1 May", tmp_path / "well", prompts=3) == ["3 calls"]


def test_the_command_tells_on_standard_error_alone(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_RETRY_WAIT", "0.001")

    with JudgeServer(failing(3, Reply(status=500))) as server:
        status, out, said = run(
            "probe sample --memory none --reader llm --limit 4 --json --model "
            f"openai-api/local/tiny --base-url {server.url}",
        )
    assert status == 0
    json.loads(out)
    assert "note: the server answers 500, trying again (3 of 5)\n" in said
    assert said.count("trying again") == 6  # of each chat, whose questions are asked together
    heard: list[str] = []  # and Python by its progress
    with JudgeServer(failing(1, Reply(status=502))) as server:
        model = rt.Model("openai-api/local/tiny", base_url=server.url)
        asked_by = partial(rt.probe, "sample", memory="none", model=model, limit=2)
        asked_by(progress=lambda done, total, what: heard.append(what))
    assert "the server answers 502, trying again (1 of 5)" in heard


# --- how many are under way, and how often a server is asked ---


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


@pytest.mark.parametrize("connections", [1, 4])
def test_as_many_are_under_way_as_are_allowed(connections: int, tmp_path: Path) -> None:
    seen = Counting(together=connections)
    with JudgeServer(seen) as server:
        texts = map(str, range(4 * connections))
        found = replies(server, tmp_path, *texts, timeout=60, connections=connections)
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
        for cache, texts in ((tmp_path / "a", "vwxyz"), (tmp_path / "b", "xyz")):
            replies(server, cache, *texts, timeout=60, connections=5, rate="10/s")
    assert len(seen.came) == 8 and not early(seen.came, began, 0.1)


def test_repetitions_wait_for_their_turn(tmp_path: Path) -> None:
    """Also those that the provider's client would send by itself, at once."""
    refusals = (429, 500, 429, 503)
    seen = Counting(refusals=refusals)
    with JudgeServer(seen) as server:
        began = time.monotonic()
        given: dict[str, Any] = {"timeout": 60, "retries": len(refusals), "wait": 0.0}
        found = replies(server, tmp_path, *"xyz", connections=3, rate="10/s", **given)
    assert [reply.text for reply in found.values()] == ["positive"] * 3
    assert len(seen.came) == 3 + len(refusals)
    assert not early(seen.came, began, 0.1)


def test_moments_are_as_far_apart_as_the_rate_says() -> None:
    pace = Pace()
    at = [pace.moment(now, 300) for now in (10.0, 10.0, 10.0, 10.05, 12.0, 12.0)]
    assert at == pytest.approx([10.0, 10.2, 10.4, 10.6, 12.0, 12.2])


def test_rates_are_read() -> None:
    rates = {"300/min": 300, "5/s": 300, " 90 / h ": 1.5, "0.5/s": 30}
    assert {text: per_minute(text) for text in rates} == pytest.approx(rates)
    for text in ("", "300", "0/min", "-1/s", "5/day", "a/min", "5/s/s"):
        with refused("is no rate; write `rate=300/min`"):
            ModelConfig("openai/x", rate=text)


def test_where_no_model_is_asked_a_rate_is_refused() -> None:
    with refused("rate"):
        rt.simulate("sample", simulator="copy", model=rt.Model(rate="5/s"))
