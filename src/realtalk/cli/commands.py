"""Every command: its words, the Python function that does the work, and what prints the result.

COMMANDS    Command("stats", chats.stats, showing.show_stats), …
GROUPS      {"probe": "Test what a memory keeps of a long chat."}
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from realtalk.api import (
    batch,
    benchmarks,
    chats,
    conversing,
    data,
    labels,
    pages,
    persona,
    runs,
    sweeping,
    threads,
)
from realtalk.cli import demo, showing
from realtalk.cli.building import Command, entries

GROUPS = {
    "ei": "Label every turn with emotional intelligence (EI).",
    "probe": "Test what a memory keeps of a long chat.",
    "persona": "Continue a chat as one of its speakers.",
    "threads": "Predict what becomes of replies in threads.",
    "runs": "Show, compare and rescore stored runs.",
    "batch": "Do the same with every input, into one folder.",
    "data": "Download the published corpora, checked by hash.",
    "models": "Show and fetch models, with their terms.",
    "cache": "Show and clear cached files.",
}


def _batch(function: Callable[..., Any]) -> Command:
    """`realtalk batch check INPUTS --out DIR`: options of `batch`, and of the function."""
    name = function.__name__
    own = inspect.signature(function).parameters
    _, *shared, _ = inspect.signature(batch.batch).parameters.values()

    def call(**options: Any) -> Any:
        return batch.batch(function, **options)

    parameters = [*shared, *(own[option] for option in batch.OPTIONS[name])]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    helps = {**entries(function), **entries(batch.batch)}
    lines = [f"    {option}: {text}" for option, text in helps.items()]
    verb = {"report": "Write a page about"}.get(name, name.capitalize())
    text = f"{verb} every input by itself, into one folder."
    examples = [
        f'    rt.{name}(["exports/"], out="{name}s")',
        f'    rt.{name}(["exports/", "more/*.zip"], out="{name}s")',
        f'    rt.{name}(["exports/"], engine=Engine("processes", workers=4), out="{name}s")',
    ]
    call.__doc__ = "\n".join([text, "", "Args:", *lines, "", "Example:", *examples, ""])
    call.__name__ = name
    return Command(f"batch {name}", call, showing.show_batch)


_CONSENT = {"consent": showing.ask}

COMMANDS = (
    Command("read", chats.read, showing.show_corpus, retry=showing.ask_people),
    Command("export", chats.export, showing.show_exported),
    Command("check", chats.check, showing.show_findings),
    Command("redact", chats.redact, showing.show_redaction),
    Command("stats", chats.stats, showing.show_stats),
    Command("report", pages.report, showing.show_page),
    Command("studio", pages.studio, supply={"on_start": showing.show_link}),
    Command("mcp", pages.mcp),
    Command("demo", demo.demo),
    Command("ei", labels.label, showing.show_labels, "label"),
    Command("ei consistency", labels.speaker_consistency, showing.show_table),
    Command("ei distinguishability", labels.distinguishability, showing.show_table),
    Command("probe", benchmarks.probe, showing.show_run),
    Command("probe draft", benchmarks.draft, showing.show_drafts),
    Command("probe which", benchmarks.which, showing.show_advice),
    Command("probe contexts", runs.contexts, showing.show_value),
    Command("probe score", runs.score, showing.show_run),
    Command("persona", benchmarks.simulate, showing.show_run),
    Command("persona turns", persona.tested_turns, showing.show_table),
    Command("persona tune", persona.tune, showing.show_tuned),
    Command("persona talk", persona.talk, showing.show_talk, has_json=False, supply=_CONSENT),
    Command("persona converse", conversing.converse, showing.show_conversations, supply=_CONSENT),
    Command("persona who-wrote-it", persona.who_wrote_it, showing.show_run),
    Command("persona export-dataset", persona.export_dataset, showing.show_dataset),
    Command("threads", benchmarks.predict, showing.show_run),
    Command("threads samples", threads.samples, showing.show_samples),
    Command("threads prompt", threads.prompt, showing.show_value),
    Command("sweep", sweeping.sweep, showing.show_sweep),
    Command("runs show", runs.show, showing.show_stored),
    Command("runs table", runs.table, showing.show_runs),
    Command("runs compare", runs.compare, showing.show_table),
    Command("runs compare-variants", runs.compare_variants, showing.show_table),
    Command("runs gate", runs.gate, showing.show_gate),
    Command("runs failures", runs.failures, showing.show_runs),
    Command("runs share", runs.share, showing.show_value),
    Command("runs rescore", runs.rescore, showing.show_run),
    _batch(chats.read),
    _batch(chats.check),
    _batch(chats.redact),
    _batch(pages.report),
    Command("data get", data.get, showing.show_value),
    Command("data list", data.corpora, showing.show_table),
    Command("models", data.models, showing.show_table, "list"),
    Command("models get", data.get_model, showing.show_value),
    Command("models card", data.card, showing.show_value),
    Command("cache list", data.cache_contents, showing.show_table),
    Command("cache clear", data.clear, showing.show_cleared, supply={"ask": showing.confirm}),
)
