"""What a model is shown of a long chat when it is asked about it, and how well that serves."""

from typing import TYPE_CHECKING

from realtalk.registry import offer

if TYPE_CHECKING:
    from realtalk.api.benchmarks import draft, which
    from realtalk.api.runs import contexts, score
    from realtalk.memory.values import Budget, Context, Memory

__all__ = [
    "Budget",
    "Context",
    "Memory",
    "contexts",
    "draft",
    "score",
    "which",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(
        __name__,
        {
            "realtalk.api.benchmarks": "draft which",
            "realtalk.api.runs": "contexts score",
            "realtalk.memory.values": "Budget Context Memory",
        },
    )
