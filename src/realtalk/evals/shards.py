"""A run in several pieces, each made on a machine of its own → which samples are whose.

    shard = Shard.parse("3/16")
    shard.folder(Path("out"))                       → out/shards/03-of-16
    shard.share([[32, 32, 8], [40]])                → range(…): places among all samples

No two shards write the same file, so nothing has to be locked across machines. A shard has
neighbouring samples, whole blocks of them, in the order of an undivided run: its solver is handed
the very same blocks, and the shards one after the other are that run. `merging` joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.folder import read_record
from realtalk.evals.values import Stage
from realtalk.local.writing import refuse_strangers, write_json

SHARDS = "shards"
_WRITTEN = re.compile(r"(\d{1,6})\s*/\s*(\d{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The piece `number` of `of` pieces, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """`3/16` as the third of sixteen."""
        found = _WRITTEN.fullmatch(text.strip())
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of:
            raise RealtalkError(
                f"'{text}' is no shard", fix="write --shard 3/16 for the third of sixteen"
            )
        return cls(number, of)

    def folder(self, out: Path) -> Path:
        """Where this piece of the run in `out` is kept."""
        return out / SHARDS / f"{self.number:0{len(str(self.of))}}-of-{self.of}"

    def share(self, sizes: Sequence[Sequence[int]]) -> range:
        """The places of this shard's samples; `sizes` are those of blocks, by stage.

        A block belongs to the shard in whose even share of all samples its middle lies.
        """
        total = sum(map(sum, sizes))
        first, last, start = None, 0, 0
        for size in (size for blocks in sizes for size in blocks):
            if (2 * start + size) * self.of // (2 * total) == self.number - 1:
                first, last = start if first is None else first, start + size
            start += size
        return range(0) if first is None else range(first, last)


@dataclass(frozen=True, slots=True)
class ShardRecord:
    """What run.json says of a shard: which of all samples it has, and whether it is done."""

    number: int
    of: int
    first: int  # place of its first sample
    rows: int
    total: int  # samples of all shards
    finished: bool = False

    @property
    def shard(self) -> Shard:
        return Shard(self.number, self.of)

    @property
    def places(self) -> range:
        """The places of its samples among all."""
        return range(self.first, self.first + self.rows)

    def within(self, start: int, samples: int) -> range:
        """Its samples of a stage that has so many, the first of them at place `start`."""
        low = min(max(self.first - start, 0), samples)
        return range(low, max(low, min(self.first + self.rows - start, samples)))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plan(
    shard: Shard, stages: Iterable[Stage[Any, Any]], at_once: int, *, divisible: bool
) -> ShardRecord:
    """Which samples are this shard's.

    A stage is divided, between the blocks in which its samples are solved, only where it is
    `divisible`; else it would be prepared twice.
    """
    sizes = [_blocks(len(stage.samples), at_once if divisible else 0) for stage in stages]
    places = shard.share(sizes)
    return ShardRecord(shard.number, shard.of, places.start, len(places), sum(map(sum, sizes)))


def _blocks(samples: int, at_once: int) -> list[int]:
    if not at_once:
        return [samples] if samples else []
    return [min(at_once, samples - start) for start in range(0, samples, at_once)]


def refuse_other_shards(out: Path) -> None:
    """Raises where a folder for shards holds something else."""
    refuse_strangers(out, "a run", "run.json", SHARDS)


def finish(folder: Path, record: ShardRecord) -> ShardRecord:
    """Says in run.json that every table of a shard is whole."""
    done = replace(record, finished=True)
    write_json(folder / "run.json", {**read_record(folder), "shard": done.to_json()})
    return done
