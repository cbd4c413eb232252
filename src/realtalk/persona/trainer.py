"""Turns as token ids → an adapter's checkpoints and a log, by transformers' Trainer and peft.

    train(base, learned, held_out, Path("mara"), TuneSettings(), last=None, progress=silent)
    → TrainerState: [{"step": 0, "eval_loss": 3.3}, {"step": 1, "epoch": 0.1, "loss": 3.1, …}, …]

Of our own are only an order that wastes little on padding, a held-out loss that is a mean over
tokens and not over batches, checkpoints a minute apart, for their owner alone, and an estimate of
the time, measured on a batch before the first. On a CPU a large model computes its layers twice
instead of keeping what they gave: 0.5B stays within 8 GB. Import it late: it needs the extra
`train`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import peft
import torch
import transformers

from realtalk.cells import duration
from realtalk.files.progress import Progress
from realtalk.files.writing import owner_only
from realtalk.persona.generation import PretrainedModel, TrainingExample
from realtalk.persona.tuning import STATE, Say, TuneSettings

_SAVE_AFTER = 60  # seconds: what a kill may cost, however slow an update is
_IGNORED = -100  # a label that counts for nothing
_ALIKE = 0.05  # share of a length
_LARGE = 250_000_000  # parameters, from which a CPU's memory is the narrow place
_FORWARD = 1 / 3  # of a training step's work, which is all that the held-out turns need


def train(
    base: PretrainedModel,
    learned: Sequence[TrainingExample],
    held_out: Sequence[TrainingExample],
    out: Path,
    settings: TuneSettings,
    last: Path | None,
    progress: Progress,
    say: Say | None = None,
) -> Any:
    """Goes on from the last checkpoint, or begins; returns the Trainer's state at the end."""
    if last is not None:
        state = transformers.TrainerState.load_from_json(str(last / STATE))
        # Stopped between its last checkpoint and its end: the Trainer would take a step more.
        if state.stateful_callbacks["TrainerControl"]["args"]["should_training_stop"]:
            return state
    fitting = max(1, settings.batch_tokens // max(map(len, (*learned, *held_out))))
    shares = (n for n in range(settings.per_update, 0, -1) if settings.per_update % n == 0)
    at_once = next(n for n in shares if n <= fitting)
    updates = -(-len(learned) // settings.per_update) * settings.epochs
    arguments = transformers.TrainingArguments(
        output_dir=str(out),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=at_once,
        gradient_accumulation_steps=settings.per_update // at_once,
        per_device_eval_batch_size=fitting,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=max(1, round(updates * settings.warmup)),
        weight_decay=0.0,
        seed=settings.seed,
        bf16=base.precision == "bf16",
        use_cpu=base.device == "cpu",
        dataloader_pin_memory=base.device != "cpu",
        eval_strategy="epoch" if held_out else "no",
        eval_on_start=bool(held_out) and last is None,
        load_best_model_at_end=bool(held_out),
        save_strategy="epoch",
        save_total_limit=2,  # the last and the best; of one, the Trainer removes the last
        restore_callback_states_from_checkpoint=True,
        logging_steps=1,
        logging_nan_inf_filter=False,
        include_num_input_tokens_seen="all",
        remove_unused_columns=False,
        label_names=["labels"],
        report_to="none",
        disable_tqdm=True,
    )
    arguments._n_gpu = min(1, arguments.n_gpu)  # a batch is not spread over several
    if base.device == "cpu" and base.model.num_parameters() > _LARGE:
        model = base.model  # the method has two names: the second one is gone in transformers 6
        enable = getattr(model, "activation_checkpointing_enable", None)
        (enable or model.gradient_checkpointing_enable)({"use_reentrant": False})
    torch.manual_seed(settings.seed)
    config = peft.LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    trainer = _Trainer(
        model=peft.get_peft_model(base.model, config),  # kept in fp32, whatever the base is in
        args=arguments,
        train_dataset=learned,
        eval_dataset=held_out,
        data_collator=partial(collate, whole=not base.model._supports_logits_to_keep()),
        callbacks=[_Watch(learned, settings, progress)],
    )
    trainer.order = Order([len(example) for example in learned], settings.per_update, settings.seed)
    if held_out:
        trainer.add_callback(transformers.EarlyStoppingCallback(settings.patience))
    trainer.remove_callback(transformers.PrinterCallback)
    if say is not None:
        say(_estimate(trainer, settings, at_once, None if last is None else state))
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    base.model.eval()
    return trainer.state


def _estimate(trainer: _Trainer, settings: TuneSettings, at_once: int, state: Any) -> str:
    """How long it takes at most; of a training that goes on, by the pace that it had."""
    learned: float = sum(map(len, trainer.train_dataset))
    ahead = sum(map(len, trainer.eval_dataset or ())) * _FORWARD
    if state is not None and state.global_step:
        spent = sum(entry.get("seconds", 0.0) for entry in state.log_history)
        share = state.global_step / state.max_steps
        pace = spent / (learned * settings.epochs * share)
        epochs_left = (1 - share) * settings.epochs
        began = f"going on after update {state.global_step:,} of {state.max_steps:,}: "
    else:
        pace, epochs_left, began = _pace(trainer, at_once), settings.epochs, ""
        learned += ahead / settings.epochs  # the held-out turns are also read before the first
    seconds = pace * (learned + ahead) * epochs_left
    return (
        f"{began}about {duration(seconds / 60)} at most, for {settings.epochs} epochs at "
        f"{1 / pace:,.0f} tokens a second here; the held-out loss may stop it earlier"
    )


def _pace(trainer: _Trainer, at_once: int) -> float:
    """Seconds per token of training: a batch of middling turns, whose gradients are thrown away."""
    by_length = sorted(trainer.train_dataset, key=len)
    middle = max(0, len(by_length) // 2 - at_once // 2)
    model = trainer.model.train()
    seconds = 1.0
    measured = by_length[middle : middle + at_once]
    with torch.random.fork_rng():  # dropout draws what it would have drawn
        for batch in (by_length[:1], measured):  # the first is slow: nothing is warm
            inputs = trainer._prepare_inputs(trainer.data_collator(batch))
            began = time.monotonic()
            with trainer.compute_loss_context_manager():
                loss = trainer.compute_loss(model, inputs)
            loss.backward()
            if torch.cuda.is_available():  # it works on while we go on
                torch.cuda.synchronize()
            seconds = time.monotonic() - began
    model.zero_grad(set_to_none=True)
    return max(seconds, 1e-9) / sum(map(len, measured))


def collate(batch: Sequence[TrainingExample], whole: bool = False) -> dict[str, Any]:
    """Rows padded on the right, and labels from where the first reply begins.

    Under causal attention no real token sees the padding, so no mask is needed and the fastest
    attention can run. Logits are made where there are labels, or, for models that cannot leave
    any out, for the `whole` rows.
    """
    width = max(map(len, batch))
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    labels = torch.full_like(ids, _IGNORED)
    for row, example in enumerate(batch):
        ids[row, : len(example)] = torch.tensor((*example.prompt, *example.reply))
        labels[row, len(example.prompt) : len(example)] = torch.tensor(example.reply)
    if whole:
        return {"input_ids": ids, "labels": labels}
    keep = width - min(len(example.prompt) for example in batch) + 1
    return {"input_ids": ids, "labels": labels[:, -keep:], "logits_to_keep": keep}


class Order:
    """The places of an epoch's turns, those of an update alike in length.

    It depends on seed and epoch alone: a stopped training finds its place again.
    """

    def __init__(self, lengths: Sequence[int], per_update: int, seed: int) -> None:
        self._lengths, self._per_update, self._seed, self._epoch = lengths, per_update, seed, 0

    def set_epoch(self, epoch: int) -> None:
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        rng = random.Random(f"{self._seed} {self._epoch}")
        # Turns that differ by little change places: an update should not always hold the same.
        sizes = [length * rng.uniform(1, 1 + _ALIKE) for length in self._lengths]
        order = sorted(range(len(sizes)), key=lambda place: sizes[place])
        count, rest = divmod(len(order), self._per_update)
        at = rng.randrange(count * self._per_update + 1)
        last = [order.pop(at) for _ in range(rest)]  # what fills no update, of any length
        starts = [number * self._per_update for number in range(count)]
        rng.shuffle(starts)
        yield from (place for at in starts for place in order[at : at + self._per_update])
        yield from last


class _Trainer(transformers.Trainer):  # type: ignore[misc]
    order: Order
    control: Any

    def _get_train_sampler(self, *_: Any) -> Order:
        return self.order

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        self.model.eval()
        total = targets = 0.0
        for batch in self.get_eval_dataloader():
            count = float((batch["labels"] != _IGNORED).sum())
            with torch.no_grad(), self.compute_loss_context_manager():
                total += float(self.compute_loss(self.model, batch)) * count
            targets += count
        metrics = {"eval_loss": total / targets}
        self.log(metrics)
        handler = self.callback_handler
        self.control = handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save_checkpoint(self, *given: Any) -> None:
        with owner_only():
            super()._save_checkpoint(*given)


class _Watch(transformers.TrainerCallback):  # type: ignore[misc]
    """Says how far training is, and asks for checkpoints within an epoch."""

    def __init__(
        self, learned: Sequence[TrainingExample], settings: TuneSettings, progress: Progress
    ) -> None:
        self._progress, self._every = progress, settings.checkpoint_every
        self._updates = -(-len(learned) // settings.per_update)
        self._tokens = sum(map(len, learned)) / self._updates
        self._saved = self._since = time.monotonic()

    def on_epoch_begin(self, *_: Any, **__: Any) -> None:
        self._since = time.monotonic()

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
        late = time.monotonic() - self._saved > _SAVE_AFTER
        # At an epoch's end there is one anyway, after the held-out turns were predicted.
        if state.global_step % self._updates and (late or state.global_step % self._every == 0):
            control.should_save = True

    def on_save(self, *_: Any, **__: Any) -> None:
        self._saved = self._since = time.monotonic()

    def on_log(self, _args: Any, state: Any, _control: Any, logs: Any, **_: Any) -> None:
        if "loss" not in logs:
            return
        now = time.monotonic()
        state.log_history[-1]["seconds"] = now - self._since  # survives in the checkpoint
        self._since = now
        seconds = sum(entry.get("seconds", 0.0) for entry in state.log_history)
        rate = self._tokens * state.global_step / max(seconds, 1e-9)
        message = f"loss {logs['loss']:.3f}, {rate:,.0f} tokens/s"
        self._progress(state.global_step, state.max_steps, message)

    def on_evaluate(self, _args: Any, state: Any, _control: Any, metrics: Any, **_: Any) -> None:
        message = f"held-out loss {metrics['eval_loss']:.3f}"
        self._progress(state.global_step, state.max_steps, message)
        self._since = time.monotonic()
