"""Chat messages and replies → token ids.

    writer = Writer(tokenizer)
    writer.prompt([{"role": "user", "content": "You are Mara …"}])       → (1, 4093, 198, …)
    writer.example("Chat_1#14", messages, "lol no")
    → TrainingExample("Chat_1#14", (1, …), (2045, …, 2))

A prompt is written by the tokenizer's chat template where it has one, else as plain text that
ends in "Reply:". A reply ends with the template's end of turn. TurnPrompt and reply are tokenized
apart, so that a reply begins at the same token in training as in generation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from realtalk.errors import RealtalkError

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A prompt and the reply to be learned, as token ids; the loss is on the reply only."""

    id: str
    prompt: tuple[int, ...]
    reply: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.reply)


class Writer:
    """Messages and replies as a tokenizer writes them."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.way = "chat" if getattr(tokenizer, "chat_template", None) else "plain"
        self.end = self._end()

    def prompt(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Everything up to where the reply begins."""
        if self.way == "chat":
            return self._ids(self._rendered(messages), special=False)
        return self._ids("\n\n".join([*(m["content"] for m in messages), "Reply:"]), special=True)

    def example(self, id_: str, messages: Sequence[Message], reply: str) -> TrainingExample:
        return TrainingExample(id_, self.prompt(messages), self.reply(reply))

    def reply(self, text: str) -> tuple[int, ...]:
        """The reply and its end of turn."""
        lead = "" if self.way == "chat" else " "
        return (*self._ids(lead + text.strip(), special=False), *self.end)

    def text(self, ids: Sequence[int]) -> str:
        """Generated ids as text, without the marks."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True)).strip()

    @property
    def stops(self) -> frozenset[int]:
        """The tokens that end a turn."""
        return frozenset({self.end[-1], self._tokenizer.eos_token_id} - {None})

    def _rendered(self, messages: Sequence[Message], *, ask: bool = True) -> str:
        render = self._tokenizer.apply_chat_template
        return str(render(list(messages), tokenize=False, add_generation_prompt=ask))

    def _ids(self, text: str, *, special: bool) -> tuple[int, ...]:
        # A chat template writes the first mark itself; plain text gets it from the tokenizer.
        return tuple(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def _end(self) -> tuple[int, ...]:
        """What the chat template puts after a reply, up to its first mark."""
        if self.way == "chat":
            asked: list[Message] = [{"role": "user", "content": "x"}]
            whole = self._rendered([*asked, {"role": "assistant", "content": "reply"}], ask=False)
            after = self._ids(whole.rpartition("reply")[2], special=False)
            # A tokenizer made from a GGUF names only one mark as special; the others are added.
            added = self._tokenizer.added_tokens_decoder.items()
            marks = {*self._tokenizer.all_special_ids, *(id_ for id_, it in added if it.special)}
            for place, token in enumerate(after):
                if token in marks:
                    return after[: place + 1]
        if self._tokenizer.eos_token_id is None:
            raise RealtalkError(
                "the tokenizer has no end of text", fix="set its eos_token and save it again"
            )
        return (self._tokenizer.eos_token_id,)
