"""A reader that answers without a model: the first message that the context shows.

MessageReader().solve([Item(chat, question, context)])   → [Answer("The kiln broke on Friday.")]
"""

from __future__ import annotations

from collections.abc import Sequence

from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.memory.remembering import Item


class MessageReader(PlainSolver):
    name = "message"

    def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:
        return [self._answer(item) for item in shown]

    def _answer(self, item: Item) -> Answer[str]:
        texts = {message.id: message.text for message in item.chat.messages}
        shown = [texts[id_] for id_ in item.context.message_ids if texts.get(id_)]
        return Answer(shown[0]) if shown else Answer(None, "the context shows no message")
