"""Threads → what there is to predict, and what a model would be asked.

samples("sample-threads").to_json()      counts, and by which rules replies were chosen
prompt("sample-threads", "1")            → the prompt of the first reply; holds what people wrote
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from realtalk.api.choices import Readable, Reading, as_path, as_reading, settings_named
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.threads.sampling import Samples


class ReplyPrompt(str):
    """The prompt of one reply: a text that knows the reply's key and the setting."""

    key: str
    setting: str

    def to_json(self) -> dict[str, str]:
        """The text with what it is the prompt of."""
        return {"key": self.key, "setting": self.setting, "prompt": self}


class SampleCounts:
    """How many replies there are to learn from and to predict."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples

    def tables(self) -> list[tuple[str, Sequence[str], Sequence[Sequence[Any]]]]:
        """Title, headings and rows of each table."""
        from realtalk.threads.sampling import count_tables

        return list(count_tables(self._samples.counts))

    @property
    def rules(self) -> list[str]:
        """By which rules replies were chosen."""
        from realtalk.threads.values import describe

        return list(describe(self._samples.protocol))

    def to_json(self) -> dict[str, Any]:
        """The counts and the rules."""
        from dataclasses import asdict

        protocol = dict(self._samples.protocol.settings)
        return {**asdict(self._samples.counts), "protocol": protocol}


def samples(
    corpus: Readable,
    *,
    task: str = "sentiment",
    protocol: str = "clean",
    leaks: Sequence[str] = (),
    with_scores: bool = False,
    split: str = "user",
    history: str = "recent",
    shots: int = 0,
    limit: int | None = None,
    train_limit: int | None = None,
    seed: int = 0,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> SampleCounts:
    """Count what there is to predict, and by which rules.

    Args:
        corpus: Threads, corpus or sample name.
        task: Task: sentiment, impact or next_text.
        protocol: Rules of the task: clean or released.
        leaks: Leak to let in, for comparison.
        with_scores: Show scores of earlier posts.
        split: What is held out: user or global.
        history: Posts shown: recent or near.
        shots: Examples in the prompt.
        limit: Replies to predict, drawn at random.
        train_limit: Replies to learn from.
        seed: Random seed.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.threads.samples("sample-threads")
        rt.threads.samples("sample-threads", task="impact")
        rt.threads.samples("threads.jsonl", protocol="released")
    """
    from realtalk.threads.sampling import Draw
    from realtalk.threads.values import protocol as protocol_named

    rules = protocol_named(
        protocol,
        leaks=tuple(leaks),
        with_scores=with_scores,
        split=split,
        chosen=history,
        shots=shots,
    )
    draw = Draw(task, rules, limit, train_limit, seed)
    return SampleCounts(draw.samples(as_reading(corpus, reading, progress).tables, progress))


def prompt(
    corpus: Readable,
    reply: str,
    *,
    task: str = "sentiment",
    setting: str = "p-conv",
    budget: int | None = None,
    prompts: str | PathLike[str] | None = None,
    shots: int = 0,
    seed: int = 0,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> ReplyPrompt:
    """Show the prompt of one reply. It holds what people wrote.

    Args:
        corpus: Threads, corpus or sample name.
        reply: Reply: its key or place from 1.
        task: Task: sentiment, impact or next_text.
        setting: Setting: p-conv, p-nonconv, np-conv or np-nonconv.
        budget: Prompt size in tokens.
        prompts: Folder with prompts of your own.
        shots: Examples in the prompt.
        seed: Random seed.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.threads.prompt("sample-threads", "1")
        rt.threads.prompt("sample-threads", "1", task="impact", setting="np-conv")
        rt.threads.prompt("sample-threads", "2", shots=3, budget=2000)
    """
    from realtalk.threads.asking import BUDGET, load_prompts
    from realtalk.threads.asking import prompt as write
    from realtalk.threads.sampling import Draw
    from realtalk.threads.values import protocol

    draw = Draw(task, protocol(shots=shots), seed=seed).samples(
        as_reading(corpus, reading, progress).tables, progress
    )
    test_samples = draw.of(settings_named(setting)[0], "test")
    keys = {target.key: at for at, target in enumerate(draw.part("test"))}
    place = keys.get(reply)
    if place is None and reply.isascii() and reply.isdigit():
        place = int(reply) - 1 if 0 < int(reply) <= len(test_samples) else None
    if place is None:
        raise RealtalkError(
            f"no reply '{reply}' in the test part",
            fix=f"give a key, or a place from 1 to {len(test_samples):,}",
        )
    wording = load_prompts(as_path(prompts))
    sample = test_samples[place]
    text = ReplyPrompt(write(sample, BUDGET if budget is None else budget, wording))
    text.key, text.setting = sample.key, setting
    return text
