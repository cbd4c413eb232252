"""`import realtalk` offers everything, loads nothing, and hides no room."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from realtalk.cli import ei as ei_command
from realtalk.cli import persona as persona_command
from realtalk.cli import persona_converse as converse_command
from realtalk.cli import persona_tune as tune_command
from realtalk.cli import probe as probe_command
from realtalk.cli import reading as reading_command
from realtalk.cli import threads as threads_command

FUNCTIONS = (
    *("check", "compare", "converse", "each", "export_dataset"),
    *("label", "predict"),
    *("probe", "read", "redact", "report", "samples", "simulate", "stats", "studio", "sweep"),
    *("talk", "told_apart", "tune"),
)


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_loads_nothing() -> None:
    code = (
        "import sys, realtalk;"
        "print(sorted(name for name in sys.modules if name.startswith('realtalk')))"
    )
    assert fresh(code) == "['realtalk', 'realtalk.local', 'realtalk.local.offline']"


def test_the_switches_come_first() -> None:
    """Before the package imports anything else, nothing may report to its maker."""
    source = Path(rt.__file__).read_text("utf-8")
    lines = [line for line in source.splitlines() if line.startswith(("import", "from", "switch"))]
    assert lines[0] == "from realtalk.local.offline import switch_off"
    assert lines[1].startswith("switch_off()")


@pytest.mark.parametrize("name", rt.__all__)
def test_everything_that_is_offered_is_there_and_explained(name: str) -> None:
    offered = getattr(rt, name)
    assert name in dir(rt)
    assert inspect.getdoc(offered)
    assert callable(offered)


def test_nothing_else_is_offered() -> None:
    assert set(FUNCTIONS) < set(rt.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'raed'"):
        assert rt.raed  # type: ignore[attr-defined]


@pytest.mark.parametrize("room", ["stats", "report", "studio"])
def test_a_room_that_shares_a_name_is_still_a_room(room: str) -> None:
    """Whichever is imported first: the package holds its modules and can be called."""
    module = {"stats": "figures", "report": "build", "studio": "values"}[room]
    calls = f"callable(realtalk.{room}), realtalk.{room}.{module}.__name__"
    told = f"(True, 'realtalk.{room}.{module}')"
    assert fresh(f"import realtalk.{room}.{module}, realtalk; print(({calls}))") == told
    first = f"import realtalk; realtalk.{room}; import realtalk.{room}.{module};"
    assert fresh(f"{first} print(({calls}))") == told


def test_a_room_that_is_called_has_the_functions_signature() -> None:
    assert list(inspect.signature(rt.stats).parameters)[:2] == ["corpus", "engine"]
    assert list(inspect.signature(rt.report).parameters)[:2] == ["parts", "out"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_typed_and_out_is_a_choice(name: str) -> None:
    signature = inspect.signature(getattr(rt, name))
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter.name
    assert signature.return_annotation is not signature.empty
    out = signature.parameters.get("out")
    # An adapter is a folder, and so is what many inputs become.
    if out is not None and name not in ("tune", "each"):
        assert out.default in (None, "report.html")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("read", reading_command.read),
        ("label", ei_command.label),
        ("probe", probe_command.run),
        ("simulate", persona_command.run),
        ("tune", tune_command.tune),
        ("converse", converse_command.converse),
        ("predict", threads_command.run),
    ],
)
def test_what_is_left_out_means_the_same_as_for_the_command(name: str, command: Any) -> None:
    ours, theirs = inspect.signature(getattr(rt, name)), inspect.signature(command)
    shared = (ours.parameters.keys() & theirs.parameters.keys()) - {"out", "setting", "settings"}
    assert len(shared) >= 4
    for each in shared:
        given = theirs.parameters[each].default
        expected = () if each == "categories" else given
        if given is not inspect.Parameter.empty:
            assert ours.parameters[each].default == expected, each


def test_an_extra_that_is_missing_is_named(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("the extra train is installed")
    with pytest.raises(rt.RealtalkError, match="train"):
        rt.tune("sample", "Mara", out=tmp_path / "adapter")
