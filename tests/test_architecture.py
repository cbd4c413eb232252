"""Data flows one way: a module imports only from its left.

installing, cells → errors, notebook → registry, chat → local → text → corpora
→ stats | encoders | models → metrics | redaction → evals → engine → ei → memory | persona | threads
→ tasks → report → portrait → studio | assistant → surface → cli

`realtalk` itself is the door: it names what `surface` offers, and nobody imports that from it.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import realtalk
from clock_asserts import clock_asserts

ROOT = Path(realtalk.__file__).parent
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(rooms.split())
    for rooms in (
        "installing cells",
        "errors notebook",
        "registry chat",
        "local",
        "text",
        "__init__",
        "corpora",
        "stats encoders models",
        "metrics redaction",
        "evals",
        "engine",  # runs any work on many files and keeps its record as a run; knows none of them
        "ei",
        "memory persona threads",
        "tasks",
        "report",
        "portrait",
        "studio assistant",
        "surface",
        "cli",
        "__main__",
    )
)
# What `realtalk/__init__.py` names for its users, loaded when it is used: only its types are here.
DOOR = frozenset(
    {"surface", "chat", "errors", "corpora", "redaction", "stats", "memory", "persona"}
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
TESTS = Path(__file__).parent


def room(module: str) -> str:
    """`realtalk.corpora.store` and `corpora/store.py` stand in the room `corpora`."""
    parts = module.removeprefix("realtalk").strip(".").replace("/", ".").split(".")
    return parts[0] or "__init__"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path) -> set[str]:
    """Every realtalk module that a file imports, at the top, late or for types."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} uses a relative import"
            module = node.module or ""
            if module == "realtalk":
                found |= {f"realtalk.{alias.name}" for alias in node.names}
            else:
                found.add(module)
    return {name for name in found if name == "realtalk" or name.startswith("realtalk.")}


def test_imports_only_from_the_left() -> None:
    assert not [each for each in MODULES if room(each.removesuffix(".py")) not in RANK]
    wrong = []
    for module in MODULES:
        here = room(module.removesuffix(".py"))
        for name in imported(ROOT / module):
            there = "__init__" if name == "realtalk.__version__" else room(name)
            if there == here or (here == "__init__" and there in DOOR):
                continue
            if RANK[there] >= RANK[here]:
                wrong.append(f"{module} imports {name}, which is not to its left")
    assert not wrong


def test_the_engine_knows_no_work() -> None:
    """A room offers what is to be done; the engine runs it, whatever it is."""
    files = [module for module in MODULES if module.startswith("engine/")]
    rooms = {room(name) for module in files for name in imported(ROOT / module)}
    assert rooms <= {"__version__", "engine", "errors", "evals", "local", "registry"}


def test_the_rule_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from realtalk.cli import main\n")
    assert imported(bad) == {"realtalk.cli"}
    assert RANK[room("realtalk.cli")] > RANK[room("corpora/bad")]


def test_modules_say_what_they_do() -> None:
    assert not [module for module in MODULES if not ast.get_docstring(parsed(ROOT / module))]


def test_modules_are_small() -> None:
    lines = {module: (ROOT / module).read_text("utf-8").count("\n") for module in MODULES}
    assert not {module: count for module, count in lines.items() if count > 600}


def packed(tree: ast.AST) -> list[int]:
    """Lines with a literal that is built only to be unpacked: `f(*(a, b))`, `[*[a], c]`."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple | ast.List)
    ]


def test_arguments_are_not_packed() -> None:
    """A literal that is unpacked where it stands could be its elements."""
    found = {module: packed(parsed(ROOT / module)) for module in MODULES}
    assert not {module: lines for module, lines in found.items() if lines}


@pytest.mark.parametrize("code", ["f(*(a, b))", "{*('a',)}", "[*[a, b], c]"])
def test_packing_is_found(code: str) -> None:
    assert packed(ast.parse(code)) == [1]


@pytest.mark.parametrize("code", ["f(*rows)", "(*(row for row in rows), *names)", "a, *rest = b"])
def test_unpacking_a_value_is_no_packing(code: str) -> None:
    assert packed(ast.parse(code)) == []


def test_a_class_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = {}
    for module in MODULES:
        for node in parsed(ROOT / module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(module)
    shared = {name: modules for name, modules in homes.items() if len(modules) > 1}
    assert not shared, "public classes with one name in two modules"


def test_names_say_something() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
    assert not [module for module in MODULES if Path(module).stem in empty]


def test_start_is_light() -> None:
    """`import realtalk` and the command's parser load no heavy library."""
    heavy = ("polars", "pyarrow", "altair", "openpyxl", "onnxruntime", "torch", "rich", "pooch")
    code = (
        "import sys, realtalk, realtalk.cli.main;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "[]"


def test_no_test_holds_the_machine_to_a_speed() -> None:
    """`work_done` counts work without a clock: a busy machine is no fault."""
    found = {path: clock_asserts(parsed(path)) for path in TESTS.rglob("*.py")}
    assert not {path: lines for path, lines in found.items() if lines}


@pytest.mark.parametrize(
    "code",
    [
        "import time\nbegan = time.time()\nassert time.time() - began < 5",
        "from time import perf_counter as now\nspent = now() - began\nassert spent < 5, 'slow'",
        "import os\nspent = os.times()[0] - before\nassert 0 < spent / 2 < 5",
        "import time\nfor _ in '123':\n    at.append(time.monotonic())\nassert at[1] > at[0]",
        "import time\ndef spent():\n    return time.process_time() - a\nassert min(spent(), 9) < 5",
        "import time\nself.began = time.time()\nassert ready and self.ended - self.began < 1",
        "import time\nwhile True:\n    assert time.monotonic() - began < 1",
        "import time\nruns = [time.perf_counter_ns() for _ in range(9)]\nassert max(runs) < limit",
    ],
)
def test_a_clock_in_an_assert_is_found(code: str) -> None:
    assert clock_asserts(ast.parse(code)) == [code.count("\n") + 1]


@pytest.mark.parametrize(
    "code",
    [
        "import time\nlate = time.time() + 60\nwhile not done():\n    assert time.time() < late",
        "import time\nassert forget(items, time.time() - 30) == (1, 2)",
        "import time\nos.utime(path, (time.time(),) * 2)\nassert path.stat().st_mtime == then",
        "time = message.time\nassert time.hour < 5 and message.time - time == gap",
    ],
)
def test_waiting_and_handing_on_a_moment_is_no_measurement(code: str) -> None:
    assert clock_asserts(ast.parse(code)) == []
