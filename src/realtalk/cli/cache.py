"""`cache list` and `cache clear`: what realtalk keeps on this machine, shown and removed."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli.options import Cache, Json

if TYPE_CHECKING:
    from realtalk.local.caches import CacheItem, Kind

app = typer.Typer(
    help="What realtalk keeps on this machine, and how to be rid of it.", no_args_is_help=True
)

_DAY = 86_400.0


@app.command("list")
def list_(cache: Cache = None, json: Json = False) -> None:
    """Show what is kept: what for, how much, when it was last used, what it holds of chats.

    Words are those of a chat or of a model that has read one. Vectors hold no words, but tell
    something of them. Indexes, vectors and labels stay within 2 GB each, or what
    REALTALK_CACHE_LIMIT says (such as 500MB). What you name with --out is yours and not here.

    Examples:

        realtalk cache list

        realtalk cache list --json
    """
    from realtalk.cli.printing import print_json, say, show
    from realtalk.local.caches import KINDS, cache_limit, survey
    from realtalk.local.download import cache_folder

    root = cache_folder(cache)
    items = survey(root)
    limit = cache_limit()
    entries = [
        _entry(kind, [item for item in items if item.kind is kind], root, limit)
        for kind in KINDS.values()
    ]
    if json:
        print_json({"folder": str(root), "kinds": entries})
        return
    columns = ("kind", "files", "size", "last used", "holds", "for")
    rows = [
        (
            entry["kind"],
            entry["files"],
            _size(entry["bytes"]),
            entry["last_used"] and entry["last_used"][:16].replace("T", " "),
            entry["holds"],
            entry["for"],
        )
        for entry in entries
    ]
    show("kept on this machine", columns, rows)
    say(f"in {root}, {_size(sum(item.size for item in items))} together")


@app.command()
def clear(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KIND]...", help="Kinds as `cache list` names them; all where none is named."
        ),
    ] = None,
    older_than: Annotated[
        float | None,
        typer.Option("--older-than", metavar="DAYS", help="Only what was not used for so long."),
    ] = None,
    from_chats: Annotated[
        bool,
        typer.Option(
            "--from-chats", help="Only what was made from chats: downloads and models stay."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    cache: Cache = None,
    json: Json = False,
) -> None:
    """Remove what is kept, after asking. Everything can be made or downloaded again.

    Only files that realtalk put there are removed; links are not followed, and a file that is
    being written stays. The status is 1 where something had to stay.

    Examples:

        realtalk cache clear --from-chats

        realtalk cache clear answers judge --yes

        realtalk cache clear --older-than 30
    """
    from realtalk.cli.printing import print_json, say, warn
    from realtalk.errors import RealtalkError
    from realtalk.local.caches import KINDS, remove, survey
    from realtalk.local.download import cache_folder
    from realtalk.registry import suggest

    for name in kinds or []:
        if name not in KINDS:
            raise suggest("kind of cache", name, list(KINDS))
    if older_than is not None and not older_than >= 0:
        raise RealtalkError(f"--older-than must be 0 days or more, not {older_than:g}")
    moment = None if older_than is None else time.time() - older_than * _DAY
    root = cache_folder(cache)
    items = [
        item
        for item in survey(root)
        if (not kinds or item.kind.name in kinds)
        and (item.kind.from_chats or not from_chats)
        and (moment is None or item.used < moment)
    ]
    if items and not yes:
        _ask(items, root)
    done = remove(items)
    left = [
        {"path": path.relative_to(root).as_posix(), "reason": reason} for path, reason in done.left
    ]
    if json:
        print_json({"folder": str(root), "files": done.files, "bytes": done.size, "left": left})
    else:
        freed = f"removed {done.files:,} files, {_size(done.size)} freed"
        say(freed if done.files else "nothing removed")
        for file in left:
            warn(f"{file['path']} stays: {file['reason']}")
    if left:
        raise typer.Exit(1)


def _ask(items: Sequence[CacheItem], root: Path) -> None:
    """Says what would go and waits for a yes."""
    from realtalk.cli.printing import say
    from realtalk.errors import RealtalkError
    from realtalk.local.caches import KINDS

    if not sys.stdin.isatty():
        raise RealtalkError(
            "nothing was removed, for there is nobody to ask",
            where=str(root),
            fix="add --yes if you are sure",
        )
    for kind in KINDS.values():
        mine = [item for item in items if item.kind is kind]
        if mine:
            files, size = sum(len(item.files) for item in mine), sum(item.size for item in mine)
            say(f"{kind.name}: {files:,} files, {_size(size)}, {kind.purpose}")
    if not typer.confirm(f"Remove this from {root}?", err=True):
        say("nothing removed")
        raise typer.Exit


def _entry(kind: Kind, items: Sequence[CacheItem], root: Path, limit: int) -> dict[str, Any]:
    from datetime import datetime

    used = max((item.used for item in items), default=None)
    return {
        "kind": kind.name,
        "for": kind.purpose,
        "files": sum(len(item.files) for item in items),
        "bytes": sum(item.size for item in items),
        "last_used": None
        if used is None
        else datetime.fromtimestamp(used).astimezone().isoformat(timespec="seconds"),
        "holds": kind.holds,
        "from_chats": kind.from_chats,
        "limit_bytes": limit if kind.bounded else None,
        "folders": [str(root / folder) for folder in kind.folders],
    }


def _size(count: int) -> str:
    from rich.filesize import decimal

    return decimal(count)
