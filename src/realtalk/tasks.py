"""The benchmarks as tasks for Inspect: `inspect eval realtalk/memory_probing`, and so on.

    inspect list tasks realtalk
    inspect eval realtalk/memory_probing --model openai/gpt-4o-mini
    inspect eval realtalk/persona_simulation -T speaker=Mara --model openai/gpt-4o-mini
    inspect eval realtalk/threads -T task=sentiment --model realtalk/smollm2

Needs inspect-ai (extra llm).
"""

from __future__ import annotations

import realtalk.models.provider  # noqa: F401  registers realtalk/smollm2
from realtalk.memory.inspecting import memory_probing
from realtalk.persona.inspecting import persona_guess, persona_simulation
from realtalk.threads.inspecting import threads

__all__ = ["memory_probing", "persona_guess", "persona_simulation", "threads"]
