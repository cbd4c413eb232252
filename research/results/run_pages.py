"""The pages with Python in them, run: docs/python.md and docs/tour.ipynb get their real outputs.

    python -m research.results.run_pages        writes what the code prints below it
    run_markdown(text)              → the page with its ```text blocks made anew
    run_notebook(cells)             → the notebook with its outputs made anew

Blocks of a page share one namespace and an empty folder, in their order. What a block shows is
what a prompt would show: what it prints, then its last expression.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from research.results import DOCS

_BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Whatever the code writes is gone afterwards."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run(code: str, space: dict[str, Any]) -> tuple[str, Any]:
    """What the code prints, and the value of its last expression (None where it has none)."""
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    said = io.StringIO()
    value = None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "<page>", "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), space)
    return said.getvalue(), value


def run_markdown(text: str) -> str:
    """The page with what every block of Python shows below it."""
    space: dict[str, Any] = {}

    def shown(found: re.Match[str]) -> str:
        said, value = run(found[1], space)
        said += "" if value is None else f"{value!r}\n"
        return f"```python\n{found[1]}```\n" + (f"\n```text\n{said}```\n" if said else "")

    with empty_folder():
        return _BLOCK.sub(shown, text)


def run_notebook(page: dict[str, Any]) -> dict[str, Any]:
    """The notebook with the outputs of its cells."""
    space: dict[str, Any] = {}
    cells = []
    with empty_folder():
        for number, cell in enumerate(page["cells"], 1):
            if cell["cell_type"] != "code":
                cells.append(cell)
                continue
            said, value = run("".join(cell["source"]), space)
            outputs: list[dict[str, Any]] = []
            if said:
                outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(said)})
            if value is not None:
                outputs.append(
                    {
                        "output_type": "execute_result",
                        "execution_count": number,
                        "metadata": {},
                        "data": _data(value),
                    }
                )
            cells.append(cell | {"execution_count": number, "outputs": outputs})
    return page | {"cells": cells}


def _data(value: Any) -> dict[str, Any]:
    if type(value).__module__.startswith("altair") and hasattr(value, "to_dict"):
        import vl_convert

        picture = vl_convert.vegalite_to_png(value.to_dict(), scale=1)
        return {"image/png": base64.b64encode(picture).decode(), "text/plain": ["a chart"]}
    plain = {"text/plain": _lines(repr(value))}
    if hasattr(value, "_repr_html_"):
        return {"text/html": _lines(value._repr_html_())} | plain
    return plain


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write_notebook(page: dict[str, Any]) -> str:
    """As Jupyter writes it."""
    return json.dumps(page, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write both pages anew."""
    page = DOCS / "python.md"
    page.write_text(run_markdown(page.read_text("utf-8")), "utf-8")
    notebook = DOCS / "tour.ipynb"
    made = run_notebook(json.loads(notebook.read_text("utf-8")))
    notebook.write_text(write_notebook(made), "utf-8")
    sys.stdout.write(f"wrote {page.name} and {notebook.name}\n")


if __name__ == "__main__":
    main()
