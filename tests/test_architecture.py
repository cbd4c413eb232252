"""Data flows one way: a module imports only from its left.

installing, cells, grouping, lazy → errors, notebook → registry, chat → files → text → formats
→ describe | encoders | models → metrics | redaction → evals → engine → ei
→ memory | persona | threads → tasks → pages → web | assistant → api → cli

`realtalk`, `realtalk.persona` and the like also name what `api` offers, loaded when it is used.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tokenize
import tomllib
from functools import cache
from pathlib import Path

import realtalk

ROOT = Path(realtalk.__file__).parent
LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(rooms.split())
    for rooms in (
        "installing cells grouping lazy",
        "errors notebook",
        "registry chat",
        "files",
        "text",
        "__init__",
        "formats",
        "describe encoders models",
        "metrics redaction",
        "evals",
        "engine",  # runs any work on many files and keeps its record as a run; knows none of them
        "ei",
        "memory persona threads",
        "tasks",
        "pages",
        "web assistant",
        "api",
        "cli",
        "__main__",
    )
)
# What `realtalk/__init__.py` names for its users, loaded when it is used: only its types are here.
DOOR = frozenset({"api", "chat", "ei", "errors", "evals", "memory", "persona", "threads"})
ROOMS_THAT_OFFER = {f"{room}/__init__.py" for room in ("ei", "memory", "persona", "threads")}
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
TESTS = Path(__file__).parent
UNSEEN = (tokenize.COMMENT, tokenize.NL)  # also within a statement
LAYOUT = frozenset(
    getattr(tokenize, name)
    for name in ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENCODING", "ENDMARKER")
)


def room(module: str) -> str:
    """`realtalk.formats.store` and `corpora/store.py` stand in the room `corpora`."""
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
            if module in ROOMS_THAT_OFFER and there == "api":
                continue
            if RANK[there] >= RANK[here]:
                wrong.append(f"{module} imports {name}, which is not to its left")
    assert not wrong


def test_the_engine_knows_no_work() -> None:
    """A room offers what is to be done; the engine runs it, whatever it is."""
    files = [module for module in MODULES if module.startswith("engine/")]
    rooms = {room(name) for module in files for name in imported(ROOT / module)}
    assert rooms <= {"__version__", "engine", "errors", "evals", "files", "registry"}


def test_modules_say_what_they_do() -> None:
    assert not [module for module in MODULES if not ast.get_docstring(parsed(ROOT / module))]


def code_tokens(path: Path) -> int:
    """Tokens of a file without comments, docstrings and layout."""
    count = depth = before = 0
    with path.open("rb") as stream:
        for token in tokenize.tokenize(stream.readline):
            # From 3.12 on the parts of an f-string are tokens; before, it is one.
            name = tokenize.tok_name[token.type]
            depth -= name == "FSTRING_END"
            skipped = token.type in LAYOUT or name == "FSTRING_END" or depth
            # Text that begins a statement is a docstring: nothing else is only said.
            count += not (skipped or (token.type == tokenize.STRING and before in LAYOUT))
            depth += name == "FSTRING_START"
            before = token.type if token.type not in UNSEEN else before
    return count


def sizes() -> dict[str, int]:
    """Tokens by room, and what src and tests have in all."""
    found: dict[str, int] = {}
    for module in MODULES:
        name = Path(module).parts[0].removesuffix(".py")
        found[name] = found.get(name, 0) + code_tokens(ROOT / module)
    tests = list(TESTS.rglob("*.py"))
    whole = {
        "src-tokens": sum(found.values()),
        "src-lines": sum((ROOT / module).read_text("utf-8").count("\n") for module in MODULES),
        "src-files": len(MODULES),
        "tests-tokens": sum(map(code_tokens, tests)),
        "test-functions": sum(
            line.lstrip().startswith("def test_")
            for path in tests
            for line in path.read_text("utf-8").splitlines()
        ),
    }
    return found | whole


def test_no_room_outgrows_its_budget() -> None:
    """Whoever needs more raises the number in budget.toml in the same commit, and says what for."""
    budget = tomllib.loads((TESTS / "budget.toml").read_text("utf-8"))
    grown = {
        name: f"{size:,}, of {budget.get(name, 0):,} allowed"
        for name, size in sizes().items()
        if size > budget.get(name, 0)
    }
    assert not grown


def test_names_say_something() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "base", "misc"}
    assert not [module for module in MODULES if Path(module).stem in empty]


def test_start_is_light() -> None:
    """`import realtalk` and the command's parser load no heavy library."""
    heavy = (
        "numpy",
        "polars",
        "pyarrow",
        "altair",
        "openpyxl",
        "onnxruntime",
        "torch",
        "rich",
        "pooch",
    )
    code = (
        "import sys, realtalk, realtalk.cli.main;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.strip() == "[]"
