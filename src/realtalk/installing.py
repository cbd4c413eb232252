"""Extras → the command that adds them to this very installation.

    cure("train")          → "pip install -e '/home/mara/realtalk[train]'"      # from a checkout
    cure("llm", "local")   → "pip install '.[llm,local]' in a checkout of realtalk"

The package is on no index: what has to be named is where it was installed from, which pip has
noted beside it (PEP 610).
"""

from __future__ import annotations

import sys
from pathlib import Path


def cure(*extras: str) -> str:
    """What to type, so that pip finds the package again."""
    # Here, for few ever need it and every start would pay.
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    extras_text = f"[{','.join(extras)}]"
    try:
        noted = distribution("realtalk").read_text("direct_url.json")
        origin = json.loads(noted) if noted else {}
        address = str(origin["url"])
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError):
        return f"{_pip()} install '.{extras_text}' in a checkout of realtalk"
    if "vcs_info" in origin:
        vcs = origin["vcs_info"]
        return (
            f"{_pip()} install 'realtalk{extras_text} @ {vcs['vcs']}+{address}@{vcs['commit_id']}'"
        )
    if "dir_info" not in origin:
        return f"{_pip()} install 'realtalk{extras_text} @ {address}'"  # a wheel or an archive
    folder = Path(url2pathname(urlsplit(address).path))
    if not (folder / "pyproject.toml").is_file():
        return f"{_pip()} install '.{extras_text}' in a checkout of realtalk"
    editable = "-e " if origin["dir_info"].get("editable") else ""
    return f"{_pip()} install {editable}'{folder}{extras_text}'"


def _pip() -> str:
    """The pip of this Python, which `pip` is not where its environment is not switched on."""
    import shutil

    pip = shutil.which("pip")
    ours = Path(sys.executable).parent
    return "pip" if pip and Path(pip).parent == ours else f"{sys.executable} -m pip"
