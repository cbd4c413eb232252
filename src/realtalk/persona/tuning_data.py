"""Chat messages and replies → token ids, held-out turns, and batches without padding waste.

    writer = Writer(tokenizer)
    writer.prompt([{"role": "user", "content": "You are Mara …"}])       → (1, 4093, 198, …)
    writer.example("Chat_1#14", messages, "lol no")    → Example("Chat_1#14", (1, …), (2045, …, 2))
    updates(examples, per_update=16, seed=0, epoch=1)  → [[3, 17, 8, …], …]   # places
    micro_batches([812, 790, 1501], most=2048)         → [[0, 1], [2]]        # places

A prompt is written by the tokenizer's chat template where it has one, else as plain text that
ends in "Reply:". A reply ends with the template's end of turn. Prompt and reply are tokenized
apart, so that a reply begins at the same token in training as in generation. The order of
epoch n depends on seed and n alone: a stopped training finds its place again.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from realtalk.errors import RealtalkError

__all__ = ["Example", "Message", "Writer", "digest", "held_out", "micro_batches", "updates"]

Message = dict[str, str]

# Turns that differ by less than this share of their length change places by chance: most of a
# chat's prompts fill their budget, and an update should not always hold the same ones.
_ALIKE = 0.05


@dataclass(frozen=True, slots=True)
class Example:
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
        text = self._rendered(messages) if self.way == "chat" else _plain(messages)
        return self._ids(text, special=self.way == "plain")

    def example(self, id_: str, messages: Sequence[Message], reply: str) -> Example:
        return Example(id_, self.prompt(messages), self.reply(reply))

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
        ends = {self.end[-1]}
        if self._tokenizer.eos_token_id is not None:
            ends.add(self._tokenizer.eos_token_id)
        return frozenset(ends)

    def _rendered(self, messages: Sequence[Message], *, ask: bool = True) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=ask
            )
        )

    def _ids(self, text: str, *, special: bool) -> tuple[int, ...]:
        # A chat template writes the first mark itself; plain text gets it from the tokenizer.
        return tuple(self._tokenizer(text, add_special_tokens=special)["input_ids"])

    def _end(self) -> tuple[int, ...]:
        """What the chat template puts after a reply, up to its first mark."""
        marks = set(self._tokenizer.all_special_ids)
        if self.way == "chat":
            asked: list[Message] = [{"role": "user", "content": "x"}]
            whole = self._rendered([*asked, {"role": "assistant", "content": "reply"}], ask=False)
            after = self._ids(whole.rpartition("reply")[2], special=False)
            for place, token in enumerate(after):
                if token in marks:
                    return after[: place + 1]
        if self._tokenizer.eos_token_id is None:
            raise RealtalkError(
                "the tokenizer has no end of text", fix="set its eos_token and save it again"
            )
        return (self._tokenizer.eos_token_id,)


def _plain(messages: Sequence[Message]) -> str:
    return "\n\n".join([*(each["content"] for each in messages), "Reply:"])


def held_out(examples: Sequence[Example], share: float) -> tuple[list[Example], list[Example]]:
    """(to learn from, held out): the last turns are held out, at least one where there are two."""
    if not 0 <= share < 1:
        raise RealtalkError(f"the held-out share must be from 0 to below 1, not {share}")
    count = round(len(examples) * share)
    if share and len(examples) > 1:
        count = max(1, count)
    cut = len(examples) - count
    return list(examples[:cut]), list(examples[cut:])


def updates(examples: Sequence[Example], per_update: int, seed: int, epoch: int) -> list[list[int]]:
    """The places of the examples of every weight update of an epoch, alike in length."""
    rng = random.Random(f"{seed} {epoch}")
    sizes = [len(example) * rng.uniform(1, 1 + _ALIKE) for example in examples]
    order = sorted(range(len(examples)), key=lambda place: sizes[place])
    groups = [order[at : at + per_update] for at in range(0, len(order), per_update)]
    rng.shuffle(groups)
    return groups


def micro_batches(lengths: Sequence[int], most: int) -> list[list[int]]:
    """Places of similar length together; a batch with its padding is at most `most` tokens."""
    order = sorted(range(len(lengths)), key=lambda place: (-lengths[place], place))
    batches: list[list[int]] = []
    for place in order:
        # The first of a batch is its longest, and so its width.
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= most:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches


def digest(examples: Sequence[Example]) -> str:
    """What the examples are, for a training that goes on to know its own."""
    found = hashlib.sha256()
    for example in examples:
        found.update(f"{example.id}\t{example.prompt}\t{example.reply}\n".encode())
    return found.hexdigest()
