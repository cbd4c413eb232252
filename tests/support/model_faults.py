"""What a provider can send instead of an answer, by name: rules for `JudgeServer`.

    with JudgeServer(FAULTS["web page"].rule) as server: …

`reason` is what the row says, None where the reply still is an answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from judge_server import Call, Reply, Rule, completion

SOON = {"Retry-After-Ms": "5"}
PAGE = b"<!DOCTYPE html><html><body><h1>Welcome to Hotel Wi-Fi</h1>Please sign in</body></html>"
TOO_LONG = "the answer is too long to be one"
NO_REPLY = "the server sent no model's reply (a web page, or broken JSON)"


@dataclass(frozen=True)
class Fault:
    rule: Rule
    reason: str | None


def raw_answer(text: str) -> Reply:
    """The text as a model's answer, with JSON's escapes: lone surrogates and controls too."""
    return Reply(raw=json.dumps(completion(text)).encode())


def _body(**changed: Any) -> Reply:
    return Reply(raw=json.dumps({**completion("True"), **changed}).encode())


def _choice(**changed: Any) -> Reply:
    return _body(choices=[{**completion("True")["choices"][0], **changed}])


def _always(reply: Reply | str) -> Rule:
    def rule(_: Call) -> Reply | str:
        return reply

    return rule


_WHOLE = json.dumps(completion("True")).encode()
_EMPTY = "empty answer"
FAULTS: dict[str, Fault] = {
    name: Fault(_always(reply), reason)
    for name, reply, reason in (
        ("lone surrogate", raw_answer("ok \ud83d then"), None),
        ("another model", _body(model="somebody-else"), None),
        ("control characters", raw_answer("a\x00b\x1b[31m\x07c"), None),
        ("counts of another type", _body(usage={"prompt_tokens": "many"}), NO_REPLY),
        (
            "counts beyond all bounds",
            _body(usage={"prompt_tokens": 10**30, "completion_tokens": -5, "total_tokens": 0}),
            None,
        ),
        ("nothing", raw_answer(""), _EMPTY),
        ("white space", raw_answer(" \n\t\u00a0\u200b"), _EMPTY),
        ("surrogates only", raw_answer("\ud83d\ud83d"), _EMPTY),
        ("controls only", raw_answer("\x00\x00\x1b"), _EMPTY),
        ("no choices", _body(choices=[]), _EMPTY),
        ("null content", _choice(message={"role": "assistant", "content": None}), _EMPTY),
        ("an endless answer", raw_answer("word " * 400_000), TOO_LONG),
        ("an endless body", Reply(raw=_WHOLE[:150], endless=True), TOO_LONG),
        ("null choices", _body(choices=None), NO_REPLY),
        ("null message", _choice(message=None), NO_REPLY),
        ("content of another type", _choice(message={"role": "assistant", "content": 5}), NO_REPLY),
        ("choices of another type", _body(choices="True"), NO_REPLY),
        ("choices of numbers", _body(choices=[1]), NO_REPLY),
        ("web page", Reply(raw=PAGE, content_type="text/html"), NO_REPLY),
        ("web page called JSON", Reply(raw=PAGE), NO_REPLY),
        ("no body", Reply(raw=b""), NO_REPLY),
        ("a word", Reply(raw=b'"ok"'), NO_REPLY),
        ("null", Reply(raw=b"null"), NO_REPLY),
        ("a list", Reply(raw=b"[1, 2]"), NO_REPLY),
        ("an object of something else", Reply(raw=b'{"status": "up"}'), NO_REPLY),
        ("an error with status 200", Reply(raw=b'{"error": {"message": "no"}}'), NO_REPLY),
        ("cut JSON", Reply(raw=_WHOLE[: len(_WHOLE) // 2]), NO_REPLY),
        ("deep JSON", Reply(raw=b'{"choices": ' + b"[" * 100_000), NO_REPLY),
        ("not UTF-8", Reply(raw=_WHOLE.replace(b"True", b"\xff\xfe\x80")), NO_REPLY),
        ("NULs", Reply(raw=b"\0" * 5000), NO_REPLY),
        ("bad gzip", Reply(raw=_WHOLE, headers={"Content-Encoding": "gzip"}), NO_REPLY),
        ("400", Reply(status=400), "provider error (400)"),
        ("403", Reply(status=403), "access denied (403)"),
        ("422", Reply(status=422), "provider error (422)"),
        ("429", Reply(status=429, headers=SOON), "rate limited"),
        ("429 without a word when", Reply(status=429), "rate limited"),
        ("500", Reply(status=500, headers=SOON), "provider error (500)"),
        ("502 as a page", Reply(status=502, raw=PAGE, headers=SOON), "provider error (502)"),
        ("503", Reply(status=503, headers=SOON), "provider error (503)"),
        ("418", Reply(status=418), "provider error (418)"),
        ("reset", Reply(reset=True), "no connection"),
        ("hang", Reply("True", delay=60), "timeout"),
        ("drip", Reply(raw=_WHOLE, drip=0.2), "timeout"),
    )
}
