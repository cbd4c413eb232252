"""docs/ → build/site, a static site with search that works offline: `make site`.

    python -m research.site               copies the pages to build/pages, builds build/site
    [scores](../../bench/README.md)       → [scores](../more/bench/README.md), copied too
    [cast](../src/realtalk/cast.toml)     → cast (`src/realtalk/cast.toml`): no page of the site

Links in docs/ are right for somebody who reads the repository; here they become right for the site.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Pages beside docs/ that are part of the site.
MORE = ("CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md", "src/realtalk_models/*/card.md")
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_CODE = re.compile(r"(```.*?```)", re.DOTALL)
_FETCHED = "https://unpkg.com/iframe-worker/shim"


def place(source: Path) -> Path | None:
    """Where a file of the repository stands in the site, None where it is not in it."""
    if source.is_relative_to(DOCS):
        return source.relative_to(DOCS)
    inside = source.relative_to(ROOT)
    return Path("more") / inside if any(inside.match(glob) for glob in MORE) else None


def with_site_links(text: str, source: Path) -> str:
    """A page whose links lead to pages of the site; other files are named instead."""
    here = place(source)
    assert here is not None

    def link(match: re.Match[str]) -> str:
        label, target, anchor = match[1], match[2], match[3] or ""
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        file = (source.parent / target).resolve()
        there = place(file)
        if there is not None and file.is_file():
            return f"[{label}]({Path(os.path.relpath(there, here.parent)).as_posix()}{anchor})"
        inside = file.relative_to(ROOT).as_posix()
        return label if inside in label else f"{label} (`{inside}`)"

    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def copy_pages(folder: Path) -> None:
    """All files of the site, with their links."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = [path for path in DOCS.rglob("*") if path.is_file()]
    for glob in MORE:
        sources += ROOT.glob(glob)
    for source in sources:
        target = folder / (place(source) or "")
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(with_site_links(source.read_text("utf-8"), source), "utf-8")
        else:
            shutil.copy(source, target)


def use_own_worker(folder: Path) -> None:
    """Pages take our worker.js in place of the script that they would fetch for search."""
    for page in folder.rglob("*.html"):
        ours = os.path.relpath(folder / "worker.js", page.parent)
        text = page.read_text("utf-8").replace(_FETCHED, Path(ours).as_posix())
        page.write_text(text, "utf-8")


def build(folder: Path = ROOT) -> Path:
    """The site in `build/site` of a folder that has mkdocs.yml; exits where a link is dead."""
    out = folder / "build"
    copy_pages(out / "pages")
    shutil.rmtree(out / "site", ignore_errors=True)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    if status := subprocess.run(command, cwd=folder, check=False).returncode:
        raise SystemExit(status)
    use_own_worker(out / "site")
    return out / "site"


if __name__ == "__main__":
    print(f"open {(build() / 'index.html').as_uri()}")
