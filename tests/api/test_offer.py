"""`import realtalk` offers everything, loads nothing, and shows nothing else."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import realtalk as rt
from refusals import refused

SPACES = ("data", "ei", "memory", "persona", "runs", "threads")


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_loads_nothing() -> None:
    code = (
        "import sys, realtalk;"
        "print(sorted(name for name in sys.modules if name.startswith('realtalk')))"
    )
    loaded = ["errors", "files", "files.offline", "installing", "registry"]
    assert fresh(code) == str(["realtalk", *(f"realtalk.{name}" for name in loaded)])


def test_the_switches_come_first() -> None:
    """Before the package imports anything else, nothing may report to its maker."""
    source = Path(rt.__file__).read_text("utf-8")
    lines = [line for line in source.splitlines() if line.startswith(("import", "from", "switch"))]
    assert lines[0] == "from realtalk.files.offline import switch_off"
    assert lines[1].startswith("switch_off()")


@pytest.mark.parametrize("name", rt.__all__)
def test_everything_that_is_offered_is_there_and_explained(name: str) -> None:
    offered = getattr(rt, name)
    assert name in dir(rt)
    assert inspect.getdoc(offered)
    assert inspect.ismodule(offered) == (name in SPACES)
    if inspect.isfunction(offered):
        signature = inspect.signature(offered)
        assert signature.return_annotation is not signature.empty


def test_nothing_else_is_offered() -> None:
    assert set(dir(rt)) == {*rt.__all__, "demo"}
    with pytest.raises(AttributeError, match="has no attribute 'raed'"):
        assert rt.raed  # type: ignore[attr-defined]


def test_a_room_and_a_function_have_different_names() -> None:
    rooms = {path.name for path in Path(rt.__file__).parent.iterdir() if path.is_dir()}
    functions = {name for name in rt.__all__ if inspect.isfunction(getattr(rt, name))}
    assert not rooms & functions


def test_an_extra_that_is_missing_is_named(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("the extra train is installed")
    with refused("train"):
        rt.persona.tune("sample", speaker="Mara", out=tmp_path / "adapter")
