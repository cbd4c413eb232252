"""Continue a chat as one of its speakers, and how near that comes to what they wrote."""

from typing import TYPE_CHECKING

from realtalk.registry import offer

if TYPE_CHECKING:
    from realtalk.api.conversing import converse
    from realtalk.api.persona import export_dataset, talk, tested_turns, tune, who_wrote_it

__all__ = ["converse", "export_dataset", "talk", "tested_turns", "tune", "who_wrote_it"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = offer(
        __name__,
        {
            "realtalk.api.conversing": "converse",
            "realtalk.api.persona": "export_dataset talk tested_turns tune who_wrote_it",
        },
    )
