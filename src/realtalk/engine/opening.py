"""How the inputs of a job are opened: by which format and options, the same in every worker.

way = InputReading(None, ReadOptions())
way.open(Path("exports/Mara.zip"))    → Opened(reading, source, "whatsapp")
way.settings                          → {"format": None, "gap": 21600.0, "dates": None, …}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.local.progress import silent

if TYPE_CHECKING:
    from realtalk.corpora.opening import Opened
    from realtalk.corpora.reading import ReadOptions


@dataclass(frozen=True)
class InputReading:
    """The format, where it is given, and the readers' options."""

    format_name: str | None
    options: ReadOptions

    def __post_init__(self) -> None:
        """A bar of the driver's terminal is not for workers."""
        object.__setattr__(self, "options", replace(self.options, progress=silent))

    def open(self, source: Path) -> Opened:
        """A stored corpus, or whatever a reader knows."""
        from realtalk.corpora.opening import open_reading

        return open_reading(source, self.format_name, self.options)

    @property
    def settings(self) -> dict[str, Any]:
        """What the parts depend on, for the job's record."""
        gap = self.options.gap
        return {
            "format": self.format_name,
            "gap": gap.total_seconds() if isinstance(gap, timedelta) else gap,
            "dates": self.options.dates,
            "timezone": self.options.timezone,
            "columns": dict(self.options.columns),
        }


def figures_of(opened: Opened) -> Mapping[str, Any]:
    """What a job's table says of every input."""
    tables = opened.reading.tables
    return {
        "format": opened.format,
        "chats": len(tables.chats),
        "messages": tables.messages.height,
        "notes": list(opened.reading.notes),
    }
