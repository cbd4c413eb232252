"""What a model wrote on another machine → a simulator that gives it back, to be scored here.

    {"simulator": "tuned", "prompt_version": "1", "context": {"context_sessions": 3, …},
     "chats": {"Mara": ["Chat_1_Mara_Theo", "Chat_2_Mara_Juno"]}, "settings": {…}}
    {"speaker": "Mara", "id": "Chat_2_Mara_Juno#14", "text": "lol no", "tokens_in": 812, …}

The first line says how the rest was made; `prepare` refuses rows that were made for another
chat, other contexts or another wording. Names and quotes around a message are taken off here,
as for every other model.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, Cost
from realtalk.files.progress import Progress, silent
from realtalk.persona.prompting import PROMPT_VERSION, read_message
from realtalk.persona.values import Learning, Settings, TurnPrompt


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
        told = {
            key: value
            for key, value in dict(self.head.get("settings", {})).items()
            if isinstance(value, str | int | float | bool)
        }
        return {**told, "rows_sha256": self._hash}

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
        return [self._one(prompt) for prompt in shown]

    def _one(self, prompt: TurnPrompt) -> Answer[str]:
        row = self._rows.get((prompt.speaker, prompt.id))
        if row is None:
            return Answer(None, "not written")
        tokens_in, tokens_out = (int(row.get(name, 0)) for name in ("tokens_in", "tokens_out"))
        cost = Cost(tokens_in=tokens_in, tokens_out=tokens_out)
        return replace(read_message(str(row["text"]), prompt), cost=cost)
