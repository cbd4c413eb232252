"""What runs on a borrowed accelerator needs `src` on the path and orjson, and no other library.

A machine with a card often has torch and transformers, and takes no installations.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ABSENT = (
    *("altair", "fastapi", "httpx", "inspect_ai", "numpy", "onnxruntime", "polars", "pyarrow"),
    *("pydantic", "rich", "scipy", "sklearn", "tokenizers", "typer"),
)
# Imports everything of the package that a file imports, also what it imports late.
LOAD = """
import ast, importlib, sys
from pathlib import Path
path, *absent = sys.argv[1:]
sys.modules.update(dict.fromkeys(absent))
for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))):
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith(("realtalk.", "research.")):
        if node.module != "realtalk.persona.trainer":  # needs peft; a file of this list itself
            importlib.import_module(node.module)
"""


@pytest.mark.parametrize(
    "path",
    [
        "src/realtalk/persona/trainer.py",
        "src/realtalk/persona/tuning.py",
        "research/experiments/answers_run.py",
        "research/experiments/persona_jobs.py",
        "research/experiments/persona_run.py",
        "research/experiments/threads_run.py",
    ],
)
def test_a_run_on_a_card_needs_no_library_of_ours(path: str) -> None:
    words = [sys.executable, "-c", LOAD, str(ROOT / path), *ABSENT]
    done = subprocess.run(words, env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-600:]
