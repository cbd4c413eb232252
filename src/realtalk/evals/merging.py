"""The shards of a run → the run, as if it had been made in one piece.

    merge(Path("out"), "memory probing", {"rows": (KEY, schema)})
    out/shards/01-of-16, 02-of-16, …    → out/run.json, out/rows.jsonl, .parquet, …

Nothing is joined unless all of it is there: every shard, finished, once, of the same settings and
the same samples. The rows of the shards one after the other are those of an undivided run, to the
byte. run.json is written last: killed before, it is done again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.evals.differences import differences
from realtalk.evals.folder import Key, RunFolder, clear, read_record
from realtalk.evals.rows import KEY, STAGE_KEY
from realtalk.evals.shards import SHARDS, ShardRecord, refuse_other_shards
from realtalk.evals.side_tables import FACTS_KEY
from realtalk.evals.values import Row
from realtalk.local.writing import write_json

if TYPE_CHECKING:
    import polars as pl

# Of each table: its key, and its columns where they are not to be found from its rows.
Shapes: TypeAlias = "Mapping[str, tuple[Sequence[str], pl.Schema | None]]"
_SHAPES: Shapes = {
    "groups": (FACTS_KEY, None),
    "timings": (KEY, None),
    "preparations": (STAGE_KEY, None),
}
_MOST = 8  # shards that an error names


@dataclass(frozen=True)
class _StoredShard:
    """A shard as it lies there."""

    folder: Path
    about: Mapping[str, Any]
    record: ShardRecord


def kind_of_shards(folder: Path) -> str:
    """What the shards in a folder are runs of."""
    return str(_pieces(folder)[0].about["kind"])


def merge(folder: Path, kind: str, shapes: Shapes, *, fresh: bool = False) -> None:
    """Joins the shards in a folder; `shapes` are those of the rows and of a benchmark's own tables.

    A folder that has its run already is left alone unless it is to be made anew.
    """
    refuse_other_shards(folder)
    pieces = _pieces(folder)
    if pieces[0].about["kind"] != kind:
        raise RealtalkError(
            f"shards of {pieces[0].about['kind']}, not of {kind}", where=str(folder)
        )
    if (folder / "run.json").exists() and not fresh:
        raise RealtalkError(
            "has its run already", where=str(folder), fix="join the shards anew with --fresh"
        )
    _refuse_unlike(pieces)
    _refuse_gaps(folder, pieces)
    clear(folder)
    _write(folder, kind, pieces, {**shapes, **_SHAPES})


def _pieces(folder: Path) -> list[_StoredShard]:
    """Every shard that is there, in order; folders without a run in them were not begun."""
    pieces = []
    for place in sorted(folder.glob(f"{SHARDS}/*/run.json")):
        about = read_record(place.parent)
        try:
            pieces.append(_StoredShard(place.parent, about, ShardRecord(**about["shard"])))
        except (KeyError, TypeError) as error:
            raise RealtalkError(
                "not a shard of a run", where=str(place.parent), fix="move it elsewhere"
            ) from error
    if not pieces:
        raise RealtalkError(
            "no shards here", where=str(folder), fix="make them with --shard 1/2 --out FOLDER"
        )
    return sorted(pieces, key=lambda piece: (piece.record.number, piece.folder.name))


def _refuse_unlike(pieces: Sequence[_StoredShard]) -> None:
    """Raises where shards are of different runs."""
    first = pieces[0]
    for piece in pieces[1:]:
        sides = [
            {
                "kind": each.about["kind"],
                "settings": each.about["settings"],
                "shards": each.record.of,
                "samples": each.record.total,
            }
            for each in (piece, first)
        ]
        if shown := differences(sides[0], sides[1], f"in {first.folder.name}"):
            raise RealtalkError(
                f"made with other settings ({shown})",
                where=str(piece.folder),
                fix="run it again as the others were, with --fresh, or remove it",
            )


def _refuse_gaps(folder: Path, pieces: Sequence[_StoredShard]) -> None:
    """Raises where a shard is not there, not finished, or there twice."""
    of = pieces[0].record.of
    by_number: dict[int, _StoredShard] = {}
    for piece in pieces:
        twin = by_number.setdefault(piece.record.number, piece)
        if twin is not piece:
            raise RealtalkError(
                f"shard {piece.record.number} of {of} is there twice "
                f"({twin.folder.name} and {piece.folder.name})",
                where=str(folder),
                fix="remove one of them",
            )
    missing = [number for number in range(1, of + 1) if number not in by_number]
    begun = [piece.record.number for piece in pieces if not piece.record.finished]
    told = [
        f"{_numbers(numbers)} of {of} {'is' if len(numbers) == 1 else 'are'} {what}"
        for numbers, what in ((missing, "missing"), (begun, "not finished"))
        if numbers
    ]
    if told:
        example = min((*missing, *begun))
        raise RealtalkError(
            ", ".join(told), where=str(folder), fix=f"run again with --shard {example}/{of}"
        )
    places = [piece.record.places for piece in pieces if piece.record.rows]
    start = 0
    for each in sorted(places, key=lambda each: each.start):
        if each.start != start:
            break
        start = each.stop
    if start != pieces[0].record.total:
        raise RealtalkError(
            "the shards do not add up to all samples",
            where=str(folder),
            fix="run them again with --fresh, all by one version",
        )


def _numbers(numbers: Sequence[int]) -> str:
    """`shards 3, 7 and 9`."""
    shown = [str(number) for number in numbers[:_MOST]]
    if len(numbers) > _MOST:
        shown.append(f"{len(numbers) - _MOST} more")
    if len(shown) == 1:
        return f"shard {shown[0]}"
    return f"shards {', '.join(shown[:-1])} and {shown[-1]}"


def _write(folder: Path, kind: str, pieces: Sequence[_StoredShard], shapes: Shapes) -> None:
    settings = pieces[0].about["settings"]
    with RunFolder(folder, kind, settings) as run:
        for name, (key, schema) in shapes.items():
            if not any((piece.folder / f"{name}.jsonl").is_file() for piece in pieces):
                continue
            rows = _joined(name, key, pieces)
            table = run.table(name, key)
            for row in rows:
                table.add(row)
            # Preparations have no order of their own in any run.
            order = [] if name == "preparations" else [_key(row, key) for row in rows]
            table.finish(order, schema)
    versions: dict[str, Mapping[str, str]] = {}
    for piece in pieces:
        versions |= {str(each): each for each in piece.about["versions"]}
    about = {"kind": kind, "settings": settings, "versions": list(versions.values())}
    write_json(folder / "run.json", about)


def _joined(name: str, key: Sequence[str], pieces: Iterable[_StoredShard]) -> list[Row]:
    """A table's rows, shard by shard; what is said of every sample more than once goes by what."""
    rows: dict[Key, Row] = {}
    for piece in pieces:
        own = RunFolder.load(piece.folder, None).rows(name, key)
        if name == "rows" and len(own) != piece.record.rows:
            raise RealtalkError(
                f"has {len(own):,} rows, not {piece.record.rows:,}",
                where=str(piece.folder),
                fix=f"run again with --shard {piece.record.number}/{piece.record.of}",
            )
        for row in own:
            if rows.setdefault(_key(row, key), row) is not row:
                raise RealtalkError(
                    f"has a row of {name} that is in an earlier shard too",
                    where=str(piece.folder),
                    fix="run it again with --fresh",
                )
    rest = len(KEY) if tuple(key[: len(KEY)]) == KEY else len(key)
    kinds = {each: place for place, each in enumerate(dict.fromkeys(at[rest:] for at in rows))}
    return [rows[at] for at in sorted(rows, key=lambda at: kinds[at[rest:]])]


def _key(row: Row, key: Sequence[str]) -> Key:
    return tuple(row[name] for name in key)
