"""A model of Inspect's → one whose good answers are kept by Inspect's cache, and no others.

    guarded = GuardedModel(model, {"top_k": 5})
    await guarded.stored_answer("… Question: …", flaw)     → ModelOutput, or None: nobody is asked
    await guarded.ask("… Question: …", flaw)    → ModelOutput; kept where `flaw` finds nothing

Inspect keeps an answer the moment it comes, an empty one or a web page's, too. So every reply is
looked at on its way in, where the provider hands it over: one that cannot be used leaves as an
error, which Inspect does not keep. Answers have no end of life.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from inspect_ai.model import CachePolicy, Model, ModelOutput

Flaw: TypeAlias = "Callable[[ModelOutput], str]"


class _NotKept(Exception):
    """Nobody was asked: there is no answer in the cache."""


class _FlawedAnswer(Exception):
    """An answer that is not to be kept."""

    def __init__(self, output: ModelOutput) -> None:
        super().__init__()
        self.output = output


# What is wrong with an answer to the request that is under way; None where nobody is to be asked.
_flaw: ContextVar[Flaw | None] = ContextVar("flaw", default=None)


class GuardedModel:
    """One model with its cache. Inspect learns from the environment where that lies."""

    def __init__(self, model: Model, arguments: Mapping[str, Any]) -> None:
        from inspect_ai.model import CachePolicy

        # Inspect's key leaves the model's arguments out.
        scopes = {
            "task": "realtalk",
            "arguments": json.dumps(dict(arguments), sort_keys=True, default=str),
        }
        # The second is for what the first holds and nobody can use: an answer that was kept by
        # somebody who did not look at it.
        self._policies = [
            CachePolicy(expiry=None, per_epoch=False, scopes={**scopes, **more})
            for more in ({}, {"instead": "1"})
        ]
        self._model = model
        self._provider = model.api.generate
        model.api.generate = self._guard  # type: ignore[method-assign]

    async def stored_answer(self, text: str, flaw: Flaw) -> ModelOutput | None:
        """The good answer of an earlier time."""
        for policy in self._policies:
            try:
                output = await self._generate(text, None, policy)
            except _NotKept:
                return None
            if not flaw(output):
                return output
        return None

    async def ask(self, text: str, flaw: Flaw) -> ModelOutput:
        """The answer, kept unless something is wrong with it."""
        policies: tuple[CachePolicy | bool, ...] = (*self._policies, False)
        for policy in policies:
            try:
                output = await self._generate(text, flaw, policy)
            except _FlawedAnswer as error:
                return error.output
            if not flaw(output):
                break
        return output

    async def _generate(
        self, text: str, flaw: Flaw | None, policy: CachePolicy | bool
    ) -> ModelOutput:
        mark = _flaw.set(flaw)
        try:
            return await self._model.generate(text, cache=policy)
        finally:
            _flaw.reset(mark)

    async def _guard(self, *given: Any, **named: Any) -> Any:
        """Stands for the provider's own way to answer."""
        flaw = _flaw.get()
        if flaw is None:
            raise _NotKept
        result = await self._provider(*given, **named)
        output = result[0] if isinstance(result, tuple) else result
        if not isinstance(output, Exception) and flaw(output):
            raise _FlawedAnswer(output)
        return result
