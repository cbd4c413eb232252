"""What a model wrote on another machine → a simulator that gives it back, to be scored here.

    {"simulator": "tuned", "prompt_version": "1", "context": {"context_sessions": 3, …},
     "chats": {"Mara": ["Chat_1_Mara_Theo", "Chat_2_Mara_Juno"]}, "settings": {…}}
    {"speaker": "Mara", "id": "Chat_2_Mara_Juno#14", "text": "lol no", "tokens_in": 812, …}

The first line says how the rest was made; `prepare` refuses rows that were made for another
chat, other contexts or another wording. Names and quotes around a message are taken off here,
as for every other model.

    MatchedSimulator(rows=Path("untuned.jsonl"), to=Path("tuned.jsonl")).solve(prompts)
    untuned "Oh no, that sounds terrible! I am so sorry", tuned "oh no"   → "Oh no,"

A model that learns when to stop writes turns of the right length, and much that is counted rewards
that alone. With both sides cut to the words of the shorter, turn by turn, only the content differs:
compare `rows=A to=B` with `rows=B to=A`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost, Settings
from realtalk.files.progress import Progress, silent
from realtalk.persona.prompting import PROMPT_VERSION, read_message
from realtalk.persona.values import Learning, TurnPrompt


class WrittenSimulator:
    """Rows of a file. Its name is that of the simulator that wrote them."""

    def __init__(self, *, rows: Path) -> None:
        self._path = Path(rows)
        try:
            data = self._path.read_bytes()
            head, *lines = [json.loads(line) for line in data.decode().split("\n") if line]
            self.head: dict[str, Any] = dict(head)
            self._rows = {(row["speaker"], row["id"]): row for row in lines}
            self.name = str(self.head["simulator"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RealtalkError(
                "not a file of written turns",
                where=str(self._path),
                fix="make it with research/experiments/persona_run.py",
            ) from error
        self.version = f"prompts {self.head.get('prompt_version')}"
        self._hash = hashlib.sha256(data).hexdigest()

    @property
    def settings(self) -> Settings:
        made_with = dict(self.head.get("settings", {})).items()
        plain = {key: value for key, value in made_with if isinstance(value, str | int | float)}
        return {**plain, "rows_sha256": self._hash}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:  # noqa: ARG002
        chats = dict(self.head.get("chats", {}))
        if learning.speaker not in chats:
            raise RealtalkError(
                f"nothing was written for {learning.speaker}", where=str(self._path)
            )
        for what, there, here in (
            ("wording of the prompt", self.head.get("prompt_version"), PROMPT_VERSION),
            ("context", self.head.get("context"), dict(learning.settings)),
            ("chat to learn from", chats[learning.speaker][0], learning.chat.id),
        ):
            if there != here:
                raise RealtalkError(
                    f"written with another {what}: {there}, not {here}", where=str(self._path)
                )

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        answers: list[Answer[str]] = []
        for prompt in shown:
            if (row := self._rows.get((prompt.speaker, prompt.id))) is None:
                answers.append(Answer(None, "not written"))
                continue
            cost = Cost(**{name: int(row.get(name, 0)) for name in ("tokens_in", "tokens_out")})
            answers.append(replace(read_message(str(row["text"]), prompt), cost=cost))
        return answers


_WORD = re.compile(r"\S+")


class MatchedSimulator:
    """Rows of one file, cut to the words of another's."""

    def __init__(self, *, rows: Path, to: Path) -> None:
        self._own = WrittenSimulator(rows=rows)
        self._other = WrittenSimulator(rows=to)
        self.name = f"{self._own.name} matched"
        self.version = self._own.version

    @property
    def settings(self) -> Settings:
        return {**self._own.settings, "to_rows_sha256": self._other.settings["rows_sha256"]}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self._own.prepare(learning, progress)
        self._other.prepare(learning, progress)

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        own, matches = (side.solve(shown, progress) for side in (self._own, self._other))
        answers = []
        for answer, match in zip(own, matches, strict=True):
            if answer.value is None:
                answers.append(answer)
            elif match.value is None:
                answers.append(Answer(None, "nothing to match", answer.cost))
            else:
                words = list(_WORD.finditer(answer.value))[: len(match.value.split())]
                answers.append(replace(answer, value=answer.value[: words[-1].end()]))
        return answers
