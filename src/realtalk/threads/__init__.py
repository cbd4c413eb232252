"""Discussions as trees: a post, and comments that answer it or one another."""

from typing import TYPE_CHECKING

from realtalk.registry import offer

if TYPE_CHECKING:
    from realtalk.api.threads import prompt, samples
    from realtalk.threads.forest import Comment, Post, Thread

__all__ = [
    "Comment",
    "Post",
    "Thread",
    "prompt",
    "samples",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(
        __name__,
        {
            "realtalk.api.threads": "prompt samples",
            "realtalk.threads.forest": "Comment Post Thread",
        },
    )
