"""Answers that were good enough to be used, kept so that nobody is asked twice.

    kept = KeptAnswers(model, {"top_k": 5})
    kept.get("… Question: …")           → ModelOutput, or None
    kept.put("… Question: …", output)   # after the answer was judged, never before

The files are those that Inspect's own cache writes, under its own keys, without end of life:
what earlier versions were answered still counts. Inspect itself would keep an answer before
anybody has looked at it, an empty one or a web page's; hence `put`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput
    from inspect_ai.model._cache import CacheEntry


class KeptAnswers:
    """What one model answered. Inspect learns from the environment where it is kept."""

    def __init__(self, model: Model, arguments: Mapping[str, Any]) -> None:
        from inspect_ai.model import CachePolicy

        # Inspect's key leaves the model's arguments out.
        arguments_text = json.dumps(dict(arguments), sort_keys=True, default=str)
        self._policy = CachePolicy(
            expiry=None, per_epoch=False, scopes={"task": "realtalk", "arguments": arguments_text}
        )
        self._model = model
        self._config = model.config.model_copy(deep=True)
        if self._config.max_tokens is None:
            api = model.api
            self._config.max_tokens = api.max_tokens_for_config(self._config) or api.max_tokens()

    def get(self, text: str) -> ModelOutput | None:
        from inspect_ai.model._cache import cache_fetch

        return cache_fetch(self._entry(text))

    def put(self, text: str, output: ModelOutput) -> None:
        from inspect_ai.model._cache import cache_store

        cache_store(self._entry(text), output)

    def _entry(self, text: str) -> CacheEntry:
        """As `Model.generate` makes it of a prompt without tools."""
        from inspect_ai.model import ChatMessageUser
        from inspect_ai.model._cache import CacheEntry

        return CacheEntry(
            base_url=self._model.api.base_url,
            config=self._config,
            input=[ChatMessageUser(content=text)],
            model=str(self._model),
            policy=self._policy,
            tool_choice="none",
            tools=[],
        )
