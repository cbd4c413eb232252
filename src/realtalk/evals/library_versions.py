"""What may change a result → its version: this package, Python, and the libraries it uses.

versions()   → {"realtalk": "0.2.0", "python": "3.12.4", "numpy": "2.1.0", …}
"""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from realtalk import __version__

_PACKAGES = """
    numpy polars scipy onnxruntime tokenizers bm25s rouge-score sacrebleu
    scikit-learn nltk inspect-ai openai xllamacpp
""".split()  # noqa: SIM905 - words read better than quotes


def versions() -> dict[str, str]:
    """What may change a result: this package, Python, and the libraries that are installed."""
    installed = {name: _find_version(name) for name in _PACKAGES}
    base = {"realtalk": __version__, "python": platform.python_version()}
    return base | {name: number for name, number in installed.items() if number is not None}


@cache
def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
