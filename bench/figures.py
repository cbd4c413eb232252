"""The figures that a change of the code must not move: recorded once, compared after.

    python bench/figures.py record bench/figures.json
    python bench/figures.py compare bench/figures.json [--only demo,redaction]
    → demo: 1,043 figures are the same
      redaction: 1 of 948 figures differ
        held/de/PER: all 9, left 3 before, all 9, left 4 now

Parts: `demo` (tables of `realtalk demo --all`, and its statistics), `board` (evidence found by the
memory `retrieved` on REALTALK, by the board's golds and the published ones and by each way of
ranking, and on LoCoMo), `table7` (the REALTALK paper's Table 7 as reproduced), `redaction` (counts
of `names.py`: its own chats, those held out in training, people called like words). Times are left
out; caches are made anew. Encoders round differently on other kinds of processors: compare on the
kind that recorded. `compare` exits with 1 where a figure differs, is gone or is new.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.executable).with_name("realtalk"))
TIMED = ("recall ms", "reader s", "building s")
RETRIEVAL = ("any@5", "all@5", "recall@5", "recall@10", "all@20", "recall@20", "ndcg@10")
BOARD = """realtalk lmeb fused, realtalk published fused, realtalk published encoder,
realtalk published bm25, locomo published fused"""  # corpus, golds, way of ranking
NEEDED = {"board": ("realtalk", "locomo"), "table7": ("realtalk",)}  # folders of data
SHOWN = 40  # differences of a part
Figures = dict[str, float | str]


def demo(folder: Path, _: Path) -> Figures:
    """The demo's tables, and every number of its statistics but those of single chats."""
    tables = run(
        [COMMAND, "demo", "--all", "--out", str(folder / "demo")], folder / "demo" / "tables"
    )
    figures = cells(tables.glob("*.csv"))
    for path in sorted(tables.glob("*.json")):
        figures |= numbers(json.loads(path.read_text("utf-8")), path.stem)
    return figures


def table7(folder: Path, data: Path) -> Figures:
    """The tables of Table 7, by whichever command reproduces the paper."""
    script = ROOT / "research" / "papers" / "reproduce.py"
    moved = script.exists() or script.with_suffix("").is_dir()
    command = (
        [sys.executable, "-m", "research.papers.reproduce"] if moved else [COMMAND, "reproduce"]
    )
    (folder / "data").mkdir()  # other corpora would be labelled too, for nothing
    (folder / "data" / "realtalk").symlink_to(data / "realtalk")
    options = ["--data", str(folder / "data"), "--only", "speakers"]
    options += ["--out", str(folder / "reproduced")]
    return cells(run([*command, *options], folder / "reproduced" / "tables").glob("table-7*.csv"))


def board(_: Path, data: Path) -> Figures:
    """Means of what rankings find, by category and as the board averages, with intervals."""
    import realtalk

    figures: Figures = {}
    for corpus, golds, way in map(str.split, BOARD.split(",")):
        name = f"{corpus}/{golds}/{way}"
        print(f"board: {name}", file=sys.stderr)
        run: Any = realtalk.probe(
            data / corpus, memory="retrieved", settings={"way": way}, reader="none", golds=golds
        )
        rows = run.frame.to_dicts() if hasattr(run, "frame") else run.rows.to_dicts()
        for score in RETRIEVAL:
            by_category: dict[str, list[float]] = defaultdict(list)
            for row in rows:
                if row[score] is not None:
                    by_category[row["category"]].append(row[score])
            means = {key: math.fsum(each) / len(each) for key, each in by_category.items()}
            every = [value for each in by_category.values() for value in each]
            means["mean of categories"] = math.fsum(means.values()) / len(means)
            means["all"] = math.fsum(every) / len(every)
            figures |= {f"{name}/{score}/{key}": round(mean, 12) for key, mean in means.items()}
            figures[f"{name}/{score}/n"] = len(every)
        for row in run.summary().frame.to_dicts():
            if row["score"] in RETRIEVAL:
                for end in ("low", "high"):
                    figures[f"{name}/{row['score']}/{end}"] = round(row[end], 12)
    return figures


def redaction(_: Path, __: Path) -> Figures:
    """Counts by set of chats, language and kind, with the tagger and by rules alone."""
    sys.path.insert(0, str(ROOT / "bench"))
    import names
    import names_words

    figures: Figures = {}
    own, tagger = list(names.own_chats(ROOT / "bench" / "names")), names.realtalk_tool()
    runs = [("own", own, tagger), ("rules", own, names.rules_tool())]
    for title, chats, tool in [*runs, ("held", list(names.held_chats()), tagger)]:
        print(f"redaction: {title}, {len(chats)} chats", file=sys.stderr)
        for (lang, kind), counts in names.measure(tool, chats).items():
            figures[f"{title}/{lang}/{kind}"] = listed(counts)
    for chat in names.own_chats(ROOT / "bench" / "names" / "words"):
        rows = zip(chat.rows, tagger(chat), strict=True)
        marked = [(row.speaker, row.text, row.spans, gone) for row, gone in rows]
        figures[f"words/{chat.name}"] = listed(names_words.counted(marked))
    return figures


PARTS: dict[str, Callable[[Path, Path], Figures]] = {
    "demo": demo,
    "redaction": redaction,
    "table7": table7,
    "board": board,
}


def listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{key} {count}" for key, count in sorted(counts.items()))


def run(command: list[str], made: Path) -> Path:
    """Calls a command at the repository's root; the folder that it made.

    A status other than 0 counts only where nothing was made: a verdict at its edge may change with
    the processor, and `reproduce` says so by its status.
    """
    print(" ".join([Path(command[0]).name, *command[1:]]), file=sys.stderr)
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True)
    if done.returncode and not made.is_dir():
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return made


def cells(paths: Iterable[Path]) -> Figures:
    """Cells that begin with a number, by table, row and heading; times left out."""
    figures: Figures = {}
    for path in sorted(paths):
        heading, *rows = csv.reader(path.read_text("utf-8").splitlines())
        titles: Counter[str] = Counter()
        for row in rows:
            titles[row[0]] += 1
            name = f"{path.stem}/{row[0]}" + (f" #{titles[row[0]]}" if titles[row[0]] > 1 else "")
            for column, cell in zip(heading[1:], row[1:], strict=True):
                if column not in TIMED and re.match(r"[-+]?[.\d]", cell):
                    figures[f"{name}/{column}"] = cell
    return figures


def numbers(value: Any, name: str) -> Figures:
    """The numbers of a JSON object by their path; lists are of single chats."""
    if isinstance(value, dict):
        parts = [numbers(part, f"{name}/{key}") for key, part in value.items()]
        return {key: number for part in parts for key, number in part.items()}
    return {name: value} if isinstance(value, int | float) else {}


def compare(part: str, before: Figures, now: Figures) -> int:
    """Names every figure that differs; how many do."""
    names = list(dict.fromkeys([*before, *now]))
    differing = [name for name in names if before.get(name) != now.get(name)]
    verdict = f"{len(differing):,} of {len(names):,} figures differ"
    print(f"{part}: {verdict if differing else f'{len(names):,} figures are the same'}")
    for name in differing[:SHOWN]:
        print(f"  {name}: {before.get(name, '–')} before, {now.get(name, '–')} now")
    if len(differing) > SHOWN:
        print(f"  … and {len(differing) - SHOWN:,} more")
    return len(differing)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("job", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    options = parser.parse_args()
    if unknown := set(options.only.split(",")) - set(PARTS):
        parser.error(f"no such part: {', '.join(unknown)}")
    stored = json.loads(options.file.read_text("utf-8")) if options.file.exists() else {}
    here, differing = platform.machine(), 0
    if options.job == "compare" and stored.get("machine") != here:
        print(f"recorded on {stored.get('machine')}, this is {here}: labels may differ")
    for part in options.only.split(","):
        missing = [each for each in NEEDED.get(part, ()) if not (options.data / each).is_dir()]
        if missing:
            print(f"skipped: {part} (no folder {options.data / missing[0]})")
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.environ |= {"HOME": folder, "REALTALK_CACHE": str(Path(folder) / "cache")}
            figures = PARTS[part](Path(folder), options.data.resolve())
        if options.job == "compare":
            differing += compare(part, stored.get(part, {}), figures)
        else:  # parts that were not asked for stay as they were
            stored |= {part: figures, "machine": here}
            text = json.dumps(stored, indent=0, sort_keys=True, ensure_ascii=False)
            options.file.write_text(text + "\n", "utf-8")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
